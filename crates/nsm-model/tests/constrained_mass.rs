//! The mass under constraints against its definition, with singular masses and redundant rows.

use nsm_constraints::{Affine, Rod, Rows};
use nsm_model::{ConstrainedMass, Mass, motion_without_inertia};

/// Spread over (-1, 1), the same at every run.
fn spread(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| 2.0 * (0.618_033_988_749_894_9 * (i as f64 + seed)).fract() - 1.0).collect()
}

/// A chain of rods in the plane, some given twice.
fn chain(links: usize, doubled: usize, extra: usize) -> (Rows, Vec<f64>) {
    let mut rows = Rows::new(2 * links + extra);
    let q: Vec<f64> = (0..links)
        .flat_map(|i| [(i as f64 + 1.0) * 0.8, (i as f64 + 1.0) * 0.6])
        .chain((0..extra).map(|_| 0.5))
        .collect();
    for link in (0..links).chain(0..doubled) {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], 1.0).unwrap()
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], 1.0).unwrap()
        };
        rows.push("rod", rod).unwrap();
    }
    (rows, q)
}

/// Largest defect of $Mv + G^\top\mu = p$ and of $Gv = b$.
fn defect(mass: &Mass, rows: &Rows, g: &[f64], given: [&[f64]; 2], found: [&[f64]; 2]) -> f64 {
    let ([p, b], [v, mu]) = (given, found);
    let mut momentum = vec![0.0; p.len()];
    mass.multiply(v, &mut momentum);
    rows.add_transposed(g, mu, 1.0, &mut momentum);
    let mut rates = vec![0.0; b.len()];
    rows.multiply(g, v, &mut rates);
    let pairs = momentum.iter().zip(p).chain(rates.iter().zip(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn velocities_and_multipliers_satisfy_their_equations() {
    for (links, doubled) in [(1, 0), (4, 0), (4, 3), (40, 0), (40, 11), (150, 0), (150, 150)] {
        let (rows, q) = chain(links, doubled, 0);
        let n = q.len();
        let mut coupled = Vec::new();
        for i in 0..n {
            coupled.push((i, i, 2.0));
            if i > 1 {
                coupled.extend([(i, i - 2, 0.5), (i - 2, i, 0.5)]);
            }
        }
        let masses = [Mass::diagonal(&vec![1.5; n]).unwrap(), Mass::sparse(n, &coupled).unwrap()];
        let mut g = vec![0.0; rows.entries()];
        rows.gradients(&q, 0.0, &mut g);
        for mass in masses {
            let mut saddle = ConstrainedMass::new(&mass, &[&rows]).unwrap();
            // A second time is like the first.
            for seed in [1.0, 2.0] {
                saddle.factorise(&g).unwrap();
                assert_eq!(saddle.redundant().len(), doubled);
                // Rates of a velocity, so that redundant rows are consistent.
                let (p, w) = (spread(n, seed), spread(n, 3.0 * seed));
                let mut b = vec![0.0; rows.len()];
                rows.multiply(&g, &w, &mut b);
                let (mut v, mut mu) = (vec![0.0; n], vec![0.0; rows.len()]);
                saddle.solve(&p, &b, &mut v, &mut mu).unwrap();
                let worst = defect(&mass, &rows, &g, [&p, &b], [&v, &mu]);
                assert!(worst < 1e-11, "{links} {doubled}: {worst:e}");
                for &i in saddle.redundant() {
                    assert!(mu[i] == 0.0 && !saddle.independent()[i]);
                }
            }
        }
    }
}

#[test]
fn massless_coordinates_get_their_velocity_from_the_constraints() {
    // The last coordinate has no mass and is the mean of the two before.
    let (mut rows, q) = chain(30, 0, 1);
    let n = q.len();
    rows.push("mean", Affine::new(&[n - 1, n - 2, n - 3], &[1.0, -0.5, -0.5], 0.0).unwrap())
        .unwrap();
    let mut masses = vec![1.0; n];
    masses[n - 1] = 0.0;
    let mass = Mass::diagonal(&masses).unwrap();
    let mut g = vec![0.0; rows.entries()];
    rows.gradients(&q, 0.0, &mut g);
    let mut saddle = ConstrainedMass::new(&mass, &[&rows]).unwrap();
    saddle.factorise(&g).unwrap();
    let (p, b) = (spread(n, 1.0), vec![0.0; rows.len()]);
    let (mut v, mut mu) = (vec![0.0; n], vec![0.0; rows.len()]);
    saddle.solve(&p, &b, &mut v, &mut mu).unwrap();
    assert!(defect(&mass, &rows, &g, [&p, &b], [&v, &mu]) < 1e-13);
    assert!((v[n - 1] - 0.5 * (v[n - 2] + v[n - 3])).abs() < 1e-15);
    assert_eq!(motion_without_inertia(&mass, &rows, &g), None);
    // Filled with a unit mass it moves by itself, and takes part in the constraint's force.
    let mut filled = ConstrainedMass::filled(&mass, &[&rows]).unwrap();
    filled.factorise(&g).unwrap();
    filled.solve(&p, &b, &mut v, &mut mu).unwrap();
    masses[n - 1] = 1.0;
    let unit = Mass::diagonal(&masses).unwrap();
    assert!(defect(&unit, &rows, &g, [&p, &b], [&v, &mu]) < 1e-13);
}

/// Crosses in the plane as on a thin beam: one arm with hardly any mass, the other with none, centres a rod apart.
#[test]
fn coordinates_may_be_lighter_than_others_by_eleven_orders() {
    let (crosses, light) = (60, 1e-11);
    let n = 6 * crosses;
    let (mut rows, mut q, mut masses) = (Rows::new(n), Vec::new(), Vec::new());
    for k in 0..crosses {
        let [x, a, b] = [6 * k, 6 * k + 2, 6 * k + 4];
        let (sin, cos) = (0.3 * k as f64).sin_cos();
        q.extend([k as f64, 0.0, cos, sin, -sin, cos]);
        masses.extend([0.5, 0.5, light, light, 0.0, 0.0]);
        if k > 0 {
            rows.push("rod", Rod::between(&[x - 6, x - 5], &[x, x + 1], 1.0).unwrap()).unwrap();
        }
        rows.push("arm", Rod::to_pivot(&[a, a + 1], &[0.0, 0.0], 1.0).unwrap()).unwrap();
        rows.push("arm", Rod::to_pivot(&[b, b + 1], &[0.0, 0.0], 1.0).unwrap()).unwrap();
        let across = Rod::between(&[a, a + 1], &[b, b + 1], 2.0_f64.sqrt()).unwrap();
        rows.push("angle", across).unwrap();
    }
    let mass = Mass::diagonal(&masses).unwrap();
    let mut g = vec![0.0; rows.entries()];
    rows.gradients(&q, 0.0, &mut g);
    let mut saddle = ConstrainedMass::new(&mass, &[&rows]).unwrap();
    saddle.factorise(&g).unwrap();
    let w = spread(n, 1.0);
    let p: Vec<f64> = w.iter().zip(&masses).map(|(w, m)| w * m).collect();
    let (mut v, mut mu) = (vec![0.0; n], vec![0.0; rows.len()]);
    saddle.solve(&p, &vec![0.0; rows.len()], &mut v, &mut mu).unwrap();
    for k in 0..crosses {
        let [cos, sin] = [q[6 * k + 2], q[6 * k + 3]];
        let rate = cos * w[6 * k + 3] - sin * w[6 * k + 2];
        let turning = [-sin * rate, cos * rate, -cos * rate, -sin * rate];
        for (i, exact) in turning.into_iter().enumerate() {
            assert!((v[6 * k + 2 + i] - exact).abs() < 1e-12, "{k} {i}: {}", v[6 * k + 2 + i]);
        }
        // The rods lie along x.
        assert!((v[6 * k] - v[0]).abs() < 1e-12 && (v[6 * k + 1] - w[6 * k + 1]).abs() < 1e-12);
    }
}

#[test]
fn a_motion_without_inertia_is_found() {
    let (rows, q) = chain(3, 0, 2);
    let mut masses = vec![1.0; q.len()];
    masses[7] = 0.0;
    let mass = Mass::diagonal(&masses).unwrap();
    let mut g = vec![0.0; rows.entries()];
    rows.gradients(&q, 0.0, &mut g);
    assert!(ConstrainedMass::new(&mass, &[&rows]).unwrap().factorise(&g).is_err());
    assert_eq!(motion_without_inertia(&mass, &rows, &g), Some(7));
}
