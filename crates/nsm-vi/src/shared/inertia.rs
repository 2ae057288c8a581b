//! The matrix of the position update, $A = \tfrac1h M + \tfrac h2\\,\partial s_0/\partial q_1$, and its solves.
//!
//! Explicit schemes have $A = M/h$ and never factorise. Implicit ones factorise $A$ once per Newton
//! iteration: on slices while the system is tiny, above that dense, banded or sparse by its pattern.

use nsm_model::{System, SystemError};
use nsm_solvers::small::lu;
use nsm_solvers::{LinearError, LinearSystem, Structure};

use crate::shared::lagrangian::DiscreteLagrangian;

/// Up to this size a dense factorisation costs less than looking at a pattern.
const TINY: usize = 12;

/// $A$ and what is needed to solve with it.
#[derive(Debug)]
pub(crate) struct Inertia<'a> {
    system: &'a System,
    h: f64,
    /// Entries of $M$, then of the stiffness.
    mass: Vec<f64>,
    pattern: Vec<(usize, usize)>,
    values: Vec<f64>,
    matrix: Matrix,
}

#[derive(Debug)]
enum Matrix {
    /// $A = M/h$.
    Mass,
    Tiny {
        lu: Vec<f64>,
        pivots: Vec<usize>,
    },
    Patterned(Box<LinearSystem>),
}

impl<'a> Inertia<'a> {
    pub(crate) fn new(lagrangian: &DiscreteLagrangian<'a>) -> Result<Self, SystemError> {
        let system = lagrangian.system();
        let n = system.dimension();
        let (mut pattern, mut mass) = (Vec::new(), Vec::new());
        for (i, j, value) in system.mass().entries() {
            pattern.push((i, j));
            mass.push(value);
        }
        let matrix = if lagrangian.is_explicit() {
            Matrix::Mass
        } else {
            pattern.extend(lagrangian.loads.stiffness_pattern());
            if n <= TINY {
                Matrix::Tiny { lu: vec![0.0; n * n], pivots: vec![0; n] }
            } else {
                let matrix =
                    LinearSystem::new(n, &pattern, Structure::General).map_err(|error| {
                        SystemError::DoesNotFit {
                            method: "the position update",
                            why: error.to_string(),
                        }
                    })?;
                Matrix::Patterned(Box::new(matrix))
            }
        };
        let values = vec![0.0; pattern.len()];
        Ok(Self { system, h: 1.0, mass, pattern, values, matrix })
    }

    /// Whether $A = M/h$.
    pub(crate) fn is_mass(&self) -> bool {
        matches!(self.matrix, Matrix::Mass)
    }

    /// Positions of the [`entries`](Self::entries); duplicates add up.
    pub(crate) fn pattern(&self) -> &[(usize, usize)] {
        &self.pattern
    }

    /// The entries of $A$ at the last trial position of the Lagrangian.
    pub(crate) fn entries(
        &mut self,
        lagrangian: &mut DiscreteLagrangian<'_>,
        q0: &[f64],
        t: f64,
        h: f64,
    ) -> &[f64] {
        let (inertial, stiffness) = self.values.split_at_mut(self.mass.len());
        for (value, mass) in inertial.iter_mut().zip(&self.mass) {
            *value = mass / h;
        }
        if !stiffness.is_empty() {
            lagrangian.stiffness(q0, t, h, stiffness);
        }
        &self.values
    }

    /// Forms and factorises $A$ at the last trial position of the Lagrangian.
    pub(crate) fn factorise(
        &mut self,
        lagrangian: &mut DiscreteLagrangian<'_>,
        q0: &[f64],
        t: f64,
        h: f64,
    ) -> Result<(), LinearError> {
        self.h = h;
        if matches!(self.matrix, Matrix::Mass) {
            return Ok(());
        }
        let n = self.system.dimension();
        self.entries(lagrangian, q0, t, h);
        match &mut self.matrix {
            Matrix::Mass => Ok(()),
            Matrix::Tiny { lu, pivots } => {
                lu.fill(0.0);
                for (&(i, j), value) in self.pattern.iter().zip(&self.values) {
                    lu[i * n + j] += value;
                }
                lu::factor(n, lu, pivots, nsm_solvers::small::tolerance(n)).map(|_| ())
            }
            Matrix::Patterned(matrix) => matrix.factorise(&self.values),
        }
    }

    /// Writes $x = A^{-1} b$.
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64]) -> Result<(), LinearError> {
        match &mut self.matrix {
            Matrix::Mass => {
                self.system.mass().solve(b, x);
                for x in x.iter_mut() {
                    *x *= self.h;
                }
                Ok(())
            }
            Matrix::Tiny { lu, pivots } => {
                x.copy_from_slice(b);
                lu::solve(self.system.dimension(), lu, pivots, x)
            }
            Matrix::Patterned(matrix) => {
                x.copy_from_slice(b);
                matrix.solve_in_place(x)
            }
        }
    }
}

/// A pattern that no linear solver takes.
pub(crate) fn misfit(error: &LinearError) -> SystemError {
    SystemError::DoesNotFit { method: "the position update", why: error.to_string() }
}
