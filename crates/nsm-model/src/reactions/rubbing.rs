//! What contacts that rub and dry friction on freedoms carry at an instant.
//!
//! A contact that slips has its friction against its velocity, $f_T = -\mu\lambda\\,u_T/\lvert u_T\rvert$; one that sticks has whatever keeps it from slipping, within
//! $\lvert f_T\rvert \le \mu\lambda$: Coulomb's law for accelerations, $\dot u = W r + b$. Contacts that slip enter $b$ with the $\lambda$ of the round before
//! (fixed point), so that only those that stick rub in the friction problem of a round.
//!
//! Dry friction is one of them whose pressure is its bound $B = \\tau + s\\,\\lvert R\\rvert$ ([`DryFriction`](crate::DryFriction)), with the loads $R$ of the round before: a
//! normal that stands apart is pressed by $B$, the coefficient is one. Friction on a freedom that equalities hold by themselves loads them while it slips; at
//! rest nothing asks for it, and it is zero.

use nsm_constraints::Tangent;
use nsm_solvers::LinearError;
use nsm_solvers::friction::{FrictionOptions, FrictionProblem, FrictionSolver};

use super::{Answer, CLOSED, Reactions};
use crate::{DryFriction, State};

/// Rounds for the pressure on contacts that slip.
const ROUNDS: usize = 200;

/// The velocity is followed for this share of the coordinates to see how a tangential velocity changes.
const AHEAD: f64 = 1e-5;

/// A closed contact, or dry friction, with its answers along normal and tangents.
struct Touch {
    /// Number of the contact; dry friction stands behind the contacts.
    contact: usize,
    /// Coefficients of its tangential velocities, direction after direction.
    tangents: Vec<f64>,
    answers: [Option<Answer>; 3],
    /// Where it slips to, if it does.
    slip: Option<[f64; 2]>,
}

impl<'a> Reactions<'a> {
    /// Finds the forces of closed contacts of which some rub, and of dry friction.
    pub(super) fn rub(&mut self, state: &State, closed: &[usize]) -> Option<()> {
        let (gaps, dry) = (self.system.inequalities().len(), self.system.dry().len());
        let mut touches = Vec::with_capacity(closed.len() + dry);
        for &contact in closed {
            touches.extend(self.touch(state, contact).ok()?);
        }
        for row in gaps..gaps + dry {
            touches.extend(self.dry_touch(state, row).ok()?);
        }
        if touches.is_empty() {
            return Some(());
        }
        let n = touches.len();
        let (w, mut free) = (self.between(&touches), vec![0.0; 3 * n]);
        let mut friction = vec![0.0; n];
        for (slot, touch) in touches.iter().enumerate() {
            let i = touch.contact;
            let accelerations = self.seen(touch, &self.acceleration);
            if i < gaps {
                free[3 * slot] = accelerations[0] + self.gap_bend[i];
            }
            let coefficient = if i < gaps { self.friction[i] } else { 1.0 };
            if touch.slip.is_none() && coefficient > 0.0 {
                friction[slot] = coefficient;
                let turning = self.turning(state, i);
                free[3 * slot + 1] = accelerations[1] + turning[0];
                free[3 * slot + 2] = accelerations[2] + turning[1];
            }
        }
        let forces = self.settle(&touches, &w, &free, &friction)?;
        for (touch, force) in touches.iter().zip(forces.chunks_exact(3)) {
            match touch.contact.checked_sub(gaps) {
                None => self.contacts[touch.contact] = force[0],
                Some(k) => self.dry[k] = force[1],
            }
            for (force, answer) in force.iter().zip(&touch.answers) {
                if let Some(answer) = answer {
                    self.add(*force, answer);
                }
            }
        }
        Some(())
    }

    /// Rounds to the pressure on contacts that slip and to the bounds of dry friction; the forces of all, normal and tangential.
    fn settle(
        &self,
        touches: &[Touch],
        w: &[f64],
        free: &[f64],
        friction: &[f64],
    ) -> Option<Vec<f64>> {
        let rows = free.len();
        let (mut forces, mut last) = (vec![0.0; rows], vec![0.0; rows]);
        let mut slipping = vec![0.0; rows];
        let gaps = self.system.inequalities().len();
        let mut solver = FrictionSolver::default();
        let options = FrictionOptions { tolerance: 1e-13, ..FrictionOptions::default() };
        for _ in 0..ROUNDS {
            let bounds = self.bounds(touches, &last);
            for (slot, touch) in touches.iter().enumerate() {
                if let Some(slip) = touch.slip {
                    let pull = match touch.contact.checked_sub(gaps) {
                        None => self.friction[touch.contact] * forces[3 * slot],
                        Some(k) => bounds[k],
                    };
                    slipping[3 * slot + 1] = -pull * slip[0];
                    slipping[3 * slot + 2] = -pull * slip[1];
                }
            }
            let mut b = free.to_vec();
            for (b, row) in b.iter_mut().zip(w.chunks_exact(rows)) {
                *b += row.iter().zip(&slipping).map(|(w, f)| w * f).sum::<f64>();
            }
            // Tangents that slip stand apart: their forces are given.
            for (slot, touch) in touches.iter().enumerate() {
                if touch.slip.is_some() {
                    b[3 * slot + 1..3 * slot + 3].fill(0.0);
                }
                if let Some(k) = touch.contact.checked_sub(gaps).filter(|_| touch.slip.is_none()) {
                    b[3 * slot] = -w[3 * slot * (rows + 1)] * bounds[k];
                }
            }
            let problem = FrictionProblem::dense(w, &b, friction).ok()?;
            let _ = solver.solve(&problem, &mut forces, &options).ok()?;
            let (mut change, mut size) = (0.0_f64, 0.0_f64);
            for ((last, force), slip) in last.iter_mut().zip(&forces).zip(&slipping) {
                change = change.max((force + slip - *last).abs());
                *last = force + slip;
                size = size.max(last.abs());
            }
            if change <= 1e-10 * size {
                return Some(last);
            }
        }
        None
    }

    /// $B$ of every dry friction, with these forces of the touches.
    fn bounds(&self, touches: &[Touch], forces: &[f64]) -> Vec<f64> {
        let load = |i: usize| {
            let answers = touches.iter().flat_map(|t| &t.answers).zip(forces);
            let by = answers.filter_map(|(a, f)| a.as_ref().map(|(_, mu)| f * mu[i]));
            self.forces[i] + by.sum::<f64>()
        };
        let bound = |law: &DryFriction| {
            let (share, rows) = law.load.as_ref().map_or((0.0, &[][..]), |(s, r)| (*s, &r[..]));
            law.bound + share * rows.iter().map(|&i| load(i).powi(2)).sum::<f64>().sqrt()
        };
        self.system.dry().laws().iter().map(bound).collect()
    }

    /// A closed contact; none if the equalities hold it by themselves.
    fn touch(&mut self, state: &State, contact: usize) -> Result<Option<Touch>, LinearError> {
        let system = self.system;
        let mut push = vec![0.0; self.acceleration.len()];
        system.inequalities().add_row(contact, &self.gap_gradients, 1.0, &mut push);
        let Some(normal) = self.answer(&push)? else { return Ok(None) };
        let answers = [Some(normal), None, None];
        let mut touch = Touch { contact, tangents: Vec::new(), answers, slip: None };
        if let Some(tangent) = self.tangent(contact).filter(|_| self.friction[contact] > 0.0) {
            touch.tangents = coefficients(tangent, &state.q, state.t);
            let columns = tangent.coordinates();
            touch.slip = self.slip(state, &touch);
            for (row, answer) in
                touch.tangents.chunks_exact(columns.len()).zip(&mut touch.answers[1..])
            {
                let mut push = vec![0.0; self.acceleration.len()];
                columns.iter().zip(row).for_each(|(&c, x)| push[c] += x);
                let (response, moves) = self.response(&push)?;
                // A direction that the equalities hold, such as that of a motor, is loaded where the contact slips along it.
                *answer = (moves || touch.slip.is_some()).then_some(response);
            }
        }
        Ok(Some(touch))
    }

    /// Dry friction on a freedom; none at rest where the equalities hold it by themselves.
    fn dry_touch(&mut self, state: &State, row: usize) -> Result<Option<Touch>, LinearError> {
        let Some(rate) = self.tangent(row) else { return Ok(None) };
        let tangents = coefficients(rate, &state.q, state.t);
        let mut push = vec![0.0; self.acceleration.len()];
        rate.coordinates().iter().zip(&tangents).for_each(|(&c, x)| push[c] += x);
        let (answer, moves) = self.response(&push)?;
        let answers = [None, Some(answer), None];
        let mut touch = Touch { contact: row, tangents, answers, slip: None };
        touch.slip = self.slip(state, &touch);
        Ok((moves || touch.slip.is_some()).then_some(touch))
    }

    /// Where a touch slips to, if it does.
    fn slip(&self, state: &State, touch: &Touch) -> Option<[f64; 2]> {
        let [_, a, b] = self.seen(touch, &state.v);
        let [first, second] = self.drift(touch.contact, &state.q, state.t);
        let (a, b) = (a + first, b + second);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let speed = a.hypot(b);
        let slips = speed > CLOSED * largest(&state.v).max(largest(&self.acceleration));
        slips.then(|| [a / speed, b / speed])
    }

    /// What the surface of a contact does by itself; nothing for dry friction.
    fn drift(&self, contact: usize, q: &[f64], t: f64) -> [f64; 2] {
        let gaps = self.system.inequalities().len();
        if contact < gaps { self.system.tangents().drift_of(contact, q, t) } else { [0.0; 2] }
    }

    /// The tangential velocities of a contact, or the rate of a dry friction.
    fn tangent(&self, contact: usize) -> Option<&'a dyn Tangent> {
        match contact.checked_sub(self.system.inequalities().len()) {
            None => self.system.tangents().of(contact),
            Some(k) => self.system.dry().rates().of(k),
        }
    }

    /// $W$: how each row answers to each, row-major.
    fn between(&self, touches: &[Touch]) -> Vec<f64> {
        let rows = 3 * touches.len();
        let mut w = vec![0.0; rows * rows];
        for (column, answer) in touches.iter().flat_map(|t| &t.answers).enumerate() {
            let Some((a, _)) = answer else { continue };
            for (slot, touch) in touches.iter().enumerate() {
                for (k, x) in self.seen(touch, a).iter().enumerate() {
                    if touch.answers[k].is_some() {
                        w[(3 * slot + k) * rows + column] = *x;
                    }
                }
            }
        }
        // Normals that stand apart have the size of what sticks.
        for (slot, touch) in touches.iter().enumerate().filter(|(_, t)| t.answers[0].is_none()) {
            let (normal, tangent) = (3 * slot, 3 * slot + 1);
            let sticks = touch.slip.is_none();
            w[normal * (rows + 1)] = if sticks { w[tangent * (rows + 1)] } else { 1.0 };
        }
        w
    }

    /// Normal and tangential parts of a velocity or an acceleration at a contact.
    fn seen(&self, touch: &Touch, v: &[f64]) -> [f64; 3] {
        let gaps = self.system.inequalities();
        let normal = if touch.contact < gaps.len() {
            gaps.row_dot(touch.contact, &self.gap_gradients, v)
        } else {
            0.0
        };
        let tangent = self.tangent(touch.contact);
        let [a, b] = tangent.map_or([0.0; 2], |tangent| along(tangent, &touch.tangents, v));
        [normal, a, b]
    }

    /// How the tangential velocity of a contact that sticks changes without accelerations: by a difference along the motion, in the frame of
    /// the instant.
    fn turning(&self, state: &State, contact: usize) -> [f64; 2] {
        let State { t, q, v, .. } = state;
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let (size, speed) = (largest(q), largest(v));
        let moves = |tangent: &dyn Tangent| speed > 0.0 || tangent.drifts();
        let Some(tangent) = self.tangent(contact).filter(|tangent| moves(*tangent)) else {
            return [0.0; 2];
        };
        // A surface that moves under what is at rest is looked at while its forces would move that.
        let time =
            if speed > 0.0 { size / speed } else { (size / largest(&self.acceleration)).sqrt() };
        let ahead = AHEAD * if time > 0.0 && time.is_finite() { time } else { 1.0 };
        let now = tangent.frame(q, *t);
        let after = |tau: f64| {
            let there: Vec<f64> = q.iter().zip(v).map(|(q, v)| q + tau * v).collect();
            let [a, b] = along(tangent, &coefficients(tangent, &there, t + tau), v);
            let [first, second] = self.drift(contact, &there, t + tau);
            let [a, b] = [a + first, b + second];
            let (Some([_, first, second]), Some(turned)) = (now, tangent.frame(&there, t + tau))
            else {
                return [a, b];
            };
            let dot = |x: [f64; 3], y: [f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            [first, second].map(|axis| a * dot(turned[1], axis) + b * dot(turned[2], axis))
        };
        let (plus, minus) = (after(ahead), after(-ahead));
        [0, 1].map(|k| (plus[k] - minus[k]) / (2.0 * ahead))
    }
}

pub(super) fn coefficients(tangent: &dyn Tangent, q: &[f64], t: f64) -> Vec<f64> {
    let mut rows = vec![0.0; tangent.directions() * tangent.coordinates().len()];
    tangent.coefficients(q, t, &mut rows);
    rows
}

/// Tangential velocities from coefficients; zero along directions that there are not.
fn along(tangent: &dyn Tangent, coefficients: &[f64], v: &[f64]) -> [f64; 2] {
    let columns = tangent.coordinates();
    let mut rows = coefficients.chunks_exact(columns.len().max(1));
    let mut next = || {
        let row = rows.next().unwrap_or(&[]);
        columns.iter().zip(row).map(|(&c, x)| x * v[c]).sum::<f64>()
    };
    [next(), next()]
}
