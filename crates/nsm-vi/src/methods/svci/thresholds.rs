//! When a velocity is zero and a gap is closed, relative to the motion.
//!
//! $$ \tau^v_i = 10^{-11}\\,\lvert G_i \rvert_{M^{-1}} \sqrt{v^\top M v + h^2 \lvert s \rvert^2_{M^{-1}}}, \qquad
//!    \tau^g_i = h\\,\tau^v_i + 64\\,\varepsilon \textstyle\sum_j \lvert G_{ij} q_j \rvert, $$
//! $s$ being the slope of the potential less the forces. The speed is that of the whole system: what a fast body leaves behind by rounding
//! in a collision must not count as motion of one at rest. Nothing depends on units, or on how a gap is scaled.

use nsm_model::{Mass, PlacedMass, StepError, System};

use super::point::Point;

/// "Zero" as a share of the largest speeds.
const ZERO: f64 = 1e-11;

/// Thresholds of each contact over one step.
#[derive(Clone, Debug)]
pub(crate) struct Thresholds {
    pub(crate) rate: Vec<f64>,
    pub(crate) gap: Vec<f64>,
    /// How far below zero the end of a flight may lie without an impact.
    pub(crate) below: Vec<f64>,
    speed: f64,
    h: f64,
    column: Vec<f64>,
    solved: Vec<f64>,
}

impl Thresholds {
    pub(crate) fn new(system: &System) -> Self {
        let (n, m) = (system.dimension(), system.inequalities().len());
        Self {
            rate: vec![0.0; m],
            // Before a row is looked at for the first time, no gap is known to be wide.
            gap: vec![f64::INFINITY; m],
            below: vec![0.0; m],
            speed: 0.0,
            h: 0.0,
            column: vec![0.0; n],
            solved: vec![0.0; n],
        }
    }

    /// Renews them for a step of size `h` from `at`, with slope `s` there.
    pub(crate) fn renew(
        &mut self,
        mass: &mut PlacedMass<'_>,
        at: &Point,
        slope: &[f64],
        h: f64,
    ) -> Result<(), StepError> {
        let system = mass.system();
        let mass = mass.at(&at.q, at.t)?;
        self.begin(mass, at, slope, h);
        for i in 0..system.inequalities().len() {
            self.renew_row(system, mass, at, i);
        }
        Ok(())
    }

    /// Takes the speed of a step, for rows that are renewed one by one; `mass` is the one at that place.
    pub(crate) fn begin(&mut self, mass: &Mass, at: &Point, slope: &[f64], h: f64) {
        mass.solve(slope, &mut self.solved);
        let push: f64 = slope.iter().zip(&self.solved).map(|(s, a)| s * a).sum();
        let motion: f64 = at.p.iter().zip(&at.v).map(|(p, v)| p * v).sum();
        self.speed = (motion + h * h * push).sqrt();
        self.h = h;
    }

    /// "Zero" for a rate whose row has this square in $M^{-1}$.
    pub(crate) fn slow(&self, square: f64) -> f64 {
        ZERO * square.sqrt() * self.speed
    }

    /// Renews the thresholds of one contact, whose gradient at `at` is current.
    pub(crate) fn renew_row(&mut self, system: &System, mass: &Mass, at: &Point, i: usize) {
        let rows = system.inequalities();
        let (columns, values) = (rows.columns(i), &at.gradient[rows.span(i)]);
        let square = if mass.is_banded() {
            self.column.fill(0.0);
            rows.add_row(i, &at.gradient, 1.0, &mut self.column);
            mass.solve(&self.column, &mut self.solved);
            rows.row_dot(i, &at.gradient, &self.solved)
        } else {
            mass.inverse_product((columns, values), (columns, values))
        };
        let reach: f64 = columns.iter().zip(values).map(|(&c, x)| (x * at.q[c]).abs()).sum();
        self.rate[i] = ZERO * square.sqrt() * self.speed;
        self.gap[i] = self.h * self.rate[i] + 64.0 * f64::EPSILON * reach;
        self.below[i] = self.gap[i].min(640.0 * f64::EPSILON * reach + 1e-3 * self.gap[i]);
    }
}
