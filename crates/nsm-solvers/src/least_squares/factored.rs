//! Non-negative least squares from its factors: contact problems are given by $G$, never by $M$.
//!
//! Column $i$ of $G$ is the gradient of contact $i$, with entries at the few coordinates the contact
//! touches; $W$ is the inverse mass. The impulses solve
//! $$ \lambda^\ast = \arg\min_{\lambda\ge0}\ \tfrac12|p + G\lambda|^2_W + \tfrac{r}2|\lambda|^2
//!    \iff 0 \le \lambda \perp (G^\top W G + rI)\lambda + G^\top W p \ge 0 . $$
//! Contacts are coupled when they share a body; the Gram matrix is formed on that pattern only. Up
//! to 32 contacts it is dense and goes to [`GramNnls`]; a chain goes to [`TridiagonalNnls`], any other
//! pattern to the interior-point method of [`crate::lcp`].

use super::{GramNnls, TridiagonalNnls};
use crate::lcp::{LcpError, LcpWorkspace, Matrix, Method, Report};

const SMALL: usize = 32;

/// The weight $W$, in contact problems the inverse mass.
#[derive(Debug, Clone, Copy)]
pub enum Weight<'a> {
    /// $W = I$.
    Identity,
    /// A diagonal matrix by its entries.
    Diagonal(&'a [f64]),
    /// Equal square blocks along the diagonal, each by columns: block $b$ acts on the coordinates
    /// `b * size .. (b + 1) * size`.
    Blocks {
        /// Rows of one block.
        size: usize,
        /// `size * size` entries per block.
        values: &'a [f64],
    },
}

/// $G$ by its columns (one per contact), with $W$ and the regularisation $r$.
#[derive(Debug, Clone, Copy)]
pub struct Factors<'a> {
    start: &'a [usize],
    coordinates: &'a [usize],
    values: &'a [f64],
    dimension: usize,
    weight: Weight<'a>,
    regularisation: f64,
}

impl<'a> Factors<'a> {
    /// Contact `i` has the entries `start[i]..start[i + 1]` of `coordinates` and `values`;
    /// `dimension` is the number of coordinates.
    ///
    /// # Errors
    /// Lengths that disagree, coordinates out of range, entries that are not finite.
    pub fn new(
        start: &'a [usize],
        coordinates: &'a [usize],
        values: &'a [f64],
        dimension: usize,
        weight: Weight<'a>,
    ) -> Result<Self, LcpError> {
        let size = |what, expected, found| Err(LcpError::Size { what, expected, found });
        let Some((&last, _)) = start.split_last() else {
            return size("start", 1, 0);
        };
        if coordinates.len() != values.len() {
            return size("values", coordinates.len(), values.len());
        }
        if last != values.len() || start[0] != 0 {
            return size("coordinates", last, values.len());
        }
        for (i, pair) in start.windows(2).enumerate() {
            let entries = pair[0]..pair[1];
            if pair[0] > pair[1]
                || pair[1] > values.len()
                || coordinates[entries].iter().any(|&c| c >= dimension)
            {
                return Err(LcpError::Pattern { column: i });
            }
        }
        let (found, expected, entries): (usize, usize, &[f64]) = match weight {
            Weight::Identity => (dimension, dimension, &[]),
            Weight::Diagonal(w) => (w.len(), dimension, w),
            Weight::Blocks { size, values } => (values.len(), dimension * size, values),
        };
        if found != expected
            || matches!(weight, Weight::Blocks { size, .. } if size == 0 || !dimension.is_multiple_of(size))
        {
            return size("weight", expected, found);
        }
        for (what, values) in [("G", values), ("weight", entries)] {
            if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                return Err(LcpError::NotFinite { what, index });
            }
        }
        Ok(Self { start, coordinates, values, dimension, weight, regularisation: 0.0 })
    }

    /// Adds $r I$ to the Gram matrix.
    #[must_use]
    pub fn with_regularisation(self, r: f64) -> Self {
        Self { regularisation: r, ..self }
    }

    /// The number of contacts.
    pub fn contacts(&self) -> usize {
        self.start.len() - 1
    }

    fn column(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.start[i]..self.start[i + 1];
        self.coordinates[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// Calls `f(c, v)` so that the sum of all `v` at coordinate `c` is $(W g_i)_c$.
    fn weighted_column(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        for (c, v) in self.column(i) {
            match self.weight {
                Weight::Identity => f(c, v),
                Weight::Diagonal(w) => f(c, v * w[c]),
                Weight::Blocks { size, values } => {
                    let (block, column) = (c / size, c % size);
                    let at = block * size * size + column * size;
                    for (r, w) in values[at..at + size].iter().enumerate() {
                        f(block * size + r, w * v);
                    }
                }
            }
        }
    }

    /// $q = G^\top W p$.
    ///
    /// # Errors
    /// [`LcpError::Size`] when a length disagrees.
    pub fn right_hand_side(&self, p: &[f64], q: &mut [f64]) -> Result<(), LcpError> {
        self.check_lengths(p, q)?;
        for (i, q) in q.iter_mut().enumerate() {
            let mut sum = 0.0;
            self.weighted_column(i, |c, v| sum += v * p[c]);
            *q = sum;
        }
        Ok(())
    }

    /// $p \leftarrow p + G\lambda$.
    ///
    /// # Errors
    /// [`LcpError::Size`] when a length disagrees.
    pub fn add_impulses(&self, lambda: &[f64], p: &mut [f64]) -> Result<(), LcpError> {
        self.check_lengths(p, lambda)?;
        for (i, &l) in lambda.iter().enumerate() {
            for (c, v) in self.column(i) {
                p[c] += v * l;
            }
        }
        Ok(())
    }

    fn check_lengths(&self, p: &[f64], lambda: &[f64]) -> Result<(), LcpError> {
        for (what, expected, found) in
            [("p", self.dimension, p.len()), ("lambda", self.contacts(), lambda.len())]
        {
            if expected != found {
                return Err(LcpError::Size { what, expected, found });
            }
        }
        Ok(())
    }

    /// The dense Gram matrix $G^\top WG + rI$ into `gram`, with `scratch` of the dimension, zero before and after.
    fn gram_into(&self, gram: &mut [f64], scratch: &mut [f64]) {
        let n = self.contacts();
        for j in 0..n {
            self.weighted_column(j, |c, v| scratch[c] += v);
            for i in j..n {
                let sum: f64 = self.column(i).map(|(c, v)| v * scratch[c]).sum();
                gram[j * n + i] = sum;
                gram[i * n + j] = sum;
            }
            gram[j * (n + 1)] += self.regularisation;
            self.weighted_column(j, |c, _| scratch[c] = 0.0);
        }
    }

    /// The dense Gram matrix $G^\top WG + rI$, column by column.
    pub fn gram(&self) -> Vec<f64> {
        let n = self.contacts();
        let mut gram = vec![0.0; n * n];
        self.gram_into(&mut gram, &mut vec![0.0; self.dimension]);
        gram
    }
}

/// Solver for contact problems given by their factors; memory grows to the largest problem seen and
/// is kept.
///
/// ```
/// use nsm_solvers::least_squares::{FactoredNnls, Factors, Weight};
///
/// // A ball of mass 2 falls on the floor, a second one of mass 1 on top of it.
/// let factors = Factors::new(&[0, 1, 3], &[0, 0, 1], &[1.0, -1.0, 1.0], 2, Weight::Diagonal(&[0.5, 1.0]))?;
/// let mut momentum = [-2.0, -1.0];
/// let mut q = [0.0; 2];
/// factors.right_hand_side(&momentum, &mut q)?;
/// let mut impulse = [0.0; 2];
/// let report = FactoredNnls::new().solve(&factors, &q, &mut impulse)?;
/// factors.add_impulses(&impulse, &mut momentum)?;
/// assert_eq!((impulse, momentum, report.active), ([3.0, 1.0], [0.0, 0.0], 2));
/// # Ok::<(), nsm_solvers::lcp::LcpError>(())
/// ```
#[derive(Debug)]
pub struct FactoredNnls {
    dense: GramNnls,
    gram: Vec<f64>,
    chain: TridiagonalNnls,
    diagonal: Vec<f64>,
    off: Vec<f64>,
    workspace: LcpWorkspace,
    slack: Vec<f64>,
    scratch: Vec<f64>,
    /// Contacts at each coordinate, as linked lists.
    head: Vec<usize>,
    next: Vec<usize>,
    owner: Vec<usize>,
    mark: Vec<usize>,
    col_ptr: Vec<usize>,
    row_idx: Vec<usize>,
    values: Vec<f64>,
}

const NONE: usize = usize::MAX;

impl Default for FactoredNnls {
    fn default() -> Self {
        Self::new()
    }
}

impl FactoredNnls {
    /// An empty workspace.
    pub fn new() -> Self {
        Self {
            dense: GramNnls::new(SMALL),
            gram: vec![0.0; SMALL * SMALL],
            chain: TridiagonalNnls::new(0),
            diagonal: Vec::new(),
            off: Vec::new(),
            workspace: LcpWorkspace::new(0),
            slack: Vec::new(),
            scratch: Vec::new(),
            head: Vec::new(),
            next: Vec::new(),
            owner: Vec::new(),
            mark: Vec::new(),
            col_ptr: Vec::new(),
            row_idx: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The slack $w = M\lambda + q$ of the last solve.
    pub fn slack(&self) -> &[f64] {
        &self.slack
    }

    /// Solves $0 \le \lambda \perp (G^\top WG + rI)\lambda + q \ge 0$. Positive entries of `lambda` are a first guess of the active set
    /// (for up to 32 contacts and for chains).
    ///
    /// # Errors
    /// As for [`crate::lcp::LcpWorkspace::solve`].
    pub fn solve(
        &mut self,
        factors: &Factors<'_>,
        q: &[f64],
        lambda: &mut [f64],
    ) -> Result<Report, LcpError> {
        let n = factors.contacts();
        for (what, found) in [("q", q.len()), ("lambda", lambda.len())] {
            if found != n {
                return Err(LcpError::Size { what, expected: n, found });
            }
        }
        if let Some(index) = q.iter().position(|v| !v.is_finite()) {
            return Err(LcpError::NotFinite { what: "q", index });
        }
        if self.scratch.len() < factors.dimension {
            self.scratch.resize(factors.dimension, 0.0);
        }
        self.slack.resize(n, 0.0);
        if n <= SMALL {
            let gram = &mut self.gram[..n * n];
            factors.gram_into(gram, &mut self.scratch);
            let report = self.dense.solve(gram, q, lambda)?;
            self.slack.copy_from_slice(self.dense.slack());
            return Ok(Report {
                method: Method::ActiveSet,
                iterations: report.iterations,
                residual: report.residual,
                active: report.active,
            });
        }
        self.sparse_gram(factors);
        let matrix = Matrix::sparse(n, &self.col_ptr, &self.row_idx, &self.values)?;
        if matrix.is_chain() {
            return self.solve_chain(q, lambda);
        }
        if self.workspace.n != n {
            self.workspace = LcpWorkspace::new(n);
        }
        self.workspace.solve(matrix, q, lambda, &mut self.slack)
    }

    fn solve_chain(&mut self, q: &[f64], lambda: &mut [f64]) -> Result<Report, LcpError> {
        let n = q.len();
        self.diagonal.resize(n, 0.0);
        self.off.resize(n - 1, 0.0);
        self.off.fill(0.0);
        for j in 0..n {
            for k in self.col_ptr[j]..self.col_ptr[j + 1] {
                if self.row_idx[k] == j {
                    self.diagonal[j] = self.values[k];
                } else if self.row_idx[k] == j + 1 {
                    self.off[j] = self.values[k];
                }
            }
        }
        if self.chain.capacity() < n {
            self.chain = TridiagonalNnls::new(n.next_power_of_two());
        }
        let report = self.chain.solve(&self.diagonal, &self.off, q, lambda)?;
        self.slack.copy_from_slice(self.chain.slack());
        Ok(Report {
            method: Method::ChainSweep,
            iterations: report.iterations,
            residual: report.residual,
            active: report.active,
        })
    }

    /// The Gram matrix on the pattern of shared coordinates, rows of each column in ascending order.
    fn sparse_gram(&mut self, factors: &Factors<'_>) {
        let n = factors.contacts();
        self.head.clear();
        self.head.resize(factors.dimension, NONE);
        self.next.clear();
        self.owner.clear();
        for i in 0..n {
            for (c, _) in factors.column(i) {
                self.next.push(self.head[c]);
                self.owner.push(i);
                self.head[c] = self.next.len() - 1;
            }
        }
        self.mark.clear();
        self.mark.resize(n, NONE);
        self.col_ptr.clear();
        self.row_idx.clear();
        self.values.clear();
        self.col_ptr.push(0);
        for j in 0..n {
            let begin = self.row_idx.len();
            let (mark, row_idx, scratch) = (&mut self.mark, &mut self.row_idx, &mut self.scratch);
            let (head, next, owner) = (&self.head, &self.next, &self.owner);
            factors.weighted_column(j, |c, v| {
                scratch[c] += v;
                let mut entry = head[c];
                while entry != NONE {
                    let i = owner[entry];
                    if mark[i] != j {
                        mark[i] = j;
                        row_idx.push(i);
                    }
                    entry = next[entry];
                }
            });
            self.row_idx[begin..].sort_unstable();
            for k in begin..self.row_idx.len() {
                let i = self.row_idx[k];
                let mut sum: f64 = factors.column(i).map(|(c, v)| v * self.scratch[c]).sum();
                if i == j {
                    sum += factors.regularisation;
                }
                self.values.push(sum);
            }
            factors.weighted_column(j, |c, _| self.scratch[c] = 0.0);
            self.col_ptr.push(self.row_idx.len());
        }
    }
}
