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
    let nodes = if reader.has("points") || reader.has("radius") {
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
    if reader.has("radius") {
        return read_arc(reader);
    }
    let ends = reader.require(
        "ends",
        reader.matrix("ends")?,
        "the two ends of the beam, as in `ends = [[0, 0, 0], [1, 0, 0]]`; or `points`, its nodes; or `radius`, `angle`, `start`, `tangent` and `axis` of an arc",
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

/// An arc of a circle: from `start` along `tangent`, turning about `axis` by `angle`.
fn read_arc(reader: &Reader<'_>) -> Result<Vec<[f64; 3]>, ProblemError> {
    if reader.has("ends") {
        let message = "an arc begins at `start`: leave out `ends`";
        return Err(reader.place_of("ends").error(message));
    }
    let radius = reader.require("radius", reader.positive("radius")?, "of the arc")?;
    let angle =
        reader.require("angle", reader.number("angle")?, "by which it turns, in radians")?;
    let start: [f64; 3] =
        reader.require("start", reader.vector("start")?, "the point at which the arc begins")?;
    let unit = |key: &'static str, what: &str| -> Result<Vec3, ProblemError> {
        let vector = Vec3::from(reader.require(key, reader.vector::<3>(key)?, what)?);
        if (vector.norm() - 1.0).abs() > 1e-8 {
            let message = format!("a unit vector, here is one of length {}", vector.norm());
            return Err(reader.place_of(key).error(message));
        }
        Ok(vector.normalize())
    };
    let tangent = unit("tangent", "the direction in which the arc begins, a unit vector")?;
    let axis = unit("axis", "about which it turns, a unit vector across the tangent")?;
    if axis.dot(&tangent).abs() > 1e-8 {
        let message = "the axis of an arc is at right angles to its tangent";
        return Err(reader.place_of("axis").error(message));
    }
    let elements = reader.require(
        "elements",
        reader.count_up_to("elements", MOST_ELEMENTS)?,
        "the number of elements",
    )?;
    let step = angle / elements.max(1) as f64;
    if angle == 0.0 || !angle.is_finite() || step.abs() > 1.0 {
        let message =
            "an arc turns by an angle that is not zero, and by at most one radian in each element";
        return Err(reader.place_of("angle").error(message));
    }
    // Turning the other way, the centre lies on the other side.
    let inward = axis.cross(&tangent) * angle.signum();
    let (first, r) = (Vec3::from(start), radius);
    let at = |k: usize| {
        let (sine, cosine) = (step.abs() * k as f64).sin_cos();
        (first + tangent * (r * sine) + inward * (r * (1.0 - cosine))).into()
    };
    Ok((0..=elements).map(at).collect())
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
pub(crate) fn turn_onto(from: &Vec3, to: &Vec3) -> Mat3 {
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
