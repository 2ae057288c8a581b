//! The swing of the reference that the paper takes it from: a thin beam of aluminium, stiff and light.
//!
//! Section 6.2 gives $E = 73\cdot10^9$ (in N/m²; N/mm² is a misprint), $\nu = 0.3$, $\rho = 2700$ kg/m³ and a section of 5 mm by 1 mm. It gives
//! neither mass nor pulse for this beam; those of its own, a thousand times as heavy, would tear it. Half a kilogram and a
//! pulse of 2 N are chosen, for which the right link reverses at 0.64 s.

use nsm_constraints::multibody::{SectionMass, SectionStiffness};
use nsm_model::{State, Stepper, SystemError};
use nsm_vi::{Conserving, NullSpace, Quadrature};

use super::{ELEMENTS, Swing};
use crate::{Effort, Expected, Findings, ScenarioError};

const MIDSPAN_MASS: f64 = 0.5;
const PULSE: [(f64, f64); 3] = [(0.0, 0.0), (0.128, 2.0), (0.256, 0.0)];
/// Well after event X.
const END: f64 = 0.7;

pub(super) fn stiff(effort: Effort) -> Result<Findings, ScenarioError> {
    let swing = aluminium()?;
    let mut findings = Findings::default();
    let full = effort == Effort::Full;
    for (h, growth) in
        [(1e-2, 100.0), (1e-3, 2.0), (4e-4, 1.1)].into_iter().take(2 + usize::from(full))
    {
        let method = NullSpace::reparametrised(h, Quadrature::Midpoint);
        let run = run(&swing, method.stepper_with(&swing.system, swing.mechanism.tree())?);
        let name = format!("variational, h = {h}");
        findings.check(format!("{name}: fails at"), run.reached, Expected::Within(0.64, 0.66));
        let what = format!("{name}: energy at event X over that before");
        findings.check(what, run.highest / run.free, Expected::AtLeast(growth));
        findings.curve(name, ("t", "energy"), run.energy);
    }
    for h in [1e-3, 4e-4].into_iter().take(1 + usize::from(full)) {
        let run = run(&swing, Conserving::new(h).stepper(&swing.system)?);
        let name = format!("energy-momentum, h = {h}");
        let [t, turn] = run.event;
        findings.check(format!("{name}: event X"), t, Expected::Near(0.6433, 2e-3));
        findings.check(
            format!("{name}: turn of the right link"),
            turn,
            Expected::Near(0.5337, 1e-3),
        );
        findings.check(format!("{name}: beyond event X by"), run.reached - t, Expected::AtLeast(h));
        let drift = (run.highest - run.free).max(run.free - run.lowest) / run.free;
        findings.check(format!("{name}: relative drift"), drift, Expected::AtMost(1e-9));
        findings.curve(name, ("t", "energy"), run.energy);
    }
    Ok(findings)
}

fn aluminium() -> Result<Swing, SystemError> {
    let (young, poisson, density) = (73e9, 0.3, 2700.0);
    let (width, thickness): (f64, f64) = (5e-3, 1e-3);
    let shear = young / (2.0 * (1.0 + poisson));
    let area = width * thickness;
    let moments = [thickness * width.powi(3) / 12.0, width * thickness.powi(3) / 12.0];
    let stiffness = SectionStiffness {
        shear: [5.0 / 6.0 * shear * area; 2],
        axial: young * area,
        bending: moments.map(|i| young * i),
        torsion: 0.291 * shear * width * thickness.powi(3),
    };
    let mass = SectionMass { per_length: density * area, directors: moments.map(|i| density * i) };
    Swing::made_of((stiffness, mass), ELEMENTS, MIDSPAN_MASS, &PULSE)
}

struct Run {
    /// Where it ended or failed.
    reached: f64,
    /// Instant and angle at which the right link had turned farthest.
    event: [f64; 2],
    /// Energy when the load has gone, and its bounds from then on.
    free: f64,
    lowest: f64,
    highest: f64,
    energy: Vec<[f64; 2]>,
}

/// As far as the stepper goes.
fn run<S: Stepper<State = State>>(swing: &Swing, mut stepper: S) -> Run {
    let mut state = swing.start.clone();
    let mut run = Run {
        reached: 0.0,
        event: [0.0; 2],
        free: f64::NAN,
        lowest: f64::INFINITY,
        highest: 0.0,
        energy: Vec::new(),
    };
    let h = stepper.step_size();
    let unloaded = PULSE[2].0;
    while state.t < END - 0.5 * h && stepper.step(&mut state).is_ok() {
        run.reached = state.t;
        let system = &swing.system;
        let kinetic = system.kinetic_energy(&state.q, &state.v);
        let energy = kinetic + system.potential().sum(&state.q, state.t);
        if state.t >= unloaded {
            if run.free.is_nan() {
                run.free = energy;
            }
            run.lowest = run.lowest.min(energy);
            run.highest = run.highest.max(energy);
            // Densely where it matters.
            if state.t > 0.63 || run.energy.len() < 10 {
                run.energy.push([state.t, energy]);
            }
        }
        let turn = swing.right_angle(&state.q);
        if turn > run.event[1] {
            run.event = [state.t, turn];
        }
    }
    run
}
