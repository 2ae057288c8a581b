//! `equality = { NAME = "…" }`, `inequality = { NAME = "…" }` and `nonholonomic = { NAME = "…" }` of a mechanism: a user's own constraints on its parts.
//!
//! A part has `.x`, `.y`, `.z`, the place of its centre; `.R[i][j]`, its rotation: component `i` of its direction `j`, both counted from zero;
//! `.point(a, b, c).x`, a point of it by its own axes. In rows on velocities there are `.vx` and `.point(a, b, c).vx`, and the angular
//! velocity `.wx` about the axes of the world, $\omega = \tfrac12\sum_i d_i\times\dot d_i$. Equalities and gaps know freedoms of joints by name.

use std::fmt::Write;
use std::sync::Arc;

use nsm_constraints::Field;
use nsm_constraints::multibody::{Composed, Mechanism, Reading};
use nsm_formula::{FormulaField, FormulaRolling, Scope};

use super::account::word;
use super::joint::Freedom;
use super::motion::Parameters;
use super::multibody::refused;
use super::reader::{Entry, Reader};
use super::{Place, ProblemError};

/// Reads the equalities and the rows on velocities of a mechanism, of a table; those of `[system]` have their gaps, which may rub, read with its terms.
pub(crate) fn read_equalities(
    (reader, of_system): (&Reader<'_>, bool),
    parameters: &Parameters,
    freedoms: &[Freedom],
    beams: &BeamNodes,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let names: Vec<String> = mechanism.coordinate_names().iter().map(|name| word(name)).collect();
    for (name, entry, place) in reader.entries("equality")? {
        let text = formula(entry, beams, &place)?;
        let row = field(&text, &names, parameters, freedoms, mechanism, &place)?;
        mechanism.add_equality(&name, row).map_err(|e| refused(&place, &e))?;
    }
    let gaps = if of_system { Vec::new() } else { reader.entries("inequality")? };
    for (name, entry, place) in gaps {
        let text = formula(entry, beams, &place)?;
        let row = field(&text, &names, parameters, freedoms, mechanism, &place)?;
        mechanism.add_inequality(&name, row).map_err(|e| refused(&place, &e))?;
    }
    for (name, entry, place) in reader.entries("nonholonomic")? {
        let text = formula(entry, beams, &place)?;
        let scope = Scope::new(&names, parameters).map_err(|e| place.error(e.message))?;
        let row = FormulaRolling::new(&text, &scope).map_err(|e| place.formula(&e))?;
        mechanism.add_equality(&name, Arc::new(row)).map_err(|e| refused(&place, &e))?;
    }
    Ok(())
}

fn formula(entry: Entry<'_>, beams: &BeamNodes, place: &Place) -> Result<String, ProblemError> {
    match entry {
        Entry::Text(text) => plain(&beams.by_number(text), place),
        Entry::Number(_) => Err(place.error("expected a formula in quotes")),
    }
}

/// A formula of coordinates and of freedoms of joints.
fn field(
    text: &str,
    coordinates: &[String],
    parameters: &Parameters,
    freedoms: &[Freedom],
    mechanism: &mut Mechanism,
    place: &Place,
) -> Result<Arc<dyn Field>, ProblemError> {
    let scope =
        |names: &[String]| Scope::new(names, parameters).map_err(|e| place.error(e.message));
    let mut names = coordinates.to_vec();
    names.extend(freedoms.iter().map(|freedom| freedom.name.clone()));
    let whole = FormulaField::new(text, &scope(&names)?).map_err(|e| place.formula(&e))?;
    let used = whole.coordinates().to_vec();
    if used.iter().all(|&k| k < coordinates.len()) {
        return Ok(Arc::new(whole));
    }
    // The same formula of what it speaks of alone.
    let few: Vec<String> = used.iter().map(|&k| names[k].clone()).collect();
    let law = FormulaField::new(text, &scope(&few)?).map_err(|e| place.formula(&e))?;
    let mut readings = Vec::with_capacity(used.len());
    for k in used {
        readings.push(match k.checked_sub(coordinates.len()) {
            None => Reading::Coordinate(k),
            Some(freedom) => Reading::Gauge(freedoms[freedom].gauge(mechanism, true)?),
        });
    }
    let row = Composed::new(Arc::new(law), readings).map_err(|e| place.error(e.to_string()))?;
    Ok(Arc::new(row))
}

/// The nodes of beams as formulas name them, `arm.end` or `arm[3]`, with the single words that their coordinates begin with: `arm_3`.
#[derive(Debug)]
pub(crate) struct BeamNodes(Vec<(String, String)>);

impl BeamNodes {
    pub(crate) fn of(mechanism: &Mechanism) -> Self {
        let mut names = Vec::new();
        for (beam, id) in mechanism.beams() {
            let beam = word(beam);
            let last = mechanism.beam_nodes(id).len().saturating_sub(1);
            names.push((format!("{beam}.start."), format!("{beam}_0.")));
            names.push((format!("{beam}.end."), format!("{beam}_{last}.")));
            if last.is_multiple_of(2) {
                names.push((format!("{beam}.middle."), format!("{beam}_{}.", last / 2)));
            }
            let numbered = (0..=last).map(|k| (format!("{beam}[{k}]."), format!("{beam}_{k}.")));
            names.extend(numbered);
        }
        Self(names)
    }

    /// A formula with these words.
    pub(crate) fn by_number(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (name, single) in &self.0 {
            let mut from = 0;
            while let Some(at) = out[from..].find(name.as_str()).map(|at| at + from) {
                let before = out[..at].trim_end_matches("v_").trim_end_matches("p_");
                let inside = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                if inside {
                    from = at + name.len();
                } else {
                    out.replace_range(at..at + name.len(), single);
                    from = at + single.len();
                }
            }
        }
        out
    }
}

/// Coordinates of the directions of a part, component by component.
const DIRECTORS: [[&str; 3]; 3] =
    [["d1x", "d1y", "d1z"], ["d2x", "d2y", "d2z"], ["d3x", "d3y", "d3z"]];

/// The formula with names of coordinates that are single words: `crank.R[0][2]` is `crank_d3x`.
pub(crate) fn plain(text: &str, place: &Place) -> Result<String, ProblemError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(dot) = rest.find('.') {
        let (before, after) = (&rest[..dot], &rest[dot + 1..]);
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let start = before
            .rfind(|c| !in_word(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let part = &before[start..];
        // A dot in a number is none.
        if !after.starts_with(char::is_alphabetic) || !part.starts_with(char::is_alphabetic) {
            out.push_str(&rest[..=dot]);
            rest = after;
            continue;
        }
        out.push_str(&before[..start]);
        let end = after.find(|c| !in_word(c)).unwrap_or(after.len());
        let (what, behind) = after.split_at(end);
        rest = match what {
            "R" => entry(part, behind, &mut out, place)?,
            "point" => point(part, behind, &mut out, place)?,
            "wx" | "wy" | "wz" => {
                out.push_str(&turning(part, axis(what).unwrap_or(0)));
                behind
            }
            _ => {
                let _ = match (what.strip_prefix('v'), axis(what)) {
                    (Some(along), Some(_)) => write!(out, "v_{part}_{along}"),
                    _ => write!(out, "{part}_{what}"),
                };
                behind
            }
        };
    }
    Ok(out + rest)
}

/// The axis of `vx`, `wz`, `x`.
fn axis(what: &str) -> Option<usize> {
    let along = if what.len() == 2 { what.strip_prefix(['v', 'w'])? } else { what };
    ["x", "y", "z"].iter().position(|known| *known == along)
}

/// `[i][j]` behind `NAME.R`.
fn entry<'t>(
    part: &str,
    behind: &'t str,
    out: &mut String,
    place: &Place,
) -> Result<&'t str, ProblemError> {
    let place_of = |c: u8| (b'0'..=b'2').contains(&c).then(|| usize::from(c - b'0'));
    let found = match behind.as_bytes() {
        [b'[', i, b']', b'[', j, b']', ..] => place_of(*i).zip(place_of(*j)),
        _ => None,
    };
    let Some((i, j)) = found else {
        return Err(place.error("an entry of a rotation is `NAME.R[i][j]`, i and j from 0 to 2"));
    };
    let _ = write!(out, "{part}_{}", DIRECTORS[j][i]);
    Ok(&behind[6..])
}

/// `(a, b, c).x` or `(a, b, c).vx` behind `NAME.point`.
fn point<'t>(
    part: &str,
    behind: &'t str,
    out: &mut String,
    place: &Place,
) -> Result<&'t str, ProblemError> {
    let wrong = || {
        place.error("a point of a part is `NAME.point(a, b, c).x`: where it lies by the part's own axes from its centre, and a component of its place (`x`, `y`, `z`) or velocity (`vx`, `vy`, `vz`)")
    };
    let inside = behind.strip_prefix('(').ok_or_else(wrong)?;
    let (mut depth, mut commas, mut close) = (0, Vec::new(), None);
    for (at, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => {
                close = Some(at);
                break;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    let (&[first, second], Some(close)) = (commas.as_slice(), close) else { return Err(wrong()) };
    let after = inside[close + 1..].strip_prefix('.').ok_or_else(wrong)?;
    let end = after.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.len());
    let moves = after[..end].starts_with('v');
    let along = axis(&after[..end]).filter(|_| !after.starts_with('w')).ok_or_else(wrong)?;
    let sign = if moves { "v_" } else { "" };
    let _ = write!(out, "({sign}{part}_{}", ["x", "y", "z"][along]);
    let shares = [&inside[..first], &inside[first + 1..second], &inside[second + 1..close]];
    for (share, director) in shares.into_iter().zip(DIRECTORS) {
        let _ = write!(out, " + ({})*{sign}{part}_{}", plain(share, place)?, director[along]);
    }
    out.push(')');
    Ok(&after[end..])
}

/// A component of the angular velocity.
fn turning(part: &str, along: usize) -> String {
    let (a, b) = ((along + 1) % 3, (along + 2) % 3);
    let terms = DIRECTORS
        .map(|d| format!("{part}_{}*v_{part}_{} - {part}_{}*v_{part}_{}", d[a], d[b], d[b], d[a]));
    format!("(0.5*({}))", terms.join(" + "))
}
