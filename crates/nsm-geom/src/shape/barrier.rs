//! Highest point of an intersection by a logarithmic barrier and its active inequalities.
//!
//! If the support point of one part lies in all the others, it is the answer. Otherwise, for growing $t$,
//! minimise $-t\\,u\cdot z - \sum_i\log(-g_i(z))$ by damped Newton steps; the minimiser lies below the optimum by at
//! most $M/t$ for $M$ inequalities. Linear and quadratic $g_i$ make the barrier self-concordant, which bounds the
//! damped step without a line search; steps that leave the interior (possible only through the squared
//! distance of a rounded part) are halved. As soon as the path shows which inequalities are active, Newton's
//! method on
//! $$ u = \sum_{i\in A}\lambda_i\nabla g_i(z), \qquad g_i(z) = 0 \ (i\in A) $$
//! finishes, if its solution has $\lambda \ge 0$ and violates nothing; more than three active ones (a vertex where
//! many faces meet) leave the work to the barrier.
//! No storage is needed: the inequalities are enumerated again at each step.

use super::{Intersection, Shape, active, primitive::unit_or_zero};
use crate::{Mat3, Vec3};

/// An inequality $g(z) \le 0$ at a point: value, gradient and Hessian.
pub(super) struct Inequality {
    pub(super) value: f64,
    pub(super) gradient: Vec3,
    pub(super) hessian: Mat3,
}

/// Growth of $t$ from one centring to the next.
const GROWTH: f64 = 30.0;
/// Final accuracy of the height where the barrier has to do it alone, relative to the size.
const ACCURACY: f64 = 1e-13;
/// Accuracy at which the path is first asked for its active inequalities.
const SORTED: f64 = 1e-3;

pub(super) fn highest_point(body: &Intersection, u: &Vec3) -> Vec3 {
    let u = unit_or_zero(u);
    let mut z = *body.inner_point();
    if u == Vec3::zeros() {
        return z;
    }
    for part in body.parts() {
        let p = part.support(&u);
        let mut others = body.parts().iter().filter(|other| !std::ptr::eq(*other, part));
        if others.all(|other| other.holds(&p)) {
            return p;
        }
    }
    let mut count = 0.0;
    body.each_inequality(&z, &mut |_| count += 1.0);
    let scale = count / body.reach();
    let mut t = scale / GROWTH;
    while t < scale / ACCURACY {
        t *= GROWTH;
        z = centre(body, &u, t, z);
        if t >= scale / SORTED
            && let Some(vertex) = active::finish(body, &u, t, &z)
        {
            return vertex;
        }
    }
    z
}

/// Newton's method for the point of the central path at `t`.
fn centre(body: &Intersection, u: &Vec3, t: f64, start: Vec3) -> Vec3 {
    let mut z = start;
    for _ in 0..60 {
        let mut gradient = -t * u;
        let mut hessian = Mat3::zeros();
        body.each_inequality(&z, &mut |g| {
            let slack = -g.value;
            gradient += g.gradient / slack;
            hessian += g.gradient * g.gradient.transpose() / (slack * slack) + g.hessian / slack;
        });
        let Some(factor) = hessian.cholesky() else { break };
        let step = -factor.solve(&gradient);
        let decrement = (-gradient.dot(&step)).max(0.0).sqrt();
        if !decrement.is_finite() || decrement < 1e-5 {
            break;
        }
        let mut length = if decrement < 0.25 { 1.0 } else { 1.0 / (1.0 + decrement) };
        let mut halvings = 0;
        while !body.strictly_inside(&(z + length * step)) {
            length *= 0.5;
            halvings += 1;
            if halvings > 40 {
                return z;
            }
        }
        z += length * step;
    }
    z
}

impl Intersection {
    pub(super) fn each_inequality(&self, z: &Vec3, emit: &mut dyn FnMut(Inequality)) {
        for part in self.parts() {
            part.each_inequality(z, emit);
        }
    }

    fn strictly_inside(&self, z: &Vec3) -> bool {
        let mut inside = true;
        self.each_inequality(z, &mut |g| inside &= g.value < 0.0);
        inside
    }
}

impl Shape {
    /// Is the point in the shape, boundary included?
    fn holds(&self, z: &Vec3) -> bool {
        let mut inside = true;
        self.each_inequality(z, &mut |g| inside &= g.value <= 0.0);
        inside
    }

    /// The smooth convex inequalities whose common solutions are the shape.
    fn each_inequality(&self, z: &Vec3, emit: &mut dyn FnMut(Inequality)) {
        match self {
            Self::Sphere(s) => emit(quadratic(z, &Vec3::repeat(s.radius().powi(-2)))),
            Self::Ellipsoid(s) => emit(quadratic(z, &s.semi_axes().map(|e| e.powi(-2)))),
            Self::Cuboid(s) => {
                for i in 0..3 {
                    emit(half_space(z, Vec3::ith(i, 1.0), s.half_extents()[i]));
                    emit(half_space(z, Vec3::ith(i, -1.0), s.half_extents()[i]));
                }
            }
            Self::Cylinder(s) => {
                let k = s.radius().powi(-2);
                emit(quadratic(z, &Vec3::new(k, k, 0.0)));
                emit(half_space(z, Vec3::z(), s.half_length()));
                emit(half_space(z, -Vec3::z(), s.half_length()));
            }
            Self::Capsule(s) => {
                let k = s.radius().powi(-2);
                let beyond = z.z - z.z.clamp(-s.half_length(), s.half_length());
                let along = if beyond == 0.0 { 0.0 } else { k };
                emit(quadratic(&Vec3::new(z.x, z.y, beyond), &Vec3::new(k, k, along)));
            }
            Self::Polyhedron(s) => {
                for face in s.faces() {
                    emit(half_space(z, face.normal, face.offset));
                }
            }
            Self::Placed(s) => {
                let r = &s.pose.rot;
                s.shape.each_inequality(&s.pose.act_inverse(z), &mut |g| {
                    emit(Inequality {
                        value: g.value,
                        gradient: r * g.gradient,
                        hessian: r * g.hessian * r.transpose(),
                    });
                });
            }
            Self::Rounded(s) => emit(squared_distance(&s.shape, s.radius, z)),
            Self::Intersection(s) => s.each_inequality(z, emit),
            Self::Union(s) => s.parts().iter().for_each(|p| p.each_inequality(z, emit)),
        }
    }
}

/// $n\cdot z - d \le 0$.
fn half_space(z: &Vec3, n: Vec3, d: f64) -> Inequality {
    Inequality { value: n.dot(z) - d, gradient: n, hessian: Mat3::zeros() }
}

/// $\sum_ik_iz_i^2 - 1 \le 0$.
fn quadratic(z: &Vec3, k: &Vec3) -> Inequality {
    let kz = k.component_mul(z);
    Inequality {
        value: kz.dot(z) - 1.0,
        gradient: 2.0 * kz,
        hessian: Mat3::from_diagonal(&(2.0 * k)),
    }
}

/// $(\max(\psi, 0)/\epsilon)^2 - 1 \le 0$ for the offset of a convex core; its Hessian by differences of $\nabla\psi$.
fn squared_distance(core: &Shape, epsilon: f64, z: &Vec3) -> Inequality {
    let psi = core.signed_distance(z);
    let inside = Inequality { value: -1.0, gradient: Vec3::zeros(), hessian: Mat3::zeros() };
    let (Some(n), true) = (psi.gradient, psi.value > 0.0) else { return inside };
    let k = epsilon.powi(-2);
    let h = 1e-4 * psi.value;
    let mut curvature = Mat3::zeros();
    for i in 0..3 {
        let e = Vec3::ith(i, h);
        let (plus, minus) = (core.signed_distance(&(z + e)), core.signed_distance(&(z - e)));
        if let (Some(p), Some(m)) = (plus.gradient, minus.gradient) {
            curvature.set_column(i, &((p - m) / (2.0 * h)));
        }
    }
    let curvature = 0.5 * (curvature + curvature.transpose());
    Inequality {
        value: k * psi.value * psi.value - 1.0,
        gradient: 2.0 * k * psi.value * n,
        hessian: 2.0 * k * (n * n.transpose() + psi.value * curvature),
    }
}
