//! What the paper leaves to the future or calls improbable: closed rooms, ties, restitution.

use nsm_geom::{Mat3, Pose, Shape, Vec3, so3};
use nsm_model::Stepper;
use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidState, RigidWorld};

use super::{
    Case, G, H,
    cases::{over_plane, run},
    start,
};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "tran-leok/room",
            "Section 6.1",
            "One plane, horizontal or tilted.",
            Status::Chosen,
            room,
        )
        .noting("An ellipsoid in a closed room of six planes; 10⁶ steps in full."),
        Scenario::new(
            "tran-leok/ties",
            "Section 6.3",
            "An edge or a face parallel to the plane at impact is improbable and not treated.",
            Status::Differs,
            ties,
        )
        .noting("Points that touch together are reflected together: a cube dropped flat, on an edge or on a corner rises again without turning."),
        Scenario::new(
            "tran-leok/tetrahedron",
            "Section 6.3",
            "Convex polyhedra bounce on their corners.",
            Status::Chosen,
            tetrahedron,
        )
        .noting("A tetrahedron from a list of vertices; centroid and inertia are computed."),
        Scenario::new(
            "tran-leok/restitution",
            "Section 8",
            "Dissipation at impacts is future work; Zeno runs need a break.",
            Status::Differs,
            restitution,
        )
        .noting("Restitution 0.5: the bounces of a ball accumulate at an instant known in closed form; there it comes to rest."),
    ]
}

fn room(effort: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    let world = RigidWorld::new(Vec3::new(0.0, 0.0, -G))?
        .with_body(Case::I.body()?)
        .with_room(Vec3::new(-8.0, -7.0, 0.0), Vec3::new(8.0, 7.0, 12.0))?;
    let mut from = start();
    from.bodies[0].pose.x.z = 6.0;
    let steps = if effort == Effort::Full { 1_000_000 } else { 100_000 };
    let run = run(&Lgvci::default(), &world, from, H, steps)?;
    let energy = run.ledger.energy;
    found.check(
        "relative energy error",
        energy.deviation() / energy.start,
        Expected::AtMost(1e-12),
    );
    found.check("penetration", run.ledger.penetration, Expected::AtMost(0.0));
    found.check("|RᵀR − I|", run.ledger.position_residual, Expected::AtMost(1e-12));
    found.check(
        "impacts per 10⁵ steps",
        run.times.len() as f64 * 1e5 / steps as f64,
        Expected::Within(1000.0, 10_000.0),
    );
    Ok(found)
}

fn ties(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    let corner = Vec3::new(1.0, -1.0, 0.0).normalize() * (1.0 / 3.0_f64.sqrt()).acos();
    let edge = Vec3::new(std::f64::consts::FRAC_PI_4, 0.0, 0.0);
    for (name, rot) in
        [("flat", Mat3::identity()), ("edge", so3::exp(&edge)), ("corner", so3::exp(&corner))]
    {
        let world = Case::IV.world()?;
        let pose = Pose::new(Vec3::new(0.0, 0.0, 5.0), rot)?;
        let run =
            run(&Lgvci::default(), &world, RigidState::new([BodyState::at_rest(pose)]), H, 400)?;
        let lowest = 3.0_f64.sqrt() * rot.row(2).iter().map(|c| c.abs()).sum::<f64>();
        let fall = (2.0 * (5.0 - lowest) / G).sqrt();
        found.check(
            format!("{name}: first impact"),
            run.times.first().copied().unwrap_or(f64::NAN),
            Expected::Near(fall, 1e-10),
        );
        let second = run.times.get(1).copied().unwrap_or(f64::NAN);
        found.check(format!("{name}: second impact"), second, Expected::Near(3.0 * fall, 1e-8));
        found.check(
            format!("{name}: angular momentum afterwards"),
            run.state.bodies[0].pi.norm(),
            Expected::AtMost(1e-8),
        );
        found.check(
            format!("{name}: energy error"),
            run.ledger.energy.deviation(),
            Expected::AtMost(1e-11),
        );
    }
    Ok(found)
}

fn tetrahedron(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    let vertices = [[0.0, 0.0, 0.0], [3.0, 0.2, 0.0], [0.5, 2.5, 0.1], [0.8, 0.9, 2.0]];
    let shape = Shape::polyhedron(&vertices.map(Vec3::from))?;
    let world = over_plane(RigidBody::uniform("body", 1.0, shape)?, 0.0)?;
    let mut from = start();
    from.bodies[0].pi = Vec3::new(0.4, -0.4, 0.4);
    let run = run(&Lgvci::default(), &world, from, 1e-3, 100_000)?;
    let energy = run.ledger.energy;
    found.check(
        "relative energy error",
        energy.deviation() / energy.start,
        Expected::AtMost(1e-12),
    );
    found.check("penetration", run.ledger.penetration, Expected::AtMost(0.0));
    found.check("impacts in 100 s", run.times.len() as f64, Expected::Within(30.0, 300.0));
    Ok(found)
}

fn restitution(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    let e = 0.5;
    let method = Lgvci { restitution: e, ..Lgvci::default() };
    let ball = RigidBody::uniform("body", 1.0, Shape::sphere(0.5)?)?;
    let fall = (2.0 / G).sqrt();
    let limit = fall * (1.0 + e) / (1.0 - e);
    for (name, body, height, instant) in
        [("ball", ball, 1.5, Some(limit)), ("flat cube", Case::IV.body()?, 4.0, None)]
    {
        let world = over_plane(body, 0.0)?;
        let pose = Pose::translation(Vec3::new(0.0, 0.0, height));
        let mut state = RigidState::new([BodyState::at_rest(pose)]);
        let mut stepper = method.stepper(&world, &state, H)?;
        let (mut bounces, mut last) = (0, f64::NAN);
        while state.t < 20.0 {
            stepper.step(&mut state)?;
            bounces += stepper.events().len();
            last = stepper.events().iter().last().map_or(last, |event| event.t);
        }
        let expected = match instant {
            Some(instant) => Expected::Within(instant - 2.0 * H, instant),
            None => Expected::AtMost(10.0),
        };
        found.check(format!("{name}: last bounce before it rests"), last, expected);
        found.check(
            format!("{name}: bounces"),
            f64::from(u32::try_from(bounces).unwrap_or(u32::MAX)),
            Expected::Within(3.0, 100.0),
        );
        found.check(
            format!("{name}: gap at the end"),
            world.gap(0, 0, &state.bodies[0]),
            Expected::Within(-1e-12, 1e-12),
        );
    }
    Ok(found)
}
