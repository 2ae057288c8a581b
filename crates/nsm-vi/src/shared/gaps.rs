//! The gaps of a system as an integrator sees them: as they are, or linearised.
//!
//! Linearised at $\bar q$: $\tilde g(x) = g(\bar q) + \nabla g(\bar q)\cdot(x - \bar q)$. A linearised gap is no
//! longer invariant under the rotations that its true form is invariant under, so angular momentum is
//! lost; the option exists to show that (\[KP\] Figure 7.1d).

use nsm_constraints::LinearisedRows;
use nsm_model::System;

/// The inequality rows of a system, true or linearised.
#[derive(Debug)]
pub(crate) struct Gaps<'a> {
    system: &'a System,
    linear: Option<LinearisedRows>,
}

impl<'a> Gaps<'a> {
    pub(crate) fn new(system: &'a System, linearised: bool) -> Self {
        let origin = vec![0.0; system.dimension()];
        let linear = linearised.then(|| LinearisedRows::new(system.inequalities(), &origin, 0.0));
        Self { system, linear }
    }

    /// Linearises at $(\bar q, \bar t)$, if these gaps are linearised at all.
    pub(crate) fn linearise(&mut self, q: &[f64], t: f64) {
        if let Some(linear) = &mut self.linear {
            linear.renew(self.system.inequalities(), q, t);
        }
    }

    /// Writes all gaps.
    #[inline]
    pub(crate) fn values(&self, x: &[f64], t: f64, out: &mut [f64]) {
        let rows = self.system.inequalities();
        match &self.linear {
            None => rows.values(x, t, out),
            Some(linear) => linear.values(rows, x, out),
        }
    }

    /// Gap `i`.
    pub(crate) fn value(&self, i: usize, x: &[f64], t: f64) -> f64 {
        let rows = self.system.inequalities();
        match &self.linear {
            None => rows.value(i, x, t),
            Some(linear) => linear.value(rows, i, x),
        }
    }

    /// Writes the gradient of gap `i` into its place in `out`.
    pub(crate) fn gradient(&self, i: usize, x: &[f64], t: f64, out: &mut [f64]) {
        let rows = self.system.inequalities();
        let out = &mut out[rows.span(i)];
        match &self.linear {
            None => rows.field(i).gradient(x, t, out),
            Some(linear) => out.copy_from_slice(&linear.gradients()[rows.span(i)]),
        }
    }
}
