//! Formulas as nonholonomic rows: $A(q)\\,v = 0$, linear in the velocities, over the chord of a step ([`Field::value_over`]).

use nsm_constraints::Field;

use super::graph::Graph;
use super::tape::Tape;
use super::{FormulaError, Scope};

/// A formula of coordinates and velocities (`v_<name>`), linear in the velocities, that is to be zero.
#[derive(Clone, Debug)]
pub struct FormulaRolling {
    coordinates: Vec<usize>,
    /// $A$ on the block.
    coefficients: Tape,
    /// $\partial A_i/\partial q_j$ on the block, row by row.
    by_position: Tape,
}

impl FormulaRolling {
    /// Parses the formula and takes its coefficients.
    ///
    /// # Errors
    /// If it cannot be understood, is not linear in the velocities, or depends on time.
    pub fn new(text: &str, scope: &Scope) -> Result<Self, FormulaError> {
        let n = scope.dimension();
        let mut graph = Graph::default();
        let root = graph.read(text, &scope.of_phase("v_"))?;
        let refused = |message: String| FormulaError { formula: text.to_owned(), at: 0, message };
        if graph.depends_on(root, 2 * n) {
            return Err(refused("a velocity constraint does not depend on `t`".to_owned()));
        }
        let mut slopes = Vec::with_capacity(n);
        for i in 0..n {
            let slope = graph.derivative(root, n + i);
            if let Some(j) = (0..n).find(|&j| graph.depends_on(slope, n + j)) {
                let names = scope.coordinates();
                return Err(refused(format!(
                    "a velocity constraint is linear in the velocities: the factor of `v_{}` depends on `v_{}`",
                    names[i], names[j]
                )));
            }
            slopes.push(slope);
        }
        if !(0..n).any(|i| graph.depends_on(root, n + i)) {
            return Err(refused(
                "a velocity constraint depends on velocities, such as `v_x`; one on positions is an `equality`".to_owned(),
            ));
        }
        // What is left at rest must vanish, wherever that is: a few places tell.
        let tape = Tape::compile(&graph, &[root]);
        for k in [0.0, 1.0, 2.0, 3.0, 4.0] {
            let place = |slot: usize| 0.37 + 0.21 * k + 0.13 * (1.7 * slot as f64).sin();
            let rest = tape.value(|slot| if slot >= n { 0.0 } else { place(slot) });
            if rest != 0.0 && rest.is_finite() {
                return Err(refused(format!(
                    "a velocity constraint vanishes at rest, and this is {rest} there"
                )));
            }
        }
        let coordinates: Vec<usize> = (0..n)
            .filter(|&i| graph.depends_on(root, i) || graph.depends_on(root, n + i))
            .collect();
        let first: Vec<_> = coordinates.iter().map(|&i| slopes[i]).collect();
        let mut second = Vec::with_capacity(first.len() * first.len());
        for &slope in &first {
            for &j in &coordinates {
                second.push(graph.derivative(slope, j));
            }
        }
        let coefficients = Tape::compile(&graph, &first);
        Ok(Self { coordinates, coefficients, by_position: Tape::compile(&graph, &second) })
    }
}

impl Field for FormulaRolling {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, _q: &[f64], _t: f64) -> f64 {
        0.0
    }

    fn value_over(&self, start: &[f64], q: &[f64], _t: f64) -> f64 {
        let mut sum = 0.0;
        self.coefficients.evaluate(
            |slot| 0.5 * (start[slot] + q[slot]),
            |i, a| {
                let c = self.coordinates[i];
                sum += a * (q[c] - start[c]);
            },
        );
        sum
    }

    /// $A(q)$: what forces act along, and what velocities are measured by.
    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        self.coefficients.evaluate(|slot| q[slot], |i, a| out[i] = a);
    }

    fn hessian(&self, q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        self.by_position.evaluate(|slot| q[slot], |i, x| out[i] += w * x);
    }

    fn mean_gradient(&self, start: &[f64], end: &[f64], _t: f64, out: &mut [f64]) -> bool {
        self.coefficients.evaluate(|s| 0.5 * (start[s] + end[s]), |i, a| out[i] = a);
        true
    }

    fn mean_hessian(&self, start: &[f64], end: &[f64], _t: f64, w: f64, out: &mut [f64]) -> bool {
        self.by_position.evaluate(|s| 0.5 * (start[s] + end[s]), |i, x| out[i] += 0.5 * w * x);
        true
    }

    fn is_nonholonomic(&self) -> bool {
        true
    }
}
