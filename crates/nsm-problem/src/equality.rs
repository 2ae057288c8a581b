//! `equality = { NAME = "…" }` of a mechanism: a user's own constraint on the coordinates of its parts.
//!
//! A part has `.x`, `.y`, `.z`, the place of its centre, and `.R[i][j]`, its rotation: component `i` of its direction `j`, both counted
//! from zero.

use std::sync::Arc;

use nsm_constraints::multibody::Mechanism;
use nsm_formula::{FormulaField, Scope};

use super::account::word;
use super::motion::Parameters;
use super::multibody::refused;
use super::reader::{Entry, Reader};
use super::{Place, ProblemError};

/// Reads the equalities of a mechanism.
pub(crate) fn read_equalities(
    reader: &Reader<'_>,
    parameters: &Parameters,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let entries = reader.entries("equality")?;
    if entries.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = mechanism.coordinate_names().iter().map(|name| word(name)).collect();
    for (name, entry, place) in entries {
        let Entry::Text(text) = entry else {
            return Err(place.error("expected a formula in quotes that is to be zero"));
        };
        let scope = Scope::new(&names, parameters).map_err(|e| place.error(e.message))?;
        let text = plain(text, &place)?;
        let field = FormulaField::new(&text, &scope).map_err(|e| place.formula(&e))?;
        mechanism.add_equality(&name, Arc::new(field)).map_err(|e| refused(&place, &e))?;
    }
    Ok(())
}

/// The formula with names of coordinates that are single words: `crank.R[0][2]` is `crank_d3x`.
pub(crate) fn plain(text: &str, place: &Place) -> Result<String, ProblemError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(dot) = rest.find('.') {
        let (before, after) = (&rest[..dot], &rest[dot + 1..]);
        // A dot in a number is none.
        if !after.starts_with(|c: char| c.is_alphabetic()) {
            out.push_str(&rest[..=dot]);
            rest = after;
            continue;
        }
        out.push_str(before);
        out.push('_');
        rest = after;
        if let Some(entry) = after.strip_prefix("R[") {
            let place_of = |c: u8| (b'0'..=b'2').contains(&c).then(|| usize::from(c - b'0'));
            let found = match entry.as_bytes() {
                [i, b']', b'[', j, b']', ..] => place_of(*i).zip(place_of(*j)),
                _ => None,
            };
            let Some((i, j)) = found else {
                return Err(
                    place.error("an entry of a rotation is `NAME.R[i][j]`, i and j from 0 to 2")
                );
            };
            out.push_str(
                [["d1x", "d1y", "d1z"], ["d2x", "d2y", "d2z"], ["d3x", "d3y", "d3z"]][j][i],
            );
            rest = &entry[5..];
        }
    }
    Ok(out + rest)
}
