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
    hessian: Vec<f64>,
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
            hessian: vec![0.0; rows.hessian_entries().len()],
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
        for force in self.system.forces() {
            let columns = force.coordinates();
            let block = &mut self.block[..columns.len()];
            force.force(q, v, t, block);
            for (&c, f) in columns.iter().zip(block) {
                out[c] -= *f;
            }
        }
    }

    /// Hands over the entries $(i, j)$ of $a\,V'' - a\,f_q - b\,f_v$ one by one; they add up.
    pub(crate) fn stiffness(
        &mut self,
        (q, v, t): (&[f64], &[f64], f64),
        (a, b): (f64, f64),
        mut add: impl FnMut(usize, usize, f64),
    ) {
        let rows = self.system.potential();
        if a != 0.0 && !self.hessian.is_empty() {
            rows.sum_hessian(q, t, &mut self.hessian);
            for (&(i, j), value) in rows.hessian_entries().iter().zip(&self.hessian) {
                add(i, j, a * value);
            }
        }
        for force in self.system.forces() {
            let columns = force.coordinates();
            let k = columns.len();
            let block = &mut self.block[..k * k];
            if a != 0.0 {
                force.by_position(q, v, t, block);
                scatter_block(columns, block, -a, &mut add);
            }
            if b != 0.0 && force.depends_on_velocity() {
                force.by_velocity(q, v, t, block);
                scatter_block(columns, block, -b, &mut add);
            }
        }
    }

    /// Positions that [`stiffness`](Self::stiffness) may write to, in its order.
    pub(crate) fn stiffness_pattern(&self) -> Vec<(usize, usize)> {
        let mut pattern = self.system.potential().hessian_entries().to_vec();
        for force in self.system.forces() {
            let columns = force.coordinates();
            pattern.extend(columns.iter().flat_map(|&i| columns.iter().map(move |&j| (i, j))));
        }
        pattern
    }
}

fn scatter(columns: &[usize], block: &[f64], out: &mut [f64]) {
    for (&c, g) in columns.iter().zip(block) {
        out[c] += *g;
    }
}

fn scatter_block(
    columns: &[usize],
    block: &[f64],
    scale: f64,
    add: &mut impl FnMut(usize, usize, f64),
) {
    let k = columns.len();
    for (row, &i) in block.chunks_exact(k.max(1)).zip(columns) {
        for (value, &j) in row.iter().zip(columns) {
            add(i, j, scale * value);
        }
    }
}
