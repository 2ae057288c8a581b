//! The variational integrator without contacts: free motion and equality constraints.
//!
//! $$ D_1 L_d(q_k, q_{k+1}) + p_k + F(q_k)\nu = 0, \quad f(q_{k+1}) = 0, \qquad
//!    p_{k+1} = D_2 L_d(q_k, q_{k+1}) + F(q_{k+1})\xi, \quad F^\top M^{-1} p_{k+1} = 0 . $$
//! Without equalities this is implicit midpoint or Störmer–Verlet; with them and Verlet it is RATTLE.
//! Symplectic, order 2, symmetric in time; momenta of symmetries are exact.
//!
//! With the midpoint rule this is the multiplier scheme of \[LMO\] (22) with the start (34): there
//! $D_2 L_d(q_{k-1}, q_k) + D_1 L_d(q_k, q_{k+1}) = h\\,G^\top(q_k)\lambda_k$, here the two parts $\nu$ and $\xi$ of $-h\lambda_k$ are applied on either side of
//! the node, so that the momentum kept between steps is the projected one ${}^Q p_k$ (\[LMO\] (40)).
//!
//! Coordinates without mass are allowed as long as every motion that the constraints leave has inertia; their
//! velocity follows from $F^\top v + f_t = 0$. Cost is linear in the length of chains and beams.
//!
//! A mass that depends on the configuration is a matter of the discrete Lagrangian, see `varying.rs`: $F^\top M(q_{k+1})^{-1} p_{k+1} = 0$ in place of the last equation.
//!
//! Inequalities of the system are ignored: this is also the predictor of the methods that do not (\[KP\] (7.1)).

use nsm_model::{Events, Splitting, State, StepError, StepReport, Stepper, System, SystemError};

use crate::shared::kernel::Kernel;
use crate::{Quadrature, Tolerances};

/// Cosine of the angle by which a constraint turns at most in the pieces of a step: 18°. A chain of 100 short links gains four orders of
/// magnitude in energy with 60°, three times its energy with 37°, and stays within some per cent with this.
const RESOLVED: f64 = 0.95;

/// Variational integrator for free motion and equality constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variational {
    /// Step $h$.
    pub step: f64,
    /// Quadrature of the action.
    pub quadrature: Quadrature,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
    /// Smallest cosine of the angle by which a constraint may turn in one step; zero, a right angle, where the only solution left is one
    /// that kicks. A step that turns further is refused, and [`Splitting`](nsm_model::Splitting) takes it in halves.
    pub turn: f64,
}

impl Variational {
    /// The integrator with default tolerances.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        Self { step, quadrature, tolerances: Tolerances::default(), turn: 0.0 }
    }

    /// Binds the method so that a step without a solution is taken in halves, which resolve how constraints turn.
    ///
    /// # Errors
    /// Those of [`stepper`](Self::stepper).
    pub fn splitting<'a>(
        &self,
        system: &'a System,
    ) -> Result<Splitting<'a, VariationalStepper<'a>>, SystemError> {
        let method = *self;
        Splitting::new(self.step, move |step, closely| {
            let turn = if closely { method.turn.max(RESOLVED) } else { method.turn };
            Self { step, turn, ..method }.stepper(system)
        })
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step that is not positive, negative tolerances, or coordinates without mass in a system without
    /// equalities. With equalities it shows in the first step whether they give those coordinates their velocity.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<VariationalStepper<'a>, SystemError> {
        if !(0.0..1.0).contains(&self.turn) {
            let must = "the cosine of an angle, from 0 to less than 1";
            return Err(SystemError::Parameter { what: "the turn", must, value: self.turn });
        }
        let (quadrature, h, tolerances) = (self.quadrature, self.step, self.tolerances);
        let mut kernel = Kernel::for_equalities(system, quadrature, h, false, tolerances)?;
        kernel.turn = self.turn;
        let (n, m) = (system.dimension(), system.equalities().len());
        Ok(VariationalStepper {
            system,
            kernel,
            h: self.step,
            multipliers: vec![0.0; m],
            node: vec![0.0; n],
            xi: vec![0.0; m],
            reaction: vec![0.0; n],
            left: (vec![f64::NAN; n], vec![0.0; n]),
            events: Events::default(),
        })
    }
}

/// [`Variational`] bound to a system.
#[derive(Debug)]
pub struct VariationalStepper<'a> {
    system: &'a System,
    kernel: Kernel<'a>,
    h: f64,
    multipliers: Vec<f64>,
    node: Vec<f64>,
    /// Multipliers $\xi$ and impulse $F\xi$ that made the last momentum tangent, and the position and momentum it ended with.
    xi: Vec<f64>,
    reaction: Vec<f64>,
    left: (Vec<f64>, Vec<f64>),
    events: Events,
}

impl VariationalStepper<'_> {
    /// Multipliers $\lambda_k$ at the node where the last step began (\[LMO\] (22), (34)): the force of constraint
    /// $i$ is $-\lambda_{k,i}\nabla f_i(q_k)$. Of the node where it ended they are known only after the next step.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// The momentum $p_k = \tfrac12(D_2 L_d(q_{k-1}, q_k) - D_1 L_d(q_k, q_{k+1}))$ at that node (\[LMO\] (34), (35)); at the start it
    /// is $p(0)$.
    pub fn node_momentum(&self) -> &[f64] {
        &self.node
    }

    /// Names of the constraints that depend on others where the last step ended: they are left out there, hold by
    /// the others, and have no multiplier. Which they are may change from step to step.
    pub fn redundant(&self) -> impl Iterator<Item = &str> {
        let rows = self.system.equalities();
        self.kernel.redundant().iter().map(|&i| rows.name(i))
    }

    /// Puts both sides of the node together where the step began.
    fn close_node(&mut self, state: &State) {
        let half = 0.5 * self.h;
        let kernel = &self.kernel;
        let (nu, impulse) = (&kernel.position.nu, &kernel.position.impulse);
        let slopes = (&kernel.lagrangian.left, &kernel.lagrangian.right);
        let (new, xi) = (&kernel.p, kernel.equality_multipliers());
        if !(self.left.0 == state.q && self.left.1 == state.p) {
            // A fresh start: half of the node is all there is, and its other half is the same.
            self.xi.copy_from_slice(nu);
            self.reaction.copy_from_slice(impulse);
        }
        for ((lambda, nu), xi) in self.multipliers.iter_mut().zip(nu).zip(&self.xi) {
            *lambda = -(nu + xi) / self.h;
        }
        self.xi.copy_from_slice(xi);
        if nu.is_empty() {
            self.node.copy_from_slice(&state.p);
            return;
        }
        let slopes = slopes.0.iter().zip(slopes.1);
        let ends = state.p.iter().zip(new).zip(impulse).zip(slopes);
        let nodes = self.node.iter_mut().zip(&mut self.reaction);
        for ((node, reaction), (((p, new), impulse), (a, b))) in nodes.zip(ends) {
            *node = p + 0.5 * (impulse - *reaction);
            *reaction = new - (p - half * (a + b) + impulse);
        }
    }
}

impl Stepper for VariationalStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        let phase = (&state.q[..], &state.p[..], state.t);
        let iterations = self.kernel.advance_position(phase, self.h, &[])?;
        self.kernel.advance_momentum(phase, self.h, &[])?;
        let residual = self.kernel.position.residual;
        self.close_node(state);
        self.kernel.commit(state);
        self.left.0.copy_from_slice(&state.q);
        self.left.1.copy_from_slice(&state.p);
        Ok(StepReport { iterations, residual, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }
}
