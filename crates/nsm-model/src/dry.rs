//! Dry friction on freedoms: forces along rates of the system, bounded, that stick exactly.
//!
//! $$ \lvert r_k\rvert \le \tau_k + s_k\\,\lvert R_k\rvert, \qquad u_k = T_k(q)\\,v \ne 0 \Rightarrow r_k = -(\tau_k + s_k\\,\lvert R_k\rvert)\\,\operatorname{sign} u_k, $$
//! $R_k$ being the forces of some equalities at that instant. In what methods book, it stands after the contacts: number $m + k$ is row $k$.

use nsm_constraints::{Tangent, TangentRows};

use crate::{System, SystemError};

/// How large a dry friction can be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DryFriction {
    /// $\tau$, whatever else.
    pub bound: f64,
    /// $s$, and the equalities whose forces together are $R$.
    pub load: Option<(f64, Vec<usize>)>,
}

/// All dry friction of a system.
#[derive(Clone, Debug, Default)]
pub struct DryRows {
    names: Vec<String>,
    laws: Vec<DryFriction>,
    rates: TangentRows,
}

impl DryRows {
    pub(crate) fn new(dimension: usize) -> Self {
        Self { rates: TangentRows::new(dimension), ..Self::default() }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What each is called.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How large each can be.
    pub fn laws(&self) -> &[DryFriction] {
        &self.laws
    }

    /// The rates that they resist, one direction each.
    pub fn rates(&self) -> &TangentRows {
        &self.rates
    }
}

impl System {
    /// Adds dry friction on a rate.
    ///
    /// # Errors
    /// A rate of more than one direction or on other coordinates, a bound or share that is negative or not finite, equalities that are none.
    pub fn with_dry_friction(
        mut self,
        name: impl Into<String>,
        rate: impl Tangent + 'static,
        law: DryFriction,
    ) -> Result<Self, SystemError> {
        let name = name.into();
        let share = law.load.as_ref().map_or(0.0, |load| load.0);
        for value in [law.bound, share] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(SystemError::Friction { name, value });
            }
        }
        if rate.directions() != 1 {
            let (what, length) = ("the list of directions of dry friction", rate.directions());
            return Err(SystemError::Length { what, length, expected: 1 });
        }
        let equalities = self.equalities().len();
        if let Some(&row) = law.load.iter().flat_map(|load| &load.1).find(|&&row| row >= equalities)
        {
            let what = "the list of equalities that load a friction";
            return Err(SystemError::Length { what, length: row + 1, expected: equalities });
        }
        let k = self.dry.len();
        self.dry.rates.set(k, &name, Box::new(rate))?;
        self.dry.names.push(name);
        self.dry.laws.push(law);
        Ok(self)
    }

    /// The dry friction on freedoms.
    pub fn dry(&self) -> &DryRows {
        &self.dry
    }

    /// Names of all that may rub: the gaps, then the dry friction.
    pub fn rubbing_names(&self) -> Vec<String> {
        self.inequalities().names().iter().chain(self.dry.names()).cloned().collect()
    }

    /// Refuses dry friction on freedoms, for methods that do not hold it.
    ///
    /// # Errors
    /// [`SystemError::DoesNotFit`] with the name of the method.
    pub fn require_no_dry_friction(&self, method: &'static str) -> Result<(), SystemError> {
        match self.dry.names.first() {
            None => Ok(()),
            Some(name) => Err(SystemError::DoesNotFit {
                method,
                why: format!(
                    "it holds no dry friction on freedoms, and there is `{name}`; `svci` does"
                ),
            }),
        }
    }
}
