//! Large problems without symmetry: too large to be written out densely.

use nsm_solvers::lcp::{Matrix, Method, solve};

/// Upwind differences with reaction: diagonally dominant, not symmetric.
#[test]
fn an_upwind_chain_of_five_thousand_is_solved_by_sweeps() {
    let n = 5000;
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        row_idx.push(j);
        values.push(2.0);
        if j + 1 < n {
            row_idx.push(j + 1);
            values.push(-1.5);
        }
        col_ptr.push(row_idx.len());
    }
    let q: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 0.5 }).collect();
    let matrix = Matrix::sparse(n, &col_ptr, &row_idx, &values).unwrap();
    let solution = solve(matrix, &q).unwrap();
    assert!(solution.report.residual < 1e-10, "{}", solution.report.residual);
    assert_eq!(solution.report.method, Method::ProjectedGaussSeidel);
    // The oracle: forward substitution decides each unknown from the one before.
    let mut before = 0.0;
    for (i, &z) in solution.z.iter().enumerate() {
        let exact = f64::max(0.0, (1.5 * before - q[i]) / 2.0);
        assert!((z - exact).abs() < 1e-9, "{i}: {z} against {exact}");
        before = exact;
    }
}
