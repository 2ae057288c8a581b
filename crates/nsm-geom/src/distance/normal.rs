//! Sharpening a contact normal: Newton's method for $\max f(n)$ on the sphere.
//!
//! With $D(n) = b(n) - a(n)$ the difference of support points, $f = n\cdot D$, its gradient along the sphere is the
//! tangential part of $D$, and its Hessian there $-(\nabla^2h_A + \nabla^2h_B) - fI$.
//!
//! The support function of a polyhedral core has kinks. It is replaced by that of the feature in contact: a
//! vertex, or an edge or face to which $n$ stays orthogonal, which makes it smooth. A guessed feature proves itself:
//! if $f$ equals the model at the model's maximum and the witness points lie in both cores, they are as near to
//! each other as the planes between them, and nothing can be nearer. Guesses are the support points that the search for the contact ended with, and their subsets; where none is right, the support
//! points at the maximum of the wrong model join them.

use super::{
    CoreContact,
    core::{Core, Flatness},
};
use crate::{Mat3, Vec3};

const MAX_STEPS: usize = 40;
/// Rounds of adding what the models missed.
const MAX_ROUNDS: usize = 6;

/// Subsets of up to three support pairs, largest first.
const SUBSETS: [&[usize]; 7] = [&[0, 1, 2], &[0, 1], &[0, 2], &[1, 2], &[0], &[1], &[2]];

/// The contact with its normal sharpened, or as it was if nothing better is found.
pub(super) fn sharpen(a: &Core, b: &Core, contact: &CoreContact) -> CoreContact {
    if contact.exact {
        return *contact;
    }
    let noise = 16.0 * f64::EPSILON * (contact.a.norm() + contact.b.norm());
    let mut best = (separation(a, b, &contact.normal), *contact);
    let mut pairs = *contact;
    for _ in 0..MAX_ROUNDS {
        let Attempt { proven, missed } = attempt(a, b, &pairs, noise, &mut best);
        if proven {
            break;
        }
        // What the model missed: the support points at its own maximum, of which it did not know.
        let Some(n) = missed else { break };
        pairs.pairs = [(a.support(&n), b.support(&-n)), pairs.pairs[0], pairs.pairs[1]];
        pairs.count = (pairs.count + 1).min(3);
        pairs.normal = best.1.normal;
    }
    best.1
}

struct Attempt {
    proven: bool,
    /// Where the first model that failed had its maximum.
    missed: Option<Vec3>,
}

/// Tries all features that the support pairs of `contact` suggest.
fn attempt(
    a: &Core,
    b: &Core,
    contact: &CoreContact,
    noise: f64,
    best: &mut (f64, CoreContact),
) -> Attempt {
    let mut missed = None;
    for subset in SUBSETS {
        if subset.iter().any(|&i| i >= contact.count) {
            continue;
        }
        for flatness in [Flatness::Nearly, Flatness::Not] {
            let model = Model::new(a, b, contact, subset, flatness);
            if let Some((n, state)) = model.climb(&contact.normal) {
                let f = separation(a, b, &n);
                let (p, q) = model.witnesses(&n, &state, contact);
                let near = 1e4 * noise;
                let (p, q) = settle(a, b, &(f * n), (p, q), near);
                let proven = f >= state.f - noise
                    && f >= best.0 - noise
                    && a.outside(&p) <= near
                    && b.outside(&q) <= near;
                if proven {
                    *best = (f, CoreContact { gap: f, normal: n, a: p, b: q, ..*contact });
                } else if f > best.0 + noise {
                    // A better bound, but not the place: that stays where the search found it.
                    let b = contact.a + f * n;
                    *best = (f, CoreContact { gap: f, normal: n, b, ..*contact });
                }
                if proven {
                    return Attempt { proven, missed: None };
                }
                missed = missed.or(Some(n));
            }
            if !(a.may_be_flat() || b.may_be_flat()) {
                break;
            }
        }
    }
    Attempt { proven: false, missed }
}

/// Witness points brought into both cores by projecting on one and the other in turn: where flat features
/// overlap, the guess may lie on the one beyond the end of the other.
fn settle(
    a: &Core,
    b: &Core,
    across: &Vec3,
    (mut p, mut q): (Vec3, Vec3),
    near: f64,
) -> (Vec3, Vec3) {
    for _ in 0..32 {
        if a.outside(&p) <= near && b.outside(&q) <= near {
            break;
        }
        q = b.nearest(&(p + across));
        p = a.nearest(&(q - across));
        q = p + across;
    }
    (p, q)
}

/// The contact of two smooth cores, climbing $f$ from normal `start`; `None` if that ends in doubt.
///
/// A stationary point with $f > 0$ is the answer: its support points are as far apart as the planes between
/// them. One with $f < 0$ is a local maximum, taken only if the caller says so.
pub(super) fn climb(a: &Core, b: &Core, start: &Vec3, accept_local: bool) -> Option<CoreContact> {
    let model = Model {
        a,
        b,
        at: None,
        flat: Span::default(),
        flat_a: Span::default(),
        flat_b: Span::default(),
    };
    let (n, state) = model.climb(start)?;
    if !(state.f > 0.0 || accept_local) {
        return None;
    }
    Some(CoreContact {
        gap: state.f,
        normal: n,
        a: state.a,
        b: state.a + state.f * n,
        pairs: [(state.a, state.b); 3],
        count: 1,
        exact: true,
    })
}

fn separation(a: &Core, b: &Core, n: &Vec3) -> f64 {
    n.dot(&(b.support(&-n) - a.support(n)))
}

/// Both cores with their features in contact.
struct Model<'a> {
    a: &'a Core<'a>,
    b: &'a Core<'a>,
    /// Points of the features; without them the cores are smooth as they are.
    at: Option<(Vec3, Vec3)>,
    /// Directions of the features of both, of $A$ and of $B$.
    flat: Span,
    flat_a: Span,
    flat_b: Span,
}

struct State {
    a: Vec3,
    b: Vec3,
    f: f64,
    size: f64,
}

struct Step {
    change: Vec3,
    /// Size of the gradient.
    slope: f64,
    least: Curvature,
}

/// Sign of the least eigenvalue of the negative Hessian.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Curvature {
    Definite,
    Level,
    Indefinite,
}

impl Curvature {
    fn of(least: f64, scale: f64) -> Self {
        if least > 1e-8 * scale {
            Self::Definite
        } else if least >= -1e-6 * scale {
            Self::Level
        } else {
            Self::Indefinite
        }
    }

    fn shifted(self, least: f64, scale: f64) -> f64 {
        if self == Self::Definite { least } else { 1e-3 * scale + f64::MIN_POSITIVE }
    }
}

/// Up to two orthonormal directions.
#[derive(Default)]
struct Span {
    directions: [Vec3; 2],
    len: usize,
}

impl<'a> Model<'a> {
    fn new(
        a: &'a Core<'a>,
        b: &'a Core<'a>,
        contact: &CoreContact,
        subset: &[usize],
        flatness: Flatness,
    ) -> Self {
        let at = contact.pairs[subset[0]];
        let mut model = Self {
            a,
            b,
            at: Some(at),
            flat: Span::default(),
            flat_a: Span::default(),
            flat_b: Span::default(),
        };
        for &i in subset {
            let (p, q) = contact.pairs[i];
            a.flat_directions(&contact.normal, &(p - at.0), flatness, &mut |d| {
                model.flat_a.push(&d);
            });
            b.flat_directions(&-contact.normal, &(q - at.1), flatness, &mut |d| {
                model.flat_b.push(&d);
            });
        }
        for span in [&model.flat_a, &model.flat_b] {
            for d in &span.directions[..span.len] {
                model.flat.push(d);
            }
        }
        model
    }

    fn state(&self, n: &Vec3) -> State {
        let (a, b) = match &self.at {
            Some((p, q)) => (self.a.support_near(n, p), self.b.support_near(&-n, q)),
            None => (self.a.support(n), self.b.support(&-n)),
        };
        State { a, b, f: n.dot(&(b - a)), size: a.norm().max(b.norm()) }
    }

    /// A maximum of the model's $f$ near `start`.
    fn climb(&self, start: &Vec3) -> Option<(Vec3, State)> {
        let mut n = self.flat.project(start)?;
        let mut state = self.state(&n);
        if self.flat.len == 2 {
            return Some((n, state));
        }
        for _ in 0..MAX_STEPS {
            let Step { change: mut step, slope, least } = self.step(&n, &state)?;
            let size = step.norm();
            if size <= 1e-9 && least == Curvature::Definite {
                // Quadratic convergence: this step is the last that matters.
                n = self.flat.project(&(n + step))?;
                let last = self.state(&n);
                return Some((n, last));
            }
            if slope <= 4.0 * f64::EPSILON * state.size {
                // Stationary: on a ring of equal normals that is the end, at a saddle it is no answer.
                return (least == Curvature::Level).then_some((n, state));
            }
            if size > 0.5 {
                step *= 0.5 / size;
            }
            let mut length = 1.0;
            loop {
                let trial = self.flat.project(&(n + length * step))?;
                let next = self.state(&trial);
                if next.f > state.f || (size <= 1e-6 && next.f >= state.f - 1e-14 * state.size) {
                    (n, state) = (trial, next);
                    break;
                }
                length *= 0.5;
                if length < 1e-3 {
                    // Where f is level to higher order rounding stops the climb early.
                    return (slope <= 1e-7 * state.size).then_some((n, state));
                }
            }
        }
        None
    }

    /// Newton step within the allowed normals, with the Hessian shifted where it is not definite.
    fn step(&self, n: &Vec3, state: &State) -> Option<Step> {
        let h: Mat3 = self.a.curvature(n)? + self.b.curvature(&-n)?;
        let d = state.b - state.a;
        let e1 = match self.flat.len {
            0 => n.cross(&Vec3::ith(n.iamin(), 1.0)).normalize(),
            _ => n.cross(&self.flat.directions[0]).normalize(),
        };
        let he1 = h * e1;
        let (g1, h11) = (e1.dot(&d), e1.dot(&he1) + state.f);
        if self.flat.len == 1 {
            let scale = e1.dot(&he1) + state.f.abs();
            let curvature = Curvature::of(h11, scale);
            return Some(Step {
                change: e1 * (g1 / curvature.shifted(h11, scale)),
                slope: g1.abs(),
                least: curvature,
            });
        }
        let e2 = n.cross(&e1);
        let he2 = h * e2;
        let (g2, h12, h22) = (e2.dot(&d), e1.dot(&he2), e2.dot(&he2) + state.f);
        let (mean, spread) = (0.5 * (h11 + h22), (0.5 * (h11 - h22)).hypot(h12));
        let (least, scale) = (mean - spread, mean.abs() + spread);
        let curvature = Curvature::of(least, scale);
        let shift = curvature.shifted(least, scale) - least;
        let (m11, m22) = (h11 + shift, h22 + shift);
        let determinant = m11 * m22 - h12 * h12;
        let (s, t) = ((g1 * m22 - g2 * h12) / determinant, (g2 * m11 - g1 * h12) / determinant);
        Some(Step { change: s * e1 + t * e2, slope: g1.hypot(g2), least: curvature })
    }

    /// Points of both cores across the gap: a core that touches with one point has it determined by $n$, two
    /// lines that cross meet in one place, and where two flat features overlap the earlier guess decides.
    fn witnesses(&self, n: &Vec3, state: &State, contact: &CoreContact) -> (Vec3, Vec3) {
        let across = state.f * n;
        let guess = 0.5 * (contact.a + contact.b);
        let on_line = |point: &Vec3, span: &Span| {
            let u = span.directions[0];
            point + u * u.dot(&(guess - point))
        };
        match (self.flat_a.len, self.flat_b.len) {
            (0, _) => (state.a, state.a + across),
            (_, 0) => (state.b - across, state.b),
            (1, 1) if self.flat.len == 2 => {
                // Along A's line until B's, measured across B's line.
                let (u, v) = (self.flat_a.directions[0], self.flat_b.directions[0]);
                let side = n.cross(&v);
                let p = state.a + u * (side.dot(&(state.b - state.a)) / side.dot(&u));
                (p, p + across)
            }
            (1, _) => {
                let p = on_line(&state.a, &self.flat_a);
                (p, p + across)
            }
            (_, 1) => {
                let q = on_line(&state.b, &self.flat_b);
                (q - across, q)
            }
            _ => {
                let p = guess + n * n.dot(&(state.a - guess));
                (p, p + across)
            }
        }
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

    /// The unit vector along the part of $n$ orthogonal to all directions.
    fn project(&self, n: &Vec3) -> Option<Vec3> {
        let mut p = *n;
        for e in &self.directions[..self.len] {
            p -= e * e.dot(&p);
        }
        p.try_normalize(1e-12)
    }
}
