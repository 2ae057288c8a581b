//! The shadow-consistent variational collision integrator: contacts at their instants, losses, rest.
//!
//! One step goes from event to event. Between them, fractions $C_\theta$ of a full step that follow the numerical Hamiltonian of the full one
//! ([`fraction`]); contacts that are closed are held by unilateral RATTLE ([`flow`]) and leave smoothly. At an instant at which a
//! contact closes, Newton's law in rounds, which for $e = 1$ is the generalized reflection ([`impact`]). A bounce that would be over
//! within $2\kappa h$ is none: the contact *lands*, by a plastic impact from the state before, and is held from then on. A contact that
//! meets its surface slower than that is *captured* without looking for the instant, and held to the end of the step.
//!
//! Second order in position through impacts, landing and leaving; all impulses lie in the span of gradients, so momenta that the
//! gaps do not change are exact; energy keeps the band of the base scheme between events, and no event raises it beyond what the metric of
//! the numerical Hamiltonian moves. A body at rest stays at rest to rounding.
//!
//! Piles in which nothing bounces close many contacts in one step. As long as the flights of a step are cheap their instants are located; then contacts with
//! $e = 0$ that close are captured as well, which is of first order in time and the same at rest. Many contacts are held together, sparsely and warm ([`crowd`]).
//!
//! A mass that depends on the configuration is a matter of the base map, the discrete Euler–Lagrange equations of $L(q, v)$, and of the metric
//! $M(q)^{-1}$ of impacts ([`PlacedMass`](nsm_model::PlacedMass)); all else is as it is.
//!
//! With `composed` off (the [`Hybrid`](crate::Hybrid) method with losses) fractions are plain steps and impacts use $M^{-1}$.

mod booking;
mod crowd;
mod dry;
mod flow;
mod fraction;
mod friction;
mod impact;
mod locate;
mod point;
mod strike;
mod thresholds;

use nsm_model::{
    ContactImpulse, Events, State, StepError, StepReport, Stepper, System, SystemError,
};
use nsm_reflect::Restitution;

use crate::shared::position::Hold;
use crate::{Quadrature, Tolerances};
use flow::halved;
use friction::Friction;
use impact::Impact;

pub(crate) use flow::Flow;
pub(crate) use point::Point;
pub(crate) use thresholds::Thresholds;

/// Instants at which one lossy contact may be hit in one step; then it comes to rest.
const HITS: usize = 4;

/// Contacts that are held in the flights of one step, all flights added up, after which contacts that do not bounce are captured instead of located.
const FLIGHTS: usize = 512;

/// Halvings of a flight that has no solution.
const HALVINGS: usize = 10;

/// The shadow-consistent variational collision integrator.
///
/// ```
/// use nsm_constraints::Affine;
/// use nsm_model::{Mass, State, Stepper, System};
/// use nsm_vi::{Quadrature, Restitution, Svci};
///
/// let ball = System::new(Mass::diagonal(&[1.0])?)
///     .with_potential("gravity", Affine::new(&[0], &[9.8], 0.0)?)?
///     .with_inequality("floor", Affine::new(&[0], &[1.0], 0.0)?)?;
/// let mut state = State::new(&ball, &[1.0], &[0.0])?;
/// let svci = Svci { restitution: Restitution::Uniform(0.5), ..Svci::new(0.01, Quadrature::Verlet) };
/// let mut stepper = svci.stepper(&ball)?;
/// for _ in 0..1000 {
///     stepper.step(&mut state)?;
/// }
/// // It came to rest after 1.36 s, and has not moved since.
/// assert!(state.q[0].abs() < 1e-15 && state.v[0].abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Svci {
    /// Step $h$.
    pub step: f64,
    /// Quadrature of the action.
    pub quadrature: Quadrature,
    /// Restitution of the contacts.
    pub restitution: Restitution,
    /// Coefficient of friction of all contacts, instead of those of the system.
    pub friction: Option<f64>,
    /// Tangential restitution of all contacts, instead of those of the system.
    pub tangential_restitution: Option<f64>,
    /// $\kappa$: bounces that would be over within $2\kappa h$ are landings; that of contacts with $e < 1$.
    pub landing: f64,
    /// The same for contacts with $e = 1$, where it only bounds the number of bounces in a step; may be zero.
    pub elastic_landing: f64,
    /// Thresholds of the Newton iterations.
    pub tolerances: Tolerances,
}

impl Svci {
    /// The elastic method with default thresholds.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        Self {
            step,
            quadrature,
            restitution: Restitution::ELASTIC,
            friction: None,
            tangential_restitution: None,
            landing: 0.5,
            elastic_landing: 0.05,
            tolerances: Tolerances::default(),
        }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// Parameters out of range, coordinates without mass.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<SvciStepper<'a>, SystemError> {
        self.bind(system, true)
    }

    /// With composed or plain fractions of a step.
    pub(crate) fn bind<'a>(
        &self,
        system: &'a System,
        composed: bool,
    ) -> Result<SvciStepper<'a>, SystemError> {
        let m = system.inequalities().len();
        self.restitution.check_for(system)?;
        for (what, value) in
            [("the landing time", self.landing), ("the elastic landing time", self.elastic_landing)]
        {
            if !(0.0..=1.0).contains(&value) {
                let must = "between 0 and 1 steps";
                return Err(SystemError::Parameter { what, must, value });
            }
        }
        let e: Vec<f64> = (0..m).map(|i| self.restitution.of(i)).collect();
        let landing = |e: &f64| if *e < 1.0 { self.landing } else { self.elastic_landing };
        let h = self.step;
        let mut flow = Flow::new(system, self.quadrature, h, composed, self.tolerances)?;
        let laws = system.frictional_laws(self.friction, self.tangential_restitution)?;
        let dry = system.dry().len();
        let laws = laws.or_else(|| (dry > 0).then(|| system.contact_laws().collect()));
        if let Some(mut laws) = laws {
            laws.iter_mut().zip(&e).for_each(|(law, e)| law.restitution = *e);
            flow.friction = Some(Friction::new(system, flow.mass.metric(), laws));
        }
        Ok(SvciStepper {
            flow,
            impact: Impact::new(system, self.quadrature, h, composed)?,
            thresholds: Thresholds::new(system),
            h,
            kappa: e.iter().map(landing).collect(),
            kappas: [self.landing, self.elastic_landing],
            bounce: e.clone(),
            e,
            here: Point::new(system),
            there: Point::new(system),
            smooth: Vec::with_capacity(m),
            captured: Vec::with_capacity(m),
            held: Vec::with_capacity(m),
            holds: vec![false; m],
            flown: None,
            loose: false,
            next: Vec::with_capacity(m),
            hits: vec![0; m],
            touching: Vec::with_capacity(m),
            resting: Vec::with_capacity(m),
            landings: Vec::with_capacity(m),
            suspects: Vec::with_capacity(m),
            trial: vec![0.0; m],
            slope: vec![0.0; system.dimension()],
            caught: vec![0.0; m],
            rubbed: vec![ContactImpulse::default(); m + dry],
            done: vec![ContactImpulse::default(); m + dry],
            events: Events::with_capacity(16, 16 * m),
            staged: Events::with_capacity(16, 16 * m),
        })
    }
}

/// [`Svci`] bound to a system.
///
/// It remembers which contacts are held for as long as it is called on the state where its last step ended.
#[derive(Debug)]
pub struct SvciStepper<'a> {
    flow: Flow<'a>,
    impact: Impact,
    thresholds: Thresholds,
    h: f64,
    e: Vec<f64>,
    kappa: Vec<f64>,
    kappas: [f64; 2],
    /// Restitutions of the impact in hand: zero for contacts that land.
    bounce: Vec<f64>,
    /// Where the step has come to, and where the flow leads from there.
    here: Point,
    there: Point,
    /// $S$: contacts that are held; those captured in this step; both, sorted, and as flags.
    smooth: Vec<usize>,
    captured: Vec<usize>,
    held: Vec<usize>,
    holds: Vec<bool>,
    /// How far the flow has gone from `here`, if that is known.
    flown: Option<(f64, Hold)>,
    /// Whether contacts are held on one side alone for the rest of the step.
    loose: bool,
    /// Contacts that are active at `there`.
    next: Vec<usize>,
    hits: Vec<usize>,
    touching: Vec<usize>,
    resting: Vec<usize>,
    landings: Vec<usize>,
    /// Contacts that may close: which, a guess when, and where a dip is deepest.
    suspects: Vec<(usize, f64, Option<f64>)>,
    trial: Vec<f64>,
    slope: Vec<f64>,
    /// Impulses of the flow to `there`.
    caught: Vec<f64>,
    /// What rubbing contacts did on the flow to `there`, and since the beginning of the step.
    rubbed: Vec<ContactImpulse>,
    done: Vec<ContactImpulse>,
    events: Events,
    staged: Events,
}

impl Stepper for SvciStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.flow.system.check_lengths(state)?;
        self.begin(state)?;
        let mut report = StepReport::default();
        let outcome = self.cross(state.t, &mut report);
        if outcome.is_err() {
            // Nothing of this step is to be remembered.
            self.here.t = f64::NAN;
            self.here.q.fill(f64::NAN);
        }
        outcome?;
        self.book_held();
        report.iterations = self.flow.iterations;
        report.residual = self.flow.kernel.position.residual;
        report.closed = self.smooth.len();
        state.t = self.flow.kernel.clock.tick(state.t);
        self.here.t = state.t;
        state.q.copy_from_slice(&self.here.q);
        state.p.copy_from_slice(&self.here.p);
        state.v.copy_from_slice(&self.here.v);
        std::mem::swap(&mut self.events, &mut self.staged);
        Ok(report)
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }
}

impl SvciStepper<'_> {
    /// Takes the state over, finds which contacts are held unless that is known, and sets the thresholds.
    fn begin(&mut self, state: &State) -> Result<(), StepError> {
        let known = self.here.q == state.q && self.here.p == state.p;
        self.here.t = state.t;
        if !known {
            self.here.place(&mut self.flow.mass, &state.q, &state.p, state.t)?;
        }
        self.flow.slope_at(&self.here, self.h, &mut self.slope);
        self.thresholds.renew(&mut self.flow.mass, &self.here, &self.slope, self.h)?;
        if !known {
            self.smooth.clear();
            for i in 0..self.here.gap.len() {
                let rests = self.here.rate[i].abs() <= self.thresholds.rate[i];
                if self.here.gap[i] <= self.thresholds.gap[i] && rests {
                    self.smooth.push(i);
                }
            }
        }
        self.captured.clear();
        self.hits.fill(0);
        self.done.fill(ContactImpulse::default());
        self.staged.clear();
        self.flow.iterations = 0;
        self.flow.flights = 0;
        self.loose = false;
        Ok(())
    }

    /// From event to event to the end of the step.
    fn cross(&mut self, start: f64, report: &mut StepReport) -> Result<(), StepError> {
        let most = 200 + 20 * self.e.len();
        let mut rest = self.h;
        // Flights go no further than this where the instant of an event on the way could not be found.
        let (mut reach, mut halvings) = (rest, 0);
        for event in 0.. {
            let closing = if let Some(contact) = self.touching_now() {
                locate::Closing { contact, after: 0.0, forced: false }
            } else {
                let (piece, hold) = self.fly_or_part(rest.min(reach))?;
                let ending = match self.end_flight(piece, hold) {
                    Err(error) if error.is_unsolved() && self.loosen(hold) => continue,
                    Err(error) if error.is_unsolved() && halvings < HALVINGS => {
                        (reach, halvings) = (0.5 * piece, halvings + 1);
                        continue;
                    }
                    ending => ending?,
                };
                reach = rest;
                match ending {
                    Ending::Captured => continue,
                    Ending::Free if piece < rest => {
                        self.accept(self.here.t + piece);
                        self.flow.kernel.lagrangian.accept(&self.here.q, self.here.t);
                        rest -= piece;
                        report.parts = report.parts.max(1) + 1;
                        continue;
                    }
                    Ending::Free => {
                        self.accept(start + self.h);
                        return Ok(());
                    }
                    Ending::Closing(closing) => {
                        rest -= closing.after;
                        closing
                    }
                }
            };
            if event >= most {
                let contact = self.flow.system.inequalities().name(closing.contact).to_owned();
                return Err(StepError::Accumulation { t: self.here.t, events: event, contact });
            }
            self.strike(closing, report)?;
        }
        Ok(())
    }

    /// A contact that touches and approaches, here and now.
    fn touching_now(&mut self) -> Option<usize> {
        self.gather_held();
        (0..self.e.len()).find(|&i| {
            self.here.gap[i] <= self.thresholds.gap[i]
                && !self.holds[i]
                && self.impact.approaches(self.flow.system, &self.here, i, &self.thresholds)
        })
    }

    fn gather_held(&mut self) {
        self.flown = None;
        self.held.clear();
        self.held.extend_from_slice(&self.smooth);
        self.held.extend(self.captured.iter().filter(|i| !self.smooth.contains(i)));
        self.held.sort_unstable();
        self.holds.fill(false);
        for &i in &self.held {
            self.holds[i] = true;
        }
    }

    fn is_held(&self, i: usize) -> bool {
        self.holds[i]
    }

    /// Flies to the end of the step, into `there`; how contacts are held on the way.
    fn fly(&mut self, rest: f64) -> Result<Hold, StepError> {
        self.flown = None;
        let whole = rest == self.h;
        let mut hold = Hold::TwoSided;
        if !self.held.is_empty() || whole || self.flow.is_dry() {
            self.flow.advance(&self.here, rest, &self.held, Hold::OneSided, &self.thresholds)?;
            let rubs = self.flow.rubs(&self.held) || self.flow.is_dry();
            if rubs || !self.captured.is_empty() || self.flow.active != self.held {
                hold = Hold::OneSided;
            }
        }
        if self.loose {
            hold = Hold::OneSided;
        }
        if !whole && hold == Hold::TwoSided {
            let flown = self.flow.advance(&self.here, rest, &self.held, hold, &self.thresholds);
            match flown {
                Err(error) if error.is_unsolved() && self.loosen(hold) => return self.fly(rest),
                flown => flown?,
            }
        }
        self.next.clear();
        self.next.extend_from_slice(&self.flow.active);
        self.take_impulses();
        self.flow.end_at(&mut self.there, self.here.t + rest)?;
        self.flow.kernel.lagrangian.accept(&self.there.q, self.there.t);
        Ok(hold)
    }

    /// Contacts that stay closed by themselves over a step, but cannot be kept closed over any part of it, because they are redundant and move, are held on
    /// one side for the rest of the step; whether that is new.
    fn loosen(&mut self, hold: Hold) -> bool {
        hold == Hold::TwoSided && !std::mem::replace(&mut self.loose, true)
    }

    /// What ends the flight to `there`; where it is a contact that closes, goes to its instant.
    fn end_flight(&mut self, piece: f64, hold: Hold) -> Result<Ending, StepError> {
        let ending = self.next_closing_or_capture(piece, hold)?;
        if let Ending::Closing(closing) = &ending {
            self.move_on(closing.after, hold)?;
        }
        Ok(ending)
    }

    /// What ends the flight to `there`.
    fn next_closing_or_capture(&mut self, rest: f64, hold: Hold) -> Result<Ending, StepError> {
        if self.capture(rest) {
            return Ok(Ending::Captured);
        }
        let closing = self.next_closing(rest, hold)?;
        if let Some(pressed) = closing.filter(|closing| closing.forced)
            && self.here.rate[pressed.contact] > 0.0
        {
            // It opens so slowly that it never leaves its surface: there is nothing to strike, and its bounce is over.
            self.captured.push(pressed.contact);
            return Ok(Ending::Captured);
        }
        Ok(closing.map_or(Ending::Free, Ending::Closing))
    }

    /// Captures contacts that would meet their surface so slowly that they would land; whether there are any.
    fn capture(&mut self, rest: f64) -> bool {
        let before = self.captured.len();
        let crowded = self.flow.flights > FLIGHTS;
        for i in 0..self.e.len() {
            let lossy = self.e[i] < 1.0 && !self.holds[i];
            if !lossy || self.there.gap[i] >= -self.thresholds.below[i] {
                continue;
            }
            let (gap, rate) = (self.here.gap[i], self.here.rate[i]);
            let push = (rate - self.there.rate[i]) / rest;
            let hit = (rate.min(0.0).powi(2) + 2.0 * push * gap.max(0.0)).max(0.0).sqrt();
            let slow = hit <= self.kappa[i] * self.h * push;
            if slow || self.hits[i] >= HITS || (self.e[i] == 0.0 && crowded) {
                self.captured.push(i);
            }
        }
        self.captured.len() > before
    }

    /// Goes to the instant of an event.
    fn move_on(&mut self, after: f64, hold: Hold) -> Result<(), StepError> {
        if after <= 0.0 {
            return Ok(());
        }
        self.travel(after, hold)?;
        let t = self.here.t + after;
        self.flow.end_at(&mut self.there, t)?;
        self.take_impulses();
        self.book_captured(t);
        std::mem::swap(&mut self.here, &mut self.there);
        self.flow.kernel.lagrangian.accept(&self.here.q, t);
        self.smooth.clear();
        self.smooth.extend(self.flow.active.iter().filter(|i| !self.captured.contains(i)));
        self.gather_held();
        Ok(())
    }

    /// Flies to the end of the step, or, where that flight has no solution, over half of the way to it, or a quarter.
    fn fly_or_part(&mut self, rest: f64) -> Result<(f64, Hold), StepError> {
        halved(rest, |piece| self.fly(piece))
    }

    /// The flight to `there`, at `t`, is the end of the step or of a part of it.
    fn accept(&mut self, t: f64) {
        self.book_captured(t);
        std::mem::swap(&mut self.here, &mut self.there);
        std::mem::swap(&mut self.smooth, &mut self.next);
    }
}

/// How a flight ends.
enum Ending {
    /// Some contacts were captured: fly again.
    Captured,
    /// At the end of the step.
    Free,
    /// Where a contact closes.
    Closing(locate::Closing),
}
