//! `method = "…"`: the integrators by name, with their options.

use std::error::Error;

use nsm_alpha::{
    ClassicalAlpha, Coefficients, EventDriven, Index, MoreauJean, NewtonOptions, Nsga, Variant,
};
use nsm_constraints::multibody::Mechanism;
use nsm_model::{State, Stepper, System, SystemError};
use nsm_vi::rigid::{Jump, Lgvci, LgvciStepper, Retraction, RigidState, RigidWorld, Updates};
use nsm_vi::{
    Conserving, ConstraintAt, ConstraintSolver, ContactForce, Direct, DiscreteSmooth, Energy,
    EventHandling, Gvi, Hybrid, ImpactLaw, Newmark, NullSpace, Projection, ProjectionMatrix,
    Quadrature, Restitution, Strength, Tolerances, Unknowns, Variational,
};

use super::ProblemError;
use super::reader::Reader;

/// A method with its options, ready to be bound to a system in coordinates.
#[derive(Clone, Debug)]
pub enum Method {
    /// Variational integrator without contacts; equalities by multipliers.
    Variational(Variational),
    /// Discrete-smooth integrator.
    DiscreteSmooth(DiscreteSmooth),
    /// Generalized variational integrator.
    Gvi(Gvi),
    /// Direct methods.
    Direct(Direct),
    /// Newmark and IMEX Newmark.
    Newmark(Newmark),
    /// Hybrid: event root, reflection, rest of the step.
    Hybrid(Hybrid),
    /// Variational integrator on the null space of the equalities.
    NullSpace(NullSpace),
    /// Energy-conserving steps with equalities.
    Conserving(Conserving),
    /// Generalized-α at index 3, 2 or 1.
    Alpha(ClassicalAlpha),
    /// Event-driven generalized-α.
    EventDriven(EventDriven),
    /// Nonsmooth generalized-α.
    Nsga(Nsga),
    /// The Moreau–Jean θ-scheme.
    MoreauJean(MoreauJean),
    /// Lie group variational collision integrator, for rigid bodies.
    Lgvci(Lgvci),
}

/// Methods that hold inequalities.
const HOLD_INEQUALITIES: [&str; 10] = [
    "gvi",
    "dsi",
    "direct-endpoint",
    "direct-midpoint",
    "newmark",
    "imex-newmark",
    "hybrid",
    "alpha-event",
    "nsga",
    "moreau-jean",
];

/// What a method's options are read with.
type ReadOptions = fn(&Reader<'_>, f64) -> Result<Method, ProblemError>;

/// Name, what it is, how its options are read.
const METHODS: [(&str, ReadOptions); 19] = [
    ("gvi", |r, h| {
        let mut gvi = Gvi::new(h, quadrature(r)?);
        let energies = [("h", Energy::Hamiltonian), ("h2", Energy::SecondOrder)];
        gvi.energy = r.choice("energy", &energies)?.unwrap_or(gvi.energy);
        gvi.law = impact_law(r)?;
        gvi.linearised = r.flag("linearised")?.unwrap_or(false);
        gvi.repredict = r.flag("repredict")?.unwrap_or(false);
        gvi.tolerances = tolerances(r)?;
        Ok(Method::Gvi(gvi))
    }),
    ("dsi", |r, h| {
        let mut dsi = DiscreteSmooth::new(h, quadrature(r)?);
        dsi.tolerances = tolerances(r)?;
        Ok(Method::DiscreteSmooth(dsi))
    }),
    ("vi", |r, h| {
        let mut vi = Variational::new(h, quadrature(r)?);
        vi.tolerances = tolerances(r)?;
        Ok(Method::Variational(vi))
    }),
    ("direct-endpoint", |r, h| direct(r, h, ConstraintAt::Endpoint)),
    ("direct-midpoint", |r, h| direct(r, h, ConstraintAt::Midpoint)),
    ("newmark", |r, h| newmark(r, h, ContactForce::Consistent, 0.25)),
    ("imex-newmark", |r, h| newmark(r, h, ContactForce::Implicit, 0.0)),
    ("hybrid", |r, h| {
        let mut hybrid = Hybrid::new(h, quadrature(r)?);
        let energies = [("h", Energy::Hamiltonian), ("h2", Energy::SecondOrder)];
        hybrid.energy = r.choice("energy", &energies)?.unwrap_or(hybrid.energy);
        let variants = [("robust", EventHandling::All), ("fragile", EventHandling::OneUnchecked)];
        hybrid.handling = r.choice("variant", &variants)?.unwrap_or(hybrid.handling);
        hybrid.law = impact_law(r)?;
        hybrid.tolerances = tolerances(r)?;
        Ok(Method::Hybrid(hybrid))
    }),
    ("null-space", |r, h| {
        let mut method = NullSpace::new(h, quadrature(r)?);
        method.tolerances = tolerances(r)?;
        Ok(Method::NullSpace(method))
    }),
    ("null-space-reparametrised", |r, h| {
        let mut method = NullSpace::reparametrised(h, quadrature(r)?);
        method.tolerances = tolerances(r)?;
        Ok(Method::NullSpace(method))
    }),
    ("conserving", conserving),
    ("energy-momentum", conserving),
    ("alpha-index3", |r, h| alpha(r, h, Index::Three)),
    ("alpha-index2", |r, h| alpha(r, h, Index::Two)),
    ("alpha-index1", |r, h| alpha(r, h, Index::One)),
    ("alpha-event", |r, h| {
        let mut method = EventDriven::new(h, 1.0).map_err(|e| r.place().system(&e))?;
        method.coefficients = coefficients(r)?;
        method.interpolation = r.number("interpolation")?.unwrap_or(method.interpolation);
        method.restitution = restitution(r)?.unwrap_or(Restitution::ELASTIC);
        method.newton = newton(r)?;
        Ok(Method::EventDriven(method))
    }),
    ("nsga", |r, h| {
        let mut method = Nsga::new(h, 1.0).map_err(|e| r.place().system(&e))?;
        method.coefficients = coefficients(r)?;
        let variants = [("published", Variant::Published), ("active", Variant::Active)];
        method.variant = r.choice("variant", &variants)?.unwrap_or_default();
        method.interpolation = r.number("interpolation")?.unwrap_or(method.interpolation);
        method.restitution = restitution(r)?.unwrap_or(Restitution::ELASTIC);
        method.newton = newton(r)?;
        Ok(Method::Nsga(method))
    }),
    ("moreau-jean", |r, h| {
        let mut method = MoreauJean::new(h, restitution(r)?.unwrap_or(Restitution::ELASTIC));
        method.theta = r.number("theta")?.unwrap_or(method.theta);
        method.newton = newton(r)?;
        Ok(Method::MoreauJean(method))
    }),
    ("lgvci", |r, _| {
        let variants = [("default", Lgvci::default()), ("paper", Lgvci::paper())];
        let mut lgvci = r.choice("variant", &variants)?.unwrap_or_default();
        let retractions = [("exp", Retraction::Exponential), ("cayley", Retraction::Cayley)];
        lgvci.flow.retraction =
            r.choice("retraction", &retractions)?.unwrap_or(lgvci.flow.retraction);
        let updates = [("increments", Updates::Increments), ("printed", Updates::Literal)];
        lgvci.flow.updates = r.choice("updates", &updates)?.unwrap_or(lgvci.flow.updates);
        let iterations = [("polished", true), ("plain", false)];
        if let Some(polished) = r.choice("newton", &iterations)? {
            lgvci.flow.newton.polish = polished;
            lgvci.flow.newton.economical = polished;
        }
        let jumps = [("conserving", Jump::Conserving), ("targeting", Jump::Targeting)];
        lgvci.jump = r.choice("energy", &jumps)?.unwrap_or(lgvci.jump);
        lgvci.restitution = r.number("restitution")?.unwrap_or(lgvci.restitution);
        lgvci.flow.newton.tolerance =
            r.positive("tolerance")?.unwrap_or(lgvci.flow.newton.tolerance);
        Ok(Method::Lgvci(lgvci))
    }),
];

impl Method {
    /// Reads `method` and the options that belong to it; all else is an unknown key.
    pub(crate) fn read(
        reader: &Reader<'_>,
        step: f64,
    ) -> Result<(&'static str, Self), ProblemError> {
        let words = METHODS.map(|(name, read)| (name, (name, read)));
        let known = words.map(|(name, _)| name).join(", ");
        let chosen = reader.choice("method", &words)?;
        let (name, read) = reader.require("method", chosen, &format!("one of {known}"))?;
        Ok((name, read(reader, step)?))
    }

    /// Whether there is a method of this name.
    pub fn exists(name: &str) -> bool {
        METHODS.iter().any(|(known, _)| *known == name)
    }

    /// Binds the method to a system, and to the kinematics of its mechanism if it is one.
    ///
    /// # Errors
    /// If it does not fit; the message says which methods do.
    pub fn stepper<'a>(
        &self,
        system: &'a System,
        start: &State,
        mechanism: Option<&Mechanism>,
    ) -> Result<Box<dyn Stepper<State = State> + 'a>, Box<dyn Error + Send + Sync>> {
        let blind = matches!(self, Self::Variational(_) | Self::NullSpace(_) | Self::Conserving(_));
        if let Some(gap) = system.inequalities().names().first().filter(|_| blind) {
            let why = format!(
                "it would pass through the inequality `{gap}`; methods that hold inequalities are {}",
                HOLD_INEQUALITIES.join(", ")
            );
            return Err(SystemError::DoesNotFit { method: "this method", why }.into());
        }
        Ok(match self {
            Self::Variational(m) => Box::new(m.stepper(system)?),
            Self::DiscreteSmooth(m) => Box::new(m.stepper(system)?),
            Self::Gvi(m) => Box::new(m.stepper(system)?),
            Self::Direct(m) => Box::new(m.stepper(system)?),
            Self::Newmark(m) => Box::new(m.stepper(system)?),
            Self::Hybrid(m) => Box::new(m.stepper(system)?),
            Self::NullSpace(m) => match mechanism {
                Some(mechanism) if m.unknowns == Unknowns::Increment => {
                    in_joint_freedoms(m, system, mechanism)?
                }
                _ => Box::new(m.stepper(system)?),
            },
            Self::Conserving(m) => Box::new(m.stepper(system)?),
            Self::Alpha(m) => Box::new(m.stepper(system, start)?),
            Self::EventDriven(m) => Box::new(m.stepper(system, start)?),
            Self::Nsga(m) => Box::new(m.stepper(system, start)?),
            Self::MoreauJean(m) => Box::new(m.stepper(system, start)?),
            Self::Lgvci(_) => {
                let moved = if mechanism.is_some() {
                    "bodies without joints; methods for joints"
                } else {
                    "rigid bodies (`[[body]]`); methods for `[system]`"
                };
                let why = format!("it moves {moved} are {}", names(false));
                return Err(SystemError::DoesNotFit { method: "lgvci", why }.into());
            }
        })
    }

    /// Binds the method to rigid bodies.
    ///
    /// # Errors
    /// In words: a method for systems in coordinates, or a start that does not fit the world.
    pub fn rigid_stepper<'a>(
        &self,
        world: &'a RigidWorld,
        start: &RigidState,
        step: f64,
    ) -> Result<LgvciStepper<'a>, String> {
        match self {
            Self::Lgvci(m) => m.stepper(world, start, step).map_err(|e| e.to_string()),
            _ => Err(format!(
                "this method knows no rigid bodies over planes; for them there is {}",
                names(true)
            )),
        }
    }
}

/// Steps in the freedoms of the joints: those of the tree, or with loops closed.
fn in_joint_freedoms<'a>(
    method: &NullSpace,
    system: &'a System,
    mechanism: &Mechanism,
) -> Result<Box<dyn Stepper<State = State> + 'a>, Box<dyn Error + Send + Sync>> {
    let tree = mechanism.tree();
    Ok(if tree.closing().is_empty() {
        Box::new(method.stepper_with(system, tree)?)
    } else {
        Box::new(method.stepper_with(system, mechanism.closure()?)?)
    })
}

/// Names of the methods for rigid bodies, or for systems in coordinates.
fn names(rigid: bool) -> String {
    let fits = |name: &&str| (*name == "lgvci") == rigid;
    METHODS.iter().map(|(name, _)| *name).filter(fits).collect::<Vec<_>>().join(", ")
}

fn quadrature(reader: &Reader<'_>) -> Result<Quadrature, ProblemError> {
    let words = [("midpoint", Quadrature::Midpoint), ("verlet", Quadrature::Verlet)];
    Ok(reader.choice("quadrature", &words)?.unwrap_or(Quadrature::Midpoint))
}

fn direct(reader: &Reader<'_>, h: f64, at: ConstraintAt) -> Result<Method, ProblemError> {
    // The direct methods are built on implicit midpoint; saying so is allowed.
    reader.choice("quadrature", &[("midpoint", ())])?;
    let mut direct = Direct::new(h, at);
    direct.tolerances = tolerances(reader)?;
    Ok(Method::Direct(direct))
}

fn newmark(
    reader: &Reader<'_>,
    h: f64,
    contact: ContactForce,
    beta: f64,
) -> Result<Method, ProblemError> {
    let beta = reader.number("beta")?.unwrap_or(beta);
    let gamma = reader.number("gamma")?.unwrap_or(0.5);
    let mut newmark = Newmark::imex(h, beta, gamma);
    newmark.contact = contact;
    newmark.tolerances = tolerances(reader)?;
    Ok(Method::Newmark(newmark))
}

/// For quadratic constraints the conserving step is the energy-momentum scheme: one method, two names.
fn conserving(reader: &Reader<'_>, h: f64) -> Result<Method, ProblemError> {
    let mut conserving = Conserving::new(h);
    let solvers = [
        ("simultaneous", ConstraintSolver::Simultaneous),
        ("augmented", ConstraintSolver::augmented()),
    ];
    conserving.solver = reader.choice("solver", &solvers)?.unwrap_or(conserving.solver);
    conserving.tolerances = tolerances(reader)?;
    Ok(Method::Conserving(conserving))
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

fn alpha(reader: &Reader<'_>, h: f64, index: Index) -> Result<Method, ProblemError> {
    let mut alpha = ClassicalAlpha::new(h, index, 1.0).map_err(|e| reader.place().system(&e))?;
    alpha.coefficients = coefficients(reader)?;
    if index == Index::Two {
        alpha.interpolation = reader.number("interpolation")?;
    }
    alpha.newton = newton(reader)?;
    Ok(Method::Alpha(alpha))
}

/// The spectral radius `rho` (0.98 if absent), or `"implicit"` for the fully implicit coefficients.
fn coefficients(reader: &Reader<'_>) -> Result<Coefficients, ProblemError> {
    if reader.is_text("rho") {
        let implicit = reader.choice("rho", &[("implicit", Coefficients::fully_implicit())])?;
        return reader.require("rho", implicit, "a number between 0 and 1");
    }
    let rho = reader.number("rho")?.unwrap_or(0.98);
    Coefficients::from_spectral_radius(rho).map_err(|e| reader.place_of("rho").system(&e))
}

fn newton(reader: &Reader<'_>) -> Result<NewtonOptions, ProblemError> {
    let default = NewtonOptions::default();
    Ok(NewtonOptions {
        tolerance: reader.positive("tolerance")?.unwrap_or(default.tolerance),
        iterations: reader.count("iterations")?.unwrap_or(default.iterations),
    })
}

/// One coefficient for all contacts, or a list with one for each inequality.
fn restitution(reader: &Reader<'_>) -> Result<Option<Restitution>, ProblemError> {
    if reader.is_number("restitution") {
        Ok(reader.number("restitution")?.map(Restitution::Uniform))
    } else {
        Ok(reader.numbers("restitution")?.map(Restitution::PerContact))
    }
}

fn impact_law(reader: &Reader<'_>) -> Result<ImpactLaw, ProblemError> {
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

fn tolerances(reader: &Reader<'_>) -> Result<Tolerances, ProblemError> {
    let mut tolerances = Tolerances::default();
    tolerances.newton = reader.positive("tolerance")?.unwrap_or(tolerances.newton);
    tolerances.contact.gap = reader.positive("gap_tolerance")?.unwrap_or(tolerances.contact.gap);
    tolerances.contact.velocity =
        reader.positive("velocity_tolerance")?.unwrap_or(tolerances.contact.velocity);
    Ok(tolerances)
}
