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

    /// The direction of a translation of the whole along axis `k`, on `n` coordinates: the gradient of the linear momentum.
    ///
    /// # Panics
    /// If there are fewer coordinates than the mechanism has.
    pub fn translation(&self, k: usize, n: usize) -> Vec<f64> {
        let mut direction = vec![0.0; n];
        for node in &self.nodes {
            direction[node.start + k] = 1.0;
        }
        direction
    }

    /// The direction of a rotation of the whole about axis `k` through the origin: the gradient of the angular momentum.
    ///
    /// # Panics
    /// If a slice is shorter than the mechanism.
    pub fn rotation(&self, k: usize, q: &[f64]) -> Vec<f64> {
        let mut direction = vec![0.0; q.len()];
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        for node in &self.nodes {
            let span = node.start..node.start + node.size();
            for (q, out) in q[span.clone()].chunks_exact(3).zip(direction[span].chunks_exact_mut(3))
            {
                out[j] = q[i];
                out[i] = -q[j];
            }
        }
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multibody::{Inertia, Pose};

    #[test]
    fn directions_are_the_gradients_of_the_momenta() {
        let mut mechanism = Mechanism::new();
        for k in 0..2 {
            let pose = Pose::turned([0.3, f64::from(k), -0.7], [0.4, -0.3, 0.7]);
            mechanism.add_body(&format!("b{k}"), Inertia::cuboid(1.0, [1.0; 3]), pose).unwrap();
        }
        let q = mechanism.start_position();
        let n = q.len();
        for i in 0..n {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            let (linear, angular) =
                (mechanism.linear_momentum(&unit), mechanism.angular_momentum(&q, &unit));
            for k in 0..3 {
                assert_eq!(linear[k], mechanism.translation(k, n)[i]);
                assert_eq!(angular[k], mechanism.rotation(k, &q)[i]);
            }
        }
    }
}
