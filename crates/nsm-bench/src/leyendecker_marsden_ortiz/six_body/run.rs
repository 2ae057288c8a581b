//! Runs of the linkage with the energies of the paper.

use nsm_model::{State, StepError, Stepper};
use nsm_vi::{ConstrainedLegendre, NullSpace, Quadrature, ReparametrisedStepper, Segment};

use super::SixBody;
use crate::{Findings, ScenarioError};

/// The midpoint rule of the paper.
pub(super) const MIDPOINT: Quadrature = Quadrature::Midpoint;

/// What a run left behind: a point a node, or a point a step for $E_d$.
pub(super) struct Trace {
    pub(super) positions: Vec<Vec<f64>>,
    /// $H_d(q_k, p_k)$ (53).
    pub(super) hamiltonian: Vec<[f64; 2]>,
    /// $E_d(q_k, q_{k+1})$ (52).
    pub(super) energy: Vec<[f64; 2]>,
}

impl Trace {
    /// The linkage in its one freedom.
    pub(super) fn new(linkage: &SixBody, h: f64, steps: usize) -> Result<Self, ScenarioError> {
        let system = &linkage.system;
        let mut stepper = reparametrised(linkage, h)?;
        let mut legendre = ConstrainedLegendre::new(system, MIDPOINT)?;
        let mut state = linkage.start.clone();
        let mut trace = Self {
            positions: vec![state.q.clone()],
            hamiltonian: Vec::with_capacity(steps),
            energy: Vec::with_capacity(steps),
        };
        for _ in 0..steps {
            let t = state.t;
            stepper.step(&mut state)?;
            let start = &trace.positions[trace.positions.len() - 1];
            let segment = Segment { start, end: &state.q, t, h };
            trace.energy.push([t, legendre.discrete_energy(segment)]);
            let p = stepper.node_momentum();
            trace.hamiltonian.push([t, legendre.hamiltonian(start, p, t)]);
            trace.positions.push(state.q.clone());
        }
        Ok(trace)
    }
}

/// The null space method with the generic chart of the loop.
pub(super) fn reparametrised(
    linkage: &SixBody,
    h: f64,
) -> Result<ReparametrisedStepper<'_>, ScenarioError> {
    let method = NullSpace::reparametrised(h, MIDPOINT);
    Ok(method.stepper_with(&linkage.system, linkage.closure()?)?)
}

/// The state after some steps, and the positions on the way.
pub(super) fn positions<S: Stepper<State = State>>(
    mut stepper: S,
    start: &State,
    steps: usize,
) -> Result<Vec<Vec<f64>>, StepError> {
    let mut state = start.clone();
    let mut positions = vec![state.q.clone()];
    for _ in 0..steps {
        stepper.step(&mut state)?;
        positions.push(state.q.clone());
    }
    Ok(positions)
}

/// Smallest and largest ordinate.
pub(super) fn band(points: &[[f64; 2]]) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), p: &[f64; 2]| (low.min(p[1]), high.max(p[1]));
    points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider)
}

/// Adds a curve of at most some hundred points.
pub(super) fn draw(findings: &mut Findings, name: &str, labels: (&str, &str), points: &[[f64; 2]]) {
    let every = points.len().div_ceil(500).max(1);
    findings.curve(name, labels, points.iter().copied().step_by(every));
}
