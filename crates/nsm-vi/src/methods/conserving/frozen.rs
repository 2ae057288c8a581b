//! The conserving step with its matrix frozen in the middle of the flight, or at the start where rows depend on others.
//!
//! At $h \to 0$ the matrix of the step is $\begin{pmatrix} M & G^\top \cr G & 0 \end{pmatrix}$, which costs as much
//! as a chain is long, and a fraction of the true one. In the middle its forces have the directions of the step, but for $O(h^2)$. Iterations with it gain a factor $O(h)$ each, and reach the
//! same step to round-off where forces and motion vary little over it. Where they vary more, Newton's method takes over,
//! and the attempt is not repeated for a while. It begins with what the last five steps say of this one.

use nsm_solvers::newton::Contraction;
use nsm_solvers::small::norm_inf;

use super::equations::{Equations, Start};
use super::history::History;
use crate::Tolerances;
use crate::shared::held::Held;

/// Iterations before Newton's method takes over.
const PATIENCE: usize = 20;
/// Steps without another attempt after one that failed: twice as many each time, from the first of these to the second. A loop that passes a singular
/// position fails there and nowhere else; a stiff system fails always.
const PAUSES: [usize; 2] = [4, 128];

/// Workspace of the iteration.
#[derive(Debug)]
pub(super) struct Frozen {
    pause: usize,
    next_pause: usize,
    /// What the last steps moved beyond $h v$, and their multipliers; where the last one ended.
    beyond: History,
    loads: History,
    left: Vec<f64>,
    /// $q + h v$.
    flight: Vec<f64>,
    dx: Vec<f64>,
    dl: Vec<f64>,
    r: Vec<f64>,
    scratch: Vec<f64>,
    ones: Vec<f64>,
}

impl Frozen {
    pub(super) fn new(n: usize, m: usize) -> Self {
        Self {
            pause: 0,
            next_pause: PAUSES[0],
            beyond: History::new(n),
            loads: History::new(m),
            left: vec![f64::NAN; n],
            flight: vec![0.0; n],
            dx: vec![0.0; n],
            dl: vec![0.0; m],
            r: vec![0.0; n],
            scratch: vec![0.0; n],
            ones: vec![1.0; n],
        }
    }

    /// Solves from the guesses in `x` and `multipliers` with `held` placed there; iterations and the last step
    /// relative to the positions, or nothing if it does not contract.
    pub(super) fn solve(
        &mut self,
        equations: &mut Equations<'_>,
        held: &mut Held<'_>,
        start: Start<'_>,
        (x, multipliers): (&mut [f64], &mut [f64]),
        tolerances: &Tolerances,
    ) -> Option<(usize, f64)> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        self.pause = self.next_pause;
        self.next_pause = (2 * self.next_pause).min(PAUSES[1]);
        self.predict(held, start, x, multipliers);
        let mut course = tolerances.frozen(multipliers.len());
        let mut scale = 0.0;
        for iteration in 1..=PATIENCE {
            equations.defects(start, x, multipliers, &mut self.r, &mut self.scratch);
            // Minus the step, which spares two changes of sign.
            held.solve(&self.r, &equations.f, &mut self.dx, &mut self.dl).ok()?;
            for (l, d) in multipliers.iter_mut().zip(&self.dl) {
                *l -= d;
            }
            // M⁻¹r is what the change of the multipliers moves and the step does not show.
            let mass = equations.system.mass();
            let last = if let Some(inverse) = mass.as_inverse_diagonal() {
                step_back(&self.dx, (&self.r, inverse), x)
            } else {
                mass.solve(&self.r, &mut self.scratch);
                step_back(&self.dx, (&self.scratch, &self.ones), x)
            };
            if iteration == 1 {
                // From here on the positions change by nothing that counts.
                scale = norm_inf(x).max(f64::MIN_POSITIVE);
            }
            match course.stepped(last, scale) {
                Contraction::Ends => {
                    let moved = x.iter().zip(&self.flight).map(|(x, y)| x - y);
                    self.beyond.remember(moved);
                    self.loads.remember(multipliers.iter().copied());
                    self.left.copy_from_slice(x);
                    (self.pause, self.next_pause) = (0, PAUSES[0]);
                    return Some((iteration, last / scale));
                }
                Contraction::Fails => return None,
                Contraction::GoesOn => {}
            }
        }
        None
    }

    /// Adds to the flight in `x` what the last steps say of this one, if they ended where it begins.
    fn predict(
        &mut self,
        held: &Held<'_>,
        start: Start<'_>,
        x: &mut [f64],
        multipliers: &mut [f64],
    ) {
        self.flight.copy_from_slice(x);
        // A row that has become redundant hands its load to others: nothing to extrapolate.
        let handed = held.redundant().iter().any(|&i| self.loads.last()[i] != 0.0);
        if handed || self.left != start.q {
            self.beyond.forget();
            self.loads.forget();
        }
        x.iter_mut().zip(self.beyond.next()).for_each(|(x, d)| *x += d);
        multipliers.iter_mut().zip(self.loads.next()).for_each(|(l, next)| *l = next);
    }
}

/// Subtracts `step` from `x` and returns the largest entry of `step` and of two vectors' products, NaN if any of either is.
fn step_back(step: &[f64], (a, b): (&[f64], &[f64]), x: &mut [f64]) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    // In lanes, as in `norm_inf`.
    let ((steps, step), (xs, x)) = (step.as_chunks::<4>(), x.as_chunks_mut::<4>());
    let ((lefts, left), (rights, right)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let (mut lanes, mut sums) = ([0.0_f64; 4], [0.0_f64; 4]);
    for ((d, x), (a, b)) in steps.iter().zip(xs).zip(lefts.iter().zip(rights)) {
        for l in 0..4 {
            x[l] -= d[l];
        }
        for l in 0..4 {
            let (d, b) = (d[l].abs(), (a[l] * b[l]).abs());
            sums[l] += d + b;
            lanes[l] = larger(larger(d, b), lanes[l]);
        }
    }
    for ((d, x), (a, b)) in step.iter().zip(x).zip(left.iter().zip(right)) {
        *x -= d;
        let (d, b) = (d.abs(), (a * b).abs());
        sums[0] += d + b;
        lanes[0] = larger(larger(d, b), lanes[0]);
    }
    if sums.iter().sum::<f64>().is_nan() { f64::NAN } else { lanes.into_iter().fold(0.0, larger) }
}
