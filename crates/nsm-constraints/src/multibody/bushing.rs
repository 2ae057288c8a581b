//! Bushings: six springs and dampers between two frames, coupled as a block of rubber couples them.
//!
//! With a triad $e_i$ carried by the first end and $f_i$ by the second, which agree at the start, the deflections are
//! $$ \xi_i = (x^2 - x^1)\cdot e_i, \qquad \xi_{3+i} = (\sin\theta\\,u)_i, \qquad V = \tfrac12\\,\xi^\top K\xi, \qquad F = -C\dot\xi, $$
//! $\theta$ about $u$ the rotation from $e$ to $f$. Each is quadratic in the coordinates, so that
//! $\bar\nabla V = \sum_i \big(K\tfrac12(\xi^0 + \xi^1)\big)_i\nabla\xi_i(m)$ with the middle $m$ of a chord does the work $\Delta V$ and keeps
//! momenta \[Gonzalez 1996\]. The sine is the angle for the turns that bushings are made for; at a right angle it gives way.

use std::sync::Arc;

use super::element::{GaugeForce, outer};
use super::elements::{NamedField, NamedForce, part};
use super::error::MechanismError;
use super::gauge::{Arm, Gauge};
use super::joint::End;
use super::mechanism::{Mechanism, finite};
use crate::{ConstraintError, Field, Force};

/// Coordinates of two nodes.
const BLOCK: usize = 24;

/// Six numbers for each of six deflections.
type Six = [[f64; 6]; 6];

/// Stiffness and damping of six deflections: three travels along the axes, then three turns about them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bushing {
    /// $K$, symmetric and without negative eigenvalues.
    pub stiffness: Six,
    /// $C$, symmetric and without negative eigenvalues.
    pub damping: Six,
    /// The axes at the start, as vectors of the world: orthonormal.
    pub axes: [[f64; 3]; 3],
}

impl Mechanism {
    /// Adds a bushing between two ends at a point of the world, free of load at the start. The first end carries its axes.
    ///
    /// # Errors
    /// A name that is taken, the same end twice, particles, axes that are not orthonormal, matrices that are not symmetric or have
    /// negative eigenvalues.
    pub fn add_bushing(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [f64; 3],
        bushing: &Bushing,
    ) -> Result<(), MechanismError> {
        let Bushing { stiffness, damping, axes } = bushing;
        for (what, matrix) in
            [("the stiffness of a bushing", stiffness), ("the damping of a bushing", damping)]
        {
            finite(what, name, matrix.as_flattened())?;
            if !is_dissipative(matrix) {
                let must = "symmetric and without negative eigenvalues";
                let value = smallest_entry(matrix);
                return Err(part(name, ConstraintError::Parameter { what, must, value }));
            }
        }
        let gap = self.line(name, ends, [at, at])?;
        let mut triads: [Vec<Arm>; 2] = [Vec::new(), Vec::new()];
        for (triad, end) in triads.iter_mut().zip(ends) {
            for axis in axes {
                triad.push(self.carried(name, end, super::coupling::unit(name, *axis)?)?);
            }
        }
        let [e, f] = &triads;
        let mut gauges: Vec<Gauge> = e.iter().map(|axis| Gauge::product(&gap, axis)).collect();
        for (a, b) in [(1, 2), (2, 0), (0, 1)] {
            gauges.push(Gauge::turn([&e[a], &e[b]], [&f[a], &f[b]]));
        }
        self.take_name(name)?;
        if stiffness.as_flattened().iter().any(|k| *k != 0.0) {
            let block = Rubber::new(gauges.clone(), stiffness);
            self.terms.push(NamedField(name.to_owned(), Arc::new(block)));
        }
        if damping.as_flattened().iter().any(|c| *c != 0.0) {
            let force = GaugeForce::new(gauges, Arc::new(Dashpots(*damping)))?;
            self.forces.push(NamedForce(name.to_owned(), Arc::new(force)));
        }
        Ok(())
    }
}

/// Symmetric, and elimination with the largest pivots meets no negative one.
fn is_dissipative(matrix: &Six) -> bool {
    let largest = matrix.as_flattened().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let small = 1e-12 * largest;
    let mut a = *matrix;
    if (0..6).any(|i| (0..i).any(|j| (a[i][j] - a[j][i]).abs() > small)) {
        return false;
    }
    let mut left: Vec<usize> = (0..6).collect();
    while let Some(at) =
        (0..left.len()).max_by(|&i, &j| a[left[i]][left[i]].total_cmp(&a[left[j]][left[j]]))
    {
        let k = left.swap_remove(at);
        let pivot = a[k][k];
        if pivot < -small {
            return false;
        }
        if pivot <= small {
            // No diagonal entry is left: then nothing may be beside it.
            let rest = || left.iter().copied().chain([k]);
            return rest().all(|i| rest().all(|j| a[i][j].abs() <= small));
        }
        for &i in &left {
            for &j in &left {
                a[i][j] -= a[i][k] * a[k][j] / pivot;
            }
        }
    }
    true
}

fn smallest_entry(matrix: &Six) -> f64 {
    matrix.as_flattened().iter().copied().fold(f64::INFINITY, f64::min)
}

/// $\tfrac12\xi^\top K\xi$.
#[derive(Clone, Debug)]
struct Rubber {
    gauges: Vec<Gauge>,
    stiffness: Six,
    coordinates: Vec<usize>,
    /// Place of each gauge's coordinates among all.
    places: Vec<Vec<usize>>,
}

/// Gradients of all deflections on the block.
type Slopes = [[f64; BLOCK]; 6];

impl Rubber {
    fn new(gauges: Vec<Gauge>, stiffness: &Six) -> Self {
        let mut coordinates: Vec<usize> =
            gauges.iter().flat_map(|gauge| gauge.coordinates().iter().copied()).collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let place = |c: &usize| coordinates.binary_search(c).unwrap_or_default();
        let places = gauges.iter().map(|g| g.coordinates().iter().map(place).collect()).collect();
        Self { gauges, stiffness: *stiffness, coordinates, places }
    }

    fn deflections(&self, q: &[f64]) -> [f64; 6] {
        let mut xi = [0.0; 6];
        for (xi, gauge) in xi.iter_mut().zip(&self.gauges) {
            *xi = gauge.value(q, 0.0);
        }
        xi
    }

    /// $K\xi$.
    fn loads(&self, xi: &[f64; 6]) -> [f64; 6] {
        self.stiffness.map(|row| row.iter().zip(xi).map(|(k, x)| k * x).sum())
    }

    fn slopes(&self, write: impl Fn(&Gauge, &mut [f64])) -> Slopes {
        let mut slopes = [[0.0; BLOCK]; 6];
        for ((slope, gauge), places) in slopes.iter_mut().zip(&self.gauges).zip(&self.places) {
            let mut block = [0.0; BLOCK];
            write(gauge, &mut block[..places.len()]);
            for (&i, g) in places.iter().zip(block) {
                slope[i] = g;
            }
        }
        slopes
    }

    /// Adds each gauge's square, evaluated by `write` with a weight.
    fn curve(&self, weights: &[f64; 6], out: &mut [f64], write: impl Fn(&Gauge, f64, &mut [f64])) {
        let n = self.coordinates.len();
        for ((gauge, places), w) in self.gauges.iter().zip(&self.places).zip(weights) {
            let k = places.len();
            let mut block = [0.0; BLOCK * BLOCK];
            write(gauge, *w, &mut block[..k * k]);
            for (row, &i) in block.chunks_exact(k.max(1)).zip(places) {
                for (x, &j) in row.iter().zip(places) {
                    out[i * n + j] += x;
                }
            }
        }
    }

    fn add_stiffness(&self, w: f64, left: &Slopes, right: &Slopes, out: &mut [f64]) {
        let n = self.coordinates.len();
        for (row, x) in self.stiffness.iter().zip(left) {
            for (k, y) in row.iter().zip(right) {
                outer(w * k, &x[..n], &y[..n], out);
            }
        }
    }
}

/// Writes $\sum_i f_i\nabla\xi_i$.
fn pull(loads: &[f64; 6], slopes: &Slopes, out: &mut [f64]) {
    out.fill(0.0);
    for (load, slope) in loads.iter().zip(slopes) {
        for (out, g) in out.iter_mut().zip(slope) {
            *out += load * g;
        }
    }
}

impl Field for Rubber {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let xi = self.deflections(q);
        0.5 * self.loads(&xi).iter().zip(&xi).map(|(f, x)| f * x).sum::<f64>()
    }

    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        let slopes = self.slopes(|gauge, block| gauge.gradient(q, t, block));
        pull(&self.loads(&self.deflections(q)), &slopes, out);
    }

    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
        let slopes = self.slopes(|gauge, block| gauge.gradient(q, t, block));
        let loads = self.loads(&self.deflections(q)).map(|f| w * f);
        self.curve(&loads, out, |gauge, w, block| gauge.hessian(q, t, w, block));
        self.add_stiffness(w, &slopes, &slopes, out);
    }

    fn mean_gradient(&self, start: &[f64], end: &[f64], t: f64, out: &mut [f64]) -> bool {
        let slopes = self.slopes(|gauge, block| {
            gauge.mean_gradient(start, end, t, block);
        });
        pull(&self.mean_loads(start, end), &slopes, out);
        true
    }

    fn mean_hessian(&self, start: &[f64], end: &[f64], t: f64, w: f64, out: &mut [f64]) -> bool {
        let mean = self.slopes(|gauge, block| {
            gauge.mean_gradient(start, end, t, block);
        });
        let last = self.slopes(|gauge, block| gauge.gradient(end, t, block));
        let loads = self.mean_loads(start, end).map(|f| w * f);
        self.curve(&loads, out, |gauge, w, block| {
            gauge.mean_hessian(start, end, t, w, block);
        });
        self.add_stiffness(0.5 * w, &mean, &last, out);
        true
    }
}

impl Rubber {
    /// $K\tfrac12(\xi^0 + \xi^1)$.
    fn mean_loads(&self, start: &[f64], end: &[f64]) -> [f64; 6] {
        let (a, b) = (self.deflections(start), self.deflections(end));
        self.loads(&std::array::from_fn(|i| 0.5 * (a[i] + b[i])))
    }
}

/// $-C\dot\xi$.
#[derive(Clone, Copy, Debug)]
struct Dashpots(Six);

impl Force for Dashpots {
    fn coordinates(&self) -> &[usize] {
        &[0, 1, 2, 3, 4, 5]
    }

    fn force(&self, _q: &[f64], v: &[f64], _t: f64, out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(&self.0) {
            *out = -row.iter().zip(v).map(|(c, v)| c * v).sum::<f64>();
        }
    }

    fn by_position(&self, _q: &[f64], _v: &[f64], _t: f64, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn by_velocity(&self, _q: &[f64], _v: &[f64], _t: f64, out: &mut [f64]) {
        for (out, c) in out.iter_mut().zip(self.0.as_flattened()) {
            *out = -c;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_with_negative_eigenvalues_are_found() {
        let diagonal = |d: [f64; 6]| {
            let mut m = [[0.0; 6]; 6];
            (0..6).for_each(|i| m[i][i] = d[i]);
            m
        };
        assert!(is_dissipative(&diagonal([1.0, 2.0, 0.0, 4.0, 0.0, 1e-3])));
        assert!(!is_dissipative(&diagonal([1.0, 2.0, -0.1, 4.0, 0.0, 1e-3])));
        let mut coupled = diagonal([4.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        (coupled[0][4], coupled[4][0]) = (2.0, 2.0);
        assert!(is_dissipative(&coupled), "4·1 = 2·2 is the edge");
        (coupled[0][4], coupled[4][0]) = (2.1, 2.1);
        assert!(!is_dissipative(&coupled));
        (coupled[0][4], coupled[4][0]) = (0.1, 0.2);
        assert!(!is_dissipative(&coupled));
        let mut bare = diagonal([0.0; 6]);
        (bare[0][1], bare[1][0]) = (1.0, 1.0);
        assert!(!is_dissipative(&bare));
    }
}
