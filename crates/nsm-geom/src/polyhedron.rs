//! Convex polyhedra from a vertex set: vertices, polygonal faces, edges, and the support point.
//!
//! The triangles of the hull are merged into faces where they are coplanar to within
//! $10^{-10}$ of the extent; a hull point that does not touch at least three of these faces is no vertex and
//! is dropped. So a rotated cube, whose rounded vertices are no longer exactly coplanar, still has six
//! faces, and points strewn over faces and edges do not matter.

use std::collections::HashMap;

use crate::{
    GeomError, Vec3,
    hull::{FLATNESS, convex_hull},
};

/// Above this many vertices the support point is found by walking uphill along edges.
const WALK_ABOVE: usize = 48;

/// A convex polyhedron.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyhedron {
    vertices: Vec<Vec3>,
    faces: Vec<Face>,
    edges: Vec<Edge>,
    /// Neighbours of vertex `i`: `neighbours[first_neighbour[i]..first_neighbour[i + 1]]`.
    neighbours: Vec<usize>,
    first_neighbour: Vec<usize>,
}

/// A polygonal face $\lbrace n\cdot z = d\rbrace$.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// Outward unit normal $n$.
    pub normal: Vec3,
    /// The constant $d$.
    pub offset: f64,
    /// Vertex indices, counter-clockwise seen from outside.
    pub vertices: Vec<usize>,
}

/// An edge between two faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Its end vertices.
    pub vertices: [usize; 2],
    /// The face to its left seen from outside, running from the first to the second vertex, and the other.
    pub faces: [usize; 2],
}

impl Polyhedron {
    /// The convex hull of `points`, vertices in the order in which they were given.
    ///
    /// # Errors
    /// [`GeomError::DegeneratePolyhedron`] for fewer than four points or a flat set,
    /// [`GeomError::NotFinite`].
    pub fn hull(points: &[Vec3]) -> Result<Self, GeomError> {
        let distinct = without_duplicates(points)?;
        let triangles = convex_hull(&distinct).map_err(|error| match error {
            GeomError::DegeneratePolyhedron { dimension, .. } => {
                GeomError::DegeneratePolyhedron { points: points.len(), dimension }
            }
            other => other,
        })?;
        let extent = extent(&distinct);
        let group = coplanar_groups(&distinct, &triangles, FLATNESS * extent);
        Self::merged(&distinct, &triangles, &group)
            .or_else(|| {
                let each: Vec<usize> = (0..triangles.len()).collect();
                Self::merged(&distinct, &triangles, &each)
            })
            .ok_or(GeomError::DegeneratePolyhedron { points: points.len(), dimension: 2 })
    }

    /// Vertices in the body frame.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Faces.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// Edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The same polyhedron, moved.
    #[must_use]
    pub(crate) fn placed(&self, pose: &crate::Pose) -> Self {
        let mut moved = self.clone();
        for v in &mut moved.vertices {
            *v = pose.act(v);
        }
        for face in &mut moved.faces {
            face.normal = pose.rot * face.normal;
            face.offset += face.normal.dot(&pose.x);
        }
        moved
    }

    /// The vertex with $u\cdot v$ largest.
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        self.vertices[self.support_index(u)]
    }

    /// Index of the vertex with $u\cdot v$ largest, the first of equals below a few dozen vertices.
    #[inline]
    pub fn support_index(&self, u: &Vec3) -> usize {
        if self.vertices.len() > WALK_ABOVE {
            return self.walk_uphill(u);
        }
        let mut best = 0;
        let mut height = f64::NEG_INFINITY;
        for (i, v) in self.vertices.iter().enumerate() {
            let h = u.dot(v);
            if h > height {
                (best, height) = (i, h);
            }
        }
        best
    }

    /// On a convex polyhedron a vertex without a higher neighbour is a highest one.
    fn walk_uphill(&self, u: &Vec3) -> usize {
        let mut at = 0;
        let mut height = u.dot(&self.vertices[0]);
        loop {
            let mut next = at;
            for &i in &self.neighbours[self.first_neighbour[at]..self.first_neighbour[at + 1]] {
                let h = u.dot(&self.vertices[i]);
                if h > height {
                    (next, height) = (i, h);
                }
            }
            if next == at {
                return at;
            }
            at = next;
        }
    }

    /// Faces from groups of triangles; `None` if what results is not a closed polyhedron.
    fn merged(points: &[Vec3], triangles: &[[usize; 3]], group: &[usize]) -> Option<Self> {
        let groups = group.iter().max()? + 1;
        let mut corners: Vec<Vec<usize>> = vec![Vec::new(); groups];
        let mut incident = vec![Vec::new(); points.len()];
        for (triangle, &g) in triangles.iter().zip(group) {
            for &v in triangle {
                if !incident[v].contains(&g) {
                    incident[v].push(g);
                    corners[g].push(v);
                }
            }
        }
        let mut index = vec![usize::MAX; points.len()];
        let mut vertices = Vec::new();
        for (v, p) in points.iter().enumerate() {
            if incident[v].len() >= 3 {
                index[v] = vertices.len();
                vertices.push(*p);
            }
        }
        let mut normals = vec![Vec3::zeros(); groups];
        for (&[a, b, c], &g) in triangles.iter().zip(group) {
            normals[g] += (points[b] - points[a]).cross(&(points[c] - points[a]));
        }
        let mut faces = Vec::new();
        for (corners, normal) in corners.iter().zip(&normals) {
            let kept: Vec<usize> =
                corners.iter().map(|&v| index[v]).filter(|&i| i != usize::MAX).collect();
            if kept.len() >= 3 {
                faces.push(Face::new(&vertices, kept, normal));
            }
        }
        let edges = edges(&faces)?;
        if vertices.len() + faces.len() != edges.len() + 2 {
            return None;
        }
        let mut adjacent = vec![Vec::new(); vertices.len()];
        for Edge { vertices: [a, b], .. } in &edges {
            adjacent[*a].push(*b);
            adjacent[*b].push(*a);
        }
        let mut first_neighbour = vec![0];
        let mut neighbours = Vec::new();
        for list in adjacent {
            neighbours.extend(list);
            first_neighbour.push(neighbours.len());
        }
        Some(Self { vertices, faces, edges, neighbours, first_neighbour })
    }
}

impl Face {
    /// Corners ordered by angle about their mean, and the mean plane through them (Newell's normal).
    fn new(vertices: &[Vec3], mut corners: Vec<usize>, normal: &Vec3) -> Self {
        let count = corners.len() as f64;
        let centre: Vec3 = corners.iter().map(|&i| vertices[i]).sum::<Vec3>() / count;
        let e1 = (vertices[corners[0]] - centre).normalize();
        let e2 = normal.normalize().cross(&e1);
        let angle = |i: usize| {
            let r = vertices[i] - centre;
            r.dot(&e2).atan2(r.dot(&e1))
        };
        corners.sort_by(|&i, &j| angle(i).total_cmp(&angle(j)));
        let newell: Vec3 = (0..corners.len())
            .map(|k| {
                let (a, b) = (
                    vertices[corners[k]] - centre,
                    vertices[corners[(k + 1) % corners.len()]] - centre,
                );
                a.cross(&b)
            })
            .sum();
        let normal = newell.normalize();
        Self { normal, offset: normal.dot(&centre), vertices: corners }
    }
}

/// Pairs each directed edge with its twin; `None` if one has none.
fn edges(faces: &[Face]) -> Option<Vec<Edge>> {
    let mut owner = HashMap::new();
    for (f, face) in faces.iter().enumerate() {
        for (k, &a) in face.vertices.iter().enumerate() {
            owner.insert((a, face.vertices[(k + 1) % face.vertices.len()]), f);
        }
    }
    let mut edges = Vec::new();
    for (f, face) in faces.iter().enumerate() {
        for (k, &a) in face.vertices.iter().enumerate() {
            let b = face.vertices[(k + 1) % face.vertices.len()];
            let twin = *owner.get(&(b, a))?;
            if a < b {
                edges.push(Edge { vertices: [a, b], faces: [f, twin] });
            }
        }
    }
    Some(edges)
}

/// Groups adjacent triangles that lie in the plane of their group's largest one.
fn coplanar_groups(points: &[Vec3], triangles: &[[usize; 3]], tolerance: f64) -> Vec<usize> {
    let doubled_area =
        |&[a, b, c]: &[usize; 3]| (points[b] - points[a]).cross(&(points[c] - points[a]));
    let mut owner = HashMap::new();
    for (i, &[a, b, c]) in triangles.iter().enumerate() {
        for edge in [(a, b), (b, c), (c, a)] {
            owner.insert(edge, i);
        }
    }
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| {
        doubled_area(&triangles[j]).norm().total_cmp(&doubled_area(&triangles[i]).norm())
    });
    let mut group = vec![usize::MAX; triangles.len()];
    let mut groups = 0;
    let mut front = Vec::new();
    for seed in order {
        if group[seed] != usize::MAX {
            continue;
        }
        let normal = doubled_area(&triangles[seed]).normalize();
        let anchor = points[triangles[seed][0]];
        group[seed] = groups;
        front.push(seed);
        while let Some(t) = front.pop() {
            let [a, b, c] = triangles[t];
            for edge in [(b, a), (c, b), (a, c)] {
                let Some(&next) = owner.get(&edge) else { continue };
                let lies_in_plane = triangles[next]
                    .iter()
                    .all(|&v| (points[v] - anchor).dot(&normal).abs() <= tolerance);
                if group[next] == usize::MAX && lies_in_plane {
                    group[next] = groups;
                    front.push(next);
                }
            }
        }
        groups += 1;
    }
    group
}

fn extent(points: &[Vec3]) -> f64 {
    points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max)
}

/// Keeps the first of points that agree to a hundredth of the flatness tolerance.
fn without_duplicates(points: &[Vec3]) -> Result<Vec<Vec3>, GeomError> {
    if points.iter().any(|p| p.iter().any(|c| !c.is_finite())) {
        return Err(GeomError::NotFinite { what: "polyhedron vertex" });
    }
    let mut kept: Vec<(usize, Vec3)> = Vec::with_capacity(points.len());
    let tolerance = if points.is_empty() { 0.0 } else { 0.01 * FLATNESS * extent(points) };
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&i, &j| points[i].x.total_cmp(&points[j].x).then(i.cmp(&j)));
    for i in order {
        let near = kept
            .iter()
            .rev()
            .take_while(|(_, q)| points[i].x - q.x <= tolerance)
            .any(|(_, q)| (points[i] - q).norm() <= tolerance);
        if !near {
            kept.push((i, points[i]));
        }
    }
    kept.sort_by_key(|(i, _)| *i);
    Ok(kept.into_iter().map(|(_, p)| p).collect())
}
