//! A mass matrix that depends on the configuration, with the forces that come of it.
//!
//! From the kinetic energy $T(q, v) = \tfrac12 v^\top M(q)\\,v$ Lagrange's equations give
//! $$ M(q)\\,\dot v = -\nabla V + f + \frac{\partial T}{\partial q} -
//!    \frac{\partial^2 T}{\partial v\\,\partial q}\\,v , $$
//! the last two terms being the gyroscopic force,
//! so a user writes $T$ once ([`KineticExpr`]) and mass, gyroscopic force and their exact derivatives
//! follow ([`AutoKinetic`]); the terms are second and third derivatives of $T$.

use nsm_constraints::{ConstraintError, MAX_BLOCK, Scalar};
use num_dual::{Dual64, HyperDual64, HyperHyperDual64};

/// A mass matrix $M(q)$ with its gyroscopic force; all matrices $n \times n$, row by row.
pub trait VariableMass: Send + Sync {
    /// Number of coordinates $n$.
    fn dimension(&self) -> usize;

    /// $\tfrac12 v^\top M(q)\\,v$.
    fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64;

    /// Writes $M(q)\\,v$.
    fn momentum(&self, q: &[f64], v: &[f64], out: &mut [f64]);

    /// Writes $\partial (M(q)\\,a) / \partial q$ at constant $a$.
    fn momentum_by_position(&self, q: &[f64], a: &[f64], out: &mut [f64]);

    /// Writes $M(q)$.
    fn matrix(&self, q: &[f64], out: &mut [f64]);

    /// Writes $\partial T / \partial q$, the slope of the kinetic energy at constant $v$.
    fn slope(&self, q: &[f64], v: &[f64], out: &mut [f64]);

    /// Writes $\partial^2 T / \partial q^2$.
    fn slope_by_position(&self, q: &[f64], v: &[f64], out: &mut [f64]);

    /// Writes the gyroscopic force $\partial T / \partial q - \dot M v$.
    fn gyroscopic(&self, q: &[f64], v: &[f64], out: &mut [f64]);

    /// Writes its derivative by $q$.
    fn gyroscopic_by_position(&self, q: &[f64], v: &[f64], out: &mut [f64]);

    /// Writes its derivative by $v$.
    fn gyroscopic_by_velocity(&self, q: &[f64], v: &[f64], out: &mut [f64]);
}

/// A kinetic energy, quadratic in $v$, written once for every [`Scalar`]; see [`AutoKinetic`].
pub trait KineticExpr: Send + Sync {
    /// $T(q, v) = \tfrac12 v^\top M(q)\\,v$ over all coordinates.
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T;
}

/// A [`KineticExpr`] on `n` coordinates, with mass and forces by automatic differentiation.
#[derive(Clone, Debug)]
pub struct AutoKinetic<E> {
    expr: E,
    dimension: usize,
}

impl<E: KineticExpr> AutoKinetic<E> {
    /// The kinetic energy `expr` of all `dimension` coordinates.
    ///
    /// # Errors
    /// More coordinates than [`MAX_BLOCK`]: implement [`VariableMass`] by hand.
    pub fn new(expr: E, dimension: usize) -> Result<Self, ConstraintError> {
        if dimension > MAX_BLOCK {
            return Err(ConstraintError::BlockTooLarge { size: dimension, limit: MAX_BLOCK });
        }
        Ok(Self { expr, dimension })
    }

    fn lift<T: Scalar>(&self, x: &[f64]) -> [T; MAX_BLOCK] {
        let mut lifted = [T::from(0.0); MAX_BLOCK];
        for (l, &x) in lifted.iter_mut().zip(&x[..self.dimension]) {
            *l = T::from(x);
        }
        lifted
    }

    fn energy<T: Scalar>(&self, q: &[T; MAX_BLOCK], v: &[T; MAX_BLOCK]) -> T {
        self.expr.energy(&q[..self.dimension], &v[..self.dimension])
    }
}

impl<E: KineticExpr> VariableMass for AutoKinetic<E> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        self.energy::<f64>(&self.lift(q), &self.lift(v))
    }

    fn momentum(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        let (q, mut v) = (self.lift::<Dual64>(q), self.lift::<Dual64>(v));
        for i in 0..self.dimension {
            v[i].eps = 1.0;
            out[i] = self.energy(&q, &v).eps;
            v[i].eps = 0.0;
        }
    }

    fn momentum_by_position(&self, q: &[f64], a: &[f64], out: &mut [f64]) {
        let n = self.dimension;
        let (mut q, mut v) = (self.lift::<HyperDual64>(q), self.lift::<HyperDual64>(a));
        for i in 0..n {
            v[i].eps1 = 1.0;
            for j in 0..n {
                q[j].eps2 = 1.0;
                out[i * n + j] = self.energy(&q, &v).eps1eps2;
                q[j].eps2 = 0.0;
            }
            v[i].eps1 = 0.0;
        }
    }

    fn matrix(&self, q: &[f64], out: &mut [f64]) {
        let n = self.dimension;
        let q = self.lift::<HyperDual64>(q);
        let mut v = [HyperDual64::from(0.0); MAX_BLOCK];
        for i in 0..n {
            v[i].eps1 = 1.0;
            for j in 0..=i {
                v[j].eps2 = 1.0;
                let entry = self.energy(&q, &v).eps1eps2;
                v[j].eps2 = 0.0;
                out[i * n + j] = entry;
                out[j * n + i] = entry;
            }
            v[i].eps1 = 0.0;
        }
    }

    fn slope(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        let (mut q, v) = (self.lift::<Dual64>(q), self.lift::<Dual64>(v));
        for i in 0..self.dimension {
            q[i].eps = 1.0;
            out[i] = self.energy(&q, &v).eps;
            q[i].eps = 0.0;
        }
    }

    fn slope_by_position(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        let n = self.dimension;
        let (mut q, v) = (self.lift::<HyperDual64>(q), self.lift::<HyperDual64>(v));
        for i in 0..n {
            q[i].eps1 = 1.0;
            for j in 0..=i {
                q[j].eps2 = 1.0;
                let entry = self.energy(&q, &v).eps1eps2;
                q[j].eps2 = 0.0;
                out[i * n + j] = entry;
                out[j * n + i] = entry;
            }
            q[i].eps1 = 0.0;
        }
    }

    fn gyroscopic(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        let rates = &v[..self.dimension];
        let (mut q, mut v) = (self.lift::<HyperDual64>(q), self.lift::<HyperDual64>(v));
        for i in 0..self.dimension {
            q[i].eps1 = 1.0;
            let by_position = self.energy(&q, &v).eps1;
            q[i].eps1 = 0.0;
            // q moves along v in the second direction: one pass gives the sum over k.
            for (q, &rate) in q.iter_mut().zip(rates) {
                q.eps2 = rate;
            }
            v[i].eps1 = 1.0;
            out[i] = by_position - self.energy(&q, &v).eps1eps2;
            v[i].eps1 = 0.0;
            for q in &mut q {
                q.eps2 = 0.0;
            }
        }
    }

    fn gyroscopic_by_position(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        let n = self.dimension;
        let rates = &v[..n];
        let (mut q, mut v) = (self.lift::<HyperHyperDual64>(q), self.lift::<HyperHyperDual64>(v));
        for j in 0..n {
            q[j].eps3 = 1.0;
            for i in 0..n {
                q[i].eps1 = 1.0;
                let by_position = self.energy(&q, &v).eps1eps3;
                q[i].eps1 = 0.0;
                for (q, &rate) in q.iter_mut().zip(rates) {
                    q.eps2 = rate;
                }
                v[i].eps1 = 1.0;
                out[i * n + j] = by_position - self.energy(&q, &v).eps1eps2eps3;
                v[i].eps1 = 0.0;
                for q in &mut q {
                    q.eps2 = 0.0;
                }
            }
            q[j].eps3 = 0.0;
        }
    }

    fn gyroscopic_by_velocity(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        let n = self.dimension;
        let rates = &v[..n];
        let (mut q, mut v) = (self.lift::<HyperHyperDual64>(q), self.lift::<HyperHyperDual64>(v));
        for j in 0..n {
            for i in 0..n {
                // The direction of q is v itself, so its own derivative by v_j is q moving along j.
                q[i].eps1 = 1.0;
                v[j].eps3 = 1.0;
                let first = self.energy(&q, &v).eps1eps3;
                q[i].eps1 = 0.0;
                for (q, &rate) in q.iter_mut().zip(rates) {
                    q.eps2 = rate;
                }
                v[i].eps1 = 1.0;
                let second = self.energy(&q, &v).eps1eps2eps3;
                v[j].eps3 = 0.0;
                for q in &mut q {
                    q.eps2 = 0.0;
                }
                q[j].eps2 = 1.0;
                let third = self.energy(&q, &v).eps1eps2;
                q[j].eps2 = 0.0;
                v[i].eps1 = 0.0;
                out[i * n + j] = first - second - third;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A particle in polar coordinates: $T = \tfrac12 m (\dot r^2 + r^2 \dot\varphi^2)$.
    struct Polar(f64);
    impl KineticExpr for Polar {
        fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
            (v[0] * v[0] + q[0] * q[0] * v[1] * v[1]) * (0.5 * self.0)
        }
    }

    #[test]
    fn polar_coordinates_have_their_textbook_forces() {
        let (m, r, rr, w) = (3.0, 2.0, 0.5, 0.7);
        let polar = AutoKinetic::new(Polar(m), 2).unwrap();
        let (q, v) = ([r, 0.3], [rr, w]);
        let mut matrix = [f64::NAN; 4];
        polar.matrix(&q, &mut matrix);
        assert_eq!(matrix, [m, 0.0, 0.0, m * r * r]);
        let mut p = [f64::NAN; 2];
        polar.momentum(&q, &v, &mut p);
        assert!((p[0] - m * rr).abs() < 1e-15 && (p[1] - m * r * r * w).abs() < 1e-14);
        assert!((polar.kinetic_energy(&q, &v) - 0.5 * (p[0] * rr + p[1] * w)).abs() < 1e-14);
        // m r w^2 and -2 m r r' w, with their derivatives.
        let close = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 1e-13, "{a} against {b}"));
        };
        let mut f = [f64::NAN; 2];
        polar.gyroscopic(&q, &v, &mut f);
        close(&f, &[m * r * w * w, -2.0 * m * r * rr * w]);
        polar.gyroscopic_by_position(&q, &v, &mut matrix);
        close(&matrix, &[m * w * w, 0.0, -2.0 * m * rr * w, 0.0]);
        polar.gyroscopic_by_velocity(&q, &v, &mut matrix);
        close(&matrix, &[0.0, 2.0 * m * r * w, -2.0 * m * r * w, -2.0 * m * r * rr]);
        polar.slope(&q, &v, &mut f);
        close(&f, &[m * r * w * w, 0.0]);
        polar.slope_by_position(&q, &v, &mut matrix);
        close(&matrix, &[m * w * w, 0.0, 0.0, 0.0]);
        polar.momentum_by_position(&q, &v, &mut matrix);
        close(&matrix, &[0.0, 0.0, 2.0 * m * r * w, 0.0]);
    }
}
