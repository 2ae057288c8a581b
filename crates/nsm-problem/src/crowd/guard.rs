//! Steps of a crowd that count only where every body stayed within its room.
//!
//! What a body did within a step is bounded by what is known of it. Between two events it flies at about the speeds of the ends of the step. One that took part
//! in several events may have been faster in between, but had no more energy than all bodies together that events, joints and springs connected it to:
//! $$ |v| \le \sqrt{2 E / m} + h\\,|g|\\,\sqrt{M / m} , $$
//! and counts as twice as fast as the fastest body at least, whatever motors add.

use nsm_constraints::multibody::Mechanism;
use nsm_model::{Events, State, StepError, StepReport, Stepper, System};

use super::Crowd;
use super::roster::Roster;

/// A body is looked at as if it were faster than at the ends of the step by this.
const FASTER: f64 = 2.0;

/// A body left the room in which its neighbours are known.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{body}` comes so far in one step that its neighbours on the way cannot be found: take a smaller step"
)]
pub(super) struct Strayed {
    pub(super) body: String,
}

/// A stepper for the near pairs of a crowd.
pub(super) struct Guarded<'a> {
    crowd: &'a Crowd,
    system: &'a System,
    pub(super) roster: Roster,
    inner: Box<dyn Stepper<State = State> + 'a>,
    h: f64,
    gravity: f64,
    /// Node of every coordinate, and those that stand still.
    owner: Vec<usize>,
    still: Vec<bool>,
    /// Mass of every node that has one.
    mass: Vec<f64>,
    before: State,
    /// Whether the last step failed because a body left its room.
    pub(super) strayed: bool,
    /// Events of every node in the step in hand.
    counts: Vec<usize>,
    groups: Vec<usize>,
    energy: Vec<f64>,
    heavy: Vec<f64>,
    /// Bounds how far every body came in the last step.
    pub(super) ways: Vec<f64>,
}

impl<'a> Guarded<'a> {
    pub(super) fn new(
        crowd: &'a Crowd,
        (mechanism, system): (&Mechanism, &'a System),
        roster: Roster,
        inner: Box<dyn Stepper<State = State> + 'a>,
        start: &State,
    ) -> Self {
        // What belongs to no node counts as one more.
        let nodes = mechanism.nodes().count();
        let mut owner = vec![nodes; system.dimension()];
        let mut still = vec![false; nodes + 1];
        for (_, node) in mechanism.nodes() {
            owner[mechanism.coordinates(node)].fill(node.index());
            still[node.index()] = mechanism.stands(node);
        }
        let mut mass = vec![0.0; nodes + 1];
        let first: Vec<usize> =
            mechanism.nodes().map(|(_, n)| mechanism.coordinates(n).start).collect();
        for (i, j, value) in system.mass().entries() {
            if i == j && first.get(owner[i]) == Some(&i) {
                mass[owner[i]] = value;
            }
        }
        let g = mechanism.gravity().iter().map(|g| g * g).sum::<f64>().sqrt();
        Self {
            crowd,
            system,
            roster,
            h: inner.step_size(),
            inner,
            gravity: g,
            owner,
            still,
            mass,
            before: start.clone(),
            strayed: false,
            counts: vec![0; nodes + 1],
            groups: (0..=nodes).collect(),
            energy: vec![0.0; nodes + 1],
            heavy: vec![0.0; nodes + 1],
            ways: vec![0.0; crowd.shapes.len()],
        }
    }

    /// Whether the pairs that are known will do for the next step, as far as that can be foreseen.
    pub(super) fn is_fresh(&self, state: &State) -> bool {
        let way = |k| self.crowd.way(k, state, (self.h, self.gravity));
        self.roster.holds(self.crowd, state, way)
    }

    /// Bounds how far every body came in the step from `before` to `after`.
    fn bound(&mut self, after: &State) {
        let crowd = self.crowd;
        let node = |k: usize| crowd.shapes[k].0.index();
        self.counts.fill(0);
        let gaps = self.system.inequalities();
        let mut several = false;
        for event in self.inner.events().iter() {
            for &contact in event.contacts.iter().filter(|&&c| c < gaps.len()) {
                let mut last = usize::MAX;
                for &c in gaps.columns(contact) {
                    let owner = self.owner[c];
                    if owner != last && !self.still[owner] {
                        self.counts[owner] += 1;
                        several |= self.counts[owner] > 1;
                        last = owner;
                    }
                }
            }
        }
        if several {
            self.group();
        }
        let (h, g) = (self.h, self.gravity);
        let speed_of = |k: usize| self.crowd.speed(k, &self.before).max(self.crowd.speed(k, after));
        let fastest = (0..self.ways.len()).map(speed_of).fold(0.0, f64::max);
        for k in 0..self.ways.len() {
            let mut speed =
                FASTER * self.crowd.speed(k, &self.before).max(self.crowd.speed(k, after));
            let own = node(k);
            if several && self.counts[own] > 1 {
                let (root, m) = (root(&mut self.groups, own), self.mass[own]);
                let most =
                    (2.0 * self.energy[root] / m).sqrt() + h * g * (self.heavy[root] / m).sqrt();
                speed = speed.max(most).max(FASTER * fastest);
            }
            self.ways[k] = h * (speed + h * g);
        }
    }

    /// Joins what events of the step, joints, springs and loads connect; energy and mass of each group.
    fn group(&mut self) {
        (0..).zip(&mut self.groups).for_each(|(k, group)| *group = k);
        let (owner, still, groups) = (&self.owner, &self.still, &mut self.groups);
        let mut join = |columns: &[usize]| {
            let mut moving = columns.iter().map(|&c| owner[c]).filter(|&o| !still[o]);
            let Some(first) = moving.next() else { return };
            for other in moving {
                let (a, b) = (root(groups, first), root(groups, other));
                groups[a.max(b)] = a.min(b);
            }
        };
        let equalities = self.system.equalities();
        (0..equalities.len()).for_each(|i| join(equalities.columns(i)));
        let potential = self.system.potential();
        // What is linear, such as gravity, carries nothing from one body to another.
        let terms = (0..potential.len()).filter(|&i| !potential.field(i).is_affine());
        terms.for_each(|i| join(potential.columns(i)));
        self.system.forces().iter().for_each(|force| join(force.coordinates()));
        let gaps = self.system.inequalities();
        for event in self.inner.events().iter() {
            let contacts = event.contacts.iter().filter(|&&c| c < gaps.len());
            contacts.for_each(|&c| join(gaps.columns(c)));
        }
        self.energy.fill(0.0);
        self.heavy.fill(0.0);
        for (c, (p, v)) in self.before.p.iter().zip(&self.before.v).enumerate() {
            self.energy[root(&mut self.groups, self.owner[c])] += 0.5 * p * v;
        }
        for (node, m) in self.mass.iter().enumerate() {
            self.heavy[root(&mut self.groups, node)] += m;
        }
    }
}

fn root(groups: &mut [usize], mut k: usize) -> usize {
    while groups[k] != k {
        groups[k] = groups[groups[k]];
        k = groups[k];
    }
    k
}

impl Stepper for Guarded<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.strayed = false;
        self.before.clone_from(state);
        let report = self.inner.step(state)?;
        self.bound(state);
        if self.roster.holds(self.crowd, &self.before, |k| self.ways[k]) {
            return Ok(report);
        }
        self.strayed = true;
        state.clone_from(&self.before);
        let farthest = (0..self.ways.len()).max_by(|&a, &b| self.ways[a].total_cmp(&self.ways[b]));
        let body = farthest.map_or_else(String::new, |k| self.crowd.names[k].clone());
        Err(StepError::Method { t: self.before.t, source: Box::new(Strayed { body }) })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        self.inner.events()
    }

    fn equality_impulses(&self) -> Option<&[f64]> {
        self.inner.equality_impulses()
    }
}
