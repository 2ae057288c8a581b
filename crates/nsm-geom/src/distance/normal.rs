//! Sharpening a contact normal: Newton's method for $\max f(n)$ on the sphere.
//!
//! With $D(n) = b(n) - a(n)$ the difference of support points, $f = n\cdot D$, its gradient along the sphere is the
//! tangential part of $D$, and its Hessian there $-(\nabla^2h_A + \nabla^2h_B) - f I$. A polyhedral core has zero
//! curvature where a vertex touches; where an edge or face does, $h$ has a kink and the optimal $n$ stays
//! orthogonal to it, so Newton's method is confined to the normals that are.

use super::{CoreContact, core::Core};
use crate::{Mat3, Vec3};

const MAX_STEPS: usize = 30;

/// Climbs $f$ from normal `start` where both cores are smooth and strictly convex; `None` if that ends in
/// doubt.
///
/// A stationary point with $f > 0$ is the answer: its support points are as far apart as the planes between
/// them. One with $f < 0$ is a local maximum, taken only if the caller says so.
pub(super) fn climb(a: &Core, b: &Core, start: &Vec3, accept_local: bool) -> Option<CoreContact> {
    let mut n = *start;
    let mut state = State::at(a, b, &n);
    for _ in 0..MAX_STEPS {
        let Tangent { e1, e2, g1, g2, h11, h12, h22 } = state.tangent(a, b, &n)?;
        // Shifted to be positive definite while far from the maximum.
        let mean = 0.5 * (h11 + h22);
        let spread = (0.5 * (h11 - h22)).hypot(h12);
        let floor = 1e-3 * (mean.abs() + spread);
        let shift = (floor - (mean - spread)).max(0.0);
        let (m11, m22) = (h11 + shift, h22 + shift);
        let determinant = m11 * m22 - h12 * h12;
        let mut step =
            e1 * ((g1 * m22 - g2 * h12) / determinant) + e2 * ((g2 * m11 - g1 * h12) / determinant);
        let size = step.norm();
        if size <= 1e-9 && shift == 0.0 {
            // Quadratic convergence: this step is the last that matters.
            n = (n + step).normalize();
            state = State::at(a, b, &n);
            if state.f > 0.0 || accept_local {
                let contact = CoreContact {
                    gap: state.f,
                    normal: n,
                    a: state.a,
                    b: state.a + state.f * n,
                    pairs: [(state.a, state.b); 3],
                    count: 1,
                    exact: true,
                };
                return Some(contact);
            }
            return None;
        }
        if size > 0.5 {
            step *= 0.5 / size;
        }
        let mut length = 1.0;
        loop {
            let trial = (n + length * step).normalize();
            let next = State::at(a, b, &trial);
            if next.f > state.f || (size <= 1e-6 && next.f >= state.f - 1e-14 * state.size) {
                (n, state) = (trial, next);
                break;
            }
            length *= 0.5;
            if length < 1e-3 {
                return None;
            }
        }
    }
    None
}

/// The contact with its normal sharpened, or as it was if that lowers $f$.
pub(super) fn sharpen(a: &Core, b: &Core, contact: &CoreContact) -> CoreContact {
    if contact.exact {
        return *contact;
    }
    let start = State::at(a, b, &contact.normal);
    let noise = 4.0 * f64::EPSILON * start.size;
    let mut best = *contact;
    let mut height = start.f - noise;
    // First with the edges and faces in contact as the last simplex has them, then without; the second is
    // taken only if it raises f beyond rounding.
    for flat in [&Flat::of(a, b, contact), &Flat::default()] {
        if let Some(sharp) = newton(a, b, contact, flat)
            && sharp.gap >= height
        {
            best = sharp;
            height = sharp.gap + 2.0 * noise;
        }
    }
    best
}

/// Orthonormal directions along which the contact is flat, together and on each core.
#[derive(Default)]
struct Flat {
    both: Span,
    a: Span,
    b: Span,
}

/// Up to two orthonormal directions.
#[derive(Default)]
struct Span {
    directions: [Vec3; 2],
    len: usize,
}

impl Flat {
    fn of(a: &Core, b: &Core, contact: &CoreContact) -> Self {
        let mut flat = Self::default();
        let on_a = contact.pairs.map(|p| p.0);
        let on_b = contact.pairs.map(|p| p.1);
        let n = contact.normal;
        a.flat_directions(&n, &on_a[..contact.count], &mut |d| flat.a.push(&d));
        b.flat_directions(&-n, &on_b[..contact.count], &mut |d| flat.b.push(&d));
        for span in [&flat.a, &flat.b] {
            for d in &span.directions[..span.len] {
                flat.both.push(d);
            }
        }
        flat
    }
}

impl Span {
    fn push(&mut self, d: &Vec3) {
        let length = d.norm();
        if length == 0.0 {
            return;
        }
        let mut rest = d / length;
        for e in &self.directions[..self.len] {
            rest -= e * e.dot(&rest);
        }
        if self.len < 2 && rest.norm() > 1e-6 {
            self.directions[self.len] = rest.normalize();
            self.len += 1;
        }
    }

    /// The part of $n$ orthogonal to all directions.
    fn project(&self, n: &Vec3) -> Vec3 {
        let mut p = *n;
        for e in &self.directions[..self.len] {
            p -= e * e.dot(&p);
        }
        p.normalize()
    }
}

fn newton(a: &Core, b: &Core, contact: &CoreContact, flat: &Flat) -> Option<CoreContact> {
    let mut n = flat.both.project(&contact.normal);
    if !n.iter().all(|c| c.is_finite()) {
        return None;
    }
    let mut state = State::at(a, b, &n);
    for _ in 0..MAX_STEPS {
        let Some(step) = state.step(a, b, &n, flat) else { break };
        // Backtracking: near the maximum the full step is right, and f is flat to round-off.
        let mut length = 1.0;
        let mut advanced = None;
        for _ in 0..12 {
            let trial = flat.both.project(&(n + length * step));
            let next = State::at(a, b, &trial);
            if next.f > state.f || (length == 1.0 && next.f >= state.f - 1e-15 * state.size) {
                advanced = Some((trial, next));
                break;
            }
            length *= 0.25;
        }
        let Some((trial, next)) = advanced else { break };
        // Convergence is quadratic: a step this small was the last that matters.
        let done = step.norm() <= 1e-9;
        (n, state) = (trial, next);
        if done {
            break;
        }
    }
    let (p, q) = state.witnesses(&n, contact, flat);
    Some(CoreContact { gap: state.f, normal: n, a: p, b: q, ..*contact })
}

struct State {
    a: Vec3,
    b: Vec3,
    f: f64,
    size: f64,
}

impl State {
    fn at(core_a: &Core, core_b: &Core, n: &Vec3) -> Self {
        let (a, b) = (core_a.support(n), core_b.support(&-n));
        Self { a, b, f: n.dot(&(b - a)), size: a.norm().max(b.norm()) }
    }

    /// Points of both cores across the gap: a core that touches with one point has it determined by $n$, two
    /// lines that cross meet in one place, and where two flat features overlap the earlier guess decides.
    fn witnesses(&self, n: &Vec3, contact: &CoreContact, flat: &Flat) -> (Vec3, Vec3) {
        let across = self.f * n;
        let guess = 0.5 * (contact.a + contact.b);
        let on_line = |point: &Vec3, span: &Span| {
            let u = span.directions[0];
            point + u * u.dot(&(guess - point))
        };
        match (flat.a.len, flat.b.len) {
            (0, _) => (self.a, self.a + across),
            (_, 0) => (self.b - across, self.b),
            (1, 1) if flat.both.len == 2 => {
                // Along A's line until B's, measured across B's line.
                let (u, v) = (flat.a.directions[0], flat.b.directions[0]);
                let side = n.cross(&v);
                let p = self.a + u * (side.dot(&(self.b - self.a)) / side.dot(&u));
                (p, p + across)
            }
            (1, _) => {
                let p = on_line(&self.a, &flat.a);
                (p, p + across)
            }
            (_, 1) => {
                let q = on_line(&self.b, &flat.b);
                (q - across, q)
            }
            _ => {
                let p = guess + n * n.dot(&(self.a - guess));
                (p, p + across)
            }
        }
    }

    /// Gradient and negative Hessian of $f$ on the sphere, in an orthonormal tangent frame.
    fn tangent(&self, core_a: &Core, core_b: &Core, n: &Vec3) -> Option<Tangent> {
        let h: Mat3 = core_a.curvature(n)? + core_b.curvature(&-n)?;
        let d = self.b - self.a;
        let e1 = n.cross(&Vec3::ith(n.iamin(), 1.0)).normalize();
        let e2 = n.cross(&e1);
        let (he1, he2) = (h * e1, h * e2);
        Some(Tangent {
            e1,
            e2,
            g1: e1.dot(&d),
            g2: e2.dot(&d),
            h11: e1.dot(&he1) + self.f,
            h12: e1.dot(&he2),
            h22: e2.dot(&he2) + self.f,
        })
    }

    /// Newton step among the normals that the contact's flat directions allow; `None` at a point without
    /// curvature, at one that is not a maximum of the local model, or where there is no freedom.
    fn step(&self, core_a: &Core, core_b: &Core, n: &Vec3, flat: &Flat) -> Option<Vec3> {
        if flat.both.len == 1 {
            let h: Mat3 = core_a.curvature(n)? + core_b.curvature(&-n)?;
            let e = n.cross(&flat.both.directions[0]).normalize();
            let curvature = e.dot(&(h * e)) + self.f;
            return (curvature > 0.0).then(|| e * (e.dot(&(self.b - self.a)) / curvature));
        }
        if flat.both.len == 2 {
            return None;
        }
        let Tangent { e1, e2, g1, g2, h11, h12, h22 } = self.tangent(core_a, core_b, n)?;
        let determinant = h11 * h22 - h12 * h12;
        if !(h11 > 0.0 && determinant > 0.0) {
            return None;
        }
        let (s, t) = ((g1 * h22 - g2 * h12) / determinant, (g2 * h11 - g1 * h12) / determinant);
        Some(s * e1 + t * e2)
    }
}

/// Derivatives of $f$ in a tangent frame: gradient $g$ and negative Hessian $h$.
struct Tangent {
    e1: Vec3,
    e2: Vec3,
    g1: f64,
    g2: f64,
    h11: f64,
    h12: f64,
    h22: f64,
}
