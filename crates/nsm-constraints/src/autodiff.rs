//! Exact derivatives of a function that is written once.
//!
//! A user implements [`Expr::value`] for any [`Scalar`]; [`AutoDiff`] turns it into a [`Field`] by
//! running it over dual and hyper-dual numbers: one pass per coordinate for the gradient, one per
//! pair for the Hessian. The passes run on the block only, so cost does not grow with the system.

use num_dual::{Dual64, DualNum, HyperDual64};

use crate::{ConstraintError, Field};

/// A real number or a dual number over `f64`: what an [`Expr`] computes with.
pub trait Scalar: DualNum<Primitive = f64> + Copy {}
impl<T: DualNum<Primitive = f64> + Copy> Scalar for T {}

/// A function of its block and of time, written once for every [`Scalar`].
///
/// ```
/// use nsm_constraints::{AutoDiff, Expr, Field, Scalar};
///
/// /// Above the parabola $y = a x^2$.
/// struct Bowl { a: f64 }
/// impl Expr for Bowl {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
///         q[1] - q[0] * q[0] * self.a
///     }
/// }
///
/// let bowl = AutoDiff::new(Bowl { a: 0.5 }, &[0, 1])?;
/// let mut gradient = [0.0; 2];
/// bowl.gradient(&[3.0, 5.0], 0.0, &mut gradient);
/// assert_eq!(gradient, [-3.0, 1.0]);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
pub trait Expr: Send + Sync {
    /// Whether [`value`](Expr::value) uses `t`.
    const RHEONOMIC: bool = false;

    /// The function; `q` holds the block, in the order in which it was declared.
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T;

    /// Writes the gradient on the block and says so, where it is known at less cost than a pass per coordinate.
    fn slope(&self, _q: &[f64], _t: f64, _out: &mut [f64]) -> bool {
        false
    }
}

/// Largest block that is differentiated automatically; the numbers live on the stack.
pub const MAX_BLOCK: usize = 32;

/// An [`Expr`] on a block of coordinates, with derivatives by automatic differentiation.
#[derive(Clone, Debug)]
pub struct AutoDiff<E> {
    expr: E,
    coordinates: Vec<usize>,
}

impl<E: Expr> AutoDiff<E> {
    /// The function `expr` of the given coordinates.
    ///
    /// # Errors
    /// A repeated coordinate, or more than [`MAX_BLOCK`] of them: write such a function as a sum of
    /// terms on smaller blocks, or implement [`Field`] by hand.
    pub fn new(expr: E, coordinates: &[usize]) -> Result<Self, ConstraintError> {
        crate::check_block(coordinates)?;
        Ok(Self { expr, coordinates: coordinates.to_vec() })
    }

    /// The block of `q` as numbers of type `T`, constant in every direction.
    fn lift<T: Scalar>(&self, q: &[f64]) -> [T; MAX_BLOCK] {
        let mut block = [T::from(0.0); MAX_BLOCK];
        for (b, &c) in block.iter_mut().zip(&self.coordinates) {
            *b = T::from(q[c]);
        }
        block
    }

    fn size(&self) -> usize {
        self.coordinates.len()
    }
}

impl<E: Expr> Field for AutoDiff<E> {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], t: f64) -> f64 {
        self.expr.value(&self.lift::<f64>(q)[..self.size()], t)
    }

    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let n = self.size();
        if self.expr.slope(&self.lift::<f64>(q)[..n], t, &mut out[..n]) {
            return;
        }
        let mut block = self.lift::<Dual64>(q);
        for i in 0..n {
            block[i].eps = 1.0;
            out[i] = self.expr.value(&block[..n], Dual64::from(t)).eps;
            block[i].eps = 0.0;
        }
    }

    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
        let n = self.size();
        let mut block = self.lift::<HyperDual64>(q);
        for i in 0..n {
            block[i].eps1 = 1.0;
            for j in 0..=i {
                block[j].eps2 = 1.0;
                let second = self.expr.value(&block[..n], HyperDual64::from(t)).eps1eps2;
                block[j].eps2 = 0.0;
                out[i * n + j] += w * second;
                if i != j {
                    out[j * n + i] += w * second;
                }
            }
            block[i].eps1 = 0.0;
        }
    }

    /// One pass along the velocity.
    fn bend(&self, q: &[f64], t: f64, v: &[f64], _scratch: &mut [f64]) -> f64 {
        let mut block = self.lift::<HyperDual64>(q);
        for (b, &c) in block.iter_mut().zip(&self.coordinates) {
            (b.eps1, b.eps2) = (v[c], v[c]);
        }
        self.expr.value(&block[..self.size()], HyperDual64::from(t)).eps1eps2
    }

    fn is_rheonomic(&self) -> bool {
        E::RHEONOMIC
    }

    fn rate(&self, q: &[f64], t: f64) -> f64 {
        let block = self.lift::<Dual64>(q);
        self.expr.value(&block[..self.size()], Dual64::new(t, 1.0)).eps
    }

    fn rate_gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let n = self.size();
        let mut block = self.lift::<HyperDual64>(q);
        for i in 0..n {
            block[i].eps1 = 1.0;
            let time = HyperDual64::new(t, 0.0, 1.0, 0.0);
            out[i] = self.expr.value(&block[..n], time).eps1eps2;
            block[i].eps1 = 0.0;
        }
    }

    fn second_rate(&self, q: &[f64], t: f64) -> f64 {
        let block = self.lift::<HyperDual64>(q);
        let time = HyperDual64::new(t, 1.0, 1.0, 0.0);
        self.expr.value(&block[..self.size()], time).eps1eps2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $\varphi = x^2 y + \sin(xt)$.
    struct Sample;
    impl Expr for Sample {
        const RHEONOMIC: bool = true;
        fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
            q[0] * q[0] * q[1] + (q[0] * t).sin()
        }
    }

    #[test]
    fn all_derivatives_match_the_closed_forms() {
        // The block is (q2, q0): x = q[2], y = q[0].
        let field = AutoDiff::new(Sample, &[2, 0]).unwrap();
        let (x, y, t) = (0.7, -1.3, 0.4);
        let q = [y, f64::NAN, x];
        let (s, c) = (x * t).sin_cos();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} against {b}");
        close(field.value(&q, t), x * x * y + s);
        let mut g = [0.0; 2];
        field.gradient(&q, t, &mut g);
        close(g[0], 2.0 * x * y + t * c);
        close(g[1], x * x);
        let mut h = [1.0; 4];
        field.hessian(&q, t, 2.0, &mut h);
        close(h[0], 1.0 + 2.0 * (2.0 * y - t * t * s));
        close(h[1], 1.0 + 2.0 * 2.0 * x);
        close(h[2], h[1]);
        close(h[3], 1.0);
        let v = [0.3, f64::NAN, -1.7];
        let along = [v[2], v[0]];
        let twice = 2.0 * along[0] * along[1] * 2.0 * x;
        let bend = along[0] * along[0] * (2.0 * y - t * t * s) + twice;
        assert!((field.bend(&q, t, &v, &mut [0.0; 4]) - bend).abs() < 1e-14);
        close(field.rate(&q, t), x * c);
        field.rate_gradient(&q, t, &mut g);
        close(g[0], c - x * t * s);
        close(g[1], 0.0);
        close(field.second_rate(&q, t), -x * x * s);
    }

    #[test]
    fn a_repeated_coordinate_is_refused() {
        assert!(matches!(
            AutoDiff::new(Sample, &[1, 1]),
            Err(ConstraintError::RepeatedCoordinate { coordinate: 1 })
        ));
    }
}
