//! Python functions that formulas call: where a function cannot be written as a formula, every evaluation goes back to it.

use std::fmt;
use std::sync::{Arc, Mutex};

use nsm::formula::Foreign;
use pyo3::prelude::*;

/// What a callback raised; the evaluation that asked for it is not a number, which fails the step.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// A Python object `f(arguments, by)` that gives the function, or its partial derivative by the places in `by`.
pub(crate) struct Callback {
    pub(crate) function: Py<PyAny>,
    pub(crate) arity: usize,
    pub(crate) raised: Raised,
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback").field("arity", &self.arity).finish_non_exhaustive()
    }
}

impl Foreign for Callback {
    fn arity(&self) -> usize {
        self.arity
    }

    fn partial(&self, arguments: &[f64], by: &[usize]) -> f64 {
        Python::attach(|py| {
            let answer = self.function.call1(py, (arguments.to_vec(), by.to_vec()));
            match answer.and_then(|value| value.extract::<f64>(py)) {
                Ok(value) => value,
                Err(error) => {
                    let mut first = self.raised.lock().unwrap_or_else(|e| e.into_inner());
                    first.get_or_insert(error);
                    f64::NAN
                }
            }
        })
    }
}
