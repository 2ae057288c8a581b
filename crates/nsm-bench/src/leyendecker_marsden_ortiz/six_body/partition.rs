//! The paper's reparametrisation of the linkage in one angle, (106)–(111).
//!
//! By symmetry $\theta^1 = \theta^3 = \theta^5$ and $\theta^2 = \theta^4$ (106), and closure is $\sin\theta^1 (1 + \sin\theta^2) = \sin\theta^2$ (107), hence
//! $$ \sin\theta^2 = \frac{\sin\theta^1}{1 - \sin\theta^1}, \qquad \sin\theta^1 = \frac{\sin\theta^2}{1 + \sin\theta^2}, \qquad
//!    \frac{d\theta^2}{d\theta^1} = \frac{\cos\theta^1 (1 + \sin\theta^2)}{\cos\theta^2 (1 - \sin\theta^1)} . $$
//! Either angle is a function of the other on four branches (108); the intervals that the paper prints for them end
//! where the functions do not. The independent one is here the one that turns faster: $|d\theta^2/d\theta^1| \le 1$ or its inverse.

use nsm_constraints::multibody::{JointId, Mechanism, Tree};
use nsm_constraints::{ConstraintError, Reparametrisation};

/// The linkage's chart in $\theta^1$ or $\theta^2$.
#[derive(Debug)]
pub struct Partition {
    mechanism: Mechanism,
    hinges: Vec<JointId>,
    tree: Tree,
    places: Vec<(usize, usize)>,
    values: Vec<f64>,
}

/// The angles of a step: of all hinges of the open chain, and how they follow the independent one.
struct Step {
    turns: [f64; 5],
    slopes: [f64; 5],
}

impl Partition {
    pub(super) fn new(mechanism: &Mechanism, hinges: &[JointId]) -> Self {
        let tree = mechanism.tree();
        let places = tree.entry_places();
        let values = vec![0.0; places.len()];
        Self { mechanism: mechanism.clone(), hinges: hinges.to_vec(), tree, places, values }
    }

    /// The angles after the independent one has turned by `u`.
    fn step(&self, u: f64, q: &[f64]) -> Result<Step, ConstraintError> {
        let mut angles = [0.0; 5];
        for (angle, &hinge) in angles.iter_mut().zip(&self.hinges) {
            *angle = self.mechanism.joint_coordinates(hinge, q).map_or(f64::NAN, |x| x[0]);
        }
        let [first, second] = [angles[0], angles[1]];
        // As a quotient of two numbers neither of which divides: the tangent may be vertical.
        let rise = first.cos() * (1.0 + second.sin());
        let run = second.cos() * (1.0 - first.sin());
        let (one, two, slopes) = if rise.abs() <= run.abs() {
            let one = first + u;
            let (two, slope) = dependent(one.sin() / (1.0 - one.sin()), second)?;
            // cosθ¹/(1 − sinθ¹)² over cosθ².
            (one, two, [1.0, slope * one.cos() / (1.0 - one.sin()).powi(2)])
        } else {
            let two = second + u;
            let (one, slope) = dependent(two.sin() / (1.0 + two.sin()), first)?;
            (one, two, [slope * two.cos() / (1.0 + two.sin()).powi(2), 1.0])
        };
        let turns = std::array::from_fn(|k| {
            let target = if k % 2 == 0 { one } else { two };
            // Readings of the same angle may lie a turn apart.
            (target - angles[k] + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
                - std::f64::consts::PI
        });
        Ok(Step { turns, slopes: std::array::from_fn(|k| slopes[k % 2]) })
    }
}

/// The angle with this sine on the branch of another one, and its derivative by the sine.
fn dependent(sine: f64, near: f64) -> Result<(f64, f64), ConstraintError> {
    if sine.is_nan() || sine.abs() >= 1.0 {
        let (what, must) = ("the sine of a dependent angle", "below 1: take a smaller step");
        return Err(ConstraintError::Parameter { what, must, value: sine });
    }
    let (angle, cosine) = (sine.asin(), (1.0 - sine * sine).sqrt());
    Ok(if near.cos() >= 0.0 {
        (angle, 1.0 / cosine)
    } else {
        (std::f64::consts::PI - angle, -1.0 / cosine)
    })
}

impl Reparametrisation for Partition {
    fn freedoms(&self) -> usize {
        1
    }

    fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let step = self.step(u[0], q)?;
        self.tree.place(&step.turns, q, out)
    }

    fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let step = self.step(u[0], q)?;
        self.tree.tangent(&step.turns, q, &mut self.values)?;
        out.fill(0.0);
        for (&(coordinate, freedom), value) in self.places.iter().zip(&self.values) {
            out[coordinate] += value * step.slopes[freedom];
        }
        Ok(())
    }
}
