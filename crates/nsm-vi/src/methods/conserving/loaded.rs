//! What the loads of the constraints add to the mass in the frozen matrix of the conserving step.
//!
//! The matrix of the step has $M + T$ with $T = \tfrac12 \sum_i \Lambda_i f_i^{\prime\prime}$, the geometric stiffness, where the frozen one has $M$: an error of
//! the iteration shrinks by $|M^{-1} T|$, which for a chain of short links is a tenth and more. A diagonal mass takes the diagonal $D$ of
//! $T$ in. Of rods under tension $T$ lies between $0$ and $2D$, so that what is left, $(M + D)^{-1}(T - D)$, is less than half of it.

use nsm_constraints::Rows;
use nsm_model::System;
use nsm_solvers::LinearError;

use crate::shared::held::Held;

/// Loads whose share of the mass is less than this are left out: the iteration gains more than that anyway.
const LIGHT: f64 = 1e-2;

/// $M + D$ under the loads that were given last.
#[derive(Debug)]
pub(super) struct LoadedMass {
    mass: Vec<f64>,
    inverse: Vec<f64>,
    /// Diagonals of the Hessians, row after row.
    diagonals: Vec<f64>,
    sum: Vec<f64>,
    /// Whether the last loads were more than light.
    heavy: bool,
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
        Some(Self { mass, inverse, diagonals, sum: vec![0.0; n], heavy: false })
    }

    /// Puts $M + D$ under the loads $\Lambda$ in place of the mass in `held`.
    pub(super) fn give(
        &mut self,
        rows: &Rows,
        held: &mut Held<'_>,
        loads: &[f64],
    ) -> Result<(), LinearError> {
        self.sum.fill(0.0);
        rows.add_transposed(&self.diagonals, loads, 0.5, &mut self.sum);
        let shares = self.sum.iter().zip(&self.inverse).map(|(d, w)| d * w);
        let was_heavy = self.heavy;
        self.heavy =
            shares.fold(0.0, |most, share| if share > most { share } else { most }) > LIGHT;
        if !self.heavy {
            return if was_heavy { held.weigh(&self.mass) } else { Ok(()) };
        }
        for (sum, mass) in self.sum.iter_mut().zip(&self.mass) {
            // Rods that push take inertia away, and the matrix must stay definite.
            *sum = mass + sum.max(0.0);
        }
        held.weigh(&self.sum)
    }
}
