//! The four hybrid systems of Tran and Leok, section 7.
#![allow(dead_code)] // each test uses some

use nsm_geom::{Mat3, Plane, Pose, Shape, Vec3};
use nsm_vi::rigid::{BodyState, RigidBody, RigidState, RigidWorld};

pub(crate) const G: f64 = 9.80665;
pub(crate) const H: f64 = 0.01;

pub(crate) fn gravity() -> Vec3 {
    Vec3::new(0.0, 0.0, -G)
}

pub(crate) fn start() -> RigidState {
    RigidState::new([BodyState::new(
        Pose::translation(Vec3::new(0.0, 0.0, 10.0)),
        Vec3::new(2.0, 2.0, 10.0),
        Vec3::new(4.0, -4.0, 4.0),
    )])
}

pub(crate) fn ellipsoid() -> RigidBody {
    RigidBody::new("ellipsoid", 1.0, Mat3::from_diagonal(&Vec3::new(5.0, 4.0, 2.6)))
        .unwrap()
        .with_shape(Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap())
}

pub(crate) fn union() -> RigidBody {
    let c = Vec3::new(-0.993_712_8, 0.0, 0.0);
    let first = Shape::ellipsoid([3.0, 4.0, 5.0]).unwrap().at(Vec3::new(1.5, 0.0, 0.0) + c);
    let second = Shape::ellipsoid([6.0, 1.0, 1.0]).unwrap().at(Vec3::new(-4.5, 0.0, 0.0) + c);
    let inertia = Vec3::new(7.593_271_8, 9.932_643_4, 8.273_125_2);
    RigidBody::new("union", 1.0, Mat3::from_diagonal(&inertia))
        .unwrap()
        .with_shape(Shape::union(vec![first, second]).unwrap())
}

pub(crate) fn cube() -> RigidBody {
    let half = 3.0_f64.sqrt();
    RigidBody::new("cube", 1.0, Mat3::identity() * 2.0)
        .unwrap()
        .with_shape(Shape::cuboid([half; 3]).unwrap().rounded(1e-13).unwrap())
}

/// Case I, II, III or IV as 0, 1, 2, 3.
pub(crate) fn case(number: usize) -> RigidWorld {
    let world = RigidWorld::new(gravity()).unwrap();
    let body = match number {
        0 | 1 => ellipsoid(),
        2 => union(),
        _ => cube(),
    };
    let plane = if number == 1 {
        let theta = -std::f64::consts::PI / 90.0;
        Plane::new(Vec3::new(theta.sin(), 0.0, theta.cos()), 0.0).unwrap()
    } else {
        Plane::horizontal()
    };
    world.with_body(body).with_plane("ground", plane)
}
