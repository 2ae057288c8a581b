//! Formulas as tangential velocities of a contact: linear in the velocities, with coefficients that depend on the configuration.

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
            // What is left at rest must vanish, wherever that is: a few places tell.
            let tape = Tape::compile(&graph, &[root]);
            for k in [0.0, 1.0, 2.0, 3.0, 4.0] {
                let place = |slot: usize| 0.37 + 0.21 * k + 0.13 * (1.7 * slot as f64).sin();
                let rest =
                    tape.value(|slot| if (n..2 * n).contains(&slot) { 0.0 } else { place(slot) });
                if rest != 0.0 && rest.is_finite() {
                    return Err(refused(format!(
                        "a tangential velocity vanishes at rest, and this is {rest} there: a surface that moves by itself is not known"
                    )));
                }
            }
            roots.push(root);
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
    fn what_is_not_linear_is_refused() {
        for (text, word) in [
            ("v_x^2", "linear"),
            ("v_x*v_y", "linear"),
            ("v_x - 1", "vanishes"),
            ("v_x + sin(y)", "vanishes"),
            ("x", "depends on velocities"),
            ("v_z", "there is no"),
        ] {
            let error = FormulaTangent::new(&[text], &scope()).unwrap_err();
            assert!(error.message.contains(word), "{text}: {}", error.message);
        }
    }
}
