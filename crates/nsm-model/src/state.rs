//! Where a system is and how it moves.

use nsm_solvers::small::{self, cholesky};

use crate::{System, SystemError};

/// Time, positions, velocities and momenta; $p = M v$ wherever the mass is regular.
///
/// Both $v$ and $p$ are kept because integrators differ in which one they propagate and some mass
/// matrices are singular; every integrator leaves the two consistent.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Time.
    pub t: f64,
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Momenta.
    pub p: Vec<f64>,
    /// The mode, where the constraints switch; 0 where they do not.
    pub mode: i64,
}

impl State {
    /// A state at $t = 0$ from positions and velocities.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite, or modes that do not cover the position. Constraints
    /// are *not* checked here: see [`check_start`](crate::check_start).
    pub fn new(system: &System, q: &[f64], v: &[f64]) -> Result<Self, SystemError> {
        check(system, "position", q)?;
        check(system, "velocity", v)?;
        let mut p = vec![0.0; v.len()];
        system.momentum(q, v, &mut p);
        let mode = start_mode(system, q, v)?;
        Ok(Self { t: 0.0, q: q.to_vec(), v: v.to_vec(), p, mode })
    }

    /// A state at $t = 0$ from positions and momenta.
    ///
    /// # Errors
    /// As for [`State::new`].
    pub fn from_momentum(system: &System, q: &[f64], p: &[f64]) -> Result<Self, SystemError> {
        check(system, "position", q)?;
        check(system, "momentum", p)?;
        let mut v = vec![0.0; p.len()];
        match system.variable_mass() {
            None => system.mass().solve(p, &mut v),
            Some(mass) => {
                let (n, mut matrix) = (p.len(), vec![0.0; p.len() * p.len()]);
                mass.matrix(q, &mut matrix);
                v.copy_from_slice(p);
                cholesky::factor(n, &mut matrix, small::tolerance(n))
                    .and_then(|()| cholesky::solve(n, &matrix, &mut v))
                    .map_err(|error| SystemError::DoesNotFit {
                        method: "a start from momenta",
                        why: format!(
                            "the kinetic energy has a direction without inertia there: {error}"
                        ),
                    })?;
            }
        }
        let mode = start_mode(system, q, &v)?;
        Ok(Self { t: 0.0, q: q.to_vec(), v, p: p.to_vec(), mode })
    }

    /// The same state in the mode with this name: settles a start on a switching surface.
    ///
    /// # Errors
    /// If the system has no such mode, or its region does not reach the position.
    pub fn in_mode(mut self, system: &System, name: &str) -> Result<Self, SystemError> {
        let unknown = || SystemError::UnknownMode { name: name.to_owned() };
        let switching = system.switching().ok_or_else(unknown)?;
        let mode = switching.find(name).ok_or_else(unknown)?;
        let region = switching.region(mode, &self.q, self.t);
        if region.is_nan() || region < -1e-8 {
            return Err(SystemError::OutsideMode { name: name.to_owned(), region });
        }
        self.mode = mode;
        Ok(self)
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        let Self { t, q, v, p, mode } = self;
        Self { t: *t, q: q.clone(), v: v.clone(), p: p.clone(), mode: *mode }
    }

    /// Allocates only if `source` has more coordinates.
    fn clone_from(&mut self, source: &Self) {
        self.t = source.t;
        self.q.clone_from(&source.q);
        self.v.clone_from(&source.v);
        self.p.clone_from(&source.p);
        self.mode = source.mode;
    }
}

/// The mode that holds a position, or on a surface the one that the velocity leads into.
fn start_mode(system: &System, q: &[f64], v: &[f64]) -> Result<i64, SystemError> {
    match system.switching() {
        None => Ok(0),
        Some(switching) => switching.start(q, v, 0.0).ok_or(SystemError::Uncovered),
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
