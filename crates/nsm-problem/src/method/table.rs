//! The table of methods: one row each, from which everything that is said about methods is made.

use std::fmt::Write;
use std::sync::Arc;

use nsm_alpha::{EventDriven, Index, MoreauJean, Nsga, Variant};
use nsm_vi::rigid::{EventTime, Jump, Lgvci, Retraction, Updates};
use nsm_vi::{
    ConstraintAt, ContactForce, DiscreteSmooth, Energy, EventHandling, Gvi, Hybrid, NullSpace,
    Quadrature, Restitution, Svci, Variational,
};

use super::Made;
use super::options::{
    alpha, coefficients, conserving, direct, impact_law, newmark, newton, quadrature, restitution,
    tolerances,
};
use crate::ProblemError;
use crate::contact::read_friction;
use crate::reader::Reader;

/// What is known of a method: its capabilities, in words where there are degrees of them.
#[derive(Debug)]
pub struct Facts {
    /// Its name in files.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it holds inequalities (contacts), if it does.
    pub inequalities: Option<&'static str>,
    /// Whether it holds friction at contacts.
    pub friction: bool,
    /// How it holds equalities (joints), if it does.
    pub equalities: Option<&'static str>,
    /// How it treats constraints that switch, if it does.
    pub modes: Option<&'static str>,
    /// Whether it moves rigid bodies over planes, on SE(3), instead of coordinates.
    pub bodies: bool,
    /// Whether it goes on from a state alone, so that near pairs of many bodies may be listed anew on the way.
    pub crowds: bool,
    /// Order of convergence where the motion is smooth.
    pub order: u32,
    /// What becomes of the energy.
    pub energy: &'static str,
    /// What becomes of momenta that a symmetry protects.
    pub momenta: &'static str,
    /// Reads its options from a `[[run]]` with this step.
    pub(super) read: fn(&Reader<'_>, f64) -> Result<Made, ProblemError>,
}

/// All methods, those that are recommended first.
pub const METHODS: &[Facts] = &[
    Facts {
        name: "svci",
        about: "variational steps with impacts at their instants, losses, landing and rest",
        inequalities: Some("impacts at their instants, losses, rest"),
        friction: true,
        equalities: Some("exact on position and velocity"),
        modes: None,
        bodies: false,
        crowds: true,
        order: 2,
        energy: "bounded band, never gained at contact",
        momenta: "exact",
        read: svci,
    },
    Facts {
        name: "gvi",
        about: "variational steps with impacts and resting contacts",
        inequalities: Some("impacts and resting contacts"),
        friction: false,
        equalities: Some("exact on position and velocity"),
        modes: None,
        bodies: false,
        crowds: true,
        order: 2,
        energy: "bounded band, exact at each impact",
        momenta: "exact",
        read: gvi,
    },
    Facts {
        name: "hybrid",
        about: "steps to the instant of an impact, reflects, goes on",
        inequalities: Some("impacts at their instants"),
        friction: false,
        equalities: Some("exact"),
        modes: None,
        bodies: false,
        crowds: true,
        order: 2,
        energy: "exact at each impact, wanders between",
        momenta: "exact",
        read: hybrid,
    },
    Facts {
        name: "vi",
        about: "variational steps, equalities by multipliers",
        inequalities: None,
        friction: false,
        equalities: Some("exact on position and velocity"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "bounded band",
        momenta: "exact",
        read: vi,
    },
    Facts {
        name: "null-space-reparametrised",
        about: "variational steps in the freedoms of the joints",
        inequalities: None,
        friction: false,
        equalities: Some("exact, fewest unknowns"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "bounded band",
        momenta: "exact",
        read: null_space_reparametrised,
    },
    Facts {
        name: "null-space",
        about: "variational steps without multipliers",
        inequalities: None,
        friction: false,
        equalities: Some("exact, with few unknowns"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "bounded band",
        momenta: "exact",
        read: null_space,
    },
    Facts {
        name: "energy-momentum",
        about: "the same step, under the name it has for quadratic constraints",
        inequalities: None,
        friction: false,
        equalities: Some("exact on position"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "exact",
        momenta: "exact for quadratic constraints",
        read: conserving,
    },
    Facts {
        name: "conserving",
        about: "conserves energy on general constraints",
        inequalities: None,
        friction: false,
        equalities: Some("exact on position"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "exact",
        momenta: "exact for quadratic constraints",
        read: conserving,
    },
    Facts {
        name: "nsga",
        about: "nonsmooth generalized-α: impacts and switches within the step",
        inequalities: Some("captured"),
        friction: true,
        equalities: Some("exact on position and velocity"),
        modes: Some("captured, impact law"),
        bodies: false,
        crowds: false,
        order: 2,
        energy: "numerical damping by `rho`",
        momenta: "–",
        read: nsga,
    },
    Facts {
        name: "alpha-event",
        about: "generalized-α that stops at impacts and switches",
        inequalities: Some("impacts at their instants"),
        friction: false,
        equalities: Some("exact on position"),
        modes: Some("located, impact law"),
        bodies: false,
        crowds: false,
        order: 2,
        energy: "numerical damping by `rho`",
        momenta: "–",
        read: alpha_event,
    },
    Facts {
        name: "alpha-index3",
        about: "generalized-α, constraints on position",
        inequalities: None,
        friction: false,
        equalities: Some("exact on position"),
        modes: Some("without impacts"),
        bodies: false,
        crowds: false,
        order: 2,
        energy: "numerical damping by `rho`",
        momenta: "–",
        read: |r, h| alpha(r, h, Index::Three),
    },
    Facts {
        name: "alpha-index2",
        about: "generalized-α, constraints on velocity",
        inequalities: None,
        friction: false,
        equalities: Some("exact on velocity"),
        modes: Some("without impacts"),
        bodies: false,
        crowds: false,
        order: 2,
        energy: "numerical damping by `rho`",
        momenta: "–",
        read: |r, h| alpha(r, h, Index::Two),
    },
    Facts {
        name: "alpha-index1",
        about: "generalized-α, constraints on acceleration",
        inequalities: None,
        friction: false,
        equalities: Some("exact on acceleration"),
        modes: Some("without impacts"),
        bodies: false,
        crowds: false,
        order: 2,
        energy: "numerical damping by `rho`",
        momenta: "–",
        read: |r, h| alpha(r, h, Index::One),
    },
    Facts {
        name: "moreau-jean",
        about: "the time-stepping scheme of Moreau and Jean",
        inequalities: Some("captured"),
        friction: true,
        equalities: Some("on velocity"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 1,
        energy: "decays with the step",
        momenta: "–",
        read: moreau_jean,
    },
    Facts {
        name: "dsi",
        about: "variational steps whose contacts press but never strike",
        inequalities: Some("resting contacts only"),
        friction: false,
        equalities: None,
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "bounded band",
        momenta: "exact",
        read: dsi,
    },
    Facts {
        name: "direct-endpoint",
        about: "implicit midpoint, gaps closed at the end of the step",
        inequalities: Some("as forces"),
        friction: false,
        equalities: Some("exact"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "lost at contact",
        momenta: "lost at contact",
        read: |r, h| direct(r, h, ConstraintAt::Endpoint),
    },
    Facts {
        name: "direct-midpoint",
        about: "implicit midpoint, gaps closed in the middle of the step",
        inequalities: Some("as forces"),
        friction: false,
        equalities: Some("exact"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "gained and lost at contact",
        momenta: "lost at contact",
        read: |r, h| direct(r, h, ConstraintAt::Midpoint),
    },
    Facts {
        name: "newmark",
        about: "Newmark, contact forces at both ends of the step",
        inequalities: Some("as forces"),
        friction: false,
        equalities: Some("exact"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "lost or gained at contact",
        momenta: "lost at contact",
        read: |r, h| newmark(r, h, ContactForce::Consistent, 0.25),
    },
    Facts {
        name: "imex-newmark",
        about: "Newmark, contact forces implicit",
        inequalities: Some("as forces"),
        friction: false,
        equalities: Some("exact"),
        modes: None,
        bodies: false,
        crowds: false,
        order: 2,
        energy: "lost or gained at contact",
        momenta: "lost at contact",
        read: |r, h| newmark(r, h, ContactForce::Implicit, 0.0),
    },
    Facts {
        name: "lgvci",
        about: "Lie group variational collision integrator for rigid bodies",
        inequalities: Some("bodies against bodies and planes"),
        friction: true,
        equalities: None,
        modes: None,
        bodies: true,
        crowds: false,
        order: 2,
        energy: "exact at each impact",
        momenta: "exact",
        read: lgvci,
    },
];

fn svci(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let words = [("midpoint", Quadrature::Midpoint), ("verlet", Quadrature::Verlet)];
    let quadrature = r.choice("quadrature", &words)?.unwrap_or(Quadrature::Verlet);
    let mut svci = Svci::new(h, quadrature);
    svci.restitution = restitution(r)?.unwrap_or(Restitution::ELASTIC);
    (svci.friction, svci.tangential_restitution) = read_friction(r)?;
    svci.landing = r.number("landing")?.unwrap_or(svci.landing);
    svci.elastic_landing = r.number("elastic_landing")?.unwrap_or(svci.elastic_landing);
    svci.tolerances = tolerances(r)?;
    Ok(Arc::new(svci))
}

fn gvi(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut gvi = Gvi::new(h, quadrature(r)?);
    let energies = [("h", Energy::Hamiltonian), ("h2", Energy::SecondOrder)];
    gvi.energy = r.choice("energy", &energies)?.unwrap_or(gvi.energy);
    gvi.law = impact_law(r)?;
    gvi.linearised = r.flag("linearised")?.unwrap_or(false);
    gvi.repredict = r.flag("repredict")?.unwrap_or(false);
    gvi.tolerances = tolerances(r)?;
    Ok(Arc::new(gvi))
}

fn hybrid(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut hybrid = Hybrid::new(h, quadrature(r)?);
    let energies = [("h", Energy::Hamiltonian), ("h2", Energy::SecondOrder)];
    hybrid.energy = r.choice("energy", &energies)?.unwrap_or(hybrid.energy);
    let variants = [("robust", EventHandling::All), ("fragile", EventHandling::OneUnchecked)];
    hybrid.handling = r.choice("variant", &variants)?.unwrap_or(hybrid.handling);
    hybrid.law = impact_law(r)?;
    hybrid.tolerances = tolerances(r)?;
    Ok(Arc::new(hybrid))
}

fn vi(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut vi = Variational::new(h, quadrature(r)?);
    vi.tolerances = tolerances(r)?;
    Ok(Arc::new(vi))
}

fn null_space_reparametrised(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut method = NullSpace::reparametrised(h, quadrature(r)?);
    method.tolerances = tolerances(r)?;
    Ok(Arc::new(method))
}

fn null_space(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut method = NullSpace::new(h, quadrature(r)?);
    method.tolerances = tolerances(r)?;
    Ok(Arc::new(method))
}

fn nsga(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut method = Nsga::new(h, 1.0).map_err(|e| r.place().system(&e))?;
    method.coefficients = coefficients(r, Index::Two)?;
    let variants = [("published", Variant::Published), ("active", Variant::Active)];
    method.variant = r.choice("variant", &variants)?.unwrap_or_default();
    method.interpolation = r.number("interpolation")?.unwrap_or(method.interpolation);
    method.restitution = restitution(r)?.unwrap_or(method.restitution);
    (method.friction, method.tangential_restitution) = read_friction(r)?;
    method.newton = newton(r)?;
    Ok(Arc::new(method))
}

fn alpha_event(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut method = EventDriven::new(h, 1.0).map_err(|e| r.place().system(&e))?;
    method.coefficients = coefficients(r, Index::Three)?;
    method.interpolation = r.number("interpolation")?.unwrap_or(method.interpolation);
    method.restitution = restitution(r)?.unwrap_or(method.restitution);
    method.newton = newton(r)?;
    Ok(Arc::new(method))
}

fn moreau_jean(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut method = MoreauJean::new(h, restitution(r)?.unwrap_or(Restitution::ELASTIC));
    (method.friction, method.tangential_restitution) = read_friction(r)?;
    method.theta = r.number("theta")?.unwrap_or(method.theta);
    method.newton = newton(r)?;
    Ok(Arc::new(method))
}

fn dsi(r: &Reader<'_>, h: f64) -> Result<Made, ProblemError> {
    let mut dsi = DiscreteSmooth::new(h, quadrature(r)?);
    dsi.tolerances = tolerances(r)?;
    Ok(Arc::new(dsi))
}

fn lgvci(r: &Reader<'_>, _: f64) -> Result<Made, ProblemError> {
    let variants = [("default", Lgvci::default()), ("paper", Lgvci::paper())];
    let mut lgvci = r.choice("variant", &variants)?.unwrap_or_default();
    let retractions = [("exp", Retraction::Exponential), ("cayley", Retraction::Cayley)];
    lgvci.flow.retraction = r.choice("retraction", &retractions)?.unwrap_or(lgvci.flow.retraction);
    let updates = [("increments", Updates::Increments), ("printed", Updates::Literal)];
    lgvci.flow.updates = r.choice("updates", &updates)?.unwrap_or(lgvci.flow.updates);
    let iterations = [("polished", true), ("plain", false)];
    if let Some(polished) = r.choice("newton", &iterations)? {
        lgvci.flow.newton.polish = polished;
        lgvci.flow.newton.economical = polished;
    }
    let jumps = [("conserving", Jump::Conserving), ("targeting", Jump::Targeting)];
    lgvci.jump = r.choice("energy", &jumps)?.unwrap_or(lgvci.jump);
    if let Some(e) = r.number("restitution")? {
        (lgvci.restitution, lgvci.overrides) = (e, true);
    }
    let times = [("located", EventTime::Located), ("early", EventTime::Early)];
    lgvci.events = r.choice("events", &times)?.unwrap_or(lgvci.events);
    lgvci.flow.newton.tolerance = r.positive("tolerance")?.unwrap_or(lgvci.flow.newton.tolerance);
    Ok(Arc::new(lgvci))
}

/// The table as Markdown, as it stands in `docs/methods.md`.
pub fn markdown() -> String {
    let mut text = String::from(
        "| method | contacts (`inequality`) | friction | equalities | switching modes | order | energy | momenta |\n|---|---|---|---|---|---|---|---|\n",
    );
    for m in METHODS {
        let friction = if m.friction { "yes" } else { "–" };
        let [contacts, equalities, modes] =
            [m.inequalities, m.equalities, m.modes].map(|held| held.unwrap_or("–"));
        let _ = writeln!(
            text,
            "| `{}` | {contacts} | {friction} | {equalities} | {modes} | {} | {} | {} |",
            m.name, m.order, m.energy, m.momenta
        );
    }
    text
}
