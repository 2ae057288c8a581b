//! A cam drives a follower: one constraint that repeats every turn, without listing the turns.
//!
//! `cargo run --release -p nsm-alpha --example cam_and_follower`
#![allow(clippy::print_stdout)] // an example prints

use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

use nsm_alpha::EventDriven;
use nsm_constraints::{Affine, AutoDiff, Expr, Rows, Scalar, Switching};
use nsm_model::{Events, Mass, Measurement, State, System, SystemProbe, run_steps};

/// $y - 2 - \cos\tfrac12(\theta - \pi)$, for $\theta$ in the first turn.
struct Profile;
impl Expr for Profile {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] - 2.0 - ((q[1] - PI) * 0.5).cos()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rows = Rows::new(2);
    rows.push("follower", AutoDiff::new(Profile, &[0, 1])?)?;
    // The follower is pressed on with 5 N.
    let system = System::new(Mass::diagonal(&[1.0, 4.0])?)
        .with_names(&["y", "theta"])?
        .with_potential("load", Affine::new(&[0], &[5.0], 0.0)?)?
        .with_switching(Switching::periodic("turn", 1, 0.0, TAU, rows)?)?;
    let start = State::new(&system, &[2.0, 0.0], &[2.0, 4.0])?;
    let mut stepper = EventDriven::new(1e-3, 0.9)?.stepper(&system, &start)?;
    let mut state = start;
    let mut report = |_: usize, s: &State, m: &Measurement, events: &Events| {
        for event in events.iter() {
            println!(
                "t = {:.6}: turn {} begins, energy {:.6} after a loss of {:.6}",
                event.t,
                s.mode,
                m.energy(),
                -event.energy_change
            );
        }
        ControlFlow::Continue(())
    };
    let mut probe = SystemProbe::new(&system);
    let outcome = run_steps(&mut stepper, &mut probe, &mut state, 4000, &mut report)?;
    println!("y = {:.6}, theta = {:.6} at t = {:.3}", state.q[0], state.q[1], state.t);
    println!("largest |g| {:.1e}", outcome.ledger.position_residual);
    Ok(())
}
