//! The course of Newton's iterations: they end at the root, count the same in any unit, and give up where nothing contracts.

use nsm_solvers::newton::{Contraction, Course, Frozen, Matrices};

/// Solves $x^3 = a$ from 1.5 times the root; root, steps and matrices.
fn cube_root(a: f64, matrices: Matrices) -> (f64, usize, usize) {
    let mut x = 1.5 * a.cbrt();
    let mut course = Course::new(1e-15, matrices);
    let (mut slope, mut made) = (0.0, 0);
    for steps in 1..=60 {
        if course.wants_matrix() {
            slope = 3.0 * x * x;
            made += 1;
        }
        let step = (a - x * x * x) / slope;
        x += step;
        course.stepped(step.abs());
        if course.ends(x.abs()) {
            return (x, steps, made);
        }
    }
    panic!("no end at {x}");
}

#[test]
fn the_end_is_the_root_in_any_unit() {
    for matrices in [Matrices::Full, Matrices::Chord] {
        let plain = cube_root(2.0, matrices);
        for exponent in [-300, -90, -9, 9, 90, 300] {
            let (x, steps, made) = cube_root(2.0 * 2.0_f64.powi(exponent), matrices);
            let root = 2.0_f64.cbrt() * 2.0_f64.powi(exponent / 3);
            assert!((x - root).abs() <= 4.0 * f64::EPSILON * root, "{x} {root}");
            assert_eq!((steps, made), (plain.1, plain.2), "2^{exponent}");
        }
    }
}

#[test]
fn a_chord_takes_more_steps_with_fewer_matrices() {
    let (_, full, every) = cube_root(2.0, Matrices::Full);
    let (_, chord, made) = cube_root(2.0, Matrices::Chord);
    assert_eq!(full, every);
    assert!(made < every && chord >= full, "{made} of {chord} steps, {every} of {full}");
}

/// Steps of $x \leftarrow c x$ from 1 about the unknown 1; how it ended, and what was left.
fn contract(c: f64) -> (Contraction, f64) {
    let (mut course, mut x) = (Frozen::new(1e-15, 3), 1.0);
    for _ in 0..100 {
        let step = (1.0 - c) * x;
        x -= step;
        match course.stepped(f64::abs(step), 1.0) {
            Contraction::GoesOn => {}
            end => return (end, x.abs()),
        }
    }
    panic!("no end");
}

#[test]
fn a_frozen_matrix_ends_below_the_tolerance_or_fails() {
    for c in [1e-4, 1e-2, 0.1, 0.3, 0.45] {
        let (end, left) = contract(c);
        assert_eq!(end, Contraction::Ends, "{c}");
        assert!(left <= 1e-15, "{c}: {left:e}");
    }
    for c in [0.6, 0.99, -1.5, f64::NAN, f64::INFINITY] {
        assert_eq!(contract(c).0, Contraction::Fails, "{c}");
    }
}
