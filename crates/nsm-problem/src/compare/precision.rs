//! How far two runs of one problem are apart.

use crate::{Form, RunResult};

/// Largest difference of a position over the instants that both runs recorded; none if they share none but
/// the start, or if one of them ended early.
pub(super) fn error_between(a: &RunResult, b: &RunResult) -> Option<f64> {
    if a.failure.is_some() || b.failure.is_some() {
        return None;
    }
    let columns: Vec<(usize, usize)> = positions(a).into_iter().zip(positions(b)).collect();
    if positions(a).len() != positions(b).len() {
        return None;
    }
    let (x, y) = (&a.recording.samples, &b.recording.samples);
    let near = 1e-9 * x.last()?[0].abs().max(1.0);
    let (mut shared, mut largest, mut j) = (0, 0.0_f64, 0);
    for row in x.iter().skip(1) {
        while j + 1 < y.len() && y[j][0] < row[0] - near {
            j += 1;
        }
        if (y[j][0] - row[0]).abs() <= near {
            shared += 1;
            for &(c, d) in &columns {
                largest = largest.max((row[c] - y[j][d]).abs());
            }
        }
    }
    (shared > 0 && largest.is_finite()).then_some(largest)
}

/// Largest size of a position.
pub(super) fn largest_position(result: &RunResult) -> f64 {
    let columns = positions(result);
    let rows = result.recording.samples.iter();
    rows.flat_map(|row| columns.iter().map(|&c| row[c].abs())).fold(0.0, f64::max)
}

/// Columns of the samples that are positions; of bodies, place and directors, whichever way they are recorded.
fn positions(result: &RunResult) -> Vec<usize> {
    // A rotation is recorded row by row; directors are its columns.
    const DIRECTORS: [usize; 12] = [0, 1, 2, 3, 6, 9, 4, 7, 10, 5, 8, 11];
    match &result.form {
        Form::Bodies(names) => {
            (0..names.len()).flat_map(|b| DIRECTORS.map(|k| 1 + 18 * b + k)).collect()
        }
        Form::Coordinates => (1..=result.recording.state_columns.len() / 3).collect(),
    }
}

/// Observed order between two (step, error) pairs; none where round-off has the say.
pub(super) fn order((h1, e1): (f64, f64), (h2, e2): (f64, f64)) -> Option<f64> {
    let order = (e1 / e2).ln() / (h1 / h2).ln();
    (e2 > 1e-13 && order.is_finite()).then_some(order)
}
