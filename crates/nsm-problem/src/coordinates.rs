//! `[system]` and `[start]`: a system in coordinates, by formula.

use nsm_constraints::{Rows, Switching};
use nsm_model::{Mass, State, System, SystemError, Tolerance, check_start, project_start};

use super::reader::{Entry, Reader};
use super::{Place, ProblemError};
use nsm_formula::{
    FormulaError, FormulaField, FormulaForce, FormulaKinetic, FormulaRolling, FormulaTangent,
    Scope, constant, quantity,
};

/// Reads `[system]`.
pub(crate) fn read_system(reader: &Reader<'_>) -> Result<System, ProblemError> {
    let scope = read_scope(reader)?;
    let coordinates = scope.coordinates().to_vec();
    let kinetic = read_kinetic(reader, &scope)?;
    let place = reader.place();
    let fail = |e: SystemError| place.system(&e);
    let system = match kinetic {
        Some(kinetic) => System::with_variable_mass(kinetic).map_err(fail)?,
        None => System::new(read_mass(reader, coordinates.len())?),
    };
    let mut system = system.with_names(&coordinates).map_err(fail)?;
    for (name, field, _) in fields(reader, "equality", &scope, &as_written)? {
        system = system.with_equality(&name, field).map_err(fail)?;
    }
    for (name, entry, place) in reader.entries("nonholonomic")? {
        let row = FormulaRolling::new(&formula_text(entry), &scope);
        let row = row.map_err(|e| place.formula(&e))?;
        system = system.with_equality(&name, row).map_err(fail)?;
    }
    if let Some(switching) = read_switching(reader, &coordinates, &scope)? {
        system = system.with_switching(switching).map_err(fail)?;
    }
    read_terms(reader, &scope, &as_written, system)
}

/// How the names in a formula become those of its scope.
pub(crate) type Spelling<'a> = &'a dyn Fn(&str, &Place) -> Result<String, ProblemError>;

/// Formulas of coordinates know them by their names.
#[allow(clippy::unnecessary_wraps)] // one of two spellings, of which the other may fail
fn as_written(text: &str, _: &Place) -> Result<String, ProblemError> {
    Ok(text.to_owned())
}

/// Adds what the formulas of `[system]` say besides its equalities: potential, forces, inequalities with their tangents, invariants.
pub(crate) fn read_terms(
    reader: &Reader<'_>,
    scope: &Scope,
    plain: Spelling<'_>,
    mut system: System,
) -> Result<System, ProblemError> {
    let place = reader.place();
    let fail = |e: SystemError| place.system(&e);
    for (i, text) in potential_terms(reader)?.iter().enumerate() {
        let place = reader.place_of("potential");
        let text = plain(text, &place)?;
        let field = FormulaField::new(&text, scope).map_err(|e| place.formula(&e))?;
        // One term is `potential`, several are counted.
        let name = if i == 0 { "potential".to_owned() } else { format!("potential[{i}]") };
        system = system.with_potential(&name, field).map_err(fail)?;
    }
    if let Some(force) = read_force(reader, scope, plain)? {
        system = system.with_force(force).map_err(fail)?;
    }
    for (name, field, _) in fields(reader, "inequality", scope, plain)? {
        system = system.with_inequality(&name, field).map_err(fail)?;
    }
    for (name, formulas, place) in reader.text_lists("tangent")? {
        let gaps = system.inequalities().names();
        let Some(gap) = gaps.iter().position(|gap| *gap == name) else {
            let near = nsm_formula::nearest(&name, gaps.iter().map(String::as_str));
            let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
            return Err(place.error(format!("there is no inequality `{name}`{hint}")));
        };
        if !(1..=2).contains(&formulas.len()) {
            let message = format!(
                "a contact slips in one direction (planar) or two, here are {}",
                formulas.len()
            );
            return Err(place.error(message));
        }
        let formulas =
            formulas.iter().map(|text| plain(text, &place)).collect::<Result<Vec<String>, _>>()?;
        let formulas: Vec<&str> = formulas.iter().map(String::as_str).collect();
        let tangent = FormulaTangent::new(&formulas, scope).map_err(|e| place.formula(&e))?;
        system = system.with_tangent(gap, tangent).map_err(fail)?;
    }
    for (name, entry, place) in reader.entries("invariants")? {
        let text = plain(&formula_text(entry), &place)?;
        system =
            system.with_invariant(quantity(&name, &text, scope).map_err(|e| place.formula(&e))?);
    }
    Ok(system)
}

/// The terms of the potential: a formula, a list of them, or a number, which moves nothing but counts in the energy.
fn potential_terms(reader: &Reader<'_>) -> Result<Vec<String>, ProblemError> {
    if reader.is_number("potential") {
        return Ok(reader.number("potential")?.iter().map(f64::to_string).collect());
    }
    if reader.is_text("potential") {
        return Ok(reader.text("potential")?.into_iter().map(str::to_owned).collect());
    }
    let terms = reader.texts("potential")?.unwrap_or_default();
    Ok(terms.into_iter().map(str::to_owned).collect())
}

/// Reads the names that formulas may use.
pub(crate) fn read_scope(reader: &Reader<'_>) -> Result<Scope, ProblemError> {
    let coordinates: Vec<String> = reader
        .require(
            "coordinates",
            reader.texts("coordinates")?,
            "name the coordinates, as in `coordinates = [\"x\", \"y\"]`",
        )?
        .into_iter()
        .map(str::to_owned)
        .collect();
    let parameters = read_parameters(reader)?;
    let refused = |e: FormulaError| reader.place_of("coordinates").error(e.message);
    let mut scope = Scope::new(&coordinates, &parameters).map_err(refused)?;
    for (name, function) in reader.functions() {
        scope.define_function(name, function.clone()).map_err(refused)?;
    }
    Ok(scope)
}

/// Reads a table of named formulas as fields.
pub(crate) fn fields(
    reader: &Reader<'_>,
    key: &'static str,
    scope: &Scope,
    plain: Spelling<'_>,
) -> Result<Vec<(String, FormulaField, Place)>, ProblemError> {
    reader
        .entries(key)?
        .into_iter()
        .map(|(name, entry, place)| {
            let text = plain(&formula_text(entry), &place)?;
            let field = FormulaField::new(&text, scope).map_err(|e| place.formula(&e))?;
            Ok((name, field, place))
        })
        .collect()
}

/// Reads `[[system.mode]]`, or `[system.periodic]` for rows that repeat along a coordinate.
fn read_switching(
    reader: &Reader<'_>,
    coordinates: &[String],
    scope: &Scope,
) -> Result<Option<Switching>, ProblemError> {
    let modes = reader.tables("mode")?;
    if let Some(table) = reader.table("periodic")? {
        if !modes.is_empty() {
            return Err(table.place().error("give `mode`s or `periodic`, not both"));
        }
        let name = table.require(
            "coordinate",
            table.text("coordinate")?,
            "the coordinate along which the rows repeat",
        )?;
        let coordinate = coordinates.iter().position(|c| c == name).ok_or_else(|| {
            table.place_of("coordinate").error(format!("there is no coordinate `{name}`"))
        })?;
        let value = |key: &'static str| -> Result<Option<f64>, ProblemError> {
            if table.is_text(key) {
                let text = table.text(key)?.unwrap_or_default();
                constant(text, scope).map(Some).map_err(|e| table.place_of(key).formula(&e))
            } else {
                table.number(key)
            }
        };
        let period = table.require("period", value("period")?, "after which the rows repeat")?;
        let origin = value("origin")?.unwrap_or(0.0);
        let rows = read_rows(&table, scope)?;
        let label = table.text("name")?.unwrap_or("period");
        table.finish()?;
        let switching = Switching::periodic(label, coordinate, origin, period, rows);
        return switching.map(Some).map_err(|e| table.place().error(e.to_string()));
    }
    if modes.is_empty() {
        return Ok(None);
    }
    let mut switching = Switching::new(coordinates.len());
    let mut names: Vec<&str> = Vec::new();
    for table in &modes {
        let name = table.require("name", table.text("name")?, "each mode has a name")?;
        if names.contains(&name) {
            return Err(table
                .place_of("name")
                .error(format!("there are two modes named `{name}`")));
        }
        names.push(name);
        let text = table.require(
            "where",
            table.text("where")?,
            "a formula that is positive where the mode is active",
        )?;
        let region =
            FormulaField::new(text, scope).map_err(|e| table.place_of("where").formula(&e))?;
        let rows = read_rows(table, scope)?;
        table.finish()?;
        switching = switching
            .with_mode(name, region, rows)
            .map_err(|e| table.place().error(e.to_string()))?;
    }
    Ok(Some(switching))
}

fn read_rows(reader: &Reader<'_>, scope: &Scope) -> Result<Rows, ProblemError> {
    let mut rows = Rows::new(scope.dimension());
    for (name, field, place) in fields(reader, "equality", scope, &as_written)? {
        rows.push(name, field).map_err(|e| place.error(e.to_string()))?;
    }
    Ok(rows)
}

/// Parameters are numbers, or formulas of the parameters above them.
pub(crate) fn read_parameters(reader: &Reader<'_>) -> Result<Vec<(String, f64)>, ProblemError> {
    let mut known = Scope::default();
    for (name, entry, place) in reader.entries("parameters")? {
        let value = match entry {
            Entry::Number(value) => value,
            Entry::Text(text) => constant(text, &known).map_err(|e| place.formula(&e))?,
        };
        known.define(&name, value).map_err(|e| place.error(e.message))?;
    }
    Ok(known.parameters().to_vec())
}

/// `kinetic`: the kinetic energy by a formula, in place of `mass`.
fn read_kinetic(
    reader: &Reader<'_>,
    scope: &Scope,
) -> Result<Option<FormulaKinetic>, ProblemError> {
    let Some(text) = reader.text("kinetic")? else { return Ok(None) };
    let place = reader.place_of("kinetic");
    if reader.has("mass") {
        return Err(place.error("give `kinetic` or `mass`, not both: one says what the other does"));
    }
    FormulaKinetic::new(text, scope).map(Some).map_err(|e| place.formula(&e))
}

pub(crate) fn read_mass(reader: &Reader<'_>, dimension: usize) -> Result<Mass, ProblemError> {
    let place = reader.place_of("mass");
    let (mass, size) = if reader.is_matrix("mass") {
        let rows = reader.require("mass", reader.matrix("mass")?, "")?;
        let size = rows.len();
        (Mass::full(&rows), size)
    } else {
        let masses = reader.require(
            "mass",
            reader.numbers("mass")?,
            "one per coordinate, or a full symmetric matrix",
        )?;
        let size = masses.len();
        (Mass::diagonal(&masses), size)
    };
    if size != dimension {
        return Err(place.error(format!("{size} masses for {dimension} coordinates: give one per coordinate, or a full symmetric matrix")));
    }
    mass.map_err(|e| place.system(&e))
}

fn read_force(
    reader: &Reader<'_>,
    scope: &Scope,
    plain: Spelling<'_>,
) -> Result<Option<FormulaForce>, ProblemError> {
    let mut components = Vec::new();
    let mut first = None;
    let coordinates = scope.coordinates();
    for (name, entry, place) in reader.entries("force")? {
        let name = plain(&name, &place)?;
        let Some(i) = coordinates.iter().position(|c| *c == name) else {
            let hint = nsm_formula::nearest(&name, coordinates.iter().map(String::as_str))
                .map(|n| format!(", did you mean `{n}`?"));
            return Err(
                place.error(format!("there is no coordinate `{name}`{}", hint.unwrap_or_default()))
            );
        };
        let text = plain(&formula_text(entry), &place)?;
        // Each formula is tried alone first, so that a mistake is reported at its own line.
        FormulaForce::new(&[(i, &text)], scope).map_err(|e| place.formula(&e))?;
        first.get_or_insert(place);
        components.push((i, text));
    }
    let Some(place) = first else { return Ok(None) };
    let components: Vec<(usize, &str)> =
        components.iter().map(|(i, text)| (*i, text.as_str())).collect();
    FormulaForce::new(&components, scope).map(Some).map_err(|e| place.formula(&e))
}

fn formula_text(entry: Entry<'_>) -> String {
    match entry {
        Entry::Text(text) => text.to_owned(),
        Entry::Number(value) => format!("({value:e})"),
    }
}

/// Reads `[start]` and checks it against the constraints.
pub(crate) fn read_start(reader: &Reader<'_>, system: &System) -> Result<State, ProblemError> {
    let n = system.dimension();
    let sized = |key: &'static str| -> Result<Option<Vec<f64>>, ProblemError> {
        match reader.numbers(key)? {
            Some(list) if list.len() != n => {
                let names = system.names().join(", ");
                let message = format!("{} numbers for {n} coordinates ({names})", list.len());
                Err(reader.place_of(key).error(message))
            }
            other => Ok(other),
        }
    };
    let q = reader.require("q", sized("q")?, "the positions at the start")?;
    let state = match (sized("v")?, sized("p")?) {
        (Some(_), Some(_)) => return Err(reader.place_of("p").error("give `v` or `p`, not both")),
        (_, Some(p)) => State::from_momentum(system, &q, &p),
        (v, None) => State::new(system, &q, &v.unwrap_or_else(|| vec![0.0; n])),
    };
    let mut state = state.map_err(|e| reader.place().system(&e))?;
    if let Some(mode) = reader.text("mode")? {
        state = state.in_mode(system, mode).map_err(|e| reader.place_of("mode").system(&e))?;
    }
    state.t = reader.number("t")?.unwrap_or(0.0);
    if reader.flag("project")?.unwrap_or(false) {
        project_start(system, &mut state).map_err(|e| reader.place().system(&e))?;
    }
    check_start(system, &state, Tolerance::default()).map_err(|e| {
        // Projection knows no inequalities.
        let outside = matches!(&e, SystemError::InfeasiblePosition { must, .. } if *must != "0");
        let remedy = "`project = true` in [start] moves it onto the equalities";
        let remedy = if outside { "" } else { &format!(" ({remedy})") };
        reader.place().error(format!("{e}{remedy}"))
    })?;
    Ok(state)
}
