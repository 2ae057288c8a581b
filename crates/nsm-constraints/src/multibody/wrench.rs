//! Forces and torques on a body that no potential gives: such as turn with the body, and torques of any kind.
//!
//! The work of a force $F n$ on the point $x = \varphi + X_I d_I$ is $F n\cdot\delta x$, hence
//! $$ f_\varphi = F n, \qquad f_I = F X_I n. $$
//! A torque $F m$ does the work $F m\cdot\delta\theta$ with $\delta d_I = \delta\theta\times d_I$; of all forces on the directors that do so,
//! $$ f_I = \tfrac12 F\\,m\times d_I $$
//! has no part along the gradients of the constraints. In the body frame $n$ and $m$ are carried along, $n = N_I d_I$.

use std::sync::Arc;

use super::error::MechanismError;
use super::mechanism::{Mechanism, finite};
use super::node::NodeId;
use crate::{AutoForce, Field, ForceExpr, Scalar};

/// A force or a torque that acts on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench {
    /// Its direction in the world at the start; the size is a factor.
    pub direction: [f64; 3],
    /// Where a force acts, in the world at the start; at the centre if absent.
    pub at: Option<[f64; 3]>,
    /// Whether it is a torque.
    pub torque: bool,
    /// Whether it turns with the body.
    pub follows: bool,
}

struct OnBody {
    /// The direction, in the world or in the body.
    n: [f64; 3],
    /// Where it acts, in the body.
    x: [f64; 3],
    torque: bool,
    follows: bool,
    size: Arc<dyn Field>,
}

impl ForceExpr for OnBody {
    fn force<T: Scalar>(&self, q: &[T], _v: &[T], t: T, out: &mut [T]) {
        let size = self.size.value(&[], t.re());
        let director = |i: usize| [q[3 + 3 * i], q[4 + 3 * i], q[5 + 3 * i]];
        let mut n = self.n.map(|x| T::from(x * size));
        if self.follows {
            n = [T::from(0.0); 3];
            for i in 0..3 {
                for (n, d) in n.iter_mut().zip(director(i)) {
                    *n += d * (self.n[i] * size);
                }
            }
        }
        for k in 0..3 {
            out[k] = if self.torque { T::from(0.0) } else { n[k] };
        }
        for i in 0..3 {
            let d = director(i);
            for k in 0..3 {
                let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                out[3 + 3 * i + k] =
                    if self.torque { (n[a] * d[b] - n[b] * d[a]) * 0.5 } else { n[k] * self.x[i] };
            }
        }
    }
}

impl Mechanism {
    /// Adds a force or a torque whose size is a field of no coordinates. A force along a direction of the world is a
    /// potential, that of [`add_dead_load`](Self::add_dead_load).
    ///
    /// # Errors
    /// A name that is taken, an unknown node, a particle, numbers that are not finite.
    pub fn add_wrench(
        &mut self,
        name: &str,
        node: NodeId,
        wrench: Wrench,
        size: Arc<dyn Field>,
    ) -> Result<(), MechanismError> {
        let found = self.with_directors(name, node)?;
        finite("the direction", name, &wrench.direction)?;
        let (start, pose) = (found.start, found.pose);
        let at = wrench.at.unwrap_or(pose.position);
        finite("the point", name, &at)?;
        let n = if wrench.follows { pose.resolve(wrench.direction) } else { wrench.direction };
        let (x, torque, follows) = (pose.components(at), wrench.torque, wrench.follows);
        let coordinates: Vec<usize> = (start..start + 12).collect();
        let force = AutoForce::new(OnBody { n, x, torque, follows, size }, &coordinates)?;
        self.add_force(name, Arc::new(force))
    }
}
