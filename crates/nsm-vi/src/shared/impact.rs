//! Reflections inside a step: gradients at the start, the energy's metric, errors with names.

use nsm_model::{StepError, System, SystemError};
use nsm_reflect::{ImpactLaw, ReflectError, Reflector, ShadowMetric};

use crate::shared::gaps::Gaps;
use crate::{Quadrature, Tolerances};

/// The energy that a reflection conserves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Energy {
    /// $H = \tfrac12 p^\top M^{-1} p + V$.
    #[default]
    Hamiltonian,
    /// The numerical Hamiltonian of the base scheme to second order (\[KP\] section 5.1.1):
    /// $H_2 = H + h^2(\tfrac1{12} v^\top V\'\' v - \tfrac1{24} |\nabla V|^2_{M^{-1}})$ for Verlet,
    /// $H_2 = H - \tfrac{h^2}{24}(v^\top V\'\' v + |\nabla V|^2_{M^{-1}})$ for the midpoint rule.
    SecondOrder,
}

/// What a reflection did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) rounds: usize,
    /// Change of $H$.
    pub(crate) energy: f64,
}

/// An impact law bound to a system and to a step.
#[derive(Debug)]
pub(crate) struct Impact<'a> {
    system: &'a System,
    reflector: Reflector,
    shadow: Option<ShadowMetric>,
    g: Vec<f64>,
    f: Vec<f64>,
    v: Vec<f64>,
}

impl<'a> Impact<'a> {
    pub(crate) fn new(
        system: &'a System,
        quadrature: Quadrature,
        h: f64,
        energy: Energy,
        law: &ImpactLaw,
        tolerances: &Tolerances,
    ) -> Result<Self, SystemError> {
        let refused = |error| refuse(system, &error);
        let (law, contact) = (law.clone(), tolerances.contact);
        let (reflector, shadow) = match energy {
            Energy::Hamiltonian => (Reflector::new(system, law, contact).map_err(refused)?, None),
            Energy::SecondOrder => {
                let shadow = ShadowMetric::new(system, quadrature, h).map_err(refused)?;
                let metric = shadow.metric().clone();
                let reflector = Reflector::with_metric(system, metric, law, contact);
                (reflector.map_err(refused)?, Some(shadow))
            }
        };
        Ok(Self {
            system,
            reflector: reflector.with_max_rounds(tolerances.rounds),
            shadow,
            g: vec![0.0; system.inequalities().entries()],
            f: vec![0.0; system.equalities().entries()],
            v: vec![0.0; system.dimension()],
        })
    }

    /// Evaluates gradients of the equalities and of the candidates, and the metric, at $(q, t)$.
    pub(crate) fn configure(&mut self, gaps: &Gaps<'_>, q: &[f64], t: f64, candidates: &[usize]) {
        for &i in candidates {
            gaps.gradient(i, q, t, &mut self.g);
        }
        self.system.equalities().gradients(q, t, &mut self.f);
        self.reflector.at(self.system, q, t);
        if let Some(shadow) = &mut self.shadow {
            shadow.renew(self.system, q, t);
        }
    }

    /// Evaluates the gradient of one more candidate.
    pub(crate) fn add(&mut self, gaps: &Gaps<'_>, q: &[f64], t: f64, i: usize) {
        gaps.gradient(i, q, t, &mut self.g);
    }

    /// Gradient values of the inequalities; current for the candidates.
    pub(crate) fn gradients(&self) -> &[f64] {
        &self.g
    }

    /// Reflects `p` at the candidates; `None` if none of them approaches.
    pub(crate) fn reflect(
        &mut self,
        t: f64,
        candidates: &[usize],
        p: &mut [f64],
    ) -> Result<Option<Change>, StepError> {
        let kinetic = |p: &[f64], v: &mut [f64]| {
            self.system.mass().solve(p, v);
            self.system.mass().kinetic_energy(v)
        };
        let (certificate, energy) = match &self.shadow {
            None => {
                let result = self.reflector.reflect(self.system, &self.g, &self.f, candidates, p);
                let certificate = result.map_err(|error| name(self.system, t, error))?;
                (certificate, certificate.energy_change)
            }
            Some(shadow) => {
                let before = kinetic(p, &mut self.v);
                let result = self.reflector.reflect_in(
                    shadow.metric(),
                    self.system,
                    &self.g,
                    &self.f,
                    candidates,
                    p,
                );
                let certificate = result.map_err(|error| name(self.system, t, error))?;
                (certificate, kinetic(p, &mut self.v) - before)
            }
        };
        let rounds = certificate.rounds;
        Ok((rounds > 0).then_some(Change { rounds, energy }))
    }

    /// Impulse of each candidate in the last reflection.
    pub(crate) fn impulses(&self) -> &[f64] {
        self.reflector.impulses()
    }
}

/// Why a law does not fit a system.
fn refuse(system: &System, error: &ReflectError) -> SystemError {
    match error {
        ReflectError::System(error) => error.clone(),
        ReflectError::Restitution { value, contact } => SystemError::DoesNotFit {
            method: "the impact law",
            why: format!(
                "the restitution of `{}` is {value}, it must lie between 0 and 1",
                contact_name(system, *contact)
            ),
        },
        other => SystemError::DoesNotFit { method: "the impact law", why: other.to_string() },
    }
}

/// The error of an impact, with the contact's name.
fn name(system: &System, t: f64, error: ReflectError) -> StepError {
    match error {
        ReflectError::Rounds { contact, residual, rounds } => {
            StepError::Impact { t, rounds, residual, contact: contact_name(system, contact) }
        }
        ReflectError::NotFinite { what, contact } => {
            StepError::NotFinite { t, what, culprit: contact_name(system, contact) }
        }
        ReflectError::NotPositive { contact, .. } => StepError::Singular {
            t,
            what: "the impulse metric",
            culprit: contact_name(system, contact),
        },
        other => StepError::Method { t, source: Box::new(other) },
    }
}

fn contact_name(system: &System, contact: usize) -> String {
    system.inequalities().names().get(contact).cloned().unwrap_or_default()
}
