//! Contacts that are held with friction: the two stages of a step, each one friction problem.
//!
//! Stage 1, from $(q, v)$ with the forces of the start and impulses $r$ of the contacts (normal and tangents at $q$):
//! $$ v\' = v + M^{-1}\bigl(\tfrac\tau2 f(q) + F\nu + J(q)^\top r\bigr), \qquad x = q + \tau v\', \qquad
//!    u = \bigl(g(x)/\tau,\\; J_T(q)\\,v\'\bigr) \text{ and } r \text{ by Coulomb\'s law}, \qquad f(x) = 0 , $$
//! $J_T v\'$ being the displacement of the material points over $\tau$: $v\'$ leads from one configuration to another and is tangent to the equalities at neither, so that
//! rows projected onto them would measure another slip, off by $O(\tau)$, and a corner that sticks would creep at first order. It is
//! solved by rounds: fly with the impulses so far, then find those that the end asks for, with $W = J P J^\top$ of the start.
//! Stage 2, at $x$ with the forces there: the law holds for the **total** $R = r\' + r_2$, $r\'$ being $r$ carried to the frames at $x$ as
//! vectors of the world,
//! $$ \text{FC3D}\bigl(W(x),\\; J(x)\\,v_1|_{r_2 = 0} - W(x)\\,r\'\bigr) \to R . $$
//! A surface that moves by itself does so in stage 1 as in the middle of both ends: what sticks to a turntable stays on its circle.
//! Slip that turns within the piece has its friction against the slip in the middle, $J_T v\'$, not at the end (`friction/turn.rs`).
//! With the law on $r_2$ alone a landing would be two partial impacts with friction, split where the surface happens to lie in the step, and
//! would not converge. For flat contacts the step is one plastic impact at fixed $W$ and cannot gain energy.
//!
//! Dry friction on freedoms stands after the contacts in both stages, with bounds for normal impulses (`dry.rs`).
//!
//! Work of a contact: $r \cdot (u_{\text{before}} + u_{\text{after}})/2$ for each stage, before the forces: the work of sliding is exact.

mod driven;
mod flight;
mod solve;
mod turn;

use nsm_model::{ContactImpulse, ContactLaw, PlacedMass, StepError, System};
use nsm_reflect::{FrictionImpact, FrictionRows, Metric, ReflectError};
use nsm_solvers::friction::{FrictionProblem, FrictionSolver};

use super::dry::{self, Dry};
use super::thresholds::Thresholds;
use crate::shared::kernel::Kernel;
use crate::shared::relaxation::Relaxation;

/// Velocities below so many thresholds are those of a contact that sticks.
const STICKS: f64 = 1e3;

/// Friction at the contacts of a system, with all workspace.
#[derive(Debug)]
pub(crate) struct Friction {
    /// $\mu$ of every contact, one for dry friction, and the laws of contacts.
    coefficient: Vec<f64>,
    pub(crate) laws: Vec<ContactLaw>,
    pub(crate) rows: FrictionRows,
    pub(crate) impact: FrictionImpact,
    /// What every contact that was held did over the last piece.
    pub(crate) booked: Vec<ContactImpulse>,
    /// Impulses of stage 1 of every contact, to begin with the next time.
    warm: Vec<[f64; 3]>,
    problem: FrictionProblem,
    solver: FrictionSolver,
    slots: Vec<usize>,
    mu: Vec<f64>,
    /// Of the contacts in hand: impulses, right-hand side, velocities.
    r: Vec<f64>,
    next: Vec<f64>,
    b: Vec<f64>,
    rhs: Vec<f64>,
    /// Velocities of a chord by rows as they were given, less those by rows projected onto the equalities.
    chord: Vec<f64>,
    /// By how much slip turned within the piece in hand.
    turned: Vec<[f64; 2]>,
    u: Vec<f64>,
    before: Vec<f64>,
    effect: Vec<f64>,
    closed: Vec<usize>,
    g: Vec<f64>,
    f: Vec<f64>,
    kicked: Vec<f64>,
    impulse: Vec<f64>,
    v: Vec<f64>,
    relaxation: Relaxation,
    /// Residual of the last friction problem of a stage 1 that was solved for all digits.
    reached: f64,
    /// The velocity $v\'$ between the stages.
    between: Vec<f64>,
    dry: Dry,
    /// Contacts in hand and dry friction; impulses of the equalities that answer to the end of stage 1 and to that of stage 2.
    all: Vec<usize>,
    xi: [Vec<f64>; 2],
    trial: Vec<f64>,
}

impl Friction {
    pub(crate) fn new(system: &System, metric: &Metric, laws: Vec<ContactLaw>) -> Self {
        let n = system.dimension();
        let m = system.inequalities().len() + system.dry().len();
        let mut coefficient: Vec<f64> = laws.iter().map(|law| law.friction).collect();
        coefficient.resize(m, 1.0);
        let equal = vec![0.0; system.equalities().len()];
        Self {
            coefficient,
            laws,
            rows: FrictionRows::new(system, metric),
            impact: FrictionImpact::default(),
            booked: vec![ContactImpulse::default(); m],
            warm: vec![[0.0; 3]; m],
            problem: FrictionProblem::default(),
            solver: FrictionSolver::default(),
            slots: Vec::with_capacity(m),
            mu: Vec::with_capacity(m),
            r: Vec::with_capacity(3 * m),
            next: Vec::with_capacity(3 * m),
            b: Vec::with_capacity(3 * m),
            rhs: Vec::with_capacity(3 * m),
            chord: Vec::with_capacity(3 * m),
            turned: Vec::with_capacity(m),
            u: Vec::with_capacity(3 * m),
            before: Vec::with_capacity(3 * m),
            effect: Vec::with_capacity(3 * m),
            closed: Vec::with_capacity(m),
            g: vec![0.0; system.inequalities().entries()],
            f: vec![0.0; system.equalities().entries()],
            kicked: vec![0.0; n],
            impulse: vec![0.0; n],
            v: vec![0.0; n],
            between: vec![0.0; n],
            dry: Dry::new(system),
            all: Vec::with_capacity(m),
            xi: [equal.clone(), equal],
            trial: vec![0.0; n],
            relaxation: Relaxation::default(),
            reached: 0.0,
        }
    }

    /// Whether any of these contacts rubs.
    pub(crate) fn rubs(&self, contacts: &[usize]) -> bool {
        contacts.iter().any(|&i| self.coefficient[i] > 0.0)
    }

    /// Whether dry friction on freedoms rubs wherever contacts are.
    pub(crate) fn is_dry(&self) -> bool {
        !self.dry.limit.is_empty()
    }

    pub(crate) fn forget(&mut self) {
        self.booked.fill(ContactImpulse::default());
    }

    /// $\Phi_\tau$ with `held` contacts, one-sided, from `(q, p, t)`; contacts that are closed at the end and do not open go to `active`,
    /// normal impulses are added to `impulse`. Returns the iterations.
    pub(crate) fn advance(
        &mut self,
        (kernel, mass): (&mut Kernel<'_>, &mut PlacedMass<'_>),
        (q, p, t): (&[f64], &[f64], f64),
        tau: f64,
        held: &[usize],
        thresholds: &Thresholds,
        active: &mut Vec<usize>,
    ) -> Result<usize, StepError> {
        let mut all = std::mem::take(&mut self.all);
        all.clear();
        all.extend_from_slice(held);
        all.extend(self.dry.first..self.coefficient.len());
        let outcome = self.stages((kernel, mass), (q, p, t), tau, (&all, thresholds), active);
        self.all = all;
        outcome
    }

    fn stages(
        &mut self,
        (kernel, mass): (&mut Kernel<'_>, &mut PlacedMass<'_>),
        (q, p, t): (&[f64], &[f64], f64),
        tau: f64,
        (held, thresholds): (&[usize], &Thresholds),
        active: &mut Vec<usize>,
    ) -> Result<usize, StepError> {
        let iterations = self.stage_one((kernel, mass), (q, p, t), tau, held)?;
        // v' from the impulses, never from (x − q)/τ.
        mass.at(q, t)?.solve(p, &mut self.v);
        self.rows.velocities(&self.v, &mut self.before);
        self.rows.velocities_given(&self.between, &mut self.u);
        self.book(held, None);
        for (slot, &i) in held.iter().enumerate() {
            self.warm[i].copy_from_slice(&self.r[3 * slot..3 * slot + 3]);
        }
        kernel.advance_momentum((q, &self.kicked, t), tau, &[])?;
        self.stage_two((kernel, mass), (q, t), tau, held, thresholds, active)?;
        Ok(iterations)
    }

    fn stage_two(
        &mut self,
        (kernel, mass): (&mut Kernel<'_>, &mut PlacedMass<'_>),
        (q, t): (&[f64], f64),
        tau: f64,
        held: &[usize],
        thresholds: &Thresholds,
        active: &mut Vec<usize>,
    ) -> Result<(), StepError> {
        let (system, end) = (kernel.system, t + tau);
        let mut closed = std::mem::take(&mut self.closed);
        closed.clear();
        self.next.clear();
        for (slot, &i) in held.iter().enumerate() {
            let r = [self.r[3 * slot], self.r[3 * slot + 1], self.r[3 * slot + 2]];
            if i >= self.dry.first {
                closed.push(i);
                self.next.extend(r);
                continue;
            }
            let gap = kernel.gaps.value(i, &kernel.position.x, end);
            if gap <= thresholds.gap[i] || r[0] > 0.0 {
                closed.push(i);
                self.next.extend(carried(system, i, r, (q, t), (&kernel.position.x, end)));
            }
        }
        if closed.is_empty() {
            self.closed = closed;
            return Ok(());
        }
        let outcome = self.close((kernel, mass), (q, end, tau), &closed, thresholds, active);
        self.closed = closed;
        outcome
    }

    /// The law for the total impulse of the closed contacts, that of stage 1 from `q` being in `next`.
    fn close(
        &mut self,
        (kernel, mass): (&mut Kernel<'_>, &mut PlacedMass<'_>),
        (q, t, tau): (&[f64], f64, f64),
        closed: &[usize],
        thresholds: &Thresholds,
        active: &mut Vec<usize>,
    ) -> Result<(), StepError> {
        let system = kernel.system;
        self.dry.check_unique(kernel, t)?;
        self.xi[0].copy_from_slice(kernel.equality_multipliers());
        self.xi[1].fill(0.0);
        let x = std::mem::take(&mut kernel.position.x);
        let placed = self.place((kernel, mass), (&x, t), closed);
        kernel.position.x = x;
        placed?;
        std::mem::swap(&mut self.r, &mut self.next);
        mass.last().solve(&kernel.p, &mut self.v);
        self.rows.velocities(&self.v, &mut self.b);
        self.subtract_effect();
        // The total of both halves is about twice the first.
        self.next.clear();
        self.next.extend(self.r.iter().map(|r| 2.0 * r));
        self.rows.velocities_given(&self.between, &mut self.before);
        self.rows.add_half_turn(system, (q, t - tau), &mut self.before);
        self.turned.clear();
        self.turned.resize(closed.len(), [0.0; 2]);
        for round in 0.. {
            let settled = self.dry.end(kernel, tau, [&self.xi[0], &self.xi[1]]);
            let straight = round == 0 || !self.turn(closed, thresholds, round);
            if round > 0 && straight && (settled || !self.dry.loaded) {
                break;
            }
            if round == dry::ROUNDS {
                return Err(StepError::NotConverged {
                    t,
                    what: "the friction by the load of joints",
                    iterations: round,
                    residual: f64::NAN,
                    culprit: system.dry().names().first().cloned().unwrap_or_default(),
                });
            }
            self.bound(closed);
            self.solve(system, t, closed, 0.0)?;
            if self.dry.loaded {
                self.answer(kernel, t)?;
            }
        }
        for (r, total) in self.r.iter_mut().zip(&self.next) {
            *r = total - *r;
        }
        self.rows.push(&self.r, &mut kernel.p);
        mass.last().solve(&kernel.p, &mut self.v);
        self.rows.velocities(&self.v, &mut self.u);
        self.book(closed, Some(thresholds));
        for (slot, &i) in closed.iter().enumerate().filter(|(_, i)| **i < self.dry.first) {
            if self.u[3 * slot] <= thresholds.rate[i] {
                active.push(i);
            }
        }
        Ok(())
    }

    /// What the equalities take beside the impulses of stage 2 that are in `next`.
    fn answer(&mut self, kernel: &mut Kernel<'_>, t: f64) -> Result<(), StepError> {
        self.effect.clear();
        self.effect.extend(self.next.iter().zip(&self.r).map(|(total, r)| total - r));
        self.trial.copy_from_slice(&kernel.p);
        self.rows.push_given(&self.effect, &mut self.trial);
        let x = std::mem::take(&mut kernel.position.x);
        let outcome = kernel.project((&x, t), &[], &mut self.trial);
        kernel.position.x = x;
        self.xi[1].copy_from_slice(kernel.equality_multipliers());
        outcome
    }

    /// Writes the right-hand sides by which dry friction has its bounds for normal impulses.
    fn bound(&mut self, contacts: &[usize]) {
        for (slot, &i) in contacts.iter().enumerate() {
            if let Some(k) = i.checked_sub(self.dry.first) {
                self.b[3 * slot] = -self.dry.limit[k] * self.rows.delassus().own(slot)[0];
            }
        }
    }

    /// Books impulses `r` between velocities `before` and `u`; a contact slips at the end if it is faster than its threshold.
    fn book(&mut self, contacts: &[usize], end: Option<&Thresholds>) {
        for (slot, &i) in contacts.iter().enumerate() {
            let span = 3 * slot..3 * slot + 3;
            let (r, u) = (&self.r[span.clone()], &self.u[span.clone()]);
            let mean = self.before[span].iter().zip(u).map(|(a, b)| 0.5 * (a + b));
            let (dry, driven) = (i >= self.dry.first, self.driven(slot, i));
            let work = match driven {
                Some(rate) => r[1] * rate,
                None => r.iter().zip(mean).map(|(r, u)| r * u).sum::<f64>(),
            };
            let work = work + self.rows.surface_work(slot, r);
            let booked = &mut self.booked[i];
            booked.contact = i;
            booked.rubs = self.coefficient[i] > 0.0;
            booked.normal += if dry { 0.0 } else { r[0] };
            booked.tangential[0] += r[1];
            booked.tangential[1] += r[2];
            // Where other forces turn a rate round within the stage, the mean of both ends has the sign of none.
            booked.work += if dry { work.min(0.0) } else { work };
            if let Some(thresholds) = end {
                let square = self.rows.delassus().own(slot)[4];
                let rate = if dry { thresholds.slow(square) } else { thresholds.rate[i] };
                booked.slips = match driven {
                    Some(rate) => rate != 0.0,
                    None => u[1].hypot(u[2]) > STICKS * rate,
                };
            }
        }
    }

    fn place(
        &mut self,
        (kernel, mass): (&Kernel<'_>, &mut PlacedMass<'_>),
        (q, t): (&[f64], f64),
        contacts: &[usize],
    ) -> Result<(), StepError> {
        let system = kernel.system;
        let (_, metric) = mass.with_metric(q, t)?;
        for &i in contacts.iter().filter(|i| **i < self.dry.first) {
            kernel.gaps.gradient(i, q, t, &mut self.g);
        }
        system.equalities().gradients(q, t, &mut self.f);
        self.rows
            .place(system, metric, (q, t), (&self.g, &self.f), contacts)
            .map_err(|error| named(system, t, error))
    }

    /// Subtracts from `b` what the impulses `r` do: $b \leftarrow b - W r$.
    fn subtract_effect(&mut self) {
        self.effect.clear();
        self.effect.resize(self.r.len(), 0.0);
        self.rows.delassus().add_product(&self.r, &mut self.effect);
        self.b.iter_mut().zip(&self.effect).for_each(|(b, e)| *b -= e);
    }

    /// $M v\' = p + J^\top r + F\nu - \tfrac\tau2 s$ over the piece that began at `q`.
    fn velocity_between(
        &mut self,
        kernel: &mut Kernel<'_>,
        (q, t): (&[f64], f64),
        tau: f64,
    ) -> Result<(), StepError> {
        let left = &kernel.lagrangian.left;
        for ((out, p), s) in self.impulse.iter_mut().zip(&self.kicked).zip(left) {
            *out = p - 0.5 * tau * s;
        }
        if kernel.position.pressed {
            let constraint = &kernel.position.impulse;
            self.impulse.iter_mut().zip(constraint).for_each(|(out, f)| *out += f);
        }
        kernel.mean_velocity((q, t), &self.impulse, &mut self.between)
    }
}

/// An impulse in the frame of a contact at one configuration, in that at another: the same vector in the world.
fn carried(
    system: &System,
    contact: usize,
    r: [f64; 3],
    (q, t): (&[f64], f64),
    (x, end): (&[f64], f64),
) -> [f64; 3] {
    let frame = |q: &[f64], t: f64| system.tangents().of(contact).and_then(|f| f.frame(q, t));
    let (Some(from), Some(to)) = (frame(q, t), frame(x, end)) else { return r };
    let world: [f64; 3] =
        std::array::from_fn(|k| from[0][k] * r[0] + from[1][k] * r[1] + from[2][k] * r[2]);
    to.map(|row| row[0] * world[0] + row[1] * world[1] + row[2] * world[2])
}

/// The error of an impact with the names of the system.
pub(super) fn named(system: &System, t: f64, error: ReflectError) -> StepError {
    let name = |i: usize| system.inequalities().names().get(i).cloned().unwrap_or_default();
    match error {
        ReflectError::Friction { contact, residual } => {
            StepError::Friction { t, contact: name(contact), residual }
        }
        ReflectError::Rounds { contact, residual, rounds } => {
            StepError::Impact { t, rounds, residual, contact: name(contact) }
        }
        ReflectError::NotFinite { what, contact } => {
            StepError::NotFinite { t, what, culprit: name(contact) }
        }
        other => StepError::Method { t, source: Box::new(other) },
    }
}
