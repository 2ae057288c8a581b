//! Condition numbers and times of both schemes: Table 1.

use nsm_model::Stepper;
use nsm_vi::{Conditioning, Conserving, ForceAverage, Scheme, Segment, Variational};

use super::super::time;
use super::SixBody;
use super::run::{MIDPOINT, reparametrised};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "leyendecker-marsden-ortiz/six-body-conditioning",
            "Table 1",
            "With multipliers the condition numbers are 5e4, 3e7, 3e10 (variational) and 1e5, 1e8, 1e11 (energy-momentum) at steps of 1e-2, 1e-3, 1e-4; in the one freedom they are 1.",
            Status::Reproduced,
            table,
        )
        .noting("Euclidean norm, first step from the cube. The ill-conditioning is one of scaling: times h, for the unknown h²λ, the same equations have a condition number that does not depend on h."),
    ]
}

/// A step of each scheme from the cube.
struct Steps<'a> {
    linkage: &'a SixBody,
    h: f64,
    variational: Vec<f64>,
    conserving: Vec<f64>,
    multipliers: Vec<f64>,
}

impl<'a> Steps<'a> {
    fn new(linkage: &'a SixBody, h: f64) -> Result<Self, ScenarioError> {
        let mut state = linkage.start.clone();
        reparametrised(linkage, h)?.step(&mut state)?;
        let variational = state.q.clone();
        let mut stepper = Conserving::new(h).stepper(&linkage.system)?;
        state.clone_from(&linkage.start);
        stepper.step(&mut state)?;
        let multipliers = stepper.multipliers().to_vec();
        Ok(Self { linkage, h, variational, conserving: state.q, multipliers })
    }

    fn of(&self, scheme: usize) -> (Scheme<'_>, Segment<'_>) {
        let (start, t, h) = (&self.linkage.start.q, 0.0, self.h);
        if scheme == 0 {
            return (MIDPOINT.into(), Segment { start, end: &self.variational, t, h });
        }
        let average = ForceAverage::Conserving;
        let scheme = Scheme::Conserving { average, multipliers: &self.multipliers };
        (scheme, Segment { start, end: &self.conserving, t, h })
    }

    fn conditions(&self, scheme: usize) -> Result<Conditioning, ScenarioError> {
        let (scheme, segment) = self.of(scheme);
        Ok(Conditioning::new(&self.linkage.system, scheme, segment)?)
    }

    /// The condition with one constraint left out.
    fn without(&self, scheme: usize, row: usize) -> Result<f64, ScenarioError> {
        let system = &self.linkage.system;
        let kept: Vec<usize> = (0..system.equalities().len()).filter(|&i| i != row).collect();
        let (scheme, segment) = self.of(scheme);
        Ok(Conditioning::keeping(system, scheme, segment, &kept)?)
    }

    /// The constraint that is best left out.
    fn best(&self, scheme: usize) -> Result<usize, ScenarioError> {
        let mut best = (f64::INFINITY, 0);
        for row in 0..self.linkage.system.equalities().len() {
            let condition = self.without(scheme, row)?;
            if condition < best.0 {
                best = (condition, row);
            }
        }
        Ok(best.1)
    }
}

fn table(effort: Effort) -> Result<Findings, ScenarioError> {
    let linkage = SixBody::new()?;
    let mut findings = Findings::default();
    let steps = [1e-2, 1e-3, 1e-4];
    let taken: Vec<_> = steps.iter().map(|&h| Steps::new(&linkage, h)).collect::<Result<_, _>>()?;
    let mut lines = Vec::new();
    for (scheme, name, paper) in
        [(0, "variational", [5e4, 3e7, 3e10]), (1, "energy-momentum", [1e5, 1e8, 1e11])]
    {
        let row = taken[0].best(scheme)?;
        let mut columns: [Vec<f64>; 5] = Default::default();
        for (k, at) in taken.iter().enumerate() {
            let h = steps[k];
            let (best, found) = (at.without(scheme, row)?, at.conditions(scheme)?);
            let numbers =
                [best, found.multipliers, found.scaled, found.null_space, found.reparametrised];
            columns.iter_mut().zip(numbers).for_each(|(column, x)| column.push(x));
            findings.check(
                format!("{name}, multipliers, h = {h:e}, over the paper's"),
                best / paper[k],
                Expected::Within(0.5, 2.0),
            );
            let one = Expected::Near(1.0, 0.0);
            findings.check(format!("{name}, one freedom, h = {h:e}"), found.reparametrised, one);
            let bounded = Expected::Within(1e4, 4e4);
            findings.check(format!("{name}, scaled, h = {h:e}"), found.scaled, bounded);
        }
        for (what, column) in [
            "multipliers, best row left out",
            "multipliers, row left out by pivoting",
            "multipliers, scaled",
            "null space method",
            "one freedom",
        ]
        .into_iter()
        .zip(columns)
        {
            let mut line = vec![format!("{name}, {what}")];
            line.extend(column.iter().map(|x| format!("{x:.1e}")));
            lines.push(line);
        }
    }
    findings.table(
        "Condition numbers in the Euclidean norm",
        &["equations", "h = 1e-2", "h = 1e-3", "h = 1e-4"],
        lines,
    );
    if effort == Effort::Full {
        let (system, start, steps, h) = (&linkage.system, &linkage.start, 200, 1e-3);
        let measured = [
            time::seconds(Conserving::new(h).stepper(system)?, start, steps)?,
            time::seconds(Variational::new(h, MIDPOINT).stepper(system)?, start, steps)?,
            time::seconds(reparametrised(&linkage, h)?, start, steps)?,
        ];
        time::row(&mut findings, steps, measured, ["2", "1", "1"]);
    }
    Ok(findings)
}
