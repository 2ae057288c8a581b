//! The momenta of a mechanism that rigid motions of the whole conserve.
//!
//! $$ l = \sum p_\varphi, \qquad L = \sum \varphi\times p_\varphi + \sum_I d_I\times p_I $$
//! over all nodes and particles: translations move the points alone, rotations about the origin turn points and directors.

use super::mechanism::Mechanism;

impl Mechanism {
    /// Linear momentum of momenta on all coordinates.
    ///
    /// # Panics
    /// If a slice is shorter than the mechanism.
    pub fn linear_momentum(&self, p: &[f64]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for node in &self.nodes {
            for (sum, p) in sum.iter_mut().zip(&p[node.start..]) {
                *sum += p;
            }
        }
        sum
    }

    /// Angular momentum about the origin.
    ///
    /// # Panics
    /// If a slice is shorter than the mechanism.
    pub fn angular_momentum(&self, q: &[f64], p: &[f64]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for node in &self.nodes {
            let span = node.start..node.start + node.size();
            for (q, p) in q[span.clone()].chunks_exact(3).zip(p[span].chunks_exact(3)) {
                sum[0] += q[1] * p[2] - q[2] * p[1];
                sum[1] += q[2] * p[0] - q[0] * p[2];
                sum[2] += q[0] * p[1] - q[1] * p[0];
            }
        }
        sum
    }
}
