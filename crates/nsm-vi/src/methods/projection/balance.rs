//! The energy balance of a velocity projection: which matrices are safe, and where.
//!
//! With $v^\ast = P v$, $P = 1 + \alpha A^{-1} J^\top J$ (\[GO\] (15)), the projection changes the kinetic energy by
//! (\[GO\] (16), (19)–(21))
//! $$ \Delta E_p = v^\top D^s v = -\alpha\\, v^\top B^s v - \tfrac12 \alpha^2 (Bv)^\top M^{-1} (Bv), \qquad
//!    B = M A^{-1} J^\top J, \quad D^s = -\alpha\big(B^s + \tfrac12 \alpha B^\top M^{-1} B\big) . $$
//! If $B^s = \tfrac12(B + B^\top)$ is positive semidefinite no projection can add energy, whatever $\alpha$. For one
//! constraint this holds only where $A^{-1} J^\top \parallel M^{-1} J^\top$; for several $M A^{-1}$ must map the range of $J^\top$
//! into itself. In practice $A \propto M$.
//!
//! Of the three kernels of \[GO\] (22)–(24) two coincide always, since $M$ and $A$ are regular: $\mathcal K_B = \mathcal C$, the
//! compatible velocities, and so does the kernel of $D$ as a bilinear form. What can be larger is the zero
//! set of the quadratic form $D^s$, the two lines of \[GO\] Figure 13b.

use nalgebra::{DMatrix, DVector};
use nsm_model::{System, SystemError};
use nsm_solvers::small::qr::PivotedQr;

use super::Projection;

/// Eigenvalues of $B^s$ above this share of the largest, below zero, are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Whether a projection can add energy at a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Safety {
    /// Whether $B^s$ is positive semidefinite: no velocity gains energy, whatever the penalty.
    pub safe: bool,
    /// Smallest and largest eigenvalue of $B^s$ relative to $M$.
    pub spectrum: [f64; 2],
    /// Largest gain $\Delta E_p / T^\ast$ over all velocities before the projection, for this penalty.
    pub gain: f64,
    /// A velocity before the projection that has this gain.
    pub worst: Vec<f64>,
}

/// The matrices of the energy balance at a configuration.
#[derive(Clone, Debug)]
pub struct EnergyBalance {
    alpha: f64,
    mass: DMatrix<f64>,
    inverse: DMatrix<f64>,
    jacobian: DMatrix<f64>,
    b: DMatrix<f64>,
    /// $v = S v^\ast$; $S = P^{-1}$ for a penalty.
    map: DMatrix<f64>,
}

impl EnergyBalance {
    /// The balance of a projection at $(q, t)$.
    ///
    /// # Errors
    /// As for [`Projection::bind`], a position of the wrong length, or constraint gradients that are not finite.
    pub fn new(
        system: &System,
        projection: &Projection,
        q: &[f64],
        t: f64,
    ) -> Result<Self, SystemError> {
        let mut bound = projection.bind(system)?;
        let (n, rows) = (system.dimension(), system.equalities());
        if q.len() != n {
            let what = "position";
            return Err(SystemError::Length { what, length: q.len(), expected: n });
        }
        let mut gradients = vec![0.0; rows.entries()];
        rows.gradients(q, t, &mut gradients);
        let mut jacobian = DMatrix::zeros(rows.len(), n);
        for i in 0..rows.len() {
            for (g, &c) in gradients[rows.span(i)].iter().zip(rows.columns(i)) {
                if !g.is_finite() {
                    let name = rows.name(i).to_owned();
                    return Err(SystemError::NotFinite { what: "the gradient", name, value: *g });
                }
                jacobian[(i, c)] = *g;
            }
        }
        let fill = |entries: Vec<(usize, usize, f64)>| {
            let mut matrix = DMatrix::zeros(n, n);
            for (i, j, x) in entries {
                matrix[(i, j)] = x;
            }
            matrix
        };
        let mass = fill(system.mass().entries());
        let flexibility = fill(bound.matrix.inverse_entries());
        let b = &mass * &flexibility * jacobian.transpose() * &jacobian;
        // The map itself, column by column, by the code that projects; a rheonomic part does not enter.
        let mut map = DMatrix::zeros(n, n);
        for j in 0..n {
            for i in 0..rows.len() {
                bound.defect[i] = jacobian[(i, j)];
            }
            bound.gradients.copy_from_slice(&gradients);
            bound.change.fill(0.0);
            if !rows.is_empty() {
                bound.correct(t).map_err(|error| SystemError::DoesNotFit {
                    method: "velocity projection",
                    why: error.to_string(),
                })?;
            }
            for i in 0..n {
                map[(i, j)] = bound.change[i] + f64::from(u8::from(i == j));
            }
        }
        let inverse = fill(system.mass().inverse_entries());
        Ok(Self { alpha: projection.alpha()?, mass, inverse, jacobian, b, map })
    }

    /// $P = 1 + \alpha A^{-1} J^\top J$ (\[GO\] (15)); none for an exact projection, which has no inverse.
    pub fn p(&self) -> Option<DMatrix<f64>> {
        let n = self.mass.nrows();
        self.finite_penalty().map(|a| DMatrix::identity(n, n) + &self.inverse * &self.b * a)
    }

    /// The matrix $S$ of the projection, $v = S v^\ast$.
    pub fn projector(&self) -> &DMatrix<f64> {
        &self.map
    }

    /// $B = M A^{-1} J^\top J$ (\[GO\] (20)).
    pub fn b(&self) -> &DMatrix<f64> {
        &self.b
    }

    /// The symmetric part $B^s$.
    pub fn b_symmetric(&self) -> DMatrix<f64> {
        (&self.b + self.b.transpose()) * 0.5
    }

    /// $D = \tfrac12 (1 + P)^\top M (1 - P)$ (\[GO\] (16)); none for an exact projection.
    pub fn d(&self) -> Option<DMatrix<f64>> {
        let p = self.p()?;
        let one = DMatrix::identity(p.nrows(), p.nrows());
        Some((&one + &p).transpose() * &self.mass * (&one - &p) * 0.5)
    }

    /// $D^s = -\alpha(B^s + \tfrac12\alpha B^\top M^{-1} B)$ (\[GO\] (19)); none for an exact projection.
    pub fn d_symmetric(&self) -> Option<DMatrix<f64>> {
        let alpha = self.finite_penalty()?;
        let quadratic = self.b.transpose() * &self.inverse * &self.b;
        Some((self.b_symmetric() + quadratic * (0.5 * alpha)) * -alpha)
    }

    /// $\Delta E_{p1}$ and $\Delta E_{p2}$ of \[GO\] (21) for a velocity *after* the projection; the second is never
    /// positive. None for an exact projection or a velocity of the wrong length.
    pub fn energy_terms(&self, v: &[f64]) -> Option<[f64; 2]> {
        let alpha = self.finite_penalty()?;
        let v = self.vector(v)?;
        let bv = &self.b * &v;
        Some([-alpha * v.dot(&bv), -0.5 * alpha * alpha * bv.dot(&(&self.inverse * &bv))])
    }

    /// $\Delta E_p$ for a velocity *before* the projection; none if its length is wrong.
    pub fn energy_change(&self, before: &[f64]) -> Option<f64> {
        let before = self.vector(before)?;
        let after = &self.map * &before;
        Some(0.5 * (&after + &before).dot(&(&self.mass * (&after - &before))))
    }

    /// Orthonormal basis of the compatible velocities $\mathcal C = \ker J = \mathcal K_B$, one a row.
    pub fn compatible(&self) -> DMatrix<f64> {
        let (m, n) = self.jacobian.shape();
        let rows: Vec<f64> = self.jacobian.transpose().iter().copied().collect();
        let mut qr = PivotedQr::new(m, n);
        // The gradients were checked to be finite, so that neither call can fail.
        let rank = qr.factor(m, n, &rows, 1e-12).unwrap_or(0);
        let mut basis = vec![0.0; (n - rank) * n];
        if qr.null_space(&mut basis).is_err() {
            basis.fill(0.0);
        }
        DMatrix::from_row_slice(n - rank, n, &basis)
    }

    /// Whether this projection can add energy here, and how much at most.
    pub fn safety(&self) -> Safety {
        let n = self.mass.nrows();
        let unknown = Safety {
            safe: false,
            spectrum: [f64::NAN; 2],
            gain: f64::NAN,
            worst: vec![f64::NAN; n],
        };
        // In coordinates y = Lᵀv, M = LLᵀ, kinetic energy is ½|y|² and eigenvalues have no units.
        let Some(factor) = self.mass.clone().cholesky() else { return unknown };
        let l = factor.l();
        let Some(inverse) = l.clone().try_inverse() else { return unknown };
        let relative = &inverse * self.b_symmetric() * inverse.transpose();
        let spectrum = relative.symmetric_eigenvalues();
        let (low, high) = (spectrum.min(), spectrum.max());
        let map = l.transpose() * &self.map * inverse.transpose();
        let growth = (map.transpose() * &map - DMatrix::identity(n, n)).symmetric_eigen();
        let top = growth.eigenvalues.imax();
        let worst = inverse.transpose() * growth.eigenvectors.column(top);
        Safety {
            safe: low >= -ROUND_OFF * high.abs().max(low.abs()),
            spectrum: [low, high],
            gain: growth.eigenvalues[top],
            worst: worst.iter().copied().collect(),
        }
    }

    fn finite_penalty(&self) -> Option<f64> {
        self.alpha.is_finite().then_some(self.alpha)
    }

    fn vector(&self, v: &[f64]) -> Option<DVector<f64>> {
        (v.len() == self.mass.nrows()).then(|| DVector::from_column_slice(v))
    }
}
