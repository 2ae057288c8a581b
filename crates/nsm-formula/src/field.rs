//! Formulas as [`Field`]s, [`Force`]s and tracked quantities.

use nsm_constraints::{Affine, Field};
use nsm_model::{Force, Invariant};

use super::graph::Graph;
use super::quadratic::Quadratic;
use super::tape::Tape;
use super::{FormulaError, Scope, build};

/// A formula of coordinates and time, with exact first and second derivatives.
#[derive(Clone, Debug)]
pub struct FormulaField {
    dimension: usize,
    coordinates: Vec<usize>,
    value: Tape,
    gradient: Tape,
    /// Lower triangle of the block, row by row.
    hessian: Tape,
    /// Whether the slope is the same everywhere.
    steady: bool,
    /// The formula as $a \cdot x + d$, if it is that and does not contain `t`: two products instead of a list of operations.
    affine: Option<Affine>,
    /// The formula as a sum of products of affine forms, if it is one.
    quadratic: Option<Quadratic>,
    /// Derivatives by time, if the formula contains `t`.
    rheonomic: Option<Rheonomic>,
}

#[derive(Clone, Debug)]
struct Rheonomic {
    rate: Tape,
    rate_gradient: Tape,
    second_rate: Tape,
}

impl FormulaField {
    /// Parses and differentiates a formula.
    ///
    /// # Errors
    /// If it cannot be understood; the error points at the culprit.
    pub fn new(text: &str, scope: &Scope) -> Result<Self, FormulaError> {
        let (mut graph, root) = build(text, &scope.of_position())?;
        let n = scope.dimension();
        let coordinates: Vec<usize> = (0..n).filter(|&i| graph.depends_on(root, i)).collect();
        let first: Vec<_> = coordinates.iter().map(|&i| graph.derivative(root, i)).collect();
        let mut second = Vec::new();
        for (i, &derivative) in first.iter().enumerate() {
            for &j in &coordinates[..=i] {
                second.push(graph.derivative(derivative, j));
            }
        }
        // Not "second derivatives vanish": those of |x|, min and floor do, and their slope still changes.
        let steady = |&id: &_| coordinates.iter().all(|&j| !graph.depends_on(id, j));
        let steady = first.iter().all(steady);
        let polynomial = graph.is_polynomial(root);
        let rheonomic = graph.depends_on(root, n).then(|| {
            let rate = graph.derivative(root, n);
            let rate_gradient: Vec<_> = first.iter().map(|&id| graph.derivative(id, n)).collect();
            let second_rate = graph.derivative(rate, n);
            Rheonomic {
                rate: Tape::compile(&graph, &[rate]),
                rate_gradient: Tape::compile(&graph, &rate_gradient),
                second_rate: Tape::compile(&graph, &[second_rate]),
            }
        });
        let mut field = Self {
            dimension: n,
            value: Tape::compile(&graph, &[root]),
            gradient: Tape::compile(&graph, &first),
            hessian: Tape::compile(&graph, &second),
            coordinates,
            steady,
            affine: None,
            quadratic: None,
            rheonomic,
        };
        if polynomial && field.rheonomic.is_none() {
            field.quadratic =
                Quadratic::of(&graph, root, &field.coordinates).filter(Quadratic::is_curved);
        }
        if steady && polynomial && field.rheonomic.is_none() {
            // A polynomial of constant slope is its tangent anywhere; numbers that overflow there stay a list of operations.
            field.affine = Affine::tangent(&field, &vec![0.0; n], 0.0).ok();
        }
        Ok(field)
    }

    fn input<'a>(&self, q: &'a [f64], t: f64) -> impl Fn(usize) -> f64 + use<'a> {
        let time = self.dimension;
        move |slot| if slot == time { t } else { q[slot] }
    }
}

impl Field for FormulaField {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], t: f64) -> f64 {
        match (&self.affine, &self.quadratic) {
            (Some(affine), _) => affine.value(q, t),
            (None, Some(quadratic)) => quadratic.value(q),
            (None, None) => self.value.value(self.input(q, t)),
        }
    }

    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        match &self.quadratic {
            Some(quadratic) => quadratic.gradient(q, out),
            None => self.gradient.evaluate(self.input(q, t), |i, value| out[i] = value),
        }
    }

    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
        let k = self.coordinates.len();
        let (mut row, mut column) = (0, 0);
        self.hessian.evaluate(self.input(q, t), |_, value| {
            out[row * k + column] += w * value;
            if row != column {
                out[column * k + row] += w * value;
            }
            column += 1;
            if column > row {
                (row, column) = (row + 1, 0);
            }
        });
    }

    fn is_affine(&self) -> bool {
        self.steady
    }

    fn is_quadratic(&self) -> bool {
        self.steady || self.quadratic.is_some()
    }

    fn affine(&self) -> Option<Affine> {
        self.affine.clone()
    }

    fn is_rheonomic(&self) -> bool {
        self.rheonomic.is_some()
    }

    fn rate(&self, q: &[f64], t: f64) -> f64 {
        self.rheonomic.as_ref().map_or(0.0, |r| r.rate.value(self.input(q, t)))
    }

    fn rate_gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        match &self.rheonomic {
            Some(r) => r.rate_gradient.evaluate(self.input(q, t), |i, value| out[i] = value),
            None => out.fill(0.0),
        }
    }

    fn second_rate(&self, q: &[f64], t: f64) -> f64 {
        self.rheonomic.as_ref().map_or(0.0, |r| r.second_rate.value(self.input(q, t)))
    }
}

/// Forces given by a formula per coordinate, with exact derivatives.
#[derive(Clone, Debug)]
pub struct FormulaForce {
    dimension: usize,
    coordinates: Vec<usize>,
    force: Tape,
    by_position: Tape,
    by_velocity: Tape,
    uses_velocity: bool,
    reads: Vec<usize>,
}

impl FormulaForce {
    /// One formula for each of some coordinates, of coordinates, velocities (`v_<name>`) and `t`.
    ///
    /// # Errors
    /// If one of them cannot be understood.
    pub fn new(components: &[(usize, &str)], scope: &Scope) -> Result<Self, FormulaError> {
        Self::compiled(components, scope, &scope.of_phase("v_"))
    }

    /// The same of scalars such as the freedoms of joints, whose rates are named `<name>_rate`.
    ///
    /// # Errors
    /// If one of them cannot be understood.
    pub fn of_rates(components: &[(usize, &str)], scope: &Scope) -> Result<Self, FormulaError> {
        Self::compiled(components, scope, &scope.of_rates())
    }

    /// Whether the formulas contain a coordinate itself, and not only its rate.
    pub fn reads(&self, coordinate: usize) -> bool {
        self.reads.contains(&coordinate)
    }

    fn compiled(
        components: &[(usize, &str)],
        scope: &Scope,
        names: &super::Names,
    ) -> Result<Self, FormulaError> {
        let n = scope.dimension();
        let mut graph = Graph::default();
        let mut roots = vec![None; n];
        for &(coordinate, text) in components {
            let root = graph.read(text, names)?;
            if let Some(slot) = roots.get_mut(coordinate) {
                *slot = Some(root);
            }
        }
        let given: Vec<_> = roots.iter().flatten().copied().collect();
        let coordinates: Vec<usize> = (0..n)
            .filter(|&i| {
                roots[i].is_some()
                    || given.iter().any(|&r| graph.depends_on(r, i) || graph.depends_on(r, n + i))
            })
            .collect();
        let uses_velocity = given.iter().any(|&r| (n..2 * n).any(|slot| graph.depends_on(r, slot)));
        let reads = (0..n).filter(|&i| given.iter().any(|&r| graph.depends_on(r, i))).collect();
        let zero = graph.constant(0.0);
        let outputs: Vec<_> = coordinates.iter().map(|&i| roots[i].unwrap_or(zero)).collect();
        let mut jacobian = |offset: usize| {
            let mut entries = Vec::with_capacity(outputs.len() * outputs.len());
            for &output in &outputs {
                for &j in &coordinates {
                    entries.push(graph.derivative(output, offset + j));
                }
            }
            entries
        };
        let (by_position, by_velocity) = (jacobian(0), jacobian(n));
        Ok(Self {
            dimension: n,
            force: Tape::compile(&graph, &outputs),
            by_position: Tape::compile(&graph, &by_position),
            by_velocity: Tape::compile(&graph, &by_velocity),
            coordinates,
            uses_velocity,
            reads,
        })
    }
}

/// The input of a function of $(q, v, t)$ or $(q, p, t)$.
fn phase<'a>(n: usize, q: &'a [f64], v: &'a [f64], t: f64) -> impl Fn(usize) -> f64 + use<'a> {
    move |slot| match slot {
        i if i < n => q[i],
        i if i < 2 * n => v[i - n],
        _ => t,
    }
}

impl Force for FormulaForce {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn force(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        self.force.evaluate(phase(self.dimension, q, v, t), |i, value| out[i] = value);
    }

    fn by_position(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        self.by_position.evaluate(phase(self.dimension, q, v, t), |i, value| out[i] = value);
    }

    fn by_velocity(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        self.by_velocity.evaluate(phase(self.dimension, q, v, t), |i, value| out[i] = value);
    }

    fn depends_on_velocity(&self) -> bool {
        self.uses_velocity
    }
}

/// A tracked quantity given by a formula of coordinates and momenta (`p_<name>`).
///
/// # Errors
/// If the formula cannot be understood.
pub fn quantity(name: &str, text: &str, scope: &Scope) -> Result<Invariant, FormulaError> {
    let n = scope.dimension();
    let (graph, root) = build(text, &scope.of_phase("p_"))?;
    if graph.depends_on(root, 2 * n) {
        let message =
            "an invariant is a function of coordinates and momenta, not of `t`".to_owned();
        return Err(FormulaError { formula: text.to_owned(), at: 0, message });
    }
    let tape = Tape::compile(&graph, &[root]);
    Ok(Invariant::new(name, move |q, p| tape.value(phase(n, q, p, 0.0))))
}
