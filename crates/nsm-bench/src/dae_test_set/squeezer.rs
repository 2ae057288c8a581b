//! Andrews' squeezing mechanism: seven bars in three loops, driven by a constant torque.
//!
//! Its angles are $q = (\beta, \Theta, \gamma, \Phi, \delta, \Omega, \varepsilon)$. In them alone the mass depends on the configuration, which
//! only the generalized-α family takes ([`in_angles`]). With the centres of bars 2, 4 and 6 as coordinates beside
//! the angles, and the two equations that place each of them as constraints, the mass is constant and every method
//! fits ([`with_centres`]); the motion is the same.

use std::f64::consts::FRAC_PI_2;

use nsm_constraints::{Affine, AutoDiff, Expr, Scalar};
use nsm_model::{AutoKinetic, KineticExpr, Mass, State, System};

use super::{Problem, Reference};
use crate::ScenarioError;

const ANGLES: [&str; 7] = ["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"];
const CENTRES: [&str; 6] = ["x_2", "y_2", "x_4", "y_4", "x_6", "y_6"];

/// The mechanism in its seven angles; nothing if the data are absent.
///
/// # Errors
/// A reference file that does not read as one.
pub fn in_angles() -> Result<Option<Problem>, ScenarioError> {
    let Some(reference) = Reference::find("andrews.json")? else { return Ok(None) };
    let kinetic = Kinetic::new(&|name| reference.parameter(name))?;
    let system = System::with_variable_mass(AutoKinetic::new(kinetic, 7)?)?.with_names(&ANGLES)?;
    let system = with_loops(with_potentials(system, &reference)?, &reference)?;
    let (q, v) = (reference.numbers("q0")?, reference.numbers("v0")?);
    let start = State::new(&system, &q, &v)?;
    finish(system, start, &reference)
}

/// The mechanism in its angles and the centres of three bars; nothing if the data are absent.
///
/// # Errors
/// A reference file that does not read as one.
pub fn with_centres() -> Result<Option<Problem>, ScenarioError> {
    let Some(reference) = Reference::find("andrews.json")? else { return Ok(None) };
    let p = |name: &str| reference.parameter(name);
    let names = [&ANGLES[..], &CENTRES].concat();
    let system = System::new(constant_mass(&p)?).with_names(&names)?;
    let mut system = with_loops(with_potentials(system, &reference)?, &reference)?;
    let (mut q, mut v) = (reference.numbers("q0")?, reference.numbers("v0")?);
    // The mechanism starts from rest, and so do the centres.
    v.extend([0.0; 6]);
    let (ea, fa) = (p("e")? - p("ea")?, p("zf")? - p("fa")?);
    let bars = [
        ([0, 1], vec![(p("rr")?, 0.0, vec![0]), (-p("da")?, 0.0, vec![0, 1])], [0.0, 0.0]),
        (
            [3, 4],
            vec![(p("zt")?, 0.0, vec![1]), (ea, -FRAC_PI_2, vec![0, 1])],
            [p("xa")?, p("ya")?],
        ),
        ([5, 6], vec![(p("u")?, -FRAC_PI_2, vec![1]), (fa, 0.0, vec![0, 1])], [p("xa")?, p("ya")?]),
    ];
    for ([a, b], arms, pivot) in bars {
        for (turn, at) in [0.0, FRAC_PI_2].into_iter().zip(pivot) {
            let k = q.len();
            let arms = Arms { list: arms.clone(), turn, constant: at, point: false };
            q.push(arms.value(&[q[a], q[b]], 0.0));
            let centre = AutoDiff::new(Arms { point: true, ..arms }, &[a, b, k])?;
            system = system.with_equality(names[k], centre)?;
        }
    }
    let start = State::new(&system, &q, &v)?;
    finish(system, start, &reference)
}

fn finish(
    system: System,
    start: State,
    reference: &Reference,
) -> Result<Option<Problem>, ScenarioError> {
    let mut positions = reference.numbers("q_v_ref")?;
    positions.truncate(7);
    Ok(Some(Problem { system, start, end: reference.end()?, positions }))
}

/// The torque on the crank and the spring on bar 3.
fn with_potentials(system: System, reference: &Reference) -> Result<System, ScenarioError> {
    let p = |name: &str| reference.parameter(name);
    let spring = Spring {
        c0: p("c0")?,
        l0: p("l0")?,
        sc: p("sc")?,
        sd: p("sd")?,
        from: [p("xb")? - p("xc")?, p("yb")? - p("yc")?],
    };
    Ok(system
        .with_potential("drive", Affine::new(&[0], &[-p("mom")?], 0.0)?)?
        .with_potential("spring", AutoDiff::new(spring, &[2])?)?)
}

/// The three loops, which crank and bar 2 share.
fn with_loops(mut system: System, reference: &Reference) -> Result<System, ScenarioError> {
    let p = |name: &str| reference.parameter(name);
    for (axis, turn, a, b) in [("x", 0.0, p("xa")?, p("xb")?), ("y", FRAC_PI_2, p("ya")?, p("yb")?)]
    {
        let third = vec![(-p("ss")?, -FRAC_PI_2, vec![2])];
        let fifth = vec![(-p("e")?, -FRAC_PI_2, vec![2, 3]), (-p("zt")?, 0.0, vec![3])];
        let seventh = vec![(-p("zf")?, 0.0, vec![2, 3]), (-p("u")?, -FRAC_PI_2, vec![3])];
        for (name, ends, block, at) in [
            ("K3", third, &[0, 1, 2][..], b),
            ("K5", fifth, &[0, 1, 3, 4], a),
            ("K7", seventh, &[0, 1, 5, 6], a),
        ] {
            let mut list = vec![(p("rr")?, 0.0, vec![0]), (-p("d")?, 0.0, vec![0, 1])];
            list.extend(ends);
            let row = Arms { list, turn, constant: -at, point: false };
            system = system.with_equality(&format!("{name} {axis}"), AutoDiff::new(row, block)?)?;
        }
    }
    Ok(system)
}

type Parameters<'a> = &'a dyn Fn(&str) -> Result<f64, ScenarioError>;

/// Bars 1, 3, 5 and 7 turn about fixed points; bars 2, 4 and 6 by the sum of two angles, about their centres.
fn constant_mass(p: Parameters) -> Result<Mass, ScenarioError> {
    let about = |m: &str, a: &str, b: f64, i: &str| -> Result<f64, ScenarioError> {
        Ok(p(m)? * (p(a)?.powi(2) + b * b) + p(i)?)
    };
    let mut entries = vec![
        (0, 0, about("m1", "ra", 0.0, "i1")?),
        (2, 2, about("m3", "sa", p("sb")?, "i3")?),
        (4, 4, about("m5", "ta", p("tb")?, "i5")?),
        (6, 6, about("m7", "ua", p("ub")?, "i7")?),
    ];
    for (pair, inertia) in [([0, 1], "i2"), ([3, 4], "i4"), ([5, 6], "i6")] {
        let inertia = p(inertia)?;
        entries.extend(pair.iter().flat_map(|&i| pair.iter().map(move |&j| (i, j, inertia))));
    }
    for (k, m) in [(7, "m2"), (9, "m4"), (11, "m6")] {
        entries.extend([(k, k, p(m)?), (k + 1, k + 1, p(m)?)]);
    }
    Ok(Mass::sparse(13, &entries)?)
}

/// The kinetic energy in the angles alone: entries of $M$ that are constant, and the factors of $\cos\Theta$, $\sin\Phi$
/// and $\sin\Omega$ in the others.
struct Kinetic {
    m11: f64,
    m12: f64,
    m33: f64,
    m44: f64,
    m55: f64,
    m66: f64,
    m77: f64,
    theta: f64,
    phi: f64,
    omega: f64,
}

impl Kinetic {
    fn new(p: Parameters) -> Result<Self, ScenarioError> {
        let sq = |name: &str| -> Result<f64, ScenarioError> { Ok(p(name)?.powi(2)) };
        let (ea, fa) = (p("e")? - p("ea")?, p("zf")? - p("fa")?);
        let m12 = p("m2")? * sq("da")? + p("i2")?;
        let m44 = p("m4")? * ea * ea + p("i4")?;
        let m66 = p("m6")? * fa * fa + p("i6")?;
        Ok(Self {
            m11: p("m1")? * sq("ra")? + p("i1")? + p("m2")? * sq("rr")? + m12,
            m12,
            m33: p("m3")? * (sq("sa")? + sq("sb")?) + p("i3")?,
            m44,
            m55: p("m4")? * sq("zt")? + p("m5")? * (sq("ta")? + sq("tb")?) + p("i5")? + m44,
            m66,
            m77: p("m6")? * sq("u")? + p("m7")? * (sq("ua")? + sq("ub")?) + p("i7")? + m66,
            theta: p("m2")? * p("da")? * p("rr")?,
            phi: p("m4")? * p("zt")? * ea,
            omega: p("m6")? * p("u")? * fa,
        })
    }
}

impl KineticExpr for Kinetic {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        let (c, s, o) = (q[1].cos() * self.theta, q[3].sin() * self.phi, q[5].sin() * self.omega);
        let first = v[0] * v[0] * (-c * 2.0 + self.m11)
            + v[0] * v[1] * (-c + self.m12) * 2.0
            + v[1] * v[1] * self.m12;
        let second = v[3] * v[3] * self.m44
            + v[3] * v[4] * (s + self.m44) * 2.0
            + v[4] * v[4] * (s * 2.0 + self.m55);
        let third = v[5] * v[5] * self.m66
            + v[5] * v[6] * (-o + self.m66) * 2.0
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

/// $\sum_k r_k \cos(\alpha_k + \omega_k - \tau) + c$ over arms, minus the last coordinate if they end in a free point. The equations for
/// $y$ are those for $x$ turned by $\tau = \pi/2$.
struct Arms {
    /// Length $r$, offset $\omega$, and the coordinates whose sum is the angle $\alpha$.
    list: Vec<(f64, f64, Vec<usize>)>,
    turn: f64,
    constant: f64,
    point: bool,
}
impl Expr for Arms {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let mut sum = T::from(self.constant);
        for (length, offset, angles) in &self.list {
            let angle = angles.iter().fold(T::from(offset - self.turn), |a, &k| a + q[k]);
            sum += angle.cos() * *length;
        }
        match q {
            [.., point] if self.point => sum - *point,
            _ => sum,
        }
    }
}
