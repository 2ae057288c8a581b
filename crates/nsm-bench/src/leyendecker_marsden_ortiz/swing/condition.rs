//! Table 2: the number of unknowns, the condition numbers and the times of both schemes, with multipliers and without.

use nsm_model::Stepper;
use nsm_vi::{
    ConditionEstimator, Conditioning, Conserving, ForceAverage, NullSpace, Quadrature, Scheme,
    Segment, Variational,
};

use super::super::time;
use super::Swing;
use crate::{Effort, Expected, Findings, ScenarioError};

/// A step with the bounds of its condition numbers: variational with multipliers and without, energy–momentum alike.
type Row = (f64, [[f64; 2]; 4]);

const TABLE: [Row; 3] = [
    (1e-2, [[6e11, 8e11], [4e4, 6e4], [2e12, 3.5e12], [4e4, 6e4]]),
    (1e-3, [[4e13, 6e13], [8e4, 1.2e5], [1.5e14, 2.5e14], [8e4, 1.2e5]]),
    (1e-4, [[4e16, 6e16], [1.7e5, 2.6e5], [1.5e17, 2.5e17], [1.7e5, 2.6e5]]),
];

const NAMES: [&str; 4] = [
    "variational, multipliers",
    "variational, null space",
    "energy-momentum, multipliers",
    "energy-momentum, null space",
];

pub(super) fn condition(effort: Effort) -> Result<Findings, ScenarioError> {
    let swing = Swing::new()?;
    let system = &swing.system;
    let mut findings = Findings::default();
    let (n, m) = (system.dimension(), system.equalities().len());
    findings.check("coordinates", n as f64, Expected::Near(276.0, 0.0));
    findings.check("constraints", m as f64, Expected::Near(154.0, 0.0));
    let (mut plain, mut scaled) = (Vec::new(), Vec::new());
    let mut estimator = ConditionEstimator::new(system, Quadrature::Midpoint)?;
    for (h, bounds) in TABLE {
        let mut variational = NullSpace::reparametrised(h, Quadrature::Midpoint)
            .stepper_with(system, swing.mechanism.tree())?;
        let mut conserving = Conserving::new(h).stepper(system)?;
        if plain.is_empty() {
            let freedoms = variational.freedoms() as f64;
            findings.check("unknowns without multipliers", freedoms, Expected::Near(122.0, 0.0));
        }
        let start = &swing.start;
        let (mut first, mut second) = (start.clone(), start.clone());
        variational.step(&mut first)?;
        conserving.step(&mut second)?;
        let segment = |end| Segment { start: &start.q, end, t: start.t, h };
        let a = Conditioning::new(system, Quadrature::Midpoint, segment(&first.q))?;
        let (average, multipliers) = (ForceAverage::Conserving, conserving.multipliers());
        let scheme = Scheme::Conserving { average, multipliers };
        let b = Conditioning::new(system, scheme, segment(&second.q))?;
        let tree = &mut swing.mechanism.tree();
        let freedoms = [
            Conditioning::in_freedoms(system, Quadrature::Midpoint, segment(&first.q), tree)?,
            Conditioning::in_freedoms(system, scheme, segment(&second.q), tree)?,
        ];
        let values = [a.multipliers, freedoms[0], b.multipliers, freedoms[1]];
        for ((name, value), [low, high]) in NAMES.into_iter().zip(values).zip(bounds) {
            findings.check(format!("{name}, h = {h}"), value, Expected::Within(low, high));
        }
        for (name, value) in [("variational", a.scaled), ("energy-momentum", b.scaled)] {
            let what = format!("{name}, multipliers, scaled, h = {h}");
            findings.check(what, value, Expected::AtMost(2e6));
        }
        let share = estimator.estimate(segment(&first.q))?.scaled / a.scaled;
        let what = format!("variational, scaled, estimated over exact, h = {h}");
        findings.check(what, share, Expected::Within(0.5, 1.001));
        plain.push([h, a.multipliers]);
        scaled.push([h, a.scaled]);
    }
    findings.curve("as the paper writes it", ("step [s]", "condition number"), plain);
    findings.curve("scaled", ("step [s]", "condition number"), scaled);
    if effort == Effort::Full {
        let (start, steps, h) = (&swing.start, 200, 1e-3);
        let multipliers = Variational::new(h, Quadrature::Midpoint).stepper(system)?;
        let freedoms = NullSpace::reparametrised(h, Quadrature::Midpoint)
            .stepper_with(system, swing.mechanism.tree())?;
        let measured = [
            time::seconds(Conserving::new(h).stepper(system)?, start, steps)?,
            time::seconds(multipliers, start, steps)?,
            time::seconds(freedoms, start, steps)?,
        ];
        time::row(&mut findings, steps, measured, ["1.5", "1.4", "1"]);
    }
    Ok(findings)
}
