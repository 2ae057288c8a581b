//! The product $P^\top K\\,T$ of matrices with fixed patterns: the equations of a step in its freedoms.
//!
//! $K$ has the pattern of mass and stiffness, $P$ and $T$ that of the null space matrix. Where every entry
//! goes is worked out once. The result is the list of values of a [`LinearSystem`], sparse where freedoms
//! do not meet (a beam), dense where they do (a chain in relative angles).

use nsm_solvers::{LinearError, LinearSystem, Structure};

/// A matrix pattern in rows: row $i$ has the columns `columns[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone)]
pub(super) struct RowPattern {
    starts: Vec<usize>,
    columns: Vec<usize>,
}

impl RowPattern {
    /// The distinct entries in rows, and the place of every given entry among them.
    pub(super) fn new(rows: usize, entries: &[(usize, usize)]) -> (Self, Vec<usize>) {
        let mut sorted = entries.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut starts = vec![0; rows + 1];
        for &(i, _) in &sorted {
            starts[i + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        let places =
            entries.iter().map(|e| sorted.binary_search(e).unwrap_or_else(|at| at)).collect();
        (Self { starts, columns: sorted.into_iter().map(|e| e.1).collect() }, places)
    }

    /// The pattern of the product with a matrix of another pattern, of so many columns.
    fn reach(&self, other: &Self, columns: usize) -> Self {
        let mut seen_by = vec![usize::MAX; columns];
        let (mut starts, mut reached) = (vec![0], Vec::new());
        for i in 0..self.starts.len() - 1 {
            let first = reached.len();
            for &j in &self.columns[self.span(i)] {
                for &b in &other.columns[other.span(j)] {
                    if seen_by[b] != i {
                        seen_by[b] = i;
                        reached.push(b);
                    }
                }
            }
            reached[first..].sort_unstable();
            starts.push(reached.len());
        }
        Self { starts, columns: reached }
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    fn span(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Columns and values of row `i`.
    pub(super) fn row<'s>(
        &'s self,
        i: usize,
        values: &'s [f64],
    ) -> impl Iterator<Item = (usize, f64)> + 's {
        let span = self.span(i);
        self.columns[span.clone()].iter().copied().zip(values[span].iter().copied())
    }

    /// Writes $B x$.
    pub(super) fn multiply(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.row(i, values).map(|(j, b)| b * x[j]).sum();
        }
    }

    /// Writes $B^\top x$.
    pub(super) fn multiply_transposed(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, x) in x.iter().enumerate() {
            for (j, b) in self.row(i, values) {
                out[j] += b * x;
            }
        }
    }
}

/// $P^\top K\\,T$ with the factorisation of it.
#[derive(Debug)]
pub(super) struct Congruence {
    freedoms: usize,
    inner: RowPattern,
    /// Place of every declared entry of $K$ in its rows, and the values there.
    places: Vec<usize>,
    values: Vec<f64>,
    /// Freedoms that meet row $i$ of $K T$.
    products: RowPattern,
    row: Vec<f64>,
    /// Place of every product in `result`, in the order in which they are formed; none where it is dense.
    slots: Option<Vec<u32>>,
    result: Vec<f64>,
    system: LinearSystem,
}

/// Share of entries above which a matrix is written out in full.
const CROWDED: f64 = 0.4;

impl Congruence {
    /// The product for $K$ with the declared `entries` and $P$, $T$ with the pattern `basis`.
    pub(super) fn new(
        entries: &[(usize, usize)],
        basis: &RowPattern,
        freedoms: usize,
    ) -> Result<Self, LinearError> {
        let n = basis.starts.len() - 1;
        let (inner, places) = RowPattern::new(n, entries);
        let products = inner.reach(basis, freedoms);
        let meetings = |i: usize| {
            let (left, right) =
                (&basis.columns[basis.span(i)], &products.columns[products.span(i)]);
            left.iter().flat_map(move |&a| right.iter().map(move |&b| (a, b)))
        };
        let pattern = met(basis, &products, freedoms);
        let count = pattern.len();
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let crowded = count as f64 > CROWDED * (freedoms * freedoms) as f64;
        let (slots, system, size);
        if crowded {
            (slots, size) = (None, freedoms * freedoms);
            system = LinearSystem::dense(freedoms);
        } else {
            system = LinearSystem::new(freedoms, &pattern, Structure::General)?;
            let mut starts = vec![0; freedoms + 1];
            for &(a, _) in &pattern {
                starts[a + 1] += 1;
            }
            for a in 0..freedoms {
                starts[a + 1] += starts[a];
            }
            let place = |(a, b): (usize, usize)| {
                let row = &pattern[starts[a]..starts[a + 1]];
                starts[a] + row.partition_point(|e| e.1 < b)
            };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a sparse matrix has fewer entries"
            )]
            let list: Vec<u32> = (0..n).flat_map(meetings).map(|e| place(e) as u32).collect();
            (slots, size) = (Some(list), pattern.len());
        }
        Ok(Self {
            freedoms,
            values: vec![0.0; inner.len()],
            inner,
            places,
            products,
            row: vec![0.0; freedoms],
            slots,
            result: vec![0.0; size],
            system,
        })
    }

    /// Sets $K$ from its declared entries; duplicates add up.
    pub(super) fn set(&mut self, entries: impl Iterator<Item = f64>) {
        self.values.fill(0.0);
        for (&place, value) in self.places.iter().zip(entries) {
            self.values[place] += value;
        }
    }

    /// Forms and factorises $P^\top K\\,T$ for the values of $P$ (`left`) and $T$ (`right`).
    pub(super) fn factorise(
        &mut self,
        basis: &RowPattern,
        left: &[f64],
        right: &[f64],
    ) -> Result<(), LinearError> {
        self.result.fill(0.0);
        let n = self.inner.starts.len() - 1;
        let mut at = 0;
        for i in 0..n {
            let reached = &self.products.columns[self.products.span(i)];
            for &b in reached {
                self.row[b] = 0.0;
            }
            for (j, k) in self.inner.row(i, &self.values) {
                if k != 0.0 {
                    basis.row(j, right).for_each(|(b, t)| self.row[b] += k * t);
                }
            }
            for (a, p) in basis.row(i, left) {
                match &self.slots {
                    None => {
                        let result = &mut self.result[a * self.freedoms..];
                        for &b in reached {
                            result[b] += p * self.row[b];
                        }
                    }
                    Some(slots) => {
                        let slots = &slots[at..at + reached.len()];
                        at += reached.len();
                        for (&slot, &b) in slots.iter().zip(reached) {
                            self.result[slot as usize] += p * self.row[b];
                        }
                    }
                }
            }
        }
        self.system.factorise(&self.result)
    }

    /// Solves with the last factorisation, in place.
    pub(super) fn solve(&mut self, x: &mut [f64]) -> Result<(), LinearError> {
        self.system.solve_in_place(x)
    }
}

/// The pairs of freedoms that meet in some coordinate, in order. One freedom after the other, each until it has met all: the list of
/// all meetings of a long chain would be cubic, a table of all pairs of a long beam quadratic.
fn met(basis: &RowPattern, products: &RowPattern, freedoms: usize) -> Vec<(usize, usize)> {
    let n = basis.starts.len() - 1;
    let mut moved: Vec<(usize, usize)> =
        (0..n).flat_map(|i| basis.columns[basis.span(i)].iter().map(move |&a| (a, i))).collect();
    moved.sort_unstable();
    let (mut seen_by, mut pattern) = (vec![usize::MAX; freedoms], Vec::new());
    for of_one in moved.chunk_by(|x, y| x.0 == y.0) {
        let (a, first) = (of_one[0].0, pattern.len());
        for &(_, i) in of_one {
            if pattern.len() - first == freedoms {
                break;
            }
            for &b in &products.columns[products.span(i)] {
                if seen_by[b] != a {
                    seen_by[b] = a;
                    pattern.push((a, b));
                }
            }
        }
        pattern[first..].sort_unstable();
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of numbers that follow no pattern.
    fn noise(seed: &mut u64) -> f64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = (*seed >> 11) as f64 / (1_u64 << 53) as f64;
        unit - 0.5
    }

    fn agrees_with_dense_algebra(n: usize, d: usize, reach: usize) {
        let mut seed = 7;
        let inner: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .filter(|&(i, j)| i.abs_diff(j) <= 1)
            .chain([(0, 0), (n - 1, n - 2)])
            .collect();
        let outer: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| (0..d).map(move |a| (i, a)))
            .filter(|&(i, a)| (i * d / n).abs_diff(a) <= reach)
            .collect();
        let k: Vec<f64> = inner.iter().map(|_| noise(&mut seed)).collect();
        let p: Vec<f64> = outer.iter().map(|_| noise(&mut seed)).collect();
        let t: Vec<f64> = outer.iter().map(|_| noise(&mut seed)).collect();
        let (basis, places) = RowPattern::new(n, &outer);
        assert!(places.iter().enumerate().all(|(i, &place)| i == place), "given in rows");
        let mut product = Congruence::new(&inner, &basis, d).unwrap();
        product.set(k.iter().copied());
        product.factorise(&basis, &p, &t).unwrap();
        let dense = |entries: &[(usize, usize)], values: &[f64], columns: usize| {
            let mut out = vec![0.0; n * columns];
            for (&(i, j), v) in entries.iter().zip(values) {
                out[i * columns + j] += v;
            }
            out
        };
        let (k, p, t) = (dense(&inner, &k, n), dense(&outer, &p, d), dense(&outer, &t, d));
        let x: Vec<f64> = (0..d).map(|_| noise(&mut seed)).collect();
        let mut b = vec![0.0; d];
        for (a, b) in b.iter_mut().enumerate() {
            for i in 0..n {
                for j in 0..n {
                    for c in 0..d {
                        *b += p[i * d + a] * k[i * n + j] * t[j * d + c] * x[c];
                    }
                }
            }
        }
        product.solve(&mut b).unwrap();
        for (a, b) in x.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9, "{a} against {b}");
        }
    }

    #[test]
    fn sparse_and_crowded_products_agree_with_dense_algebra() {
        agrees_with_dense_algebra(12, 5, 5);
        agrees_with_dense_algebra(60, 30, 1);
    }
}
