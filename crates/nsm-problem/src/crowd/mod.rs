//! Many bodies in coordinates: which of them may touch, found while they move.
//!
//! Up to [`Crowd::LISTED`] pairs of bodies all stand among the gaps of their system, from the start to the end. More bodies are a crowd: its system has gaps for
//! what is few, limits of joints, formulas and planes, and a copy of it those of the pairs that are near ([`Roster`]) besides. When a body leaves the room in which its
//! neighbours are known, near pairs are looked for anew, and the run goes on from the same state with a stepper for these. So time and memory of a
//! run are those of the bodies and of what is near, whatever the number of pairs.

mod drive;
mod guard;
mod roster;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use nsm_constraints::Rows;
use nsm_constraints::multibody::{End, Mechanism, NodeId};
use nsm_geom::{Shape, Vec3};
use nsm_model::{ContactLaw, State, System, SystemError};

use super::touching::no_gap;
use super::{Contacts, Facts, ProblemError, Run};

pub(crate) use drive::drive_crowd;
use roster::Roster;

/// Bodies of which some pairs may touch, too many to list them all.
#[derive(Debug)]
pub struct Crowd {
    shapes: Vec<(NodeId, Shape)>,
    /// Names of the bodies, and where their coordinates begin.
    names: Vec<String>,
    starts: Vec<usize>,
    radii: Vec<f64>,
    /// Whether a body stands still.
    still: Vec<bool>,
    /// Classes of bodies that contacts treat alike, and the law between every two; none for those that pass through each other.
    classes: Vec<usize>,
    laws: Vec<Option<ContactLaw>>,
    /// Pairs that a joint connects.
    joined: HashSet<(u32, u32)>,
}

impl Crowd {
    /// Pairs of bodies up to which all stand among the gaps of a system.
    pub const LISTED: usize = 300;

    /// Pairs of bodies up to which a method that knows no crowds takes all of them.
    pub const MOST: usize = 2000;

    /// The crowd of these shapes; none where all their pairs are listed.
    ///
    /// # Errors
    /// Shapes without a smooth gap between them.
    pub(crate) fn of(
        mechanism: &Mechanism,
        shapes: &[(NodeId, Shape)],
        contacts: &Contacts,
    ) -> Result<Option<Self>, SystemError> {
        let n = shapes.len();
        if n * n.saturating_sub(1) / 2 <= Self::LISTED {
            return Ok(None);
        }
        let all: Vec<&str> = mechanism.nodes().map(|(name, _)| name).collect();
        let names: Vec<String> =
            shapes.iter().map(|(node, _)| all[node.index()].to_owned()).collect();
        let mut number = vec![u32::MAX; all.len()];
        for (k, (node, _)) in (0..).zip(shapes) {
            number[node.index()] = k;
        }
        let mut joined = HashSet::new();
        for (_, _, ends) in mechanism.joints() {
            if let [(End::Node(a), _), (End::Node(b), _)] = ends {
                let (a, b) = (number[a.index()], number[b.index()]);
                joined.insert((a.min(b), a.max(b)));
            }
        }
        let (classes, laws) = contacts.classes(&names);
        let crowd = Self {
            starts: shapes.iter().map(|(node, _)| mechanism.coordinates(*node).start).collect(),
            radii: shapes.iter().map(|(_, shape)| shape.bounding_radius()).collect(),
            still: shapes.iter().map(|(node, _)| mechanism.stands(*node)).collect(),
            shapes: shapes.to_vec(),
            names,
            classes,
            laws,
            joined,
        };
        if crowd.pairs().take(Self::LISTED + 1).count() <= Self::LISTED {
            return Ok(None);
        }
        crowd.check_gaps(mechanism)?;
        Ok(Some(crowd))
    }

    /// The law of a pair; none where it never touches.
    fn law(&self, a: u32, b: u32) -> Option<ContactLaw> {
        let (i, j) = (a as usize, b as usize);
        if (self.still[i] && self.still[j]) || self.joined.contains(&(a.min(b), a.max(b))) {
            return None;
        }
        let kinds = self.laws.len().isqrt();
        self.laws[self.classes[i] * kinds + self.classes[j]]
    }

    /// All pairs that may touch, in the order of their later bodies.
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let n = self.shapes.len() as u32;
        let all = (0..n).flat_map(|b| (0..b).map(move |a| (a, b)));
        all.filter(|&(a, b)| self.law(a, b).is_some())
    }

    /// The system with the gaps of these pairs after its own.
    ///
    /// # Errors
    /// Shapes without a smooth gap between them.
    pub(crate) fn listed(
        &self,
        system: &System,
        mechanism: &Mechanism,
        pairs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<System, SystemError> {
        let mut laws: Vec<ContactLaw> = system.contact_laws().collect();
        let mut listed = system.clone();
        for (a, b) in pairs {
            let Some(law) = self.law(a, b) else { continue };
            let (one, other) = (a as usize, b as usize);
            let [first, second] = [one, other].map(|k| (self.shapes[k].0, &self.shapes[k].1));
            let name = format!("{}-{}", self.names[one], self.names[other]);
            listed = listed.with_pair_contact(mechanism, first, second, &name)?;
            laws.resize(listed.inequalities().len(), law);
        }
        listed.with_contact_laws(&laws)
    }

    /// The system with the pairs that are near at the start, and with one for every body that stands still: what is true of these is true of all.
    pub(crate) fn at_start(
        &self,
        system: &System,
        mechanism: &Mechanism,
        start: &State,
    ) -> Result<System, SystemError> {
        let mut pairs = Roster::of(self, start, |_| 0.0).pairs;
        #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
        let n = self.shapes.len() as u32;
        let fixed = (0..n).filter(|&k| self.still[k as usize]);
        pairs.extend(fixed.filter_map(|a| {
            let b = (0..n).find(|&b| a != b && self.law(a, b).is_some())?;
            Some((a.min(b), a.max(b)))
        }));
        pairs.sort_unstable();
        pairs.dedup();
        self.listed(system, mechanism, pairs)
    }

    /// The system with all pairs, for a method that knows no crowds.
    ///
    /// # Errors
    /// A method that does not fit anyway, or too many pairs.
    pub(crate) fn all_listed(
        &self,
        run: &Run,
        (mechanism, system, start): (&Mechanism, &System, &State),
    ) -> Result<System, ProblemError> {
        if self.pairs().nth(Self::MOST).is_some() {
            // What does not fit anyway says so with one pair.
            let one = self.listed(system, mechanism, self.pairs().take(1));
            run.stepper(&one.map_err(|e| run.place.system(&e))?, start, Some(mechanism))?;
            let why = format!(
                "it takes all pairs of bodies at once, and of these there are more than {}; {} find those that are near",
                Self::MOST,
                Facts::list(|facts| facts.crowds)
            );
            let error = SystemError::DoesNotFit { method: run.method.facts.name, why };
            return Err(run.place.system(&error));
        }
        self.listed(system, mechanism, self.pairs()).map_err(|e| run.place.system(&e))
    }

    /// Where a body is.
    fn centre(&self, k: usize, state: &State) -> Vec3 {
        Vec3::from_column_slice(&state.q[self.starts[k]..][..3])
    }

    /// How fast the origin of its frame is.
    fn speed(&self, k: usize, state: &State) -> f64 {
        Vec3::from_column_slice(&state.v[self.starts[k]..][..3]).norm()
    }

    /// How far a body comes in a step of this length under this gravity, if nothing hits it.
    fn way(&self, k: usize, state: &State, (h, gravity): (f64, f64)) -> f64 {
        h * (self.speed(k, state) + h * gravity)
    }

    /// Refuses pairs without a gap. One that has none has a body that has none to a ball, or to another one of its shape.
    fn check_gaps(&self, mechanism: &Mechanism) -> Result<(), SystemError> {
        let n = self.shapes.len();
        let ball = Shape::sphere(1.0)
            .map_err(|e| SystemError::DoesNotFit { method: "a ball", why: e.to_string() })?;
        let meets = |a: usize, b: usize, shape: &Shape| {
            let mut rows = Rows::new(mechanism.dimension());
            let (one, other) = (&self.shapes[a], &self.shapes[b]);
            let name = format!("{}-{}", self.names[a.min(b)], self.names[a.max(b)]);
            mechanism.push_pair_gaps((one.0, &one.1), (other.0, shape), &name, &mut rows)
        };
        for a in 0..n {
            let (beside, own) = ((a + 1) % n, &self.shapes[a].1);
            if meets(a, beside, &ball).is_ok() && meets(a, beside, own).is_ok() {
                continue;
            }
            for b in (0..n).filter(|&b| b != a) {
                #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
                let touches = self.law(a as u32, b as u32).is_some();
                if let (true, Err(error)) = (touches, meets(a, b, &self.shapes[b].1)) {
                    return Err(no_gap(
                        &error.into(),
                        &self.names[a.min(b)],
                        &self.names[a.max(b)],
                    ));
                }
            }
        }
        Ok(())
    }
}
