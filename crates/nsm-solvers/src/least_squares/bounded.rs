//! Bounded least squares from a Gram matrix.
//!
//! Solves
//! $$ \min_{l \le x \le u}\ \tfrac12 x^\top M x + q^\top x, \qquad M = G^\top W G \succeq 0, $$
//! by the active-set method of [Stark & Parker 1995], of which that of Lawson and Hanson is the case
//! $l = 0$, $u = \infty$. With $g = Mx + q$ the optimum is reached when
//! $$ x_i = l_i \Rightarrow g_i \ge 0, \qquad x_i = u_i \Rightarrow g_i \le 0, \qquad l_i < x_i < u_i \Rightarrow g_i = 0 . $$
//! Bounds may be infinite; a variable with two infinite bounds is free, which makes the solver one
//! for equality rows as well. Dependent columns open rays as in [`super::GramNnls`].

use super::growing_factor::{GrowingFactor, flat_pivot};
use super::{GramReport, LeastSquaresError};

/// A gradient on a ray without end that is smaller than this fraction of $\max|q|$ is rounding.
const CERTIFICATE: f64 = 1e-10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    Lower,
    Upper,
    /// Between its bounds but not in the factor, its gradient zero up to rounding.
    Barred,
}

/// Solver for $\min_{l\le x\le u} \tfrac12 x^\top Mx + q^\top x$ with a dense $M$, all memory allocated once.
///
/// ```
/// use nsm_solvers::least_squares::BoundedGram;
///
/// let gram = [2.0, 1.0, 1.0, 2.0];
/// let mut kernel = BoundedGram::new(2);
/// let mut x = [0.0; 2];
/// let _ = kernel.solve(&gram, &[-5.0, -6.0], &[0.0, 0.0], &[1.0, f64::INFINITY], &mut x)?;
/// assert_eq!(x, [1.0, 2.5]);
/// # Ok::<(), nsm_solvers::least_squares::LeastSquaresError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BoundedGram {
    capacity: usize,
    n: usize,
    factor: GrowingFactor,
    place: Vec<Place>,
    gradient: Vec<f64>,
    step: Vec<f64>,
}

impl BoundedGram {
    /// Room for up to `capacity` unknowns.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            n: 0,
            factor: GrowingFactor::new(capacity),
            place: vec![Place::Lower; capacity],
            gradient: vec![0.0; capacity],
            step: vec![0.0; capacity],
        }
    }

    /// The gradient $g = Mx + q$ of the last solve.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient[..self.n]
    }

    /// Solves; `gram` is symmetric positive semidefinite, given whole. `x` is overwritten.
    ///
    /// # Errors
    /// Sizes that disagree, entries that are not finite (bounds may be infinite), a lower bound above its upper one,
    /// an objective without lower bound.
    pub fn solve(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lower: &[f64],
        upper: &[f64],
        x: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        self.check(gram, q, lower, upper, x)?;
        let n = self.n;
        let q_max = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let trace = (0..n).fold(0.0_f64, |m, i| m.max(gram[i * (n + 1)]));
        self.factor.clear();
        for i in 0..n {
            (x[i], self.place[i]) = if lower[i].is_finite() {
                (lower[i], Place::Lower)
            } else if upper[i].is_finite() {
                (upper[i], Place::Upper)
            } else {
                (0.0, Place::Barred)
            };
        }
        self.update_gradient(gram, q, x);
        let limit = 60 * u32::try_from(n).unwrap_or(u32::MAX / 128) + 60;
        let mut barred_since_progress = 0;
        for iterations in 0..limit {
            let sum: f64 = x.iter().map(|x| x.abs()).sum();
            let tolerance = 16.0 * f64::EPSILON * (q_max + trace * sum);
            self.refine(gram, q, lower, upper, x, tolerance);
            let Some(entering) = self.most_violated(lower, upper, tolerance) else {
                return Ok(self.report(lower, upper, x, q_max, iterations));
            };
            let slope = self.gradient[entering].abs();
            let flat = flat_pivot(slope, gram[entering * (n + 1)], q_max, trace);
            let mut independent = self.factor.append(n, gram, entering, flat);
            while !independent {
                match self.follow_ray(entering, lower, upper, x) {
                    Ray::Blocked => {
                        independent = self.factor.append(n, gram, entering, flat);
                    }
                    Ray::Crossed => break,
                    Ray::Endless => {
                        if slope > CERTIFICATE * q_max + 100.0 * tolerance {
                            let residual = self.report(lower, upper, x, q_max, 0).residual;
                            return Err(LeastSquaresError::Infeasible {
                                index: entering,
                                residual,
                            });
                        }
                        barred_since_progress += 1;
                        if barred_since_progress > n {
                            return Ok(self.report(lower, upper, x, q_max, iterations));
                        }
                        // Rounding: take it as zero.
                        self.gradient[entering] = 0.0;
                        break;
                    }
                }
            }
            if independent {
                barred_since_progress = 0;
                self.place[entering] = Place::Inside;
                self.descend(gram, q, lower, upper, x);
            }
            if barred_since_progress == 0 {
                self.update_gradient(gram, q, x);
            }
        }
        let residual = self.report(lower, upper, x, q_max, limit).residual;
        Err(LeastSquaresError::Stalled { iterations: limit, residual })
    }

    fn check(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lower: &[f64],
        upper: &[f64],
        x: &[f64],
    ) -> Result<(), LeastSquaresError> {
        let n = q.len();
        if n > self.capacity {
            return Err(LeastSquaresError::Capacity { n, capacity: self.capacity });
        }
        for (what, expected, found) in [
            ("gram", n * n, gram.len()),
            ("lower", n, lower.len()),
            ("upper", n, upper.len()),
            ("x", n, x.len()),
        ] {
            if found != expected {
                return Err(LeastSquaresError::Size { what, expected, found });
            }
        }
        for (what, values) in [("gram", gram), ("q", q)] {
            if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                return Err(LeastSquaresError::NotFinite { what, index });
            }
        }
        for i in 0..n {
            if lower[i].is_nan() || lower[i] == f64::INFINITY {
                return Err(LeastSquaresError::NotFinite { what: "lower", index: i });
            }
            if upper[i].is_nan() || upper[i] == f64::NEG_INFINITY {
                return Err(LeastSquaresError::NotFinite { what: "upper", index: i });
            }
            if lower[i] > upper[i] {
                return Err(LeastSquaresError::Bounds { index: i });
            }
        }
        self.n = n;
        Ok(())
    }

    /// How far the gradient at `i` is from permitting the place of `i`.
    fn violation(&self, i: usize, lower: &[f64], upper: &[f64]) -> f64 {
        let g = self.gradient[i];
        match self.place[i] {
            _ if lower[i] == upper[i] => 0.0,
            Place::Inside => 0.0,
            Place::Lower => (-g).max(0.0),
            Place::Upper => g.max(0.0),
            Place::Barred => g.abs(),
        }
    }

    fn most_violated(&self, lower: &[f64], upper: &[f64], tolerance: f64) -> Option<usize> {
        let mut worst = tolerance;
        let mut entering = None;
        for i in 0..self.n {
            let violation = self.violation(i, lower, upper);
            if violation > worst {
                worst = violation;
                entering = Some(i);
            }
        }
        entering
    }

    /// Moves along $\pm d$, $d_j = 1$, $M_{FF} d_F = -M_{Fj}$, downhill to the first bound.
    fn follow_ray(&mut self, entering: usize, lower: &[f64], upper: &[f64], x: &mut [f64]) -> Ray {
        self.factor.dependence(&mut self.step);
        let sign = if self.gradient[entering] > 0.0 { -1.0 } else { 1.0 };
        let own = if sign > 0.0 { upper[entering] } else { lower[entering] };
        let mut length = (own - x[entering]).abs();
        let mut blocking = None;
        for (c, &i) in self.factor.indices.iter().enumerate() {
            let d = sign * self.step[c];
            let room = if d > 0.0 { upper[i] - x[i] } else { x[i] - lower[i] };
            if d != 0.0 && room.max(0.0) < length * d.abs() {
                length = room.max(0.0) / d.abs();
                blocking = Some((c, if d > 0.0 { Place::Upper } else { Place::Lower }));
            }
        }
        if length == f64::INFINITY {
            return Ray::Endless;
        }
        for (c, &i) in self.factor.indices.iter().enumerate() {
            x[i] = (x[i] + length * sign * self.step[c]).clamp(lower[i], upper[i]);
        }
        if let Some((c, place)) = blocking {
            x[entering] += sign * length;
            self.settle(c, place, lower, upper, x);
            Ray::Blocked
        } else {
            x[entering] = own;
            self.place[entering] = if sign > 0.0 { Place::Upper } else { Place::Lower };
            Ray::Crossed
        }
    }

    /// Steps to the minimiser over the free variables, fixing those that meet a bound on the way.
    fn descend(&mut self, gram: &[f64], q: &[f64], lower: &[f64], upper: &[f64], x: &mut [f64]) {
        loop {
            self.update_gradient(gram, q, x);
            self.factor.solve(&mut self.step, |i| -self.gradient[i]);
            let mut length = 1.0;
            let mut blocking = None;
            for (c, &i) in self.factor.indices.iter().enumerate() {
                let d = self.step[c];
                let room = if d > 0.0 { upper[i] - x[i] } else { x[i] - lower[i] };
                if d != 0.0 && room.max(0.0) < length * d.abs() {
                    length = room.max(0.0) / d.abs();
                    blocking = Some((c, if d > 0.0 { Place::Upper } else { Place::Lower }));
                }
            }
            for (c, &i) in self.factor.indices.iter().enumerate() {
                x[i] = (x[i] + length * self.step[c]).clamp(lower[i], upper[i]);
            }
            match blocking {
                Some((c, place)) => self.settle(c, place, lower, upper, x),
                None => return,
            }
        }
    }

    /// Fixes the `c`-th free variable at a bound.
    fn settle(&mut self, c: usize, place: Place, lower: &[f64], upper: &[f64], x: &mut [f64]) {
        let i = self.factor.remove(c);
        x[i] = if place == Place::Upper { upper[i] } else { lower[i] };
        self.place[i] = place;
    }

    /// One step of iterative refinement where rounding left $g_F \ne 0$.
    fn refine(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lower: &[f64],
        upper: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) {
        let worst = self.factor.indices.iter().fold(0.0_f64, |m, &i| m.max(self.gradient[i].abs()));
        if worst <= 0.25 * tolerance {
            return;
        }
        self.factor.solve(&mut self.step, |i| -self.gradient[i]);
        for (c, &i) in self.factor.indices.iter().enumerate() {
            x[i] = (x[i] + self.step[c]).clamp(lower[i], upper[i]);
        }
        self.update_gradient(gram, q, x);
    }

    fn update_gradient(&mut self, gram: &[f64], q: &[f64], x: &[f64]) {
        let n = self.n;
        let gradient = &mut self.gradient[..n];
        gradient.copy_from_slice(q);
        for j in 0..n {
            if x[j] != 0.0 {
                for (g, m) in gradient.iter_mut().zip(&gram[j * n..(j + 1) * n]) {
                    *g += m * x[j];
                }
            }
        }
    }

    fn report(
        &self,
        lower: &[f64],
        upper: &[f64],
        x: &[f64],
        q_max: f64,
        iterations: u32,
    ) -> GramReport {
        let mut worst = 0.0_f64;
        for i in 0..self.n {
            // Distance of x from its projection after a gradient step.
            let projected = (x[i] - self.gradient[i]).clamp(lower[i], upper[i]);
            worst = worst.max((x[i] - projected).abs());
        }
        let residual = if q_max > 0.0 { worst / q_max } else { worst };
        GramReport { iterations, active: self.factor.indices.len(), residual }
    }
}

enum Ray {
    Blocked,
    Crossed,
    Endless,
}
