//! Figures 3–12 and 14–16: the conserving step with and without projection.

use nsm_vi::{Conserving, ConstraintSolver, Projected, Projection, ProjectionMatrix};

use super::run::{Trace, drift, size};
use super::{ENERGY, particles, w};
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
        Scenario::new(
            "garcia-orden/projection",
            "Figures 9, 14 and 15",
            "The mass matrix dissipates; W raises the energy to 0.53 by a penalty of 1 and to 0.67 by 20.",
            Status::Reproduced,
            projection,
        ),
        Scenario::new(
            "garcia-orden/long-run",
            "Figure 16",
            "After 50 s the mass matrix leaves 0.74 of the energy; W has 2.54 of it at 35.5 s, where the integration fails.",
            Status::Differs,
            long_run,
        )
        .noting("The energies are as stated; W does not fail at 35.5 s. Beyond about 40 s its run is not reproducible: 1e-9 grows by 3.6e5."),
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
        let trace = Trace::free(&system, &start, method.stepper(&system)?, 250)?;
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
    let trace = Trace::free(&system, &start, Conserving::new(0.1).stepper(&system)?, 100)?;
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

/// A run at a step of 0.1 with a projection.
fn run(matrix: ProjectionMatrix, alpha: f64, steps: usize) -> Result<Trace, ScenarioError> {
    let (system, start) = particles()?;
    let inner = Conserving::new(0.1).stepper(&system)?;
    let stepper = Projected::new(&system, inner, &Projection::penalty(matrix, alpha))?;
    Ok(Trace::projected(&system, &start, stepper, steps)?)
}

fn projection(_: Effort) -> Result<Findings, ScenarioError> {
    let mut findings = Findings::default();
    for (name, matrix, alpha, energy) in [
        ("M, penalty 1", ProjectionMatrix::Mass, 1.0, 0.463_384),
        ("W, penalty 1", w(), 1.0, 0.529_716),
        ("W, penalty 20", w(), 20.0, 0.669_108),
    ] {
        let trace = run(matrix, alpha, 100)?;
        findings.check(
            format!("energy at t = 10, {name}"),
            trace.energy_at(10.0),
            Expected::Near(energy, 1e-6),
        );
        trace.draw(&mut findings, name);
    }
    Ok(findings)
}

fn long_run(_: Effort) -> Result<Findings, ScenarioError> {
    let mut findings = Findings::default();
    let mass = run(ProjectionMatrix::Mass, 1.0, 500)?;
    let share = mass.energy_at(50.0) / ENERGY;
    findings.check("E(50)/E(0), M, penalty 1", share, Expected::Near(0.739_07, 1e-5));
    let other = run(w(), 20.0, 380)?;
    for (t, share) in [(35.4, 2.497), (35.5, 2.559)] {
        let found = other.energy_at(t) / ENERGY;
        findings.check(format!("E({t})/E(0), W, penalty 20"), found, Expected::Near(share, 1e-3));
    }
    for (name, trace) in [("M, penalty 1", mass), ("W, penalty 20", other)] {
        findings.curve(name, ("t", "velocity constraint"), trace.rate);
        findings.curve(name, ("t", "energy"), trace.energy);
    }
    Ok(findings)
}
