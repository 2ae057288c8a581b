//! Problems A01 to A05 of the IFToMM library of multibody benchmarks, by joints, against reduced models written here: elliptic functions, the one freedom of
//! N four-bar linkages and of Bricard's mechanism, the three of the governor; and against the published reference of Andrews' mechanism.

#[path = "common/mechanisms.rs"]
mod mechanisms;

use mechanisms::{judged, number, run};
use nsm_problem::RunResult;

const G: f64 = 9.81;

/// A file of the library with another run.
fn with_run(name: &str, method: &str, step: f64, end: f64) -> RunResult {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/mechanisms/");
    let text = std::fs::read_to_string(format!("{home}{name}.toml")).unwrap();
    let cut = text.find("[[run]]").unwrap();
    let result = run(&format!(
        "{}\n[[run]]\nmethod = \"{method}\"\nstep = {step:?}\nend = {end:?}\n",
        &text[..cut]
    ));
    assert!(result.failure.is_none(), "{name}: {:?}", result.failure);
    assert_eq!(result.ledger.warnings(), [], "{name} {method}");
    result
}

fn place(result: &RunResult, body: &str) -> [f64; 3] {
    std::array::from_fn(|k| number(result, &format!("final.bodies.{body}.position[{k}]")))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// Halving the step takes the error to a quarter.
fn of_second_order(what: &str, [coarse, fine]: [f64; 2], bound: f64) {
    let ratio = coarse / fine;
    assert!(fine < bound && (3.5..4.5).contains(&ratio), "{what}: {coarse} {fine}, {ratio}");
}

/// The classical Runge–Kutta method.
fn integrate<const N: usize>(
    f: impl Fn(&[f64; N]) -> [f64; N],
    mut y: [f64; N],
    end: f64,
    steps: u32,
) -> [f64; N] {
    let h = end / f64::from(steps);
    for _ in 0..steps {
        let along = |k: &[f64; N], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
        let k1 = f(&y);
        let k2 = f(&along(&k1, 0.5 * h));
        let k3 = f(&along(&k2, 0.5 * h));
        let k4 = f(&along(&k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    y
}

/// $\mathrm{cd}(u, m)$ by descending Landen transformations.
fn cd(u: f64, m: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
    let mut ratios = Vec::new();
    while ratios.len() < 8 {
        let next = 0.5 * (a + b);
        ratios.push(0.5 * (a - b) / next);
        b = (a * b).sqrt();
        a = next;
    }
    let mut phi = 2.0_f64.powi(8) * a * u;
    for ratio in ratios.iter().rev() {
        phi = 0.5 * (phi + (ratio * phi.sin()).asin());
    }
    phi.cos() / (1.0 - m * phi.sin().powi(2)).sqrt()
}

#[test]
fn a01_swings_as_elliptic_functions_say() {
    judged("iftomm-a01");
    // sin(θ/2) = k cd(√g t, k²) from rest at θ₀, k = sin(θ₀/2).
    let k = 0.5_f64.sqrt();
    let half = (k * cd(G.sqrt() * 10.0, k * k)).asin();
    let exact = [-(2.0 * half).sin(), -(2.0 * half).cos(), 0.0];
    for method in ["vi", "energy-momentum", "null-space-reparametrised"] {
        let error = |h| distance(place(&with_run("iftomm-a01", method, h, 10.0), "bob"), exact);
        of_second_order(method, [error(2e-3), error(1e-3)], 1e-4);
    }
}

#[test]
fn a02_goes_through_its_singular_positions_as_the_pendulum_that_it_is() {
    judged("iftomm-a02");
    // (N + 1)/3 + N and (N + 1)/2 + N: inertia and weight of N + 1 bars that turn and N that do not.
    let y = integrate(|y: &[f64; 2]| [y[1], G * 3.5 / 3.0 * y[0].sin()], [0.0, 1.0], 2.0, 20_000);
    let exact = [0.5 * y[0].sin(), 0.5 * y[0].cos(), 0.0];
    assert!(y[0] > 5.0, "through both: {}", y[0]);
    for method in ["null-space-reparametrised", "energy-momentum"] {
        let error = |h| distance(place(&with_run("iftomm-a02", method, h, 2.0), "bar0"), exact);
        of_second_order(method, [error(2e-3), error(1e-3)], 2e-4);
    }
}

#[test]
fn a03_squeezes_as_published() {
    judged("iftomm-a03");
    let start = [
        -0.061_713_890_014_276_45,
        0.455_279_819_163_070_37,
        0.487_364_979_543_842_56,
        1.230_547_444_549_821_2,
    ];
    let published = [
        15.810_771_196_299_04,
        0.040_822_240_130_731_01,
        0.524_409_965_880_530_3,
        1.048_080_741_042_263,
    ];
    let errors = [2e-5, 1e-5].map(|h| {
        let result = with_run("iftomm-a03", "null-space-reparametrised", h, 0.03);
        let off = |(k, name): (usize, &str)| {
            let moved = number(&result, &format!("invariants.{name}.end"));
            // The crank has made three turns, of which it does not know.
            let turns = if k == 0 { 6.0 * std::f64::consts::PI } else { 0.0 };
            (moved + turns + start[k] - published[k]).abs()
        };
        ["crank", "K3", "K5", "K7"].into_iter().enumerate().map(off).fold(0.0, f64::max)
    });
    of_second_order("squeezer", errors, 2e-3);
}

type Vector = [f64; 3];
/// Centre of each bar, and three directions that it carries, the first along it.
type Bars = [(Vector, [Vector; 3]); 5];

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vector, b: Vector) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn sum(parts: &[(f64, Vector)]) -> Vector {
    std::array::from_fn(|k| parts.iter().map(|(w, x)| w * x[k]).sum())
}

/// Bricard's mechanism by its first angle: centre of each bar, and three directions that it carries, the first along it.
struct Bricard;

const X: Vector = [1.0, 0.0, 0.0];
const Y: Vector = [0.0, 1.0, 0.0];
const Z: Vector = [0.0, 0.0, 1.0];

impl Bricard {
    /// Ends and axes for the turns at the ground (`first`, `last`) and those of their neighbours: P1 to P4, the hinges of the middle bar.
    fn points(first: f64, [inner, outer, last]: [f64; 3]) -> ([Vector; 4], [Vector; 2]) {
        let a = sum(&[(first.cos(), X), (-first.sin(), Z)]);
        let e = sum(&[(-last.cos(), Y), (-last.sin(), Z)]);
        let p4 = sum(&[(1.0, Z), (1.0, e)]);
        let p2 = sum(&[(1.0, a), (-inner.cos(), Y), (inner.sin(), a)]);
        let p3 = sum(&[(1.0, p4), (outer.cos(), X), (outer.sin(), e)]);
        let axes = [
            sum(&[(inner.cos(), a), (inner.sin(), Y)]),
            sum(&[(-outer.cos(), e), (outer.sin(), X)]),
        ];
        ([a, p2, p3, p4], axes)
    }

    /// What is zero where the middle bar fits: its length, its hinges across it and across each other.
    fn gaps(first: f64, others: [f64; 3]) -> [f64; 4] {
        let ([_, p2, p3, _], [n2, n3]) = Self::points(first, others);
        let c = sum(&[(1.0, p3), (-1.0, p2)]);
        [dot(c, c) - 1.0, dot(c, n2), dot(c, n3), dot(n2, n3)]
    }

    /// The other turns, by Gauss–Newton from those nearby.
    fn close(first: f64, mut others: [f64; 3]) -> [f64; 3] {
        for _ in 0..30 {
            let gaps = Self::gaps(first, others);
            let mut columns = [[0.0; 4]; 3];
            for (k, column) in columns.iter_mut().enumerate() {
                let (mut right, mut left) = (others, others);
                right[k] += 1e-6;
                left[k] -= 1e-6;
                let (right, left) = (Self::gaps(first, right), Self::gaps(first, left));
                *column = std::array::from_fn(|i| (right[i] - left[i]) / 2e-6);
            }
            let product = |a: &[f64; 4], b: &[f64; 4]| (0..4).map(|i| a[i] * b[i]).sum::<f64>();
            let normal: [Vector; 3] =
                std::array::from_fn(|i| std::array::from_fn(|j| product(&columns[i], &columns[j])));
            let rhs: Vector = std::array::from_fn(|i| product(&columns[i], &gaps));
            let volume = dot(normal[0], cross(normal[1], normal[2]));
            for k in 0..3 {
                let mut replaced = normal;
                replaced[k] = rhs;
                others[k] -= dot(replaced[0], cross(replaced[1], replaced[2])) / volume;
            }
        }
        assert!(Self::gaps(first, others).iter().all(|g| g.abs() < 1e-13));
        others
    }

    fn bars(first: f64) -> Bars {
        let others = Self::close(first, Self::nearby(first));
        let ([p1, p2, p3, p4], [n2, n3]) = Self::points(first, others);
        let bar = |from: Vector, to: Vector, across: Vector| {
            let along = sum(&[(1.0, to), (-1.0, from)]);
            (sum(&[(0.5, from), (0.5, to)]), [along, across, cross(along, across)])
        };
        [bar([0.0; 3], p1, Y), bar(p1, p2, n2), bar(p2, p3, n2), bar(p3, p4, n3), bar(p4, Z, X)]
    }

    /// Follows the others from the start, where all are zero.
    fn nearby(first: f64) -> [f64; 3] {
        let mut steps = 1;
        while 0.05 * f64::from(steps) < first.abs() {
            steps += 1;
        }
        let mut others = [0.0; 3];
        for k in 1..=steps {
            others = Self::close(first * f64::from(k) / f64::from(steps), others);
        }
        others
    }

    /// Inertia and potential by the first angle.
    fn reduced(first: f64) -> [f64; 2] {
        let h = 1e-3;
        let [far_left, left, right, far_right] =
            [-2.0 * h, -h, h, 2.0 * h].map(|d| Self::bars(first + d));
        let here = Self::bars(first);
        let slope = |f: &dyn Fn(&Bars) -> Vector| -> Vector {
            let (a, b, c, d) = (f(&far_left), f(&left), f(&right), f(&far_right));
            std::array::from_fn(|k| (a[k] - 8.0 * b[k] + 8.0 * c[k] - d[k]) / (12.0 * h))
        };
        let (across, along) = (1.01 / 12.0, 0.02 / 12.0);
        let (mut inertia, mut potential) = (0.0, 0.0);
        for (i, (centre, frame)) in here.iter().enumerate() {
            let v = slope(&|bars| bars[i].0);
            let turns: [Vector; 3] =
                std::array::from_fn(|k| cross(frame[k], slope(&|bars| bars[i].1[k])));
            let w = sum(&turns.map(|x| (0.5, x)));
            inertia += dot(v, v)
                + across * (dot(w, w) - dot(w, frame[0]).powi(2))
                + along * dot(w, frame[0]).powi(2);
            potential += G * centre[1];
        }
        [inertia, potential]
    }
}

#[test]
fn a04_moves_as_the_one_freedom_that_counting_denies_it() {
    judged("iftomm-a04");
    // Inertia m(φ) and potential V(φ) on a grid, of which Lagrange's equation needs slopes: m φ'' = -½ m' φ'² - V'.
    let rate = |y: &[f64; 2]| {
        let d = 1e-3;
        let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|k| Bricard::reduced(y[0] + k * d));
        let slope = |k: usize| (a[k] - 8.0 * b[k] + 8.0 * c[k] - e[k]) / (12.0 * d);
        [y[1], -(0.5 * slope(0) * y[1] * y[1] + slope(1)) / Bricard::reduced(y[0])[0]]
    };
    let end = 1.0;
    let y = integrate(rate, [0.0, 0.0], end, 100);
    let exact = Bricard::bars(y[0])[2].0;
    assert!(y[0].abs() > 0.5, "{y:?}");
    for method in ["null-space-reparametrised", "energy-momentum"] {
        let error = |h| distance(place(&with_run("iftomm-a04", method, h, end), "c"), exact);
        of_second_order(method, [error(4e-3), error(2e-3)], 1e-4);
    }
}

#[test]
fn a05_settles_as_turn_rods_and_slider_do() {
    judged("iftomm-a05");
    let (rod, ball, slider, k, c) = (0.3, 5.0, 3.0, 8e5, 4e4);
    let (across, along) = (rod * 1.0001 / 12.0, rod * 0.0002 / 12.0);
    // About the shaft, with its slope by the angle α of the rods below the horizontal.
    let about = |a: f64| {
        let ((sine, cosine), own) = (a.sin_cos(), 0.3 * 0.0002 / 12.0 + slider * 0.02 / 12.0);
        let (middle, end) = (0.05 + 0.5 * cosine, 0.05 + cosine);
        let one = rod * middle * middle
            + ball * end * end
            + across * cosine * cosine
            + along * sine * sine;
        let slope =
            -rod * middle * sine - 2.0 * ball * end * sine - 2.0 * (across - along) * sine * cosine;
        (own + 2.0 * one, 2.0 * slope)
    };
    let alpha = std::f64::consts::PI / 6.0;
    let momentum = about(alpha).0 * 2.0 * std::f64::consts::PI;
    let rate = |y: &[f64; 4]| {
        let [a, z, da, dz] = *y;
        let (sine, cosine) = a.sin_cos();
        let (inertia, slope) = about(a);
        let turn = momentum / inertia;
        let (wide, high) = (0.5 * cosine, 1.0 - 0.5 * sine - z);
        let l = wide.hypot(high);
        let by_a = (-wide * 0.5 * sine - high * 0.5 * cosine) / l;
        let by_z = -high / l;
        let pull = 2.0 * (k * (l - 0.5) + c * (by_a * da + by_z * dz));
        let weight = -G * (rod + 2.0 * ball) * cosine;
        let own = 2.0 * (0.25 * rod + across + ball);
        [
            da,
            dz,
            (0.5 * slope * turn * turn - weight - pull * by_a) / own,
            -G - pull * by_z / slider,
        ]
    };
    let y = integrate(rate, [alpha, 0.5, 0.0, 0.0], 1.0, 100_000);
    for method in ["vi", "energy-momentum"] {
        let error = |h| {
            distance(place(&with_run("iftomm-a05", method, h, 1.0), "slider"), [0.0, 0.0, y[1]])
        };
        of_second_order(method, [error(2e-3), error(1e-3)], 1e-3);
    }
}

#[test]
fn a_walker_a_stop_and_an_arm_do_what_they_are_built_for() {
    for name in ["walking-leg", "end-stop", "robot-arm", "swinging-hoop"] {
        judged(name);
    }
}

#[test]
fn joints_rub_as_their_closed_forms_say() {
    for name in ["bearing", "slide", "dry-hinge"] {
        judged(&format!("../friction/{name}"));
    }
}
