//! Surfaces of shapes as polygons.
//!
//! A box or polyhedron has its own faces. Any other convex shape is sampled through its support function:
//! directions on a grid of the sphere are mapped to the points of the shape furthest along them.

use std::f64::consts::{PI, TAU};

use nsm_geom::{Shape, Vec3};

/// Polygons in the body frame, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices.
    pub vertices: Vec<Vec3>,
    /// Faces, as indices of vertices.
    pub faces: Vec<Vec<usize>>,
    /// Edges without faces, as pairs of indices.
    pub edges: Vec<[usize; 2]>,
}

/// Circles of latitude (poles not counted) and meridians.
const GRID: [usize; 2] = [9, 20];

impl Mesh {
    /// The surface of a shape; of a union, the surfaces of its parts.
    pub fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Cuboid(cuboid) => Self::cuboid(*cuboid.half_extents()),
            Shape::Polyhedron(polyhedron) => Self {
                vertices: polyhedron.vertices().to_vec(),
                faces: polyhedron.faces().iter().map(|f| f.vertices.clone()).collect(),
                edges: Vec::new(),
            },
            Shape::Placed(placed) => {
                let mut mesh = Self::of(placed.shape());
                mesh.vertices.iter_mut().for_each(|v| *v = placed.pose().act(v));
                mesh
            }
            // A rounding too small to see leaves the faces as they are.
            Shape::Rounded(rounded)
                if rounded.radius() < 1e-3 * rounded.shape().bounding_radius() =>
            {
                Self::of(rounded.shape())
            }
            Shape::Union(union) => {
                let mut whole = Self::default();
                union.parts().iter().for_each(|part| whole.join(Self::of(part)));
                whole
            }
            convex => Self::sampled(|u| convex.support(u)),
        }
    }

    /// Three unit axes: what is drawn of a body without a shape.
    pub fn triad() -> Self {
        Self {
            vertices: vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()],
            faces: Vec::new(),
            edges: vec![[0, 1], [0, 2], [0, 3]],
        }
    }

    /// A box with these half edges.
    pub fn cuboid(half: Vec3) -> Self {
        let corner = |i: usize| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            half.component_mul(&Vec3::new(sign(0), sign(1), sign(2)))
        };
        let faces =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Self {
            vertices: (0..8).map(corner).collect(),
            faces: faces.map(Vec::from).into(),
            edges: Vec::new(),
        }
    }

    fn join(&mut self, other: Self) {
        let n = self.vertices.len();
        self.vertices.extend(other.vertices);
        self.faces.extend(other.faces.into_iter().map(|f| f.into_iter().map(|i| i + n).collect()));
        self.edges.extend(other.edges.into_iter().map(|e| e.map(|i| i + n)));
    }

    fn sampled(support: impl Fn(&Vec3) -> Vec3) -> Self {
        let [rings, meridians] = GRID;
        let mut vertices = vec![support(&-Vec3::z())];
        for ring in 1..=rings {
            let latitude = PI * (ring as f64 / (rings + 1) as f64 - 0.5);
            for m in 0..meridians {
                let longitude = TAU * m as f64 / meridians as f64;
                let (s, c) = latitude.sin_cos();
                vertices.push(support(&Vec3::new(c * longitude.cos(), c * longitude.sin(), s)));
            }
        }
        vertices.push(support(&Vec3::z()));
        let at = |ring: usize, m: usize| 1 + (ring - 1) * meridians + m % meridians;
        let top = vertices.len() - 1;
        let mut faces = Vec::new();
        for m in 0..meridians {
            faces.push(vec![0, at(1, m + 1), at(1, m)]);
            for ring in 1..rings {
                faces.push(vec![
                    at(ring, m),
                    at(ring, m + 1),
                    at(ring + 1, m + 1),
                    at(ring + 1, m),
                ]);
            }
            faces.push(vec![at(rings, m), at(rings, m + 1), top]);
        }
        Self { vertices, faces, edges: Vec::new() }
    }
}
