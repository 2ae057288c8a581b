//! Position steps and multipliers of many constraints at once, at a cost linear in chains of them.
//!
//! $$ \begin{pmatrix} A & -C \cr R^\top & 0 \end{pmatrix} \begin{pmatrix} x \cr z \end{pmatrix}
//!    = \begin{pmatrix} a \cr b \end{pmatrix} $$
//! with one row for every equality and every inequality of the system; rows that are not held have
//! $z = 0$. The pattern is then always the same, and the factorisation is dense, banded or sparse by that
//! pattern. It fails on redundant rows, for which whoever calls has a dense, rank-revealing way.

use nsm_model::{System, SystemError};
use nsm_solvers::{LinearError, LinearSystem, Structure};

use crate::inertia::misfit;

/// From this number of held constraints on, a sparse saddle point costs less than a dense complement.
pub(crate) const MANY: usize = 24;

/// The saddle point of a system, with all workspace.
#[derive(Debug)]
pub(crate) struct Saddle<'a> {
    system: &'a System,
    matrix: LinearSystem,
    /// Number of entries of $A$.
    leading: usize,
    values: Vec<f64>,
    /// Right-hand side, then solution: $n$ positions, equalities, inequalities.
    pub(crate) unknowns: Vec<f64>,
}

impl<'a> Saddle<'a> {
    /// The saddle point with $A$ at `pattern`; none if the system has few constraints.
    pub(crate) fn new(
        system: &'a System,
        pattern: &[(usize, usize)],
    ) -> Result<Option<Self>, SystemError> {
        let n = system.dimension();
        let bundles = [system.equalities(), system.inequalities()];
        let m = bundles[0].len() + bundles[1].len();
        if m < MANY {
            return Ok(None);
        }
        let mut entries = pattern.to_vec();
        let mut row = n;
        for rows in bundles {
            for i in 0..rows.len() {
                entries.extend(rows.columns(i).iter().map(|&c| (c, row)));
                entries.extend(rows.columns(i).iter().map(|&c| (row, c)));
                entries.push((row, row));
                row += 1;
            }
        }
        let matrix = LinearSystem::new(n + m, &entries, Structure::General);
        Ok(Some(Self {
            system,
            matrix: matrix.map_err(|error| misfit(&error))?,
            leading: pattern.len(),
            values: vec![0.0; entries.len()],
            unknowns: vec![0.0; n + m],
        }))
    }

    /// Solves with the given entries of $A$, columns $C$ and rows $R$ (gradient values of equalities and
    /// inequalities), and `contacts` held; the right-hand side is in `unknowns`, and so is the answer.
    pub(crate) fn solve(
        &mut self,
        leading: &[f64],
        columns: (&[f64], &[f64]),
        rows: (&[f64], &[f64]),
        contacts: &[usize],
    ) -> Result<(), LinearError> {
        let (head, tail) = self.values.split_at_mut(self.leading);
        head.copy_from_slice(leading);
        tail.fill(0.0);
        let (equalities, inequalities) = (self.system.equalities(), self.system.inequalities());
        let mut at = 0;
        for i in 0..equalities.len() {
            let (c, r) = (&columns.0[equalities.span(i)], &rows.0[equalities.span(i)]);
            at = write_row(tail, at, Some((c, r)), c.len());
        }
        let mut held = contacts.iter().peekable();
        for i in 0..inequalities.len() {
            let span = inequalities.span(i);
            let size = span.len();
            let row = held
                .next_if(|&&contact| contact == i)
                .map(|_| (&columns.1[span.clone()], &rows.1[span]));
            at = write_row(tail, at, row, size);
        }
        self.matrix.factorise(&self.values)?;
        self.matrix.solve_in_place(&mut self.unknowns)
    }
}

/// Writes one constraint's entries, or a one on the diagonal if it is not held; where the next begins.
fn write_row(tail: &mut [f64], at: usize, row: Option<(&[f64], &[f64])>, size: usize) -> usize {
    let next = at + 2 * size + 1;
    if let Some((c, r)) = row {
        for (value, c) in tail[at..at + size].iter_mut().zip(c) {
            *value = -c;
        }
        tail[at + size..at + 2 * size].copy_from_slice(r);
    } else {
        tail[next - 1] = 1.0;
    }
    next
}
