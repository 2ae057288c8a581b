//! The metric of the second-order numerical Hamiltonian.
//!
//! A symplectic step follows $H_2 = H + h^2(\ldots)$ more closely than $H$ [Bond & Leimkuhler 2007]. Its part
//! that is quadratic in $p$ is $\tfrac12 p^\top B p$,
//! $$ \text{Verlet: } B = M^{-1} + \tfrac{h^2}{6} M^{-1} V\'\' M^{-1}, \qquad
//!    \text{midpoint: } B = M^{-1} - \tfrac{h^2}{12} M^{-1} V\'\' M^{-1}, $$
//! and a reflection in the metric $B$ conserves it. The test for approach must use $B$ too: with
//! $M^{-1}$ there, the rounds can alternate forever.

use nsm_constraints::Metric;
use nsm_model::System;

use crate::ReflectError;

/// The step whose numerical Hamiltonian is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quadrature {
    /// Störmer–Verlet, \[KP\] (7.3).
    Verlet,
    /// Implicit midpoint, \[KP\] (7.2).
    Midpoint,
}

impl Quadrature {
    /// $c$ in $B = M^{-1} + c\\,h^2 M^{-1} V\'\' M^{-1}$.
    fn weight(self) -> f64 {
        match self {
            Self::Verlet => 1.0 / 6.0,
            Self::Midpoint => -1.0 / 12.0,
        }
    }
}

/// $B(q)$ of one system, its values renewed without allocation.
#[derive(Clone, Debug)]
pub struct ShadowMetric {
    metric: Metric,
    /// Values of $M^{-1}$ on the pattern of $B$.
    inverse_mass: Vec<f64>,
    /// $B$ at `.0` gains `.2` times entry `.1` of the Hessian.
    gains: Vec<(usize, usize, f64)>,
    hessian: Vec<f64>,
}

impl ShadowMetric {
    /// The metric for steps of size `h`, with the values of $M^{-1}$ until it is renewed.
    ///
    /// # Errors
    /// Massless coordinates.
    pub fn new(system: &System, quadrature: Quadrature, h: f64) -> Result<Self, ReflectError> {
        system.require_regular_mass()?;
        let n = system.dimension();
        let inverse = system.mass().inverse_entries();
        // Column lists of M^-1: which (a, M^-1_ai) a coordinate i spreads to.
        let mut spread = vec![Vec::new(); n];
        for &(a, i, value) in &inverse {
            if value != 0.0 {
                spread[i].push((a, value));
            }
        }
        let mut entries = inverse.clone();
        let hessian = system.potential().hessian_entries();
        for &(i, j) in hessian {
            for &(a, _) in &spread[i] {
                entries.extend(spread[j].iter().map(|&(b, _)| (a, b, 0.0)));
            }
        }
        let mut metric = Metric::from_entries(n, &entries)?;
        let factor = quadrature.weight() * h * h;
        let mut gains = Vec::new();
        for (index, &(i, j)) in hessian.iter().enumerate() {
            for &(a, left) in &spread[i] {
                for &(b, right) in &spread[j] {
                    if let Some(position) = metric.position(a, b) {
                        gains.push((position, index, factor * left * right));
                    }
                }
            }
        }
        Ok(Self {
            inverse_mass: metric.values_mut().to_vec(),
            metric,
            gains,
            hessian: vec![0.0; hessian.len()],
        })
    }

    /// Renews $B$ at a configuration.
    pub fn renew(&mut self, system: &System, q: &[f64], t: f64) {
        system.potential().sum_hessian(q, t, &mut self.hessian);
        let values = self.metric.values_mut();
        values.copy_from_slice(&self.inverse_mass);
        for &(position, entry, factor) in &self.gains {
            values[position] += factor * self.hessian[entry];
        }
    }

    /// The metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }
}
