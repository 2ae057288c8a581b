//! The least impulses that keep contacts from closing: the one problem behind impacts, landings and held contacts.
//!
//! For contacts with gradients $N_i$ (projected onto the equalities, \[KP\] (6.7)) and a metric $W$ on momenta,
//! $$ 0 \le \lambda \perp A\lambda + b \ge 0, \qquad A = N^\top W N . $$
//! With $b = w - c$, $w = N^\top W p$, the momentum $p + N\lambda$ is the one nearest to $p$ at which every contact opens at
//! $c_i$ or faster: $c = -e\\,w$ is Newton's law, $c = 0$ a landing. With gaps for $b$ and the position update for $A$ it is
//! the impulse of contacts that are held over a step.
//!
//! Where equalities move by themselves $w$ is what the contacts see of each other, $N^\top W p$ and the drift of the projected rows
//! ([`CotangentProjection`](nsm_constraints::CotangentProjection)), and so it is for gaps that depend on time.
//!
//! Rows are scaled to unit length before they are solved, so that no outcome depends on how a gap is
//! scaled; a row that vanishes takes no impulse. Every answer is checked before it leaves.

use nsm_constraints::Metric;
use nsm_model::System;

use crate::islands::Islands;
use crate::multipliers::{Island, Multipliers};
use crate::reflector::{Projected, gather};
use crate::{ContactRows, ReflectError};

/// Largest violation of the conditions, relative to the largest $b$ of unit rows, that still is an answer.
const ACCEPTABLE: f64 = 1e-9;

/// The contacts at one configuration, ready to be solved for any right-hand side; nothing is allocated
/// once it has grown to the contacts that it meets.
#[derive(Debug)]
pub struct LeastImpulses {
    starts: Vec<usize>,
    columns: Vec<usize>,
    equalities: Option<Projected>,
    rows: PlacedRows,
    islands: Islands,
    multipliers: Multipliers,
    live: Vec<usize>,
    /// $b$ and $\lambda$ of unit rows.
    scaled: Vec<f64>,
    found: Vec<f64>,
    /// $N\lambda$ and $W N\lambda$, zero between calls.
    impulse: Vec<f64>,
    velocity: Vec<f64>,
}

/// Rows of unit length, one for each contact that was placed.
#[derive(Debug, Default)]
pub(crate) struct PlacedRows {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    /// $\lvert N_i \rvert_W$ before scaling; zero where the row vanishes.
    length: Vec<f64>,
    /// Rates where nothing moves but equalities and walls by themselves.
    drift: Vec<f64>,
    all: Vec<usize>,
}

impl PlacedRows {
    pub(crate) fn view(&self) -> ContactRows<'_> {
        ContactRows::of_pattern(&self.starts, &self.columns, &self.values)
    }

    /// The rows one by one.
    pub(crate) fn all(&self) -> &[usize] {
        &self.all
    }

    pub(crate) fn length(&self, row: usize) -> f64 {
        self.length[row]
    }

    /// Takes rows of `given`, whose squares in the metric `square` knows.
    pub(crate) fn place(
        &mut self,
        given: ContactRows<'_>,
        contacts: &[usize],
        mut square: impl FnMut(&[usize], &[f64]) -> f64,
    ) -> Result<(), ReflectError> {
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.values.clear();
        self.length.clear();
        self.all.clear();
        self.all.extend(0..contacts.len());
        for &contact in contacts {
            let (columns, values) = given.row(contact);
            let square = square(columns, values);
            if !square.is_finite() {
                return Err(ReflectError::NotFinite { what: "the gradient", contact });
            }
            let length = square.max(0.0).sqrt();
            let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
            self.columns.extend_from_slice(columns);
            self.values.extend(values.iter().map(|x| x * scale));
            self.starts.push(self.columns.len());
            self.length.push(if scale.is_finite() { length } else { 0.0 });
        }
        Ok(())
    }

    /// Adds $s N_i$ to a momentum.
    pub(crate) fn push(&self, row: usize, s: f64, p: &mut [f64]) {
        let (columns, values) = self.view().row(row);
        let s = s * self.length[row];
        for (&c, x) in columns.iter().zip(values) {
            p[c] += s * x;
        }
    }

    /// $N_i \cdot v$.
    pub(crate) fn rate(&self, row: usize, v: &[f64]) -> f64 {
        let (columns, values) = self.view().row(row);
        let sum: f64 = columns.iter().zip(values).map(|(&c, x)| x * v[c]).sum();
        sum * self.length[row]
    }
}

impl LeastImpulses {
    /// For the contacts of a system and metrics with the pattern of `metric`.
    pub fn new(system: &System, metric: &Metric) -> Self {
        let rows = system.inequalities();
        let (n, m) = (system.dimension(), rows.len());
        let equalities = Projected::new(system, metric);
        let entries = equalities.as_ref().map_or(rows.entries(), Projected::entries);
        let mut starts = vec![0];
        starts.extend((0..m).map(|i| rows.span(i).end));
        let mut multipliers = Multipliers::new(n, m);
        multipliers.reserve(entries);
        Self {
            starts,
            columns: (0..m).flat_map(|i| rows.columns(i).iter().copied()).collect(),
            equalities,
            rows: PlacedRows {
                starts: Vec::with_capacity(m + 1),
                columns: Vec::with_capacity(entries),
                values: Vec::with_capacity(entries),
                length: Vec::with_capacity(m),
                drift: Vec::with_capacity(m),
                all: Vec::with_capacity(m),
            },
            islands: Islands::new(n, m),
            multipliers,
            live: Vec::with_capacity(m),
            scaled: Vec::with_capacity(m),
            found: Vec::with_capacity(m),
            impulse: vec![0.0; n],
            velocity: vec![0.0; n],
        }
    }

    /// Takes the gradients of `contacts` at a configuration: `g` and `f` are gradient values of the inequalities
    /// (current for `contacts`) and of the equalities.
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn place(
        &mut self,
        system: &System,
        metric: &Metric,
        at: (&[f64], f64),
        (g, f): (&[f64], &[f64]),
        contacts: &[usize],
    ) -> Result<(), ReflectError> {
        let pattern = (&self.starts[..], &self.columns[..]);
        if let Some(projected) = &mut self.equalities {
            projected.at(system, at);
        }
        let given = gather(system, metric, pattern, &mut self.equalities, (g, f), contacts)?;
        let multipliers = &mut self.multipliers;
        self.rows.place(given, contacts, |columns, values| {
            multipliers.square(metric, columns, values)
        })?;
        let gaps = system.inequalities();
        self.rows.drift.clear();
        self.rows.drift.extend(contacts.iter().map(|&contact| {
            let gap = gaps.field(contact);
            let wall = if gap.is_rheonomic() { gap.rate(at.0, at.1) } else { 0.0 };
            given.drift(contact) + wall
        }));
        Ok(())
    }

    /// Length $\lvert N_i \rvert_W$ of a placed row.
    pub fn length(&self, row: usize) -> f64 {
        self.rows.length[row]
    }

    /// Adds $s N_i$ to a momentum.
    pub fn push(&self, row: usize, s: f64, p: &mut [f64]) {
        self.rows.push(row, s, p);
    }

    /// The rate $\nabla g_i \cdot v$ of a gap, for a velocity that the equalities allow.
    pub fn rate(&self, row: usize, v: &[f64]) -> f64 {
        self.along(row, v) + self.rows.drift[row]
    }

    /// $N_i \cdot v$: what a change of velocity does to the rate.
    pub fn along(&self, row: usize, v: &[f64]) -> f64 {
        self.rows.rate(row, v)
    }

    /// Writes $\lambda$ of the placed rows `chosen` for the right-hand sides `b`; both are indexed by placed row, and rows that
    /// are not chosen take nothing. Returns the largest violation of the conditions relative to the largest
    /// $b_i / \lvert N_i \rvert$.
    ///
    /// # Errors
    /// Right-hand sides that are not finite, and problems without an answer: contacts that are pressed together between
    /// walls that cannot move apart.
    pub fn solve(
        &mut self,
        metric: &Metric,
        chosen: &[usize],
        b: &[f64],
        lambda: &mut [f64],
    ) -> Result<f64, ReflectError> {
        let Self { rows, islands, multipliers, live, scaled, found, .. } = self;
        lambda.fill(0.0);
        live.clear();
        live.extend(chosen.iter().filter(|&&i| rows.length[i] > 0.0));
        scaled.clear();
        scaled.resize(rows.all.len(), 0.0);
        found.clear();
        found.resize(rows.all.len(), 0.0);
        let mut largest = 0.0_f64;
        for &i in &*live {
            scaled[i] = b[i] / rows.length[i];
            if !scaled[i].is_finite() {
                return Err(ReflectError::NotFinite { what: "the rate", contact: i });
            }
            largest = largest.max(scaled[i].abs());
        }
        let view = rows.view();
        islands.group(metric, view, &rows.all, live);
        for k in 0..islands.len() {
            let slots = islands.island(k);
            multipliers.q.clear();
            multipliers.q.extend(slots.iter().map(|&i| scaled[i]));
            if multipliers.q.iter().all(|b| *b >= 0.0) {
                continue;
            }
            multipliers.project(Island { metric, rows: view, candidates: &rows.all, slots })?;
            for (&i, λ) in slots.iter().zip(&multipliers.lambda) {
                found[i] = *λ;
            }
        }
        let violation = self.violation(metric) / largest.max(f64::MIN_POSITIVE);
        if violation.is_nan() || violation > ACCEPTABLE {
            let contact = self.live.first().copied().unwrap_or(0);
            return Err(ReflectError::Rounds { contact, residual: violation * largest, rounds: 1 });
        }
        for &i in &self.live {
            lambda[i] = self.found[i] / self.rows.length[i];
        }
        Ok(violation)
    }

    /// $\max_i \lvert \min(\lambda_i, (A\lambda + b)_i) \rvert$ over unit rows.
    fn violation(&mut self, metric: &Metric) -> f64 {
        let Self { rows, live, scaled, found, impulse, velocity, .. } = self;
        let view = rows.view();
        for &i in &*live {
            if found[i] != 0.0 {
                let (columns, values) = view.row(i);
                columns.iter().zip(values).for_each(|(&c, x)| impulse[c] += found[i] * x);
            }
        }
        for &i in &*live {
            for &c in view.row(i).0 {
                velocity[c] = metric.apply_row(c, impulse);
            }
        }
        let mut worst = 0.0;
        for &i in &*live {
            let (columns, values) = view.row(i);
            let opening: f64 = columns.iter().zip(values).map(|(&c, x)| x * velocity[c]).sum();
            let defect = found[i].min(scaled[i] + opening).abs();
            // `max` would forget NaN.
            if defect.is_nan() || defect > worst {
                worst = defect;
            }
        }
        for &i in &*live {
            for &c in view.row(i).0 {
                (impulse[c], velocity[c]) = (0.0, 0.0);
            }
        }
        worst
    }
}
