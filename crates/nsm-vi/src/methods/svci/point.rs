//! A state on its way through a step, with what contacts need to know of it.

use nsm_model::{PlacedMass, StepError, System};

use crate::shared::position::all_finite;

/// Positions and momenta at an instant, with gaps, their gradients and their rates.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) t: f64,
    pub(crate) q: Vec<f64>,
    pub(crate) p: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) gap: Vec<f64>,
    /// Gradient values of all gaps.
    pub(crate) gradient: Vec<f64>,
    /// $\dot g_i$.
    pub(crate) rate: Vec<f64>,
}

impl Point {
    pub(crate) fn new(system: &System) -> Self {
        let (n, rows) = (system.dimension(), system.inequalities());
        Self {
            t: f64::NAN,
            q: vec![f64::NAN; n],
            p: vec![f64::NAN; n],
            v: vec![0.0; n],
            gap: vec![0.0; rows.len()],
            gradient: vec![0.0; rows.entries()],
            rate: vec![0.0; rows.len()],
        }
    }

    /// Puts the point elsewhere and evaluates the contacts there.
    pub(crate) fn place(
        &mut self,
        mass: &mut PlacedMass<'_>,
        q: &[f64],
        p: &[f64],
        t: f64,
    ) -> Result<(), StepError> {
        self.q.copy_from_slice(q);
        self.t = t;
        let rows = mass.system().inequalities();
        rows.values(q, t, &mut self.gap);
        rows.gradients(q, t, &mut self.gradient);
        let finite = all_finite(&self.gap) && all_finite(&self.gradient);
        if !finite {
            let bad =
                |i: &usize| !self.gap[*i].is_finite() || !all_finite(&self.gradient[rows.span(*i)]);
            let i = (0..rows.len()).find(bad).unwrap_or(0);
            let what = if self.gap[i].is_finite() { "the gradient" } else { "the gap" };
            return Err(StepError::NotFinite { t, what, culprit: rows.name(i).to_owned() });
        }
        self.push(mass, p)
    }

    /// The same with gaps alone; [`look_at`](Self::look_at) adds the rest where it is wanted.
    pub(crate) fn place_gaps(
        &mut self,
        mass: &mut PlacedMass<'_>,
        q: &[f64],
        p: &[f64],
        t: f64,
    ) -> Result<(), StepError> {
        self.q.copy_from_slice(q);
        self.t = t;
        let rows = mass.system().inequalities();
        rows.values(q, t, &mut self.gap);
        if !all_finite(&self.gap) {
            let i = self.gap.iter().position(|gap| !gap.is_finite()).unwrap_or(0);
            let culprit = rows.name(i).to_owned();
            return Err(StepError::NotFinite { t, what: "the gap", culprit });
        }
        self.p.copy_from_slice(p);
        mass.at(q, t)?.solve(&self.p, &mut self.v);
        Ok(())
    }

    /// Gradient and rate of one gap.
    pub(crate) fn look_at(&mut self, system: &System, i: usize) -> Result<(), StepError> {
        let rows = system.inequalities();
        rows.field(i).gradient(&self.q, self.t, &mut self.gradient[rows.span(i)]);
        if !all_finite(&self.gradient[rows.span(i)]) {
            let culprit = rows.name(i).to_owned();
            return Err(StepError::NotFinite { t: self.t, what: "the gradient", culprit });
        }
        self.rate[i] = rows.velocity(i, (&self.q, self.t), &self.gradient, &self.v);
        Ok(())
    }

    /// Takes another momentum at the same place.
    pub(crate) fn push(&mut self, mass: &mut PlacedMass<'_>, p: &[f64]) -> Result<(), StepError> {
        self.p.copy_from_slice(p);
        mass.at(&self.q, self.t)?.solve(&self.p, &mut self.v);
        let rows = mass.system().inequalities();
        rows.velocities(&self.q, self.t, &self.gradient, &self.v, &mut self.rate);
        Ok(())
    }
}
