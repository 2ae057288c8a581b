//! What the mechanics is: mass, potential, forces, constraints, symmetries.
//!
//! $$ M \dot v = -\nabla V(q, t) + f(q, v, t) + F^\top \mu + G^\top \lambda, \qquad
//!    f_i(q, t) = 0, \qquad 0 \le g_j(q, t) \perp \lambda_j \ge 0 $$
//!
//! A system is immutable during a run, and every integrator of the workspace takes the same one. It is put
//! together from [`Field`]s, so a user's own potential or constraint is a field written by hand or
//! derived from a formula, and the integrators cannot tell.

use std::sync::Arc;

use nsm_constraints::multibody::Gauge;
use nsm_constraints::{Field, Rows, Switching, TangentRows};

use crate::{
    ContactLaw, DryRows, Force, Invariant, Mass, State, SystemError, VariableMass, project_start,
};

/// A mechanical system in coordinates $q \in \mathbb{R}^n$.
///
/// ```
/// use nsm_constraints::{AutoDiff, Expr, Scalar};
/// use nsm_model::{Mass, State, System};
///
/// struct Weight { m: f64, g: f64 }
/// impl Expr for Weight {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T { q[0] * (self.m * self.g) }
/// }
/// struct Height;
/// impl Expr for Height {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T { q[0] }
/// }
///
/// let ball = System::new(Mass::diagonal(&[1.0])?)
///     .with_names(&["y"])?
///     .with_potential("gravity", AutoDiff::new(Weight { m: 1.0, g: 9.8 }, &[0])?)?
///     .with_inequality("floor", AutoDiff::new(Height, &[0])?)?;
/// let start = State::new(&ball, &[1.0], &[0.0])?;
/// assert_eq!(ball.potential().sum(&start.q, start.t), 9.8);
/// # Ok::<(), nsm_model::SystemError>(())
/// ```
///
/// Copies share what they are made of: adding contacts to a copy costs no more than those contacts and a list of the rest.
#[derive(Clone)]
pub struct System {
    names: Vec<String>,
    mass: Mass,
    variable_mass: Option<Arc<dyn VariableMass>>,
    potential: Rows,
    forces: Vec<Arc<dyn Force>>,
    force_names: Vec<String>,
    equalities: Rows,
    switching: Option<Arc<Switching>>,
    inequalities: Rows,
    pub(crate) tangents: TangentRows,
    /// Law of every gap; those beyond its end are elastic and without friction.
    pub(crate) laws: Vec<ContactLaw>,
    /// The first so many gaps are stops of joints and ropes, which do not rub.
    pub(crate) stops: usize,
    pub(crate) dry: DryRows,
    invariants: Vec<Invariant>,
    /// Angles whose turns are counted, and the coordinates that count them.
    turns: Vec<(Gauge, usize)>,
}

impl System {
    /// A free system with this mass: no potential, no forces, no constraints yet.
    pub fn new(mass: Mass) -> Self {
        let n = mass.dimension();
        Self {
            names: (0..n).map(|i| format!("q{i}")).collect(),
            mass,
            variable_mass: None,
            potential: Rows::new(n),
            forces: Vec::new(),
            force_names: Vec::new(),
            equalities: Rows::new(n),
            switching: None,
            inequalities: Rows::new(n),
            tangents: TangentRows::new(n),
            laws: Vec::new(),
            stops: 0,
            dry: DryRows::new(n),
            invariants: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// A free system whose mass depends on the configuration; the variational integrators `vi` and `svci` and the generalized-α methods take it.
    ///
    /// Its [`mass`](System::mass) is zero, so that methods for constant masses refuse it.
    ///
    /// # Errors
    /// If it has no coordinates.
    pub fn with_variable_mass(mass: impl VariableMass + 'static) -> Result<Self, SystemError> {
        let mut system = Self::new(Mass::diagonal(&vec![0.0; mass.dimension()])?);
        system.variable_mass = Some(Arc::new(mass));
        Ok(system)
    }

    /// Names the coordinates.
    ///
    /// # Errors
    /// If there are not as many names as coordinates.
    pub fn with_names<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self, SystemError> {
        let expected = self.dimension();
        if names.len() != expected {
            return Err(SystemError::Length {
                what: "the list of names",
                length: names.len(),
                expected,
            });
        }
        self.names = names.iter().map(|s| s.as_ref().to_owned()).collect();
        Ok(self)
    }

    /// Adds a term to the potential $V$.
    ///
    /// # Errors
    /// If its block does not fit the system.
    pub fn with_potential(
        mut self,
        name: &str,
        term: impl Field + 'static,
    ) -> Result<Self, SystemError> {
        self.potential.push(name, term)?;
        Ok(self)
    }

    /// Adds a force that no potential gives.
    ///
    /// # Errors
    /// If its block does not fit the system.
    pub fn with_force(self, force: impl Force + 'static) -> Result<Self, SystemError> {
        self.with_named_force("force", force)
    }

    /// Adds a force that no potential gives; its work stands under its name in the ledger.
    ///
    /// # Errors
    /// If its block does not fit the system.
    pub fn with_named_force(
        mut self,
        name: &str,
        force: impl Force + 'static,
    ) -> Result<Self, SystemError> {
        nsm_constraints::check_coordinates(name, force.coordinates(), self.dimension())?;
        self.forces.push(Arc::new(force));
        self.force_names.push(name.to_owned());
        Ok(self)
    }

    /// Adds an equality constraint $f(q, t) = 0$.
    ///
    /// # Errors
    /// If its block does not fit the system.
    pub fn with_equality(
        mut self,
        name: &str,
        constraint: impl Field + 'static,
    ) -> Result<Self, SystemError> {
        self.equalities.push(name, constraint)?;
        Ok(self)
    }

    /// Adds equality constraints that change with the mode, beside the ones that hold in every mode.
    ///
    /// # Errors
    /// If they are on other coordinates, or have no mode at all.
    pub fn with_switching(mut self, switching: Switching) -> Result<Self, SystemError> {
        if switching.dimension() != self.dimension() {
            return Err(SystemError::Length {
                what: "the coordinate vector of the switching constraints",
                length: switching.dimension(),
                expected: self.dimension(),
            });
        }
        if switching.is_empty() {
            return Err(SystemError::Uncovered);
        }
        self.switching = Some(Arc::new(switching));
        Ok(self)
    }

    /// The first row on velocities among the equalities, if there is one.
    pub fn nonholonomic(&self) -> Option<&str> {
        self.equalities.rolling().first().map(|&i| self.equalities.name(i))
    }

    /// Refuses rows on velocities for a method that takes equalities as functions of positions.
    ///
    /// # Errors
    /// If there is one, by its name.
    pub fn require_holonomic(&self, method: &'static str) -> Result<(), SystemError> {
        let Some(row) = self.nonholonomic() else { return Ok(()) };
        let holding = if self.inequalities.is_empty() {
            "`vi`, `conserving` and `energy-momentum` hold it"
        } else {
            "`svci` holds it, and inequalities beside it"
        };
        let why = format!(
            "it holds equalities of positions, and `{row}` is one of velocities; {holding}"
        );
        Err(SystemError::DoesNotFit { method, why })
    }

    /// Adds an inequality constraint $g(q, t) \ge 0$, a gap.
    ///
    /// # Errors
    /// If its block does not fit the system.
    pub fn with_inequality(
        mut self,
        name: &str,
        gap: impl Field + 'static,
    ) -> Result<Self, SystemError> {
        self.inequalities.push(name, gap)?;
        Ok(self)
    }

    /// Adds a quantity that the ledger tracks.
    #[must_use]
    pub fn with_invariant(mut self, invariant: Invariant) -> Self {
        self.invariants.push(invariant);
        self
    }

    /// Whether symmetry protects a momentum $J = \xi(q) \cdot p$, linear in $p$: whether potential, forces and constraints do no work
    /// along $\xi$, at the start and at a point beside it that keeps the equalities.
    ///
    /// That $\xi$ moves the system without changing its kinetic energy, as translations and rotations of the whole do, is not asked.
    pub fn protects(&self, momentum: &Invariant, start: &State) -> bool {
        let (n, t, q) = (self.dimension(), start.t, &start.q);
        let size = q.iter().fold(0.0_f64, |a, b| a.max(b.abs())).max(f64::MIN_POSITIVE);
        // Any point will do that no symmetry singles out.
        let mut beside = start.clone();
        for (i, x) in beside.q.iter_mut().enumerate() {
            *x += 0.05 * size * (1.7 * i as f64 + 0.3).sin();
        }
        if project_start(self, &mut beside).is_err() {
            beside.clone_from(start);
        }
        let (mut unit, v) = (vec![0.0; n], vec![0.0; n]);
        [q, &beside.q].into_iter().all(|q| {
            let mut along = |i: usize| {
                unit[i] = 1.0;
                let entry = momentum.value(q, &unit);
                unit[i] = 0.0;
                entry
            };
            let xi: Vec<f64> = match momentum.direction(q) {
                Some(direction) => direction,
                None => (0..n).map(&mut along).collect(),
            };
            let idle = |columns: &[usize], force: &[f64]| {
                let terms = columns.iter().zip(force).map(|(&k, f)| f * xi[k]);
                let (sum, scale) = terms.fold((0.0, 0.0), |(s, a), x| (s + x, a + x.abs()));
                sum.abs() <= 1e-7 * scale
            };
            // Terms of the potential may balance each other only as a whole.
            let mut slope = vec![0.0; n];
            let mut gradients = vec![0.0; self.potential.entries()];
            self.potential.gradients(q, t, &mut gradients);
            let ones = vec![1.0; self.potential.len()];
            self.potential.add_transposed(&gradients, &ones, 1.0, &mut slope);
            let all: Vec<usize> = (0..n).collect();
            let forces = self.forces.iter().all(|force| {
                let mut block = vec![0.0; force.coordinates().len()];
                force.force(q, &v, t, &mut block);
                idle(force.coordinates(), &block)
            });
            let rows = |rows: &Rows| {
                let mut gradients = vec![0.0; rows.entries()];
                rows.gradients(q, t, &mut gradients);
                (0..rows.len()).all(|i| idle(rows.columns(i), &gradients[rows.span(i)]))
            };
            let mut values = vec![0.0; self.tangents.entries()];
            let rubs = |i: usize| {
                self.tangents.coefficients(i, q, t, &mut values);
                (0..2).all(|k| idle(self.tangents.columns(i, k), &values[self.tangents.span(i, k)]))
            };
            let sliding =
                (0..self.inequalities.len()).filter(|&i| self.contact_law(i).friction > 0.0);
            let modes = self.switching.as_deref().map_or(&[][..], Switching::all_rows);
            sliding.into_iter().all(rubs)
                && idle(&all, &slope)
                && forces
                && [&self.equalities, &self.inequalities].into_iter().chain(modes).all(rows)
        })
    }

    /// Replaces potential and equalities, both on the coordinates of this system.
    pub(crate) fn set_rows(&mut self, potential: Rows, equalities: Rows) {
        debug_assert!(potential.dimension() == self.dimension());
        debug_assert!(equalities.dimension() == self.dimension());
        (self.potential, self.equalities) = (potential, equalities);
    }

    /// Counts turns of these angles in these coordinates.
    pub(crate) fn set_turns(&mut self, turns: Vec<(Gauge, usize)>) {
        self.turns = turns;
    }

    /// Angles whose turns are counted, and the coordinates that count them.
    pub fn turns(&self) -> &[(Gauge, usize)] {
        &self.turns
    }

    /// The gaps, to append more of them.
    pub(crate) fn inequalities_mut(&mut self) -> &mut Rows {
        &mut self.inequalities
    }

    /// Number of coordinates $n$.
    pub fn dimension(&self) -> usize {
        self.mass.dimension()
    }

    /// Names of the coordinates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The mass matrix.
    pub fn mass(&self) -> &Mass {
        &self.mass
    }

    /// The mass as a function of the configuration, where it depends on it.
    pub fn variable_mass(&self) -> Option<&dyn VariableMass> {
        self.variable_mass.as_deref()
    }

    /// Writes the momenta $p = M(q)\\,v$.
    pub fn momentum(&self, q: &[f64], v: &[f64], p: &mut [f64]) {
        match &self.variable_mass {
            None => self.mass.multiply(v, p),
            Some(mass) => mass.momentum(q, v, p),
        }
    }

    /// $\tfrac12 v^\top M(q)\\,v$.
    pub fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        match &self.variable_mass {
            None => self.mass.kinetic_energy(v),
            Some(mass) => mass.kinetic_energy(q, v),
        }
    }

    /// The terms of the potential; $V$ is their [`sum`](Rows::sum).
    pub fn potential(&self) -> &Rows {
        &self.potential
    }

    /// The forces that no potential gives.
    pub fn forces(&self) -> &[Arc<dyn Force>] {
        &self.forces
    }

    /// Their names.
    pub fn force_names(&self) -> &[String] {
        &self.force_names
    }

    /// The equality constraints.
    pub fn equalities(&self) -> &Rows {
        &self.equalities
    }

    /// The equality constraints that change with the mode.
    pub fn switching(&self) -> Option<&Switching> {
        self.switching.as_deref()
    }

    /// The inequality constraints, one gap a row.
    pub fn inequalities(&self) -> &Rows {
        &self.inequalities
    }

    /// The quantities that the ledger tracks.
    pub fn invariants(&self) -> &[Invariant] {
        &self.invariants
    }

    /// Refuses a system whose mass depends on the configuration.
    ///
    /// # Errors
    /// [`SystemError::DoesNotFit`] with the name of the method.
    pub fn require_constant_mass(&self, method: &'static str) -> Result<(), SystemError> {
        match self.variable_mass {
            None => Ok(()),
            Some(_) => Err(SystemError::DoesNotFit {
                method,
                why: if self.inequalities.is_empty() {
                    "its mass depends on the configuration; `vi` takes it".into()
                } else {
                    "its mass depends on the configuration; `svci` takes it with contacts, and `alpha-event` and `nsga` do".into()
                },
            }),
        }
    }

    /// Refuses a system whose constraints switch.
    ///
    /// # Errors
    /// [`SystemError::DoesNotFit`] with the name of the method.
    pub fn require_no_switching(&self, method: &'static str) -> Result<(), SystemError> {
        match self.switching {
            None => Ok(()),
            Some(_) => Err(SystemError::DoesNotFit {
                method,
                why: "its constraints switch; the generalized-α methods take it".into(),
            }),
        }
    }

    /// Refuses a system with massless coordinates, for methods that divide by the mass.
    ///
    /// # Errors
    /// [`SystemError::Massless`] names the first of them.
    pub fn require_regular_mass(&self) -> Result<(), SystemError> {
        match self.mass.massless().first() {
            Some(&i) => Err(SystemError::Massless { coordinate: self.names[i].clone() }),
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("System")
            .field("names", &self.names)
            .field("mass", &self.mass)
            .field("potential", &self.potential)
            .field("equalities", &self.equalities)
            .field("switching", &self.switching)
            .field("inequalities", &self.inequalities)
            .finish_non_exhaustive()
    }
}
