//! A kinetic energy by formula: the mass matrix that depends on the configuration, and the forces that come of it.
//!
//! $T(q, v) = \tfrac12 v^\top M(q)\\,v$; everything that [`VariableMass`] asks for is a derivative of $T$ up to the third, taken of the formula.

use nsm_model::VariableMass;

use super::graph::{Binary, Graph, Id};
use super::tape::Tape;
use super::{FormulaError, Scope};

/// A formula of coordinates and velocities (`v_<name>`), quadratic in the velocities.
#[derive(Clone, Debug)]
pub struct FormulaKinetic {
    dimension: usize,
    energy: Tape,
    momentum: Tape,
    momentum_by_position: Tape,
    matrix: Tape,
    slope: Tape,
    slope_by_position: Tape,
    gyroscopic: Tape,
    gyroscopic_by_position: Tape,
    gyroscopic_by_velocity: Tape,
}

impl FormulaKinetic {
    /// Parses the formula and differentiates it.
    ///
    /// # Errors
    /// If it cannot be understood, is not quadratic in the velocities, or depends on time.
    pub fn new(text: &str, scope: &Scope) -> Result<Self, FormulaError> {
        let n = scope.dimension();
        let mut graph = Graph::default();
        let root = graph.read(text, &scope.of_phase("v_"))?;
        let refused = |message: String| FormulaError { formula: text.to_owned(), at: 0, message };
        if graph.depends_on(root, 2 * n) {
            return Err(refused("a kinetic energy does not depend on `t` here".to_owned()));
        }
        let names = scope.coordinates();
        let momentum: Vec<Id> = (0..n).map(|i| graph.derivative(root, n + i)).collect();
        let mut matrix = Vec::with_capacity(n * n);
        for &p in &momentum {
            for j in 0..n {
                matrix.push(graph.derivative(p, n + j));
            }
        }
        for (k, &entry) in matrix.iter().enumerate() {
            if let Some(j) = (0..n).find(|&j| graph.depends_on(entry, n + j)) {
                return Err(refused(format!(
                    "a kinetic energy is quadratic in the velocities: its second derivative by `v_{}` and `v_{}` depends on `v_{}`",
                    names[k / n],
                    names[k % n],
                    names[j]
                )));
            }
        }
        if let Some(i) = (0..n).find(|&i| !graph.depends_on(root, n + i)) {
            return Err(refused(format!(
                "`v_{}` does not occur: every coordinate needs inertia",
                names[i]
            )));
        }
        // Neither constant nor linear in v: T(q, 0) = 0 and p(q, 0) = 0, at a few places.
        let rest = Tape::compile(&graph, &[&[root], &momentum[..]].concat());
        for k in [0.0, 1.0, 2.0, 3.0, 4.0] {
            let place = |slot: usize| 0.37 + 0.21 * k + 0.13 * (1.7 * slot as f64).sin();
            let mut worst = 0.0_f64;
            let input = |slot: usize| if slot >= n { 0.0 } else { place(slot) };
            rest.evaluate(input, |_, x| {
                if x.is_finite() {
                    worst = worst.max(x.abs());
                }
            });
            if worst != 0.0 {
                return Err(refused(
                    "a kinetic energy is quadratic in the velocities: this has terms without them, or linear in them".to_owned(),
                ));
            }
        }
        let mut by_position = Vec::with_capacity(n * n);
        for &p in &momentum {
            for j in 0..n {
                by_position.push(graph.derivative(p, j));
            }
        }
        let slope: Vec<Id> = (0..n).map(|i| graph.derivative(root, i)).collect();
        let mut slope_by_position = Vec::with_capacity(n * n);
        for &s in &slope {
            for j in 0..n {
                slope_by_position.push(graph.derivative(s, j));
            }
        }
        let velocity: Vec<Id> = (0..n).map(|j| graph.variable(n + j)).collect();
        let mut gyroscopic = Vec::with_capacity(n);
        for i in 0..n {
            // ∂T/∂q_i − Σ_j ∂p_i/∂q_j v_j
            let mut sum = slope[i];
            for j in 0..n {
                let turning = graph.binary(Binary::Multiply, by_position[i * n + j], velocity[j]);
                sum = graph.binary(Binary::Subtract, sum, turning);
            }
            gyroscopic.push(sum);
        }
        let mut jacobian = |offset: usize| -> Vec<Id> {
            let mut entries = Vec::with_capacity(n * n);
            for &force in &gyroscopic {
                for j in 0..n {
                    entries.push(graph.derivative(force, offset + j));
                }
            }
            entries
        };
        let (forces_by_position, forces_by_velocity) = (jacobian(0), jacobian(n));
        Ok(Self {
            dimension: n,
            energy: Tape::compile(&graph, &[root]),
            momentum: Tape::compile(&graph, &momentum),
            momentum_by_position: Tape::compile(&graph, &by_position),
            matrix: Tape::compile(&graph, &matrix),
            slope: Tape::compile(&graph, &slope),
            slope_by_position: Tape::compile(&graph, &slope_by_position),
            gyroscopic: Tape::compile(&graph, &gyroscopic),
            gyroscopic_by_position: Tape::compile(&graph, &forces_by_position),
            gyroscopic_by_velocity: Tape::compile(&graph, &forces_by_velocity),
        })
    }

    fn write(&self, tape: &Tape, q: &[f64], v: &[f64], out: &mut [f64]) {
        let n = self.dimension;
        tape.evaluate(|slot| if slot < n { q[slot] } else { v[slot - n] }, |i, x| out[i] = x);
    }
}

impl VariableMass for FormulaKinetic {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        let n = self.dimension;
        self.energy.value(|slot| if slot < n { q[slot] } else { v[slot - n] })
    }

    fn momentum(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.write(&self.momentum, q, v, out);
    }

    fn momentum_by_position(&self, q: &[f64], a: &[f64], out: &mut [f64]) {
        self.write(&self.momentum_by_position, q, a, out);
    }

    fn matrix(&self, q: &[f64], out: &mut [f64]) {
        self.matrix.evaluate(|slot| q[slot], |i, x| out[i] = x);
    }

    fn slope(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.write(&self.slope, q, v, out);
    }

    fn slope_by_position(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.write(&self.slope_by_position, q, v, out);
    }

    fn gyroscopic(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.write(&self.gyroscopic, q, v, out);
    }

    fn gyroscopic_by_position(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.write(&self.gyroscopic_by_position, q, v, out);
    }

    fn gyroscopic_by_velocity(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        self.write(&self.gyroscopic_by_velocity, q, v, out);
    }
}
