//! A long component of the mass matrix, kept by rows and as a banded factor $LDL^\top$.

use nsm_solvers::LinearError;
use nsm_solvers::banded::{BandedLdlt, ordering};

use crate::SystemError;

/// Components up to this size are full blocks.
const SMALL: usize = 8;
/// Largest component that is tried as a full block if it is singular.
const LARGEST_BLOCK: usize = 256;

/// A banded component on coordinates that need not be neighbours.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// Its coordinates in the order of the band.
    order: Vec<usize>,
    /// Row $k$, of coordinate `order[k]`, has the entries `starts[k]..starts[k + 1]`.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    factor: BandedLdlt,
}

impl Band {
    /// The band of the entries on `members` (sorted by rows); nothing if a full block serves better.
    pub(super) fn new(
        members: &[usize],
        entries: &[(usize, usize, f64)],
    ) -> Result<Option<Self>, SystemError> {
        let size = members.len();
        if size <= SMALL {
            return Ok(None);
        }
        let place = |i: usize| members.binary_search(&i).unwrap_or(0);
        let local: Vec<_> = entries.iter().map(|&(i, j, _)| (place(i), place(j))).collect();
        let fails = |coordinate| SystemError::IndefiniteMass { coordinate };
        let mut order =
            ordering::reverse_cuthill_mckee(size, &local).map_err(|_| fails(members[0]))?;
        let natural: Vec<usize> = (0..size).collect();
        let (mut half, _) = ordering::half_bandwidths(&order, &local);
        let (natural_half, _) = ordering::half_bandwidths(&natural, &local);
        if natural_half <= half {
            (order, half) = (natural, natural_half);
        }
        if 4 * half > size && size <= LARGEST_BLOCK {
            return Ok(None);
        }
        let mut position = vec![0; size];
        for (new, &old) in order.iter().enumerate() {
            position[old] = new;
        }
        let mut factor = BandedLdlt::new(size, half);
        for (&(i, j), entry) in local.iter().zip(entries) {
            if let Some(slot) = factor.entry_mut(position[i], position[j]) {
                *slot = entry.2;
            }
        }
        match factor.factor_positive(nsm_solvers::small::tolerance(size)) {
            Ok(()) => {}
            Err(_) if size <= LARGEST_BLOCK => return Ok(None),
            Err(
                LinearError::NotPositiveDefinite { pivot: k, .. }
                | LinearError::NotFinite { index: k, .. },
            ) => return Err(fails(order.get(k).map_or(members[0], |&k| members[k]))),
            Err(_) => return Err(fails(members[0])),
        }
        let mut starts = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let rows: Vec<&[(usize, usize, f64)]> = entries.chunk_by(|a, b| a.0 == b.0).collect();
        for &k in &order {
            // Every member has a row: it is coupled to another one.
            for &(_, j, value) in rows[k] {
                columns.push(j);
                values.push(value);
            }
            starts.push(columns.len());
        }
        let order = order.iter().map(|&k| members[k]).collect();
        Ok(Some(Self { order, starts, columns, values, factor }))
    }

    pub(super) fn size(&self) -> usize {
        self.order.len()
    }

    fn rows(&self) -> impl Iterator<Item = (usize, &[usize], &[f64])> {
        self.order
            .iter()
            .zip(self.starts.windows(2))
            .map(|(&i, span)| (i, &self.columns[span[0]..span[1]], &self.values[span[0]..span[1]]))
    }

    pub(super) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (i, columns, values) in self.rows() {
            y[i] = product(columns, values, x);
        }
    }

    pub(super) fn solve(&self, x: &[f64], y: &mut [f64]) {
        for &i in &self.order {
            y[i] = x[i];
        }
        // Cannot fail: it is factorised, and its coordinates lie within the system.
        let solved = self.factor.solve_indexed(&self.order, y);
        debug_assert!(solved.is_ok());
    }

    /// $x^\top M x$.
    pub(super) fn quadratic(&self, x: &[f64]) -> f64 {
        self.rows().map(|(i, columns, values)| x[i] * product(columns, values, x)).sum()
    }

    /// Entry of the inverse by coordinates, at the cost of a solve.
    pub(super) fn inverse_entry(&self, i: usize, j: usize) -> f64 {
        // The lower triangle's, so that the inverse is symmetric to the last bit.
        let (i, j) = (i.max(j), i.min(j));
        let place = |k: usize| self.order.iter().position(|&x| x == k);
        match (place(i), place(j)) {
            (Some(row), Some(column)) => self.inverse_column(column)[row],
            _ => 0.0,
        }
    }

    fn inverse_column(&self, column: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.size()];
        x[column] = 1.0;
        let solved = self.factor.solve_in_place(&mut x);
        debug_assert!(solved.is_ok());
        x
    }

    pub(super) fn entries(&self, out: &mut Vec<(usize, usize, f64)>) {
        for (i, columns, values) in self.rows() {
            out.extend(columns.iter().zip(values).map(|(&j, &value)| (i, j, value)));
        }
    }

    pub(super) fn inverse_entries(&self, out: &mut Vec<(usize, usize, f64)>) {
        for (column, &j) in self.order.iter().enumerate() {
            for (&i, value) in self.order.iter().zip(self.inverse_column(column)) {
                if i >= j {
                    out.push((i, j, value));
                    if i > j {
                        out.push((j, i, value));
                    }
                }
            }
        }
    }
}

fn product(columns: &[usize], values: &[f64], x: &[f64]) -> f64 {
    values.iter().zip(columns).map(|(a, &j)| a * x[j]).sum()
}
