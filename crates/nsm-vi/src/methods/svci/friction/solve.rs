//! One friction problem of a stage: what the solver is asked for, and how its failures are said.

use nsm_model::{StepError, System};
use nsm_solvers::friction::{FrictionError, FrictionOptions};

use super::Friction;

impl Friction {
    /// Solves the friction problem with right-hand side `b`, from `next` into `next`; twice the residual `known` is enough.
    pub(super) fn solve(
        &mut self,
        system: &System,
        t: f64,
        contacts: &[usize],
        known: f64,
    ) -> Result<(), StepError> {
        let Self { problem, solver, rows, slots, b, mu, rhs, next, reached, dry, .. } = self;
        // A contact that the equalities hold by themselves takes no impulse.
        let w = rows.delassus();
        slots.clear();
        slots.extend((0..contacts.len()).filter(|&slot| w.own(slot)[0] > 0.0));
        mu.clear();
        mu.extend(slots.iter().map(|&slot| self.coefficient[contacts[slot]]));
        rhs.clear();
        rhs.extend(slots.iter().flat_map(|&s| [b[3 * s], b[3 * s + 1], b[3 * s + 2]]));
        let n = slots.len();
        let fail = |error: FrictionError| {
            let (contact, residual) = error.culprit();
            let slot = slots.get(contact).copied().unwrap_or(0);
            let name = contacts.get(slot).map_or("", |&i| dry.name(system, i));
            StepError::Friction { t, contact: name.to_owned(), residual }
        };
        problem.assemble(w, slots, rhs, mu).map_err(fail)?;
        let mut options = FrictionOptions {
            tolerance: 1e-13,
            enough: 1e-10,
            acceptable: 1e-8,
            patient: false,
            ..FrictionOptions::default()
        };
        if known > 0.0 {
            // The solver aims at a third of its tolerance.
            options.tolerance = options.tolerance.max(6.0 * known);
            options.enough = options.enough.max(options.tolerance);
        }
        let whole = n == contacts.len();
        let mut sparse = Vec::new();
        let r = if whole {
            &mut next[..]
        } else {
            sparse.extend(
                slots.iter().flat_map(|&s| [next[3 * s], next[3 * s + 1], next[3 * s + 2]]),
            );
            &mut sparse[..]
        };
        let mut outcome = solver.solve(problem, r, &options);
        if outcome.is_err() {
            (options.patient, options.acceptable) = (true, 1e-6);
            outcome = solver.solve(problem, r, &options);
        }
        let report = outcome.map_err(fail)?;
        if known == 0.0 {
            *reached = report.residual;
        }
        if !whole {
            next.fill(0.0);
            for (k, &slot) in slots.iter().enumerate() {
                next[3 * slot..3 * slot + 3].copy_from_slice(&sparse[3 * k..3 * k + 3]);
            }
            self.drag(contacts);
        }
        Ok(())
    }
}
