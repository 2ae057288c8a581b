//! `[[bushing]]` and `[[attraction]]`: six springs at once, and masses that pull each other.

use nsm_constraints::multibody::{Bushing, End, Mechanism, NodeId};

use super::ProblemError;
use super::multibody::{end_named, name_of, node_named, refused};
use super::reader::Reader;
use super::rigid::read_rotation;

/// The constant of gravitation in SI units, CODATA 2018.
const GRAVITATION: f64 = 6.674_30e-11;

pub(crate) fn read_bushing(
    reader: &Reader<'_>,
    index: usize,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let name = name_of(reader, "bushing", index)?;
    let names = reader.require(
        "between",
        reader.texts("between")?,
        "the names of the two parts that it connects; `\"ground\"` is one",
    )?;
    let place = reader.place_of("between");
    let &[first, second] = names.as_slice() else {
        return Err(place.error(format!("there are two ends, here are {}", names.len())));
    };
    let ends = [end_named(mechanism, first, &place)?, end_named(mechanism, second, &place)?];
    let at = reader.require("at", reader.vector("at")?, "its point in the world, at the start")?;
    let rotation = read_rotation(reader)?;
    let (stiffness, damping) = (read_six(reader, "stiffness")?, read_six(reader, "damping")?);
    reader.finish()?;
    if stiffness.is_none() && damping.is_none() {
        let message = "give `stiffness`, `damping` or both: six numbers (along x, y, z and about x, y, z), or six rows of six";
        return Err(reader.place().error(message));
    }
    let bushing = Bushing {
        stiffness: stiffness.unwrap_or_default(),
        damping: damping.unwrap_or_default(),
        axes: std::array::from_fn(|i| rotation.column(i).into_owned().into()),
    };
    mechanism.add_bushing(&name, ends, at, &bushing).map_err(|e| refused(reader.place(), &e))
}

/// Six numbers on the diagonal, or a matrix.
fn read_six(reader: &Reader<'_>, key: &'static str) -> Result<Option<[[f64; 6]; 6]>, ProblemError> {
    if !reader.has(key) {
        return Ok(None);
    }
    let wrong = || {
        let message = "expected six numbers (along x, y, z and about x, y, z), or six rows of six";
        reader.place_of(key).error(message)
    };
    if reader.is_matrix(key) {
        let rows = reader.matrix(key)?.unwrap_or_default();
        let rows: Option<Vec<[f64; 6]>> =
            rows.iter().map(|row| <[f64; 6]>::try_from(row.as_slice()).ok()).collect();
        return rows.and_then(|rows| rows.try_into().ok()).map(Some).ok_or_else(wrong);
    }
    let list = reader.numbers(key)?.unwrap_or_default();
    let diagonal: [f64; 6] = list.try_into().map_err(|_| wrong())?;
    let mut matrix = [[0.0; 6]; 6];
    for (i, k) in diagonal.into_iter().enumerate() {
        matrix[i][i] = k;
    }
    Ok(Some(matrix))
}

pub(crate) fn read_attraction(
    reader: &Reader<'_>,
    index: usize,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let name = name_of(reader, "attraction", index)?;
    let names = reader.require(
        "between",
        reader.texts("between")?,
        "the names of two or more bodies or particles, each of which pulls every other",
    )?;
    let constant = reader.number("constant")?.unwrap_or(GRAVITATION);
    reader.finish()?;
    let place = reader.place_of("between");
    if names.len() < 2 {
        return Err(place.error("it takes two to attract each other"));
    }
    let mut parts: Vec<(&str, NodeId, f64)> = Vec::with_capacity(names.len());
    for part in names {
        if end_named(mechanism, part, &place)? == End::Ground {
            return Err(place.error("the ground has no mass: `gravity` is what it does"));
        }
        let node = node_named(mechanism, part, &place)?;
        let along_beam = |(_, beam)| mechanism.beam_nodes(beam).contains(&node);
        if mechanism.beams().any(along_beam) {
            let message = format!("`{part}` is a node of a beam: bodies and particles attract");
            return Err(place.error(message));
        }
        if parts.iter().any(|(other, ..)| *other == part) {
            return Err(place.error(format!("`{part}` stands here twice")));
        }
        let first = mechanism.coordinates(node).start;
        let mass =
            mechanism.mass_entries().iter().find(|e| e.0 == first && e.1 == first).map(|e| e.2);
        parts.push((part, node, mass.unwrap_or(0.0)));
    }
    for (k, (second, b, mass_b)) in parts.iter().enumerate() {
        for (first, a, mass_a) in &parts[..k] {
            let strength = constant * mass_a * mass_b;
            let pair =
                if parts.len() == 2 { name.clone() } else { format!("{name} {first}-{second}") };
            let added = mechanism.add_attraction(&pair, [*a, *b], strength);
            added.map_err(|e| refused(reader.place(), &e))?;
        }
    }
    Ok(())
}
