//! The problem families of the solver comparison, from a seed; shared by tests and benches.
//!
//! * `spd`: $M = AA^\top/n + 0.1 I$, $A$ and $q$ standard normal.
//! * `chain`: $n-1$ beads between two walls, all gaps closed, $M = H \mathrm{diag}(1/m) H^\top$,
//!   $q = 2Hv$; tridiagonal, rank $n-1$.
//! * `stack`: a tower of $n/4$ frictionless boxes, four corner contacts per interface, rank $3n/4$.
//! * `pile`: a face-centred block of touching unit-diameter spheres on a floor.
#![allow(dead_code, missing_docs, unreachable_pub)]

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64Mcg;

pub type Rng = Pcg64Mcg;

pub fn rng(seed: u64) -> Rng {
    Pcg64Mcg::seed_from_u64(seed)
}

pub fn normal(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

pub fn uniform(rng: &mut Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low..high)
}

/// A dense LCP, row by row.
#[derive(Clone)]
pub struct DenseProblem {
    pub n: usize,
    pub m: Vec<f64>,
    pub q: Vec<f64>,
}

/// A contact problem by its rows $H = G^\top$, the diagonal of the inverse mass and the velocity.
#[derive(Clone)]
pub struct Contacts {
    pub row_start: Vec<usize>,
    pub columns: Vec<usize>,
    pub values: Vec<f64>,
    pub inverse_mass: Vec<f64>,
    pub velocity: Vec<f64>,
    pub q: Vec<f64>,
}

impl Contacts {
    fn new(
        rows: &[Vec<(usize, f64)>],
        inverse_mass: Vec<f64>,
        velocity: Vec<f64>,
        factor: f64,
    ) -> Self {
        let mut row_start = vec![0];
        let (mut columns, mut values, mut q) = (vec![], vec![], vec![]);
        for row in rows {
            columns.extend(row.iter().map(|e| e.0));
            values.extend(row.iter().map(|e| e.1));
            row_start.push(columns.len());
            q.push(factor * row.iter().map(|&(c, v)| v * velocity[c]).sum::<f64>());
        }
        Self { row_start, columns, values, inverse_mass, velocity, q }
    }

    pub fn n(&self) -> usize {
        self.q.len()
    }

    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        (self.row_start[i]..self.row_start[i + 1]).map(|k| (self.columns[k], self.values[k]))
    }

    /// $M = HWH^\top$, written out.
    pub fn dense(&self) -> DenseProblem {
        let n = self.n();
        let mut m = vec![0.0; n * n];
        let mut spread = vec![0.0; self.inverse_mass.len()];
        for j in 0..n {
            for (c, v) in self.row(j) {
                spread[c] = v * self.inverse_mass[c];
            }
            for i in 0..n {
                m[j * n + i] = self.row(i).map(|(c, v)| v * spread[c]).sum();
            }
            for (c, _) in self.row(j) {
                spread[c] = 0.0;
            }
        }
        DenseProblem { n, m, q: self.q.clone() }
    }
}

pub fn spd(n: usize, seed: u64) -> DenseProblem {
    let mut rng = rng(seed);
    let a: Vec<f64> = (0..n * n).map(|_| normal(&mut rng)).collect();
    let mut m = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..=j {
            let dot: f64 = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
            m[j * n + i] = dot / n as f64;
            m[i * n + j] = dot / n as f64;
        }
        m[j * n + j] += 0.1;
    }
    let q = (0..n).map(|_| normal(&mut rng)).collect();
    DenseProblem { n, m, q }
}

pub fn chain(n: usize, seed: u64) -> Contacts {
    let mut rng = rng(seed);
    let beads = n - 1;
    let inverse_mass = (0..beads).map(|_| 1.0 / uniform(&mut rng, 0.5, 2.0)).collect();
    let velocity = (0..beads).map(|_| normal(&mut rng)).collect();
    let mut rows = vec![vec![(0, 1.0)]];
    rows.extend((1..beads).map(|i| vec![(i - 1, -1.0), (i, 1.0)]));
    rows.push(vec![(beads - 1, -1.0)]);
    Contacts::new(&rows, inverse_mass, velocity, 2.0)
}

pub fn stack(n: usize, seed: u64) -> Contacts {
    let mut rng = rng(seed);
    let boxes = n / 4;
    let (a, b, c) = (0.5, 0.4, 0.3);
    let inertia = [(b * b + c * c) / 3.0, (a * a + c * c) / 3.0, (a * a + b * b) / 3.0];
    let mut inverse_mass = vec![];
    let mut velocity = vec![];
    for _ in 0..boxes {
        inverse_mass.extend([1.0, 1.0, 1.0, 1.0 / inertia[0], 1.0 / inertia[1], 1.0 / inertia[2]]);
        for k in 0..6 {
            velocity.push(0.05 * normal(&mut rng) - if k == 2 { 0.0981 } else { 0.0 });
        }
    }
    let mut rows = vec![];
    for k in 0..boxes {
        for (x, y) in [(a, b), (a, -b), (-a, b), (-a, -b)] {
            let mut row = vec![];
            if k > 0 {
                row.extend([(6 * k - 4, -1.0), (6 * k - 3, -y), (6 * k - 2, x)]);
            }
            row.extend([(6 * k + 2, 1.0), (6 * k + 3, y), (6 * k + 4, -x)]);
            rows.push(row);
        }
    }
    Contacts::new(&rows, inverse_mass, velocity, 1.0)
}

pub fn pile(n: usize, seed: u64) -> Contacts {
    let mut rng = rng(seed);
    let mut side = 2;
    loop {
        let (spheres, rows) = pile_rows(side);
        if rows.len() >= n {
            let rows = &rows[..n];
            let velocity = (0..3 * spheres)
                .map(|k| 0.05 * normal(&mut rng) - if k % 3 == 2 { 0.0981 } else { 0.0 })
                .collect();
            return Contacts::new(rows, vec![1.0; 3 * spheres], velocity, 1.0);
        }
        side += 1;
    }
}

/// Spheres by layers from the floor up; a contact belongs to the upper or later sphere.
fn pile_rows(side: usize) -> (usize, Vec<Vec<(usize, f64)>>) {
    let mut centres: Vec<[f64; 3]> = vec![];
    let mut rows = vec![];
    for layer in 0..side {
        let shift = if layer % 2 == 0 { 0.0 } else { 0.5 };
        for i in 0..side {
            for j in 0..side {
                let x = [i as f64 + shift, j as f64 + shift, 0.5 + layer as f64 / 2.0_f64.sqrt()];
                let me = centres.len();
                if layer == 0 {
                    rows.push(vec![(3 * me + 2, 1.0)]);
                }
                for (other, y) in centres.iter().enumerate() {
                    let d = [x[0] - y[0], x[1] - y[1], x[2] - y[2]];
                    if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1.0).abs() < 1e-9 {
                        let mut row = vec![];
                        for (k, &dk) in d.iter().enumerate() {
                            if dk != 0.0 {
                                row.push((3 * other + k, -dk));
                            }
                        }
                        for (k, &dk) in d.iter().enumerate() {
                            if dk != 0.0 {
                                row.push((3 * me + k, dk));
                            }
                        }
                        rows.push(row);
                    }
                }
                centres.push(x);
            }
        }
    }
    (centres.len(), rows)
}

/// $\max_i|\min(z_i, (Mz+q)_i)| / \max_i|q_i|$, computed apart from the library.
pub fn residual(p: &DenseProblem, z: &[f64]) -> f64 {
    let mut w = p.q.clone();
    for j in 0..p.n {
        for i in 0..p.n {
            w[i] += p.m[i * p.n + j] * z[j];
        }
    }
    let scale = p.q.iter().fold(0.0_f64, |s, v| s.max(v.abs()));
    let worst = z.iter().zip(&w).fold(0.0_f64, |s, (&z, &w)| s.max(z.min(w).abs()));
    if scale > 0.0 { worst / scale } else { worst }
}

/// $M = B^\top B$ with `rank` rows of $B$, and $q = B^\top b$, so that a solution exists.
pub fn psd(n: usize, rank: usize, rng: &mut Rng) -> DenseProblem {
    let b: Vec<f64> = (0..n * rank).map(|_| normal(rng)).collect();
    let rhs: Vec<f64> = (0..rank).map(|_| normal(rng)).collect();
    let column = |j: usize| &b[j * rank..(j + 1) * rank];
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let mut m = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..n {
            m[j * n + i] = dot(column(i), column(j));
        }
    }
    let q = (0..n).map(|j| dot(column(j), &rhs)).collect();
    DenseProblem { n, m, q }
}
