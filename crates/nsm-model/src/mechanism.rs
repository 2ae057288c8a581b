//! From a mechanism to a system: the one way from joints and bodies to the integrators.

use std::sync::Arc;

use nsm_constraints::multibody::{Mechanism, NodeId};
use nsm_constraints::{RateTangent, Tangent};
use nsm_geom::{Plane, Shape};

use crate::{DryFriction, Mass, State, System, SystemError};

impl System {
    /// The system of a mechanism and its start: constraints, potential, forces and mass on the coordinates of its nodes, limits of joints
    /// and ropes as inequalities.
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
    /// Where turns of joints are counted, steps are to be taken by a stepper that is [`wound`](crate::Wound).
    ///
    /// # Errors
    /// A mechanism without a consistent start or without freedoms, or a mass matrix that is not positive semidefinite.
    pub fn of(mechanism: &Mechanism) -> Result<(Self, State), SystemError> {
        let (q, v) = mechanism.start()?;
        let mut system = Self::new(Mass::sparse(mechanism.dimension(), &mechanism.mass_entries())?)
            .with_names(&mechanism.coordinate_names())?;
        system.set_rows(mechanism.potential()?, mechanism.constraints()?);
        for (name, force) in mechanism.forces() {
            system = system.with_named_force(name, force)?;
        }
        system.set_turns(mechanism.turns().collect());
        for (name, limit) in mechanism.limits() {
            system = system.with_inequality(name, limit)?;
        }
        system.stops = system.inequalities().len();
        for friction in mechanism.frictions() {
            let rate = RateTangent(Arc::new(friction.freedom.clone()));
            let load =
                (friction.load > 0.0).then(|| (friction.load, mechanism.load_rows(friction)));
            let law = DryFriction { bound: friction.bound, load };
            system = system.with_dry_friction(format!("{}: friction", friction.name), rate, law)?;
        }
        let state = State::new(&system, &q, &v)?;
        Ok((system, state))
    }

    /// Lets a body's shape touch a plane: adds one gap, or one for every corner of a polyhedron.
    ///
    /// # Errors
    /// A shape without a smooth gap, or a mechanism with other coordinates.
    pub fn with_plane_contact(
        mut self,
        mechanism: &Mechanism,
        body: (NodeId, &Shape),
        plane: &Plane,
        name: &str,
    ) -> Result<Self, SystemError> {
        let tangents = mechanism.push_plane_gaps(body, plane, name, self.inequalities_mut())?;
        self.set_last_tangents(tangents)?;
        Ok(self)
    }

    /// Lets the shapes of two bodies touch.
    ///
    /// # Errors
    /// Shapes without a smooth gap between them, or a mechanism with other coordinates.
    pub fn with_pair_contact(
        mut self,
        mechanism: &Mechanism,
        first: (NodeId, &Shape),
        second: (NodeId, &Shape),
        name: &str,
    ) -> Result<Self, SystemError> {
        let tangents = mechanism.push_pair_gaps(first, second, name, self.inequalities_mut())?;
        self.set_last_tangents(tangents)?;
        Ok(self)
    }

    /// Gives the last gaps their tangential velocities.
    fn set_last_tangents(&mut self, tangents: Vec<Box<dyn Tangent>>) -> Result<(), SystemError> {
        let first = self.inequalities().len() - tangents.len();
        for (k, tangent) in tangents.into_iter().enumerate() {
            self.set_tangent(first + k, tangent)?;
        }
        Ok(())
    }
}
