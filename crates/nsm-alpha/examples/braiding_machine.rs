//! A bobbin carrier is handed from one horn gear to a smaller one: several constraints switch at once
//! beside one that holds throughout, and the intermediate gradient is interpolated between subspaces.
//!
//! `cargo run --release -p nsm-alpha --example braiding_machine`
#![allow(clippy::print_stdout)] // an example prints

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use nsm_alpha::{EventDriven, Nsga, Variant};
use nsm_constraints::{Affine, AutoDiff, ConstraintError, Expr, Rows, Scalar, Switching};
use nsm_model::{Mass, State, System, SystemProbe, run_steps};

/// $x - c - r \cos(\varphi - \varphi_0)$.
struct OnCircle(f64, f64, f64);
impl Expr for OnCircle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] - self.0 - (q[1] - self.2).cos() * self.1
    }
}

/// The carrier (coordinates 0, 1, 2) rides on a gear of this centre, signed radius and angle coordinate.
fn on_gear(centre: f64, radius: f64, gear: usize, lead: f64) -> Result<Rows, ConstraintError> {
    let mut rows = Rows::new(5);
    rows.push("x", AutoDiff::new(OnCircle(centre, radius, 0.0), &[0, 2])?)?;
    rows.push("y", AutoDiff::new(OnCircle(0.0, radius, FRAC_PI_2), &[1, 2])?)?;
    rows.push("angle", Affine::new(&[2, gear], &[1.0, -1.0], -lead)?)?;
    Ok(rows)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (r, r_second) = (2.0, 1.0);
    let switching = Switching::new(5)
        .with_mode("first gear", Affine::new(&[3], &[-1.0], PI)?, on_gear(0.0, r, 3, 0.0)?)?
        .with_mode(
            "second gear",
            Affine::new(&[3], &[1.0], -PI)?,
            on_gear(-r - r_second, -r_second, 4, TAU)?,
        )?;
    let system = System::new(Mass::diagonal(&[2.0, 2.0, 0.25, 30.0, 7.5])?)
        .with_names(&["x", "y", "carrier", "first", "second"])?
        .with_equality("gears mesh", Affine::new(&[3, 4], &[1.0, 1.0], 0.0)?)?
        .with_switching(switching)?;
    let omega = 1.6;
    let v = [0.0, r * omega, omega, omega, -omega];
    let start = State::new(&system, &[r, 0.0, 0.0, 0.0, 0.0], &v)?;

    println!("method                    energy before  after      angle at t = 4");
    for interpolation in [1.0, 0.5] {
        let method = EventDriven { interpolation, ..EventDriven::new(1e-3, 0.98)? };
        let mut stepper = method.stepper(&system, &start)?;
        let (mut state, mut probe) = (start.clone(), SystemProbe::new(&system));
        let run = run_steps(&mut stepper, &mut probe, &mut state, 4000, &mut ())?;
        let energy = run.ledger.energy;
        println!(
            "event-driven, E = {interpolation:3}     {:.6}      {:.6}  {:.7}",
            energy.start, energy.end, state.q[3]
        );
    }
    for variant in [Variant::Published, Variant::Active] {
        let mut stepper = Nsga { variant, ..Nsga::new(1e-3, 0.98)? }.stepper(&system, &start)?;
        let (mut state, mut probe) = (start.clone(), SystemProbe::new(&system));
        let run = run_steps(&mut stepper, &mut probe, &mut state, 4000, &mut ())?;
        let energy = run.ledger.energy;
        println!(
            "NSGA, {:10}          {:.6}      {:.6}  {:.7}",
            format!("{variant:?}").to_lowercase(),
            energy.start,
            energy.end,
            state.q[3]
        );
    }
    Ok(())
}
