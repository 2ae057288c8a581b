//! Constructive solid geometry by the algebra of signed distance functions, \[TL\] (6.11), (6.15)–(6.19).

use super::SignedDistance;
use crate::{GeomError, Plane, Pose, Shape, Vec3};

/// A solid built from shapes and half-spaces by union, intersection, complement and rounding.
///
/// ```
/// use nsm_geom::{Shape, Vec3, sdf::Csg};
/// # fn main() -> Result<(), nsm_geom::GeomError> {
/// let bead = Csg::body(Shape::sphere(1.0)?).difference(Csg::body(Shape::cylinder(2.0, 0.3)?));
/// let in_the_hole = bead.signed_distance(&Vec3::zeros());
/// assert!((in_the_hole.value - 0.3).abs() < 1e-15);
/// assert!(in_the_hole.gradient.is_none()); // every direction leads to the wall
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csg(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Body(Shape),
    HalfSpace(Plane),
    Union(Box<[Node; 2]>),
    Intersection(Box<[Node; 2]>),
    Complement(Box<Node>),
    Offset(Box<Node>, f64),
    Placed(Box<Node>, Pose),
}

impl Csg {
    /// A shape.
    pub fn body(shape: Shape) -> Self {
        Self(Node::Body(shape))
    }

    /// The half-space $n\cdot z + D \le 0$ behind a plane (\[TL\] (6.1)).
    pub fn half_space(plane: Plane) -> Self {
        Self(Node::HalfSpace(plane))
    }

    /// $\mathcal B_1\cup\mathcal B_2$ (6.15).
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(Node::Union(Box::new([self.0, other.0])))
    }

    /// $\mathcal B_1\cap\mathcal B_2$ (6.17).
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(Node::Intersection(Box::new([self.0, other.0])))
    }

    /// $\mathcal B^C$ (6.19).
    #[must_use]
    pub fn complement(self) -> Self {
        Self(Node::Complement(Box::new(self.0)))
    }

    /// $\mathcal B_1\setminus\mathcal B_2 = \mathcal B_1\cap\mathcal B_2^C$.
    #[must_use]
    pub fn difference(self, other: Self) -> Self {
        self.intersection(other.complement())
    }

    /// $\psi - \epsilon$ (6.11): grown and rounded for positive $\epsilon$, shrunk for negative.
    ///
    /// # Errors
    /// [`GeomError::NotFinite`].
    pub fn rounded(self, epsilon: f64) -> Result<Self, GeomError> {
        if epsilon.is_finite() {
            Ok(Self(Node::Offset(Box::new(self.0), epsilon)))
        } else {
            Err(GeomError::NotFinite { what: "rounding radius" })
        }
    }

    /// The solid moved by `pose`.
    #[must_use]
    pub fn placed(self, pose: Pose) -> Self {
        Self(Node::Placed(Box::new(self.0), pose))
    }

    /// $\psi(z)$ and $\nabla\psi(z)$; see the [module](super) for where the value is exact.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        self.0.signed_distance(z)
    }
}

impl Node {
    fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        match self {
            Self::Body(shape) => shape.signed_distance(z),
            Self::HalfSpace(plane) => {
                SignedDistance::new(plane.signed_distance(z), *plane.normal())
            }
            Self::Union(parts) => parts[0].signed_distance(z).union(parts[1].signed_distance(z)),
            Self::Intersection(parts) => {
                parts[0].signed_distance(z).intersection(parts[1].signed_distance(z))
            }
            Self::Complement(inner) => inner.signed_distance(z).complement(),
            Self::Offset(inner, epsilon) => inner.signed_distance(z).rounded(*epsilon),
            Self::Placed(inner, pose) => {
                let psi = inner.signed_distance(&pose.act_inverse(z));
                SignedDistance { value: psi.value, gradient: psi.gradient.map(|g| pose.rot * g) }
            }
        }
    }
}
