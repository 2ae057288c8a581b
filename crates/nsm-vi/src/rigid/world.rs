//! Bodies, the planes they may strike, and gravity.
//!
//! Contacts are numbered body by body: contact $bP + p$ is body $b$ against plane $p$ of $P$. After those of $N$ bodies come the pairs
//! $(0, 1), (0, 2), \dots, (1, 2), \dots$

use nsm_geom::{Plane, Vec3, so3};
use nsm_model::ContactLaw;

use super::{BodyState, Lgvci, RigidBody, RigidError, RigidState};

/// What does not change during a run.
#[derive(Clone, Debug, Default)]
pub struct RigidWorld {
    gravity: Vec3,
    bodies: Vec<RigidBody>,
    planes: Vec<Plane>,
    plane_names: Vec<String>,
    laws: Option<Laws>,
}

/// What happens where parties touch: every party, bodies and then planes, belongs to a class, and every pair of classes has a law, or
/// none if they pass through each other.
#[derive(Clone, Debug)]
struct Laws {
    classes: Vec<usize>,
    count: usize,
    table: Vec<Option<ContactLaw>>,
}

/// Largest $\lVert R^\top R - I\rVert_F$ of an attitude at the start.
const ORTHOGONALITY: f64 = 1e-9;

impl RigidWorld {
    /// An empty world with uniform gravity, a vector: $(0, 0, -9.80665)$ on earth.
    ///
    /// # Errors
    /// If gravity is not finite.
    pub fn new(gravity: Vec3) -> Result<Self, RigidError> {
        if !gravity.iter().all(|c| c.is_finite()) {
            return Err(RigidError::NotFinite { what: "gravity", name: "world".into() });
        }
        Ok(Self { gravity, ..Self::default() })
    }

    /// Adds a body.
    #[must_use]
    pub fn with_body(mut self, body: RigidBody) -> Self {
        self.bodies.push(body);
        self
    }

    /// Adds a plane; its normal points to where the bodies are.
    #[must_use]
    pub fn with_plane(mut self, name: impl Into<String>, plane: Plane) -> Self {
        self.planes.push(plane);
        self.plane_names.push(name.into());
        self
    }

    /// Adds the plane $n\cdot z + D = 0$.
    ///
    /// # Errors
    /// A zero normal or numbers that are not finite.
    pub fn with_half_space(
        self,
        name: impl Into<String>,
        normal: Vec3,
        offset: f64,
    ) -> Result<Self, RigidError> {
        let name = name.into();
        match Plane::new(normal, offset) {
            Ok(plane) => Ok(self.with_plane(name, plane)),
            Err(source) => Err(RigidError::Plane { plane: name, source }),
        }
    }

    /// Closes a room: six planes around the box with these opposite corners.
    ///
    /// # Errors
    /// If the corners do not span a box.
    pub fn with_room(mut self, low: Vec3, high: Vec3) -> Result<Self, RigidError> {
        for axis in 0..3 {
            let extent = high[axis] - low[axis];
            if !(extent.is_finite() && extent > 0.0) {
                return Err(RigidError::Parameter {
                    what: "an extent of the room",
                    must: "positive and finite",
                    value: extent,
                });
            }
            let mut normal = Vec3::zeros();
            normal[axis] = 1.0;
            let letter = ['x', 'y', 'z'][axis];
            self = self
                .with_half_space(format!("{letter} low"), normal, -low[axis])?
                .with_half_space(format!("{letter} high"), -normal, high[axis])?;
        }
        Ok(self)
    }

    /// One law for all contacts. Bodies and planes must all have been added.
    ///
    /// # Errors
    /// A law out of range.
    pub fn with_law(self, law: ContactLaw) -> Result<Self, RigidError> {
        let parties = self.bodies.len() + self.planes.len();
        self.with_laws(vec![0; parties], vec![Some(law)])
    }

    /// The law of every pair: `classes` has the class of every body and then of every plane, and `laws`, row by row, what happens where
    /// two classes touch; `None` lets them pass through each other. Bodies and planes must all have been added.
    ///
    /// # Errors
    /// Lengths that do not fit, a law out of range.
    pub fn with_laws(
        mut self,
        classes: Vec<usize>,
        laws: Vec<Option<ContactLaw>>,
    ) -> Result<Self, RigidError> {
        let count = classes.iter().max().map_or(0, |c| c + 1);
        let parties = self.bodies.len() + self.planes.len();
        if classes.len() != parties || laws.len() != count * count {
            let must = "one class for every body and plane, and one law for every two classes";
            let value = classes.len() as f64;
            return Err(RigidError::Parameter { what: "the number of classes", must, value });
        }
        for law in laws.iter().flatten() {
            law.check("a contact")
                .map_err(|source| RigidError::Law { source: Box::new(source) })?;
        }
        self.laws = Some(Laws { classes, count, table: laws });
        Ok(self)
    }

    /// The law between two parties, bodies being numbered before planes; `otherwise` where nothing was said, `None` where they pass
    /// through each other.
    pub fn law(&self, a: usize, b: usize, otherwise: ContactLaw) -> Option<ContactLaw> {
        match &self.laws {
            None => Some(otherwise),
            Some(laws) => laws.table[laws.classes[a] * laws.count + laws.classes[b]],
        }
    }

    /// Whether a body can touch any other.
    pub(super) fn meets_bodies(&self, b: usize) -> bool {
        let Some(laws) = &self.laws else { return true };
        let row = laws.classes[b] * laws.count;
        laws.classes[..self.bodies.len()].iter().any(|c| laws.table[row + c].is_some())
    }

    /// Whether nothing happens in this world but elastic impacts without friction of bodies on planes.
    pub(super) fn is_published(&self, method: &Lgvci) -> bool {
        let n = self.bodies.len();
        let shaped: Vec<usize> = (0..n).filter(|&b| self.bodies[b].shape().is_some()).collect();
        let elastic = |law: Option<ContactLaw>| {
            law.is_some_and(|law| law.restitution == 1.0 && law.friction == 0.0)
        };
        let planes = 0..self.planes.len();
        self.bodies.iter().all(|b| !b.is_fixed())
            && planes.clone().all(|p| shaped.iter().all(|&b| elastic(method.law(self, b, n + p))))
            && shaped.iter().enumerate().all(|(k, &b)| {
                (self.laws.is_none() && shaped.len() == 1)
                    || shaped[..k].iter().all(|&a| method.law(self, a, b).is_none())
            })
    }

    /// Gravity.
    pub fn gravity(&self) -> &Vec3 {
        &self.gravity
    }

    /// The bodies.
    pub fn bodies(&self) -> &[RigidBody] {
        &self.bodies
    }

    /// Names of the planes, in order.
    pub fn plane_names(&self) -> impl Iterator<Item = &str> {
        self.plane_names.iter().map(String::as_str)
    }

    /// The planes.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// Number of a contact.
    pub fn contact(&self, body: usize, plane: usize) -> usize {
        body * self.planes.len() + plane
    }

    /// Number of the contact of two bodies.
    pub fn pair_contact(&self, a: usize, b: usize) -> usize {
        let n = self.bodies.len();
        let (a, b) = (a.min(b), a.max(b));
        n * self.planes.len() + a * (2 * n - a - 1) / 2 + (b - a - 1)
    }

    /// The two bodies of a contact; `None` if it is one of a body and a plane.
    pub fn pair(&self, contact: usize) -> Option<(usize, usize)> {
        let n = self.bodies.len();
        let rest = contact.checked_sub(n * self.planes.len())?;
        // Pairs before the first one of a body, which are the more the later it is.
        let before = |a: usize| a * (2 * n - a - 1) / 2;
        if n == 0 || rest >= before(n - 1) {
            return None;
        }
        let (mut a, mut beyond) = (0, n - 1);
        while a + 1 < beyond {
            let middle = a.midpoint(beyond);
            if before(middle) <= rest { a = middle } else { beyond = middle }
        }
        Some((a, a + 1 + rest - before(a)))
    }

    /// Name of a contact, `body / plane` or `body / body`.
    pub fn contact_name(&self, contact: usize) -> String {
        if let Some((a, b)) = self.pair(contact) {
            return format!("{} / {}", self.bodies[a].name(), self.bodies[b].name());
        }
        let planes = self.planes.len().max(1);
        let body = self.bodies.get(contact / planes).map_or("?", RigidBody::name);
        let plane = self.plane_names.get(contact % planes).map_or("?", String::as_str);
        format!("{body} / {plane}")
    }

    /// The point at which the parties of a contact are closest, and the normal there, towards the one that is named first.
    pub fn closest(&self, contact: usize, states: &[BodyState]) -> Option<(Vec3, Vec3)> {
        if let Some((a, b)) = self.pair(contact) {
            let (one, other) = (&states[a].pose, &states[b].pose);
            let shapes = (self.bodies[a].shape()?, self.bodies[b].shape()?);
            let gap = nsm_geom::body_gap(shapes.0, one, shapes.1, other).ok()?;
            return Some(((gap.point_a + gap.point_b) / 2.0, -gap.normal));
        }
        let planes = self.planes.len().max(1);
        let (body, plane) = (contact / planes, self.planes.get(contact % planes)?);
        let pose = &states.get(body)?.pose;
        let gap = self.bodies[body].shape()?.plane_gap(plane, pose);
        Some((pose.act(&gap.point), *plane.normal()))
    }

    /// Gap between a body and a plane, $\Phi$ of \[TL\] (6.9); infinite for a body without shape.
    pub fn gap(&self, body: usize, plane: usize, state: &BodyState) -> f64 {
        if self.bodies[body].is_fixed() {
            return f64::INFINITY;
        }
        match self.bodies[body].shape() {
            Some(shape) => shape.plane_gap(&self.planes[plane], &state.pose).gap,
            None => f64::INFINITY,
        }
    }

    /// Energy of one body.
    pub fn body_energy(&self, body: usize, t: f64, state: &BodyState) -> f64 {
        let b = &self.bodies[body];
        b.kinetic_energy(state) + b.potential_energy(&self.gravity, t, &state.pose)
    }

    /// Energy of all bodies.
    pub fn energy(&self, state: &RigidState) -> f64 {
        let bodies = state.bodies.iter().take(self.bodies.len()).enumerate();
        bodies.map(|(i, s)| self.body_energy(i, state.t, s)).sum()
    }

    /// Whether a state can be a start: as many bodies, finite numbers, attitudes that are rotations, and no
    /// body inside a plane by more than `tolerance` times its radius.
    ///
    /// # Errors
    /// The first flaw found.
    pub fn check(&self, state: &RigidState, tolerance: f64) -> Result<(), RigidError> {
        if self.bodies.is_empty() {
            return Err(RigidError::NoBodies);
        }
        let (given, expected) = (state.bodies.len(), self.bodies.len());
        if given != expected {
            return Err(RigidError::Bodies { given, expected });
        }
        if !state.t.is_finite() {
            return Err(RigidError::NotFinite { what: "time", name: "state".into() });
        }
        if let Some(laws) = &self.laws
            && laws.classes.len() != self.bodies.len() + self.planes.len()
        {
            let must = "one for every body and plane: add them all before their laws";
            let value = laws.classes.len() as f64;
            return Err(RigidError::Parameter { what: "the number of classes", must, value });
        }
        for (index, (body, s)) in self.bodies.iter().zip(&state.bodies).enumerate() {
            let name = || body.name().to_owned();
            for (what, v) in [
                ("the position", &s.pose.x),
                ("the linear momentum", &s.gamma),
                ("the angular momentum", &s.pi),
            ] {
                if !v.iter().all(|c| c.is_finite()) {
                    return Err(RigidError::NotFinite { what, name: name() });
                }
            }
            so3::check(&s.pose.rot, ORTHOGONALITY)
                .map_err(|source| RigidError::Attitude { body: name(), source })?;
            if body.is_pinned() && s.gamma != Vec3::zeros() {
                return Err(RigidError::Pinned { body: name() });
            }
            if body.is_fixed() {
                if s.gamma != Vec3::zeros() || s.pi != Vec3::zeros() {
                    return Err(RigidError::Fixed { body: name() });
                }
                continue;
            }
            for plane in 0..self.planes.len() {
                if self.law(index, expected + plane, ContactLaw::ELASTIC).is_none() {
                    continue;
                }
                let depth = -self.gap(index, plane, s);
                if depth > tolerance * body.radius() {
                    let plane = self.plane_names[plane].clone();
                    return Err(RigidError::Penetration { body: name(), plane, depth });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsm_geom::Shape;

    #[test]
    fn contacts_of_pairs_are_numbered_one_by_one() {
        for n in 0..9 {
            let mut world = RigidWorld::new(Vec3::zeros()).unwrap();
            for b in 0..n {
                let ball = Shape::sphere(0.5).unwrap();
                world = world.with_body(RigidBody::uniform(format!("{b}"), 1.0, ball).unwrap());
            }
            let world = world.with_room(Vec3::zeros(), Vec3::repeat(9.0)).unwrap();
            let mut next = 6 * n;
            assert!(next == 0 || world.pair(next - 1).is_none());
            for a in 0..n {
                for b in a + 1..n {
                    assert_eq!((world.pair_contact(a, b), world.pair(next)), (next, Some((a, b))));
                    next += 1;
                }
            }
            assert_eq!(world.pair(next), None);
        }
    }
}
