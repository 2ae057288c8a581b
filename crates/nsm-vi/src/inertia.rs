//! The matrix of the position update, $A = \tfrac1h M + \tfrac h2\,\partial s_0/\partial q_1$, and its solves.
//!
//! Explicit schemes have $A = M/h$ and never factorise. Implicit ones factorise $A$ once per Newton
//! iteration: by a dense LU on slices while the system is small, by a sparse LU with a fixed pattern
//! above.

use nsm_model::System;
use nsm_solvers::LinearError;
use nsm_solvers::small::lu;

use crate::lagrangian::DiscreteLagrangian;

/// $A$ and what is needed to solve with it.
#[derive(Debug)]
pub(crate) struct Inertia<'a> {
    system: &'a System,
    h: f64,
    matrix: Matrix,
    mass: Vec<(usize, usize, f64)>,
}

#[derive(Debug)]
enum Matrix {
    /// $A = M/h$.
    Mass,
    Dense { lu: Vec<f64>, pivots: Vec<usize> },
}

impl<'a> Inertia<'a> {
    pub(crate) fn new(lagrangian: &DiscreteLagrangian<'a>) -> Self {
        let system = lagrangian.system();
        let n = system.dimension();
        let matrix = if lagrangian.is_explicit() {
            Matrix::Mass
        } else {
            Matrix::Dense { lu: vec![0.0; n * n], pivots: vec![0; n] }
        };
        Self { system, h: 1.0, matrix, mass: system.mass().entries() }
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
        let n = self.system.dimension();
        match &mut self.matrix {
            Matrix::Mass => Ok(()),
            Matrix::Dense { lu, pivots } => {
                lu.fill(0.0);
                for &(i, j, m) in &self.mass {
                    lu[i * n + j] += m / h;
                }
                lagrangian.stiffness(q0, t, h, |i, j, value| lu[i * n + j] += value);
                lu::factor(n, lu, pivots, nsm_solvers::small::tolerance(n))
            }
        }
    }

    /// Writes $x = A^{-1} b$.
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64]) -> Result<(), LinearError> {
        match &mut self.matrix {
            Matrix::Mass => {
                self.system.mass().solve(b, x);
                x.iter_mut().for_each(|x| *x *= self.h);
                Ok(())
            }
            Matrix::Dense { lu, pivots } => {
                x.copy_from_slice(b);
                lu::solve(self.system.dimension(), lu, pivots, x)
            }
        }
    }
}
