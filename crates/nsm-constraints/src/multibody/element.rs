//! Force elements on gauges: springs as potentials, everything else as the pull-back of a force.
//!
//! A potential $U(\varphi)$ of a [`Gauge`] has the discrete gradient
//! $$ \bar\nabla V = \frac{U(\varphi_1) - U(\varphi_0)}{\varphi_1 - \varphi_0}\\,\bar\nabla\varphi, $$
//! which does the work $\Delta V$ since $\bar\nabla\varphi$ does $\Delta\varphi$: energy and momenta stay exact with energy-momentum steps.
//!
//! A tension that is a function $f(\varphi)$ of its gauge alone has the potential $U = \int f$, and its quotient of differences is the mean of $f$ over the step, by
//! [quadrature](crate::integrate).
//!
//! A force $F_k(\varphi, \dot\varphi, t)$ on some gauges acts on the coordinates as
//! $$ f = \sum_k F_k\nabla\varphi_k, \quad
//!    f_v = \sum_{kl}\nabla\varphi_k\\,F_{k,\dot\varphi_l}\nabla\varphi_l^\top, \quad
//!    f_q = \sum_k F_k\varphi_k\'\' + \sum_{kl}\nabla\varphi_k\big(F_{k,\varphi_l}\nabla\varphi_l + F_{k,\dot\varphi_l}\varphi_l\'\'v\big)^\top, $$
//! $\dot\varphi = \nabla\varphi\cdot v$: its power is $\sum_k F_k\dot\varphi_k$.

use std::sync::Arc;

use super::gauge::Gauge;
use crate::{ConstraintError, Field, Force, MAX_BLOCK, integrate};

/// How the energy of an element depends on its gauge.
#[derive(Clone, Debug, PartialEq)]
pub enum Elastic {
    /// $\tfrac k2(\varphi - \varphi_0)^2$.
    Linear {
        /// $k$.
        stiffness: f64,
        /// $\varphi_0$.
        rest: f64,
    },
    /// $\tfrac k2\varphi$, of the square of a distance: a spring without free length.
    Square {
        /// $k$.
        stiffness: f64,
    },
    /// $-\mu/\varphi$, the attraction of two masses.
    Attraction {
        /// $\mu = Gm_1m_2$.
        strength: f64,
    },
    /// $\int_{\varphi_0}^\varphi f$ of a law $f$.
    Law(Law),
}

/// A tension $f(\varphi)$ by a [`Field`] of one coordinate, the gauge, and where its energy is counted from.
#[derive(Clone)]
pub struct Law {
    /// $f$.
    pub tension: Arc<dyn Field>,
    /// $\varphi_0$.
    pub from: f64,
}

impl std::fmt::Debug for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Law").field("from", &self.from).finish_non_exhaustive()
    }
}

impl PartialEq for Law {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tension, &other.tension) && self.from == other.from
    }
}

impl Law {
    fn at(&self, x: f64) -> f64 {
        self.tension.value(&[x], 0.0)
    }

    fn slope(&self, x: f64) -> f64 {
        let mut slope = [0.0];
        self.tension.gradient(&[x], 0.0, &mut slope[..self.tension.coordinates().len()]);
        slope[0]
    }

    /// Below this change of the gauge a quotient of differences is rounding, and a derivative as good.
    fn is_still(from: f64, to: f64) -> bool {
        (to - from).abs() <= 1e-6 * (from.abs() + to.abs())
    }
}

impl Elastic {
    fn value(&self, x: f64) -> f64 {
        match *self {
            Self::Linear { stiffness, rest } => 0.5 * stiffness * (x - rest) * (x - rest),
            Self::Square { stiffness } => 0.5 * stiffness * x,
            Self::Attraction { strength } => -strength / x,
            Self::Law(ref law) => integrate(&|x| law.at(x), law.from, x),
        }
    }

    fn first(&self, x: f64) -> f64 {
        match *self {
            Self::Linear { stiffness, rest } => stiffness * (x - rest),
            Self::Square { stiffness } => 0.5 * stiffness,
            Self::Attraction { strength } => strength / (x * x),
            Self::Law(ref law) => law.at(x),
        }
    }

    fn second(&self, x: f64) -> f64 {
        match *self {
            Self::Linear { stiffness, .. } => stiffness,
            Self::Square { .. } => 0.0,
            Self::Attraction { strength } => -2.0 * strength / (x * x * x),
            Self::Law(ref law) => law.slope(x),
        }
    }

    /// The quotient of differences and its derivative by the second value.
    fn mean(&self, from: f64, to: f64) -> (f64, f64) {
        match *self {
            Self::Linear { stiffness, rest } => {
                (stiffness * (0.5 * (from + to) - rest), 0.5 * stiffness)
            }
            Self::Square { stiffness } => (0.5 * stiffness, 0.0),
            Self::Attraction { strength } => (strength / (from * to), -strength / (from * to * to)),
            Self::Law(ref law) if Law::is_still(from, to) => {
                // To third order in the change: the trapezoid of a law that curves less than the change is long.
                (0.5 * (law.at(from) + law.at(to)), 0.5 * law.slope(to))
            }
            Self::Law(ref law) => {
                let mean = integrate(&|x| law.at(x), from, to) / (to - from);
                (mean, (law.at(to) - mean) / (to - from))
            }
        }
    }
}

/// The potential energy of an element, $U(\varphi(q))$.
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticElement {
    gauge: Gauge,
    elastic: Elastic,
}

impl ElasticElement {
    /// The energy of a gauge.
    pub fn new(gauge: Gauge, elastic: Elastic) -> Self {
        Self { gauge, elastic }
    }

    /// What it reads.
    pub fn gauge(&self) -> &Gauge {
        &self.gauge
    }
}

impl Field for ElasticElement {
    fn coordinates(&self) -> &[usize] {
        self.gauge.coordinates()
    }

    fn value(&self, q: &[f64], t: f64) -> f64 {
        self.elastic.value(self.gauge.value(q, t))
    }

    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let pull = self.elastic.first(self.gauge.value(q, t));
        self.gauge.gradient(q, t, out);
        for g in out {
            *g *= pull;
        }
    }

    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
        let x = self.gauge.value(q, t);
        self.gauge.hessian(q, t, w * self.elastic.first(x), out);
        let mut slope = [0.0; MAX_BLOCK];
        let slope = &mut slope[..self.coordinates().len()];
        self.gauge.gradient(q, t, slope);
        outer(w * self.elastic.second(x), slope, slope, out);
    }

    fn mean_gradient(&self, start: &[f64], end: &[f64], t: f64, out: &mut [f64]) -> bool {
        let (mean, _) = self.elastic.mean(self.gauge.value(start, t), self.gauge.value(end, t));
        self.gauge.mean_gradient(start, end, t, out);
        for g in out {
            *g *= mean;
        }
        true
    }

    fn mean_hessian(&self, start: &[f64], end: &[f64], t: f64, w: f64, out: &mut [f64]) -> bool {
        let (mean, by) = self.elastic.mean(self.gauge.value(start, t), self.gauge.value(end, t));
        self.gauge.mean_hessian(start, end, t, w * mean, out);
        let n = self.coordinates().len();
        let (mut average, mut slope) = ([0.0; MAX_BLOCK], [0.0; MAX_BLOCK]);
        self.gauge.mean_gradient(start, end, t, &mut average[..n]);
        self.gauge.gradient(end, t, &mut slope[..n]);
        outer(w * by, &average[..n], &slope[..n], out);
        true
    }

    fn is_affine(&self) -> bool {
        self.gauge.is_affine() && matches!(self.elastic, Elastic::Square { .. })
    }
}

/// Adds $w\\,x\\,y^\top$.
pub(super) fn outer(w: f64, x: &[f64], y: &[f64], out: &mut [f64]) {
    if w == 0.0 {
        return;
    }
    for (row, x) in out.chunks_exact_mut(y.len().max(1)).zip(x) {
        for (entry, y) in row.iter_mut().zip(y) {
            *entry += w * x * y;
        }
    }
}

/// A force on gauges as a force on coordinates.
#[derive(Clone)]
pub struct GaugeForce {
    gauges: Vec<Gauge>,
    law: Arc<dyn Force>,
    coordinates: Vec<usize>,
    /// Place of each gauge's coordinates in those of the force.
    places: Vec<Vec<usize>>,
}

impl std::fmt::Debug for GaugeForce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GaugeForce").field("gauges", &self.gauges).finish_non_exhaustive()
    }
}

/// A number for each gauge.
type Readings = [f64; MAX_BLOCK];

impl GaugeForce {
    /// Pulls back a law whose coordinates are the places of gauges in a list.
    ///
    /// # Errors
    /// More gauges than [`MAX_BLOCK`], or a law of more of them than there are.
    pub fn new(gauges: Vec<Gauge>, law: Arc<dyn Force>) -> Result<Self, ConstraintError> {
        if gauges.len() > MAX_BLOCK {
            return Err(ConstraintError::BlockTooLarge { size: gauges.len(), limit: MAX_BLOCK });
        }
        crate::check_coordinates("a force on gauges", law.coordinates(), gauges.len())?;
        let mut coordinates: Vec<usize> = law
            .coordinates()
            .iter()
            .flat_map(|&k| gauges[k].coordinates().iter().copied())
            .collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let place = |c: &usize| coordinates.binary_search(c).unwrap_or_default();
        let places = gauges.iter().map(|g| g.coordinates().iter().map(place).collect()).collect();
        Ok(Self { gauges, law, coordinates, places })
    }

    /// $\varphi$ and $\dot\varphi$ of every gauge that the law reads.
    fn read(&self, q: &[f64], v: &[f64]) -> (Readings, Readings) {
        let (mut x, mut rate) = ([0.0; MAX_BLOCK], [0.0; MAX_BLOCK]);
        for &k in self.law.coordinates() {
            x[k] = self.gauges[k].value(q, 0.0);
            rate[k] = self.gauges[k].rate_of(q, v);
        }
        (x, rate)
    }

    fn slope(&self, k: usize, q: &[f64]) -> Readings {
        let mut slope = [0.0; MAX_BLOCK];
        self.gauges[k].gradient(q, 0.0, &mut slope[..self.gauges[k].coordinates().len()]);
        slope
    }

    /// Adds $w\\,\nabla\varphi_k\\,y^\top$ with $y$ on the coordinates of gauge $l$.
    fn add(&self, w: f64, (k, x): (usize, &Readings), (l, y): (usize, &Readings), out: &mut [f64]) {
        let n = self.coordinates.len();
        for (&i, x) in self.places[k].iter().zip(x) {
            for (&j, y) in self.places[l].iter().zip(y) {
                out[i * n + j] += w * x * y;
            }
        }
    }
}

impl Force for GaugeForce {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn force(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        let (x, rate) = self.read(q, v);
        let mut pull = [0.0; MAX_BLOCK];
        self.law.force(&x, &rate, t, &mut pull);
        out.fill(0.0);
        for (&k, pull) in self.law.coordinates().iter().zip(pull).filter(|(_, f)| *f != 0.0) {
            for (&i, g) in self.places[k].iter().zip(self.slope(k, q)) {
                out[i] += pull * g;
            }
        }
    }

    fn by_position(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        let (x, rate) = self.read(q, v);
        let block = self.law.coordinates();
        let m = block.len();
        let mut pull = [0.0; MAX_BLOCK];
        let mut by = [[0.0; MAX_BLOCK * MAX_BLOCK]; 2];
        self.law.force(&x, &rate, t, &mut pull);
        self.law.by_position(&x, &rate, t, &mut by[0][..m * m]);
        self.law.by_velocity(&x, &rate, t, &mut by[1][..m * m]);
        out.fill(0.0);
        let mut hessian = [0.0; MAX_BLOCK * MAX_BLOCK];
        for (b, &l) in block.iter().enumerate() {
            let n = self.places[l].len();
            let hessian = &mut hessian[..n * n];
            hessian.fill(0.0);
            self.gauges[l].hessian(q, 0.0, 1.0, hessian);
            for (row, &i) in hessian.chunks_exact(n.max(1)).zip(&self.places[l]) {
                for (h, &j) in row.iter().zip(&self.places[l]) {
                    out[i * self.coordinates.len() + j] += pull[b] * h;
                }
            }
            let slope = self.slope(l, q);
            let mut bent = [0.0; MAX_BLOCK];
            for (bent, row) in bent.iter_mut().zip(hessian.chunks_exact(n.max(1))) {
                let columns = self.gauges[l].coordinates();
                *bent = row.iter().zip(columns).map(|(h, &c)| h * v[c]).sum();
            }
            for (a, &k) in block.iter().enumerate() {
                let own = self.slope(k, q);
                self.add(by[0][a * m + b], (k, &own), (l, &slope), out);
                self.add(by[1][a * m + b], (k, &own), (l, &bent), out);
            }
        }
    }

    fn by_velocity(&self, q: &[f64], v: &[f64], t: f64, out: &mut [f64]) {
        let (x, rate) = self.read(q, v);
        let block = self.law.coordinates();
        let m = block.len();
        let mut by = [0.0; MAX_BLOCK * MAX_BLOCK];
        self.law.by_velocity(&x, &rate, t, &mut by[..m * m]);
        out.fill(0.0);
        for (a, &k) in block.iter().enumerate() {
            for (b, &l) in block.iter().enumerate() {
                let w = by[a * m + b];
                self.add(w, (k, &self.slope(k, q)), (l, &self.slope(l, q)), out);
            }
        }
    }

    fn depends_on_velocity(&self) -> bool {
        self.law.depends_on_velocity()
    }
}

/// A force $-c\dot\varphi$ on one gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Damper(pub(super) f64);

impl Force for Damper {
    fn coordinates(&self) -> &[usize] {
        &[0]
    }

    fn force(&self, _q: &[f64], v: &[f64], _t: f64, out: &mut [f64]) {
        out[0] = -self.0 * v[0];
    }

    fn by_position(&self, _q: &[f64], _v: &[f64], _t: f64, out: &mut [f64]) {
        out[0] = 0.0;
    }

    fn by_velocity(&self, _q: &[f64], _v: &[f64], _t: f64, out: &mut [f64]) {
        out[0] = -self.0;
    }
}
