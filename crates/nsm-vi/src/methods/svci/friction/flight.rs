//! Stage 1: the flight over the piece, with the impulses that its end asks for.

use nsm_model::{PlacedMass, StepError};
use nsm_solvers::small::norm_inf;

use super::Friction;
use crate::shared::kernel::Kernel;
use crate::shared::relaxation;

/// Rounds; the first ones go for all digits.
const ROUNDS: usize = 80;
const FULL_ACCURACY: usize = 12;

/// Rounds that close gaps as far as it goes; from then on those within so many units of rounding of the positions are closed.
const FIRST: usize = 4;
const DIGITS: f64 = 64.0;

impl Friction {
    pub(super) fn stage_one(
        &mut self,
        (kernel, mass): (&mut Kernel<'_>, &mut PlacedMass<'_>),
        (q, p, t): (&[f64], &[f64], f64),
        tau: f64,
        held: &[usize],
    ) -> Result<usize, StepError> {
        let system = kernel.system;
        self.place((kernel, mass), (q, t), held)?;
        self.r.clear();
        self.r.extend(held.iter().flat_map(|&i| self.warm[i]));
        let (mut iterations, mut change, mut scale) = (0, f64::INFINITY, 0.0_f64);
        self.reached = 0.0;
        self.chord.clear();
        self.chord.resize(self.r.len(), 0.0);
        let (mut settled, mut enough) = (false, 1e-15);
        self.relaxation.begin();
        for round in 0..ROUNDS {
            self.kicked.copy_from_slice(p);
            self.rows.push_given(&self.r, &mut self.kicked);
            iterations += kernel.advance_position((q, &self.kicked, t), tau, &[])?;
            self.velocity_between(kernel, (q, t), tau)?;
            let x = &kernel.position.x;
            scale = scale.max(norm_inf(q)).max(norm_inf(x));
            self.rows.velocities(&self.between, &mut self.b);
            if settled && self.update_chord() * tau.abs() <= enough * scale {
                break;
            }
            self.b.iter_mut().zip(&self.chord).for_each(|(b, off)| *b += off);
            self.rows.add_half_turn(system, (x, t + tau), &mut self.b);
            for (slot, &i) in held.iter().enumerate().filter(|(_, i)| **i < self.dry.first) {
                let gap = kernel.gaps.value(i, x, t + tau);
                // What rounding leaves of a gap would move loads between redundant contacts in every round.
                let closed = round >= FIRST && gap.abs() <= DIGITS * f64::EPSILON * scale;
                self.b[3 * slot] = if closed { 0.0 } else { gap / tau };
            }
            self.subtract_effect();
            self.dry.begin(kernel, tau);
            self.bound(held);
            self.next.clear();
            self.next.extend_from_slice(&self.r);
            // Where redundant contacts keep the solver from all digits, impulses that obey the law at their own flight as well as it can are taken.
            let known = if round < FULL_ACCURACY { 0.0 } else { self.reached };
            self.solve(system, t, held, known)?;
            self.impulse.fill(0.0);
            for (r, next) in self.r.iter_mut().zip(&self.next) {
                *r = next - *r;
            }
            self.rows.push(&self.r, &mut self.impulse);
            std::mem::swap(&mut self.r, &mut self.next);
            mass.last().solve(&self.impulse, &mut self.v);
            change = tau.abs() * norm_inf(&self.v);
            scale = scale.max(change).max(f64::MIN_POSITIVE);
            enough = if round < FULL_ACCURACY { 1e-15 } else { 1e-12 };
            settled = change <= enough * scale;
            let share = if settled {
                1.0
            } else {
                let farthest = relaxation::farthest(&self.r, &self.next, 1.0);
                self.relaxation.share(change, farthest, &self.impulse, &self.v)
            };
            if share != 1.0 {
                // `next` has the difference.
                for (r, d) in self.r.iter_mut().zip(&self.next) {
                    *r -= (1.0 - share) * d;
                }
            }
            if settled && (system.equalities().is_empty() || round >= 2 * FULL_ACCURACY) {
                break;
            }
        }
        if change.is_nan() || change > 1e-9 * scale {
            let culprit = held.first().map_or("", |&i| self.dry.name(system, i)).to_owned();
            return Err(StepError::NotConverged {
                t,
                what: "the friction of contacts that are held",
                iterations: ROUNDS,
                residual: change,
                culprit,
            });
        }
        // The last impulses move the end by rounding only, but the momentum is to be theirs.
        self.kicked.copy_from_slice(p);
        self.rows.push_given(&self.r, &mut self.kicked);
        iterations += kernel.advance_position((q, &self.kicked, t), tau, &[])?;
        self.velocity_between(kernel, (q, t), tau)?;
        Ok(iterations)
    }

    /// Takes what v' is off the equalities at the start, once impulses have settled without: before, contacts that are redundant would have problems without a solution,
    /// where they stop what still spins in the flight. `b` has the velocities by projected rows; returns the largest change.
    fn update_chord(&mut self) -> f64 {
        self.rows.velocities_given(&self.between, &mut self.u);
        let mut change = 0.0_f64;
        for ((off, given), b) in self.chord.iter_mut().zip(&self.u).zip(&self.b) {
            change = change.max((given - b - *off).abs());
            *off = given - b;
        }
        change
    }
}
