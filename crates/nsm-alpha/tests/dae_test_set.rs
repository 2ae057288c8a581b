//! Two problems of the DAE test set with references to 14 digits and more: the car axis (stiff, driven
//! constraint and driven potential) and Andrews' squeezer mechanism (mass depends on the configuration).

mod common;

use std::path::Path;

use common::{distance, orders, run};
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, Nsga};
use nsm_constraints::{Affine, AutoDiff, Expr, Scalar};
use nsm_model::{AutoKinetic, KineticExpr, Mass, State, System};

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
        let (x, y) = (q[0] - x, q[1] - y);
        let stretch = (x * x + y * y).sqrt() - 0.5;
        stretch * stretch * 0.5
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
    let exact = array(&text, "ref");
    let m = 0.01_f64.powi(2) * 10.0 / 2.0;
    let system = System::new(Mass::diagonal(&[m; 4]).unwrap())
        .with_names(&["x_l", "y_l", "x_r", "y_r"])
        .unwrap()
        .with_potential("weight", Affine::new(&[1, 3], &[m, m], 0.0).unwrap())
        .unwrap()
        .with_potential("left spring", AutoDiff::new(Left, &[0, 1]).unwrap())
        .unwrap()
        .with_potential("right spring", AutoDiff::new(Right, &[2, 3]).unwrap())
        .unwrap()
        .with_equality("upright", AutoDiff::new(Upright, &[0, 1]).unwrap())
        .unwrap()
        .with_equality("axle", AutoDiff::new(Axle, &[0, 1, 2, 3]).unwrap())
        .unwrap();
    let start = State::new(&system, &[0.0, 0.5, 1.0, 0.5], &[-0.5, 0.0, -0.5, 0.0]).unwrap();
    let steps = [2e-3, 1e-3, 5e-4];
    let check = |name: &str, errors: [f64; 3]| {
        let found = orders(&errors);
        assert!(
            errors[2] < 1e-4 && found.iter().all(|o| (o - 2.0).abs() < 0.2),
            "{name}: {errors:?} {found:?}"
        );
    };
    for index in [Index::Three, Index::Two] {
        let errors = steps.map(|h| {
            let method = ClassicalAlpha::new(h, index, 0.8).unwrap();
            let mut stepper = method.stepper(&system, &start).unwrap();
            distance(&run(&system, &mut stepper, &start, 3.0).0.q, &exact[..4])
        });
        check(&format!("{index:?}"), errors);
    }
    let errors = steps.map(|h| {
        let mut stepper = Nsga::new(h, 0.8).unwrap().stepper(&system, &start).unwrap();
        let (state, ledger) = run(&system, &mut stepper, &start, 3.0);
        assert!(ledger.position_residual < 1e-10 && ledger.velocity_residual < 1e-10);
        distance(&state.q, &exact[..4])
    });
    check("NSGA", errors);
}

/// Data of Andrews' mechanism that the kinetic energy needs.
struct Squeezer {
    m11: f64,
    m12: f64,
    m22: f64,
    m33: f64,
    m44: f64,
    m45: f64,
    m55: f64,
    m66: f64,
    m67: f64,
    m77: f64,
    /// Factors of $\cos\Theta$, $\sin\Phi$ and $\sin\Omega$.
    theta: f64,
    phi: f64,
    omega: f64,
}
impl KineticExpr for Squeezer {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        let (c, s, o) = (q[1].cos() * self.theta, q[3].sin() * self.phi, q[5].sin() * self.omega);
        let first = v[0] * v[0] * (-c * 2.0 + self.m11)
            + v[0] * v[1] * (-c + self.m12) * 2.0
            + v[1] * v[1] * self.m22;
        let second = v[3] * v[3] * self.m44
            + v[3] * v[4] * (s + self.m45) * 2.0
            + v[4] * v[4] * (s * 2.0 + self.m55);
        let third = v[5] * v[5] * self.m66
            + v[5] * v[6] * (-o + self.m67) * 2.0
            + v[6] * v[6] * (-o * 2.0 + self.m77);
        (first + second + third + v[2] * v[2] * self.m33) * 0.5
    }
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

/// $r \cos\beta - d \cos(\beta + \Theta) - a \cos(\psi) - b \cos(\chi) - x$, every angle turned by `turn`;
/// $\psi$ is the sum of the two last coordinates or the last one, $\chi$ the last one.
struct Loop {
    rr: f64,
    d: f64,
    a: (f64, f64),
    b: (f64, f64),
    turn: f64,
    at: f64,
}
impl Expr for Loop {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let cos = |angle: T, offset: f64| (angle + (offset - self.turn)).cos();
        let chi = q[q.len() - 1];
        let psi = if q.len() == 4 { q[2] + chi } else { chi };
        cos(q[0], 0.0) * self.rr
            - cos(q[0] + q[1], 0.0) * self.d
            - cos(psi, self.a.1) * self.a.0
            - cos(chi, self.b.1) * self.b.0
            - self.at
    }
}

#[test]
fn andrews_squeezer_meets_its_reference_at_second_order() {
    use std::f64::consts::FRAC_PI_2;
    let Some(text) = reference("andrews.json") else { return };
    let p = |key: &str| number(&text, key);
    let (q0, v0, exact) = (array(&text, "q0"), array(&text, "v0"), array(&text, "q_v_ref"));
    let sq = |x: f64| x * x;
    let (ea, fa) = (p("e") - p("ea"), p("zf") - p("fa"));
    let kinetic = Squeezer {
        m11: p("m1") * sq(p("ra")) + p("m2") * (sq(p("rr")) + sq(p("da"))) + p("i1") + p("i2"),
        m12: p("m2") * sq(p("da")) + p("i2"),
        m22: p("m2") * sq(p("da")) + p("i2"),
        m33: p("m3") * (sq(p("sa")) + sq(p("sb"))) + p("i3"),
        m44: p("m4") * sq(ea) + p("i4"),
        m45: p("m4") * sq(ea) + p("i4"),
        m55: p("m4") * (sq(p("zt")) + sq(ea))
            + p("m5") * (sq(p("ta")) + sq(p("tb")))
            + p("i4")
            + p("i5"),
        m66: p("m6") * sq(fa) + p("i6"),
        m67: p("m6") * sq(fa) + p("i6"),
        m77: p("m6") * (sq(fa) + sq(p("u")))
            + p("m7") * (sq(p("ua")) + sq(p("ub")))
            + p("i6")
            + p("i7"),
        theta: p("m2") * p("da") * p("rr"),
        phi: p("m4") * p("zt") * ea,
        omega: p("m6") * p("u") * fa,
    };
    let spring = Spring {
        c0: p("c0"),
        l0: p("l0"),
        sc: p("sc"),
        sd: p("sd"),
        from: [p("xb") - p("xc"), p("yb") - p("yc")],
    };
    let mut system = System::with_variable_mass(AutoKinetic::new(kinetic, 7).unwrap())
        .unwrap()
        .with_names(&["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"])
        .unwrap()
        .with_potential("drive", Affine::new(&[0], &[-p("mom")], 0.0).unwrap())
        .unwrap()
        .with_potential("spring", AutoDiff::new(spring, &[2]).unwrap())
        .unwrap();
    // sin(x) = cos(x - π/2): the y equations are the x equations turned by a right angle.
    for (turn, x_a, x_b, axis) in [(0.0, p("xa"), p("xb"), "x"), (FRAC_PI_2, p("ya"), p("yb"), "y")]
    {
        let row = |a, b, at| Loop { rr: p("rr"), d: p("d"), a, b, turn, at };
        let first = row((p("ss"), -FRAC_PI_2), (0.0, 0.0), x_b);
        let second = row((p("e"), -FRAC_PI_2), (p("zt"), 0.0), x_a);
        let third = row((p("zf"), 0.0), (p("u"), -FRAC_PI_2), x_a);
        system = system
            .with_equality(&format!("K3 {axis}"), AutoDiff::new(first, &[0, 1, 2]).unwrap())
            .unwrap()
            .with_equality(&format!("K5 {axis}"), AutoDiff::new(second, &[0, 1, 3, 4]).unwrap())
            .unwrap()
            .with_equality(&format!("K7 {axis}"), AutoDiff::new(third, &[0, 1, 5, 6]).unwrap())
            .unwrap();
    }
    let start = State::new(&system, &q0, &v0).unwrap();
    let errors = [4e-5, 2e-5, 1e-5].map(|h| {
        let mut stepper = Nsga::new(h, 0.9).unwrap().stepper(&system, &start).unwrap();
        let (state, ledger) = run(&system, &mut stepper, &start, 0.03);
        assert!(ledger.position_residual < 1e-10, "{}", ledger.position_residual);
        distance(&state.q, &exact[..7])
    });
    let found = orders(&errors);
    assert!(found.iter().all(|o| (o - 2.0).abs() < 0.3), "{errors:?} {found:?}");
    assert!(errors[2] < 5e-3, "{errors:?}");
    let errors = [4e-5, 2e-5, 1e-5].map(|h| {
        let mut stepper = EventDriven::new(h, 0.9).unwrap().stepper(&system, &start).unwrap();
        distance(&run(&system, &mut stepper, &start, 0.03).0.q, &exact[..7])
    });
    let found = orders(&errors);
    assert!(found.iter().all(|o| (o - 2.0).abs() < 0.3), "{errors:?} {found:?}");
}
