//! `[[beam]]`: what bends.

use nsm_constraints::multibody::{Beam, Mechanism, Pose, SectionMass, SectionStiffness};
use nsm_geom::{Mat3, Vec3, so3};

use super::ProblemError;
use super::multibody::{name_of, refused};
use super::reader::Reader;

/// Most elements of one beam: a matrix of a thousand times as many numbers still fits a machine.
const MOST_ELEMENTS: usize = 10_000;

pub(crate) fn read_beam(
    reader: &Reader<'_>,
    index: usize,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let name = name_of(reader, "beam", index)?;
    let line = read_line(reader)?;
    let needed = |key: &'static str, what: &str| reader.require(key, reader.number(key)?, what);
    let shear = pair(reader, "GA", "the shear stiffness, one number or one for d1 and one for d2")?;
    let stiffness = SectionStiffness {
        shear,
        axial: needed("EA", "the stiffness against extension")?,
        bending: [
            needed("EI1", "the stiffness against bending about d1")?,
            needed("EI2", "the stiffness against bending about d2")?,
        ],
        torsion: needed("GJ", "the stiffness against torsion")?,
    };
    let mass = SectionMass {
        per_length: needed("mass", "the mass for each length")?,
        directors: pair(
            reader,
            "inertia",
            "the second moments of mass for each length, along d1 and d2",
        )?,
    };
    let first = read_triad(reader, [line[0], line[line.len().min(2) - 1]])?;
    reader.finish()?;
    let nodes = if reader.has("points") {
        along(&line, first)
    } else {
        line.iter().map(|&position| Pose { position, directors: first }).collect()
    };
    let beam = Beam { nodes, stiffness, mass };
    mechanism.add_beam(&name, &beam).map_err(|e| refused(reader.place(), &e))?;
    Ok(())
}

/// The nodes: `ends` and `elements`, or `points`.
fn read_line(reader: &Reader<'_>) -> Result<Vec<[f64; 3]>, ProblemError> {
    let points = |rows: &[Vec<f64>]| -> Option<Vec<[f64; 3]>> {
        rows.iter().map(|row| <[f64; 3]>::try_from(row.as_slice()).ok()).collect()
    };
    if let Some(rows) = reader.matrix("points")? {
        let place = reader.place_of("points");
        if reader.has("ends") || reader.has("elements") {
            let message = "`points` are the nodes of the beam: leave out `ends` and `elements`";
            return Err(place.error(message));
        }
        return points(&rows)
            .filter(|points| points.len() >= 2)
            .ok_or_else(|| place.error("expected two points or more with three numbers each"));
    }
    let ends = reader.require(
        "ends",
        reader.matrix("ends")?,
        "the two ends of the beam, as in `ends = [[0, 0, 0], [1, 0, 0]]`; or `points`, its nodes",
    )?;
    let ends: [[f64; 3]; 2] = points(&ends).and_then(|p| p.try_into().ok()).ok_or_else(|| {
        reader.place_of("ends").error("expected two points with three numbers each")
    })?;
    let elements = reader.require(
        "elements",
        reader.count_up_to("elements", MOST_ELEMENTS)?,
        "the number of elements",
    )?;
    let share = |k: usize| k as f64 / elements.max(1) as f64;
    Ok((0..=elements)
        .map(|k| std::array::from_fn(|c| (1.0 - share(k)) * ends[0][c] + share(k) * ends[1][c]))
        .collect())
}

/// Poses along a line: the triad is turned with the tangent and about nothing else. In a bend the tangent is that of the circle through
/// a point and its neighbours, at the ends through the last three.
fn along(line: &[[f64; 3]], triad: [[f64; 3]; 3]) -> Vec<Pose> {
    let chord = |k: usize| (Vec3::from(line[k + 1]) - Vec3::from(line[k])).normalize();
    let last = line.len() - 1;
    let middle = |k: usize| (chord(k - 1) + chord(k)).normalize();
    // The chord of the last element lies between the tangents at its ends.
    let mirrored = |chord: Vec3, inner: Vec3| chord * (2.0 * chord.dot(&inner)) - inner;
    let tangent = |k: usize| match k {
        _ if last == 1 => chord(0),
        0 => mirrored(chord(0), middle(1)),
        k if k == last => mirrored(chord(last - 1), middle(last - 1)),
        k => middle(k),
    };
    let mut directors = triad.map(Vec3::from);
    let sign = directors[2].dot(&chord(0)).signum();
    let mut before = chord(0) * sign;
    (0..=last)
        .map(|k| {
            let now = tangent(k) * sign;
            let turn = turn_onto(&before, &now);
            directors = directors.map(|d| turn * d);
            before = now;
            Pose { position: line[k], directors: directors.map(Into::into) }
        })
        .collect()
}

/// The smallest rotation that takes one unit vector to another.
fn turn_onto(from: &Vec3, to: &Vec3) -> Mat3 {
    let axis = from.cross(to);
    let (sine, cosine) = (axis.norm(), from.dot(to));
    if sine == 0.0 {
        return Mat3::identity();
    }
    so3::exp(&(axis * (sine.atan2(cosine) / sine)))
}

/// One number for both, or two.
fn pair(reader: &Reader<'_>, key: &'static str, what: &str) -> Result<[f64; 2], ProblemError> {
    if reader.is_number(key) {
        return reader.require(key, reader.number(key)?.map(|x| [x, x]), what);
    }
    reader.require(key, reader.vector(key)?, what)
}

/// `triad = [d1, d2, d3]` with d3 along the beam; one that fits if it is left out.
fn read_triad(reader: &Reader<'_>, ends: [[f64; 3]; 2]) -> Result<[[f64; 3]; 3], ProblemError> {
    if let Some(rows) = reader.matrix("triad")? {
        let triad: Option<Vec<[f64; 3]>> =
            rows.iter().map(|row| <[f64; 3]>::try_from(row.as_slice()).ok()).collect();
        return triad.and_then(|t| t.try_into().ok()).ok_or_else(|| {
            reader.place_of("triad").error("expected three directors with three numbers each")
        });
    }
    let along = (Vec3::from(ends[1]) - Vec3::from(ends[0])).normalize();
    // The axis of the world that is most across the beam gives the plane of d1.
    let across = Vec3::ith(along.iamin(), 1.0);
    let d2 = along.cross(&across).normalize();
    Ok([d2.cross(&along).into(), d2.into(), along.into()])
}
