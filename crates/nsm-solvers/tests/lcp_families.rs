//! The four problem families at every size of the comparison, solved by the default strategy.

#[path = "common/families.rs"]
mod families;

use families::{Contacts, DenseProblem, chain, pile, residual, spd, stack};
use nsm_solvers::lcp::{LcpWorkspace, Matrix, Report};

fn sparse(p: &DenseProblem) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], vec![], vec![]);
    for j in 0..p.n {
        for i in 0..p.n {
            let v = p.m[j * p.n + i];
            if v != 0.0 {
                row_idx.push(i);
                values.push(v);
            }
        }
        col_ptr.push(values.len());
    }
    (col_ptr, row_idx, values)
}

fn check(name: &str, p: &DenseProblem, report: Report, z: &[f64], w: &[f64]) {
    let r = residual(p, z);
    assert!(r < 1e-12, "{name}: residual {r:e}, {report:?}");
    assert!(z.iter().all(|&z| z >= 0.0), "{name}");
    assert!(w.iter().all(|&w| w >= -1e-12), "{name}");
}

fn solve_sparse(name: &str, contacts: &Contacts) -> Report {
    let p = contacts.dense();
    let (col_ptr, row_idx, values) = sparse(&p);
    let (mut z, mut w) = (vec![0.0; p.n], vec![0.0; p.n]);
    let matrix = Matrix::sparse(p.n, &col_ptr, &row_idx, &values).unwrap();
    let report = LcpWorkspace::new(p.n)
        .solve(matrix, &p.q, &mut z, &mut w)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    check(name, &p, report, &z, &w);
    report
}

fn solve_dense(name: &str, p: &DenseProblem) -> Report {
    let (mut z, mut w) = (vec![0.0; p.n], vec![0.0; p.n]);
    let matrix = Matrix::dense(p.n, &p.m).unwrap();
    let report = LcpWorkspace::new(p.n)
        .solve(matrix, &p.q, &mut z, &mut w)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    check(name, p, report, &z, &w);
    report
}

#[test]
fn spd_at_every_size() {
    for (n, seeds) in [(10, 100), (50, 40), (200, 10), (1000, 1)] {
        for seed in 0..seeds {
            let report = solve_dense(&format!("spd {n} #{seed}"), &spd(n, seed));
            assert!(report.iterations <= 20, "{report:?}");
        }
    }
}

#[test]
fn chain_at_every_size() {
    for (n, seeds) in [(200, 20), (2000, 2)] {
        for seed in 0..seeds {
            let _ = solve_sparse(&format!("chain {n} #{seed}"), &chain(n, seed));
        }
    }
}

#[test]
fn stack_at_every_size() {
    for (n, seeds) in [(48, 60), (200, 20), (500, 6), (1000, 3), (2000, 1)] {
        for seed in 0..seeds {
            let report = solve_sparse(&format!("stack {n} #{seed}"), &stack(n, seed));
            assert!(report.iterations <= 40, "stack {n}: {report:?}");
        }
    }
}

#[test]
fn pile_at_every_size() {
    for (n, seeds) in [(200, 20), (1000, 2)] {
        for seed in 0..seeds {
            let report = solve_sparse(&format!("pile {n} #{seed}"), &pile(n, seed));
            assert!(report.iterations <= 60, "pile {n}: {report:?}");
        }
    }
}

#[test]
fn contact_families_written_out_densely() {
    for seed in 0..10 {
        for (name, p) in [
            ("chain 60", chain(60, seed)),
            ("chain 200", chain(200, seed)),
            ("stack 48", stack(48, seed)),
            ("stack 200", stack(200, seed)),
            ("pile 200", pile(200, seed)),
        ] {
            let _ = solve_dense(&format!("{name} #{seed}"), &p.dense());
        }
    }
}

/// A membrane over an obstacle on a square grid: sparse, symmetric, definite, wide envelope.
#[test]
fn membrane_over_an_obstacle() {
    let side = 45_usize;
    let n = side * side;
    let mut rows = vec![];
    for i in 0..side {
        for j in 0..side {
            let mut row = vec![(i * side + j, 4.0)];
            for (inside, other) in [
                (i > 0, (i * side + j).wrapping_sub(side)),
                (j > 0, (i * side + j).wrapping_sub(1)),
                (j + 1 < side, i * side + j + 1),
                (i + 1 < side, (i + 1) * side + j),
            ] {
                if inside {
                    row.push((other, -1.0));
                }
            }
            row.sort_by_key(|e| e.0);
            rows.push(row);
        }
    }
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], vec![], vec![]);
    for row in &rows {
        row_idx.extend(row.iter().map(|e| e.0));
        values.extend(row.iter().map(|e| e.1));
        col_ptr.push(values.len());
    }
    let height = |k: usize| {
        let (x, y) = ((k / side) as f64 / side as f64 - 0.4, (k % side) as f64 / side as f64 - 0.5);
        (0.3 - 2.0 * (x * x + y * y)).max(-0.05)
    };
    let q: Vec<f64> =
        rows.iter().map(|row| row.iter().map(|&(j, v)| v * height(j)).sum::<f64>()).collect();
    let matrix = Matrix::sparse(n, &col_ptr, &row_idx, &values).unwrap();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let report = LcpWorkspace::new(n).solve(matrix, &q, &mut z, &mut w).unwrap();
    let q_max = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    for i in 0..n {
        let slack = q[i] + rows[i].iter().map(|&(j, v)| v * z[j]).sum::<f64>();
        assert!(z[i].min(slack).abs() <= 1e-12 * q_max, "{report:?}");
    }
    let touching = n - report.active;
    assert!(touching > 100 && touching < n / 2, "{report:?}");
}
