//! Robots from URDF: a description of links and joints becomes a problem file.
//!
//! Links with inertia become bodies at their centres of mass, joints become joints drawn where the robot stands. What URDF says and a problem
//! file cannot is a note; what would make the motion wrong is an error.

mod mechanism;
mod robot;
mod stl;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use nsm_geom::{Mat3, Polyhedron, Vec3, so3};
use nsm_problem::Problem;

pub use mechanism::FromUrdf;
use robot::{Frame, Geometry, Joint, Link, Robot};

/// Why a robot cannot be imported: names the part, and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ImportError(String);

/// How a robot is imported.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the root link floats; it is fixed to the ground otherwise.
    pub floating: bool,
    /// Leave meshes out.
    pub no_meshes: bool,
    /// Positions of joints at the start, by name; zero where none is given, or within its limits.
    pub positions: BTreeMap<String, f64>,
}

/// A robot as a problem file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text of the file.
    pub problem: String,
    /// What was left out or chosen.
    pub notes: Vec<String>,
}

/// Makes a problem file of a URDF text; meshes are looked for beside `folder`.
///
/// # Errors
/// A text that is no URDF, a link that moves and has no inertia, joints that are no tree, meshes that cannot be read.
pub fn import(text: &str, folder: &Path, options: &Options) -> Result<Imported, ImportError> {
    let robot = Robot::read(text)?;
    let mut writer = Writer { options, folder, notes: Vec::new(), frames: BTreeMap::new() };
    let problem = writer.problem(&robot)?;
    // What a problem file refuses, such as an inertia that no body has, is found here and not at the first run.
    Problem::parse(&problem)
        .map_err(|error| ImportError(format!("as a problem file it is refused: {error}")))?;
    Ok(Imported { problem, notes: writer.notes })
}

struct Writer<'a> {
    options: &'a Options,
    folder: &'a Path,
    notes: Vec<String>,
    /// Where each link stands.
    frames: BTreeMap<String, Frame>,
}

fn fail<T>(why: impl Into<String>) -> Result<T, ImportError> {
    Err(ImportError(why.into()))
}

impl Writer<'_> {
    fn problem(&mut self, robot: &Robot) -> Result<String, ImportError> {
        let (root, ordered) = order(robot)?;
        for name in self.options.positions.keys() {
            if !robot.joints.iter().any(|joint| joint.name == *name) {
                return fail(format!("there is no joint `{name}` to be put somewhere"));
            }
        }
        self.frames.insert(root.name.clone(), Frame::here(Vec3::zeros(), Mat3::identity()));
        let mut starts = BTreeMap::new();
        for joint in &ordered {
            let start = self.start_of(joint, &starts, robot)?;
            starts.insert(joint.name.clone(), start);
            let frame = self.frames[&joint.parent].then(&joint.origin);
            let moved = match joint.kind.as_str() {
                "revolute" | "continuous" => {
                    Frame::here(Vec3::zeros(), so3::exp(&(joint.axis * start)))
                }
                "prismatic" => Frame::here(joint.axis * start, Mat3::identity()),
                _ => Frame::here(Vec3::zeros(), Mat3::identity()),
            };
            self.frames.insert(joint.child.clone(), frame.then(&moved));
        }
        let mut out = String::new();
        let _ = writeln!(out, "title   = {}", quoted(&robot.name));
        let _ = writeln!(out, "gravity = [0, 0, -9.81]");
        for link in &robot.links {
            if self.is_body(link, robot, root) {
                self.body(link, &mut out)?;
            }
        }
        if root.inertial.is_some() && !self.options.floating {
            let at = self.frames[&root.name].at;
            let _ = writeln!(
                out,
                "\n[[joint]]                # the base stands on the ground\nname = \"base\"\ntype = \"fixed\"\nbodies = [\"ground\", {}]\nat = {}",
                quoted(&root.name),
                list(at.as_slice())
            );
        }
        for joint in &ordered {
            self.joint(joint, starts[&joint.name], robot, root, &mut out)?;
        }
        for joint in &ordered {
            if let Some((other, factor, _)) = &joint.mimic {
                let _ = writeln!(
                    out,
                    "\n[[joint]]\nname = {}\ntype = \"gear\"\nof = [{}, {}]\nratio = {factor:?}",
                    quoted(&format!("{} mimic", joint.name)),
                    quoted(&joint.name),
                    quoted(other)
                );
            }
        }
        out.push_str("\n[[run]]\nstep = 0.001\nend  = 1.0\n");
        Ok(out)
    }

    /// Where a joint stands at the start.
    fn start_of(
        &mut self,
        joint: &Joint,
        starts: &BTreeMap<String, f64>,
        robot: &Robot,
    ) -> Result<f64, ImportError> {
        let (name, kind) = (&joint.name, joint.kind.as_str());
        if let Some((other, factor, offset)) = &joint.mimic {
            let Some(leader) = robot.joints.iter().find(|j| j.name == *other) else {
                return fail(format!("joint `{name}` mimics `{other}`, which does not exist"));
            };
            for (name, kind) in [(name, kind), (other, leader.kind.as_str())] {
                if !matches!(kind, "revolute" | "continuous" | "prismatic") {
                    return fail(format!(
                        "joint `{name}` is {kind}, and only joints of one freedom mimic or are mimicked"
                    ));
                }
            }
            if *factor == 0.0 {
                return fail(format!(
                    "joint `{name}` mimics `{other}` with the multiplier 0, and does not move: make it `fixed`"
                ));
            }
            if self.options.positions.contains_key(name) {
                return fail(format!(
                    "joint `{name}` mimics `{other}`: give the position of that one"
                ));
            }
            let Some(start) = starts.get(other) else {
                return fail(format!(
                    "joint `{name}` mimics `{other}`, which comes later in the tree: exchange them"
                ));
            };
            return Ok(factor * start + offset);
        }
        let given = self.options.positions.get(name).copied();
        if given.is_some() && !matches!(kind, "revolute" | "continuous" | "prismatic") {
            return fail(format!("joint `{name}` is {kind} and has no position to start at"));
        }
        let Some([lower, upper]) = joint.limits else { return Ok(given.unwrap_or(0.0)) };
        if lower >= upper {
            return fail(format!(
                "the limits of joint `{name}` are {lower} and {upper}: the first must be below the second; a joint that does not move is `fixed`"
            ));
        }
        match given {
            Some(x) if (lower..=upper).contains(&x) => Ok(x),
            Some(x) => fail(format!(
                "joint `{name}` cannot start at {x}: its limits are {lower} and {upper}"
            )),
            None if (lower..=upper).contains(&0.0) => Ok(0.0),
            None => {
                let start = 0.5 * (lower + upper);
                self.notes.push(format!(
                    "joint `{name}` cannot be at zero: it starts in the middle of its limits, {start}"
                ));
                Ok(start)
            }
        }
    }

    /// Links without inertia that are fixed to others are frames, and no bodies; the root without inertia is the ground.
    fn is_body(&mut self, link: &Link, robot: &Robot, root: &Link) -> bool {
        if link.inertial.is_some() {
            return true;
        }
        let fixed = link.name == root.name || is_frame(link, robot);
        if fixed && !link.shapes.is_empty() {
            let what = format!("link `{}` has no inertia: its shape is left out", link.name);
            self.notes.push(what);
        }
        !fixed
    }

    fn body(&mut self, link: &Link, out: &mut String) -> Result<(), ImportError> {
        let name = &link.name;
        let Some(inertial) = &link.inertial else {
            return fail(format!(
                "link `{name}` moves and has no <inertial>: give its mass and inertia, or fix it to another link"
            ));
        };
        if inertial.mass.is_nan() || inertial.mass <= 0.0 {
            return fail(format!(
                "link `{name}` has the mass {}: a link that moves has one above zero",
                inertial.mass
            ));
        }
        if inertial.inertia.iter().flatten().all(|x| *x == 0.0) {
            return fail(format!("link `{name}` has an <inertia> of zeros: give what it is"));
        }
        let centre = self.frames[name].then(&inertial.frame);
        let rows: Vec<String> = inertial.inertia.iter().map(|row| list(row)).collect();
        let _ = write!(
            out,
            "\n[[body]]\nname = {}\nmass = {:?}\ninertia = [{}]\nposition = {}\n{}",
            quoted(name),
            inertial.mass,
            rows.join(", "),
            list(centre.at.as_slice()),
            rotation(&centre.turn, "\n")
        );
        let mut shapes = Vec::new();
        for (frame, geometry) in &link.shapes {
            let seen = frame.seen_from(&inertial.frame);
            shapes.extend(self.shape(name, &seen, geometry)?);
        }
        match shapes.as_slice() {
            [] => {}
            [one] => {
                let _ = writeln!(out, "shape = {{ {one} }}");
            }
            several => {
                let parts: Vec<String> = several.iter().map(|s| format!("{{ {s} }}")).collect();
                let _ = writeln!(out, "shape = {{ union = [{}] }}", parts.join(", "));
            }
        }
        Ok(())
    }

    fn shape(
        &mut self,
        link: &str,
        frame: &Frame,
        geometry: &Geometry,
    ) -> Result<Option<String>, ImportError> {
        let mut text = match geometry {
            Geometry::Box(size) => format!("box = {}", list(size)),
            Geometry::Cylinder(length, radius) => {
                format!("cylinder = {}", list(&[*length, *radius]))
            }
            Geometry::Capsule(length, radius) => format!("capsule = {}", list(&[*length, *radius])),
            Geometry::Sphere(radius) => format!("sphere = {radius:?}"),
            Geometry::Mesh(file, scale) => {
                if self.options.no_meshes {
                    self.notes.push(format!("link `{link}`: the mesh {file} is left out"));
                    return Ok(None);
                }
                let hull = self.hull(link, file, *scale)?;
                let corners: Vec<String> = hull.iter().map(|c| list(c.as_slice())).collect();
                format!("polyhedron = [{}]", corners.join(", "))
            }
        };
        if frame.at != Vec3::zeros() {
            let _ = write!(text, ", at = {}", list(frame.at.as_slice()));
        }
        let turn = rotation(&frame.turn, "");
        if !turn.is_empty() {
            let _ = write!(text, ", {turn}");
        }
        Ok(Some(text))
    }

    /// The corners of a mesh's convex hull.
    fn hull(&mut self, link: &str, file: &str, scale: [f64; 3]) -> Result<Vec<Vec3>, ImportError> {
        // Packages are folders beside the file, or its own.
        let inner = file.strip_prefix("package://").or_else(|| file.strip_prefix("file://"));
        let inner = inner.unwrap_or(file);
        let without = inner.split_once('/').map_or(inner, |(_, rest)| rest);
        let near = [self.folder.join(inner), self.folder.join(without)];
        let above = self.folder.join("..");
        let places = near.into_iter().chain([above.join(inner), above.join(without)]);
        let leave = "; `--no-meshes` leaves meshes out";
        let Some(bytes) = places.into_iter().find_map(|path| std::fs::read(path).ok()) else {
            return fail(format!(
                "link `{link}`: the mesh {file} is not found beside the URDF file{leave}"
            ));
        };
        let Some(corners) = stl::corners(&bytes) else {
            return fail(format!(
                "link `{link}`: the mesh {file} is no STL, which is what can be read{leave}"
            ));
        };
        let scaled: Vec<Vec3> =
            corners.iter().map(|c| c.component_mul(&Vec3::from(scale))).collect();
        let hull = Polyhedron::hull(&scaled).map_err(|e| {
            ImportError(format!("link `{link}`: the mesh {file} has no hull: {e}{leave}"))
        })?;
        let count = hull.vertices().len();
        self.notes.push(format!(
            "link `{link}`: the mesh {file} of {} corners is taken as its convex hull of {count}",
            corners.len()
        ));
        Ok(hull.vertices().to_vec())
    }

    fn joint(
        &mut self,
        joint: &Joint,
        start: f64,
        robot: &Robot,
        root: &Link,
        out: &mut String,
    ) -> Result<(), ImportError> {
        let name = &joint.name;
        let (parent, child) = (carrier(&joint.parent, robot, root), &joint.child);
        let link = robot.links.iter().find(|link| link.name == *child);
        let is_frame = link.is_none_or(|link| is_frame(link, robot));
        let kind = match joint.kind.as_str() {
            "fixed" if is_frame => return Ok(()),
            "floating" => return Ok(()),
            "revolute" | "continuous" => "revolute",
            kind @ ("prismatic" | "fixed" | "planar") => kind,
            other => {
                return fail(format!(
                    "joint `{name}` is of type `{other}`: known are revolute, continuous, prismatic, fixed, floating, planar"
                ));
            }
        };
        let frame = self.frames[&joint.parent].then(&joint.origin);
        // A slide draws its point along with it.
        let at = self.frames[child].at;
        let _ = write!(
            out,
            "\n[[joint]]\nname = {}\ntype = \"{kind}\"\nbodies = [{}, {}]\nat = {}\n",
            quoted(name),
            quoted(&parent),
            quoted(child),
            list(at.as_slice())
        );
        if kind != "fixed" {
            let _ = writeln!(out, "axis = {}", list((frame.turn * joint.axis).as_slice()));
        }
        if let Some([lower, upper]) = joint.limits {
            // Stops of robots have buffers; nsm takes contacts of which nothing is said for elastic.
            let _ = writeln!(out, "limits = {}", list(&[lower - start, upper - start]));
            let _ = writeln!(out, "restitution = 0.0");
        }
        for (key, value) in [("damping", joint.damping), ("dry_friction", joint.friction)] {
            if value != 0.0 && kind != "fixed" {
                let each = if kind == "planar" { list(&[value; 3]) } else { format!("{value:?}") };
                let _ = writeln!(out, "{key} = {each}");
            }
        }
        for (what, value) in ["effort", "velocity"].iter().zip(joint.strength) {
            if let Some(value) = value {
                let _ = writeln!(out, "# largest {what} of its drive: {value:?}");
            }
        }
        Ok(())
    }
}

/// The body that carries a link: itself, or what it is fixed to.
fn carrier(link: &str, robot: &Robot, root: &Link) -> String {
    if link == root.name && root.inertial.is_none() {
        return "ground".to_owned();
    }
    let found = robot.links.iter().find(|l| l.name == link);
    match found {
        Some(found) if is_frame(found, robot) => {
            let joint = robot.joints.iter().find(|joint| joint.child == link);
            joint.map_or_else(|| link.to_owned(), |j| carrier(&j.parent, robot, root))
        }
        _ => link.to_owned(),
    }
}

/// Whether a link has no inertia and is fixed to another.
fn is_frame(link: &Link, robot: &Robot) -> bool {
    let holds = |joint: &&Joint| joint.child == link.name;
    link.inertial.is_none()
        && robot.joints.iter().find(holds).is_some_and(|joint| joint.kind == "fixed")
}

/// The root, and the joints from the root outwards.
fn order(robot: &Robot) -> Result<(&Link, Vec<&Joint>), ImportError> {
    let mut seen = std::collections::BTreeSet::new();
    for link in &robot.links {
        if link.name == "ground" {
            return fail("a link is named `ground`, which joints call the world: rename it");
        }
        if !seen.insert(&link.name) {
            return fail(format!("there are two links named `{}`", link.name));
        }
    }
    for joint in &robot.joints {
        for link in [&joint.parent, &joint.child] {
            if !seen.contains(link) {
                return fail(format!(
                    "joint `{}` speaks of a link `{link}`, which does not exist",
                    joint.name
                ));
            }
        }
        let same = |other: &&Joint| other.child == joint.child;
        if let Some(other) = robot.joints.iter().find(same).filter(|j| j.name != joint.name) {
            return fail(format!(
                "link `{}` hangs on two joints, `{}` and `{}`: URDF is a tree",
                joint.child, other.name, joint.name
            ));
        }
    }
    let hangs = |link: &&Link| robot.joints.iter().any(|joint| joint.child == link.name);
    let mut roots = robot.links.iter().filter(|link| !hangs(link));
    let Some(root) = roots.next() else {
        return fail("there is no root: every link hangs on a joint");
    };
    if let Some(other) = roots.next() {
        return fail(format!(
            "there are two roots, `{}` and `{}`: URDF is one tree",
            root.name, other.name
        ));
    }
    let (mut ordered, mut reached) = (Vec::new(), vec![&root.name]);
    let mut next = 0;
    while let Some(link) = reached.get(next).copied() {
        for joint in robot.joints.iter().filter(|joint| joint.parent == *link) {
            ordered.push(joint);
            reached.push(&joint.child);
        }
        next += 1;
    }
    if ordered.len() < robot.joints.len() {
        return fail("some joints form a loop that does not hang on the root: URDF is a tree");
    }
    Ok((root, ordered))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn list(numbers: &[f64]) -> String {
    // Adding zero turns -0.0 into 0.0.
    let numbers: Vec<String> = numbers.iter().map(|x| format!("{:?}", x + 0.0)).collect();
    format!("[{}]", numbers.join(", "))
}

/// `rotation = …` with what comes behind; nothing for none.
fn rotation(turn: &Mat3, behind: &str) -> String {
    if *turn == Mat3::identity() {
        return String::new();
    }
    let rows: Vec<String> =
        (0..3).map(|i| list(&[turn[(i, 0)], turn[(i, 1)], turn[(i, 2)]])).collect();
    format!("rotation = [{}]{behind}", rows.join(", "))
}
