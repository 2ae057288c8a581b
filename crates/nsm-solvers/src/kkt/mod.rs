//! Saddle-point systems: motion under constraints.
//!
//! $$ \begin{pmatrix} A & G^\top \cr G^\prime & -C \end{pmatrix}
//! \begin{pmatrix} x \cr \lambda \end{pmatrix} = \begin{pmatrix} f \cr b \end{pmatrix} \tag{1} $$
//! with $A \in \mathbb{R}^{n \times n}$, $m$ constraint rows and a diagonal compliance $C \ge 0$, usually
//! zero. $G$ and $G^\prime$ share a pattern but not their values: variational integrators take force
//! directions at $q_k$ and gaps at $q_{k+1}$.
//!
//! * Where $A$ is diagonal or falls into small blocks (bodies), the multipliers solve the Schur
//!   complement $S = G^\prime A^{-1} G^\top + C$, $S\lambda = G^\prime A^{-1}f - b$, and
//!   $x = A^{-1}(f - G^\top\lambda)$. For a chain $S$ is banded: cost is linear in its length.
//! * Where constraints concern few unknowns each (a rigid body or a node of a beam with redundant coordinates) but $A$ couples
//!   them, those constraints are eliminated first, with their multipliers, and a smaller system is left.
//! * Otherwise (1) is eliminated as a whole, dense, banded or sparse ([`LinearSystem`]).
//!
//! **Redundant rows.** If $S$ is singular because rows of $G^\prime$ depend on each other, a largest
//! independent set is kept, the others are [named](Kkt::redundant), and the multipliers are those of
//! minimum norm among all that give the same force $G^\top\lambda$.

mod blocks;
mod clusters;
mod condensed;
mod diagonal;
mod full;
mod layout;
mod products;
mod rank;
mod redundancy;
mod schur;

use condensed::Condensed;
use diagonal::Diagonal;
use full::Full;
pub use rank::RowRank;
use redundancy::Redundancy;
use schur::Schur;

use crate::error::{LinearError, expect_finite, expect_len};
use crate::linear_system::LinearSystem;
use crate::small::norm_inf;

/// Positions of the nonzeros of (1). Values come later, in the same order.
#[derive(Debug, Clone, Copy)]
pub struct KktPattern<'a> {
    /// Number of unknowns $x$.
    pub unknowns: usize,
    /// Number of constraint rows.
    pub rows: usize,
    /// Nonzeros of $A$. Empty stands for its diagonal.
    pub block: &'a [(usize, usize)],
    /// Nonzeros `(row, unknown)` of $G$ and of $G^\prime$.
    pub gradients: &'a [(usize, usize)],
    /// $A$ is symmetric positive definite with each pair $(i, j), (j, i)$ listed once, and $G^\prime = G$.
    pub symmetric: bool,
}

/// How (1) is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KktPath {
    /// Through the multipliers.
    Schur,
    /// Local constraints first. Where rows are left out or a local elimination is singular, as a whole.
    Condensed,
    /// As a whole.
    Full,
}

/// Accuracy of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KktReport {
    /// Largest residual of (1) over the equations that were kept, relative to the largest of $|f|, |b|$.
    pub residual: f64,
    /// Largest residual among redundant rows, in the units of $b$: zero if $b$ is consistent.
    pub inconsistency: f64,
    /// Refinement steps taken.
    pub refinements: usize,
}

/// A saddle-point system with a fixed pattern, its factorisation, and all workspace.
///
/// ```
/// use nsm_solvers::kkt::{Kkt, KktPattern};
///
/// // Unit mass in the plane on the line x + y = 1, and the same constraint again, doubled.
/// let gradients = [(0, 0), (0, 1), (1, 0), (1, 1)];
/// let pattern = KktPattern { unknowns: 2, rows: 2, block: &[], gradients: &gradients, symmetric: true };
/// let mut kkt = Kkt::new(&pattern)?;
/// kkt.set_block(&[1.0, 1.0])?;
/// kkt.factorise(&[1.0, 1.0, 2.0, 2.0], &[], &[])?;
/// assert_eq!(kkt.rank(), 1);
/// let (mut x, mut lambda) = ([0.0; 2], [0.0; 2]);
/// kkt.solve(&[0.0, 0.0], &[1.0, 2.0], &mut x, &mut lambda)?;
/// assert!((x[0] - 0.5).abs() < 1e-15 && (x[1] - 0.5).abs() < 1e-15);
/// // The force is shared in proportion to the gradients: minimum norm.
/// assert!((lambda[1] - 2.0 * lambda[0]).abs() < 1e-15);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kkt {
    n: usize,
    m: usize,
    block: Vec<(usize, usize)>,
    gradients: Vec<(usize, usize)>,
    symmetric: bool,
    a: Vec<f64>,
    g: Vec<f64>,
    g_lower: Vec<f64>,
    c: Vec<f64>,
    path: Path,
    redundancy: Redundancy,
    /// Rows that are left out: inactive or redundant.
    dropped: Vec<bool>,
    any_dropped: bool,
    work: Vec<f64>,
    zero: Vec<f64>,
    factorised: bool,
}

#[derive(Debug, Clone)]
enum Path {
    Diagonal(Box<Diagonal>),
    Schur(Box<Schur>),
    Condensed(Box<Condensed>),
    Full(Box<Full>),
}

impl Kkt {
    /// Analyses a pattern and chooses the cheaper path.
    pub fn new(pattern: &KktPattern<'_>) -> Result<Self, LinearError> {
        let schur = Schur::suits(pattern);
        Self::with_path(pattern, if schur { KktPath::Schur } else { KktPath::Condensed })
    }

    /// Analyses a pattern for a given path. [`KktPath::Schur`] needs $A$ to be invertible; [`KktPath::Condensed`] becomes
    /// [`KktPath::Full`] where it would not save time.
    pub fn with_path(pattern: &KktPattern<'_>, path: KktPath) -> Result<Self, LinearError> {
        let (n, m) = (pattern.unknowns, pattern.rows);
        check(pattern)?;
        let diagonal: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        let block = if pattern.block.is_empty() { &diagonal[..] } else { pattern.block };
        let pattern = KktPattern { block, ..*pattern };
        let path = match path {
            KktPath::Schur if Diagonal::suits(&pattern) => {
                Path::Diagonal(Box::new(Diagonal::new(&pattern)?))
            }
            KktPath::Schur => Path::Schur(Box::new(Schur::new(&pattern)?)),
            KktPath::Condensed => match Condensed::new(&pattern)? {
                Some(condensed) => Path::Condensed(Box::new(condensed)),
                None => Path::Full(Box::new(Full::new(&pattern)?)),
            },
            KktPath::Full => Path::Full(Box::new(Full::new(&pattern)?)),
        };
        Ok(Self {
            n,
            m,
            a: vec![0.0; block.len()],
            block: block.to_vec(),
            gradients: pattern.gradients.to_vec(),
            symmetric: pattern.symmetric,
            g: vec![0.0; pattern.gradients.len()],
            g_lower: vec![0.0; pattern.gradients.len()],
            c: vec![0.0; m],
            path,
            redundancy: Redundancy::new(&pattern),
            dropped: vec![false; m],
            any_dropped: false,
            work: vec![0.0; 3 * (n + m)],
            zero: vec![0.0; n],
            factorised: false,
        })
    }

    /// Number of unknowns $x$.
    pub fn unknowns(&self) -> usize {
        self.n
    }

    /// Number of constraint rows.
    pub fn rows(&self) -> usize {
        self.m
    }

    /// The path in use.
    pub fn path(&self) -> KktPath {
        match self.path {
            Path::Diagonal(_) | Path::Schur(_) => KktPath::Schur,
            Path::Condensed(_) => KktPath::Condensed,
            Path::Full(_) => KktPath::Full,
        }
    }

    /// The linear system behind the path: that of $\lambda$ for [`KktPath::Schur`], what is left for
    /// [`KktPath::Condensed`], else (1) itself.
    pub fn linear_system(&self) -> &LinearSystem {
        match &self.path {
            Path::Diagonal(diagonal) => diagonal.system(),
            Path::Schur(schur) => schur.system(),
            Path::Condensed(condensed) => condensed.system(),
            Path::Full(full) => full.system(),
        }
    }

    /// Sets the values of $A$. Needed once if $A$ is constant.
    pub fn set_block(&mut self, a: &[f64]) -> Result<(), LinearError> {
        expect_len("block values", a.len(), self.a.len())?;
        expect_finite("block value", a)?;
        self.factorised = false;
        self.a.copy_from_slice(a);
        match &mut self.path {
            Path::Diagonal(diagonal) => diagonal.set_block(a),
            Path::Schur(schur) => schur.set_block(a),
            Path::Condensed(_) | Path::Full(_) => Ok(()),
        }
    }

    /// Factorises with gradients $G$, $G^\prime$ and compliance $C$.
    ///
    /// An empty `g_lower` stands for $G^\prime = G$, an empty `c` for $C = 0$.
    pub fn factorise(&mut self, g: &[f64], g_lower: &[f64], c: &[f64]) -> Result<(), LinearError> {
        self.factorise_active(g, g_lower, c, &[])
    }

    /// Like [`factorise`](Self::factorise) with only the `active` rows; the others' multipliers are zero
    /// and their equations are left out. An empty `active` stands for all rows.
    pub fn factorise_active(
        &mut self,
        g: &[f64],
        g_lower: &[f64],
        c: &[f64],
        active: &[bool],
    ) -> Result<(), LinearError> {
        expect_len("gradient values", g.len(), self.g.len())?;
        for (what, given, expected) in [
            ("lower gradient values", g_lower.len(), g.len()),
            ("compliance", c.len(), self.m),
            ("active rows", active.len(), self.m),
        ] {
            if given > 0 {
                expect_len(what, given, expected)?;
            }
        }
        self.factorised = false;
        self.g.copy_from_slice(g);
        self.g_lower.copy_from_slice(if g_lower.is_empty() { g } else { g_lower });
        if c.is_empty() {
            self.c.fill(0.0);
        } else {
            self.c.copy_from_slice(c);
        }
        if self.any_dropped {
            self.dropped.fill(false);
        }
        self.dropped.iter_mut().zip(active).for_each(|(d, a)| *d = !a);
        self.any_dropped = active.contains(&false);
        self.redundancy.clear();
        match self.eliminate() {
            Err(LinearError::Singular { .. } | LinearError::NotPositiveDefinite { .. })
                if self.m > 0 =>
            {
                expect_finite("gradient value", &self.g_lower)?;
                self.redundancy.find(&self.gradients, &self.g_lower, &self.dropped, &self.c)?;
                // If the rows are independent, the trouble is A, or G and G' do not match.
                for &row in self.redundancy.rows() {
                    self.dropped[row] = true;
                    self.any_dropped = true;
                }
                self.eliminate()?;
            }
            other => other?,
        }
        self.factorised = true;
        Ok(())
    }

    fn eliminate(&mut self) -> Result<(), LinearError> {
        let dropped = if self.any_dropped { &self.dropped[..] } else { &[] };
        match &mut self.path {
            Path::Diagonal(diagonal) => {
                diagonal.factorise(&self.g, &self.g_lower, &self.c, dropped)
            }
            Path::Schur(schur) => schur.factorise(&self.g, &self.g_lower, &self.c, dropped),
            Path::Condensed(condensed) => {
                condensed.factorise(&self.a, &self.g, &self.g_lower, &self.c, dropped)
            }
            Path::Full(full) => full.factorise(&self.a, &self.g, &self.g_lower, &self.c, dropped),
        }
    }

    /// Rows found to depend on others by the last [`factorise`](Self::factorise), ascending.
    pub fn redundant(&self) -> &[usize] {
        self.redundancy.rows()
    }

    /// Number of active rows that are independent.
    pub fn rank(&self) -> usize {
        self.dropped.iter().filter(|d| !**d).count()
    }

    /// Solves (1).
    pub fn solve(
        &mut self,
        f: &[f64],
        b: &[f64],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        self.expect(f, b, x, lambda)?;
        self.solve_basic(f, b, x, lambda)?;
        if self.redundancy.rows().is_empty() {
            return Ok(());
        }
        self.redundancy.minimise_norm(&self.gradients, &self.g, lambda);
        // The projection is iterative; one step of refinement restores the balance of forces.
        self.refine(f, b, x, lambda, 1).map(|_| ())
    }

    /// Solves (1) with $f = 0$: the displacement along $A^{-1}G^\top$ that changes the constraints by $b$.
    pub fn displace(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        self.expect(&self.zero, b, x, lambda)?;
        if let Path::Diagonal(diagonal) = &mut self.path
            && self.redundancy.rows().is_empty()
        {
            let dropped = if self.any_dropped { &self.dropped[..] } else { &[] };
            return diagonal.displace(b, dropped, x, lambda);
        }
        let zero = std::mem::take(&mut self.zero);
        let outcome = self.solve(&zero, b, x, lambda);
        self.zero = zero;
        outcome
    }

    /// Solves (1) with up to `steps` steps of iterative refinement, and measures the residual.
    pub fn solve_refined(
        &mut self,
        f: &[f64],
        b: &[f64],
        x: &mut [f64],
        lambda: &mut [f64],
        steps: usize,
    ) -> Result<KktReport, LinearError> {
        self.solve(f, b, x, lambda)?;
        self.refine(f, b, x, lambda, steps)
    }

    fn refine(
        &mut self,
        f: &[f64],
        b: &[f64],
        x: &mut [f64],
        lambda: &mut [f64],
        steps: usize,
    ) -> Result<KktReport, LinearError> {
        let (n, m) = (self.n, self.m);
        let scale = norm_inf(f).max(norm_inf(b)).max(f64::MIN_POSITIVE);
        // Taken out of `self`, so that residuals and solves can borrow the rest.
        let mut work = std::mem::take(&mut self.work);
        let (residual, rest) = work.split_at_mut(n + m);
        let (step, kept) = rest.split_at_mut(n + m);
        let (mut current, mut inconsistency) = self.residual(f, b, x, lambda, residual);
        let mut refinements = 0;
        let mut outcome = Ok(());
        while refinements < steps && current > f64::EPSILON * scale {
            let ((rf, rb), (dx, dl)) = (residual.split_at(n), step.split_at_mut(n));
            outcome = self.solve_basic(rf, rb, dx, dl);
            if outcome.is_err() {
                break;
            }
            kept[..n].copy_from_slice(x);
            kept[n..].copy_from_slice(lambda);
            x.iter_mut().zip(&*dx).for_each(|(x, d)| *x += d);
            lambda.iter_mut().zip(&*dl).for_each(|(x, d)| *x += d);
            let (next, next_inconsistency) = self.residual(f, b, x, lambda, residual);
            if next.is_nan() || next >= current {
                x.copy_from_slice(&kept[..n]);
                lambda.copy_from_slice(&kept[n..]);
                break;
            }
            (current, inconsistency) = (next, next_inconsistency);
            refinements += 1;
        }
        self.work = work;
        outcome?;
        if current.is_nan() {
            return Err(LinearError::NotFinite { what: "solution", index: 0 });
        }
        Ok(KktReport { residual: current / scale, inconsistency, refinements })
    }

    fn solve_basic(
        &mut self,
        f: &[f64],
        b: &[f64],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        let dropped = if self.any_dropped { &self.dropped[..] } else { &[] };
        match &mut self.path {
            Path::Diagonal(diagonal) => diagonal.solve(&self.g_lower, f, b, dropped, x, lambda),
            Path::Schur(schur) => schur.solve(&self.g_lower, f, b, dropped, x, lambda),
            Path::Condensed(condensed) => condensed.solve(f, b, dropped, x, lambda),
            Path::Full(full) => full.solve(f, b, dropped, x, lambda),
        }
    }

    /// Residual of (1), with zero for rows left out; returns its size and that of redundant rows.
    fn residual(
        &self,
        f: &[f64],
        b: &[f64],
        x: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) -> (f64, f64) {
        let (upper, lower) = out.split_at_mut(self.n);
        upper.copy_from_slice(f);
        for (&(i, j), a) in self.block.iter().zip(&self.a) {
            upper[i] -= a * x[j];
            if self.symmetric && i != j {
                upper[j] -= a * x[i];
            }
        }
        for ((l, b), (c, λ)) in lower.iter_mut().zip(b).zip(self.c.iter().zip(lambda)) {
            *l = b + c * λ;
        }
        for (&(row, k), (g, g_lower)) in self.gradients.iter().zip(self.g.iter().zip(&self.g_lower))
        {
            upper[k] -= g * lambda[row];
            lower[row] -= g_lower * x[k];
        }
        let mut inconsistency = 0.0_f64;
        for &row in self.redundancy.rows() {
            inconsistency = inconsistency.max(lower[row].abs());
        }
        for (l, _) in lower.iter_mut().zip(&self.dropped).filter(|(_, d)| **d) {
            *l = 0.0;
        }
        (norm_inf(out), inconsistency)
    }

    fn expect(&self, f: &[f64], b: &[f64], x: &[f64], lambda: &[f64]) -> Result<(), LinearError> {
        expect_len("right-hand side f", f.len(), self.n)?;
        expect_len("right-hand side b", b.len(), self.m)?;
        expect_len("unknowns", x.len(), self.n)?;
        expect_len("multipliers", lambda.len(), self.m)?;
        if self.factorised { Ok(()) } else { Err(LinearError::NotFactorised) }
    }
}

fn check(pattern: &KktPattern<'_>) -> Result<(), LinearError> {
    let within = |what, index: usize, bound: usize| {
        if index < bound { Ok(()) } else { Err(LinearError::Index { what, index, bound }) }
    };
    for &(i, j) in pattern.block {
        within("block entry", i.max(j), pattern.unknowns)?;
    }
    for &(row, k) in pattern.gradients {
        within("gradient row", row, pattern.rows)?;
        within("gradient unknown", k, pattern.unknowns)?;
    }
    Ok(())
}
