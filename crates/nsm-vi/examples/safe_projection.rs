//! Which projection matrix is safe?
//!
//! Two particles on a line with $q_1^2 + q_2^2 = 1$ (\[GO\] section 6). Velocities leave the constraint and are
//! projected back after every step. Any positive definite matrix does that; not every one keeps the
//! energy from growing, and the energy balance says which, before a run is made.
//!
//! ```text
//! cargo run --release -p nsm-vi --example safe_projection
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use nsm_constraints::Rod;
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{Conserving, EnergyBalance, Projected, Projection, ProjectionMatrix, Strength};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let system = System::new(Mass::diagonal(&[1.0, 0.1])?)
        .with_equality("circle", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0)?)?;
    let start = State::new(&system, &[0.0, 1.0], &[1.0, 0.0])?;
    let weights = ProjectionMatrix::Full(vec![vec![15.0, 0.0], vec![0.0, 1.0]]);
    let proportional = ProjectionMatrix::Full(vec![vec![20.0, 0.0], vec![0.0, 2.0]]);

    println!("matrix          safe at (0.6, 0.8)   worst gain   E(10)/E(0)");
    for (name, matrix) in [
        ("mass", ProjectionMatrix::Mass),
        ("20 x mass", proportional),
        ("identity", ProjectionMatrix::Identity),
        ("diag(15, 1)", weights),
    ] {
        let projection = Projection { matrix, strength: Strength::Exact };
        let safety = EnergyBalance::new(&system, &projection, &[0.6, 0.8], 0.0)?.safety();

        let inner = Conserving::new(0.1).stepper(&system)?;
        let mut stepper = Projected::new(&system, inner, &projection)?;
        let mut state = start.clone();
        for _ in 0..100 {
            stepper.step(&mut state)?;
        }
        // The step itself conserves energy: all change is the projection's.
        let ratio = 1.0 + stepper.total_energy_change() / 0.5;
        let word = if safety.safe { "yes" } else { "no" };
        println!("{name:<15} {word:<20} {:>9.1} %   {ratio:.4}", 100.0 * safety.gain.max(0.0));
    }
    Ok(())
}
