//! The native part of the Python package: problem files, their runs and results, steps one by one, and the solvers. What a person types
//! is Python, in `nsm/`; here is only what must be fast, and no mechanics of its own.

mod callback;
mod problem;
mod simulation;
mod solvers;

use pyo3::prelude::*;

/// The module `nsm._native`.
#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<problem::PyProblem>()?;
    m.add_class::<problem::PyMembers>()?;
    m.add_class::<problem::PyRunResult>()?;
    m.add_class::<simulation::Simulation>()?;
    m.add_function(wrap_pyfunction!(solvers::lcp, m)?)?;
    m.add_function(wrap_pyfunction!(solvers::nnls, m)?)?;
    m.add_function(wrap_pyfunction!(solvers::friction, m)?)?;
    m.add("ProblemError", m.py().get_type::<problem::ProblemError>())?;
    m.add("StepError", m.py().get_type::<simulation::StepError>())?;
    m.add("SolverError", m.py().get_type::<solvers::SolverError>())?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
