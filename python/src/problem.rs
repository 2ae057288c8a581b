//! Problems, their runs and results.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use nsm::formula::Foreign;
use nsm_problem::{Members, Problem, Run, RunResult, Watch, print};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::callback::{Callback, Raised};

create_exception!(
    nsm,
    ProblemError,
    PyValueError,
    "A problem that cannot be used. `key` is the path of the culprit, `line` its line, `file` its file, each None where unknown."
);

/// The error of a file as an exception that keeps the key.
pub(crate) fn raised(error: nsm_problem::ProblemError) -> PyErr {
    Python::attach(|py| {
        let exception = ProblemError::new_err(error.to_string());
        let value = exception.value(py);
        let key = Some(error.key).filter(|key| !key.is_empty());
        let filled = value
            .setattr("key", key)
            .and_then(|()| value.setattr("line", error.line))
            .and_then(|()| value.setattr("file", error.file));
        filled.err().unwrap_or(exception)
    })
}

/// What functions of a problem raised since it was last asked.
pub(crate) fn taken(stash: &Raised) -> Option<PyErr> {
    stash.lock().unwrap_or_else(|e| e.into_inner()).take()
}

/// A problem that was read.
#[pyclass(frozen, name = "Problem")]
pub(crate) struct PyProblem {
    pub(crate) inner: Arc<Problem>,
    /// What a function of the problem raised.
    pub(crate) raised: Raised,
}

impl PyProblem {
    pub(crate) fn run(&self, index: usize) -> PyResult<&Run> {
        let count = self.inner.runs.len();
        let none = || PyIndexError::new_err(format!("there are {count} runs, counted from 0"));
        self.inner.runs.get(index).ok_or_else(none)
    }
}

#[pymethods]
impl PyProblem {
    /// Reads TOML text whose formulas may call these functions: name, `f(arguments, by)`, number of arguments.
    #[staticmethod]
    #[pyo3(signature = (text, functions=Vec::new()))]
    fn parse(
        py: Python<'_>,
        text: String,
        functions: Vec<(String, Py<PyAny>, usize)>,
    ) -> PyResult<Self> {
        let stash = Raised::default();
        let functions: Vec<_> = functions
            .into_iter()
            .map(|(name, function, arity)| {
                let callback = Callback { function, arity, raised: stash.clone() };
                (name, Arc::new(callback) as Arc<dyn Foreign>)
            })
            .collect();
        let inner = py.detach(|| Problem::parse_calling(&text, &functions));
        match taken(&stash) {
            Some(error) => Err(error),
            None => Ok(Self { inner: Arc::new(inner.map_err(raised)?), raised: stash }),
        }
    }

    /// Reads a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| Problem::read(&path)).map_err(raised)?;
        Ok(Self { inner: Arc::new(inner), raised: Raised::default() })
    }

    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    #[getter]
    fn source(&self) -> &str {
        &self.inner.source
    }

    /// What nsm changed while it read, for example rotations that were made exact.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.iter().map(ToString::to_string).collect()
    }

    /// What the runs are: a JSON list of name, family, method, why it was chosen, step, number of steps, what its family varies.
    fn runs(&self) -> String {
        let run = |r: &Run| {
            let varied = r.varied.iter().map(|(path, value)| (path.clone(), print::setting(value)));
            let varied: serde_json::Map<String, Value> = varied.collect();
            json!({
                "name": r.name, "family": r.family, "method": r.method.name(),
                "step": r.step, "steps": r.steps, "varied": varied,
            })
        };
        Value::Array(self.inner.runs.iter().map(run).collect()).to_string()
    }

    /// Makes one run, without the interpreter's lock. `progress` is called with the share that is done now and then; what it raises, and
    /// Ctrl-C, stop the run, whose result so far is returned with the exception.
    #[pyo3(signature = (index, progress=None, out=None))]
    fn execute(
        &self,
        py: Python<'_>,
        index: usize,
        progress: Option<Py<PyAny>>,
        out: Option<PathBuf>,
    ) -> PyResult<(PyRunResult, Option<Py<PyAny>>)> {
        let run = self.run(index)?;
        let cancel = AtomicBool::new(false);
        let raised_inside: Mutex<Option<PyErr>> = Mutex::new(None);
        let report = |share: f64| {
            Python::attach(|py| {
                let called = match &progress {
                    Some(progress) => progress.call1(py, (share,)).map(|_| ()),
                    None => Ok(()),
                };
                if let Err(error) = called.and_then(|()| py.check_signals()) {
                    cancel.store(true, Ordering::Relaxed);
                    let mut first = raised_inside.lock().unwrap_or_else(|e| e.into_inner());
                    first.get_or_insert(error);
                }
            });
        };
        let watch = Watch {
            progress: Some(&report),
            cancel: Some(&cancel),
            clock: Some(&nsm::wall_clock),
            ..Watch::default()
        };
        let inner = py.detach(|| self.inner.execute(run, out.as_deref(), watch)).map_err(raised)?;
        let raised = raised_inside.into_inner().unwrap_or_else(|e| e.into_inner());
        let raised = taken(&self.raised).or(raised);
        let raised = raised.map(|error| error.into_value(py).into_any());
        Ok((PyRunResult { inner }, raised))
    }

    /// The verdicts of the expectations on these results, as JSON.
    fn judge(&self, py: Python<'_>, results: Vec<PyRef<'_, PyRunResult>>) -> PyResult<String> {
        let results: Vec<RunResult> = results.iter().map(|r| r.inner.clone()).collect();
        let verdicts = py.detach(|| self.inner.judge(&results)).map_err(raised)?;
        let list = verdicts.iter().map(|v| {
            json!({
                "run": v.run, "what": v.what, "check": v.check, "holds": v.holds,
                "status": v.status.word(), "origin": v.origin.map(|o| o.word()), "note": v.note,
            })
        });
        Ok(Value::Array(list.collect()).to_string())
    }

    /// The page that `nsm run` writes.
    fn page(&self, py: Python<'_>, results: Vec<PyRef<'_, PyRunResult>>) -> PyResult<String> {
        let results: Vec<RunResult> = results.iter().map(|r| r.inner.clone()).collect();
        let documents = py.detach(|| {
            let verdicts = self.inner.judge(&results)?;
            Ok(nsm_report::runs::documents(&self.inner, &results, &verdicts, &[], false))
        });
        let documents = documents.map_err(raised)?;
        Ok(documents.into_iter().last().map(|page| page.text).unwrap_or_default())
    }
}

/// A problem whose runs are built one at a time.
#[pyclass(frozen, name = "Members")]
pub(crate) struct PyMembers {
    inner: Members,
}

#[pymethods]
impl PyMembers {
    /// Of TOML text.
    #[staticmethod]
    fn parse(py: Python<'_>, text: String) -> PyResult<Self> {
        let inner = py.detach(|| Members::parse(&text)).map_err(raised)?;
        Ok(Self { inner })
    }

    /// Of a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| Members::read(&path)).map_err(raised)?;
        Ok(Self { inner })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The problem with one run, that of a member.
    fn problem(&self, py: Python<'_>, member: usize) -> PyResult<PyProblem> {
        let inner = py.detach(|| self.inner.problem(member)).map_err(raised)?;
        Ok(PyProblem { inner: Arc::new(inner), raised: Raised::default() })
    }
}

/// A run that has ended.
#[pyclass(frozen, name = "RunResult")]
pub(crate) struct PyRunResult {
    pub(crate) inner: RunResult,
}

/// Rows of equal length as a matrix.
fn matrix<'py>(
    py: Python<'py>,
    rows: &[Vec<f64>],
    width: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let flat: Vec<f64> = rows.iter().flatten().copied().collect();
    PyArray1::from_vec(py, flat).reshape([rows.len(), width])
}

#[pymethods]
impl PyRunResult {
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn family(&self) -> Option<&str> {
        self.inner.family.as_deref()
    }

    #[getter]
    fn method(&self) -> &str {
        &self.inner.method
    }

    /// Why nsm took this method, where the problem names none.
    #[getter]
    fn recommended(&self) -> Option<&str> {
        self.inner.recommended
    }

    #[getter]
    fn failure(&self) -> Option<&str> {
        self.inner.failure.as_deref()
    }

    #[getter]
    fn interrupted(&self) -> bool {
        self.inner.interrupted
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.inner.recording.columns.clone()
    }

    /// One row per recorded instant.
    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.inner.recording.samples, self.inner.recording.columns.len())
    }

    #[getter]
    fn reaction_columns(&self) -> Vec<String> {
        self.inner.recording.reaction_columns.clone()
    }

    #[getter]
    fn reactions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let recording = &self.inner.recording;
        matrix(py, &recording.reactions, recording.reaction_columns.len())
    }

    #[getter]
    fn event_times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.recording.event_times)
    }

    /// The object under `runs.NAME` of `nsm run --json`.
    fn json(&self) -> String {
        self.inner.json().to_string()
    }
}
