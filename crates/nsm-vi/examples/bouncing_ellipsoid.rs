//! A triaxial ellipsoid bounces on the ground: Case I of Tran and Leok.
//!
//! ```sh
//! cargo run --release --example bouncing_ellipsoid
//! ```
#![allow(clippy::print_stdout)] // an example talks

use std::error::Error;

use nsm_geom::{Plane, Pose, Shape, Vec3};
use nsm_model::{Stepper, run_steps};
use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidProbe, RigidState, RigidWorld};

fn main() -> Result<(), Box<dyn Error>> {
    let ellipsoid = RigidBody::uniform("ellipsoid", 1.0, Shape::ellipsoid([2.0, 3.0, 4.0])?)?;
    let world = RigidWorld::new(Vec3::new(0.0, 0.0, -9.80665))?
        .with_body(ellipsoid)
        .with_plane("ground", Plane::horizontal());
    let mut state = RigidState::new([BodyState::new(
        Pose::translation(Vec3::new(0.0, 0.0, 10.0)),
        Vec3::new(2.0, 2.0, 10.0),
        Vec3::new(4.0, -4.0, 4.0),
    )]);

    let mut stepper = Lgvci::default().stepper(&world, &state, 0.01)?;
    println!("impact      impulse    R.E. after");
    while state.t < 20.0 {
        stepper.step(&mut state)?;
        for event in stepper.events().iter() {
            let rotational = world.bodies()[0].rotational_energy(&state.bodies[0]);
            println!("{:9.6}  {:9.5}  {:9.4}", event.t, event.impulses[0], rotational);
        }
    }

    let run = run_steps(&mut stepper, &mut RigidProbe::new(&world), &mut state, 100_000, &mut ())?;
    println!("then 10⁵ steps with {} impacts:", run.ledger.events);
    println!("  largest energy error  {:9.2e}", run.ledger.energy.deviation());
    println!("  deepest penetration   {:9.2e}", run.ledger.penetration);
    println!("  |RᵀR − I|             {:9.2e}", run.ledger.position_residual);
    Ok(())
}
