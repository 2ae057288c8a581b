//! Signed distance functions and their gradients.
//!
//! $$ \psi(z) = \begin{cases} d_2(z, \partial\mathcal B) & z \notin \mathcal B\\\\
//!    -d_2(z, \partial\mathcal B) & z \in \mathcal B\end{cases} \tag{TL 6.6} $$
//! and $\nabla\psi$ is the outward normal at the closest point of the surface, $|\nabla\psi| = 1$, wherever
//! that point is unique. Where it is not (the centre of a ball, the ridge between two faces, an edge on the
//! surface itself) there is no gradient, and the answer says so: `gradient` is `None`.
//!
//! Exact for all convex shapes except intersections. A union's $\min$ (6.15) is exact outside and an
//! underestimate of depth inside; an intersection's $\max$ (6.17) is exact inside and an underestimate of
//! distance outside; both have the right zero set and sign everywhere.

mod csg;
mod ellipsoid;
mod polyhedron;
mod primitive;

pub use csg::Csg;

use crate::{Shape, Vec3};

/// Value and gradient of a signed distance function at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedDistance {
    /// $\psi(z)$, negative inside.
    pub value: f64,
    /// $\nabla\psi(z)$, a unit vector, or `None` where $\psi$ is not differentiable.
    pub gradient: Option<Vec3>,
}

impl SignedDistance {
    fn new(value: f64, gradient: Vec3) -> Self {
        Self { value, gradient: Some(gradient) }
    }

    fn without_gradient(value: f64) -> Self {
        Self { value, gradient: None }
    }

    /// $\psi_\cup = \min(\psi_1, \psi_2)$ with gradient (\[TL\] (6.15), (6.16)).
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if self.value < other.value {
            self
        } else if other.value < self.value {
            other
        } else {
            self.tie(other)
        }
    }

    /// $\psi_\cap = \max(\psi_1, \psi_2)$ with gradient (\[TL\] (6.17), (6.18)).
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        self.complement().union(other.complement()).complement()
    }

    /// $\psi_C = -\psi$ (\[TL\] (6.19)).
    #[must_use]
    pub fn complement(self) -> Self {
        Self { value: -self.value, gradient: self.gradient.map(|g| -g) }
    }

    /// $\psi_\epsilon = \psi - \epsilon$ (\[TL\] (6.11)).
    #[must_use]
    pub fn rounded(self, epsilon: f64) -> Self {
        Self { value: self.value - epsilon, ..self }
    }

    /// Equal values: the gradient survives only if both agree, last two cases of (6.16) and (6.18).
    fn tie(self, other: Self) -> Self {
        let agreed = match (self.gradient, other.gradient) {
            (Some(a), Some(b)) if (a - b).amax() <= 8.0 * f64::EPSILON => Some(a),
            _ => None,
        };
        Self { value: self.value, gradient: agreed }
    }
}

impl Shape {
    /// $\psi(z)$ and $\nabla\psi(z)$ in the body frame.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        match self {
            Self::Sphere(s) => s.signed_distance(z),
            Self::Ellipsoid(s) => s.signed_distance(z),
            Self::Cuboid(s) => s.signed_distance(z),
            Self::Capsule(s) => s.signed_distance(z),
            Self::Cylinder(s) => s.signed_distance(z),
            Self::Polyhedron(s) => s.signed_distance(z),
            Self::Placed(s) => {
                let inner = s.shape.signed_distance(&s.pose.act_inverse(z));
                SignedDistance {
                    value: inner.value,
                    gradient: inner.gradient.map(|g| s.pose.rot * g),
                }
            }
            Self::Rounded(s) => s.shape.signed_distance(z).rounded(s.radius),
            Self::Union(s) => s
                .parts()
                .iter()
                .map(|p| p.signed_distance(z))
                .reduce(SignedDistance::union)
                .unwrap_or(SignedDistance::without_gradient(f64::INFINITY)),
            Self::Intersection(s) => s
                .parts()
                .iter()
                .map(|p| p.signed_distance(z))
                .reduce(SignedDistance::intersection)
                .unwrap_or(SignedDistance::without_gradient(f64::NEG_INFINITY)),
        }
    }
}
