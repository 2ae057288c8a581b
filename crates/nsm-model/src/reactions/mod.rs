//! The forces of constraints at an instant, from the state alone: the same for every method.
//!
//! $$ M\dot v = -\nabla V + f + F^\top\mu + G^\top\lambda, \qquad F\dot v = -c_f, \qquad 0 \le \lambda \perp G\dot v + c_g \ge 0, $$
//! $c$ what the rows' second derivatives by time are without accelerations. Equalities are solved with the contacts that are closed and at rest: the answer
//! to each contact is one more solve, and what they carry a small complementarity problem; contacts that rub and dry friction on freedoms: see `rubbing.rs`. Of redundant
//! equalities one independent set carries the load and the others have zero.

mod impulse;
mod rubbing;

use nsm_constraints::{Rows, Switching};
use nsm_solvers::LinearError;
use nsm_solvers::lcp::{Matrix, solve};

use crate::{ConstrainedMass, State, System, SystemError};

/// A contact is closed where its gap is below this share of the largest coordinate, and at rest where its rate is below this share
/// of the largest velocity.
const CLOSED: f64 = 1e-7;

/// A contact that moves less than this share of what it would without equalities is held by these alone.
const HELD: f64 = 1e-11;

/// Solves for the forces of constraints.
#[derive(Debug)]
pub struct Reactions<'a> {
    system: &'a System,
    saddle: ConstrainedMass,
    gradients: Vec<f64>,
    gap_gradients: Vec<f64>,
    scratch: Vec<f64>,
    drive: Vec<f64>,
    bend: Vec<f64>,
    gap_bend: Vec<f64>,
    acceleration: Vec<f64>,
    forces: Vec<f64>,
    contacts: Vec<f64>,
    /// What dry friction does on its freedoms.
    dry: Vec<f64>,
    /// Friction of every contact.
    friction: Vec<f64>,
    redundant: bool,
}

/// The answer of a system to a push: accelerations and forces of the equalities.
type Answer = (Vec<f64>, Vec<f64>);

impl<'a> Reactions<'a> {
    /// Workspace for a system of constant mass whose constraints do not switch.
    ///
    /// # Errors
    /// Another system, or a pattern too large.
    pub fn new(system: &'a System) -> Result<Self, SystemError> {
        system.require_constant_mass("the reactions of constraints")?;
        if system.switching().is_some_and(|s| !Switching::is_empty(s)) {
            system.require_no_switching("the reactions of constraints")?;
        }
        let (rows, gaps) = (system.equalities(), system.inequalities());
        let forces = system.forces().iter().map(|f| f.coordinates().len()).max().unwrap_or(0);
        let block = |rows: &Rows| rows.largest_block().pow(2);
        let scratch = block(rows).max(block(gaps)).max(forces).max(block(system.potential()));
        Ok(Self {
            system,
            saddle: ConstrainedMass::new(system.mass(), &[rows])?,
            gradients: vec![0.0; rows.entries()],
            gap_gradients: vec![0.0; gaps.entries()],
            scratch: vec![0.0; scratch],
            drive: vec![0.0; system.dimension()],
            bend: vec![0.0; rows.len()],
            gap_bend: vec![0.0; gaps.len()],
            acceleration: vec![0.0; system.dimension()],
            forces: vec![0.0; rows.len()],
            contacts: vec![0.0; gaps.len()],
            dry: vec![0.0; system.dry().len()],
            friction: system.contact_laws().map(|law| law.friction).collect(),
            redundant: false,
        })
    }

    /// With this friction at all contacts but stops, in place of what the system says.
    ///
    /// # Errors
    /// Friction at a gap without tangential velocities, or out of range.
    pub fn with_friction(mut self, friction: f64) -> Result<Self, SystemError> {
        let laws = self.system.frictional_laws(Some(friction), None)?;
        self.friction.fill(0.0);
        for (friction, law) in self.friction.iter_mut().zip(laws.iter().flatten()) {
            *friction = law.friction;
        }
        Ok(self)
    }

    /// Solves at a state; whether it could be solved. Afterwards [`forces`](Self::forces), [`contacts`](Self::contacts)
    /// and [`acceleration`](Self::acceleration) are those of the state, or NaN.
    pub fn solve(&mut self, state: &State) -> bool {
        let done = self.attempt(state).is_some();
        if !done {
            self.forces.fill(f64::NAN);
            self.contacts.fill(f64::NAN);
            self.dry.fill(f64::NAN);
            self.acceleration.fill(f64::NAN);
        }
        done
    }

    /// The force of each equality, positive along its gradient.
    pub fn forces(&self) -> &[f64] {
        &self.forces
    }

    /// The force of each contact.
    pub fn contacts(&self) -> &[f64] {
        &self.contacts
    }

    /// What each dry friction does on its freedom, positive along the rate.
    pub fn dry(&self) -> &[f64] {
        &self.dry
    }

    /// The accelerations.
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// Whether equalities were redundant, so that their forces are one choice of many.
    pub fn is_redundant(&self) -> bool {
        self.redundant
    }

    fn attempt(&mut self, state: &State) -> Option<()> {
        let State { t, q, v, .. } = state;
        let system = self.system;
        let (rows, gaps) = (system.equalities(), system.inequalities());
        self.drive.fill(0.0);
        system.potential().add_sum_gradient(q, *t, &mut self.scratch, &mut self.drive);
        self.drive.iter_mut().for_each(|x| *x = -*x);
        for force in system.forces() {
            let columns = force.coordinates();
            let block = &mut self.scratch[..columns.len()];
            force.force(q, v, *t, block);
            columns.iter().zip(block).for_each(|(&c, f)| self.drive[c] += *f);
        }
        rows.gradients(q, *t, &mut self.gradients);
        rows.curvatures(q, *t, v, &mut self.scratch, &mut self.bend);
        self.bend.iter_mut().for_each(|c| *c = -*c);
        self.saddle.factorise(&self.gradients).ok()?;
        self.redundant = !self.saddle.redundant().is_empty();
        self.saddle
            .solve(&self.drive, &self.bend, &mut self.acceleration, &mut self.forces)
            .ok()?;
        self.contacts.fill(0.0);
        self.dry.fill(0.0);
        let closed = self.closed(state);
        for &i in &closed {
            self.gap_bend[i] = gaps.curvature(i, q, *t, v, &mut self.scratch);
        }
        let rubs = closed.iter().any(|&i| self.friction[i] > 0.0);
        if rubs || !system.dry().is_empty() {
            self.rub(state, &closed)?;
        } else if !closed.is_empty() {
            self.press(&closed)?;
        }
        // The saddle point has the constraints on the other side of the equations.
        self.forces.iter_mut().for_each(|mu| *mu = -*mu);
        self.forces.iter().chain(&self.acceleration).all(|x| x.is_finite()).then_some(())
    }

    /// Contacts that are closed and at rest, with their gradients evaluated.
    fn closed(&mut self, state: &State) -> Vec<usize> {
        let State { t, q, v, .. } = state;
        let gaps = self.system.inequalities();
        if gaps.is_empty() {
            return Vec::new();
        }
        gaps.gradients(q, *t, &mut self.gap_gradients);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let (size, speed) = (largest(q), largest(v).max(largest(&self.acceleration)));
        let closed = |&i: &usize| {
            let gap = gaps.value(i, q, *t);
            let rate = gaps.row_dot(i, &self.gap_gradients, v) + gaps.field(i).rate(q, *t);
            gap <= CLOSED * size && rate.abs() <= CLOSED * speed
        };
        (0..gaps.len()).filter(closed).collect()
    }

    fn press(&mut self, closed: &[usize]) -> Option<()> {
        let gaps = self.system.inequalities();
        let mut live = Vec::with_capacity(closed.len());
        for &i in closed {
            let mut push = vec![0.0; self.acceleration.len()];
            gaps.add_row(i, &self.gap_gradients, 1.0, &mut push);
            if let Some(answer) = self.answer(&push).ok()? {
                live.push((i, answer));
            }
        }
        let k = live.len();
        let (mut matrix, mut free) = (vec![0.0; k * k], vec![0.0; k]);
        for (row, &(i, _)) in live.iter().enumerate() {
            for (column, (_, (a, _))) in live.iter().enumerate() {
                matrix[row * k + column] = gaps.row_dot(i, &self.gap_gradients, a);
            }
            free[row] = gaps.row_dot(i, &self.gap_gradients, &self.acceleration) + self.gap_bend[i];
        }
        let solution = solve(Matrix::dense(k, &matrix).ok()?, &free).ok()?;
        for ((i, answer), force) in live.iter().zip(&solution.z) {
            self.contacts[*i] = *force;
            self.add(*force, answer);
        }
        Some(())
    }

    /// What a push does; nothing if the equalities hold against it.
    fn answer(&mut self, push: &[f64]) -> Result<Option<Answer>, LinearError> {
        let (answer, moves) = self.response(push)?;
        Ok(moves.then_some(answer))
    }

    /// What a push does, and whether it moves anything.
    fn response(&mut self, push: &[f64]) -> Result<(Answer, bool), LinearError> {
        let (mut a, mut mu) = (vec![0.0; push.len()], vec![0.0; self.forces.len()]);
        let none = vec![0.0; self.forces.len()];
        self.system.mass().solve(push, &mut a);
        let dot = |a: &[f64]| push.iter().zip(a).map(|(p, a)| p * a).sum::<f64>();
        let alone = dot(&a);
        self.saddle.solve(push, &none, &mut a, &mut mu)?;
        let moves = dot(&a) > HELD * alone;
        Ok(((a, mu), moves))
    }

    fn add(&mut self, force: f64, (a, mu): &Answer) {
        self.acceleration.iter_mut().zip(a).for_each(|(x, a)| *x += force * a);
        self.forces.iter_mut().zip(mu).for_each(|(x, mu)| *x += force * mu);
    }
}
