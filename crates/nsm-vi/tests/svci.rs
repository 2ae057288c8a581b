//! The shadow-consistent collision integrator against closed forms and event-driven references.

mod common;

use common::{Affine, Distance, Rod, auto, ball, pogo, spheres};
use nsm_constraints::{Expr, Scalar};
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{Quadrature, Restitution, Svci};

/// What a run leaves behind.
struct Run {
    state: State,
    /// Instants of all impacts, and the energy that events added in all.
    impacts: Vec<f64>,
    booked: f64,
    /// Deepest penetration, and the largest rise of energy in one step.
    depth: f64,
    rise: f64,
}

fn energy(system: &System, state: &State) -> f64 {
    system.kinetic_energy(&state.q, &state.v) + system.potential().sum(&state.q, state.t)
}

fn run(system: &System, start: &State, method: &Svci, end: f64) -> Run {
    let mut stepper = method.stepper(system).unwrap();
    let mut run =
        Run { state: start.clone(), impacts: Vec::new(), booked: 0.0, depth: 0.0, rise: 0.0 };
    let mut before = energy(system, start);
    while run.state.t < end - 0.5 * method.step {
        stepper.step(&mut run.state).unwrap();
        for event in stepper.events().iter() {
            if event.rounds > 0 {
                run.impacts.push(event.t);
            }
            let shares: f64 = event.work.iter().sum();
            assert!((shares - event.energy_change).abs() <= 1e-12 * before.abs().max(1.0));
            run.booked += event.energy_change;
        }
        let after = energy(system, &run.state);
        run.rise = run.rise.max(after - before);
        before = after;
        for i in 0..system.inequalities().len() {
            run.depth = run.depth.max(-system.inequalities().value(i, &run.state.q, run.state.t));
        }
    }
    run
}

fn svci(h: f64, e: f64) -> Svci {
    Svci { restitution: Restitution::Uniform(e), ..Svci::new(h, Quadrature::Verlet) }
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_ball_bounces_at_its_instants_and_comes_to_rest() {
    let (system, start) = ball();
    let g = 9.8_f64;
    // Free fall, then hops of 2 e^k v / g.
    let fall = (2.0 / g).sqrt();
    for (e, h) in [(0.5, 0.1), (0.5, 0.01), (0.5, 0.001), (0.0, 0.01), (0.9, 0.01)] {
        let run = run(&system, &start, &svci(h, e), 20.0);
        let (mut instant, mut hop) = (fall, 2.0 * fall * e);
        for (k, t) in run.impacts.iter().enumerate() {
            assert!((t - instant).abs() < 1e-12, "e = {e}, h = {h}, impact {k}: {t}, {instant}");
            instant += hop;
            hop *= e;
        }
        // At rest, earlier than the accumulation by no more than the bounces that count as over.
        assert!(run.state.q[0].abs() < 1e-15 && run.state.v[0].abs() < 1e-15, "{:?}", run.state);
        assert!(run.depth < 1e-15 && run.rise < 1e-13, "{} {}", run.depth, run.rise);
        assert!((run.booked + 9.8).abs() < 1e-11, "booked {}", run.booked);
        if h == 0.01 && e == 0.5 {
            let last = run.impacts.last().unwrap();
            assert!((last - 1.3411).abs() < 1e-3, "last impact {last}");
        }
    }
}

#[test]
fn an_elastic_ball_keeps_its_instants_and_its_energy() {
    let (system, start) = ball();
    let run = run(&system, &start, &svci(0.01, 1.0), 60.0);
    assert_eq!(run.impacts.len(), 66);
    assert!((run.state.q[0] - 0.334_695_947_0).abs() < 1e-9, "{}", run.state.q[0]);
    assert!((energy(&system, &run.state) - 9.8).abs() < 1e-11);
}

/// $y - x^2/2$.
struct Bowl;
impl Expr for Bowl {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[1] - q[0] * q[0] * 0.5
    }
}

#[test]
fn a_ball_in_a_bowl_bounces_out_and_slides_at_second_order() {
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("weight", auto(Affine(vec![9.81], 0.0), &[1]))
        .unwrap()
        .with_inequality("bowl", auto(Bowl, &[0, 1]))
        .unwrap();
    let start = State::new(&system, &[0.5, 1.0], &[0.0, 0.0]).unwrap();
    // Event-driven reference with sliding at rest from 1.3982600812 s on.
    let exact = [0.561_615_833_6, 0.157_706_172_3];
    let mut errors = Vec::new();
    for h in [0.02, 0.01, 0.005] {
        let run = run(&system, &start, &svci(h, 0.6), 2.0);
        errors.push(distance(&run.state.q, &exact));
        assert!(run.depth < 1e-14);
        let e = energy(&system, &run.state);
        assert!((e - 2.835_305_661_2).abs() < 1e-3 * (h / 0.01).powi(2), "h = {h}: E = {e}");
        if h == 0.01 {
            assert!(distance(&run.state.q, &[0.561_711_543_6, 0.157_759_929_1]) < 1e-9);
        }
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "errors {errors:?}");
    }
}

#[test]
fn a_double_pendulum_over_a_floor_is_second_order_through_its_impacts() {
    let weight = |i| auto(Affine(vec![9.8], 0.0), &[i]);
    let system = System::new(Mass::diagonal(&[1.0; 4]).unwrap())
        .with_potential("upper weight", weight(1))
        .unwrap()
        .with_potential("lower weight", weight(3))
        .unwrap()
        .with_equality("upper rod", auto(Rod([0.0, 0.0], 1.0, 1.0), &[0, 1]))
        .unwrap()
        .with_equality("lower rod", auto(Distance(1.0), &[0, 1, 2, 3]))
        .unwrap()
        .with_inequality("floor", auto(Affine(vec![1.0], 1.6), &[3]))
        .unwrap();
    let (a, b) = (2.0_f64, 2.4_f64);
    let q = [a.sin(), -a.cos(), a.sin() + b.sin(), -a.cos() - b.cos()];
    let start = State::new(&system, &q, &[0.0; 4]).unwrap();
    for (e, exact, at_hundredth) in [
        (
            1.0,
            [-0.584_100_301_1, -0.811_681_488_2, -0.343_053_414_4, 0.158_831_983_3],
            [-0.585_800_772_1, -0.810_455_091_5, -0.327_081_694_4, 0.155_497_515_4],
        ),
        (
            0.5,
            [-0.164_705_970_4, -0.986_342_710_9, 0.625_613_791_3, -1.599_037_311_9],
            [-0.164_088_402_5, -0.986_445_637_7, 0.626_385_201_4, -1.598_941_745_1],
        ),
    ] {
        let mut errors = Vec::new();
        for h in [0.01, 0.005, 0.0025] {
            let run = run(&system, &start, &svci(h, e), 2.5);
            errors.push(distance(&run.state.q, &exact));
            if h == 0.01 {
                let apart = distance(&run.state.q, &at_hundredth);
                assert!(apart < 1e-8, "e = {e}: {:?}", run.state.q);
            }
            assert!(run.depth < 1e-14);
        }
        for pair in errors.windows(2) {
            assert!(((pair[0] / pair[1]).log2() - 2.0).abs() < 0.1, "e = {e}: {errors:?}");
        }
    }
}

fn fraction(x: f64) -> f64 {
    x - x.floor()
}

#[test]
fn twenty_beads_before_a_wall_agree_with_an_event_driven_code() {
    let n = 20;
    let mass: Vec<f64> = (1..=n).map(|i| 0.5 + 1.5 * fraction(i as f64 * 2.0_f64.sqrt())).collect();
    let mut system = System::new(Mass::diagonal(&mass).unwrap())
        .with_inequality("wall", auto(Affine(vec![1.0], 0.0), &[0]))
        .unwrap();
    let (mut q, mut x) = (Vec::new(), 0.0);
    for i in 1..=n {
        x += 0.01 + 0.19 * fraction(i as f64 * (5.0_f64.sqrt() - 1.0) / 2.0);
        q.push(x);
        if i > 1 {
            let block = [i - 2, i - 1];
            let gap = auto(Affine(vec![-1.0, 1.0], 0.0), &block);
            system = system.with_inequality(&format!("beads {i}"), gap).unwrap();
        }
    }
    let mut v = vec![0.0; 20];
    (v[19], v[0]) = (-3.0, 0.7);
    let start = State::new(&system, &q, &v).unwrap();
    for (e, places, rest, hits) in [
        (0.8, [0.010_016_662_1, 0.658_557_927_6, 3.671_790_578_4], 0.338_964_435_1, 94),
        (1.0, [0.116_009_091_8, 1.122_267_046_1, 4.850_927_737_0], 4.443_554_404_5, 157),
    ] {
        let run = run(&system, &start, &svci(0.02, e), 3.0);
        let q = &run.state.q;
        assert!(distance(&[q[0], q[9], q[19]], &places) < 1e-8, "e = {e}: {q:?}");
        assert!((energy(&system, &run.state) - rest).abs() < 1e-9);
        assert_eq!(run.impacts.len(), hits, "e = {e}");
    }
}

#[test]
fn the_pogo_stick_and_the_spheres_come_out_as_the_reference() {
    let (system, start) = pogo(0.1, 3.88);
    let pogo = run(&system, &start, &svci(0.1, 1.0), 20.0);
    assert!(
        distance(&pogo.state.q, &[6.090_157_077_8, 3.394_020_360_1]) < 1e-8,
        "{:?}",
        pogo.state.q
    );
    assert!((energy(&system, &pogo.state) - 125.765_062_230_0).abs() < 1e-8);
    assert_eq!(pogo.impacts.len(), 21);
    let (system, start) = spheres();
    let method = Svci::new(0.25, Quadrature::Midpoint);
    let spheres = run(&system, &start, &method, 10.0);
    let reference = [0.818_370_079_6, 4.930_750_687_0, 2.551_179_450_8, 4.283_899_944_0];
    assert!(distance(&spheres.state.q, &reference) < 1e-8, "{:?}", spheres.state.q);
    assert_eq!(spheres.impacts.len(), 44);
    assert!(spheres.depth < 1e-12);
}

/// $x^4/2 + 0.8 y^2 + 0.3 x y$.
struct Quartic;
impl Expr for Quartic {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0], q[1]);
        x * x * x * x * 0.5 + y * y * 0.8 + x * y * 0.3
    }
}

/// The outside of a disc, its gap squared or not.
struct Disc(bool);
impl Expr for Disc {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0] + 0.5, q[1] - 0.4);
        let square = x * x + y * y;
        if self.0 { square - 0.09 } else { square.sqrt() - 0.3 }
    }
}

#[test]
fn no_outcome_depends_on_how_a_gap_is_written() {
    for (e, exact, at_hundredth) in [
        (1.0, [-0.978_515_025_1, 0.049_418_140_1], [-0.978_514_072_6, 0.049_461_080_3]),
        (0.7, [0.178_438_984_2, -0.506_439_105_0], [0.178_401_204_1, -0.506_439_651_6]),
    ] {
        for squared in [true, false] {
            let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
                .with_potential("V", auto(Quartic, &[0, 1]))
                .unwrap()
                .with_inequality("wall", auto(Affine(vec![-1.0], 0.8), &[0]))
                .unwrap()
                .with_inequality("disc", auto(Disc(squared), &[0, 1]))
                .unwrap();
            let start = State::new(&system, &[0.2, -0.3], &[1.4, 0.5]).unwrap();
            let run = run(&system, &start, &svci(0.01, e), 4.0);
            assert!(distance(&run.state.q, &at_hundredth) < 2e-8, "e = {e}: {:?}", run.state.q);
            assert!(distance(&run.state.q, &exact) < 1e-4);
        }
    }
}

#[test]
fn a_column_of_beads_comes_to_rest_with_any_restitutions() {
    let mass = [1.0, 2.0, 0.5, 1.5, 0.8];
    let mut system = System::new(Mass::diagonal(&mass).unwrap());
    for (i, m) in mass.iter().enumerate() {
        let weight = auto(Affine(vec![9.8 * m], 0.0), &[i]);
        system = system.with_potential(&format!("weight {i}"), weight).unwrap();
        let gap = if i == 0 {
            auto(Affine(vec![1.0], 0.0), &[0])
        } else {
            auto(Affine(vec![-1.0, 1.0], -0.2), &[i - 1, i])
        };
        system = system.with_inequality(&format!("contact {i}"), gap).unwrap();
    }
    let start = State::new(&system, &[0.3, 0.6, 1.0, 1.35, 1.9], &[0.0; 5]).unwrap();
    let mixed = Restitution::PerContact(vec![0.9, 0.2, 0.8, 0.5, 0.1]);
    for restitution in
        [Restitution::Uniform(0.0), Restitution::Uniform(0.5), Restitution::Uniform(0.9), mixed]
    {
        for h in [0.02, 0.005] {
            let method = Svci { restitution: restitution.clone(), ..svci(h, 1.0) };
            let run = run(&system, &start, &method, 8.0);
            for (i, (q, v)) in run.state.q.iter().zip(&run.state.v).enumerate() {
                assert!(
                    (q - 0.2 * i as f64).abs() < 1e-14,
                    "{restitution:?}, h = {h}: {:?}",
                    run.state.q
                );
                assert!(v.abs() < 1e-14, "{restitution:?}, h = {h}: {:?}", run.state.v);
            }
            assert!(run.depth < 1e-14 && run.rise < 1e-12, "{} {}", run.depth, run.rise);
            let lost = energy(&system, &run.state) - energy(&system, &start);
            assert!(
                (run.booked - lost).abs() < 1e-10,
                "{restitution:?} {h}: {} {lost}",
                run.booked
            );
        }
    }
    let elastic = run(&system, &start, &svci(0.005, 1.0), 10.0);
    assert!((energy(&system, &elastic.state) - energy(&system, &start)).abs() < 1e-10);
}

/// Discs of radius 0.1 and mass 1 in a box of the given width, falling.
fn discs(places: &[[f64; 2]], width: f64, g: f64) -> (System, State) {
    let n = places.len();
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * n]).unwrap());
    for i in 0..n {
        let (x, y) = (2 * i, 2 * i + 1);
        system = system
            .with_potential(&format!("weight {i}"), auto(Affine(vec![g], 0.0), &[y]))
            .unwrap();
        for (name, a, b, c) in
            [("left", 1.0, -0.1, x), ("right", -1.0, width - 0.1, x), ("floor", 1.0, -0.1, y)]
        {
            let gap = auto(Affine(vec![a], b), &[c]);
            system = system.with_inequality(&format!("{name} {i}"), gap).unwrap();
        }
        for j in 0..i {
            let gap = auto(Distance(0.2), &[2 * j, 2 * j + 1, x, y]);
            system = system.with_inequality(&format!("discs {j} {i}"), gap).unwrap();
        }
    }
    let q: Vec<f64> = places.iter().flatten().copied().collect();
    let start = State::new(&system, &q, &vec![0.0; 2 * n]).unwrap();
    (system, start)
}

#[test]
fn a_dozen_discs_pile_up_and_rest() {
    let places: Vec<[f64; 2]> = (0..12)
        .map(|k| {
            let (row, column) = (f64::from(k / 4), f64::from(k % 4));
            [
                0.13 + 0.24 * column + 0.02 * (row * 1.3 + column).sin(),
                0.3 + 0.25 * row + 0.01 * column,
            ]
        })
        .collect();
    let (system, start) = discs(&places, 1.03, 9.8);
    for e in [0.0, 0.5] {
        let run = run(&system, &start, &svci(0.005, e), 4.0);
        let speed = run.state.v.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        assert!(speed < 1e-13, "e = {e}: speed {speed}");
        assert!(run.depth < 1e-13, "e = {e}: depth {}", run.depth);
        assert!(run.rise < 2e-4, "e = {e}: rise {}", run.rise);
        let lost = energy(&system, &run.state) - energy(&system, &start);
        // What is not booked is the band of sliding along curved gaps.
        assert!((run.booked - lost).abs() < 2e-3, "e = {e}: booked {}, lost {lost}", run.booked);
    }
}

#[test]
fn a_pile_at_rest_stays_at_rest() {
    let places = [[0.1, 0.1], [0.3, 0.1], [0.2, 0.1 + 0.03_f64.sqrt()]];
    let (system, start) = discs(&places, 0.4, 9.8);
    let run = run(&system, &start, &svci(0.01, 0.5), 1000.0);
    assert!(distance(&run.state.q, &start.q) < 1e-12, "{:?}", run.state.q);
    assert!(run.state.v.iter().all(|v| v.abs() < 1e-12), "{:?}", run.state.v);
}

/// A bowl of this unit of length.
struct Scaled(f64);
impl Expr for Scaled {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[1] - q[0] * q[0] * (0.5 / self.0)
    }
}

#[test]
fn other_units_give_the_same_motion() {
    // Metres, kilograms, seconds against millimetres, grams, milliseconds.
    let run_in = |length: f64, mass: f64, time: f64| {
        let g = 9.81 * length / (time * time);
        let system = System::new(Mass::diagonal(&[mass, mass]).unwrap())
            .with_potential("weight", auto(Affine(vec![g * mass], 0.0), &[1]))
            .unwrap()
            .with_inequality("bowl", auto(Scaled(length), &[0, 1]))
            .unwrap();
        let start = State::new(&system, &[0.5 * length, length], &[0.0, 0.0]).unwrap();
        let run = run(&system, &start, &svci(0.01 * time, 0.6), 3.0 * time);
        (run.state.q.iter().map(|q| q / length).collect::<Vec<_>>(), run.impacts.len())
    };
    let (metres, impacts) = run_in(1.0, 1.0, 1.0);
    let (millimetres, others) = run_in(1e3, 1e3, 1e3);
    assert_eq!(impacts, others);
    assert!(distance(&metres, &millimetres) < 1e-13, "{metres:?} {millimetres:?}");
}

#[test]
fn a_cradle_passes_its_momentum_and_splits_nothing() {
    // Five balls of diameter 0.5 on rods of length 1, the first one raised.
    let mut system = System::new(Mass::diagonal(&[1.0; 10]).unwrap());
    let mut q = Vec::new();
    for i in 0..5 {
        let (x, y, at) = (2 * i, 2 * i + 1, 0.5 * i as f64);
        system = system
            .with_potential(&format!("weight {i}"), auto(Affine(vec![9.8], 0.0), &[y]))
            .unwrap()
            .with_equality(&format!("rod {i}"), auto(Rod([at, 0.0], 1.0, 1.0), &[x, y]))
            .unwrap();
        if i > 0 {
            let gap = auto(Distance(0.5), &[x - 2, x - 1, x, y]);
            system = system.with_inequality(&format!("balls {i}"), gap).unwrap();
        }
        let angle = if i == 0 { -0.8_f64 } else { 0.0 };
        q.extend([at + angle.sin(), -angle.cos()]);
    }
    let start = State::new(&system, &q, &[0.0; 10]).unwrap();
    let run = run(&system, &start, &Svci::new(0.02, Quadrature::Midpoint), 40.0);
    for i in 1..4 {
        let aside = run.state.q[2 * i] - 0.5 * i as f64;
        assert!(aside.abs() < 1e-8, "ball {i} swings: {aside}");
    }
    let drift = energy(&system, &run.state) / energy(&system, &start) - 1.0;
    assert!(drift.abs() < 1e-3, "energy {drift}");
}
