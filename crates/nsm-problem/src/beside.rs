//! `[system]` beside bodies: coordinates of its own, and formulas of everything that moves.
//!
//! Formulas know the coordinates of `[system]` and those of bodies, beams and particles: `ball.x`, `ball.R[0][2]`; their velocities are
//! `v_ball.x`, their momenta `p_ball.x`.

use nsm_constraints::multibody::Mechanism;
use nsm_formula::Scope;
use nsm_model::System;

use super::account::word;
use super::coordinates::{read_mass, read_parameters, read_terms};
use super::equality::{BeamNodes, plain};
use super::motion::Parameters;
use super::multibody::refused;
use super::reader::Reader;
use super::{Place, ProblemError};

/// Adds the coordinates of `[system]`, with their masses and the `q` and `v` (or `p`) of `[start]`, to a mechanism.
pub(super) fn read_coordinates(
    root: &Reader<'_>,
    table: &Reader<'_>,
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    for key in ["mode", "periodic"] {
        if table.has(key) {
            let message = "constraints that switch belong to a `[system]` alone, without bodies";
            return Err(table.place_of(key).error(message));
        }
    }
    if table.has("kinetic") {
        let message = "a kinetic energy by formula belongs to a `[system]` alone: bodies have the constant mass of their directors, and `mass` gives that of coordinates beside them; a body whose mass varies is a particle or link written in coordinates as well";
        return Err(table.place_of("kinetic").error(message));
    }
    let names: Vec<String> =
        table.texts("coordinates")?.unwrap_or_default().into_iter().map(str::to_owned).collect();
    let n = names.len();
    let start = root.table("start")?;
    let sized = |key: &'static str| -> Result<Option<Vec<f64>>, ProblemError> {
        let Some(start) = &start else { return Ok(None) };
        match start.numbers(key)? {
            Some(list) if list.len() != n => Err(start.place_of(key).error(format!(
                "{} numbers for the {n} coordinates of `[system]`; bodies have their own `position` and `velocity`",
                list.len()
            ))),
            other => Ok(other),
        }
    };
    let (q, v, p) = (sized("q")?, sized("v")?, sized("p")?);
    if names.is_empty() {
        return Ok(());
    }
    let mass = read_mass(table, n)?;
    let place = start.as_ref().map_or_else(|| table.place().clone(), |s| s.place().clone());
    let Some(q) = q else {
        return Err(place.error("give `q` in `[start]`: where the coordinates of `[system]` begin"));
    };
    let v = match (v, p) {
        (Some(_), Some(_)) => return Err(place.error("give `v` or `p`, not both")),
        (v, None) => v.unwrap_or_else(|| vec![0.0; n]),
        (None, Some(p)) => {
            let mut v = vec![0.0; n];
            mass.solve(&p, &mut v);
            v
        }
    };
    let added = mechanism.add_coordinates(&names, &mass.entries(), &q, &v);
    added.map(|_| ()).map_err(|e| refused(table.place(), &e))
}

/// The parameters of the file and those of `[system]`.
pub(super) fn all_parameters(
    root: &Reader<'_>,
    table: Option<&Reader<'_>>,
) -> Result<Vec<(String, f64)>, ProblemError> {
    let mut parameters = read_parameters(root)?;
    if let Some(table) = table {
        parameters.extend(read_parameters(table)?);
    }
    Ok(parameters)
}

/// Adds potential, forces, gaps and tracked quantities.
pub(super) fn with_terms(
    system: System,
    table: &Reader<'_>,
    parameters: &Parameters,
    beams: &BeamNodes,
) -> Result<System, ProblemError> {
    let names: Vec<String> = system.names().iter().map(|name| word(name)).collect();
    let place: &Place = table.place();
    let scope = Scope::new(&names, parameters).map_err(|e| place.error(e.message))?;
    let system =
        read_terms(table, &scope, &|text, place| plain(&beams.by_number(text), place), system)?;
    table.finish()?;
    Ok(system)
}
