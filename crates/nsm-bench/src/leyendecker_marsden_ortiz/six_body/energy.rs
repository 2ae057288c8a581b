//! The discrete energies of the linkage by the variational scheme: Figures 16 and 17.

use super::SixBody;
use super::run::{Trace, band, draw};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "leyendecker-marsden-ortiz/six-body-energy",
            "Figures 16 and 17",
            "H_d of a node oscillates less than E_d of a step, and both less as the step decreases.",
            Status::Chosen,
            variational,
        )
        .noting("Gravity along the third axis is our choice."),
    ]
}

fn variational(effort: Effort) -> Result<Findings, ScenarioError> {
    let linkage = SixBody::new()?;
    let mut findings = Findings::default();
    let mut widths = Vec::new();
    // The bands are reached within the first revolutions; half a unit of the last digit is allowed.
    let quick = effort == Effort::Quick;
    for (h, steps, tolerance, bands) in [
        (1e-2, 200, 5.1e-6, [[0.669_10, 0.684_77], [0.687_43, 0.721_19]]),
        (
            1e-3,
            if quick { 500 } else { 2000 },
            5.1e-7,
            [[0.679_823, 0.679_973], [0.679_999, 0.680_299]],
        ),
    ] {
        let trace = Trace::new(&linkage, h, steps)?;
        findings.check(
            format!("H_d at the start, h = {h:e}"),
            trace.hamiltonian[0][1],
            Expected::Near(0.679_924_103_558, 1e-12),
        );
        for (name, points, [low, high]) in
            [("H_d", &trace.hamiltonian, bands[0]), ("E_d", &trace.energy, bands[1])]
        {
            let (least, largest) = band(points);
            findings.check(
                format!("least {name}, h = {h:e}"),
                least,
                Expected::Near(low, tolerance),
            );
            findings.check(
                format!("largest {name}, h = {h:e}"),
                largest,
                Expected::Near(high, tolerance),
            );
            widths.push(largest - least);
            draw(
                &mut findings,
                &format!("{name}, h = {h:e}"),
                ("t (dimensionless)", "energy (dimensionless)"),
                points,
            );
        }
    }
    findings.check(
        "width of H_d over that of E_d, h = 1e-2",
        widths[0] / widths[1],
        Expected::AtMost(0.6),
    );
    findings.check(
        "width of H_d over that of E_d, h = 1e-3",
        widths[2] / widths[3],
        Expected::AtMost(0.6),
    );
    // Of second order in h.
    findings.check(
        "width of H_d, h = 1e-3 over 1e-2",
        widths[2] / widths[0],
        Expected::AtMost(0.02),
    );
    Ok(findings)
}
