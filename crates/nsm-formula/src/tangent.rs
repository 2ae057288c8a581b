//! Formulas as tangential velocities of a contact: linear in the velocities, with coefficients that depend on the configuration. What is left at rest is the
//! velocity of a surface that moves by itself.

use nsm_constraints::Tangent;

use super::graph::Graph;
use super::tape::Tape;
use super::{FormulaError, Scope};

/// One or two formulas of coordinates, velocities (`v_<name>`) and `t`, linear in the velocities.
#[derive(Clone, Debug)]
pub struct FormulaTangent {
    dimension: usize,
    directions: usize,
    coordinates: Vec<usize>,
    coefficients: Tape,
    /// The formulas themselves, where they do not vanish at rest.
    moving: Option<Tape>,
}

impl FormulaTangent {
    /// Parses the formulas and takes their coefficients.
    ///
    /// # Errors
    /// If one of them cannot be understood, or is not linear in the velocities.
    pub fn new(formulas: &[&str], scope: &Scope) -> Result<Self, FormulaError> {
        let n = scope.dimension();
        let names = scope.of_phase("v_");
        let mut graph = Graph::default();
        let mut roots = Vec::new();
        for text in formulas {
            let root = graph.read(text, &names)?;
            let refused =
                |message: String| FormulaError { formula: (*text).to_owned(), at: 0, message };
            let moves: Vec<usize> = (0..n).filter(|&i| graph.depends_on(root, n + i)).collect();
            for &i in &moves {
                let slope = graph.derivative(root, n + i);
                if let Some(j) = (0..n).find(|&j| graph.depends_on(slope, n + j)) {
                    return Err(refused(format!(
                        "a tangential velocity is linear in the velocities: the factor of `v_{}` depends on `v_{}`",
                        scope.coordinates()[i],
                        scope.coordinates()[j]
                    )));
                }
            }
            if moves.is_empty() {
                return Err(refused(
                    "a tangential velocity depends on velocities, such as `v_x`".to_owned(),
                ));
            }
            roots.push(root);
        }
        // Whether anything is left at rest: a few places tell.
        let tape = Tape::compile(&graph, &roots);
        let mut moves = false;
        for k in [0.0, 1.0, 2.0, 3.0, 4.0] {
            let place = |slot: usize| 0.37 + 0.21 * k + 0.13 * (1.7 * slot as f64).sin();
            let still = |slot: usize| if (n..2 * n).contains(&slot) { 0.0 } else { place(slot) };
            tape.evaluate(still, |_, rest| moves |= rest != 0.0);
        }
        let coordinates: Vec<usize> =
            (0..n).filter(|&i| roots.iter().any(|&r| graph.depends_on(r, n + i))).collect();
        let mut entries = Vec::with_capacity(roots.len() * coordinates.len());
        for &root in &roots {
            for &i in &coordinates {
                entries.push(graph.derivative(root, n + i));
            }
        }
        Ok(Self {
            dimension: n,
            directions: roots.len(),
            coordinates,
            coefficients: Tape::compile(&graph, &entries),
            moving: moves.then_some(tape),
        })
    }
}

impl Tangent for FormulaTangent {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn directions(&self) -> usize {
        self.directions
    }

    fn coefficients(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let n = self.dimension;
        let input = |slot: usize| if slot < n { q[slot] } else { t };
        self.coefficients.evaluate(input, |i, value| out[i] = value);
    }

    fn drifts(&self) -> bool {
        self.moving.is_some()
    }

    fn drift(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let n = self.dimension;
        let input = |slot: usize| match slot {
            slot if slot < n => q[slot],
            slot if slot < 2 * n => 0.0,
            _ => t,
        };
        out.fill(0.0);
        if let Some(tape) = &self.moving {
            tape.evaluate(input, |i, value| out[i] = value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        let names: Vec<String> = ["x", "y", "a"].map(str::to_owned).to_vec();
        Scope::new(&names, &[("R".to_owned(), 0.5)]).unwrap()
    }

    #[test]
    fn coefficients_are_those_of_the_velocities() {
        let tangent = FormulaTangent::new(&["v_x + R*v_a*cos(y)", "2*v_x"], &scope()).unwrap();
        assert_eq!(tangent.coordinates(), [0, 2]);
        assert_eq!(tangent.directions(), 2);
        let mut out = [0.0; 4];
        tangent.coefficients(&[3.0, 0.2, 1.0], 0.0, &mut out);
        assert_eq!(out, [1.0, 0.5 * 0.2_f64.cos(), 2.0, 0.0]);
    }

    #[test]
    fn surfaces_move_by_themselves() {
        let belt = FormulaTangent::new(&["v_x - 2*t", "v_y + 3*a"], &scope()).unwrap();
        let mut out = [0.0; 2];
        belt.drift(&[5.0, 6.0, 0.5], 1.5, &mut out);
        assert!(belt.drifts());
        assert_eq!(out, [-3.0, 1.5]);
        assert!(!FormulaTangent::new(&["v_x*y"], &scope()).unwrap().drifts());
    }

    #[test]
    fn what_is_not_linear_is_refused() {
        for (text, word) in [
            ("v_x^2", "linear"),
            ("v_x*v_y", "linear"),
            ("x", "depends on velocities"),
            ("v_z", "there is no"),
        ] {
            let error = FormulaTangent::new(&[text], &scope()).unwrap_err();
            assert!(error.message.contains(word), "{text}: {}", error.message);
        }
    }
}
