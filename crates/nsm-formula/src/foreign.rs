//! Functions that formulas call by name and cannot look into: those of another language, a table, a simulation inside the simulation.
//!
//! The derivative of a call is a sum of calls, by the chain rule: $\mathrm d f(a_1, \dots) = \sum_k \partial_k f(a_1, \dots)\\,\mathrm d a_k$. So a
//! formula with such calls has derivatives that are as exact as those which the function gives.

use std::fmt::Debug;
use std::sync::Arc;

/// A function that a formula calls by name.
pub trait Foreign: Debug + Send + Sync {
    /// How many arguments it takes.
    fn arity(&self) -> usize;

    /// The function at `arguments`, or its partial derivative by the arguments whose places are in `by` (empty: the function itself; at most two of them,
    /// in the order in which the derivatives were taken). Not a number where it has none: the step that asked for it then fails.
    fn partial(&self, arguments: &[f64], by: &[usize]) -> f64;
}

/// A call of a function, or of one of its partial derivatives.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: Arc<dyn Foreign>,
    /// Nodes of a graph, or registers of a tape.
    pub(crate) arguments: Vec<usize>,
    pub(crate) by: Vec<usize>,
}

impl Call {
    /// Whether both compute the same.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.function, &other.function)
            && self.arguments == other.arguments
            && self.by == other.by
    }
}
