//! Factored and bounded least squares: optimality conditions as the oracle.

#[path = "common/families.rs"]
mod families;

use families::{Contacts, chain, normal, pile, psd, residual, rng, stack, uniform};
use nsm_solvers::lcp::{LcpError, Method};
use nsm_solvers::least_squares::{BoundedGram, FactoredNnls, Factors, LeastSquaresError, Weight};

fn factors(c: &Contacts) -> Factors<'_> {
    let weight = Weight::Diagonal(&c.inverse_mass);
    Factors::new(&c.row_start, &c.columns, &c.values, c.velocity.len(), weight).unwrap()
}

#[test]
fn families_from_their_factors() {
    let mut solver = FactoredNnls::new();
    for seed in 0..5 {
        for (c, method) in [
            (chain(20, seed), Method::ActiveSet),
            (chain(200, seed), Method::ChainSweep),
            (stack(24, seed), Method::ActiveSet),
            (stack(200, seed), Method::InteriorPoint),
            (pile(200, seed), Method::InteriorPoint),
        ] {
            let p = c.dense();
            let f = factors(&c);
            let mut lambda = vec![0.0; p.n];
            let report = solver.solve(&f, &p.q, &mut lambda).unwrap();
            assert_eq!(report.method, method);
            let r = residual(&p, &lambda);
            assert!(r < 1e-12, "{r:e} {report:?}");
            for (a, b) in f.gram().iter().zip(&p.m) {
                assert!((a - b).abs() < 1e-14, "{a} {b}");
            }
        }
    }
}

#[test]
fn impulses_bring_the_momentum_to_the_feasible_cone() {
    let c = stack(100, 3);
    let f = factors(&c);
    let mut p: Vec<f64> = c.velocity.iter().zip(&c.inverse_mass).map(|(v, w)| v / w).collect();
    let mut q = vec![0.0; c.n()];
    f.right_hand_side(&p, &mut q).unwrap();
    let mut lambda = vec![0.0; c.n()];
    let _ = FactoredNnls::new().solve(&f, &q, &mut lambda).unwrap();
    f.add_impulses(&lambda, &mut p).unwrap();
    f.right_hand_side(&p, &mut q).unwrap();
    assert!(q.iter().all(|&w| w > -1e-12), "{q:?}");
    let power: f64 = q.iter().zip(&lambda).map(|(w, l)| w * l).sum();
    assert!(power.abs() < 1e-10);
}

#[test]
fn mass_blocks_equal_their_written_out_matrix() {
    let mut rng = rng(31);
    for _ in 0..300 {
        let (bodies, size, n) = (4, 3, 6);
        let mut values = vec![];
        for _ in 0..bodies {
            values.extend(psd(size, size + 1, &mut rng).m);
        }
        let mut start = vec![0];
        let (mut coordinates, mut g) = (vec![], vec![]);
        for i in 0..n {
            for body in [i % bodies, (i + 1) % bodies] {
                for k in 0..size {
                    coordinates.push(body * size + k);
                    g.push(normal(&mut rng));
                }
            }
            start.push(g.len());
        }
        let dimension = bodies * size;
        let weight = Weight::Blocks { size, values: &values };
        let f = Factors::new(&start, &coordinates, &g, dimension, weight).unwrap();
        let f = f.with_regularisation(0.25);
        let mut column = vec![vec![0.0; dimension]; n];
        for i in 0..n {
            for k in start[i]..start[i + 1] {
                column[i][coordinates[k]] += g[k];
            }
        }
        let gram = f.gram();
        for i in 0..n {
            for j in 0..n {
                let mut sum = if i == j { 0.25 } else { 0.0 };
                for b in 0..bodies {
                    for r in 0..size {
                        for c in 0..size {
                            let w = values[b * size * size + c * size + r];
                            sum += column[i][b * size + r] * w * column[j][b * size + c];
                        }
                    }
                }
                assert!((gram[j * n + i] - sum).abs() < 1e-12 * (1.0 + sum.abs()));
            }
        }
    }
}

#[test]
fn factors_refuse_bad_input() {
    let w = Weight::Identity;
    assert!(matches!(Factors::new(&[], &[], &[], 1, w), Err(LcpError::Size { .. })));
    assert!(matches!(Factors::new(&[0, 1], &[3], &[1.0], 2, w), Err(LcpError::Pattern { .. })));
    assert!(matches!(
        Factors::new(&[0, 1], &[0], &[f64::NAN], 2, w),
        Err(LcpError::NotFinite { what: "G", index: 0 })
    ));
    let w = Weight::Blocks { size: 2, values: &[1.0; 6] };
    assert!(matches!(Factors::new(&[0, 1], &[0], &[1.0], 3, w), Err(LcpError::Size { .. })));
}

#[test]
fn bounded_least_squares_meets_its_conditions() {
    let mut rng = rng(32);
    let mut solver = BoundedGram::new(16);
    for trial in 0..4000 {
        let n = 1 + trial % 16;
        let p = psd(n, 1 + (trial / 16) % (n + 2), &mut rng);
        let mut lower = vec![0.0; n];
        let mut upper = vec![0.0; n];
        for i in 0..n {
            lower[i] = match trial % 3 {
                0 => 0.0,
                1 => -uniform(&mut rng, 0.0, 1.0),
                _ => f64::NEG_INFINITY,
            };
            upper[i] = if uniform(&mut rng, 0.0, 1.0) < 0.3 {
                f64::INFINITY
            } else {
                uniform(&mut rng, 0.0, 0.5)
            };
        }
        let mut x = vec![0.0; n];
        let report = solver
            .solve(&p.m, &p.q, &lower, &upper, &mut x)
            .unwrap_or_else(|e| panic!("#{trial}: {e}"));
        let scale = 1.0 + (0..n).map(|i| p.m[i * (n + 1)] * x[i].abs()).sum::<f64>();
        for i in 0..n {
            assert!(x[i] >= lower[i] && x[i] <= upper[i]);
            let g = p.q[i] + (0..n).map(|j| p.m[j * n + i] * x[j]).sum::<f64>();
            let tolerance = 1e-12 * scale * scale;
            if x[i] > lower[i] {
                assert!(g < tolerance, "#{trial}: g {g:e} {report:?}");
            }
            if x[i] < upper[i] {
                assert!(g > -tolerance, "#{trial}: g {g:e} {report:?}");
            }
        }
    }
}

#[test]
fn bounded_errors() {
    let mut solver = BoundedGram::new(1);
    let unbounded = [f64::INFINITY];
    assert!(matches!(
        solver.solve(&[0.0], &[-1.0], &[0.0], &unbounded, &mut [0.0]),
        Err(LeastSquaresError::Infeasible { index: 0, .. })
    ));
    assert_eq!(
        solver.solve(&[1.0], &[-1.0], &[2.0], &[1.0], &mut [0.0]),
        Err(LeastSquaresError::Bounds { index: 0 })
    );
    let mut x = [0.0];
    let _ = solver.solve(&[0.0], &[-1.0], &[0.0], &[3.0], &mut x).unwrap();
    assert_eq!(x, [3.0]);
}
