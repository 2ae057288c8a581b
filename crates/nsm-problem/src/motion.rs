//! What follows time: formulas of `t` and tables, as fields of no coordinates.

use std::sync::Arc;

use nsm_constraints::Field;
use nsm_constraints::multibody::TimeTable;
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

/// $u(t) = \int_{t_0}^t \dot u$ of a rate that is given.
pub(crate) struct Integral {
    rate: Arc<dyn Field>,
    from: f64,
}

impl Integral {
    pub(crate) fn new(rate: Arc<dyn Field>, from: f64) -> Self {
        Self { rate, from }
    }

    /// Gauss–Legendre with five points on halves, until halving changes nothing.
    fn over(&self, a: f64, b: f64, depth: u32) -> f64 {
        let middle = 0.5 * (a + b);
        let (whole, halves) = (self.gauss(a, b), self.gauss(a, middle) + self.gauss(middle, b));
        let size = self.rate.value(&[], a).abs() + self.rate.value(&[], b).abs();
        let settled = (whole - halves).abs() <= 1e-14 * (halves.abs() + size * (b - a).abs());
        if settled || depth == 0 {
            halves
        } else {
            self.over(a, middle, depth - 1) + self.over(middle, b, depth - 1)
        }
    }

    fn gauss(&self, a: f64, b: f64) -> f64 {
        const NODES: [(f64, f64); 3] = [
            (0.0, 128.0 / 225.0),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (0.906_179_845_938_664, 0.236_926_885_056_189_08),
        ];
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let at = |x: f64| self.rate.value(&[], middle + half * x);
        let sum: f64 = NODES[1..].iter().map(|(x, w)| w * (at(*x) + at(-x))).sum::<f64>()
            + NODES[0].1 * at(0.0);
        half * sum
    }
}

impl Field for Integral {
    fn coordinates(&self) -> &[usize] {
        &[]
    }

    fn value(&self, _q: &[f64], t: f64) -> f64 {
        // A rate that does not change, or evenly, needs no halving.
        self.over(self.from, t, 24)
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
