//! Constraints linearised at a configuration that moves with the steps, \[KP\] (7.1d).
//!
//! $$ g^{\mathrm{lin}}(q) = g(\bar q) + \nabla g(\bar q) \cdot (q - \bar q) $$
//! A popular simplification: energy stays bounded, but a linearised constraint does not keep the
//! rotational symmetry of the true one, and angular momentum is lost.

use crate::Rows;

/// The linearisation of all rows of a bundle, renewed without allocation.
///
/// A stepper that offers linearised constraints asks it for values and gradients in place of the rows
/// themselves; Hessians vanish. For one constraint alone there is [`Affine::tangent`](crate::Affine::tangent).
#[derive(Clone, Debug, PartialEq)]
pub struct LinearisedRows {
    /// $\bar q$.
    at: Vec<f64>,
    values: Vec<f64>,
    gradients: Vec<f64>,
}

impl LinearisedRows {
    /// The linearisation of `rows` at a configuration.
    pub fn new(rows: &Rows, q: &[f64], t: f64) -> Self {
        let mut linearised = Self {
            at: vec![0.0; rows.dimension()],
            values: vec![0.0; rows.len()],
            gradients: vec![0.0; rows.entries()],
        };
        linearised.renew(rows, q, t);
        linearised
    }

    /// Moves the point of linearisation.
    pub fn renew(&mut self, rows: &Rows, q: &[f64], t: f64) {
        self.at.copy_from_slice(q);
        rows.values(q, t, &mut self.values);
        rows.gradients(q, t, &mut self.gradients);
    }

    /// $g^{\mathrm{lin}}_i(q)$.
    pub fn value(&self, rows: &Rows, i: usize, q: &[f64]) -> f64 {
        let gradient = self.gradients[rows.span(i)].iter().zip(rows.columns(i));
        self.values[i] + gradient.map(|(g, &c)| g * (q[c] - self.at[c])).sum::<f64>()
    }

    /// Writes $g^{\mathrm{lin}}(q)$.
    pub fn values(&self, rows: &Rows, q: &[f64], out: &mut [f64]) {
        for (i, value) in out.iter_mut().enumerate().take(rows.len()) {
            *value = self.value(rows, i, q);
        }
    }

    /// The constant gradients, in the order of [`Rows::gradients`].
    pub fn gradients(&self) -> &[f64] {
        &self.gradients
    }
}
