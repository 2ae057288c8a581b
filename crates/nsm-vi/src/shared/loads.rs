//! What drives a system apart from its constraints: $s(q, v, t) = \nabla V(q, t) - f(q, v, t)$.
//!
//! Terms of the potential whose gradient is constant (weights) are summed once, when the method is
//! bound to its system; only the others are evaluated in a step.

use nsm_model::System;

/// Evaluates the slope $s = \nabla V - f$ and its derivatives, with all workspace.
#[derive(Debug)]
pub(crate) struct Loads<'a> {
    system: &'a System,
    /// Gradient of the terms that are affine and do not depend on time.
    constant: Vec<f64>,
    /// Rows of the potential that must be evaluated.
    varying: Vec<usize>,
    block: Vec<f64>,
    curved: bool,
    damped: bool,
}

impl<'a> Loads<'a> {
    pub(crate) fn new(system: &'a System) -> Self {
        let rows = system.potential();
        let origin = vec![0.0; system.dimension()];
        let (mut constant, mut varying) = (vec![0.0; system.dimension()], Vec::new());
        let largest = system
            .forces()
            .iter()
            .map(|f| f.coordinates().len().pow(2))
            .fold(rows.largest_block(), usize::max);
        let mut block = vec![0.0; largest];
        for i in 0..rows.len() {
            let field = rows.field(i);
            if field.is_affine() && !field.is_rheonomic() {
                let columns = rows.columns(i);
                field.gradient(&origin, 0.0, &mut block[..columns.len()]);
                scatter(columns, &block, &mut constant);
            } else {
                varying.push(i);
            }
        }
        Self {
            constant,
            varying,
            block,
            curved: !rows.hessian_entries().is_empty() || !system.forces().is_empty(),
            damped: system.forces().iter().any(|f| f.depends_on_velocity()),
            system,
        }
    }

    /// Whether $s$ depends on $q$ (or might).
    pub(crate) fn is_curved(&self) -> bool {
        self.curved
    }

    /// Whether $s$ depends on $v$.
    pub(crate) fn is_damped(&self) -> bool {
        self.damped
    }

    /// Whether $s$ is one constant vector.
    pub(crate) fn is_constant(&self) -> bool {
        self.varying.is_empty() && self.system.forces().is_empty()
    }

    /// Writes $s(q, v, t)$.
    pub(crate) fn slope(&mut self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.constant);
        let rows = self.system.potential();
        for &i in &self.varying {
            let columns = rows.columns(i);
            rows.field(i).gradient(q, t, &mut self.block[..columns.len()]);
            scatter(columns, &self.block, out);
        }
        self.subtract_forces(q, v, t, out);
    }

    /// Gradient of the terms of the potential that is the same everywhere and always.
    pub(crate) fn constant(&self) -> &[f64] {
        &self.constant
    }

    /// Rows of the potential whose gradient is not.
    pub(crate) fn varying(&self) -> &[usize] {
        &self.varying
    }

    /// Subtracts $f(q, v, t)$.
    pub(crate) fn subtract_forces(&mut self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        for force in self.system.forces() {
            let columns = force.coordinates();
            let block = &mut self.block[..columns.len()];
            force.force(q, v, t, block);
            for (&c, f) in columns.iter().zip(block) {
                out[c] -= *f;
            }
        }
    }

    /// Positions of the values that [`stiffness`](Self::stiffness) writes; duplicates add up.
    pub(crate) fn stiffness_pattern(&self) -> Vec<(usize, usize)> {
        let mut pattern = self.system.potential().hessian_entries().to_vec();
        for force in self.system.forces() {
            let columns = force.coordinates();
            pattern.extend(columns.iter().flat_map(|&i| columns.iter().map(move |&j| (i, j))));
        }
        pattern
    }

    /// Writes $a\\,V\'\' - a\\,f_q - b\\,f_v$ in the order of [`stiffness_pattern`](Self::stiffness_pattern).
    pub(crate) fn stiffness(
        &mut self,
        (q, v, t): (&[f64], &[f64], f64),
        (a, b): (f64, f64),
        out: &mut [f64],
    ) {
        let rows = self.system.potential();
        let (hessian, rest) = out.split_at_mut(rows.hessian_entries().len());
        if a == 0.0 {
            hessian.fill(0.0);
        } else if !hessian.is_empty() {
            rows.sum_hessian(q, t, hessian);
            for x in hessian.iter_mut() {
                *x *= a;
            }
        }
        self.force_stiffness((q, v, t), (a, b), rest);
    }

    /// Writes $-a\\,f_q - b\\,f_v$, block after block.
    pub(crate) fn force_stiffness(
        &mut self,
        (q, v, t): (&[f64], &[f64], f64),
        (a, b): (f64, f64),
        mut rest: &mut [f64],
    ) {
        for force in self.system.forces() {
            let size = force.coordinates().len().pow(2);
            let (values, after) = rest.split_at_mut(size);
            rest = after;
            values.fill(0.0);
            let block = &mut self.block[..size];
            if a != 0.0 {
                force.by_position(q, v, t, block);
                subtract(a, block, values);
            }
            if b != 0.0 && force.depends_on_velocity() {
                force.by_velocity(q, v, t, block);
                subtract(b, block, values);
            }
        }
    }
}

fn scatter(columns: &[usize], block: &[f64], out: &mut [f64]) {
    for (&c, g) in columns.iter().zip(block) {
        out[c] += *g;
    }
}

fn subtract(factor: f64, block: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(block) {
        *out -= factor * x;
    }
}
