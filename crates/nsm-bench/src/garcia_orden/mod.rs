//! García Orden, "Energy considerations for the stabilization of constrained mechanical systems with
//! velocity projection" \[GO\]: its two particles, and its figures as scenarios.

mod balance;
mod run;
mod steps;

use nsm_constraints::{AutoDiff, Expr, Scalar};
use nsm_model::{Mass, State, System, SystemError};
use nsm_vi::ProjectionMatrix;

use crate::Scenario;

/// The second particle's mass $\mu$; the first has 1.
pub const MU: f64 = 0.1;
/// The first entry $a$ of the matrix $W = \operatorname{diag}(a, 1)$.
pub const A: f64 = 15.0;
/// Energy at the start.
const ENERGY: f64 = 0.5;

struct Circle;
impl Expr for Circle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * q[0] + q[1] * q[1] - 1.0
    }
}

/// Two particles on a line with $\Phi = q_1^2 + q_2^2 - 1 = 0$, at $(0, 1)$ with velocity $(1, 0)$ (section 6).
///
/// # Errors
/// Never, for the constants are in order.
pub fn particles() -> Result<(System, State), SystemError> {
    let system = System::new(Mass::diagonal(&[1.0, MU])?)
        .with_names(&["q1", "q2"])?
        .with_equality("circle", AutoDiff::new(Circle, &[0, 1])?)?;
    let state = State::new(&system, &[0.0, 1.0], &[1.0, 0.0])?;
    Ok((system, state))
}

/// The projection matrix $W$ of section 6.
pub fn w() -> ProjectionMatrix {
    ProjectionMatrix::Full(vec![vec![A, 0.0], vec![0.0, 1.0]])
}

/// The scenarios of the paper, in the order of its figures.
pub fn scenarios() -> Vec<Scenario> {
    [steps::scenarios(), balance::scenarios()].into_iter().flatten().collect()
}
