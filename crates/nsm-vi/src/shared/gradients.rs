//! Gradient values of equalities and gaps at one position.

use nsm_model::System;

use crate::shared::gaps::Gaps;

/// Row after row, equalities and inequalities apart.
#[derive(Debug)]
pub(crate) struct Gradients {
    pub(crate) f: Vec<f64>,
    pub(crate) g: Vec<f64>,
}

impl Gradients {
    pub(crate) fn new(system: &System) -> Self {
        Self {
            f: vec![0.0; system.equalities().entries()],
            g: vec![0.0; system.inequalities().entries()],
        }
    }

    /// Those of all equalities and of the given contacts.
    pub(crate) fn evaluate(
        &mut self,
        system: &System,
        gaps: &Gaps<'_>,
        q: &[f64],
        t: f64,
        contacts: &[usize],
    ) {
        system.equalities().gradients(q, t, &mut self.f);
        for &i in contacts {
            gaps.gradient(i, q, t, &mut self.g);
        }
    }
}
