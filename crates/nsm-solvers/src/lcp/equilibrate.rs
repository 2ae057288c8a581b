//! Equilibration: the same problem in units in which all rows and columns have entries of order one.
//!
//! For positive diagonal $R$ and $C$
//! $$ 0 \le z \perp Mz + q \ge 0 \iff 0 \le \hat z \perp RMC\hat z + Rq \ge 0, \qquad
//!    z = C \hat z,\quad w = R^{-1} \hat w . $$
//! Methods, tolerances and the residual see the scaled problem only, so that neither depends on the units of the
//! rows; symmetric matrices stay symmetric. All factors are powers of two: nothing is rounded, and what is
//! proven of the scaled problem holds for the given one. Problems that are of order one already stay as they are.
//!
//! The factors of a symmetric matrix come from its diagonal, if that is positive; those of others from the geometric means of
//! rows and columns, which are the same whatever the units [Curtis & Reid 1972]. The root of the largest entry is then
//! taken out of every row and column until all are of order one [Ruiz 2001].

use super::LcpError;
use super::columns::{Columns, Storage, Symmetry};

/// Entries between $2^{-8}$ and $2^8$ are of order one.
const NEAR: f64 = 256.0;

/// Right-hand sides whose squares stay far from overflow and underflow.
const MODEST: f64 = 1e100;

/// Right-hand sides of separate problems that differ by more are brought together.
const APART: f64 = 1e6;

/// Rounds in which the means settle.
const MEANS: usize = 40;

/// Rounds of the row and column scaling; each halves the exponents that are left.
const ROUNDS: usize = 12;

/// Difference of the exponents of rows and columns beyond which a matrix is not symmetric.
const LOPSIDED: f64 = 16.0;

/// Smallest share of the largest unknown that must not underflow.
const SHARE: f64 = 1e-20;

/// Exponents of $R$ and $C$, and the scaled data.
#[derive(Debug, Default)]
pub(crate) struct Equilibration {
    row: Vec<i32>,
    col: Vec<i32>,
    /// Union–find over rows and then columns, and the exponent of $q$ in each set.
    root: Vec<usize>,
    level: Vec<i32>,
    row_max: Vec<f64>,
    col_max: Vec<f64>,
    values: Vec<f64>,
    q: Vec<f64>,
}

/// What was found out about a problem, and whether it was rewritten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) symmetry: Symmetry,
    /// Whether the methods see other units than the caller.
    pub(crate) scaled: bool,
    /// Whether scaling lost no bit, not even by underflow.
    pub(crate) exact: bool,
    /// A bound on the entries that the methods see.
    pub(crate) largest: f64,
    copied: bool,
}

impl Equilibration {
    /// Reads the matrix by columns and scales it where that is called for.
    pub(crate) fn prepare(
        &mut self,
        (stored, transposed): (Columns<'_>, bool),
        q: &[f64],
    ) -> Shape {
        let mut symmetry = stored.symmetry();
        if let (Symmetry::None(i, j), true) = (symmetry, transposed) {
            symmetry = Symmetry::None(j, i);
        }
        let transpose = transposed && symmetry != Symmetry::Exact;
        let symmetric = symmetry.holds();
        let mut near = self.near(&stored, symmetric);
        let (mut least, mut q_max) = (f64::INFINITY, 0.0_f64);
        for v in q.iter().map(|v| v.abs()) {
            q_max = q_max.max(v);
            least = if v > 0.0 { least.min(v) } else { least };
        }
        if q_max >= MODEST || (q_max > 0.0 && q_max <= 1.0 / MODEST) {
            near = None;
        }
        let apart = q_max > APART * least;
        if symmetry == Symmetry::Rounded && (near.is_none() || apart) && self.is_lopsided(&stored) {
            let (i, j) = stored.first_difference();
            symmetry = if transposed { Symmetry::None(j, i) } else { Symmetry::None(i, j) };
            near = None;
        }
        if apart && !symmetry.holds() {
            // Rows and columns that are large somewhere may have other units all the same.
            near = None;
        }
        if near.is_some() && apart {
            // Rows that see no others are a problem of their own, which may be small.
            self.row.clear();
            self.row.resize(stored.n, 0);
            self.col.clear();
            self.col.resize(stored.n, 0);
            if self.balance(&stored, transposed, q) > APART {
                let exact = self.scale(&stored, transpose, q);
                let largest = largest(&self.values);
                return Shape { symmetry, scaled: true, exact, largest, copied: true };
            }
        }
        if let Some(largest) = near {
            if transpose {
                self.values.resize(stored.values().len(), 0.0);
                transpose_into(stored.n, stored.values(), &mut self.values);
            }
            return Shape { symmetry, scaled: false, exact: true, largest, copied: transpose };
        }
        let symmetric = symmetry.holds();
        self.find_factors(&stored, symmetric);
        if transposed {
            core::mem::swap(&mut self.row, &mut self.col);
        }
        let _ = self.balance(&stored, transposed, q);
        let exact = self.scale(&stored, transpose, q);
        Shape { symmetry, scaled: true, exact, largest: largest(&self.values), copied: true }
    }

    /// The problem that the methods see.
    pub(crate) fn problem<'a>(
        &'a self,
        shape: Shape,
        stored: Columns<'a>,
        q: &'a [f64],
    ) -> (Columns<'a>, &'a [f64]) {
        let matrix = match stored.storage {
            _ if !shape.copied => stored,
            Storage::Dense(_) => Columns::dense(stored.n, &self.values),
            Storage::Sparse { col_ptr, row_idx, .. } => {
                Columns::sparse(stored.n, col_ptr, row_idx, &self.values)
            }
        };
        (matrix, if shape.scaled { &self.q } else { q })
    }

    /// The largest entry, if all rows and columns are of order one.
    fn near(&mut self, matrix: &Columns<'_>, symmetric: bool) -> Option<f64> {
        let near = |v: f64| v <= NEAR && v * NEAR >= 1.0;
        let largest = largest(matrix.values());
        if largest > NEAR {
            return None;
        }
        if symmetric {
            return (0..matrix.n).all(|i| near(matrix.diagonal(i))).then_some(largest);
        }
        self.row.clear();
        self.row.resize(matrix.n, 0);
        self.col.clear();
        self.col.resize(matrix.n, 0);
        self.find_maxima(matrix);
        self.row_max.iter().chain(&self.col_max).all(|&v| near(v)).then_some(largest)
    }

    /// Largest entries of rows and columns under the present factors.
    fn find_maxima(&mut self, matrix: &Columns<'_>) {
        let n = matrix.n;
        self.row_max.clear();
        self.row_max.resize(n, 0.0);
        self.col_max.clear();
        self.col_max.resize(n, 0.0);
        let Self { row, col, row_max, col_max, .. } = self;
        matrix.for_entries(|i, j, v| {
            let size = shift(v.abs(), row[i] + col[j]);
            row_max[i] = row_max[i].max(size);
            col_max[j] = col_max[j].max(size);
        });
    }

    fn find_factors(&mut self, matrix: &Columns<'_>, symmetric: bool) {
        let n = matrix.n;
        self.row.clear();
        self.row.resize(n, 0);
        self.col.clear();
        self.col.resize(n, 0);
        if symmetric && (0..n).all(|i| matrix.diagonal(i) > 0.0) {
            for i in 0..n {
                self.row[i] = half_exponent(matrix.diagonal(i));
                self.col[i] = self.row[i];
            }
        } else {
            self.find_means(matrix);
            for i in 0..n {
                let (r, c) = (self.row_max[i], self.col_max[i]);
                let (r, c) =
                    if symmetric { (f64::midpoint(r, c), f64::midpoint(r, c)) } else { (r, c) };
                (self.row[i], self.col[i]) = (rounded(r), rounded(c));
            }
        }
        for _ in 0..ROUNDS {
            self.find_maxima(matrix);
            let mut still = true;
            for i in 0..n {
                let (r, c) = (half_exponent(self.row_max[i]), half_exponent(self.col_max[i]));
                // The row of a symmetric matrix is its column, up to rounding.
                let (r, c) = if symmetric { (r, r) } else { (r, c) };
                self.row[i] += r;
                self.col[i] += c;
                still &= r == 0 && c == 0;
            }
            if still {
                break;
            }
        }
    }

    /// Whether rows and columns have units of their own, so that entries which seem rounding beside the diagonal are not.
    fn is_lopsided(&mut self, matrix: &Columns<'_>) -> bool {
        self.row.resize(matrix.n, 0);
        self.col.resize(matrix.n, 0);
        self.find_means(matrix);
        let differences = self.row_max.iter().zip(&self.col_max).map(|(r, c)| r - c);
        let (least, most) =
            differences.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), d| (a.min(d), b.max(d)));
        most - least > LOPSIDED
    }

    /// Exponents that bring the geometric mean of every row and column to one, in `row_max` and `col_max`.
    fn find_means(&mut self, matrix: &Columns<'_>) {
        let n = matrix.n;
        let Self { row, col, row_max: r, col_max: c, .. } = self;
        for v in [&mut *r, &mut *c] {
            v.clear();
            v.resize(n, 0.0);
        }
        for _ in 0..MEANS {
            let before: f64 = r.iter().map(|v| v.abs()).sum();
            for_rows(matrix, true, row, r, c);
            for_rows(matrix, false, col, c, r);
            let after: f64 = r.iter().map(|v| v.abs()).sum();
            if (after - before).abs() < 0.5 {
                break;
            }
        }
    }

    /// Moves a factor between rows and columns that see no others, so that the largest entry of $Rq$ among them is of order
    /// one: it changes nothing about $RMC$. Returns how far these largest entries were apart.
    fn balance(&mut self, matrix: &Columns<'_>, transposed: bool, q: &[f64]) -> f64 {
        let n = matrix.n;
        let Self { row, col, root, level, .. } = self;
        root.clear();
        root.extend(0..2 * n);
        matrix.for_entries(|i, j, v| {
            if v != 0.0 {
                let (i, j) = if transposed { (j, i) } else { (i, j) };
                let (a, b) = (find(root, i), find(root, n + j));
                root[a.max(b)] = a.min(b);
            }
        });
        level.clear();
        level.resize(2 * n, i32::MIN);
        for i in 0..n {
            if q[i] != 0.0 {
                let leader = find(root, i);
                level[leader] = level[leader].max(exponent(q[i]) + row[i]);
            }
        }
        let (mut least, mut most) = (i32::MAX, i32::MIN);
        for &v in level.iter().filter(|v| **v != i32::MIN) {
            (least, most) = (least.min(v), most.max(v));
        }
        for i in 0..n {
            let (of_row, of_col) = (level[find(root, i)], level[find(root, n + i)]);
            row[i] -= if of_row == i32::MIN { 0 } else { of_row };
            col[i] += if of_col == i32::MIN { 0 } else { of_col };
        }
        if most > least { f64::from(most.saturating_sub(least)).exp2() } else { 1.0 }
    }

    /// Fills the scaled data; false when an entry lost bits to underflow.
    fn scale(&mut self, stored: &Columns<'_>, transpose: bool, q: &[f64]) -> bool {
        let n = stored.n;
        let mut exact = true;
        let mut scaled = |v: f64, by: i32| {
            let s = shift(v, by);
            exact &= v == 0.0 || s.is_normal();
            s
        };
        self.values.clear();
        match stored.storage {
            Storage::Dense(m) => self.values.extend((0..n * n).map(|k| {
                let (i, j) = (k % n, k / n);
                let v = if transpose { m[i * n + j] } else { m[k] };
                scaled(v, self.row[i] + self.col[j])
            })),
            Storage::Sparse { col_ptr, row_idx, values } => {
                for j in 0..n {
                    for k in col_ptr[j]..col_ptr[j + 1] {
                        self.values.push(scaled(values[k], self.row[row_idx[k]] + self.col[j]));
                    }
                }
            }
        }
        self.q.clear();
        self.q.extend(q.iter().zip(&self.row).map(|(&q, &r)| scaled(q, r)));
        exact
    }

    /// A first guess in the units of the scaled problem.
    pub(crate) fn scale_guess(&self, z: &mut [f64]) {
        for (z, &c) in z.iter_mut().zip(&self.col) {
            *z = shift(*z, -c);
        }
    }

    /// The answer in the caller's units.
    ///
    /// # Errors
    /// [`LcpError::Range`] for an unknown or slack beyond the range of double precision.
    pub(crate) fn restore(&self, z: &mut [f64], w: &mut [f64]) -> Result<(), LcpError> {
        let largest = z.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let mut outside = None;
        for i in 0..z.len() {
            let (scaled, c, r) = (z[i], self.col[i], self.row[i]);
            z[i] = shift(scaled, c);
            w[i] = shift(w[i], -r);
            let vanishes = scaled.abs() > SHARE * largest && z[i].abs() < f64::MIN_POSITIVE;
            if vanishes || !z[i].is_finite() || !w[i].is_finite() {
                outside = outside.or(Some(i));
            }
        }
        outside.map_or(Ok(()), |index| Err(LcpError::Range { index }))
    }
}

fn find(root: &mut [usize], mut a: usize) -> usize {
    while root[a] != a {
        root[a] = root[root[a]];
        a = root[a];
    }
    a
}

/// Sets `mean` of every row (or column) to minus the mean exponent of its entries under the factors of the others; `count` is scratch.
fn for_rows(matrix: &Columns<'_>, rows: bool, count: &mut [i32], mean: &mut [f64], other: &[f64]) {
    count.fill(0);
    mean.fill(0.0);
    matrix.for_entries(|i, j, v| {
        let (own, cross) = if rows { (i, j) } else { (j, i) };
        if v != 0.0 {
            count[own] += 1;
            mean[own] -= f64::from(exponent(v)) + other[cross];
        }
    });
    for (mean, &count) in mean.iter_mut().zip(&*count) {
        *mean /= f64::from(count.max(1));
    }
}

/// The nearest exponent; all lie within those of the doubles and their squares.
#[allow(clippy::cast_possible_truncation)]
fn rounded(v: f64) -> i32 {
    v.round().clamp(-2200.0, 2200.0) as i32
}

/// $\lfloor\log_2|v|\rfloor$, zero for zero.
fn exponent(v: f64) -> i32 {
    // Exact scaling lifts subnormal numbers first.
    let (v, offset) =
        if v.abs() < f64::MIN_POSITIVE { (v * 2.0_f64.powi(200), 200) } else { (v, 0) };
    if v == 0.0 {
        return 0;
    }
    let biased = (v.to_bits() >> 52) & 0x7ff;
    i32::try_from(biased).unwrap_or(0) - 1023 - offset
}

/// The exponent $k$ that brings $4^k v$ near one.
fn half_exponent(v: f64) -> i32 {
    if v > 0.0 { -(exponent(v).div_euclid(2)) } else { 0 }
}

/// $2^k v$, without intermediate overflow or underflow.
fn shift(v: f64, k: i32) -> f64 {
    if k.abs() <= 1000 {
        return v * 2.0_f64.powi(k);
    }
    let half = k / 2;
    if half.abs() <= 1000 {
        return v * 2.0_f64.powi(half) * 2.0_f64.powi(k - half);
    }
    shift(shift(v, half), k - half)
}

fn transpose_into(n: usize, from: &[f64], to: &mut [f64]) {
    const TILE: usize = 32;
    for j0 in (0..n).step_by(TILE) {
        for i0 in (0..n).step_by(TILE) {
            for j in j0..(j0 + TILE).min(n) {
                for i in i0..(i0 + TILE).min(n) {
                    to[j * n + i] = from[i * n + j];
                }
            }
        }
    }
}

/// Largest absolute value, in four independent parts.
fn largest(values: &[f64]) -> f64 {
    let mut parts = [0.0_f64; 4];
    let mut chunks = values.chunks_exact(4);
    for chunk in chunks.by_ref() {
        for k in 0..4 {
            parts[k] = parts[k].max(chunk[k].abs());
        }
    }
    chunks.remainder().iter().chain(&parts).fold(0.0, |m, v| m.max(v.abs()))
}
