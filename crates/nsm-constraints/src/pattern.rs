//! The pattern of sparse rows, apart from what they are.

use std::ops::Range;

/// Where the entries of sparse rows lie: row $i$ occupies `starts[i]..starts[i + 1]` of `columns`.
#[derive(Clone, Copy, Debug)]
pub struct RowPattern<'a> {
    /// Where each row begins, and the end of the last.
    pub starts: &'a [usize],
    /// Columns of all rows, one after another.
    pub columns: &'a [usize],
}

impl<'a> RowPattern<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where row `i` lies in a slice of values.
    pub fn span(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Columns of row `i`.
    pub fn row(&self, i: usize) -> &'a [usize] {
        &self.columns[self.span(i)]
    }
}
