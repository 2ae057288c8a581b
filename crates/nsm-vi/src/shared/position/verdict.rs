//! Whether a position update may end where it is, and what to say where it cannot.

use nsm_model::StepError;
use nsm_solvers::LinearError;

use super::PositionUpdate;

/// Residual of an equality, relative to the positions that enter it, with which no step ends.
pub(crate) const HELD: f64 = 1e-8;

impl PositionUpdate<'_> {
    /// An iteration may settle far from the constraints: where a step has no solution, on its least bad end, or with a row left out that
    /// was taken for redundant. No step ends there.
    pub(super) fn check_held(
        &self,
        t: f64,
        iterations: usize,
        scale: f64,
    ) -> Result<(), StepError> {
        let rows = self.system.equalities();
        for (i, f) in self.f.iter().enumerate() {
            let slope: f64 = self.start.f[rows.span(i)].iter().map(|g| g.abs()).sum();
            let off = f.abs() / (slope * scale).max(f64::MIN_POSITIVE);
            if off > HELD {
                return Err(StepError::NotConverged {
                    t,
                    what: "the position update",
                    iterations,
                    residual: off,
                    culprit: rows.name(i).to_owned(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn check_finite(&self, t: f64) -> Result<(), StepError> {
        if all_finite(&self.x) {
            return Ok(());
        }
        let i = self.x.iter().position(|x| !x.is_finite()).unwrap_or(0);
        Err(StepError::NotFinite { t, what: "position", culprit: self.system.names()[i].clone() })
    }

    pub(super) fn failure(&self, t: f64, error: &LinearError) -> StepError {
        let (names, equalities) = (self.system.names(), self.system.equalities());
        if let LinearError::Singular { pivot, .. } = *error {
            let row = || pivot.checked_sub(names.len()).and_then(|k| equalities.names().get(k));
            let culprit = names.get(pivot).or_else(row).cloned().unwrap_or_default();
            return StepError::Singular { t, what: "the matrix of the position update", culprit };
        }
        let (i, _) = largest(&self.r);
        StepError::NotFinite { t, what: "the equation of motion", culprit: names[i].clone() }
    }
}

/// Whether all entries are finite; without early exit, so that it runs in lanes.
pub(crate) fn all_finite(x: &[f64]) -> bool {
    !x.iter().fold(false, |bad, x| bad | !x.is_finite())
}

/// Index and size of the largest entry; NaN counts as largest.
pub(crate) fn largest(x: &[f64]) -> (usize, f64) {
    x.iter()
        .map(|x| if x.is_nan() { f64::INFINITY } else { x.abs() })
        .enumerate()
        .fold((0, 0.0), |best, (i, x)| if x > best.1 { (i, x) } else { best })
}
