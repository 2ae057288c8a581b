//! What does not change while bodies move: shapes made ready, laws, and how a body flies.

use nsm_geom::collide::{Axis, Collider, Found, Motion, Scratch};
use nsm_geom::{Plane, Pose, Shape, Vec3};
use nsm_model::ContactLaw;

use super::super::{BodyState, Flight, Lgvci, RigidBody, RigidWorld, Unsolved};
use super::states::States;

/// The world as the stepper sees it.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) world: &'a RigidWorld,
    pub(super) method: Lgvci,
    pub(super) h: f64,
    pub(super) colliders: Vec<Option<Collider>>,
    pub(super) kinds: Vec<Kind>,
    /// Size of the acceleration of gravity.
    weight: f64,
    /// How thick each body is where it is thinnest, and the thinnest of all.
    thickness: Vec<f64>,
    pub(super) thinnest: f64,
    origin: Pose,
}

/// How a body moves where it touches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moves {
    /// Not at all.
    Never,
    /// Under gravity alone.
    Freely,
    /// About a pin, or under loads.
    Loaded,
}

impl Kind {
    pub(super) fn is_fixed(&self) -> bool {
        self.moves == Moves::Never
    }

    fn is_loaded(&self) -> bool {
        self.moves == Moves::Loaded
    }
}

/// What the many that touch nothing need to know of a body, in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    mass: f64,
    inverse_mass: f64,
    pub(super) radius: f64,
    pub(super) moves: Moves,
    /// Whether it can touch anything.
    pub(super) collides: bool,
    /// A ball about the origin of its frame.
    pub(super) ball: bool,
}

/// The first party of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Party {
    Plane(usize),
    Body(usize),
}

/// Two parties that may touch during a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Couple {
    pub(super) a: Party,
    pub(super) b: usize,
    pub(super) law: ContactLaw,
    /// Where its axes begin.
    pub(super) axes: usize,
    /// Features closer than this are looked at.
    pub(super) margin: f64,
    /// A length by which gaps are measured.
    pub(super) size: f64,
    /// At the end of the last trial, and at the start.
    pub(super) gap: f64,
    /// Held closed: it rests, or its bounces are over.
    pub(super) held: bool,
    /// Size of the acceleration that is applied to the two.
    pub(super) acceleration: f64,
    /// Impacts in this step.
    pub(super) hits: u32,
}

impl Couple {
    pub(super) fn is_on_plane(&self) -> bool {
        matches!(self.a, Party::Plane(_))
    }
}

impl<'a> Scene<'a> {
    pub(super) fn new(world: &'a RigidWorld, method: Lgvci, h: f64) -> Self {
        let colliders: Vec<Option<Collider>> =
            world.bodies().iter().map(|b| b.shape().map(Collider::new)).collect();
        let kind = |(body, collider): (&RigidBody, &Option<Collider>)| Kind {
            mass: body.mass(),
            inverse_mass: body.inverse_mass(),
            radius: body.radius(),
            moves: match (body.is_fixed(), body.is_loaded()) {
                (true, _) => Moves::Never,
                (false, false) => Moves::Freely,
                (false, true) => Moves::Loaded,
            },
            collides: collider.is_some(),
            ball: collider.as_ref().is_some_and(|c| c.ball().is_some()),
        };
        let kinds = world.bodies().iter().zip(&colliders).map(kind).collect();
        let thick = |b: &RigidBody| b.shape().map_or(f64::INFINITY, Shape::thickness);
        let thickness: Vec<f64> = world.bodies().iter().map(thick).collect();
        let thinnest = thickness.iter().copied().fold(f64::INFINITY, f64::min);
        let (weight, origin) = (world.gravity().norm(), Pose::identity());
        Self { world, method, h, colliders, kinds, weight, thickness, thinnest, origin }
    }

    pub(super) fn planes(&self) -> &[Plane] {
        self.world.planes()
    }

    /// Flies body `b`; what is fixed stays.
    #[inline]
    pub(super) fn fly(
        &self,
        b: usize,
        t: f64,
        from: &BodyState,
        tau: f64,
    ) -> Result<Flight, Unsolved> {
        let kind = &self.kinds[b];
        if kind.is_fixed() {
            return Ok(Flight { end: *from, iterations: 0, residual: 0.0 });
        }
        let (flow, gravity) = (&self.method.flow, self.world.gravity());
        if from.pi == Vec3::zeros() && !kind.is_loaded() {
            return Ok(flow.glide((kind.mass, kind.inverse_mass), gravity, from, tau));
        }
        flow.fly(&self.world.bodies()[b], gravity, t, from, tau)
    }

    /// Size of the acceleration that is applied to a body.
    pub(super) fn acceleration(&self, b: usize, t: f64, state: &BodyState) -> f64 {
        let kind = &self.kinds[b];
        if kind.is_fixed() {
            return 0.0;
        }
        if kind.is_loaded() {
            let body = &self.world.bodies()[b];
            let wrench = body.wrench(self.world.gravity(), t, &state.pose);
            return (wrench.force * body.inverse_mass()).norm()
                + (body.inverse_inertia() * wrench.torque).norm() * body.radius();
        }
        self.weight
    }

    /// Bound for the speed of any point of a body during a step.
    pub(super) fn reach(&self, b: usize, t: f64, state: &BodyState) -> f64 {
        let kind = &self.kinds[b];
        if kind.is_fixed() {
            return 0.0;
        }
        let turning = if state.pi == Vec3::zeros() {
            0.0
        } else {
            (self.world.bodies()[b].inverse_inertia() * state.pi).norm() * kind.radius
        };
        kind.inverse_mass * state.gamma.norm() + turning + self.h * self.acceleration(b, t, state)
    }

    /// Whether what pushes a body without rubbing it pushes towards its centre.
    pub(super) fn is_central(&self, b: usize) -> bool {
        self.kinds[b].ball && self.kinds[b].inverse_mass > 0.0
    }

    /// The colliders of a couple; that of a plane is none.
    pub(super) fn colliders(&self, couple: &Couple) -> Option<(Option<&Collider>, &Collider)> {
        let b = self.colliders[couple.b].as_ref()?;
        Some(match couple.a {
            Party::Plane(_) => (None, b),
            Party::Body(a) => (Some(self.colliders[a].as_ref()?), b),
        })
    }

    /// The poses of a couple.
    pub(super) fn poses<'s, S: States + ?Sized>(
        &'s self,
        couple: &Couple,
        states: &'s S,
    ) -> [&'s Pose; 2] {
        let first = match couple.a {
            Party::Plane(_) => &self.origin,
            Party::Body(a) => &states[a].pose,
        };
        [first, &states[couple.b].pose]
    }

    /// How many axes a pair of bodies has: two balls need none.
    pub(super) fn axes(&self, a: usize, b: usize) -> usize {
        if self.kinds[a].ball && self.kinds[b].ball {
            return 0;
        }
        let [a, b] = [a, b].map(|i| self.colliders[i].as_ref());
        a.zip(b).map_or(0, |(a, b)| a.axes(b))
    }

    /// The same of a couple; a plane needs none.
    pub(super) fn axes_of(&self, couple: &Couple) -> usize {
        match couple.a {
            Party::Plane(_) => 0,
            Party::Body(a) => self.axes(a, couple.b),
        }
    }

    /// Features of a couple within `margin` of each other at the end of a motion; returns the gap.
    pub(super) fn detect<S: States + ?Sized>(
        &self,
        couple: &Couple,
        (start, end): (&S, &S),
        margin: f64,
        axes: &mut [Axis],
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        let Some((a, b)) = self.colliders(couple) else { return f64::INFINITY };
        match (couple.a, a) {
            (Party::Plane(p), _) => {
                b.detect_plane(&self.planes()[p], &end[couple.b].pose, margin, found)
            }
            (Party::Body(i), Some(a)) => {
                let motion =
                    Motion { start: self.poses(couple, start), end: self.poses(couple, end) };
                let axes = &mut axes[couple.axes..couple.axes + self.axes(i, couple.b)];
                a.detect(b, &motion, margin, axes, scratch, found)
            }
            (Party::Body(_), None) => f64::INFINITY,
        }
    }

    /// The gap of a couple at the end of a motion.
    pub(super) fn gap<S: States + ?Sized>(
        &self,
        couple: &Couple,
        (start, end): (&S, &S),
        axes: &mut [Axis],
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        let Some((a, b)) = self.colliders(couple) else { return f64::INFINITY };
        match (couple.a, a) {
            (Party::Plane(p), _) => b.plane_gap(&self.planes()[p], &end[couple.b].pose),
            (Party::Body(i), Some(a)) if a.ball().is_some() && b.ball().is_some() => {
                let radii = a.ball().unwrap_or(0.0) + b.ball().unwrap_or(0.0);
                (end[couple.b].pose.x - end[i].pose.x).norm() - radii
            }
            _ => {
                found.clear();
                self.detect(couple, (start, end), couple.margin, axes, scratch, found)
            }
        }
    }

    /// Whether two bodies that are apart at both ends of a flight may have passed through each other in between: they move further than they are
    /// thick, and than their gaps leave room for.
    pub(super) fn may_pass<S: States + ?Sized>(
        &self,
        couple: &Couple,
        (start, end): (&S, &S),
        axes: &mut [Axis],
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> bool {
        let (Party::Body(a), b) = (couple.a, couple.b) else { return false };
        let moved = |i: usize| end[i].pose.x - start[i].pose.x;
        let turned = |i: usize| {
            (end[i].pose.rot - start[i].pose.rot).norm() * self.world.bodies()[i].radius()
        };
        let way = (moved(b) - moved(a)).norm() + turned(a) + turned(b);
        way > self.thickness[a] + self.thickness[b] && {
            let before = self.gap(couple, (start, start), axes, scratch, found).max(0.0);
            before + couple.gap.max(0.0) < way
        }
    }

    /// Number of a couple in events.
    pub(super) fn contact(&self, couple: &Couple) -> usize {
        match couple.a {
            Party::Plane(p) => self.world.contact(couple.b, p),
            Party::Body(a) => self.world.pair_contact(a, couple.b),
        }
    }

    pub(super) fn name(&self, couple: &Couple) -> String {
        match couple.a {
            Party::Plane(p) => self.world.contact_name(self.world.contact(couple.b, p)),
            Party::Body(a) => {
                let [a, b] = [a, couple.b].map(|i| self.world.bodies()[i].name());
                format!("{a} / {b}")
            }
        }
    }
}
