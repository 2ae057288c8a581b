//! The friction problems of the Siconos test suite, and redundant manifolds of boxes.

#![allow(clippy::print_stdout, reason = "skipped problems are said aloud")]

use nsm_solvers::friction::{FrictionOptions, FrictionProblem, solve};

struct Given {
    name: String,
    entries: Vec<(usize, usize, f64)>,
    q: Vec<f64>,
    friction: Vec<f64>,
}

fn read(folder: &str) -> Vec<Given> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let Ok(files) = std::fs::read_dir(format!("{root}/{folder}")) else {
        println!("SKIPPED: the external problems `{folder}` are not there");
        return Vec::new();
    };
    let mut paths: Vec<_> = files.map(|f| f.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "txt"))
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let mut words = text.split_whitespace();
            let mut count = || words.next().unwrap().parse::<usize>().unwrap();
            let (contacts, nonzero) = (count(), count());
            let mut numbers = words.map(|w| w.parse::<f64>().unwrap());
            let friction: Vec<f64> = numbers.by_ref().take(contacts).collect();
            let q: Vec<f64> = numbers.by_ref().take(3 * contacts).collect();
            let rest: Vec<f64> = numbers.take(3 * nonzero).collect();
            let index = |x: f64| format!("{x:.0}").parse::<usize>().unwrap();
            let mut entries = Vec::new();
            for e in rest.chunks_exact(3) {
                // Some matrices are slightly unsymmetric: their symmetric part is what is solved.
                entries.push((index(e[0]), index(e[1]), 0.5 * e[2]));
                entries.push((index(e[1]), index(e[0]), 0.5 * e[2]));
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            Given { name, entries, q, friction }
        })
        .collect()
}

/// Coulomb's law at every contact, from the caller's data alone; relative to the largest free velocity.
fn violation(given: &Given, r: &[f64]) -> f64 {
    let n = given.friction.len();
    let mut u = given.q.clone();
    let mut weight = vec![0.0; n];
    for &(i, j, value) in &given.entries {
        u[i] += value * r[j];
        if i == j {
            weight[i / 3] += value / 3.0;
        }
    }
    let size = (0..n)
        .map(|i| given.q[3 * i..3 * i + 3].iter().map(|x| x * x).sum::<f64>().sqrt())
        .fold(0.0, f64::max);
    let mut worst = 0.0_f64;
    for i in 0..n {
        let (r, u, mu) = (&r[3 * i..3 * i + 3], &u[3 * i..3 * i + 3], given.friction[i]);
        let (pull, slip) = (r[1].hypot(r[2]), u[1].hypot(u[2]));
        assert!(pull <= mu * r[0] * (1.0 + 1e-14) + 1e-300, "{}: outside the cone", given.name);
        let w = weight[i];
        // No penetration, complementarity, slip against the impulse at the rim of the cone.
        worst = worst.max(-u[0] / size);
        worst = worst.max(u[0].min(w * r[0]).abs() / size);
        worst = worst.max(slip.min(w * (mu * r[0] - pull)).abs() / size);
        let turned = (r[1] * u[1] + r[2] * u[2] + pull * slip) / pull.max(1e-300);
        worst = worst.max(turned.abs().min(w * pull) / size);
    }
    worst
}

#[test]
fn all_external_problems_are_solved() {
    let options = FrictionOptions { tolerance: 1e-10, ..FrictionOptions::default() };
    let given = read("fc3d");
    let patient = std::env::var_os("NSM_PATIENT").is_some();
    let (mut good, mut excellent, mut left_out) = (0, 0, 0);
    for problem in &given {
        if problem.name == "RockPile_tob1" && !patient {
            println!("SKIPPED: {} takes minutes; set NSM_PATIENT to try it", problem.name);
            left_out = 1;
            continue;
        }
        let clock = std::time::Instant::now();
        let built =
            FrictionProblem::sparse(&problem.entries, &problem.q, &problem.friction).unwrap();
        let mut r = vec![0.0; problem.q.len()];
        let outcome = solve(&built, &mut r, &options);
        let seconds = clock.elapsed().as_secs_f64();
        println!("{:45} {:4} {seconds:8.3} s {outcome:?}", problem.name, built.len());
        if let Ok(report) = outcome {
            good += usize::from(report.residual <= 1e-6);
            excellent += usize::from(report.residual <= 1e-10);
            let worst = violation(problem, &r);
            assert!(worst <= 1e-5, "{}: {worst}", problem.name);
        }
    }
    if !given.is_empty() {
        assert_eq!(given.len(), 40);
        assert_eq!(good + left_out, 40, "solved to 1e-6");
        assert!(excellent >= 39, "{excellent} to 1e-10");
    }
}

#[test]
fn redundant_manifolds_are_solved() {
    let options = FrictionOptions { tolerance: 1e-9, ..FrictionOptions::default() };
    for problem in read("fc3d-hard") {
        let clock = std::time::Instant::now();
        let built =
            FrictionProblem::sparse(&problem.entries, &problem.q, &problem.friction).unwrap();
        let mut r = vec![0.0; problem.q.len()];
        let outcome = solve(&built, &mut r, &options);
        let seconds = clock.elapsed().as_secs_f64();
        println!("{:45} {:4} {seconds:8.3} s {outcome:?}", problem.name, built.len());
        assert!(outcome.is_ok_and(|report| report.residual <= 1e-8), "{}", problem.name);
    }
}
