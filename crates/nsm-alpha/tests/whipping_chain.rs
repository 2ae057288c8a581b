//! A chain of fifty links that whips about: what stops constraints on position level is too little damping, and the error says so.

use nsm_alpha::{ClassicalAlpha, EventDriven, Index};
use nsm_constraints::{Affine, Rod};
use nsm_model::{Mass, State, Stepper, System};

const LINKS: usize = 50;

/// Links and masses of 1/50, from horizontal rest.
fn chain() -> (System, State) {
    let part = 1.0 / LINKS as f64;
    let mut system = System::new(Mass::diagonal(&[part; 2 * LINKS]).unwrap());
    let mut q = Vec::new();
    for link in 0..LINKS {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], part)
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], part)
        };
        system = system
            .with_potential("weight", Affine::new(&[y], &[9.81 * part], 0.0).unwrap())
            .and_then(|system| system.with_equality("rod", rod.unwrap()))
            .unwrap();
        q.extend([(link as f64 + 1.0) * part, 0.0]);
    }
    let start = State::new(&system, &q, &[0.0; 2 * LINKS]).unwrap();
    (system, start)
}

/// Energy less that at the start, relative to what the chain releases by hanging down, or why it stopped.
fn second(stepper: &mut dyn Stepper<State = State>, start: &State) -> Result<f64, String> {
    let part = 1.0 / LINKS as f64;
    let mut state = start.clone();
    let mut worst = 0.0_f64;
    for _ in 0..1000 {
        stepper.step(&mut state).map_err(|error| error.to_string())?;
        let energy: f64 = (0..LINKS)
            .map(|i| {
                let (v, w) = (state.v[2 * i], state.v[2 * i + 1]);
                part * (0.5 * (v * v + w * w) + 9.81 * state.q[2 * i + 1])
            })
            .sum();
        worst = worst.max(energy / (0.5 * 9.81));
    }
    Ok(worst)
}

#[test]
fn little_damping_stops_every_method_on_position_level_and_is_named() {
    let (system, start) = chain();
    let by_index = |rho| ClassicalAlpha::new(1e-3, Index::Three, rho).unwrap();
    let by_event = |rho| EventDriven::new(1e-3, rho).unwrap();
    for error in [
        second(&mut by_index(0.98).stepper(&system, &start).unwrap(), &start).unwrap_err(),
        second(&mut by_event(0.98).stepper(&system, &start).unwrap(), &start).unwrap_err(),
    ] {
        assert!(error.contains("`rho` above 0.8") && error.contains("try 0.7"), "{error}");
    }
    // With the default damping the chain whips through, and gains nothing that would show.
    for gain in [
        second(&mut by_index(0.7).stepper(&system, &start).unwrap(), &start).unwrap(),
        second(&mut by_event(0.7).stepper(&system, &start).unwrap(), &start).unwrap(),
    ] {
        assert!(gain < 0.01, "{gain}");
    }
}
