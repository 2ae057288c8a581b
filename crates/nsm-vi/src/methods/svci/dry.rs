//! How much dry friction on freedoms can take in a piece of a step.
//!
//! In stage 1 the bound is $B = \tfrac\tau2\\,\tau_0 + s\\,\lvert\nu_R\rvert$ with the impulses $\nu$ of the equalities that load it, in stage 2 for the total of both
//! $B = \tau\\,\tau_0 + s\\,\lvert\nu_R + \xi_R\rvert$. $\nu$ and $\xi$ answer to the friction in turn, and are found with it by rounds, which contract where the friction
//! by the load is smaller than the load by friction: $\mu$ times the radius of a bearing below the arms of what hangs in it.

use nsm_model::{StepError, System, SystemError};

use crate::shared::kernel::Kernel;

/// Relative change of a bound that ends the rounds of stage 2, and their number.
const SETTLED: f64 = 1e-14;
pub(super) const ROUNDS: usize = 60;

/// Bounds of the dry friction of a system.
#[derive(Debug)]
pub(super) struct Dry {
    /// Numbers from here on are dry friction.
    pub(super) first: usize,
    /// $B$ of each.
    pub(super) limit: Vec<f64>,
    /// $\nu$ of stage 1, and the sum over both.
    nu: Vec<f64>,
    total: Vec<f64>,
    /// Whether any of them depends on a load.
    pub(super) loaded: bool,
}

impl Dry {
    pub(super) fn new(system: &System) -> Self {
        let equal = system.equalities().len();
        Self {
            first: system.inequalities().len(),
            limit: vec![0.0; system.dry().len()],
            nu: vec![0.0; equal],
            total: vec![0.0; equal],
            loaded: system.dry().laws().iter().any(|law| law.load.is_some()),
        }
    }

    /// What a number stands for.
    pub(super) fn name<'s>(&self, system: &'s System, i: usize) -> &'s str {
        match i.checked_sub(self.first) {
            Some(k) => system.dry().names().get(k).map_or("", String::as_str),
            None => system.inequalities().name(i),
        }
    }

    /// Bounds of stage 1 by the impulses of the equalities over the flight just made.
    pub(super) fn begin(&mut self, kernel: &Kernel<'_>, tau: f64) {
        if self.loaded {
            self.nu.copy_from_slice(&kernel.position.nu);
            self.total.copy_from_slice(&self.nu);
        }
        self.bound(kernel.system, 0.5 * tau);
    }

    /// Bounds of the total, with what the equalities take at the end; whether they have settled.
    pub(super) fn end(&mut self, kernel: &Kernel<'_>, tau: f64, xi: [&[f64]; 2]) -> bool {
        if self.loaded {
            for (i, total) in self.total.iter_mut().enumerate() {
                *total = self.nu[i] + xi[0][i] + xi[1][i];
            }
        }
        self.bound(kernel.system, tau)
    }

    fn bound(&mut self, system: &System, tau: f64) -> bool {
        let mut settled = true;
        for (limit, law) in self.limit.iter_mut().zip(system.dry().laws()) {
            let mut new = tau.abs() * law.bound;
            if let Some((share, rows)) = &law.load {
                let square: f64 = rows.iter().map(|&i| self.total[i].powi(2)).sum();
                new += share * square.sqrt();
            }
            settled &= (new - *limit).abs() <= SETTLED * new;
            *limit = new;
        }
        settled
    }

    /// Loads that are not unique bound nothing: the error of a system in which equalities depend on others.
    pub(super) fn check_unique(&self, kernel: &Kernel<'_>, t: f64) -> Result<(), StepError> {
        let Some(&row) = kernel.redundant().first().filter(|_| self.loaded) else { return Ok(()) };
        let name = kernel.system.equalities().name(row);
        let why = format!(
            "friction by the load of a joint needs loads that are unique, and `{name}` depends on other constraints: give the friction as a bound (`dry_friction`)"
        );
        let error = SystemError::DoesNotFit { method: "svci", why };
        Err(StepError::Method { t, source: Box::new(error) })
    }
}
