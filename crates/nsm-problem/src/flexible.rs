//! `[[beam]]`: what bends.

use nsm_constraints::multibody::{Beam, Mechanism, SectionMass, SectionStiffness};
use nsm_geom::Vec3;

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
    let ends = reader.require(
        "ends",
        reader.matrix("ends")?,
        "the two ends of the beam, as in `ends = [[0, 0, 0], [1, 0, 0]]`",
    )?;
    let points = |rows: &[Vec<f64>]| -> Option<Vec<[f64; 3]>> {
        rows.iter().map(|row| <[f64; 3]>::try_from(row.as_slice()).ok()).collect()
    };
    let ends: [[f64; 3]; 2] = points(&ends).and_then(|p| p.try_into().ok()).ok_or_else(|| {
        reader.place_of("ends").error("expected two points with three numbers each")
    })?;
    let elements = reader.require(
        "elements",
        reader.count_up_to("elements", MOST_ELEMENTS)?,
        "the number of elements",
    )?;
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
    let directors = read_triad(reader, ends)?;
    reader.finish()?;
    let beam = Beam::straight(ends, elements, directors, stiffness, mass);
    mechanism.add_beam(&name, &beam).map_err(|e| refused(reader.place(), &e))?;
    Ok(())
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
