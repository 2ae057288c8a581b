//! A free flight brought back to the equality constraints by impulses at its start.
//!
//! Where $A = M/h$, the position update is $x = y + h M^{-1} F(q)\nu$ with $f(x) = 0$, $y$ being the flight without
//! constraints. Its matrix $h F(x)^\top M^{-1} F(q)$ differs by $O(h)$ from the one at the start,
//! which is factorised already: the momentum was made tangent with it. Each iteration with
//! that one gains some three digits, one and a half where a chain whips about, and costs no more than the values of the
//! constraints and a solve; impulses extrapolated from the last three steps leave little to gain. RATTLE is usually solved like
//! this, one constraint after another; here all at once.

use nsm_constraints::Rows;
use nsm_solvers::newton::Contraction;

use crate::Tolerances;
use crate::shared::extrapolation::Extrapolation;
use crate::shared::held::Held;

/// Iterations before Newton's method takes over.
const PATIENCE: usize = 20;

/// Workspace of the iteration, and what it remembers of the steps before.
#[derive(Debug)]
pub(crate) struct Flight {
    /// $\nu / h$.
    rate: Extrapolation,
    f: Vec<f64>,
    step: Vec<f64>,
    mu: Vec<f64>,
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    pub(crate) iterations: usize,
    /// Last step relative to the positions.
    pub(crate) residual: f64,
}

impl Flight {
    pub(crate) fn new(rows: &Rows) -> Self {
        let m = rows.len();
        Self {
            rate: Extrapolation::new(m),
            f: vec![0.0; m],
            step: vec![0.0; rows.dimension()],
            mu: vec![0.0; m],
        }
    }

    /// Brings the flight `x` from `start` to the constraints at time `t`, with impulses `nu`; nothing if the iteration does not
    /// contract. `continued` says that the step begins where the last one ended.
    pub(crate) fn land(
        &mut self,
        held: &mut Held<'_>,
        rows: &Rows,
        (start, x, nu): (&[f64], &mut [f64], &mut [f64]),
        (t, h): (f64, f64),
        continued: bool,
        tolerances: &Tolerances,
    ) -> Option<Landing> {
        if !continued {
            self.forget();
        }
        // A row that has become redundant hands its load to others: nothing to extrapolate.
        if held.redundant().iter().any(|&i| self.rate.last()[i] != 0.0) {
            self.forget();
        }
        if self.rate.is_known() {
            for (nu, rate) in nu.iter_mut().zip(self.rate.next()) {
                *nu = h * rate;
            }
            for &i in held.redundant() {
                nu[i] = 0.0;
            }
            held.push(nu, h, x);
        } else {
            nu.fill(0.0);
        }
        let frequency = 1.0 / h;
        let mut course = tolerances.frozen(rows.len());
        for iteration in 1..=PATIENCE {
            rows.values_over(start, x, t, &mut self.f);
            held.displace(&self.f, &mut self.step, &mut self.mu).ok()?;
            for (nu, mu) in nu.iter_mut().zip(&self.mu) {
                *nu += frequency * mu;
            }
            let (last, scale) = subtract(&self.step, x);
            let scale = larger(scale, f64::MIN_POSITIVE);
            match course.stepped(last, scale) {
                Contraction::Ends => {
                    self.rate.remember(nu.iter().map(|nu| nu / h));
                    return Some(Landing { iterations: iteration, residual: last / scale });
                }
                Contraction::Fails => return None,
                Contraction::GoesOn => {}
            }
        }
        None
    }

    /// Forgets the steps before.
    pub(crate) fn forget(&mut self) {
        self.rate.forget();
    }
}

/// Subtracts `step` from `x` and returns the largest entries of both, NaN if any of either is.
pub(crate) fn subtract(step: &[f64], x: &mut [f64]) -> (f64, f64) {
    // In lanes, as in `norm_inf`.
    let ((steps, step), (xs, x)) = (step.as_chunks::<4>(), x.as_chunks_mut::<4>());
    let (mut lanes, mut sums) = ([[0.0_f64; 4]; 2], [0.0_f64; 4]);
    for (d, x) in steps.iter().zip(xs) {
        for l in 0..4 {
            x[l] -= d[l];
            let (d, x) = (d[l].abs(), x[l].abs());
            sums[l] += d + x;
            lanes[0][l] = larger(d, lanes[0][l]);
            lanes[1][l] = larger(x, lanes[1][l]);
        }
    }
    let mut sum: f64 = sums.iter().sum();
    for (d, x) in step.iter().zip(x) {
        *x -= d;
        sum += d.abs() + x.abs();
        lanes[0][0] = larger(lanes[0][0], d.abs());
        lanes[1][0] = larger(lanes[1][0], x.abs());
    }
    if sum.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    let [d, x] = lanes.map(|[a, b, c, d]| larger(larger(a, b), larger(c, d)));
    (d, x)
}

/// The larger of two numbers that are not NaN, in one instruction.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
