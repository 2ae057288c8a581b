//! The multipliers' own equation, $S\lambda = G^\prime A^{-1}f - b$ with $S = G^\prime A^{-1}G^\top + C$.
//!
//! $A$ falls into blocks, the connected components of its graph. For every row $j$ of $G$ and every
//! block $B$ that it touches, $y_{jB} = A_B^{-1} g_{jB}$ is computed once; then
//! $S_{ij} = \sum_B g^\prime_{iB} \cdot y_{jB}$ is a list of products known from the pattern, and
//! $x = A^{-1} f - \sum_j y_j \lambda_j$ needs no second solve.

use super::KktPattern;
use super::blocks::Blocks;
use super::products::Products;
use crate::banded::ordering::components;
use crate::error::LinearError;
use crate::linear_system::{LinearSystem, Structure};

/// Largest block that is worth inverting.
const LARGEST_BLOCK: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct Schur {
    symmetric: bool,
    blocks: Blocks,
    /// For every gradient entry, its place in `y`.
    y_of_entry: Vec<usize>,
    /// Row, block and start in `y` of every $y_{jB}$.
    pieces: Vec<Piece>,
    y: Vec<f64>,
    products: Products,
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
        let y_of_entry = gradients
            .iter()
            .map(|&(row, k)| {
                let block = blocks.block_of[k];
                pieces[piece_of(row, block)].start + blocks.place_of[k]
            })
            .collect();

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
        let products = Products::new(pattern.rows, list)?;
        let structure =
            if pattern.symmetric { Structure::PositiveDefinite } else { Structure::General };
        Ok(Self {
            symmetric: pattern.symmetric,
            system: LinearSystem::new(pattern.rows, products.positions(), structure)?,
            values: vec![0.0; products.positions().len()],
            blocks,
            y_of_entry,
            pieces,
            y: vec![0.0; length],
            products,
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
        self.y.fill(0.0);
        for (&place, g) in self.y_of_entry.iter().zip(g) {
            self.y[place] += g;
        }
        for piece in &self.pieces {
            self.blocks.solve(piece.block, &mut self.y[piece.start..])?;
        }
        self.products.evaluate(g_lower, &self.y, c, dropped, &mut self.values);
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
        for piece in &self.pieces {
            let members = self.blocks.members(piece.block);
            for (&k, y) in members.iter().zip(&self.y[piece.start..]) {
                x[k] -= y * lambda[piece.row];
            }
        }
        Ok(())
    }
}
