//! A heavy top on a ball joint, by directors: no angles, no singularities, momenta exact.
//!
//! The top is started in steady precession, $I_1\Omega^2\cos\theta - I_3\omega_3\Omega + mgl = 0$, which the discrete motion follows to second order.
//!
//! ```text
//! cargo run --release -p nsm-vi --example heavy_top
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
use nsm_model::{Stepper, System};
use nsm_vi::{NullSpace, Quadrature};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, g, arm, euler): (f64, f64, f64, [f64; 3]) = (1.0, 9.81, 0.3, [0.04, 0.04, 0.01]);
    let (tilt, spin): (f64, f64) = (0.5, 60.0);
    let (i1, i3) = (euler[0] + euler[2] + m * arm * arm, 2.0 * euler[0]);
    let (l, c) = (i3 * spin, tilt.cos());
    let precession = (l - (l * l - 4.0 * i1 * c * m * g * arm).sqrt()) / (2.0 * i1 * c);

    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -g])?;
    let turned = Pose::turned([0.0; 3], [0.0, tilt, 0.0]);
    let figure = turned.directors[2];
    let pose = Pose { position: figure.map(|x| arm * x), ..turned };
    let top = mechanism.add_body("top", Inertia::principal(m, euler), pose)?;
    let ends = [End::Ground, top.into()];
    let ball = mechanism.add_joint("ball", JointKind::Spherical, ends, [0.0; 3], [0.0; 3])?;
    let own = spin - precession * c;
    let angular: [f64; 3] =
        std::array::from_fn(|k| own * figure[k] + if k == 2 { precession } else { 0.0 });
    mechanism.set_rate(ball, &angular)?;

    let (system, mut state) = System::of(&mechanism)?;
    let method = NullSpace::reparametrised(1e-3, Quadrature::Midpoint);
    let mut stepper = method.stepper_with(&system, mechanism.tree())?;
    println!("steady precession: {precession:.6} rad/s");
    println!("{:>5} {:>10} {:>10} {:>10} {:>16}", "t", "azimuth", "expected", "tilt", "vertical L");
    for k in 0..=1000 {
        if k % 100 == 0 {
            let d = &state.q[9..12];
            let vertical = mechanism.angular_momentum(&state.q, &state.p)[2];
            let (azimuth, expected) = (d[1].atan2(d[0]), precession * state.t);
            let tilt = d[2].acos();
            println!(
                "{:>5.2} {azimuth:>10.6} {expected:>10.6} {tilt:>10.6} {vertical:>16.13}",
                state.t
            );
        }
        stepper.step(&mut state)?;
    }
    Ok(())
}
