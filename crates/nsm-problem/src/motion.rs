//! What follows time: formulas of `t` and tables, as fields of no coordinates.

use std::sync::{Arc, Mutex, PoisonError};

use nsm_constraints::multibody::TimeTable;
use nsm_constraints::{Field, integrate};
use nsm_formula::{FormulaField, Scope};

use super::ProblemError;
use super::reader::Reader;

/// Names and values that formulas may use.
pub(crate) type Parameters = [(String, f64)];

/// A formula of `t` and the parameters, or a number.
pub(crate) fn read_formula(
    reader: &Reader<'_>,
    key: &'static str,
    parameters: &Parameters,
) -> Result<Option<Arc<dyn Field>>, ProblemError> {
    let text = if reader.is_number(key) {
        reader.number(key)?.map(|x| format!("({x:e})"))
    } else {
        reader.text(key)?.map(str::to_owned)
    };
    let Some(text) = text else { return Ok(None) };
    let place = reader.place_of(key);
    let scope = Scope::new(&[], parameters).map_err(|e| place.error(e.message))?;
    let field = FormulaField::new(&text, &scope).map_err(|e| place.formula(&e))?;
    Ok(Some(Arc::new(field)))
}

/// `table = [[t, value], …]`.
pub(crate) fn read_table(
    reader: &Reader<'_>,
    key: &'static str,
) -> Result<Option<Arc<dyn Field>>, ProblemError> {
    let Some(rows) = reader.matrix(key)? else { return Ok(None) };
    let place = reader.place_of(key);
    let table: Option<Vec<(f64, f64)>> = rows
        .iter()
        .map(|row| <[f64; 2]>::try_from(row.as_slice()).ok().map(<(f64, f64)>::from))
        .collect();
    let table = table.ok_or_else(|| place.error("expected pairs of an instant and a value"))?;
    let table = TimeTable::new(&table).map_err(|e| place.error(e.to_string()))?;
    Ok(Some(Arc::new(table)))
}

/// Octaves of the time since the start of which integrals are kept, and the cells of each.
const OCTAVES: usize = 48;
const CELLS: usize = 256;

/// $u(t) = \int_{t_0}^t \dot u$ of a rate that is given.
///
/// What lies before $t$ is kept: octave $k$ of $\tau = t - t_0$, from $2^{k-24}$ to its double, in equal cells. The integral up to a cell is formed once, from the
/// cells before it, so that it does not depend on what was asked first, and an evaluation costs one cell however many kinks came before.
pub(crate) struct Integral {
    rate: Arc<dyn Field>,
    from: f64,
    known: Mutex<Vec<Vec<f64>>>,
}

impl Integral {
    pub(crate) fn new(rate: Arc<dyn Field>, from: f64) -> Self {
        let mut known: Vec<Vec<f64>> =
            (0..OCTAVES).map(|_| Vec::with_capacity(CELLS + 1)).collect();
        known[0].push(0.0);
        Self { rate, from, known: Mutex::new(known) }
    }

    fn over(&self, a: f64, b: f64) -> f64 {
        integrate(&|s| self.rate.value(&[], self.from + s), a, b)
    }

    /// Where cell `c` of octave `k` begins; the first octave begins at zero.
    fn begins(k: usize, c: usize) -> f64 {
        let width = (k as f64 - 24.0).exp2();
        let start = if k == 0 { 0.0 } else { width };
        start + (2.0 * width - start) * c as f64 / CELLS as f64
    }

    /// The integral up to a time `tau` since the start.
    fn up_to(&self, tau: f64) -> f64 {
        // Before the start and after all octaves there is nothing to build on.
        if !(tau > 0.0 && tau < Self::begins(OCTAVES - 1, CELLS)) {
            return self.over(0.0, tau);
        }
        let octave = (1..OCTAVES).rev().find(|&k| tau >= Self::begins(k, 0)).unwrap_or(0);
        let cell = (1..CELLS).rev().find(|&c| tau >= Self::begins(octave, c)).unwrap_or(0);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for k in 0..=octave {
            // The last of one octave is the first of the next.
            if known[k].is_empty() {
                let before = known[k - 1][CELLS];
                known[k].push(before);
            }
            let needed = if k == octave { cell } else { CELLS };
            for c in known[k].len() - 1..needed {
                let next = known[k][c] + self.over(Self::begins(k, c), Self::begins(k, c + 1));
                known[k].push(next);
            }
        }
        known[octave][cell] + self.over(Self::begins(octave, cell), tau)
    }
}

impl Field for Integral {
    fn coordinates(&self) -> &[usize] {
        &[]
    }

    fn value(&self, _q: &[f64], t: f64) -> f64 {
        self.up_to(t - self.from)
    }

    fn gradient(&self, _q: &[f64], _t: f64, _out: &mut [f64]) {}

    fn hessian(&self, _q: &[f64], _t: f64, _w: f64, _out: &mut [f64]) {}

    fn is_affine(&self) -> bool {
        true
    }

    fn is_rheonomic(&self) -> bool {
        true
    }

    fn rate(&self, _q: &[f64], t: f64) -> f64 {
        self.rate.value(&[], t)
    }

    fn second_rate(&self, _q: &[f64], t: f64) -> f64 {
        self.rate.rate(&[], t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_with_many_kinks_is_integrated_once_and_in_any_order() {
        let scope = Scope::new(&[], &[]).unwrap();
        let rate = || Arc::new(FormulaField::new("abs(sin(40*t))", &scope).unwrap());
        let (forward, backward) = (Integral::new(rate(), 0.5), Integral::new(rate(), 0.5));
        let times: Vec<f64> = (0..2000).map(|k| 0.5 + 0.004 * f64::from(k)).collect();
        let ahead: Vec<f64> = times.iter().map(|&t| forward.value(&[], t)).collect();
        let back: Vec<f64> = times.iter().rev().map(|&t| backward.value(&[], t)).collect();
        assert!(ahead.iter().eq(back.iter().rev()));
        // Each arch has the area 1/20.
        let exact = |t: f64| {
            let arches = (40.0 * t / std::f64::consts::PI).floor();
            (2.0 * arches + 1.0 - (40.0 * t - arches * std::f64::consts::PI).cos()) / 40.0
        };
        for (t, u) in times.iter().zip(&ahead) {
            assert!((u - exact(*t) + exact(0.5)).abs() < 1e-12, "{t}: {u}");
        }
        assert!((forward.value(&[], 0.4) - exact(0.4) + exact(0.5)).abs() < 1e-12);
    }
}
