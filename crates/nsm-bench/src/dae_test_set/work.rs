//! Error and work of one method at one step after another.

use std::time::Instant;

use nsm_model::{State, Stepper, System, SystemProbe, run_steps, steps_between};

use super::Problem;
use crate::{Axes, Expected, Findings, ScenarioError};

/// Binds a method with step $h$ to a system and its start.
pub(super) type Bind = for<'a> fn(&'a System, &State, f64) -> Result<Bound<'a>, ScenarioError>;

/// Any stepper in coordinates.
pub(super) type Bound<'a> = Box<dyn Stepper<State = State> + 'a>;

/// A method with what must come of it.
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) bind: Bind,
    /// Largest mixed error at the third step, the smallest of quick runs.
    pub(super) error: f64,
    /// Largest $|g|$ and $|\dot g|$ over these three runs, where the method bounds it.
    pub(super) residuals: [Option<f64>; 2],
}

/// A run to the end.
pub(super) struct Outcome {
    h: f64,
    steps: usize,
    iterations: usize,
    error: f64,
    residuals: [f64; 2],
    microseconds: f64,
}

const WORK: &str = "Newton iterations";

impl Method {
    /// Runs with these steps.
    pub(super) fn outcomes(
        &self,
        problem: &Problem,
        steps: &[f64],
    ) -> Result<Vec<Outcome>, ScenarioError> {
        steps.iter().map(|&h| self.outcome(problem, h)).collect()
    }

    fn outcome(&self, problem: &Problem, h: f64) -> Result<Outcome, ScenarioError> {
        let (system, start) = (&problem.system, &problem.start);
        let mut stepper = (self.bind)(system, start, h)?;
        let steps = steps_between(start.t, problem.end, h)?;
        let mut state = start.clone();
        let clock = Instant::now();
        let mut probe = SystemProbe::new(system);
        let ledger = run_steps(&mut stepper, &mut probe, &mut state, steps, &mut ())?.ledger;
        let microseconds = clock.elapsed().as_secs_f64() * 1e6 / steps as f64;
        let mixed = |(q, exact): (&f64, &f64)| (q - exact).abs() / (1.0 + exact.abs());
        let error = state.q.iter().zip(&problem.positions).map(mixed).fold(0.0, f64::max);
        let residuals = [ledger.position_residual, ledger.velocity_residual];
        Ok(Outcome { h, steps, iterations: ledger.iterations, error, residuals, microseconds })
    }

    /// Claims and curve; returns the rows of the table.
    pub(super) fn judge(
        &self,
        outcomes: &[Outcome],
        ordinate: &str,
        findings: &mut Findings,
    ) -> Vec<Vec<String>> {
        let name = self.name;
        if let [.., a, b] = outcomes {
            let order = (a.error / b.error).ln() / (a.h / b.h).ln();
            findings.check(format!("{name}: order"), order, Expected::Near(2.0, 0.05));
        }
        if let Some(third) = outcomes.get(2) {
            let what = format!("{name}: error at h = {:e}", third.h);
            findings.check(what, third.error, Expected::AtMost(self.error));
        }
        for (k, what) in ["|g|", "|dg/dt|"].into_iter().enumerate() {
            if let Some(bound) = self.residuals[k] {
                let largest = outcomes.iter().map(|o| o.residuals[k]).fold(0.0, f64::max);
                findings.check(format!("{name}: largest {what}"), largest, Expected::AtMost(bound));
            }
        }
        let labels = (WORK, ordinate);
        findings.curve(name, labels, outcomes.iter().map(|o| [o.iterations as f64, o.error]));
        if findings.axes.iter().all(|((_, y), _)| y != ordinate) {
            findings.draw(labels, Axes::DoubleLogarithmic);
        }
        outcomes.iter().map(|o| o.row(name)).collect()
    }
}

impl Outcome {
    fn row(&self, name: &str) -> Vec<String> {
        let [position, velocity] = self.residuals;
        vec![
            name.to_owned(),
            format!("{:e}", self.h),
            self.steps.to_string(),
            self.iterations.to_string(),
            format!("{:.2e}", self.error),
            format!("{:.2}", -self.error.log10()),
            format!("{position:.1e}"),
            format!("{velocity:.1e}"),
            format!("{:.1}", self.microseconds),
        ]
    }
}

/// The table of all runs.
pub(super) fn tabulate(title: &str, rows: Vec<Vec<String>>, findings: &mut Findings) {
    let columns = [
        "method",
        "h",
        "steps",
        "iterations",
        "mixed error",
        "mescd",
        "|g|",
        "|dg/dt|",
        "µs a step",
    ];
    findings.table(title, &columns, rows);
}
