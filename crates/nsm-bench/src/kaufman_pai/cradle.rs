//! Figure 7.3: Newton's cradle with five balls.

use nsm_vi::{Gvi, Quadrature};

use super::run::Trace;
use super::systems::cradle;
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "kaufman-pai/cradle",
            "Figure 7.3",
            "Energy is unstable at h = 0.03 and stable from h = 0.01 down.",
            Status::Differs,
            published,
        )
        .noting(
            "Stable at all four steps, with a band that shrinks as h². Gravity 9.8 and pivots two radii \
             apart are ours. Algorithm 1 penetrates by up to 0.058.",
        ),
        Scenario::new(
            "kaufman-pai/cradle-repredict",
            "beyond Figure 7.3",
            "Predicting again after a reflection, until the step is feasible, removes the penetration.",
            Status::Chosen,
            repredicted,
        )
        .noting("Not in the paper: our remedy."),
    ]
}

fn published(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = cradle(5, 2)?;
    let mut findings = Findings::default();
    for (h, steps, band, depth) in [
        (0.03, 1667, 0.0091, 0.058),
        (0.02, 2500, 0.0040, 0.030),
        (0.01, 5000, 0.0010, 0.019),
        (0.005, 10_000, 0.0003, 0.0097),
    ] {
        let mut stepper = Gvi::new(h, Quadrature::Midpoint).stepper(&system)?;
        let trace = Trace::run(&system, &start, &mut stepper, steps).completed()?;
        let energy = trace.ledger.energy;
        findings.check(
            format!("energy at the start, h = {h}"),
            energy.start,
            Expected::Near(3.743_267, 1e-6),
        );
        findings.check(
            format!("band below it, h = {h}"),
            energy.start - energy.min,
            Expected::Near(band, 0.05 * band + 5e-5),
        );
        findings.check(
            format!("above it, h = {h}"),
            energy.max - energy.start,
            Expected::AtMost(1e-4),
        );
        findings.check(
            format!("rods, h = {h}"),
            trace.ledger.position_residual,
            Expected::AtMost(4e-16),
        );
        findings.check(
            format!("penetration, h = {h}"),
            trace.ledger.penetration,
            Expected::Near(depth, 0.05 * depth),
        );
        findings.check(
            format!("most rounds, h = {h}"),
            trace.ledger.most_rounds as f64,
            Expected::Near(6.0, 0.0),
        );
        findings.curve(format!("h = {h}"), ("t", "energy"), trace.energy);
        findings.curve(format!("h = {h}"), ("t", "x of the first ball"), trace.position);
    }
    Ok(findings)
}

fn repredicted(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = cradle(5, 2)?;
    let mut findings = Findings::default();
    for (h, steps, band) in
        [(0.03, 1667, 0.012), (0.02, 2500, 0.005), (0.01, 5000, 0.0012), (0.005, 10_000, 0.0003)]
    {
        let method = Gvi { repredict: true, ..Gvi::new(h, Quadrature::Midpoint) };
        let trace =
            Trace::run(&system, &start, &mut method.stepper(&system)?, steps).completed()?;
        findings.check(
            format!("penetration, h = {h}"),
            trace.ledger.penetration,
            Expected::AtMost(1e-14),
        );
        findings.check(
            format!("energy drift, h = {h}"),
            trace.ledger.energy.deviation(),
            Expected::AtMost(band),
        );
        findings.curve(format!("h = {h}"), ("t", "energy"), trace.energy);
    }
    Ok(findings)
}
