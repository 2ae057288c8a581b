//! Figure 13 and sections 4, 5: the energy balance of a projection, and what the paper does not say.

use nsm_vi::{EnergyBalance, Projection, ProjectionMatrix, Strength};

use super::{A, MU, particles, w};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "garcia-orden/kernels",
            "Figure 13",
            "For W the kernel of D consists of two lines, with slopes -q1/q2 and -kappa q1/q2.",
            Status::Erratum,
            kernels,
        )
        .noting("The kernel of D is the tangent alone; two lines are the zero set of its quadratic form. In kappa, mu^3 must be mu."),
        Scenario::new(
            "garcia-orden/criterion",
            "Proposition 6 and section 7",
            "A projection adds no energy if the symmetric part of M A^-1 J^T J is positive semidefinite; the mass matrix is such.",
            Status::Reproduced,
            criterion,
        ),
    ]
}

fn kernels(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, _) = particles()?;
    let (q, alpha) = ([0.6, 0.8], 1.0);
    let balance = EnergyBalance::new(&system, &Projection::penalty(w(), alpha), &q, 0.0)?;
    let missing = || ScenarioError::from("a penalty has the matrix D");
    let (form, matrix) =
        (balance.d_symmetric().ok_or_else(missing)?, balance.d().ok_or_else(missing)?);
    let mut findings = Findings::default();
    findings.check(
        "det of the symmetric part of B",
        balance.b_symmetric().determinant(),
        Expected::Near(-1.024e-3, 1e-12),
    );
    let common = 2.0 * alpha * (q[0] * q[0] + A * A * MU * q[1] * q[1]);
    let kappa = (A + common) / (MU * A * A + common);
    findings.check("kappa at (0.6, 0.8)", kappa, Expected::Near(0.855_82, 1e-5));
    for (name, slope, kernel) in
        [("tangent", -q[0] / q[1], true), ("second line", -kappa * q[0] / q[1], false)]
    {
        let x = [1.0, slope];
        let product = |m: &dyn Fn(usize, usize) -> f64, i: usize| m(i, 0) * x[0] + m(i, 1) * x[1];
        let symmetric = |i, j| form[(i, j)];
        let full = |i, j| matrix[(i, j)];
        let value = x[0] * product(&symmetric, 0) + x[1] * product(&symmetric, 1);
        let image = product(&full, 0).hypot(product(&full, 1));
        findings.check(
            format!("quadratic form of D on the {name}"),
            value.abs(),
            Expected::AtMost(1e-14),
        );
        let expected = if kernel { Expected::AtMost(1e-14) } else { Expected::AtLeast(1e-2) };
        findings.check(format!("D applied to the {name}"), image, expected);
    }
    Ok(findings)
}

fn criterion(_: Effort) -> Result<Findings, ScenarioError> {
    let (system, _) = particles()?;
    let mut findings = Findings::default();
    for (name, matrix, safe) in [
        ("M", ProjectionMatrix::Mass, true),
        ("W", w(), false),
        ("identity", ProjectionMatrix::Identity, false),
    ] {
        let projection = Projection { matrix, strength: Strength::Exact };
        let (mut unsafe_places, mut gain) = (0, Vec::new());
        for i in 0..=90 {
            let angle = std::f64::consts::FRAC_PI_2 * f64::from(i) / 90.0;
            let q = [angle.sin(), angle.cos()];
            let safety = EnergyBalance::new(&system, &projection, &q, 0.0)?.safety();
            unsafe_places += usize::from(!safety.safe);
            gain.push([angle, safety.gain]);
        }
        let expected = if safe { Expected::AtMost(0.0) } else { Expected::AtLeast(89.0) };
        findings.check(format!("unsafe places of 91, {name}"), unsafe_places as f64, expected);
        let largest = gain.iter().fold(0.0_f64, |a, p| a.max(p[1]));
        let expected = if safe { Expected::AtMost(1e-13) } else { Expected::AtLeast(1e-3) };
        findings.check(format!("largest gain of energy, {name}"), largest, expected);
        findings.curve(name, ("angle [rad]", "largest gain of energy (dimensionless)"), gain);
    }
    Ok(findings)
}
