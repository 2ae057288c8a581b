//! $LDL^\top$ of a principal submatrix whose index set gains and loses one member at a time.

/// Bounds between which a pivot, as a fraction of its diagonal entry, may or may not be rounding.
const ROUNDING_PIVOT: f64 = 16.0 * f64::EPSILON;
const REGULAR_PIVOT: f64 = 1e-12;

/// Largest decrease of the objective, over $\max|q|^2 / \max M_{ii}$, believed along a direction whose
/// curvature is within rounding of zero.
const BELIEVED_DECREASE: f64 = 1e4;

/// The smallest pivot, as a fraction of its diagonal entry, with which an index of the given slope
/// may join the factor. A column whose part outside the span of the others has the relative size
/// $\sqrt{\text{pivot}}$ may see a slope of that size, so that small pivots are real when the slope is small too; with a
/// large slope they would let the objective fall beyond the scale of the problem, and are rounding.
pub(crate) fn flat_pivot(slope: f64, diagonal: f64, q_max: f64, diagonal_max: f64) -> f64 {
    (slope * slope * diagonal_max / (BELIEVED_DECREASE * q_max * q_max * diagonal))
        .clamp(ROUNDING_PIVOT, REGULAR_PIVOT)
}

/// The factor, its indices in the order in which they entered, and room for the largest set.
#[derive(Debug, Clone)]
pub(crate) struct GrowingFactor {
    stride: usize,
    /// $L$ by rows, unit diagonal not stored.
    lower: Vec<f64>,
    /// $D^{-1}$.
    inverse_pivot: Vec<f64>,
    scaled: Vec<f64>,
    gain: Vec<f64>,
    /// The index set.
    pub(crate) indices: Vec<usize>,
}

impl GrowingFactor {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            stride: capacity,
            lower: vec![0.0; capacity * capacity],
            inverse_pivot: vec![0.0; capacity],
            scaled: vec![0.0; capacity],
            gain: vec![0.0; capacity],
            indices: Vec::with_capacity(capacity),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.indices.clear();
    }

    /// Borders the factor by index `j` of the dense `n` × `n` matrix `m`; false when its column
    /// depends on those already there, and then [`Self::dependence`] tells how.
    #[inline]
    pub(crate) fn append(&mut self, n: usize, m: &[f64], j: usize, tolerance: f64) -> bool {
        let (k, stride) = (self.indices.len(), self.stride);
        let column = &m[j * n..(j + 1) * n];
        let (used, rest) = self.lower.split_at_mut(k * stride);
        let row = &mut rest[..k];
        let scaled = &mut self.scaled[..k];
        let mut pivot = column[j];
        for c in 0..k {
            let above = &used[c * stride..c * stride + c];
            let mut sum = column[self.indices[c]];
            for t in 0..c {
                sum -= above[t] * scaled[t];
            }
            scaled[c] = sum;
            row[c] = sum * self.inverse_pivot[c];
            pivot -= sum * row[c];
        }
        if pivot > tolerance * column[j] {
            self.inverse_pivot[k] = 1.0 / pivot;
            self.indices.push(j);
            true
        } else {
            false
        }
    }

    /// After a refused [`Self::append`]: $d$ with $M_{PP} d = -M_{Pj}$.
    pub(crate) fn dependence(&self, d: &mut [f64]) {
        let k = self.indices.len();
        let row = &self.lower[k * self.stride..k * self.stride + k];
        for c in 0..k {
            d[c] = -row[c];
        }
        self.back_substitute(&mut d[..k]);
    }

    /// Deletes the `p`-th member: the rows below shift up and absorb $d_p l l^\top$ by a rank-one
    /// update [Gill, Golub, Murray & Saunders 1974]. Returns its index.
    pub(crate) fn remove(&mut self, p: usize) -> usize {
        let (k, stride) = (self.indices.len(), self.stride);
        let index = self.indices.remove(p);
        let mut weight = 1.0 / self.inverse_pivot[p];
        for r in p..k - 1 {
            let (above, below) = self.lower.split_at_mut((r + 1) * stride);
            let (old, row) = (&below[..=r], &mut above[r * stride..r * stride + r]);
            row[..p].copy_from_slice(&old[..p]);
            let mut v = old[p];
            for c in p..r {
                let l = old[c + 1];
                v -= self.scaled[c] * l;
                row[c] = l + self.gain[c] * v;
            }
            let pivot = 1.0 / self.inverse_pivot[r + 1];
            let updated = pivot + weight * v * v;
            self.inverse_pivot[r] = 1.0 / updated;
            self.scaled[r] = v;
            self.gain[r] = weight * v / updated;
            weight *= pivot / updated;
        }
        index
    }

    /// $M_{PP} x = b$ with $b$ given by the position in the factor and the index there.
    #[inline]
    pub(crate) fn solve(&self, x: &mut [f64], b: impl Fn(usize) -> f64) {
        let k = self.indices.len();
        let x = &mut x[..k];
        for r in 0..k {
            let row = &self.lower[r * self.stride..r * self.stride + r];
            let mut sum = b(self.indices[r]);
            for c in 0..r {
                sum -= row[c] * x[c];
            }
            x[r] = sum;
        }
        for (x, d) in x.iter_mut().zip(&self.inverse_pivot) {
            *x *= d;
        }
        self.back_substitute(x);
    }

    /// $L^\top x = b$ in place.
    #[inline]
    fn back_substitute(&self, x: &mut [f64]) {
        for r in (1..x.len()).rev() {
            let value = x[r];
            let row = &self.lower[r * self.stride..r * self.stride + r];
            for c in 0..r {
                x[c] -= row[c] * value;
            }
        }
    }
}
