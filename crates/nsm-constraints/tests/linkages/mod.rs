//! Planar linkages in space.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};

/// Ground, crank, coupler, rocker, ground, with pins along y at these points; the last pin closes the loop.
pub(crate) fn planar(pins: [[f64; 3]; 4]) -> Mechanism {
    let mut mechanism = Mechanism::new();
    let mut ends = vec![End::Ground];
    for (i, name) in ["crank", "coupler", "rocker"].into_iter().enumerate() {
        let middle = std::array::from_fn(|k| 0.5 * (pins[i][k] + pins[i + 1][k]));
        let inertia = Inertia::cuboid(1.0, [0.1, 0.1, 1.0]);
        ends.push(mechanism.add_body(name, inertia, Pose::at(middle)).unwrap().into());
    }
    ends.push(End::Ground);
    for (i, at) in pins.into_iter().enumerate() {
        let (name, axis) = (format!("pin {i}"), [0.0, 1.0, 0.0]);
        mechanism.add_joint(&name, JointKind::Revolute, [ends[i], ends[i + 1]], at, axis).unwrap();
    }
    mechanism
}

/// A linkage whose crank can turn round.
pub(crate) fn four_bar() -> Mechanism {
    planar([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 2.0], [4.0, 0.0, 0.0]])
}
