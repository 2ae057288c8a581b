//! What may touch during a step: bodies and planes, and near pairs of bodies, with what is remembered of each pair.

use std::ops::Range;

use nsm_geom::collide::{Axis, Found, Neighbours, Scratch, share, shares};
use rayon::prelude::*;

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
    /// One for each share of the work.
    tools: Vec<Tools>,
}

/// Room for a share of the bodies and pairs.
#[derive(Debug, Default)]
struct Tools {
    /// Couples with planes, and of bodies.
    on_planes: Vec<Couple>,
    of_bodies: Vec<Couple>,
    scratch: Scratch,
    found: Vec<Found>,
}

/// What a step starts from.
#[derive(Clone, Copy)]
pub(super) struct Start<'s> {
    pub(super) t: f64,
    pub(super) states: &'s [BodyState],
    /// Bounds of the speeds during the step.
    pub(super) bounds: &'s [f64],
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
            tools: Vec::new(),
        }
    }

    /// The pairs that were near at the last look.
    pub(super) fn pairs(&self) -> &[(u32, u32)] {
        self.neighbours.pairs()
    }

    /// The couples that may touch during a step: bodies and planes, then near pairs.
    pub(super) fn find_couples(&mut self, scene: &Scene<'_>, start: Start<'_>) {
        let fastest = start.bounds.iter().copied().fold(0.0, f64::max);
        let reach = 2.0 * AHEAD * scene.h * fastest + CLOSE * self.largest;
        self.update(scene, start.states, reach);
        let n = start.states.len();
        let count = shares(n);
        self.tools.resize_with(count, Tools::default);
        let (pairs, axis_of) = (self.neighbours.pairs(), &self.axis_of[..]);
        let find = |(k, tools): (usize, &mut Tools)| {
            tools.on_planes.clear();
            tools.of_bodies.clear();
            couples_on_planes(scene, start, share(k, count, n), &mut tools.on_planes);
            let range = share(k, count, pairs.len());
            let near = pairs[range.clone()].iter().copied().zip(axis_of[range].iter().copied());
            couples_of_bodies(scene, start, near, &mut tools.of_bodies);
        };
        if count == 1 {
            self.tools.iter_mut().enumerate().for_each(find);
        } else {
            self.tools.par_iter_mut().enumerate().for_each(find);
        }
        self.couples.clear();
        for tools in &self.tools {
            self.couples.extend_from_slice(&tools.on_planes);
        }
        for tools in &self.tools {
            self.couples.extend_from_slice(&tools.of_bodies);
        }
    }

    /// The gaps of all couples at the end of a motion.
    pub(super) fn measure(&mut self, scene: &Scene<'_>, start: &[BodyState], end: &[BodyState]) {
        let axes = (&mut self.axes[..], 0);
        measure(scene, (start, end), &mut self.couples, axes, &mut self.tools);
    }

    /// Whether the bodies of a couple may have passed through each other between the ends of a motion.
    pub(super) fn may_pass(
        &mut self,
        scene: &Scene<'_>,
        k: usize,
        motion: (&[BodyState], &[BodyState]),
    ) -> bool {
        let Some(Tools { scratch, found, .. }) = self.tools.first_mut() else { return true };
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

fn couples_on_planes(
    scene: &Scene<'_>,
    Start { t, states, bounds }: Start<'_>,
    range: Range<usize>,
    couples: &mut Vec<Couple>,
) {
    let planes = scene.planes();
    if planes.is_empty() {
        return;
    }
    for b in range {
        let (kind, state) = (&scene.kinds[b], &states[b]);
        if kind.is_fixed() || !kind.collides {
            continue;
        }
        let size = kind.radius;
        let margin = AHEAD * scene.h * bounds[b] + CLOSE * size;
        for (p, plane) in planes.iter().enumerate() {
            if plane.signed_distance(&state.pose.x) - size > margin {
                continue;
            }
            if let Some(law) = scene.method.law(scene.world, b, states.len() + p) {
                let acceleration = scene.acceleration(b, t, state);
                couples.push(Couple {
                    a: Party::Plane(p),
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
}

fn couples_of_bodies(
    scene: &Scene<'_>,
    Start { t, states, bounds }: Start<'_>,
    near: impl Iterator<Item = ((u32, u32), usize)>,
    couples: &mut Vec<Couple>,
) {
    for ((i, j), axes) in near {
        let (i, j) = (i as usize, j as usize);
        let radii = [scene.kinds[i].radius, scene.kinds[j].radius];
        let size = radii[0].min(radii[1]);
        let margin = AHEAD * scene.h * (bounds[i] + bounds[j]) + CLOSE * size;
        let far = radii[0] + radii[1] + margin;
        if (states[i].pose.x - states[j].pose.x).norm_squared() > far * far {
            continue;
        }
        if let Some(law) = scene.method.law(scene.world, i, j) {
            let accelerations = [i, j].map(|b| scene.acceleration(b, t, &states[b]));
            couples.push(Couple {
                a: Party::Body(i),
                b: j,
                law,
                axes,
                margin,
                size,
                gap: 0.0,
                held: false,
                acceleration: accelerations[0].max(accelerations[1]),
                hits: 0,
            });
        }
    }
}

/// The gaps of couples, of which the axes begin at a place: halved until there is one set of tools for each share. Couples have their axes in the
/// order in which they come; those on planes, which come first, have none.
fn measure(
    scene: &Scene<'_>,
    motion: (&[BodyState], &[BodyState]),
    couples: &mut [Couple],
    (axes, place): (&mut [Axis], usize),
    tools: &mut [Tools],
) {
    if let [Tools { scratch, found, .. }] = tools {
        for couple in couples {
            let from = if couple.is_on_plane() { 0 } else { place };
            couple.axes -= from;
            let gap = scene.gap(couple, motion, axes, scratch, found);
            couple.gap = if gap.is_nan() { f64::NEG_INFINITY } else { gap };
            couple.axes += from;
        }
        return;
    }
    let half = tools.len() / 2;
    let (first, second) = couples.split_at_mut(couples.len() * half / tools.len());
    let (tools, others) = tools.split_at_mut(half);
    let of_bodies = second.iter().find(|couple| !couple.is_on_plane());
    let begin = of_bodies.map_or(place + axes.len(), |couple| couple.axes);
    let (here, there) = axes.split_at_mut(begin - place);
    rayon::join(
        || measure(scene, motion, first, (here, place), tools),
        || measure(scene, motion, second, (there, begin), others),
    );
}
