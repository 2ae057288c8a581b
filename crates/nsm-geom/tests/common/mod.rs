//! Random vectors, rotations and poses shared by the tests; every test fixes its own seed.
#![allow(dead_code)]

use nalgebra::SMatrix;
use nsm_geom::{Mat3, Pose, Vec3, so3};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

pub(crate) fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

pub(crate) fn uniform(rng: &mut Pcg64, low: f64, high: f64) -> f64 {
    rng.random_range(low..high)
}

pub(crate) fn gauss(rng: &mut Pcg64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.sample(StandardNormal))
}

pub(crate) fn direction(rng: &mut Pcg64) -> Vec3 {
    gauss(rng).normalize()
}

pub(crate) fn rotation(rng: &mut Pcg64) -> Mat3 {
    let angle = uniform(rng, 0.0, std::f64::consts::PI);
    so3::exp(&(direction(rng) * angle))
}

pub(crate) fn pose(rng: &mut Pcg64, reach: f64) -> Pose {
    Pose { x: gauss(rng) * reach, rot: rotation(rng) }
}

pub(crate) fn matrix(rng: &mut Pcg64) -> Mat3 {
    Mat3::from_fn(|_, _| rng.sample(StandardNormal))
}

#[track_caller]
pub(crate) fn close<const R: usize, const C: usize>(
    a: &SMatrix<f64, R, C>,
    b: &SMatrix<f64, R, C>,
    tolerance: f64,
) {
    let error = (a - b).amax();
    assert!(error <= tolerance, "differ by {error:.3e} > {tolerance:.1e}:\n{a}{b}");
}
