//! One trajectory by all forms of the scheme, the paper's own partition of the angles among them.

use nsm_vi::{NullSpace, Variational};

use super::SixBody;
use super::run::{MIDPOINT, positions, reparametrised};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "leyendecker-marsden-ortiz/six-body-variants",
            "Section 5.5",
            "Multipliers, null space method and reparametrisation give the same trajectory.",
            Status::Reproduced,
            variants,
        )
        .noting("The paper's partition of the angles equals the generic chart of the closed loop, which needs no analysis of the linkage."),
    ]
}

/// Largest distance of two trajectories.
fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let points = a.iter().flatten().zip(b.iter().flatten());
    points.fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
}

fn variants(effort: Effort) -> Result<Findings, ScenarioError> {
    let linkage = SixBody::new()?;
    let (system, start) = (&linkage.system, &linkage.start);
    // 200 steps at 1e-2 are five revolutions over all four branches.
    let (h, steps) = (1e-2, if effort == Effort::Quick { 60 } else { 200 });
    let reference = positions(reparametrised(&linkage, h)?, start, steps)?;
    let multipliers = Variational::new(h, MIDPOINT).stepper(system)?;
    let null_space = NullSpace::new(h, MIDPOINT).stepper(system)?;
    let method = NullSpace::reparametrised(h, MIDPOINT);
    let normal = method.stepper(system)?;
    let partition = method.stepper_with(system, linkage.partition())?;
    let mut findings = Findings::default();
    for (name, other) in [
        ("the paper's partition", positions(partition, start, steps)?),
        ("multipliers", positions(multipliers, start, steps)?),
        ("null space method", positions(null_space, start, steps)?),
        ("generic chart along normals", positions(normal, start, steps)?),
    ] {
        let what = format!("distance of the trajectories, {name}");
        findings.check(what, distance(&reference, &other), Expected::AtMost(1e-11));
    }
    Ok(findings)
}
