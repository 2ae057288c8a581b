//! Momentum made tangent to constraints: the last line of every constrained step.
//!
//! $$ y = p + C(q)\\,\mu, \qquad C(q)^\top M^{-1} y + \partial_t c = 0 \qquad
//!    C = \big(F \\;\\; N_{\mathbb S}\big) \quad\text{(\[KP\] (6.9))}, $$
//! the orthogonal projection in the metric of $M^{-1}$. Redundant rows are allowed: the multipliers of
//! minimum norm are taken, and $y$ does not depend on the choice.

use nsm_model::{StepError, System, SystemError};
use nsm_solvers::small::gram::PivotedCholesky;

use crate::shared::gaps::Gaps;
use crate::shared::held::Held;
use crate::shared::saddle::{MANY, Saddle, pays};

/// Workspace of the projection.
#[derive(Debug)]
pub(crate) struct TangentProjection<'a> {
    system: &'a System,
    /// Gradients of the equalities in the last projection with contacts.
    pub(crate) f: Vec<f64>,
    g: Vec<f64>,
    velocity: Vec<f64>,
    gram: Vec<f64>,
    rhs: Vec<f64>,
    mu: Vec<f64>,
    /// $\mu$ of every equality in the last projection, whichever way it was solved.
    equality_mu: Vec<f64>,
    factor: PivotedCholesky,
    /// Present where contacts are many, with the entries of $M$.
    saddle: Option<Saddle<'a>>,
    mass: Vec<f64>,
}

impl<'a> TangentProjection<'a> {
    pub(crate) fn new(system: &'a System) -> Result<Self, SystemError> {
        let all = system.equalities().len() + system.inequalities().len();
        let m = all.min(MANY);
        let entries = system.mass().entries();
        let lower = || entries.iter().filter(|e| e.0 >= e.1);
        let pattern: Vec<_> = lower().map(|&(i, j, _)| (i, j)).collect();
        let many = pays(system, all) && !system.inequalities().is_empty();
        Ok(Self {
            system,
            f: vec![0.0; system.equalities().entries()],
            g: vec![0.0; system.inequalities().entries()],
            velocity: vec![0.0; system.dimension()],
            gram: vec![0.0; m * m],
            rhs: vec![0.0; m],
            mu: vec![0.0; m],
            equality_mu: vec![0.0; system.equalities().len()],
            factor: PivotedCholesky::new(m),
            saddle: if many { Some(Saddle::new(system, &pattern, true)?) } else { None },
            mass: lower().map(|entry| entry.2).collect(),
        })
    }

    /// $\mu$ of every equality in the last projection.
    pub(crate) fn equality_multipliers(&self) -> &[f64] {
        &self.equality_mu
    }

    /// Projects `p` at $(q, t)$ onto the equalities and the given contacts.
    pub(crate) fn project(
        &mut self,
        held: Option<&mut Held<'a>>,
        gaps: &Gaps<'a>,
        (q, t): (&[f64], f64),
        contacts: &[usize],
        p: &mut [f64],
    ) -> Result<(), StepError> {
        let (f_rows, g_rows) = (self.system.equalities(), self.system.inequalities());
        let (equal, m) = (f_rows.len(), f_rows.len() + contacts.len());
        if m == 0 {
            return Ok(());
        }
        if let (Some(held), true) = (held, contacts.is_empty()) {
            held.place(q, t)?;
            held.project(p).map_err(|error| held.failure(t, &error))?;
            self.equality_mu.copy_from_slice(&held.multipliers);
            return Ok(());
        }
        f_rows.gradients(q, t, &mut self.f);
        for &i in contacts {
            gaps.gradient(i, q, t, &mut self.g);
        }
        if m >= MANY && self.project_many((q, t), contacts, p) {
            return Ok(());
        }
        if m > self.rhs.len() {
            self.gram.resize(m * m, 0.0);
            self.rhs.resize(m, 0.0);
            self.mu.resize(m, 0.0);
        }
        let mass = self.system.mass();
        mass.solve(p, &mut self.velocity);
        for k in 0..m {
            let (rows, i, gradients) = if k < equal {
                (f_rows, k, &self.f)
            } else {
                (g_rows, contacts[k - equal], &self.g)
            };
            self.rhs[k] = -rows.row_dot(i, gradients, &self.velocity);
            let field = rows.field(i);
            if field.is_rheonomic() {
                self.rhs[k] -= field.rate(q, t);
            }
            for l in 0..=k {
                let (other, j, values) = if l < equal {
                    (f_rows, l, &self.f)
                } else {
                    (g_rows, contacts[l - equal], &self.g)
                };
                let product = mass.inverse_product(
                    (rows.columns(i), &gradients[rows.span(i)]),
                    (other.columns(j), &values[other.span(j)]),
                );
                self.gram[k * m + l] = product;
                self.gram[l * m + k] = product;
            }
        }
        if m == 1 {
            if self.gram[0] > 0.0 {
                self.mu[0] = self.rhs[0] / self.gram[0];
            } else {
                return Err(self.singular(t, contacts, 0));
            }
        } else {
            let (gram, rhs, mu) = (&self.gram[..m * m], &self.rhs[..m], &mut self.mu[..m]);
            self.factor
                .factor(m, gram, 1e-12)
                .and_then(|_| self.factor.solve_minimum_norm(rhs, mu))
                .map_err(|_| {
                    let worst = (0..m).find(|k| !gram[k * m + k].is_finite()).unwrap_or(0);
                    self.singular(t, contacts, worst)
                })?;
        }
        self.equality_mu.copy_from_slice(&self.mu[..equal]);
        for k in 0..m {
            if k < equal {
                f_rows.add_row(k, &self.f, self.mu[k], p);
            } else {
                g_rows.add_row(contacts[k - equal], &self.g, self.mu[k], p);
            }
        }
        Ok(())
    }

    /// Many rows by one sparse saddle point; whether it could be solved, which redundant rows prevent.
    fn project_many(&mut self, (q, t): (&[f64], f64), contacts: &[usize], p: &mut [f64]) -> bool {
        let Some(saddle) = &mut self.saddle else { return false };
        let (f_rows, g_rows) = (self.system.equalities(), self.system.inequalities());
        saddle.a.copy_from_slice(p);
        saddle.b.fill(0.0);
        let (equal, unequal) = saddle.b.split_at_mut(f_rows.len());
        for (i, b) in equal.iter_mut().enumerate() {
            *b = -f_rows.field(i).rate(q, t);
        }
        for &i in contacts {
            unequal[i] = -g_rows.field(i).rate(q, t);
        }
        let gradients = (&self.f[..], &self.g[..]);
        if saddle.solve(&self.mass, gradients, gradients, &[], contacts).is_err() {
            return false;
        }
        let (mu, contact_mu) = saddle.z.split_at(f_rows.len());
        self.equality_mu.copy_from_slice(mu);
        f_rows.add_transposed(&self.f, mu, 1.0, p);
        for &i in contacts {
            g_rows.add_row(i, &self.g, contact_mu[i], p);
        }
        true
    }

    fn singular(&self, t: f64, contacts: &[usize], k: usize) -> StepError {
        let equal = self.system.equalities().len();
        let culprit = if k < equal {
            self.system.equalities().name(k)
        } else {
            self.system.inequalities().name(contacts[k - equal])
        };
        StepError::Singular { t, what: "the projection of momentum", culprit: culprit.to_owned() }
    }
}
