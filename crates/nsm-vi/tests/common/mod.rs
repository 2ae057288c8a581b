//! Small systems that several tests share.
#![allow(dead_code, reason = "no test binary needs all of them")]

use nsm_constraints::{AutoDiff, Expr, Scalar};
use nsm_model::{Invariant, Mass, State, System};

/// $a \cdot q + b$ on a block.
pub(crate) struct Affine(pub(crate) Vec<f64>, pub(crate) f64);
impl Expr for Affine {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q.iter().zip(&self.0).fold(T::from(self.1), |sum, (q, a)| sum + *q * *a)
    }
}

/// $|x - y| - d$ for two points in the plane.
pub(crate) struct Distance(pub(crate) f64);
impl Expr for Distance {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0] - q[2], q[1] - q[3]);
        (x * x + y * y).sqrt() - self.0
    }
}

/// $\tfrac k2 (|x - y| - l)^2$.
pub(crate) struct Spring(pub(crate) f64, pub(crate) f64);
impl Expr for Spring {
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        let u = Distance(self.1).value(q, t);
        u * u * (0.5 * self.0)
    }
}

/// $|x - c| - l$ for a point in the plane, or its opposite (inside a circle).
pub(crate) struct Rod(pub(crate) [f64; 2], pub(crate) f64, pub(crate) f64);
impl Expr for Rod {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = (q[0] - self.0[0], q[1] - self.0[1]);
        ((x * x + y * y).sqrt() - self.1) * self.2
    }
}

/// $|q|^2 (|q|^2 - 1)^2$, \[KP\] (7.4).
pub(crate) struct Well;
impl Expr for Well {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let r = q[0] * q[0] + q[1] * q[1];
        r * (r - 1.0) * (r - 1.0)
    }
}

/// $25/|q|^2$.
pub(crate) struct Repulsion;
impl Expr for Repulsion {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        (q[0] * q[0] + q[1] * q[1]).recip() * 25.0
    }
}

pub(crate) fn auto<E: Expr>(expr: E, block: &[usize]) -> AutoDiff<E> {
    AutoDiff::new(expr, block).unwrap()
}

/// A particle above a floor.
pub(crate) fn ball() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("gravity", auto(Affine(vec![9.8], 0.0), &[0]))
        .unwrap()
        .with_inequality("floor", auto(Affine(vec![1.0], 0.0), &[0]))
        .unwrap();
    let state = State::new(&system, &[1.0], &[0.0]).unwrap();
    (system, state)
}

/// Two particles on a vertical line with a spring, \[KP\] Figure 1.4; tracks `C` of erratum 4 for `h`.
pub(crate) fn pogo(h: f64, height: f64) -> (System, State) {
    struct Line;
    impl Expr for Line {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            let u = q[0] - q[1] - 5.0;
            u * u * 5.0
        }
    }
    let weight = |i| auto(Affine(vec![9.8213], 0.0), &[i]);
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("upper weight", weight(0))
        .unwrap()
        .with_potential("lower weight", weight(1))
        .unwrap()
        .with_potential("spring", auto(Line, &[0, 1]))
        .unwrap()
        .with_inequality("floor", auto(Affine(vec![1.0], 0.0), &[1]))
        .unwrap()
        .with_invariant(Invariant::new("C", move |q, p| {
            let u = q[0] - q[1] - 5.0;
            let energy = 0.5 * (p[0] * p[0] + p[1] * p[1]) + 9.8213 * (q[0] + q[1]) + 5.0 * u * u;
            energy - 0.25 * h * h * 100.0 * u * u
        }));
    let state = State::new(&system, &[5.0 + height, height], &[0.0, 0.0]).unwrap();
    (system, state)
}

/// Two discs in a double well, \[KP\] section 7.0.1.
pub(crate) fn oscillator() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0; 4]).unwrap())
        .with_potential("first well", auto(Well, &[0, 1]))
        .unwrap()
        .with_potential("second well", auto(Well, &[2, 3]))
        .unwrap()
        .with_inequality("discs", auto(Distance(2.0), &[0, 1, 2, 3]))
        .unwrap()
        .with_invariant(Invariant::angular_momentum("L", &[[0, 1], [2, 3]]));
    let state =
        State::from_momentum(&system, &[0.0, -1.4, 0.0, 1.4], &[1.0, 0.0, -1.0, 0.0]).unwrap();
    (system, state)
}

/// Two particles with a spring inside a circle, \[KP\] section 4.2, both on the circle.
pub(crate) fn spheres() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0; 4]).unwrap())
        .with_potential("first", auto(Repulsion, &[0, 1]))
        .unwrap()
        .with_potential("second", auto(Repulsion, &[2, 3]))
        .unwrap()
        .with_potential("spring", auto(Spring(1.0, 8.0_f64.sqrt()), &[0, 1, 2, 3]))
        .unwrap()
        .with_inequality("first inside", auto(Rod([0.0, 0.0], 5.0, -1.0), &[0, 1]))
        .unwrap()
        .with_inequality("second inside", auto(Rod([0.0, 0.0], 5.0, -1.0), &[2, 3]))
        .unwrap()
        .with_invariant(Invariant::angular_momentum("L", &[[0, 1], [2, 3]]));
    let state =
        State::from_momentum(&system, &[4.0, -3.0, 3.0, -4.0], &[0.6, 0.8, 0.8, 0.6]).unwrap();
    (system, state)
}

/// A double pendulum of two particles with different masses; the state for given angles and rates.
pub(crate) fn double_pendulum() -> System {
    let weight = |i, m: f64| auto(Affine(vec![9.8 * m], 0.0), &[i]);
    System::new(Mass::diagonal(&[1.0, 1.0, 2.0, 2.0]).unwrap())
        .with_potential("upper weight", weight(1, 1.0))
        .unwrap()
        .with_potential("lower weight", weight(3, 2.0))
        .unwrap()
        .with_potential("spring", auto(Rod([0.5, 0.0], 0.0, 3.0), &[2, 3]))
        .unwrap()
        .with_equality("upper rod", auto(Rod([0.0, 0.0], 1.0, 1.0), &[0, 1]))
        .unwrap()
        .with_equality("lower rod", auto(Distance(0.7), &[0, 1, 2, 3]))
        .unwrap()
}

pub(crate) fn double_pendulum_state(system: &System, [a, b, u, w]: [f64; 4]) -> State {
    let (l, m) = (1.0, 0.7);
    let q0 = [l * a.sin(), -l * a.cos()];
    let v0 = [l * u * a.cos(), l * u * a.sin()];
    let q = [q0[0], q0[1], q0[0] + m * b.sin(), q0[1] - m * b.cos()];
    let v = [v0[0], v0[1], v0[0] + m * w * b.cos(), v0[1] + m * w * b.sin()];
    State::new(system, &q, &v).unwrap()
}
