//! The car axis: two wheels on springs, one of which follows a bumpy road.
//!
//! With $p = (x_l, y_l, x_r, y_r)$, the road $y_b = r \sin\omega t$, $x_b = \sqrt{L^2 - y_b^2}$, the mass $m = \tfrac12\varepsilon^2 M$ of each end,
//! weight $m g$ with $g = 1$, and springs of unit stiffness,
//! $$ V = m (y_l + y_r) + \tfrac12 \big(|(x_l, y_l)| - L_0\big)^2 + \tfrac12 \big(|(x_r - x_b, y_r - y_b)| - L_0\big)^2, $$
//! $$ x_l x_b + y_l y_b = 0, \qquad |l - r|^2 - L^2 = 0, $$
//! $L = 1$, $L_0 = \tfrac12$, $\varepsilon = 0.01$, $M = 10$, $r = 0.1$, $\omega = 10$: a stiff system in which a constraint and a potential
//! depend on time.

use nsm_constraints::{Affine, AutoDiff, Expr, Scalar};
use nsm_model::{Mass, State, System};

use super::{Problem, Reference};
use crate::ScenarioError;

/// The axis with its reference solution; nothing if that is absent.
///
/// # Errors
/// A reference file that does not read as one.
pub fn problem() -> Result<Option<Problem>, ScenarioError> {
    let Some(reference) = Reference::find("caraxis.json")? else { return Ok(None) };
    let m = 0.5 * 0.01_f64.powi(2) * 10.0;
    let system = System::new(Mass::diagonal(&[m; 4])?)
        .with_names(&["x_l", "y_l", "x_r", "y_r"])?
        .with_potential("weight", Affine::new(&[1, 3], &[m, m], 0.0)?)?
        .with_potential("left spring", AutoDiff::new(Left, &[0, 1])?)?
        .with_potential("right spring", AutoDiff::new(Right, &[2, 3])?)?
        .with_equality("upright", AutoDiff::new(Upright, &[0, 1])?)?
        .with_equality("axle", AutoDiff::new(Axle, &[0, 1, 2, 3])?)?;
    let start = State::new(&system, &[0.0, 0.5, 1.0, 0.5], &[-0.5, 0.0, -0.5, 0.0])?;
    let mut positions = reference.numbers("ref")?;
    positions.truncate(4);
    Ok(Some(Problem { system, start, end: reference.end()?, positions }))
}

/// $(x_b, y_b)$.
fn road<T: Scalar>(t: T) -> (T, T) {
    let y = (t * 10.0).sin() * 0.1;
    ((-(y * y) + 1.0).sqrt(), y)
}

/// $\tfrac12(|x| - \tfrac12)^2$: the left spring.
struct Left;
impl Expr for Left {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let stretch = (q[0] * q[0] + q[1] * q[1]).sqrt() - 0.5;
        stretch * stretch * 0.5
    }
}

/// The right spring, to the road.
struct Right;
impl Expr for Right {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        let (x, y) = road(t);
        Left.value(&[q[0] - x, q[1] - y], t)
    }
}

/// $x_l x_b + y_l y_b$.
struct Upright;
impl Expr for Upright {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        let (x, y) = road(t);
        q[0] * x + q[1] * y
    }
}

/// $|l - r|^2 - 1$.
struct Axle;
impl Expr for Axle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0] - q[2], q[1] - q[3]);
        x * x + y * y - 1.0
    }
}
