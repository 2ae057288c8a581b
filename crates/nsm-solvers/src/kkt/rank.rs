//! Which rows of a sparse matrix depend on others.
//!
//! Small matrices are compared through a rank-revealing QR, which takes at each step the row with the
//! largest part outside the ones before; larger ones through a banded $LDL^\top$ of the Gram matrix
//! $G G^\top$ in which vanishing pivots are skipped: linear in the number of rows for chains, and later
//! rows are left out rather than earlier ones.

use crate::banded::{BandedLdlt, ordering};
use crate::error::{LinearError, expect_len};
use crate::small::qr::PivotedQr;

/// Share of a row's norm below which it counts as dependent.
const ROW_TOLERANCE: f64 = 1e-10;
/// The same for Gram matrices, which square it.
const GRAM_TOLERANCE: f64 = 1e-13;
/// Largest number of entries of a dense matrix of gradients.
const DENSE_LIMIT: usize = 1 << 14;

/// Finds the redundant rows of matrices with one pattern, without allocating.
///
/// ```
/// use nsm_solvers::kkt::RowRank;
///
/// // Rows (1, 1), (0, 1) and (2, 2): one of the first and last is redundant.
/// let mut rank = RowRank::new(3, 2, &[(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)])?;
/// assert_eq!(rank.find(&[1.0, 1.0, 1.0, 2.0, 2.0], &[])?.len(), 1);
/// // Among the first two rows, none.
/// assert!(rank.find(&[1.0, 1.0, 1.0, 2.0, 2.0], &[true, true, false])?.is_empty());
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowRank {
    rows: usize,
    columns: usize,
    entries: Vec<(usize, usize)>,
    redundant: Vec<usize>,
    finder: Finder,
}

#[derive(Debug, Clone)]
enum Finder {
    Dense { qr: Box<PivotedQr>, matrix: Vec<f64>, index: Vec<usize> },
    Banded(BandedGram),
}

/// The Gram matrix in an order with a narrow band.
#[derive(Debug, Clone)]
struct BandedGram {
    factor: BandedLdlt,
    order: Vec<usize>,
    /// Entries that meet in a position of the band.
    products: Vec<(usize, usize, usize)>,
    diagonal: Vec<usize>,
    found: Vec<usize>,
}

impl RowRank {
    /// For matrices of `rows` × `columns` with nonzeros at `entries` (row, column).
    pub fn new(
        rows: usize,
        columns: usize,
        entries: &[(usize, usize)],
    ) -> Result<Self, LinearError> {
        for &(row, column) in entries {
            for (what, index, bound) in [("row", row, rows), ("column", column, columns)] {
                if index >= bound {
                    return Err(LinearError::Index { what, index, bound });
                }
            }
        }
        Ok(Self {
            rows,
            columns,
            entries: entries.to_vec(),
            redundant: Vec::with_capacity(rows),
            finder: Finder::new(rows, columns, entries)?,
        })
    }

    /// The rows that depend on others among the `eligible` ones (empty: all), ascending.
    pub fn find(&mut self, values: &[f64], eligible: &[bool]) -> Result<&[usize], LinearError> {
        self.find_within(values, eligible, 1.0)
    }

    /// The same with the squared tolerance of large matrices times `loose`: beside a position in which more rows depend on each other, rounding makes
    /// rows that do look as if they did not.
    pub fn find_within(
        &mut self,
        values: &[f64],
        eligible: &[bool],
        loose: f64,
    ) -> Result<&[usize], LinearError> {
        expect_len("matrix values", values.len(), self.entries.len())?;
        if !eligible.is_empty() {
            expect_len("eligible rows", eligible.len(), self.rows)?;
        }
        let takes_part = |row: usize| eligible.get(row).copied().unwrap_or(true);
        self.redundant.clear();
        let n = self.columns;
        match &mut self.finder {
            Finder::Dense { qr, matrix, index } => {
                index.clear();
                index.extend((0..self.rows).filter(|&row| takes_part(row)));
                matrix.fill(0.0);
                for (&(row, k), g) in self.entries.iter().zip(values) {
                    if let Ok(place) = index.binary_search(&row) {
                        matrix[place * n + k] += g;
                    }
                }
                qr.factor(index.len(), n, &matrix[..index.len() * n], ROW_TOLERANCE)?;
                self.redundant.extend(qr.redundant().iter().map(|&i| index[i]));
            }
            Finder::Banded(gram) => {
                let tolerance = GRAM_TOLERANCE * loose;
                gram.find(values, &self.entries, takes_part, tolerance, &mut self.redundant)?;
            }
        }
        self.redundant.sort_unstable();
        Ok(&self.redundant)
    }

    /// What [`find`](Self::find) found last.
    pub fn redundant(&self) -> &[usize] {
        &self.redundant
    }

    /// Forgets what was found.
    pub(super) fn clear(&mut self) {
        self.redundant.clear();
    }
}

impl Finder {
    fn new(m: usize, n: usize, entries: &[(usize, usize)]) -> Result<Self, LinearError> {
        if m * n <= DENSE_LIMIT {
            return Ok(Self::Dense {
                qr: Box::new(PivotedQr::new(m, n)),
                matrix: vec![0.0; m * n],
                index: Vec::with_capacity(m),
            });
        }
        let mut by_unknown: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (e, &(_, k)) in entries.iter().enumerate() {
            by_unknown[k].push(e);
        }
        let pairs = || {
            by_unknown
                .iter()
                .flat_map(|list| list.iter().flat_map(move |&e| list.iter().map(move |&f| (e, f))))
        };
        let positions: Vec<(usize, usize)> =
            pairs().map(|(e, f)| (entries[e].0, entries[f].0)).collect();
        let order = ordering::reverse_cuthill_mckee(m, &positions)?;
        let (lower, _) = ordering::half_bandwidths(&order, &positions);
        let mut place = vec![0; m];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let factor = BandedLdlt::new(m, lower);
        let products = pairs()
            .filter_map(|(e, f)| {
                Some((factor.position(place[entries[e].0], place[entries[f].0])?, e, f))
            })
            .collect();
        let diagonal = (0..m).filter_map(|i| factor.position(place[i], place[i])).collect();
        Ok(Self::Banded(BandedGram {
            factor,
            order,
            products,
            diagonal,
            found: Vec::with_capacity(m),
        }))
    }
}

impl BandedGram {
    fn find(
        &mut self,
        values: &[f64],
        entries: &[(usize, usize)],
        takes_part: impl Fn(usize) -> bool,
        tolerance: f64,
        rows: &mut Vec<usize>,
    ) -> Result<(), LinearError> {
        self.factor.clear();
        let storage = self.factor.storage();
        for &(slot, e, f) in &self.products {
            if takes_part(entries[e].0) && takes_part(entries[f].0) {
                storage[slot] += values[e] * values[f];
            }
        }
        for (row, &slot) in self.diagonal.iter().enumerate() {
            if !takes_part(row) {
                storage[slot] = 1.0;
            }
        }
        self.found.clear();
        self.factor.factor_semidefinite(tolerance, &mut self.found)?;
        rows.extend(self.found.iter().map(|&k| self.order[k]));
        Ok(())
    }
}
