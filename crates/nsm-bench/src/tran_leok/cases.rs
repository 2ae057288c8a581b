//! The four hybrid systems of section 7 (Table 1).

use nsm_geom::{Mat3, Plane, Pose, Shape, Vec3};
use nsm_vi::rigid::{BodyState, RigidBody, RigidError, RigidState, RigidWorld};

/// Gravitational acceleration.
pub const G: f64 = 9.80665;
/// Time step of the paper.
pub const H: f64 = 0.01;

/// One of the four systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Case {
    /// Triaxial ellipsoid over the horizontal plane.
    I,
    /// Triaxial ellipsoid over a plane tilted by two degrees.
    II,
    /// Union of two ellipsoids over the horizontal plane.
    III,
    /// Cube over the horizontal plane.
    IV,
}

impl Case {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::I, Self::II, Self::III, Self::IV];
    /// Those over the horizontal plane.
    pub const HORIZONTAL: [Self; 3] = [Self::I, Self::III, Self::IV];

    /// Its number in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::II => "II",
            Self::III => "III",
            Self::IV => "IV",
        }
    }

    /// The body with the parameters of Table 1.
    ///
    /// # Errors
    /// None for these parameters.
    pub fn body(self) -> Result<RigidBody, RigidError> {
        let inertia = match self {
            Self::I | Self::II => [5.0, 4.0, 2.6],
            Self::III => [7.593_271_8, 9.932_643_4, 8.273_125_2],
            Self::IV => [2.0, 2.0, 2.0],
        };
        let body = RigidBody::new("body", 1.0, Mat3::from_diagonal(&Vec3::from(inertia)))?;
        let shape = match self {
            Self::I | Self::II => Shape::ellipsoid([2.0, 3.0, 4.0]),
            Self::III => union_of_ellipsoids(Vec3::new(-0.993_712_8, 0.0, 0.0)),
            Self::IV => Shape::cuboid([3.0_f64.sqrt(); 3]).and_then(|cube| cube.rounded(1e-13)),
        };
        match shape {
            Ok(shape) => Ok(body.with_shape(shape)),
            Err(source) => Err(RigidError::Body { body: "body".into(), source }),
        }
    }

    /// The body over its plane.
    ///
    /// # Errors
    /// None for these parameters.
    pub fn world(self) -> Result<RigidWorld, RigidError> {
        over_plane(self.body()?, if self == Self::II { -2.0 } else { 0.0 })
    }
}

/// The two ellipsoids of Case III with their centres shifted by `c`.
pub(super) fn union_of_ellipsoids(c: Vec3) -> Result<Shape, nsm_geom::GeomError> {
    Shape::union(vec![
        Shape::ellipsoid([3.0, 4.0, 5.0])?.at(Vec3::new(1.5, 0.0, 0.0) + c),
        Shape::ellipsoid([6.0, 1.0, 1.0])?.at(Vec3::new(-4.5, 0.0, 0.0) + c),
    ])
}

/// A body over the plane through the origin, turned by `degrees` about the y axis.
pub(super) fn over_plane(body: RigidBody, degrees: f64) -> Result<RigidWorld, RigidError> {
    let theta = degrees.to_radians();
    let world = RigidWorld::new(Vec3::new(0.0, 0.0, -G))?.with_body(body);
    if degrees == 0.0 {
        return Ok(world.with_plane("ground", Plane::horizontal()));
    }
    world.with_half_space("ground", Vec3::new(theta.sin(), 0.0, theta.cos()), 0.0)
}

/// The initial values of all cases.
pub fn start() -> RigidState {
    RigidState::new([BodyState::new(
        Pose::translation(Vec3::new(0.0, 0.0, 10.0)),
        Vec3::new(2.0, 2.0, 10.0),
        Vec3::new(4.0, -4.0, 4.0),
    )])
}

/// Every so many points of a curve, few enough for a figure.
pub(super) fn thin(values: &[f64], h: f64) -> impl Iterator<Item = [f64; 2]> {
    let stride = values.len().div_ceil(300).max(1);
    values.iter().enumerate().step_by(stride).map(move |(k, v)| [k as f64 * h, *v])
}
