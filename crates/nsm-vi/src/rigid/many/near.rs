//! What may touch during a step: bodies and planes, and near pairs of bodies, with what is remembered of each pair.

use nsm_geom::collide::{Axis, Found, Neighbours, Scratch};

use super::super::{BodyState, RigidBody, RigidWorld};
use super::scene::{Couple, Party, Scene};

/// Bodies are looked at as if they were faster by this.
pub(super) const AHEAD: f64 = 2.0;
/// Bodies closer than this, times the size, are looked at even if nothing moves.
const CLOSE: f64 = 1e-6;

/// Near pairs, and the couples of the step in hand.
#[derive(Debug)]
pub(super) struct Near {
    neighbours: Neighbours,
    /// Radius of the largest body.
    largest: f64,
    /// Where the axes of each near pair begin, and the pairs and axes of the list before.
    axis_of: Vec<usize>,
    pub(super) axes: Vec<Axis>,
    old_pairs: Vec<(u32, u32)>,
    old_axis_of: Vec<usize>,
    old_axes: Vec<Axis>,
    pub(super) couples: Vec<Couple>,
    scratch: Scratch,
    found: Vec<Found>,
}

impl Near {
    pub(super) fn new(world: &RigidWorld, collides: impl Fn(usize) -> bool) -> Self {
        let bodies = world.bodies();
        let radius = |b: usize| if collides(b) { bodies[b].radius() } else { 0.0 };
        let radii: Vec<f64> = (0..bodies.len()).map(radius).collect();
        let still: Vec<bool> = bodies.iter().map(RigidBody::is_fixed).collect();
        Self {
            neighbours: Neighbours::new(&radii, &still),
            largest: bodies.iter().map(RigidBody::radius).fold(0.0, f64::max),
            axis_of: Vec::new(),
            axes: Vec::new(),
            old_pairs: Vec::new(),
            old_axis_of: Vec::new(),
            old_axes: Vec::new(),
            couples: Vec::new(),
            scratch: Scratch::default(),
            found: Vec::new(),
        }
    }

    /// The pairs that were near at the last look.
    pub(super) fn pairs(&self) -> &[(u32, u32)] {
        self.neighbours.pairs()
    }

    /// The couples that may touch during a step from these states with these bounds of the speeds: bodies and planes, then near pairs.
    pub(super) fn find_couples(
        &mut self,
        scene: &Scene<'_>,
        t: f64,
        states: &[BodyState],
        bounds: &[f64],
    ) {
        let h = scene.h;
        let fastest = bounds.iter().copied().fold(0.0, f64::max);
        let reach = 2.0 * AHEAD * h * fastest + CLOSE * self.largest;
        self.update(scene, states, reach);
        self.couples.clear();
        let planes = scene.planes();
        for (b, state) in states.iter().enumerate() {
            let kind = &scene.kinds[b];
            if planes.is_empty() || kind.is_fixed() || !kind.collides {
                continue;
            }
            let size = kind.radius;
            let margin = AHEAD * h * bounds[b] + CLOSE * size;
            for (p, plane) in planes.iter().enumerate() {
                if plane.signed_distance(&state.pose.x) - size > margin {
                    continue;
                }
                if let Some(law) = scene.method.law(scene.world, b, states.len() + p) {
                    let acceleration = scene.acceleration(b, t, state);
                    let a = Party::Plane(p);
                    self.couples.push(Couple {
                        a,
                        b,
                        law,
                        axes: 0,
                        margin,
                        size,
                        gap: 0.0,
                        held: false,
                        acceleration,
                        hits: 0,
                    });
                }
            }
        }
        for (k, &(i, j)) in self.neighbours.pairs().iter().enumerate() {
            let (i, j) = (i as usize, j as usize);
            let radii = [scene.kinds[i].radius, scene.kinds[j].radius];
            let size = radii[0].min(radii[1]);
            let margin = AHEAD * h * (bounds[i] + bounds[j]) + CLOSE * size;
            let far = radii[0] + radii[1] + margin;
            if (states[i].pose.x - states[j].pose.x).norm_squared() > far * far {
                continue;
            }
            if let Some(law) = scene.method.law(scene.world, i, j) {
                let acceleration =
                    scene.acceleration(i, t, &states[i]).max(scene.acceleration(j, t, &states[j]));
                self.couples.push(Couple {
                    a: Party::Body(i),
                    b: j,
                    law,
                    axes: self.axis_of[k],
                    margin,
                    size,
                    gap: 0.0,
                    held: false,
                    acceleration,
                    hits: 0,
                });
            }
        }
    }

    /// The gaps of all couples at the end of a motion.
    pub(super) fn measure(&mut self, scene: &Scene<'_>, start: &[BodyState], end: &[BodyState]) {
        for couple in &mut self.couples {
            let (scratch, found) = (&mut self.scratch, &mut self.found);
            let gap = scene.gap(couple, (start, end), &mut self.axes, scratch, found);
            couple.gap = if gap.is_nan() { f64::NEG_INFINITY } else { gap };
        }
    }

    /// Whether the bodies of a couple may have passed through each other between the ends of a motion.
    pub(super) fn may_pass(
        &mut self,
        scene: &Scene<'_>,
        k: usize,
        motion: (&[BodyState], &[BodyState]),
    ) -> bool {
        let (scratch, found) = (&mut self.scratch, &mut self.found);
        scene.may_pass(&self.couples[k], motion, &mut self.axes, scratch, found)
    }

    /// Brings the pairs up to date. A new list gets its axes, and takes over those of pairs that were near before.
    fn update(&mut self, scene: &Scene<'_>, states: &[BodyState], reach: f64) {
        if self.neighbours.is_fresh(|i| states[i].pose.x, reach) {
            return;
        }
        self.old_pairs.clear();
        self.old_pairs.extend_from_slice(self.neighbours.pairs());
        self.neighbours.rebuild(|i| states[i].pose.x, reach);
        std::mem::swap(&mut self.axis_of, &mut self.old_axis_of);
        std::mem::swap(&mut self.axes, &mut self.old_axes);
        self.axis_of.clear();
        self.axes.clear();
        let mut old = 0;
        for pair in self.neighbours.pairs() {
            let count = scene.axes(pair.0 as usize, pair.1 as usize);
            self.axis_of.push(self.axes.len());
            while self.old_pairs.get(old).is_some_and(|known| known < pair) {
                old += 1;
            }
            if self.old_pairs.get(old) == Some(pair) {
                let from = self.old_axis_of[old];
                self.axes.extend_from_slice(&self.old_axes[from..from + count]);
            } else {
                self.axes.resize(self.axes.len() + count, Axis::default());
            }
        }
    }
}
