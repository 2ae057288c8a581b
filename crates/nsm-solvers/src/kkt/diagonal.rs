//! The multipliers' own equation where $A$ is diagonal: point masses.
//!
//! $$ S = G^\prime W G^\top + C, \qquad S\lambda = G^\prime W f - b, \qquad x = W(f - G^\top\lambda), \qquad W = A^{-1}. $$
//! $Y = W G^\top$ has the pattern of $G$ and is stored in its order, row after row, so that every pass runs along memory.

use super::KktPattern;
use super::products::Products;
use crate::error::LinearError;
use crate::linear_system::{LinearSystem, Structure};
use crate::small;

#[derive(Debug, Clone)]
pub(super) struct Diagonal {
    symmetric: bool,
    /// Unknowns of the declared entries of $A$, and its inverse.
    members: Vec<usize>,
    weights: Vec<f64>,
    /// Row $i$ of $G$ occupies `starts[i]..starts[i + 1]` of `columns` and `y`.
    starts: Vec<usize>,
    columns: Vec<usize>,
    y: Vec<f64>,
    /// The diagonal of $S$.
    squares: Vec<f64>,
    products: Products,
    system: LinearSystem,
    values: Vec<f64>,
}

impl Diagonal {
    /// Whether $A$ is diagonal, and $G$ is declared row after row with no entry twice.
    pub(super) fn suits(pattern: &KktPattern<'_>) -> bool {
        let ascending = pattern.gradients.windows(2).all(|w| w[0].0 <= w[1].0);
        let mut gradients = pattern.gradients.to_vec();
        gradients.sort_unstable();
        pattern.block.iter().all(|&(i, j)| i == j)
            && ascending
            && gradients.windows(2).all(|w| w[0] != w[1])
    }

    pub(super) fn new(pattern: &KktPattern<'_>) -> Result<Self, LinearError> {
        let gradients = pattern.gradients;
        let mut of_column: Vec<Vec<usize>> = vec![Vec::new(); pattern.unknowns];
        for (e, &(_, k)) in gradients.iter().enumerate() {
            of_column[k].push(e);
        }
        let mut terms = Vec::new();
        for (e, &(i, k)) in gradients.iter().enumerate() {
            for &other in &of_column[k] {
                let j = gradients[other].0;
                // The diagonal is summed along the rows.
                if j < i || !pattern.symmetric && j > i {
                    terms.push((i, j, e, other));
                }
            }
        }
        let products = Products::new(pattern.rows, terms)?;
        let structure =
            if pattern.symmetric { Structure::PositiveDefinite } else { Structure::General };
        let start = |i: usize| gradients.partition_point(|g| g.0 < i);
        Ok(Self {
            symmetric: pattern.symmetric,
            members: pattern.block.iter().map(|&(k, _)| k).collect(),
            weights: vec![0.0; pattern.unknowns],
            starts: (0..=pattern.rows).map(start).collect(),
            columns: gradients.iter().map(|&(_, k)| k).collect(),
            y: vec![0.0; gradients.len()],
            squares: vec![0.0; pattern.rows],
            system: LinearSystem::new(pattern.rows, products.positions(), structure)?,
            values: vec![0.0; products.positions().len()],
            products,
        })
    }

    pub(super) fn system(&self) -> &LinearSystem {
        &self.system
    }

    pub(super) fn set_block(&mut self, a: &[f64]) -> Result<(), LinearError> {
        self.weights.fill(0.0);
        for (&k, a) in self.members.iter().zip(a) {
            self.weights[k] += a;
        }
        for (pivot, weight) in self.weights.iter_mut().enumerate() {
            let value = *weight;
            if self.symmetric && value <= 0.0 {
                return Err(LinearError::NotPositiveDefinite { pivot, value, threshold: 0.0 });
            }
            *weight = 1.0 / value;
            if !weight.is_finite() {
                return Err(LinearError::Singular { pivot, value, threshold: 0.0 });
            }
        }
        Ok(())
    }

    pub(super) fn factorise(
        &mut self,
        g: &[f64],
        g_lower: &[f64],
        c: &[f64],
        dropped: &[bool],
    ) -> Result<(), LinearError> {
        let mut rest = &mut self.y[..];
        let rows = self.starts.windows(2).zip(&mut self.squares).zip(c);
        for ((row, square), c) in rows {
            let (y, after) = rest.split_at_mut(row[1] - row[0]);
            let (g, g_lower) = (&g[row[0]..row[1]], &g_lower[row[0]..row[1]]);
            *square = *c;
            for (((y, g), l), &k) in y.iter_mut().zip(g).zip(g_lower).zip(&self.columns[row[0]..]) {
                *y = g * self.weights[k];
                *square += l * *y;
            }
            rest = after;
        }
        self.products.evaluate(g_lower, &self.y, &self.squares, dropped, &mut self.values);
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
        for ((x, f), w) in x.iter_mut().zip(f).zip(&self.weights) {
            *x = f * w;
        }
        let rows = rows(&self.starts, g_lower, &self.columns);
        for ((l, b), (values, columns)) in lambda.iter_mut().zip(b).zip(rows) {
            *l = small::sparse_dot(values, columns, x) - b;
        }
        self.subtract_reaction(dropped, x, lambda)
    }

    /// The same with $f = 0$.
    pub(super) fn displace(
        &mut self,
        b: &[f64],
        dropped: &[bool],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        x.fill(0.0);
        lambda.iter_mut().zip(b).for_each(|(l, b)| *l = -b);
        self.subtract_reaction(dropped, x, lambda)
    }

    /// Solves for $\lambda$ in place and subtracts $Y\lambda$ from $x$.
    fn subtract_reaction(
        &mut self,
        dropped: &[bool],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        for (l, _) in lambda.iter_mut().zip(dropped).filter(|(_, d)| **d) {
            *l = 0.0;
        }
        self.system.solve_in_place(lambda)?;
        for (l, (values, columns)) in lambda.iter().zip(rows(&self.starts, &self.y, &self.columns))
        {
            small::sparse_axpy(-l, values, columns, x);
        }
        Ok(())
    }
}

/// Values and columns of row after row, cut off one after another: cheaper than to look each up.
fn rows<'a>(
    starts: &'a [usize],
    mut values: &'a [f64],
    mut columns: &'a [usize],
) -> impl Iterator<Item = (&'a [f64], &'a [usize])> {
    starts.windows(2).map(move |row| {
        let (row_values, other_values) = values.split_at(row[1] - row[0]);
        let (row_columns, other_columns) = columns.split_at(row[1] - row[0]);
        (values, columns) = (other_values, other_columns);
        (row_values, row_columns)
    })
}
