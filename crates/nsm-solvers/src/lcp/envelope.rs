//! Cholesky factors of principal submatrices of a sparse symmetric matrix, by envelopes.
//!
//! Pivoting methods factor $M_{AA} + \varepsilon D_A$ for one index set $A$ after another. Rows of $M$ are
//! ordered once (reverse Cuthill–McKee when the given order is wide); the rows in $A$ are then
//! packed together, which can only narrow the envelope
//! $$ \mathrm{env}(A) = \lbrace (r, c) : f_r \le c \le r \rbrace, \qquad f_r = \min\lbrace c : M_{rc} \ne 0 \rbrace , $$
//! inside which $L$ stays. A tower of boxes has envelope rows of seven entries, whatever its height.

const DIAGONAL: usize = usize::MAX / 2;

/// Symmetric sparse matrix in a fixed order of rows: strict lower triangle by rows, plus diagonal.
#[derive(Debug, Clone)]
pub(crate) struct SymmetricSparse {
    pub(crate) n: usize,
    /// `order[k]` is the row of the caller's matrix at position `k`.
    pub(crate) order: Vec<usize>,
    pub(crate) row_start: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    pub(crate) values: Vec<f64>,
    pub(crate) diagonal: Vec<f64>,
    /// Sum of the widths of the rows of the envelope, over all rows.
    pub(crate) envelope: usize,
    /// Multiplications that factoring the whole matrix takes, roughly.
    pub(crate) work: f64,
    /// For each entry of the source: where it goes (from [`DIAGONAL`] on: the diagonal; `usize::MAX`:
    /// upper triangle, skipped).
    target: Vec<usize>,
}

impl SymmetricSparse {
    /// From columns of the whole matrix (both triangles, rows in any order).
    pub(crate) fn new(n: usize, col_ptr: &[usize], row_idx: &[usize]) -> Self {
        let natural: Vec<usize> = (0..n).collect();
        let mut best = Self::with_order(n, col_ptr, row_idx, natural);
        if best.work > 64.0 * n as f64 {
            let order = reverse_cuthill_mckee(n, col_ptr, row_idx);
            let other = Self::with_order(n, col_ptr, row_idx, order);
            if other.work < best.work {
                best = other;
            }
        }
        best
    }

    fn with_order(n: usize, col_ptr: &[usize], row_idx: &[usize], order: Vec<usize>) -> Self {
        let mut position = vec![0; n];
        for (k, &i) in order.iter().enumerate() {
            position[i] = k;
        }
        let mut row_start = Vec::with_capacity(n + 1);
        let mut columns = Vec::with_capacity(row_idx.len() / 2);
        row_start.push(0);
        let mut target = vec![usize::MAX; row_idx.len()];
        let mut row: Vec<(usize, usize)> = Vec::new();
        for (r, &j) in order.iter().enumerate() {
            row.clear();
            for k in col_ptr[j]..col_ptr[j + 1] {
                let c = position[row_idx[k]];
                if c < r {
                    row.push((c, k));
                } else if c == r {
                    target[k] = DIAGONAL + r;
                }
            }
            row.sort_unstable();
            for &(c, k) in &row {
                // Entries given twice add up.
                if columns.len() == row_start[r] || columns[columns.len() - 1] != c {
                    columns.push(c);
                }
                target[k] = columns.len() - 1;
            }
            row_start.push(columns.len());
        }
        let (mut envelope, mut work) = (0, 0.0);
        for r in 0..n {
            let first = columns[row_start[r]..row_start[r + 1]].iter().copied().min().unwrap_or(r);
            envelope += r - first;
            work += ((r - first) * (r - first) + 2) as f64 / 2.0;
        }
        let values = vec![0.0; columns.len()];
        Self {
            n,
            order,
            row_start,
            columns,
            values,
            diagonal: vec![0.0; n],
            envelope,
            work,
            target,
        }
    }

    /// New numbers on the same pattern.
    pub(crate) fn load(&mut self, source: &[f64]) {
        self.values.fill(0.0);
        self.diagonal.fill(0.0);
        for (&t, &v) in self.target.iter().zip(source) {
            if t < DIAGONAL {
                self.values[t] += v;
            } else if t != usize::MAX {
                self.diagonal[t - DIAGONAL] += v;
            }
        }
    }

    /// $y \leftarrow y + Mx$.
    pub(crate) fn multiply_add(&self, x: &[f64], y: &mut [f64]) {
        for r in 0..self.n {
            let xr = x[r];
            let mut sum = self.diagonal[r] * xr;
            for k in self.row_start[r]..self.row_start[r + 1] {
                let c = self.columns[k];
                sum += self.values[k] * x[c];
                y[c] += self.values[k] * xr;
            }
            y[r] += sum;
        }
    }
}

/// Factor $LL^\top$ of a shifted principal submatrix, in memory for the largest one.
#[derive(Debug, Clone)]
pub(crate) struct EnvelopeFactor {
    /// Position in the packed order, or `usize::MAX` for rows outside the set.
    packed: Vec<usize>,
    /// Rows in the set.
    rows: Vec<usize>,
    start: Vec<usize>,
    first: Vec<usize>,
    values: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    x: Vec<f64>,
}

impl EnvelopeFactor {
    pub(crate) fn new(matrix: &SymmetricSparse) -> Self {
        let n = matrix.n;
        Self {
            packed: vec![usize::MAX; n],
            rows: Vec::with_capacity(n),
            start: vec![0; n + 1],
            first: vec![0; n],
            values: vec![0.0; matrix.envelope],
            inverse_diagonal: vec![0.0; n],
            x: vec![0.0; n],
        }
    }

    /// Factors $M_{AA} + \mathrm{diag}(s_A)$; false when a pivot is not positive.
    pub(crate) fn factor(&mut self, m: &SymmetricSparse, member: &[bool], shift: &[f64]) -> bool {
        self.rows.clear();
        for r in 0..m.n {
            self.packed[r] = usize::MAX;
            if member[r] {
                self.packed[r] = self.rows.len();
                self.rows.push(r);
            }
        }
        for (p, &r) in self.rows.iter().enumerate() {
            let mut first = p;
            for &c in &m.columns[m.row_start[r]..m.row_start[r + 1]] {
                first = first.min(self.packed[c]);
            }
            self.first[p] = first;
            let begin = self.start[p];
            self.start[p + 1] = begin + p - first;
            let (done, rest) = self.values.split_at_mut(begin);
            let row = &mut rest[..p - first];
            row.fill(0.0);
            for k in m.row_start[r]..m.row_start[r + 1] {
                let c = self.packed[m.columns[k]];
                if c != usize::MAX {
                    row[c - first] = m.values[k];
                }
            }
            let mut pivot = m.diagonal[r] + shift[r];
            for c in first..p {
                let low = self.first[c].max(first);
                let above = &done[self.start[c] + low - self.first[c]..self.start[c + 1]];
                let (left, right) = row.split_at_mut(c - first);
                let value =
                    (right[0] - dot(above, &left[low - first..])) * self.inverse_diagonal[c];
                right[0] = value;
                pivot -= value * value;
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            self.inverse_diagonal[p] = 1.0 / pivot.sqrt();
        }
        true
    }

    /// Solves for the rows in the set: `x[r]` is the right-hand side on entry, the answer on exit.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let k = self.rows.len();
        for p in 0..k {
            let first = self.first[p];
            let row = &self.values[self.start[p]..self.start[p + 1]];
            let value = x[self.rows[p]] - dot(row, &self.x[first..p]);
            self.x[p] = value * self.inverse_diagonal[p];
        }
        for p in (0..k).rev() {
            let value = self.x[p] * self.inverse_diagonal[p];
            x[self.rows[p]] = value;
            let row = &self.values[self.start[p]..self.start[p + 1]];
            for (y, l) in self.x[self.first[p]..p].iter_mut().zip(row) {
                *y -= l * value;
            }
        }
    }
}

/// Dot product in four independent sums, in a fixed order.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; 4];
    let (mut ca, mut cb) = (a.chunks_exact(4), b.chunks_exact(4));
    for (x, y) in ca.by_ref().zip(cb.by_ref()) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let mut tail = 0.0;
    for (x, y) in ca.remainder().iter().zip(cb.remainder()) {
        tail += x * y;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// Order by breadth-first levels from a peripheral row, reversed [Cuthill & McKee 1969].
fn reverse_cuthill_mckee(n: usize, col_ptr: &[usize], row_idx: &[usize]) -> Vec<usize> {
    let degree = |i: usize| col_ptr[i + 1] - col_ptr[i];
    let mut seen = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut level = vec![0_usize; n];
    let mut by_degree: Vec<usize> = (0..n).collect();
    by_degree.sort_by_key(|&i| degree(i));
    for &start in &by_degree {
        if seen[start] {
            continue;
        }
        let mut root = start;
        // Two breadth-first passes find a row far from the others.
        for _ in 0..2 {
            let mut queue = vec![root];
            level[root] = 1;
            let mut head = 0;
            while head < queue.len() {
                let i = queue[head];
                head += 1;
                for &j in &row_idx[col_ptr[i]..col_ptr[i + 1]] {
                    if level[j] == 0 {
                        level[j] = level[i] + 1;
                        queue.push(j);
                    }
                }
            }
            let deepest = queue.iter().map(|&i| level[i]).max().unwrap_or(0);
            root = queue
                .iter()
                .copied()
                .filter(|&i| level[i] == deepest)
                .min_by_key(|&i| degree(i))
                .unwrap_or(root);
            for &i in &queue {
                level[i] = 0;
            }
        }
        let mut head = order.len();
        seen[root] = true;
        order.push(root);
        while head < order.len() {
            let i = order[head];
            head += 1;
            let from = order.len();
            for &j in &row_idx[col_ptr[i]..col_ptr[i + 1]] {
                if !seen[j] {
                    seen[j] = true;
                    order.push(j);
                }
            }
            order[from..].sort_by_key(|&j| degree(j));
        }
    }
    order.reverse();
    order
}
