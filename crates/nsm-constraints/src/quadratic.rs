//! Quadratic functions of the coordinates: internal constraints, joints, the strains of beams.
//!
//! $$ \varphi(q) = c + \sum_i b_i q_i + \sum_{i \le j} a_{ij} q_i q_j, $$
//! with an exact gradient and a constant Hessian. The midpoint rule satisfies quadratic constraints on velocity
//! level exactly (\[LMO\] (45)): $\varphi(q_1) - \varphi(q_0) = \nabla\varphi(\tfrac{q_0 + q_1}2) \cdot (q_1 - q_0)$.

use crate::affine::finite;
use crate::{ConstraintError, Field};

/// $c + b \cdot q + \sum a_{ij} q_i q_j$ on the coordinates that its coefficients name.
///
/// ```
/// use nsm_constraints::{Field, Quadratic};
///
/// // A point on the unit circle, (x² + y² − 1)/2.
/// let circle = Quadratic::new(-0.5, &[], &[(0, 0, 0.5), (1, 1, 0.5)])?;
/// assert_eq!(circle.value(&[0.6, 0.8], 0.0), 0.0);
/// let mut gradient = [0.0; 2];
/// circle.gradient(&[0.6, 0.8], 0.0, &mut gradient);
/// assert_eq!(gradient, [0.6, 0.8]);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratic {
    coordinates: Vec<usize>,
    constant: f64,
    /// $b$, one entry for each coordinate of the block.
    linear: Vec<f64>,
    /// $a_{ij}$ with $i \le j$, indices into the block.
    products: Vec<(usize, usize, f64)>,
}

impl Quadratic {
    /// The function with these coefficients; terms that name the same coordinates add up, and coordinates whose
    /// coefficients vanish do not enter the block.
    ///
    /// # Errors
    /// Coefficients that are not finite.
    pub fn new(
        constant: f64,
        linear: &[(usize, f64)],
        products: &[(usize, usize, f64)],
    ) -> Result<Self, ConstraintError> {
        let coefficients = linear.iter().map(|t| t.1).chain(products.iter().map(|t| t.2));
        for value in coefficients.chain([constant]) {
            finite("a coefficient of a quadratic function", value)?;
        }
        let mut squares: Vec<_> =
            products.iter().map(|&(i, j, a)| (i.min(j), i.max(j), a)).collect();
        squares.sort_by_key(|&(i, j, _)| (i, j));
        squares.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        squares.retain(|t| t.2 != 0.0);
        let mut slopes = linear.to_vec();
        slopes.sort_by_key(|t| t.0);
        slopes.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        slopes.retain(|t| t.1 != 0.0);
        let mut coordinates: Vec<usize> = slopes.iter().map(|t| t.0).collect();
        coordinates.extend(squares.iter().flat_map(|t| [t.0, t.1]));
        coordinates.sort_unstable();
        coordinates.dedup();
        let local = |c: usize| coordinates.partition_point(|&x| x < c);
        let mut linear = vec![0.0; coordinates.len()];
        for (c, b) in slopes {
            linear[local(c)] = b;
        }
        let products = squares.into_iter().map(|(i, j, a)| (local(i), local(j), a)).collect();
        Ok(Self { coordinates, constant, linear, products })
    }

    /// The same function with its constant changed so that it vanishes at `q`.
    ///
    /// # Errors
    /// A value that is not finite there.
    pub fn vanishing_at(mut self, q: &[f64]) -> Result<Self, ConstraintError> {
        let value = self.value(q, 0.0);
        finite("a quadratic function", value)?;
        self.constant -= value;
        Ok(self)
    }
}

impl Field for Quadratic {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let x = |i: usize| q[self.coordinates[i]];
        let linear: f64 = self.linear.iter().enumerate().map(|(i, b)| b * x(i)).sum();
        let products: f64 = self.products.iter().map(|&(i, j, a)| a * x(i) * x(j)).sum();
        linear + products + self.constant
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.linear);
        for &(i, j, a) in &self.products {
            out[i] += a * q[self.coordinates[j]];
            out[j] += a * q[self.coordinates[i]];
        }
    }

    fn hessian(&self, _q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let k = self.coordinates.len();
        for &(i, j, a) in &self.products {
            out[i * k + j] += w * a;
            out[j * k + i] += w * a;
        }
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn is_affine(&self) -> bool {
        self.products.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AutoDiff, Expr, Scalar};

    struct Formula;
    impl Expr for Formula {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] * q[1] * 3.0 - q[1] * q[1] * 0.5 + q[2] * 2.0 - q[0] * 0.25 + 1.5
        }
    }

    #[test]
    fn derivatives_agree_with_automatic_ones() {
        // Given twice and in both orders, terms add up; a coefficient of zero names no coordinate.
        let products = [(7, 2, 1.0), (2, 7, 2.0), (7, 7, -0.5), (5, 5, 0.0)];
        let linear = [(9, 2.0), (2, 0.75), (2, -1.0), (6, 0.0)];
        let field = Quadratic::new(1.5, &linear, &products).unwrap();
        assert_eq!(field.coordinates(), [2, 7, 9]);
        assert!(!field.is_affine());
        let formula = AutoDiff::new(Formula, &[2, 7, 9]).unwrap();
        let q: Vec<f64> = (0..10).map(|i| 0.3 * f64::from(i) - 1.1).collect();
        assert!((field.value(&q, 0.0) - formula.value(&q, 0.0)).abs() < 1e-14);
        let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
        field.gradient(&q, 0.0, &mut a);
        formula.gradient(&q, 0.0, &mut b);
        assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-14));
        let (mut a, mut b) = ([1.0; 9], [1.0; 9]);
        field.hessian(&q, 0.0, 2.0, &mut a);
        formula.hessian(&q, 0.0, 2.0, &mut b);
        assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-14));
    }

    #[test]
    fn the_gradient_in_the_middle_does_the_work_exactly() {
        let quadratic = Quadratic::new(0.3, &[(0, 2.0)], &[(0, 1, 1.5), (1, 1, -0.5)]).unwrap();
        let rod = crate::Rod::to_pivot(&[0, 1], &[0.3, -0.2], 0.7).unwrap();
        let (start, end, mut mean) = ([0.4, -1.2], [1.7, 0.6], [0.0; 2]);
        let middle = [0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1])];
        for field in [&quadratic as &dyn Field, &rod] {
            assert!(field.is_quadratic() && !field.is_affine());
            field.gradient(&middle, 0.0, &mut mean);
            let work = mean[0] * (end[0] - start[0]) + mean[1] * (end[1] - start[1]);
            let change = field.value(&end, 0.0) - field.value(&start, 0.0);
            assert!((work - change).abs() < 2e-15, "{work} {change}");
        }
        let mut rows = crate::Rows::new(2);
        rows.push("rod", rod).unwrap();
        rows.push("quadratic", quadratic).unwrap();
        assert!(rows.is_quadratic());
        rows.push("formula", AutoDiff::new(Cubic, &[0]).unwrap()).unwrap();
        assert!(!rows.is_quadratic());
    }

    struct Cubic;
    impl Expr for Cubic {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] * q[0] * q[0]
        }
    }

    #[test]
    fn without_products_it_is_affine_and_can_be_shifted_to_zero() {
        let field =
            Quadratic::new(0.0, &[(1, 2.0)], &[]).unwrap().vanishing_at(&[0.0, 3.0]).unwrap();
        assert!(field.is_affine());
        assert_eq!(field.value(&[0.0, 4.0], 0.0), 2.0);
        assert!(Quadratic::new(f64::NAN, &[], &[]).is_err());
    }
}
