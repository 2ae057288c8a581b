//! When the next contact closes within what is left of a step.
//!
//! A contact closes if its gap is negative at the end, or if it dips below zero in between. Contacts whose rate turns from closing to opening are
//! looked at where the cubic with the gaps and rates of both ends dips, or where the two tangents meet below zero: the distance of convex bodies
//! that fly past each other is convex, and no lower than its tangents, so that even what is fast enough to be on the other side at the end is found. (A
//! heuristic for other gaps; one that closes and opens again without a change of sign of its rate is not seen.) The instant is the root of
//! the gap along the very flow that is then taken.

use nsm_model::StepError;
use nsm_solvers::roots::{Bracket, RootOptions, Side, chandrupatla};

use super::SvciStepper;
use crate::shared::position::Hold;

/// Halvings of the remaining time after which a contact that touches is pressed shut.
const HALVINGS: usize = 24;

/// Points at which a dip is looked for.
const LOOKS: usize = 12;

/// The next contact, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) contact: usize,
    pub(super) after: f64,
    /// It is pressed shut without approaching.
    pub(super) forced: bool,
}

impl SvciStepper<'_> {
    /// The first contact that closes within `rest`; `there` is the end of the flow.
    pub(super) fn next_closing(
        &mut self,
        rest: f64,
        hold: Hold,
    ) -> Result<Option<Closing>, StepError> {
        self.find_suspects(rest);
        while let Some(&(first, _, inside)) =
            self.suspects.iter().min_by(|a, b| a.1.total_cmp(&b.1))
        {
            // A dip is only suspected: is there one?
            let mut limit = rest;
            let mut beyond = self.there.gap[first];
            if let Some(bottom) = inside {
                let Some(dip) = self.dip(first, bottom, rest, hold)? else {
                    self.suspects.retain(|s| s.0 != first);
                    continue;
                };
                (limit, beyond) = dip;
            }
            return self.close(first, (limit, beyond), hold).map(Some);
        }
        Ok(None)
    }

    /// Contacts that are behind their surface at the end, or may have been in between, with a guess when.
    fn find_suspects(&mut self, rest: f64) {
        self.suspects.clear();
        for i in 0..self.there.gap.len() {
            if self.is_held(i) {
                continue;
            }
            let (g0, g1) = (self.here.gap[i], self.there.gap[i]);
            let (u0, u1) = (self.here.rate[i], self.there.rate[i]);
            let cubic = Cubic::new((g0, u0), (g1, u1), rest);
            if g1 < -self.thresholds.below[i] {
                self.suspects.push((i, cubic.first_root(rest), None));
            } else if g0 > self.thresholds.gap[i] && u0 < 0.0 && u1 > 0.0 {
                let bottom = cubic.bottom(rest);
                let (meet, low) = valley((0.0, g0, u0), (rest, g1, u1));
                if cubic.value(bottom) < 0.0 {
                    self.suspects.push((i, cubic.first_root(bottom), Some(bottom)));
                } else if low < 0.0 {
                    self.suspects.push((i, meet, Some(meet)));
                }
            }
        }
    }

    /// Where a gap that closes and opens again within `rest` is negative, and how much; `from` is the place to look at first. Beyond it the search goes
    /// where the tangents of the ends and the chords to the points so far leave most room below zero, until they leave none.
    fn dip(
        &mut self,
        contact: usize,
        from: f64,
        rest: f64,
        hold: Hold,
    ) -> Result<Option<(f64, f64)>, StepError> {
        let (mut left, mut right) = (
            (0.0, self.here.gap[contact], self.here.rate[contact]),
            (rest, self.there.gap[contact], self.there.rate[contact]),
        );
        let mut at = from;
        for _ in 0..LOOKS {
            let gap = self.gap_after(contact, at, hold)?;
            if gap < 0.0 {
                return Ok(Some((at, gap)));
            }
            // The chord to one end, drawn on beyond the point, lies below the gap on the other side.
            let (before, after) =
                ((gap - left.1) / (at - left.0), (right.1 - gap) / (right.0 - at));
            let sides = [(left, (at, gap, after)), ((at, gap, before), right)];
            let [one, other] = sides.map(|(a, b)| valley(a, b));
            let next = usize::from(other.1 < one.1);
            let (meet, low) = [one, other][next];
            (left, right) = sides[next];
            if low >= 0.0 || meet <= left.0 || meet >= right.0 {
                return Ok(None);
            }
            at = meet;
        }
        Ok(None)
    }

    /// The instant at which a contact closes, or another one before it does.
    fn close(
        &mut self,
        first: usize,
        (mut limit, mut beyond): (f64, f64),
        hold: Hold,
    ) -> Result<Closing, StepError> {
        let mut contact = first;
        for _ in 0..=self.there.gap.len() {
            let Some(after) = self.crossing(contact, limit, beyond, hold)? else {
                return Ok(Closing { contact, after: 0.0, forced: true });
            };
            self.travel(after, hold)?;
            let x = &self.flow.kernel.position.x;
            self.flow.kernel.gaps.values(x, self.here.t + after, &mut self.trial);
            let mut earlier = None;
            for (k, gap) in self.trial.iter().enumerate() {
                let deep = *gap < -self.thresholds.gap[k] && !self.is_held(k) && k != contact;
                if deep && earlier.is_none_or(|(_, deepest)| *gap < deepest) {
                    earlier = Some((k, *gap));
                }
            }
            let Some((other, gap)) = earlier else {
                return Ok(Closing { contact, after, forced: false });
            };
            (contact, limit, beyond) = (other, after, gap);
        }
        Ok(Closing { contact, after: limit, forced: false })
    }

    /// Last time before the gap becomes negative within `limit`, where it is `beyond`; none if the contact touches now and never opens.
    fn crossing(
        &mut self,
        contact: usize,
        limit: f64,
        beyond: f64,
        hold: Hold,
    ) -> Result<Option<f64>, StepError> {
        let (mut low, mut gap) = (0.0, self.here.gap[contact]);
        let touches = self.thresholds.gap[contact];
        if gap <= touches {
            low = limit;
            for _ in 0..HALVINGS {
                low *= 0.5;
                gap = self.gap_after(contact, low, hold)?;
                if gap > touches {
                    break;
                }
            }
            if gap <= touches {
                return Ok(None);
            }
        }
        if beyond >= 0.0 {
            return Ok(Some(limit));
        }
        let t = self.here.t;
        let mut failure = None;
        let root = Bracket::new(low, gap, limit, beyond).and_then(|bracket| {
            let f = |tau| {
                self.gap_after(contact, tau, hold).unwrap_or_else(|error| {
                    failure = Some(error);
                    f64::NAN
                })
            };
            let options = RootOptions { side: Side::NonNegative, ..RootOptions::default() };
            chandrupatla(f, bracket, &options)
        });
        match (root, failure) {
            (_, Some(error)) => Err(error),
            (Ok(root), None) => Ok(Some(root.x)),
            (Err(error), None) => Err(StepError::Method { t, source: Box::new(error) }),
        }
    }

    /// Takes the flow on by `tau`, unless it is there.
    pub(super) fn travel(&mut self, tau: f64, hold: Hold) -> Result<(), StepError> {
        if self.flown != Some((tau, hold)) {
            self.flown = None;
            self.flow.advance(&self.here, tau, &self.held, hold, &self.thresholds)?;
            self.flown = Some((tau, hold));
        }
        Ok(())
    }

    fn gap_after(&mut self, contact: usize, tau: f64, hold: Hold) -> Result<f64, StepError> {
        self.travel(tau, hold)?;
        let x = &self.flow.kernel.position.x;
        let gap = self.flow.kernel.gaps.value(contact, x, self.here.t + tau);
        if gap.is_finite() {
            return Ok(gap);
        }
        let culprit = self.flow.system.inequalities().name(contact).to_owned();
        Err(StepError::NotFinite { t: self.here.t, what: "the gap", culprit })
    }
}

/// Where two lines meet between their points, each by time, value and slope, and how low that is; at the lower point where they do not.
fn valley((t0, g0, u0): (f64, f64, f64), (t1, g1, u1): (f64, f64, f64)) -> (f64, f64) {
    if !(u0 < 0.0 && u1 > 0.0) {
        return if g0 < g1 { (t0, g0) } else { (t1, g1) };
    }
    let t = ((g1 - u1 * t1) - (g0 - u0 * t0)) / (u0 - u1);
    let t = t.clamp(t0, t1);
    (t, (g0 + u0 * (t - t0)).max(g1 + u1 * (t - t1)))
}

/// The cubic with given values and slopes at 0 and at the end of an interval.
#[derive(Clone, Copy, Debug)]
struct Cubic([f64; 4]);

impl Cubic {
    fn new((g0, u0): (f64, f64), (g1, u1): (f64, f64), end: f64) -> Self {
        let mean = (g1 - g0) / end;
        let third = (u0 + u1 - 2.0 * mean) / (end * end);
        let second = (3.0 * mean - 2.0 * u0 - u1) / end;
        Self([g0, u0, second, third])
    }

    fn value(self, t: f64) -> f64 {
        let [a, b, c, d] = self.0;
        a + t * (b + t * (c + t * d))
    }

    /// Where the slope changes from negative to positive within `end`.
    fn bottom(self, end: f64) -> f64 {
        let slope = |t: f64| self.0[1] + t * (2.0 * self.0[2] + 3.0 * t * self.0[3]);
        let (mut low, mut high) = (0.0, end);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// A guess of the first change of sign before `end`.
    fn first_root(self, end: f64) -> f64 {
        let pieces = 16;
        let mut low = 0.0;
        for k in 1..=pieces {
            let high = end * f64::from(k) / f64::from(pieces);
            if self.value(high) < 0.0 {
                let (a, b) = (self.value(low).max(0.0), self.value(high));
                return low + (high - low) * a / (a - b);
            }
            low = high;
        }
        end
    }
}
