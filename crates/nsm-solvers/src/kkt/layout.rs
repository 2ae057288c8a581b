//! The stores of a [condensed](super::condensed) elimination, and what it would cost.

use super::KktPattern;
use super::clusters::Clusters;
use crate::error::LinearError;
use crate::linear_system::{Structure, cost};

/// The block of $A$ between two clusters: where it starts, and where its reduced values start if they are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) start: usize,
    pub(super) value: Option<usize>,
}

/// What a global row (by its place among them) has in a cluster; its reduced values are a column, then a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) global: usize,
    pub(super) cluster: usize,
    pub(super) start: usize,
    pub(super) value: usize,
}

/// Where everything of a clustering goes, and what it would cost.
pub(super) struct Layout {
    pub(super) clusters: Clusters,
    pub(super) blocks: Vec<Block>,
    pub(super) pieces: Vec<Piece>,
    pub(super) first: Vec<usize>,
    /// Unknowns and entries of what is left.
    pub(super) size: usize,
    pub(super) entries: Vec<(usize, usize)>,
    pub(super) positive: bool,
    /// Lengths of the stores of $A$ and of the global rows.
    pub(super) a: usize,
    pub(super) global: usize,
}

impl Layout {
    pub(super) fn new(pattern: &KktPattern<'_>, clusters: Clusters) -> Self {
        let count = clusters.count();
        let mut first = vec![0];
        for c in 0..count {
            let (n, m) = clusters.size(c);
            first.push(first[c] + n - m);
        }
        let positive = pattern.symmetric && clusters.global.is_empty();
        let mut pairs: Vec<(usize, usize)> =
            pattern.block.iter().map(|&(i, j)| (clusters.of[i], clusters.of[j])).collect();
        if pattern.symmetric {
            pairs.extend(pairs.clone().iter().map(|&(c, d)| (d, c)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let (mut entries, mut blocks, mut a) = (Vec::new(), Vec::new(), 0);
        for (row, column) in pairs {
            let wanted = !positive || row >= column;
            let value = wanted.then_some(entries.len());
            for i in (first[row]..first[row + 1]).filter(|_| wanted) {
                let end = if positive && row == column { i + 1 } else { first[column + 1] };
                entries.extend((first[column]..end).map(|j| (i, j)));
            }
            blocks.push(Block { row, column, start: a, value });
            a += clusters.size(row).0 * clusters.size(column).0;
        }
        let is_global = |row: usize| clusters.global.binary_search(&row).is_ok();
        let mut touched: Vec<(usize, usize)> = pattern
            .gradients
            .iter()
            .filter(|(row, _)| is_global(*row))
            .map(|&(row, k)| (row, clusters.of[k]))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let (mut pieces, mut global) = (Vec::new(), 0);
        for (row, cluster) in touched {
            let place = clusters.global.partition_point(|&r| r < row);
            let line = first[count] + place;
            pieces.push(Piece { global: place, cluster, start: global, value: entries.len() });
            entries.extend((first[cluster]..first[cluster + 1]).map(|j| (j, line)));
            entries.extend((first[cluster]..first[cluster + 1]).map(|j| (line, j)));
            global += clusters.size(cluster).0;
        }
        let size = first[count] + clusters.global.len();
        entries.extend((first[count]..size).map(|line| (line, line)));
        Self { clusters, blocks, pieces, first, size, entries, positive, a, global }
    }

    /// Estimated nanoseconds of a factorisation, as by [`cost`].
    pub(super) fn cost(&self) -> Result<f64, LinearError> {
        let structure =
            if self.positive { Structure::PositiveDefinite } else { Structure::General };
        let mut operations = 0;
        for c in 0..self.clusters.count() {
            let (n, m) = self.clusters.size(c);
            operations += 2 * m * m * n;
        }
        for block in &self.blocks {
            let ((rows, m), (width, k)) =
                (self.clusters.size(block.row), self.clusters.size(block.column));
            operations += (width - k) * (rows * k + (rows - m) * m) + rows * width;
        }
        Ok(cost(self.size, &self.entries, structure)? + 0.5 * operations as f64)
    }
}
