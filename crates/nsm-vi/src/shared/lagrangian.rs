//! Discrete Lagrangians: the quadrature that makes an integrator of an action.
//!
//! With $v_h = (q_1 - q_0)/h$, $m = (q_0 + q_1)/2$ (\[KP\] (7.2), (7.3)):
//! $$ L_d^{\text{mid}} = h\\,\big(\tfrac12 v_h^\top M v_h - V(m)\big), \qquad
//!    L_d^{\text{Verlet}} = h\\,\big(\tfrac12 v_h^\top M v_h - \tfrac12 V(q_0) - \tfrac12 V(q_1)\big). $$
//! Both have the slot derivatives
//! $$ D_1 L_d = -M v_h - \tfrac h2 s_0, \qquad D_2 L_d = M v_h - \tfrac h2 s_1, $$
//! where $s_0 = s_1 = \nabla V(m)$ for the midpoint and $s_i = \nabla V(q_i)$ for Verlet. Forces that
//! no potential gives enter by the discrete Lagrange–d'Alembert principle: $s = \nabla V - f$, taken
//! at the same points with the velocity $v_h$. Explicit time is taken at the same instants.

use nsm_model::System;
use nsm_reflect::Quadrature;

use crate::shared::loads::Loads;

/// A discrete Lagrangian $L_d(q_0, q_1)$ of a system, with its slot derivatives.
///
/// The step size is an argument, since some methods take fractions of a step.
#[derive(Debug)]
pub struct DiscreteLagrangian<'a> {
    system: &'a System,
    quadrature: Quadrature,
    pub(crate) loads: Loads<'a>,
    /// The midpoint, and the velocity $v_h$.
    point: Vec<f64>,
    velocity: Vec<f64>,
    /// $s_0$ and $s_1$.
    pub(crate) left: Vec<f64>,
    pub(crate) right: Vec<f64>,
    /// Where and when `left` was evaluated; reused where one step ends and the next begins.
    at: Vec<f64>,
    at_time: f64,
}

impl<'a> DiscreteLagrangian<'a> {
    /// The discrete Lagrangian of a system by a quadrature.
    pub fn new(system: &'a System, quadrature: Quadrature) -> Self {
        let n = system.dimension();
        let mut this = Self {
            system,
            quadrature,
            loads: Loads::new(system),
            point: vec![0.0; n],
            velocity: vec![0.0; n],
            left: vec![0.0; n],
            right: vec![0.0; n],
            at: vec![f64::NAN; n],
            at_time: f64::NAN,
        };
        if this.loads.is_constant() {
            let origin = vec![0.0; n];
            this.loads.slope(&origin, &origin, 0.0, &mut this.left);
            this.right.copy_from_slice(&this.left);
        }
        this
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// The quadrature.
    pub fn quadrature(&self) -> Quadrature {
        self.quadrature
    }

    /// Whether $D_1 L_d(q_0, q_1) + p = 0$ can be solved for $q_1$ without iteration.
    pub fn is_explicit(&self) -> bool {
        match self.quadrature {
            Quadrature::Midpoint => !self.loads.is_curved(),
            Quadrature::Verlet => !self.loads.is_damped(),
        }
    }

    /// $L_d(q_0, q_1)$, without the work of non-potential forces.
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn value(&mut self, q0: &[f64], q1: &[f64], t: f64, h: f64) -> f64 {
        self.difference(q0, q1, h);
        let kinetic = self.system.mass().kinetic_energy(&self.velocity);
        let potential = match self.quadrature {
            Quadrature::Midpoint => self.system.potential().sum(&self.point, t + 0.5 * h),
            Quadrature::Verlet => {
                let rows = self.system.potential();
                0.5 * (rows.sum(q0, t) + rows.sum(q1, t + h))
            }
        };
        h * (kinetic - potential)
    }

    /// Writes $D_1 L_d(q_0, q_1)$ (with forces: $D_1 L_d + f_d^-$).
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn d1(&mut self, q0: &[f64], q1: &[f64], t: f64, h: f64, out: &mut [f64]) {
        self.slopes_left(q0, q1, t, h);
        self.system.mass().multiply(&self.velocity, out);
        for (out, s) in out.iter_mut().zip(&self.left) {
            *out = -*out - 0.5 * h * s;
        }
    }

    /// Writes $D_2 L_d(q_0, q_1)$ (with forces: $D_2 L_d + f_d^+$).
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn d2(&mut self, q0: &[f64], q1: &[f64], t: f64, h: f64, out: &mut [f64]) {
        self.slopes_left(q0, q1, t, h);
        self.slopes_right(q1, t, h);
        self.system.mass().multiply(&self.velocity, out);
        for (out, s) in out.iter_mut().zip(&self.right) {
            *out -= 0.5 * h * s;
        }
    }

    /// Evaluates $v_h$, the midpoint and $s_0$ for a trial $q_1$.
    pub(crate) fn slopes_left(&mut self, q0: &[f64], q1: &[f64], t: f64, h: f64) {
        self.difference(q0, q1, h);
        if self.loads.is_constant() {
            return;
        }
        match self.quadrature {
            Quadrature::Midpoint => {
                self.loads.slope(&self.point, &self.velocity, t + 0.5 * h, &mut self.left);
            }
            Quadrature::Verlet => self.slope_at_start(q0, t, h),
        }
    }

    /// Evaluates $s_0$ where it does not depend on a trial $q_1$, or depends on it by $v_h$ only.
    pub(crate) fn slope_at_start(&mut self, q0: &[f64], t: f64, h: f64) {
        if self.loads.is_constant() {
            return;
        }
        if self.quadrature == Quadrature::Midpoint {
            // Affine in q: the point does not matter, only the instant.
            self.loads.slope(q0, &self.velocity, t + 0.5 * h, &mut self.left);
        } else if self.loads.is_damped() || self.at_time != t || self.at != q0 {
            self.loads.slope(q0, &self.velocity, t, &mut self.left);
            self.at.copy_from_slice(q0);
            self.at_time = t;
        }
    }

    /// Evaluates $s_1$ once $q_1$ is final.
    pub(crate) fn slopes_right(&mut self, q1: &[f64], t: f64, h: f64) {
        if self.loads.is_constant() {
            return;
        }
        match self.quadrature {
            Quadrature::Midpoint => self.right.copy_from_slice(&self.left),
            Quadrature::Verlet => self.loads.slope(q1, &self.velocity, t + h, &mut self.right),
        }
    }

    /// Tells that the step to `q1` is final, so that its end slope serves as the next start slope.
    pub(crate) fn accept(&mut self, q1: &[f64], t1: f64) {
        if self.quadrature == Quadrature::Verlet
            && !self.loads.is_constant()
            && !self.loads.is_damped()
        {
            self.left.copy_from_slice(&self.right);
            self.at.copy_from_slice(q1);
            self.at_time = t1;
        }
    }

    /// Writes $\tfrac h2\\,\partial s_0 / \partial q_1$ at the last trial $q_1$, in the order of the loads.
    pub(crate) fn stiffness(&mut self, q0: &[f64], t: f64, h: f64, out: &mut [f64]) {
        match self.quadrature {
            Quadrature::Midpoint => {
                let at = (&self.point[..], &self.velocity[..], t + 0.5 * h);
                self.loads.stiffness(at, (0.25 * h, 0.5), out);
            }
            Quadrature::Verlet => {
                self.loads.stiffness((q0, &self.velocity, t), (0.0, 0.5), out);
            }
        }
    }

    fn difference(&mut self, q0: &[f64], q1: &[f64], h: f64) {
        for (i, (a, b)) in q0.iter().zip(q1).enumerate() {
            self.velocity[i] = (b - a) / h;
            self.point[i] = 0.5 * (a + b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsm_constraints::{Affine, Central, Profile};
    use nsm_model::Mass;

    #[test]
    fn slot_derivatives_are_those_of_the_value() {
        let well = Profile::SexticWell { strength: 1.0 };
        let mass = Mass::full(&[vec![2.0, 0.5], vec![0.5, 1.0]]).unwrap();
        let system = System::new(mass)
            .with_potential("well", Central::about(&[0, 1], &[0.0, 0.0], well).unwrap())
            .unwrap()
            .with_potential("weight", Affine::new(&[1], &[9.8], 1.0).unwrap())
            .unwrap();
        let (q0, q1, t, h, e) = ([0.3, -0.8], [0.5, -0.7], 0.2, 0.1, 1e-5);
        for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
            let mut lagrangian = DiscreteLagrangian::new(&system, quadrature);
            let (mut d1, mut d2) = ([0.0; 2], [0.0; 2]);
            lagrangian.d1(&q0, &q1, t, h, &mut d1);
            lagrangian.d2(&q0, &q1, t, h, &mut d2);
            for i in 0..2 {
                let mut by = |slot: usize| {
                    let mut at = |s: f64| {
                        let (mut a, mut b) = (q0, q1);
                        let moved = if slot == 0 { &mut a } else { &mut b };
                        moved[i] += s;
                        lagrangian.value(&a, &b, t, h)
                    };
                    (at(e) - at(-e)) / (2.0 * e)
                };
                let (by_first, by_second) = (by(0), by(1));
                assert!((by_first - d1[i]).abs() < 1e-9, "{by_first} against {}", d1[i]);
                assert!((by_second - d2[i]).abs() < 1e-9, "{by_second} against {}", d2[i]);
            }
        }
    }
}
