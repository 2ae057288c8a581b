//! Friction at the contacts of a velocity jump: one friction problem, with the exact cone.
//!
//! With the responses $y$ of the system to unit impulses along the normals and tangents $J$ of the contacts that take part,
//! $W = J\\,y$ and the velocities $u_f$ without contact impulses,
//! $$ \text{FC3D}\bigl(W,\\; u_f + \alpha E u_k,\\; \mu\bigr) \to r, \qquad E = \operatorname{diag}(e, e_T, e_T), $$
//! $u_k$ being the velocities with which the step began. $\alpha = 1$ unless the impulses would do more work than
//! $(1 - e_{\max}^2)$ of those of a plastic impact: then it is lowered until they do not.

use nsm_constraints::TangentRows;
use nsm_model::{ContactImpulse, ContactLaw, StepError, System, SystemError};
use nsm_solvers::friction::{
    Delassus, FrictionError, FrictionOptions, FrictionProblem, FrictionSolver,
};
use nsm_solvers::small::axpy;

use super::{Contacts, ROOM};
use crate::saddle::Saddle;

/// Halvings of the interval in which the limiter is looked for.
const HALVINGS: usize = 50;
/// Share of the energy exchanged below which a gain is rounding.
const ROUNDING: f64 = 1e-14;
/// Tangential velocities below this share of the speeds are those of a contact that sticks.
const STICKS: f64 = 1e-9;

/// Laws and tangents of all contacts, and the workspace of their friction problem.
#[derive(Debug)]
pub(crate) struct Rubbing<'a> {
    laws: Vec<ContactLaw>,
    tangents: &'a TangentRows,
    coefficients: Vec<f64>,
    /// Velocities of surfaces that move by themselves, as the contacts see them.
    drift: Vec<[f64; 2]>,
    /// Tangential velocities with which the step began, two for each contact.
    start: Vec<f64>,
    responses: Vec<f64>,
    full: Vec<f64>,
    w: Delassus,
    chosen: Vec<usize>,
    mu: Vec<f64>,
    /// Of the contacts that take part, three for each: velocities without impulses, at the start, rebounds, right-hand side, impulses.
    free: Vec<f64>,
    before: Vec<f64>,
    rebound: Vec<f64>,
    q: Vec<f64>,
    change: Vec<f64>,
    pub(crate) r: Vec<f64>,
    slips: Vec<bool>,
    problem: FrictionProblem,
    solver: FrictionSolver,
}

impl<'a> Rubbing<'a> {
    /// Nothing where no contact rubs.
    pub(crate) fn new(
        system: &'a System,
        restitution: &[f64],
        friction: Option<f64>,
        tangential_restitution: Option<f64>,
    ) -> Result<Option<Self>, SystemError> {
        let Some(mut laws) = system.frictional_laws(friction, tangential_restitution)? else {
            return Ok(None);
        };
        laws.iter_mut().zip(restitution).for_each(|(law, e)| law.restitution = *e);
        let (k, n) = (laws.len(), system.dimension());
        Ok(Some(Self {
            tangents: system.tangents(),
            coefficients: vec![0.0; system.tangents().entries()],
            drift: vec![[0.0; 2]; k],
            start: vec![0.0; 2 * k],
            responses: vec![0.0; 3 * k.min(ROOM) * n],
            full: Vec::with_capacity(9 * k.min(ROOM).pow(2)),
            w: Delassus::default(),
            chosen: Vec::with_capacity(k),
            mu: Vec::with_capacity(k),
            free: Vec::with_capacity(3 * k),
            before: Vec::with_capacity(3 * k),
            rebound: Vec::with_capacity(3 * k),
            q: Vec::with_capacity(3 * k),
            change: Vec::with_capacity(3 * k),
            r: Vec::with_capacity(3 * k),
            slips: Vec::with_capacity(k),
            problem: FrictionProblem::default(),
            solver: FrictionSolver::default(),
            laws,
        }))
    }

    pub(crate) fn linearise(&mut self, q: &[f64], t: f64) {
        for i in 0..self.laws.len() {
            self.tangents.coefficients(i, q, t, &mut self.coefficients);
            self.drift[i] = self.tangents.drift_of(i, q, t);
        }
    }

    /// Takes the velocities with which the step begins.
    pub(crate) fn begin(&mut self, v: &[f64]) {
        for i in 0..self.laws.len() {
            for k in 0..2 {
                self.start[2 * i + k] = self.slip(i, k, v);
            }
        }
    }

    /// Tangential velocity `k` of contact `i`, as its surfaces see each other.
    fn slip(&self, i: usize, k: usize, v: &[f64]) -> f64 {
        self.along(i, k, v) + self.drift[i][k]
    }

    /// The same with a surface that does not move by itself: what impulses act along.
    fn along(&self, i: usize, k: usize, x: &[f64]) -> f64 {
        let columns = self.tangents.columns(i, k).iter();
        columns.zip(&self.coefficients[self.tangents.span(i, k)]).map(|(&c, a)| a * x[c]).sum()
    }
}

impl Contacts<'_> {
    /// Whether any of the contacts that take part rubs.
    pub(crate) fn rubs(&self) -> bool {
        let active = &self.active;
        self.rubbing.as_ref().is_some_and(|r| active.iter().any(|&i| r.laws[i].friction > 0.0))
    }

    /// As [`resolve`](Self::resolve) with friction; `start` are the velocities between which and the new ones the impulses do their work.
    pub(super) fn rub(
        &mut self,
        saddle: &mut Saddle,
        w: f64,
        t: f64,
        start: Option<&[f64]>,
        x: &mut [f64],
    ) -> Result<usize, StepError> {
        let Some(mut rub) = self.rubbing.take() else { return Ok(0) };
        let outcome = self.rub_with(&mut rub, saddle, w, t, start, x);
        self.rubbing = Some(rub);
        outcome
    }

    fn rub_with(
        &mut self,
        rub: &mut Rubbing<'_>,
        saddle: &mut Saddle,
        w: f64,
        t: f64,
        start: Option<&[f64]>,
        x: &mut [f64],
    ) -> Result<usize, StepError> {
        let (n, k) = (x.len(), self.active.len());
        for vector in [&mut rub.free, &mut rub.before, &mut rub.rebound, &mut rub.mu] {
            vector.clear();
        }
        if rub.responses.len() < 3 * k * n {
            rub.responses.resize(3 * k * n, 0.0);
        }
        let mut largest = 0.0_f64;
        for (j, &i) in self.active.iter().enumerate() {
            let law = rub.laws[i];
            let rebound = law.restitution * self.approach[j];
            // A contact that rests or separates reverses nothing.
            let strikes = self.approach[j] < -STICKS * self.speed(i);
            let tangential = if strikes { law.tangential_restitution } else { 0.0 };
            if strikes {
                largest = largest.max(law.restitution);
            }
            largest = largest.max(tangential);
            rub.mu.push(law.friction);
            rub.free.extend([self.rate[j], rub.slip(i, 0, x), rub.slip(i, 1, x)]);
            let start = start.unwrap_or(x);
            rub.before.extend([self.along(i, start), rub.slip(i, 0, start), rub.slip(i, 1, start)]);
            let [first, second] = [0, 1].map(|a| tangential * rub.start[2 * i + a]);
            rub.rebound.extend([rebound, first, second]);
            for a in 0..3 {
                let (r, g) = saddle.rhs();
                r.fill(0.0);
                g.fill(0.0);
                if a == 0 {
                    self.gaps.add_row(i, &self.gradients, w, r);
                } else {
                    let span = rub.tangents.span(i, a - 1);
                    let columns = rub.tangents.columns(i, a - 1).iter();
                    columns.zip(&rub.coefficients[span]).for_each(|(&c, x)| r[c] += w * x);
                }
                saddle.solve().map_err(|_| StepError::Singular {
                    t,
                    what: "the response to contact impulses",
                    culprit: self.gaps.name(i).to_owned(),
                })?;
                let (response, _) = saddle.rhs();
                let row = 3 * j + a;
                rub.responses[row * n..(row + 1) * n].copy_from_slice(response);
            }
        }
        let m = 3 * k;
        rub.full.clear();
        rub.full.resize(m * m, 0.0);
        for (j, &i) in self.active.iter().enumerate() {
            for b in 0..m {
                let response = &rub.responses[b * n..(b + 1) * n];
                rub.full[3 * j * m + b] = self.along(i, response);
                rub.full[(3 * j + 1) * m + b] = rub.along(i, 0, response);
                rub.full[(3 * j + 2) * m + b] = rub.along(i, 1, response);
            }
        }
        rub.w.set_full(k, &rub.full);
        rub.chosen.clear();
        rub.chosen.extend(0..k);
        rub.r.clear();
        rub.r.resize(m, 0.0);
        let failed = |error: FrictionError| {
            let (contact, residual) = error.culprit();
            let contact = self.active.get(contact).map_or("", |&i| self.gaps.name(i)).to_owned();
            StepError::Friction { t, contact, residual }
        };
        rub.limited(largest).map_err(failed)?;
        let speed = self.speeds.iter().fold(0.0_f64, |a, v| a.max(*v));
        rub.slips.clear();
        for j in 0..k {
            let u = |a: usize| rub.free[3 * j + a] + rub.change[3 * j + a];
            rub.slips.push(u(1).hypot(u(2)) > STICKS * speed);
            self.lambda[j] = rub.r[3 * j];
        }
        for (row, r) in rub.r.iter().enumerate() {
            axpy(*r, &rub.responses[row * n..(row + 1) * n], x);
        }
        Ok(1)
    }

    /// Adds $J_T^\top r_T$ of the contacts that take part.
    pub(crate) fn drag(&self, out: &mut [f64]) {
        let Some(rub) = &self.rubbing else { return };
        for (j, &i) in self.active.iter().enumerate() {
            for k in 0..2 {
                let r = rub.r[3 * j + 1 + k];
                let columns = rub.tangents.columns(i, k).iter();
                let coefficients = &rub.coefficients[rub.tangents.span(i, k)];
                columns.zip(coefficients).for_each(|(&c, a)| out[c] += a * r);
            }
        }
    }

    /// What each contact with an impulse did, `sum` being the sum of the velocities before and after.
    pub(crate) fn booked<'b>(
        &'b self,
        sum: &'b [f64],
    ) -> impl Iterator<Item = ContactImpulse> + 'b {
        let rub = self.rubbing.as_ref();
        let pressed = (0..self.active.len()).filter(|&j| self.lambda[j] > 0.0);
        pressed.map(move |j| {
            let (contact, normal) = (self.active[j], self.lambda[j]);
            let tangential = rub.map_or([0.0; 2], |rub| [rub.r[3 * j + 1], rub.r[3 * j + 2]]);
            let rubbed: f64 = rub.map_or(0.0, |rub| {
                (0..2).map(|k| tangential[k] * rub.along(contact, k, sum)).sum()
            });
            let work = 0.5 * (normal * self.along(contact, sum) + rubbed);
            let slips = rub.is_some_and(|rub| rub.slips[j]);
            let rubs = rub.is_some_and(|rub| rub.mu[j] > 0.0);
            ContactImpulse { contact, normal, tangential, rubs, slips, work, touch: None }
        })
    }
}

impl Rubbing<'_> {
    /// Finds the impulses, with rebounds lowered together where they would do too much work.
    fn limited(&mut self, largest: f64) -> Result<(), FrictionError> {
        if largest == 0.0 {
            return self.attempt(1.0).map(drop);
        }
        let plastic = self.attempt(0.0)?.0;
        let target = ((1.0 - largest * largest) * plastic).max(plastic);
        let fits = |(work, exchanged): (f64, f64)| work <= target + ROUNDING * exchanged;
        if self.attempt(1.0).is_ok_and(fits) {
            return Ok(());
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.attempt(middle).is_ok_and(fits) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.attempt(low).map(drop)
    }

    /// The impulses with rebounds times `alpha`; their work, and what it is made of.
    fn attempt(&mut self, alpha: f64) -> Result<(f64, f64), FrictionError> {
        self.q.clear();
        self.q.extend(self.free.iter().zip(&self.rebound).map(|(u, b)| u + alpha * b));
        self.problem.assemble(&self.w, &self.chosen, &self.q, &self.mu)?;
        let options = FrictionOptions {
            tolerance: 1e-13,
            enough: 1e-10,
            acceptable: 1e-6,
            patient: false,
            ..FrictionOptions::default()
        };
        let _ = self.solver.solve(&self.problem, &mut self.r, &options)?;
        self.change.clear();
        self.change.resize(self.r.len(), 0.0);
        self.w.add_product(&self.r, &mut self.change);
        let (mut work, mut exchanged) = (0.0, 0.0);
        for (k, r) in self.r.iter().enumerate() {
            let (before, after) = (self.before[k], self.free[k] + self.change[k]);
            work += 0.5 * r * (before + after);
            exchanged += 0.5 * (r * before).abs() + 0.5 * (r * after).abs();
        }
        Ok((work, exchanged))
    }
}
