//! Two mechanical problems of the DAE test set \[Mazzia & Magherini 2008\], whose solutions others computed to 14
//! digits: error against work, by every method that fits.
//!
//! The data are not part of this project: they are read from [`Reference`] files, and where those are absent a
//! scenario says so instead of a verdict.
//!
//! The measure is that of the test set, taken over the positions at the end: the mixed error
//! $$ \max_i \frac{|y_i - y_i^{\mathrm{ref}}|}{1 + |y_i^{\mathrm{ref}}|} \qquad\text{and}\qquad \mathrm{mescd} = -\log_{10} \text{of it}, $$
//! with equal absolute and relative tolerances. Work is counted in Newton iterations, each of which solves one linear
//! system of the size of the step's equations; times are shown but decide nothing.

pub mod car_axis;
mod reference;
mod scenarios;
pub mod squeezer;
mod work;

pub use reference::Reference;
pub use scenarios::scenarios;

use nsm_model::{State, System};

/// A system, its start, and where it is at the end.
#[derive(Debug)]
pub struct Problem {
    /// The mechanics.
    pub system: System,
    /// The start that the test set gives.
    pub start: State,
    /// The time at which the solution is known.
    pub end: f64,
    /// The leading positions then.
    pub positions: Vec<f64>,
}
