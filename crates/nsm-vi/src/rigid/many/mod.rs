//! Many bodies: they strike each other and planes, lose energy, rub, come to rest.
//!
//! A step flies all bodies, looks at the pairs that are near, and is done with every body that enters nothing. Bodies that may touch during
//! the step form [islands](island); one in which something is entered is moved through the step by itself, at a [desk]. Islands are found from
//! bounds of the speeds; where an impact has made a body faster than its bound, the step is taken again with the new one.

mod close;
mod desk;
mod early;
mod groups;
mod island;
mod locate;
mod near;
mod row;
mod scene;
mod sleep;
mod solve;
mod stages;
mod states;
mod strike;

use nsm_geom::collide::shares;
use nsm_model::{Clock, Events, StepError, StepReport};
use rayon::prelude::*;

use super::{BodyState, Lgvci, RigidError, RigidState, RigidWorld};
use desk::{Desks, Done, Shared};
use groups::Groups;
use near::{Near, Start};
use scene::{Couple, Party, Scene};
use sleep::Sleepers;
use stages::Memo;
use strike::Booked;

/// [`Lgvci`] bound to a world whose bodies may touch each other, lose energy or rub.
#[derive(Debug)]
pub(super) struct ManyStepper<'a> {
    scene: Scene<'a>,
    near: Near,
    /// Where the bodies are at the end of the step.
    end: Vec<BodyState>,
    speeds: Vec<f64>,
    bounds: Vec<f64>,
    groups: Groups,
    sleepers: Sleepers,
    /// Of every island the number it sleeps under.
    asleep: Vec<Option<usize>>,
    desks: Desks,
    booked: Booked,
    memos: Vec<Memo>,
    memory: Vec<Memo>,
    order: Vec<usize>,
    events: Events,
    clock: Clock,
}

/// How often a step is taken again because bodies became faster than their bounds.
const AGAIN: usize = 12;
/// Least number of bodies that a thread takes at a time.
const CHUNK: usize = 1024;
/// A start may overlap by this, times the size.
const OVERLAP: f64 = 1e-9;

impl<'a> ManyStepper<'a> {
    pub(super) fn new(
        method: Lgvci,
        world: &'a RigidWorld,
        start: &RigidState,
        h: f64,
    ) -> Result<Self, RigidError> {
        let n = world.bodies().len();
        let scene = Scene::new(world, method, h);
        let near = Near::new(world, |b| scene.kinds[b].collides && world.meets_bodies(b));
        let mut stepper = Self {
            near,
            end: start.bodies.clone(),
            speeds: vec![0.0; n],
            bounds: vec![0.0; n],
            groups: Groups::new(n),
            sleepers: Sleepers::new(n),
            asleep: Vec::new(),
            desks: Desks::default(),
            booked: Booked::default(),
            memos: Vec::new(),
            memory: Vec::new(),
            order: Vec::new(),
            events: Events::default(),
            clock: Clock::new(h),
            scene,
        };
        stepper.refuse_overlap(start)?;
        Ok(stepper)
    }

    /// Bodies must not start inside each other.
    fn refuse_overlap(&mut self, start: &RigidState) -> Result<(), RigidError> {
        let (scene, states) = (&self.scene, &start.bodies[..]);
        self.near.find_couples(scene, Start { t: 0.0, states, bounds: &self.bounds });
        self.near.measure(scene, states, states);
        for couple in &self.near.couples {
            let Party::Body(a) = couple.a else { continue };
            if couple.gap < -OVERLAP * couple.size {
                let [first, second] =
                    [a, couple.b].map(|i| scene.world.bodies()[i].name().to_owned());
                return Err(RigidError::Overlap { first, second, depth: -couple.gap });
            }
        }
        Ok(())
    }

    pub(super) fn step(&mut self, state: &mut RigidState) -> Result<StepReport, StepError> {
        let n = self.end.len();
        if state.bodies.len() != n {
            let (given, expected) = (state.bodies.len(), n);
            let source = Box::new(RigidError::Bodies { given, expected });
            return Err(StepError::Method { t: state.t, source });
        }
        let reach = |(b, (bound, body)): (usize, (&mut f64, &BodyState))| {
            *bound = self.scene.reach(b, state.t, body);
        };
        if shares(n) == 1 {
            self.bounds.iter_mut().zip(&state.bodies).enumerate().for_each(reach);
        } else {
            let bounds = self.bounds.par_iter_mut().zip(&state.bodies).enumerate();
            bounds.with_min_len(CHUNK).for_each(reach);
        }
        // What is struck may become as fast as what strikes it.
        self.speeds.copy_from_slice(&self.bounds);
        for &(i, j) in self.near.pairs() {
            let (i, j) = (i as usize, j as usize);
            for (one, other) in [(i, j), (j, i)] {
                if !self.scene.kinds[one].is_fixed() {
                    self.bounds[one] = self.bounds[one].max(self.speeds[other]);
                }
            }
        }
        let mut report = StepReport::default();
        for round in 0.. {
            self.take(state.t, &state.bodies, &mut report)?;
            let mut fastest = None;
            for &(b, speed) in self.desks.desks.iter().flat_map(|desk| &desk.raised) {
                self.bounds[b] = self.bounds[b].max(speed);
                if fastest.is_none_or(|f: usize| self.bounds[f] < self.bounds[b]) {
                    fastest = Some(b);
                }
            }
            let Some(fastest) = fastest else { break };
            if round == AGAIN {
                return Err(StepError::NotConverged {
                    t: state.t,
                    what: "a bound for the speeds",
                    iterations: round,
                    residual: f64::INFINITY,
                    culprit: self.scene.world.bodies()[fastest].name().to_owned(),
                });
            }
        }
        if let Some(b) = (0..n).find(|&b| !self.end[b].is_finite()) {
            let culprit = self.scene.world.bodies()[b].name().to_owned();
            return Err(StepError::NotFinite { t: state.t, what: "the state", culprit });
        }
        self.book(&mut report);
        std::mem::swap(&mut state.bodies, &mut self.end);
        state.t = self.clock.tick(state.t);
        Ok(report)
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }

    /// Takes the step with the bounds in hand; bodies are in `end` then.
    fn take(
        &mut self,
        t: f64,
        start: &[BodyState],
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let h = self.scene.h;
        let (iterations, residual) = self.fly(t, start);
        report.iterations += iterations;
        report.residual = report.residual.max(residual);
        self.near.find_couples(&self.scene, Start { t, states: start, bounds: &self.bounds });
        self.near.measure(&self.scene, start, &self.end);
        let fast = self.bounds.iter().any(|speed| speed * h > self.scene.thinnest);
        self.find_islands(start, fast);
        self.asleep.clear();
        for k in 0..self.groups.len() {
            let island = self.groups.island(k);
            self.asleep.push(self.sleepers.asleep(island, &self.near.couples, start));
        }
        let shared = Shared {
            start,
            end: &self.end,
            couples: &self.near.couples,
            axes: &self.near.axes,
            memory: &self.memory,
            bounds: &self.bounds,
            t,
            fast,
        };
        self.desks.run(&self.scene, shared, &self.groups, &self.asleep);
        self.gather(start)
    }

    /// Flies all bodies as if they touched nothing; returns what it cost and how far off it is.
    fn fly(&mut self, t: f64, start: &[BodyState]) -> (usize, f64) {
        let scene = &self.scene;
        let fly = |(b, (from, to)): (usize, (&BodyState, &mut BodyState))| {
            let Ok(flight) = scene.fly(b, t, from, scene.h) else {
                // It turns too fast for one flight: alone or in its island it takes smaller ones.
                to.pose.x.fill(f64::NAN);
                return (0, 0.0);
            };
            *to = flight.end;
            (flight.iterations, flight.residual)
        };
        let both = |a: (usize, f64), b: (usize, f64)| (a.0 + b.0, a.1.max(b.1));
        if shares(start.len()) == 1 {
            return start.iter().zip(&mut self.end).enumerate().map(fly).fold((0, 0.0), both);
        }
        let bodies = start.par_iter().zip(&mut self.end).enumerate().with_min_len(CHUNK);
        bodies.map(fly).reduce(|| (0, 0.0), both)
    }

    /// Finds the bodies that hang together, and lists those among which something is entered, or may have been passed through.
    fn find_islands(&mut self, start: &[BodyState], fast: bool) {
        let (kinds, groups) = (&self.scene.kinds, &mut self.groups);
        let of = |c: &Couple| match c.a {
            Party::Body(a) if kinds[c.b].is_fixed() => a,
            _ => c.b,
        };
        groups.clear();
        for couple in &self.near.couples {
            if let Party::Body(a) = couple.a
                && !kinds[a].is_fixed()
                && !kinds[couple.b].is_fixed()
            {
                groups.join(a, couple.b);
            }
        }
        for couple in self.near.couples.iter().filter(|c| c.is_entered()) {
            groups.activate(of(couple));
        }
        for b in (0..start.len()).filter(|&b| self.end[b].pose.x.x.is_nan()) {
            groups.activate(b);
        }
        if fast {
            for k in 0..self.near.couples.len() {
                let b = of(&self.near.couples[k]);
                if !groups.is_active(b) && self.near.may_pass(&self.scene, k, (start, &self.end)) {
                    groups.activate(b);
                }
            }
        }
        groups.list(self.near.couples.iter().map(of), |b| !kinds[b].is_fixed());
    }

    /// Gathers what became of the islands, in their order.
    fn gather(&mut self, start: &[BodyState]) -> Result<(), StepError> {
        let desks = &mut self.desks.desks;
        self.booked.clear();
        self.memos.clear();
        let (mut at, mut last) = (0, Done::default());
        let mut next = 0;
        for k in 0..self.groups.len() {
            let island = self.groups.island(k);
            if let Some(number) = self.asleep[k] {
                let (held, memos) = self.sleepers.dream(number);
                self.booked.held.extend_from_slice(held);
                self.memos.extend_from_slice(memos);
                for &b in island.1 {
                    self.end[b] = start[b];
                }
                continue;
            }
            while next == desks[at].done.len() {
                if let Some(failure) = desks[at].failure.take() {
                    return Err(failure);
                }
                (at, next, last) = (at + 1, 0, Done::default());
            }
            let desk = &desks[at];
            let done = desk.done[next];
            next += 1;
            for (&b, state) in island.1.iter().zip(&desk.states[last.states..done.states]) {
                self.end[b] = *state;
            }
            let mut from = last.axes;
            for &k in island.0 {
                let couple = &self.near.couples[k];
                let count = self.scene.axes_of(couple);
                self.near.axes[couple.axes..couple.axes + count]
                    .copy_from_slice(&desk.axes[from..from + count]);
                from += count;
            }
            self.booked.append(&desk.workshop.booked, last.booked, done.booked);
            let memos = &desk.workshop.memos[last.memos..done.memos];
            self.memos.extend_from_slice(memos);
            let held = &desk.workshop.booked.held[last.booked.2..done.booked.2];
            let (scene, couples) = (&self.scene, &self.near.couples[..]);
            self.sleepers.watch(scene, island, couples, &mut self.end, (held, memos));
            last = done;
        }
        desks.iter_mut().find_map(|desk| desk.failure.take()).map_or(Ok(()), Err)
    }

    /// Sorts the events by time, and what is remembered by name.
    fn book(&mut self, report: &mut StepReport) {
        for desk in &self.desks.desks {
            report.iterations += desk.workshop.iterations;
            report.residual = report.residual.max(desk.workshop.residual);
            report.contact_residual = report.contact_residual.max(desk.workshop.contact);
        }
        report.closed = self.booked.held.len();
        self.events.clear();
        let heads = &self.booked.heads;
        self.order.clear();
        self.order.extend(0..heads.len());
        self.order.sort_unstable_by(|&i, &j| heads[i].t.total_cmp(&heads[j].t).then(i.cmp(&j)));
        for &k in &self.order {
            let head = &heads[k];
            report.rounds += head.rounds;
            let impulses = &self.booked.impulses[head.span.0..head.span.1];
            let (t, change, rounds) = (head.t, head.energy_change, head.rounds);
            if impulses.iter().all(|i| i.tangential == [0.0; 2] && !i.slips) {
                let booked = impulses.iter().map(|i| (i.contact, i.normal, i.work));
                self.events.push_booked(t, change, rounds, booked);
            } else {
                self.events.push_frictional(t, change, rounds, impulses.iter().copied());
            }
            self.events.place(impulses.iter().map(|i| i.touch));
        }
        for held in &self.booked.held {
            self.events.hold(*held);
        }
        std::mem::swap(&mut self.memory, &mut self.memos);
        // Of what was held over parts of the step the last is kept.
        self.memory.reverse();
        self.memory.sort_by_key(Memo::name);
        self.memory.dedup_by_key(|memo| memo.name());
    }
}
