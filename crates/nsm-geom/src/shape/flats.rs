//! The flat sides of shapes that are round elsewhere: a die is a cube cut by a ball, and lies on a disc.
//!
//! A side's normal is that of a face or a cap of one of the shape's parts. Its corners are the support points in directions tilted a little
//! from the normal: where they lie as high as the side does, they are on its rim.

use super::Shape;
use crate::Vec3;

/// Tilt of the directions in which the rim is looked for.
const TILT: f64 = 0.02;
/// Directions.
const CORNERS: usize = 12;
/// A point is on the side within this, times the size, and two points are one within the second.
const LEVEL: f64 = 1e-9;
const APART: f64 = 1e-6;

/// A flat side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Flat {
    /// Outward unit normal.
    pub(crate) normal: Vec3,
    /// The plane is $n\cdot z = d$.
    pub(crate) offset: f64,
    /// Points on its rim, counter-clockwise seen from outside.
    pub(crate) corners: Vec<Vec3>,
}

impl Shape {
    /// The flat sides.
    pub(crate) fn flats(&self) -> Vec<Flat> {
        let mut normals = Vec::new();
        self.each_flat_normal(&mut |n| normals.push(n));
        let size = self.bounding_radius();
        normals.into_iter().filter_map(|n| self.flat(n, size)).collect()
    }

    fn flat(&self, normal: Vec3, size: f64) -> Option<Flat> {
        let offset = normal.dot(&self.support(&normal));
        let across = normal.cross(&Vec3::ith(normal.iamin(), 1.0)).normalize();
        let other = normal.cross(&across);
        let mut corners: Vec<Vec3> = Vec::new();
        for k in 0..CORNERS {
            let angle = std::f64::consts::TAU * k as f64 / CORNERS as f64;
            let tilted = normal + TILT * (angle.cos() * across + angle.sin() * other);
            let corner = self.support(&tilted);
            let new = |c: &Vec3| (corner - c).norm() > APART * size;
            let first = corners.first().is_none_or(new);
            let last = corners.last().is_none_or(new);
            if first && last && normal.dot(&corner) >= offset - LEVEL * size {
                corners.push(corner);
            }
        }
        (corners.len() > 2).then_some(Flat { normal, offset, corners })
    }

    /// Calls `emit` with the normals of faces and caps of the shape and its parts.
    fn each_flat_normal(&self, emit: &mut dyn FnMut(Vec3)) {
        match self {
            Self::Cylinder(_) => [1.0, -1.0].into_iter().for_each(|s| emit(Vec3::z() * s)),
            Self::Placed(p) => p.shape.each_flat_normal(&mut |n| emit(p.pose.rot * n)),
            Self::Rounded(r) => r.shape.each_flat_normal(emit),
            Self::Intersection(i) => i.parts().iter().for_each(|p| p.each_flat_normal(emit)),
            _ => self.each_half_space(&mut |n, _| emit(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Shape, Vec3};

    #[test]
    fn a_die_has_six_discs_and_a_cube_in_a_wide_ball_none_that_its_faces_do_not_reach() {
        let cube = Shape::cuboid([0.1; 3]).unwrap();
        let die = Shape::intersection(vec![Shape::sphere(0.13).unwrap(), cube.clone()]).unwrap();
        let flats = die.flats();
        assert_eq!(flats.len(), 6);
        let rim = (0.13_f64.powi(2) - 0.01).sqrt();
        for flat in &flats {
            assert!((flat.offset - 0.1).abs() < 1e-12, "{}", flat.offset);
            assert_eq!(flat.corners.len(), 12);
            for corner in &flat.corners {
                let across = corner - flat.normal * flat.normal.dot(corner);
                assert!((across.norm() - rim).abs() < 1e-9, "{}", across.norm() - rim);
            }
        }
        // The ball alone touches nothing flat.
        let ball = Shape::intersection(vec![Shape::sphere(0.09).unwrap(), cube]).unwrap();
        assert!(ball.flats().is_empty());
    }

    #[test]
    fn half_a_ball_has_one_flat_side() {
        let above = Shape::cuboid([1.0, 1.0, 0.5]).unwrap().at(Vec3::new(0.0, 0.0, 0.5));
        let half = Shape::intersection(vec![Shape::sphere(0.5).unwrap(), above]).unwrap();
        let flats = half.flats();
        assert_eq!(flats.len(), 1);
        assert!((flats[0].normal + Vec3::z()).norm() < 1e-15 && flats[0].offset.abs() < 1e-12);
    }
}
