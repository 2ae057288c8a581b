//! The inner product on momenta in which impulses are measured.
//!
//! $$ \langle a, b \rangle_W = a^\top W b, \qquad v = W p $$
//! $W$ is $M^{-1}$ for the energy $H$, or the shadow metric $B = M^{-1} + c\\,M^{-1} V\'\' M^{-1}$ for the
//! second-order numerical Hamiltonian $H_2$. It is symmetric, diagonal or sparse, with a pattern that is
//! fixed once so that values can be renewed in every step.

use crate::ConstraintError;

/// A symmetric matrix $W$ on momenta, diagonal or row-sparse.
///
/// ```
/// use nsm_constraints::Metric;
///
/// let w = Metric::from_entries(2, &[(0, 0, 2.0), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 1.0)])?;
/// let mut v = [0.0; 2];
/// w.apply(&[1.0, -2.0], &mut v);
/// assert_eq!(v, [1.0, -1.5]);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Diagonal(Vec<f64>),
    /// Rows by increasing column; the pattern is symmetric and holds the diagonal.
    Sparse {
        starts: Vec<usize>,
        columns: Vec<usize>,
        values: Vec<f64>,
    },
}

impl Metric {
    /// $W = \operatorname{diag}(w)$.
    ///
    /// # Errors
    /// Names the first weight that is negative or not finite.
    pub fn diagonal(w: &[f64]) -> Result<Self, ConstraintError> {
        match w.iter().find(|x| !x.is_finite() || **x < 0.0) {
            Some(&value) => Err(ConstraintError::Parameter {
                what: "a weight of the metric",
                must: "finite and not negative",
                value,
            }),
            None => Ok(Self { shape: Shape::Diagonal(w.to_vec()) }),
        }
    }

    /// A sparse symmetric matrix from all its entries, both triangles; duplicates add up.
    ///
    /// Entries that are zero keep their place in the pattern, so that they can be renewed.
    ///
    /// # Errors
    /// Indices out of range, entries that are not finite, a pattern or values without symmetry.
    pub fn from_entries(
        dimension: usize,
        entries: &[(usize, usize, f64)],
    ) -> Result<Self, ConstraintError> {
        let mut sorted: Vec<(usize, usize, f64)> = Vec::with_capacity(entries.len() + dimension);
        for &(i, j, value) in entries {
            for coordinate in [i, j] {
                if coordinate >= dimension {
                    let name = "the metric".to_owned();
                    return Err(ConstraintError::UnknownCoordinate { name, coordinate, dimension });
                }
            }
            if !value.is_finite() {
                let (what, must) = ("an entry of the metric", "finite");
                return Err(ConstraintError::Parameter { what, must, value });
            }
            sorted.push((i, j, value));
        }
        sorted.extend((0..dimension).map(|i| (i, i, 0.0)));
        sorted.sort_by_key(|&(i, j, _)| (i, j));
        let mut starts = vec![0; dimension + 1];
        let (mut columns, mut values) = (Vec::new(), Vec::<f64>::new());
        let mut last = None;
        for (i, j, value) in sorted {
            if last == Some((i, j)) {
                if let Some(sum) = values.last_mut() {
                    *sum += value;
                }
            } else {
                columns.push(j);
                values.push(value);
                last = Some((i, j));
            }
            starts[i + 1] = columns.len();
        }
        let metric = Self { shape: Shape::Sparse { starts, columns, values } };
        for i in 0..dimension {
            let (columns, values) = metric.row(i);
            for (&j, &value) in columns.iter().zip(values) {
                let mirrored = metric.entry(j, i);
                if (mirrored.unwrap_or(f64::NAN) - value).abs() <= 1e-12 * value.abs() {
                    continue;
                }
                let (what, must) = ("an entry of the metric", "equal to its mirror image");
                return Err(ConstraintError::Parameter { what, must, value });
            }
        }
        Ok(metric)
    }

    /// Number of coordinates.
    #[inline]
    pub fn dimension(&self) -> usize {
        match &self.shape {
            Shape::Diagonal(w) => w.len(),
            Shape::Sparse { starts, .. } => starts.len() - 1,
        }
    }

    /// The weights, if the metric is diagonal.
    #[inline]
    pub fn as_diagonal(&self) -> Option<&[f64]> {
        match &self.shape {
            Shape::Diagonal(w) => Some(w),
            Shape::Sparse { .. } => None,
        }
    }

    /// Columns and values of row `i` of a sparse metric; empty if the metric is diagonal.
    #[inline]
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        match &self.shape {
            Shape::Diagonal(_) => (&[], &[]),
            Shape::Sparse { starts, columns, values } => {
                let span = starts[i]..starts[i + 1];
                (&columns[span.clone()], &values[span])
            }
        }
    }

    /// Entry $(i, j)$, if it belongs to the pattern.
    pub fn entry(&self, i: usize, j: usize) -> Option<f64> {
        match &self.shape {
            Shape::Diagonal(w) => (i == j).then(|| w[i]),
            Shape::Sparse { values, .. } => self.position(i, j).map(|k| values[k]),
        }
    }

    /// Where entry $(i, j)$ lies in [`values_mut`](Metric::values_mut).
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        match &self.shape {
            Shape::Diagonal(_) => (i == j).then_some(i),
            Shape::Sparse { starts, columns, .. } => {
                let row = columns.get(*starts.get(i)?..*starts.get(i + 1)?)?;
                row.binary_search(&j).ok().map(|k| starts[i] + k)
            }
        }
    }

    /// The stored values, to be renewed in place; whoever does keeps them symmetric.
    pub fn values_mut(&mut self) -> &mut [f64] {
        match &mut self.shape {
            Shape::Diagonal(w) => w,
            Shape::Sparse { values, .. } => values,
        }
    }

    /// $(W p)_i$.
    #[inline]
    pub fn apply_row(&self, i: usize, p: &[f64]) -> f64 {
        match &self.shape {
            Shape::Diagonal(w) => w[i] * p[i],
            Shape::Sparse { starts, columns, values } => {
                let span = starts[i]..starts[i + 1];
                columns[span.clone()].iter().zip(&values[span]).map(|(&j, w)| w * p[j]).sum()
            }
        }
    }

    /// Writes $v = W p$.
    pub fn apply(&self, p: &[f64], v: &mut [f64]) {
        for (i, v) in v.iter_mut().enumerate() {
            *v = self.apply_row(i, p);
        }
    }

    /// Adds $W a$ to `out`, for a sparse vector $a$ given by its columns and values.
    #[inline]
    pub fn add_applied(&self, columns: &[usize], values: &[f64], out: &mut [f64]) {
        for (&i, a) in columns.iter().zip(values) {
            match &self.shape {
                Shape::Diagonal(w) => out[i] += w[i] * a,
                Shape::Sparse { starts, columns, values } => {
                    let span = starts[i]..starts[i + 1];
                    for (&j, w) in columns[span.clone()].iter().zip(&values[span]) {
                        out[j] += w * a;
                    }
                }
            }
        }
    }

    /// Calls `visit` for every coordinate that $W$ couples to coordinate `i`, itself included.
    #[inline]
    pub fn for_coupled(&self, i: usize, mut visit: impl FnMut(usize)) {
        match &self.shape {
            Shape::Diagonal(_) => visit(i),
            Shape::Sparse { starts, columns, .. } => {
                columns[starts[i]..starts[i + 1]].iter().for_each(|&j| visit(j));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_add_up_and_the_diagonal_is_always_there() {
        let w =
            Metric::from_entries(3, &[(0, 2, 1.0), (2, 0, 1.0), (0, 0, 2.0), (0, 0, 3.0)]).unwrap();
        assert_eq!(w.entry(0, 0), Some(5.0));
        assert_eq!(w.entry(1, 1), Some(0.0));
        assert_eq!(w.entry(1, 2), None);
        let mut v = [0.0; 3];
        w.add_applied(&[2], &[4.0], &mut v);
        assert_eq!(v, [4.0, 0.0, 0.0]);
    }

    #[test]
    fn asymmetry_and_bad_numbers_are_refused() {
        assert!(Metric::from_entries(2, &[(0, 1, 1.0)]).is_err());
        assert!(Metric::from_entries(2, &[(0, 2, 1.0)]).is_err());
        assert!(Metric::diagonal(&[1.0, f64::NAN]).is_err());
        assert!(Metric::diagonal(&[-1.0]).is_err());
    }
}
