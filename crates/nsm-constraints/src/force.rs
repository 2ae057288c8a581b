//! Forces that no potential gives: $f(q, v, t)$ with its exact derivatives.

use num_dual::Dual64;

use crate::{ConstraintError, Scalar};

/// A force on a block of coordinates that depends on positions and velocities of the same block.
///
/// Like a [`Field`](crate::Field), it receives whole vectors and writes on its block.
pub trait Force: Send + Sync {
    /// The coordinates that it depends on and acts on, without repetition.
    fn coordinates(&self) -> &[usize];

    /// Writes $f$ on the block.
    fn force(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]);

    /// Writes $\partial f / \partial q$ on the block, row by row.
    fn by_position(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]);

    /// Writes $\partial f / \partial v$ on the block, row by row.
    fn by_velocity(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]);

    /// Whether the force depends on velocities at all.
    fn depends_on_velocity(&self) -> bool {
        true
    }
}

impl<F: Force + ?Sized> Force for std::sync::Arc<F> {
    fn coordinates(&self) -> &[usize] {
        (**self).coordinates()
    }
    fn force(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        (**self).force(q, v, t, out);
    }
    fn by_position(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        (**self).by_position(q, v, t, out);
    }
    fn by_velocity(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        (**self).by_velocity(q, v, t, out);
    }
    fn depends_on_velocity(&self) -> bool {
        (**self).depends_on_velocity()
    }
}

/// A force written once for every [`Scalar`]; [`AutoForce`] differentiates it.
pub trait ForceExpr: Send + Sync {
    /// Writes the force on the block; `q`, `v` and `out` hold the block in its declared order.
    fn force<T: Scalar>(&self, q: &[T], v: &[T], t: T, out: &mut [T]);
}

/// A [`ForceExpr`] on a block of coordinates, with derivatives by automatic differentiation.
#[derive(Clone, Debug)]
pub struct AutoForce<E> {
    expr: E,
    coordinates: Vec<usize>,
}

const MAX: usize = crate::MAX_BLOCK;

impl<E: ForceExpr> AutoForce<E> {
    /// The force `expr` on the given coordinates.
    ///
    /// # Errors
    /// More coordinates than [`crate::MAX_BLOCK`], or a repeated one.
    pub fn new(expr: E, coordinates: &[usize]) -> Result<Self, ConstraintError> {
        crate::check_block(coordinates)?;
        Ok(Self { expr, coordinates: coordinates.to_vec() })
    }

    fn lift<T: Scalar>(&self, x: &[f64]) -> [T; MAX] {
        let mut block = [T::from(0.0); MAX];
        for (b, &c) in block.iter_mut().zip(&self.coordinates) {
            *b = T::from(x[c]);
        }
        block
    }

    /// One pass per column: seeds `q` or `v` with a unit perturbation and reads the column.
    fn jacobian(&self, q: &[f64], v: &[f64], t: f64, by_velocity: bool, out: &mut [f64]) {
        let n = self.coordinates.len();
        let (mut q, mut v) = (self.lift::<Dual64>(q), self.lift::<Dual64>(v));
        let mut force = [Dual64::from(0.0); MAX];
        for j in 0..n {
            let seeded = if by_velocity { &mut v[j] } else { &mut q[j] };
            seeded.eps = 1.0;
            self.expr.force(&q[..n], &v[..n], Dual64::from(t), &mut force[..n]);
            for i in 0..n {
                out[i * n + j] = force[i].eps;
            }
            let seeded = if by_velocity { &mut v[j] } else { &mut q[j] };
            seeded.eps = 0.0;
        }
    }
}

impl<E: ForceExpr> Force for AutoForce<E> {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn force(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        let n = self.coordinates.len();
        self.expr.force(&self.lift::<f64>(q)[..n], &self.lift::<f64>(v)[..n], t, out);
    }

    fn by_position(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        self.jacobian(q, v, t, false, out);
    }

    fn by_velocity(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        self.jacobian(q, v, t, true, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drag $-c\\,|v|\\,v$ in the plane, with a spring to the origin on $x$.
    struct Drag(f64);
    impl ForceExpr for Drag {
        fn force<T: Scalar>(&self, q: &[T], v: &[T], _t: T, out: &mut [T]) {
            let speed = (v[0] * v[0] + v[1] * v[1]).sqrt();
            out[0] = -(speed * v[0] * self.0) - q[0] * 3.0;
            out[1] = -(speed * v[1] * self.0);
        }
    }

    #[test]
    fn derivatives_match_the_closed_forms() {
        let drag = AutoForce::new(Drag(2.0), &[0, 2]).unwrap();
        let (q, v) = ([1.0, 9.0, 1.0], [3.0, 9.0, 4.0]);
        let mut out = [0.0; 4];
        drag.by_position(&q, &v, 0.0, &mut out);
        assert_eq!(out, [-3.0, 0.0, 0.0, 0.0]);
        drag.by_velocity(&q, &v, 0.0, &mut out);
        // d(-c|v|v_i)/dv_j = -c(|v| δ_ij + v_i v_j/|v|) with |v| = 5.
        let expected = [
            -2.0 * (5.0 + 9.0 / 5.0),
            -2.0 * 12.0 / 5.0,
            -2.0 * 12.0 / 5.0,
            -2.0 * (5.0 + 16.0 / 5.0),
        ];
        for (a, b) in out.iter().zip(expected) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}
