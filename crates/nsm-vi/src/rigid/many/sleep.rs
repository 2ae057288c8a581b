//! Islands that sleep.
//!
//! An island whose bodies have not moved beyond rounding for a while is at rest: with the same bodies, the same couples and the same forces the
//! next step has the solution of the last. It is not solved again; its contacts are booked with the impulses of the last solution. It wakes
//! when it is not the same island any more, because something has come near or gone, or when a state is not the one that it fell asleep with.

use nsm_model::ContactImpulse;

use super::super::BodyState;
use super::scene::{Couple, Party, Scene};
use super::stages::Memo;

/// Steps without motion after which an island sleeps.
const QUIET: u32 = 32;
/// Speeds of a body at rest, as a share of what is applied in a step, and how far it may be from where the quiet began, in sizes.
const SPEED: f64 = 1e-8;
const AWAY: f64 = 1e-11;
/// The same as a share of its coordinates: impulses are sought up to 64 units in their last place, step by step.
const ROUNDING: f64 = 64.0 * QUIET as f64 * f64::EPSILON;

const NONE: usize = usize::MAX;

/// Islands that are quiet, by their first body.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    of: Vec<usize>,
    islands: Vec<Quiet>,
    free: Vec<usize>,
}

#[derive(Debug, Default)]
struct Quiet {
    bodies: Vec<usize>,
    couples: Vec<(Party, usize)>,
    /// Where the quiet began, and the last states.
    origin: Vec<BodyState>,
    states: Vec<BodyState>,
    held: Vec<ContactImpulse>,
    memos: Vec<Memo>,
    steps: u32,
}

impl Sleepers {
    pub(super) fn new(bodies: usize) -> Self {
        Self { of: vec![NONE; bodies], ..Self::default() }
    }

    /// If the island sleeps, its number.
    pub(super) fn asleep(
        &self,
        (list, bodies): (&[usize], &[usize]),
        couples: &[Couple],
        now: &[BodyState],
    ) -> Option<usize> {
        let number = *self.of.get(*bodies.first()?)?;
        let quiet = self.islands.get(number)?;
        let same = quiet.steps >= QUIET
            && quiet.is(list, bodies, couples)
            && quiet.states.iter().zip(bodies).all(|(state, &b)| *state == now[b]);
        same.then_some(number)
    }

    /// What a sleeping island books and what is remembered of it.
    pub(super) fn dream(&self, number: usize) -> (&[ContactImpulse], &[Memo]) {
        let quiet = &self.islands[number];
        (&quiet.held, &quiet.memos)
    }

    /// Looks at an island after a step: one that has been quiet for long falls asleep, and what is left of its momenta is none.
    pub(super) fn watch(
        &mut self,
        scene: &Scene<'_>,
        (list, bodies): (&[usize], &[usize]),
        couples: &[Couple],
        now: &mut [BodyState],
        (held, memos): (&[ContactImpulse], &[Memo]),
    ) {
        let Some(&first) = bodies.first() else { return };
        let at = self.of[first];
        if !bodies.iter().all(|&b| scene.is_still(b, &now[b])) {
            if at != NONE {
                self.of[first] = NONE;
                self.free.push(at);
            }
            return;
        }
        let at = if at == NONE {
            let at = self.free.pop().unwrap_or(self.islands.len());
            if at == self.islands.len() {
                self.islands.push(Quiet::default());
            }
            self.of[first] = at;
            self.islands[at].bodies.clear();
            at
        } else {
            at
        };
        let quiet = &mut self.islands[at];
        let stays = quiet.is(list, bodies, couples)
            && quiet.origin.iter().zip(bodies).all(|(origin, &b)| {
                let size = scene.world.bodies()[b].radius();
                let bound = AWAY * size + ROUNDING * origin.pose.x.amax();
                let turned = (origin.pose.rot - now[b].pose.rot).amax();
                let moved = (origin.pose.x - now[b].pose.x).amax();
                moved.max(turned * size) <= bound
            });
        if !stays {
            quiet.steps = 0;
            quiet.bodies.clear();
            quiet.bodies.extend_from_slice(bodies);
            quiet.couples.clear();
            quiet.couples.extend(list.iter().map(|&k| (couples[k].a, couples[k].b)));
            quiet.origin.clear();
            quiet.origin.extend(bodies.iter().map(|&b| now[b]));
            return;
        }
        quiet.steps += 1;
        if quiet.steps < QUIET {
            return;
        }
        quiet.states.clear();
        for &b in bodies {
            now[b].gamma.fill(0.0);
            now[b].pi.fill(0.0);
            quiet.states.push(now[b]);
        }
        quiet.held.clear();
        quiet.held.extend_from_slice(held);
        quiet.memos.clear();
        quiet.memos.extend_from_slice(memos);
    }
}

impl Quiet {
    /// Whether an island is this one.
    fn is(&self, list: &[usize], bodies: &[usize], couples: &[Couple]) -> bool {
        self.bodies == bodies
            && self.couples.len() == list.len()
            && self.couples.iter().zip(list).all(|(c, &k)| *c == (couples[k].a, couples[k].b))
    }
}

impl Scene<'_> {
    /// Whether a body does not move, under forces that do not change.
    fn is_still(&self, b: usize, state: &BodyState) -> bool {
        let body = &self.world.bodies()[b];
        let slow = SPEED * self.h * self.world.gravity().norm();
        let turning = (body.inverse_inertia() * state.pi).amax() * body.radius();
        !body.is_loaded() && (state.gamma.amax() * body.inverse_mass()).max(turning) <= slow
    }
}
