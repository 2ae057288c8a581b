//! A potential and a constraint of one's own, written once: the derivatives are exact and automatic.
//!
//! A particle in a bowl $y \ge a x^2$ with ripples, pulled by a spring that stiffens.
//!
//! ```text
//! cargo run --release -p nsm-vi --example own_potential
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use nsm_constraints::{AutoDiff, Expr, Scalar};
use nsm_model::{Mass, State, System, SystemProbe, Tolerance, check_start, run_steps};
use nsm_vi::{Energy, Gvi, Quadrature};

/// $\tfrac12 k r^2 + \tfrac14 c r^4$, with $r$ the distance from $(0, 2)$.
struct StiffeningSpring {
    k: f64,
    c: f64,
}

impl Expr for StiffeningSpring {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0], q[1] - 2.0);
        let r2 = x * x + y * y;
        r2 * (0.5 * self.k) + r2 * r2 * (0.25 * self.c)
    }
}

/// Above the rippled bowl $y = a x^2 + b \cos(w x)$.
struct RippledBowl {
    a: f64,
    b: f64,
    w: f64,
}

impl Expr for RippledBowl {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[1] - q[0] * q[0] * self.a - (q[0] * self.w).cos() * self.b
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spring = AutoDiff::new(StiffeningSpring { k: 1.0, c: 0.5 }, &[0, 1])?;
    let bowl = AutoDiff::new(RippledBowl { a: 0.5, b: 0.2, w: 6.0 }, &[0, 1])?;
    let system = System::new(Mass::diagonal(&[1.0, 1.0])?)
        .with_names(&["x", "y"])?
        .with_potential("spring", spring)?
        .with_inequality("bowl", bowl)?;
    let start = State::new(&system, &[-0.5, 4.0], &[1.0, 0.0])?;
    check_start(&system, &start, Tolerance::default())?;

    println!("20 000 steps; energy relative to the start.\n");
    println!(
        "{:<10}{:<14}{:>8}{:>12}{:>12}{:>10}{:>14}",
        "quadrature", "energy", "h", "lowest", "highest", "impacts", "penetration"
    );
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        for energy in [Energy::Hamiltonian, Energy::SecondOrder] {
            for step in [0.05, 0.025] {
                let method = Gvi { energy, repredict: true, ..Gvi::new(step, quadrature) };
                let mut stepper = method.stepper(&system)?;
                let mut state = start.clone();
                let run = run_steps(
                    &mut stepper,
                    &mut SystemProbe::new(&system),
                    &mut state,
                    20_000,
                    &mut (),
                )?;
                let (ledger, e) = (&run.ledger, run.ledger.energy);
                println!(
                    "{:<10}{:<14}{step:>8}{:>12.5}{:>12.5}{:>10}{:>14.2e}",
                    format!("{quadrature:?}"),
                    format!("{energy:?}"),
                    e.min / e.start,
                    e.max / e.start,
                    ledger.events,
                    ledger.penetration
                );
            }
        }
    }
    Ok(())
}
