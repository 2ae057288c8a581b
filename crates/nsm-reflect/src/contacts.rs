//! Contact gradients as plain row-sparse slices, so that any kind of body can be reflected.

use crate::ReflectError;

/// The rows $\nabla g_i$ of $G^\top$ in compressed form: row $i$ occupies `starts[i]..starts[i + 1]`
/// of `columns` and `values`.
///
/// Columns index momenta: coordinates of a system, or the entries of body twists for rigid bodies. A row may drift: then its contact opens at its drift
/// where all momenta vanish, because equalities that its gradient was projected onto move by themselves.
#[derive(Clone, Copy, Debug)]
pub struct ContactRows<'a> {
    starts: &'a [usize],
    columns: &'a [usize],
    values: &'a [f64],
    /// Of every row, or empty where none drifts.
    drift: &'a [f64],
}

impl<'a> ContactRows<'a> {
    /// Rows on `dimension` momenta.
    ///
    /// # Errors
    /// If the slices do not fit together or a column is out of range.
    pub fn new(
        dimension: usize,
        starts: &'a [usize],
        columns: &'a [usize],
        values: &'a [f64],
    ) -> Result<Self, ReflectError> {
        let length = |what, length, expected| ReflectError::Length { what, length, expected };
        let Some(&last) = starts.last() else {
            return Err(length("the list of row starts", 0, 1));
        };
        if starts[0] != 0 || starts.windows(2).any(|w| w[0] > w[1]) {
            return Err(length("a contact row", 0, 1));
        }
        if columns.len() != last {
            return Err(length("the list of columns", columns.len(), last));
        }
        if values.len() != last {
            return Err(length("the list of gradient values", values.len(), last));
        }
        if let Some(&column) = columns.iter().find(|&&c| c >= dimension) {
            return Err(length("the momentum", dimension, column + 1));
        }
        Ok(Self { starts, columns, values, drift: &[] })
    }

    /// Rows whose pattern was checked before.
    #[inline]
    pub(crate) fn of_pattern(starts: &'a [usize], columns: &'a [usize], values: &'a [f64]) -> Self {
        Self { starts, columns, values, drift: &[] }
    }

    /// The same rows with a drift each, or none where the list is empty.
    pub(crate) fn with_drift(self, drift: &'a [f64]) -> Self {
        Self { drift, ..self }
    }

    /// The rate of row `i` where all momenta vanish.
    #[inline]
    pub(crate) fn drift(&self, i: usize) -> f64 {
        self.drift.get(i).copied().unwrap_or(0.0)
    }

    /// Whether any row drifts.
    #[inline]
    pub(crate) fn drifts(&self) -> bool {
        !self.drift.is_empty()
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [usize], &'a [f64]) {
        let (from, to) = (self.starts[i], self.starts[i + 1]);
        (&self.columns[from..to], &self.values[from..to])
    }
}
