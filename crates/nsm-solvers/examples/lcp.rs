//! Solves a linear complementarity problem by the default strategy and by every method.
//!
//! A string hangs between two nails over an obstacle: heights $u \ge \psi$, force balance
//! $Au - f \ge 0$, and contact force only where the string touches. With $z = u - \psi$ this is
//! $0 \le z \perp Az + (A\psi - f) \ge 0$.
#![allow(clippy::print_stdout)]

use nsm_solvers::lcp::{Matrix, Method, solve, solve_with};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let points = 39;
    let h = 1.0 / f64::from(points + 1);
    let obstacle: Vec<f64> = (1..=points)
        .map(|i| {
            let x = f64::from(i) * h;
            0.25 - 4.0 * (x - 0.4) * (x - 0.4)
        })
        .map(|height: f64| height.max(-0.3))
        .collect();
    let n = obstacle.len();
    let mut a = vec![0.0; n * n];
    let mut q = vec![0.0; n];
    for i in 0..n {
        a[i * n + i] = 2.0;
        let mut bent = 2.0 * obstacle[i];
        if i > 0 {
            a[(i - 1) * n + i] = -1.0;
            bent -= obstacle[i - 1];
        }
        if i + 1 < n {
            a[(i + 1) * n + i] = -1.0;
            bent -= obstacle[i + 1];
        }
        q[i] = bent + 0.5 * h * h;
    }

    let matrix = Matrix::dense(n, &a)?;
    let solution = solve(matrix, &q)?;
    println!("A string over an obstacle ({n} points): * string, # obstacle, @ both");
    for level in (0..12).rev() {
        let (low, high) = (0.025 * f64::from(level), 0.025 * f64::from(level + 1));
        let line: String = (0..n)
            .map(|i| {
                let inside = |v: f64| v >= low && v < high;
                match (inside(solution.z[i] + obstacle[i]), inside(obstacle[i])) {
                    (true, true) => '@',
                    (true, false) => '*',
                    (false, true) => '#',
                    _ => ' ',
                }
            })
            .collect();
        println!("  {line}");
    }
    let touching = n - solution.active.len();
    println!(
        "solved by {} in {} iterations, residual {:.1e}; {touching} points touch\n",
        solution.report.method, solution.report.iterations, solution.report.residual
    );
    println!("{:<32}{:>11}{:>12}", "method", "iterations", "residual");
    for method in Method::ALL {
        match solve_with(method, matrix, &q) {
            Ok(s) => println!(
                "{:<32}{:>11}{:>12.1e}",
                method.to_string(),
                s.report.iterations,
                s.report.residual
            ),
            Err(failure) => println!("{:<32}  {}", method.to_string(), failure.error),
        }
    }
    Ok(())
}
