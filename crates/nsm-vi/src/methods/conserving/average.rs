//! The gradient of a field averaged over a step, and its derivative by the end of the step.
//!
//! With $\Delta = q_1 - q_0$, $m = (q_0 + q_1)/2$, on the block of coordinates of the field $\varphi$:
//! - the discrete gradient of \[Gonzalez 1996\],
//!   $$ \bar\nabla\varphi = \nabla\varphi(m) + \frac{\varphi(q_1) - \varphi(q_0) - \nabla\varphi(m)\cdot\Delta}{|\Delta|^2}\\,\Delta, $$
//!   so that $\bar\nabla\varphi\cdot\Delta = \varphi(q_1) - \varphi(q_0)$ and the work of a potential force is exact, unless the field has
//!   one of its own ([`Field::mean_gradient`]) that does the same work and keeps its symmetries;
//! - the gradient at the midpoint (\[GO\] (13));
//! - the mean of the gradients at both ends (\[GO\] (12)).
//!
//! All three are the same for a quadratic $\varphi$.

use nsm_constraints::Field;
use nsm_solvers::small::{axpy, dot};

/// How forces are averaged over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForceAverage {
    /// Discrete gradients: energy is exact (\[GO\] (14)).
    #[default]
    Conserving,
    /// At the midpoint (\[GO\] (13)).
    Midpoint,
    /// Mean of both ends, the trapezoidal rule (\[GO\] (12)).
    Trapezoidal,
}

/// A step from $q_0$ to a trial $q_1$.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chord<'a> {
    pub(super) start: &'a [f64],
    pub(super) middle: &'a [f64],
    pub(super) end: &'a [f64],
    /// Time at the start, and the step.
    pub(super) t: f64,
    pub(super) h: f64,
}

impl Chord<'_> {
    fn mid_time(&self) -> f64 {
        self.t + 0.5 * self.h
    }
}

/// Averages gradients; holds the scratch for blocks up to a size.
#[derive(Debug)]
pub(super) struct Averager {
    rule: ForceAverage,
    delta: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    hessian: Vec<f64>,
}

impl Averager {
    pub(super) fn new(rule: ForceAverage, largest_block: usize) -> Self {
        let vector = vec![0.0; largest_block];
        Self {
            rule,
            delta: vector.clone(),
            first: vector.clone(),
            second: vector,
            hessian: vec![0.0; largest_block * largest_block],
        }
    }

    /// Writes the averaged gradient on the block.
    pub(super) fn gradient(&mut self, field: &dyn Field, chord: Chord<'_>, out: &mut [f64]) {
        match self.rule {
            ForceAverage::Midpoint => field.gradient(chord.middle, chord.mid_time(), out),
            ForceAverage::Trapezoidal => {
                let second = &mut self.second[..out.len()];
                field.gradient(chord.start, chord.t, out);
                field.gradient(chord.end, chord.t + chord.h, second);
                for (out, b) in out.iter_mut().zip(second) {
                    *out = 0.5 * (*out + *b);
                }
            }
            ForceAverage::Conserving => {
                let time = chord.mid_time();
                if field.is_quadratic() {
                    field.gradient(chord.middle, time, out);
                    return;
                }
                if field.mean_gradient(chord.start, chord.end, time, out) {
                    return;
                }
                field.gradient(chord.middle, time, out);
                if let Some((defect, squared)) = self.defect(field, chord, out) {
                    axpy(defect / squared, &self.delta, out);
                }
            }
        }
    }

    /// Adds $w\\,\partial\bar\nabla\varphi/\partial q_1$ to `out`, row by row.
    pub(super) fn derivative(
        &mut self,
        field: &dyn Field,
        chord: Chord<'_>,
        w: f64,
        out: &mut [f64],
    ) {
        let k = field.coordinates().len();
        match self.rule {
            ForceAverage::Midpoint => {
                if !field.is_affine() {
                    field.hessian(chord.middle, chord.mid_time(), 0.5 * w, out);
                }
            }
            ForceAverage::Trapezoidal => {
                if !field.is_affine() {
                    field.hessian(chord.end, chord.t + chord.h, 0.5 * w, out);
                }
            }
            ForceAverage::Conserving => {
                if field.is_affine() {
                    return;
                }
                let time = chord.mid_time();
                if field.is_quadratic() {
                    field.hessian(chord.middle, time, 0.5 * w, out);
                    return;
                }
                if field.mean_hessian(chord.start, chord.end, time, w, out) {
                    return;
                }
                let mut middle = std::mem::take(&mut self.first);
                field.gradient(chord.middle, time, &mut middle[..k]);
                let defect = self.defect(field, chord, &middle[..k]);
                let hessian = &mut self.hessian[..k * k];
                hessian.fill(0.0);
                field.hessian(chord.middle, time, 0.5, hessian);
                axpy(w, hessian, out);
                if let Some((defect, squared)) = defect {
                    let (delta, change) = (&self.delta[..k], &mut self.second[..k]);
                    // ∂(defect)/∂q₁ = ∇φ(q₁) − ∇φ(m) − ½ φ''(m) Δ.
                    field.gradient(chord.end, time, change);
                    for (i, change) in change.iter_mut().enumerate() {
                        *change -= middle[i] + dot(&hessian[i * k..(i + 1) * k], delta);
                    }
                    let share = defect / squared;
                    for i in 0..k {
                        out[i * k + i] += w * share;
                        for j in 0..k {
                            let direction = change[j] - 2.0 * share * delta[j];
                            out[i * k + j] += w * delta[i] * direction / squared;
                        }
                    }
                }
                self.first = middle;
            }
        }
    }

    /// $\varphi(q_1) - \varphi(q_0) - \nabla\varphi(m)\cdot\Delta$ and $|\Delta|^2$, unless the first is round-off.
    ///
    /// It is of third order in $\Delta$: below round-off of the values it would only be noise divided by $|\Delta|$.
    fn defect(
        &mut self,
        field: &dyn Field,
        chord: Chord<'_>,
        middle: &[f64],
    ) -> Option<(f64, f64)> {
        let (columns, time) = (field.coordinates(), chord.mid_time());
        let (before, after) = (field.value(chord.start, time), field.value(chord.end, time));
        let (mut work, mut size, mut squared) = (0.0, before.abs() + after.abs(), 0.0);
        for ((delta, &c), g) in self.delta.iter_mut().zip(columns).zip(middle) {
            *delta = chord.end[c] - chord.start[c];
            work += g * *delta;
            size += g.abs() * (chord.end[c].abs() + chord.start[c].abs());
            squared += *delta * *delta;
        }
        let defect = after - before - work;
        (defect.abs() > 8.0 * f64::EPSILON * size && squared > 0.0).then_some((defect, squared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsm_constraints::{AutoDiff, Expr, Scalar};

    struct Quartic;
    impl Expr for Quartic {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            let r = q[0] * q[0] + q[1] * q[1] * 2.0;
            r * r + q[0] * q[0] * q[0] + (q[0] * q[1]).sin()
        }
    }

    #[test]
    fn the_discrete_gradient_gives_the_difference_and_its_derivative_is_right() {
        let field = AutoDiff::new(Quartic, &[1, 0]).unwrap();
        let (start, end) = ([0.3, -0.7], [0.9, -0.2]);
        for rule in [ForceAverage::Conserving, ForceAverage::Midpoint, ForceAverage::Trapezoidal] {
            let mut averager = Averager::new(rule, 2);
            let mut at = |end: [f64; 2], out: &mut [f64], derivative: bool| {
                let middle = [0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1])];
                let chord = Chord { start: &start, middle: &middle, end: &end, t: 0.0, h: 0.1 };
                if derivative {
                    averager.derivative(&field, chord, 2.0, out);
                } else {
                    averager.gradient(&field, chord, out);
                }
            };
            let (mut g, mut k) = ([0.0; 2], [0.0; 4]);
            at(end, &mut g, false);
            at(end, &mut k, true);
            if rule == ForceAverage::Conserving {
                // The block is (q1, q0).
                let work = g[0] * (end[1] - start[1]) + g[1] * (end[0] - start[0]);
                let change = field.value(&end, 0.0) - field.value(&start, 0.0);
                assert!((work - change).abs() < 1e-15, "{work} {change}");
            }
            for (j, &c) in [1_usize, 0].iter().enumerate() {
                let (mut plus, mut minus) = ([0.0; 2], [0.0; 2]);
                let (mut right, mut left) = (end, end);
                right[c] += 1e-6;
                left[c] -= 1e-6;
                at(right, &mut plus, false);
                at(left, &mut minus, false);
                for i in 0..2 {
                    let slope = 2.0 * (plus[i] - minus[i]) / 2e-6;
                    assert!((k[i * 2 + j] - slope).abs() < 1e-8, "{rule:?} {i}{j}");
                }
            }
        }
    }
}
