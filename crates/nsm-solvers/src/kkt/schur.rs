//! The multipliers' own equation, $S\lambda = G^\prime A^{-1}f - b$ with $S = G^\prime A^{-1}G^\top + C$.
//!
//! $A$ falls into blocks, the connected components of its graph. For every row $j$ of $G$ and every
//! block $B$ that it touches, $y_{jB} = A_B^{-1} g_{jB}$ is computed once; then
//! $S_{ij} = \sum_B g^\prime_{iB} \cdot y_{jB}$ is a list of products known from the pattern, and
//! $x = A^{-1} f - \sum_j y_j \lambda_j$ needs no second solve.

use super::KktPattern;
use super::blocks::Blocks;
use crate::banded::ordering::components;
use crate::error::LinearError;
use crate::linear_system::{LinearSystem, Structure};

/// Largest block that is worth inverting.
const LARGEST_BLOCK: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct Schur {
    symmetric: bool,
    blocks: Blocks,
    /// For every gradient entry, its place in `y`, and for scalar blocks the place of its weight.
    y_of_entry: Vec<(usize, usize)>,
    /// No gradient entry is declared twice, so that `y` need not be summed up.
    unique: bool,
    /// Row, block and start in `y` of every $y_{jB}$.
    pieces: Vec<Piece>,
    y: Vec<f64>,
    /// Products `(gradient entry of row i, place in y of row j)`, grouped by entries of $S$.
    products: Vec<(u32, u32)>,
    /// End of every group in `products`.
    ends: Vec<usize>,
    /// Positions of the entries of $S$, and among them the diagonal's.
    positions: Vec<(usize, usize)>,
    diagonal: Vec<usize>,
    gradients: Vec<(usize, usize)>,
    system: LinearSystem,
    values: Vec<f64>,
    work: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    row: usize,
    block: usize,
    start: usize,
}

impl Schur {
    /// Whether blocks are small and few rows meet in each.
    pub(super) fn suits(pattern: &KktPattern<'_>) -> bool {
        let (block_of, count) = components(pattern.unknowns, pattern.block);
        let mut sizes = vec![0_usize; count];
        for &b in &block_of {
            sizes[b] += 1;
        }
        let mut touched: Vec<(usize, usize)> = pattern
            .gradients
            .iter()
            .filter_map(|&(row, k)| Some((*block_of.get(k)?, row)))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let mut meeting = vec![0_usize; count];
        for &(b, _) in &touched {
            meeting[b] += 1;
        }
        let products: usize = meeting.iter().zip(&sizes).map(|(r, s)| r * r * s).sum();
        sizes.iter().all(|&s| s <= LARGEST_BLOCK)
            && products <= 64 * (pattern.gradients.len() + pattern.unknowns)
    }

    pub(super) fn new(pattern: &KktPattern<'_>) -> Result<Self, LinearError> {
        let blocks = Blocks::new(pattern);
        let gradients = pattern.gradients;
        let mut touched: Vec<(usize, usize)> =
            gradients.iter().map(|&(row, k)| (row, blocks.block_of[k])).collect();
        touched.sort_unstable();
        touched.dedup();
        let mut pieces: Vec<Piece> = Vec::with_capacity(touched.len());
        let mut length = 0;
        for &(row, block) in &touched {
            pieces.push(Piece { row, block, start: length });
            length += blocks.size(block);
        }
        let piece_of = |row: usize, block: usize| touched.partition_point(|&t| t < (row, block));
        let y_of_entry: Vec<(usize, usize)> = gradients
            .iter()
            .map(|&(row, k)| {
                let block = blocks.block_of[k];
                (pieces[piece_of(row, block)].start + blocks.place_of[k], block)
            })
            .collect();
        let mut places: Vec<usize> = y_of_entry.iter().map(|&(place, _)| place).collect();
        places.sort_unstable();
        let unique = places.windows(2).all(|w| w[0] != w[1]);

        // (i, j, gradient entry, place in y): rows that meet in a block.
        let mut rows_of_block: Vec<Vec<usize>> = vec![Vec::new(); blocks.count()];
        for &(row, block) in &touched {
            rows_of_block[block].push(row);
        }
        let mut list: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (e, &(i, k)) in gradients.iter().enumerate() {
            let block = blocks.block_of[k];
            for &j in &rows_of_block[block] {
                if !pattern.symmetric || j <= i {
                    list.push((i, j, e, pieces[piece_of(j, block)].start + blocks.place_of[k]));
                }
            }
        }
        list.sort_unstable();
        let mut positions = Vec::new();
        let mut ends = Vec::new();
        let mut diagonal = Vec::with_capacity(pattern.rows);
        let mut products = Vec::with_capacity(list.len());
        let mut next = list.iter().peekable();
        for i in 0..pattern.rows {
            // Every row has a diagonal entry, also one without gradients.
            let mut row_columns: Vec<usize> = list[list.partition_point(|t| t.0 < i)..]
                .iter()
                .take_while(|t| t.0 == i)
                .map(|t| t.1)
                .collect();
            row_columns.push(i);
            row_columns.sort_unstable();
            row_columns.dedup();
            for j in row_columns {
                while let Some(&&(_, _, e, y)) = next.peek().filter(|t| (t.0, t.1) == (i, j)) {
                    products.push((index(e)?, index(y)?));
                    next.next();
                }
                if i == j {
                    diagonal.push(positions.len());
                }
                positions.push((i, j));
                ends.push(products.len());
            }
        }
        let structure =
            if pattern.symmetric { Structure::PositiveDefinite } else { Structure::General };
        Ok(Self {
            symmetric: pattern.symmetric,
            system: LinearSystem::new(pattern.rows, &positions, structure)?,
            values: vec![0.0; positions.len()],
            blocks,
            y_of_entry,
            unique,
            pieces,
            y: vec![0.0; length],
            products,
            ends,
            positions,
            diagonal,
            gradients: gradients.to_vec(),
            work: vec![0.0; LARGEST_BLOCK],
        })
    }

    pub(super) fn system(&self) -> &LinearSystem {
        &self.system
    }

    pub(super) fn set_block(&mut self, a: &[f64]) -> Result<(), LinearError> {
        self.blocks.factorise(a, self.symmetric)
    }

    pub(super) fn factorise(
        &mut self,
        g: &[f64],
        g_lower: &[f64],
        c: &[f64],
        dropped: &[bool],
    ) -> Result<(), LinearError> {
        if self.blocks.scalar && self.unique {
            for (&(place, block), g) in self.y_of_entry.iter().zip(g) {
                self.y[place] = g * self.blocks.weights[block];
            }
        } else {
            self.y.fill(0.0);
            for (&(place, _), g) in self.y_of_entry.iter().zip(g) {
                self.y[place] += g;
            }
            for piece in &self.pieces {
                self.blocks.solve(piece.block, &mut self.y[piece.start..])?;
            }
        }
        let mut start = 0;
        for (value, &end) in self.values.iter_mut().zip(&self.ends) {
            let mut sum = 0.0;
            for &(e, y) in &self.products[start..end] {
                sum += g_lower[e as usize] * self.y[y as usize];
            }
            *value = sum;
            start = end;
        }
        for (&slot, c) in self.diagonal.iter().zip(c) {
            self.values[slot] += c;
        }
        if !dropped.is_empty() {
            for (value, &(i, j)) in self.values.iter_mut().zip(&self.positions) {
                if dropped[i] || dropped[j] {
                    *value = if i == j { 1.0 } else { 0.0 };
                }
            }
        }
        self.system.factorise(&self.values)
    }

    pub(super) fn solve(
        &mut self,
        g_lower: &[f64],
        f: &[f64],
        b: &[f64],
        dropped: &[bool],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        self.blocks.solve_all(f, x, &mut self.work)?;
        lambda.iter_mut().zip(b).for_each(|(l, b)| *l = -b);
        for (&(row, k), g) in self.gradients.iter().zip(g_lower) {
            lambda[row] += g * x[k];
        }
        for (l, _) in lambda.iter_mut().zip(dropped).filter(|(_, d)| **d) {
            *l = 0.0;
        }
        self.system.solve_in_place(lambda)?;
        if self.blocks.scalar {
            for (y, piece) in self.y.iter().zip(&self.pieces) {
                let k = self.blocks.members[piece.block];
                x[k] -= y * lambda[piece.row];
            }
            return Ok(());
        }
        for piece in &self.pieces {
            let members = self.blocks.members(piece.block);
            for (&k, y) in members.iter().zip(&self.y[piece.start..]) {
                x[k] -= y * lambda[piece.row];
            }
        }
        Ok(())
    }
}

/// Indices of products are stored in half the room, which halves the traffic of the hottest loop.
fn index(i: usize) -> Result<u32, LinearError> {
    u32::try_from(i).map_err(|_| LinearError::Memory)
}
