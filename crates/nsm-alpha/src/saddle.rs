//! Dense saddle-point systems with all memory allocated once.
//!
//! $$ \begin{pmatrix} A & B^\top \\\\ C & 0 \end{pmatrix} \begin{pmatrix} x \\\\ \mu \end{pmatrix} =
//!    \begin{pmatrix} r \\\\ s \end{pmatrix} $$
//! with $B = C = G$ in smooth motion and $B = G_{\mathcal{E}}$ at a switch. LU with partial pivoting
//! needs neither a regular $A$ (massless coordinates that constraints fix) nor symmetry.

use nsm_solvers::LinearError;
use nsm_solvers::small::{self, lu};

/// The matrix, its factor and a right-hand side.
#[derive(Debug)]
pub(crate) struct Saddle {
    n: usize,
    dim: usize,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    rhs: Vec<f64>,
}

impl Saddle {
    /// Room for `n` unknowns and up to `m` multipliers.
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let dim = n + m;
        Self { n, dim: n, matrix: vec![0.0; dim * dim], pivots: vec![0; dim], rhs: vec![0.0; dim] }
    }

    /// Starts a system with `m` multipliers: zero matrix; returns it with the length of its rows.
    pub(crate) fn begin(&mut self, m: usize) -> (&mut [f64], usize) {
        self.dim = self.n + m;
        let matrix = &mut self.matrix[..self.dim * self.dim];
        matrix.fill(0.0);
        (matrix, self.dim)
    }

    /// The matrix with the length of its rows, to be added to.
    pub(crate) fn matrix(&mut self) -> (&mut [f64], usize) {
        (&mut self.matrix[..self.dim * self.dim], self.dim)
    }

    /// The rows of $C$ in the matrix, from the first on.
    pub(crate) fn lower(&mut self) -> (&mut [f64], usize) {
        (&mut self.matrix[self.n * self.dim..self.dim * self.dim], self.dim)
    }

    /// Adds $B^\top$ (from `b`, $m \times n$) and $w C$ (from `c`).
    pub(crate) fn border(&mut self, b: &[f64], c: &[f64], w: f64) {
        let (n, dim) = (self.n, self.dim);
        for i in 0..dim - n {
            for j in 0..n {
                self.matrix[j * dim + n + i] += b[i * n + j];
                self.matrix[(n + i) * dim + j] += w * c[i * n + j];
            }
        }
    }

    /// Factorises.
    pub(crate) fn factor(&mut self) -> Result<(), LinearError> {
        let dim = self.dim;
        lu::factor(
            dim,
            &mut self.matrix[..dim * dim],
            &mut self.pivots[..dim],
            small::tolerance(dim),
        )
        .map(|_| ())
    }

    /// The right-hand side, to be filled; its first $n$ entries and the rest.
    pub(crate) fn rhs(&mut self) -> (&mut [f64], &mut [f64]) {
        self.rhs[..self.dim].split_at_mut(self.n)
    }

    /// Solves in place; the solution replaces the right-hand side.
    pub(crate) fn solve(&mut self) -> Result<(), LinearError> {
        let dim = self.dim;
        lu::solve(dim, &self.matrix[..dim * dim], &self.pivots[..dim], &mut self.rhs[..dim])
    }
}
