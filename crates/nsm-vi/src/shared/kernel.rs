//! The two halves of a variational step, shared by the integrators of this crate.
//!
//! Position update (\[KP\] (6.8)), then momentum update (\[KP\] (6.9)). The momentum is formed as
//! $p_1 = p_0 + \text{constraint impulse} - \tfrac h2 (s_0 + s_1)$, which equals $D_2 L_d$ once the position
//! update is solved, and does not divide differences of positions by $h$: momenta then stay exact to
//! round-off however small the step.
//!
//! A mass that depends on the configuration changes the equations of both halves ([`VaryingKernel`]), and nothing of what is made of them:
//! its results are left where those of a constant mass are.

use nsm_model::{Clock, State, StepError, System, SystemError};

use crate::shared::gaps::Gaps;
use crate::shared::held::Held;
use crate::shared::lagrangian::DiscreteLagrangian;
use crate::shared::position::PositionUpdate;
use crate::shared::tangent::TangentProjection;
use crate::shared::varying::VaryingKernel;
use crate::{Quadrature, Tolerances, shared::tolerances::check_step};

/// Workspace for steps of a system by a quadrature.
#[derive(Debug)]
pub(crate) struct Kernel<'a> {
    pub(crate) system: &'a System,
    pub(crate) lagrangian: DiscreteLagrangian<'a>,
    pub(crate) gaps: Gaps<'a>,
    pub(crate) position: PositionUpdate<'a>,
    pub(crate) tangent: TangentProjection<'a>,
    /// Present where there are equalities, with a constant mass.
    pub(crate) held: Option<Held<'a>>,
    /// Present where the mass depends on the configuration.
    varying: Option<Box<VaryingKernel<'a>>>,
    /// Whether coordinates without mass get their velocity from the equalities.
    singular: bool,
    /// The new momentum, and its velocity.
    pub(crate) p: Vec<f64>,
    v: Vec<f64>,
    pub(crate) clock: Clock,
    /// Smallest cosine between the gradients of an equality at both ends of a step.
    pub(crate) turn: f64,
}

impl<'a> Kernel<'a> {
    pub(crate) fn new(
        system: &'a System,
        quadrature: Quadrature,
        h: f64,
        linearised: bool,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        check_system(system)?;
        Self::of_any_mass(system, quadrature, h, linearised, tolerances)
    }

    /// The mass may depend on the configuration; every coordinate has one.
    pub(crate) fn of_any_mass(
        system: &'a System,
        quadrature: Quadrature,
        h: f64,
        linearised: bool,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        if system.variable_mass().is_none() {
            system.require_regular_mass()?;
        }
        Self::build(system, quadrature, h, linearised, tolerances)
    }

    /// Without contacts, coordinates without mass are allowed if there are equalities.
    pub(crate) fn for_equalities(
        system: &'a System,
        quadrature: Quadrature,
        h: f64,
        linearised: bool,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        system.require_no_dry_friction("a variational integrator without friction")?;
        if system.variable_mass().is_none() && system.equalities().is_empty() {
            system.require_regular_mass()?;
        }
        Self::build(system, quadrature, h, linearised, tolerances)
    }

    fn build(
        system: &'a System,
        quadrature: Quadrature,
        h: f64,
        linearised: bool,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        check_step(h)?;
        tolerances.check()?;
        system.require_no_switching("a variational integrator")?;
        let varying = match system.variable_mass() {
            Some(mass) => Some(Box::new(VaryingKernel::new(system, mass, quadrature, tolerances)?)),
            None => None,
        };
        let constrained = varying.is_none() && !system.equalities().is_empty();
        let lagrangian = DiscreteLagrangian::new(system, quadrature);
        Ok(Self {
            system,
            position: PositionUpdate::new(&lagrangian, tolerances)?,
            lagrangian,
            gaps: Gaps::new(system, linearised),
            tangent: TangentProjection::new(system)?,
            held: if constrained { Some(Held::new(system)?) } else { None },
            singular: varying.is_none() && !system.mass().massless().is_empty(),
            varying,
            p: vec![0.0; system.dimension()],
            v: vec![0.0; system.dimension()],
            clock: Clock::new(h),
            turn: 0.0,
        })
    }

    /// Solves for the new position `position.x`; returns the iterations.
    pub(crate) fn advance_position(
        &mut self,
        (q, p, t): (&[f64], &[f64], f64),
        h: f64,
        smooth: &[usize],
    ) -> Result<usize, StepError> {
        if let Some(varying) = &mut self.varying {
            let outcome = varying.advance_position((q, p, t), h, smooth);
            let (update, lagrangian) = (&mut self.position, &mut self.lagrangian);
            let outcome = outcome.and_then(|iterations| {
                update.take((&varying.x, &varying.nu, &varying.impulse), smooth, varying.residual);
                update.check_presses(t, iterations, smooth)?;
                Ok(iterations)
            });
            lagrangian.left.copy_from_slice(&varying.left);
            return outcome;
        }
        let held = self.held.as_mut();
        self.position.solve(&mut self.lagrangian, held, &self.gaps, (q, p, t), h, smooth)
    }

    /// Forms the new momentum after the position, tangent to the equalities and to `touching`, and its velocity; the
    /// motion that it ends with must be finite.
    pub(crate) fn advance_momentum(
        &mut self,
        (q, p, t): (&[f64], &[f64], f64),
        h: f64,
        touching: &[usize],
    ) -> Result<(), StepError> {
        if let Some(varying) = &mut self.varying {
            varying.turn = self.turn;
            varying.advance_momentum((q, p, t), h, touching)?;
            self.lagrangian.left.copy_from_slice(&varying.left);
            self.lagrangian.right.copy_from_slice(&varying.right);
            self.p.copy_from_slice(&varying.p);
            self.v.copy_from_slice(&varying.held.velocity);
            return Ok(());
        }
        let x = &self.position.x;
        if !self.lagrangian.is_explicit() {
            self.lagrangian.slopes_left(q, x, t, h);
        }
        self.lagrangian.slopes_right(x, t, h);
        let (left, right) = (&self.lagrangian.left, &self.lagrangian.right);
        let half = 0.5 * h;
        for (((new, p), a), b) in self.p.iter_mut().zip(p).zip(left).zip(right) {
            *new = p - half * (a + b);
        }
        if self.position.pressed {
            for (new, impulse) in self.p.iter_mut().zip(&self.position.impulse) {
                *new += impulse;
            }
        }
        let held = self.held.as_mut();
        self.tangent.project(held, &self.gaps, (x, t + h), touching, &mut self.p)?;
        self.check_turn(t, touching)?;
        match &self.held {
            Some(held) if self.singular => self.v.copy_from_slice(&held.velocity),
            _ => self.system.mass().solve(&self.p, &mut self.v),
        }
        self.system.check_motion(t, t + h, &self.position.x, &self.v)
    }

    /// Makes a momentum at a configuration tangent to the equalities and to `contacts`.
    pub(crate) fn project(
        &mut self,
        (q, t): (&[f64], f64),
        contacts: &[usize],
        p: &mut [f64],
    ) -> Result<(), StepError> {
        match &mut self.varying {
            Some(varying) => varying.project((q, t), contacts, p),
            None => self.tangent.project(self.held.as_mut(), &self.gaps, (q, t), contacts, p),
        }
    }

    /// Writes $v_h$ of the momentum $\bar p$ of the last position update, which began at `q`.
    pub(crate) fn mean_velocity(
        &mut self,
        (q, t): (&[f64], f64),
        momentum: &[f64],
        v: &mut [f64],
    ) -> Result<(), StepError> {
        if let Some(varying) = &mut self.varying {
            return varying.mean_velocity((q, t), momentum, v);
        }
        self.system.mass().solve(momentum, v);
        Ok(())
    }

    /// Multipliers of the equalities in the last momentum update.
    pub(crate) fn equality_multipliers(&self) -> &[f64] {
        match &self.varying {
            Some(varying) => &varying.held.multipliers[..self.system.equalities().len()],
            None => self.tangent.equality_multipliers(),
        }
    }

    /// Equalities that depend on others where the last step ended.
    pub(crate) fn redundant(&self) -> &[usize] {
        match (&self.varying, &self.held) {
            (Some(varying), _) => varying.held.redundant(),
            (None, Some(held)) => held.redundant(),
            (None, None) => &[],
        }
    }

    /// Constraint forces along gradients at the start meet a curved constraint twice, on the near side and on the far one, where a rod
    /// has turned by more than a right angle. Only the near one belongs to the motion: the far one kicks.
    fn check_turn(&self, t: f64, touching: &[usize]) -> Result<(), StepError> {
        let (rows, start) = (self.system.equalities(), &self.position.start.f);
        let end = match &self.held {
            Some(held) if touching.is_empty() => &held.gradients,
            _ => &self.tangent.f,
        };
        for i in 0..rows.len() {
            let (a, b) = (&start[rows.span(i)], &end[rows.span(i)]);
            let along = dot(a, b);
            let most =
                self.turn * (if self.turn > 0.0 { dot(a, a) * dot(b, b) } else { 0.0 }).sqrt();
            if along < most {
                return Err(StepError::NotConverged {
                    t,
                    what: "the position update, in which a constraint turns too far,",
                    iterations: 0,
                    residual: along,
                    culprit: rows.name(i).to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Writes the end of a step of full length into the state.
    pub(crate) fn commit(&mut self, state: &mut State) {
        state.q.copy_from_slice(&self.position.x);
        state.p.copy_from_slice(&self.p);
        state.v.copy_from_slice(&self.v);
        state.t = self.clock.tick(state.t);
        self.lagrangian.accept(&state.q, state.t);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Refuses what these integrators do not know: variable, missing or singular mass, switching.
pub(crate) fn check_system(system: &System) -> Result<(), SystemError> {
    check_constrained(system)?;
    system.require_regular_mass()
}

/// The same, but equalities may hold coordinates that have no mass: whether they do is seen in the first step.
pub(crate) fn check_constrained(system: &System) -> Result<(), SystemError> {
    system.require_constant_mass("a variational integrator")?;
    system.require_no_dry_friction("a variational integrator without friction")?;
    system.require_no_switching("a variational integrator")?;
    if system.equalities().is_empty() { system.require_regular_mass() } else { Ok(()) }
}
