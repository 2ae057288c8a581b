//! The residuals and the matrix of the step: a saddle point of $(x, y)$ and $(\Lambda, N)$.
//!
//! With the Hessians $H_i$ of constraints in the middle, and $y$ the velocities at the end,
//! $$ \begin{pmatrix} \tfrac{h^2}2 V\'\' + \sum\tfrac12\Lambda_i H_i & M + \sum\tfrac12 N_i H_i \cr M - \sum\tfrac12 N_i H_i & -M \end{pmatrix} $$
//! stands above the rows $(G_1\ \ 0)$ of $f$ and $(yH\ \ G_1)$ of $\dot f$, the equation of velocities first, so that rows and columns have one pattern.

use nsm_solvers::LinearError;

use super::super::equations::{Equations, Start};
use super::ConservingTangentStepper;

/// Positions of the entries of the block of $(x, y)$, the equation of velocities first, and of the gradients of $(\Lambda, N)$, in the order in which they
/// are written.
pub(super) type Pattern = Vec<(usize, usize)>;

pub(super) fn pattern(equations: &Equations<'_>, curved: &[usize]) -> (Pattern, Pattern) {
    let (system, rows) = (equations.system, equations.system.equalities());
    let (n, m) = (system.dimension(), rows.len());
    let mass = system.mass().entries();
    let hessians = |down: usize, right: usize, into: &mut Pattern| {
        for &i in curved {
            for &a in rows.columns(i) {
                into.extend(rows.columns(i).iter().map(|&b| (down + a, right + b)));
            }
        }
    };
    let mut block = equations.pattern();
    for (down, right) in [(0, n), (n, 0), (n, n)] {
        block.extend(mass.iter().map(|e| (down + e.0, right + e.1)));
    }
    hessians(0, n, &mut block);
    hessians(n, 0, &mut block);
    let mut gradients = Pattern::new();
    for i in 0..m {
        for &c in rows.columns(i) {
            gradients.extend([(i, c), (m + i, n + c), (m + i, c)]);
        }
    }
    (block, gradients)
}

impl ConservingTangentStepper<'_> {
    /// Writes minus the residuals, in the scaling of the matrix.
    pub(super) fn residual(&mut self, start: Start<'_>) {
        let n = self.system.dimension();
        let (rows, mass) = (self.system.equalities(), self.system.mass());
        let (velocities, positions) = self.forces.split_at_mut(n);
        let half = 0.5 * start.h;
        mass.multiply(&self.y, velocities);
        for ((d, x), q) in self.scratch.iter_mut().zip(&self.x).zip(start.q) {
            *d = x - q;
        }
        mass.multiply(&self.scratch, positions);
        for i in 0..n {
            positions[i] -= velocities[i] + half * start.p[i];
            velocities[i] += half * (start.h * self.equations.slope[i] - start.p[i]);
        }
        rows.add_transposed(&self.at_middle, &self.shifts, -1.0, positions);
        rows.add_transposed(&self.equations.averaged, &self.multipliers, 1.0, velocities);
        rows.add_transposed(&self.by_position, &self.shifts, 1.0, velocities);
        self.forces.iter_mut().for_each(|r| *r /= -self.heft);
        let (on, tangent) = self.defects.split_at_mut(rows.len());
        for (i, scale) in self.scales.iter().enumerate() {
            on[i] = -self.equations.f[i] * scale;
            tangent[i] = -self.f[i] * scale;
        }
    }

    /// Writes the matrix and factorises it.
    pub(super) fn factorise(&mut self, start: Start<'_>) -> Result<(), LinearError> {
        let rows = self.system.equalities();
        let per = 1.0 / self.heft;
        let (inner, mut rest) = self.values.split_at_mut(self.inner);
        self.equations.jacobian(start, &self.x, &self.multipliers, 0.0, inner);
        for x in inner.iter_mut() {
            *x *= per;
        }
        // The equation of velocities has its inertia in y.
        inner[..self.mass.len()].fill(0.0);
        for sign in [1.0, 1.0, -1.0] {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(self.mass.len());
            rest = tail;
            for (v, m) in head.iter_mut().zip(&self.mass) {
                *v = sign * per * m;
            }
        }
        let mut entries = rest.iter_mut();
        for sign in [1.0, -1.0] {
            for &i in &self.curved {
                let factor = 0.5 * sign * per * self.shifts[i];
                for a in &self.hessians[i] {
                    if let Some(v) = entries.next() {
                        *v = factor * a;
                    }
                }
            }
        }
        let mut at = 0;
        for (i, &scale) in self.scales.iter().enumerate() {
            for k in rows.span(i) {
                let end = scale * self.equations.end[k];
                let columns = [self.equations.averaged[k], -self.at_middle[k], self.by_position[k]];
                self.upper[at..at + 3].copy_from_slice(&columns.map(|x| scale * x));
                self.lower[at..at + 3].copy_from_slice(&[end, end, scale * self.bends[k]]);
                at += 3;
            }
        }
        self.matrix.set_block(&self.values)?;
        self.matrix.factorise_active(&self.upper, &self.lower, &[], &self.active)
    }
}
