//! Estimated condition numbers against those from singular values, and on systems too large for these.

use nsm_constraints::multibody::Mechanism;
use nsm_constraints::{Affine, Rod};
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{ConditionEstimator, Conditioning, Quadrature, Segment, Variational};

mod counting;
#[path = "../examples/linkage/mod.rs"]
mod linkage;

const MIDPOINT: Quadrature = Quadrature::Midpoint;

/// A hanging chain of unit rods, released from an oblique line; some rods are given twice.
fn chain(links: usize, doubled: usize) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * links]).unwrap());
    let mut q = Vec::new();
    for k in 0..links {
        let along = k as f64 + 1.0;
        q.extend([0.8 * along, -0.6 * along]);
        let weight = Affine::new(&[2 * k + 1], &[9.81], 0.0).unwrap();
        system = system.with_potential(&format!("weight {k}"), weight).unwrap();
    }
    for k in (0..links).chain(0..doubled) {
        let here = [2 * k, 2 * k + 1];
        let rod = if k == 0 {
            Rod::to_pivot(&here, &[0.0, 0.0], 1.0)
        } else {
            Rod::between(&[2 * k - 2, 2 * k - 1], &here, 1.0)
        };
        system = system.with_equality(&format!("rod {k}"), rod.unwrap()).unwrap();
    }
    let start = State::new(&system, &q, &vec![0.0; 2 * links]).unwrap();
    (system, start)
}

fn linkage() -> (Mechanism, System, State) {
    let ring = linkage::six_body_linkage().unwrap();
    let (system, start) = System::of(&ring).unwrap();
    (ring, system, start)
}

/// The state after one step.
fn next(system: &System, start: &State, h: f64) -> State {
    let mut state = start.clone();
    Variational::new(h, MIDPOINT).stepper(system).unwrap().step(&mut state).unwrap();
    state
}

#[test]
fn estimates_are_within_a_factor_of_two_and_never_above() {
    let (_, ring, at_rest) = linkage();
    let systems = [chain(1, 0), chain(5, 0), chain(5, 3), chain(40, 0), (ring, at_rest)];
    for (k, (system, start)) in systems.iter().enumerate() {
        let mut estimator = ConditionEstimator::new(system, MIDPOINT).unwrap();
        for h in [1e-2, 1e-3, 1e-4] {
            let end = next(system, start, h);
            let segment = Segment { start: &start.q, end: &end.q, t: 0.0, h };
            let exact = Conditioning::new(system, MIDPOINT, segment).unwrap();
            let found = estimator.estimate(segment).unwrap();
            // Of redundant rows another set may be kept, of another condition.
            let most = if [2, 4].contains(&k) { 2.0 } else { 1.0 };
            for (found, exact) in
                [(found.multipliers, exact.multipliers), (found.scaled, exact.scaled)]
            {
                // What rounding of the largest singular value leaves of the smallest.
                let rounding = 4.0 * f64::EPSILON * exact;
                let share = found / exact;
                assert!(share > 0.5 && share < most + rounding, "{k}, h = {h}: {share}");
            }
        }
    }
}

#[test]
fn a_chain_of_a_thousand_links_is_estimated_at_every_step_without_allocating() {
    let (system, start) = chain(1000, 0);
    let h = 1e-3;
    let mut stepper = Variational::new(h, MIDPOINT).stepper(&system).unwrap();
    let mut estimator = ConditionEstimator::new(&system, MIDPOINT).unwrap();
    let (mut before, mut state) = (start.clone(), start);
    stepper.step(&mut state).unwrap();
    let count = counting::allocations();
    for _ in 0..10 {
        let segment = Segment { start: &before.q, end: &state.q, t: before.t, h };
        let found = estimator.estimate(segment).unwrap();
        // A chain's own condition grows with the square of its length, that of the paper's form by h⁻³ more.
        assert!((1e5..1e7).contains(&found.scaled), "{:e}", found.scaled);
        assert!(found.multipliers > 1e5 * found.scaled, "{:e}", found.multipliers);
        before.clone_from(&state);
        stepper.step(&mut state).unwrap();
    }
    assert_eq!(counting::allocations(), count);
}

#[test]
fn what_is_singular_or_of_the_wrong_size_is_said() {
    let (system, start) = chain(3, 0);
    let mut estimator = ConditionEstimator::new(&system, MIDPOINT).unwrap();
    let end = next(&system, &start, 1e-2);
    let short = Segment { start: &start.q[1..], end: &end.q, t: 0.0, h: 1e-2 };
    assert!(estimator.estimate(short).is_err());
    let still = Segment { start: &start.q, end: &end.q, t: 0.0, h: 0.0 };
    assert!(estimator.estimate(still).is_err());
    // All links on top of the pivot at the end of the step: gradients vanish there.
    let collapsed = vec![0.0; 6];
    let segment = Segment { start: &start.q, end: &collapsed, t: 0.0, h: 1e-2 };
    assert_eq!(estimator.estimate(segment).unwrap().scaled, f64::INFINITY);
    let nowhere = vec![f64::NAN; 6];
    assert!(
        estimator.estimate(Segment { start: &start.q, end: &nowhere, t: 0.0, h: 1e-2 }).is_err()
    );
}
