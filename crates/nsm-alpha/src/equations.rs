//! Mass and forces of a system at a point, and their tangents.
//!
//! $f(q, v, t) = -\nabla V + \sum f_k$, with the gyroscopic force where the mass depends on $q$; the
//! tangents $\partial f/\partial q$, $\partial f/\partial v$ and $\partial (M a)/\partial q$ are exact.

use nsm_model::System;

use crate::leading::{Leading, Term};

/// Evaluates a system; owns the scratch.
#[derive(Debug)]
pub(crate) struct Equations<'a> {
    pub(crate) system: &'a System,
    pub(crate) n: usize,
    /// Entries of a constant mass; empty where it varies.
    mass: Vec<(usize, usize, f64)>,
    hessian: Vec<f64>,
    block: Vec<f64>,
}

impl<'a> Equations<'a> {
    pub(crate) fn new(system: &'a System) -> Self {
        let n = system.dimension();
        let force_block =
            system.forces().iter().map(|f| f.coordinates().len().pow(2)).max().unwrap_or(0);
        let varying = if system.variable_mass().is_some() { n * n } else { 0 };
        let block = force_block.max(varying).max(system.potential().largest_block());
        let mass = if varying > 0 { Vec::new() } else { system.mass().entries() };
        Self {
            system,
            n,
            mass,
            hessian: vec![0.0; system.potential().hessian_entries().len()],
            block: vec![0.0; block],
        }
    }

    /// Largest diagonal entry of the mass: the scale of momentum.
    pub(crate) fn mass_scale(&mut self, q: &[f64]) -> f64 {
        let n = self.n;
        let mut largest = 0.0_f64;
        if let Some(mass) = self.system.variable_mass() {
            mass.matrix(q, &mut self.block[..n * n]);
            (0..n).for_each(|i| largest = largest.max(self.block[i * n + i]));
        } else {
            self.mass.iter().for_each(|&(_, _, m)| largest = largest.max(m));
        }
        if largest > 0.0 && largest.is_finite() { largest } else { 1.0 }
    }

    /// Adds $w M(q)$.
    pub(crate) fn add_mass(&mut self, q: &[f64], w: f64, out: &mut Leading) {
        if let Some(mass) = self.system.variable_mass() {
            let n = self.n;
            mass.matrix(q, &mut self.block[..n * n]);
            out.add_full(w, &self.block[..n * n]);
        } else {
            out.add_entries(Term::Mass, w, self.mass.iter().map(|&(i, j, m)| ((i, j), m)));
        }
    }

    /// Writes $M(q)$ as a full matrix.
    pub(crate) fn mass_matrix(&mut self, q: &[f64], out: &mut [f64]) {
        if let Some(mass) = self.system.variable_mass() {
            mass.matrix(q, out);
            return;
        }
        out.fill(0.0);
        for &(i, j, m) in &self.mass {
            out[i * self.n + j] += m;
        }
    }

    /// Adds $w\\,\partial (M(q) a)/\partial q$.
    pub(crate) fn add_inertia_tangent(&mut self, q: &[f64], a: &[f64], w: f64, out: &mut Leading) {
        if let Some(mass) = self.system.variable_mass() {
            let n = self.n;
            mass.momentum_by_position(q, a, &mut self.block[..n * n]);
            out.add_full(w, &self.block[..n * n]);
        }
    }

    /// Writes $f(q, v, t)$.
    pub(crate) fn force(&mut self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        match self.system.variable_mass() {
            Some(mass) => mass.gyroscopic(q, v, out),
            None => out.fill(0.0),
        }
        let potential = self.system.potential();
        for i in 0..potential.len() {
            let columns = potential.columns(i);
            let gradient = &mut self.block[..columns.len()];
            potential.field(i).gradient(q, t, gradient);
            for (&c, g) in columns.iter().zip(gradient) {
                out[c] -= *g;
            }
        }
        for force in self.system.forces() {
            let columns = force.coordinates();
            let block = &mut self.block[..columns.len()];
            force.force(q, v, t, block);
            for (&c, f) in columns.iter().zip(block) {
                out[c] += *f;
            }
        }
    }

    /// Adds $w_q\\,\partial f/\partial q + w_v\\,\partial f/\partial v$.
    pub(crate) fn add_force_tangent(
        &mut self,
        (q, v, t): (&[f64], &[f64], f64),
        (w_q, w_v): (f64, f64),
        out: &mut Leading,
    ) {
        let potential = self.system.potential();
        if w_q != 0.0 && !self.hessian.is_empty() {
            potential.sum_hessian(q, t, &mut self.hessian);
            let entries = potential.hessian_entries().iter().copied();
            out.add_entries(Term::Potential, -w_q, entries.zip(self.hessian.iter().copied()));
        }
        if let Some(mass) = self.system.variable_mass() {
            let n = self.n;
            mass.gyroscopic_by_position(q, v, &mut self.block[..n * n]);
            out.add_full(w_q, &self.block[..n * n]);
            mass.gyroscopic_by_velocity(q, v, &mut self.block[..n * n]);
            out.add_full(w_v, &self.block[..n * n]);
        }
        for (i, force) in self.system.forces().iter().enumerate() {
            let columns = force.coordinates();
            let block = &mut self.block[..columns.len() * columns.len()];
            force.by_position(q, v, t, block);
            out.add_block(Term::Force(i), columns, w_q, block);
            if force.depends_on_velocity() {
                force.by_velocity(q, v, t, block);
                out.add_block(Term::Force(i), columns, w_v, block);
            }
        }
    }
}
