//! Algorithm 1 of \[KP\] with losses: contacts that would sink land instead.
//!
//! Reflections happen at the start of a step, so a contact that bounces lower than the step can resolve would be reflected early for
//! ever, and sink at $hg$. Here a contact with $e < 1$ *lands*, that is, it leaves the reflection and joins the contacts that the position and
//! momentum updates hold on one side (its gap may still be open at the start), if
//! - $e = 0$ and it is predicted to close, or
//! - it was reflected, and a step later its gap is not larger than now: the bounce would be over, or
//! - it is predicted to close although it does not approach.
//!
//! Predictions are repeated until no contact is new and none lands. Elastic contacts are treated as published. Where no contact bounces at all,
//! those that close or touch land at once: one that is held on one side and would not close carries nothing.
//!
//! In a crowd almost all gaps are wide. Gradients and thresholds are evaluated only of gaps that close in a prediction or are not far above the
//! threshold that they last had; one that is missed touches and does not close, and counts as soon as it does.

use nsm_model::{Events, State, StepError, StepReport, System, SystemError};
use nsm_reflect::{ImpactLaw, Restitution};

use super::Gvi;
use super::glide::{can_glide, glide};
use crate::methods::svci::{Flow, Point, Thresholds};
use crate::shared::impact::Impact;
use crate::shared::position::Hold;

/// Gaps above this many of their thresholds are wide.
const WIDE: f64 = 1e3;

/// Steps with losses: workspace.
#[derive(Debug)]
pub(super) struct Landing<'a> {
    flow: Flow<'a>,
    thresholds: Thresholds,
    e: Vec<f64>,
    here: Point,
    there: Point,
    slope: Vec<f64>,
    /// $\mathbb A$ without the contacts that land; those; and all that are held.
    candidates: Vec<usize>,
    candidate: Vec<bool>,
    landed: Vec<bool>,
    held: Vec<usize>,
    reflected: Vec<bool>,
    /// Rows whose gradients and thresholds are those of this step; the list of them.
    seen: Vec<bool>,
    looked_at: Vec<usize>,
    /// Whether no contact bounces.
    plastic: bool,
    /// Whether steps may be free flight.
    glides: bool,
    /// Whether the last step succeeded: it then ended in `there`.
    settled: bool,
    p: Vec<f64>,
}

impl<'a> Landing<'a> {
    /// Nothing if no contact loses energy.
    pub(super) fn new(gvi: &Gvi, system: &'a System) -> Result<Option<Self>, SystemError> {
        let m = system.inequalities().len();
        let Some(restitution) = losses(&gvi.law) else { return Ok(None) };
        restitution.check_for(system)?;
        let e: Vec<f64> = (0..m).map(|i| restitution.of(i)).collect();
        if gvi.linearised || e.iter().all(|e| *e == 1.0) {
            return Ok(None);
        }
        let n = system.dimension();
        let plastic = e.iter().all(|e| *e == 0.0);
        let flow = Flow::new(system, gvi.quadrature, gvi.step, false, gvi.tolerances)?;
        Ok(Some(Self {
            glides: can_glide(&flow.kernel),
            settled: false,
            flow,
            thresholds: Thresholds::new(system),
            e,
            here: Point::new(system),
            there: Point::new(system),
            slope: vec![0.0; n],
            candidates: Vec::with_capacity(m),
            candidate: vec![false; m],
            landed: vec![false; m],
            held: Vec::with_capacity(m),
            reflected: vec![false; m],
            seen: vec![false; m],
            looked_at: Vec::with_capacity(m),
            plastic,
            p: vec![0.0; n],
        }))
    }

    /// Puts `here` where the step begins: where the last one ended, if the state is the same.
    fn begin(&mut self, state: &State) -> Result<(), StepError> {
        let settled = std::mem::replace(&mut self.settled, false);
        if !settled || self.there.q != state.q || self.there.p != state.p {
            return self.here.place_gaps(&mut self.flow.mass, &state.q, &state.p, state.t);
        }
        std::mem::swap(&mut self.here, &mut self.there);
        self.here.t = state.t;
        Ok(())
    }

    /// Begins a step of size `h`, and takes it if it is free flight. Gaps that are wide where it begins, and open where it ends, are those that
    /// the general way does not look at.
    pub(super) fn glide(&mut self, state: &mut State, h: f64) -> Result<bool, StepError> {
        self.begin(state)?;
        let mut thresholds = self.here.gap.iter().zip(&self.thresholds.gap);
        let wide = self.glides && thresholds.all(|(gap, zero)| *gap > WIDE * zero);
        if !wide || !glide(&mut self.flow.kernel, h, &mut self.there.gap, state) {
            return Ok(false);
        }
        self.there.q.copy_from_slice(&state.q);
        self.there.p.copy_from_slice(&state.p);
        self.there.v.copy_from_slice(&state.v);
        self.settled = true;
        Ok(true)
    }

    /// A step of size `h` that was begun and is no free flight.
    pub(super) fn step(
        &mut self,
        state: &mut State,
        h: f64,
        impact: &mut Impact<'a>,
        events: &mut Events,
    ) -> Result<StepReport, StepError> {
        let (system, t) = (self.flow.system, state.t);
        events.clear();
        self.flow.slope_at(&self.here, h, &mut self.slope);
        let mass = self.flow.mass.at(&self.here.q, t)?;
        self.thresholds.begin(mass, &self.here, &self.slope, h);
        self.seen.fill(false);
        self.looked_at.clear();
        self.flow.iterations = 0;
        self.landed.fill(false);
        self.candidate.fill(false);
        self.held.clear();
        let mut report = StepReport::default();
        self.p.copy_from_slice(&state.p);
        self.predict(t, h)?;
        self.candidates.clear();
        for i in 0..self.e.len() {
            let closes = self.there.gap[i] <= 0.0;
            if closes || self.here.gap[i] <= WIDE * self.thresholds.gap[i] {
                self.look_at(i)?;
                self.candidate[i] = closes || self.here.gap[i] <= self.thresholds.gap[i];
                if self.candidate[i] {
                    self.candidates.push(i);
                }
            }
        }
        let touched = !self.candidates.is_empty();
        if self.plastic {
            self.land_all();
        }
        let most = 100 + 4 * self.e.len();
        for round in 0.. {
            if round == 0 && !touched {
                break;
            }
            self.reflect(t, impact, events, &mut report)?;
            self.gather_held();
            self.predict(t, h)?;
            if !self.find_landings()? {
                break;
            }
            if round == most {
                let contact = self.candidates.last().or(self.held.last());
                let contact = contact.map_or("", |&i| system.inequalities().name(i)).to_owned();
                return Err(StepError::Accumulation { t, events: round, contact });
            }
        }
        self.book_landings(t + h, events);
        report.iterations = self.flow.iterations;
        report.residual = self.flow.kernel.position.residual;
        report.closed = self.held.len();
        state.t = self.flow.kernel.clock.tick(t);
        state.q.copy_from_slice(&self.there.q);
        state.p.copy_from_slice(&self.there.p);
        state.v.copy_from_slice(&self.there.v);
        self.flow.kernel.lagrangian.accept(&state.q, state.t);
        self.settled = true;
        Ok(report)
    }

    /// The step that the present momentum and set of held contacts lead to.
    fn predict(&mut self, t: f64, h: f64) -> Result<(), StepError> {
        let from = (&self.here.q[..], &self.p[..], t);
        self.flow.impulse.fill(0.0);
        self.flow.base(from, h, &self.held, Hold::OneSided, &self.thresholds)?;
        self.flow.end_with_gaps(&mut self.there, t + h)
    }

    /// Gradient, rate and thresholds of a row at the start of the step.
    fn look_at(&mut self, i: usize) -> Result<(), StepError> {
        if !std::mem::replace(&mut self.seen[i], true) {
            self.looked_at.push(i);
            self.here.look_at(self.flow.system, i)?;
            let mass = self.flow.mass.at(&self.here.q, self.here.t)?;
            self.thresholds.renew_row(self.flow.system, mass, &self.here, i);
        }
        Ok(())
    }

    /// All candidates land.
    fn land_all(&mut self) {
        for &i in &self.candidates {
            self.landed[i] = true;
        }
        self.candidates.clear();
    }

    /// The impact law at the candidates that do not land, always from the momentum before.
    fn reflect(
        &mut self,
        t: f64,
        impact: &mut Impact<'a>,
        events: &mut Events,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        events.clear();
        report.rounds = 0;
        self.reflected.fill(false);
        self.p.copy_from_slice(&self.here.p);
        if self.candidates.is_empty() {
            return Ok(());
        }
        impact.configure(&self.flow.kernel.gaps, &self.here.q, t, &self.candidates);
        let Some(change) = impact.reflect(t, &self.candidates, &mut self.p)? else {
            return Ok(());
        };
        report.rounds = change.rounds;
        let impulses = self.candidates.iter().zip(impact.impulses()).filter(|(_, l)| **l != 0.0);
        for (&i, _) in impulses.clone() {
            self.reflected[i] = true;
        }
        events.push(t, change.energy, change.rounds, impulses.map(|(&i, &l)| (i, l)));
        Ok(())
    }

    /// Contacts that land, and elastic ones that are closed and at rest.
    fn gather_held(&mut self) {
        let (system, rows) = (self.flow.system, self.flow.system.inequalities());
        system.mass().solve(&self.p, &mut self.there.v);
        self.held.clear();
        self.looked_at.sort_unstable();
        for &i in &self.looked_at {
            let rests = || {
                let rate = rows.row_dot(i, &self.here.gradient, &self.there.v);
                self.here.gap[i] <= self.thresholds.gap[i] && rate.abs() <= self.thresholds.rate[i]
            };
            if self.landed[i] || (self.e[i] == 1.0 && rests()) {
                self.held.push(i);
            }
        }
    }

    /// Lets contacts land and adds new ones; whether anything changed.
    fn find_landings(&mut self) -> Result<bool, StepError> {
        let mut changed = false;
        for i in 0..self.e.len() {
            if self.there.gap[i] < 0.0 {
                self.look_at(i)?;
            }
            if !self.seen[i] || self.landed[i] {
                continue;
            }
            let closes = self.there.gap[i] < -self.thresholds.below[i];
            if !self.candidate[i] {
                if closes {
                    self.candidate[i] = true;
                    self.candidates.push(i);
                    changed = true;
                }
                continue;
            }
            if self.e[i] == 1.0 {
                continue;
            }
            let approached = self.here.rate[i] < -self.thresholds.rate[i];
            let over = self.reflected[i] && self.there.gap[i] <= self.here.gap[i];
            let pressed = closes && !(approached && self.e[i] > 0.0);
            let plastic = self.e[i] == 0.0 && (closes || self.reflected[i]);
            if over || pressed || plastic || (closes && !self.reflected[i]) {
                self.landed[i] = true;
                changed = true;
            }
        }
        if self.plastic {
            self.land_all();
        } else if changed {
            let landed = &self.landed;
            self.candidates.retain(|&i| !landed[i]);
            self.candidates.sort_unstable();
        }
        Ok(changed)
    }

    /// Books what contacts that arrived with speed and landed took, by difference.
    fn book_landings(&mut self, t: f64, events: &mut Events) {
        let arrived = |i: &&usize| {
            self.landed[**i]
                && self.here.rate[**i] < -self.thresholds.rate[**i]
                && self.flow.impulse[**i] > 0.0
        };
        if !self.held.iter().any(|i| arrived(&i)) {
            return;
        }
        let system = self.flow.system;
        let kinetic = |p: &[f64], v: &mut [f64]| {
            system.mass().solve(p, v);
            system.mass().kinetic_energy(v)
        };
        let before =
            kinetic(&self.p, &mut self.slope) + system.potential().sum(&self.here.q, self.here.t);
        let after = system.mass().kinetic_energy(&self.there.v)
            + system.potential().sum(&self.there.q, self.there.t);
        let landings = self.held.iter().filter(arrived);
        events.push(t, after - before, 0, landings.map(|&i| (i, self.flow.impulse[i])));
    }
}

/// The coefficients of a law that has them.
fn losses(law: &ImpactLaw) -> Option<&Restitution> {
    match law {
        ImpactLaw::Reflection | ImpactLaw::Published => None,
        ImpactLaw::Sequential(e) | ImpactLaw::Newton(e) | ImpactLaw::Lcp(e) => Some(e),
    }
}
