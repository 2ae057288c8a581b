//! Figures 3–12: the multipliers of the conserving step, which a file does not see.

use nsm_vi::{Conserving, ConstraintSolver};

use super::run::{Trace, drift, size};
use super::{ENERGY, particles};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "garcia-orden/conserving",
            "Figures 3 to 8",
            "At a step of 0.04 energy is exact, the position constraint 1e-9, the velocity constraint 1e-2.",
            Status::Reproduced,
            small_step,
        ),
        Scenario::new(
            "garcia-orden/no-projection",
            "Figures 9 to 12",
            "At a step of 0.1 the multiplier oscillates, the velocity constraint grows, and the integration fails at 5.2 s.",
            Status::Differs,
            large_step,
        )
        .noting("It does not fail: every step has one real root, and Newton finds it. Growth and oscillation are as stated."),
    ]
}

fn small_step(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = particles()?;
    let mut findings = Findings::default();
    for (name, solver, energy, position) in [
        ("Newton", ConstraintSolver::Simultaneous, 1e-14, 4e-16),
        // Stopped at |Φ| < 1e-9: the work λ(Φ₁ − Φ₀) adds up.
        ("augmented Lagrangian", ConstraintSolver::augmented(), 1e-7, 1e-9),
    ] {
        let method = Conserving { solver, ..Conserving::new(0.04) };
        let trace = Trace::of(&system, &start, method.stepper(&system)?, 250)?;
        let (low, high) = trace
            .multiplier
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[1]), b.max(p[1])));
        let mut check = |what: &str, value, expected| {
            findings.check(format!("{what}, {name}"), value, expected);
        };
        check("energy drift", drift(&trace.energy, ENERGY), Expected::AtMost(energy));
        check("position constraint", size(&trace.position), Expected::AtMost(position));
        check("velocity constraint", size(&trace.rate), Expected::Near(2.56e-2, 5e-5));
        check("lowest multiplier", low, Expected::Near(0.039, 5e-4));
        check("highest multiplier", high, Expected::Near(5.015, 5e-4));
        trace.draw(&mut findings, name);
    }
    Ok(findings)
}

fn large_step(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = particles()?;
    let trace = Trace::of(&system, &start, Conserving::new(0.1).stepper(&system)?, 100)?;
    let mut findings = Findings::default();
    findings.check("energy drift", drift(&trace.energy, ENERGY), Expected::AtMost(1e-14));
    findings.check("velocity constraint to t = 1", size(&trace.rate[..10]), Expected::AtMost(0.3));
    findings.check(
        "velocity constraint to t = 5.2",
        size(&trace.rate[..52]),
        Expected::Near(0.749, 1e-3),
    );
    let turns = |points: &[[f64; 2]]| {
        points.windows(3).filter(|w| (w[1][1] - w[0][1]) * (w[2][1] - w[1][1]) < 0.0).count()
    };
    findings.check(
        "turning points of the multiplier to t = 5.2",
        turns(&trace.multiplier[..52]) as f64,
        Expected::AtLeast(10.0),
    );
    trace.draw(&mut findings, "no projection");
    Ok(findings)
}
