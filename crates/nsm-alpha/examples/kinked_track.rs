//! A point mass runs along $y = 0$ and up a slope of 45°: what the impact law makes of its energy.
//!
//! `cargo run --release -p nsm-alpha --example kinked_track`
#![allow(clippy::print_stdout)] // an example prints

use nsm_alpha::Nsga;
use nsm_constraints::{Affine, Rows, Switching};
use nsm_model::{Mass, State, System, SystemProbe, run_steps, steps_between};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let l = 3.0;
    let (mut flat, mut ramp) = (Rows::new(2), Rows::new(2));
    flat.push("track", Affine::above(1, 0.0)?)?;
    ramp.push("track", Affine::new(&[0, 1], &[-1.0, 1.0], l)?)?;
    let kink = Switching::new(2).with_mode("flat", Affine::below(0, l)?, flat)?.with_mode(
        "ramp",
        Affine::above(0, l)?,
        ramp,
    )?;
    let system = System::new(Mass::diagonal(&[1.0, 1.0])?).with_switching(kink)?;
    let start = State::new(&system, &[0.0, 0.0], &[1.0, 0.0])?;

    println!("interpolation  energy after  predicted change   x(6)     y(6)");
    for interpolation in [1.0, 0.9, 0.7, 0.5, 0.3] {
        let method = Nsga { interpolation, ..Nsga::new(0.002, 0.98)? };
        let mut stepper = method.stepper(&system, &start)?;
        let mut state = start.clone();
        let steps = steps_between(0.0, 6.0, method.step)?;
        let mut probe = SystemProbe::new(&system);
        let outcome = run_steps(&mut stepper, &mut probe, &mut state, steps, &mut ())?;
        println!(
            "{interpolation:13}  {:12.6}  {:16.6}  {:7.4}  {:7.4}",
            outcome.ledger.energy.end, outcome.ledger.event_energy_change, state.q[0], state.q[1]
        );
    }
    Ok(())
}
