//! The Lie group variational collision integrator (LGVCI), \[TL\] Algorithm 5.2 in Hamiltonian form.
//!
//! Over each step of size $h$ every body flies, is stopped at its first contact, jumps, and flies on for the
//! rest of the step, as often as needed:
//! $$ \tilde F_{L_d}[(1-\alpha_\Sigma)h]\circ\tilde F_{\mathrm{Jump}}\circ\tilde F_{L_d}[\alpha_jh]\circ\cdots,
//!    \qquad \tilde t_j = t + \alpha_{\Sigma_j}h. $$
//! Flight and jump conserve the energy each for itself and for every step length, so that impacts at any
//! time within the step cause no drift: in exact arithmetic there is none, in floating-point arithmetic it
//! is a random walk of rounding errors.
//!
//! Where a body spins so fast that the attitude equation of the whole step has no solution, the step is split
//! into halves, down to 1/64 of it; that changes the path by $O(h^2)$, and the energy not at all.
//!
//! That is what \[TL\] publish, and what one body over planes without losses gets. Where bodies may touch each other, lose energy or rub,
//! all are moved together: near pairs are found, what touches at one instant is reflected together, and contacts whose bounces are over are
//! held by two half-kicks with Coulomb's law, so that bodies come to rest, roll and slide. The same takes over where elastic impacts accumulate
//! (a body that starts at rest on a plane).

use nsm_model::ContactLaw;

use super::{LgvciStepper, Lgvi, RigidError, RigidState, RigidWorld, RootFinder};

/// The method: how bodies fly and bounce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lgvci {
    /// How they fly.
    pub flow: Lgvi,
    /// How the instant of an impact is found.
    pub root: RootFinder,
    /// What an elastic impact does about the energy.
    pub jump: Jump,
    /// Coefficient of restitution $e$, where the world has no law.
    pub restitution: f64,
    /// Whether that restitution counts even where the world has a law.
    pub overrides: bool,
    /// When impacts take effect, where bodies are moved together.
    pub events: EventTime,
    /// Points closer to a plane than this times the radius of the body touch together with the closest.
    pub tie: f64,
    /// Impacts of one body in one step after which they count as accumulating.
    pub impact_limit: usize,
}

/// When impacts take effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventTime {
    /// At their instants: of second order.
    #[default]
    Located,
    /// At the start of the step in which they would happen: the energy is as exact, times and places are of first order, and it is faster.
    Early,
}

/// What an elastic impact does about the energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jump {
    /// The impact conserves the energy (\[TL\] (4.21)).
    #[default]
    Conserving,
    /// The impact steers the energy back to that at the start, wherever a single point touches.
    Targeting,
}

impl Default for Lgvci {
    fn default() -> Self {
        Self {
            flow: Lgvi::default(),
            root: RootFinder::default(),
            jump: Jump::default(),
            restitution: 1.0,
            overrides: false,
            events: EventTime::default(),
            tie: 1e-10,
            impact_limit: 100,
        }
    }
}

impl Lgvci {
    /// Order of the discrete flow and of the instants of impact.
    pub const ORDER: u32 = 2;

    /// The paper's recipe to the letter, to show its drift.
    pub fn paper() -> Self {
        Self { flow: Lgvi::paper(), root: RootFinder::Bisection, ..Self::default() }
    }

    /// The law between two parties of a world, bodies being numbered before planes; `None` where they pass through each other.
    pub(super) fn law(&self, world: &RigidWorld, a: usize, b: usize) -> Option<ContactLaw> {
        let law = world.law(a, b, ContactLaw::frictionless(self.restitution))?;
        Some(if self.overrides { ContactLaw { restitution: self.restitution, ..law } } else { law })
    }

    /// Binds the method to a world and a start, with the step $h$.
    ///
    /// # Errors
    /// A start that does not fit the world, a parameter out of range.
    pub fn stepper<'a>(
        &self,
        world: &'a RigidWorld,
        start: &RigidState,
        h: f64,
    ) -> Result<LgvciStepper<'a>, RigidError> {
        world.check(start, self.tie)?;
        let check = |ok: bool, what, must, value| {
            if ok { Ok(()) } else { Err(RigidError::Parameter { what, must, value }) }
        };
        check(h.is_finite() && h > 0.0, "the step", "positive and finite", h)?;
        let e = self.restitution;
        check((0.0..=1.0).contains(&e), "the restitution", "between 0 and 1", e)?;
        check((0.0..1e-2).contains(&self.tie), "the tie", "in [0, 0.01)", self.tie)?;
        check(self.impact_limit > 0, "the impact limit", "positive", 0.0)?;
        LgvciStepper::new(*self, world, start, h)
    }
}
