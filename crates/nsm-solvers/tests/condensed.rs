//! Saddle points whose local constraints are eliminated first, against the elimination as a whole.

mod common;

use common::beam::{Beam, LOCAL};
use common::{distance, max_abs, normal, rng};
use nsm_solvers::kkt::{Kkt, KktPath};
use rand_pcg::Pcg64Mcg;

fn kkt(beam: &Beam, path: KktPath) -> Kkt {
    let mut kkt = Kkt::with_path(&beam.pattern(), path).unwrap();
    assert_eq!(kkt.path(), path);
    kkt.set_block(&beam.a).unwrap();
    kkt
}

/// Solutions of both paths must agree; returns the condensed one.
fn compare(beam: &Beam, rng: &mut Pcg64Mcg, c: &[f64], active: &[bool]) -> Kkt {
    let (f, b) = (normal(rng, beam.n), normal(rng, beam.m));
    let mut solutions = Vec::new();
    let mut condensed = None;
    for path in [KktPath::Full, KktPath::Condensed] {
        let mut kkt = kkt(beam, path);
        kkt.factorise_active(&beam.g, &beam.g_lower, c, active).unwrap();
        let (mut x, mut lambda) = (vec![0.0; beam.n], vec![0.0; beam.m]);
        let report = kkt.solve_refined(&f, &b, &mut x, &mut lambda, 2).unwrap();
        assert!(report.residual < 1e-10, "{path:?}: {:e}", report.residual);
        solutions.push((x, lambda));
        condensed = Some(kkt);
    }
    let [(x, lambda), (y, mu)] = &solutions[..] else { unreachable!() };
    let scale = 1.0 + max_abs(x).max(max_abs(lambda));
    assert!(distance(x, y) < 1e-10 * scale, "{:e}", distance(x, y));
    assert!(distance(lambda, mu) < 1e-9 * scale, "{:e}", distance(lambda, mu));
    condensed.unwrap()
}

#[test]
fn both_eliminations_agree() {
    let mut rng = rng(81);
    for (nodes, joints) in [(3, &[][..]), (8, &[2, 3, 6]), (30, &[0, 10, 11, 12, 28])] {
        for (symmetric, massless) in [(true, false), (false, false), (false, true)] {
            let beam = Beam::new(&mut rng, nodes, joints, symmetric, massless);
            let kkt = compare(&beam, &mut rng, &[], &[]);
            // Six unknowns are left of a node; joints that join no large cluster may stay.
            let left = kkt.linear_system().size();
            let most = LOCAL * nodes + 3 * joints.len();
            assert!(left <= most, "{left} unknowns are left of {nodes} nodes");
        }
    }
}

#[test]
fn rows_left_out_and_compliance_are_eliminated_as_a_whole() {
    let mut rng = rng(82);
    let beam = Beam::new(&mut rng, 6, &[1, 4], false, false);
    let mut active = vec![true; beam.m];
    (active[7], active[beam.m - 1]) = (false, false);
    let kkt = compare(&beam, &mut rng, &[], &active);
    assert_eq!(kkt.linear_system().size(), beam.n + beam.m);
    assert_eq!(kkt.rank(), beam.m - 2);
    let mut compliance = vec![0.0; beam.m];
    compliance[3] = 0.5;
    compare(&beam, &mut rng, &compliance, &[]);
    // A global row's compliance does not hinder.
    let beam = Beam::new(&mut rng, 8, &[1, 2, 3, 4, 5], false, false);
    let global = beam.m - 1;
    compliance = vec![0.0; beam.m];
    compliance[global] = 0.5;
    compare(&beam, &mut rng, &compliance, &[]);
}

#[test]
fn dependent_local_rows_are_named_and_a_change_of_rank_is_followed() {
    let mut rng = rng(83);
    let beam = Beam::new(&mut rng, 5, &[2], false, false);
    let mut kkt = kkt(&beam, KktPath::Condensed);
    let (mut g, mut g_lower) = (beam.g.clone(), beam.g_lower.clone());
    // Row 8 becomes twice row 7.
    for c in 0..9 {
        (g[8 * 9 + c], g_lower[8 * 9 + c]) = (2.0 * g[7 * 9 + c], 2.0 * g_lower[7 * 9 + c]);
    }
    let whole = beam.n + beam.m;
    for _ in 0..2 {
        kkt.factorise(&beam.g, &beam.g_lower, &[]).unwrap();
        assert!(kkt.redundant().is_empty() && kkt.linear_system().size() < whole);
        kkt.factorise(&g, &g_lower, &[]).unwrap();
        assert_eq!((kkt.rank(), kkt.redundant().len()), (beam.m - 1, 1));
        assert!(kkt.redundant() == [7] || kkt.redundant() == [8]);
    }
}

#[test]
fn what_is_not_finite_is_an_error() {
    let mut rng = rng(84);
    let beam = Beam::new(&mut rng, 4, &[1], false, false);
    let mut kkt = kkt(&beam, KktPath::Condensed);
    let mut g = beam.g_lower.clone();
    g[40] = f64::NAN;
    assert!(kkt.factorise(&beam.g, &g, &[]).is_err());
    let (mut x, mut lambda) = (vec![0.0; beam.n], vec![0.0; beam.m]);
    assert!(kkt.solve(&vec![0.0; beam.n], &vec![0.0; beam.m], &mut x, &mut lambda).is_err());
    assert!(kkt.set_block(&vec![f64::INFINITY; beam.a.len()]).is_err());
    kkt.set_block(&beam.a).unwrap();
    kkt.factorise(&beam.g, &beam.g_lower, &[]).unwrap();
}
