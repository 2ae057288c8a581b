//! The pogo stick of Kaufman & Pai by hand, against which the one by formula is tested and timed.

use nsm_constraints::{Affine, LineSpring};
use nsm_model::{Invariant, Mass, State, System, SystemError};

/// Spring constant of the pogo stick.
pub const POGO_STIFFNESS: f64 = 10.0;
/// Rest length of the pogo stick.
pub const POGO_LENGTH: f64 = 5.0;
/// Gravity of the pogo stick in Figure 1.4 (section 5.1.1 has 9.8).
pub const POGO_GRAVITY: f64 = 9.8213;

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
