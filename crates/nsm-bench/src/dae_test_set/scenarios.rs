//! The two problems by every method that fits.

use nsm_alpha::{ClassicalAlpha, EventDriven, Index, Nsga};
use nsm_model::{State, System};
use nsm_vi::{Conserving, NullSpace, Projected, Projection, Quadrature, Variational};

use super::work::{Bound, Method, tabulate};
use super::{Problem, car_axis, squeezer};
use crate::{Effort, Findings, Scenario, ScenarioError, Status};

/// The scenarios, in the order of the test set.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "dae-test-set/car-axis",
            "Car axis, t = 3",
            "every method that takes constraints which depend on time meets the reference at second order",
            Status::Reproduced,
            car,
        ),
        Scenario::new(
            "dae-test-set/squeezer",
            "Andrews' squeezing mechanism, t = 0.03",
            "methods for constant mass meet the reference at second order once three centres are coordinates; the generalized-α family in the seven angles alone too",
            Status::Reproduced,
            squeezing,
        ),
    ]
}

fn car(effort: Effort) -> Result<Findings, ScenarioError> {
    let Some(problem) = car_axis::problem()? else { return Ok(absent("caraxis.json")) };
    let mut findings = Findings::default();
    let rows = judge(&problem, &CAR_AXIS, (2e-3, "mixed error"), effort, &mut findings)?;
    tabulate("Car axis: positions at t = 3", rows, &mut findings);
    Ok(findings)
}

fn squeezing(effort: Effort) -> Result<Findings, ScenarioError> {
    let (Some(centres), Some(angles)) = (squeezer::with_centres()?, squeezer::in_angles()?) else {
        return Ok(absent("andrews.json"));
    };
    let mut findings = Findings::default();
    let label = "mixed error, centres as coordinates";
    let mut rows = judge(&centres, &WITH_CENTRES, (4e-5, label), effort, &mut findings)?;
    let label = "mixed error, angles alone";
    rows.extend(judge(&angles, &IN_ANGLES, (4e-5, label), effort, &mut findings)?);
    tabulate("Andrews' squeezing mechanism: angles at t = 0.03", rows, &mut findings);
    Ok(findings)
}

fn absent(file: &str) -> Findings {
    Findings::missing(format!(
        "no reference solution: {file} of the DAE test set is not in ../shared/data/dae"
    ))
}

/// Each method with the first step halved twice, or four times; its points are drawn in the panel of this ordinate.
fn judge(
    problem: &Problem,
    methods: &[Method],
    (h, ordinate): (f64, &str),
    effort: Effort,
    findings: &mut Findings,
) -> Result<Vec<Vec<String>>, ScenarioError> {
    let runs = if effort == Effort::Quick { 3 } else { 5 };
    let steps: Vec<f64> = (0..runs).map(|k| h / f64::from(1 << k)).collect();
    let mut rows = Vec::new();
    for method in methods {
        let outcomes = method.outcomes(problem, &steps)?;
        rows.extend(method.judge(&outcomes, ordinate, findings));
    }
    Ok(rows)
}

/// Residuals of constraints that a method solves for are those of Newton's method.
const SOLVED: Option<f64> = Some(1e-10);
const SOLVED_POSITION: [Option<f64>; 2] = [SOLVED, None];
const SOLVED_VELOCITY: [Option<f64>; 2] = [None, SOLVED];
const SOLVED_BOTH: [Option<f64>; 2] = [SOLVED, SOLVED];
const DRIFTING: [Option<f64>; 2] = [None, None];

/// The constraint of the road depends on time: the null space method refuses it.
const CAR_AXIS: [Method; 7] = [
    Method {
        name: "multipliers, midpoint",
        bind: midpoint,
        error: 6e-5,
        residuals: SOLVED_POSITION,
    },
    Method { name: "multipliers, Verlet", bind: verlet, error: 3e-5, residuals: SOLVED_POSITION },
    Method { name: "conserving, projected", bind: projected, error: 6e-5, residuals: SOLVED_BOTH },
    Method { name: "alpha, index 3", bind: index_three, error: 6e-5, residuals: SOLVED_POSITION },
    Method { name: "alpha, index 2", bind: index_two, error: 6e-5, residuals: SOLVED_VELOCITY },
    Method { name: "alpha, index 1", bind: index_one, error: 6e-5, residuals: DRIFTING },
    Method { name: "NSGA", bind: nsga, error: 6e-5, residuals: SOLVED_BOTH },
];

const WITH_CENTRES: [Method; 6] = [
    Method { name: "multipliers, midpoint", bind: midpoint, error: 3e-6, residuals: SOLVED_BOTH },
    Method { name: "multipliers, Verlet", bind: verlet, error: 4e-6, residuals: SOLVED_BOTH },
    Method { name: "null space", bind: null_space, error: 3e-6, residuals: SOLVED_BOTH },
    Method {
        name: "null space, one freedom",
        bind: reparametrised,
        error: 3e-6,
        residuals: SOLVED_BOTH,
    },
    Method { name: "conserving", bind: conserving, error: 2e-6, residuals: SOLVED_POSITION },
    Method {
        name: "alpha, index 3, with centres",
        bind: index_three,
        error: 7e-6,
        residuals: SOLVED_POSITION,
    },
];

/// Where nothing switches, event-driven is index 3.
const IN_ANGLES: [Method; 5] = [
    Method { name: "alpha, index 3", bind: index_three, error: 6e-6, residuals: SOLVED_POSITION },
    Method { name: "alpha, index 2", bind: index_two, error: 4e-6, residuals: SOLVED_VELOCITY },
    Method { name: "alpha, index 1", bind: index_one, error: 7e-6, residuals: DRIFTING },
    Method { name: "NSGA", bind: nsga, error: 5e-6, residuals: SOLVED_BOTH },
    Method { name: "event-driven", bind: event_driven, error: 6e-6, residuals: SOLVED_POSITION },
];

/// Spectral radius at infinity of the generalized-α family.
const RHO: f64 = 0.8;

fn midpoint<'a>(system: &'a System, _: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(Variational::new(h, Quadrature::Midpoint).stepper(system)?))
}

fn verlet<'a>(system: &'a System, _: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(Variational::new(h, Quadrature::Verlet).stepper(system)?))
}

fn null_space<'a>(system: &'a System, _: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(NullSpace::new(h, Quadrature::Midpoint).stepper(system)?))
}

fn reparametrised<'a>(system: &'a System, _: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(NullSpace::reparametrised(h, Quadrature::Midpoint).stepper(system)?))
}

fn conserving<'a>(system: &'a System, _: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(Conserving::new(h).stepper(system)?))
}

fn projected<'a>(system: &'a System, _: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    let inner = Conserving::new(h).stepper(system)?;
    Ok(Box::new(Projected::new(system, inner, &Projection::mass())?))
}

fn index_three<'a>(system: &'a System, at: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(ClassicalAlpha::new(h, Index::Three, RHO)?.stepper(system, at)?))
}

fn index_two<'a>(system: &'a System, at: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(ClassicalAlpha::new(h, Index::Two, RHO)?.stepper(system, at)?))
}

fn index_one<'a>(system: &'a System, at: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(ClassicalAlpha::new(h, Index::One, RHO)?.stepper(system, at)?))
}

fn nsga<'a>(system: &'a System, at: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(Nsga::new(h, RHO)?.stepper(system, at)?))
}

fn event_driven<'a>(system: &'a System, at: &State, h: f64) -> Result<Bound<'a>, ScenarioError> {
    Ok(Box::new(EventDriven::new(h, RHO)?.stepper(system, at)?))
}
