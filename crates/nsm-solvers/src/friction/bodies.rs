//! Newton's step solved for bodies instead of contacts.
//!
//! Contacts of a pile outnumber its bodies, and many of them are redundant: $W = GG^\top$ has three rows a contact, but only six columns of $G$ a
//! body. A system $(C + BWS)x = f$ with blocks $C$, $B$, $S$ of each contact on its own is, with $y = G^\top Sx$,
//! $$ (I + G^\top SC^{-1}B\\,G)\\,y = G^\top SC^{-1}f, \qquad x = C^{-1}(f - B\\,G y), $$
//! a matrix of $6 \times 6$ blocks between bodies that touch: smaller, and sparse where the pile is.

use super::blocks::Pattern;
use super::delassus::BodyRows;
use super::elimination::BodyLu;

type Three = [[f64; 3]; 3];

/// Rows of $G$ of every contact, and the pattern that they make between bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    rows: Vec<[Option<BodyRows>; 2]>,
    names: Vec<usize>,
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// Where the blocks of each contact lie: (a, a), (a, b), (b, a), (b, b).
    places: Vec<[usize; 4]>,
    pairs: Vec<(usize, usize)>,
}

impl Bodies {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.names.clear();
    }

    /// Takes the rows of some contacts.
    pub(super) fn take(&mut self, factors: &[[Option<BodyRows>; 2]], chosen: &[usize]) {
        self.clear();
        if factors.is_empty() {
            return;
        }
        self.rows.extend(chosen.iter().map(|&i| factors[i]));
        self.names.extend(self.rows.iter().flatten().flatten().map(|rows| rows.0));
        self.names.sort_unstable();
        self.names.dedup();
        let names = &self.names;
        for rows in self.rows.iter_mut().flatten().flatten() {
            rows.0 = names.binary_search(&rows.0).unwrap_or_default();
        }
        self.pairs.clear();
        self.pairs.extend((0..names.len()).map(|b| (b, b)));
        for [first, second] in &self.rows {
            if let (Some(a), Some(b)) = (first, second) {
                self.pairs.extend([(a.0, b.0), (b.0, a.0)]);
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.starts.clear();
        self.starts.resize(names.len() + 1, 0);
        self.columns.clear();
        for &(a, b) in &self.pairs {
            self.starts[a + 1] += 1;
            self.columns.push(b);
        }
        for a in 0..names.len() {
            self.starts[a + 1] += self.starts[a];
        }
        let pairs = &self.pairs;
        let at = |a: usize, b: usize| pairs.binary_search(&(a, b)).unwrap_or_default();
        self.places.clear();
        self.places.extend(self.rows.iter().map(|rows| {
            let [a, b] = rows.map(|rows| rows.map_or(0, |rows| rows.0));
            [at(a, a), at(a, b), at(b, a), at(b, b)]
        }));
    }

    /// Scales the rows of every contact.
    pub(super) fn scale(&mut self, scale: &[f64]) {
        for (rows, s) in self.rows.iter_mut().zip(scale) {
            for rows in rows.iter_mut().flatten() {
                rows.1.iter_mut().for_each(|x| *x *= s);
            }
        }
    }

    /// Whether a system for bodies is smaller than one for `n` contacts.
    pub(super) fn pay(&self, n: usize) -> bool {
        self.rows.len() == n && n > FEW && self.names.len() <= n
    }
}

/// Contacts up to which a system for them is as quick.
const FEW: usize = 8;

/// The system, with its storage.
#[derive(Clone, Debug, Default)]
pub(super) struct BodySystem {
    lu: BodyLu,
    blocks: Vec<[f64; 36]>,
    /// $C^{-1}$, $C^{-1}B$ and the diagonal of $S$ of each contact.
    inverses: Vec<(Three, Three, [f64; 3])>,
    y: Vec<f64>,
}

impl BodySystem {
    /// Factorises $I + G^\top SC^{-1}B\\,G$ with $C^{-1}$, $B$ and the diagonal of $S$ of every contact; whether that went well.
    pub(super) fn factor(
        &mut self,
        bodies: &Bodies,
        contact: impl Fn(usize) -> Option<(Three, Three, [f64; 3])>,
    ) -> bool {
        self.inverses.clear();
        self.blocks.clear();
        self.blocks.resize(bodies.columns.len(), [0.0; 36]);
        for a in 0..bodies.names.len() {
            let row = bodies.starts[a]..bodies.starts[a + 1];
            let own = bodies.columns[row.clone()].binary_search(&a).unwrap_or_default();
            for k in 0..6 {
                self.blocks[row.start + own][7 * k] = 1.0;
            }
        }
        for (i, (rows, places)) in bodies.rows.iter().zip(&bodies.places).enumerate() {
            let Some((inverse, b, s)) = contact(i) else { return false };
            let back = times(&inverse, &b);
            let d = std::array::from_fn(|a| back[a].map(|x| s[a] * x));
            self.inverses.push((inverse, back, s));
            for (first, left) in rows.iter().enumerate() {
                let Some((_, left)) = left else { continue };
                for (second, right) in rows.iter().enumerate() {
                    let Some((_, right)) = right else { continue };
                    add_congruence(&mut self.blocks[places[2 * first + second]], left, &d, right);
                }
            }
        }
        let pattern = Pattern { size: 6, starts: &bodies.starts, columns: &bodies.columns };
        self.lu.factor(&pattern, &self.blocks)
    }

    /// Solves in place; whether that went well.
    pub(super) fn solve(&mut self, bodies: &Bodies, x: &mut [f64]) -> bool {
        self.y.clear();
        self.y.resize(6 * bodies.names.len(), 0.0);
        for (i, (rows, (inverse, _, s))) in bodies.rows.iter().zip(&self.inverses).enumerate() {
            let f = apply(inverse, &x[3 * i..3 * i + 3]);
            x[3 * i..3 * i + 3].copy_from_slice(&f);
            let f: [f64; 3] = std::array::from_fn(|a| s[a] * f[a]);
            for (body, g) in rows.iter().flatten() {
                for k in 0..6 {
                    self.y[6 * body + k] += g[k] * f[0] + g[6 + k] * f[1] + g[12 + k] * f[2];
                }
            }
        }
        if !self.lu.solve(&mut self.y) {
            return false;
        }
        for (i, (rows, (_, back, _))) in bodies.rows.iter().zip(&self.inverses).enumerate() {
            let mut u = [0.0; 3];
            for (body, g) in rows.iter().flatten() {
                let y = &self.y[6 * body..6 * body + 6];
                for (a, u) in u.iter_mut().enumerate() {
                    *u += (0..6).map(|k| g[6 * a + k] * y[k]).sum::<f64>();
                }
            }
            let back = apply(back, &u);
            for a in 0..3 {
                x[3 * i + a] -= back[a];
            }
        }
        true
    }
}

/// Adds $L^\top D R$ of two $3 \times 6$ blocks.
fn add_congruence(out: &mut [f64; 36], left: &[f64; 18], d: &Three, right: &[f64; 18]) {
    let mut middle = [0.0; 18];
    for a in 0..3 {
        for k in 0..6 {
            middle[6 * a + k] =
                d[a][0] * right[k] + d[a][1] * right[6 + k] + d[a][2] * right[12 + k];
        }
    }
    for j in 0..6 {
        for k in 0..6 {
            out[6 * j + k] +=
                left[j] * middle[k] + left[6 + j] * middle[6 + k] + left[12 + j] * middle[12 + k];
        }
    }
}

fn apply(a: &Three, x: &[f64]) -> [f64; 3] {
    std::array::from_fn(|i| a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2])
}

fn times(a: &Three, b: &Three) -> Three {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j])
    })
}

/// The inverse by cofactors.
pub(super) fn inverse(a: &Three) -> Option<Three> {
    let minor = |i: usize, j: usize| {
        let (p, q, r, s) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        a[p][r] * a[q][s] - a[p][s] * a[q][r]
    };
    let determinant = (0..3).map(|j| a[0][j] * minor(0, j)).sum::<f64>();
    if determinant == 0.0 || !determinant.is_finite() {
        return None;
    }
    Some(std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) / determinant)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{Delassus, FrictionProblem};

    /// Contacts of a chain of bodies, three between neighbours and one across, so that its elimination fills in, with rows of $G$ that no symmetry
    /// makes simple.
    fn chain(bodies: usize) -> (Delassus, Vec<[Option<BodyRows>; 2]>) {
        let mut seed = 1_u64;
        let mut number = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut rows = Vec::new();
        for b in 0..bodies {
            for k in 0..4 {
                let mut block = || std::array::from_fn(|_| number());
                let below = (b > 0).then(|| (if k < 3 { b - 1 } else { b / 3 }, block()));
                rows.push([below, Some((b, block()))]);
            }
        }
        let mut w = Delassus::default();
        w.clear();
        for first in &rows {
            w.push_factors(*first);
            for (j, second) in rows.iter().enumerate() {
                let (mut block, mut shared) = ([0.0; 9], false);
                for (a, g) in first.iter().flatten() {
                    for (b, f) in second.iter().flatten().filter(|s| s.0 == *a) {
                        shared |= a == b;
                        for (k, x) in block.iter_mut().enumerate() {
                            *x += (0..6)
                                .map(|c| g[6 * (k / 3) + c] * f[6 * (k % 3) + c])
                                .sum::<f64>();
                        }
                    }
                }
                if shared {
                    w.push(j, block);
                }
            }
            w.end_row();
        }
        (w, rows)
    }

    #[test]
    fn a_system_for_bodies_has_the_solution_of_the_one_for_contacts() {
        for bodies in [3, 40] {
            let (w, rows) = chain(bodies);
            let n = rows.len();
            let (q, mu) = (vec![-1.0; 3 * n], vec![0.5; n]);
            let chosen: Vec<usize> = (0..n).collect();
            let mut problem = FrictionProblem::default();
            problem.assemble(&w, &chosen, &q, &mu).unwrap();
            assert!(problem.bodies.pay(n));
            let own = |i: usize| {
                let c = 0.1 + (i % 7) as f64;
                let b = [[1.0, 0.0, 0.0], [0.3, 0.9, 0.1], [-0.2, 0.1, 0.8]];
                ([[c, 0.0, 0.0], [0.1, c, 0.2], [0.0, -0.1, c]], b, [1.0, 0.5, 2.0])
            };
            let f: Vec<f64> = (0..3 * n).map(|k| (k as f64).sin()).collect();
            let mut system = BodySystem::default();
            assert!(system.factor(&problem.bodies, |i| {
                let (c, b, s) = own(i);
                inverse(&c).map(|c| (c, b, s))
            }));
            let mut x = f.clone();
            assert!(system.solve(&problem.bodies, &mut x));
            // By its definition: C x + B W S x = f, with the W of contacts.
            let scaled: Vec<f64> = (0..3 * n).map(|k| own(k / 3).2[k % 3] * x[k]).collect();
            let mut worst = 0.0_f64;
            for i in 0..n {
                let (c, b, _) = own(i);
                let mut u = [0.0; 3];
                problem.add_row(i, &scaled, &mut u);
                let (own, back) = (apply(&c, &x[3 * i..]), apply(&b, &u));
                for a in 0..3 {
                    worst = worst.max((own[a] + back[a] - f[3 * i + a]).abs());
                }
            }
            assert!(worst < 1e-11, "{bodies} bodies: {worst:e}");
        }
    }
}
