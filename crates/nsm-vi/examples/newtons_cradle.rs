//! Newton's cradle: rods as equality constraints, contacts as inequalities, five balls struck by two.
//!
//! ```text
//! cargo run --release -p nsm-vi --example newtons_cradle
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use std::ops::ControlFlow;

use nsm_constraints::{Affine, Rod, SphereGap};
use nsm_model::{Events, Mass, Measurement, State, System, SystemProbe, run_steps};
use nsm_vi::{Gvi, Quadrature};

const BALLS: usize = 5;
const RADIUS: f64 = 0.25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (cradle, start) = cradle()?;
    // Predict again after each reflection: no ball enters another.
    let method = Gvi { repredict: true, ..Gvi::new(0.005, Quadrature::Midpoint) };
    let mut stepper = method.stepper(&cradle)?;
    let mut state = start;

    println!("Angles of the balls in degrees; * marks an impact since the last line.\n");
    let mut impacts = 0;
    let mut watch = |step: usize, state: &State, _: &Measurement, events: &Events| {
        impacts += events.len();
        if step.is_multiple_of(40) {
            let angles: Vec<String> = (0..BALLS)
                .map(|i| {
                    let x = state.q[2 * i] - 2.0 * RADIUS * i as f64;
                    format!("{:>7.1}", x.atan2(-state.q[2 * i + 1]).to_degrees())
                })
                .collect();
            println!(
                "t = {:4.1} s {} {}",
                state.t,
                angles.join(""),
                if impacts > 0 { "*" } else { "" }
            );
            impacts = 0;
        }
        ControlFlow::Continue(())
    };
    let outcome =
        run_steps(&mut stepper, &mut SystemProbe::new(&cradle), &mut state, 800, &mut watch)?;
    let ledger = outcome.ledger;
    println!(
        "\nenergy        {:.6} J, between {:.6} and {:.6}",
        ledger.energy.start, ledger.energy.min, ledger.energy.max
    );
    println!("rods          stretched by at most {:.1e} m", ledger.position_residual);
    println!("penetration   at most {:.1e} m", ledger.penetration);
    println!("impacts       {}, of at most {} rounds", ledger.events, ledger.most_rounds);
    Ok(())
}

/// Five balls on rods of 1 m, the two on the left raised together to 36 degrees.
fn cradle() -> Result<(System, State), Box<dyn std::error::Error>> {
    let mut system = System::new(Mass::diagonal(&[1.0; 2 * BALLS])?);
    let mut q = Vec::new();
    for i in 0..BALLS {
        let (x, y, pivot) = (2 * i, 2 * i + 1, 2.0 * RADIUS * i as f64);
        let angle = if i < 2 { -36.0_f64.to_radians() } else { 0.0 };
        q.extend([pivot + angle.sin(), -angle.cos()]);
        system = system
            .with_potential("weight", Affine::new(&[y], &[9.8], 9.8)?)?
            .with_equality(&format!("rod {i}"), Rod::to_pivot(&[x, y], &[pivot, 0.0], 1.0)?)?;
    }
    for i in 1..BALLS {
        let (a, b) = ([2 * i - 2, 2 * i - 1], [2 * i, 2 * i + 1]);
        let gap = SphereGap::between_balls(&a, &b, RADIUS, RADIUS)?;
        system = system.with_inequality(&format!("balls {} and {i}", i - 1), gap)?;
    }
    let state = State::new(&system, &q, &[0.0; 2 * BALLS])?;
    Ok((system, state))
}
