//! How the states of a mechanism are written down: coordinates, and its bodies by name.

use std::cell::RefCell;

use nsm_constraints::multibody::Mechanism;
use nsm_geom::Vec3;
use nsm_model::{ContactImpulse, Event, Reactions, State, System, Touch};

use super::record::Layout;
use super::state::{BodyState, StateRecord, Turning};

/// The layout of a mechanism's states.
pub(crate) struct Parts<'a> {
    mechanism: &'a Mechanism,
    system: &'a System,
    /// Present where constraints carry forces that have a name.
    reactions: Option<RefCell<Reactions<'a>>>,
}

impl<'a> Parts<'a> {
    /// `friction` is that of all contacts in place of what the system says, if a run gives it.
    pub(crate) fn new(mechanism: &'a Mechanism, system: &'a System, friction: Option<f64>) -> Self {
        let named = mechanism.joints().next().is_some()
            || mechanism.coupling_rows().next().is_some()
            || mechanism.limits().next().is_some();
        let reactions = if named { Reactions::new(system).ok() } else { None };
        let reactions = match friction {
            Some(friction) => reactions.and_then(|r| r.with_friction(friction).ok()),
            None => reactions,
        };
        Self { mechanism, system, reactions: reactions.map(RefCell::new) }
    }
}

impl Parts<'_> {
    /// Whether constraints carry forces that have a name.
    pub(crate) fn carries(&self) -> bool {
        self.reactions.is_some()
    }

    /// What joints and the rows of motors, rods and gears carry, given what every equality does.
    fn carried(&self, equalities: &[f64], q: &[f64], out: &mut Vec<f64>) {
        let rows = self.system.equalities();
        for (name, ..) in self.mechanism.joints() {
            let Some(joint) = self.mechanism.joint(name) else { continue };
            let carried = self.mechanism.reaction(joint, rows, equalities, q);
            out.extend(carried.force);
            out.extend(carried.torque);
        }
        out.extend(self.mechanism.coupling_rows().map(|(_, i)| equalities[i]));
    }
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

    fn touch(&self, state: &State, contact: &ContactImpulse) -> Option<Touch> {
        contact.touch_in(self.system, &state.q, state.t)
    }

    /// Force and torque of every joint, along its axis and two across it; what motors, rods and gears carry; what limits and ropes carry; what
    /// dry friction does on its freedoms.
    fn reaction_columns(&self) -> Vec<String> {
        if self.reactions.is_none() {
            return Vec::new();
        }
        let parts = ["Fn", "Fa", "Fb", "Tn", "Ta", "Tb"];
        let joints =
            self.mechanism.joints().flat_map(|(name, ..)| parts.map(|p| format!("{name}.{p}")));
        let rows = self.mechanism.coupling_rows().map(|(name, _)| name.to_owned());
        let limits = self.mechanism.limits().map(|(name, _)| name.to_owned());
        let dry = self.system.dry().names().iter().cloned();
        joints.chain(rows).chain(limits).chain(dry).collect()
    }

    fn reactions(&self, state: &State, out: &mut Vec<f64>) {
        let Some(reactions) = &self.reactions else { return };
        let mut reactions = reactions.borrow_mut();
        reactions.solve(state);
        self.carried(reactions.forces(), &state.q, out);
        out.extend(reactions.contacts().iter().take(self.mechanism.limits().count()));
        out.extend(reactions.dry());
    }

    fn reaction_impulses(&self, state: &State, event: &Event<'_>, out: &mut Vec<f64>) {
        let Some(reactions) = &self.reactions else { return };
        let rows = self.system.equalities().len();
        let impulses = reactions.borrow_mut().impulses(state, event);
        self.carried(&impulses.unwrap_or_else(|| vec![f64::NAN; rows]), &state.q, out);
        let of = |limit: usize| event.contacts.iter().position(|&c| c == limit);
        let limits = 0..self.mechanism.limits().count();
        out.extend(limits.map(|i| of(i).map_or(0.0, |k| event.impulses[k])));
        // Dry friction takes no part in impacts.
        out.extend(self.system.dry().names().iter().map(|_| 0.0));
    }

    /// Coordinates, and bodies as for rigid bodies: rotation row by row, angular momentum in the body frame.
    fn state(&self, state: &State) -> StateRecord {
        let three = |x: &[f64]| [x[0], x[1], x[2]];
        let body = |range: std::ops::Range<usize>| {
            let (q, p) = (&state.q[range.clone()], &state.p[range]);
            let turning = (q.len() == 12).then(|| {
                let vectors = |x: &[f64]| -> [Vec3; 3] {
                    std::array::from_fn(|i| Vec3::from_column_slice(&x[3 + 3 * i..6 + 3 * i]))
                };
                let (d, l) = (vectors(q), vectors(p));
                // Spin about the node's own point: the sum of the directors times their momenta.
                let spin: Vec3 = d.iter().zip(&l).map(|(d, l)| d.cross(l)).sum();
                Turning {
                    rotation: std::array::from_fn(|k| d.map(|director| director[k])),
                    angular_momentum: d.map(|director| director.dot(&spin)),
                }
            });
            BodyState { position: three(q), momentum: three(p), turning }
        };
        let nodes = self.mechanism.nodes();
        let bodies =
            nodes.map(|(name, node)| (name.to_owned(), body(self.mechanism.coordinates(node))));
        StateRecord { bodies: Some(bodies.collect()), ..self.system.state(state) }
    }
}
