//! `[[body]]` with `[[joint]]`, `[[beam]]`, `[[point_mass]]`, `[[spring]]` and `[[load]]`: mechanisms by directors.

use std::sync::Arc;

use nsm_constraints::multibody::{End, Inertia, Mechanism, MechanismError, NodeId, Pose};
use nsm_geom::{Mat3, Plane, Shape, Vec3};
use nsm_model::{Invariant, State, System, SystemError, Tolerance, check_start, project_start};
use nsm_vi::rigid::{RigidState, RigidWorld};

use super::account::word;
use super::beside;
use super::bushing::{read_attraction, read_bushing};
use super::element::{read_load, read_spring};
use super::equality::{BeamNodes, read_equalities};
use super::flexible::read_beam;
use super::joint::read_joints;
use super::reader::Reader;
use super::rigid::{read_euler, read_inertia, read_planes, read_rotation, read_shape};
use super::start_velocity::{Given, along_joints};
use super::touching::{limited, strangers, with_contacts};
use super::{Contacts, Crowd, Place, ProblemError, Subject};
use nsm_formula::nearest;

/// Tables that make rigid bodies a mechanism.
const PARTS: [&str; 10] = [
    "joint",
    "beam",
    "point_mass",
    "load",
    "spring",
    "bushing",
    "attraction",
    "equality",
    "inequality",
    "nonholonomic",
];

/// Whether the file describes a mechanism and not bodies that fly over planes, nor a system by formula alone.
pub(crate) fn is_mechanism(reader: &Reader<'_>, bodies: &[Reader<'_>]) -> bool {
    if reader.has("system") {
        return !bodies.is_empty() || reader.has("beam") || reader.has("point_mass");
    }
    PARTS.iter().any(|&key| reader.has(key)) || bodies.iter().any(|body| body.has("euler"))
}

/// Reads a mechanism with its start.
pub(crate) fn read_mechanism(
    reader: &Reader<'_>,
    bodies: &[Reader<'_>],
) -> Result<Subject, ProblemError> {
    let mut own = Contacts::default();
    let planes = read_planes(reader, &mut own)?;
    let gravity = reader.vector::<3>("gravity")?.unwrap_or_default();
    let mut mechanism = Mechanism::new()
        .with_gravity(gravity)
        .map_err(|e| refused(&reader.place_of("gravity"), &e))?;
    let (mut given, mut shapes) = (Vec::new(), Vec::new());
    for (i, table) in bodies.iter().enumerate() {
        let (node, shape, velocity) = read_body(table, i, &mut mechanism, &mut own)?;
        shapes.extend(shape.map(|shape| (node, shape)));
        given.extend(velocity);
    }
    for (i, table) in reader.tables("beam")?.iter().enumerate() {
        read_beam(table, i, &mut mechanism)?;
    }
    for (i, table) in reader.tables("point_mass")?.iter().enumerate() {
        given.extend(read_point_mass(table, i, &mut mechanism)?);
    }
    // `[system]` beside bodies: coordinates before whatever constrains them, formulas when everything is there.
    let beside = reader.table("system")?;
    if let Some(table) = &beside {
        beside::read_coordinates(reader, table, &mut mechanism)?;
    }
    let parameters = beside::all_parameters(reader, beside.as_ref())?;
    let begin = reader.table("start")?.map_or(Ok(None), |start| start.number("t"))?.unwrap_or(0.0);
    mechanism = mechanism.starting_at(begin);
    let (rated, freedoms) = read_joints(reader, &parameters, &mut mechanism, &mut own)?;
    let beams = BeamNodes::of(&mechanism);
    let tables = [Some((reader, false)), beside.as_ref().map(|table| (table, true))];
    for table in tables.into_iter().flatten() {
        read_equalities(table, &parameters, &freedoms, &beams, &mut mechanism)?;
    }
    for (i, table) in reader.tables("spring")?.iter().enumerate() {
        read_spring(table, i, &parameters, &mut mechanism)?;
    }
    for (i, table) in reader.tables("bushing")?.iter().enumerate() {
        read_bushing(table, i, &mut mechanism)?;
    }
    for (i, table) in reader.tables("attraction")?.iter().enumerate() {
        read_attraction(table, i, &mut mechanism)?;
    }
    for (i, table) in reader.tables("load")?.iter().enumerate() {
        read_load(table, i, &parameters, &mut mechanism)?;
    }
    let hanging = set_root_velocities(&mut mechanism, given)?;
    let place = reader.place();
    let (mut system, mut state) = System::of(&mechanism).map_err(|e| place.system(&e))?;
    let stops = system.inequalities().len();
    if let Some(table) = &beside {
        system = beside::with_terms(system, table, &parameters, &beams)?;
    }
    let mut parties: Vec<String> = mechanism.nodes().map(|(name, _)| name.to_owned()).collect();
    parties.extend(planes.iter().map(|(name, _)| name.clone()));
    parties.extend(mechanism.limits().map(|(name, _)| limited(name).to_owned()));
    parties.extend(system.inequalities().names()[stops..].iter().cloned());
    let contacts = Contacts::read(reader, &parties)?.with_own(own);
    // Shapes are drawn; where a file says nothing of contacts they are no more than that.
    let limits: Vec<&str> = mechanism.limits().map(|(name, _)| limited(name)).collect();
    let still = shapes.iter().any(|(node, _)| mechanism.stands(*node));
    let touch = contacts.of_bodies(&limits) || !planes.is_empty() || still;
    let touching: &[(NodeId, Shape)] = if touch { &shapes } else { &[] };
    if !touch && let Some([a, b]) = strangers(&mechanism, &shapes) {
        let what = format!(
            "shapes are drawn and do not touch (`{a}` and `{b}`, for one): `restitution = 1` at the top of the file, or another value, lets all bodies touch that no joint connects"
        );
        reader.note("body", &what);
    }
    let (system, crowd) = with_contacts(system, &mechanism, touching, &planes, &contacts)
        .map_err(|e| place.system(&e))?;
    system.frictional_laws(None, None).map_err(|e| reader.place_of("friction").system(&e))?;
    let judged = crowded(crowd.as_ref(), &system, &mechanism, &state);
    let judged = judged.map_err(|e| place.system(&e))?;
    let system = with_momenta(system, judged.as_ref(), &mechanism, &state);
    let system = with_tracked(system, &mechanism, reader)?;
    if let (Some(body), Some(rate)) = (hanging.first(), rated) {
        return Err(rate.error(format!(
            "`{}` hangs on joints and has a velocity of its own: give rates of joints or velocities of such bodies, not both",
            body.name
        )));
    }
    if !hanging.is_empty() {
        state = along_joints(&system, &state, &mechanism, &hanging)?;
    }
    read_start(reader, &system, &mut state)?;
    if let Some(listed) =
        crowded(crowd.as_ref(), &system, &mechanism, &state).map_err(|e| place.system(&e))?
    {
        check_start(&listed, &state, Tolerance::default()).map_err(|e| place.system(&e))?;
    }
    let (mechanism, system) = (Box::new(mechanism), Box::new(system));
    let planes = planes.into_iter().map(|(_, plane)| plane).collect();
    let crowd = crowd.map(Box::new);
    Ok(Subject::Mechanism { mechanism, shapes, planes, system, crowd, start: state })
}

/// Bodies without joints as a mechanism: methods for coordinates move them too.
pub(crate) fn free_bodies(
    world: &RigidWorld,
    start: &RigidState,
    contacts: &Contacts,
) -> Result<(Mechanism, System, Option<Crowd>, State), SystemError> {
    let mut shapes = Vec::new();
    let mut mechanism = Mechanism::new().with_gravity((*world.gravity()).into())?;
    for (body, state) in world.bodies().iter().zip(&start.bodies) {
        let rotation = &state.pose.rot;
        let pose = Pose {
            position: state.pose.x.into(),
            directors: std::array::from_fn(|i| rotation.column(i).into_owned().into()),
        };
        if body.is_fixed() {
            let node = mechanism.add_fixed(body.name(), pose)?;
            shapes.extend(body.shape().map(|shape| (node, shape.clone())));
            continue;
        }
        let inertia = Inertia::from_tensor(body.mass(), rows(body.inertia()));
        let node = mechanism.add_body(body.name(), inertia, pose)?;
        shapes.extend(body.shape().map(|shape| (node, shape.clone())));
        let angular = rotation * (body.inverse_inertia() * state.pi);
        mechanism.set_velocity(node, (state.gamma * body.inverse_mass()).into(), angular.into())?;
    }
    let (system, mut state) = System::of(&mechanism)?;
    state.t = start.t;
    let planes: Vec<(String, Plane)> =
        world.plane_names().map(str::to_owned).zip(world.planes().iter().copied()).collect();
    let (system, crowd) = with_contacts(system, &mechanism, &shapes, &planes, contacts)?;
    let judged = crowded(crowd.as_ref(), &system, &mechanism, &state)?;
    check_start(judged.as_ref().unwrap_or(&system), &state, Tolerance::default())?;
    let system = with_momenta(system, judged.as_ref(), &mechanism, &state);
    Ok((mechanism, system, crowd, state))
}

/// The system with what touches in a crowd at the start.
fn crowded(
    crowd: Option<&Crowd>,
    system: &System,
    mechanism: &Mechanism,
    start: &State,
) -> Result<Option<System>, SystemError> {
    crowd.map(|crowd| crowd.at_start(system, mechanism, start)).transpose()
}

/// Tracks the momentum `px` to `pz` and the angular momentum `Lx` to `Lz` about the origin, of all parts together; those that
/// gravity, a load or a joint to the ground changes are no invariants.
fn with_momenta(
    mut system: System,
    crowded: Option<&System>,
    mechanism: &Mechanism,
    start: &State,
) -> System {
    let judged = |system: &System, momentum: Invariant| {
        let protected = crowded.unwrap_or(system).protects(&momentum, start);
        if protected { momentum } else { momentum.observed() }
    };
    let mechanism = Arc::new(mechanism.clone());
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let whole = Arc::clone(&mechanism);
        let momentum = move |_: &[f64], p: &[f64]| whole.linear_momentum(p)[k];
        let whole = Arc::clone(&mechanism);
        let momentum = Invariant::new(format!("p{axis}"), momentum)
            .along(move |q| whole.translation(k, q.len()));
        let momentum = judged(&system, momentum);
        system = system.with_invariant(momentum);
    }
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let whole = Arc::clone(&mechanism);
        let momentum = move |q: &[f64], p: &[f64]| whole.angular_momentum(q, p)[k];
        let whole = Arc::clone(&mechanism);
        let momentum =
            Invariant::new(format!("L{axis}"), momentum).along(move |q| whole.rotation(k, q));
        let momentum = judged(&system, momentum);
        system = system.with_invariant(momentum);
    }
    system
}

/// `track = ["hinge", …]`: what the freedoms of these joints have done since the start, as `hinge`, or `pivot_1` to
/// `pivot_3` where there are several.
fn with_tracked(
    mut system: System,
    mechanism: &Mechanism,
    reader: &Reader<'_>,
) -> Result<System, ProblemError> {
    let whole = Arc::new(mechanism.clone());
    for name in reader.texts("track")?.unwrap_or_default() {
        let known = mechanism.joints().find(|(joint, ..)| *joint == name);
        let (Some((_, kind, _)), Some(joint)) = (known, mechanism.joint(name)) else {
            let near = nearest(name, mechanism.joints().map(|(joint, ..)| joint));
            let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
            return Err(reader
                .place_of("track")
                .error(format!("there is no joint `{name}`{hint}")));
        };
        let word = word(name);
        for k in 0..kind.freedoms() {
            let whole = Arc::clone(&whole);
            let reading = move |q: &[f64], _: &[f64]| {
                whole.joint_coordinates(joint, q).map_or(f64::NAN, |x| x[k])
            };
            let name =
                if kind.freedoms() == 1 { word.clone() } else { format!("{word}_{}", k + 1) };
            system = system.with_invariant(Invariant::new(name, reading).observed());
        }
    }
    Ok(system)
}

/// `[start]` of a mechanism: an instant, and whether to move it onto its constraints.
fn read_start(reader: &Reader<'_>, system: &System, state: &mut State) -> Result<(), ProblemError> {
    let Some(table) = reader.table("start")? else {
        return check_start(system, state, Tolerance::default())
            .map_err(|e| reader.place().system(&e));
    };
    state.t = table.number("t")?.unwrap_or(0.0);
    let project = table.flag("project")?.unwrap_or(false);
    // What belongs to the coordinates of `[system]` was read with them.
    if reader.has("system") {
        for key in ["q", "v", "p"] {
            table.has(key);
        }
    }
    table.finish()?;
    if project {
        project_start(system, state).map_err(|e| table.place().system(&e))?;
    }
    check_start(system, state, Tolerance::default()).map_err(|e| table.place().system(&e))
}

pub(super) fn refused(place: &Place, error: &MechanismError) -> ProblemError {
    place.error(error.to_string())
}

pub(super) fn name_of(
    reader: &Reader<'_>,
    kind: &str,
    index: usize,
) -> Result<String, ProblemError> {
    let name = reader.text("name")?;
    if name == Some("ground") {
        let message = "joints call the world `ground`: no part can be named so";
        return Err(reader.place_of("name").error(message));
    }
    Ok(name.map_or_else(|| format!("{kind}{}", index + 1), str::to_owned))
}

fn read_body(
    reader: &Reader<'_>,
    index: usize,
    mechanism: &mut Mechanism,
    own: &mut Contacts,
) -> Result<(NodeId, Option<Shape>, Option<Given>), ProblemError> {
    let name = name_of(reader, "body", index)?;
    own.read_own(reader, &name)?;
    if reader.flag("fixed")?.unwrap_or(false) {
        let (node, shape) = read_fixed(reader, &name, mechanism)?;
        return Ok((node, shape, None));
    }
    let mass = reader.require("mass", reader.number("mass")?, "the mass of the body")?;
    let shape = reader.table("shape")?.map(|table| read_shape(&table)).transpose()?;
    let inertia = match (read_euler(reader)?, read_inertia(reader)?, &shape) {
        (Some(_), Some(_), _) => {
            let message = "give `euler` (the integral of ρρᵀ) or `inertia`, not both: one follows from the other";
            return Err(reader.place_of("inertia").error(message));
        }
        (Some(euler), None, _) => Inertia { mass, euler: rows(&euler) },
        (None, Some(inertia), _) => Inertia::from_tensor(mass, rows(&inertia)),
        (None, None, Some(shape)) => {
            let uniform = nsm_vi::rigid::RigidBody::uniform(name.as_str(), mass, shape.clone())
                .map_err(|e| reader.place().error(e.to_string()))?;
            Inertia::from_tensor(mass, rows(uniform.inertia()))
        }
        (None, None, None) => {
            return Err(reader.place().error(
                "give `euler` or `inertia`, or a `shape` to compute it from at uniform density",
            ));
        }
    };
    let pose = read_pose(reader)?;
    let [d1, d2, d3] = pose.directors.map(Vec3::from);
    let rotation = Mat3::from_columns(&[d1, d2, d3]);
    let velocity = per_mass(reader, "momentum", "velocity", |p| Some(p / mass))?;
    let euler = Mat3::from(inertia.euler);
    let tensor = Mat3::from_diagonal_element(euler.trace()) - euler;
    let angular = per_mass(reader, "angular_momentum", "angular_velocity", |l| {
        tensor.try_inverse().map(|inverse| inverse * l)
    })?;
    reader.finish()?;
    let node = mechanism.add_body(&name, inertia, pose).map_err(|e| refused(reader.place(), &e))?;
    let (place, angular) = (reader.place().clone(), angular.map(|w| rotation * w));
    let given = (velocity.is_some() || angular.is_some()).then_some(Given {
        name,
        node,
        place,
        velocity,
        angular,
    });
    Ok((node, shape, given))
}

/// A body that stands still; its mass is of no consequence.
fn read_fixed(
    reader: &Reader<'_>,
    name: &str,
    mechanism: &mut Mechanism,
) -> Result<(NodeId, Option<Shape>), ProblemError> {
    for key in ["velocity", "momentum", "angular_velocity", "angular_momentum"] {
        if reader.vector::<3>(key)?.is_some_and(|v| v != [0.0; 3]) {
            return Err(reader.place_of(key).error("a fixed body cannot move"));
        }
    }
    for key in ["mass", "inertia", "euler"] {
        reader.has(key);
    }
    let shape = reader.table("shape")?.map(|table| read_shape(&table)).transpose()?;
    let pose = read_pose(reader)?;
    reader.finish()?;
    let node = mechanism.add_fixed(name, pose).map_err(|e| refused(reader.place(), &e))?;
    Ok((node, shape))
}

fn read_pose(reader: &Reader<'_>) -> Result<Pose, ProblemError> {
    let rotation = read_rotation(reader)?;
    Ok(Pose {
        position: reader.vector("position")?.unwrap_or_default(),
        directors: std::array::from_fn(|i| rotation.column(i).into_owned().into()),
    })
}

/// The rows of a matrix.
fn rows(matrix: &Mat3) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| matrix[(i, j)]))
}

/// A velocity, given as such or by the momentum that it makes.
fn per_mass(
    reader: &Reader<'_>,
    momentum: &'static str,
    velocity: &'static str,
    divided: impl Fn(Vec3) -> Option<Vec3>,
) -> Result<Option<Vec3>, ProblemError> {
    match (reader.vector::<3>(momentum)?, reader.vector::<3>(velocity)?) {
        (Some(_), Some(_)) => Err(reader
            .place_of(velocity)
            .error(format!("give `{momentum}` or `{velocity}`, not both"))),
        (None, v) => Ok(v.map(Vec3::from)),
        (Some(p), None) => {
            let found = divided(p.into()).filter(|v| v.iter().all(|x| x.is_finite()));
            let message = format!("no velocity belongs to this `{momentum}`: give `{velocity}`");
            found.map(Some).ok_or_else(|| reader.place_of(momentum).error(message))
        }
    }
}

/// The ground, a body, or a node of a beam: `beam[3]`, `beam.start`, `beam.middle`, `beam.end`.
pub(super) fn end_named(
    mechanism: &Mechanism,
    name: &str,
    place: &Place,
) -> Result<End, ProblemError> {
    if name == "ground" {
        Ok(End::Ground)
    } else {
        node_named(mechanism, name, place).map(End::Node)
    }
}

pub(super) fn node_named(
    mechanism: &Mechanism,
    name: &str,
    place: &Place,
) -> Result<NodeId, ProblemError> {
    let along_beam = || {
        let (beam, part) = name.rsplit_once('.')?;
        let nodes = mechanism.beam_nodes(mechanism.beam(beam)?);
        let node = match part {
            "start" => nodes.first(),
            "middle" if nodes.len() % 2 == 1 => nodes.get(nodes.len() / 2),
            "end" => nodes.last(),
            _ => None,
        };
        node.copied()
    };
    mechanism.node(name).or_else(along_beam).ok_or_else(|| {
        let known: Vec<&str> =
            ["ground"].into_iter().chain(mechanism.nodes().map(|(name, _)| name)).collect();
        let hint = nearest(name, known.iter().copied())
            .map_or_else(String::new, |close| format!(", did you mean `{close}`?"));
        let list = known[..known.len().min(12)].join(", ");
        let more = if known.len() > 12 { ", …" } else { "" };
        let beams = if mechanism.beams().next().is_some() {
            "; a beam has `NAME.start`, `NAME.end` and, if its elements are even in number, `NAME.middle`"
        } else {
            ""
        };
        place.error(format!("there is no body `{name}`{hint} (known: {list}{more}{beams})"))
    })
}

fn read_point_mass(
    reader: &Reader<'_>,
    index: usize,
    mechanism: &mut Mechanism,
) -> Result<Option<Given>, ProblemError> {
    let name = name_of(reader, "point_mass", index)?;
    let mass = reader.require("mass", reader.number("mass")?, "the mass")?;
    let refuse = |e: &MechanismError| refused(reader.place(), e);
    if let Some(target) = reader.text("where")? {
        let node = node_named(mechanism, target, &reader.place_of("where"))?;
        reader.finish()?;
        mechanism.attach_mass(node, mass).map_err(|e| refuse(&e))?;
        return Ok(None);
    }
    let position = reader.require(
        "position",
        reader.vector("position")?,
        "where the mass is; or `where = \"NAME\"` to put it on a body or a node of a beam",
    )?;
    let velocity: Option<[f64; 3]> = reader.vector("velocity")?;
    reader.finish()?;
    let node = mechanism.add_particle(&name, mass, position).map_err(|e| refuse(&e))?;
    let place = reader.place().clone();
    Ok(velocity.map(|v| Given { name, node, place, velocity: Some(v.into()), angular: None }))
}

/// Gives velocities to bodies that hang on nothing; returns the others.
fn set_root_velocities(
    mechanism: &mut Mechanism,
    given: Vec<Given>,
) -> Result<Vec<Given>, ProblemError> {
    let mut hanging = Vec::new();
    for body in given {
        let array = |v: Option<Vec3>| v.map_or([0.0; 3], Into::into);
        let mut trial = mechanism.clone();
        trial
            .set_velocity(body.node, array(body.velocity), array(body.angular))
            .map_err(|e| refused(&body.place, &e))?;
        match trial.start() {
            Err(MechanismError::Hanging { .. }) => hanging.push(body),
            _ => *mechanism = trial,
        }
    }
    Ok(hanging)
}
