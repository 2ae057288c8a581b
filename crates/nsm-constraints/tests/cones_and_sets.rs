//! Cones, active sets and the projection onto equalities, by their definitions.

use nsm_constraints::{
    Affine, ConeSplitter, ContactTolerance, CotangentProjection, Metric, Rod, Rows, SphereGap,
    active_set, extended_active_set, leaves_tangent_cone, smooth_set,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn gradients(rows: &Rows, q: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; rows.entries()];
    rows.gradients(q, 0.0, &mut values);
    values
}

/// Random half-spaces on all coordinates.
fn half_spaces(rng: &mut Pcg64, n: usize, count: usize) -> Rows {
    let mut rows = Rows::new(n);
    let all: Vec<usize> = (0..n).collect();
    for i in 0..count {
        let normal: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        rows.push(format!("{i}"), Affine::new(&all, &normal, 0.0).unwrap()).unwrap();
    }
    rows
}

#[test]
fn moreaus_decomposition_is_polar() {
    let mut rng = Pcg64::seed_from_u64(5);
    let tolerance = ContactTolerance { velocity: 1e-10, ..ContactTolerance::default() };
    for _ in 0..500 {
        let n = rng.random_range(1..=6);
        let count = rng.random_range(1..=8);
        let rows = half_spaces(&mut rng, n, count);
        let active: Vec<usize> = (0..count).collect();
        let g = gradients(&rows, &vec![0.0; n]);
        let weights: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..2.0)).collect();
        let metric = Metric::diagonal(&weights).unwrap();
        let p: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut tangential = vec![0.0; n];
        let mut splitter = ConeSplitter::new(n, count);
        let lambda =
            splitter.split(&rows, &g, &active, &metric, &p, &mut tangential).unwrap().to_vec();
        assert!(lambda.iter().all(|&l| l >= 0.0));
        let mut v = vec![0.0; n];
        metric.apply(&tangential, &mut v);
        assert_eq!(leaves_tangent_cone(&rows, &g, &active, &v, &tolerance), None);
        let product: f64 = v.iter().zip(&tangential).zip(&p).map(|((v, t), p)| v * (t - p)).sum();
        assert!(product.abs() < 1e-11 * (1.0 + lambda.iter().sum::<f64>()), "{product}");
        // What is tangential already stays.
        let mut again = vec![0.0; n];
        splitter.split(&rows, &g, &active, &metric, &tangential, &mut again).unwrap();
        for (a, b) in again.iter().zip(&tangential) {
            assert!((a - b).abs() < 1e-10);
        }
    }
}

#[test]
fn a_velocity_out_of_the_cone_is_told_by_its_worst_contact() {
    let mut rows = Rows::new(2);
    rows.push("wall", Affine::above(0, 0.0).unwrap()).unwrap();
    rows.push("floor", Affine::above(1, 0.0).unwrap()).unwrap();
    let g = gradients(&rows, &[0.0, 0.0]);
    let tolerance = ContactTolerance::default();
    let leaves = |v: &[f64]| leaves_tangent_cone(&rows, &g, &[0, 1], v, &tolerance);
    assert_eq!(leaves(&[-1.0, -2.0]), Some((1, -2.0)));
    assert_eq!(leaves(&[-1.0, 2.0]), Some((0, -1.0)));
    assert_eq!(leaves(&[0.0, 2.0]), None);
    assert_eq!(leaves(&[-1e-13, 2.0]), None);
    let mut splitter = ConeSplitter::new(2, 2);
    let metric = Metric::diagonal(&[1.0, 1.0]).unwrap();
    let nan = splitter.split(&rows, &g, &[0, 1], &metric, &[f64::NAN, 0.0], &mut [0.0; 2]);
    assert!(nan.is_err());
}

#[test]
fn sets_follow_their_definitions_with_one_tolerance_each() {
    let tolerance = ContactTolerance { gap: 1e-8, velocity: 1e-12, speed: 1.0 };
    let gaps = [0.0, 1e-9, -1e-9, 1e-7, -1e-7, 2.0, 3.0];
    let predicted = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, -1.0];
    let mut set = Vec::new();
    active_set(&gaps, &tolerance, &mut set);
    assert_eq!(set, [0, 1, 2]);
    extended_active_set(&gaps, &predicted, &tolerance, &mut set);
    // A gap that is penetrated is closed.
    assert_eq!(set, [0, 1, 2, 4, 5, 6]);

    // Particles on a circle: tangential, leaving, arriving, off the circle.
    let mut rows = Rows::new(8);
    for i in 0..4 {
        let point = [2 * i, 2 * i + 1];
        rows.push("circle", SphereGap::inside(&point, &[0.0, 0.0], 5.0).unwrap()).unwrap();
    }
    let q = [3.0, 4.0, -4.0, 3.0, 5.0, 0.0, 1.0, 1.0];
    let v = [-4.0, 3.0, 1.0, 0.0, 1e-11, 7.0, 0.0, 0.0];
    let mut gaps = [0.0; 4];
    rows.values(&q, 0.0, &mut gaps);
    smooth_set(&rows, &gaps, &gradients(&rows, &q), &v, &tolerance, &mut set);
    assert_eq!(set, [0]);
    // Ten times slower the third one is at rest too.
    let v = v.map(|x| 0.1 * x);
    smooth_set(&rows, &gaps, &gradients(&rows, &q), &v, &tolerance, &mut set);
    assert_eq!(set, [0, 2]);
}

#[test]
fn projected_gradients_are_cotangent_also_where_equalities_are_redundant() {
    let mut rng = Pcg64::seed_from_u64(9);
    // Three particles in the plane, two rods and a copy of one; a fourth particle is free.
    for copies in 0..2 {
        let mut f = Rows::new(8);
        f.push("a", Rod::between(&[0, 1], &[2, 3], 1.0).unwrap()).unwrap();
        f.push("b", Rod::between(&[2, 3], &[4, 5], 1.0).unwrap()).unwrap();
        for _ in 0..copies {
            f.push("a again", Rod::between(&[0, 1], &[2, 3], 1.0).unwrap()).unwrap();
        }
        let mut g = Rows::new(8);
        g.push("floor", Affine::above(1, 0.0).unwrap()).unwrap();
        g.push("balls", SphereGap::between_balls(&[4, 5], &[6, 7], 0.1, 0.1).unwrap()).unwrap();
        g.push("free", Affine::above(7, 0.0).unwrap()).unwrap();
        let block = Metric::from_entries(
            8,
            &(0..8).flat_map(|i| [(i, i, 2.0 + i as f64), (i, i ^ 1, 0.5)]).collect::<Vec<_>>(),
        )
        .unwrap();
        let diagonal = Metric::diagonal(&[1.0, 1.0, 2.0, 2.0, 0.5, 0.5, 1.0, 1.0]).unwrap();
        for metric in [diagonal, block] {
            let q: Vec<f64> = (0..8).map(|_| rng.random_range(-2.0..2.0)).collect();
            let (fv, gv) = (gradients(&f, &q), gradients(&g, &q));
            let mut projection = CotangentProjection::new(&metric, &f, g.pattern());
            assert_eq!(projection.starts(), [0, 6, 14, 15]);
            let mut out = vec![0.0; projection.columns().len()];
            for i in 0..3 {
                projection
                    .project(&metric, (&f, &fv, &[]), (g.pattern(), &gv), i, &mut out)
                    .unwrap();
                let span = projection.starts()[i]..projection.starts()[i + 1];
                let columns = &projection.columns()[span.clone()];
                let mut weighted = vec![0.0; 8];
                metric.add_applied(columns, &out[span.clone()], &mut weighted);
                for r in 0..f.len() {
                    assert!(f.row_dot(r, &fv, &weighted).abs() < 1e-13);
                }
                // What was taken away is a combination of equality gradients: W-orthogonal to N.
                let mut difference = vec![0.0; 8];
                g.add_row(i, &gv, 1.0, &mut difference);
                for (&c, x) in columns.iter().zip(&out[span]) {
                    difference[c] -= x;
                }
                let product: f64 = difference.iter().zip(&weighted).map(|(a, b)| a * b).sum();
                assert!(product.abs() < 1e-12, "{product}");
            }
            assert_eq!(out[14], 1.0);
        }
    }
}
