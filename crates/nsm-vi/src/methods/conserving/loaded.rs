//! What the loads of the constraints add to the mass in the frozen matrix of the conserving step.
//!
//! The matrix of the step has $M + T$ with $T = \tfrac12 \sum_i \Lambda_i f_i^{\prime\prime}$, the geometric stiffness, where the frozen one has $M$: an error of
//! the iteration shrinks by $|M^{-1} T|$, which for a chain of short links is a tenth and more. A diagonal mass takes the diagonal $D$ of
//! $T$ in, somewhat more than once. Of rods under tension $T$ lies between $0$ and $2D$, so that what is left is about half of it; and what the steps
//! before could not tell of this one are short waves, whose $T$ is nearer to $2D$.

use nsm_constraints::Rows;
use nsm_model::System;
use nsm_solvers::LinearError;

use crate::shared::held::Held;

/// Loads whose share of the mass has changed by less than this are left as they are: the iteration gains more than that anyway.
const LIGHT: f64 = 3e-3;

/// How many times the diagonal is taken: of 1 to 1.5, what 100 links need the fewest iterations with.
const SHARE: f64 = 1.25;

/// $M + D$ under the loads that were given last.
#[derive(Debug)]
pub(super) struct LoadedMass {
    mass: Vec<f64>,
    inverse: Vec<f64>,
    /// Diagonals of the Hessians, row after row.
    diagonals: Vec<f64>,
    sum: Vec<f64>,
    /// The shares of the mass that were given last.
    given: Vec<f64>,
}

impl LoadedMass {
    /// Present where the mass is diagonal and all Hessians are constant, but not all zero.
    pub(super) fn new(system: &System) -> Option<Self> {
        let (n, rows) = (system.dimension(), system.equalities());
        let inverse = system.mass().as_inverse_diagonal()?.to_vec();
        if !rows.is_quadratic() {
            return None;
        }
        let (mut diagonals, origin) = (vec![0.0; rows.entries()], vec![0.0; n]);
        for i in (0..rows.len()).filter(|&i| !rows.field(i).is_affine()) {
            let k = rows.columns(i).len();
            let mut hessian = vec![0.0; k * k];
            rows.field(i).hessian(&origin, 0.0, 1.0, &mut hessian);
            let own = hessian.iter().step_by(k + 1);
            diagonals[rows.span(i)].iter_mut().zip(own).for_each(|(d, h)| *d = *h);
        }
        if diagonals.iter().all(|d| *d == 0.0) {
            return None;
        }
        let mass = inverse.iter().map(|w| 1.0 / w).collect();
        Some(Self { mass, inverse, diagonals, sum: vec![0.0; n], given: vec![0.0; n] })
    }

    /// Puts $M + D$ under the loads $\Lambda$ in place of the mass in `held`.
    pub(super) fn give(
        &mut self,
        rows: &Rows,
        held: &mut Held<'_>,
        loads: &[f64],
    ) -> Result<(), LinearError> {
        self.sum.fill(0.0);
        rows.add_transposed(&self.diagonals, loads, 0.5 * SHARE, &mut self.sum);
        let shares = self.sum.iter().zip(&self.inverse).map(|(d, w)| d * w);
        let changes = shares.zip(&self.given).map(|(share, given)| (share - given).abs());
        if changes.fold(0.0, |most, change| if change > most { change } else { most }) <= LIGHT {
            return Ok(());
        }
        let parts =
            self.sum.iter_mut().zip(&mut self.given).zip(self.mass.iter().zip(&self.inverse));
        for ((sum, given), (mass, inverse)) in parts {
            *given = *sum * inverse;
            // Rods that push take inertia away, and the matrix must stay definite.
            *sum = mass + sum.max(0.0);
        }
        held.weigh(&self.sum)
    }
}
