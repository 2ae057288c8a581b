//! Friction problems: contacts with Coulomb's law and its exact cone.
//!
//! Given $W$, $q$ and coefficients $\mu_i$, find impulses $r$ and velocities $u = Wr + q$, three entries a contact (normal first), with
//! $$ K_\mu \ni r_i \perp \hat u_i \in K_\mu^*, \qquad \hat u = u + \mu |u_T|\\,n, \qquad K_\mu = \lbrace |r_T| \le \mu r_N \rbrace $$
//! (De Saxcé's form): no penetration, no pull, and slip against the tangential impulse, which is then as large as it may be.
//!
//! | method | good for |
//! |---|---|
//! | [`solve_contact`] | one contact: closed form |
//! | [`FrictionMethod::GaussSeidel`] | few contacts, warm starts |
//! | [`FrictionMethod::Newton`] | the last digits, from near by |
//! | [`FrictionMethod::InteriorPoint`] | hard and redundant problems; some eight digits |
//! | [`FrictionMethod::Admm`] | the rest |
//! | [`FrictionMethod::Proximal`] | redundant contacts of boxes and towers |
//!
//! [`solve`] goes through them in turn until one has solved the problem, and measures every answer with the scale-free residual
//! $\max_i w_i |r_i - P_K(r_i - \hat u_i/w_i)| / \max_i |q_i|$, $w_i = \operatorname{tr} W_{ii}/3$. Answers lie in the cones exactly, and
//! never add energy: $\Delta E = r \cdot q + \tfrac12 r \cdot W r$ is at most zero, up to rounding.
//!
//! A solution need not be unique, or exist at all, for large $\mu$ (Painlevé); among several the one reached is returned.

mod admm;
mod blocks;
mod bodies;
mod cone;
mod contact;
mod delassus;
mod elimination;
mod gauss_seidel;
mod interior;
mod newton;
mod problem;
mod solver;
mod work;

pub use contact::solve_contact;
pub use delassus::{BodyRows, Delassus, Exchange, Exchanged};
pub use problem::FrictionProblem;
pub use solver::FrictionSolver;

use work::Work;

/// A method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionMethod {
    /// Block Gauss–Seidel.
    GaussSeidel,
    /// Semismooth Newton on the equations of Alart and Curnier.
    Newton,
    /// Interior point with the term of De Saxcé linearised.
    InteriorPoint,
    /// Alternating directions.
    Admm,
    /// Newton on problems made regular by a term that follows the iterate.
    Proximal,
}

/// What is asked of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionOptions {
    /// Residual at which a problem counts as solved.
    pub tolerance: f64,
    /// Residual at which the slower methods, those after Gauss–Seidel and Newton, are not tried any more.
    pub enough: f64,
    /// Residual with which a quick method that no longer helps is left.
    pub quick: f64,
    /// Residual up to which an answer is returned, with its residual, instead of an error.
    pub acceptable: f64,
    /// Whether to go on to the slow methods: proximal rounds and many alternating directions.
    pub patient: bool,
}

impl Default for FrictionOptions {
    fn default() -> Self {
        Self { tolerance: 1e-11, enough: 1e-11, quick: 3e-8, acceptable: 1e-6, patient: true }
    }
}

/// How a problem was solved.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct FrictionReport {
    /// The scale-free residual of the answer.
    pub residual: f64,
    /// The method that reached it.
    pub stage: FrictionMethod,
    /// Iterations in all stages.
    pub iterations: usize,
    /// $r \cdot q + \tfrac12 r \cdot Wr$: the energy that the impulses add, if $q$ are the velocities before. Not positive.
    pub energy_change: f64,
    /// Factor by which the answer was shortened so that it adds no energy; one where it was not.
    pub shortened: f64,
}

/// A friction problem that was not solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FrictionError {
    /// Slices that do not fit together.
    #[error("{what} has length {length}, expected {expected}")]
    Length {
        /// Which.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The right one.
        expected: usize,
    },
    /// NaN or infinity.
    #[error("{what} of contact {contact} is not finite")]
    NotFinite {
        /// Of what.
        what: &'static str,
        /// The contact.
        contact: usize,
    },
    /// A coefficient of friction that is negative or not finite.
    #[error("the friction of contact {contact} is {value}: it must be finite and not negative")]
    Coefficient {
        /// The contact.
        contact: usize,
        /// The coefficient.
        value: f64,
    },
    /// A contact that no impulse moves.
    #[error("contact {contact} cannot be moved along its normal: its diagonal entry is {value}")]
    NoInertia {
        /// The contact.
        contact: usize,
        /// The diagonal entry.
        value: f64,
    },
    /// No method has solved it; the best impulses are in the caller's vector.
    #[error(
        "no method solved the friction problem: the best residual is {residual:.3e}, at contact {contact}"
    )]
    NotSolved {
        /// Residual of the best answer.
        residual: f64,
        /// The contact that has it.
        contact: usize,
    },
}

impl FrictionError {
    /// The contact that is to blame, and the residual there (not a number where nothing was solved).
    pub fn culprit(&self) -> (usize, f64) {
        match *self {
            Self::NotSolved { contact, residual } => (contact, residual),
            Self::NotFinite { contact, .. }
            | Self::Coefficient { contact, .. }
            | Self::NoInertia { contact, .. } => (contact, f64::NAN),
            Self::Length { .. } => (0, f64::NAN),
        }
    }
}

/// Solves a friction problem from the impulses in `r` (a warm start, or zero), through the methods in turn.
///
/// # Errors
/// [`FrictionError::NotSolved`] with the best impulses left in `r`.
pub fn solve(
    problem: &FrictionProblem,
    r: &mut [f64],
    options: &FrictionOptions,
) -> Result<FrictionReport, FrictionError> {
    FrictionSolver::default().solve(problem, r, options)
}

/// Solves a friction problem by one method alone, with at most `iterations`.
///
/// # Errors
/// As for [`solve`].
pub fn solve_by(
    method: FrictionMethod,
    problem: &FrictionProblem,
    r: &mut [f64],
    options: &FrictionOptions,
    iterations: usize,
) -> Result<FrictionReport, FrictionError> {
    FrictionSolver::default().run(problem, r, options, &[(method, iterations)])
}

/// Weights of the proximal term in turn: once coarsely, then again in smaller steps from where that led.
const PROXIMAL: [f64; 14] =
    [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-4, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8];

/// Newton on $W + \alpha I$, $q - \alpha r_k$ in rounds: the same solutions, but a regular matrix.
///
/// Redundant contacts whose data agree to eight digits only have a solution far away along the null space of $W$, if they have one: a round goes
/// that way by the misfit over $\alpha$, so $\alpha$ is lowered whenever rounds no longer help.
fn proximal(problem: &FrictionProblem, work: &mut Work, tolerance: f64, rounds: usize) -> usize {
    let m = work.r.len();
    let mut memory = newton::Memory::default();
    let mut inside = interior::Memory::default();
    let mut iterations = 0;
    let mut shifted = FrictionProblem::default();
    for alpha in PROXIMAL {
        shifted.soften(problem, alpha);
        let mut last = f64::INFINITY;
        for _ in 0..rounds {
            for k in 0..m {
                shifted.q[k] = problem.q[k] - alpha * work.r[k];
            }
            let (mut inner, aim) = (Work::new(work.r.clone()), 0.1 * tolerance);
            iterations += newton::iterate(&shifted, &mut inner, &mut memory, (aim, aim), 25);
            if inner.residual > aim {
                inner.return_to_best();
                iterations += gauss_seidel::sweep(&shifted, &mut inner, aim, 30);
                iterations += interior::iterate(&shifted, &mut inner, &mut inside, aim, 60);
                inner.return_to_best();
                iterations += newton::iterate(&shifted, &mut inner, &mut memory, (aim, aim), 25);
            }
            inner.return_to_best();
            work.r.copy_from_slice(&inner.r);
            let residual = work.measure(problem);
            if residual <= tolerance {
                return iterations;
            }
            if residual.is_nan() || residual > 0.9 * last {
                break;
            }
            last = residual;
        }
    }
    iterations
}
