//! A closed chain with redundant constraints: six bodies in a ring of hinges that turns itself inside out.
//!
//! The chart of the closed loop has one freedom and needs no analysis of the linkage; multipliers give the same motion from
//! 143 equations.
//!
//! ```text
//! cargo run --release -p nsm-vi --example six_body_linkage
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

mod linkage;

use nsm_model::{Stepper, System};
use nsm_vi::{NullSpace, Quadrature, Variational};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mechanism = linkage::six_body_linkage()?;
    let (system, start) = System::of(&mechanism)?;
    let redundancy = mechanism.redundancy(&start.q)?;
    println!(
        "{} coordinates, {} constraints, {} independent, {} freedom; redundant: {}",
        system.dimension(),
        system.equalities().len(),
        redundancy.rank,
        redundancy.freedoms,
        redundancy.rows.join(", "),
    );

    let h = 1e-3;
    let method = NullSpace::reparametrised(h, Quadrature::Midpoint);
    let mut one_freedom = method.stepper_with(&system, mechanism.closure()?)?;
    let mut multipliers = Variational::new(h, Quadrature::Midpoint).stepper(&system)?;
    let (mut a, mut b) = (start.clone(), start.clone());
    let hinges = ["hinge 1", "hinge 2"].map(|name| mechanism.joint(name));

    println!("{:>6} {:>9} {:>9} {:>12} {:>12}", "t", "angle 1", "angle 2", "energy", "difference");
    for k in 1..=300 {
        one_freedom.step(&mut a)?;
        multipliers.step(&mut b)?;
        if k % 30 == 0 {
            let mut angles = [f64::NAN; 2];
            for (angle, hinge) in angles.iter_mut().zip(hinges) {
                if let Some(hinge) = hinge {
                    *angle = mechanism.joint_coordinates(hinge, &a.q)?[0];
                }
            }
            let energy = system.mass().kinetic_energy(&a.v) + system.potential().sum(&a.q, a.t);
            let apart = a.q.iter().zip(&b.q).fold(0.0_f64, |d, (a, b)| d.max((a - b).abs()));
            println!(
                "{:>6.3} {:>9.5} {:>9.5} {energy:>12.8} {apart:>12.1e}",
                a.t, angles[0], angles[1]
            );
        }
    }
    Ok(())
}
