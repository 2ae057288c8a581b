//! Complementarity, least squares with bounds, friction.

use nsm_solvers::friction::{FrictionError, FrictionOptions, FrictionProblem};
use nsm_solvers::{friction as coulomb, lcp as complementarity};
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::PyArithmeticError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    nsm,
    SolverError,
    PyArithmeticError,
    "A problem that was not solved, or has no solution. `best` is the best point that was reached, or None."
);

/// Entries of a sparse matrix: rows, columns, values.
type Entries = (Vec<usize>, Vec<usize>, Vec<f64>);

fn failed<'py>(py: Python<'py>, message: String, best: Option<&[f64]>) -> PyErr {
    let error = SolverError::new_err(message);
    let best = best.map(|z| PyArray1::from_slice(py, z));
    match error.value(py).setattr("best", best) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Columns of a sparse matrix: where each begins, rows, values.
type Columns = (Vec<usize>, Vec<usize>, Vec<f64>);

/// Finds z >= 0 with w = M z + q >= 0 and z.w = 0; `rows` is M row by row, or `columns` its compressed columns.
#[pyfunction]
#[pyo3(signature = (q, rows=Vec::new(), columns=None))]
pub(crate) fn lcp<'py>(
    py: Python<'py>,
    q: Vec<f64>,
    rows: Vec<f64>,
    columns: Option<Columns>,
) -> PyResult<Bound<'py, PyDict>> {
    let n = q.len();
    let solved = py.detach(|| {
        let matrix = match &columns {
            Some((begin, row, value)) => complementarity::Matrix::sparse(n, begin, row, value),
            None => complementarity::Matrix::dense(n, &rows),
        };
        let matrix =
            matrix.map_err(|error| complementarity::LcpFailure { error, best: None })?;
        complementarity::solve(matrix, &q)
    });
    let solution = match solved {
        Ok(solution) => solution,
        Err(e) => {
            let best = e.best.as_ref().map(|best| best.z.as_slice());
            return Err(failed(py, e.error.to_string(), best));
        }
    };
    let out = PyDict::new(py);
    out.set_item("z", PyArray1::from_slice(py, &solution.z))?;
    out.set_item("w", PyArray1::from_slice(py, &solution.w))?;
    out.set_item("active", solution.active)?;
    out.set_item("residual", solution.report.residual)?;
    out.set_item("report", format!("{:?}", solution.report))?;
    Ok(out)
}

/// Minimises |A x - b|^2 over x >= 0, from the products A'A (row by row) and A'b.
#[pyfunction]
pub(crate) fn nnls<'py>(
    py: Python<'py>,
    gram: Vec<f64>,
    rhs: Vec<f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let n = rhs.len();
    let q: Vec<f64> = rhs.iter().map(|x| -x).collect();
    let mut x = vec![0.0; n];
    let solved = py.detach(|| {
        nsm_solvers::least_squares::BoundedGram::new(n).solve(
            &gram,
            &q,
            &vec![0.0; n],
            &vec![f64::INFINITY; n],
            &mut x,
        )
    });
    match solved {
        Ok(_) => Ok(PyArray1::from_vec(py, x)),
        Err(e) => Err(failed(py, e.to_string(), None)),
    }
}

/// Coulomb's law at many contacts: u = W r + q, from the entries of W.
#[pyfunction]
pub(crate) fn friction<'py>(
    py: Python<'py>,
    entries: Entries,
    q: Vec<f64>,
    mu: Vec<f64>,
    start: Vec<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut r = start;
    let solved = py.detach(|| {
        let (rows, columns, values) = &entries;
        let list: Vec<(usize, usize, f64)> =
            rows.iter().zip(columns).zip(values).map(|((&i, &j), &x)| (i, j, x)).collect();
        let problem = FrictionProblem::sparse(&list, &q, &mu)?;
        coulomb::solve(&problem, &mut r, &FrictionOptions::default())
    });
    let report = match solved {
        Ok(report) => report,
        Err(e) => {
            let best = matches!(e, FrictionError::NotSolved { .. }).then_some(r.as_slice());
            return Err(failed(py, e.to_string(), best));
        }
    };
    let out = PyDict::new(py);
    out.set_item("r", PyArray1::from_slice(py, &r))?;
    out.set_item("residual", report.residual)?;
    out.set_item("stage", format!("{:?}", report.stage))?;
    out.set_item("iterations", report.iterations)?;
    out.set_item("energy_change", report.energy_change)?;
    Ok(out)
}
