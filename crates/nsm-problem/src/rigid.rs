//! `[[body]]` and `[[plane]]`: rigid bodies over planes.

use std::collections::HashSet;

use nsm_geom::{Mat3, Plane, Pose, Shape, Vec3, so3};
use nsm_model::{ContactImpulse, Touch};
use nsm_vi::rigid::{BodyState, RigidBody, RigidState, RigidWorld};

use super::reader::Reader;
use super::record::{Form, Layout};
use super::state::StateRecord;
use super::{Contacts, Place, ProblemError};

/// Reads gravity, bodies and planes with their start.
pub(crate) fn read_world(
    reader: &Reader<'_>,
    bodies: &[Reader<'_>],
) -> Result<(RigidWorld, RigidState, Contacts), ProblemError> {
    let mut own = Contacts::default();
    // Those of the file serve its copies, which are made before.
    super::coordinates::read_parameters(reader)?;
    let gravity = Vec3::from(reader.vector::<3>("gravity")?.unwrap_or_default());
    let fail = |place: &Place, e: &dyn std::error::Error| place.error(e.to_string());
    let mut world = RigidWorld::new(gravity).map_err(|e| fail(&reader.place_of("gravity"), &e))?;
    let mut states = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut taken = HashSet::new();
    for table in bodies {
        let (body, state) = read_body(table, names.len(), &mut own)?;
        if !taken.insert(body.name().to_owned()) {
            return Err(table
                .place_of("name")
                .error(format!("there are two bodies named `{}`", body.name())));
        }
        names.push(body.name().to_owned());
        states.push(state);
        world = world.with_body(body);
    }
    for (name, plane) in read_planes(reader, &mut own)? {
        names.push(name.clone());
        world = world.with_plane(name, plane);
    }
    let contacts = Contacts::read(reader, &names)?.with_own(own);
    for (table, body) in bodies.iter().zip(world.bodies()) {
        if body.shape().is_none() && contacts.names(body.name()) {
            return Err(table.place().error(format!(
                "a `[[contact]]` speaks of `{}`, which has no `shape` to touch with",
                body.name()
            )));
        }
        if body.shape().is_none() && !world.planes().is_empty() {
            let what = format!("`{}` has no shape, and passes through the planes", body.name());
            table.note("name", &what);
        }
    }
    if contacts.said {
        let (classes, laws) = contacts.classes(&names);
        world = world.with_laws(classes, laws).map_err(|e| fail(reader.place(), &e))?;
    }
    let mut start = RigidState { t: 0.0, bodies: states };
    if reader.flag("separate")?.unwrap_or(false) {
        let moved =
            world.separate(&mut start).map_err(|e| fail(&reader.place_of("separate"), &e))?;
        if moved > 0.0 {
            reader.note("separate", &format!("bodies were moved apart by up to {moved:.3e}"));
        }
    }
    Ok((world, start, contacts))
}

/// Reads the planes with their names, and what they say of themselves.
pub(super) fn read_planes(
    reader: &Reader<'_>,
    own: &mut Contacts,
) -> Result<Vec<(String, Plane)>, ProblemError> {
    let planes = reader.tables("plane")?;
    let mut read = Vec::new();
    for (i, table) in planes.iter().enumerate() {
        let fallback =
            if planes.len() == 1 { "plane".to_owned() } else { format!("plane{}", i + 1) };
        let name = table.text("name")?.map_or(fallback, str::to_owned);
        let normal = table.require(
            "normal",
            table.vector::<3>("normal")?,
            "three numbers that point to the free side",
        )?;
        let offset = table.number("offset")?.unwrap_or(0.0);
        own.read_own(table, &name)?;
        table.finish()?;
        let plane =
            Plane::new(normal.into(), offset).map_err(|e| table.place().error(e.to_string()))?;
        read.push((name, plane));
    }
    Ok(read)
}

fn read_body(
    reader: &Reader<'_>,
    index: usize,
    own: &mut Contacts,
) -> Result<(RigidBody, BodyState), ProblemError> {
    let name = reader.text("name")?.map_or_else(|| format!("body{}", index + 1), str::to_owned);
    own.read_own(reader, &name)?;
    let fixed = reader.flag("fixed")?.unwrap_or(false);
    let mass = match reader.number("mass")? {
        None if fixed => 0.0,
        mass => reader.require("mass", mass, "the mass of the body, or `fixed = true`")?,
    };
    let shape = match reader.table("shape")? {
        Some(table) => Some(read_shape(&table)?),
        None => None,
    };
    let inertia = read_inertia(reader)?;
    if fixed {
        let shape = reader.require("shape", shape, "what the others touch, since it is fixed")?;
        for key in ["velocity", "momentum", "angular_velocity", "angular_momentum"] {
            if reader.vector::<3>(key)?.is_some_and(|v| v != [0.0; 3]) {
                return Err(reader.place_of(key).error("a fixed body cannot move"));
            }
        }
        let position = reader.vector::<3>("position")?.unwrap_or_default().into();
        let pose = Pose::new(position, read_rotation(reader)?)
            .map_err(|e| reader.place_of("rotation").error(e.to_string()))?;
        reader.finish()?;
        return Ok((RigidBody::fixed(name, shape), BodyState::at_rest(pose)));
    }
    if let Some(inertia) = &inertia {
        check_triangle(reader, inertia)?;
    }
    let fail = |e: nsm_vi::rigid::RigidError| reader.place().error(e.to_string());
    let body = match (inertia, shape) {
        (Some(inertia), Some(shape)) => {
            RigidBody::new(name, mass, inertia).map_err(fail)?.with_shape(shape)
        }
        (Some(inertia), None) => RigidBody::new(name, mass, inertia).map_err(fail)?,
        (None, Some(shape)) => RigidBody::uniform(name, mass, shape).map_err(fail)?,
        (None, None) => {
            return Err(reader
                .place()
                .error("give `inertia`, or a `shape` to compute it from at uniform density"));
        }
    };
    let position = reader.vector::<3>("position")?.unwrap_or_default().into();
    let pose = Pose::new(position, read_rotation(reader)?).map_err(|e| {
        reader
            .place_of("rotation")
            .error(format!("{e}: give an orthogonal matrix with determinant 1, row by row"))
    })?;
    let gamma = either(reader, "momentum", "velocity", |v| v * mass)?;
    let pi = either(reader, "angular_momentum", "angular_velocity", |w| body.inertia() * w)?;
    reader.finish()?;
    Ok((body, BodyState::new(pose, gamma, pi)))
}

/// No principal moment of a body exceeds the sum of the other two.
fn check_triangle(reader: &Reader<'_>, inertia: &Mat3) -> Result<(), ProblemError> {
    const DIGITS: f64 = 1e-6;
    let symmetric = 0.5 * (inertia + inertia.transpose());
    if !symmetric.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    let moments = symmetric.symmetric_eigenvalues();
    let (largest, rest) = (moments.max(), moments.sum() - moments.max());
    if moments.min() > 0.0 && largest > rest * (1.0 + DIGITS) {
        return Err(reader.place_of("inertia").error(format!(
            "no body has this inertia: its largest principal moment {largest} exceeds the sum {rest} of the other two"
        )));
    }
    Ok(())
}

/// A momentum, given as such or by the velocity.
fn either(
    reader: &Reader<'_>,
    momentum: &'static str,
    velocity: &'static str,
    times_inertia: impl Fn(Vec3) -> Vec3,
) -> Result<Vec3, ProblemError> {
    match (reader.vector::<3>(momentum)?, reader.vector::<3>(velocity)?) {
        (Some(_), Some(_)) => Err(reader
            .place_of(velocity)
            .error(format!("give `{momentum}` or `{velocity}`, not both"))),
        (Some(p), None) => Ok(p.into()),
        (None, v) => Ok(times_inertia(v.unwrap_or_default().into())),
    }
}

pub(super) fn read_inertia(reader: &Reader<'_>) -> Result<Option<Mat3>, ProblemError> {
    read_tensor(reader, "inertia")
}

/// `euler`: the Euler tensor $\int \rho\rho^\top dm$.
pub(super) fn read_euler(reader: &Reader<'_>) -> Result<Option<Mat3>, ProblemError> {
    read_tensor(reader, "euler")
}

/// A symmetric tensor by its principal values or as a matrix.
fn read_tensor(reader: &Reader<'_>, key: &'static str) -> Result<Option<Mat3>, ProblemError> {
    if reader.is_matrix(key) {
        return read_matrix(reader, key);
    }
    Ok(reader.vector::<3>(key)?.map(|principal| Mat3::from_diagonal(&principal.into())))
}

fn read_matrix(reader: &Reader<'_>, key: &'static str) -> Result<Option<Mat3>, ProblemError> {
    let Some(rows) = reader.matrix(key)? else { return Ok(None) };
    if rows.len() != 3 || rows.iter().any(|row| row.len() != 3) {
        return Err(reader.place_of(key).error("expected three rows of three numbers"));
    }
    Ok(Some(Mat3::from_fn(|i, j| rows[i][j])))
}

pub(super) fn read_rotation(reader: &Reader<'_>) -> Result<Mat3, ProblemError> {
    match (read_matrix(reader, "rotation")?, reader.vector::<4>("quaternion")?) {
        (Some(_), Some(_)) => {
            Err(reader.place_of("quaternion").error("give `rotation` or `quaternion`, not both"))
        }
        (Some(rotation), None) => Ok(orthonormal(reader, rotation)),
        (None, None) => Ok(Mat3::identity()),
        (None, Some([w, x, y, z])) => {
            let norm2 = w * w + x * x + y * y + z * z;
            if norm2 <= 0.0 {
                return Err(reader
                    .place_of("quaternion")
                    .error("a zero quaternion is no rotation"));
            }
            // R = I + 2/|q|² (w S(u) + S(u)²) with u = (x, y, z): exact for any length of q.
            let s = so3::skew(&Vec3::new(x, y, z));
            Ok(Mat3::identity() + (s * w + s * s) * (2.0 / norm2))
        }
    }
}

/// What is typed with seven digits is meant to be a rotation: the nearest one, and a note. What is further off is
/// left as it is, and refused by whoever needs a rotation.
fn orthonormal(reader: &Reader<'_>, rotation: Mat3) -> Mat3 {
    const EXACT: f64 = 1e-13;
    const MEANT: f64 = 1e-6;
    let off = (rotation.tr_mul(&rotation) - Mat3::identity()).amax();
    let meant = off > EXACT && off <= MEANT;
    match so3::nearest(&rotation) {
        Ok(nearest) if meant => {
            let what = format!("the matrix is {off:.1e} from a rotation: the nearest one is taken");
            reader.note("rotation", &what);
            nearest
        }
        _ => rotation,
    }
}

pub(super) fn read_shape(reader: &Reader<'_>) -> Result<Shape, ProblemError> {
    const KINDS: [&str; 8] = [
        "sphere",
        "ellipsoid",
        "box",
        "capsule",
        "cylinder",
        "polyhedron",
        "union",
        "intersection",
    ];
    let given: Vec<&'static str> = KINDS.into_iter().filter(|kind| reader.has(kind)).collect();
    let kind = match given[..] {
        [kind] => kind,
        [] => {
            reader.finish()?;
            return Err(reader
                .place()
                .error(format!("name the shape: one of {}", KINDS.join(", "))));
        }
        _ => {
            return Err(reader
                .place()
                .error(format!("one shape at a time, not {}", given.join(" and "))));
        }
    };
    let place = reader.place_of(kind);
    let fail = |e: nsm_geom::GeomError| place.error(e.to_string());
    let three = |what: &str| reader.require(kind, reader.vector::<3>(kind)?, what);
    let two = || reader.require(kind, reader.vector::<2>(kind)?, "length and radius");
    let parts = || reader.tables(kind)?.iter().map(read_shape).collect::<Result<Vec<_>, _>>();
    let mut shape = match kind {
        "sphere" => Shape::sphere(reader.require(kind, reader.number(kind)?, "the radius")?),
        "ellipsoid" => Shape::ellipsoid(three("three semi-axes")?),
        "box" => Shape::cuboid(three("three edges")?.map(|edge| 0.5 * edge)),
        "capsule" => two().map(|[length, radius]| Shape::capsule(0.5 * length, radius))?,
        "cylinder" => two().map(|[length, radius]| Shape::cylinder(0.5 * length, radius))?,
        "polyhedron" => {
            let rows = reader.require(kind, reader.matrix(kind)?, "a list of vertices")?;
            if let Some(i) = rows.iter().position(|row| row.len() != 3) {
                return Err(
                    place.error(format!("vertex {i} has {} coordinates, not 3", rows[i].len()))
                );
            }
            let points: Vec<Vec3> = rows.iter().map(|r| Vec3::new(r[0], r[1], r[2])).collect();
            Shape::polyhedron(&points)
        }
        "union" => Shape::union(parts()?),
        _ => Shape::intersection(parts()?),
    }
    .map_err(fail)?;
    let epsilon = reader.number("rounding")?.unwrap_or(0.0);
    if epsilon != 0.0 {
        let refuse = |e: nsm_geom::GeomError| reader.place_of("rounding").error(e.to_string());
        shape = shape.rounded(epsilon).map_err(refuse)?;
    }
    let at: Vec3 = reader.vector::<3>("at")?.unwrap_or_default().into();
    let rotation = read_rotation(reader)?;
    if at != Vec3::zeros() || rotation != Mat3::identity() {
        let pose = Pose::new(at, rotation)
            .map_err(|e| reader.place_of("rotation").error(e.to_string()))?;
        shape = shape.placed(pose);
    }
    reader.finish()?;
    Ok(shape)
}

impl Layout<RigidState> for RigidWorld {
    /// Angular momenta about the body's own axes are numbered; those about the axes of space have letters.
    fn columns(&self) -> Vec<String> {
        const PARTS: [&str; 18] = [
            "x", "y", "z", "R11", "R12", "R13", "R21", "R22", "R23", "R31", "R32", "R33", "px",
            "py", "pz", "L1", "L2", "L3",
        ];
        self.bodies()
            .iter()
            .flat_map(|b| PARTS.map(|part| format!("{}_{part}", b.name())))
            .collect()
    }

    fn row(&self, state: &RigidState, out: &mut Vec<f64>) {
        for body in &state.bodies {
            out.extend(body.pose.x.iter());
            out.extend(body.pose.rot.transpose().iter());
            out.extend(body.gamma.iter());
            out.extend(body.pi.iter());
        }
    }

    fn positions(&self) -> Vec<Vec<usize>> {
        let bodies = 0..self.bodies().len();
        let kind = |from: usize, to: usize| {
            bodies.clone().flat_map(move |b| 18 * b + from..18 * b + to).collect()
        };
        vec![kind(0, 3), kind(3, 12)]
    }

    /// Where the method says, else where the pair is closest at the end of the step.
    fn touch(&self, state: &RigidState, contact: &ContactImpulse) -> Option<Touch> {
        contact.touch.or_else(|| {
            let (point, n) = self.closest(contact.contact, &state.bodies)?;
            let (point, normal) = (point.into(), n.into());
            Some(Touch { point, normal, impulse: (contact.normal * n).into() })
        })
    }

    fn contact_name(&self, contact: usize) -> Option<String> {
        Some(RigidWorld::contact_name(self, contact))
    }

    fn state(&self, state: &RigidState) -> StateRecord {
        let mut row = Vec::new();
        self.row(state, &mut row);
        Layout::<RigidState>::form(self).state(state.t, &row)
    }

    fn form(&self) -> Form {
        Form::Bodies(self.bodies().iter().map(|b| b.name().to_owned()).collect())
    }
}
