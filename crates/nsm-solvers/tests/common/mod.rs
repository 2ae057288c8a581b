//! Random matrices of prescribed rank and scaling, from a seed.
#![allow(dead_code, reason = "each test binary uses its own share of these helpers")]

pub(crate) mod beam;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64Mcg;

/// Sizes around every switch of kernels.
pub(crate) const SIZES: [usize; 11] = [1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 128];

pub(crate) fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

pub(crate) fn normal(rng: &mut Pcg64Mcg, len: usize) -> Vec<f64> {
    (0..len).map(|_| rng.sample(StandardNormal)).collect()
}

/// Row-major `m` × `n` product of normal factors: rank `r` with probability one.
pub(crate) fn of_rank(rng: &mut Pcg64Mcg, m: usize, n: usize, r: usize) -> Vec<f64> {
    let (a, b) = (normal(rng, m * r), normal(rng, r * n));
    product(m, r, n, &a, &b)
}

pub(crate) fn product(m: usize, k: usize, n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        for l in 0..k {
            for j in 0..n {
                c[i * n + j] += a[i * k + l] * b[l * n + j];
            }
        }
    }
    c
}

pub(crate) fn transpose(m: usize, n: usize, a: &[f64]) -> Vec<f64> {
    let mut t = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            t[j * m + i] = a[i * n + j];
        }
    }
    t
}

/// `A Aᵀ + shift I`.
pub(crate) fn gram(m: usize, n: usize, a: &[f64], shift: f64) -> Vec<f64> {
    let mut c = product(m, n, m, a, &transpose(m, n, a));
    for i in 0..m {
        c[i * m + i] += shift;
    }
    c
}

pub(crate) fn multiply(m: usize, n: usize, a: &[f64], x: &[f64]) -> Vec<f64> {
    product(m, n, 1, a, x)
}

pub(crate) fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| if v.is_nan() { f64::NAN } else { v.abs().max(m) })
}

pub(crate) fn distance(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter()
        .zip(y)
        .fold(0.0, |m, (a, b)| if (a - b).is_nan() { f64::NAN } else { (a - b).abs().max(m) })
}

/// Normwise backward error `|Ax − b| / (|A||x| + |b|)` in the maximum norm.
pub(crate) fn backward_error(n: usize, a: &[f64], x: &[f64], b: &[f64]) -> f64 {
    let row_sum = (0..n)
        .map(|i| a[i * n..(i + 1) * n].iter().map(|v| v.abs()).sum::<f64>())
        .fold(0.0, f64::max);
    distance(&multiply(n, n, a, x), b) / (row_sum * max_abs(x) + max_abs(b))
}
