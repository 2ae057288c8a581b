//! A polyhedron given by its vertices tumbles over a tilted plane inside four walls.
//!
//! Centre of mass and inertia come from the vertices; corners, edges and faces that touch together are
//! reflected together.
//!
//! ```sh
//! cargo run --release --example tumbling_polyhedron
//! ```
#![allow(clippy::print_stdout)] // an example talks

use std::error::Error;

use nsm_geom::{Pose, Shape, Vec3};
use nsm_model::{StepError, Stepper};
use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidState, RigidWorld};

fn main() -> Result<(), Box<dyn Error>> {
    let vertices =
        [[0.0, 0.0, 0.0], [2.0, 0.1, 0.0], [0.3, 1.8, 0.2], [0.5, 0.6, 1.5], [1.6, 1.5, 1.1]];
    let shape = Shape::polyhedron(&vertices.map(Vec3::from))?;
    let body = RigidBody::uniform("polyhedron", 2.0, shape)?;
    println!("inertia about the centre of mass:{}", body.inertia());

    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -9.81))?.with_body(body).with_half_space(
        "slope",
        Vec3::new(-0.1, 0.0, 1.0),
        0.0,
    )?;
    for (name, normal) in
        [("west", Vec3::x()), ("east", -Vec3::x()), ("south", Vec3::y()), ("north", -Vec3::y())]
    {
        world = world.with_half_space(name, normal, 5.0)?;
    }
    let start = RigidState::new([BodyState::new(
        Pose::translation(Vec3::new(0.0, 0.0, 4.0)),
        Vec3::new(3.0, -2.0, 0.0),
        Vec3::new(0.4, 0.9, -0.5),
    )]);

    for restitution in [1.0, 0.6] {
        let mut state = start.clone();
        let method = Lgvci { restitution, ..Lgvci::default() };
        let mut stepper = method.stepper(&world, &state, 0.005)?;
        let energy = world.energy(&state);
        let mut impacts = [0; 5];
        let ended = loop {
            if state.t >= 100.0 {
                break None;
            }
            match stepper.step(&mut state) {
                Ok(_) => {}
                Err(StepError::Accumulation { t, contact, .. }) => break Some((t, contact)),
                Err(error) => return Err(error.into()),
            }
            for event in stepper.events().iter() {
                event.contacts.iter().for_each(|&contact| impacts[contact] += 1);
            }
        };
        println!("restitution {restitution}: impulses on slope and walls {impacts:?}");
        println!("  energy {:.6} J at the start, {:.6} J now", energy, world.energy(&state));
        if let Some((t, contact)) = ended {
            println!(
                "  at t = {t:.4} the bounces of {contact} accumulate: the contact closes for good"
            );
        }
    }
    Ok(())
}
