//! Impacts at one configuration: Newton's law in rounds over the contacts that approach.
//!
//! With rates $u = G^\top W p$ of the touching contacts, every round takes those that approach, and all that are to come to rest,
//! and goes to the nearest momentum at which each opens at $c_i = -e_i \min(u_i, 0)$ or faster ([`LeastImpulses`]):
//! $$ \Delta T = \tfrac12 \textstyle\sum_i \lambda_i (u_i + c_i) \le 0 $$
//! wherever nothing separates before. For $e = 1$ this is the generalized reflection of \[KP\] Algorithm 2. Should a separating contact
//! that is brought to rest give energy back, the restitutions of the round are lowered together until none is gained.
//!
//! $W$ is the metric of the numerical Hamiltonian ([`ShadowMetric`]) where all that bounces is free of constraints and the mass is constant, else $M^{-1}$.

use nsm_model::{ContactLaw, Mass, StepError, System, SystemError};
use nsm_reflect::{LeastImpulses, Metric, Quadrature, ReflectError, ShadowMetric};

use super::flow::Flow;
use super::friction::named;
use super::point::Point;
use super::thresholds::Thresholds;

/// Halvings of the restitutions' common factor.
const HALVINGS: usize = 60;

/// Workspace of impacts; the momentum after the last one is in `p`.
#[derive(Debug)]
pub(crate) struct Impact {
    shadow: Option<ShadowMetric>,
    /// Where the metric was renewed last.
    shadow_at: Vec<f64>,
    shadow_time: f64,
    pub(crate) p: Vec<f64>,
    /// Impulse of every contact in the last impact, and the kinetic energy that it added (negative: took).
    pub(crate) impulse: Vec<f64>,
    pub(crate) work: Vec<f64>,
    /// Tangential impulse of every contact, and whether it slips after.
    pub(crate) tangential: Vec<[f64; 2]>,
    pub(crate) slips: Vec<bool>,
    laws: Vec<ContactLaw>,
    u: Vec<f64>,
    placed: Vec<usize>,
    chosen: Vec<usize>,
    f: Vec<f64>,
    v: Vec<f64>,
    rate: Vec<f64>,
    aim: Vec<f64>,
    b: Vec<f64>,
    lambda: Vec<f64>,
}

impl Impact {
    pub(crate) fn new(
        system: &System,
        quadrature: Quadrature,
        h: f64,
        shadow: bool,
    ) -> Result<Self, SystemError> {
        let (n, m) = (system.dimension(), system.inequalities().len());
        let curved = !system.potential().hessian_entries().is_empty();
        let constant = system.variable_mass().is_none();
        let fits = shadow && constant && curved && system.equalities().is_empty() && m > 0;
        let shadow = if fits {
            let metric = ShadowMetric::new(system, quadrature, h);
            Some(metric.map_err(|error| SystemError::DoesNotFit {
                method: "the metric of the numerical Hamiltonian",
                why: error.to_string(),
            })?)
        } else {
            None
        };
        Ok(Self {
            shadow,
            shadow_at: vec![f64::NAN; n],
            shadow_time: f64::NAN,
            p: vec![0.0; n],
            impulse: vec![0.0; m],
            work: vec![0.0; m],
            tangential: vec![[0.0; 2]; m],
            slips: vec![false; m],
            laws: Vec::with_capacity(m),
            u: Vec::with_capacity(3 * m),
            placed: Vec::with_capacity(m),
            chosen: Vec::with_capacity(m),
            f: vec![0.0; system.equalities().entries()],
            v: vec![0.0; n],
            rate: Vec::with_capacity(m),
            aim: Vec::with_capacity(m),
            b: Vec::with_capacity(m),
            lambda: Vec::with_capacity(m),
        })
    }

    /// Whether a contact approaches, in both metrics.
    pub(crate) fn approaches(
        &mut self,
        system: &System,
        at: &Point,
        i: usize,
        thresholds: &Thresholds,
    ) -> bool {
        if at.rate[i] >= -thresholds.rate[i] {
            return false;
        }
        self.renew(system, at);
        let Some(shadow) = &self.shadow else { return true };
        let rows = system.inequalities();
        let gradient = &at.gradient[rows.span(i)];
        let terms = rows.columns(i).iter().zip(gradient);
        let along: f64 = terms.map(|(&c, g)| g * shadow.metric().apply_row(c, &at.p)).sum();
        let field = rows.field(i);
        let rate = if field.is_rheonomic() { along + field.rate(&at.q, at.t) } else { along };
        rate < -thresholds.rate[i]
    }

    fn renew(&mut self, system: &System, at: &Point) {
        if let Some(shadow) = &mut self.shadow
            && (self.shadow_time != at.t || self.shadow_at != at.q)
        {
            shadow.renew(system, &at.q, at.t);
            self.shadow_at.copy_from_slice(&at.q);
            self.shadow_time = at.t;
        }
    }

    /// Resolves the impact of the touching contacts with restitutions `e` (of every contact); `held` ones slide. Returns
    /// the rounds.
    pub(crate) fn resolve(
        &mut self,
        flow: &mut Flow<'_>,
        at: &Point,
        (touching, held): (&[usize], &[usize]),
        e: &[f64],
        thresholds: &Thresholds,
    ) -> Result<usize, StepError> {
        let system = flow.system;
        system.equalities().gradients(&at.q, at.t, &mut self.f);
        if flow.rubs(touching) {
            return self.rub(flow, at, touching, e, thresholds);
        }
        if flow.is_crowd(touching) && touching.iter().all(|&i| e[i] == 0.0) {
            return self.stop(flow, at, touching, thresholds);
        }
        self.placed.clear();
        self.placed.extend(touching.iter().filter(|i| !held.contains(i)));
        let bounces = self.placed.iter().all(|&i| e[i] > 0.0);
        let Flow { least, mass, .. } = flow;
        let (mass, metric) = mass.with_metric(&at.q, at.t)?;
        if self.shadow.is_some() && bounces && !self.placed.is_empty() {
            self.renew(system, at);
            if let Some(shadow) = self.shadow.take() {
                let rounds = self.rounds((system, mass, least), at, shadow.metric(), e, thresholds);
                self.shadow = Some(shadow);
                if let Some(rounds) = rounds? {
                    mass.solve(&self.p, &mut self.v);
                    let rows = system.inequalities();
                    let keeps = |&i: &usize| {
                        rows.velocity(i, (&at.q, at.t), &at.gradient, &self.v)
                            >= -thresholds.rate[i]
                    };
                    if held.iter().all(keeps) {
                        return Ok(rounds);
                    }
                }
            }
        }
        self.placed.clear();
        self.placed.extend_from_slice(touching);
        self.rounds((system, mass, least), at, metric, e, thresholds)?.ok_or_else(|| {
            StepError::Singular {
                t: at.t,
                what: "the impulse metric",
                culprit: name(system, self.placed.first()),
            }
        })
    }

    /// The impact of a crowd in which nothing bounces: one projection in $M^{-1}$.
    fn stop(
        &mut self,
        flow: &mut Flow<'_>,
        at: &Point,
        touching: &[usize],
        thresholds: &Thresholds,
    ) -> Result<usize, StepError> {
        let rows = flow.system.inequalities();
        flow.mass.at(&at.q, at.t)?;
        self.p.copy_from_slice(&at.p);
        self.impulse.fill(0.0);
        self.work.fill(0.0);
        let sets = (touching, false);
        let impulses = flow.crowd_impact(sets, at.t, &at.gradient, thresholds, &mut self.p)?;
        for (&i, impulse) in touching.iter().zip(impulses) {
            self.impulse[i] = *impulse;
        }
        flow.mass.last().solve(&self.p, &mut self.v);
        let noise = flow.noise();
        let mut worst = (0.0, None);
        for i in touching {
            let rate = rows.row_dot(*i, &at.gradient, &self.v);
            self.work[*i] = 0.5 * self.impulse[*i] * (at.rate[*i] + rate);
            let sinks = -rate - thresholds.rate[*i].max(noise);
            if sinks > worst.0 {
                worst = (sinks, Some(i));
            }
        }
        if worst.1.is_some() {
            let contact = name(flow.system, worst.1);
            return Err(StepError::Impact { t: at.t, rounds: 1, residual: worst.0, contact });
        }
        Ok(1)
    }

    /// The same with friction, in $M^{-1}$.
    fn rub(
        &mut self,
        flow: &mut Flow<'_>,
        at: &Point,
        touching: &[usize],
        e: &[f64],
        thresholds: &Thresholds,
    ) -> Result<usize, StepError> {
        let (system, t) = (flow.system, at.t);
        let Some(friction) = &mut flow.friction else { return Ok(0) };
        let (_, metric) = flow.mass.with_metric(&at.q, t)?;
        friction
            .rows
            .place(system, metric, (&at.q, t), (&at.gradient, &self.f), touching)
            .map_err(|error| named(system, t, error))?;
        friction.rows.velocities(&at.v, &mut self.u);
        self.laws.clear();
        self.b.clear();
        for &i in touching {
            let law = friction.laws[i];
            // A contact that lands reverses nothing.
            let lands = e[i] == 0.0 && law.restitution > 0.0;
            let tangential_restitution = if lands { 0.0 } else { law.tangential_restitution };
            self.laws.push(ContactLaw { restitution: e[i], tangential_restitution, ..law });
            self.b.push(thresholds.rate[i]);
        }
        let w = friction.rows.delassus();
        let outcome = friction.impact.resolve(w, &self.u, &self.laws, &self.b);
        let certificate = outcome.map_err(|error| named(system, t, error.of(touching)))?;
        self.p.copy_from_slice(&at.p);
        let impulses = friction.impact.impulses();
        friction.rows.push(impulses, &mut self.p);
        self.impulse.fill(0.0);
        for (slot, &i) in touching.iter().enumerate() {
            self.impulse[i] = impulses[3 * slot];
            self.tangential[i] = [impulses[3 * slot + 1], impulses[3 * slot + 2]];
            let given = friction.rows.surface_work(slot, &impulses[3 * slot..3 * slot + 3]);
            self.work[i] = friction.impact.work()[slot] + given;
            self.slips[i] = friction.impact.slips()[slot];
        }
        Ok(certificate.rounds)
    }

    /// Rounds over the placed contacts in a metric; nothing if that is not positive along one of them.
    fn rounds(
        &mut self,
        (system, mass, least): (&System, &Mass, &mut LeastImpulses),
        at: &Point,
        metric: &Metric,
        e: &[f64],
        thresholds: &Thresholds,
    ) -> Result<Option<usize>, StepError> {
        let rows = system.inequalities();
        let failed = |error: ReflectError| StepError::Method { t: at.t, source: Box::new(error) };
        let gradients = (&at.gradient[..], &self.f[..]);
        least.place(system, metric, (&at.q, at.t), gradients, &self.placed).map_err(failed)?;
        let k = self.placed.len();
        for vector in [&mut self.rate, &mut self.aim, &mut self.b, &mut self.lambda] {
            vector.clear();
            vector.resize(k, 0.0);
        }
        self.p.copy_from_slice(&at.p);
        self.impulse.fill(0.0);
        self.work.fill(0.0);
        let most = 60 + 4 * k;
        for round in 0..=most + 1 {
            metric.apply(&self.p, &mut self.v);
            self.chosen.clear();
            let mut approaching = false;
            for (s, &i) in self.placed.iter().enumerate() {
                self.rate[s] = least.rate(s, &self.v);
                let violated = self.rate[s] < -thresholds.rate[i];
                if violated && least.length(s) == 0.0 {
                    return Ok(None);
                }
                approaching |= violated;
                if violated || e[i] == 0.0 || round == most {
                    self.chosen.push(s);
                }
                let restitution = if round == most { 0.0 } else { e[i] };
                self.aim[s] = -restitution * self.rate[s].min(0.0);
            }
            if !approaching {
                return Ok(Some(round));
            }
            if round > most {
                let worst = (0..k).min_by(|&a, &b| self.rate[a].total_cmp(&self.rate[b]));
                let slot = worst.unwrap_or(0);
                return Err(StepError::Impact {
                    t: at.t,
                    rounds: round,
                    residual: -self.rate[slot],
                    contact: name(system, self.placed.get(slot)),
                });
            }
            self.limited(least, metric).map_err(failed)?;
            mass.solve(&self.p, &mut self.v);
            for &s in &self.chosen {
                let i = self.placed[s];
                self.work[i] += 0.5 * self.lambda[s] * rows.row_dot(i, &at.gradient, &self.v);
                least.push(s, self.lambda[s], &mut self.p);
            }
            mass.solve(&self.p, &mut self.v);
            for &s in &self.chosen {
                let i = self.placed[s];
                self.work[i] += 0.5 * self.lambda[s] * rows.row_dot(i, &at.gradient, &self.v);
                self.impulse[i] += self.lambda[s];
            }
        }
        Ok(None)
    }

    /// Finds the impulses of a round; lowers all restitutions together if the round would gain energy.
    fn limited(&mut self, least: &mut LeastImpulses, metric: &Metric) -> Result<(), ReflectError> {
        let gain = self.attempt(least, metric, 1.0)?;
        if gain <= 0.0 {
            return Ok(());
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.attempt(least, metric, middle)? <= 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.attempt(least, metric, low).map(drop)
    }

    /// Impulses with the restitutions times `alpha`, and the energy that they add beyond rounding.
    fn attempt(
        &mut self,
        least: &mut LeastImpulses,
        metric: &Metric,
        alpha: f64,
    ) -> Result<f64, ReflectError> {
        for &s in &self.chosen {
            self.b[s] = self.rate[s] - alpha * self.aim[s];
        }
        least.solve(metric, &self.chosen, &self.b, &mut self.lambda)?;
        let (mut gain, mut size) = (0.0, 0.0);
        for &s in &self.chosen {
            let after = self.aim[s] * alpha;
            gain += 0.5 * self.lambda[s] * (self.rate[s] + after);
            size += 0.5 * self.lambda[s] * (self.rate[s].abs() + after);
        }
        Ok(if gain > 1e-13 * size { gain } else { 0.0 })
    }
}

fn name(system: &System, contact: Option<&usize>) -> String {
    contact.map_or("", |&i| system.inequalities().name(i)).to_owned()
}
