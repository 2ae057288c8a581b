//! Contacts with Newton's restitution, all at once; those with friction are in [`rub`].
//!
//! With the response $y_j = P\\,\nabla g_j$ of the system to a unit impulse at contact $j$ that keeps the
//! bilateral constraints, the impulses solve
//! $$ 0 \le \lambda \perp W \lambda + b \ge 0, \qquad W_{ij} = \nabla g_i \cdot y_j . $$
//! At velocity level $b_i = \dot g_i + e_i \dot g_i^-$, so that a contact that closes with $\dot g_i^- < 0$ opens
//! with at least $-e_i \dot g_i^-$; at position level $b$ are the gaps. $W$ may be singular.
//!
//! What counts as closed or as still is a fraction of $\sum_k |\partial_k g|\\,\ell_k$ or $\sum_k |\partial_k g|\\,w_k$, with the
//! lengths $\ell = |q| + h|v| + h^2|a|$ and speeds $w = |v| + h|a|$ of the motion ([`Contacts::measure`]): neither the unit nor
//! the form in which a gap is written, $d - r$ or $d^2 - r^2$ or a thousand times that, changes what happens.

use nsm_constraints::Rows;
use nsm_model::{StepError, System, SystemError};
use nsm_reflect::Restitution;
use nsm_solvers::least_squares::GramNnls;
use nsm_solvers::small::axpy;

use crate::AlphaError;
use crate::saddle::Saddle;

mod rub;

pub(crate) use rub::Rubbing;

/// Room for so many contacts in one jump is there from the start; where more take part it grows, and stays.
const ROOM: usize = 32;

/// The contacts of a system and the workspace of their impacts.
#[derive(Debug)]
pub(crate) struct Contacts<'a> {
    pub(crate) gaps: &'a Rows,
    pub(crate) restitution: Vec<f64>,
    n: usize,
    /// Gradients of all gaps, row by row as [`Rows`] stores them.
    gradients: Vec<f64>,
    /// $\ell$ and $w$, coordinate by coordinate.
    pub(crate) lengths: Vec<f64>,
    pub(crate) speeds: Vec<f64>,
    /// The contacts that take part, with $b$ and $\lambda$ of each.
    pub(crate) active: Vec<usize>,
    pub(crate) b: Vec<f64>,
    /// Rates without impulses, and those of approach.
    rate: Vec<f64>,
    approach: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
    responses: Vec<f64>,
    gram: Vec<f64>,
    kernel: GramNnls,
    /// Present where contacts rub.
    pub(crate) rubbing: Option<Rubbing<'a>>,
}

impl<'a> Contacts<'a> {
    pub(crate) fn new(system: &'a System, restitution: &Restitution) -> Result<Self, SystemError> {
        let gaps = system.inequalities();
        let (k, n) = (gaps.len(), system.dimension());
        let restitution = match restitution {
            Restitution::Uniform(e) => vec![*e; k],
            Restitution::PerContact(e) if e.len() == k => e.clone(),
            Restitution::PerContact(e) => {
                return Err(SystemError::Length {
                    what: "the list of restitutions",
                    length: e.len(),
                    expected: k,
                });
            }
        };
        if let Some(&value) = restitution.iter().find(|e| !(0.0..=1.0).contains(*e)) {
            return Err(SystemError::Parameter {
                what: "the restitution",
                must: "between 0 and 1",
                value,
            });
        }
        Ok(Self {
            gaps,
            restitution,
            n,
            gradients: vec![0.0; gaps.entries()],
            lengths: vec![0.0; n],
            speeds: vec![0.0; n],
            active: Vec::with_capacity(k),
            b: Vec::with_capacity(k),
            rate: Vec::with_capacity(k),
            approach: Vec::with_capacity(k),
            lambda: Vec::with_capacity(k),
            responses: vec![0.0; k.min(ROOM) * n],
            gram: vec![0.0; k.min(ROOM).pow(2)],
            kernel: GramNnls::new(k.min(ROOM)),
            rubbing: None,
        })
    }

    /// The same contacts with the friction of the system, or with these values instead.
    ///
    /// # Errors
    /// Friction without tangential velocities, values out of range.
    pub(crate) fn with_friction(
        mut self,
        system: &'a System,
        friction: Option<f64>,
        tangential_restitution: Option<f64>,
    ) -> Result<Self, SystemError> {
        self.rubbing = Rubbing::new(system, &self.restitution, friction, tangential_restitution)?;
        Ok(self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Evaluates all gradients at $(q, t)$; the methods below refer to them.
    pub(crate) fn linearise(&mut self, q: &[f64], t: f64) {
        self.gaps.gradients(q, t, &mut self.gradients);
        if let Some(rubbing) = &mut self.rubbing {
            rubbing.linearise(q, t);
        }
    }

    /// $g_i(q, t)$.
    ///
    /// # Errors
    /// If it is not finite: it would count as open.
    pub(crate) fn gap(&self, i: usize, q: &[f64], t: f64) -> Result<f64, AlphaError> {
        self.finite(i, "the gap", self.gaps.value(i, q, t))
    }

    /// $\dot g_i = \nabla g_i \cdot v + g_{i,t}$ with the gradients of [`linearise`](Self::linearise).
    ///
    /// # Errors
    /// If it is not finite: it would count as still.
    pub(crate) fn rate(
        &self,
        i: usize,
        (q, t): (&[f64], f64),
        v: &[f64],
    ) -> Result<f64, AlphaError> {
        let field = self.gaps.field(i);
        let explicit = if field.is_rheonomic() { field.rate(q, t) } else { 0.0 };
        self.finite(i, "the rate", self.along(i, v) + explicit)
    }

    fn finite(&self, i: usize, what: &'static str, value: f64) -> Result<f64, AlphaError> {
        if value.is_finite() {
            return Ok(value);
        }
        Err(AlphaError::NotFinite { what, contact: self.gaps.name(i).to_owned() })
    }

    /// Takes the lengths and speeds of a step of size $h$ from $(q, v)$ with acceleration $a$.
    pub(crate) fn measure(&mut self, q: &[f64], v: &[f64], a: &[f64], h: f64) {
        for k in 0..self.n {
            self.speeds[k] = v[k].abs() + h * a[k].abs();
            self.lengths[k] = q[k].abs() + h * self.speeds[k];
        }
    }

    /// What gap $i$ changes by when the system moves by its lengths: a small fraction of it is zero.
    pub(crate) fn length(&self, i: usize) -> f64 {
        self.magnitude(i, &self.lengths)
    }

    /// The same for the rate, with the speeds.
    pub(crate) fn speed(&self, i: usize) -> f64 {
        self.magnitude(i, &self.speeds)
    }

    /// The multiplier with which contact $i$ would carry these forces, $\sum_k |\partial_k g|\\,|f_k| / |\nabla g|^2$.
    pub(crate) fn load(&self, i: usize, force: &[f64]) -> f64 {
        let gradient = &self.gradients[self.gaps.span(i)];
        let square: f64 = gradient.iter().map(|g| g * g).sum();
        let columns = self.gaps.columns(i).iter().zip(gradient);
        columns.map(|(&k, g)| (g * force[k]).abs()).sum::<f64>() / square.max(f64::MIN_POSITIVE)
    }

    /// $\sum_k |\partial_k g_i|\\,x_k$.
    pub(crate) fn magnitude(&self, i: usize, x: &[f64]) -> f64 {
        let gradient = &self.gradients[self.gaps.span(i)];
        self.gaps.columns(i).iter().zip(gradient).map(|(&k, g)| g.abs() * x[k]).sum()
    }

    /// $\nabla g_i \cdot x$.
    pub(crate) fn along(&self, i: usize, x: &[f64]) -> f64 {
        self.gaps.row_dot(i, &self.gradients, x)
    }

    /// Empties the list of contacts that take part.
    pub(crate) fn clear(&mut self) {
        self.active.clear();
        self.b.clear();
        self.rate.clear();
        self.approach.clear();
        self.lambda.clear();
    }

    /// Lets contact `i` take part with this $b$.
    pub(crate) fn push(&mut self, i: usize, b: f64) {
        self.active.push(i);
        self.b.push(b);
        self.rate.push(b);
        self.approach.push(0.0);
        self.lambda.push(0.0);
    }

    /// Lets contact `i` take part in a velocity jump, with its rate without impulses and that of its approach.
    pub(crate) fn push_rates(&mut self, i: usize, rate: f64, approach: f64) {
        self.active.push(i);
        self.b.push(rate + self.restitution[i] * approach);
        self.rate.push(rate);
        self.approach.push(approach);
        self.lambda.push(0.0);
    }

    /// As [`resolve`](Self::resolve), with friction where there is any; `start` are the velocities between which and the new ones the
    /// impulses do their work, unless these are `x` as it is.
    pub(crate) fn resolve_jump(
        &mut self,
        saddle: &mut Saddle,
        w: f64,
        t: f64,
        start: Option<&[f64]>,
        x: &mut [f64],
    ) -> Result<usize, StepError> {
        if self.rubs() {
            return self.rub(saddle, w, t, start, x);
        }
        self.resolve(saddle, w, t, x)
    }

    /// Solves the complementarity problem and adds $\sum_j y_j \lambda_j$ to `x`.
    ///
    /// `saddle` is factorised, its upper rows multiplied by `w`.
    pub(crate) fn resolve(
        &mut self,
        saddle: &mut Saddle,
        w: f64,
        t: f64,
        x: &mut [f64],
    ) -> Result<usize, StepError> {
        let (n, k) = (self.n, self.active.len());
        if self.b.iter().all(|b| *b >= 0.0) {
            return Ok(0);
        }
        self.make_room(k);
        for (j, &contact) in self.active.iter().enumerate() {
            let (r, g) = saddle.rhs();
            r.fill(0.0);
            g.fill(0.0);
            self.gaps.add_row(contact, &self.gradients, w, r);
            let failed = |_| StepError::Singular {
                t,
                what: "the response to contact impulses",
                culprit: self.gaps.name(contact).to_owned(),
            };
            saddle.solve().map_err(failed)?;
            let (response, _) = saddle.rhs();
            self.responses[j * n..(j + 1) * n].copy_from_slice(response);
        }
        for i in 0..k {
            for j in 0..k {
                self.gram[i * k + j] =
                    self.along(self.active[i], &self.responses[j * n..(j + 1) * n]);
            }
        }
        // Symmetric up to rounding: the solver reads both triangles.
        for i in 0..k {
            for j in 0..i {
                let mean = 0.5 * (self.gram[i * k + j] + self.gram[j * k + i]);
                self.gram[i * k + j] = mean;
                self.gram[j * k + i] = mean;
            }
        }
        let report = self.kernel.solve(&self.gram[..k * k], &self.b, &mut self.lambda);
        let Ok(report) = report else {
            let worst = (0..k).min_by(|&i, &j| self.b[i].total_cmp(&self.b[j])).unwrap_or(0);
            return Err(StepError::Impact {
                t,
                rounds: 1,
                residual: -self.b[worst],
                contact: self.gaps.name(self.active[worst]).to_owned(),
            });
        };
        for j in 0..k {
            axpy(self.lambda[j], &self.responses[j * n..(j + 1) * n], x);
        }
        Ok(report.iterations as usize)
    }

    /// Storage for so many contacts that take part.
    fn make_room(&mut self, k: usize) {
        if self.responses.len() < k * self.n {
            self.responses.resize(k * self.n, 0.0);
        }
        if self.gram.len() < k * k {
            let room = k.next_power_of_two();
            self.gram.resize(room * room, 0.0);
            self.kernel = GramNnls::new(room);
        }
    }

    /// $\sum_j \lambda_j \nabla g_j \cdot x$: the work of the impulses along `x`.
    pub(crate) fn work(&self, x: &[f64]) -> f64 {
        dot_by(&self.lambda, |j| self.along(self.active[j], x))
    }

    /// The contacts with an impulse.
    pub(crate) fn impulses(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.active.iter().copied().zip(self.lambda.iter().copied()).filter(|(_, l)| *l > 0.0)
    }
}

fn dot_by(x: &[f64], y: impl Fn(usize) -> f64) -> f64 {
    let mut sum = 0.0;
    for (i, x) in x.iter().enumerate() {
        if *x != 0.0 {
            sum += x * y(i);
        }
    }
    sum
}
