//! A beam as a bare chain of nodes and elements, with rigid motions of its nodes and static equilibria.

use nsm_constraints::Field;
use nsm_constraints::multibody::{BeamElement, SectionStiffness};
use nsm_solvers::small::{lu, norm_inf};

pub(crate) type Vector = [f64; 3];

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn vector(q: &[f64], at: usize) -> Vector {
    [q[at], q[at + 1], q[at + 2]]
}

/// Turns `x` by the rotation vector `theta` (Rodrigues).
pub(crate) fn turn(theta: Vector, x: Vector) -> Vector {
    let angle = theta.iter().map(|c| c * c).sum::<f64>().sqrt();
    let (a, b) = if angle < 1e-4 {
        (1.0 - angle * angle / 6.0, 0.5 - angle * angle / 24.0)
    } else {
        (angle.sin() / angle, (1.0 - angle.cos()) / (angle * angle))
    };
    let (first, second) = (cross(theta, x), cross(theta, cross(theta, x)));
    std::array::from_fn(|c| x[c] + a * first[c] + b * second[c])
}

/// A straight beam along the third axis with the directors of the frame.
pub(crate) struct Chain {
    pub(crate) elements: Vec<BeamElement>,
    pub(crate) q: Vec<f64>,
}

pub(crate) fn node(position: Vector, theta: Vector) -> [f64; 12] {
    let mut node = [0.0; 12];
    node[..3].copy_from_slice(&position);
    for i in 0..3 {
        let mut axis = [0.0; 3];
        axis[i] = 1.0;
        node[3 + 3 * i..6 + 3 * i].copy_from_slice(&turn(theta, axis));
    }
    node
}

impl Chain {
    pub(crate) fn straight(length: f64, elements: usize, stiffness: &SectionStiffness) -> Self {
        let at = |k: usize| node([0.0, 0.0, length * k as f64 / elements as f64], [0.0; 3]);
        let elements: Vec<BeamElement> = (0..elements)
            .map(|k| BeamElement::new([12 * k, 12 * k + 12], &[at(k), at(k + 1)], stiffness))
            .collect::<Result<_, _>>()
            .unwrap();
        let q = (0..=elements.len()).flat_map(at).collect();
        Self { elements, q }
    }

    pub(crate) fn gradient(&self, q: &[f64]) -> Vec<f64> {
        let (mut out, mut block) = (vec![0.0; q.len()], [0.0; 24]);
        for element in &self.elements {
            element.gradient(q, 0.0, &mut block);
            for (&c, g) in element.coordinates().iter().zip(&block) {
                out[c] += g;
            }
        }
        out
    }

    /// Force and moment $(\nabla_\varphi V, \sum_i d_i \times \nabla_{d_i} V)$ at every node: what holds it in place.
    pub(crate) fn loads(&self, q: &[f64]) -> Vec<[f64; 6]> {
        let gradient = self.gradient(q);
        (0..q.len() / 12)
            .map(|k| {
                let force = vector(&gradient, 12 * k);
                let mut moment = [0.0; 3];
                for i in [3, 6, 9] {
                    let part = cross(vector(q, 12 * k + i), vector(&gradient, 12 * k + i));
                    (0..3).for_each(|c| moment[c] += part[c]);
                }
                [force[0], force[1], force[2], moment[0], moment[1], moment[2]]
            })
            .collect()
    }

    /// Equilibrium with the first node clamped and a dead load $(F, M)$ at the last, by Newton on the freedoms of the nodes.
    pub(crate) fn hang(&mut self, load: [f64; 6], tolerance: f64) {
        let free = 6 * self.elements.len();
        let residual = |q: &[f64]| {
            let mut r = self.loads(q)[1..].as_flattened().to_vec();
            (0..6).for_each(|c| r[free - 6 + c] -= load[c]);
            r
        };
        let moved = |q: &[f64], u: &[f64]| {
            let mut q = q.to_vec();
            for (k, u) in u.chunks_exact(6).enumerate() {
                let at = 12 * (k + 1);
                (0..3).for_each(|c| q[at + c] += u[c]);
                for i in [3, 6, 9] {
                    let turned = turn(vector(u, 3), vector(&q, at + i));
                    q[at + i..at + i + 3].copy_from_slice(&turned);
                }
            }
            q
        };
        let mut q = self.q.clone();
        for _ in 0..40 {
            let mut r = residual(&q);
            if norm_inf(&r) < tolerance {
                self.q = q;
                return;
            }
            let mut matrix = vec![0.0; free * free];
            let step = 1e-6;
            for j in 0..free {
                let mut u = vec![0.0; free];
                u[j] = step;
                let right = residual(&moved(&q, &u));
                u[j] = -step;
                let left = residual(&moved(&q, &u));
                for i in 0..free {
                    matrix[i * free + j] = (right[i] - left[i]) / (2.0 * step);
                }
            }
            let mut pivots = vec![0; free];
            lu::factor(free, &mut matrix, &mut pivots, 0.0).unwrap();
            lu::solve(free, &matrix, &pivots, &mut r).unwrap();
            let shorten = 0.3_f64.min(norm_inf(&r)) / norm_inf(&r);
            for x in &mut r {
                *x *= -shorten;
            }
            q = moved(&q, &r);
        }
        panic!("no equilibrium: {:e}", norm_inf(&residual(&q)));
    }
}
