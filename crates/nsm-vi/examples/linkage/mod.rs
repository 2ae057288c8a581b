//! The ring of hinges of \[LMO\] section 5.5 with six equal bodies: as many constraints as coordinates, one of them redundant,
//! one freedom.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, MechanismError, Pose};

/// The linkage with its hinges on a hexagon of edges of a cube, `hinge 1` turning at 30 rad/s.
///
/// # Errors
/// Never, for the constants are in order.
pub(crate) fn six_body_linkage() -> Result<Mechanism, MechanismError> {
    let l = 0.1;
    // The corners where the hinges are, and their axes along the edges of the cube that lead inwards.
    let hinges: [([f64; 3], [f64; 3]); 6] = [
        ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([0.0, l, 0.0], [0.0, 0.0, -1.0]),
        ([l, l, 0.0], [0.0, -1.0, 0.0]),
        ([l, l, -l], [-1.0, 0.0, 0.0]),
        ([l, 0.0, -l], [0.0, 0.0, 1.0]),
        ([0.0, 0.0, -l], [0.0, 1.0, 0.0]),
    ];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81])?;
    let mut ends = Vec::new();
    for k in 0..6 {
        // Between its two hinges, a little inwards.
        let [(a, n), (b, m)] = [hinges[k], hinges[(k + 1) % 6]];
        let centre = std::array::from_fn(|i| 0.5 * (a[i] + b[i]) + 0.014 * (n[i] + m[i]));
        let inertia = Inertia::principal(0.05, [4e-5; 3]);
        ends.push(End::from(mechanism.add_body(
            &format!("body {k}"),
            inertia,
            Pose::at(centre),
        )?));
    }
    mechanism.add_joint("base", JointKind::Fixed, [End::Ground, ends[0]], [0.0; 3], [0.0; 3])?;
    for k in 1..=6 {
        let (at, axis) = hinges[k % 6];
        let pair = [ends[k - 1], ends[k % 6]];
        mechanism.add_joint(&format!("hinge {k}"), JointKind::Revolute, pair, at, axis)?;
    }
    if let Some(first) = mechanism.joint("hinge 1") {
        mechanism.set_rate(first, &[30.0])?;
    }
    Ok(mechanism)
}
