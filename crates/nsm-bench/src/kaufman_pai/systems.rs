//! The mechanical systems of Kaufman & Pai, with their starts.
//!
//! SI-like units throughout; momenta equal velocities, since every mass is 1. Where the paper is silent
//! the choice is said in the function's text.

use nsm_constraints::{Affine, Central, LineSpring, Profile, Rod, SphereGap, Spring};
use nsm_model::{Invariant, Mass, State, System, SystemError};

/// Spring constant of the pogo stick.
pub const POGO_STIFFNESS: f64 = 10.0;
/// Rest length of the pogo stick.
pub const POGO_LENGTH: f64 = 5.0;
/// Gravity of the pogo stick in Figure 1.4 (section 5.1.1 has 9.8).
pub const POGO_GRAVITY: f64 = 9.8213;

/// A unit mass under gravity 9.8 above a floor, dropped from `height` (section 1.3.1).
///
/// # Errors
/// A height that is not finite.
pub fn ball(height: f64) -> Result<(System, State), SystemError> {
    let system = System::new(Mass::diagonal(&[1.0])?)
        .with_names(&["y"])?
        .with_potential("gravity", Affine::weight(&[(&[0], 1.0)], &[-9.8])?)?
        .with_inequality("floor", Affine::above(0, 0.0)?)?;
    let state = State::new(&system, &[height], &[0.0])?;
    Ok((system, state))
}

/// Two unit masses on a vertical line with a spring, the lower one above a floor (section 5.1.1).
///
/// Released at rest and unstretched, the lower mass at `height`: the paper does not say where. The
/// quantity `C` is conserved by Verlet with step `h` and by the reflections alike.
///
/// # Errors
/// A height that is not finite.
pub fn pogo(height: f64, h: f64) -> Result<(System, State), SystemError> {
    let (k, l, g) = (POGO_STIFFNESS, POGO_LENGTH, POGO_GRAVITY);
    let system = System::new(Mass::diagonal(&[1.0, 1.0])?)
        .with_names(&["upper", "lower"])?
        .with_potential("gravity", Affine::weight(&[(&[0], 1.0), (&[1], 1.0)], &[-g])?)?
        .with_potential("spring", LineSpring::new(0, 1, k, l)?)?
        .with_inequality("floor", Affine::above(1, 0.0)?)?
        .with_invariant(Invariant::new("C", move |q, p| {
            let u = q[0] - q[1] - l;
            0.5 * (p[0] * p[0] + p[1] * p[1]) + g * (q[0] + q[1]) + 0.5 * k * u * u
                - 0.25 * h * h * k * k * u * u
        }));
    let state = State::new(&system, &[l + height, height], &[0.0, 0.0])?;
    Ok((system, state))
}

/// Two unit masses with a spring and an outward pull inside a circle of radius 5 (section 4.2).
///
/// The gap is $5 - |q_i|$: the sign that the paper prints starts outside.
///
/// # Errors
/// Never, for the constants are in order.
pub fn spheres() -> Result<System, SystemError> {
    let pull = Profile::Power { strength: 25.0, exponent: -1.0 };
    System::new(Mass::diagonal(&[1.0; 4])?)
        .with_names(&["x1", "y1", "x2", "y2"])?
        .with_potential("pull on 1", Central::about(&[0, 1], &[0.0, 0.0], pull)?)?
        .with_potential("pull on 2", Central::about(&[2, 3], &[0.0, 0.0], pull)?)?
        .with_potential("spring", Spring::between(&[0, 1], &[2, 3], 1.0, 8.0_f64.sqrt())?)?
        .with_inequality("circle 1", SphereGap::inside(&[0, 1], &[0.0, 0.0], 5.0)?)?
        .with_inequality("circle 2", SphereGap::inside(&[2, 3], &[0.0, 0.0], 5.0)?)
        .map(|system| system.with_invariant(Invariant::angular_momentum("L", &[[0, 1], [2, 3]])))
}

/// The start of Figure 4.1: both particles on the circle, unit momenta along it.
///
/// # Errors
/// Never, for the constants are in order.
pub fn spheres_on_boundary() -> Result<(System, State), SystemError> {
    let system = spheres()?;
    let state = State::from_momentum(&system, &[4.0, -3.0, 3.0, -4.0], &[0.6, 0.8, 0.8, 0.6])?;
    Ok((system, state))
}

/// The start of Figure 7.2: the first particle off the circle.
///
/// # Errors
/// Never, for the constants are in order.
pub fn spheres_mixed() -> Result<(System, State), SystemError> {
    let system = spheres()?;
    let r = 17.0_f64.sqrt();
    let momenta = [1.0 / r, 4.0 / r, 0.8, 0.6];
    let state = State::from_momentum(&system, &[4.0, -1.0, 3.0, -4.0], &momenta)?;
    Ok((system, state))
}

/// Two unit discs of radius 1 in the potential $|q|^2(|q|^2 - 1)^2$ (section 7.0.1).
///
/// # Errors
/// Never, for the constants are in order.
pub fn oscillator() -> Result<(System, State), SystemError> {
    let well = Profile::SexticWell { strength: 1.0 };
    let system = System::new(Mass::diagonal(&[1.0; 4])?)
        .with_names(&["x1", "y1", "x2", "y2"])?
        .with_potential("well of 1", Central::about(&[0, 1], &[0.0, 0.0], well)?)?
        .with_potential("well of 2", Central::about(&[2, 3], &[0.0, 0.0], well)?)?
        .with_inequality("discs", SphereGap::between_balls(&[0, 1], &[2, 3], 1.0, 1.0)?)?
        .with_invariant(Invariant::angular_momentum("L", &[[0, 1], [2, 3]]));
    let state = State::from_momentum(&system, &[0.0, -1.4, 0.0, 1.4], &[1.0, 0.0, -1.0, 0.0])?;
    Ok((system, state))
}

/// Newton's cradle (section 7.1.1): balls of radius 0.25 on rods of length 1, the first `raised` of `balls`
/// held together at $-\pi/5$.
///
/// Gravity 9.8 and pivots two radii apart are our choice; the potential is zero in the rest position.
///
/// # Errors
/// No balls.
pub fn cradle(balls: usize, raised: usize) -> Result<(System, State), SystemError> {
    let (r, g) = (0.25, 9.8);
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * balls])?);
    let mut q = Vec::with_capacity(2 * balls);
    for i in 0..balls {
        let (x, y, pivot) = (2 * i, 2 * i + 1, 2.0 * r * i as f64);
        let angle: f64 = if i < raised { -std::f64::consts::PI / 5.0 } else { 0.0 };
        q.extend([pivot + angle.sin(), -angle.cos()]);
        system = system
            .with_potential(&format!("weight {i}"), Affine::new(&[y], &[g], g)?)?
            .with_equality(&format!("rod {i}"), Rod::to_pivot(&[x, y], &[pivot, 0.0], 1.0)?)?;
    }
    for i in 1..balls {
        let (a, b) = ([2 * i - 2, 2 * i - 1], [2 * i, 2 * i + 1]);
        let gap = SphereGap::between_balls(&a, &b, r, r)?;
        system = system.with_inequality(&format!("balls {} and {i}", i - 1), gap)?;
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * balls])?;
    Ok((system, state))
}
