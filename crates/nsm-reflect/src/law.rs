//! Impact laws as values.
//!
//! With $w = G^\top W p$ the rates of the candidate contacts before and $w^+$ after, all laws are
//! $p^+ = p + G\lambda$; they differ in $\lambda$.
//!
//! | law | $\lambda$ | energy | break-away |
//! |---|---|---|---|
//! | [`Reflection`](ImpactLaw::Reflection) | rounds over the violating contacts, $2 \arg\min_{\lambda \ge 0} \lvert p + G\lambda \rvert_W$ | conserved | yes |
//! | [`Published`](ImpactLaw::Published) | the same with the least squares (A.1), signs unchecked | conserved | yes |
//! | [`Sequential`](ImpactLaw::Sequential) | one contact at a time, in the order given | $-\tfrac12(1-e^2)\ldots$ | depends on the order |
//! | [`Newton`](ImpactLaw::Newton) | $0 \le \lambda \perp w^+ + e w \ge 0$ over contacts that do not separate | never gained | no |
//! | [`Lcp`](ImpactLaw::Lcp) | the same once, over all candidates | may be gained | no |

use nsm_model::{System, SystemError};

use crate::ReflectError;

/// How momentum jumps when contacts close.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ImpactLaw {
    /// Generalized reflection (\[KP\] Algorithm 2) with non-negative least squares in line 9: all jump
    /// conditions (5.7)–(5.9) hold in every round.
    #[default]
    Reflection,
    /// Generalized reflection with the normal equation (A.1) as published: $\lambda \ge 0$ is not
    /// guaranteed, nor is termination.
    Published,
    /// One contact after the other, in the order of the candidates: fast, but the outcome depends on
    /// that order and symmetric impacts come out unsymmetric.
    Sequential(Restitution),
    /// Newton's law at all closed contacts together \[Moreau 1988\], repeated while a contact that was
    /// separating is driven together. With
    /// $$ \Delta T = \tfrac12 \textstyle\sum_i \lambda_i\\,(1 - e_i)\\,w_i \le 0 $$
    /// it never gains energy, whatever the coefficients in $[0, 1]$.
    Newton(Restitution),
    /// One complementarity problem over all candidates, closed or not: what most engines solve. A
    /// separating contact that it holds back ($w_i > 0$, $\lambda_i > 0$) gains $\tfrac12 \lambda_i w_i$.
    Lcp(Restitution),
}

impl ImpactLaw {
    /// Refuses coefficients outside $[0, 1]$, or fewer than there are contacts.
    pub(crate) fn check(&self, contacts: usize) -> Result<(), ReflectError> {
        match self {
            Self::Reflection | Self::Published => Ok(()),
            Self::Sequential(e) | Self::Newton(e) | Self::Lcp(e) => e.check(contacts),
        }
    }
}

/// Coefficients of restitution.
#[derive(Clone, Debug, PartialEq)]
pub enum Restitution {
    /// The same at every contact.
    Uniform(f64),
    /// One for each row of the contact gradients.
    PerContact(Vec<f64>),
}

impl Restitution {
    /// No loss.
    pub const ELASTIC: Self = Self::Uniform(1.0);
    /// No rebound.
    pub const PLASTIC: Self = Self::Uniform(0.0);

    /// The coefficient of a contact.
    #[inline]
    pub fn of(&self, contact: usize) -> f64 {
        match self {
            Self::Uniform(e) => *e,
            Self::PerContact(e) => e[contact],
        }
    }

    /// Refuses coefficients outside $[0, 1]$, or another number of them than the system has contacts.
    ///
    /// # Errors
    /// Names the contact.
    pub fn check_for(&self, system: &System) -> Result<(), SystemError> {
        let rows = system.inequalities();
        self.check(rows.len()).map_err(|error| match error {
            ReflectError::Restitution { contact, value } => SystemError::NotFraction {
                what: "the restitution",
                name: rows.names().get(contact).cloned().unwrap_or_default(),
                value,
            },
            ReflectError::Length { what, length, expected } => {
                SystemError::Length { what, length, expected }
            }
            other => SystemError::DoesNotFit { method: "the impact law", why: other.to_string() },
        })
    }

    fn check(&self, contacts: usize) -> Result<(), ReflectError> {
        let wrong = |value: f64| !(0.0..=1.0).contains(&value);
        match self {
            Self::Uniform(value) if wrong(*value) => {
                Err(ReflectError::Restitution { contact: 0, value: *value })
            }
            Self::Uniform(_) => Ok(()),
            Self::PerContact(e) if e.len() != contacts => Err(ReflectError::Length {
                what: "the list of restitutions",
                length: e.len(),
                expected: contacts,
            }),
            Self::PerContact(e) => match e.iter().position(|&value| wrong(value)) {
                Some(contact) => Err(ReflectError::Restitution { contact, value: e[contact] }),
                None => Ok(()),
            },
        }
    }
}
