//! Where islands are moved, one at a time, apart from the world and from each other.
//!
//! A desk has copies of what an island changes: its couples, axes and states. It writes nothing else, so that several desks work side by
//! side, and what they leave is gathered in the order of the islands: how many there are cannot be seen in any bit.

use nsm_geom::collide::Axis;
use nsm_model::{ContactLaw, StepError};
use rayon::prelude::*;

use super::super::BodyState;
use super::groups::Groups;
use super::island::{Job, Workshop};
use super::scene::{Couple, Party, Scene};
use super::stages::Memo;
use super::states::Local;

/// What all islands of a step share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'s> {
    pub(super) start: &'s [BodyState],
    /// Where the bodies are after a flight without contacts.
    pub(super) end: &'s [BodyState],
    pub(super) couples: &'s [Couple],
    pub(super) axes: &'s [Axis],
    pub(super) memory: &'s [Memo],
    pub(super) bounds: &'s [f64],
    pub(super) t: f64,
    /// Whether bodies move further in a step than they are thick.
    pub(super) fast: bool,
}

/// Room for islands, and what became of them.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) workshop: Workshop,
    couples: Vec<Couple>,
    list: Vec<usize>,
    now: Local,
    end: Local,
    /// Of all islands since the desk was cleared, one after another: axes, states in the end, speeds above their bounds.
    pub(super) axes: Vec<Axis>,
    pub(super) states: Vec<BodyState>,
    pub(super) raised: Vec<(usize, f64)>,
    pub(super) done: Vec<Done>,
    pub(super) failure: Option<StepError>,
}

/// How far the lists of a desk reach when an island is done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub(super) axes: usize,
    pub(super) states: usize,
    pub(super) booked: (usize, usize, usize),
    pub(super) memos: usize,
}

/// Work below which one thread is quicker than to wake others: couples, of which this many take less than a millisecond.
const LITTLE: usize = 2048;
/// What may come to rest or rubs is solved for again and again, and is as much work as so many others.
const LOSSY: usize = 64;
/// Desks for each thread, so that one with much work does not keep the others waiting for long.
const EACH: usize = 2;

/// The desks, and what is shared out among them.
#[derive(Debug, Default)]
pub(super) struct Desks {
    pub(super) desks: Vec<Desk>,
    /// Islands that are awake, and the work up to the end of each.
    awake: Vec<(usize, usize)>,
}

impl Desks {
    /// Moves all islands through the step that do not sleep.
    pub(super) fn run(
        &mut self,
        scene: &Scene<'_>,
        shared: Shared<'_>,
        groups: &Groups,
        asleep: &[Option<usize>],
    ) {
        self.awake.clear();
        let mut work = 0;
        for k in (0..groups.len()).filter(|&k| asleep[k].is_none()) {
            let (list, bodies) = groups.island(k);
            let lossy = |law: &ContactLaw| law.restitution < 1.0 || law.friction > 0.0;
            let of = |&k: &usize| if lossy(&shared.couples[k].law) { LOSSY } else { 1 };
            work += bodies.len() + list.iter().map(of).sum::<usize>();
            self.awake.push((k, work));
        }
        let alone = work < LITTLE || self.awake.len() < 2;
        let threads = if alone { 1 } else { rayon::current_num_threads() };
        let count = if threads == 1 { 1 } else { EACH * threads };
        if self.desks.len() < count {
            self.desks.resize_with(count, || Desk::new(shared.start.len()));
        }
        self.desks.iter_mut().for_each(Desk::clear);
        let awake = &self.awake;
        let run = |(d, desk): (usize, &mut Desk)| {
            let [from, to] = [d, d + 1].map(|d| awake.partition_point(|a| a.1 <= work * d / count));
            for &(k, _) in &awake[from..to] {
                desk.run(scene, shared, groups.island(k));
            }
        };
        if count == 1 {
            self.desks.iter_mut().take(1).enumerate().for_each(run);
        } else {
            self.desks[..count].par_iter_mut().enumerate().for_each(run);
        }
    }
}

impl Desk {
    pub(super) fn new(bodies: usize) -> Self {
        Self {
            workshop: Workshop::new(bodies),
            couples: Vec::new(),
            list: Vec::new(),
            now: Local::new(bodies),
            end: Local::new(bodies),
            axes: Vec::new(),
            states: Vec::new(),
            raised: Vec::new(),
            done: Vec::new(),
            failure: None,
        }
    }

    /// Forgets the islands of the step before.
    pub(super) fn clear(&mut self) {
        let workshop = &mut self.workshop;
        workshop.booked.clear();
        workshop.memos.clear();
        (workshop.iterations, workshop.residual, workshop.contact) = (0, 0.0, 0.0);
        self.axes.clear();
        self.states.clear();
        self.raised.clear();
        self.done.clear();
        self.failure = None;
    }

    /// Moves an island through the step. After one that cannot be moved nothing is done any more.
    pub(super) fn run(
        &mut self,
        scene: &Scene<'_>,
        shared: Shared<'_>,
        (list, bodies): (&[usize], &[usize]),
    ) {
        if self.failure.is_some() {
            return;
        }
        self.load(scene, shared, (list, bodies));
        let solved = bodies.iter().all(|&b| !self.end[b].pose.x.x.is_nan());
        self.workshop.fast = shared.fast;
        let mut job = Job {
            couples: &mut self.couples,
            list: &self.list,
            bodies,
            now: &mut self.now,
            end: &mut self.end,
            axes: &mut self.axes,
            memory: shared.memory,
            t: shared.t,
            bounds: shared.bounds,
            raised: &mut self.raised,
        };
        if let Err((trouble, t)) = self.workshop.run(scene, &mut job, scene.h, 0, solved) {
            let (rows, couples) = (&self.workshop.rows, &self.couples);
            let contact = |row: usize| {
                let couple = rows.get(row).map_or(couples.first(), |r| couples.get(r.couple));
                couple.map_or_else(String::new, |c| scene.name(c))
            };
            self.failure = Some(trouble.into_error(scene, t, contact));
            return;
        }
        self.states.extend(bodies.iter().map(|&b| self.now[b]));
        self.done.push(Done {
            axes: self.axes.len(),
            states: self.states.len(),
            booked: self.workshop.booked.mark(),
            memos: self.workshop.memos.len(),
        });
    }

    /// Copies what the island needs.
    fn load(
        &mut self,
        scene: &Scene<'_>,
        shared: Shared<'_>,
        (list, bodies): (&[usize], &[usize]),
    ) {
        let states = [&mut self.now, &mut self.end, &mut self.workshop.kicked];
        let [now, end, kicked] = states;
        for states in [&mut *now, &mut *end, &mut *kicked] {
            states.clear();
        }
        let mut take_in = |b: usize| {
            now.take_in(b, &shared.start[b]);
            end.take_in(b, &shared.end[b]);
            kicked.take_in(b, &shared.start[b]);
        };
        for &b in bodies {
            take_in(b);
        }
        self.couples.clear();
        self.list.clear();
        for (local, &k) in list.iter().enumerate() {
            let couple = &shared.couples[k];
            let axes = scene.axes_of(couple);
            self.list.push(local);
            self.couples.push(Couple { axes: self.axes.len(), ..*couple });
            self.axes.extend_from_slice(&shared.axes[couple.axes..couple.axes + axes]);
            let parties =
                [Some(couple.b), if let Party::Body(a) = couple.a { Some(a) } else { None }];
            for b in parties.into_iter().flatten().filter(|&b| scene.kinds[b].is_fixed()) {
                take_in(b);
            }
        }
    }
}
