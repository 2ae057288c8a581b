//! Block Gauss–Seidel: one contact after another in closed form, the others as they are.

use super::FrictionProblem;
use super::contact::solve_contact;
use super::work::Work;

/// Sweeps until the residual is below `tolerance`, at most `sweeps` of them; the sweeps made.
pub(super) fn sweep(
    problem: &FrictionProblem,
    work: &mut Work,
    tolerance: f64,
    sweeps: usize,
) -> usize {
    for sweep in 0..sweeps {
        if sweep % 5 == 0 && work.measure(problem) <= tolerance {
            return sweep;
        }
        for i in 0..problem.len() {
            let mut q = [problem.q[3 * i], problem.q[3 * i + 1], problem.q[3 * i + 2]];
            let own = [work.r[3 * i], work.r[3 * i + 1], work.r[3 * i + 2]];
            work.r[3 * i..3 * i + 3].fill(0.0);
            problem.add_row(i, &work.r, &mut q);
            let new = solve_contact(&problem.blocks[problem.diagonal[i]], &q, problem.friction[i]);
            let kept = if new.iter().all(|x| x.is_finite()) { new } else { own };
            work.r[3 * i..3 * i + 3].copy_from_slice(&kept);
        }
    }
    work.measure(problem);
    sweeps
}
