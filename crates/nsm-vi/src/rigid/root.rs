//! The instant of an impact: a root of the gap along the flight, on its positive side.

use nsm_solvers::roots::{Bracket, RootError, RootOptions, Side, bisect, chandrupatla};

/// How the instant is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootFinder {
    /// Inverse quadratic interpolation guarded by bisection: a handful of flights.
    #[default]
    Chandrupatla,
    /// Bisection, as in the paper: about fifty flights.
    Bisection,
}

impl RootFinder {
    /// The last instant known to have $\varphi \ge 0$ in a bracket of the given width around a root.
    pub(super) fn last_free(
        self,
        gap: impl FnMut(f64) -> f64,
        bracket: Bracket,
        width: f64,
    ) -> Result<f64, RootError> {
        let options = RootOptions { width, side: Side::NonNegative, ..RootOptions::default() };
        let root = match self {
            Self::Chandrupatla => chandrupatla(gap, bracket, &options),
            Self::Bisection => bisect(gap, bracket, &options),
        };
        match root {
            Ok(root) => Ok(root.x),
            // Rounding of the gap can wear out the allowance: the bracket is as good as it gets.
            Err(RootError::Exhausted { bracket, .. }) => {
                Ok(if bracket.value_a >= 0.0 { bracket.a } else { bracket.b })
            }
            Err(error) => Err(error),
        }
    }
}
