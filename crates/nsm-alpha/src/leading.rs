//! The leading block of a saddle point: mass, tangents of the forces and curvature of the constraints, added up.
//!
//! Few unknowns, a mass that varies or constraints that switch make it a full matrix. Otherwise only the entries are stored that the
//! terms of the system have: each of them (the mass, the potential, every force, every constraint) knows once and for all where its
//! own entries go, so that adding a term costs what the term has, whatever the number of unknowns.

use nsm_model::System;

/// The terms that come with entries of their own, in the order of their lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Mass,
    Potential,
    Force(usize),
    /// Equalities, then inequalities.
    Row(usize),
}

/// The block with its values.
#[derive(Debug)]
pub(crate) struct Leading {
    n: usize,
    forces: usize,
    values: Vec<f64>,
    /// Places of the entries of every term from `starts` on; none where the matrix is full.
    slots: Vec<usize>,
    starts: Vec<usize>,
    positions: Vec<(usize, usize)>,
}

impl Leading {
    /// A full matrix of `n` rows.
    pub(crate) fn full(n: usize) -> Self {
        Self {
            n,
            forces: 0,
            values: vec![0.0; n * n],
            slots: Vec::new(),
            starts: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// The entries that the terms of a system have; its mass is constant.
    pub(crate) fn sparse(system: &System) -> Self {
        let mut entries: Vec<(usize, usize)> =
            system.mass().entries().iter().map(|&(i, j, _)| (i, j)).collect();
        let mut starts = vec![0, entries.len()];
        entries.extend(system.potential().hessian_entries());
        starts.push(entries.len());
        for force in system.forces() {
            square(force.coordinates(), &mut entries);
            starts.push(entries.len());
        }
        for rows in [system.equalities(), system.inequalities()] {
            for i in 0..rows.len() {
                if !rows.field(i).is_affine() {
                    square(rows.columns(i), &mut entries);
                }
                starts.push(entries.len());
            }
        }
        // Every unknown has a diagonal entry, whether or not a term has one there.
        let n = system.dimension();
        let mut positions = entries.clone();
        positions.extend((0..n).map(|i| (i, i)));
        positions.sort_unstable();
        positions.dedup();
        let slots = entries.iter().map(|e| positions.partition_point(|p| p < e)).collect();
        let values = vec![0.0; positions.len()];
        Self { n, forces: system.forces().len(), values, slots, starts, positions }
    }

    /// Positions of the values, unless the matrix is full.
    pub(crate) fn positions(&self) -> &[(usize, usize)] {
        &self.positions
    }

    /// The values; row by row if the matrix is full.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Adds $w$ times a full matrix.
    pub(crate) fn add_full(&mut self, w: f64, matrix: &[f64]) {
        self.values.iter_mut().zip(matrix).for_each(|(v, x)| *v += w * x);
    }

    /// Adds $w$ times the entries of a term, given with their positions.
    pub(crate) fn add_entries(
        &mut self,
        term: Term,
        w: f64,
        entries: impl Iterator<Item = ((usize, usize), f64)>,
    ) {
        if self.slots.is_empty() {
            for ((i, j), x) in entries {
                self.values[i * self.n + j] += w * x;
            }
            return;
        }
        for (&slot, (_, x)) in self.slots[self.starts[self.number(term)]..].iter().zip(entries) {
            self.values[slot] += w * x;
        }
    }

    /// Adds $w$ times the square block of a term on its coordinates.
    pub(crate) fn add_block(&mut self, term: Term, columns: &[usize], w: f64, block: &[f64]) {
        if self.slots.is_empty() {
            for (row, &i) in block.chunks_exact(columns.len().max(1)).zip(columns) {
                for (x, &j) in row.iter().zip(columns) {
                    self.values[i * self.n + j] += w * x;
                }
            }
            return;
        }
        for (&slot, x) in self.slots[self.starts[self.number(term)]..].iter().zip(block) {
            self.values[slot] += w * x;
        }
    }

    fn number(&self, term: Term) -> usize {
        match term {
            Term::Mass => 0,
            Term::Potential => 1,
            Term::Force(i) => 2 + i,
            Term::Row(i) => 2 + self.forces + i,
        }
    }
}

fn square(columns: &[usize], entries: &mut Vec<(usize, usize)>) {
    for &i in columns {
        entries.extend(columns.iter().map(|&j| (i, j)));
    }
}
