//! The discrete null space method: constrained variational steps without multipliers.
//!
//! The multiplier scheme (\[LMO\] (22), which [`Variational`](crate::Variational) steps by) premultiplied by $P^\top(q_k)$, whose
//! columns span $\ker G(q_k)$, loses the constraint forces (\[LMO\] (25)),
//! $$ P^\top(q_k)\\,\big[p_k + D_1 L_d(q_k, q_{k+1})\big] = 0, \qquad g(q_{k+1}) = 0, \qquad
//!    p_{k+1} = Q(q_{k+1})\\,D_2 L_d(q_k, q_{k+1}), $$
//! and with $q_{k+1} = F_d(u, q_k)$ it has as many unknowns as the system has freedoms (\[LMO\] (28)). The step from
//! the start is the same with $p_0 = p(0)$ (\[LMO\] (41)). All forms give the trajectory of the multiplier scheme.
//! Coordinates without mass are allowed as long as the motions that the constraints leave have inertia.
//!
//! Multipliers are recovered afterwards (\[LMO\] (38), (47)), $h\\,G^\top\lambda_k = D_2 L_d(q_{k-1}, q_k) + D_1 L_d(q_k, q_{k+1})$: the force of constraint $i$ at
//! node $k$ is $-\lambda_{k,i}\nabla g_i(q_k)$.

mod chart;
mod congruence;
mod nodes;
mod reparametrised;
mod stepper;

pub use reparametrised::ReparametrisedStepper;
pub use stepper::NullSpaceStepper;

use nsm_constraints::Reparametrisation;
use nsm_model::{System, SystemError};

use crate::shared::tolerances::check_step;
use crate::{Quadrature, Tolerances};
use chart::NormalChart;

/// What the equations of a [`NullSpace`] step are solved for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknowns {
    /// All coordinates, with the constraints as equations (\[LMO\] (25)).
    #[default]
    Configuration,
    /// One increment for each freedom (\[LMO\] (28)).
    Increment,
}

/// The variational integrator for equality constraints by the discrete null space method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NullSpace {
    /// Step $h$.
    pub step: f64,
    /// Quadrature of the action; \[LMO\] take the midpoint.
    pub quadrature: Quadrature,
    /// What is solved for.
    pub unknowns: Unknowns,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
}

impl NullSpace {
    /// The method in all coordinates (\[LMO\] (25)) with default tolerances.
    pub fn new(step: f64, quadrature: Quadrature) -> Self {
        let tolerances = Tolerances::default();
        Self { step, quadrature, unknowns: Unknowns::Configuration, tolerances }
    }

    /// The method with nodal reparametrisation (\[LMO\] (28)) and default tolerances.
    pub fn reparametrised(step: f64, quadrature: Quadrature) -> Self {
        Self { unknowns: Unknowns::Increment, ..Self::new(step, quadrature) }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step that is not positive, negative tolerances, variable mass or switching constraints.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<NullSpaceStepper<'a>, SystemError> {
        self.check(system)?;
        let chart = match self.unknowns {
            Unknowns::Configuration => None,
            Unknowns::Increment => Some(NormalChart::new(system, self.tolerances)?),
        };
        NullSpaceStepper::new(system, self, chart)
    }

    /// Binds the method to a system and a reparametrisation of its constraints.
    ///
    /// # Errors
    /// As for [`stepper`](Self::stepper), or a reparametrisation for another system.
    pub fn stepper_with<'a>(
        &self,
        system: &'a System,
        reparametrisation: impl Reparametrisation + 'a,
    ) -> Result<ReparametrisedStepper<'a>, SystemError> {
        self.check(system)?;
        let (freedoms, n) = (reparametrisation.freedoms(), system.dimension());
        if freedoms > n {
            let why = format!("its reparametrisation has {freedoms} freedoms for {n} coordinates");
            return Err(SystemError::DoesNotFit { method: "null space", why });
        }
        ReparametrisedStepper::new(system, self, Box::new(reparametrisation))
    }

    fn check(&self, system: &System) -> Result<(), SystemError> {
        check_step(self.step)?;
        self.tolerances.check()?;
        system.require_constant_mass("a variational integrator")?;
        system.require_no_switching("a variational integrator")?;
        system.require_holonomic("null space")?;
        system.require_no_dry_friction("null space")?;
        if system.equalities().is_rheonomic() {
            let why = "a constraint depends on time; the multiplier scheme takes it".to_owned();
            return Err(SystemError::DoesNotFit { method: "null space", why });
        }
        Ok(())
    }
}
