//! The variational integrator without contacts: free motion and equality constraints.
//!
//! $$ D_1 L_d(q_k, q_{k+1}) + p_k + F(q_k)\nu = 0, \quad f(q_{k+1}) = 0, \qquad
//!    p_{k+1} = D_2 L_d(q_k, q_{k+1}) + F(q_{k+1})\xi, \quad F^\top M^{-1} p_{k+1} = 0 . $$
//! Without equalities this is implicit midpoint or Störmer–Verlet; with them and Verlet it is RATTLE.
//! Symplectic, order 2, symmetric in time; momenta of symmetries are exact. Inequalities of the system
//! are ignored: this is also the predictor of the methods that do not (\[KP\] (7.1)).

use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};

use crate::kernel::{Kernel, check_state};
use crate::{Quadrature, Tolerances};

/// Variational integrator for free motion and equality constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variational {
    /// Step $h$.
    pub step: f64,
    /// Quadrature of the action.
    pub quadrature: Quadrature,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
}

impl Variational {
    /// The integrator with default tolerances.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        Self { step, quadrature, tolerances: Tolerances::default() }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step that is not positive, negative tolerances, or coordinates without mass.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<VariationalStepper<'a>, SystemError> {
        let kernel = Kernel::new(system, self.quadrature, self.step, false, self.tolerances)?;
        Ok(VariationalStepper { kernel, h: self.step, events: Events::default() })
    }
}

/// [`Variational`] bound to a system.
#[derive(Debug)]
pub struct VariationalStepper<'a> {
    kernel: Kernel<'a>,
    h: f64,
    events: Events,
}

impl Stepper for VariationalStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        check_state(self.kernel.system, state)?;
        let (phase, h) = ((&state.q[..], &state.p[..], state.t), self.h);
        let iterations = self.kernel.advance_position(phase, h, &[])?;
        self.kernel.advance_momentum(phase, h, &[])?;
        self.kernel.commit(state, state.t + h);
        let residual = self.kernel.position.residual;
        Ok(StepReport { iterations, residual, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }
}
