//! Where a system is and how it moves.

use crate::{System, SystemError};

/// Time, positions, velocities and momenta; $p = M v$ wherever the mass is regular.
///
/// Both $v$ and $p$ are kept because integrators differ in which one they propagate and some mass
/// matrices are singular; every integrator leaves the two consistent.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time.
    pub t: f64,
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Momenta.
    pub p: Vec<f64>,
}

impl State {
    /// A state at $t = 0$ from positions and velocities.
    ///
    /// # Errors
    /// Wrong lengths or numbers that are not finite. Constraints are *not* checked here:
    /// see [`check_start`](crate::check_start).
    pub fn new(system: &System, q: &[f64], v: &[f64]) -> Result<Self, SystemError> {
        check(system, "position", q)?;
        check(system, "velocity", v)?;
        let mut p = vec![0.0; v.len()];
        system.mass().multiply(v, &mut p);
        Ok(Self { t: 0.0, q: q.to_vec(), v: v.to_vec(), p })
    }

    /// A state at $t = 0$ from positions and momenta.
    ///
    /// # Errors
    /// As for [`State::new`].
    pub fn from_momentum(system: &System, q: &[f64], p: &[f64]) -> Result<Self, SystemError> {
        check(system, "position", q)?;
        check(system, "momentum", p)?;
        let mut v = vec![0.0; p.len()];
        system.mass().solve(p, &mut v);
        Ok(Self { t: 0.0, q: q.to_vec(), v, p: p.to_vec() })
    }

    /// Copies `other` into this state without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.p.copy_from_slice(&other.p);
    }
}

fn check(system: &System, what: &'static str, x: &[f64]) -> Result<(), SystemError> {
    let expected = system.dimension();
    if x.len() != expected {
        return Err(SystemError::Length { what, length: x.len(), expected });
    }
    match x.iter().position(|a| !a.is_finite()) {
        Some(i) => {
            Err(SystemError::NotFinite { what, name: system.names()[i].clone(), value: x[i] })
        }
        None => Ok(()),
    }
}
