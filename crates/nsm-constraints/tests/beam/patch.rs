//! Static patch tests whose discrete solution has a closed form.

use std::f64::consts::PI;

use nsm_constraints::multibody::SectionStiffness;

use crate::chain::{Chain, node, vector};

const STIFFNESS: SectionStiffness =
    SectionStiffness { shear: [800.0, 700.0], axial: 1000.0, bending: [2.0, 3.0], torsion: 1.5 };
const LENGTH: f64 = 2.0;

#[test]
fn a_pull_stretches_by_force_over_stiffness() {
    let mut chain = Chain::straight(LENGTH, 5, &STIFFNESS);
    chain.hang([0.0, 0.0, 30.0, 0.0, 0.0, 0.0], 1e-11);
    for (k, element) in chain.elements.iter().enumerate() {
        let z = chain.q[12 * (k + 1) + 2];
        assert!((z - LENGTH * (k + 1) as f64 / 5.0 * 1.03).abs() < 1e-12);
        let stress = element.resultants(&chain.q);
        assert!((stress.force[2] - 30.0).abs() < 1e-10, "{stress:?}");
    }
}

#[test]
fn a_torque_twists_every_element_alike() {
    let (torque, count) = (0.4, 8);
    let mut chain = Chain::straight(LENGTH, count, &STIFFNESS);
    chain.hang([0.0, 0.0, 0.0, 0.0, 0.0, torque], 1e-11);
    // K₃ = sin θ / l and V = l GJ K₃² / 2: the torque is GJ sin θ cos θ / l.
    let l = LENGTH / count as f64;
    let angle = 0.5 * (2.0 * l * torque / 1.5).asin();
    for k in 1..=count {
        let d1 = vector(&chain.q, 12 * k + 3);
        let (sin, cos) = (angle * k as f64).sin_cos();
        assert!((d1[0] - cos).abs() < 1e-10 && (d1[1] - sin).abs() < 1e-10, "{d1:?}");
        assert!((chain.q[12 * k + 2] - l * k as f64).abs() < 1e-10);
    }
}

/// The configuration of a chain under an end moment about the second axis: equal angles, chords of length $l/\cos(\theta/2)$.
fn polygon(count: usize, angle: f64) -> Vec<f64> {
    let chord = LENGTH / count as f64 / (0.5 * angle).cos();
    let mut position = [0.0; 3];
    let mut q = node(position, [0.0; 3]).to_vec();
    for k in 0..count {
        let (sin, cos) = ((k as f64 + 0.5) * angle).sin_cos();
        position[0] += chord * sin;
        position[2] += chord * cos;
        q.extend(node(position, [0.0, (k + 1) as f64 * angle, 0.0]));
    }
    q
}

#[test]
fn an_end_moment_bends_a_cantilever_into_a_closed_polygon() {
    // The discrete moment at angle θ between nodes is EI sin θ cos θ / l; 2π EI / L is its limit.
    let (count, bending) = (20, 3.0);
    let angle = 2.0 * PI / count as f64;
    let l = LENGTH / count as f64;
    let moment = bending * (2.0 * angle).sin() / (2.0 * l);

    let mut chain = Chain::straight(LENGTH, count, &STIFFNESS);
    let closed = polygon(count, angle);
    for (k, load) in chain.loads(&closed).iter().enumerate().skip(1) {
        let expected = if k == count { moment } else { 0.0 };
        for (c, &x) in load.iter().enumerate() {
            let expected = if c == 4 { expected } else { 0.0 };
            assert!((x - expected).abs() < 1e-10, "node {k}: {load:?}");
        }
    }
    for part in 1..=8 {
        chain.hang([0.0, 0.0, 0.0, 0.0, moment * f64::from(part) / 8.0, 0.0], 1e-10);
    }
    let tip = vector(&chain.q, 12 * count);
    assert!(tip.iter().all(|x| x.abs() < 1e-8), "the tip is at {tip:?}");
    for (found, expected) in chain.q.iter().zip(&closed) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
}

#[test]
fn the_moment_of_a_full_circle_converges_to_that_of_the_continuum_by_second_order() {
    let exact = 2.0 * PI * 3.0 / LENGTH;
    let error = |count: usize| {
        let chain = Chain::straight(LENGTH, count, &STIFFNESS);
        let loads = chain.loads(&polygon(count, 2.0 * PI / count as f64));
        (loads[count][4] / exact - 1.0).abs()
    };
    let order = (error(40) / error(80)).log2();
    assert!((order - 2.0).abs() < 0.02, "{order}");
}

#[test]
fn a_small_tip_load_gives_the_deflection_of_timoshenko() {
    let force = 1e-4;
    let deflection = |count: usize| {
        let mut chain = Chain::straight(LENGTH, count, &STIFFNESS);
        chain.hang([force, 0.0, 0.0, 0.0, 0.0, 0.0], 2e-12);
        for element in &chain.elements {
            let stress = element.resultants(&chain.q);
            assert!((stress.force[0] / force - 1.0).abs() < 1e-6, "shear {stress:?}");
        }
        chain.q[12 * count]
    };
    // Bending is integrated at one point: an N-element chain lacks 1/(4 N²) of the cubic's coefficient.
    let (bending, shear) = (force * LENGTH.powi(3) / (3.0 * 3.0), force * LENGTH / 800.0);
    for count in [4, 8] {
        let missing = 1.0 - 1.0 / (4.0 * (count * count) as f64);
        let expected = bending * missing + shear;
        let found = deflection(count);
        assert!((found / expected - 1.0).abs() < 1e-6, "{found:e} {expected:e}");
    }
}
