//! Rank of the constraints, angles and distances over the motion: Figures 12 and 13, (105)–(108).

use nsm_solvers::dense::singular_values;

use super::run::{Trace, draw};
use super::{LENGTH, SixBody};
use crate::{Axes, Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "leyendecker-marsden-ortiz/six-body-mobility",
            "Section 5.5, (105) and Remark 5.4",
            "Of the 72 constraints on 72 coordinates 71 are independent, everywhere: one freedom.",
            Status::Reproduced,
            mobility,
        ),
        Scenario::new(
            "leyendecker-marsden-ortiz/six-body-angles",
            "Figures 12 and 13, (106) to (108)",
            "Only two angles differ, sin θ1 (1 + sin θ2) = sin θ2, and the distances of opposite corners are constant.",
            Status::Chosen,
            angles,
        )
        .noting("Gravity along the third axis is our choice. In (108) θ1 runs over [−π, 0] for s = 1, 3 and θ2 over [0, π] for s = 2, 4; the images are [π, 7π/6] for s = 3 and [−7π/6, −π] for s = 4."),
    ]
}

fn mobility(effort: Effort) -> Result<Findings, ScenarioError> {
    let linkage = SixBody::new()?;
    let (n, rows) = (linkage.system.dimension(), linkage.system.equalities());
    let trace = Trace::new(&linkage, 1e-2, 200)?;
    let every = if effort == Effort::Quick { 5 } else { 1 };
    let (mut least, mut redundant) = (f64::INFINITY, 0.0_f64);
    let (mut low, mut high) = (usize::MAX, 0);
    let mut gradients = vec![0.0; rows.entries()];
    let (mut smallest, mut second) = (Vec::new(), Vec::new());
    for (k, q) in trace.positions.iter().enumerate().step_by(every) {
        rows.gradients(q, 0.0, &mut gradients);
        let mut dense = vec![0.0; rows.len() * n];
        for i in 0..rows.len() {
            rows.add_row(i, &gradients, 1.0, &mut dense[i * n..(i + 1) * n]);
        }
        let values = singular_values(rows.len(), n, &dense)?;
        least = least.min(values[n - 2]);
        redundant = redundant.max(values[n - 1]);
        let t = 1e-2 * k as f64;
        second.push([t, values[n - 2]]);
        smallest.push([t, values[n - 1].max(1e-18)]);
        let rank = linkage.mechanism.redundancy(q)?.rank;
        (low, high) = (low.min(rank), high.max(rank));
    }
    let mut findings = Findings::default();
    findings.check("coordinates", n as f64, Expected::Near(72.0, 0.0));
    findings.check("constraints", rows.len() as f64, Expected::Near(72.0, 0.0));
    findings.check("least rank over the motion", low as f64, Expected::Near(71.0, 0.0));
    findings.check("greatest rank over the motion", high as f64, Expected::Near(71.0, 0.0));
    findings.check("least σ71 over the motion", least, Expected::AtLeast(0.025));
    findings.check("greatest σ72 over the motion", redundant, Expected::AtMost(1e-14));
    findings.curve("σ71", ("t (dimensionless)", "singular value (dimensionless)"), second);
    findings.curve("σ72", ("t (dimensionless)", "singular value (dimensionless)"), smallest);
    Ok(findings)
}

fn angles(effort: Effort) -> Result<Findings, ScenarioError> {
    let linkage = SixBody::new()?;
    let (h, steps) = if effort == Effort::Quick { (1e-3, 500) } else { (1e-3, 2000) };
    let trace = Trace::new(&linkage, h, steps)?;
    let (mut symmetry, mut closure, mut distance) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut first, mut second, mut loop_curve) = (Vec::new(), Vec::new(), Vec::new());
    for (k, q) in trace.positions.iter().enumerate() {
        let theta = linkage.angles(q)?;
        for k in 2..6 {
            symmetry = symmetry.max((theta[k] - theta[k - 2]).abs());
        }
        let (a, b) = (theta[0].sin(), theta[1].sin());
        closure = closure.max((a * (1.0 + b) - b).abs());
        let diagonal = 3.0_f64.sqrt() * LENGTH;
        for d in linkage.diagonals(q) {
            distance = distance.max((d - diagonal).abs());
        }
        let t = h * k as f64;
        first.push([t, theta[0]]);
        second.push([t, theta[1]]);
        loop_curve.push([theta[0], theta[1]]);
    }
    let mut findings = Findings::default();
    findings.check("(106), largest difference of angles", symmetry, Expected::AtMost(1e-12));
    findings.check("(107), largest residual", closure, Expected::AtMost(1e-12));
    findings.check("distances of corners from √3 l", distance, Expected::AtMost(1e-13));
    for (k, theta) in [
        (130, [-1.124_267, 3.635_675]),
        (260, [-3.661_640, 1.727_413]),
        (500, [-0.549_756, 3.491_890]),
    ] {
        for (name, points, value) in [("θ1", &first, theta[0]), ("θ2", &second, theta[1])] {
            let what = format!("{name} at t = {}", h * k as f64);
            findings.check(what, points[k][1], Expected::Near(value, 2e-6));
        }
    }
    draw(&mut findings, "θ1", ("t (dimensionless)", "angle [rad]"), &first);
    draw(&mut findings, "θ2", ("t (dimensionless)", "angle [rad]"), &second);
    draw(&mut findings, "motion", ("θ1 [rad]", "θ2 [rad]"), &loop_curve);
    findings.draw(("θ1 [rad]", "θ2 [rad]"), Axes::Equal);
    Ok(findings)
}
