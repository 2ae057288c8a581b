//! When does a body first touch a plane during a flight?
//!
//! $\varphi(\tau) = \min_p\Phi_p$ along the flight is searched from left to right for its first change of sign.
//! No point of the body is faster than $L = |\gamma|/m + r|\Pi|/\lambda_{\min}(J)$, so that
//! $\varphi(a) + \varphi(b) > L(b - a)$ proves that $\varphi$ stays positive between $a$ and $b$; other intervals are
//! halved. What remains at the finest level is examined for an impact that both ends miss: where
//! $\dot\varphi$ changes from negative to positive, $\varphi$ is minimised in between. A flight far above all planes
//! costs one evaluation of the gaps, at its end.
//!
//! After an impact $\varphi(0)$ is zero to rounding and says nothing; a positive value is then sought by halving
//! from the right (\[TL\] Algorithm 5.2 tests `dist = 0`, which no floating-point number answers).

use nsm_geom::{Plane, Vec3};
use nsm_solvers::roots::Bracket;

use super::{BodyState, Lgvi, RigidBody, Unsolved};

/// A body on its way.
pub(super) struct Approach<'a> {
    pub body: &'a RigidBody,
    pub planes: &'a [Plane],
    /// The planes in reach.
    pub near: &'a [usize],
    pub gravity: &'a Vec3,
    pub flow: &'a Lgvi,
    /// Time and state at the start.
    pub t: f64,
    pub from: &'a BodyState,
    /// Bound $L$ for the speed of any point.
    pub speed: f64,
    /// Newton iterations spent.
    pub iterations: usize,
}

/// The state after a part of the flight.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub tau: f64,
    pub state: BodyState,
    /// $\varphi$.
    pub gap: f64,
    /// $\dot\Phi$ of the plane that attains the minimum.
    pub rate: f64,
}

/// What the search finds.
pub(super) enum Contact {
    /// Nothing is touched.
    Free,
    /// $\varphi$ changes sign between the two instants.
    Bracket(Bracket),
    /// No positive gap was found behind the start.
    Stuck,
}

/// Halvings before the remaining interval is examined by its slopes.
const FINEST: u32 = 5;
/// Halvings that a change of sign undergoes, lest an earlier one be overlooked.
const COARSEST: u32 = 2;
/// Halvings in search of a positive gap behind an impact, and of a minimum.
const HALVINGS: usize = 50;

impl Approach<'_> {
    /// $\varphi$ and $\dot\varphi$ of a state.
    pub(super) fn measure(&self, tau: f64, state: BodyState) -> Sample {
        let mut sample = Sample { tau, state, gap: f64::INFINITY, rate: 0.0 };
        let Some(shape) = self.body.shape() else { return sample };
        for &p in self.near {
            let contact = shape.plane_gap(&self.planes[p], &state.pose);
            if contact.gap < sample.gap {
                sample.gap = contact.gap;
                sample.rate = self.body.inverse_mass() * self.planes[p].normal().dot(&state.gamma)
                    + contact.chi.dot(&(self.body.inverse_inertia() * state.pi));
            }
        }
        sample
    }

    /// Flies for a time `tau`.
    pub(super) fn sample(&mut self, tau: f64) -> Result<Sample, Unsolved> {
        let flight = self.flow.fly(self.body, self.gravity, self.t, self.from, tau)?;
        self.iterations += flight.iterations;
        Ok(self.measure(tau, flight.end))
    }

    /// The first contact on the way to `end`; `touching` says that the start lies on a plane.
    pub(super) fn first_contact(
        &mut self,
        end: &Sample,
        touching: bool,
    ) -> Result<Contact, Unsolved> {
        if touching {
            return self.leave(end, 0);
        }
        let start = self.measure(0.0, *self.from);
        self.search(&start, end, 0)
    }

    fn search(&mut self, a: &Sample, b: &Sample, depth: u32) -> Result<Contact, Unsolved> {
        let crosses = b.gap < 0.0;
        if !crosses && a.gap + b.gap > self.speed * (b.tau - a.tau) {
            return Ok(Contact::Free);
        }
        if depth < if crosses { COARSEST } else { FINEST } {
            let middle = self.sample(0.5 * (a.tau + b.tau))?;
            return match self.search(a, &middle, depth + 1)? {
                Contact::Free => self.search(&middle, b, depth + 1),
                found => Ok(found),
            };
        }
        if crosses {
            return Ok(bracket(a, b));
        }
        self.dip(a, b)
    }

    /// As [`Self::search`], from a start that touches.
    fn leave(&mut self, b: &Sample, depth: u32) -> Result<Contact, Unsolved> {
        if b.gap < 0.0 {
            let mut right = *b;
            let mut tau = b.tau;
            for _ in 0..HALVINGS {
                tau *= 0.5;
                let middle = self.sample(tau)?;
                if middle.gap > 0.0 {
                    return self.search(&middle, &right, COARSEST);
                }
                // A gap of exactly zero is on neither side.
                if middle.gap < 0.0 {
                    right = middle;
                }
            }
            return Ok(Contact::Stuck);
        }
        if depth < FINEST {
            let middle = self.sample(0.5 * b.tau)?;
            return match self.leave(&middle, depth + 1)? {
                Contact::Free if middle.gap >= 0.0 => self.search(&middle, b, depth + 1),
                found => Ok(found),
            };
        }
        Ok(Contact::Free)
    }

    /// Looks for a minimum below zero between two positive gaps.
    fn dip(&mut self, a: &Sample, b: &Sample) -> Result<Contact, Unsolved> {
        let (mut a, mut b) = (*a, *b);
        for _ in 0..HALVINGS {
            if !(a.rate < 0.0 && b.rate > 0.0) || a.gap + b.gap > self.speed * (b.tau - a.tau) {
                return Ok(Contact::Free);
            }
            let middle = self.sample(0.5 * (a.tau + b.tau))?;
            if middle.gap < 0.0 {
                return Ok(bracket(&a, &middle));
            }
            if middle.rate < 0.0 { a = middle } else { b = middle }
        }
        Ok(Contact::Free)
    }
}

fn bracket(a: &Sample, b: &Sample) -> Contact {
    Contact::Bracket(Bracket { a: a.tau, value_a: a.gap, b: b.tau, value_b: b.gap })
}
