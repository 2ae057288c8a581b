//! The conserving step with its matrix frozen at the start.
//!
//! At $h \to 0$ the matrix of the step is $\begin{pmatrix} M & G^\top \cr G & 0 \end{pmatrix}$, which costs as much
//! as a chain is long, and a fraction of the true one. Iterations with it gain a factor $O(h)$ each, and reach the
//! same step to round-off where forces and motion vary little over it. Where they vary more, Newton's method takes over,
//! and the attempt is not repeated for a while.

use nsm_solvers::newton::Contraction;
use nsm_solvers::small::norm_inf;

use super::equations::{Equations, Start};
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
    rhs: Vec<f64>,
    b: Vec<f64>,
    dx: Vec<f64>,
    dl: Vec<f64>,
    r: Vec<f64>,
    scratch: Vec<f64>,
}

impl Frozen {
    pub(super) fn new(n: usize, m: usize) -> Self {
        Self {
            pause: 0,
            next_pause: PAUSES[0],
            rhs: vec![0.0; n],
            b: vec![0.0; m],
            dx: vec![0.0; n],
            dl: vec![0.0; m],
            r: vec![0.0; n],
            scratch: vec![0.0; n],
        }
    }

    /// Solves from the guesses in `x` and `multipliers` with `held` placed at the start; iterations and the last step
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
        let mut course = tolerances.frozen(multipliers.len());
        for iteration in 1..=PATIENCE {
            equations.evaluate(start, x);
            equations.residual(start, x, multipliers, &mut self.r, &mut self.scratch);
            self.rhs.iter_mut().zip(&self.r).for_each(|(rhs, r)| *rhs = -r);
            self.b.iter_mut().zip(&equations.f).for_each(|(b, f)| *b = -f);
            held.solve(&self.rhs, &self.b, &mut self.dx, &mut self.dl).ok()?;
            for (x, d) in x.iter_mut().zip(&self.dx) {
                *x += d;
            }
            for (l, d) in multipliers.iter_mut().zip(&self.dl) {
                *l += d;
            }
            // M⁻¹r is what the change of the multipliers moves and the step does not show.
            equations.system.mass().solve(&self.r, &mut self.scratch);
            let last = norm_inf(&self.dx).max(norm_inf(&self.scratch));
            let scale = norm_inf(x).max(f64::MIN_POSITIVE);
            match course.stepped(last, scale) {
                Contraction::Ends => {
                    equations.evaluate(start, x);
                    (self.pause, self.next_pause) = (0, PAUSES[0]);
                    return Some((iteration, last / scale));
                }
                Contraction::Fails => return None,
                Contraction::GoesOn => {}
            }
        }
        None
    }
}
