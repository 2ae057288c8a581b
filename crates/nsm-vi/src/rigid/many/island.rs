//! Bodies that may touch each other during a step, moved through it together.
//!
//! All fly to the end of what is left of the step, contacts that are held kept closed. If nothing is entered, that is the end. Otherwise
//! - **located**: the earliest instant at which something touches is found, all are brought there, what touches is reflected together, and
//!   the rest of the step begins. A contact with losses whose bounces are over within the step is not reflected any more but held;
//! - **early**: what would be entered and approaches is reflected at once, before it flies. What would be entered and does not approach is
//!   held; without losses the step is halved instead.
//!
//! A flight that has no solution, and impulses that are not found, halve the step as well.

use nsm_geom::Vec3;
use nsm_geom::collide::{Axis, Found, Scratch};
use nsm_model::ContactLaw;
use nsm_reflect::{FrictionImpact, ReflectError};
use nsm_solvers::friction::FrictionError;
use nsm_solvers::roots::Bracket;

use super::super::lgvci::EventTime;
use super::super::{BodyState, Unsolved};
use super::locate::Next;
use super::near::AHEAD;
use super::row::{Row, Sharing};
use super::scene::{Couple, Scene};
use super::solve::Solve;
use super::stages::Memo;
use super::states::Local;
use super::strike::Booked;
use crate::shared::relaxation::Relaxation;

/// Room for one island at a time.
#[derive(Debug, Default)]
pub(super) struct Workshop {
    pub(super) rows: Vec<Row>,
    pub(super) spare: Vec<Row>,
    pub(super) found: Vec<Found>,
    pub(super) scratch: Scratch,
    pub(super) sharing: Sharing,
    pub(super) solve: Solve,
    pub(super) impact: FrictionImpact,
    pub(super) laws: Vec<ContactLaw>,
    pub(super) slips: Vec<bool>,
    pub(super) chosen: Vec<usize>,
    pub(super) u: Vec<f64>,
    pub(super) after: Vec<f64>,
    pub(super) tolerance: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) mu: Vec<f64>,
    pub(super) r: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    pub(super) spread: Vec<f64>,
    pub(super) change: Vec<f64>,
    pub(super) relaxation: Relaxation,
    /// Whether shares of changes are taken by Aitken's rule: in every other halving, for some rounds settle with it alone, and some without.
    pub(super) relaxes: bool,
    pub(super) before: Vec<Vec3>,
    /// Slip of rows in the middle of a flight, and by how much the law is turned after it.
    pub(super) middle: Vec<[f64; 2]>,
    pub(super) turned: Vec<[f64; 2]>,
    pub(super) kicked: Local,
    /// Features that are left out of the held ones: they have yet to strike.
    pub(super) excluded: Vec<(usize, u32, u64)>,
    /// Features of held contacts that struck instead of resting.
    pub(super) late: Vec<(usize, u32, u64)>,
    pub(super) memos: Vec<Memo>,
    /// Impulses of the last flight with held contacts, in the attempt in hand, and whether the last flight was one.
    pub(super) tried: Vec<Memo>,
    pub(super) flown_held: bool,
    pub(super) booked: Booked,
    pub(super) iterations: usize,
    pub(super) residual: f64,
    /// Worst residual of the contact forces that were taken.
    pub(super) contact: f64,
    /// What is not known of the velocities of the last flight.
    pub(super) rounding: f64,
    pub(super) candidates: Vec<Candidate>,
    /// Flights with held contacts that were made in search of an instant, in the attempt in hand.
    pub(super) searches: usize,
    /// Whether bodies move further in a step than they are thick.
    pub(super) fast: bool,
    stack: Vec<BodyState>,
}

/// The island in hand.
pub(super) struct Job<'j> {
    pub(super) couples: &'j mut [Couple],
    /// Its couples, and its bodies.
    pub(super) list: &'j [usize],
    pub(super) bodies: &'j [usize],
    /// States of its bodies and of fixed ones that they may touch: now, and at the end of the last trial.
    pub(super) now: &'j mut Local,
    pub(super) end: &'j mut Local,
    pub(super) axes: &'j mut [Axis],
    pub(super) memory: &'j [Memo],
    pub(super) t: f64,
    /// Bounds for the speeds of bodies, and those that impacts made much faster.
    pub(super) bounds: &'j [f64],
    pub(super) raised: &'j mut Vec<(usize, f64)>,
}

/// Something that may strike, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) couple: usize,
    /// One feature of it alone, or the whole couple.
    pub(super) feature: Option<Row>,
    pub(super) bracket: Bracket,
}

/// Why an island could not be moved.
#[derive(Debug)]
pub(super) enum Trouble {
    Unsolved { body: usize, unsolved: Unsolved },
    Rounds { row: usize, rounds: usize, residual: f64 },
    Stage { row: usize, rounds: usize, residual: f64 },
    Events { couple: String, events: usize },
    NotFinite { body: usize },
    Friction { row: usize, residual: f64 },
    Law { error: ReflectError },
    Graze { couple: String },
    Pass { couple: String },
}

impl From<FrictionError> for Trouble {
    fn from(error: FrictionError) -> Self {
        let (row, residual) = error.culprit();
        Self::Friction { row, residual }
    }
}

/// Halvings of a step, and of one in which bodies may pass through each other.
const DEPTH: u32 = 6;
const PASSING: u32 = 24;
/// Impacts in one attempt, and how many more for each couple.
const EVENTS: (usize, usize) = (200, 20);
/// Reflections at the start of a step before what is still entered is held.
pub(super) const EARLY: usize = 60;
/// Couples above which an island with held contacts is reflected early.
pub(super) const CROWDED: usize = 6;
/// Flights with held contacts in search of instants, after which the rest of a step is reflected early: each is a friction problem or more.
pub(super) const SEARCHES: usize = 24;
/// What is held and ends deeper than this, times the size, was not held: the step is halved.
const DEEP: f64 = 1e-6;
/// Gaps above minus this, times the size, are none.
pub(super) const NONE: f64 = 1e-11;

impl Workshop {
    pub(super) fn new(bodies: usize) -> Self {
        Self { kicked: Local::new(bodies), ..Self::default() }
    }

    /// Moves an island over `tau`; its end is in `job.now`. `fresh` says that the free flight is in `job.end` and gaps are known.
    pub(super) fn run(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
        depth: u32,
        fresh: bool,
    ) -> Result<(), (Trouble, f64)> {
        let base = self.stack.len();
        self.stack.extend(job.bodies.iter().map(|&b| job.now[b]));
        let (mark, memos, t) = (self.booked.mark(), self.memos.len(), job.t);
        self.relaxes = depth % 2 == 1;
        let mut outcome = self.attempt(scene, job, tau, fresh, depth < DEPTH);
        if depth == DEPTH && matches!(outcome, Err(Trouble::Stage { .. })) {
            self.begin_again(job, base, (mark, memos, t));
            self.relaxes = !self.relaxes;
            outcome = self.attempt(scene, job, tau, false, false);
        }
        if depth < DEPTH
            && job.raised.is_empty()
            && outcome.is_ok()
            && let Some(couple) = self.sunk(scene, job, base)
        {
            outcome = Err(Trouble::Graze { couple });
        }
        let deepest = if matches!(outcome, Err(Trouble::Pass { .. })) { PASSING } else { DEPTH };
        let result = match outcome {
            Ok(()) => Ok(()),
            Err(_) if depth < deepest => {
                self.begin_again(job, base, (mark, memos, t));
                self.run(scene, job, 0.5 * tau, depth + 1, false).and_then(|()| {
                    job.t = t + 0.5 * tau;
                    self.run(scene, job, 0.5 * tau, depth + 1, false)
                })
            }
            Err(trouble) => Err((trouble, job.t)),
        };
        job.t = t;
        self.stack.truncate(base);
        result
    }

    /// Puts everything back to where an attempt began.
    fn begin_again(
        &mut self,
        job: &mut Job<'_>,
        base: usize,
        (mark, memos, t): ((usize, usize, usize), usize, f64),
    ) {
        for (k, &b) in job.bodies.iter().enumerate() {
            job.now[b] = self.stack[base + k];
        }
        self.booked.truncate(mark);
        self.memos.truncate(memos);
        job.t = t;
    }

    /// A couple with held contacts that ends inside each other, deeper than it began: its rows did not hold it.
    fn sunk(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, base: usize) -> Option<String> {
        for at in 0..job.list.len() {
            let k = job.list[at];
            let couple = job.couples[k];
            if !couple.held {
                continue;
            }
            let motion = (&*job.now, &*job.now);
            let gap = scene.gap(&couple, motion, job.axes, &mut self.scratch, &mut self.found);
            if gap >= -DEEP * couple.size {
                continue;
            }
            for (i, &b) in job.bodies.iter().enumerate() {
                job.end[b] = self.stack[base + i];
            }
            let motion = (&*job.end, &*job.end);
            let before = scene.gap(&couple, motion, job.axes, &mut self.scratch, &mut self.found);
            if gap < before.min(0.0) - DEEP * couple.size {
                return Some(scene.name(&couple));
            }
        }
        None
    }

    fn attempt(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
        fresh: bool,
        may_halve: bool,
    ) -> Result<(), Trouble> {
        let (mut left, mut events, mut known) = (tau, 0, fresh);
        self.searches = 0;
        self.tried.clear();
        self.flown_held = false;
        self.solve.at_last = !may_halve;
        let mut rest = self.release(scene, job);
        let crowded = rest && job.list.len() > CROWDED;
        if crowded {
            self.strike_ahead(scene, job, left)?;
            if !job.raised.is_empty() {
                // The step is taken again, with what these bodies may come to touch.
                return Ok(());
            }
            rest = self.release(scene, job);
        }
        known &= !rest && !crowded;
        loop {
            if !known {
                self.trial(scene, job, left)?;
                self.measure(scene, job);
            }
            known = false;
            let entered = job.list.iter().any(|&k| job.couples[k].is_entered());
            if !entered && self.late.is_empty() && !self.waits(scene, job) {
                if let Some(couple) = self.passes(scene, job) {
                    return Err(Trouble::Pass { couple });
                }
                self.close(scene, job, left)?;
                for &b in job.bodies {
                    job.now[b] = job.end[b];
                }
                return Ok(());
            }
            let some_held = job.list.iter().any(|&k| job.couples[k].held);
            let crowded =
                crowded || some_held && job.list.len() > CROWDED || self.searches > SEARCHES;
            let limit = EVENTS.0 + EVENTS.1 * job.list.len();
            if scene.method.events == EventTime::Early || crowded {
                if events < EARLY && self.reflect_early(scene, job)? {
                    events += 1;
                    self.release(scene, job);
                    continue;
                }
                self.late.clear();
                if !entered {
                    self.commit_anyway(scene, job, left)?;
                    return Ok(());
                }
                Self::hold_entered(scene, job, may_halve)?;
                continue;
            }
            if !self.late.is_empty() {
                self.excluded.append(&mut self.late);
                continue;
            }
            match self.next_event(scene, job, left)? {
                Next::Held | Next::Dear => continue,
                Next::At(tau) => {
                    if tau > 0.0 {
                        self.trial(scene, job, tau)?;
                        self.close(scene, job, tau)?;
                        for &b in job.bodies {
                            job.now[b] = job.end[b];
                        }
                        job.t += tau;
                        left -= tau;
                    }
                }
            }
            events += 1;
            if events > limit {
                let couple = scene.name(&job.couples[job.list[0]]);
                return Err(Trouble::Events { couple, events });
            }
            let struck = self.strike_touching(scene, job)?;
            if struck {
                self.release(scene, job);
            } else {
                self.hold_touching(scene, job);
            }
            if left <= 0.0 {
                return Ok(());
            }
        }
    }

    /// Two bodies that may have passed through each other in the last trial.
    fn passes(&mut self, scene: &Scene<'_>, job: &mut Job<'_>) -> Option<String> {
        if !self.fast {
            return None;
        }
        let motion = (&*job.now, &*job.end);
        let (axes, scratch, found) = (&mut *job.axes, &mut self.scratch, &mut self.found);
        let passing = job
            .list
            .iter()
            .map(|&k| &job.couples[k])
            .find(|couple| scene.may_pass(couple, motion, axes, scratch, found));
        passing.map(|couple| scene.name(couple))
    }

    /// Begins anew with what rests and nothing else held; returns whether anything is.
    fn release(&mut self, scene: &Scene<'_>, job: &mut Job<'_>) -> bool {
        self.excluded.clear();
        self.late.clear();
        let mut held = false;
        for at in 0..job.list.len() {
            let k = job.list[at];
            job.couples[k].held = false;
            let rests = self.rests(scene, job, k);
            job.couples[k].held = rests;
            held |= rests;
        }
        held
    }

    /// Moves the bodies over `tau` with what is held; [`close`](Self::close) makes the end that of a step.
    pub(super) fn trial(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
    ) -> Result<(), Trouble> {
        self.late.clear();
        self.flown_held = job.list.iter().any(|&k| job.couples[k].held);
        if self.flown_held {
            return self.stages(scene, job, tau);
        }
        for &b in job.bodies {
            self.fly_one(scene, job, b, tau)?;
        }
        Ok(())
    }

    pub(super) fn fly_one(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        b: usize,
        tau: f64,
    ) -> Result<(), Trouble> {
        let flight = scene
            .fly(b, job.t, &job.now[b], tau)
            .map_err(|unsolved| Trouble::Unsolved { body: b, unsolved })?;
        self.iterations += flight.iterations;
        self.residual = self.residual.max(flight.residual);
        if !flight.end.is_finite() {
            return Err(Trouble::NotFinite { body: b });
        }
        job.end[b] = flight.end;
        Ok(())
    }

    /// The gaps of all couples at the end of the trial.
    pub(super) fn measure(&mut self, scene: &Scene<'_>, job: &mut Job<'_>) {
        for &k in job.list {
            let couple = &job.couples[k];
            let motion = (&*job.now, &*job.end);
            let gap = scene.gap(couple, motion, job.axes, &mut self.scratch, &mut self.found);
            job.couples[k].gap = gap;
        }
    }

    /// Whether a feature that was left out of the held ones is entered.
    fn waits(&mut self, scene: &Scene<'_>, job: &mut Job<'_>) -> bool {
        if self.excluded.is_empty() {
            return false;
        }
        let mut waits = false;
        for at in 0..self.excluded.len() {
            let (k, parts, key) = self.excluded[at];
            let couple = &job.couples[k];
            self.found.clear();
            let motion = (&*job.now, &*job.end);
            let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
            scene.detect(couple, motion, couple.margin, axes, scratch, &mut self.found);
            waits |= self
                .found
                .iter()
                .any(|f| (f.parts, f.key) == (parts, key) && f.gap < -NONE * couple.size);
        }
        waits
    }

    /// $\sqrt{2T + \sum m h^2 a^2}$ of the island, by which velocities are measured.
    pub(super) fn scale(scene: &Scene<'_>, job: &Job<'_>) -> f64 {
        let mut sum = 0.0;
        for &b in job.bodies {
            let body = &scene.world.bodies()[b];
            let a = scene.acceleration(b, job.t, &job.now[b]) * scene.h;
            sum += 2.0 * body.kinetic_energy(&job.now[b]) + body.mass() * a * a;
        }
        sum.sqrt()
    }

    /// Takes the last trial although something in it was late.
    fn commit_anyway(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        left: f64,
    ) -> Result<(), Trouble> {
        self.trial(scene, job, left)?;
        self.close(scene, job, left)?;
        for &b in job.bodies {
            job.now[b] = job.end[b];
        }
        Ok(())
    }

    /// Reflects all that touches now; returns whether anything was.
    fn strike_touching(&mut self, scene: &Scene<'_>, job: &mut Job<'_>) -> Result<bool, Trouble> {
        self.rows.clear();
        for at in 0..job.list.len() {
            self.add_touching(scene, job, job.list[at]);
        }
        if self.rows.is_empty() {
            return Ok(false);
        }
        let scale = Self::scale(scene, job);
        self.velocities(scene, job.now, scale);
        let struck = self.strike(scene, job.couples, job.now, job.t)?;
        Self::raise_speeds(scene, job);
        Ok(struck)
    }

    /// Nothing that touches approaches, and yet something is entered: it is held from here on.
    fn hold_touching(&mut self, scene: &Scene<'_>, job: &mut Job<'_>) {
        for at in 0..job.list.len() {
            let k = job.list[at];
            let gap = self.touching_rows(scene, job, k);
            if gap <= scene.tie(&job.couples[k]) {
                job.couples[k].held = true;
            }
        }
    }

    pub(super) fn raise_speeds(scene: &Scene<'_>, job: &mut Job<'_>) {
        for &b in job.bodies {
            let speed = scene.reach(b, job.t, &job.now[b]);
            if speed > AHEAD * job.bounds[b] {
                job.raised.push((b, speed));
            }
        }
    }
}

impl Couple {
    pub(super) fn is_entered(&self) -> bool {
        !self.held && self.gap < -NONE * self.size
    }
}

impl Scene<'_> {
    /// What is closer than this touches together with what touches.
    pub(super) fn tie(&self, couple: &Couple) -> f64 {
        self.method.tie * couple.size
    }
}
