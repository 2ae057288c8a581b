//! Input that cannot be solved gets its own error and the best point; nothing panics.

use nsm_solvers::lcp::{LcpError, LcpWorkspace, Matrix, Method, solve, solve_with};

#[test]
fn sizes_and_patterns() {
    assert!(matches!(Matrix::dense(2, &[1.0; 3]), Err(LcpError::Size { what: "matrix", .. })));
    assert!(matches!(
        Matrix::sparse(2, &[0, 1], &[0], &[1.0]),
        Err(LcpError::Size { what: "col_ptr", .. })
    ));
    assert!(matches!(
        Matrix::sparse(2, &[0, 1, 2], &[0, 2], &[1.0, 1.0]),
        Err(LcpError::Pattern { column: 1 })
    ));
    assert!(matches!(
        Matrix::sparse(2, &[0, 2, 1], &[0, 1], &[1.0, 1.0]),
        Err(LcpError::Pattern { .. })
    ));
    let one = Matrix::dense(1, &[1.0]).unwrap();
    let failure = solve(one, &[1.0, 2.0]).unwrap_err();
    assert_eq!(failure.error, LcpError::Size { what: "q", expected: 1, found: 2 });
    assert!(failure.best.is_none() && failure.error.is_invalid_input());
}

#[test]
fn values_that_are_not_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let m = [1.0, 0.0, bad, 1.0];
        let failure = solve(Matrix::dense(2, &m).unwrap(), &[1.0, 1.0]).unwrap_err();
        assert_eq!(failure.error, LcpError::NotFinite { what: "matrix", index: 2 });
        let m = [1.0, 0.0, 0.0, 1.0];
        let failure = solve(Matrix::dense(2, &m).unwrap(), &[1.0, bad]).unwrap_err();
        assert_eq!(failure.error, LcpError::NotFinite { what: "q", index: 1 });
    }
}

#[test]
fn symmetry_where_a_method_demands_it() {
    let m = [1.0, 2.0, 0.0, 1.0];
    let matrix = Matrix::dense(2, &m).unwrap();
    for method in [Method::ActiveSet, Method::InteriorPoint, Method::AcceleratedGradient] {
        let failure = solve_with(method, matrix, &[-1.0, -1.0]).unwrap_err();
        assert_eq!(failure.error, LcpError::NotSymmetric { method, row: 0, column: 1 });
    }
    assert!(solve(matrix, &[-1.0, -1.0]).is_ok());
}

#[test]
fn classes_a_method_cannot_handle() {
    let zero_diagonal = [0.0, 1.0, 1.0, 0.0];
    let matrix = Matrix::dense(2, &zero_diagonal).unwrap();
    let failure = solve_with(Method::ProjectedGaussSeidel, matrix, &[-1.0, -1.0]).unwrap_err();
    assert!(matches!(failure.error, LcpError::Diagonal { index: 0, .. }));
    let failure = solve_with(Method::ChainSweep, matrix, &[-1.0, -1.0]).unwrap_err();
    assert_eq!(failure.error, LcpError::NotAChain { index: 0 });
    let solution = solve(matrix, &[-1.0, -1.0]).unwrap();
    assert!(solution.report.residual < 1e-15);
}

#[test]
fn infeasible_problems_are_proven_so() {
    // w = -z - 1 < 0.
    let failure = solve(Matrix::dense(1, &[-1.0]).unwrap(), &[-1.0]).unwrap_err();
    assert!(failure.error.proves_no_solution(), "{failure}");
    // Rank one, q against its null vector.
    let m = [1.0, -1.0, -1.0, 1.0];
    let failure = solve(Matrix::dense(2, &m).unwrap(), &[-1.0, 0.5]).unwrap_err();
    assert!(matches!(failure.error, LcpError::Infeasible { .. }), "{failure}");
    let best = failure.best.unwrap();
    assert!(best.z.iter().all(|&z| z >= 0.0) && best.report.residual > 0.0);
    // A larger semidefinite one, sparse: a chain between walls, squeezed.
    let n = 50_usize;
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], vec![], vec![]);
    for j in 0..n {
        for i in [j.wrapping_sub(1), j, j + 1] {
            if i < n {
                row_idx.push(i);
                let end = j == 0 || j == n - 1;
                values.push(if i != j {
                    -1.0
                } else if end {
                    1.0
                } else {
                    2.0
                });
            }
        }
        col_ptr.push(values.len());
    }
    let matrix = Matrix::sparse(n, &col_ptr, &row_idx, &values).unwrap();
    let q: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 0.9 }).collect();
    let failure = solve(matrix, &q).unwrap_err();
    assert!(matches!(failure.error, LcpError::Infeasible { .. }), "{failure}");
    for method in [Method::InteriorPoint, Method::ActiveSet, Method::Lemke] {
        let failure = solve_with(method, matrix, &q).unwrap_err();
        assert!(matches!(failure.error, LcpError::Infeasible { .. }), "{method}: {failure}");
    }
}

#[test]
fn feasible_without_solution() {
    // w = (z_1 - 1, 1): z_1 = 1 is feasible, but w_1 = 1 forces z_1 = 0.
    let m = [0.0, 1.0, 0.0, 0.0];
    let failure = solve(Matrix::dense(2, &m).unwrap(), &[-1.0, 1.0]).unwrap_err();
    assert!(matches!(failure.error, LcpError::NoSolution { cones: 4, .. }), "{failure}");
    assert!((failure.error.residual().unwrap() - 1.0).abs() < 1e-15);
}

#[test]
fn iteration_limit_returns_the_best_point() {
    let m = [2.0, -1.0, -1.0, 2.0];
    let matrix = Matrix::dense(2, &m).unwrap();
    let mut workspace = LcpWorkspace::new(2);
    workspace.options.max_sweeps = 3;
    let (mut z, mut w) = ([0.0; 2], [0.0; 2]);
    let q = [-1.0, -1.0];
    let error =
        workspace.solve_with(Method::ProjectedGaussSeidel, matrix, &q, &mut z, &mut w).unwrap_err();
    let LcpError::Stalled { iterations: 3, residual, .. } = error else { panic!("{error}") };
    assert!(residual > 0.0 && residual < 0.5 && z[0] > 0.5);
    assert!((w[0] - (2.0 * z[0] - z[1] - 1.0)).abs() < 1e-15);
}

#[test]
fn empty_and_trivial_problems() {
    let empty = solve(Matrix::dense(0, &[]).unwrap(), &[]).unwrap();
    assert!(empty.z.is_empty());
    for method in Method::ALL {
        let _ = solve_with(method, Matrix::dense(0, &[]).unwrap(), &[]);
        let one = solve_with(method, Matrix::dense(1, &[2.0]).unwrap(), &[-4.0]);
        assert!((one.unwrap().z[0] - 2.0).abs() < 1e-11, "{method}");
        let one = solve_with(method, Matrix::dense(1, &[2.0]).unwrap(), &[4.0]);
        assert_eq!(one.unwrap().z, [0.0], "{method}");
    }
}

#[test]
fn extreme_scales() {
    for scale in [1e-150, 1e-30, 1e30, 1e150] {
        let m = [2.0 * scale, scale, scale, 2.0 * scale];
        let solution = solve(Matrix::dense(2, &m).unwrap(), &[-5.0 * scale, -6.0 * scale]).unwrap();
        assert!((solution.z[1] - 7.0 / 3.0).abs() < 1e-14, "{scale:e}");
    }
}

#[test]
fn entries_given_twice_add_up() {
    let n = 40;
    let mut col_ptr = vec![0];
    let (mut row_idx, mut values) = (vec![], vec![]);
    for j in 0..n {
        row_idx.extend([j, j]);
        values.extend([1.5, 0.5]);
        col_ptr.push(values.len());
    }
    let matrix = Matrix::sparse(n, &col_ptr, &row_idx, &values).unwrap();
    let q: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -4.0 } else { 1.0 }).collect();
    for method in [Method::InteriorPoint, Method::ChainSweep, Method::BlockPivoting] {
        let solution = solve_with(method, matrix, &q).unwrap();
        assert!((solution.z[0] - 2.0).abs() < 1e-12 && solution.z[1] == 0.0, "{method}");
    }
}
