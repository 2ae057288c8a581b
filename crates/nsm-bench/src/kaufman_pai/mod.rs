//! Kaufman & Pai, "Geometric numerical integration of inequality constrained, nonsmooth Hamiltonian
//! systems" \[KP\]: its systems, and each of its figures as a scenario.

mod ball;
mod cradle;
mod oscillator;
mod pogo;
mod run;
mod spheres;
pub mod systems;

use crate::Scenario;

/// The scenarios of the paper, in the order of its figures.
pub fn scenarios() -> Vec<Scenario> {
    [
        ball::scenarios(),
        pogo::scenarios(),
        spheres::scenarios(),
        oscillator::scenarios(),
        cradle::scenarios(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
