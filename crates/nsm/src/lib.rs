//! nsm, nonsmooth mechanics: mechanical systems with hard contacts, impacts, joints and constraints that
//! switch. This crate is the front door to all others: one dependency, and the binary `nsm`.
//!
//! The crates behind it, from the top: [`report`] draws, [`problem`] reads problem files and makes their
//! runs, [`formula`] understands formulas, [`vi`] and [`alpha`] integrate, [`reflect`] knows the impact
//! laws, [`model`] says what a system is, [`constraints`] what holds it, [`geom`] and [`solvers`] know
//! nothing of mechanics.

#[cfg(feature = "cli")]
pub mod cli;

pub use nsm_alpha as alpha;
pub use nsm_constraints as constraints;
pub use nsm_formula as formula;
pub use nsm_geom as geom;
pub use nsm_model as model;
pub use nsm_problem as problem;
pub use nsm_reflect as reflect;
pub use nsm_report as report;
pub use nsm_solvers as solvers;
pub use nsm_vi as vi;

/// The examples of the README, compiled and run with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
