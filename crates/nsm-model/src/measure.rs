//! Diagnostics of a state, computed the same way for every integrator.

use crate::{State, System};

/// What is known about one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Time.
    pub t: f64,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
    /// The tracked quantities, in the order of [`Probe::invariants`].
    pub invariants: Vec<f64>,
    /// The gaps, one per inequality.
    pub gaps: Vec<f64>,
    /// Largest $|f_i(q)|$ over the equalities.
    pub position_residual: f64,
    /// Largest $|\dot f_i|$ over the equalities.
    pub velocity_residual: f64,
}

impl Measurement {
    /// Total energy.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// How deep the deepest contact lies below its surface; zero if none does.
    pub fn penetration(&self) -> f64 {
        self.gaps.iter().fold(0.0, |depth, gap| f64::max(depth, -gap))
    }
}

/// Measures states of one kind.
pub trait Probe {
    /// The kind of state.
    type State;

    /// Names of the tracked quantities.
    fn invariants(&self) -> Vec<String>;

    /// Names of the gaps.
    fn gaps(&self) -> Vec<String>;

    /// Time of a state.
    fn time(&self, state: &Self::State) -> f64;

    /// Measures a state into `out`, whose vectors are resized at the first use and kept.
    fn measure(&mut self, state: &Self::State, out: &mut Measurement);
}

/// The probe for systems in coordinates.
#[derive(Debug)]
pub struct SystemProbe<'a> {
    system: &'a System,
    gradients: Vec<f64>,
    rows: Vec<f64>,
}

impl<'a> SystemProbe<'a> {
    /// A probe with its workspace.
    pub fn new(system: &'a System) -> Self {
        let equalities = system.equalities();
        Self {
            system,
            gradients: vec![0.0; equalities.entries()],
            rows: vec![0.0; equalities.len()],
        }
    }
}

impl Probe for SystemProbe<'_> {
    type State = State;

    fn invariants(&self) -> Vec<String> {
        self.system.invariants().iter().map(|i| i.name.clone()).collect()
    }

    fn gaps(&self) -> Vec<String> {
        self.system.inequalities().names().to_vec()
    }

    fn time(&self, state: &State) -> f64 {
        state.t
    }

    fn measure(&mut self, state: &State, out: &mut Measurement) {
        let State { t, q, v, p } = state;
        out.t = *t;
        out.kinetic = self.system.mass().kinetic_energy(v);
        out.potential = self.system.potential().sum(q, *t);
        out.invariants.clear();
        out.invariants.extend(self.system.invariants().iter().map(|i| i.value(q, p)));
        out.gaps.resize(self.system.inequalities().len(), 0.0);
        self.system.inequalities().values(q, *t, &mut out.gaps);
        let equalities = self.system.equalities();
        equalities.values(q, *t, &mut self.rows);
        out.position_residual = largest(&self.rows);
        equalities.gradients(q, *t, &mut self.gradients);
        equalities.velocities(q, *t, &self.gradients, v, &mut self.rows);
        out.velocity_residual = largest(&self.rows);
    }
}

/// Largest magnitude; NaN if any entry is NaN.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, b| if b.is_nan() { f64::NAN } else { f64::max(a, b.abs()) })
}
