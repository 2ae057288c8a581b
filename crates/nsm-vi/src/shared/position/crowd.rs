//! The Newton step of many closed contacts among very many gaps, under a scheme with $A = M/h$ and a diagonal mass.
//!
//! $$ d = -h M^{-1} r + h M^{-1} C \lambda, \qquad h R^\top M^{-1} C \\, \lambda = -g(x) + h R^\top M^{-1} r $$
//! The matrix holds the closed contacts alone, and is kept while they stay the same and its steps contract. Contacts that touch are often more than
//! there are freedoms; a share $\varepsilon$ of the diagonal is added for the *change* of the impulses, which makes them unique and leaves the
//! solution as it is.

use nsm_solvers::LinearError;
use nsm_solvers::dense::SMALL;

use super::PositionUpdate;
use crate::shared::gaps::Gaps;

/// The share $\varepsilon$.
const PROXIMAL: f64 = 1e-6;

/// Iterations from a guess, which is close or of no use.
pub(super) const PATIENCE: usize = 8;

/// With which contacts of a crowd an update begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Begin {
    /// All of the smooth set.
    #[default]
    AllClosed,
    /// Those that carry something in the guess.
    Guess,
}

impl PositionUpdate<'_> {
    /// Whether these contacts, all closed, would be solved here.
    pub(crate) fn is_crowded(&self, contacts: &[usize]) -> bool {
        contacts.len() > SMALL && self.is_bare()
    }

    /// Takes over impulses that solve the next update to first order.
    pub(crate) fn load(&mut self, contacts: &[usize], impulses: &[f64]) {
        for (&i, impulse) in contacts.iter().zip(impulses) {
            self.guess[i] = *impulse;
        }
    }

    /// Whether there are but gaps and a diagonal mass.
    fn is_bare(&self) -> bool {
        self.saddle.is_none()
            && self.nu.is_empty()
            && self.inertia.is_mass()
            && self.system.mass().as_inverse_diagonal().is_some()
    }

    /// Whether the step is solved here.
    pub(super) fn is_crowd(&self) -> bool {
        self.closed.len() > SMALL && self.is_bare()
    }

    /// Begins with the contacts that carry something in the guess, and with its impulses.
    pub(super) fn close_loaded(&mut self, smooth: &[usize]) {
        for &i in smooth {
            self.lambda[i] = self.guess[i];
            self.held[i] = self.guess[i] > 0.0;
        }
        self.closed.clear();
        self.closed.extend(smooth.iter().filter(|&&i| self.held[i]));
    }

    /// Writes the step of $x$ and the new multipliers; with the matrix of the iteration before unless `fresh`.
    pub(super) fn crowd_step(
        &mut self,
        gaps: &Gaps<'_>,
        end: f64,
        h: f64,
        smooth: &[usize],
    ) -> Result<(), LinearError> {
        let Some(inverse) = self.system.mass().as_inverse_diagonal() else {
            return Err(LinearError::NotFactorised);
        };
        let (rows, m) = (self.system.inequalities(), self.closed.len());
        for ((d, r), w) in self.step.iter_mut().zip(&self.r).zip(inverse) {
            *d = -h * w * r;
        }
        self.complement.reserve(m);
        if self.fresh {
            for &i in &self.closed {
                gaps.gradient(i, &self.x, end, &mut self.trial.g);
            }
            let gradients = (&self.start.g[..], &self.trial.g[..]);
            self.complement.assemble(rows, &self.closed, gradients, (inverse, h));
            for (k, &i) in self.closed.iter().enumerate() {
                self.complement.matrix[k * (m + 1)] += PROXIMAL * self.weight[i];
            }
        }
        for (k, &i) in self.closed.iter().enumerate() {
            let known = PROXIMAL * self.weight[i] * self.lambda[i];
            self.complement.rhs[k] = known - self.g[i] - rows.row_dot(i, &self.trial.g, &self.step);
        }
        if self.fresh || !self.complement.solve_again(m) {
            self.fresh = true;
            self.complement.solve(m)?;
        }
        for &i in smooth {
            self.lambda[i] = 0.0;
        }
        for (k, &i) in self.closed.iter().enumerate() {
            let z = self.complement.z[k];
            self.lambda[i] = z;
            for (&c, x) in rows.columns(i).iter().zip(&self.start.g[rows.span(i)]) {
                self.step[c] += h * inverse[c] * x * z;
            }
        }
        Ok(())
    }
}
