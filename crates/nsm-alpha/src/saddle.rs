//! Saddle points of a step, with all memory allocated once.
//!
//! $$ \begin{pmatrix} A & B^\top \\\\ C & 0 \end{pmatrix} \begin{pmatrix} x \\\\ \mu \end{pmatrix} =
//!    \begin{pmatrix} r \\\\ s \end{pmatrix} $$
//! with $B = C = G$ in smooth motion and $B = G_{\mathcal{E}}$ at a switch. Few unknowns, and systems whose matrices are full, are
//! eliminated by LU with partial pivoting, which needs neither a regular $A$ (massless coordinates that constraints fix) nor symmetry;
//! all others by [`Kkt`] with one row for every constraint and contact of the system, those that are not held being left out:
//! the pattern is then always the same, and chains and beams cost what their length says.

use nsm_model::{System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::small::{self, lu, matvec_transposed_add};

use crate::bilateral::Bilateral;
use crate::leading::Leading;

/// Up to this number of unknowns and multipliers a full matrix costs least.
const FEW: usize = 24;

/// Whether the saddle points of a system are sparse; `contacts` says whether contacts may be held closed among the constraints.
pub(crate) fn is_sparse(system: &System, contacts: bool) -> bool {
    let (n, equal) = (system.dimension(), system.equalities().len());
    // Contacts between all pairs of many bodies would fill any pattern.
    let filled = contacts && system.inequalities().len() > n;
    n + equal > FEW && system.switching().is_none() && system.variable_mass().is_none() && !filled
}

/// The gradients that multiply the multipliers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Border<'b> {
    /// $G$ of the rows, each on its own coordinates.
    Rows(&'b [f64]),
    /// $G_{\mathcal{E}}$ as a full matrix.
    Full(&'b [f64]),
}

impl Border<'_> {
    /// Adds $w B^\top \lambda$.
    pub(crate) fn add_transposed(
        &self,
        rows: &Bilateral<'_>,
        w: f64,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        match self {
            Self::Rows(gradient) => rows.add_transposed(w, gradient, lambda, out),
            Self::Full(gradient) => matvec_transposed_add(w, gradient, lambda, out),
        }
    }
}

/// The matrix, its factor and a right-hand side.
#[derive(Debug)]
pub(crate) struct Saddle {
    n: usize,
    m: usize,
    /// $A$.
    leading: Leading,
    rhs: Vec<f64>,
    factor: Factor,
}

#[derive(Debug)]
enum Factor {
    Full { matrix: Vec<f64>, pivots: Vec<usize> },
    Sparse(Box<Sparse>),
}

/// The sparse saddle point, with one row for every constraint of the system.
#[derive(Debug)]
struct Sparse {
    kkt: Kkt,
    /// Where the gradient of each row starts.
    starts: Vec<usize>,
    active: Vec<bool>,
    /// The rows held, in the order of the multipliers.
    held: Vec<usize>,
    upper: Vec<f64>,
    lower: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    z: Vec<f64>,
}

impl Saddle {
    /// Room for the unknowns of a system and the multipliers of its constraints, with those of closed `contacts` if they may be
    /// among them.
    pub(crate) fn new(system: &System, contacts: bool) -> Result<Self, SystemError> {
        let (n, m) = (system.dimension(), Bilateral::capacity_of(system, contacts));
        let dim = n + m;
        let (leading, factor) = if is_sparse(system, contacts) {
            let leading = Leading::sparse(system);
            let sparse = Sparse::new(system, &leading, contacts)?;
            (leading, Factor::Sparse(Box::new(sparse)))
        } else {
            let factor = Factor::Full { matrix: vec![0.0; dim * dim], pivots: vec![0; dim] };
            (Leading::full(n), factor)
        };
        Ok(Self { n, m: 0, leading, rhs: vec![0.0; dim], factor })
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.factor, Factor::Sparse(_))
    }

    /// Starts $A$ anew, from zero.
    pub(crate) fn begin(&mut self) -> &mut Leading {
        self.leading.clear();
        &mut self.leading
    }

    /// Factorises with $A$ as it stands, $B$ and $C$ (from the gradients of the rows).
    pub(crate) fn factor(
        &mut self,
        rows: &Bilateral<'_>,
        border: Border<'_>,
        lower: &[f64],
    ) -> Result<(), LinearError> {
        self.m = rows.len();
        match &mut self.factor {
            Factor::Full { matrix, pivots } => {
                let (n, dim) = (self.n, self.n + self.m);
                let matrix = &mut matrix[..dim * dim];
                if self.m == 0 {
                    matrix.copy_from_slice(self.leading.values());
                } else {
                    border_full(n, matrix, self.leading.values(), rows, border, lower);
                }
                lu::factor(dim, matrix, &mut pivots[..dim], small::tolerance(dim)).map(|_| ())
            }
            Factor::Sparse(sparse) => {
                let Border::Rows(upper) = border else { return Err(LinearError::NotFactorised) };
                sparse.factor(self.leading.values(), rows, upper, lower)
            }
        }
    }

    /// The right-hand side, to be filled; its first $n$ entries and the rest.
    pub(crate) fn rhs(&mut self) -> (&mut [f64], &mut [f64]) {
        self.rhs[..self.n + self.m].split_at_mut(self.n)
    }

    /// Solves in place; the solution replaces the right-hand side.
    pub(crate) fn solve(&mut self) -> Result<(), LinearError> {
        let dim = self.n + self.m;
        let rhs = &mut self.rhs[..dim];
        match &mut self.factor {
            Factor::Full { matrix, pivots } => {
                lu::solve(dim, &matrix[..dim * dim], &pivots[..dim], rhs)
            }
            Factor::Sparse(sparse) => sparse.solve(rhs),
        }
    }
}

fn border_full(
    n: usize,
    matrix: &mut [f64],
    leading: &[f64],
    rows: &Bilateral<'_>,
    border: Border<'_>,
    lower: &[f64],
) {
    let m = rows.len();
    let dim = n + m;
    let (top, bottom) = matrix.split_at_mut(n * dim);
    for (row, a) in top.chunks_exact_mut(dim).zip(leading.chunks_exact(n)) {
        // Few entries: calls that copy or fill would cost more than they do.
        for (j, x) in row.iter_mut().enumerate() {
            *x = if j < n { a[j] } else { 0.0 };
        }
    }
    bottom.fill(0.0);
    for i in 0..m {
        let (columns, span) = (rows.columns(i), rows.span(i));
        for (&c, g) in columns.iter().zip(&lower[span.clone()]) {
            bottom[i * dim + c] = *g;
        }
        match border {
            Border::Rows(upper) => {
                for (&c, g) in columns.iter().zip(&upper[span]) {
                    top[c * dim + n + i] = *g;
                }
            }
            Border::Full(upper) => {
                for (j, g) in upper[i * n..(i + 1) * n].iter().enumerate() {
                    top[j * dim + n + i] = *g;
                }
            }
        }
    }
}

impl Sparse {
    fn new(system: &System, leading: &Leading, contacts: bool) -> Result<Self, SystemError> {
        let n = system.dimension();
        let (mut gradients, mut starts) = (Vec::new(), vec![0]);
        let unequal = contacts.then(|| system.inequalities());
        for rows in [system.equalities()].into_iter().chain(unequal) {
            for i in 0..rows.len() {
                gradients.extend(rows.columns(i).iter().map(|&c| (starts.len() - 1, c)));
                starts.push(gradients.len());
            }
        }
        let m = starts.len() - 1;
        let pattern = KktPattern {
            unknowns: n,
            rows: m,
            block: leading.positions(),
            gradients: &gradients,
            symmetric: false,
        };
        let kkt = Kkt::with_path(&pattern, KktPath::Condensed).map_err(|error| {
            SystemError::DoesNotFit { method: "generalized-α", why: error.to_string() }
        })?;
        Ok(Self {
            kkt,
            starts,
            active: vec![true; m],
            held: Vec::with_capacity(m),
            upper: vec![0.0; gradients.len()],
            lower: vec![0.0; gradients.len()],
            b: vec![0.0; m],
            x: vec![0.0; n],
            z: vec![0.0; m],
        })
    }

    fn factor(
        &mut self,
        a: &[f64],
        rows: &Bilateral<'_>,
        upper: &[f64],
        lower: &[f64],
    ) -> Result<(), LinearError> {
        self.kkt.set_block(a)?;
        self.held.clear();
        self.held.extend((0..rows.len()).map(|i| rows.number(i)));
        if rows.is_whole() && self.held.len() == self.active.len() {
            let entries = self.lower.len();
            return self.kkt.factorise(&upper[..entries], &lower[..entries], &[]);
        }
        self.active.fill(false);
        self.upper.fill(0.0);
        self.lower.fill(0.0);
        for (i, &row) in self.held.iter().enumerate() {
            self.active[row] = true;
            let (from, to) = (rows.span(i), self.starts[row]..self.starts[row + 1]);
            self.upper[to.clone()].copy_from_slice(&upper[from.clone()]);
            self.lower[to].copy_from_slice(&lower[from]);
        }
        self.kkt.factorise_active(&self.upper, &self.lower, &[], &self.active)
    }

    fn solve(&mut self, rhs: &mut [f64]) -> Result<(), LinearError> {
        let (r, g) = rhs.split_at_mut(self.x.len());
        self.b.fill(0.0);
        for (&row, g) in self.held.iter().zip(&*g) {
            self.b[row] = *g;
        }
        self.kkt.solve(r, &self.b, &mut self.x, &mut self.z)?;
        r.copy_from_slice(&self.x);
        for (&row, g) in self.held.iter().zip(g) {
            *g = self.z[row];
        }
        Ok(())
    }
}
