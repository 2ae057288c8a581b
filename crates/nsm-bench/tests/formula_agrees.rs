//! A formula is the system that it describes: the pogo stick from a file and by hand, step by step.

use nsm_bench::kaufman_pai::systems;
use nsm_model::Stepper;
use nsm_problem::{Problem, Subject};
use nsm_vi::{Gvi, Quadrature};

#[test]
fn the_pogo_stick_by_formula_and_by_hand_agree_to_round_off() {
    let text = "[system]\ncoordinates = [\"y1\", \"y2\"]\nmass = [1, 1]\nparameters = { g = 9.8213, k = 10, l = 5 }\n\
                potential = \"g*(y1 + y2) + k/2*(y1 - y2 - l)^2\"\ninequality = { floor = \"y2\" }\n\
                [start]\nq = [8.88, 3.88]\n";
    let problem = Problem::parse(text).unwrap();
    let Subject::Coordinates { system, start } = &problem.subject else {
        panic!("not coordinates")
    };
    let (by_hand, hand_start) = systems::pogo(3.88, 0.1).unwrap();
    let gvi = Gvi::new(0.1, Quadrature::Verlet);
    let mut formula = gvi.stepper(system).unwrap();
    let mut hand = gvi.stepper(&by_hand).unwrap();
    let (mut a, mut b) = (start.clone(), hand_start);
    let mut events = 0;
    for step in 0..300 {
        formula.step(&mut a).unwrap();
        hand.step(&mut b).unwrap();
        assert_eq!(formula.events().iter().count(), hand.events().iter().count(), "step {step}");
        events += hand.events().iter().count();
        for (x, y) in a.q.iter().chain(&a.p).zip(b.q.iter().chain(&b.p)) {
            // One rounding a step, which the impacts may double.
            assert!((x - y).abs() < 1e-12 * (1.0 + f64::from(step)), "step {step}: {x} and {y}");
        }
    }
    assert!(events > 20, "{events}");
}
