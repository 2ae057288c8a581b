//! `[[spring]]` and `[[load]]`: what pulls, and what pushes.

use std::sync::Arc;

use nsm_constraints::Field;
use nsm_constraints::multibody::{End, GaugeForce, LineElement, Mechanism, NodeId, Wrench};
use nsm_formula::{FormulaField, FormulaForce, Scope};

use super::motion::{Parameters, read_formula, read_table};
use super::multibody::{end_named, name_of, node_named, refused};
use super::reader::Reader;
use super::{Place, ProblemError};

/// The two ends of something along a line, and its points on them.
pub(crate) fn read_line(
    reader: &Reader<'_>,
    key: &'static str,
    mechanism: &Mechanism,
) -> Result<([End; 2], [[f64; 3]; 2]), ProblemError> {
    let names = reader.require(
        key,
        reader.texts(key)?,
        "the names of the two parts that it connects; `\"ground\"` is one",
    )?;
    let &[first, second] = names.as_slice() else {
        let message = format!("there are two ends, here are {}", names.len());
        return Err(reader.place_of(key).error(message));
    };
    let place = reader.place_of(key);
    let ends = [end_named(mechanism, first, &place)?, end_named(mechanism, second, &place)?];
    if let Some(rows) = reader.matrix("at")? {
        let message = "expected two points with three numbers each: one on each end, in the world, at the start";
        let at = points(&rows).ok_or_else(|| reader.place_of("at").error(message))?;
        return Ok((ends, at));
    }
    let q = mechanism.start_position();
    let mut at = [[0.0; 3]; 2];
    for (at, end) in at.iter_mut().zip(ends) {
        let End::Node(node) = end else {
            let message = "`at` is missing: the ground has no centre, say where on it";
            return Err(reader.place().error(message));
        };
        let first = mechanism.coordinates(node).start;
        at.copy_from_slice(&q[first..first + 3]);
    }
    Ok((ends, at))
}

fn points(rows: &[Vec<f64>]) -> Option<[[f64; 3]; 2]> {
    let points: Option<Vec<[f64; 3]>> =
        rows.iter().map(|row| <[f64; 3]>::try_from(row.as_slice()).ok()).collect();
    points?.try_into().ok()
}

pub(crate) fn read_spring(
    reader: &Reader<'_>,
    index: usize,
    parameters: &Parameters,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let name = name_of(reader, "spring", index)?;
    let (ends, at) = read_line(reader, "between", mechanism)?;
    let length = reader.number("length")?;
    let (stiffness, damping) = (reader.number("stiffness")?, reader.number("damping")?);
    let force = reader.text("force")?;
    reader.finish()?;
    let refuse = |e| refused(reader.place(), &e);
    if let Some(text) = force {
        let place = reader.place_of("force");
        if length.is_some() || stiffness.is_some() || damping.is_some() {
            let message = "give `force` (the tension by `s` and `s_rate`), or `length`, `stiffness` and `damping`, not both";
            return Err(place.error(message));
        }
        // A tension by the length alone is a potential; one by rate or time is a force.
        let scope = scope_of_length(parameters, &place)?;
        if let Ok(law) = FormulaField::new(text, &scope)
            && !law.is_rheonomic()
        {
            return mechanism.add_elastic_line(&name, ends, at, Arc::new(law)).map_err(refuse);
        }
        let law = tension(text, &scope, &place)?;
        return mechanism.add_line_force(&name, ends, at, law).map_err(refuse);
    }
    if stiffness.is_none() && damping.is_none() {
        let message = "give `stiffness`, `damping` or both, or the tension as `force = \"…\"` of `s` and `s_rate`";
        return Err(reader.place().error(message));
    }
    let (stiffness, damping) = (stiffness.unwrap_or(0.0), damping.unwrap_or(0.0));
    let spring = LineElement { length, stiffness, damping };
    mechanism.add_spring(&name, ends, at, spring).map_err(refuse)
}

/// Formulas of the distance `s`.
fn scope_of_length(parameters: &Parameters, place: &Place) -> Result<Scope, ProblemError> {
    Scope::new(&["s".to_owned()], parameters).map_err(|e| place.error(e.message))
}

/// A tension pulls its ends together: it is a force against their distance.
fn tension(text: &str, scope: &Scope, place: &Place) -> Result<Arc<FormulaForce>, ProblemError> {
    // As it is written first, so that a mistake is shown where it stands.
    FormulaForce::of_rates(&[(0, text)], scope).map_err(|e| place.formula(&e))?;
    let pulled = format!("-({text})");
    let law = FormulaForce::of_rates(&[(0, &pulled)], scope).map_err(|e| place.formula(&e))?;
    Ok(Arc::new(law))
}

pub(crate) fn read_load(
    reader: &Reader<'_>,
    index: usize,
    parameters: &Parameters,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let name = name_of(reader, "load", index)?;
    let target = reader.require(
        "where",
        reader.text("where")?,
        "the body or node of a beam that it acts on, such as `\"beam.middle\"`",
    )?;
    let node = node_named(mechanism, target, &reader.place_of("where"))?;
    if reader.has("force") {
        return read_field(reader, &name, node, parameters, mechanism);
    }
    let (direction, torque) = match (
        reader.vector::<3>("direction")?,
        reader.vector::<3>("torque")?,
    ) {
        (Some(_), Some(_)) => {
            let message = "a load is a force along `direction` or a `torque`, not both";
            return Err(reader.place_of("torque").error(message));
        }
        (Some(direction), None) => (direction, false),
        (None, Some(torque)) => (torque, true),
        (None, None) => {
            let message = "`direction` is missing: a vector; or `torque` about one; or `force`, three formulas";
            return Err(reader.place().error(message));
        }
    };
    if direction == [0.0; 3] {
        let key = if torque { "torque" } else { "direction" };
        return Err(reader.place_of(key).error("a vector of zeros has no direction"));
    }
    let at: Option<[f64; 3]> = reader.vector("at")?;
    if let (Some(_), true) = (at, torque) {
        return Err(reader.place_of("at").error("a torque acts on the whole body: leave out `at`"));
    }
    let follows = reader.choice("frame", &[("world", false), ("body", true)])?.unwrap_or(false);
    let value = match (read_formula(reader, "value", parameters)?, read_table(reader, "table")?) {
        (Some(_), Some(_)) => {
            return Err(reader.place_of("table").error("give `value` or `table`, not both"));
        }
        (Some(value), None) | (None, Some(value)) => value,
        (None, None) => {
            let message = "`table` is missing: pairs of time and value, as in `table = [[0, 0], [0.5, 100], [1, 0]]`; or give `value = \"…\"`, a formula of `t`";
            return Err(reader.place().error(message));
        }
    };
    reader.finish()?;
    let added = if torque || follows {
        let wrench = Wrench { direction, at, torque, follows };
        mechanism.add_wrench(&name, node, wrench, value)
    } else {
        mechanism.add_dead_load(&name, node, at, direction, value)
    };
    added.map_err(|e| refused(reader.place(), &e))
}

/// `force = ["…", "…", "…"]`: the components in the world by the place and velocity of the point on which they act.
fn read_field(
    reader: &Reader<'_>,
    name: &str,
    node: NodeId,
    parameters: &Parameters,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let place = reader.place_of("force");
    let texts = reader.texts("force")?.unwrap_or_default();
    let &[x, y, z] = texts.as_slice() else {
        return Err(place.error("expected three formulas: the components along x, y and z"));
    };
    let at: Option<[f64; 3]> = reader.vector("at")?;
    reader.finish()?;
    let names = ["x", "y", "z"].map(str::to_owned);
    let scope = Scope::new(&names, parameters).map_err(|e| place.error(e.message))?;
    let law =
        FormulaForce::of_rates(&[(0, x), (1, y), (2, z)], &scope).map_err(|e| place.formula(&e))?;
    let refuse = |e| refused(reader.place(), &e);
    let gauges = mechanism.point_gauges(name, node, at).map_err(refuse)?;
    let force =
        GaugeForce::new(gauges.to_vec(), Arc::new(law)).map_err(|e| place.error(e.to_string()))?;
    mechanism.add_force(name, Arc::new(force)).map_err(refuse)
}
