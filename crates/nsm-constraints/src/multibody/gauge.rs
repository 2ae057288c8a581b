//! Scalars that are read off a configuration: the distance of two points, the travel and the angle of a joint.
//!
//! Points and directions of bodies are affine in the coordinates, their products quadratic. A gauge is a function of one or two
//! such products $\pi_k = x_k\cdot y_k$,
//! $$ \varphi(q) = f(\pi(q)), \qquad \nabla\varphi = \sum_k f_k\nabla\pi_k, \qquad
//!    \varphi\'\' = \sum_k f_k\\,\pi_k\'\' + \sum_{kl} f_{kl}\\,\nabla\pi_k\nabla\pi_l^\top. $$
//! - distance: $\pi = |x^2 - x^1|^2$, $f = \sqrt\pi$;
//! - travel, or any other product: $f = \pi$;
//! - a component of $\sin\theta\\,u$ of a relative rotation: $f = \tfrac12(\pi_1 - \pi_2)$;
//! - angle about $n$ with the triad $(n, a, b)$: $c = a^1\cdot a^2$, $s = b^1\cdot a^2$, $f = \operatorname{atan2}(s, c)$ plus the whole turns that bring it
//!   nearest to a reference.
//!
//! Products do not change when everything is moved rigidly, and $\nabla\pi_k(m)\cdot\Delta = \Delta\pi_k$ over a chord with the middle $m$. With $\bar f_k$
//! such that $\sum_k\bar f_k\Delta\pi_k = \Delta f$, $\bar\nabla\varphi = \sum_k\bar f_k\nabla\pi_k(m)$ is a discrete gradient that keeps momenta \[Gonzalez 1996\]:
//! $1/(\ell_0 + \ell_1)$ for the distance, and for the angle $(\bar f_c, \bar f_s) = K\\,(-\bar s, \bar c)$ with means $\bar c, \bar s$ and
//! $K = \delta/(c_0 s_1 - s_0 c_1)$, $\delta = \Delta\theta$.

use std::f64::consts::{PI, TAU};

use nsm_geom::Vec3;

use crate::Field;

/// Vectors $\varphi, d_1, d_2, d_3$ of two nodes.
const MOST: usize = 8;

type Vectors = [Vec3; MOST];

/// A vector of the world $c + \sum_j w_j u_j$, $u_j$ three coordinates in a row that begin at a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arm {
    constant: Vec3,
    terms: Vec<(usize, f64)>,
}

impl Arm {
    /// At rest.
    pub(super) fn fixed(x: [f64; 3]) -> Self {
        Self { constant: x.into(), terms: Vec::new() }
    }

    /// The point $\varphi + X_I d_I$ of the node that begins here.
    pub(super) fn point(start: usize, x: [f64; 3]) -> Self {
        let mut arm = Self::direction(start, x);
        arm.terms.push((start, 1.0));
        arm
    }

    /// The direction $N_I d_I$.
    pub(super) fn direction(start: usize, n: [f64; 3]) -> Self {
        let terms = (0..3).filter(|&i| n[i] != 0.0).map(|i| (start + 3 + 3 * i, n[i])).collect();
        Self { constant: Vec3::zeros(), terms }
    }

    /// $a - b$.
    pub(super) fn minus(mut self, other: &Self) -> Self {
        self.constant -= other.constant;
        for &(at, w) in &other.terms {
            match self.terms.iter_mut().find(|term| term.0 == at) {
                Some(term) => term.1 -= w,
                None => self.terms.push((at, -w)),
            }
        }
        self.terms.retain(|term| term.1 != 0.0);
        self
    }
}

/// Where an angle is counted from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// The angle lies within half a turn of this one.
    Near(f64),
    /// It lies within half a turn of as many turns as this coordinate says.
    Turns(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Distance,
    Product,
    /// $\tfrac12(\pi_1 - \pi_2)$.
    Turn,
    Angle(Reference),
}

/// A scalar that is read off a configuration, a [`Field`].
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Where the vectors begin in the coordinates.
    vectors: Vec<usize>,
    coordinates: Vec<usize>,
    /// Constant and weights of both factors of each product.
    products: Vec<[(Vec3, Vec<f64>); 2]>,
    kind: Kind,
}

impl Gauge {
    /// $|d|$.
    pub(super) fn distance(d: &Arm) -> Self {
        Self::new(&[[d, d]], Kind::Distance)
    }

    /// $x\cdot y$.
    pub(super) fn product(x: &Arm, y: &Arm) -> Self {
        Self::new(&[[x, y]], Kind::Product)
    }

    /// A component of $\sin\theta\\,u$ of the rotation that takes the triad $e$ to $f$: $\tfrac12(b^e\cdot a^f - a^e\cdot b^f)$ along $a \times b$.
    pub(super) fn turn([a, b]: [&Arm; 2], [x, y]: [&Arm; 2]) -> Self {
        Self::new(&[[b, x], [a, y]], Kind::Turn)
    }

    /// The angle from `a` to `x`, which is $\cos\theta\\,a + \sin\theta\\,b$.
    pub(super) fn angle(a: &Arm, b: &Arm, x: &Arm, reference: Reference) -> Self {
        Self::new(&[[a, x], [b, x]], Kind::Angle(reference))
    }

    fn new(products: &[[&Arm; 2]], kind: Kind) -> Self {
        let mut vectors: Vec<usize> =
            products.iter().flatten().flat_map(|arm| arm.terms.iter().map(|t| t.0)).collect();
        vectors.sort_unstable();
        vectors.dedup();
        debug_assert!(vectors.len() <= MOST);
        let weights = |arm: &Arm| {
            let weight = |at: &usize| arm.terms.iter().find(|t| t.0 == *at).map_or(0.0, |t| t.1);
            (arm.constant, vectors.iter().map(weight).collect())
        };
        Self {
            coordinates: vectors.iter().flat_map(|&at| at..at + 3).collect(),
            products: products.iter().map(|pair| pair.map(weights)).collect(),
            vectors,
            kind,
        }
    }

    /// The same angle counted from elsewhere; anything else is as it is.
    #[must_use]
    pub fn counted(mut self, reference: Reference) -> Self {
        if let Kind::Angle(from) = &mut self.kind {
            *from = reference;
        }
        self
    }

    /// Whether it is an angle.
    pub fn is_angle(&self) -> bool {
        matches!(self.kind, Kind::Angle(_))
    }

    /// The turns to count an angle from, in halves: it may then move by a quarter turn before it is counted anew.
    pub fn half_turns(angle: f64) -> f64 {
        0.5 * (angle / PI).round()
    }

    /// $\nabla\varphi\cdot v$.
    pub fn rate_of(&self, q: &[f64], v: &[f64]) -> f64 {
        let mut slope = [0.0; 3 * MOST];
        self.gradient(q, 0.0, &mut slope[..self.coordinates.len()]);
        self.coordinates.iter().zip(slope).map(|(&c, g)| g * v[c]).sum()
    }

    /// Its value, an angle within half a turn of another.
    pub fn value_near(&self, q: &[f64], from: f64) -> f64 {
        let pi = self.invariants(&self.gather(q));
        match self.kind {
            Kind::Distance => pi[0].sqrt(),
            Kind::Product => pi[0],
            Kind::Turn => 0.5 * (pi[0] - pi[1]),
            Kind::Angle(_) => {
                let angle = pi[1].atan2(pi[0]);
                angle + TAU * ((from - angle) / TAU).round()
            }
        }
    }

    fn gather(&self, q: &[f64]) -> Vectors {
        let mut u = [Vec3::zeros(); MOST];
        for (u, &at) in u.iter_mut().zip(&self.vectors) {
            *u = Vec3::new(q[at], q[at + 1], q[at + 2]);
        }
        u
    }

    fn factors(&self, k: usize, u: &Vectors) -> [Vec3; 2] {
        let sum = |(constant, weights): &(Vec3, Vec<f64>)| {
            weights.iter().zip(u).fold(*constant, |sum, (w, u)| sum + u * *w)
        };
        [sum(&self.products[k][0]), sum(&self.products[k][1])]
    }

    fn invariants(&self, u: &Vectors) -> [f64; 2] {
        let mut pi = [0.0; 2];
        for (k, pi) in pi.iter_mut().enumerate().take(self.products.len()) {
            let [x, y] = self.factors(k, u);
            *pi = x.dot(&y);
        }
        pi
    }

    /// Writes $\nabla\pi_k$, vector by vector.
    fn slope(&self, k: usize, u: &Vectors) -> Vectors {
        let [x, y] = self.factors(k, u);
        let [(_, wx), (_, wy)] = &self.products[k];
        let mut slope = [Vec3::zeros(); MOST];
        for ((slope, wx), wy) in slope.iter_mut().zip(wx).zip(wy) {
            *slope = y * *wx + x * *wy;
        }
        slope
    }

    /// Adds $f\\,\pi_k\'\'$ to `out`.
    fn add_curvature(&self, k: usize, f: f64, out: &mut [f64]) {
        let [(_, wx), (_, wy)] = &self.products[k];
        let n = self.coordinates.len();
        for i in 0..self.vectors.len() {
            for j in 0..self.vectors.len() {
                let w = f * (wx[i] * wy[j] + wy[i] * wx[j]);
                if w != 0.0 {
                    for c in 0..3 {
                        out[(3 * i + c) * n + 3 * j + c] += w;
                    }
                }
            }
        }
    }

    /// Adds $f\\,x\\,y^\top$ to `out`.
    fn add_outer(&self, f: f64, x: &Vectors, y: &Vectors, out: &mut [f64]) {
        if f == 0.0 {
            return;
        }
        let n = self.coordinates.len();
        for (i, row) in out.chunks_exact_mut(n).enumerate() {
            let left = f * x[i / 3][i % 3];
            for (j, entry) in row.iter_mut().enumerate() {
                *entry += left * y[j / 3][j % 3];
            }
        }
    }

    /// $f_k$ at some products.
    fn first(&self, pi: [f64; 2]) -> [f64; 2] {
        match self.kind {
            Kind::Distance => [0.5 / pi[0].sqrt(), 0.0],
            Kind::Product => [1.0, 0.0],
            Kind::Turn => [0.5, -0.5],
            Kind::Angle(_) => {
                let [c, s] = pi;
                let r2 = c * c + s * s;
                [-s / r2, c / r2]
            }
        }
    }

    /// $f_{kl}$ at some products.
    fn second(&self, pi: [f64; 2]) -> [[f64; 2]; 2] {
        match self.kind {
            Kind::Distance => [[-0.25 / (pi[0] * pi[0].sqrt()), 0.0], [0.0; 2]],
            Kind::Product | Kind::Turn => [[0.0; 2]; 2],
            Kind::Angle(_) => {
                let [c, s] = pi;
                let r4 = (c * c + s * s).powi(2);
                let (twice, mixed) = (2.0 * c * s / r4, (s * s - c * c) / r4);
                [[twice, mixed], [mixed, -twice]]
            }
        }
    }

    /// $\bar f_k$ between two sets of products, and its derivatives by the second.
    fn mean(&self, from: [f64; 2], to: [f64; 2]) -> ([f64; 2], [[f64; 2]; 2]) {
        match self.kind {
            Kind::Distance => {
                let (a, b) = (from[0].sqrt(), to[0].sqrt());
                let mean = 1.0 / (a + b);
                ([mean, 0.0], [[-0.5 * mean * mean / b, 0.0], [0.0; 2]])
            }
            Kind::Product => ([1.0, 0.0], [[0.0; 2]; 2]),
            Kind::Turn => ([0.5, -0.5], [[0.0; 2]; 2]),
            Kind::Angle(_) => {
                let ([c0, s0], [c1, s1]) = (from, to);
                let (sine, cosine) = (c0 * s1 - s0 * c1, c0 * c1 + s0 * s1);
                let delta = sine.atan2(cosine);
                let (ratio, slope) = over_sine(delta);
                let length = sine.hypot(cosine);
                let k = ratio / length;
                // δ turns with the second pair, and the length grows with it.
                let r2 = c1 * c1 + s1 * s1;
                let by = |turn: f64, stretch: f64| (slope * turn / length - k * stretch) / r2;
                let [by_c, by_s] = [by(-s1, c1), by(c1, s1)];
                let (c, s) = (0.5 * (c0 + c1), 0.5 * (s0 + s1));
                (
                    [-k * s, k * c],
                    [[-by_c * s, -by_s * s - 0.5 * k], [by_c * c + 0.5 * k, by_s * c]],
                )
            }
        }
    }
}

/// $\delta/\sin\delta$ and its derivative.
fn over_sine(delta: f64) -> (f64, f64) {
    if delta.abs() < 1e-3 {
        let d2 = delta * delta;
        return (1.0 + d2 / 6.0 + 7.0 * d2 * d2 / 360.0, delta * (1.0 / 3.0 + 7.0 * d2 / 90.0));
    }
    let (sine, cosine) = delta.sin_cos();
    (delta / sine, (sine - delta * cosine) / (sine * sine))
}

impl Field for Gauge {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let from = match self.kind {
            Kind::Angle(Reference::Near(angle)) => angle,
            Kind::Angle(Reference::Turns(at)) => TAU * q[at],
            Kind::Distance | Kind::Product | Kind::Turn => 0.0,
        };
        self.value_near(q, from)
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let u = self.gather(q);
        let f = self.first(self.invariants(&u));
        out.fill(0.0);
        for (k, f) in f.iter().enumerate().take(self.products.len()) {
            add(*f, &self.slope(k, &u), out);
        }
    }

    fn hessian(&self, q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let u = self.gather(q);
        let pi = self.invariants(&u);
        let (first, second) = (self.first(pi), self.second(pi));
        for k in 0..self.products.len() {
            self.add_curvature(k, w * first[k], out);
            for l in 0..self.products.len() {
                self.add_outer(w * second[k][l], &self.slope(k, &u), &self.slope(l, &u), out);
            }
        }
    }

    fn mean_gradient(&self, start: &[f64], end: &[f64], _t: f64, out: &mut [f64]) -> bool {
        let (from, to) = (self.gather(start), self.gather(end));
        let middle = std::array::from_fn(|j| 0.5 * (from[j] + to[j]));
        let (mean, _) = self.mean(self.invariants(&from), self.invariants(&to));
        out.fill(0.0);
        for (k, f) in mean.iter().enumerate().take(self.products.len()) {
            add(*f, &self.slope(k, &middle), out);
        }
        true
    }

    fn mean_hessian(&self, start: &[f64], end: &[f64], _t: f64, w: f64, out: &mut [f64]) -> bool {
        let (from, to) = (self.gather(start), self.gather(end));
        let middle = std::array::from_fn(|j| 0.5 * (from[j] + to[j]));
        let (mean, by) = self.mean(self.invariants(&from), self.invariants(&to));
        for k in 0..self.products.len() {
            self.add_curvature(k, 0.5 * w * mean[k], out);
            for l in 0..self.products.len() {
                self.add_outer(w * by[k][l], &self.slope(k, &middle), &self.slope(l, &to), out);
            }
        }
        true
    }

    fn is_affine(&self) -> bool {
        let moving = |factor: &(Vec3, Vec<f64>)| factor.1.iter().any(|w| *w != 0.0);
        self.kind == Kind::Product && !self.products[0].iter().all(moving)
    }
}

fn add(f: f64, slope: &Vectors, out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out += f * slope[i / 3][i % 3];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes at nothing special, their directors not orthonormal, as in the middle of a step.
    fn place(seed: f64) -> Vec<f64> {
        (0..25).map(|i| if i == 24 { 0.5 } else { (1.7 * f64::from(i) + seed).sin() }).collect()
    }

    fn gauges() -> [Gauge; 5] {
        let [x, y] = [Arm::point(0, [0.3, -0.2, 0.5]), Arm::point(12, [0.1, 0.7, -0.4])];
        let [a, b] = [Arm::direction(0, [1.0, 0.2, 0.0]), Arm::direction(0, [-0.2, 1.0, 0.3])];
        let other = Arm::direction(12, [0.4, 0.1, 1.0]);
        let gap = y.clone().minus(&x);
        [
            Gauge::distance(&gap),
            Gauge::product(&gap, &a),
            Gauge::turn([&a, &b], [&other, &Arm::direction(12, [1.0, -0.3, 0.2])]),
            Gauge::angle(&a, &b, &other, Reference::Turns(24)),
            Gauge::distance(&y.minus(&Arm::fixed([1.0, 2.0, 3.0]))),
        ]
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        for gauge in gauges() {
            let (q, n) = (place(0.3), gauge.coordinates().len());
            let (mut slope, mut hessian) = (vec![0.0; n], vec![0.0; n * n]);
            gauge.gradient(&q, 0.0, &mut slope);
            gauge.hessian(&q, 0.0, 2.0, &mut hessian);
            for (j, &c) in gauge.coordinates().iter().enumerate() {
                let at = |s: f64| {
                    let mut q = q.clone();
                    q[c] += s;
                    let mut slope = vec![0.0; n];
                    gauge.gradient(&q, 0.0, &mut slope);
                    (gauge.value(&q, 0.0), slope)
                };
                let ((right, up), (left, down)) = (at(1e-5), at(-1e-5));
                assert!((slope[j] - (right - left) / 2e-5).abs() < 1e-8 * (1.0 + slope[j].abs()));
                for i in 0..n {
                    let found = 2.0 * (up[i] - down[i]) / 2e-5;
                    let exact = hessian[i * n + j];
                    assert!((found - exact).abs() < 1e-7 * (1.0 + exact.abs()), "{found} {exact}");
                }
            }
        }
    }

    #[test]
    fn mean_gradients_do_the_work_of_the_difference_and_keep_momenta() {
        for gauge in gauges() {
            let (from, to) = (place(0.3), place(0.8));
            let n = gauge.coordinates().len();
            let (mut mean, mut slope) = (vec![0.0; n], vec![0.0; n * n]);
            assert!(gauge.mean_gradient(&from, &to, 0.0, &mut mean));
            assert!(gauge.mean_hessian(&from, &to, 0.0, 1.0, &mut slope));
            let work: f64 =
                gauge.coordinates().iter().zip(&mean).map(|(&c, g)| g * (to[c] - from[c])).sum();
            let difference = gauge.value(&to, 0.0) - gauge.value(&from, 0.0);
            assert!((work - difference).abs() < 1e-13, "{work} {difference}");
            for (j, &c) in gauge.coordinates().iter().enumerate() {
                let at = |s: f64| {
                    let mut to = to.clone();
                    to[c] += s;
                    let mut mean = vec![0.0; n];
                    gauge.mean_gradient(&from, &to, 0.0, &mut mean);
                    mean
                };
                for (i, (right, left)) in at(1e-6).iter().zip(at(-1e-6)).enumerate() {
                    let found = (right - left) / 2e-6;
                    let exact = slope[i * n + j];
                    assert!((found - exact).abs() < 1e-7 * (1.0 + exact.abs()), "{found} {exact}");
                }
            }
            // A turn of everything about the origin does no work on it, seen from the middle of the chord.
            if gauge.coordinates().contains(&0) || gauge.is_angle() {
                let spin = Vec3::new(0.3, -0.5, 0.8);
                let turned: f64 = gauge
                    .vectors
                    .iter()
                    .enumerate()
                    .map(|(j, &at)| {
                        let m = Vec3::from_fn(|c, _| 0.5 * (from[at + c] + to[at + c]));
                        let g = Vec3::from_column_slice(&mean[3 * j..3 * j + 3]);
                        g.dot(&spin.cross(&m))
                    })
                    .sum();
                assert!(turned.abs() < 1e-13, "{turned}");
            }
        }
    }

    #[test]
    fn angles_are_counted_over_turns() {
        let [e1, e2] = [Arm::fixed([1.0, 0.0, 0.0]), Arm::fixed([0.0, 1.0, 0.0])];
        let gauge =
            Gauge::angle(&e1, &e2, &Arm::direction(0, [1.0, 0.0, 0.0]), Reference::Turns(12));
        let mut turns = 0.0;
        for k in 0..400 {
            let angle = -0.1 * f64::from(k);
            let mut q = vec![0.0; 13];
            (q[3], q[4], q[12]) = (angle.cos(), angle.sin(), turns);
            let found = gauge.value(&q, 0.0);
            assert!((found - angle).abs() < 1e-12, "{found} {angle}");
            turns = Gauge::half_turns(found);
        }
    }
}
