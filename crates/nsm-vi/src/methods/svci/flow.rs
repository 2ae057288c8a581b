//! The base map $\Phi_\tau$ with contacts held, and fractions of a step made of it.
//!
//! Position (stage 1), with $S$ the contacts that are held and $F$ the equalities:
//! $$ D_1 L_d(q, x) + p + G_S(q) r + F(q) s = 0, \qquad 0 \le r \perp g_S(x) \ge 0, \qquad f(x) = 0 , $$
//! then momentum from the impulses, never from $M(x - q)/\tau$ (so that fractions of $10^{-7}$ keep momentum to rounding), and
//! its least projection onto $G_c(x)^\top v \ge 0$ over the contacts $c$ of $S$ that are closed at $x$ (stage 2), with $F(x)^\top v = 0$:
//! unilateral RATTLE. A contact leaves when neither stage wants an impulse of it.
//!
//! Held on both sides ($g_S(x) = 0$, $G_S^\top v = 0$) the map is RATTLE and has a numerical Hamiltonian, so that fractions of a step can be
//! composed of it ([`outer_share`]), of any sign.

use nsm_model::{PlacedMass, StepError, System, SystemError};
use nsm_reflect::LeastImpulses;
use nsm_solvers::small::norm_inf;

use super::HALVINGS;
use super::crowd::Crowd;
use super::fraction::outer_share;
use super::friction::Friction;
use super::point::Point;
use super::thresholds::Thresholds;
use crate::shared::kernel::Kernel;
use crate::shared::position::Hold;
use crate::{Quadrature, Tolerances};

/// Rounds of stage 1 where contacts are redundant; the last ones may stop at less.
pub(super) const ROUNDS: usize = 80;
pub(super) const FULL_ACCURACY: usize = 12;

/// Workspace of the base map; the end of the last piece is in `end`.
#[derive(Debug)]
pub(crate) struct Flow<'a> {
    pub(crate) system: &'a System,
    pub(crate) kernel: Kernel<'a>,
    pub(crate) least: LeastImpulses,
    pub(crate) mass: PlacedMass<'a>,
    pub(super) h: f64,
    /// Whether fractions of a step are composed; plain otherwise.
    composed: bool,
    /// Contacts of the set held that are closed at the end and do not open.
    pub(crate) active: Vec<usize>,
    /// Impulse of every contact over the last piece, stages 1 and 2.
    pub(crate) impulse: Vec<f64>,
    /// Present where contacts rub.
    pub(crate) friction: Option<Friction>,
    pub(crate) iterations: usize,
    /// Contacts held, over all pieces that were flown.
    pub(crate) flights: usize,
    /// Present where many contacts can be solved for together.
    pub(super) crowd: Option<Box<Crowd>>,
    /// The start of an inner piece.
    pub(super) q: Vec<f64>,
    pub(super) p: Vec<f64>,
    pub(super) v: Vec<f64>,
    gap: Vec<f64>,
    pub(super) g: Vec<f64>,
    f: Vec<f64>,
    pub(super) closed: Vec<usize>,
    slots: Vec<usize>,
    b: Vec<f64>,
    lambda: Vec<f64>,
    r: Vec<f64>,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(
        system: &'a System,
        quadrature: Quadrature,
        h: f64,
        composed: bool,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        let kernel = Kernel::of_any_mass(system, quadrature, h, false, tolerances)?;
        let mass = PlacedMass::new(system)?;
        let (n, m) = (system.dimension(), system.inequalities().len());
        let crowd = kernel.position.is_bare().then(|| Box::new(Crowd::new(system)));
        Ok(Self {
            system,
            kernel,
            least: LeastImpulses::new(system, mass.metric()),
            crowd,
            mass,
            h,
            composed,
            active: Vec::with_capacity(m),
            impulse: vec![0.0; m],
            friction: None,
            iterations: 0,
            flights: 0,
            q: vec![0.0; n],
            p: vec![0.0; n],
            v: vec![0.0; n],
            gap: vec![0.0; m],
            g: vec![0.0; system.inequalities().entries()],
            f: vec![0.0; system.equalities().entries()],
            closed: Vec::with_capacity(m),
            slots: Vec::with_capacity(m),
            b: Vec::with_capacity(m),
            lambda: Vec::with_capacity(m),
            r: Vec::with_capacity(m),
        })
    }

    /// Whether any of these contacts rubs.
    pub(crate) fn rubs(&self, contacts: &[usize]) -> bool {
        self.friction.as_ref().is_some_and(|friction| friction.rubs(contacts))
    }

    /// Whether there is dry friction on freedoms.
    pub(crate) fn is_dry(&self) -> bool {
        self.friction.as_ref().is_some_and(Friction::is_dry)
    }

    /// Puts a point where the last piece led to, with all that contacts need there.
    pub(crate) fn end_at(&mut self, point: &mut Point, t: f64) -> Result<(), StepError> {
        point.place(&mut self.mass, &self.kernel.position.x, &self.kernel.p, t)
    }

    /// The same with gaps alone.
    pub(crate) fn end_with_gaps(&mut self, point: &mut Point, t: f64) -> Result<(), StepError> {
        point.place_gaps(&mut self.mass, &self.kernel.position.x, &self.kernel.p, t)
    }

    /// Writes $s = \nabla V - f$ where a step of size `h` begins.
    pub(crate) fn slope_at(&mut self, at: &Point, h: f64, slope: &mut [f64]) {
        let lagrangian = &mut self.kernel.lagrangian;
        if lagrangian.is_explicit() && !self.mass.varies() {
            lagrangian.slope_at_start(&at.q, at.t, h);
            slope.copy_from_slice(&lagrangian.left);
        } else {
            lagrangian.loads.slope(&at.q, &at.v, at.t, slope);
        }
    }

    /// Goes on for `tau` from `at`: composed like a full step where `hold` is two-sided, plainly otherwise.
    pub(crate) fn advance(
        &mut self,
        at: &Point,
        tau: f64,
        held: &[usize],
        hold: Hold,
        thresholds: &Thresholds,
    ) -> Result<(), StepError> {
        self.impulse.fill(0.0);
        self.flights += held.len();
        if let Some(friction) = &mut self.friction {
            friction.forget();
        }
        let theta = tau / self.h;
        let outer = if hold == Hold::TwoSided && self.composed { outer_share(theta) } else { 0.0 };
        if outer == 0.0 {
            return self.base((&at.q, &at.p, at.t), tau, held, hold, thresholds);
        }
        let (outer, inner) = (outer * self.h, tau - 2.0 * outer * self.h);
        let (mut q, mut p) = (std::mem::take(&mut self.q), std::mem::take(&mut self.p));
        let mut outcome = self.base((&at.q, &at.p, at.t), outer, held, hold, thresholds);
        let mut t = at.t + outer;
        for piece in [inner, outer] {
            if outcome.is_err() {
                break;
            }
            q.copy_from_slice(&self.kernel.position.x);
            p.copy_from_slice(&self.kernel.p);
            self.kernel.lagrangian.accept(&q, t);
            outcome = self.base((&q, &p, t), piece, held, hold, thresholds);
            t += piece;
        }
        (self.q, self.p) = (q, p);
        outcome
    }

    /// $\Phi_\tau$.
    pub(crate) fn base(
        &mut self,
        from: (&[f64], &[f64], f64),
        tau: f64,
        held: &[usize],
        hold: Hold,
        thresholds: &Thresholds,
    ) -> Result<(), StepError> {
        self.kernel.position.hold = hold;
        self.active.clear();
        if held.is_empty() && !self.is_dry() {
            self.iterations += self.kernel.advance_position(from, tau, &[])?;
            return self.kernel.advance_momentum(from, tau, &[]);
        }
        if (self.is_dry() || self.rubs(held))
            && let Some(mut friction) = self.friction.take()
        {
            let Self { kernel, mass, active, .. } = self;
            let outcome = friction.advance((kernel, mass), from, tau, held, thresholds, active);
            for &i in held {
                self.impulse[i] = friction.booked[i].normal;
            }
            self.friction = Some(friction);
            self.iterations += outcome?;
            return Ok(());
        }
        let end = from.2 + tau;
        if self.is_crowd(held) {
            return self.crowd_base(from, tau, held, hold, thresholds);
        }
        let solved = self.kernel.advance_position(from, tau, held);
        match (solved, hold) {
            (Ok(iterations), _) => {
                self.iterations += iterations;
                for &i in held {
                    self.impulse[i] += self.kernel.position.lambda[i];
                }
                if hold == Hold::TwoSided {
                    self.kernel.advance_momentum(from, tau, held)?;
                    self.active.extend_from_slice(held);
                    return Ok(());
                }
                self.kernel.advance_momentum(from, tau, &[])?;
            }
            // Redundant contacts: which of them carry is not unique, and the active set may cycle.
            (Err(StepError::NotConverged { .. } | StepError::Singular { .. }), Hold::OneSided) => {
                self.least_position(from, tau, held)?;
            }
            (Err(error), _) => return Err(error),
        }
        self.least_momentum(end, held, thresholds)
    }

    /// Stage 1 by rounds: fly with the impulses so far, then find those that the gaps at the end ask for, with the
    /// contacts' matrix of the start.
    fn least_position(
        &mut self,
        (q, p, t): (&[f64], &[f64], f64),
        tau: f64,
        held: &[usize],
    ) -> Result<(), StepError> {
        let rows = self.system.inequalities();
        for &i in held {
            self.kernel.gaps.gradient(i, q, t, &mut self.g);
        }
        self.system.equalities().gradients(q, t, &mut self.f);
        self.place(held, (q, t))?;
        self.r.clear();
        self.r.resize(held.len(), 0.0);
        self.b.resize(held.len(), 0.0);
        self.lambda.resize(held.len(), 0.0);
        let mut kicked = std::mem::take(&mut self.p);
        let mut outcome = Ok(());
        let (mut change, mut scale) = (f64::INFINITY, 0.0_f64);
        for round in 0..ROUNDS {
            kicked.copy_from_slice(p);
            for (&i, r) in held.iter().zip(&self.r) {
                rows.add_row(i, &self.g, *r, &mut kicked);
            }
            outcome = self.kernel.advance_position((q, &kicked, t), tau, &[]).map(|k| {
                self.iterations += k;
            });
            if outcome.is_err() {
                break;
            }
            let x = &self.kernel.position.x;
            scale = scale.max(norm_inf(q)).max(norm_inf(x));
            for (b, &i) in self.b.iter_mut().zip(held) {
                // In units of a velocity: the gap over the step.
                *b = self.kernel.gaps.value(i, x, t + tau) / tau;
            }
            self.subtract_effect(held.len());
            let (slots, b) = (&self.slots, &self.b);
            if let Err(error) = self.least.solve(self.mass.metric(), slots, b, &mut self.lambda) {
                outcome = Err(StepError::Method { t, source: Box::new(error) });
                break;
            }
            // How far the new impulses move the end.
            self.v.fill(0.0);
            for (k, r) in self.r.iter_mut().enumerate() {
                self.least.push(k, self.lambda[k] - *r, &mut self.v);
                *r = self.lambda[k];
            }
            self.metric_times_v();
            change = tau.abs() * norm_inf(&self.v);
            scale = scale.max(change).max(f64::MIN_POSITIVE);
            let enough = if round < FULL_ACCURACY { 1e-15 } else { 1e-12 };
            if change <= enough * scale {
                break;
            }
        }
        if outcome.is_ok() && (change.is_nan() || change > 1e-9 * scale) {
            let culprit = held.first().map_or("", |&i| rows.name(i)).to_owned();
            outcome = Err(StepError::NotConverged {
                t,
                what: "the contacts that are held",
                iterations: ROUNDS,
                residual: change,
                culprit,
            });
        }
        if outcome.is_ok() {
            outcome = self.kernel.advance_momentum((q, &kicked, t), tau, &[]);
            for (&i, r) in held.iter().zip(&self.r) {
                self.impulse[i] += r;
            }
        }
        self.p = kicked;
        outcome
    }

    /// Subtracts from `b` what the impulses `r` do: $b \leftarrow b - A r$.
    fn subtract_effect(&mut self, held: usize) {
        self.v.fill(0.0);
        for k in 0..held {
            self.least.push(k, self.r[k], &mut self.v);
        }
        self.metric_times_v();
        for k in 0..held {
            self.b[k] -= self.least.along(k, &self.v);
        }
    }

    fn metric_times_v(&mut self) {
        self.closed.clear();
        let impulse = std::mem::take(&mut self.v);
        let mut velocity = std::mem::take(&mut self.q);
        self.mass.last().solve(&impulse, &mut velocity);
        (self.v, self.q) = (velocity, impulse);
    }

    /// Stage 2: the least impulses at the end of the piece that keep closed contacts from approaching.
    fn least_momentum(
        &mut self,
        t: f64,
        held: &[usize],
        thresholds: &Thresholds,
    ) -> Result<(), StepError> {
        let rows = self.system.inequalities();
        let x = &self.kernel.position.x;
        self.closed.clear();
        for &i in held {
            self.gap[i] = self.kernel.gaps.value(i, x, t);
            if self.gap[i] <= thresholds.gap[i] {
                self.closed.push(i);
                self.kernel.gaps.gradient(i, x, t, &mut self.g);
            }
        }
        if self.closed.is_empty() {
            return Ok(());
        }
        self.system.equalities().gradients(x, t, &mut self.f);
        let closed = std::mem::take(&mut self.closed);
        let x = std::mem::take(&mut self.kernel.position.x);
        let placed = self.place(&closed, (&x, t));
        self.kernel.position.x = x;
        let outcome = placed.and_then(|()| self.open(&closed, t));
        self.mass.last().solve(&self.kernel.p, &mut self.v);
        for &i in &closed {
            if rows.velocity(i, (&self.kernel.position.x, t), &self.g, &self.v)
                <= thresholds.rate[i]
            {
                self.active.push(i);
            }
        }
        self.closed = closed;
        outcome
    }

    fn open(&mut self, closed: &[usize], t: f64) -> Result<(), StepError> {
        let m = closed.len();
        self.mass.last().solve(&self.kernel.p, &mut self.v);
        self.b.clear();
        self.b.extend((0..m).map(|k| self.least.rate(k, &self.v)));
        self.lambda.resize(m, 0.0);
        let (slots, b) = (&self.slots, &self.b);
        self.least
            .solve(self.mass.metric(), slots, b, &mut self.lambda[..m])
            .map_err(|error| StepError::Method { t, source: Box::new(error) })?;
        for (k, &i) in closed.iter().enumerate() {
            if self.lambda[k] != 0.0 {
                self.least.push(k, self.lambda[k], &mut self.kernel.p);
                self.impulse[i] += self.lambda[k];
            }
        }
        Ok(())
    }

    /// Takes the rows of contacts at a configuration, which the mass is placed at from then on.
    fn place(&mut self, contacts: &[usize], (q, t): (&[f64], f64)) -> Result<(), StepError> {
        self.slots.clear();
        self.slots.extend(0..contacts.len());
        let (_, metric) = self.mass.with_metric(q, t)?;
        self.least
            .place(self.system, metric, (q, t), (&self.g, &self.f), contacts)
            .map_err(|error| StepError::Method { t, source: Box::new(error) })
    }
}

/// What a flight over `tau` comes to, or, where that has no solution, one over half of it, or a quarter; over how much.
pub(super) fn halved<T>(
    tau: f64,
    mut fly: impl FnMut(f64) -> Result<T, StepError>,
) -> Result<(f64, T), StepError> {
    let (mut outcome, mut piece) = (fly(tau), tau);
    for _ in 0..HALVINGS {
        match outcome {
            Err(error) if error.is_unsolved() => {
                piece *= 0.5;
                // The first failure says most.
                outcome = fly(piece).map_err(|_| error);
            }
            _ => break,
        }
    }
    outcome.map(|flown| (piece, flown))
}
