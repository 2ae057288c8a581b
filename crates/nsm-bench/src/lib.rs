//! The problems of the five papers and of the wider field as data and code, with what must come out of
//! each, and everything needed to run one and judge it.

pub mod dae_test_set;
pub mod garcia_orden;
pub mod kaufman_pai;
pub mod leyendecker_marsden_ortiz;
pub mod scaling;
mod scenario;
pub mod tran_leok;

pub use nsm_problem::{Axes, Curve, Status};
pub use scenario::{Check, Effort, Expected, Findings, Scenario, ScenarioError, Table};

/// All scenarios, in the order of the papers, then those with references from elsewhere.
pub fn scenarios() -> Vec<Scenario> {
    [
        tran_leok::scenarios(),
        leyendecker_marsden_ortiz::scenarios(),
        garcia_orden::scenarios(),
        dae_test_set::scenarios(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
