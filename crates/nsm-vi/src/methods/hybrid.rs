//! Hybrid methods: step to the event, reflect there, finish the step.
//!
//! An unconstrained step that would end behind a contact is cut at the root of the gap, momentum is
//! reflected at the contacts that are closed there, and the rest of the step follows. For comparison with
//! [`Gvi`](crate::Gvi): a fraction of a step follows another numerical Hamiltonian than the full one, so
//! energy wanders (\[KP\] section 1.3.2).
//!
//! [`EventHandling::All`] is robust: every event of a step, earliest first, roots bracketed inside what
//! remains of the step. A contact that is pressed shut (closed, not approaching, no flight possible) has
//! no event and is let through: elastic contacts do not rest. With Newton's law and losses, contacts land and rest as they do with
//! [`Svci`](crate::Svci), whose steps these then are, but for fractions that are plain steps and impacts in $M^{-1}$.
//! [`EventHandling::OneUnchecked`] is the fragile form that blows up as \[KP\] Figures 1.4 and 5.1 show:
//! one event per step, the root nearest to the start even if it lies before it, a reflection whether or
//! not the contact approaches there, the rest of the step unchecked.

use nsm_constraints::ContactTolerance;
use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};
use nsm_reflect::ImpactLaw;
use nsm_solvers::roots::{Bracket, RootOptions, Side, chandrupatla};

use crate::methods::svci::{Svci, SvciStepper};
use crate::shared::impact::Impact;
use crate::shared::kernel::Kernel;
use crate::{Energy, Quadrature, Tolerances};

/// How a hybrid method treats the events of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventHandling {
    /// All of them, earliest first.
    #[default]
    All,
    /// The fragile form: one, at the root nearest to the start of the step even if negative, reflected
    /// even if separating; what remains of the step is not checked.
    OneUnchecked,
}

/// A hybrid method on a variational base scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybrid {
    /// Step $h$.
    pub step: f64,
    /// Base scheme.
    pub quadrature: Quadrature,
    /// The energy that reflections conserve.
    pub energy: Energy,
    /// The impact law.
    pub law: ImpactLaw,
    /// Treatment of events.
    pub handling: EventHandling,
    /// Most events in one step.
    pub most_events: usize,
    /// Thresholds.
    pub tolerances: Tolerances,
}

impl Hybrid {
    /// The robust method with energy $H$ and default tolerances.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        Self {
            step,
            quadrature,
            energy: Energy::Hamiltonian,
            law: ImpactLaw::Reflection,
            handling: EventHandling::All,
            most_events: 1000,
            tolerances: Tolerances::default(),
        }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// Parameters out of range, coordinates without mass, gaps that depend on time explicitly.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<HybridStepper<'a>, SystemError> {
        system.require_holonomic("hybrid")?;
        if system.inequalities().is_rheonomic() {
            return Err(SystemError::DoesNotFit {
                method: "the hybrid method",
                why:
                    "a gap depends on time explicitly, and its impact laws know walls at rest only: `alpha-event`, `nsga` and `moreau-jean` take walls that move"
                        .into(),
            });
        }
        system.require_no_friction("the hybrid method")?;
        let (h, quadrature) = (self.step, self.quadrature);
        let (n, m) = (system.dimension(), system.inequalities().len());
        Ok(HybridStepper {
            kernel: Kernel::new(system, quadrature, h, false, self.tolerances)?,
            impact: Impact::new(system, quadrature, h, self.energy, &self.law, &self.tolerances)?,
            h,
            lossy: self.lossy(system)?,
            handling: self.handling,
            most_events: self.most_events,
            contact: self.tolerances.contact,
            gap: vec![0.0; m],
            ignored: vec![false; m],
            contacts: Vec::with_capacity(m),
            q: vec![0.0; n],
            p: vec![0.0; n],
            v: vec![0.0; n],
            events: Events::with_capacity(16, 16 * m),
            staged: Events::with_capacity(16, 16 * m),
        })
    }

    /// Steps with losses, if the law has any.
    fn lossy<'a>(&self, system: &'a System) -> Result<Option<SvciStepper<'a>>, SystemError> {
        let ImpactLaw::Newton(e) = &self.law else { return Ok(None) };
        e.check_for(system)?;
        let lossy = (0..system.inequalities().len()).any(|i| e.of(i) < 1.0);
        if !lossy || self.handling == EventHandling::OneUnchecked {
            return Ok(None);
        }
        let method = Svci {
            restitution: e.clone(),
            tolerances: self.tolerances,
            ..Svci::new(self.step, self.quadrature)
        };
        method.bind(system, false).map(Some)
    }
}

/// [`Hybrid`] bound to a system.
#[derive(Debug)]
pub struct HybridStepper<'a> {
    kernel: Kernel<'a>,
    impact: Impact<'a>,
    /// Present where contacts lose energy.
    lossy: Option<SvciStepper<'a>>,
    h: f64,
    handling: EventHandling,
    most_events: usize,
    contact: ContactTolerance,
    gap: Vec<f64>,
    /// Contacts that are pressed shut in this step.
    ignored: Vec<bool>,
    contacts: Vec<usize>,
    /// The state on its way through the step.
    q: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    events: Events,
    staged: Events,
}

impl Stepper for HybridStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.kernel.system.check_lengths(state)?;
        if let Some(lossy) = &mut self.lossy {
            return lossy.step(state);
        }
        self.q.copy_from_slice(&state.q);
        self.p.copy_from_slice(&state.p);
        self.ignored.fill(false);
        self.staged.clear();
        let mut report = StepReport::default();
        match self.handling {
            EventHandling::All => self.all_events(state.t, &mut report)?,
            EventHandling::OneUnchecked => self.one_event(state.t, &mut report)?,
        }
        report.residual = self.kernel.position.residual;
        self.kernel.commit(state);
        std::mem::swap(&mut self.events, &mut self.staged);
        Ok(report)
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        self.lossy.as_ref().map_or(&self.events, Stepper::events)
    }
}

impl HybridStepper<'_> {
    fn all_events(&mut self, start: f64, report: &mut StepReport) -> Result<(), StepError> {
        let (mut t, end) = (start, start + self.h);
        for event in 0.. {
            let rest = end - t;
            report.iterations += self.fly(t, rest)?;
            let Some((contact, fraction)) = self.earliest(t, rest)? else {
                return self.kernel.advance_momentum((&self.q, &self.p, t), rest, &[]);
            };
            if event == self.most_events {
                let contact = self.kernel.system.inequalities().name(contact).to_owned();
                return Err(StepError::Accumulation { t, events: event, contact });
            }
            if fraction > 0.0 {
                self.move_on(t, fraction, report)?;
                t += fraction;
            }
            self.close_at(t, contact);
            if !self.reflect(t, report)? && fraction == 0.0 {
                self.ignored[contact] = true;
            }
        }
        Ok(())
    }

    fn one_event(&mut self, t: f64, report: &mut StepReport) -> Result<(), StepError> {
        report.iterations += self.fly(t, self.h)?;
        self.gaps(t + self.h)?;
        let deepest = (0..self.gap.len()).min_by(|&i, &j| self.gap[i].total_cmp(&self.gap[j]));
        let Some(contact) = deepest.filter(|&i| self.gap[i] < 0.0) else {
            return self.kernel.advance_momentum((&self.q, &self.p, t), self.h, &[]);
        };
        let fraction = self.nearest_root(t, contact)?;
        if fraction != 0.0 {
            self.move_on(t, fraction, report)?;
        }
        self.contacts.clear();
        self.contacts.push(contact);
        if !self.reflect(t + fraction, report)? {
            // The fragile form reflects whatever the direction: the law, seen backwards in time.
            self.p.iter_mut().for_each(|p| *p = -*p);
            self.reflect(t + fraction, report)?;
            self.p.iter_mut().for_each(|p| *p = -*p);
        }
        let rest = self.h - fraction;
        report.iterations += self.fly(t + fraction, rest)?;
        self.gaps(t + self.h)?;
        self.kernel.advance_momentum((&self.q, &self.p, t + fraction), rest, &[])
    }

    /// The unconstrained position after `h`.
    fn fly(&mut self, t: f64, h: f64) -> Result<usize, StepError> {
        self.kernel.advance_position((&self.q, &self.p, t), h, &[])
    }

    /// Takes the unconstrained step `h` on the way.
    fn move_on(&mut self, t: f64, h: f64, report: &mut StepReport) -> Result<(), StepError> {
        report.iterations += self.fly(t, h)?;
        self.kernel.advance_momentum((&self.q, &self.p, t), h, &[])?;
        self.q.copy_from_slice(&self.kernel.position.x);
        self.p.copy_from_slice(&self.kernel.p);
        Ok(())
    }

    fn gaps(&mut self, t: f64) -> Result<(), StepError> {
        self.kernel.gaps.values(&self.kernel.position.x, t, &mut self.gap);
        self.kernel.system.check_gaps(t, &self.gap)
    }

    /// The first contact that closes within `rest`, and when.
    fn earliest(&mut self, t: f64, rest: f64) -> Result<Option<(usize, f64)>, StepError> {
        self.gaps(t + rest)?;
        self.contacts.clear();
        for (i, gap) in self.gap.iter().enumerate() {
            if *gap < 0.0 && !self.ignored[i] {
                self.contacts.push(i);
            }
        }
        let mut first = None;
        for k in 0..self.contacts.len() {
            let contact = self.contacts[k];
            let limit = first.map_or(rest, |(_, fraction)| fraction);
            if let Some(fraction) = self.crossing(t, limit, contact)? {
                first = Some((contact, fraction));
            }
        }
        Ok(first)
    }

    /// Gap of a contact after the unconstrained step `h`.
    fn gap_after(&mut self, t: f64, h: f64, contact: usize) -> Result<f64, StepError> {
        if h == 0.0 {
            return Ok(self.kernel.gaps.value(contact, &self.q, t));
        }
        self.fly(t, h)?;
        Ok(self.kernel.gaps.value(contact, &self.kernel.position.x, t + h))
    }

    /// Last time before the gap becomes negative within `limit`; none if it is open there.
    fn crossing(&mut self, t: f64, limit: f64, contact: usize) -> Result<Option<f64>, StepError> {
        let beyond = self.gap_after(t, limit, contact)?;
        if beyond >= 0.0 {
            return Ok(None);
        }
        let (mut low, mut gap) = (0.0, self.gap_after(t, 0.0, contact)?);
        if gap <= self.contact.gap {
            // Closed at the start: an event now, or later if the contact opens in between.
            low = limit;
            while gap <= self.contact.gap {
                low *= 0.5;
                if low < 1e-12 * self.h {
                    return Ok(Some(0.0));
                }
                gap = self.gap_after(t, low, contact)?;
            }
        }
        let mut failure = None;
        let root = Bracket::new(low, gap, limit, beyond).and_then(|bracket| {
            let f = |h| {
                self.gap_after(t, h, contact).unwrap_or_else(|error| {
                    failure = Some(error);
                    f64::NAN
                })
            };
            let options = RootOptions { side: Side::NonNegative, ..RootOptions::default() };
            chandrupatla(f, bracket, &options)
        });
        match (root, failure) {
            (_, Some(error)) => Err(error),
            (Ok(root), None) => Ok(Some(root.x)),
            (Err(error), None) => Err(StepError::Method { t, source: Box::new(error) }),
        }
    }

    /// The root of the gap nearest to the start of the step, before or after it.
    ///
    /// Starts from the parabola through value, rate and value at the end of the step (exact for Verlet
    /// and a plane), and polishes with its slope; where the parabola has no root, its vertex is taken.
    fn nearest_root(&mut self, t: f64, contact: usize) -> Result<f64, StepError> {
        let rows = self.kernel.system.inequalities();
        self.contacts.clear();
        self.contacts.push(contact);
        self.impact.configure(&self.kernel.gaps, &self.q, t, &self.contacts);
        self.kernel.system.mass().solve(&self.p, &mut self.v);
        let b = rows.row_dot(contact, self.impact.gradients(), &self.v);
        let c = self.gap_after(t, 0.0, contact)?;
        let a = (self.gap_after(t, self.h, contact)? - c - b * self.h) / (self.h * self.h);
        let discriminant = b * b - 4.0 * a * c;
        if discriminant < 0.0 {
            return Ok(-b / (2.0 * a));
        }
        let sum = -0.5 * (b + discriminant.sqrt().copysign(b));
        let (first, second) = (c / sum, sum / a);
        let nearer = !second.is_finite() || first.abs() < second.abs();
        let mut root = if nearer { first } else { second };
        if !root.is_finite() {
            root = 0.0;
        }
        for _ in 0..20 {
            let slope = b + 2.0 * a * root;
            let change = self.gap_after(t, root, contact)? / slope;
            if !change.is_finite() || change.abs() <= 1e-15 * self.h {
                break;
            }
            root -= change;
        }
        Ok(root)
    }

    /// Collects the contacts that are closed where the state now is, `contact` among them.
    fn close_at(&mut self, t: f64, contact: usize) {
        self.kernel.gaps.values(&self.q, t, &mut self.gap);
        self.contacts.clear();
        for (i, gap) in self.gap.iter().enumerate() {
            if i == contact || self.contact.is_closed(*gap) {
                self.contacts.push(i);
            }
        }
    }

    /// Reflects at the collected contacts; whether any approached.
    fn reflect(&mut self, t: f64, report: &mut StepReport) -> Result<bool, StepError> {
        self.impact.configure(&self.kernel.gaps, &self.q, t, &self.contacts);
        let Some(change) = self.impact.reflect(t, &self.contacts, &mut self.p)? else {
            return Ok(false);
        };
        report.rounds += change.rounds;
        let impulses = self.contacts.iter().zip(self.impact.impulses());
        let impulses = impulses.filter(|(_, l)| **l != 0.0).map(|(&i, &l)| (i, l));
        self.staged.push(t, change.energy, change.rounds, impulses);
        Ok(true)
    }
}
