//! The work of everything that no potential gives, element by element, so that $E - \sum W$ stays what it is.
//!
//! Over a step from $(q_0, t_0)$ to $(q_1, t_1)$, with $\Delta = q_1 - q_0$, the middle $m$ and $h = t_1 - t_0$:
//! - a force does $f(m, \Delta/h, t_m)\cdot\Delta$;
//! - a term of the potential that depends on time does $V(q_1, t_1) - V(q_1, t_m) + V(q_0, t_m) - V(q_0, t_0)$;
//! - an equality that depends on time does $-\lambda$ times the same difference of its value: $\lambda$ the force of the
//!   method over the step where it knows one, else the mean of those of both ends ([`Reactions`]); and in an impact $-\Lambda\\,\partial_t f$, $\Lambda$ its
//!   answer to the impulses of the contacts.
//!
//! Energy-momentum steps do exactly this work; for other methods it is of second order like their motion.

use nsm_constraints::Rows;

use crate::{Events, Reactions, State, System};

/// Books work from state to state.
#[derive(Debug)]
pub(crate) struct WorkBook<'a> {
    system: &'a System,
    /// Rows of the potential and of the equalities that depend on time.
    terms: Vec<usize>,
    driven: Vec<usize>,
    reactions: Option<Reactions<'a>>,
    before: Option<State>,
    /// Forces of the driven equalities at the last state, and those that the method told of.
    last: Vec<f64>,
    told: Option<Vec<f64>>,
    middle: Vec<f64>,
    velocity: Vec<f64>,
    block: Vec<f64>,
    pub(crate) work: Vec<f64>,
}

/// What a [`WorkBook`] has booked, and from where it goes on.
#[derive(Clone, Debug)]
pub(crate) struct WorkMemory {
    before: Option<State>,
    last: Vec<f64>,
    told: Option<Vec<f64>>,
    work: Vec<f64>,
}

impl<'a> WorkBook<'a> {
    pub(crate) fn new(system: &'a System) -> Self {
        let moving = |rows: &Rows| {
            (0..rows.len()).filter(|&i| rows.field(i).is_rheonomic()).collect::<Vec<_>>()
        };
        let (terms, driven) = (moving(system.potential()), moving(system.equalities()));
        let n = system.dimension();
        let largest = system.forces().iter().map(|f| f.coordinates().len()).max().unwrap_or(0);
        let reactions = if driven.is_empty() { None } else { Reactions::new(system).ok() };
        Self {
            work: vec![0.0; system.forces().len() + terms.len() + driven.len()],
            last: vec![0.0; driven.len()],
            terms,
            driven,
            reactions,
            before: None,
            told: None,
            middle: vec![0.0; n],
            velocity: vec![0.0; n],
            block: vec![0.0; largest],
            system,
        }
    }

    /// The account so far.
    pub(crate) fn memory(&self) -> WorkMemory {
        WorkMemory {
            before: self.before.clone(),
            last: self.last.clone(),
            told: self.told.clone(),
            work: self.work.clone(),
        }
    }

    /// Goes on with the account of a system with the same forces, potential and equalities.
    pub(crate) fn follow(&mut self, memory: WorkMemory) {
        let WorkMemory { before, last, told, work } = memory;
        (self.before, self.last, self.told, self.work) = (before, last, told, work);
    }

    /// Names of what does work, in the order of `work`.
    pub(crate) fn names(&self) -> Vec<String> {
        let named = |rows: &Rows, list: &[usize]| {
            list.iter().map(|&i| rows.name(i).to_owned()).collect::<Vec<_>>()
        };
        let mut names = self.system.force_names().to_vec();
        names.extend(named(self.system.potential(), &self.terms));
        names.extend(named(self.system.equalities(), &self.driven));
        names
    }

    /// Takes the impulses of the equalities that the method knows of the step to this state, or else books what they did in its impacts.
    pub(crate) fn tell(&mut self, state: &State, impulses: Option<&[f64]>, events: &Events) {
        if let (None, Some(reactions)) = (impulses, &mut self.reactions) {
            let first = self.work.len() - self.driven.len();
            for event in events.iter() {
                let Some(impulses) = reactions.impulses(state, &event) else { continue };
                for (work, &i) in self.work[first..].iter_mut().zip(&self.driven) {
                    *work -=
                        impulses[i] * self.system.equalities().field(i).rate(&state.q, event.t);
                }
            }
        }
        match (impulses, &mut self.told) {
            (Some(impulses), Some(told)) if !self.driven.is_empty() => {
                told.copy_from_slice(impulses);
            }
            (Some(impulses), None) if !self.driven.is_empty() => {
                self.told = Some(impulses.to_vec());
            }
            _ => self.told = None,
        }
    }

    /// Books the work from the last state to this one.
    pub(crate) fn book(&mut self, state: &State) {
        if self.work.is_empty() {
            return;
        }
        let mut before = match self.before.take() {
            Some(before) if before.t < state.t => before,
            // A run begins.
            other => {
                self.work.fill(0.0);
                self.pull(state);
                let mut kept = other.unwrap_or_else(|| state.clone());
                kept.clone_from(state);
                self.before = Some(kept);
                return;
            }
        };
        let (t, h) = (before.t, state.t - before.t);
        for (k, (a, b)) in before.q.iter().zip(&state.q).enumerate() {
            self.middle[k] = 0.5 * (a + b);
            self.velocity[k] = (b - a) / h;
        }
        // Turns that were counted at the end of the step rest within it.
        for &(_, at) in self.system.turns() {
            (self.middle[at], self.velocity[at]) = (before.q[at], 0.0);
        }
        let middle = t + 0.5 * h;
        let forces = self.system.forces();
        for (work, force) in self.work.iter_mut().zip(forces) {
            let columns = force.coordinates();
            let block = &mut self.block[..columns.len()];
            force.force(&self.middle, &self.velocity, middle, block);
            let power: f64 = columns.iter().zip(block).map(|(&c, f)| *f * self.velocity[c]).sum();
            *work += h * power;
        }
        let change = |rows: &Rows, i: usize| {
            let at = |q: &[f64], t: f64| rows.value(i, q, t);
            at(&state.q, state.t) - at(&state.q, middle) + at(&before.q, middle) - at(&before.q, t)
        };
        let (_, rest) = self.work.split_at_mut(forces.len());
        let (terms, driven) = rest.split_at_mut(self.terms.len());
        for (work, &i) in terms.iter_mut().zip(&self.terms) {
            *work += change(self.system.potential(), i);
        }
        let changes = |i: usize| change(self.system.equalities(), i);
        if let Some(told) = &self.told {
            for (work, &i) in driven.iter_mut().zip(&self.driven) {
                *work -= told[i] / h * changes(i);
            }
        } else if let Some(reactions) = &mut self.reactions {
            reactions.solve(state);
            for ((work, &i), last) in driven.iter_mut().zip(&self.driven).zip(&mut self.last) {
                let now = reactions.forces()[i];
                *work -= 0.5 * (*last + now) * changes(i);
                *last = now;
            }
        }
        before.clone_from(state);
        self.before = Some(before);
    }

    fn pull(&mut self, state: &State) {
        if let Some(reactions) = &mut self.reactions {
            reactions.solve(state);
            for (last, &i) in self.last.iter_mut().zip(&self.driven) {
                *last = reactions.forces()[i];
            }
        }
    }
}
