//! Bodies that move further in a step than they are thick do not pass through each other.

use nsm_problem::{Problem, RunResult, Watch};

fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    result
}

fn shot(shape: &str, from: [f64; 3], velocity: [f64; 3], method: &str, step: f64) -> RunResult {
    run(&format!(
        "[[body]]\nname = \"bullet\"\nmass = 0.01\nshape = {{ sphere = 0.01 }}\nposition = {from:?}\nvelocity = {velocity:?}\n\
         [[body]]\nname = \"target\"\nmass = 1000\nshape = {{ {shape} }}\nposition = [0, 0, 0]\n\
         [[run]]\n{method}\nstep = {step:?}\nend = 0.02\n"
    ))
}

const METHODS: [&str; 3] =
    ["method = \"lgvci\"", "method = \"lgvci\"\nevents = \"early\"", "method = \"svci\""];

/// Where its straight path enters the target by a radius of 0.01: closed forms.
#[test]
fn a_bullet_meets_plate_and_ball_at_their_surface() {
    for method in METHODS {
        for (shape, instant) in
            [("box = [0.005, 1, 1]", (1.0 - 0.0125) / 300.0), ("sphere = 0.02", 0.97 / 300.0)]
        {
            let result = shot(shape, [-1.0, 0.0, 0.0], [300.0, 0.0, 0.0], method, 0.01);
            let times = &result.recording.event_times;
            assert_eq!(times.len(), 1, "{method}, {shape}");
            // Early reflection comes before, by at most the time in which the two pass their thickness.
            let late = if method.contains("early") { 0.06 / 300.0 } else { 1e-12 };
            assert!((times[0] - instant).abs() <= late, "{method}, {shape}: {}", times[0]);
            assert!(result.ledger.energy.deviation() < 1e-11 * 450.0);
        }
    }
}

/// Hits and misses at a step of 3 m are those at a step of 3 cm, at the same instants.
#[test]
fn coarse_steps_see_the_hits_of_fine_ones() {
    let mut hits = 0;
    for k in 0..24 {
        let turn = |a: f64| (f64::from(k) * a).fract() - 0.5;
        let from = [-1.5, 0.9 * turn(0.618), 0.9 * turn(0.755)];
        let velocity = [300.0, 60.0 * turn(0.57), 60.0 * turn(0.813)];
        for method in [METHODS[0], METHODS[2]] {
            let [coarse, fine] =
                [0.01, 1e-4].map(|h| shot("box = [0.01, 0.4, 0.5]", from, velocity, method, h));
            let first = |r: &RunResult| r.recording.event_times.first().copied();
            let agree = match (first(&coarse), first(&fine)) {
                (None, None) => true,
                (Some(a), Some(b)) => (a - b).abs() < 1e-11,
                _ => false,
            };
            assert!(agree, "{k}, {method}: {:?}, {:?}", first(&coarse), first(&fine));
            hits += usize::from(first(&fine).is_some());
        }
    }
    assert!(hits > 10 && hits < 44, "{hits} of 48");
}

/// Two plates fly at each other, thinner than their way.
#[test]
fn thin_plates_meet() {
    let plate = |name: &str, x: f64, v: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\nshape = {{ box = [0.002, 1, 1] }}\nposition = [{x:?}, 0, 0]\nvelocity = [{v:?}, 0, 0]\n"
        )
    };
    let text = format!(
        "{}{}[[run]]\nstep = 0.05\nend = 0.1\n",
        plate("left", -0.5, 20.0),
        plate("right", 0.5, -20.0)
    );
    let result = run(&text);
    let times = &result.recording.event_times;
    assert_eq!(times.len(), 1);
    assert!((times[0] - 0.998 / 40.0).abs() < 1e-12, "{}", times[0]);
    assert!(result.ledger.energy.deviation() < 1e-11 * 400.0);
}
