//! Forces of contacts as arrows: from the point of contact, along the force on the party that is named first.
//!
//! A force is the impulse of a step divided by the step: of a held contact what it carries, of an impact its mean over the step, which is far
//! larger. An arrow is as long as half the radius of the largest
//! body where the force is one that held contacts usually carry, and never longer than that radius.

use nsm_geom::Vec3;
use nsm_problem::{RunResult, TouchRecord};

/// Longest arrow, in units of the usual one.
const LONGEST: f64 = 2.0;

/// Foot and tip of an arrow.
pub type Arrow = [Vec3; 2];

/// The arrows of every frame; `size` is the length of a usual one.
pub(super) fn arrows(result: &RunResult, size: f64) -> Vec<Vec<Arrow>> {
    let frames = &result.recording.film_touches;
    let force = |touch: &TouchRecord| Vec3::from(touch.touch.impulse) / result.step;
    let of = |held: bool| {
        let all = frames.iter().flatten().filter(|t| t.held || !held);
        let mut sizes: Vec<f64> = all.map(|t| force(t).norm()).filter(|f| *f > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied()
    };
    // Where nothing is ever held, impacts are measured by each other.
    let Some(usual) = of(true).or_else(|| of(false)) else { return Vec::new() };
    let arrow = |touch: &TouchRecord| {
        let (foot, force) = (Vec3::from(touch.touch.point), force(touch));
        let long = size * (force.norm() / usual).min(LONGEST);
        [foot, foot + force.try_normalize(0.0).unwrap_or_else(Vec3::zeros) * long]
    };
    frames.iter().map(|frame| frame.iter().map(arrow).collect()).collect()
}
