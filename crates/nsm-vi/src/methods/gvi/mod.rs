//! The generalized variational integrator: \[KP\] Algorithm 1.
//!
//! One step from $(q, p)$:
//! 1. predict $q^p$ by the step without contacts (equalities kept) (\[KP\] (7.1));
//! 2. $\mathbb A = \lbrace g(q^p) \le 0 \rbrace \cup \lbrace g(q) = 0 \rbrace$ (\[KP\] (5.3));
//! 3. reflect $p$ at the contacts of $\mathbb A$, conserving $H$ or the second-order numerical $H_2$;
//! 4. $\mathbb S = \lbrace g(q) \le 0,\ \nabla g \cdot M^{-1}p = 0 \rbrace$ (\[KP\] (6.1) has $g = 0$);
//! 5. position update with equalities and with $\mathbb S$ pressing (\[KP\] (6.8));
//! 6. momentum update, tangent to equalities and to the contacts of $\mathbb S$ that stay closed (\[KP\] (6.9)).
//!
//! If nothing reflects and $\mathbb S$ is empty, the prediction *is* the step and is not computed again.
//! Momenta of symmetries are exact, free and smooth steps are symplectic; a collision step conserves
//! energy but reverses orientation (its Jacobian has determinant $-1$ for one contact), contrary to the
//! claim of \[KP\] section 6.2. Contacts are met up to one step early, and can penetrate: by $h^2F/2$ under
//! a pressing force, by $h|v|$ if a contact outside $\mathbb A$ is hit after the reflection. The ledger
//! reports the depth; [`Gvi::repredict`] removes the second cause.

mod glide;
mod landing;

use nsm_constraints::{ContactTolerance, extended_active_set, smooth_set};
use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};
use nsm_reflect::ImpactLaw;

use crate::shared::impact::Impact;
use crate::shared::kernel::Kernel;
use crate::{Energy, Quadrature, Tolerances};
use glide::{can_glide, glide};
use landing::Landing;

/// Most re-predictions of one step; each reflects at a contact that still approached.
const REPREDICTIONS: usize = 1000;

/// The generalized variational integrator.
///
/// ```
/// use nsm_constraints::{AutoDiff, Expr, Scalar};
/// use nsm_model::{Mass, State, Stepper, System};
/// use nsm_vi::{Gvi, Quadrature};
///
/// struct Height(f64);
/// impl Expr for Height {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T { q[0] * self.0 }
/// }
/// let ball = System::new(Mass::diagonal(&[1.0])?)
///     .with_potential("gravity", AutoDiff::new(Height(9.8), &[0])?)?
///     .with_inequality("floor", AutoDiff::new(Height(1.0), &[0])?)?;
/// let mut state = State::new(&ball, &[1.0], &[0.0])?;
/// let mut stepper = Gvi::new(0.05, Quadrature::Verlet).stepper(&ball)?;
/// for _ in 0..4000 {
///     stepper.step(&mut state)?;
/// }
/// let energy = 0.5 * state.v[0] * state.v[0] + 9.8 * state.q[0];
/// assert!((energy - 9.8).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gvi {
    /// Step $h$.
    pub step: f64,
    /// Quadrature of the action.
    pub quadrature: Quadrature,
    /// The energy that reflections conserve.
    pub energy: Energy,
    /// The impact law. Contacts that lose energy land where their bounce would be over within a step, and then
    /// rest; elastic ones are treated as published.
    pub law: ImpactLaw,
    /// Linearise the gaps at the position before the last, $q^{t-1}$ (\[KP\] Figure 7.1d): conserves
    /// energy, loses angular momentum.
    pub linearised: bool,
    /// Predict again after a reflection, and reflect until the predicted step is feasible or no contact
    /// approaches: no longer \[KP\] Algorithm 1, but without its deep penetrations.
    pub repredict: bool,
    /// Thresholds.
    pub tolerances: Tolerances,
}

impl Gvi {
    /// Algorithm 1 with energy $H$, true gaps, one prediction and default tolerances.
    ///
    /// It is not Algorithm 1 as published in two places: reflections are non-negative
    /// ([`ImpactLaw::Published`] is the printed one), and $\mathbb A$ and $\mathbb S$ take contacts that are penetrated as well as
    /// contacts at $g = 0$, without which a contact at rest sinks.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        Self {
            step,
            quadrature,
            energy: Energy::Hamiltonian,
            law: ImpactLaw::Reflection,
            linearised: false,
            repredict: false,
            tolerances: Tolerances::default(),
        }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// Parameters out of range, coordinates without mass, gaps that depend on time explicitly.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<GviStepper<'a>, SystemError> {
        system.require_holonomic("gvi")?;
        if system.inequalities().is_rheonomic() {
            return Err(SystemError::DoesNotFit {
                method: "GVI",
                why:
                    "a gap depends on time explicitly, and its impact laws know walls at rest only: `alpha-event`, `nsga` and `moreau-jean` take walls that move"
                        .into(),
            });
        }
        system.require_no_friction("GVI")?;
        let kernel =
            Kernel::new(system, self.quadrature, self.step, self.linearised, self.tolerances)?;
        let (n, m) = (system.dimension(), system.inequalities().len());
        let mut stepper = GviStepper {
            impact: Impact::new(
                system,
                self.quadrature,
                self.step,
                self.energy,
                &self.law,
                &self.tolerances,
            )?,
            kernel,
            landing: Landing::new(self, system)?,
            h: self.step,
            repredict: self.repredict,
            linearised: self.linearised,
            contact: self.tolerances.contact,
            gap: vec![0.0; m],
            settled: false,
            ended: vec![f64::NAN; n],
            before: vec![0.0; n],
            predicted: vec![0.0; m],
            candidates: Vec::with_capacity(m),
            smooth: Vec::with_capacity(m),
            touching: Vec::with_capacity(m),
            p: vec![0.0; n],
            v: vec![0.0; n],
            events: Events::with_capacity(8, 8 * m),
            staged: Events::with_capacity(8, 8 * m),
            glides: false,
        };
        stepper.glides =
            !self.linearised && stepper.landing.is_none() && can_glide(&stepper.kernel);
        Ok(stepper)
    }
}

/// [`Gvi`] bound to a system.
///
/// It remembers gaps and slopes at the end of its last step, and (if linearised) where that step began,
/// for as long as it is called on the state where that step ended.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, set once")]
pub struct GviStepper<'a> {
    kernel: Kernel<'a>,
    impact: Impact<'a>,
    /// Present where contacts lose energy.
    landing: Option<Landing<'a>>,
    h: f64,
    repredict: bool,
    linearised: bool,
    contact: ContactTolerance,
    /// Gaps at the end of the last step.
    gap: Vec<f64>,
    /// Whether the last step succeeded: it then ended where the position update did.
    settled: bool,
    /// If linearised: where the last step that succeeded ended and began.
    ended: Vec<f64>,
    before: Vec<f64>,
    predicted: Vec<f64>,
    /// $\mathbb A$ and $\mathbb S$, and the contacts of $\mathbb S$ that are closed at the end.
    candidates: Vec<usize>,
    smooth: Vec<usize>,
    touching: Vec<usize>,
    /// $p^+$ and its velocity.
    p: Vec<f64>,
    v: Vec<f64>,
    events: Events,
    /// Events of a step that may still fail.
    staged: Events,
    /// Whether steps may be free flight.
    glides: bool,
}

impl Stepper for GviStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.kernel.system.check_lengths(state)?;
        let (t, h) = (state.t, self.h);
        if self.glides {
            self.gaps_at_start(state);
            let open = self.gap.iter().all(|gap| *gap > self.contact.gap);
            if open && glide(&mut self.kernel, h, &mut self.predicted, state) {
                std::mem::swap(&mut self.gap, &mut self.predicted);
                self.settled = true;
                self.events.clear();
                return Ok(StepReport::default());
            }
        }
        self.staged.clear();
        if let Some(landing) = &mut self.landing {
            if landing.glide(state, h)? {
                self.events.clear();
                return Ok(StepReport::default());
            }
            let report = landing.step(state, h, &mut self.impact, &mut self.staged)?;
            std::mem::swap(&mut self.events, &mut self.staged);
            return Ok(report);
        }
        if !self.glides {
            self.gaps_at_start(state);
        }
        let mut report = StepReport {
            iterations: self.kernel.advance_position((&state.q, &state.p, t), h, &[])?,
            ..StepReport::default()
        };
        self.predict_gaps(t)?;
        extended_active_set(&self.gap, &self.predicted, &self.contact, &mut self.candidates);
        self.touching.clear();
        let mut reflected = false;
        if !self.candidates.is_empty() {
            reflected = self.respond(state, &mut report)?;
        }
        let p = if reflected { &self.p } else { &state.p };
        self.kernel.advance_momentum((&state.q, p, t), h, &self.touching)?;
        report.residual = self.kernel.position.residual;
        std::mem::swap(&mut self.gap, &mut self.predicted);
        if self.linearised {
            self.before.copy_from_slice(&state.q);
            self.ended.copy_from_slice(&self.kernel.position.x);
        }
        self.kernel.commit(state);
        self.settled = true;
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

impl GviStepper<'_> {
    /// Gaps at the start of the step: those of the end of the last one, if the state is the same.
    fn gaps_at_start(&mut self, state: &State) {
        let settled = std::mem::replace(&mut self.settled, false);
        if self.linearised {
            let at = if self.ended == state.q { &self.before } else { &state.q };
            self.kernel.gaps.linearise(at, state.t);
        } else if settled && self.kernel.position.x == state.q {
            return;
        }
        self.kernel.gaps.values(&state.q, state.t, &mut self.gap);
    }

    /// Gaps at the predicted position.
    fn predict_gaps(&mut self, t: f64) -> Result<(), StepError> {
        self.kernel.gaps.values(&self.kernel.position.x, t + self.h, &mut self.predicted);
        self.kernel.system.check_gaps(t, &self.predicted)
    }

    /// Lines 3–5 for a step with contacts; whether momentum was reflected.
    fn respond(&mut self, state: &State, report: &mut StepReport) -> Result<bool, StepError> {
        let (t, h) = (state.t, self.h);
        let rows = self.kernel.system.inequalities();
        self.p.copy_from_slice(&state.p);
        self.impact.configure(&self.kernel.gaps, &state.q, t, &self.candidates);
        let mut reflected = false;
        for round in 0.. {
            let change = self.impact.reflect(t, &self.candidates, &mut self.p)?;
            if let Some(change) = change {
                reflected = true;
                report.rounds += change.rounds;
                let impulses = self.candidates.iter().zip(self.impact.impulses());
                let impulses = impulses.filter(|(_, l)| **l != 0.0).map(|(&i, &l)| (i, l));
                self.staged.push(t, change.energy, change.rounds, impulses);
            } else if round > 0 {
                break;
            }
            self.kernel.system.mass().solve(&self.p, &mut self.v);
            let gradients = self.impact.gradients();
            smooth_set(rows, &self.gap, gradients, &self.v, &self.contact, &mut self.smooth);
            if !reflected && self.smooth.is_empty() {
                break;
            }
            report.iterations +=
                self.kernel.advance_position((&state.q, &self.p, t), h, &self.smooth)?;
            self.predict_gaps(t)?;
            if !self.repredict || !self.find_new_contacts(&state.q, t) {
                break;
            }
            if round == REPREDICTIONS {
                let contact = self.candidates.last().map_or("", |&i| rows.name(i)).to_owned();
                return Err(StepError::Accumulation { t, events: round, contact });
            }
        }
        report.closed = self.smooth.len();
        let closed = self.smooth.iter().filter(|&&i| self.contact.is_closed(self.predicted[i]));
        self.touching.extend(closed);
        Ok(reflected)
    }

    /// Adds contacts that the new prediction violates; whether any contact is violated.
    fn find_new_contacts(&mut self, q: &[f64], t: f64) -> bool {
        let mut violated = false;
        for (i, gap) in self.predicted.iter().enumerate() {
            if *gap < -self.contact.gap {
                violated = true;
                if !self.candidates.contains(&i) {
                    self.candidates.push(i);
                    self.impact.add(&self.kernel.gaps, q, t, i);
                }
            }
        }
        violated
    }
}
