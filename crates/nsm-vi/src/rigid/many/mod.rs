//! Many bodies: they strike each other and planes, lose energy, rub, come to rest.
//!
//! A step flies all bodies, looks at the pairs that are near, and is done with every body that enters nothing. Bodies that may touch during
//! the step form [islands](island); one in which something is entered is moved through the step by itself. Islands are found from bounds of
//! the speeds; where an impact has made a body faster than its bound, the step is taken again with the new one.

mod early;
mod island;
mod locate;
mod row;
mod scene;
mod sleep;
mod solve;
mod stages;
mod strike;

use nsm_geom::collide::{Axis, Neighbours, Scratch};
use nsm_model::{Clock, Events, StepError, StepReport};

use super::{BodyState, Lgvci, RigidError, RigidState, RigidWorld};
use island::{Job, Workshop};
use scene::{Couple, Party, Scene};
use sleep::Sleepers;
use stages::Memo;

/// [`Lgvci`] bound to a world whose bodies may touch each other, lose energy or rub.
#[derive(Debug)]
pub(super) struct ManyStepper<'a> {
    scene: Scene<'a>,
    neighbours: Neighbours,
    /// Where the axes of each near pair begin, and the pairs and axes of the list before.
    axis_of: Vec<usize>,
    axes: Vec<Axis>,
    old_pairs: Vec<(u32, u32)>,
    old_axis_of: Vec<usize>,
    old_axes: Vec<Axis>,
    start: Vec<BodyState>,
    now: Vec<BodyState>,
    end: Vec<BodyState>,
    speeds: Vec<f64>,
    bounds: Vec<f64>,
    couples: Vec<Couple>,
    groups: Groups,
    sleepers: Sleepers,
    workshop: Workshop,
    memory: Vec<Memo>,
    order: Vec<usize>,
    events: Events,
    clock: Clock,
}

/// How often a step is taken again because bodies became faster than their bounds.
const AGAIN: usize = 12;
/// Bodies are looked at as if they were faster by this.
const AHEAD: f64 = 2.0;

impl<'a> ManyStepper<'a> {
    pub(super) fn new(
        method: Lgvci,
        world: &'a RigidWorld,
        start: &RigidState,
        h: f64,
    ) -> Result<Self, RigidError> {
        let n = world.bodies().len();
        let scene = Scene::new(world, method, h);
        let collides = |b: usize| scene.colliders[b].is_some() && world.meets_bodies(b);
        let radii: Vec<f64> =
            (0..n).map(|b| if collides(b) { world.bodies()[b].radius() } else { 0.0 }).collect();
        let still: Vec<bool> = world.bodies().iter().map(super::RigidBody::is_fixed).collect();
        let mut stepper = Self {
            neighbours: Neighbours::new(&radii, &still),
            axis_of: Vec::new(),
            axes: Vec::new(),
            old_pairs: Vec::new(),
            old_axis_of: Vec::new(),
            old_axes: Vec::new(),
            start: start.bodies.clone(),
            now: start.bodies.clone(),
            end: start.bodies.clone(),
            speeds: vec![0.0; n],
            bounds: vec![0.0; n],
            couples: Vec::new(),
            groups: Groups::new(n),
            sleepers: Sleepers::new(n),
            workshop: Workshop::new(&start.bodies),
            memory: Vec::new(),
            order: Vec::new(),
            events: Events::default(),
            clock: Clock::new(h),
            scene,
        };
        stepper.refuse_overlap()?;
        Ok(stepper)
    }

    /// Bodies must not start inside each other.
    fn refuse_overlap(&mut self) -> Result<(), RigidError> {
        self.bounds.fill(0.0);
        self.find_couples(0.0);
        let (mut scratch, mut found) = (Scratch::default(), Vec::new());
        for couple in &self.couples {
            let Party::Body(a) = couple.a else { continue };
            let motion = (&self.now[..], &self.now[..]);
            let gap = self.scene.gap(couple, motion, &mut self.axes, &mut scratch, &mut found);
            if gap < -OVERLAP * couple.size {
                let [first, second] =
                    [a, couple.b].map(|i| self.scene.world.bodies()[i].name().to_owned());
                return Err(RigidError::Overlap { first, second, depth: -gap });
            }
        }
        Ok(())
    }

    pub(super) fn step(&mut self, state: &mut RigidState) -> Result<StepReport, StepError> {
        let n = self.now.len();
        if state.bodies.len() != n {
            let (given, expected) = (state.bodies.len(), n);
            let source = Box::new(RigidError::Bodies { given, expected });
            return Err(StepError::Method { t: state.t, source });
        }
        self.start.copy_from_slice(&state.bodies);
        for b in 0..n {
            self.bounds[b] = self.scene.reach(b, state.t, &self.start[b]);
        }
        // What is struck may become as fast as what strikes it.
        self.speeds.copy_from_slice(&self.bounds);
        for &(i, j) in self.neighbours.pairs() {
            let (i, j) = (i as usize, j as usize);
            for (one, other) in [(i, j), (j, i)] {
                if !self.scene.world.bodies()[one].is_fixed() {
                    self.bounds[one] = self.bounds[one].max(self.speeds[other]);
                }
            }
        }
        let mut report = StepReport::default();
        for round in 0.. {
            self.now.copy_from_slice(&self.start);
            self.take(state.t, &mut report)?;
            let mut faster = false;
            for b in 0..n {
                if self.speeds[b] > AHEAD * self.bounds[b] {
                    self.bounds[b] = self.speeds[b];
                    faster = true;
                }
            }
            if !faster {
                break;
            }
            if round == AGAIN {
                let fastest = (0..n).max_by(|&i, &j| self.speeds[i].total_cmp(&self.speeds[j]));
                return Err(StepError::NotConverged {
                    t: state.t,
                    what: "a bound for the speeds",
                    iterations: round,
                    residual: f64::INFINITY,
                    culprit: self.scene.world.bodies()[fastest.unwrap_or(0)].name().to_owned(),
                });
            }
        }
        for b in 0..n {
            if !self.now[b].is_finite() {
                let culprit = self.scene.world.bodies()[b].name().to_owned();
                return Err(StepError::NotFinite { t: state.t, what: "the state", culprit });
            }
        }
        self.book(&mut report);
        state.bodies.copy_from_slice(&self.now);
        state.t = self.clock.tick(state.t);
        Ok(report)
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }

    /// Takes the step from `now`, with the bounds in hand.
    fn take(&mut self, t: f64, report: &mut StepReport) -> Result<(), StepError> {
        let h = self.scene.h;
        self.workshop.booked.clear();
        self.workshop.memos.clear();
        self.workshop.iterations = 0;
        self.workshop.residual = 0.0;
        self.workshop.contact = 0.0;
        self.speeds.copy_from_slice(&self.bounds);
        for b in 0..self.now.len() {
            match self.scene.fly(b, t, &self.now[b], h) {
                Ok(flight) => {
                    self.end[b] = flight.end;
                    report.iterations += flight.iterations;
                    report.residual = report.residual.max(flight.residual);
                }
                // It turns too fast for one flight: alone or in its island it takes smaller ones.
                Err(_) => self.end[b].pose.x.fill(f64::NAN),
            }
        }
        self.find_couples(t);
        let motion = (&self.now[..], &self.end[..]);
        let (scratch, found) = (&mut self.workshop.scratch, &mut self.workshop.found);
        self.workshop.fast = self.bounds.iter().any(|speed| speed * h > self.scene.thinnest);
        self.groups.clear();
        for couple in &mut self.couples {
            let gap = self.scene.gap(couple, motion, &mut self.axes, scratch, found);
            couple.gap = if gap.is_nan() { f64::NEG_INFINITY } else { gap };
        }
        for couple in &self.couples {
            if let Party::Body(a) = couple.a
                && !self.scene.world.bodies()[a].is_fixed()
                && !self.scene.world.bodies()[couple.b].is_fixed()
            {
                self.groups.join(a, couple.b);
            }
        }
        let moving = |b: usize| !self.scene.world.bodies()[b].is_fixed();
        let of = |c: &Couple| match c.a {
            Party::Body(a) if !moving(c.b) => a,
            _ => c.b,
        };
        self.groups.sort(&self.couples, of, moving);
        for k in 0..self.groups.len() {
            let (list, bodies) = self.groups.island(k);
            let passes = |c: &Couple| {
                let motion = (&self.now[..], &self.end[..]);
                let (axes, scratch) = (&mut self.axes[..], &mut self.workshop.scratch);
                self.scene.may_pass(c, motion, axes, scratch, &mut self.workshop.found)
            };
            let active = list.iter().any(|&k| self.couples[k].is_entered())
                || self.workshop.fast && list.iter().map(|&k| &self.couples[k]).any(passes)
                || bodies.iter().any(|&b| self.end[b].pose.x.x.is_nan());
            if !active {
                for &b in bodies {
                    self.now[b] = self.end[b];
                }
                continue;
            }
            let island = (list, bodies);
            if let Some((held, memos)) = self.sleepers.asleep(island, &self.couples, &self.now) {
                self.workshop.booked.held.extend_from_slice(held);
                self.workshop.memos.extend_from_slice(memos);
                continue;
            }
            let mark = (self.workshop.booked.held.len(), self.workshop.memos.len());
            let solved = bodies.iter().all(|&b| !self.end[b].pose.x.x.is_nan());
            let mut job = Job {
                couples: &mut self.couples,
                list,
                bodies,
                now: &mut self.now,
                end: &mut self.end,
                axes: &mut self.axes,
                memory: &self.memory,
                t,
                speeds: &mut self.speeds,
            };
            if let Err((trouble, t)) = self.workshop.run(&self.scene, &mut job, h, 0, solved) {
                let rows = &self.workshop.rows;
                let couples = &self.couples;
                let contact = |row: usize| {
                    let couple = rows.get(row).map_or(list.first(), |r| Some(&r.couple));
                    couple.map_or_else(String::new, |&k| self.scene.name(&couples[k]))
                };
                return Err(trouble.into_error(&self.scene, t, contact));
            }
            let held = &self.workshop.booked.held[mark.0..];
            let memos = &self.workshop.memos[mark.1..];
            let (scene, couples) = (&self.scene, &self.couples[..]);
            self.sleepers.watch(scene, island, couples, &mut self.now, (held, memos));
        }
        Ok(())
    }

    /// The couples that may touch during the step: bodies and planes, then near pairs.
    fn find_couples(&mut self, t: f64) {
        let h = self.scene.h;
        let world = self.scene.world;
        let n = self.now.len();
        let fastest = self.bounds.iter().copied().fold(0.0, f64::max);
        let small = world.bodies().iter().map(super::RigidBody::radius).fold(0.0, f64::max);
        let reach = 2.0 * AHEAD * h * fastest + CLOSE * small;
        let now = &self.now;
        self.old_pairs.clear();
        self.old_pairs.extend_from_slice(self.neighbours.pairs());
        if self.neighbours.update(|i| now[i].pose.x, reach) || self.axis_of.is_empty() {
            self.renew_axes();
        }
        let (scene, now) = (&self.scene, &self.now);
        self.couples.clear();
        for b in 0..n {
            let body = &world.bodies()[b];
            if body.is_fixed() || scene.colliders[b].is_none() {
                continue;
            }
            let acceleration = scene.acceleration(b, t, &now[b]);
            let size = body.radius();
            let margin = AHEAD * h * self.bounds[b] + CLOSE * size;
            for (p, plane) in world.planes().iter().enumerate() {
                if plane.signed_distance(&now[b].pose.x) - size > margin {
                    continue;
                }
                if let Some(law) = scene.method.law(world, b, n + p) {
                    let (gap, held, hits, axes) = (0.0, false, 0, 0);
                    let a = Party::Plane(p);
                    self.couples.push(Couple {
                        a,
                        b,
                        law,
                        axes,
                        margin,
                        size,
                        gap,
                        held,
                        acceleration,
                        hits,
                    });
                }
            }
        }
        for (k, &(i, j)) in self.neighbours.pairs().iter().enumerate() {
            let (i, j) = (i as usize, j as usize);
            let bodies = [&world.bodies()[i], &world.bodies()[j]];
            let size = bodies[0].radius().min(bodies[1].radius());
            let margin = AHEAD * h * (self.bounds[i] + self.bounds[j]) + CLOSE * size;
            let far = bodies[0].radius() + bodies[1].radius() + margin;
            if (now[i].pose.x - now[j].pose.x).norm_squared() > far * far {
                continue;
            }
            if let Some(law) = scene.method.law(world, i, j) {
                let acceleration =
                    scene.acceleration(i, t, &now[i]).max(scene.acceleration(j, t, &now[j]));
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

    /// Gives every near pair its axes, and takes over those of pairs that were near before.
    fn renew_axes(&mut self) {
        std::mem::swap(&mut self.axis_of, &mut self.old_axis_of);
        std::mem::swap(&mut self.axes, &mut self.old_axes);
        self.axis_of.clear();
        self.axes.clear();
        for pair in self.neighbours.pairs() {
            let [a, b] = [pair.0, pair.1].map(|i| self.scene.colliders[i as usize].as_ref());
            let count = a.zip(b).map_or(0, |(a, b)| a.axes(b));
            self.axis_of.push(self.axes.len());
            match self.old_pairs.binary_search(pair) {
                Ok(k) if k < self.old_axis_of.len() => {
                    let from = self.old_axis_of[k];
                    self.axes.extend_from_slice(&self.old_axes[from..from + count]);
                }
                _ => self.axes.resize(self.axes.len() + count, Axis::default()),
            }
        }
    }

    /// Sorts the events by time, and what is remembered by name.
    fn book(&mut self, report: &mut StepReport) {
        let workshop = &mut self.workshop;
        report.iterations += workshop.iterations;
        report.residual = report.residual.max(workshop.residual);
        report.contact_residual = report.contact_residual.max(workshop.contact);
        report.closed = workshop.booked.held.len();
        self.events.clear();
        let heads = &workshop.booked.heads;
        self.order.clear();
        self.order.extend(0..heads.len());
        self.order.sort_unstable_by(|&i, &j| heads[i].t.total_cmp(&heads[j].t).then(i.cmp(&j)));
        for &k in &self.order {
            let head = &heads[k];
            report.rounds += head.rounds;
            let impulses = &workshop.booked.impulses[head.span.0..head.span.1];
            let (t, change, rounds) = (head.t, head.energy_change, head.rounds);
            if impulses.iter().all(|i| i.tangential == [0.0; 2] && !i.slips) {
                let booked = impulses.iter().map(|i| (i.contact, i.normal, i.work));
                self.events.push_booked(t, change, rounds, booked);
            } else {
                self.events.push_frictional(t, change, rounds, impulses.iter().copied());
            }
            self.events.place(impulses.iter().map(|i| i.touch));
        }
        for held in &workshop.booked.held {
            self.events.hold(*held);
        }
        std::mem::swap(&mut self.memory, &mut workshop.memos);
        // Of what was held over parts of the step the last is kept.
        self.memory.reverse();
        self.memory.sort_by_key(Memo::name);
        self.memory.dedup_by_key(|memo| memo.name());
    }
}

/// A start may overlap by this, times the size.
const OVERLAP: f64 = 1e-9;
/// Bodies closer than this, times the size, are looked at even if nothing moves.
const CLOSE: f64 = 1e-6;

/// Which bodies hang together, by union and find.
#[derive(Debug, Default)]
struct Groups {
    root: Vec<usize>,
    /// Couples and bodies sorted by group, and where each group begins in both.
    couples: Vec<usize>,
    bodies: Vec<usize>,
    keys: Vec<(usize, usize)>,
    members: Vec<(usize, usize)>,
    starts: Vec<(usize, usize)>,
}

impl Groups {
    fn new(n: usize) -> Self {
        Self { root: (0..n).collect(), ..Self::default() }
    }

    fn clear(&mut self) {
        for (i, root) in self.root.iter_mut().enumerate() {
            *root = i;
        }
    }

    fn find(&mut self, mut i: usize) -> usize {
        while self.root[i] != i {
            self.root[i] = self.root[self.root[i]];
            i = self.root[i];
        }
        i
    }

    fn join(&mut self, i: usize, j: usize) {
        let (i, j) = (self.find(i), self.find(j));
        let (low, high) = (i.min(j), i.max(j));
        self.root[high] = low;
    }

    /// Sorts couples and moving bodies by the smallest body of their group.
    fn sort(
        &mut self,
        couples: &[Couple],
        of: impl Fn(&Couple) -> usize,
        moving: impl Fn(usize) -> bool,
    ) {
        let n = self.root.len();
        self.keys.clear();
        for (k, couple) in couples.iter().enumerate() {
            let root = self.find(of(couple));
            self.keys.push((root, k));
        }
        self.keys.sort_unstable();
        self.couples.clear();
        self.couples.extend(self.keys.iter().map(|key| key.1));
        // Bodies of a group follow each other once their roots are final.
        self.bodies.clear();
        self.starts.clear();
        let mut at = 0;
        let first_couple: &[(usize, usize)] = &self.keys;
        let mut pairs = std::mem::take(&mut self.members);
        pairs.clear();
        for b in (0..n).filter(|&b| moving(b)) {
            pairs.push((Self::root_of(&self.root, b), b));
        }
        pairs.sort_unstable();
        let mut last = usize::MAX;
        for &(root, b) in &pairs {
            if root != last {
                while at < first_couple.len() && first_couple[at].0 < root {
                    at += 1;
                }
                self.starts.push((at, self.bodies.len()));
                last = root;
            }
            self.bodies.push(b);
        }
        self.starts.push((self.couples.len(), self.bodies.len()));
        self.members = pairs;
    }

    fn root_of(root: &[usize], mut i: usize) -> usize {
        while root[i] != i {
            i = root[i];
        }
        i
    }

    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn island(&self, k: usize) -> (&[usize], &[usize]) {
        let ((c0, b0), (c1, b1)) = (self.starts[k], self.starts[k + 1]);
        (&self.couples[c0..c1], &self.bodies[b0..b1])
    }
}
