//! Options of methods, read from a `[[run]]`.

use std::sync::Arc;

use nsm_alpha::{ClassicalAlpha, Coefficients, Index, NewtonOptions};
use nsm_vi::{
    Conserving, ConservingTangent, ConstraintAt, ConstraintSolver, ContactForce, Direct, ImpactLaw,
    Newmark, Projection, ProjectionMatrix, Quadrature, Restitution, Strength, Tolerances,
};

use super::Made;
use crate::ProblemError;
use crate::reader::Reader;

pub(super) fn quadrature(reader: &Reader<'_>) -> Result<Quadrature, ProblemError> {
    let words = [("midpoint", Quadrature::Midpoint), ("verlet", Quadrature::Verlet)];
    Ok(reader.choice("quadrature", &words)?.unwrap_or(Quadrature::Midpoint))
}

pub(super) fn direct(reader: &Reader<'_>, h: f64, at: ConstraintAt) -> Result<Made, ProblemError> {
    // The direct methods are built on implicit midpoint; saying so is allowed.
    reader.choice("quadrature", &[("midpoint", ())])?;
    let mut direct = Direct::new(h, at);
    direct.tolerances = tolerances(reader)?;
    Ok(Arc::new(direct))
}

pub(super) fn newmark(
    reader: &Reader<'_>,
    h: f64,
    contact: ContactForce,
    beta: f64,
) -> Result<Made, ProblemError> {
    let beta = reader.number("beta")?.unwrap_or(beta);
    let gamma = reader.number("gamma")?.unwrap_or(0.5);
    let mut newmark = Newmark::imex(h, beta, gamma);
    newmark.contact = contact;
    newmark.tolerances = tolerances(reader)?;
    Ok(Arc::new(newmark))
}

/// For quadratic constraints the conserving step is the energy-momentum scheme: one method, two names.
pub(super) fn conserving(reader: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    if reader.choice("velocities", &[("free", false), ("held", true)])? == Some(true) {
        return Ok(Arc::new(ConservingTangent { tolerances: tolerances(reader)?, step: h }));
    }
    let mut conserving = Conserving::new(h);
    let solvers = [
        ("simultaneous", ConstraintSolver::Simultaneous),
        ("augmented", ConstraintSolver::augmented()),
    ];
    conserving.solver = reader.choice("solver", &solvers)?.unwrap_or(conserving.solver);
    conserving.tolerances = tolerances(reader)?;
    Ok(Arc::new(conserving))
}

/// `projection = { matrix = "mass" | "identity" | [[…]], penalty = α }`, or `exact = true`.
pub(crate) fn read_projection(reader: &Reader<'_>) -> Result<Option<Projection>, ProblemError> {
    let Some(table) = reader.table("projection")? else { return Ok(None) };
    let matrix = if table.is_matrix("matrix") {
        let rows = table.require("matrix", table.matrix("matrix")?, "")?;
        ProjectionMatrix::Full(rows)
    } else {
        let words = [("mass", true), ("identity", false)];
        let mass = table.choice("matrix", &words)?.unwrap_or(true);
        if mass { ProjectionMatrix::Mass } else { ProjectionMatrix::Identity }
    };
    let projection = match (table.positive("penalty")?, table.flag("exact")?.unwrap_or(false)) {
        (Some(_), true) => {
            return Err(table
                .place_of("exact")
                .error("give `penalty` or `exact = true`, not both"));
        }
        (Some(penalty), false) => Projection::penalty(matrix, penalty),
        (None, _) => Projection { matrix, strength: Strength::Exact },
    };
    table.finish()?;
    Ok(Some(projection))
}

pub(super) fn alpha(reader: &Reader<'_>, h: f64, index: Index) -> Result<Made, ProblemError> {
    let mut alpha = ClassicalAlpha::new(h, index, 1.0).map_err(|e| reader.place().system(&e))?;
    alpha.coefficients = coefficients(reader, index)?;
    if index == Index::Two {
        alpha.interpolation = reader.number("interpolation")?;
    }
    alpha.newton = newton(reader)?;
    Ok(Arc::new(alpha))
}

/// The spectral radius `rho` (that of the level of the constraints if absent), or `"implicit"` for the fully implicit coefficients.
pub(super) fn coefficients(
    reader: &Reader<'_>,
    index: Index,
) -> Result<Coefficients, ProblemError> {
    if reader.is_text("rho") {
        let implicit = reader.choice("rho", &[("implicit", Coefficients::fully_implicit())])?;
        return reader.require("rho", implicit, "a number between 0 and 1");
    }
    let rho = reader.number("rho")?.unwrap_or_else(|| index.spectral_radius());
    Coefficients::from_spectral_radius(rho).map_err(|e| reader.place_of("rho").system(&e))
}

pub(super) fn newton(reader: &Reader<'_>) -> Result<NewtonOptions, ProblemError> {
    let default = NewtonOptions::default();
    Ok(NewtonOptions {
        tolerance: reader.positive("tolerance")?.unwrap_or(default.tolerance),
        iterations: reader.count("iterations")?.unwrap_or(default.iterations),
    })
}

/// One coefficient for all contacts, or a list with one for each inequality.
pub(super) fn restitution(reader: &Reader<'_>) -> Result<Option<Restitution>, ProblemError> {
    if reader.is_number("restitution") {
        Ok(reader.number("restitution")?.map(Restitution::Uniform))
    } else {
        Ok(reader.numbers("restitution")?.map(Restitution::PerContact))
    }
}

pub(super) fn impact_law(reader: &Reader<'_>) -> Result<ImpactLaw, ProblemError> {
    let restitution = restitution(reader)?;
    // A coefficient without a law means Newton's: the reflections know none.
    let named = ["reflection", "published", "sequential", "newton", "lcp"].map(|word| (word, word));
    let default = if restitution.is_some() { "newton" } else { "reflection" };
    let word = reader.choice("law", &named)?.unwrap_or(default);
    if restitution.is_some() && matches!(word, "reflection" | "published") {
        let message =
            "this law knows no restitution: use `law = \"newton\"`, `\"sequential\"` or `\"lcp\"`";
        return Err(reader.place_of("restitution").error(message));
    }
    let restitution = restitution.unwrap_or(Restitution::ELASTIC);
    Ok(match word {
        "published" => ImpactLaw::Published,
        "sequential" => ImpactLaw::Sequential(restitution),
        "newton" => ImpactLaw::Newton(restitution),
        "lcp" => ImpactLaw::Lcp(restitution),
        _ => ImpactLaw::Reflection,
    })
}

pub(super) fn tolerances(reader: &Reader<'_>) -> Result<Tolerances, ProblemError> {
    let mut tolerances = Tolerances::default();
    tolerances.newton = reader.positive("tolerance")?.unwrap_or(tolerances.newton);
    tolerances.contact.gap = reader.positive("gap_tolerance")?.unwrap_or(tolerances.contact.gap);
    tolerances.contact.velocity =
        reader.positive("velocity_tolerance")?.unwrap_or(tolerances.contact.velocity);
    Ok(tolerances)
}
