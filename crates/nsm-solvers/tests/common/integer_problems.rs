//! Complementarity problems in small integers, and the exact answer to whether they have a solution.
#![allow(dead_code, missing_docs, unreachable_pub)]

use nsm_solvers::lcp::LcpError;
use num_bigint::BigInt;
use num_traits::{Num, Signed};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// What a solve returned, the answer judged in the units of the integers.
pub enum Outcome {
    /// The natural residual.
    Solved(f64),
    /// A claim that there is no solution, for these numbers.
    Claimed { m: Vec<f64>, q: Vec<f64>, error: LcpError },
    /// Any other error.
    Refused(LcpError),
}

/// Classes of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Unsymmetric,
    Symmetric,
    Semidefinite,
    Definite,
    /// Strictly diagonally dominant: a P-matrix.
    Dominant,
    /// Off-diagonal entries not positive.
    Z,
    /// Weakly diagonally dominant and Z.
    M,
    /// Entries not negative, or a sum of such and a semidefinite matrix.
    Copositive,
    Tridiagonal,
    /// Two players: zero diagonal blocks.
    Bimatrix,
}

pub fn classes() -> [Class; 10] {
    use Class::*;
    [
        Unsymmetric,
        Symmetric,
        Semidefinite,
        Definite,
        Dominant,
        Z,
        M,
        Copositive,
        Tridiagonal,
        Bimatrix,
    ]
}

/// A problem by rows.
#[derive(Debug, Clone)]
pub struct IntegerProblem {
    pub n: usize,
    pub m: Vec<i128>,
    pub q: Vec<i128>,
    pub class: Class,
}

impl IntegerProblem {
    pub fn random(class: Class, n: usize, rng: &mut Pcg64Mcg) -> Self {
        let mut m = vec![0; n * n];
        let mut draw = |low: i128, high: i128| rng.random_range(low..=high);
        match class {
            Class::Unsymmetric => m.iter_mut().for_each(|v| *v = draw(-3, 3)),
            Class::Symmetric | Class::Tridiagonal => {
                for i in 0..n {
                    for j in 0..=i {
                        let v = match class {
                            Class::Tridiagonal if i > j + 1 => 0,
                            Class::Tridiagonal if i > j => draw(-2, 0),
                            Class::Tridiagonal => draw(-1, 4),
                            _ => draw(-3, 3),
                        };
                        (m[i * n + j], m[j * n + i]) = (v, v);
                    }
                }
            }
            Class::Semidefinite | Class::Definite | Class::Copositive => {
                let rank = usize::try_from(draw(1, n as i128)).unwrap();
                let b: Vec<i128> = (0..rank * n).map(|_| draw(-2, 2)).collect();
                for i in 0..n {
                    for j in 0..n {
                        m[i * n + j] = (0..rank).map(|r| b[r * n + i] * b[r * n + j]).sum();
                        if class == Class::Copositive {
                            m[i * n + j] += draw(0, 2);
                        } else if class == Class::Definite && i == j {
                            m[i * n + j] += 1;
                        }
                    }
                }
            }
            Class::Dominant | Class::Z | Class::M | Class::Bimatrix => {
                for i in 0..n {
                    for j in 0..n {
                        let other = i != j;
                        m[i * n + j] = match class {
                            Class::Dominant if other => draw(-2, 2),
                            Class::Z | Class::M if other => draw(-2, 0),
                            Class::Z => draw(-1, 4),
                            Class::Bimatrix if (i < n / 2) != (j < n / 2) => {
                                if i < j {
                                    draw(1, 4)
                                } else {
                                    draw(-4, 2)
                                }
                            }
                            _ => 0,
                        };
                    }
                    let sum: i128 = (0..n).map(|j| m[i * n + j].abs()).sum();
                    match class {
                        Class::Dominant => m[i * (n + 1)] = sum + 1,
                        Class::M => m[i * (n + 1)] = sum,
                        _ => {}
                    }
                }
            }
        }
        let planted = draw(0, 2) == 0;
        let mut q: Vec<i128> = (0..n).map(|_| draw(-4, 4)).collect();
        if planted {
            let z: Vec<i128> = (0..n).map(|_| draw(-2, 2)).collect();
            for i in 0..n {
                let mz: i128 = (0..n).map(|j| m[i * n + j] * z[j].max(0)).sum();
                q[i] = (-z[i]).max(0) - mz;
            }
        }
        Self { n, m, q, class }
    }
}

/// $\max_i |\min(\hat z_i, \hat w_i)| / \max_i |\hat q_i|$ with $\hat z = Cz$ and $\hat w = R^{-1}w$; $w$ in twice the working precision.
pub fn residual(n: usize, m: &[f64], q: &[f64], z: &[f64], row: &[f64], column: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    let mut scale = 0.0_f64;
    for i in 0..n {
        assert!(z[i] >= 0.0);
        let (mut w, mut low) = (q[i], 0.0);
        for j in 0..n {
            let product = m[i * n + j] * z[j];
            let sum = w + product;
            let part = sum - w;
            low += m[i * n + j].mul_add(z[j], -product) + (w - (sum - part)) + (product - part);
            w = sum;
        }
        let value = (z[i] * column[i]).min((w + low) / row[i]).abs();
        assert!(value.is_finite());
        worst = worst.max(value);
        scale = scale.max((q[i] / row[i]).abs());
    }
    if scale > 0.0 { worst / scale } else { worst }
}

/// The same multiple of every double between $10^{-40}$ and $10^{40}$, an integer.
pub fn scaled_integer(v: f64) -> BigInt {
    let bits = v.to_bits();
    let biased = i64::try_from((bits >> 52) & 0x7ff).unwrap();
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    let magnitude = BigInt::from(mantissa);
    let shift = exponent + 400;
    let shifted = if shift >= 0 {
        magnitude << usize::try_from(shift).unwrap()
    } else {
        assert_eq!(v, 0.0);
        magnitude
    };
    if v < 0.0 { -shifted } else { shifted }
}

/// Whether $0 \le z \perp Mz + q \ge 0$ has a solution.
pub fn is_solvable<T: Num + Signed + Clone>(n: usize, m: &[T], q: &[T]) -> bool {
    let mut singular = false;
    for set in 0..1_usize << n {
        let columns: Vec<usize> =
            (0..n).map(|j| if set >> j & 1 == 1 { j } else { n + j }).collect();
        match combination(n, m, q, &columns) {
            Some(true) => return true,
            Some(false) => {}
            None => singular = true,
        }
    }
    // Independent columns of the singular cones: every index gives its z, its w or neither.
    singular
        && (0..3_usize.pow(u32::try_from(n).unwrap())).any(|code| {
            let mut rest = code;
            let mut columns = Vec::new();
            for j in 0..n {
                match rest % 3 {
                    0 => columns.push(j),
                    1 => columns.push(n + j),
                    _ => {}
                }
                rest /= 3;
            }
            columns.len() < n && combination(n, m, q, &columns) == Some(true)
        })
}

/// Whether $q$ is a non-negative combination of the columns, $-M_{:,j}$ for $j < n$ and $e_{j-n}$ for the others; nothing if they
/// are dependent. By elimination without fractions (Bareiss).
fn combination<T: Num + Signed + Clone>(
    n: usize,
    m: &[T],
    q: &[T],
    columns: &[usize],
) -> Option<bool> {
    let k = columns.len();
    let mut a: Vec<Vec<T>> = (0..n)
        .map(|i| {
            let entry = |&c: &usize| match c {
                c if c < n => T::zero() - m[i * n + c].clone(),
                c if c - n == i => T::one(),
                _ => T::zero(),
            };
            columns.iter().map(entry).chain([q[i].clone()]).collect()
        })
        .collect();
    let mut before = T::one();
    for c in 0..k {
        let pivot = (c..n).find(|&r| !a[r][c].is_zero())?;
        a.swap(c, pivot);
        for r in 0..n {
            if r != c {
                for t in c + 1..=k {
                    let value =
                        a[c][c].clone() * a[r][t].clone() - a[r][c].clone() * a[c][t].clone();
                    a[r][t] = value / before.clone();
                }
                a[r][c] = T::zero();
            }
        }
        before = a[c][c].clone();
    }
    let consistent = (k..n).all(|r| a[r][k].is_zero());
    let sign = if before.is_negative() { T::zero() - T::one() } else { T::one() };
    Some(consistent && (0..k).all(|r| !(a[r][k].clone() * sign.clone()).is_negative()))
}
