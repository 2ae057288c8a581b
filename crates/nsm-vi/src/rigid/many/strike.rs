//! Impacts at a fixed configuration.
//!
//! Contacts that approach are reflected together, those that approach after that again, until none does. Without friction and with one
//! restitution a round is $r = (1+e)\\,s\lambda$ with
//! $$ \lambda = \arg\min_{\lambda\ge 0}\tfrac12\lambda\cdot W\lambda + \lambda\cdot u, \qquad s = -\frac{\lambda\cdot u}{\lambda\cdot W\lambda}, $$
//! where $s = 1$ but for the error of $\lambda$: with it the energy is exact for any $\lambda$. All else is the law of
//! [`FrictionImpact`](nsm_reflect::FrictionImpact), with its limiter.

use nsm_model::{ContactImpulse, ContactLaw, StepError};
use nsm_reflect::ReflectError;

use super::island::{Trouble, Workshop};
use super::scene::{Couple, Scene};
use super::states::{Local, States};

/// Rounds of reflections, and how many more for each contact.
const ROUNDS: (usize, usize) = (60, 4);

impl Workshop {
    /// The velocities of the rows in hand, and what counts as none.
    pub(super) fn velocities(&mut self, scene: &Scene<'_>, states: &impl States, scale: f64) {
        self.u.clear();
        for row in &self.rows {
            self.u.extend(row.velocity(scene.world, states));
        }
        self.sharing.delassus(scene.world, &self.rows, &mut self.solve.w);
        self.tolerance.clear();
        for k in 0..self.rows.len() {
            self.tolerance.push(1e-11 * scale * self.solve.w.own(k)[0].sqrt());
        }
    }

    /// Lets the rows in hand bounce; returns whether anything did. Velocities must have been taken.
    pub(super) fn strike(
        &mut self,
        scene: &Scene<'_>,
        couples: &mut [Couple],
        states: &mut Local,
        t: f64,
    ) -> Result<bool, Trouble> {
        self.laws.clear();
        for (k, row) in self.rows.iter().enumerate() {
            let couple = &couples[row.couple];
            self.laws.push(couple.rebound(scene, self.u[3 * k]));
        }
        let first = self.laws[0];
        let uniform =
            self.laws.iter().all(|l| l.friction == 0.0 && l.restitution == first.restitution);
        let rounds = if uniform { self.reflect(first.restitution)? } else { self.rub()? };
        if rounds == 0 {
            return Ok(false);
        }
        let mark = self.booked.impulses.len();
        let mut energy_change = 0.0;
        for (k, row) in self.rows.iter().enumerate() {
            let r = &self.r[3 * k..3 * k + 3];
            if r.iter().all(|x| *x == 0.0) {
                continue;
            }
            let f = row.vector(r);
            row.kick(scene.world, &f, states);
            let (before, after) = (&self.u[3 * k..3 * k + 3], &self.after[3 * k..3 * k + 3]);
            let work: f64 = (0..3).map(|i| 0.5 * r[i] * (before[i] + after[i])).sum();
            energy_change += work;
            self.booked.impulses.push(ContactImpulse {
                contact: scene.contact(&couples[row.couple]),
                normal: r[0],
                tangential: [r[1], r[2]],
                rubs: row.law.friction > 0.0,
                slips: self.slips[k],
                work,
                touch: row.touch(&couples[row.couple], &f, states),
            });
        }
        let mut last = usize::MAX;
        for (k, row) in self.rows.iter().enumerate() {
            if self.r[3 * k] != 0.0 && row.couple != last {
                couples[row.couple].hits += 1;
                last = row.couple;
            }
        }
        self.booked.close(t, energy_change, rounds, mark);
        Ok(true)
    }

    /// Reflections without friction and with one restitution.
    fn reflect(&mut self, e: f64) -> Result<usize, Trouble> {
        let n = self.rows.len();
        self.r.clear();
        self.r.resize(3 * n, 0.0);
        self.slips.clear();
        self.slips.resize(n, false);
        self.after.clear();
        self.after.extend_from_slice(&self.u);
        let limit = ROUNDS.0 + ROUNDS.1 * n;
        for round in 0..=limit {
            self.chosen.clear();
            let plastic = round == limit;
            for k in 0..n {
                if self.after[3 * k] < -self.tolerance[k] || (plastic || e == 0.0) {
                    self.chosen.push(k);
                }
            }
            let approaches = (0..n).any(|k| self.after[3 * k] < -self.tolerance[k]);
            if !approaches {
                return Ok(round);
            }
            if plastic && e == 1.0 {
                let worst = (0..n).min_by(|&i, &j| self.after[3 * i].total_cmp(&self.after[3 * j]));
                let row = worst.unwrap_or(0);
                return Err(Trouble::Rounds { row, rounds: round, residual: -self.after[3 * row] });
            }
            let m = self.chosen.len();
            self.q.clear();
            for &k in &self.chosen {
                self.q.extend([self.after[3 * k], 0.0, 0.0]);
            }
            self.mu.clear();
            self.mu.resize(m, 0.0);
            self.lambda.clear();
            self.lambda.resize(3 * m, 0.0);
            let found = self.solve.some(&self.chosen, &self.q, &self.mu, &mut self.lambda);
            found.map_err(|error| {
                let (contact, residual) = error.culprit();
                Trouble::Friction { row: self.chosen.get(contact).copied().unwrap_or(0), residual }
            })?;
            self.spread.clear();
            self.spread.resize(3 * n, 0.0);
            for (at, &k) in self.chosen.iter().enumerate() {
                self.spread[3 * k] = self.lambda[3 * at];
            }
            self.change.clear();
            self.change.resize(3 * n, 0.0);
            self.solve.w.add_product(&self.spread, &mut self.change);
            let (mut along, mut square) = (0.0, 0.0);
            for k in 0..n {
                along += self.spread[3 * k] * self.after[3 * k];
                square += self.spread[3 * k] * self.change[3 * k];
            }
            if square <= 0.0 {
                return Ok(round);
            }
            let factor = if plastic { 1.0 } else { 1.0 + e } * (-along / square);
            for k in 0..3 * n {
                self.r[k] += factor * self.spread[k];
                self.after[k] += factor * self.change[k];
            }
            if plastic {
                return Ok(round + 1);
            }
        }
        Ok(limit)
    }

    /// Impacts with friction, or with unequal restitutions.
    fn rub(&mut self) -> Result<usize, Trouble> {
        let resolved = self.impact.resolve(&self.solve.w, &self.u, &self.laws, &self.tolerance);
        let certificate = resolved.map_err(|error| match error {
            ReflectError::Rounds { contact, residual, rounds } => {
                Trouble::Rounds { row: contact, rounds, residual }
            }
            ReflectError::Friction { contact, residual } => {
                Trouble::Friction { row: contact, residual }
            }
            error => Trouble::Law { error },
        })?;
        self.r.clear();
        self.r.extend_from_slice(self.impact.impulses());
        self.after.clear();
        self.after.extend_from_slice(self.impact.after());
        self.slips.clear();
        self.slips.extend_from_slice(self.impact.slips());
        Ok(certificate.rounds)
    }
}

/// Impacts of one contact in one step after which its bounces count as over: with losses, and without.
const HITS: (u32, u32) = (4, 12);
/// Bounces that last less than twice this part of the step are over.
pub(super) const LANDING: f64 = 0.5;

impl Couple {
    /// The law of an impact with this normal velocity: bounces that would be over within the step are none.
    pub(super) fn rebound(&self, scene: &Scene<'_>, u: f64) -> ContactLaw {
        let law = self.law;
        if self.is_over(scene, law.restitution * u.abs()) {
            return ContactLaw { restitution: 0.0, tangential_restitution: 0.0, ..law };
        }
        law
    }

    /// Whether a bounce that begins with this speed is over before the step is, or one too many.
    pub(super) fn is_over(&self, scene: &Scene<'_>, speed: f64) -> bool {
        if self.law.restitution == 1.0 {
            return self.hits >= HITS.1;
        }
        self.hits >= HITS.0 || speed <= LANDING * scene.h * self.acceleration
    }
}

/// Events and held contacts of a step, until they are sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Booked {
    pub(super) heads: Vec<Head>,
    pub(super) impulses: Vec<ContactImpulse>,
    pub(super) held: Vec<ContactImpulse>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) t: f64,
    pub(super) energy_change: f64,
    pub(super) rounds: usize,
    pub(super) span: (usize, usize),
}

impl Booked {
    pub(super) fn clear(&mut self) {
        self.truncate((0, 0, 0));
    }

    pub(super) fn mark(&self) -> (usize, usize, usize) {
        (self.heads.len(), self.impulses.len(), self.held.len())
    }

    pub(super) fn truncate(&mut self, mark: (usize, usize, usize)) {
        self.heads.truncate(mark.0);
        self.impulses.truncate(mark.1);
        self.held.truncate(mark.2);
    }

    /// Takes over the events and held contacts of another that lie between two marks.
    pub(super) fn append(
        &mut self,
        other: &Self,
        from: (usize, usize, usize),
        to: (usize, usize, usize),
    ) {
        let shift = |place: usize| place - from.1 + self.impulses.len();
        let heads = other.heads[from.0..to.0].iter();
        self.heads.extend(heads.map(|h| Head { span: (shift(h.span.0), shift(h.span.1)), ..*h }));
        self.impulses.extend_from_slice(&other.impulses[from.1..to.1]);
        self.held.extend_from_slice(&other.held[from.2..to.2]);
    }

    fn close(&mut self, t: f64, energy_change: f64, rounds: usize, from: usize) {
        let span = (from, self.impulses.len());
        self.heads.push(Head { t, energy_change, rounds, span });
    }
}

impl Trouble {
    /// As the error of a step that names the contact.
    pub(super) fn into_error(
        self,
        scene: &Scene<'_>,
        t: f64,
        contact: impl Fn(usize) -> String,
    ) -> StepError {
        match self {
            Self::Unsolved { body, unsolved } => StepError::NotConverged {
                t,
                what: "the relative attitude",
                iterations: unsolved.iterations,
                residual: unsolved.residual,
                culprit: scene.world.bodies()[body].name().to_owned(),
            },
            Self::Rounds { row, rounds, residual } => {
                StepError::Impact { t, rounds, residual, contact: contact(row) }
            }
            Self::Stage { row, rounds, residual } => StepError::NotConverged {
                t,
                what: "the contact forces",
                iterations: rounds,
                residual,
                culprit: contact(row),
            },
            Self::Events { couple, events } => {
                StepError::Accumulation { t, events, contact: couple }
            }
            Self::NotFinite { body } => StepError::NotFinite {
                t,
                what: "the state",
                culprit: scene.world.bodies()[body].name().to_owned(),
            },
            Self::Friction { row, residual } => {
                StepError::Friction { t, contact: contact(row), residual }
            }
            Self::Law { error } => StepError::Method { t, source: Box::new(error) },
            Self::Pass { couple } => StepError::Method {
                t,
                source: format!(
                    "`{couple}` move so fast that they may pass through each other; take a smaller step"
                )
                .into(),
            },
            Self::Graze { couple } => StepError::Method {
                t,
                source: format!("`{couple}` is entered without an approach; take a smaller step")
                    .into(),
            },
        }
    }
}
