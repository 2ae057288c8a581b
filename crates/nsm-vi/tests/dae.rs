//! Two problems of the DAE test set with references to 14 digits, by the integrators for constant mass: the car
//! axis (stiff, driven constraint and driven potential), and Andrews' squeezer mechanism, whose mass is
//! constant once the centres of three of its bodies are coordinates too.

mod common;

use std::path::Path;

use common::auto;
use nsm_constraints::{Affine, Expr, Scalar};
use nsm_model::{Mass, State, Stepper, System, steps_between};
use nsm_vi::{Conserving, Quadrature, Variational};

/// The text of a reference file, or a loud message.
fn reference(name: &str) -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/dae").join(name);
    let text = std::fs::read_to_string(&file);
    if text.is_err() {
        eprintln!("SKIPPED: no reference solution at {}", file.display());
    }
    text.ok()
}

/// The numbers of the array with this key.
fn array(text: &str, key: &str) -> Vec<f64> {
    let from = text.find(&format!("\"{key}\"")).expect("key");
    let open = from + text[from..].find('[').expect("array");
    let close = open + text[open..].find(']').expect("end of array");
    text[open + 1..close].split(',').map(|x| x.trim().parse().expect("number")).collect()
}

/// The number with this key.
fn number(text: &str, key: &str) -> f64 {
    let from = text.find(&format!("\"{key}\":")).expect("key") + key.len() + 3;
    let end = from + text[from..].find([',', '}', '\n']).expect("end of number");
    text[from..end].trim().parse().expect("number")
}

/// Largest errors in the first positions at time `end`, by each method, with steps halved twice.
fn check(system: &System, start: &State, end: f64, h: f64, exact: &[f64], bound: f64) {
    let run = |stepper: &mut dyn Stepper<State = State>| {
        let mut state = start.clone();
        let steps = steps_between(start.t, end, stepper.step_size()).unwrap();
        for _ in 0..steps {
            stepper.step(&mut state).unwrap();
        }
        state.q.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let judge = |name: &str, errors: [f64; 3]| {
        let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
        assert!(
            errors[2] < bound && orders.iter().all(|o| (o - 2.0).abs() < 0.2),
            "{name}: {errors:?} {orders:?}"
        );
    };
    let steps = [h, 0.5 * h, 0.25 * h];
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        judge(
            &format!("{quadrature:?}"),
            steps.map(|h| run(&mut Variational::new(h, quadrature).stepper(system).unwrap())),
        );
    }
    judge("conserving", steps.map(|h| run(&mut Conserving::new(h).stepper(system).unwrap())));
}

/// $(x_b, y_b) = (\sqrt{1 - y_b^2}, 0.1 \sin 10 t)$.
fn base<T: Scalar>(t: T) -> (T, T) {
    let y = (t * 10.0).sin() * 0.1;
    ((-(y * y) + 1.0).sqrt(), y)
}

/// $\tfrac12(|x| - \tfrac12)^2$: the left spring.
struct Left;
impl Expr for Left {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let stretch = (q[0] * q[0] + q[1] * q[1]).sqrt() - 0.5;
        stretch * stretch * 0.5
    }
}

/// The right spring, to the moving base.
struct Right;
impl Expr for Right {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        let (x, y) = base(t);
        Left.value(&[q[0] - x, q[1] - y], t)
    }
}

/// $x_l x_b + y_l y_b$.
struct Upright;
impl Expr for Upright {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        let (x, y) = base(t);
        q[0] * x + q[1] * y
    }
}

/// $|l - r|^2 - 1$.
struct Axle;
impl Expr for Axle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0] - q[2], q[1] - q[3]);
        x * x + y * y - 1.0
    }
}

#[test]
fn the_car_axis_meets_its_reference_at_second_order() {
    let Some(text) = reference("caraxis.json") else { return };
    let m = 0.01_f64.powi(2) * 10.0 / 2.0;
    let system = System::new(Mass::diagonal(&[m; 4]).unwrap())
        .with_potential("weight", Affine::new(&[1, 3], &[m, m], 0.0).unwrap())
        .unwrap()
        .with_potential("left spring", auto(Left, &[0, 1]))
        .unwrap()
        .with_potential("right spring", auto(Right, &[2, 3]))
        .unwrap()
        .with_equality("upright", auto(Upright, &[0, 1]))
        .unwrap()
        .with_equality("axle", auto(Axle, &[0, 1, 2, 3]))
        .unwrap();
    let start = State::new(&system, &[0.0, 0.5, 1.0, 0.5], &[-0.5, 0.0, -0.5, 0.0]).unwrap();
    check(&system, &start, 3.0, 2e-3, &array(&text, "ref")[..4], 1e-4);
}

/// $\tfrac12 c_0 (L - l_0)^2$ of the spring from $C$ to $D(\gamma)$.
struct Spring {
    c0: f64,
    l0: f64,
    sc: f64,
    sd: f64,
    from: [f64; 2],
}
impl Expr for Spring {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (sin, cos) = (q[0].sin(), q[0].cos());
        let x = cos * self.sd + sin * self.sc + self.from[0];
        let y = sin * self.sd - cos * self.sc + self.from[1];
        let stretch = (x * x + y * y).sqrt() - self.l0;
        stretch * stretch * (0.5 * self.c0)
    }
}

/// $\sum_k r_k \cos(\alpha_k + \omega_k - \tau) + c$ over arms, the angle $\alpha_k$ being coordinate $k$ alone or the sum of two,
/// and minus the last coordinate if the arms end in a free point. Turned by $\tau = \pi/2$, cosines are sines.
struct Arms {
    /// Length $r$, offset $\omega$, and the coordinates that add up to the angle.
    list: Vec<(f64, f64, Vec<usize>)>,
    turn: f64,
    constant: f64,
    point: Option<usize>,
}
impl Expr for Arms {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let mut sum = T::from(self.constant);
        for (length, offset, angles) in &self.list {
            let angle = angles.iter().fold(T::from(offset - self.turn), |a, &k| a + q[k]);
            sum += angle.cos() * *length;
        }
        match self.point {
            Some(k) => sum - q[k],
            None => sum,
        }
    }
}

#[test]
fn andrews_squeezer_meets_its_reference_at_second_order() {
    use std::f64::consts::FRAC_PI_2;
    let Some(text) = reference("andrews.json") else { return };
    let p = |key: &str| number(&text, key);
    let (mut q0, mut v0) = (array(&text, "q0"), array(&text, "v0"));
    let sq = |x: f64| x * x;
    let (ea, fa) = (p("e") - p("ea"), p("zf") - p("fa"));
    // Angles β, Θ, γ, Φ, δ, Ω, ε, then the centres of bodies 2, 4 and 6; bodies 1, 3, 5 and 7 turn about fixed points.
    let mut mass = vec![
        (0, 0, p("m1") * sq(p("ra")) + p("i1")),
        (2, 2, p("m3") * (sq(p("sa")) + sq(p("sb"))) + p("i3")),
        (4, 4, p("m5") * (sq(p("ta")) + sq(p("tb"))) + p("i5")),
        (6, 6, p("m7") * (sq(p("ua")) + sq(p("ub"))) + p("i7")),
    ];
    for (pair, inertia) in [([0, 1], p("i2")), ([3, 4], p("i4")), ([5, 6], p("i6"))] {
        mass.extend(pair.iter().flat_map(|&i| pair.iter().map(move |&j| (i, j, inertia))));
    }
    for (k, m) in [(7, p("m2")), (9, p("m4")), (11, p("m6"))] {
        mass.extend([(k, k, m), (k + 1, k + 1, m)]);
    }
    let spring = Spring {
        c0: p("c0"),
        l0: p("l0"),
        sc: p("sc"),
        sd: p("sd"),
        from: [p("xb") - p("xc"), p("yb") - p("yc")],
    };
    let mut system = System::new(Mass::sparse(13, &mass).unwrap())
        .with_potential("drive", Affine::new(&[0], &[-p("mom")], 0.0).unwrap())
        .unwrap()
        .with_potential("spring", auto(spring, &[2]))
        .unwrap();
    let mut centres = [0.0; 6];
    for (side, (turn, x_a, x_b)) in
        [(0.0, p("xa"), p("xb")), (FRAC_PI_2, p("ya"), p("yb"))].into_iter().enumerate()
    {
        let crank = || vec![(p("rr"), 0.0, vec![0]), (-p("d"), 0.0, vec![0, 1])];
        let row = |arms, constant, point| Arms { list: arms, turn, constant, point };
        let closed = |block: &[usize], ends: &[(f64, f64, Vec<usize>)], at: f64| {
            auto(row([&crank()[..], ends].concat(), -at, None), block)
        };
        let first = closed(&[0, 1, 2], &[(-p("ss"), -FRAC_PI_2, vec![2])], x_b);
        let second = [(-p("e"), -FRAC_PI_2, vec![2, 3]), (-p("zt"), 0.0, vec![3])];
        let third = [(-p("zf"), 0.0, vec![2, 3]), (-p("u"), -FRAC_PI_2, vec![3])];
        let two = vec![(p("rr"), 0.0, vec![0]), (-p("da"), 0.0, vec![0, 1])];
        let four = vec![(p("zt"), 0.0, vec![1]), (ea, -FRAC_PI_2, vec![0, 1])];
        let six = vec![(p("u"), -FRAC_PI_2, vec![1]), (fa, 0.0, vec![0, 1])];
        system = system
            .with_equality("K3", first)
            .unwrap()
            .with_equality("K5", closed(&[0, 1, 3, 4], &second, x_a))
            .unwrap()
            .with_equality("K7", closed(&[0, 1, 5, 6], &third, x_a))
            .unwrap();
        for (name, arms, at, pair, k) in [
            ("centre 2", two, 0.0, [0, 1], 7),
            ("centre 4", four, x_a, [3, 4], 9),
            ("centre 6", six, x_a, [5, 6], 11),
        ] {
            let k = k + side;
            let angles = [q0[pair[0]], q0[pair[1]]];
            centres[k - 7] = row(arms.clone(), at, None).value(&angles, 0.0);
            let centre = auto(row(arms, at, Some(2)), &[pair[0], pair[1], k]);
            system = system.with_equality(name, centre).unwrap();
        }
    }
    q0.extend(centres);
    assert!(v0.iter().all(|v| *v == 0.0));
    v0.extend([0.0; 6]);
    let start = State::new(&system, &q0, &v0).unwrap();
    check(&system, &start, 0.03, 2e-5, &array(&text, "q_v_ref")[..7], 2e-5);
}
