//! The discrete-smooth integrator: contacts that stay closed, or open without a blow.
//!
//! $$ D_1 L_d(q, x) + p + N(q)\lambda = 0, \qquad 0 \le \lambda \perp g(x) \ge 0, \qquad
//!    p_1 = D_2 L_d(q, x) + N(x)\mu, \qquad N(x)^\top M^{-1} p_1 = 0 $$
//! (\[KP\] (4.5)–(4.8)), $N$ being the gradients of the gaps that are closed at the point. Symplectic and
//! momentum conserving. It presumes smooth motion: contacts are never hit, only slid along and left.
//! Gaps that close during a step are held from its end on, which is an inelastic landing.

use nsm_constraints::{ContactTolerance, active_set};
use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};

use crate::shared::kernel::Kernel;
use crate::{Quadrature, Tolerances};

/// The discrete-smooth integrator (DSI).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteSmooth {
    /// Step $h$.
    pub step: f64,
    /// Quadrature of the action.
    pub quadrature: Quadrature,
    /// Thresholds; gaps up to `tolerances.contact.gap` are closed.
    pub tolerances: Tolerances,
}

impl DiscreteSmooth {
    /// The integrator with default tolerances.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        Self { step, quadrature, tolerances: Tolerances::default() }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step that is not positive, negative tolerances, or coordinates without mass.
    pub fn stepper<'a>(
        &self,
        system: &'a System,
    ) -> Result<DiscreteSmoothStepper<'a>, SystemError> {
        system.require_no_friction("the smooth method")?;
        system.require_holonomic("the smooth method")?;
        let m = system.inequalities().len();
        Ok(DiscreteSmoothStepper {
            kernel: Kernel::new(system, self.quadrature, self.step, false, self.tolerances)?,
            h: self.step,
            contact: self.tolerances.contact,
            gap: vec![0.0; m],
            closed: Vec::with_capacity(m),
            touching: Vec::with_capacity(m),
            events: Events::default(),
        })
    }
}

/// [`DiscreteSmooth`] bound to a system.
#[derive(Debug)]
pub struct DiscreteSmoothStepper<'a> {
    kernel: Kernel<'a>,
    h: f64,
    contact: ContactTolerance,
    gap: Vec<f64>,
    closed: Vec<usize>,
    touching: Vec<usize>,
    events: Events,
}

impl Stepper for DiscreteSmoothStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.kernel.system.check_lengths(state)?;
        let (phase, t, h) = ((&state.q[..], &state.p[..], state.t), state.t, self.h);
        self.kernel.gaps.values(&state.q, t, &mut self.gap);
        active_set(&self.gap, &self.contact, &mut self.closed);
        let iterations = self.kernel.advance_position(phase, h, &self.closed)?;
        self.kernel.gaps.values(&self.kernel.position.x, t + h, &mut self.gap);
        self.kernel.system.check_gaps(t, &self.gap)?;
        active_set(&self.gap, &self.contact, &mut self.touching);
        self.kernel.advance_momentum(phase, h, &self.touching)?;
        let residual = self.kernel.position.residual;
        self.kernel.commit(state);
        let closed = self.touching.len();
        Ok(StepReport { iterations, residual, closed, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }
}
