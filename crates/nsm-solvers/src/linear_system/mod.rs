//! A square linear system whose pattern is known before its values: the work-horse of the integrators.
//!
//! [`LinearSystem::new`] looks at size and pattern once, picks dense, banded (after reverse
//! Cuthill–McKee) or sparse elimination by an estimate of its cost, and allocates everything. After
//! that, [`factorise`](LinearSystem::factorise) takes the values of the declared entries, in the
//! declared order, duplicates adding up, and [`solve_in_place`](LinearSystem::solve_in_place) solves;
//! neither allocates. A matrix that cannot be told from a singular one is an error in every method.

mod accuracy;
mod choice;

use crate::banded::{BandedLdlt, BandedLu};
use crate::dense::{DenseCholesky, DenseLu, SMALL};
use crate::error::{LinearError, expect_len};
use crate::small;
use crate::sparse::{SparseLdlt, SparseLu};

/// What is known about the matrix beyond its pattern.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Structure<'a> {
    /// Nothing; all entries are declared.
    #[default]
    General,
    /// Symmetric positive definite; each pair $(i, j), (j, i)$ is declared once, in either triangle.
    PositiveDefinite,
    /// Symmetric saddle point; each pair is declared once. The signs are those of the pivots:
    /// `1` for the unknowns of the definite block, `-1` for multipliers.
    SaddlePoint(&'a [i8]),
}

/// How a [`LinearSystem`] is eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Full matrix, by [`crate::small`] or faer.
    Dense,
    /// Narrow band in a suitable order of the unknowns.
    Banded,
    /// Sparse factorisation with a reused symbolic part.
    Sparse,
}

/// A linear system with a fixed pattern, its factorisation, and all workspace.
///
/// ```
/// use nsm_solvers::{LinearSystem, Structure};
///
/// // Positions in the order in which the values will come.
/// let mut system = LinearSystem::new(2, &[(0, 0), (0, 1), (1, 0), (1, 1)], Structure::General)?;
/// system.factorise(&[2.0, 1.0, 1.0, 3.0])?;
/// let mut x = [3.0, 4.0];
/// system.solve_in_place(&mut x)?;
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearSystem {
    n: usize,
    entries: Vec<(usize, usize)>,
    symmetric: bool,
    /// No pattern: values are the row-major matrix.
    full: bool,
    values: Vec<f64>,
    /// Place of every declared entry in the factor's storage.
    slots: Vec<usize>,
    /// Entry and place of mirror images, where a symmetric matrix is stored in full.
    mirror: Vec<(usize, usize)>,
    /// Original index of every unknown in elimination order, for banded methods.
    order: Vec<usize>,
    tolerance: f64,
    permuted: Vec<f64>,
    refinement: Vec<f64>,
    factor: Factor,
    factorised: bool,
}

#[derive(Debug, Clone)]
enum Factor {
    DenseLu(Box<DenseLu>),
    DenseCholesky(Box<DenseCholesky>),
    BandedLu(BandedLu),
    BandedLdlt(BandedLdlt),
    SparseLu(Box<SparseLu>),
    SparseLdlt(Box<SparseLdlt>),
}

/// Static regularisation of sparse saddle-point factors, relative to the largest entry.
const REGULARISATION: f64 = 1e-10;
/// Scaled residual that a sparse symmetric solve must reach to count as solved.
const ACCEPTABLE: f64 = 1e-11;

/// Relative pivot below which rounding errors of the elimination may hide a singular matrix.
const SUSPICIOUS: f64 = 1e-6;

impl LinearSystem {
    /// System of `n` unknowns with nonzeros at `entries`, by the method with the least estimated cost.
    pub fn new(
        n: usize,
        entries: &[(usize, usize)],
        structure: Structure<'_>,
    ) -> Result<Self, LinearError> {
        Self::with_method(n, entries, structure, choice::choose(n, entries, structure)?.0)
    }

    /// System of `n` unknowns without a pattern: values are the row-major matrix.
    pub fn dense(n: usize) -> Self {
        let factor = Factor::DenseLu(Box::new(DenseLu::new(n)));
        Self { full: true, values: vec![0.0; n * n], ..Self::with_factor(n, &[], false, factor) }
    }

    /// System of `n` unknowns eliminated by a given method.
    pub fn with_method(
        n: usize,
        entries: &[(usize, usize)],
        structure: Structure<'_>,
        method: Method,
    ) -> Result<Self, LinearError> {
        choice::check(n, entries, structure)?;
        let symmetric = structure != Structure::General;
        let positive = structure == Structure::PositiveDefinite;
        let mut order = Vec::new();
        let factor = match method {
            Method::Dense if positive => Factor::DenseCholesky(Box::new(DenseCholesky::new(n))),
            Method::Dense => Factor::DenseLu(Box::new(DenseLu::new(n))),
            Method::Banded => {
                let (lower, upper);
                (order, lower, upper) = choice::band(n, entries)?;
                let half = lower.max(upper);
                if positive {
                    Factor::BandedLdlt(BandedLdlt::new(n, half))
                } else if symmetric {
                    Factor::BandedLu(BandedLu::new(n, half, half))
                } else {
                    Factor::BandedLu(BandedLu::new(n, lower, upper))
                }
            }
            Method::Sparse => match structure {
                Structure::General => Factor::SparseLu(Box::new(SparseLu::new(n, entries)?)),
                Structure::PositiveDefinite => {
                    Factor::SparseLdlt(Box::new(SparseLdlt::new(entries, &vec![1; n])?))
                }
                Structure::SaddlePoint(signs) => {
                    Factor::SparseLdlt(Box::new(SparseLdlt::new(entries, signs)?))
                }
            },
        };
        let mut this = Self { order, ..Self::with_factor(n, entries, symmetric, factor) };
        this.place_entries();
        Ok(this)
    }

    fn with_factor(n: usize, entries: &[(usize, usize)], symmetric: bool, factor: Factor) -> Self {
        Self {
            n,
            entries: entries.to_vec(),
            symmetric,
            full: false,
            values: vec![0.0; entries.len()],
            slots: Vec::new(),
            mirror: Vec::new(),
            order: Vec::new(),
            tolerance: small::tolerance(n),
            permuted: vec![0.0; n],
            refinement: vec![0.0; 2 * n],
            factor,
            factorised: false,
        }
    }

    /// Works out where each declared entry goes.
    fn place_entries(&mut self) {
        let mut place: Vec<usize> = (0..self.n).collect();
        for (new, &old) in self.order.iter().enumerate() {
            place[old] = new;
        }
        let position = |i: usize, j: usize| match &self.factor {
            Factor::DenseLu(f) => Some(f.position(i, j)),
            Factor::DenseCholesky(_) => Some(i.max(j) * self.n + i.min(j)),
            Factor::BandedLu(f) => f.position(place[i], place[j]),
            Factor::BandedLdlt(f) => f.position(place[i].max(place[j]), place[i].min(place[j])),
            Factor::SparseLu(_) | Factor::SparseLdlt(_) => None,
        };
        let mirrored =
            self.symmetric && matches!(self.factor, Factor::DenseLu(_) | Factor::BandedLu(_));
        let mut slots = Vec::with_capacity(self.entries.len());
        let mut mirror = Vec::new();
        for (e, &(i, j)) in self.entries.iter().enumerate() {
            slots.extend(position(i, j));
            if mirrored && i != j {
                mirror.extend(position(j, i).map(|slot| (e, slot)));
            }
        }
        (self.slots, self.mirror) = (slots, mirror);
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Number of values that [`factorise`](Self::factorise) expects.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The method in use.
    pub fn method(&self) -> Method {
        match self.factor {
            Factor::DenseLu(_) | Factor::DenseCholesky(_) => Method::Dense,
            Factor::BandedLu(_) | Factor::BandedLdlt(_) => Method::Banded,
            Factor::SparseLu(_) | Factor::SparseLdlt(_) => Method::Sparse,
        }
    }

    /// Lower and upper half-bandwidth in elimination order, for banded methods.
    pub fn half_bandwidths(&self) -> Option<(usize, usize)> {
        match &self.factor {
            Factor::BandedLu(f) => Some(f.half_bandwidths()),
            Factor::BandedLdlt(f) => Some((f.half_bandwidth(), f.half_bandwidth())),
            _ => None,
        }
    }

    /// Sets the relative pivot tolerance; the default is [`small::tolerance`].
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    /// Factorises the matrix with the given values.
    pub fn factorise(&mut self, values: &[f64]) -> Result<(), LinearError> {
        expect_len("matrix values", values.len(), self.values.len())?;
        self.factorised = false;
        self.values.copy_from_slice(values);
        let (slots, mirror, tolerance) = (&self.slots[..], &self.mirror[..], self.tolerance);
        let result = match &mut self.factor {
            Factor::DenseLu(f) if self.full => f.factor_with(values, tolerance),
            Factor::DenseLu(f) => {
                scatter(slots, mirror, values, f.storage());
                f.factor_storage(tolerance)
            }
            Factor::DenseCholesky(f) => {
                scatter(slots, mirror, values, f.storage());
                f.factor_storage(tolerance)
            }
            Factor::BandedLu(f) => {
                scatter(slots, mirror, values, f.storage());
                f.factor(tolerance)
            }
            Factor::BandedLdlt(f) => {
                scatter(slots, mirror, values, f.storage());
                f.factor_positive(tolerance)
            }
            Factor::SparseLu(f) => f.factor(values, tolerance),
            Factor::SparseLdlt(f) => {
                let regularisation = if f.is_positive() { 0.0 } else { REGULARISATION };
                f.factor(values, regularisation).and_then(|()| f.reject_singular(tolerance))
            }
        };
        result.map_err(|error| self.in_original_order(error))?;
        self.factorised = true;
        // Long eliminations magnify rounding errors until they hide a vanishing pivot; a solve shows it.
        let doubtful = match &self.factor {
            Factor::DenseLu(f) => f.weakest_pivot() < SUSPICIOUS || self.n > SMALL,
            Factor::BandedLu(f) => {
                f.weakest_pivot() < SUSPICIOUS || self.n > SMALL && f.half_bandwidths().0 > 1
            }
            _ => false,
        };
        if doubtful { self.probe() } else { Ok(()) }
    }

    /// Solves $Ax = b$ in place with the last factorisation.
    pub fn solve_in_place(&mut self, b: &mut [f64]) -> Result<(), LinearError> {
        self.solve(b, false)
    }

    /// Solves $A^\top x = b$ in place with the last factorisation.
    pub fn solve_transposed_in_place(&mut self, b: &mut [f64]) -> Result<(), LinearError> {
        self.solve(b, !self.symmetric)
    }

    fn solve(&mut self, b: &mut [f64], transposed: bool) -> Result<(), LinearError> {
        expect_len("right-hand side", b.len(), self.n)?;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        if self.order.is_empty() {
            return self.factor.solve(b, transposed);
        }
        for (x, &old) in self.permuted.iter_mut().zip(&self.order) {
            *x = b[old];
        }
        self.factor.solve(&mut self.permuted, transposed)?;
        for (&x, &old) in self.permuted.iter().zip(&self.order) {
            b[old] = x;
        }
        Ok(())
    }

    /// Translates a pivot of the elimination order into the caller's numbering.
    fn in_original_order(&self, error: LinearError) -> LinearError {
        let original = |k: usize| self.order.get(k).copied().unwrap_or(k);
        match error {
            LinearError::Singular { pivot, value, threshold } => {
                LinearError::Singular { pivot: original(pivot), value, threshold }
            }
            LinearError::NotPositiveDefinite { pivot, value, threshold } => {
                LinearError::NotPositiveDefinite { pivot: original(pivot), value, threshold }
            }
            LinearError::NotFinite { what, index } => {
                LinearError::NotFinite { what, index: original(index) }
            }
            other => other,
        }
    }
}

impl Factor {
    /// Solves in elimination order.
    fn solve(&mut self, b: &mut [f64], transposed: bool) -> Result<(), LinearError> {
        match self {
            Self::DenseLu(f) if transposed => f.solve_transposed_in_place(b),
            Self::DenseLu(f) => f.solve_in_place(b),
            Self::DenseCholesky(f) => f.solve_in_place(b),
            Self::BandedLu(f) if transposed => f.solve_transposed_in_place(b),
            Self::BandedLu(f) => f.solve_in_place(b),
            Self::BandedLdlt(f) => f.solve_in_place(b),
            Self::SparseLu(f) if transposed => f.solve_transposed_in_place(b),
            Self::SparseLu(f) => f.solve_in_place(b),
            Self::SparseLdlt(f) => match f.solve_in_place(b, 1e-15, 3) {
                Err(LinearError::Inaccurate { residual, .. }) if residual <= ACCEPTABLE => Ok(()),
                other => other.map(|_| ()),
            },
        }
    }
}

/// Estimated nanoseconds to eliminate a system of this pattern by its cheapest method.
pub(crate) fn cost(
    n: usize,
    entries: &[(usize, usize)],
    structure: Structure<'_>,
) -> Result<f64, LinearError> {
    choice::choose(n, entries, structure).map(|(_, cost)| cost)
}

fn scatter(slots: &[usize], mirror: &[(usize, usize)], values: &[f64], storage: &mut [f64]) {
    storage.fill(0.0);
    for (&slot, v) in slots.iter().zip(values) {
        storage[slot] += v;
    }
    for &(entry, slot) in mirror {
        storage[slot] += values[entry];
    }
}
