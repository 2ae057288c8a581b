//! Figure 7.1: two discs in a nonlinear potential, bouncing while they turn.

use nsm_vi::{ConstraintAt, Direct, Gvi, Hybrid, Quadrature};

use super::run::Trace;
use super::systems::oscillator;
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

const H: f64 = 0.1;
/// To t = 1000.
const STEPS: usize = 10_000;

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "kaufman-pai/oscillator-endpoint",
            "Figure 7.1a",
            "The end-point-constrained method quickly dissipates the bouncing.",
            Status::Reproduced,
            endpoint,
        )
        .noting("The paper's constant contact afterwards is not seen: contact in 0.2 % of steps."),
        Scenario::new(
            "kaufman-pai/oscillator-hybrid",
            "Figure 7.1b",
            "The hybrid method dissipates.",
            Status::Differs,
            hybrid,
        )
        .noting("It does not: a hybrid that treats all events keeps its energy band to t = 1000."),
        Scenario::new(
            "kaufman-pai/oscillator-gvi",
            "Figure 7.1c",
            "GVI keeps energy and angular momentum.",
            Status::Reproduced,
            gvi,
        ),
        Scenario::new(
            "kaufman-pai/oscillator-linearised",
            "Figure 7.1d",
            "With linearised constraints energy is kept and angular momentum lost.",
            Status::Chosen,
            linearised,
        )
        .noting("Linearised at the position one step back; at the current one L would be kept."),
        Scenario::new(
            "kaufman-pai/oscillator-midpoint",
            "Footnote 5",
            "The midpoint-constrained method is highly unstable.",
            Status::Reproduced,
            midpoint,
        ),
    ]
}

fn endpoint(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = oscillator()?;
    let mut stepper = Direct::new(H, ConstraintAt::Endpoint).stepper(&system)?;
    let trace = Trace::run(&system, &start, &mut stepper, STEPS).completed()?;
    let mut findings = Findings::default();
    findings.check("energy at the start", trace.ledger.energy.start, Expected::Near(4.613, 1e-3));
    let (low, high) = trace.late_energy(1);
    findings.check("lowest energy from t = 100", low, Expected::Near(3.1427, 1e-3));
    findings.check("highest energy from t = 100", high, Expected::Near(3.1794, 1e-3));
    findings.check(
        "angular momentum at the start",
        trace.tracked().start,
        Expected::Near(2.8, 1e-12),
    );
    findings.check(
        "angular momentum at the end",
        trace.tracked().end,
        Expected::Near(3.5456, 1e-3),
    );
    trace.draw(&mut findings, "end-point-constrained");
    Ok(findings)
}

fn hybrid(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = oscillator()?;
    let mut stepper = Hybrid::new(H, Quadrature::Midpoint).stepper(&system)?;
    let trace = Trace::run(&system, &start, &mut stepper, STEPS).completed()?;
    let mut findings = Findings::default();
    findings.check("lowest energy", trace.ledger.energy.min, Expected::Near(4.487, 1e-2));
    findings.check("highest energy", trace.ledger.energy.max, Expected::Near(4.613, 1e-2));
    findings.check(
        "drift of angular momentum",
        trace.tracked().deviation(),
        Expected::AtMost(2e-12),
    );
    trace.draw(&mut findings, "hybrid");
    Ok(findings)
}

fn gvi(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = oscillator()?;
    let mut stepper = Gvi::new(H, Quadrature::Midpoint).stepper(&system)?;
    let trace = Trace::run(&system, &start, &mut stepper, STEPS).completed()?;
    let mut findings = Findings::default();
    for (i, window) in trace.windows.iter().enumerate() {
        let span = format!("t = {} to {}", 100 * i, 100 * (i + 1));
        findings.check(format!("lowest energy, {span}"), window.min, Expected::Near(4.5016, 1e-3));
        findings.check(format!("highest energy, {span}"), window.max, Expected::Near(4.6127, 1e-3));
    }
    findings.check(
        "drift of angular momentum",
        trace.tracked().deviation(),
        Expected::AtMost(1e-12),
    );
    findings.check("penetration", trace.ledger.penetration, Expected::AtMost(0.0));
    trace.draw(&mut findings, "GVI");
    Ok(findings)
}

fn linearised(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = oscillator()?;
    let method = Gvi { linearised: true, ..Gvi::new(H, Quadrature::Midpoint) };
    let trace = Trace::run(&system, &start, &mut method.stepper(&system)?, 3000).completed()?;
    let mut findings = Findings::default();
    findings.check(
        "lowest energy to t = 300",
        trace.ledger.energy.min,
        Expected::Near(4.492, 2e-3),
    );
    findings.check(
        "highest energy to t = 300",
        trace.ledger.energy.max,
        Expected::Near(4.641, 2e-3),
    );
    findings.check("angular momentum at t = 300", trace.tracked().end, Expected::Near(0.0, 1e-3));
    trace.draw(&mut findings, "GVI, linearised");
    Ok(findings)
}

fn midpoint(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = oscillator()?;
    let mut stepper = Direct::new(H, ConstraintAt::Midpoint).stepper(&system)?;
    let trace = Trace::run(&system, &start, &mut stepper, 1000);
    let mut findings = Findings::default();
    findings.check("highest energy to t = 100", trace.ledger.energy.max, Expected::AtLeast(1e6));
    findings.curve("midpoint-constrained", ("t", "energy"), trace.energy);
    Ok(findings)
}
