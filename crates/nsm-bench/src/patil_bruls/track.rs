//! Section 5.1: a material point on a kinked track, by every method of the paper.

use nsm_alpha::{AlphaError, ClassicalAlpha, Coefficients, EventDriven, Index, Nsga, Variant};

use super::problems::{Kink, track};
use super::run::{Method, RHO};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

const STEP: f64 = 0.002;
const END: f64 = 6.0;

/// The scenarios of section 5.1.
pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "patil-bruls/track-classical",
            "Figure 10",
            "index 3 and 2 follow the track with half the energy, index 1 leaves it; index 2 drifts by 1e-3",
            Status::Reproduced,
            classical,
        ),
        Scenario::new(
            "patil-bruls/track-nsga",
            "Figure 11",
            "NSGA follows the track, satisfies position and velocity constraints, and loses 50 % of the energy",
            Status::Reproduced,
            nonsmooth,
        ),
        Scenario::new(
            "patil-bruls/track-interpolation-index2",
            "Figure 12a",
            "index 2 with the intermediate gradient: loss for 0.9, gain for 0.7 and 0.5",
            Status::Reproduced,
            index_two,
        ),
        Scenario::new(
            "patil-bruls/track-interpolation",
            "Figures 12b and 12c",
            "fully implicit index 2, event-driven and NSGA agree, and conserve energy at 0.5",
            Status::Reproduced,
            interpolation,
        ),
        Scenario::new(
            "patil-bruls/track-backward",
            "Figure 9, case 2",
            "with the second switching function the point goes back down the line",
            Status::Erratum,
            backward,
        )
        .noting(
            "with the gradient after the switch the impact law sends the point back through the surface (Zv from 0.5 to -0.25): refused; it works for interpolation in [0.5, 0.5858)",
        ),
    ]
}

fn index(index: Index) -> Result<ClassicalAlpha, ScenarioError> {
    Ok(ClassicalAlpha::new(STEP, index, RHO)?)
}

fn classical(_: Effort) -> Result<Findings, ScenarioError> {
    let problem = track(Kink::Uphill)?;
    let mut findings = Findings::default();
    for (name, level, x, y, energy) in [
        ("index 3", Index::Three, 4.5, 1.5, 0.25),
        ("index 2", Index::Two, 4.5005, 1.4995, 0.25),
        ("index 1", Index::One, 6.0, 0.0, 0.5),
    ] {
        let record = Method::Classical(index(level)?).run(&problem, END)?;
        let q = &record.state.q;
        findings.check(format!("{name}: x(6)"), q[0], Expected::Near(x, 1e-4));
        findings.check(format!("{name}: y(6)"), q[1], Expected::Near(y, 1e-4));
        let end = record.ledger.energy.end;
        findings.check(format!("{name}: energy"), end, Expected::Near(energy, 1e-6));
        let drift = record.ledger.position_residual;
        let expected = match level {
            Index::Three => Expected::AtMost(1e-12),
            Index::Two => Expected::Near(1e-3, 1e-4),
            Index::One => Expected::Near(3.0, 1e-9),
        };
        findings.check(format!("{name}: largest |g|"), drift, expected);
        findings.curve(name, ("x", "y"), record.trace(0, 1));
        record.add_kinetic(name, &mut findings);
    }
    Ok(findings)
}

fn nonsmooth(_: Effort) -> Result<Findings, ScenarioError> {
    let problem = track(Kink::Uphill)?;
    let mut findings = Findings::default();
    for (name, variant) in [("as published", Variant::Published), ("active", Variant::Active)] {
        let method = Nsga { variant, ..Nsga::new(STEP, RHO)? };
        let record = Method::Nsga(method).run(&problem, END)?;
        let ledger = &record.ledger;
        let q = &record.state.q;
        findings.check(format!("{name}: x(6)"), q[0], Expected::Near(4.5, 1e-9));
        findings.check(format!("{name}: energy"), ledger.energy.end, Expected::Near(0.25, 1e-12));
        let predicted = ledger.event_energy_change;
        findings.check(
            format!("{name}: predicted change"),
            predicted,
            Expected::Near(-0.25, 1e-12),
        );
        findings.check(format!("{name}: |g|"), ledger.position_residual, Expected::AtMost(1e-11));
        findings.check(format!("{name}: |g'|"), ledger.velocity_residual, Expected::AtMost(1e-14));
        findings.curve(name, ("x", "y"), record.trace(0, 1));
        record.add_kinetic(name, &mut findings);
    }
    Ok(findings)
}

fn index_two(_: Effort) -> Result<Findings, ScenarioError> {
    let problem = track(Kink::Uphill)?;
    let mut findings = Findings::default();
    for (e, energy) in [(0.9, 0.3281), (0.7, 0.5366), (0.5, 0.8356)] {
        let method = ClassicalAlpha { interpolation: Some(e), ..index(Index::Two)? };
        let record = Method::Classical(method).run(&problem, END)?;
        let end = record.ledger.energy.end;
        findings.check(format!("energy for {e}"), end, Expected::Near(energy, 1e-4));
        record.add_kinetic(&format!("E = {e}"), &mut findings);
    }
    Ok(findings)
}

fn interpolation(_: Effort) -> Result<Findings, ScenarioError> {
    let problem = track(Kink::Uphill)?;
    let mut findings = Findings::default();
    for (e, energy) in [(0.9, 0.287_749), (0.7, 0.379_806), (0.5, 0.5), (0.3, 0.658_232)] {
        let implicit = ClassicalAlpha {
            interpolation: Some(e),
            coefficients: Coefficients::fully_implicit(),
            ..index(Index::Two)?
        };
        let event = EventDriven { interpolation: e, ..EventDriven::new(STEP, RHO)? };
        let nsga = Nsga { interpolation: e, ..Nsga::new(STEP, RHO)? };
        for (name, method) in [
            ("fully implicit", Method::Classical(implicit)),
            ("event-driven", Method::Event(event)),
            ("NSGA", Method::Nsga(nsga)),
        ] {
            let record = method.run(&problem, END)?;
            let end = record.ledger.energy.end;
            findings.check(format!("{name}: energy for {e}"), end, Expected::Near(energy, 1e-6));
            if name == "NSGA" {
                record.add_kinetic(&format!("E = {e}"), &mut findings);
            }
        }
    }
    Ok(findings)
}

fn backward(_: Effort) -> Result<Findings, ScenarioError> {
    let problem = track(Kink::Backward)?;
    let mut findings = Findings::default();
    let refusals = [
        Method::Event(EventDriven::new(STEP, RHO)?).refusal(&problem, END),
        Method::Nsga(Nsga::new(STEP, RHO)?).refusal(&problem, END),
    ];
    for refusal in refusals {
        // The surface is crossed outwards, so both rates carry the sign of the region left behind.
        let (before, after) = match refusal {
            Some(AlphaError::Direction { before, after, .. }) => (before, after),
            _ => (f64::NAN, f64::NAN),
        };
        findings.check("refused: Zv before", -before, Expected::Near(0.5, 1e-9));
        findings.check("refused: Zv after", -after, Expected::Near(-0.25, 1e-9));
    }
    for e in [0.5, 0.55, 0.58] {
        let method = EventDriven { interpolation: e, ..EventDriven::new(STEP, RHO)? };
        let record = Method::Event(method).run(&problem, END)?;
        let x = record.state.q[0];
        findings.check(format!("goes back for {e}: x(6)"), x, Expected::AtMost(3.0));
        findings.curve(format!("E = {e}"), ("x", "y"), record.trace(0, 1));
    }
    Ok(findings)
}
