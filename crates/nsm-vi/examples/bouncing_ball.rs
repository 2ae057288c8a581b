//! A bouncing ball: a direct method loses its energy, the generalized variational integrator keeps it.
//!
//! ```text
//! cargo run --release -p nsm-vi --example bouncing_ball
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use nsm_constraints::Affine;
use nsm_model::{Ledger, Mass, State, Stepper, System, SystemProbe, run_steps};
use nsm_vi::{ConstraintAt, Direct, Gvi, Quadrature};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ball = System::new(Mass::diagonal(&[1.0])?)
        .with_names(&["height"])?
        .with_potential("gravity", Affine::weight(&[(&[0], 1.0)], &[-9.8])?)?
        .with_inequality("floor", Affine::above(0, 0.0)?)?;
    let start = State::new(&ball, &[1.0], &[0.0])?;
    let (h, steps) = (0.05, 4000);

    println!("A ball of mass 1 falls from 1 m; {steps} steps of {h} s.\n");
    println!(
        "{:<28}{:>14}{:>14}{:>10}{:>14}",
        "method", "lowest E", "highest E", "impacts", "penetration"
    );
    let gvi =
        account(&ball, &start, &mut Gvi::new(h, Quadrature::Midpoint).stepper(&ball)?, steps)?;
    show("GVI", &gvi);
    for (name, at) in [
        ("end-point-constrained", ConstraintAt::Endpoint),
        ("midpoint-constrained", ConstraintAt::Midpoint),
    ] {
        show(name, &account(&ball, &start, &mut Direct::new(h, at).stepper(&ball)?, 120)?);
    }

    println!("\nThe first bounce of GVI:");
    let mut stepper = Gvi::new(h, Quadrature::Midpoint).stepper(&ball)?;
    let mut state = start;
    loop {
        stepper.step(&mut state)?;
        if let Some(event) = stepper.events().iter().next() {
            println!(
                "  t = {:.2} s: impulse {:.3} Ns, energy change {:.1e} J",
                event.t, event.impulses[0], event.energy_change
            );
            return Ok(());
        }
    }
}

fn account(
    system: &System,
    start: &State,
    stepper: &mut impl Stepper<State = State>,
    steps: usize,
) -> Result<Ledger, Box<dyn std::error::Error>> {
    let mut state = start.clone();
    Ok(run_steps(stepper, &mut SystemProbe::new(system), &mut state, steps, &mut ())?.ledger)
}

fn show(name: &str, ledger: &Ledger) {
    let energy = ledger.energy;
    println!(
        "{name:<28}{:>14.6}{:>14.6}{:>10}{:>14.2e}",
        energy.min, energy.max, ledger.events, ledger.penetration
    );
}
