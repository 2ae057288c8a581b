//! Random bodies in random rooms: whatever they are, elastic impacts conserve energy, nothing enters a wall,
//! and impulses push.

mod cases;

use nsm_geom::{Pose, Shape, Vec3, so3};
use nsm_model::Stepper;
use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidState, RigidWorld};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn vector(rng: &mut Pcg64, size: f64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-size..size))
}

fn shape(rng: &mut Pcg64, kind: usize) -> Shape {
    let mut length = || rng.random_range(0.3..1.2);
    match kind {
        0 => Shape::sphere(length()),
        1 => Shape::ellipsoid([length(), length(), length()]),
        2 => Shape::cuboid([length(), length(), length()]),
        3 => Shape::capsule(length(), length()),
        4 => Shape::cylinder(length(), length()),
        5 => Shape::union(vec![
            Shape::sphere(0.7).unwrap().at(Vec3::new(0.8, 0.0, 0.0)),
            Shape::cuboid([length(), length(), length()]).unwrap(),
        ]),
        _ => {
            let points: Vec<Vec3> = (0..12).map(|_| vector(rng, 1.2)).collect();
            Shape::polyhedron(&points)
        }
    }
    .unwrap()
}

#[test]
fn random_bodies_in_random_rooms_conserve_energy_and_stay_inside() {
    let mut rng = Pcg64::seed_from_u64(2024);
    let mut impacts = 0;
    for trial in 0..32 {
        let (mass, outline) = (rng.random_range(0.2..3.0), shape(&mut rng, trial % 7));
        let mut body = RigidBody::uniform("body", mass, outline.clone()).unwrap();
        if trial % 3 == 0 && outline.is_convex() {
            body = body.with_shape(outline.rounded(0.1).unwrap());
        }
        let half = Vec3::from_fn(|_, _| rng.random_range(3.5..6.0));
        let mut world = RigidWorld::new(vector(&mut rng, 10.0))
            .unwrap()
            .with_body(body)
            .with_room(-half, half)
            .unwrap();
        // A slanted seventh wall through a corner of the room.
        world = world.with_half_space("slant", vector(&mut rng, 1.0), 3.5).unwrap();
        let pose = Pose::new(Vec3::zeros(), so3::exp(&vector(&mut rng, 3.0))).unwrap();
        let body = &world.bodies()[0];
        let (gamma, spin) = (vector(&mut rng, 5.0) * body.mass(), vector(&mut rng, 5.0));
        let mut state = RigidState::new([BodyState::new(pose, gamma, body.inertia() * spin)]);
        // Energies are measured from the floor of the room.
        let span = world.energy(&state) + body.mass() * world.gravity().norm() * half.norm();
        let energy = world.energy(&state);
        let h = [0.01, 0.05][trial % 2];
        let mut stepper = match Lgvci::default().stepper(&world, &state, h) {
            Ok(stepper) => stepper,
            Err(error) => panic!("trial {trial}: {error}"),
        };
        for step in 0..4000 {
            if let Err(error) = stepper.step(&mut state) {
                panic!("trial {trial}, step {step}: {error}");
            }
            for event in stepper.events().iter() {
                impacts += 1;
                assert!(event.impulses.iter().all(|&impulse| impulse > 0.0));
                assert!(event.t >= state.t - h - 1e-12 && event.t <= state.t + 1e-12);
            }
            for plane in 0..7 {
                let gap = world.gap(0, plane, &state.bodies[0]);
                assert!(gap >= -1e-9, "trial {trial}, step {step}, plane {plane}: {gap:.2e}");
            }
        }
        let drift = (world.energy(&state) - energy).abs();
        assert!(drift < 1e-12 * span, "trial {trial}: {drift:.2e} of {span:.2e}");
    }
    assert!(impacts > 5000, "{impacts}");
}
