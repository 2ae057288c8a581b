//! Figure 1.3: a point mass and a floor, by direct methods; and the smooth approach of section 1.1.

use nsm_constraints::{Affine, AutoDiff, Expr, Scalar};
use nsm_model::{Mass, State, System};
use nsm_vi::{ConstraintAt, Direct, Gvi, Newmark, Quadrature};

use super::run::Trace;
use super::systems::ball;
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "kaufman-pai/ball",
            "Figure 1.3a",
            "Midpoint-constrained steps gain and lose energy within one run, end-point-constrained \
             ones dissipate; the generalized method follows the exact solution.",
            Status::Chosen,
            direct_methods,
        )
        .noting("The step is not printed; h = 0.05 is ours."),
        Scenario::new(
            "kaufman-pai/ball-heights",
            "Figure 1.3b",
            "The loss of the end-point-constrained method varies inconsistently with the height of \
             release.",
            Status::Chosen,
            heights,
        )
        .noting("The heights 1, 1.01 and 1.02 and h = 0.05 are ours."),
        Scenario::new(
            "kaufman-pai/smooth-approach",
            "Figure 1.2d",
            "A trajectory that meets the boundary tangentially does not bounce.",
            Status::Erratum,
            smooth_approach,
        )
        .noting(
            "Algorithm 1 does not deliver it: a tangential landing is reflected before it can enter \
             the smooth set. The particle bounces, the less the smaller the step.",
        ),
    ]
}

fn direct_methods(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, start) = ball(1.0)?;
    let mut findings = Findings::default();
    let h = 0.05;
    let middle = Trace::run(
        &system,
        &start,
        &mut Direct::new(h, ConstraintAt::Midpoint).stepper(&system)?,
        120,
    )
    .completed()?;
    findings.check(
        "midpoint: lowest energy",
        middle.ledger.energy.min,
        Expected::Near(2.9299, 1e-3),
    );
    findings.check(
        "midpoint: highest energy",
        middle.ledger.energy.max,
        Expected::Near(102.175, 1e-2),
    );
    let end = Trace::run(
        &system,
        &start,
        &mut Direct::new(h, ConstraintAt::Endpoint).stepper(&system)?,
        120,
    )
    .completed()?;
    findings.check("end-point: final energy", end.ledger.energy.end, Expected::Near(0.0098, 1e-6));
    findings.check("end-point: highest energy", end.ledger.energy.max, Expected::Near(9.8, 1e-12));
    let imex = Trace::run(&system, &start, &mut Newmark::imex(h, 0.0, 0.5).stepper(&system)?, 120)
        .completed()?;
    findings.check(
        "IMEX Newmark (0, 1/2): final energy",
        imex.ledger.energy.end,
        Expected::Near(0.0098, 1e-6),
    );
    let gvi =
        Trace::run(&system, &start, &mut Gvi::new(h, Quadrature::Midpoint).stepper(&system)?, 120)
            .completed()?;
    for (name, trace) in [
        ("midpoint-constrained", &middle),
        ("end-point-constrained", &end),
        ("IMEX Newmark", &imex),
        ("GVI", &gvi),
    ] {
        findings.curve(name, ("t", "height"), trace.position.iter().copied());
    }
    let long =
        Trace::run(&system, &start, &mut Gvi::new(h, Quadrature::Midpoint).stepper(&system)?, 4000)
            .completed()?;
    findings.check(
        "GVI: energy drift over 200 s",
        long.ledger.energy.deviation(),
        Expected::AtMost(1e-12),
    );
    findings.check("GVI: penetration", long.ledger.penetration, Expected::AtMost(0.0));
    Ok(findings)
}

fn heights(_: Effort) -> Result<Findings, ScenarioError> {
    let mut findings = Findings::default();
    for (height, energy) in [(1.0, 8.405), (1.01, 6.845), (1.02, 5.445)] {
        let (system, start) = ball(height)?;
        let method = Direct::new(0.05, ConstraintAt::Endpoint);
        let first = Trace::run(&system, &start, &mut method.stepper(&system)?, 11).completed()?;
        let what = format!("energy after the first impact from {height}");
        findings.check(what, first.ledger.energy.end, Expected::Near(energy, 1e-3));
        let whole = Trace::run(&system, &start, &mut method.stepper(&system)?, 120).completed()?;
        findings.curve(format!("from {height}"), ("t", "height"), whole.position);
    }
    Ok(findings)
}

/// $V = 6(t - 1)\\,y$: a particle from $(1, -3)$ follows $y = (1 - t)^3$ onto the floor and is then pressed.
struct Landing;
impl Expr for Landing {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        q[0] * (t - 1.0) * 6.0
    }
}

fn smooth_approach(_: Effort) -> Result<Findings, ScenarioError> {
    let system = System::new(Mass::diagonal(&[1.0])?)
        .with_potential("press", AutoDiff::new(Landing, &[0])?)?
        .with_inequality("floor", Affine::above(0, 0.0)?)?;
    let start = State::new(&system, &[1.0], &[-3.0])?;
    let mut findings = Findings::default();
    let mut last = f64::INFINITY;
    for h in [0.2_f64, 0.1, 0.05, 0.025] {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few hundred at most
        let (landing, steps) = ((1.0 / h).round() as usize, (3.0 / h).round() as usize);
        let mut stepper = Gvi::new(h, Quadrature::Midpoint).stepper(&system)?;
        let approach = Trace::run(&system, &start, &mut stepper, landing).completed()?;
        let mut stepper = Gvi::new(h, Quadrature::Midpoint).stepper(&system)?;
        let after = Trace::run(&system, &approach.end, &mut stepper, steps).completed()?;
        let bounce = after.position.iter().fold(0.0_f64, |a, y| a.max(y[1]));
        findings.check(
            format!("impacts after landing, h = {h}"),
            after.ledger.events as f64,
            Expected::AtLeast(1.0),
        );
        findings.check(
            format!("highest bounce, h = {h}"),
            bounce,
            Expected::Within(1e-9, 0.5 * last),
        );
        last = bounce;
        findings.curve(format!("h = {h}"), ("t", "height"), after.position);
    }
    Ok(findings)
}
