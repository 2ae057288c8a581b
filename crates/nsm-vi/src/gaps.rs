//! The gaps of a system as an integrator sees them: as they are, or linearised.
//!
//! Linearised at $\bar q$: $\tilde g(x) = g(\bar q) + \nabla g(\bar q)\cdot(x - \bar q)$. A linearised gap is no
//! longer invariant under the rotations that its true form is invariant under, so angular momentum is
//! lost; the option exists to show that ([KP] Figure 7.1d).

use nsm_model::System;

/// The inequality rows of a system, true or linearised.
#[derive(Debug)]
pub(crate) struct Gaps<'a> {
    system: &'a System,
    linear: Option<Linearisation>,
}

#[derive(Debug)]
struct Linearisation {
    at: Vec<f64>,
    values: Vec<f64>,
    gradients: Vec<f64>,
}

impl<'a> Gaps<'a> {
    pub(crate) fn new(system: &'a System, linearised: bool) -> Self {
        let rows = system.inequalities();
        let linear = linearised.then(|| Linearisation {
            at: vec![0.0; system.dimension()],
            values: vec![0.0; rows.len()],
            gradients: vec![0.0; rows.entries()],
        });
        Self { system, linear }
    }

    /// Linearises at $(\bar q, \bar t)$, if these gaps are linearised at all.
    pub(crate) fn linearise(&mut self, q: &[f64], t: f64) {
        if let Some(linear) = &mut self.linear {
            let rows = self.system.inequalities();
            linear.at.copy_from_slice(q);
            rows.values(q, t, &mut linear.values);
            rows.gradients(q, t, &mut linear.gradients);
        }
    }

    /// Writes all gaps.
    pub(crate) fn values(&self, x: &[f64], t: f64, out: &mut [f64]) {
        if self.linear.is_some() {
            for (i, out) in out.iter_mut().enumerate() {
                *out = self.value(i, x, t);
            }
        } else {
            self.system.inequalities().values(x, t, out);
        }
    }

    /// Gap `i`.
    pub(crate) fn value(&self, i: usize, x: &[f64], t: f64) -> f64 {
        let rows = self.system.inequalities();
        match &self.linear {
            None => rows.value(i, x, t),
            Some(linear) => {
                let gradient = &linear.gradients[rows.span(i)];
                let change: f64 = gradient
                    .iter()
                    .zip(rows.columns(i))
                    .map(|(g, &c)| g * (x[c] - linear.at[c]))
                    .sum();
                linear.values[i] + change
            }
        }
    }

    /// Writes the gradient of gap `i` into its place in `out`.
    pub(crate) fn gradient(&self, i: usize, x: &[f64], t: f64, out: &mut [f64]) {
        let rows = self.system.inequalities();
        let out = &mut out[rows.span(i)];
        match &self.linear {
            None => rows.field(i).gradient(x, t, out),
            Some(linear) => out.copy_from_slice(&linear.gradients[rows.span(i)]),
        }
    }
}
