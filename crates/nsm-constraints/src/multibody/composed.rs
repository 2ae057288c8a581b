//! A function of freedoms of joints and coordinates, as a function of the coordinates.
//!
//! $$ g(q) = f(\varphi(q)), \qquad \nabla g = \sum_k f_k\nabla\varphi_k, \qquad
//!    g\'\' = \sum_k f_k\\,\varphi_k\'\' + \sum_{kl} f_{kl}\\,\nabla\varphi_k\nabla\varphi_l^\top, $$
//! where each $\varphi_k$ is a [`Gauge`] or a coordinate: a cam, a linkage by its law, anything that ties freedoms together.

use std::sync::Arc;

use super::gauge::Gauge;
use crate::{ConstraintError, Field, MAX_BLOCK};

/// What a composed function reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A coordinate of the mechanism.
    Coordinate(usize),
    /// A freedom of a joint, or another gauge.
    Gauge(Gauge),
}

impl Reading {
    fn coordinates(&self) -> &[usize] {
        match self {
            Self::Coordinate(c) => std::slice::from_ref(c),
            Self::Gauge(gauge) => gauge.coordinates(),
        }
    }

    fn value(&self, q: &[f64]) -> f64 {
        match self {
            Self::Coordinate(c) => q[*c],
            Self::Gauge(gauge) => gauge.value(q, 0.0),
        }
    }

    fn gradient(&self, q: &[f64], out: &mut [f64]) {
        match self {
            Self::Coordinate(_) => out[0] = 1.0,
            Self::Gauge(gauge) => gauge.gradient(q, 0.0, out),
        }
    }
}

/// A [`Field`] of [`Reading`]s.
#[derive(Clone)]
pub struct Composed {
    law: Arc<dyn Field>,
    readings: Vec<Reading>,
    coordinates: Vec<usize>,
    places: Vec<Vec<usize>>,
}

impl std::fmt::Debug for Composed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composed").field("readings", &self.readings).finish_non_exhaustive()
    }
}

type Few = [f64; MAX_BLOCK];

impl Composed {
    /// A law whose coordinates are the places of readings in a list.
    ///
    /// # Errors
    /// A law of more readings than there are, or more than [`MAX_BLOCK`] of them.
    pub fn new(law: Arc<dyn Field>, readings: Vec<Reading>) -> Result<Self, ConstraintError> {
        if readings.len() > MAX_BLOCK {
            return Err(ConstraintError::BlockTooLarge { size: readings.len(), limit: MAX_BLOCK });
        }
        crate::check_coordinates("a function of freedoms", law.coordinates(), readings.len())?;
        let mut coordinates: Vec<usize> =
            readings.iter().flat_map(|r| r.coordinates().iter().copied()).collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let place = |c: &usize| coordinates.binary_search(c).unwrap_or_default();
        let places = readings.iter().map(|r| r.coordinates().iter().map(place).collect()).collect();
        Ok(Self { law, readings, coordinates, places })
    }

    fn read(&self, q: &[f64]) -> Few {
        let mut x = [0.0; MAX_BLOCK];
        for (x, reading) in x.iter_mut().zip(&self.readings) {
            *x = reading.value(q);
        }
        x
    }

    fn slope(&self, k: usize, q: &[f64]) -> Few {
        let mut slope = [0.0; MAX_BLOCK];
        self.readings[k].gradient(q, &mut slope[..self.places[k].len()]);
        slope
    }

    /// Adds $\sum_k w_k\nabla\varphi_k$.
    fn pull(&self, weights: &Few, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (&k, w) in self.law.coordinates().iter().zip(weights) {
            for (&i, g) in self.places[k].iter().zip(self.slope(k, q)) {
                out[i] += w * g;
            }
        }
    }
}

impl Field for Composed {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], t: f64) -> f64 {
        self.law.value(&self.read(q), t)
    }

    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let mut by = [0.0; MAX_BLOCK];
        self.law.gradient(&self.read(q), t, &mut by[..self.law.coordinates().len()]);
        self.pull(&by, q, out);
    }

    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
        let (x, block, n) = (self.read(q), self.law.coordinates(), self.coordinates.len());
        let m = block.len();
        let (mut first, mut second) = ([0.0; MAX_BLOCK], [0.0; MAX_BLOCK * MAX_BLOCK]);
        self.law.gradient(&x, t, &mut first[..m]);
        self.law.hessian(&x, t, w, &mut second[..m * m]);
        for (a, &k) in block.iter().enumerate() {
            if let Reading::Gauge(gauge) = &self.readings[k] {
                let size = self.places[k].len();
                let mut square = [0.0; MAX_BLOCK * MAX_BLOCK];
                gauge.hessian(q, t, w * first[a], &mut square[..size * size]);
                for (row, &i) in square.chunks_exact(size.max(1)).zip(&self.places[k]) {
                    for (h, &j) in row.iter().zip(&self.places[k]) {
                        out[i * n + j] += h;
                    }
                }
            }
            let own = self.slope(k, q);
            for (b, &l) in block.iter().enumerate() {
                let weight = second[a * m + b];
                if weight == 0.0 {
                    continue;
                }
                let other = self.slope(l, q);
                for (&i, x) in self.places[k].iter().zip(&own) {
                    for (&j, y) in self.places[l].iter().zip(&other) {
                        out[i * n + j] += weight * x * y;
                    }
                }
            }
        }
    }

    fn is_rheonomic(&self) -> bool {
        self.law.is_rheonomic()
    }

    fn rate(&self, q: &[f64], t: f64) -> f64 {
        self.law.rate(&self.read(q), t)
    }

    fn rate_gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let mut by = [0.0; MAX_BLOCK];
        self.law.rate_gradient(&self.read(q), t, &mut by[..self.law.coordinates().len()]);
        self.pull(&by, q, out);
    }

    fn second_rate(&self, q: &[f64], t: f64) -> f64 {
        self.law.second_rate(&self.read(q), t)
    }
}
