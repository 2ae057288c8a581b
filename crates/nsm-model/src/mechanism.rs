//! From a mechanism to a system: the one way from joints and bodies to the integrators.

use nsm_constraints::multibody::Mechanism;

use crate::{Mass, State, System, SystemError};

impl System {
    /// The system of a mechanism and its start: constraints, potential and mass on the coordinates of its nodes.
    ///
    /// More terms may be added to the system afterwards, on the mechanism's
    /// [coordinates](Mechanism::coordinates). Redundant constraints are kept, as closed loops have them.
    ///
    /// ```
    /// use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
    /// use nsm_model::System;
    ///
    /// let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81])?;
    /// let bar = Inertia::cuboid(2.0, [1.0, 0.1, 0.1]);
    /// let bar = mechanism.add_body("bar", bar, Pose::at([0.5, 0.0, 0.0]))?;
    /// let ends = [End::Ground, bar.into()];
    /// let hinge = mechanism.add_joint("hinge", JointKind::Revolute, ends, [0.0; 3], [0.0, 1.0, 0.0])?;
    /// mechanism.set_rate(hinge, &[2.0])?;
    /// let (system, start) = System::of(&mechanism)?;
    /// assert_eq!(system.names()[..3], ["bar.x", "bar.y", "bar.z"]);
    /// assert!((start.v[2] + 1.0).abs() < 1e-15);
    /// # Ok::<(), nsm_model::SystemError>(())
    /// ```
    ///
    /// # Errors
    /// A mechanism without a consistent start or without freedoms, or a mass matrix that is not positive semidefinite.
    pub fn of(mechanism: &Mechanism) -> Result<(Self, State), SystemError> {
        let (q, v) = mechanism.start()?;
        let mut system = Self::new(Mass::sparse(mechanism.dimension(), &mechanism.mass_entries())?)
            .with_names(&mechanism.coordinate_names())?;
        system.set_rows(mechanism.potential()?, mechanism.constraints()?);
        let state = State::new(&system, &q, &v)?;
        Ok((system, state))
    }
}
