//! Signs of sums of products without any rounding.
//!
//! A product of two doubles is a multiple of $2^{-2148}$ below $2^{2048}$; a fixed-point number that spans this range adds
//! products exactly [Kulisch 2013]. It decides whether a claimed proof is one.

use core::cmp::Ordering;

const LIMBS: usize = 136;

/// Exponent of the lowest bit.
const LOWEST: i32 = -2148;

/// An exact sum of products, in digits of 32 bits with room for carries.
pub(crate) struct ExactSum {
    digits: [i64; LIMBS],
}

impl ExactSum {
    pub(crate) fn new() -> Self {
        Self { digits: [0; LIMBS] }
    }

    /// Adds $ab$; both must be finite, and fewer than $2^{30}$ products fit.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let ((ma, ea), (mb, eb)) = (parts(a), parts(b));
        if ma == 0 || mb == 0 {
            return;
        }
        let negative = (a < 0.0) != (b < 0.0);
        let product = u128::from(ma) * u128::from(mb);
        let position = usize::try_from(ea + eb - LOWEST).unwrap_or(0);
        let (limb, bit) = (position / 32, position % 32);
        self.add((product & u128::from(u64::MAX)) << bit, limb, negative);
        self.add((product >> 64) << bit, limb + 2, negative);
    }

    fn add(&mut self, mut value: u128, mut limb: usize, negative: bool) {
        while value != 0 {
            let digit = i64::from(u32::try_from(value & 0xffff_ffff).unwrap_or(0));
            self.digits[limb] += if negative { -digit } else { digit };
            value >>= 32;
            limb += 1;
        }
    }

    /// The sum compared with zero.
    pub(crate) fn sign(&self) -> Ordering {
        let mut carry = 0;
        let mut zero = true;
        for digit in self.digits {
            let sum = digit + carry;
            carry = sum >> 32;
            zero &= sum.trailing_zeros() >= 32;
        }
        match carry {
            0 if zero => Ordering::Equal,
            c if c < 0 => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
}

/// $|v| = m 2^e$ with an integer $m$.
fn parts(v: f64) -> (u64, i32) {
    let bits = v.to_bits();
    let biased = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) }
}

/// The sign of $\sum_i a_i b_i$.
pub(crate) fn sign_of_sum(products: impl Iterator<Item = (f64, f64)>) -> Ordering {
    let mut sum = ExactSum::new();
    products.for_each(|(a, b)| sum.add_product(a, b));
    sum.sign()
}

/// Integers proportional to `d`, if there are small ones: null vectors of matrices with simple entries are of this kind.
/// `attempt` is called with each candidate until it says that the proof holds.
pub(crate) fn snap(
    d: &[f64],
    integers: &mut [f64],
    mut attempt: impl FnMut(&[f64]) -> bool,
) -> bool {
    const LARGEST: u32 = 4096;
    const CANDIDATES: usize = 4;
    let largest = d.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut tried = 0;
    for k in 1..=LARGEST {
        let factor = f64::from(k) / largest;
        let fits = integers.iter_mut().zip(d).all(|(n, d)| {
            let value = d * factor;
            *n = value.round();
            (value - *n).abs() < 1e-4
        });
        if fits {
            if attempt(integers) {
                return true;
            }
            tried += 1;
            if tried == CANDIDATES {
                break;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_survive_cancellation_over_the_whole_range() {
        let tiny = f64::from_bits(1);
        let terms = [(1e308, 1e308), (tiny, tiny), (-1e308, 1e308)];
        assert_eq!(sign_of_sum(terms.into_iter()), Ordering::Greater);
        let terms = [(1e308, 1e308), (-tiny, tiny), (-1e308, 1e308)];
        assert_eq!(sign_of_sum(terms.into_iter()), Ordering::Less);
        assert_eq!(sign_of_sum([(0.1, 10.0), (-1.0, 1.0)].into_iter()), Ordering::Greater);
        assert_eq!(sign_of_sum([(0.5, 2.0), (-1.0, 1.0)].into_iter()), Ordering::Equal);
        assert_eq!(sign_of_sum(core::iter::empty()), Ordering::Equal);
    }
}
