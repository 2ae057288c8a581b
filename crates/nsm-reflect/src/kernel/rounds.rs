//! One round of each law: multipliers island by island, impulses added to the momenta.

use super::{Impact, Kernel};
use crate::multipliers::{Island, positive};
use crate::{ReflectError, Restitution};

/// How line 9 of Algorithm 2 \[KP\] is solved.
#[derive(Clone, Copy)]
pub(super) enum Multiplier {
    /// Non-negative least squares.
    NonNegative,
    /// The normal equation (A.1).
    Published,
}

impl Kernel {
    /// Line 9 of Algorithm 2 for every island of violating contacts.
    pub(super) fn reflect_islands(
        &mut self,
        impact: Impact<'_>,
        p: &mut [f64],
        multiplier: Multiplier,
    ) -> Result<usize, ReflectError> {
        if let &[slot] = &self.violating[..] {
            let (columns, values) = impact.row(slot);
            let square = self.multipliers.square(impact.metric, columns, values);
            let square = positive(square, impact.candidates[slot])?;
            self.push(impact, slot, -2.0 * self.slots[slot].rate / square, p);
            return Ok(1);
        }
        let Impact { metric, rows, candidates, .. } = impact;
        self.islands.group(metric, rows, candidates, &self.violating);
        let mut largest = 0;
        for k in 0..self.islands.len() {
            let slots = self.islands.island(k);
            largest = largest.max(slots.len());
            self.multipliers.q.clear();
            self.multipliers.q.extend(slots.iter().map(|&slot| self.slots[slot].rate));
            let island = Island { metric, rows, candidates, slots };
            match multiplier {
                Multiplier::NonNegative => {
                    self.multipliers.project(island)?;
                }
                Multiplier::Published => {
                    self.multipliers.normal_equation(island)?;
                }
            }
            self.apply(impact, k, true, p);
        }
        Ok(largest)
    }

    /// The contacts that do not separate; to end a collapse, all of each island that loses energy
    /// everywhere.
    pub(super) fn collect_closed(&mut self, impact: Impact<'_>, e: &Restitution, collapse: bool) {
        let slots = impact.candidates.len();
        self.plastic.clear();
        self.plastic.resize(slots, false);
        self.closed.clear();
        if collapse {
            self.closed.extend(0..slots);
            self.islands.group(impact.metric, impact.rows, impact.candidates, &self.closed);
            for k in 0..self.islands.len() {
                let island = self.islands.island(k);
                let lossy = island.iter().all(|&slot| e.of(impact.candidates[slot]) < 1.0);
                for &slot in island {
                    self.plastic[slot] = lossy;
                }
            }
            self.closed.clear();
        }
        for slot in 0..slots {
            let separates =
                self.slots[slot].rate > self.tolerance.velocity * self.slots[slot].scale;
            if (self.plastic[slot] || !separates) && impact.acts(slot) {
                self.closed.push(slot);
            }
        }
    }

    /// Newton's law on the islands of `closed` in which something approaches.
    pub(super) fn newton(
        &mut self,
        impact: Impact<'_>,
        e: &Restitution,
        p: &mut [f64],
    ) -> Result<usize, ReflectError> {
        let Impact { metric, rows, candidates, .. } = impact;
        self.islands.group(metric, rows, candidates, &self.closed);
        let mut largest = 0;
        for k in 0..self.islands.len() {
            let slots = self.islands.island(k);
            let approaches = |&slot: &usize| {
                self.slots[slot].rate < -self.tolerance.velocity * self.slots[slot].scale
            };
            if !slots.iter().any(approaches) {
                continue;
            }
            largest = largest.max(slots.len());
            self.multipliers.q.clear();
            self.multipliers.q.extend(slots.iter().map(|&slot| {
                let rebound = if self.plastic[slot] { 0.0 } else { e.of(candidates[slot]) };
                self.slots[slot].rate + rebound * self.slots[slot].rate.min(0.0)
            }));
            let island = Island { metric, rows, candidates, slots };
            self.multipliers.project(island)?;
            self.apply(impact, k, false, p);
        }
        Ok(largest)
    }

    /// One contact at a time, each seeing what the one before has done.
    pub(super) fn sweep(
        &mut self,
        impact: Impact<'_>,
        e: &Restitution,
        p: &mut [f64],
    ) -> Result<usize, ReflectError> {
        for slot in 0..impact.candidates.len() {
            let (rate, approaches) = self.evaluate(impact, slot);
            if !approaches {
                continue;
            }
            let (columns, values) = impact.row(slot);
            let contact = impact.candidates[slot];
            let square = self.multipliers.square(impact.metric, columns, values);
            let square = positive(square, contact)?;
            self.push(impact, slot, -(1.0 + e.of(contact)) * rate / square, p);
            for &k in columns {
                let Self { nodes, impact: now, .. } = self;
                impact.metric.for_coupled(k, |j| {
                    if nodes[j].known == *now {
                        nodes[j].v = impact.metric.apply_row(j, p);
                    }
                });
            }
        }
        Ok(1)
    }

    /// Adds the impulses $\lambda$ just found for island `k` to its momenta, or twice as much to reflect.
    ///
    /// A reflection scales $u = G\lambda$ by $s = -u^\top W p / u^\top W u$, which is one up to rounding and the error of
    /// the solver: with it $\lvert p + 2 s u \rvert_W = \lvert p \rvert_W$ whatever $u$ is.
    fn apply(&mut self, impact: Impact<'_>, k: usize, reflect: bool, p: &mut [f64]) {
        let factor = if reflect { 2.0 } else { 1.0 };
        if let &[slot] = self.islands.island(k) {
            self.push(impact, slot, factor * self.multipliers.lambda[0], p);
            return;
        }
        // Islands share no momenta, so all that this one changes is new to the round.
        let first = self.changed.len();
        for a in 0..self.islands.island(k).len() {
            let lambda = self.multipliers.lambda[a];
            if lambda != 0.0 {
                let (columns, values) = impact.row(self.islands.island(k)[a]);
                for (&c, g) in columns.iter().zip(values) {
                    self.touch(c, p);
                    self.delta[c] += lambda * g;
                }
            }
        }
        let mut scale = factor;
        if reflect {
            let (mut work, mut square) = (0.0, 0.0);
            for (a, &slot) in self.islands.island(k).iter().enumerate() {
                work += self.multipliers.lambda[a] * impact.drift(slot);
            }
            for &c in &self.changed[first..] {
                work += self.delta[c] * self.nodes[c].v;
                square += self.delta[c] * impact.metric.apply_row(c, &self.delta);
            }
            let s = -work / square;
            if s.is_finite() && s > 0.0 && (s - 1.0).abs() > 4.0 * f64::EPSILON {
                scale *= s;
            }
        }
        for &c in &self.changed[first..] {
            p[c] += scale * self.delta[c];
            self.delta[c] = 0.0;
        }
        for (a, &slot) in self.islands.island(k).iter().enumerate() {
            self.impulses[slot] += scale * self.multipliers.lambda[a];
        }
    }

    /// Adds one impulse to the momenta.
    fn push(&mut self, impact: Impact<'_>, slot: usize, impulse: f64, p: &mut [f64]) {
        self.impulses[slot] += impulse;
        let (columns, values) = impact.row(slot);
        for (&c, g) in columns.iter().zip(values) {
            self.touch(c, p);
            p[c] += impulse * g;
        }
    }

    /// Remembers that a coordinate changes, and what it was before the impact.
    #[inline]
    fn touch(&mut self, c: usize, p: &[f64]) {
        let node = &mut self.nodes[c];
        if node.touched != self.impact {
            node.touched = self.impact;
            self.touched.push((c, p[c], node.start));
        }
        if node.changed != self.round {
            node.changed = self.round;
            self.changed.push(c);
        }
    }
}
