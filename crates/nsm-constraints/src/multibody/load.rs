//! A force of fixed direction whose size follows time.
//!
//! $$ V(x, t) = -F(t)\\,n\cdot x, \qquad -\nabla V = F(t)\\,n, $$
//! $F$ a formula of time, or linear between the instants of a table and constant beyond its ends. An integrator by the midpoint rule takes $F$ in
//! the middle of each step.

use std::sync::Arc;

use crate::affine::finite;
use crate::{ConstraintError, Field};

/// The potential of a force that acts on a point along a fixed direction and changes with time.
#[derive(Clone)]
pub struct Load {
    coordinates: Vec<usize>,
    /// What the work of a unit force is for each coordinate.
    slopes: Vec<f64>,
    /// A field of no coordinates.
    size: Arc<dyn Field>,
}

impl std::fmt::Debug for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Load").field("coordinates", &self.coordinates).finish_non_exhaustive()
    }
}

impl Load {
    /// A load on the point with these coordinates: $F(t)$ by its values at the instants of the table, times the direction as it
    /// is given.
    ///
    /// # Errors
    /// An empty table, instants that do not increase, numbers that are not finite, repeated coordinates.
    pub fn new(
        coordinates: [usize; 3],
        direction: [f64; 3],
        table: &[(f64, f64)],
    ) -> Result<Self, ConstraintError> {
        Self::checked(coordinates.to_vec(), direction, None, Arc::new(TimeTable::new(table)?))
    }

    /// A load on the point $\varphi + X_I d_I$ of the node whose coordinates begin at `start`; its size is a field of no coordinates.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn on_body(
        start: usize,
        point: [f64; 3],
        direction: [f64; 3],
        size: Arc<dyn Field>,
    ) -> Result<Self, ConstraintError> {
        let arms = (point != [0.0; 3]).then_some(point);
        let count = if arms.is_some() { 12 } else { 3 };
        Self::checked((start..start + count).collect(), direction, arms, size)
    }

    fn checked(
        coordinates: Vec<usize>,
        direction: [f64; 3],
        arms: Option<[f64; 3]>,
        size: Arc<dyn Field>,
    ) -> Result<Self, ConstraintError> {
        crate::blocks::check_distinct(&coordinates)?;
        for &x in &direction {
            finite("a component of the direction of a load", x)?;
        }
        if direction == [0.0; 3] {
            let what = "the direction of a load";
            return Err(ConstraintError::Parameter {
                what,
                must: "a vector with length",
                value: 0.0,
            });
        }
        let mut slopes = direction.to_vec();
        for arm in arms.into_iter().flatten() {
            slopes.extend(direction.map(|n| arm * n));
        }
        Ok(Self { coordinates, slopes, size })
    }

    /// $F(t)$.
    pub fn size(&self, t: f64) -> f64 {
        self.size.value(&[], t)
    }

    /// $\dot F(t)$, to the right where it jumps.
    fn size_rate(&self, t: f64) -> f64 {
        self.size.rate(&[], t)
    }

    /// $n\cdot x$.
    fn along(&self, q: &[f64]) -> f64 {
        self.coordinates.iter().zip(&self.slopes).map(|(&c, n)| n * q[c]).sum()
    }

    fn write(&self, size: f64, out: &mut [f64]) {
        for (out, n) in out.iter_mut().zip(&self.slopes) {
            *out = -size * n;
        }
    }
}

fn check_table(table: &[(f64, f64)]) -> Result<(), ConstraintError> {
    for &(t, value) in table {
        finite("an instant of a load's table", t)?;
        finite("a value of a load's table", value)?;
    }
    if table.is_empty() {
        let what = "the table of a load";
        return Err(ConstraintError::Length { what, length: 0, expected: 1 });
    }
    if let Some(pair) = table.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
        return Err(ConstraintError::Parameter {
            what: "an instant of a load's table",
            must: "later than the one before it",
            value: pair[1].0,
        });
    }
    Ok(())
}

type Entry<'t> = Option<&'t (f64, f64)>;

/// The entries before and after an instant.
fn around(table: &[(f64, f64)], t: f64) -> (Entry<'_>, Entry<'_>) {
    let after = table.partition_point(|&(instant, _)| instant <= t);
    (table[..after].last(), table.get(after))
}

impl Field for Load {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], t: f64) -> f64 {
        -self.size(t) * self.along(q)
    }

    fn gradient(&self, _q: &[f64], t: f64, out: &mut [f64]) {
        self.write(self.size(t), out);
    }

    fn hessian(&self, _q: &[f64], _t: f64, _w: f64, _out: &mut [f64]) {}

    fn is_affine(&self) -> bool {
        true
    }

    fn is_rheonomic(&self) -> bool {
        self.size.is_rheonomic()
    }

    fn rate(&self, q: &[f64], t: f64) -> f64 {
        -self.size_rate(t) * self.along(q)
    }

    fn rate_gradient(&self, _q: &[f64], t: f64, out: &mut [f64]) {
        self.write(self.size_rate(t), out);
    }
}

/// A table of time as a field of no coordinates: linear between its instants, constant beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeTable(Vec<(f64, f64)>);

impl TimeTable {
    /// The values at increasing instants.
    ///
    /// # Errors
    /// An empty table, instants that do not increase, numbers that are not finite.
    pub fn new(table: &[(f64, f64)]) -> Result<Self, ConstraintError> {
        check_table(table)?;
        Ok(Self(table.to_vec()))
    }
}

impl Field for TimeTable {
    fn coordinates(&self) -> &[usize] {
        &[]
    }

    fn value(&self, _q: &[f64], t: f64) -> f64 {
        match around(&self.0, t) {
            (Some(&(t0, f0)), Some(&(t1, f1))) => f0 + (t - t0) / (t1 - t0) * (f1 - f0),
            (Some(&(_, f)), None) | (None, Some(&(_, f))) => f,
            (None, None) => 0.0,
        }
    }

    fn gradient(&self, _q: &[f64], _t: f64, _out: &mut [f64]) {}

    fn hessian(&self, _q: &[f64], _t: f64, _w: f64, _out: &mut [f64]) {}

    fn is_affine(&self) -> bool {
        true
    }

    fn is_rheonomic(&self) -> bool {
        self.0.len() > 1
    }

    fn rate(&self, _q: &[f64], t: f64) -> f64 {
        match around(&self.0, t) {
            (Some(&(t0, f0)), Some(&(t1, f1))) => (f1 - f0) / (t1 - t0),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_is_linear_between_its_instants_and_constant_beyond() {
        let pulse = [(0.0, 0.0), (0.125, 10_000.0), (0.25, 0.0)];
        let load = Load::new([3, 4, 5], [0.0, 1.0, 0.0], &pulse).unwrap();
        for (t, size) in
            [(-1.0, 0.0), (0.0625, 5_000.0), (0.125, 10_000.0), (0.2, 4_000.0), (3.0, 0.0)]
        {
            assert!((load.size(t) - size).abs() < 1e-9, "{t}");
        }
        let q = [0.0, 0.0, 0.0, 7.0, 2.0, 7.0];
        assert_eq!(load.value(&q, 0.0625), -10_000.0);
        let mut out = [f64::NAN; 3];
        load.gradient(&q, 0.0625, &mut out);
        assert_eq!(out, [0.0, -5_000.0, 0.0]);
        // Twice F' = 80 000 before the peak, and its negative after.
        assert_eq!((load.rate(&q, 0.1), load.rate(&q, 0.125)), (-160_000.0, 160_000.0));
        load.rate_gradient(&q, 0.3, &mut out);
        assert_eq!(out, [0.0; 3]);
    }

    #[test]
    fn bad_tables_are_refused() {
        let refuse = |table: &[(f64, f64)]| {
            Load::new([0, 1, 2], [1.0, 0.0, 0.0], table).unwrap_err().to_string()
        };
        assert!(refuse(&[]).contains("the table of a load"));
        assert!(refuse(&[(0.0, 1.0), (1.0, f64::NAN)]).contains("a value of a load's table"));
        assert_eq!(
            refuse(&[(0.0, 1.0), (0.5, 2.0), (0.5, 3.0)]),
            "an instant of a load's table must be later than the one before it, got 0.5"
        );
    }
}
