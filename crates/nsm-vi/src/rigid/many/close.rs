//! The second stage of contacts that are held: the velocities at the end of a flight, and what is booked of them ([`stages`](super::stages)).

use nsm_geom::Vec3;
use nsm_model::ContactImpulse;

use super::super::BodyState;
use super::island::{Job, Trouble, Workshop};
use super::row::Row;
use super::scene::Scene;
use super::solve::{Known, Near};
use super::stages::{CROWD, ENTERED, Memo, size};
use crate::shared::slip;

/// Slip above this share of the speed of its parties is slip.
const SLIPS: f64 = 1e-9;
/// How often the law is turned after slip that turns: once leaves a direction that is off at second order.
const TURNS: usize = 2;

impl Workshop {
    /// Finds the velocities at the end of the last flight over `tau`, and books what was held: the second stage.
    pub(super) fn close(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
    ) -> Result<(), Trouble> {
        if !self.flown_held {
            return Ok(());
        }
        self.before.clear();
        self.middle.clear();
        let scale = self.speed(scene, job);
        let rows = std::mem::take(&mut self.rows);
        for row in &rows {
            let u = row.velocity(scene.world, job.now);
            let couple = &job.couples[row.couple];
            let pushes = row.frame[0].dot(&row.impulse) > 0.0;
            let mut moved = *row;
            if !moved.place(scene, couple, job.end) {
                continue;
            }
            moved.impulse = turned(&row.impulse, &row.frame[0], &moved.frame[0]);
            if pushes || moved.gap <= ENTERED * couple.size {
                self.before.push(row.vector(&u));
                let slip = row.chord(job.now, job.end) / tau;
                self.middle.push([1, 2].map(|k| moved.frame[k].dot(&slip)));
                self.rows.push(moved);
                if pushes {
                    let contact = scene.contact(couple);
                    let impulse = row.impulse * (scene.h / tau);
                    let (parts, key) = (row.parts, row.key);
                    self.memos.push(Memo { contact, parts, key, impulse });
                }
            }
        }
        self.spare = rows;
        self.spare.clear();
        let n = self.rows.len();
        if n == 0 {
            return Ok(());
        }
        self.sharing.delassus(scene.world, &self.rows, &mut self.solve.w);
        self.mu.clear();
        self.q.clear();
        self.r.clear();
        for row in &self.rows {
            self.mu.push(row.law.friction);
            self.q.extend(row.velocity(scene.world, job.end));
            self.r.extend(row.components());
        }
        self.spread.clear();
        self.spread.extend(self.r.iter().map(|r| -r));
        self.solve.w.add_product(&self.spread, &mut self.q);
        self.lambda.clear();
        self.lambda.extend(self.r.iter().map(|r| 2.0 * r));
        self.turned.clear();
        self.turned.resize(n, [0.0; 2]);
        let crowd = n > CROWD;
        if crowd {
            // Twice the first impulses are near enough to tell how slip turns.
            let _ = self.turn(scene, job, 0);
        }
        for round in 0..=TURNS {
            let size = size(&self.q).max(scale);
            let (rounding, near) = (self.rounding, Near::Any);
            let known = Known { scale, rounding, vague: 0.0, reached: 0.0, near };
            let solved = self.solve.all(&self.q, &self.mu, &mut self.lambda, known);
            let residual = solved? / size;
            self.residual = self.residual.max(residual);
            self.contact = self.contact.max(residual);
            if crowd || !self.turn(scene, job, round) {
                break;
            }
        }
        for (k, row) in self.rows.iter().enumerate() {
            let total = &self.lambda[3 * k..3 * k + 3];
            let rest = row.vector(total) - row.impulse;
            row.kick(scene.world, &rest, job.end);
        }
        for (k, row) in self.rows.iter().enumerate() {
            let total = &self.lambda[3 * k..3 * k + 3];
            if total[0] == 0.0 {
                continue;
            }
            let u = row.velocity(scene.world, job.end);
            let mean = 0.5 * (self.before[k] + row.vector(&u));
            let slip = u[1].hypot(u[2]);
            self.booked.held.push(ContactImpulse {
                contact: scene.contact(&job.couples[row.couple]),
                normal: total[0],
                tangential: [total[1], total[2]],
                rubs: self.mu[k] > 0.0,
                slips: self.mu[k] > 0.0 && slip > SLIPS * (slip + job.scale(scene, row)),
                work: row.vector(total).dot(&mean),
                touch: row.touch(&job.couples[row.couple], &row.vector(total), job.end),
            });
        }
        Ok(())
    }

    /// Turns the law of rows that slip, after the impulses in `lambda`; whether any of them is turned further. `q` has their turn in it.
    fn turn(&mut self, scene: &Scene<'_>, job: &Job<'_>, round: usize) -> bool {
        if round == TURNS || self.mu.iter().all(|mu| *mu == 0.0) {
            return false;
        }
        self.change.clear();
        self.change.extend_from_slice(&self.q);
        self.solve.w.add_product(&self.lambda, &mut self.change);
        let mut changed = false;
        for (k, row) in self.rows.iter().enumerate() {
            let (middle, old) = (self.middle[k], self.turned[k]);
            let end = [0, 1].map(|i| self.change[3 * k + 1 + i] - old[i]);
            let slow = SLIPS * job.scale(scene, row);
            let pushes = self.mu[k] > 0.0 && self.lambda[3 * k] > 0.0;
            let new = if pushes { slip::turn(middle, end, slow) } else { None };
            if slip::turns(middle, old, new) {
                changed = true;
                let new = new.unwrap_or_default();
                self.turned[k] = new;
                for i in 0..2 {
                    self.q[3 * k + 1 + i] += new[i] - old[i];
                }
            }
        }
        changed
    }
}

/// A vector turned by the least rotation that takes one unit vector to another.
fn turned(f: &Vec3, from: &Vec3, to: &Vec3) -> Vec3 {
    let (axis, cosine) = (from.cross(to), from.dot(to));
    if cosine <= -0.5 {
        return *f;
    }
    let across = axis.cross(f);
    f + across + axis.cross(&across) / (1.0 + cosine)
}

impl Job<'_> {
    /// A speed by which slip is measured: what the applied acceleration does in a step.
    fn scale(&self, scene: &Scene<'_>, row: &Row) -> f64 {
        let speed = |b: &usize| {
            let state: &BodyState = &self.end[*b];
            state.gamma.norm() * scene.world.bodies()[*b].inverse_mass()
        };
        let fastest = row.bodies.iter().flatten().map(speed).fold(0.0, f64::max);
        fastest + scene.h * self.couples[row.couple].acceleration
    }
}
