//! What a URDF file says: links and joints, by name.

use nsm_geom::{Mat3, Vec3};
use roxmltree::{Document, Node};

use super::ImportError;

/// A rigid motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) at: Vec3,
    pub(super) turn: Mat3,
}

impl Frame {
    pub(super) const fn here(at: Vec3, turn: Mat3) -> Self {
        Self { at, turn }
    }

    /// A frame that is given in this one.
    pub(super) fn then(&self, inner: &Self) -> Self {
        Self { at: self.at + self.turn * inner.at, turn: self.turn * inner.turn }
    }

    /// This frame as another one sees it.
    pub(super) fn seen_from(&self, other: &Self) -> Self {
        let back = other.turn.transpose();
        Self { at: back * (self.at - other.at), turn: back * self.turn }
    }
}

/// Mass, and inertia about the centre of mass in the frame given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inertial {
    pub(super) frame: Frame,
    pub(super) mass: f64,
    pub(super) inertia: [[f64; 3]; 3],
}

#[derive(Clone, Debug)]
pub(super) enum Geometry {
    Box([f64; 3]),
    /// Length along z, and radius.
    Cylinder(f64, f64),
    Capsule(f64, f64),
    Sphere(f64),
    Mesh(String, [f64; 3]),
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) inertial: Option<Inertial>,
    pub(super) shapes: Vec<(Frame, Geometry)>,
}

#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) parent: String,
    pub(super) child: String,
    pub(super) origin: Frame,
    pub(super) axis: Vec3,
    pub(super) limits: Option<[f64; 2]>,
    /// Largest effort and velocity, where they are given and not zero.
    pub(super) strength: [Option<f64>; 2],
    pub(super) damping: f64,
    pub(super) friction: f64,
    /// The joint that it follows, how many times, and from where.
    pub(super) mimic: Option<(String, f64, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Robot {
    pub(super) name: String,
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Joint>,
}

/// Reads a node of the document, and says in errors where it stands.
#[derive(Clone, Copy)]
struct Element<'a>(Node<'a, 'a>);

impl<'a> Element<'a> {
    fn child(self, name: &str) -> Option<Self> {
        self.0.children().find(|node| node.has_tag_name(name)).map(Element)
    }

    fn children(self, name: &'a str) -> impl Iterator<Item = Self> {
        self.0.children().filter(move |node| node.has_tag_name(name)).map(Element)
    }

    fn error(self, why: impl std::fmt::Display) -> ImportError {
        let at = self.0.document().text_pos_at(self.0.range().start);
        ImportError(format!("line {}: <{}>: {why}", at.row, self.0.tag_name().name()))
    }

    fn text(self, key: &str) -> Result<String, ImportError> {
        let missing = || self.error(format!("`{key}` is missing"));
        self.0.attribute(key).map(str::to_owned).ok_or_else(missing)
    }

    fn numbers<const N: usize>(self, key: &str) -> Result<Option<[f64; N]>, ImportError> {
        let Some(text) = self.0.attribute(key) else { return Ok(None) };
        let wrong = || {
            let what = if N == 1 { "a finite number" } else { "finite numbers" };
            self.error(format!("`{key}` is \"{text}\": {N} {what} expected"))
        };
        let numbers: Vec<f64> = text
            .split_whitespace()
            .map(|word| word.parse::<f64>().ok().filter(|x| x.is_finite()))
            .collect::<Option<_>>()
            .ok_or_else(wrong)?;
        numbers.try_into().map(Some).map_err(|_| wrong())
    }

    fn number(self, key: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.numbers::<1>(key)?.map(|[x]| x))
    }

    fn needed(self, key: &str) -> Result<f64, ImportError> {
        self.number(key)?.ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    /// `<origin xyz rpy>`: turns about the fixed axes x, y, z, in this order.
    fn origin(self) -> Result<Frame, ImportError> {
        let Some(origin) = self.child("origin") else {
            return Ok(Frame::here(Vec3::zeros(), Mat3::identity()));
        };
        let at: Vec3 = origin.numbers("xyz")?.unwrap_or([0.0; 3]).into();
        let [roll, pitch, yaw] = origin.numbers("rpy")?.unwrap_or([0.0; 3]);
        Ok(Frame::here(at, about(2, yaw) * about(1, pitch) * about(0, roll)))
    }
}

/// A turn about an axis of the frame.
fn about(axis: usize, angle: f64) -> Mat3 {
    let (sine, cosine) = angle.sin_cos();
    let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut turn = Mat3::identity();
    (turn[(a, a)], turn[(b, b)]) = (cosine, cosine);
    (turn[(b, a)], turn[(a, b)]) = (sine, -sine);
    turn
}

impl Robot {
    pub(super) fn read(text: &str) -> Result<Self, ImportError> {
        let document = Document::parse(text).map_err(|e| ImportError(format!("no XML: {e}")))?;
        let root = Element(document.root_element());
        if !root.0.has_tag_name("robot") {
            let found = root.0.tag_name().name();
            let hint = if root.0.descendants().any(|n| n.tag_name().name().contains("xacro")) {
                "; a xacro file is expanded first: `xacro robot.urdf.xacro > robot.urdf`"
            } else {
                ""
            };
            return Err(ImportError(format!(
                "a URDF file is a <robot>, this is a <{found}>{hint}"
            )));
        }
        let links = root.children("link").map(read_link).collect::<Result<Vec<_>, _>>()?;
        let joints = root.children("joint").map(read_joint).collect::<Result<Vec<_>, _>>()?;
        let name = root.0.attribute("name").unwrap_or("robot").to_owned();
        Ok(Self { name, links, joints })
    }
}

fn read_link(link: Element<'_>) -> Result<Link, ImportError> {
    let inertial = link.child("inertial").map(|inertial| -> Result<_, ImportError> {
        let mass = inertial.child("mass").ok_or_else(|| inertial.error("<mass> is missing"))?;
        let tensor = inertial.child("inertia");
        let tensor = tensor.ok_or_else(|| inertial.error("<inertia> is missing"))?;
        let or_zero = |key: &str| tensor.number(key).map(|x| x.unwrap_or(0.0));
        let (xy, xz, yz) = (or_zero("ixy")?, or_zero("ixz")?, or_zero("iyz")?);
        let (xx, yy, zz) = (tensor.needed("ixx")?, tensor.needed("iyy")?, tensor.needed("izz")?);
        Ok(Inertial {
            frame: inertial.origin()?,
            mass: mass.needed("value")?,
            inertia: [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
        })
    });
    let shapes = link.children("collision").map(read_shape).collect::<Result<_, _>>()?;
    Ok(Link { name: link.text("name")?, inertial: inertial.transpose()?, shapes })
}

fn read_shape(collision: Element<'_>) -> Result<(Frame, Geometry), ImportError> {
    let missing = || collision.error("<geometry> is missing");
    let geometry = collision.child("geometry").ok_or_else(missing)?;
    let found = geometry.0.children().find(Node::is_element).map(Element);
    let Some(shape) = found else { return Err(geometry.error("there is no shape in it")) };
    let shape = match shape.0.tag_name().name() {
        "box" => {
            let size = shape.numbers("size")?;
            Geometry::Box(size.ok_or_else(|| shape.error("`size` is missing"))?)
        }
        "cylinder" => Geometry::Cylinder(shape.needed("length")?, shape.needed("radius")?),
        "capsule" => Geometry::Capsule(shape.needed("length")?, shape.needed("radius")?),
        "sphere" => Geometry::Sphere(shape.needed("radius")?),
        "mesh" => {
            let scale = shape.numbers("scale")?.unwrap_or([1.0; 3]);
            Geometry::Mesh(shape.text("filename")?, scale)
        }
        other => {
            return Err(shape.error(format!(
                "`{other}` is no shape of URDF: box, cylinder, capsule, sphere, mesh"
            )));
        }
    };
    Ok((collision.origin()?, shape))
}

fn read_joint(joint: Element<'_>) -> Result<Joint, ImportError> {
    let end = |key: &str| {
        let missing = || joint.error(format!("<{key} link=…> is missing"));
        joint.child(key).ok_or_else(missing)?.text("link")
    };
    let kind = joint.text("type")?;
    let axis = joint.child("axis").map_or(Ok(None), |axis| axis.numbers("xyz"))?;
    let axis = Vec3::from(axis.unwrap_or([1.0, 0.0, 0.0]));
    if axis.norm() == 0.0 {
        return Err(joint.error("its axis is a vector of zeros"));
    }
    let limit = joint.child("limit");
    let bounded = matches!(kind.as_str(), "revolute" | "prismatic");
    let bounds = match limit {
        Some(limit) if bounded => {
            Some([limit.number("lower")?.unwrap_or(0.0), limit.number("upper")?.unwrap_or(0.0)])
        }
        None if bounded => {
            let why = format!(
                "a {kind} joint needs a <limit lower upper>; one without stops is `continuous`"
            );
            return Err(joint.error(why));
        }
        _ => None,
    };
    let some = |key: &str| -> Result<Option<f64>, ImportError> {
        let found = limit.map_or(Ok(None), |limit| limit.number(key))?;
        Ok(found.filter(|x| *x != 0.0))
    };
    let dynamics = |key: &str| -> Result<f64, ImportError> {
        let found = joint.child("dynamics").map_or(Ok(None), |dynamics| dynamics.number(key))?;
        Ok(found.unwrap_or(0.0))
    };
    let mimic = joint.child("mimic").map(|mimic| -> Result<_, ImportError> {
        let factor = mimic.number("multiplier")?.unwrap_or(1.0);
        Ok((mimic.text("joint")?, factor, mimic.number("offset")?.unwrap_or(0.0)))
    });
    Ok(Joint {
        name: joint.text("name")?,
        parent: end("parent")?,
        child: end("child")?,
        origin: joint.origin()?,
        axis: axis.normalize(),
        limits: bounds,
        strength: [some("effort")?, some("velocity")?],
        damping: dynamics("damping")?,
        friction: dynamics("friction")?,
        mimic: mimic.transpose()?,
        kind,
    })
}
