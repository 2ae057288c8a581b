//! The four systems of Patil & Brüls (\[PB\] section 5) as mechanics only: no integrator, no judgement. Examples,
//! tests, benchmarks and the reproduction of the paper share them.
//!
//! Coordinates, constraints and data as in the paper with its misprints corrected: the pothole is left
//! at $l + l_p/2$, the second braiding gear has half the radius, the cam's follower starts with
//! $a\omega/2$. The paper gives no inertia for the cam; $j = 2$ and a force of 5 N *downward* are chosen.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use nsm_constraints::{Affine, AutoDiff, ConstraintError, Expr, Rows, Scalar, Switching};
use nsm_model::{Mass, State, System, SystemError};

/// A system with its start.
#[derive(Debug)]
pub struct Problem {
    /// The mechanics.
    pub system: System,
    /// The start that the paper gives.
    pub start: State,
}

/// $x - x_0 - r \cos(\varphi - \varphi_0)$.
struct OnCircle {
    centre: f64,
    radius: f64,
    offset: f64,
}
impl Expr for OnCircle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] - self.centre - (q[1] - self.offset).cos() * self.radius
    }
}

fn on_circle(
    centre: f64,
    radius: f64,
    offset: f64,
    block: [usize; 2],
) -> Result<AutoDiff<OnCircle>, ConstraintError> {
    AutoDiff::new(OnCircle { centre, radius, offset }, &block)
}

/// The kink of section 5.1 and the side from which it is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kink {
    /// $\theta = \pi/4$, $z = x - l$: uphill.
    Uphill,
    /// $\theta = -3\pi/4$, $z = -y + \tfrac12 \tan\theta\\,(x - l)$: the same line run back down.
    Backward,
}

/// 5.1: a unit mass on the track $y = 0$, then $y = x - 3$, with speed 1.
///
/// # Errors
/// None that a user could cause.
pub fn track(kink: Kink) -> Result<Problem, SystemError> {
    let (l, slope) = (3.0, 1.0);
    let (mut flat, mut ramp) = (Rows::new(2), Rows::new(2));
    flat.push("track", Affine::new(&[1], &[1.0], 0.0)?)?;
    ramp.push("track", Affine::new(&[0, 1], &[-slope, 1.0], slope * l)?)?;
    let (before, after) = match kink {
        Kink::Uphill => (Affine::new(&[0], &[-1.0], l)?, Affine::new(&[0], &[1.0], -l)?),
        Kink::Backward => (
            Affine::new(&[0, 1], &[-0.5 * slope, 1.0], 0.5 * slope * l)?,
            Affine::new(&[0, 1], &[0.5 * slope, -1.0], -0.5 * slope * l)?,
        ),
    };
    let switching =
        Switching::new(2).with_mode("flat", before, flat)?.with_mode("ramp", after, ramp)?;
    let system = System::new(Mass::diagonal(&[1.0, 1.0])?)
        .with_names(&["x", "y"])?
        .with_switching(switching)?;
    let start = State::new(&system, &[0.0, 0.0], &[1.0, 0.0])?;
    Ok(Problem { system, start })
}

/// 5.2: a bobbin carrier handed from one horn gear (radius 2) to another of the given radius.
///
/// # Errors
/// None that a user could cause.
pub fn braiding_machine(second_radius: f64) -> Result<Problem, SystemError> {
    let (carrier, r_carrier, gear, r) = (2.0, 0.5, 15.0, 2.0);
    let disc = |m: f64, r: f64| 0.5 * m * r * r;
    let mass = Mass::diagonal(&[
        carrier,
        carrier,
        disc(carrier, r_carrier),
        disc(gear, r),
        disc(gear, second_radius),
    ])?;
    let centre = -r - second_radius;
    let (mut first, mut second) = (Rows::new(5), Rows::new(5));
    first.push("carrier x", on_circle(0.0, r, 0.0, [0, 2])?)?;
    first.push("carrier y", on_circle(0.0, r, FRAC_PI_2, [1, 2])?)?;
    first.push("carrier angle", Affine::new(&[2, 3], &[1.0, -1.0], 0.0)?)?;
    second.push("carrier x", on_circle(centre, -second_radius, 0.0, [0, 2])?)?;
    second.push("carrier y", on_circle(0.0, -second_radius, FRAC_PI_2, [1, 2])?)?;
    second.push("carrier angle", Affine::new(&[2, 4], &[1.0, -1.0], -TAU)?)?;
    let switching = Switching::new(5)
        .with_mode("first gear", Affine::new(&[3], &[-1.0], PI)?, first)?
        .with_mode("second gear", Affine::new(&[3], &[1.0], -PI)?, second)?;
    let system = System::new(mass)
        .with_names(&["x_C", "y_C", "phi_C", "phi_G", "phi_G'"])?
        .with_equality("gears", Affine::new(&[3, 4], &[1.0, 1.0], 0.0)?)?
        .with_switching(switching)?;
    let omega = 1.6;
    let v = [0.0, 2.0 * omega, omega, omega, -omega];
    let start = State::new(&system, &[r, 0.0, 0.0, 0.0, 0.0], &v)?;
    Ok(Problem { system, start })
}

/// $-(x - a)(x - b)$: positive between the two.
struct Between(f64, f64);
impl Expr for Between {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        -(q[0] - self.0) * (q[0] - self.1)
    }
}

/// 5.3: a wheel of radius 1.5 rolls at 1.4 m/s over a pothole of width 1 that begins at $x = 2$.
///
/// # Errors
/// None that a user could cause.
pub fn pothole() -> Result<Problem, SystemError> {
    let (m, r, l, width, g, speed) = (5.0, 1.5, 2.0, 1.0, 9.81, 1.4);
    let middle = l + 0.5 * width;
    let in_angle = l / r;
    let out_angle = in_angle + 2.0 * f64::asin(0.5 * width / r);
    let (mut left, mut first) = (Rows::new(3), Rows::new(3));
    let (mut second, mut right) = (Rows::new(3), Rows::new(3));
    left.push("rolling", Affine::new(&[0, 2], &[1.0, -r], 0.0)?)?;
    left.push("height", Affine::new(&[1], &[1.0], -r)?)?;
    first.push("pivot x", on_circle(l, r, in_angle + FRAC_PI_2, [0, 2])?)?;
    first.push("pivot y", on_circle(0.0, r, in_angle, [1, 2])?)?;
    second.push("pivot x", on_circle(l + width, r, out_angle + FRAC_PI_2, [0, 2])?)?;
    second.push("pivot y", on_circle(0.0, r, out_angle, [1, 2])?)?;
    right.push("rolling", Affine::new(&[0, 2], &[1.0, -r], -l - width + r * out_angle)?)?;
    right.push("height", Affine::new(&[1], &[1.0], -r)?)?;
    let switching = Switching::new(3)
        .with_mode("left road", Affine::new(&[0], &[-1.0], l)?, left)?
        .with_mode("left edge", AutoDiff::new(Between(l, middle), &[0])?, first)?
        .with_mode("right edge", AutoDiff::new(Between(middle, l + width), &[0])?, second)?
        .with_mode("right road", Affine::new(&[0], &[1.0], -l - width)?, right)?;
    let system = System::new(Mass::diagonal(&[m, m, 0.5 * m * r * r])?)
        .with_names(&["x", "y", "phi"])?
        .with_potential("gravity", Affine::new(&[1], &[m * g], 0.0)?)?
        .with_switching(switching)?;
    let start = State::new(&system, &[0.0, r, 0.0], &[speed, 0.0, speed / r])?;
    Ok(Problem { system, start })
}

/// 5.4: a follower on a cam of radius $2 + \cos\tfrac12(\theta - \pi)$, pressed on with 5 N; mode
/// $\lfloor \theta / 2\pi \rfloor$. `inertia` is that of the cam, 2 in the report.
///
/// # Errors
/// If the inertia is negative or not finite.
pub fn cam(inertia: f64) -> Result<Problem, SystemError> {
    let (m, r0, a, omega, force) = (1.0, 2.0, 1.0, 4.0, 5.0);
    let mut rows = Rows::new(2);
    rows.push("follower", AutoDiff::new(Profile { r0, a }, &[0, 1])?)?;
    let system = System::new(Mass::diagonal(&[m, inertia])?)
        .with_names(&["y", "theta"])?
        .with_potential("load", Affine::new(&[0], &[force], 0.0)?)?
        .with_switching(Switching::periodic("turn", 1, 0.0, TAU, rows)?)?;
    let start = State::new(&system, &[r0, 0.0], &[0.5 * a * omega, omega])?;
    Ok(Problem { system, start })
}

/// $y - r_0 - a \cos\tfrac12(\theta - \pi)$.
struct Profile {
    r0: f64,
    a: f64,
}
impl Expr for Profile {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] - self.r0 - ((q[1] - PI) * 0.5).cos() * self.a
    }
}
