//! Multipliers of one island: line 9 of \[KP\] Algorithm 2, and its relatives.
//!
//! With $A = G^\top W G$ over the island,
//! $$ \lambda = \arg\min_{\lambda \ge 0} \tfrac12 \lambda^\top A \lambda + q^\top \lambda
//!    \iff 0 \le \lambda \perp A\lambda + q \ge 0 . $$
//! $q = w$ gives the projection behind a reflection; $q_i = w_i + e_i \min(w_i, 0)$ gives Newton's law.
//!
//! | island | method | cost |
//! |---|---|---|
//! | one contact | quotient | |
//! | a chain of more than 8 | tridiagonal sweep | linear |
//! | up to 64 | active set on the dense Gram matrix | cubic |
//! | larger | interior point on the sparse one | by its fill |

use nsm_constraints::Metric;
use nsm_solvers::lcp::{LcpError, LcpWorkspace, Matrix};
use nsm_solvers::least_squares::{GramNnls, TridiagonalNnls};
use nsm_solvers::small::gram::PivotedCholesky;

use crate::chain::Chain;
use crate::island_gram::IslandGram;
use crate::sharing::Sharing;
use crate::{ContactRows, ReflectError};

/// Chains are looked for among islands above this size.
const SHORT: usize = 8;

/// Largest island that is solved densely; only larger ones that are no chain may allocate.
const DENSE: usize = 64;

/// Share of a pivot below which a contact counts as redundant in (A.1).
const RANK_TOLERANCE: f64 = 1e-12;

/// An island of an impact: slots, each standing for a row of the gradients.
#[derive(Clone, Copy)]
pub(crate) struct Island<'a> {
    pub(crate) metric: &'a Metric,
    pub(crate) rows: ContactRows<'a>,
    pub(crate) candidates: &'a [usize],
    pub(crate) slots: &'a [usize],
}

impl<'a> Island<'a> {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The row of the $a$-th member.
    pub(crate) fn contact(&self, a: usize) -> usize {
        self.candidates[self.slots[a]]
    }

    #[inline]
    pub(crate) fn row(&self, a: usize) -> (&'a [usize], &'a [f64]) {
        self.rows.row(self.contact(a))
    }
}

/// Solver for one island at a time.
#[derive(Debug)]
pub(crate) struct Multipliers {
    capacity: usize,
    gram: Vec<f64>,
    /// Right-hand side, set by the caller.
    pub(crate) q: Vec<f64>,
    /// The answer.
    pub(crate) lambda: Vec<f64>,
    slack: Vec<f64>,
    nonnegative: GramNnls,
    sharing: Sharing,
    normal_equation: PivotedCholesky,
    sparse: IslandGram,
    chain: Chain,
    sweep: TridiagonalNnls,
    /// For the last size of a large island.
    large: Option<(usize, LcpWorkspace)>,
    /// $W \nabla g$, dense, zero between calls.
    weighted: Vec<f64>,
}

impl Multipliers {
    pub(crate) fn new(dimension: usize, contacts: usize) -> Self {
        let capacity = contacts.min(DENSE);
        Self {
            capacity,
            gram: Vec::with_capacity(capacity * capacity),
            q: Vec::with_capacity(contacts),
            lambda: Vec::with_capacity(contacts),
            slack: Vec::with_capacity(contacts),
            nonnegative: GramNnls::new(capacity),
            sharing: Sharing::new(capacity),
            normal_equation: PivotedCholesky::new(capacity),
            sparse: IslandGram::new(dimension, contacts),
            chain: Chain::new(contacts),
            sweep: TridiagonalNnls::new(contacts),
            large: None,
            weighted: vec![0.0; dimension],
        }
    }

    /// Makes room for gradients with this many entries in all.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.sparse.reserve(entries);
    }

    /// $\nabla g^\top W \nabla g$ of one row.
    pub(crate) fn square(&mut self, metric: &Metric, columns: &[usize], values: &[f64]) -> f64 {
        if let Some(w) = metric.as_diagonal() {
            return columns.iter().zip(values).map(|(&c, g)| w[c] * g * g).sum();
        }
        metric.add_applied(columns, values, &mut self.weighted);
        let sum = columns.iter().zip(values).map(|(&c, g)| self.weighted[c] * g).sum();
        clear(metric, columns, &mut self.weighted);
        sum
    }

    /// Non-negative multipliers of the island for the right-hand side in `q`.
    pub(crate) fn project(&mut self, island: Island<'_>) -> Result<(), ReflectError> {
        let k = island.len();
        self.lambda.clear();
        self.lambda.resize(k, 0.0);
        if k == 1 {
            let (columns, values) = island.row(0);
            let a = self.square(island.metric, columns, values);
            self.lambda[0] = (-self.q[0] / positive(a, island.contact(0))?).max(0.0);
            return Ok(());
        }
        let solved = if k > SHORT && self.sparse.may_be_chain(island) {
            self.sparse.assemble(island, &mut self.weighted);
            if self.chain.order(&self.sparse) {
                self.solve_chain()
            } else if k <= DENSE {
                self.solve_dense(island)?
            } else {
                self.solve_sparse()
            }
        } else if k <= DENSE {
            self.solve_dense(island)?
        } else {
            self.sparse.link(island);
            self.sparse.assemble(island, &mut self.weighted);
            self.solve_sparse()
        };
        solved.map_err(|source| ReflectError::Island { contact: island.contact(0), source })
    }

    /// Half the multipliers of (A.1): $A \lambda = -q$, of minimum norm.
    pub(crate) fn normal_equation(&mut self, island: Island<'_>) -> Result<(), ReflectError> {
        let k = island.len();
        if k == 1 {
            return self.project(island);
        }
        self.lambda.clear();
        self.lambda.resize(k, 0.0);
        self.assemble_dense(island)?;
        self.slack.clear();
        self.slack.extend(self.q.iter().map(|q| -q));
        self.normal_equation
            .factor(k, &self.gram, RANK_TOLERANCE)
            .and_then(|_| self.normal_equation.solve_minimum_norm(&self.slack, &mut self.lambda))
            .map_err(|source| ReflectError::Projection { contact: island.contact(0), source })
    }

    fn solve_dense(&mut self, island: Island<'_>) -> Result<Result<(), LcpError>, ReflectError> {
        let k = island.len();
        self.assemble_dense(island)?;
        if k > self.capacity {
            self.capacity = k.next_power_of_two();
            self.nonnegative = GramNnls::new(self.capacity);
        }
        let solved = self.nonnegative.solve(&self.gram, &self.q, &mut self.lambda);
        if solved.is_ok() {
            self.sharing.share(&self.gram, &self.q, self.nonnegative.slack(), &mut self.lambda);
        }
        Ok(solved.map(drop).map_err(LcpError::from))
    }

    fn solve_chain(&mut self) -> Result<(), LcpError> {
        let k = self.q.len();
        if self.sweep.capacity() < k {
            self.sweep = TridiagonalNnls::new(k.next_power_of_two());
        }
        self.chain.gather(&self.q);
        let Chain { diagonal, off_diagonal, q, lambda, .. } = &mut self.chain;
        let _ = self.sweep.solve(diagonal, off_diagonal, q, lambda)?;
        self.chain.scatter(&mut self.lambda);
        Ok(())
    }

    fn solve_sparse(&mut self) -> Result<(), LcpError> {
        let k = self.q.len();
        self.slack.clear();
        self.slack.resize(k, 0.0);
        let (starts, indices, values) = self.sparse.columns();
        let matrix = Matrix::sparse(k, starts, indices, values)?;
        let workspace = match &mut self.large {
            Some((size, workspace)) if *size == k => workspace,
            large => &mut large.insert((k, LcpWorkspace::new(k))).1,
        };
        workspace.solve(matrix, &self.q, &mut self.lambda, &mut self.slack).map(drop)
    }

    fn assemble_dense(&mut self, island: Island<'_>) -> Result<(), ReflectError> {
        let k = island.len();
        self.gram.clear();
        self.gram.resize(k * k, 0.0);
        for b in 0..k {
            let (columns, values) = island.row(b);
            island.metric.add_applied(columns, values, &mut self.weighted);
            for a in 0..=b {
                let (columns, values) = island.row(a);
                let product = columns.iter().zip(values).map(|(&c, g)| self.weighted[c] * g).sum();
                self.gram[a * k + b] = product;
                self.gram[b * k + a] = product;
            }
            clear(island.metric, columns, &mut self.weighted);
            // What no mass feels and nothing pushes takes part in nothing.
            if self.gram[b * k + b] != 0.0 || self.q[b] < 0.0 {
                positive(self.gram[b * k + b], island.contact(b))?;
            }
        }
        Ok(())
    }
}

fn clear(metric: &Metric, columns: &[usize], weighted: &mut [f64]) {
    for &c in columns {
        metric.for_coupled(c, |j| weighted[j] = 0.0);
    }
}

/// Refuses a metric that is not positive along a contact.
pub(crate) fn positive(value: f64, contact: usize) -> Result<f64, ReflectError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else if value.is_nan() {
        Err(ReflectError::NotFinite { what: "the gradient", contact })
    } else {
        Err(ReflectError::NotPositive { contact, value })
    }
}
