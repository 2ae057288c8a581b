//! Impacts with known answers: cradles, Bernoulli's problem, the billiard break, wedges, walls.

mod common;

use common::{Scene, discs, line};
use nsm_reflect::{ImpactLaw, ReflectError, Restitution, Symmetry};

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance, "{a:?} against {b:?}");
    }
}

#[test]
fn as_many_balls_leave_a_cradle_as_strike_it() {
    for n in 2..=12 {
        for strikers in 1..n {
            let cradle = line(&vec![1.0; n]);
            let mut p: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i < strikers))).collect();
            let (certificate, impulses) = cradle.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
            let leave: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i >= n - strikers))).collect();
            close(&p, &leave, 1e-15);
            assert!(impulses.iter().all(|&l| l >= 0.0));
            assert!(certificate.energy_change.abs() < 1e-15);
            if strikers == 1 {
                assert_eq!(certificate.rounds, n - 1);
            }
        }
    }
}

#[test]
fn bernoullis_problem_is_symmetric() {
    // A cue disc hits two touching discs: centres of an equilateral triangle.
    let s = 3.0_f64.sqrt() / 2.0;
    let scene = discs(&[[-s, 0.0], [0.0, 0.5], [0.0, -0.5]], 1.0);
    let before = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut p = before;
    let (certificate, _) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
    assert!((p[0] + 0.2).abs() < 1e-15, "{p:?}");
    let speed = p[2].hypot(p[3]);
    assert!((speed - 0.692_820_323_027_550_9).abs() < 1e-15, "{speed}");
    let mirror = Symmetry::new(&[(0, 1.0), (1, -1.0), (4, 1.0), (5, -1.0), (2, 1.0), (3, -1.0)]);
    assert_eq!(mirror.unwrap().preserved(&before, &p, 1e-15), Some(true));
    assert_eq!(certificate.rounds, 1);
}

#[test]
fn opposed_walls_are_an_error_that_leaves_the_momentum() {
    let mut scene = Scene::new(&[1.0]);
    scene.push(&[(0, 1.0)]);
    scene.push(&[(0, -1.0)]);
    for law in [
        ImpactLaw::Reflection,
        ImpactLaw::Published,
        ImpactLaw::Sequential(Restitution::ELASTIC),
        ImpactLaw::Newton(Restitution::ELASTIC),
    ] {
        let mut p = [-2.0];
        let error = scene.reflect(&law, &mut p).unwrap_err();
        assert!(
            matches!(error, ReflectError::Rounds { residual: 2.0, rounds: 1200, .. }),
            "{law:?}: {error:?}"
        );
        assert_eq!(p, [-2.0]);
    }
}

#[test]
fn a_wedge_of_angle_a_needs_at_most_pi_over_a_rounds() {
    let mut rng = common::rng(1);
    let mut longest = 0;
    for angle in [1.5, 1.0, 0.5, 0.3, 0.1, 0.02_f64] {
        // The wedge opens along the first axis, between directions ±angle/2.
        let (sin, cos) = (angle / 2.0).sin_cos();
        let mut scene = Scene::new(&[1.0, 1.0]);
        scene.push(&[(0, sin), (1, cos)]);
        scene.push(&[(0, sin), (1, -cos)]);
        for _ in 0..200 {
            let before = common::normal(&mut rng, 2);
            let mut p = before.clone();
            let (certificate, _) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
            let bound = (std::f64::consts::PI / angle).ceil();
            assert!(certificate.rounds as f64 <= bound, "{certificate:?}, {bound} rounds allowed");
            longest = longest.max(certificate.rounds);
            let (a, b) = (scene.energy(&before), scene.energy(&p));
            assert!(
                (a - b).abs() < 1e-13 * a,
                "{:e} in {} rounds",
                (a - b) / a,
                certificate.rounds
            );
        }
    }
    assert!(longest > 100, "{longest}");
}

/// A rack of fifteen discs and a cue ball in front of its apex.
fn rack() -> (Scene, Vec<f64>, Symmetry) {
    let s = 3.0_f64.sqrt() / 2.0;
    let mut centres = vec![[-1.0, 0.0]];
    let mut images = vec![0];
    for row in 0..5_usize {
        let first = centres.len();
        for k in 0..=row {
            centres.push([row as f64 * s, k as f64 - row as f64 / 2.0]);
            images.push(first + row - k);
        }
    }
    let mut p = vec![0.0; 32];
    p[0] = 1.0;
    let mirror: Vec<(usize, f64)> =
        images.iter().flat_map(|&j| [(2 * j, 1.0), (2 * j + 1, -1.0)]).collect();
    (discs(&centres, 1.0), p, Symmetry::new(&mirror).unwrap())
}

#[test]
fn a_symmetric_break_stays_symmetric() {
    let (scene, before, mirror) = rack();
    assert_eq!(scene.len(), 31);
    let mut p = before.clone();
    let (certificate, impulses) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
    assert_eq!(mirror.preserved(&before, &p, 1e-12), Some(true), "{:?}", mirror.defect(&p));
    assert!(certificate.energy_change.abs() < 1e-15, "{certificate:?}");
    assert!(impulses.iter().all(|&l| l >= 0.0));
    let corner = [p[2 * 11], p[2 * 11 + 1]];
    assert!((p[0] + 0.2).abs() < 1e-12, "{p:?}");
    close(&corner, &[0.511_775, -0.295_474], 1e-6);
    // One contact after the other cannot be: the order decides.
    let mut q = before.clone();
    let _ = scene.reflect(&ImpactLaw::Sequential(Restitution::ELASTIC), &mut q).unwrap();
    assert_eq!(mirror.preserved(&before, &q, 1e-2), Some(false), "{:?}", mirror.defect(&q));
}

#[test]
fn a_table_lands_on_four_legs_and_rises_without_turning() {
    // Height and two tilts; four legs on three coordinates are redundant.
    let mut table = Scene::new(&[0.5, 3.0, 2.0]);
    for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        table.push(&[(0, 1.0), (1, y), (2, -x)]);
    }
    for law in
        [ImpactLaw::Reflection, ImpactLaw::Published, ImpactLaw::Newton(Restitution::ELASTIC)]
    {
        let mut p = [-2.0, 0.0, 0.0];
        let (certificate, impulses) = table.reflect(&law, &mut p).unwrap();
        close(&p, &[2.0, 0.0, 0.0], 1e-15);
        assert_eq!(certificate.rounds, 1);
        close(&impulses, &[1.0; 4], 1e-14);
    }
}

#[test]
fn a_cube_with_block_mass_lands_flat_on_four_vertices() {
    // Twist (angular, linear) about a point off the centre of mass couples the two: a full 6 x 6 block.
    let (m, j, c) = (2.0, 0.5, [0.1, -0.2, 0.3]);
    let skew = |v: [f64; 3]| [[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]];
    let s = skew(c);
    let mut block = vec![vec![0.0; 6]; 6];
    for a in 0..3 {
        for b in 0..3 {
            let square: f64 = (0..3).map(|k| s[a][k] * s[b][k]).sum();
            block[a][b] = if a == b { j } else { 0.0 } + m * square;
            block[a][3 + b] = m * s[a][b];
            block[3 + a][b] = m * s[b][a];
        }
        block[3 + a][3 + a] = m;
    }
    let mass = nsm_model::Mass::full(&block).unwrap();
    let mut cube = Scene::in_metric(mass.inverse_metric().unwrap());
    // Vertices below the centre of mass: rate of height is v_z + (omega x r)_z.
    for (x, y) in [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)] {
        let r = [x + c[0], y + c[1]];
        cube.push(&[(0, r[1]), (1, -r[0]), (2, 0.0), (3, 0.0), (4, 0.0), (5, 1.0)]);
    }
    let fall = [0.0, 0.0, 0.0, 0.3, 0.0, -1.0];
    let mut p = [0.0; 6];
    mass.multiply(&fall, &mut p);
    let before = p;
    let (certificate, impulses) = cube.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
    close(&impulses, &[1.0; 4], 1e-14);
    let mut v = [0.0; 6];
    mass.solve(&p, &mut v);
    close(&v, &[0.0, 0.0, 0.0, 0.3, 0.0, 1.0], 1e-14);
    assert!((cube.energy(&p) - cube.energy(&before)).abs() < 1e-14);
    assert!(certificate.energy_change.abs() < 1e-14);
}

#[test]
fn beads_in_a_column_leave_together_under_newtons_law() {
    // Ten touching beads reach the floor at the speed of a fall over 0.05 m.
    let speed = (2.0_f64 * 9.81 * 0.05).sqrt();
    for masses in [vec![1.0; 10], (1..=10).map(f64::from).collect()] {
        let mut column = Scene::new(&masses);
        column.push(&[(0, 1.0)]);
        for i in 1..10 {
            column.push(&[(i - 1, -1.0), (i, 1.0)]);
        }
        let mut p: Vec<f64> = masses.iter().map(|w| -speed / w).collect();
        let (certificate, impulses) =
            column.reflect(&ImpactLaw::Newton(Restitution::ELASTIC), &mut p).unwrap();
        let v: Vec<f64> = p.iter().zip(&masses).map(|(p, w)| p * w).collect();
        close(&v, &[speed; 10], 1e-14);
        assert!((v[9] - 0.990_454).abs() < 1e-6);
        assert_eq!(certificate.rounds, 1);
        assert!(certificate.energy_change.abs() < 1e-13);
        assert!(impulses.windows(2).all(|w| w[0] > w[1] && w[1] > 0.0));
        // Without rebound they stay.
        let mut p: Vec<f64> = masses.iter().map(|w| -speed / w).collect();
        let _ = column.reflect(&ImpactLaw::Newton(Restitution::PLASTIC), &mut p).unwrap();
        close(&p, &[0.0; 10], 1e-14);
    }
}

#[test]
fn a_wave_runs_through_five_hundred_balls() {
    let chain = line(&[1.0; 500]);
    let mut p = vec![0.0; 500];
    p[0] = 1.0;
    let (certificate, impulses) = chain.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
    assert_eq!(certificate.rounds, 499);
    assert_eq!(certificate.largest_island, 1);
    assert_eq!(p[499], 1.0);
    assert!(p[..499].iter().all(|&x| x == 0.0));
    assert!(impulses.iter().all(|&l| l == 1.0));
}

/// A row of balls with random masses and approaching velocities, contacts in a random order.
fn compressed(seed: u64, n: usize, shuffled: bool) -> (Scene, Vec<f64>) {
    use rand::RngExt;
    let mut rng = common::rng(seed);
    let weights: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..2.0)).collect();
    let mut scene = Scene::new(&weights);
    let mut order: Vec<usize> = (1..n).collect();
    let random: Vec<usize> = (0..n - 1).map(|i| rng.random_range(0..=i)).collect();
    if shuffled {
        (1..n - 1).rev().for_each(|i| order.swap(i, random[i]));
    }
    for i in order {
        scene.push(&[(i - 1, -1.0), (i, 1.0)]);
    }
    let p = (0..n).map(|i| (n as f64 / 2.0 - i as f64) / weights[i]).collect();
    (scene, p)
}

#[test]
fn long_chains_are_recognised_in_any_order() {
    for n in [10, 65, 300] {
        let (ordered, before) = compressed(3, n, false);
        let (shuffled, _) = compressed(3, n, true);
        let (mut p, mut q) = (before.clone(), before.clone());
        let (certificate, impulses) = ordered.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        let (other, _) = shuffled.reflect(&ImpactLaw::Reflection, &mut q).unwrap();
        assert_eq!(certificate.largest_island, n - 1);
        assert_eq!(other.largest_island, n - 1);
        let size = before.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        close(&p, &q, 1e-10 * size);
        assert!(impulses.iter().all(|&l| l >= 0.0));
        let energy = ordered.energy(&before);
        let change = (ordered.energy(&p) - energy) / energy;
        assert!(change.abs() < 1e-13, "{change:e}, {n}: {certificate:?}");
        assert!(ordered.rates(&p).iter().all(|&w| w > -1e-10 * size));
    }
}

#[test]
fn a_large_pile_is_solved_sparsely() {
    // A hexagonal block of touching discs driven towards its middle.
    let s = 3.0_f64.sqrt() / 2.0;
    let centres: Vec<[f64; 2]> = (0..10)
        .flat_map(|r| {
            let shift = if r % 2 == 0 { 0.0 } else { 0.5 };
            (0..10).map(move |k| [f64::from(k) + shift, f64::from(r) * s])
        })
        .collect();
    let scene = discs(&centres, 1.0);
    let before: Vec<f64> = centres.iter().flat_map(|c| [5.0 - c[0], 4.0 - c[1]]).collect();
    let mut p = before.clone();
    let (certificate, impulses) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
    assert!(certificate.largest_island > 200, "{certificate:?}");
    assert!(impulses.iter().all(|&l| l >= 0.0));
    let energy = scene.energy(&before);
    assert!((scene.energy(&p) - energy).abs() < 1e-13 * energy, "{certificate:?}");
    assert!(scene.rates(&p).iter().all(|&w| w > -1e-10), "{certificate:?}");
}
