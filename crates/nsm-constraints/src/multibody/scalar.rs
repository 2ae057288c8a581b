//! Coordinates beside the nodes: what else moves with a mechanism and is described by numbers of its own.
//!
//! They have a constant mass matrix and no constraints but those that couplings and equalities give them; on the tree each is a freedom
//! of its own.

use std::ops::Range;

use super::MechanismError;
use super::mechanism::{Mechanism, finite};

/// A coordinate beside the nodes.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) name: String,
    /// Its place in the coordinate vector.
    pub(super) at: usize,
    pub(super) position: f64,
    pub(super) velocity: f64,
}

impl Mechanism {
    /// Adds coordinates with a mass matrix, given by its entries, and a start; returns their places.
    ///
    /// # Errors
    /// A name that is taken, numbers that are not finite.
    pub fn add_coordinates(
        &mut self,
        names: &[String],
        mass: &[(usize, usize, f64)],
        position: &[f64],
        velocity: &[f64],
    ) -> Result<Range<usize>, MechanismError> {
        let first = self.dimension;
        for ((name, &position), &velocity) in names.iter().zip(position).zip(velocity) {
            finite("the coordinate", name, &[position])?;
            finite("the velocity", name, &[velocity])?;
            self.take_name(name)?;
            let at = self.dimension;
            self.dimension += 1;
            self.scalars.push(Scalar { name: name.clone(), at, position, velocity });
        }
        for &(i, j, m) in mass {
            finite("the mass", names.get(i).map_or("a coordinate", String::as_str), &[m])?;
            self.add_mass_entry(first + i, first + j, m);
        }
        Ok(first..self.dimension)
    }
}
