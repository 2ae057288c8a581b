//! Rounds of an impact law on plain slices: islands in, momenta and a certificate out.
//!
//! \[KP\] Algorithm 2, made sparse. Every round
//!
//! 1. takes the contacts that approach, $\mathbb{V} = \lbrace i : w_i < -\tau \rbrace$, $w = G^\top W p$;
//! 2. splits them into islands and finds the multipliers of each on its own;
//! 3. adds $G\lambda$ to $p$ and evaluates again those contacts only whose velocities have changed.
//!
//! A wave that runs along a chain therefore costs a constant amount a round, however long the chain. The
//! threshold $\tau$ grows with the largest speeds a contact has seen in this impact, so rounding that
//! they leave behind is never reflected (strict "$< 0$" loops forever even on five aligned balls).
//!
//! The rounds end whenever some velocity separates all contacts, $c \cdot \nabla g_i \ge \delta > 0$: $c \cdot p$ grows by at least
//! $\delta \sum \lambda_i$ in each, energy bounds it, and the threshold bounds $\sum \lambda_i$ from below (for the theory without
//! threshold see [Vouga et al. 2017]). Opposed walls have no such velocity: a limit catches them.

use nsm_constraints::{ContactTolerance, Metric};

use crate::islands::Islands;
use crate::multipliers::Multipliers;
use crate::{Certificate, ContactRows, ImpactLaw, ReflectError};

mod bounce;
mod rounds;

use rounds::Multiplier;

const NONE: usize = usize::MAX;

/// Rounds after which an impact with losses is finished without rebound: the geometric tail of an
/// inelastic collapse.
const COLLAPSE: usize = 20;

/// Share of the energy that an impact may be off what its law says: rounding in the impulses, which
/// repeated or opposed contacts enlarge.
const ENERGY: f64 = 1e-9;

/// An impact law's workspace for momenta and contacts given as slices.
///
/// Serves anything whose contacts are rows on momenta. Systems use [`Reflector`](crate::Reflector).
///
/// ```
/// use nsm_constraints::{ContactTolerance, Metric};
/// use nsm_reflect::{ContactRows, ImpactLaw, Kernel};
///
/// // Three equal balls in a row; the first one hits the others.
/// let metric = Metric::diagonal(&[1.0; 3])?;
/// let rows = ContactRows::new(3, &[0, 2, 4], &[0, 1, 1, 2], &[-1.0, 1.0, -1.0, 1.0])?;
/// let mut kernel = Kernel::new(3, 2, ContactTolerance::default());
/// let mut p = [1.0, 0.0, 0.0];
/// let certificate = kernel.reflect(&ImpactLaw::Reflection, &metric, rows, &[0, 1], &mut p)?;
/// assert_eq!(p, [0.0, 0.0, 1.0]);
/// assert_eq!(certificate.rounds, 2);
/// assert_eq!(kernel.impulses(), [1.0, 1.0]);
/// # Ok::<(), nsm_reflect::ReflectError>(())
/// ```
#[derive(Debug)]
pub struct Kernel {
    /// When a contact approaches.
    pub tolerance: ContactTolerance,
    /// Most rounds of one impact; by default 1000 and another 100 for every candidate.
    pub max_rounds: Option<usize>,
    nodes: Vec<Node>,
    /// Coordinate to slots: linked lists of (slot, next), entered through [`Node::head`].
    links: Vec<(usize, usize)>,
    /// Current impact, current round: stamps.
    impact: u64,
    round: u64,
    /// Coordinates that the impact changed, with momentum and velocity before.
    touched: Vec<(usize, f64, f64)>,
    /// Coordinates whose momentum, and whose velocity, the round changed.
    changed: Vec<usize>,
    refreshed: Vec<usize>,
    /// Change of the momenta of one island, zero between islands.
    delta: Vec<f64>,
    slots: Vec<Slot>,
    impulses: Vec<f64>,
    violating: Vec<usize>,
    closed: Vec<usize>,
    /// Slots that are brought to rest instead of rebounding.
    plastic: Vec<bool>,
    islands: Islands,
    multipliers: Multipliers,
}

/// What is known of a coordinate in the current impact.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Velocity $(Wp)_k$.
    v: f64,
    /// Velocity before the impact.
    start: f64,
    /// First link of the slots that depend on it.
    head: usize,
    /// Impact in which velocity and head are valid.
    known: u64,
    /// Impact in which it was touched last.
    touched: u64,
    /// Rounds in which momentum and velocity changed last.
    changed: u64,
    refreshed: u64,
}

/// What is known of a candidate in the current impact.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// $\nabla g^\top W p$.
    rate: f64,
    /// Largest scale of the rate seen so far, see [`ContactTolerance`].
    scale: f64,
    /// Round in which it was evaluated last.
    seen: u64,
}

impl Kernel {
    /// Room for impacts on `dimension` momenta with up to `contacts` candidates; more of the latter, or
    /// gradients with more than four entries each, grow it when first met.
    pub fn new(dimension: usize, contacts: usize, tolerance: ContactTolerance) -> Self {
        Self {
            tolerance,
            max_rounds: None,
            nodes: vec![Node::default(); dimension],
            links: Vec::with_capacity(4 * contacts),
            impact: 0,
            round: 0,
            touched: Vec::with_capacity(dimension),
            changed: Vec::with_capacity(dimension),
            refreshed: Vec::with_capacity(dimension),
            delta: vec![0.0; dimension],
            slots: Vec::with_capacity(contacts),
            impulses: Vec::with_capacity(contacts),
            violating: Vec::with_capacity(contacts),
            closed: Vec::with_capacity(contacts),
            plastic: Vec::with_capacity(contacts),
            islands: Islands::new(dimension, contacts),
            multipliers: Multipliers::new(dimension, contacts),
        }
    }

    /// Makes room for gradients with this many entries in all.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.links.reserve(entries.saturating_sub(self.links.len()));
        self.multipliers.reserve(entries);
    }

    /// Total impulse $\lambda_i$ of each candidate in the last impact, in the order of the candidates.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// Resolves an impact: changes `p` so that no candidate approaches.
    ///
    /// `candidates` are rows of `rows`. Without a violation nothing changes and no rounds are counted.
    ///
    /// # Errors
    /// Leaves `p` as it was: no end of the rounds (opposed walls), a metric that is not positive,
    /// numbers that are not finite, slices that do not fit.
    pub fn reflect(
        &mut self,
        law: &ImpactLaw,
        metric: &Metric,
        rows: ContactRows<'_>,
        candidates: &[usize],
        p: &mut [f64],
    ) -> Result<Certificate, ReflectError> {
        law.check(rows.len())?;
        self.reflect_checked(law, metric, rows, candidates, p)
    }

    /// As [`reflect`](Kernel::reflect), for a law that was checked before.
    #[inline]
    pub(crate) fn reflect_checked(
        &mut self,
        law: &ImpactLaw,
        metric: &Metric,
        rows: ContactRows<'_>,
        candidates: &[usize],
        p: &mut [f64],
    ) -> Result<Certificate, ReflectError> {
        let n = self.nodes.len();
        self.impulses.clear();
        if let (&[contact], Some(w)) = (candidates, metric.as_diagonal())
            && !rows.drifts()
            && contact < rows.len()
            && w.len() == n
            && p.len() == n
        {
            self.impulses.push(0.0);
            return self.bounce(law, w, rows, contact, p);
        }
        self.collide(Impact { law, metric, rows, candidates }, p)
    }

    /// The impact of any number of contacts, with what it needs for a retreat.
    #[inline(never)]
    fn collide(&mut self, impact: Impact<'_>, p: &mut [f64]) -> Result<Certificate, ReflectError> {
        let (n, contacts) = (self.nodes.len(), impact.rows.len());
        for (what, length) in [("the momentum", p.len()), ("the metric", impact.metric.dimension())]
        {
            if length != n {
                return Err(ReflectError::Length { what, length, expected: n });
            }
        }
        if let Some(&contact) = impact.candidates.iter().find(|&&i| i >= contacts) {
            return Err(ReflectError::UnknownContact { contact, contacts });
        }
        self.impulses.resize(impact.candidates.len(), 0.0);
        self.impact += 1;
        self.touched.clear();
        self.changed.clear();
        let outcome = self.resolve(impact, p);
        if outcome.is_err() {
            for &(k, before, _) in &self.touched {
                p[k] = before;
            }
            self.impulses.fill(0.0);
        }
        outcome
    }

    fn resolve(&mut self, impact: Impact<'_>, p: &mut [f64]) -> Result<Certificate, ReflectError> {
        self.start(impact, p)?;
        let mut certificate = Certificate::default();
        let limit = self.max_rounds.unwrap_or(1000 + 100 * impact.candidates.len());
        if !self.violating.is_empty() {
            self.link(impact);
        }
        while !self.violating.is_empty() {
            if certificate.rounds == limit {
                return Err(self.endless(impact, limit));
            }
            let largest = match impact.law {
                ImpactLaw::Reflection => {
                    self.reflect_islands(impact, p, Multiplier::NonNegative)?
                }
                ImpactLaw::Published => self.reflect_islands(impact, p, Multiplier::Published)?,
                ImpactLaw::Sequential(e) => self.sweep(impact, e, p)?,
                ImpactLaw::Newton(e) => {
                    self.collect_closed(impact, e, certificate.rounds >= COLLAPSE);
                    self.newton(impact, e, p)?
                }
                ImpactLaw::Lcp(e) => {
                    self.closed.clear();
                    self.closed.extend((0..impact.candidates.len()).filter(|&s| impact.acts(s)));
                    self.plastic.clear();
                    self.plastic.resize(impact.candidates.len(), false);
                    self.newton(impact, e, p)?
                }
            };
            certificate.largest_island = certificate.largest_island.max(largest);
            certificate.rounds += 1;
            self.refresh(impact, p)?;
        }
        self.certify(impact, certificate, p)
    }

    /// Rates of all candidates at the start.
    fn start(&mut self, impact: Impact<'_>, p: &[f64]) -> Result<(), ReflectError> {
        let Self { tolerance, nodes, slots, violating, impact: now, .. } = self;
        let diagonal = impact.metric.as_diagonal();
        slots.clear();
        violating.clear();
        let mut sum = 0.0;
        for slot in 0..impact.candidates.len() {
            let (columns, values) = impact.row(slot);
            let drift = impact.drift(slot);
            let (mut rate, mut scale) = (drift, drift.abs());
            for (&k, g) in columns.iter().zip(values) {
                let node = &mut nodes[k];
                if node.known != *now {
                    node.known = *now;
                    node.head = NONE;
                    node.v = match diagonal {
                        Some(w) => w[k] * p[k],
                        None => impact.metric.apply_row(k, p),
                    };
                    node.start = node.v;
                }
                rate += g * node.v;
                scale += g.abs() * (node.v.abs() + tolerance.speed);
            }
            slots.push(Slot { rate, scale, seen: 0 });
            sum += scale;
            if rate < -tolerance.velocity * scale {
                violating.push(slot);
            }
        }
        self.round += 1;
        self.check_finite(impact, sum)
    }

    /// Which candidates depend on a coordinate.
    fn link(&mut self, impact: Impact<'_>) {
        self.links.clear();
        for slot in 0..impact.candidates.len() {
            for &k in impact.row(slot).0 {
                let head = std::mem::replace(&mut self.nodes[k].head, self.links.len());
                self.links.push((slot, head));
            }
        }
    }

    /// Rate of one candidate now, and whether it approaches.
    #[inline]
    fn evaluate(&mut self, impact: Impact<'_>, slot: usize) -> (f64, bool) {
        let (columns, values) = impact.row(slot);
        let drift = impact.drift(slot);
        let (mut rate, mut scale) = (drift, drift.abs());
        for (&k, g) in columns.iter().zip(values) {
            let v = self.nodes[k].v;
            rate += g * v;
            scale += g.abs() * (v.abs() + self.tolerance.speed);
        }
        let known = &mut self.slots[slot];
        known.rate = rate;
        if scale > known.scale {
            known.scale = scale;
        }
        (rate, rate < -self.tolerance.velocity * known.scale)
    }

    /// `sum` is finite unless a rate or a scale is not.
    fn check_finite(&self, impact: Impact<'_>, sum: f64) -> Result<(), ReflectError> {
        if sum.is_finite() {
            return Ok(());
        }
        match self.slots.iter().position(|s| !s.rate.is_finite() || !s.scale.is_finite()) {
            Some(slot) => {
                let contact = impact.candidates[slot];
                Err(ReflectError::NotFinite { what: "the rate", contact })
            }
            None => Ok(()),
        }
    }

    /// Velocities and rates that the round has changed.
    fn refresh(&mut self, impact: Impact<'_>, p: &[f64]) -> Result<(), ReflectError> {
        let Self { nodes, impact: now, round, changed, refreshed, .. } = self;
        if let Some(w) = impact.metric.as_diagonal() {
            std::mem::swap(changed, refreshed);
            for &k in &*refreshed {
                nodes[k].v = w[k] * p[k];
            }
        } else {
            refreshed.clear();
            for &k in &*changed {
                impact.metric.for_coupled(k, |j| {
                    let node = &mut nodes[j];
                    if node.known == *now && node.refreshed != *round {
                        node.refreshed = *round;
                        node.v = impact.metric.apply_row(j, p);
                        refreshed.push(j);
                    }
                });
            }
        }
        self.changed.clear();
        self.violating.clear();
        let mut sum = 0.0;
        for index in 0..self.refreshed.len() {
            let mut link = self.nodes[self.refreshed[index]].head;
            while link != NONE {
                let (slot, next) = self.links[link];
                if self.slots[slot].seen != self.round {
                    self.slots[slot].seen = self.round;
                    let (rate, approaches) = self.evaluate(impact, slot);
                    sum += rate;
                    if approaches {
                        self.violating.push(slot);
                    }
                }
                link = next;
            }
        }
        self.round += 1;
        self.violating.sort_unstable();
        self.check_finite(impact, sum)
    }

    fn endless(&self, impact: Impact<'_>, rounds: usize) -> ReflectError {
        let approach = |slot: &usize| -self.slots[*slot].rate;
        let worst = (0..self.slots.len()).max_by(|a, b| approach(a).total_cmp(&approach(b)));
        let slot = worst.unwrap_or(0);
        ReflectError::Rounds { contact: impact.candidates[slot], residual: approach(&slot), rounds }
    }

    /// The certificate, whose own numbers are checked before an answer leaves: nothing approaches, and energy is what
    /// the law says.
    fn certify(
        &self,
        impact: Impact<'_>,
        mut certificate: Certificate,
        p: &[f64],
    ) -> Result<Certificate, ReflectError> {
        let mut approaches = false;
        for slot in &self.slots {
            if -slot.rate > certificate.residual {
                certificate.residual = -slot.rate;
            }
            approaches |= slot.rate < -self.tolerance.velocity * slot.scale;
        }
        if approaches {
            return Err(self.endless(impact, certificate.rounds));
        }
        if certificate.rounds == 0 {
            return Ok(certificate);
        }
        for impulse in &self.impulses {
            certificate.reflected += usize::from(*impulse != 0.0);
            certificate.least_impulse = certificate.least_impulse.min(*impulse);
        }
        let mut energy = 0.0;
        for &(k, before, v) in &self.touched {
            certificate.energy_change += 0.5 * (p[k] - before) * (self.nodes[k].v + v);
            energy += 0.5 * (before * v).abs();
        }
        // What equalities that move add by themselves is no work of the contacts.
        for (slot, impulse) in self.impulses.iter().enumerate() {
            certificate.energy_change += impulse * impact.drift(slot);
        }
        let change = certificate.energy_change;
        let excess = match impact.law {
            ImpactLaw::Reflection | ImpactLaw::Published => change.abs(),
            ImpactLaw::Sequential(_) | ImpactLaw::Newton(_) => change,
            ImpactLaw::Lcp(_) => 0.0,
        };
        if !change.is_finite() || excess > ENERGY * energy {
            let contact = impact.candidates[self.heaviest()];
            return Err(ReflectError::Energy { contact, change, energy });
        }
        Ok(certificate)
    }

    /// The slot with the largest impulse.
    fn heaviest(&self) -> usize {
        let size = |slot: &usize| self.impulses[*slot].abs();
        (0..self.impulses.len()).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0)
    }
}

/// What an impact consists of.
#[derive(Clone, Copy)]
struct Impact<'a> {
    law: &'a ImpactLaw,
    metric: &'a Metric,
    rows: ContactRows<'a>,
    candidates: &'a [usize],
}

impl<'a> Impact<'a> {
    #[inline]
    fn row(&self, slot: usize) -> (&'a [usize], &'a [f64]) {
        self.rows.row(self.candidates[slot])
    }

    /// Rate of a candidate where all momenta vanish.
    #[inline]
    fn drift(&self, slot: usize) -> f64 {
        self.rows.drift(self.candidates[slot])
    }

    /// Whether the contact can take an impulse: one without gradient takes part in nothing.
    #[inline]
    fn acts(&self, slot: usize) -> bool {
        self.row(slot).1.iter().any(|g| *g != 0.0)
    }
}
