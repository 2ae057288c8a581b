//! Who may judge others: a reference is trusted only if it converges at its order *and* another kind of method converges to
//! the same.
//!
//! That two steps of one method agree says nothing by itself: a method that meets impacts on the grid of its steps may agree with itself to
//! round-off and be wrong in the first digits. Such methods never judge where there are contacts.

use super::precision::{error_between, largest_position};
use super::{CompareError, Reference};
use crate::RunResult;

/// Methods that meet impacts on the grid: of first order there.
const ON_THE_GRID: [&str; 8] = [
    "gvi",
    "dsi",
    "direct-endpoint",
    "direct-midpoint",
    "newmark",
    "imex-newmark",
    "nsga",
    "moreau-jean",
];
/// Least observed order of a method that converges.
const LEAST_ORDER: f64 = 1.5;
/// What is round-off, relative to the positions.
const ROUNDING: f64 = 1e-9;

/// A method that may judge.
struct Candidate {
    name: String,
    family: &'static str,
    fine: RunResult,
    /// Distance from itself at twice the step.
    apart: f64,
    scale: f64,
}

/// What methods have in common that are built alike.
fn family(method: &str) -> &'static str {
    match method {
        m if m.starts_with("alpha-") => "alpha",
        "nsga" | "moreau-jean" => "alpha",
        "direct-endpoint" | "direct-midpoint" | "newmark" | "imex-newmark" => "direct",
        "conserving" | "energy-momentum" => "conserving",
        _ => "variational",
    }
}

/// The first of the methods that may judge, with what it computed at the smallest step.
///
/// # Errors
/// Those of the runs.
pub(super) fn find<'m>(
    makers: &'m [(&'m str, String)],
    finest: f64,
    make: &mut dyn FnMut(&str, &str, f64) -> Result<RunResult, CompareError>,
) -> Result<Option<(Reference, RunResult)>, CompareError> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for (name, options) in makers {
        let fine = make(name, options, finest / 8.0)?;
        let contacts = !fine.ledger.gap_names().is_empty();
        if fine.failure.is_some() || (contacts && ON_THE_GRID.contains(&fine.method.as_str())) {
            continue;
        }
        let [half, quarter] = [2.0, 4.0].map(|k| make(name, options, finest / k));
        let (half, quarter) = (half?, quarter?);
        let (Some(before), Some(apart)) =
            (error_between(&half, &quarter), error_between(&quarter, &fine))
        else {
            continue;
        };
        let scale = largest_position(&fine);
        let converges = (before / apart).log2() >= LEAST_ORDER || apart <= ROUNDING * scale;
        if !converges || !fine.ledger.warnings().is_empty() {
            continue;
        }
        let family = family(&fine.method);
        candidates.push(Candidate { name: (*name).to_owned(), family, fine, apart, scale });
        let Some(new) = candidates.last() else { continue };
        let agrees = |other: &&Candidate| {
            let bound = 2.0 * (other.apart + new.apart) + ROUNDING * new.scale;
            other.family != new.family
                && error_between(&other.fine, &new.fine).is_some_and(|e| e <= bound)
        };
        if let Some(first) = candidates.iter().find(agrees) {
            let reference = Reference {
                method: first.name.clone(),
                step: finest / 8.0,
                trust: Some(first.apart),
                confirmed_by: Some(new.name.clone()),
            };
            return Ok(Some((reference, first.fine.clone())));
        }
    }
    Ok(None)
}
