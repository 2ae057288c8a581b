//! A bundle of named fields: the rows of $g(q, t)$ with a row-sparse Jacobian.
//!
//! The sparsity pattern is fixed when the bundle is built: row $i$ has entries in the columns of its
//! block. Values are always written in that order, so that whoever factorises a matrix made of them
//! can compute once where each entry goes. The same bundle serves as constraints (row by row) and as
//! a potential (the sum of its rows).

use std::ops::Range;
use std::sync::Arc;

use nsm_solvers::small::{sparse_axpy, sparse_dot};

use crate::affine::AffineRows;
use crate::rods;
use crate::runs::{Run, RunKind};
use crate::{ConstraintError, Field, RowPattern, check_coordinates};

/// Named rows $g_i(q, t)$ on a common coordinate vector. Copies share their fields.
#[derive(Clone)]
pub struct Rows {
    dimension: usize,
    names: Vec<String>,
    fields: Vec<Arc<dyn Field>>,
    /// Neighbouring rows of one kind, in order.
    runs: Vec<Run>,
    /// Row $i$ occupies `starts[i]..starts[i + 1]` of `columns` and of every value slice.
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// Entries of $\sum_i w_i \nabla^2 g_i$, block after block, rows without curvature left out.
    hessian_entries: Vec<(usize, usize)>,
    /// Rows on velocities.
    rolling: Vec<usize>,
    /// Largest block: the scratch that [`Rows::curvatures`] and sums need.
    largest_block: usize,
    quadratic: bool,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows")
            .field("dimension", &self.dimension)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl Rows {
    /// No rows yet, on `dimension` coordinates.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            names: Vec::new(),
            fields: Vec::new(),
            runs: Vec::new(),
            starts: vec![0],
            columns: Vec::new(),
            hessian_entries: Vec::new(),
            rolling: Vec::new(),
            largest_block: 0,
            quadratic: true,
        }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If the field's block is not a set of coordinates of this system.
    pub fn push(
        &mut self,
        name: impl Into<String>,
        field: impl Field + 'static,
    ) -> Result<(), ConstraintError> {
        let run = RunKind::of(&field);
        self.append(name.into(), Arc::new(field), run)
    }

    /// Appends a row whose kind is not known when compiling.
    ///
    /// # Errors
    /// As for [`Rows::push`].
    pub fn push_boxed(
        &mut self,
        name: impl Into<String>,
        field: Box<dyn Field>,
    ) -> Result<(), ConstraintError> {
        let run = field.affine().map_or(RunKind::Any, RunKind::Affine);
        self.append(name.into(), Arc::from(field), run)
    }

    fn append(
        &mut self,
        name: String,
        field: Arc<dyn Field>,
        run: RunKind,
    ) -> Result<(), ConstraintError> {
        let block = field.coordinates();
        check_coordinates(&name, block, self.dimension)?;
        self.columns.extend_from_slice(block);
        self.starts.push(self.columns.len());
        self.largest_block = self.largest_block.max(block.len());
        if !field.is_affine() {
            self.hessian_entries
                .extend(block.iter().flat_map(|&i| block.iter().map(move |&j| (i, j))));
        }
        self.quadratic &= field.is_quadratic() && !field.is_nonholonomic();
        if field.is_nonholonomic() {
            self.rolling.push(self.fields.len());
        }
        self.names.push(name);
        self.extend_runs(run);
        self.fields.push(field);
        Ok(())
    }

    /// Adds the next row to the last run, or begins one.
    fn extend_runs(&mut self, kind: RunKind) {
        let row = self.len()..self.len() + 1;
        match (self.runs.last_mut(), kind) {
            (Some(Run::Rods(rows, rods)), RunKind::Rod(rod)) => {
                rods.push(rod);
                rows.end = row.end;
            }
            (_, RunKind::Rod(rod)) => self.runs.push(Run::Rods(row, vec![rod])),
            (Some(Run::Affine(rows, known)), RunKind::Affine(affine)) => {
                known.push(&affine);
                rows.end = row.end;
            }
            (_, RunKind::Affine(affine)) => {
                let mut rows = AffineRows::default();
                rows.push(&affine);
                self.runs.push(Run::Affine(row, rows));
            }
            (Some(Run::Fields(rows)), RunKind::Any) => rows.end = row.end,
            (_, RunKind::Any) => self.runs.push(Run::Fields(row)),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Name of row `i`.
    pub fn name(&self, i: usize) -> &str {
        &self.names[i]
    }

    /// All names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The field of row `i`.
    pub fn field(&self, i: usize) -> &dyn Field {
        &*self.fields[i]
    }

    /// Where the gradient of row `i` lies in a slice of gradient values.
    pub fn span(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Columns of row `i`.
    pub fn columns(&self, i: usize) -> &[usize] {
        &self.columns[self.span(i)]
    }

    /// The pattern of the gradients.
    pub fn pattern(&self) -> RowPattern<'_> {
        RowPattern { starts: &self.starts, columns: &self.columns }
    }

    /// Number of gradient entries over all rows: the length of a slice of gradient values.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Size of the largest block; a scratch of its square is enough for [`Rows::curvatures`].
    pub fn largest_block(&self) -> usize {
        self.largest_block
    }

    /// Whether any row depends on time explicitly.
    pub fn is_rheonomic(&self) -> bool {
        self.fields.iter().any(Field::is_rheonomic)
    }

    /// Writes $g(q, t)$.
    pub fn values(&self, q: &[f64], t: f64, out: &mut [f64]) {
        for run in &self.runs {
            match run {
                Run::Fields(rows) => {
                    for (value, field) in
                        out[rows.clone()].iter_mut().zip(&self.fields[rows.clone()])
                    {
                        *value = field.value(q, t);
                    }
                }
                Run::Affine(rows, affine) => affine.values(q, &mut out[rows.clone()]),
                Run::Rods(rows, rods) => rods::values(rods, q, &mut out[rows.clone()]),
            }
        }
    }

    /// Writes $g$ over a step from `start` to `q`: the values there, but for [rows on velocities](Field::value_over).
    pub fn values_over(&self, start: &[f64], q: &[f64], t: f64, out: &mut [f64]) {
        self.values(q, t, out);
        for &i in &self.rolling {
            out[i] = self.fields[i].value_over(start, q, t);
        }
    }

    /// Whether every row is [quadratic](Field::is_quadratic) in the positions: gradients in the middle of a chord are then discrete gradients.
    pub fn is_quadratic(&self) -> bool {
        self.quadratic
    }

    /// Rows on velocities, ascending.
    pub fn rolling(&self) -> &[usize] {
        &self.rolling
    }

    /// $g_i(q, t)$.
    pub fn value(&self, i: usize, q: &[f64], t: f64) -> f64 {
        self.fields[i].value(q, t)
    }

    /// $\sum_i g_i(q, t)$: the bundle as one potential.
    pub fn sum(&self, q: &[f64], t: f64) -> f64 {
        self.fields.iter().map(|f| f.value(q, t)).sum()
    }

    /// Adds $\nabla \sum_i g_i$ to `out` (of length [`dimension`](Rows::dimension)).
    ///
    /// `scratch` holds at least [`largest_block`](Rows::largest_block) numbers.
    pub fn add_sum_gradient(&self, q: &[f64], t: f64, scratch: &mut [f64], out: &mut [f64]) {
        for (i, field) in self.fields.iter().enumerate() {
            let columns = self.columns(i);
            let local = &mut scratch[..columns.len()];
            field.gradient(q, t, local);
            for (&c, g) in columns.iter().zip(local) {
                out[c] += *g;
            }
        }
    }

    /// Writes the gradients of all rows, row after row.
    pub fn gradients(&self, q: &[f64], t: f64, out: &mut [f64]) {
        for run in &self.runs {
            match run {
                Run::Fields(rows) => {
                    for i in rows.clone() {
                        self.fields[i].gradient(q, t, &mut out[self.starts[i]..self.starts[i + 1]]);
                    }
                }
                Run::Affine(rows, affine) => {
                    affine.gradients(&mut out[self.starts[rows.start]..self.starts[rows.end]]);
                }
                Run::Rods(rows, rods) => {
                    rods::gradients(
                        rods,
                        q,
                        &mut out[self.starts[rows.start]..self.starts[rows.end]],
                    );
                }
            }
        }
    }

    /// Adds $\sum_i \lambda_i \nabla g_i(q, t)$ to `out`, for whoever has no use for the gradients one by one.
    ///
    /// `scratch` holds at least [`largest_block`](Rows::largest_block) numbers.
    pub fn add_gradients(
        &self,
        q: &[f64],
        t: f64,
        lambda: &[f64],
        scratch: &mut [f64],
        out: &mut [f64],
    ) {
        for run in &self.runs {
            match run {
                Run::Rods(rows, rods) => rods::add_gradients(rods, q, &lambda[rows.clone()], out),
                Run::Fields(rows) | Run::Affine(rows, _) => {
                    for i in rows.clone() {
                        let columns = self.columns(i);
                        self.fields[i].gradient(q, t, &mut scratch[..columns.len()]);
                        sparse_axpy(lambda[i], &scratch[..columns.len()], columns, out);
                    }
                }
            }
        }
    }

    /// Positions of the values that [`hessian`](Rows::hessian) writes; duplicates add up.
    pub fn hessian_entries(&self) -> &[(usize, usize)] {
        &self.hessian_entries
    }

    /// Writes $\sum_i w_i \nabla^2 g_i$ in the order of [`hessian_entries`](Rows::hessian_entries).
    pub fn hessian(&self, q: &[f64], t: f64, w: &[f64], out: &mut [f64]) {
        self.weighted_hessian(q, t, |i| w[i], out);
    }

    /// Writes $\nabla^2 \sum_i g_i$: the Hessian of the bundle as one potential.
    pub fn sum_hessian(&self, q: &[f64], t: f64, out: &mut [f64]) {
        self.weighted_hessian(q, t, |_| 1.0, out);
    }

    fn weighted_hessian(&self, q: &[f64], t: f64, w: impl Fn(usize) -> f64, out: &mut [f64]) {
        out.fill(0.0);
        let mut from = 0;
        for (i, field) in self.fields.iter().enumerate() {
            if field.is_affine() {
                continue;
            }
            let block = self.columns(i).len();
            let to = from + block * block;
            let weight = w(i);
            if weight != 0.0 {
                field.hessian(q, t, weight, &mut out[from..to]);
            }
            from = to;
        }
    }

    /// Writes $\partial g / \partial t$.
    pub fn rates(&self, q: &[f64], t: f64, out: &mut [f64]) {
        for (rate, field) in out.iter_mut().zip(&self.fields) {
            *rate = field.rate(q, t);
        }
    }

    /// Writes $\dot g = G v + \partial g / \partial t$ from gradient values at `q`.
    pub fn velocities(&self, q: &[f64], t: f64, gradients: &[f64], v: &[f64], out: &mut [f64]) {
        self.multiply(gradients, v, out);
        for (velocity, field) in out.iter_mut().zip(&self.fields) {
            if field.is_rheonomic() {
                *velocity += field.rate(q, t);
            }
        }
    }

    /// $\dot g_i = \nabla g_i \cdot v + \partial g_i / \partial t$ of one row, from gradient values at `q`.
    pub fn velocity(&self, i: usize, (q, t): (&[f64], f64), gradients: &[f64], v: &[f64]) -> f64 {
        let along = self.row_dot(i, gradients, v);
        let field = &self.fields[i];
        if field.is_rheonomic() { along + field.rate(q, t) } else { along }
    }

    /// Writes $v^\top \nabla^2 g_i\\, v + 2\\,(\partial \nabla g_i / \partial t) \cdot v + \partial^2 g_i / \partial t^2$:
    /// what remains of $\ddot g_i$ at zero acceleration.
    ///
    /// `scratch` holds at least the square of [`largest_block`](Rows::largest_block).
    pub fn curvatures(&self, q: &[f64], t: f64, v: &[f64], scratch: &mut [f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate().take(self.len()) {
            *out = self.curvature(i, q, t, v, scratch);
        }
    }

    /// The same of one row.
    pub fn curvature(&self, i: usize, q: &[f64], t: f64, v: &[f64], scratch: &mut [f64]) -> f64 {
        let (field, columns) = (&self.fields[i], self.columns(i));
        let k = columns.len();
        let mut sum = 0.0;
        if !field.is_affine() {
            sum += field.bend(q, t, v, &mut scratch[..k * k]);
        }
        if field.is_rheonomic() {
            let block = &mut scratch[..k];
            field.rate_gradient(q, t, block);
            sum += 2.0 * block.iter().zip(columns).map(|(g, &c)| g * v[c]).sum::<f64>();
            sum += field.second_rate(q, t);
        }
        sum
    }

    /// Writes $G v$ from gradient values.
    pub fn multiply(&self, gradients: &[f64], v: &[f64], out: &mut [f64]) {
        for (product, row) in out.iter_mut().zip(self.starts.windows(2)) {
            let row = row[0]..row[1];
            *product = sparse_dot(&gradients[row.clone()], &self.columns[row], v);
        }
    }

    /// Adds $G v$, from gradient values.
    pub fn add_product(&self, gradients: &[f64], v: &[f64], out: &mut [f64]) {
        for (product, row) in out.iter_mut().zip(self.starts.windows(2)) {
            let row = row[0]..row[1];
            *product += sparse_dot(&gradients[row.clone()], &self.columns[row], v);
        }
    }

    /// $\nabla g_i \cdot v$ from gradient values.
    pub fn row_dot(&self, i: usize, gradients: &[f64], v: &[f64]) -> f64 {
        sparse_dot(&gradients[self.span(i)], self.columns(i), v)
    }

    /// Adds $s\\,G^\top \lambda$ to `out`, from gradient values.
    pub fn add_transposed(&self, gradients: &[f64], lambda: &[f64], s: f64, out: &mut [f64]) {
        for (&multiplier, row) in lambda.iter().zip(self.starts.windows(2)) {
            if multiplier != 0.0 {
                let row = row[0]..row[1];
                sparse_axpy(s * multiplier, &gradients[row.clone()], &self.columns[row], out);
            }
        }
    }

    /// Adds $s\\,\nabla g_i$ to `out`, from gradient values.
    pub fn add_row(&self, i: usize, gradients: &[f64], s: f64, out: &mut [f64]) {
        sparse_axpy(s, &gradients[self.span(i)], self.columns(i), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AutoDiff, Expr, Scalar};

    struct Product;
    impl Expr for Product {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] * q[1]
        }
    }

    fn rows() -> Rows {
        let mut rows = Rows::new(3);
        rows.push("xy", AutoDiff::new(Product, &[0, 1]).unwrap()).unwrap();
        rows.push("zx", AutoDiff::new(Product, &[2, 0]).unwrap()).unwrap();
        rows
    }

    #[test]
    fn products_agree_with_the_dense_jacobian() {
        let rows = rows();
        let (q, v) = ([2.0, 3.0, 5.0], [0.5, -1.0, 2.0]);
        let mut g = vec![0.0; rows.entries()];
        rows.gradients(&q, 0.0, &mut g);
        // Dense: [y, x, 0; z, 0, x].
        let mut gv = [0.0; 2];
        rows.multiply(&g, &v, &mut gv);
        assert_eq!(gv, [3.0 * 0.5 - 2.0, 5.0 * 0.5 + 2.0 * 2.0]);
        let mut force = [0.0; 3];
        rows.add_transposed(&g, &[10.0, 100.0], 2.0, &mut force);
        assert_eq!(force, [2.0 * 530.0, 2.0 * 20.0, 2.0 * 200.0]);
        assert_eq!(rows.sum(&q, 0.0), 16.0);
        let mut curvature = [0.0; 2];
        rows.curvatures(&q, 0.0, &v, &mut [0.0; 4], &mut curvature);
        assert_eq!(curvature, [-1.0, 2.0]);
    }

    #[test]
    fn the_hessian_is_written_where_its_entries_say() {
        let rows = rows();
        let mut values = vec![f64::NAN; rows.hessian_entries().len()];
        rows.hessian(&[2.0, 3.0, 5.0], 0.0, &[7.0, -1.0], &mut values);
        let mut dense = [[0.0; 3]; 3];
        for (&(i, j), v) in rows.hessian_entries().iter().zip(&values) {
            dense[i][j] += v;
        }
        assert_eq!(dense, [[0.0, 7.0, -1.0], [7.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
    }

    #[test]
    fn a_coordinate_outside_the_system_is_named() {
        let mut rows = Rows::new(2);
        let error = rows.push("wall", AutoDiff::new(Product, &[0, 2]).unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`wall` depends on coordinate 2, but the system has 2 (0 to 1)"
        );
    }
}
