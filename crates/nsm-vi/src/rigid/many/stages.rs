//! Contacts that are held: two half-kicks around a flight, each a friction problem.
//!
//! **First stage**, at the start $q$ of a flight of length $\tau$: impulses $r$ in the cones with
//! $$ u_N = \mathrm{gap}(q_1)/\tau, \qquad u_T = F_T\\,[\Delta(x_B + R_Bs_B) - \Delta(x_A + R_As_A)]/\tau, $$
//! the displacements of the two material points over the flight with the kicked momenta. Features are frozen while $r$ is iterated with
//! $W(q)$, then the pair is looked at again at $q_1$: features that are missing are added, corners that moved along their edges are taken
//! anew, and features that push although the pair is apart are dropped.
//!
//! **Second stage**, at $q_1$: Coulomb's law without rebound for the sum $R = r + r_2$ of both kicks, the first turned with the normal, so that a fast landing is one impact and
//! not two parts of one. On a flat contact the step is then exact: rest stays rest, and a block slides as it should. Slip that turns within the flight has its friction
//! against the slip in the middle ([`slip`]).

use nsm_geom::Vec3;

use super::island::{CROWDED, Job, NONE, Trouble, Workshop};
use super::row::{Row, centre};
use super::scene::Scene;
use super::solve::{AT_LAST, Known, Near};
use crate::shared::relaxation;

/// Rounds of the iteration with frozen features.
const ROUNDS: usize = 60;
/// Rounds after which only half of a change is taken, and impulses that would not be refused.
const SLOW: usize = 15;
/// Rounds without a change half as large, after which there will be none.
const IN_VAIN: usize = 16;
/// Rounds for all digits; after them impulses are taken that obey the law at their own flight as well as an answer must.
const FULL: usize = 6;
/// Rounds in which the point where a pair pushes still moves.
const CENTRED: usize = 4;
/// Contacts above which the first round, which the next ones change anyway, is solved to so much of the velocities only.
pub(super) const CROWD: usize = 64;
const VAGUE: f64 = 1e-4;
/// What a flight of a crowd enters by more than this share of the last change stays entered: rounds change less and less, by far.
const CLEARLY: f64 = 0.03;
/// How often features are looked for again, and how often those of a pair may be dropped.
const PASSES: usize = 12;
const GHOSTS: usize = 6;
/// Relative change of velocities at which impulses are found.
const CONVERGED: f64 = 1e-13;
/// The same where rounding or the friction problem allows no better.
const ACCEPTED: f64 = 1e-7;
/// Where nothing moves in a crowd, gaps below this, times the size, are rounding and stay what they are: those of a body on several others contradict
/// each other, and forces that close them all would have to be shuffled anew in every step.
const TOUCHING: f64 = 1e-11;
/// Nothing moves: velocities below this share of what the applied forces add in a step.
const STILL: f64 = 1e-6;
/// A pair is apart, entered, or a corner has moved, by more than these times its size.
const APART: f64 = 1e-9;
pub(super) const ENTERED: f64 = 1e-10;
const MOVED: f64 = 1e-9;

/// What came of a first stage.
#[derive(PartialEq, Eq)]
enum Outcome {
    Flown,
    /// Something else is entered: its impulses are not those of a flight that is taken.
    InVain,
}

/// What is remembered of a contact that was held: its first impulse over a whole step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memo {
    pub(super) contact: usize,
    pub(super) parts: u32,
    pub(super) key: u64,
    pub(super) impulse: Vec3,
}

impl Memo {
    pub(super) fn name(&self) -> (usize, u32, u64) {
        (self.contact, self.parts, self.key)
    }
}

impl Workshop {
    /// Moves the bodies of an island over `tau` with contacts held: the first stage. Where they end is in `job.end`, and what was late in `late`;
    /// with what velocities is found by [`close`](Self::close) if this flight is the one that is taken.
    pub(super) fn stages(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
    ) -> Result<(), Trouble> {
        self.rows.clear();
        for at in 0..job.list.len() {
            let k = job.list[at];
            if job.couples[k].held {
                self.features(scene, job, k);
            }
        }
        for row in &mut self.rows {
            let name = (scene.contact(&job.couples[row.couple]), row.parts, row.key);
            let of = |memos: &[Memo]| {
                memos.binary_search_by(|m| m.name().cmp(&name)).ok().map(|at| memos[at].impulse)
            };
            // The last flight of this step is nearer than the step before, but not where a pile is built from nothing.
            if let Some(impulse) = of(job.memory) {
                row.impulse = of(&self.tried).unwrap_or(impulse) * (tau / scene.h);
            }
        }
        let mut ghosts = 0;
        for _ in 0..PASSES {
            if self.first_stage(scene, job, tau)? == Outcome::InVain {
                break;
            }
            if !self.renew(scene, job, &mut ghosts) {
                break;
            }
        }
        self.late.clear();
        self.tried.clear();
        for row in &self.rows {
            let u = row.velocity(scene.world, job.now)[0];
            let couple = &job.couples[row.couple];
            let e = row.law.restitution;
            let pushes = row.frame[0].dot(&row.impulse) > 0.0;
            let apart = row.gap > scene.tie(couple);
            if pushes && apart && u < 0.0 && e > 0.0 && !couple.is_over(scene, e * u.abs()) {
                self.late.push((row.couple, row.parts, row.key));
            }
            let contact = scene.contact(couple);
            let impulse = row.impulse * (scene.h / tau);
            let (parts, key) = (row.parts, row.key);
            self.tried.push(Memo { contact, parts, key, impulse });
        }
        self.tried.sort_unstable_by_key(Memo::name);
        Ok(())
    }

    /// Adds the features of a couple, from the last trial, as rows at the start.
    fn features(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, k: usize) {
        let couple = &job.couples[k];
        self.found.clear();
        let motion = (&*job.now, &*job.end);
        let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
        scene.detect(couple, motion, couple.margin, axes, scratch, &mut self.found);
        for found in &self.found {
            if self.excluded.contains(&(k, found.parts, found.key)) {
                continue;
            }
            self.rows.extend(Row::new(scene, k, couple, found, job.now));
        }
    }

    fn first_stage(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
    ) -> Result<Outcome, Trouble> {
        let n = self.rows.len();
        self.sharing.delassus(scene.world, &self.rows, &mut self.solve.w);
        self.mu.clear();
        self.mu.extend(self.rows.iter().map(|row| row.law.friction));
        self.r.clear();
        for row in &self.rows {
            self.r.extend(row.components());
        }
        let (mut last, mut mark, mut reached) = (f64::INFINITY, (f64::INFINITY, 0), 0.0_f64);
        let scale = self.speed(scene, job);
        self.relaxation.begin();
        for round in 0..ROUNDS {
            self.kicked_flight(scene, job, tau)?;
            if n == 0 {
                return Ok(Outcome::Flown);
            }
            if round > 0 && n > CROWD && self.is_in_vain(scene, job, tau * last) {
                return Ok(Outcome::InVain);
            }
            if round < CENTRED {
                centre(&mut self.rows);
            }
            self.u.clear();
            let (mut speed, mut rounding) = (scale, 0.0_f64);
            for row in &self.rows {
                let couple = &job.couples[row.couple];
                let Some((a, b)) = scene.colliders(couple) else { continue };
                let touch = row.feature.at(a, b, scene.poses(couple, job.end));
                let slip = row.displacement(job.now, job.end);
                let end = touch.map_or(row.gap + slip[0], |touch| touch.gap);
                let still = STILL * scene.h * couple.acceleration;
                let rests = job.list.len() > CROWDED
                    && row.gap.abs() <= TOUCHING * couple.size
                    && row.velocity(scene.world, job.now).iter().all(|u| u.abs() <= still);
                // What is entered already is left within a step, not within a flight to an event that may be as short as it likes.
                let left = if rests { row.gap } else { row.gap.min(0.0) * (1.0 - tau / scene.h) };
                let gap = end - left;
                self.u.extend([gap / tau, slip[1] / tau, slip[2] / tau]);
                let moved = slip[0].abs() + slip[1].abs() + slip[2].abs();
                speed = speed.max(moved / tau + couple.acceleration * tau);
                let far = scene.poses(couple, job.end).iter().map(|p| p.x.amax()).sum::<f64>();
                rounding = rounding.max(16.0 * f64::EPSILON * (far + couple.size) / tau);
            }
            // q = u - W r, so that u follows from new impulses.
            self.spread.clear();
            self.spread.extend(self.r.iter().map(|r| -r));
            self.q.clear();
            self.q.extend_from_slice(&self.u);
            self.solve.w.add_product(&self.spread, &mut self.q);
            self.lambda.clear();
            self.lambda.extend_from_slice(&self.r);
            let near = match round {
                0..FULL => Near::Any,
                FULL..SLOW => Near::Enough,
                _ => Near::Acceptable,
            };
            let size = size(&self.q);
            // The first round of a crowd need not know more than the next one will change.
            let settles = n <= CROWD || round > 0;
            let vague = if settles { 0.0 } else { VAGUE * size };
            let known = Known { scale, rounding, vague, reached, near };
            let solved = self.solve.all(&self.q, &self.mu, &mut self.lambda, known);
            self.rounding = rounding;
            let defect = solved?;
            if n > CROWD && settles && defect > reached {
                reached = 1.5 * defect;
            }
            let residual = defect / scale.max(size);
            self.spread.clear();
            self.spread.extend(self.lambda.iter().zip(&self.r).map(|(l, r)| l - r));
            self.change.clear();
            self.change.resize(3 * n, 0.0);
            self.solve.w.add_product(&self.spread, &mut self.change);
            let mut worst = (0.0, 0);
            for (k, change) in self.change.iter().enumerate() {
                if change.is_nan() || change.abs() > worst.0 {
                    worst = (change.abs(), k / 3);
                }
            }
            self.residual = self.residual.max(residual);
            let floor = rounding.max(CONVERGED * speed.max(size)).max(3.0 * defect);
            let stalls = round > 8 && worst.0 > 0.5 * last && worst.0 <= ACCEPTED * speed;
            // What cannot be halved any more is taken as a friction problem would be, and warned of.
            let taken = self.solve.at_last && round + 1 == ROUNDS && worst.0 <= AT_LAST * speed;
            if settles && (worst.0 <= floor || stalls || taken) {
                let left = if stalls || taken { worst.0 / speed } else { 0.0 };
                self.contact = self.contact.max(residual).max(left);
                return Ok(Outcome::Flown);
            }
            if worst.0 < 0.5 * mark.0 {
                mark = (worst.0, round);
            }
            let in_vain = !self.solve.at_last && round > mark.1 + IN_VAIN;
            if round + 1 == ROUNDS || in_vain || !worst.0.is_finite() {
                return Err(Trouble::Stage {
                    row: worst.1,
                    rounds: round + 1,
                    residual: worst.0 / speed,
                });
            }
            last = worst.0;
            self.iterations += 1;
            let farthest = relaxation::farthest(&self.r, &self.spread, 0.0);
            let share = self.relaxation.share(worst.0, farthest, &self.spread, &self.change);
            let share = match (self.relaxes, round) {
                (true, _) => share,
                (false, 0..SLOW) => 1.0,
                (false, _) => 0.5,
            };
            if share == 1.0 {
                std::mem::swap(&mut self.r, &mut self.lambda);
            } else {
                // Between two answers that lead to each other lies one that leads to itself, and ahead of those that creep.
                for (r, l) in self.r.iter_mut().zip(&self.lambda) {
                    *r += share * (l - *r);
                }
            }
            for (row, r) in self.rows.iter_mut().zip(self.r.chunks_exact(3)) {
                row.impulse = row.vector(r);
            }
        }
        Ok(Outcome::Flown)
    }

    /// Whether something that is not held is entered by much more than this flight may still change: another flight will be asked for.
    fn is_in_vain(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, change: f64) -> bool {
        job.list.iter().any(|&k| {
            let couple = &job.couples[k];
            let motion = (&*job.now, &*job.end);
            !couple.held
                && scene.gap(couple, motion, job.axes, &mut self.scratch, &mut self.found)
                    < -CLEARLY * change - NONE * couple.size
        })
    }

    /// A speed by which those of the rows are measured, however short the flight: their own and what is applied in a step.
    pub(super) fn speed(&self, scene: &Scene<'_>, job: &Job<'_>) -> f64 {
        let of = |row: &Row| {
            let [n, s, t] = row.velocity(scene.world, job.now);
            n.abs().max(s.abs()).max(t.abs()) + scene.h * job.couples[row.couple].acceleration
        };
        self.rows.iter().map(of).fold(0.0, f64::max)
    }

    /// Flies all bodies of the island with the impulses of the rows.
    fn kicked_flight(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
    ) -> Result<(), Trouble> {
        for &b in job.bodies {
            self.kicked[b] = job.now[b];
        }
        for row in &self.rows {
            row.kick(scene.world, &row.impulse, &mut self.kicked);
        }
        for &b in job.bodies {
            let flight = scene
                .fly(b, job.t, &self.kicked[b], tau)
                .map_err(|unsolved| Trouble::Unsolved { body: b, unsolved })?;
            self.iterations += flight.iterations;
            if !flight.end.is_finite() {
                return Err(Trouble::NotFinite { body: b });
            }
            job.end[b] = flight.end;
        }
        Ok(())
    }

    /// Looks at the held pairs again, at the end; returns whether rows have changed.
    fn renew(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, ghosts: &mut usize) -> bool {
        let mut changed = false;
        for at in 0..job.list.len() {
            let k = job.list[at];
            let couple = &job.couples[k];
            if !couple.held {
                continue;
            }
            self.found.clear();
            let motion = (&*job.now, &*job.end);
            let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
            let gap = scene.detect(couple, motion, couple.margin, axes, scratch, &mut self.found);
            let pushes =
                self.rows.iter().any(|r| r.couple == k && r.frame[0].dot(&r.impulse) > 0.0);
            if pushes && gap > APART * couple.size && *ghosts < GHOSTS {
                *ghosts += 1;
                self.rows.retain(|row| row.couple != k);
                changed = true;
            } else if gap >= -ENTERED * couple.size {
                continue;
            }
            for found in &self.found {
                let name = (k, found.parts, found.key);
                if self.excluded.contains(&name) {
                    continue;
                }
                let known = self.rows.iter_mut().find(|r| (r.couple, r.parts, r.key) == name);
                let Some(row) = known else {
                    if let Some(row) = Row::new(scene, k, couple, found, job.now) {
                        self.rows.push(row);
                        changed = true;
                    }
                    continue;
                };
                let moved = match (row.feature.point(), found.feature.point()) {
                    (Some(p), Some(q)) => (p - q).norm() > MOVED * couple.size,
                    _ => false,
                };
                if moved {
                    row.feature = found.feature;
                    changed |= row.place(scene, couple, job.now);
                }
            }
        }
        if changed {
            self.rows.sort_by_key(|row| (row.couple, row.parts, row.key));
        }
        changed
    }
}

/// $\max_i |q_i|$.
pub(super) fn size(q: &[f64]) -> f64 {
    q.chunks_exact(3).map(|q| Vec3::new(q[0], q[1], q[2]).norm()).fold(0.0, f64::max)
}
