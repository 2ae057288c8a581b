//! What happens where two parties touch: restitution and friction.

use nsm_constraints::{Tangent, TangentRows};

use crate::{System, SystemError};

/// The law of one contact: Newton's restitution along the normal and in the tangent plane, Coulomb's friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLaw {
    /// $e$: share of the normal velocity that an impact gives back, between 0 and 1.
    pub restitution: f64,
    /// $e_T$: share of the tangential velocity that it reverses, as far as friction allows, between 0 and 1.
    pub tangential_restitution: f64,
    /// $\mu$: largest ratio of tangential and normal force; not negative.
    pub friction: f64,
}

impl ContactLaw {
    /// No loss, no friction.
    pub const ELASTIC: Self = Self::frictionless(1.0);

    /// A contact without friction.
    pub const fn frictionless(restitution: f64) -> Self {
        Self { restitution, tangential_restitution: 0.0, friction: 0.0 }
    }

    /// Refuses restitutions outside $[0, 1]$ and friction that is negative or not finite; `name` is that of the contact.
    ///
    /// # Errors
    /// Says which.
    pub fn check(&self, name: &str) -> Result<(), SystemError> {
        let fractions = [
            ("the restitution", self.restitution),
            ("the tangential restitution", self.tangential_restitution),
        ];
        for (what, value) in fractions {
            if !(0.0..=1.0).contains(&value) {
                return Err(SystemError::NotFraction { what, name: name.to_owned(), value });
            }
        }
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            let (name, value) = (name.to_owned(), self.friction);
            return Err(SystemError::Friction { name, value });
        }
        Ok(())
    }
}

impl Default for ContactLaw {
    fn default() -> Self {
        Self::ELASTIC
    }
}

/// What one contact did, in an impact or over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactImpulse {
    /// The contact.
    pub contact: usize,
    /// Its normal impulse.
    pub normal: f64,
    /// Its tangential impulse.
    pub tangential: [f64; 2],
    /// Whether it has friction at all.
    pub rubs: bool,
    /// Whether it slipped, at the end.
    pub slips: bool,
    /// Energy that it added (negative: took).
    pub work: f64,
    /// Where it acted, if that is a place; systems in coordinates know it from their [`Tangent`](nsm_constraints::Tangent).
    pub touch: Option<Touch>,
}

/// Where a contact acted in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Touch {
    /// The common point of the two parties.
    pub point: [f64; 3],
    /// Unit normal, towards the party that is named first.
    pub normal: [f64; 3],
    /// The impulse on the party that is named first.
    pub impulse: [f64; 3],
}

impl ContactImpulse {
    /// Where it acted: as it was booked, or from the tangent of its gap at a state.
    pub fn touch_in(&self, system: &System, q: &[f64], t: f64) -> Option<Touch> {
        self.touch.or_else(|| {
            let (point, frame) = system.tangents().of(self.contact)?.touch(q, t)?;
            let parts = [self.normal, self.tangential[0], self.tangential[1]];
            let along = |k: usize| (0..3).map(|i| parts[i] * frame[i][k]).sum();
            Some(Touch { point, normal: frame[0], impulse: std::array::from_fn(along) })
        })
    }
}

impl System {
    /// Gives an inequality its tangential velocities, on which friction acts.
    ///
    /// # Errors
    /// No such inequality, or a block that does not fit the system.
    pub fn with_tangent(
        mut self,
        gap: usize,
        tangent: impl Tangent + 'static,
    ) -> Result<Self, SystemError> {
        self.set_tangent(gap, Box::new(tangent))?;
        Ok(self)
    }

    pub(crate) fn set_tangent(
        &mut self,
        gap: usize,
        tangent: Box<dyn Tangent>,
    ) -> Result<(), SystemError> {
        if gap >= self.inequalities().len() {
            let (what, expected) = ("the list of tangents", self.inequalities().len());
            return Err(SystemError::Length { what, length: gap + 1, expected });
        }
        let name = self.inequalities().name(gap).to_owned();
        Ok(self.tangents.set(gap, &name, tangent)?)
    }

    /// Says what happens where each gap closes: one law for every inequality so far. Methods that hold friction take it from here;
    /// restitutions are those of the method, which whoever binds it takes from here.
    ///
    /// # Errors
    /// Another number of laws, a restitution outside $[0, 1]$, friction that is negative or not finite.
    pub fn with_contact_laws(mut self, laws: &[ContactLaw]) -> Result<Self, SystemError> {
        let expected = self.inequalities().len();
        if laws.len() != expected {
            let (what, length) = ("the list of contact laws", laws.len());
            return Err(SystemError::Length { what, length, expected });
        }
        for (i, law) in laws.iter().enumerate() {
            law.check(self.inequalities().name(i))?;
        }
        self.laws = laws.to_vec();
        Ok(self)
    }

    /// The law of a gap.
    pub fn contact_law(&self, gap: usize) -> ContactLaw {
        self.laws.get(gap).copied().unwrap_or_default()
    }

    /// The laws of all gaps.
    pub fn contact_laws(&self) -> impl Iterator<Item = ContactLaw> {
        (0..self.inequalities().len()).map(|i| self.contact_law(i))
    }

    /// The tangential velocities of the gaps.
    pub fn tangents(&self) -> &TangentRows {
        &self.tangents
    }

    /// The laws of all gaps, with another friction or tangential restitution for all of them if that is given; none where nothing rubs.
    ///
    /// # Errors
    /// Friction at a gap without tangential velocities, values out of range.
    pub fn frictional_laws(
        &self,
        friction: Option<f64>,
        tangential_restitution: Option<f64>,
    ) -> Result<Option<Vec<ContactLaw>>, SystemError> {
        let mut laws: Vec<ContactLaw> = self.contact_laws().collect();
        for (i, law) in laws.iter_mut().enumerate() {
            if i >= self.stops {
                law.friction = friction.unwrap_or(law.friction);
            }
            law.tangential_restitution =
                tangential_restitution.unwrap_or(law.tangential_restitution);
            law.check(self.inequalities().name(i))?;
            if law.friction > 0.0 && self.tangents.of(i).is_none() {
                let gap = self.inequalities().name(i).to_owned();
                return Err(SystemError::NoTangent { gap, friction: law.friction });
            }
        }
        Ok(laws.iter().any(|law| law.friction > 0.0).then_some(laws))
    }

    /// Refuses friction at contacts, for methods that do not hold it.
    ///
    /// # Errors
    /// [`SystemError::DoesNotFit`] with the name of the method.
    pub fn require_no_friction(&self, method: &'static str) -> Result<(), SystemError> {
        match self.contact_laws().position(|law| law.friction > 0.0) {
            None => Ok(()),
            Some(i) => Err(SystemError::DoesNotFit {
                method,
                why: format!(
                    "it holds no friction, and contact `{}` has some; methods that hold friction are svci, nsga, moreau-jean",
                    self.inequalities().name(i)
                ),
            }),
        }
    }
}
