//! A four-bar linkage in space: a closed loop with redundant rows, driven by one rate.
//!
//! ```text
//! cargo run --release -p nsm-vi --example four_bar_linkage
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
use nsm_model::{Stepper, System};
use nsm_vi::{NullSpace, Quadrature};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pins = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 2.0], [4.0, 0.0, 0.0]];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81])?;
    let mut ends = vec![End::Ground];
    for (pair, name) in pins.windows(2).zip(["crank", "coupler", "rocker"]) {
        let middle = std::array::from_fn(|k| 0.5 * (pair[0][k] + pair[1][k]));
        let bar = Inertia::cuboid(1.0, [0.1, 0.1, 1.0]);
        ends.push(mechanism.add_body(name, bar, Pose::at(middle))?.into());
    }
    ends.push(End::Ground);
    let mut joints = Vec::new();
    for (i, at) in pins.into_iter().enumerate() {
        let (name, axis) = (format!("pin {i}"), [0.0, 1.0, 0.0]);
        let pair = [ends[i], ends[i + 1]];
        joints.push(mechanism.add_joint(&name, JointKind::Revolute, pair, at, axis)?);
    }
    // The other rates follow: the loop must stay closed.
    mechanism.set_rate(joints[0], &[12.0])?;

    let (system, mut state) = System::of(&mechanism)?;
    let redundancy = mechanism.redundancy(&state.q)?;
    println!("{} freedom; redundant: {}", redundancy.freedoms, redundancy.rows.join(", "));
    let method = NullSpace::reparametrised(2e-3, Quadrature::Midpoint);
    let mut stepper = method.stepper_with(&system, mechanism.closure()?)?;
    println!("{:>5} {:>10} {:>10} {:>12}", "t", "crank", "rocker", "energy");
    for k in 0..=500 {
        if k % 50 == 0 {
            let [crank, _, _] = mechanism.joint_coordinates(joints[0], &state.q)?;
            let [rocker, _, _] = mechanism.joint_coordinates(joints[3], &state.q)?;
            let energy =
                system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t);
            println!("{:>5.2} {crank:>10.6} {rocker:>10.6} {energy:>12.6}", state.t);
        }
        stepper.step(&mut state)?;
    }
    Ok(())
}
