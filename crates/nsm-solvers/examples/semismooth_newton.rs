//! A string pressed by a nonlinear load onto a bumpy floor: a problem of one's own for the semismooth
//! Newton method.
//!
//! Find the height $u$ of a string with $-u^{\prime\prime} = -w (1 + u^2) + \lambda$, $u = 0.2$ at both ends, above
//! a floor $\psi$, pushed by it only where it touches: $0 \le \lambda \perp u - \psi \ge 0$.
//!
//! Run with `cargo run --example semismooth_newton`.

use nsm_solvers::kkt::KktPattern;
use nsm_solvers::ncp::{Complementarity, Derivatives, NcpOptions, SemismoothNewton};

struct BumpyFloor {
    points: usize,
    load: f64,
}

impl BumpyFloor {
    fn spacing(&self) -> f64 {
        1.0 / (self.points + 1) as f64
    }

    fn floor(&self, i: usize) -> f64 {
        let s = (i + 1) as f64 * self.spacing();
        -0.1 + 0.05 * (6.0 * std::f64::consts::PI * s).cos()
    }

    /// Tridiagonal: each point pulls on its neighbours.
    fn stiffness_pattern(&self) -> impl Iterator<Item = (usize, usize)> {
        let n = self.points;
        (0..n).flat_map(move |i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)))
    }
}

impl Complementarity for BumpyFloor {
    fn residual(&mut self, u: &[f64], lambda: &[f64], force: &mut [f64], gap: &mut [f64]) {
        let (n, h2) = (self.points, self.spacing().powi(2));
        for i in 0..n {
            let left = if i > 0 { u[i - 1] } else { 0.2 };
            let right = if i + 1 < n { u[i + 1] } else { 0.2 };
            force[i] = 2.0 * u[i] - left - right + h2 * self.load * (1.0 + u[i] * u[i]) - lambda[i];
            gap[i] = u[i] - self.floor(i);
        }
    }

    fn derivatives(&mut self, u: &[f64], _lambda: &[f64], d: &mut Derivatives) {
        let h2 = self.spacing().powi(2);
        for (value, (i, j)) in d.block.iter_mut().zip(self.stiffness_pattern()) {
            *value = if i == j { 2.0 + 2.0 * h2 * self.load * u[i] } else { -1.0 };
        }
        d.forces.fill(1.0);
        d.gaps.fill(1.0);
    }
}

#[allow(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut problem = BumpyFloor { points: 60, load: 12.0 };
    let n = problem.points;
    let block: Vec<(usize, usize)> = problem.stiffness_pattern().collect();
    let gradients: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
    let pattern =
        KktPattern { unknowns: n, rows: n, block: &block, gradients: &gradients, symmetric: false };
    let mut solver = SemismoothNewton::new(&pattern, 0, NcpOptions::default())?;

    let (mut u, mut lambda) = (vec![0.2; n], vec![0.0; n]);
    let report = solver.solve(&mut problem, &mut u, &mut lambda)?;

    println!("solved in {} iterations, residual {:.1e}", report.iterations, report.residual);
    println!(
        "{} of {n} points touch the floor, total force {:.4}",
        report.active,
        lambda.iter().sum::<f64>()
    );
    println!("  i      floor     height      force");
    for i in (0..n).step_by(6) {
        println!("{i:3} {:10.5} {:10.5} {:10.5}", problem.floor(i), u[i], lambda[i]);
    }
    Ok(())
}
