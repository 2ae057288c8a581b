//! The entries of $S = G^\prime Y$ as sums of products, known from the pattern.

use crate::error::LinearError;

/// For every entry of $S$, which gradient entries meet which entries of $Y = A^{-1}G^\top$.
#[derive(Debug, Clone)]
pub(super) struct Products {
    /// `(gradient entry of row i, place in y of row j)`, grouped by entries of $S$.
    pairs: Vec<(u32, u32)>,
    /// End of every group in `pairs`.
    ends: Vec<usize>,
    /// Positions of the entries of $S$, and among them the diagonal's.
    positions: Vec<(usize, usize)>,
    diagonal: Vec<usize>,
}

impl Products {
    /// From terms $(i, j, \text{gradient entry}, \text{place in } y)$ of $S_{ij}$, for `rows` rows.
    pub(super) fn new(
        rows: usize,
        mut terms: Vec<(usize, usize, usize, usize)>,
    ) -> Result<Self, LinearError> {
        terms.sort_unstable();
        let mut this = Self {
            pairs: Vec::with_capacity(terms.len()),
            ends: Vec::new(),
            positions: Vec::new(),
            diagonal: Vec::with_capacity(rows),
        };
        let mut next = terms.iter().peekable();
        for i in 0..rows {
            // Every row has a diagonal entry, also one without gradients.
            let mut columns: Vec<usize> = terms[terms.partition_point(|t| t.0 < i)..]
                .iter()
                .take_while(|t| t.0 == i)
                .map(|t| t.1)
                .collect();
            columns.push(i);
            columns.sort_unstable();
            columns.dedup();
            for j in columns {
                while let Some(&&(_, _, e, y)) = next.peek().filter(|t| (t.0, t.1) == (i, j)) {
                    this.pairs.push((index(e)?, index(y)?));
                    next.next();
                }
                if i == j {
                    this.diagonal.push(this.positions.len());
                }
                this.positions.push((i, j));
                this.ends.push(this.pairs.len());
            }
        }
        Ok(this)
    }

    pub(super) fn positions(&self) -> &[(usize, usize)] {
        &self.positions
    }

    /// Writes the entries of $S$ with a compliance on the diagonal; rows that are dropped are those of the identity.
    pub(super) fn evaluate(
        &self,
        g: &[f64],
        y: &[f64],
        c: &[f64],
        dropped: &[bool],
        values: &mut [f64],
    ) {
        let mut start = 0;
        for (value, &end) in values.iter_mut().zip(&self.ends) {
            let mut sum = 0.0;
            for &(e, k) in &self.pairs[start..end] {
                sum += g[e as usize] * y[k as usize];
            }
            *value = sum;
            start = end;
        }
        for (&slot, c) in self.diagonal.iter().zip(c) {
            values[slot] += c;
        }
        if !dropped.is_empty() {
            for (value, &(i, j)) in values.iter_mut().zip(&self.positions) {
                if dropped[i] || dropped[j] {
                    *value = if i == j { 1.0 } else { 0.0 };
                }
            }
        }
    }
}

/// Indices of products are stored in half the room, which halves the traffic of the hottest loop.
fn index(i: usize) -> Result<u32, LinearError> {
    u32::try_from(i).map_err(|_| LinearError::Memory)
}
