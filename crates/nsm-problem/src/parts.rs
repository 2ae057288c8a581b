//! How the states of a mechanism are written down: coordinates, and its bodies by name.

use nsm_constraints::multibody::Mechanism;
use nsm_geom::Vec3;
use nsm_model::{State, System};
use serde_json::{Map, Value, json};

use super::record::Layout;

/// The layout of a mechanism's states.
pub(crate) struct Parts<'a> {
    pub(crate) mechanism: &'a Mechanism,
    pub(crate) system: &'a System,
}

impl Layout<State> for Parts<'_> {
    fn columns(&self) -> Vec<String> {
        self.system.columns()
    }

    fn row(&self, state: &State, out: &mut Vec<f64>) {
        self.system.row(state, out);
    }

    fn positions(&self) -> Vec<Vec<usize>> {
        Layout::<State>::positions(self.system)
    }

    /// `q`, `v`, `p`, and `bodies` as for rigid bodies: rotation row by row, angular momentum in the body frame.
    fn json(&self, state: &State) -> Value {
        let mut object = self.system.json(state);
        let mut bodies = Map::new();
        for (name, node) in self.mechanism.nodes() {
            let range = self.mechanism.coordinates(node);
            let (q, p) = (&state.q[range.clone()], &state.p[range]);
            let mut body = json!({ "position": q[..3], "momentum": p[..3] });
            if q.len() == 12 {
                let vectors = |x: &[f64]| -> [Vec3; 3] {
                    std::array::from_fn(|i| Vec3::from_column_slice(&x[3 + 3 * i..6 + 3 * i]))
                };
                let (d, l) = (vectors(q), vectors(p));
                let rows: Vec<[f64; 3]> = (0..3).map(|k| d.map(|director| director[k])).collect();
                // Spin about the node's own point: the sum of the directors times their momenta.
                let spin: Vec3 = d.iter().zip(&l).map(|(d, l)| d.cross(l)).sum();
                body["rotation"] = json!(rows);
                body["angular_momentum"] = json!(d.map(|director| director.dot(&spin)));
            }
            bodies.insert(name.to_owned(), body);
        }
        object["bodies"] = Value::Object(bodies);
        object
    }
}
