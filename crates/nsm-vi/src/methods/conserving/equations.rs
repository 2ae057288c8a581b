//! The equations of a conserving step, evaluated at a trial end of the step.
//!
//! Scaled by $h/2$, so that matrix and unknowns $(x, \Lambda)$, $\Lambda = \tfrac{h^2}2\lambda$, do not depend on $h$ as $h \to 0$:
//! $$ r = M(x - q_0) - h\\,p_0 + \tfrac{h^2}2\\,\bar s + \bar G^\top\Lambda = 0, \qquad f(x) = 0, $$
//! where $\bar s$ and the rows of $\bar G$ are averaged gradients over the step.

use nsm_model::System;

use super::average::{Averager, Chord, ForceAverage};
use crate::shared::loads::Loads;

/// Evaluates the equations; holds their parts at the last trial.
#[derive(Debug)]
pub(super) struct Equations<'a> {
    pub(super) system: &'a System,
    loads: Loads<'a>,
    averager: Averager,
    mass: Vec<f64>,
    /// Potential terms with a Hessian.
    curved: Vec<usize>,
    /// Whether averaged gradients of equalities are those in the middle, of which a bundle makes all at once.
    together: bool,
    /// Whether forces ask for velocities.
    forced: bool,
    block: Vec<f64>,
    middle: Vec<f64>,
    velocity: Vec<f64>,
    /// $\bar s$.
    pub(super) slope: Vec<f64>,
    /// $\bar G$, and $G$ at the end of the step.
    pub(super) averaged: Vec<f64>,
    pub(super) end: Vec<f64>,
    /// $f(x)$.
    pub(super) f: Vec<f64>,
}

/// What a step starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    pub(super) q: &'a [f64],
    pub(super) p: &'a [f64],
    pub(super) t: f64,
    pub(super) h: f64,
}

impl<'a> Equations<'a> {
    pub(super) fn new(system: &'a System, rule: ForceAverage) -> Self {
        let n = system.dimension();
        let (potential, equalities) = (system.potential(), system.equalities());
        let largest = potential.largest_block().max(equalities.largest_block());
        let loads = Loads::new(system);
        Self {
            system,
            slope: loads.constant().to_vec(),
            loads,
            averager: Averager::new(rule, largest),
            mass: system.mass().entries().iter().map(|e| e.2).collect(),
            curved: (0..potential.len()).filter(|&i| !potential.field(i).is_affine()).collect(),
            together: match rule {
                ForceAverage::Conserving => equalities.is_quadratic(),
                ForceAverage::Midpoint => true,
                ForceAverage::Trapezoidal => false,
            },
            forced: !system.forces().is_empty(),
            block: vec![0.0; largest],
            middle: vec![0.0; n],
            velocity: vec![0.0; n],
            averaged: vec![0.0; equalities.entries()],
            end: vec![0.0; equalities.entries()],
            f: vec![0.0; equalities.len()],
        }
    }

    /// Evaluates $\bar s$, $\bar G$ and $f(x)$.
    pub(super) fn evaluate(&mut self, start: Start<'_>, x: &[f64]) {
        let Start { q, t, h, .. } = start;
        self.middle_of(q, x);
        self.evaluate_slope(start, x);
        let rows = self.system.equalities();
        if self.together {
            rows.gradients(&self.middle, t + 0.5 * h, &mut self.averaged);
        } else {
            self.average_gradients(start, x);
        }
        rows.values_over(q, x, t + h, &mut self.f);
    }

    /// Evaluates $\bar s$ and $f(x)$ and writes $r$ at once; $\bar G$ may be left as it was.
    pub(super) fn defects(
        &mut self,
        start: Start<'_>,
        x: &[f64],
        multipliers: &[f64],
        r: &mut [f64],
        scratch: &mut [f64],
    ) {
        let Start { q, t, h, .. } = start;
        self.middle_of(q, x);
        self.evaluate_slope(start, x);
        self.inertia(start, x, r, scratch);
        self.add_forces(start, x, multipliers, r);
        self.system.equalities().values_over(q, x, t + h, &mut self.f);
    }

    /// Writes the momentum at the end of a step to `x` with the `impulses` $-h\lambda$.
    pub(super) fn momentum(
        &mut self,
        start: Start<'_>,
        x: &[f64],
        impulses: &[f64],
        out: &mut [f64],
    ) {
        let Start { q, p, h, .. } = start;
        self.middle_of(q, x);
        self.evaluate_slope(start, x);
        for ((new, p), s) in out.iter_mut().zip(p).zip(&self.slope) {
            *new = p - h * s;
        }
        self.add_forces(start, x, impulses, out);
    }

    /// Adds $\bar G^\top\lambda$ to `out`, with the middle known; $\bar G$ may be left as it was.
    fn add_forces(&mut self, start: Start<'_>, x: &[f64], lambda: &[f64], out: &mut [f64]) {
        let rows = self.system.equalities();
        if self.together {
            let time = start.t + 0.5 * start.h;
            rows.add_gradients(&self.middle, time, lambda, &mut self.block, out);
        } else {
            self.average_gradients(start, x);
            rows.add_transposed(&self.averaged, lambda, 1.0, out);
        }
    }

    fn middle_of(&mut self, q: &[f64], x: &[f64]) {
        for ((middle, a), b) in self.middle.iter_mut().zip(q).zip(x) {
            *middle = 0.5 * (a + b);
        }
    }

    /// Evaluates $\bar s$, with the middle known.
    fn evaluate_slope(&mut self, Start { q, t, h, .. }: Start<'_>, x: &[f64]) {
        if self.loads.is_constant() {
            return;
        }
        if self.forced {
            for ((velocity, a), b) in self.velocity.iter_mut().zip(q).zip(x) {
                *velocity = (b - a) / h;
            }
        }
        let chord = Chord { start: q, middle: &self.middle, end: x, t, h };
        self.slope.copy_from_slice(self.loads.constant());
        let rows = self.system.potential();
        for &i in self.loads.varying() {
            let columns = rows.columns(i);
            let block = &mut self.block[..columns.len()];
            self.averager.gradient(rows.field(i), chord, block);
            for (&c, g) in columns.iter().zip(block) {
                self.slope[c] += *g;
            }
        }
        self.loads.subtract_forces(&self.middle, &self.velocity, t + 0.5 * h, &mut self.slope);
    }

    /// Evaluates $\bar G$ row by row.
    fn average_gradients(&mut self, Start { q, t, h, .. }: Start<'_>, x: &[f64]) {
        let chord = Chord { start: q, middle: &self.middle, end: x, t, h };
        let rows = self.system.equalities();
        for i in 0..rows.len() {
            self.averager.gradient(rows.field(i), chord, &mut self.averaged[rows.span(i)]);
        }
    }

    /// Evaluates $G(x)$, which the matrices of Newton's method need.
    pub(super) fn evaluate_end(&mut self, start: Start<'_>, x: &[f64]) {
        self.system.equalities().gradients(x, start.t + start.h, &mut self.end);
    }

    /// Writes $r$ at the trial that was evaluated last.
    pub(super) fn residual(
        &self,
        start: Start<'_>,
        x: &[f64],
        multipliers: &[f64],
        r: &mut [f64],
        scratch: &mut [f64],
    ) {
        self.inertia(start, x, r, scratch);
        self.system.equalities().add_transposed(&self.averaged, multipliers, 1.0, r);
    }

    /// Writes $r$ without the forces of the constraints.
    fn inertia(&self, start: Start<'_>, x: &[f64], r: &mut [f64], scratch: &mut [f64]) {
        let Start { q, p, h, .. } = start;
        let given = p.iter().zip(&self.slope).map(|(p, s)| h * (0.5 * h * s - p));
        let moved = q.iter().zip(x).map(|(a, b)| b - a);
        if let Some(mass) = self.system.mass().as_diagonal() {
            for (r, (m, (moved, given))) in r.iter_mut().zip(mass.iter().zip(moved.zip(given))) {
                *r = m * moved + given;
            }
            return;
        }
        scratch.iter_mut().zip(moved).for_each(|(d, moved)| *d = moved);
        self.system.mass().multiply(scratch, r);
        r.iter_mut().zip(given).for_each(|(r, given)| *r += given);
    }

    /// Positions of the values that [`jacobian`](Self::jacobian) writes; duplicates add up.
    pub(super) fn pattern(&self) -> Vec<(usize, usize)> {
        let mut pattern: Vec<_> =
            self.system.mass().entries().iter().map(|&(i, j, _)| (i, j)).collect();
        pattern.extend(self.loads.stiffness_pattern());
        let rows = self.system.equalities();
        for i in 0..rows.len() {
            let columns = rows.columns(i);
            pattern.extend(columns.iter().flat_map(|&a| columns.iter().map(move |&b| (a, b))));
        }
        pattern
    }

    /// Writes $\partial r/\partial x$, with $\Lambda + \varrho f$ in place of $\Lambda$ (an augmented Lagrangian) if
    /// the penalty $\varrho$ is not zero.
    pub(super) fn jacobian(
        &mut self,
        start: Start<'_>,
        x: &[f64],
        multipliers: &[f64],
        penalty: f64,
        out: &mut [f64],
    ) {
        let Start { q, t, h, .. } = start;
        let chord = Chord { start: q, middle: &self.middle, end: x, t, h };
        let weight = 0.5 * h * h;
        let (inertial, mut rest) = out.split_at_mut(self.mass.len());
        inertial.copy_from_slice(&self.mass);
        let rows = self.system.potential();
        for &i in &self.curved {
            let size = rows.columns(i).len().pow(2);
            let (block, after) = std::mem::take(&mut rest).split_at_mut(size);
            rest = after;
            block.fill(0.0);
            self.averager.derivative(rows.field(i), chord, weight, block);
        }
        let size: usize = self.system.forces().iter().map(|f| f.coordinates().len().pow(2)).sum();
        let (block, mut rest) = rest.split_at_mut(size);
        // Forces are taken at the midpoint with the mean velocity (x − q)/h.
        let at = (&self.middle[..], &self.velocity[..], t + 0.5 * h);
        self.loads.force_stiffness(at, (0.5 * weight, weight / h), block);
        let rows = self.system.equalities();
        for i in 0..rows.len() {
            let span = rows.span(i);
            let k = span.len();
            let (block, after) = std::mem::take(&mut rest).split_at_mut(k * k);
            rest = after;
            block.fill(0.0);
            let multiplier = multipliers[i] + penalty * self.f[i];
            self.averager.derivative(rows.field(i), chord, multiplier, block);
            if penalty != 0.0 {
                let (a, b) = (&self.averaged[span.clone()], &self.end[span]);
                for (row, a) in block.chunks_exact_mut(k.max(1)).zip(a) {
                    for (entry, b) in row.iter_mut().zip(b) {
                        *entry += penalty * a * b;
                    }
                }
            }
        }
    }
}
