//! The scene of a mechanism: bodies by their shapes, beams as lines, particles as points.

use nsm_constraints::multibody::{End, Mechanism, NodeId};
use nsm_geom::{Mat3, Pose, Shape, Vec3};
use nsm_model::System;

use super::mesh::Mesh;
use super::{Body, Point, Polyline, Scene};

/// The scene of a mechanism from the rows of a film: time, then the coordinates.
pub(super) fn scene(
    mechanism: &Mechanism,
    shapes: &[(NodeId, Shape)],
    system: &System,
    film: &[Vec<f64>],
) -> Scene {
    let place = |row: &[f64], c: usize| Vec3::new(row[1 + c], row[2 + c], row[3 + c]);
    let first = |node: NodeId| mechanism.coordinates(node).start;
    let mut scene =
        Scene { spatial: true, times: film.iter().map(|row| row[0]).collect(), ..Scene::default() };
    let mut along_beams = Vec::new();
    for (name, beam) in mechanism.beams() {
        let nodes = mechanism.beam_nodes(beam);
        along_beams.extend_from_slice(nodes);
        let frame = |row: &Vec<f64>| nodes.iter().map(|&node| place(row, first(node))).collect();
        scene
            .polylines
            .push(Polyline { name: name.to_owned(), frames: film.iter().map(frame).collect() });
    }
    for (name, node) in mechanism.nodes() {
        if along_beams.contains(&node) {
            continue;
        }
        let c = first(node);
        if mechanism.coordinates(node).len() == 3 {
            let path = film.iter().map(|row| place(row, c)).collect();
            scene.points.push(Point { name: name.to_owned(), radius: None, path });
            continue;
        }
        let pose = |row: &Vec<f64>| {
            let directors = [place(row, c + 3), place(row, c + 6), place(row, c + 9)];
            Pose { x: place(row, c), rot: Mat3::from_columns(&directors) }
        };
        let shape = shapes.iter().find(|(of, _)| *of == node).map(|(_, shape)| shape);
        let mut mesh = shape.map_or_else(|| stand_in(system, c), Mesh::of);
        add_bars(mechanism, node, &mut mesh);
        scene.bodies.push(Body {
            name: name.to_owned(),
            mesh,
            poses: film.iter().map(pose).collect(),
        });
    }
    scene
}

/// A body without a shape: the box of the same mass and inertia.
fn stand_in(system: &System, first: usize) -> Mesh {
    let entries = system.mass().entries();
    let entry = |c: usize| entries.iter().find(|e| e.0 == c && e.1 == c).map_or(0.0, |e| e.2);
    // A box of edges a has the Euler tensor m a²/12.
    let mass = entry(first);
    let half = Vec3::from_fn(|i, _| (3.0 * entry(first + 3 + 3 * i) / mass).max(0.0).sqrt());
    if half.iter().all(|x| x.is_finite()) && half.amax() > 0.0 {
        Mesh::cuboid(half)
    } else {
        Mesh::default()
    }
}

/// Bars from the body's point to its joints.
fn add_bars(mechanism: &Mechanism, node: NodeId, mesh: &mut Mesh) {
    mesh.vertices.push(Vec3::zeros());
    let centre = mesh.vertices.len() - 1;
    for (_, _, ends) in mechanism.joints() {
        for (end, anchor) in ends {
            if end == End::Node(node) {
                mesh.vertices.push(anchor.into());
                mesh.edges.push([centre, mesh.vertices.len() - 1]);
            }
        }
    }
}
