//! Problems on which a wrong answer would pass unnoticed: each is solved, proven unsolvable, or refused.

use nsm_solvers::lcp::{LcpError, Matrix, Method, MixedWorkspace, solve, solve_with};

#[test]
fn dense_matrices_are_read_by_rows() {
    // w = (z_0 + 2 z_1 - 3, z_1 - 1): z = (1, 1); the transpose would give (3, 0).
    let rows = [1.0, 2.0, 0.0, 1.0];
    let matrix = Matrix::dense(2, &rows).unwrap();
    let q = [-3.0, -1.0];
    assert_eq!(solve(matrix, &q).unwrap().z, [1.0, 1.0]);
    let general = [
        Method::Lemke,
        Method::BlockPivoting,
        Method::NewtonFischerBurmeister,
        Method::NewtonMin,
        Method::Enumeration,
    ];
    for method in general {
        let solution = solve_with(method, matrix, &q).unwrap();
        assert!((solution.z[0] - 1.0).abs() < 1e-12 && (solution.z[1] - 1.0).abs() < 1e-12);
    }
    let (mut z, mut w) = ([0.0; 2], [0.0; 2]);
    let mut mixed = MixedWorkspace::new(2, 1);
    let _ = mixed.solve(matrix, &q, &[true, false], &mut z, &mut w).unwrap();
    assert_eq!(z, [1.0, 1.0]);
    // Columns of a compressed matrix are columns.
    let sparse = Matrix::sparse(2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 1.0]).unwrap();
    assert_eq!(solve(sparse, &q).unwrap().z, [1.0, 1.0]);
}

#[test]
fn a_point_far_out_along_a_null_vector_is_no_solution() {
    let failure = solve(Matrix::dense(2, &[3.0, -3.0, -1.0, 1.0]).unwrap(), &[-2.0, 0.0]);
    assert!(failure.unwrap_err().error.proves_no_solution());
    let singular = Matrix::dense(2, &[2.0, -2.0, -2.0, 2.0]).unwrap();
    for method in Method::ALL {
        let failure = solve_with(method, singular, &[-1.0, 0.0]);
        assert!(failure.is_err(), "{method}: {failure:?}");
    }
    let failure = solve(singular, &[-1.0, 0.0]).unwrap_err();
    assert!(matches!(failure.error, LcpError::Infeasible { .. }), "{failure}");
}

#[test]
fn an_answer_beyond_double_precision_is_refused() {
    let rows = [1e-310, 0.0, 0.0, 1e-310];
    let failure = solve(Matrix::dense(2, &rows).unwrap(), &[-1e299, -1e299]).unwrap_err();
    assert_eq!(failure.error, LcpError::Range { index: 0 });
    // The same matrix with an answer that can be written down.
    let solution = solve(Matrix::dense(2, &rows).unwrap(), &[-2e-310, 1e-300]).unwrap();
    assert_eq!(solution.z, [2.0, 0.0]);
    // And one that underflows.
    let failure = solve(Matrix::dense(1, &[1e200]).unwrap(), &[-1e-200]).unwrap_err();
    assert_eq!(failure.error, LcpError::Range { index: 0 });
}

#[test]
fn definite_problems_over_many_decades_are_solved_by_every_method_that_takes_them() {
    let coupling = -2.313_666_719_676_227;
    let rows = [801_696_006_102.417_6, coupling, coupling, 9.691_259_615_337_9e-12];
    let q = [897_547.449_859_350_1, -3.759_558_487_701_583e-6];
    let matrix = Matrix::dense(2, &rows).unwrap();
    let check = |what: &str, z: &[f64]| {
        assert!(z[0] == 0.0 && (z[1] - 387_932.9).abs() < 1.0, "{what}: {z:?}");
    };
    check("default", &solve(matrix, &q).unwrap().z);
    for method in Method::ALL {
        if method != Method::NewtonMin {
            check(&method.to_string(), &solve_with(method, matrix, &q).unwrap().z);
        }
    }
}

#[test]
fn chains_that_are_not_semidefinite_fall_through_to_general_methods() {
    let n = 5;
    let mut m = vec![0.0; n * n];
    for (i, d) in [1.0, 0.0, 1.0, 1.0, 1.0].into_iter().enumerate() {
        m[i * (n + 1)] = d;
    }
    for (i, j) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
        m[i * n + j] = -1.0;
    }
    let matrix = Matrix::dense(n, &m).unwrap();
    let q = [-2.0, 2.0, -1.0, 1.0, 1.0];
    let by_name = solve_with(Method::ChainSweep, matrix, &q).unwrap_err();
    assert!(matches!(by_name.error, LcpError::Stalled { .. }), "{by_name}");
    // Rows 0 to 2 sum to w_0 + w_1 + w_2 = -z_1 ... - 1 < 0.
    let failure = solve(matrix, &q).unwrap_err();
    assert!(failure.error.proves_no_solution(), "{failure}");
}

#[test]
fn what_holds_up_to_rounding_only_is_no_proof() {
    // Singular but for the last bit of one entry. The exact problem has a solution near 4e15, where doubles are too
    // coarse for it: neither that nor a proof of the contrary may come out.
    let rows = [1.0 + f64::EPSILON, -1.0, -1.0, 1.0];
    let matrix = Matrix::dense(2, &rows).unwrap();
    let failure = solve(matrix, &[-1.0, 0.1]).unwrap_err();
    assert!(!failure.error.proves_no_solution(), "{failure}");
    for method in Method::ALL {
        let failure = solve_with(method, matrix, &[-1.0, 0.1]).unwrap_err();
        assert!(!failure.error.proves_no_solution(), "{method}: {failure}");
    }
}
