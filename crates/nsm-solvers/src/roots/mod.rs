//! Roots of a scalar function in a bracket: instants of impact, step lengths, parameters.
//!
//! A [`Bracket`] holds two points with values of opposite sign. Every method shrinks it until it is no
//! wider than asked, down to two neighbouring floating-point numbers, and returns it together with the
//! end on the wanted [`Side`]: "the last instant at which the gap is still $\ge 0$" is
//! [`Side::NonNegative`].
//!
//! | function | needs | evaluations to the last bit on a smooth function |
//! |---|---|---|
//! | [`bisect`] | sign changes only | 52 for $[0, 1]$, always |
//! | [`chandrupatla`] | values | 5 to 11 beyond the two ends |
//! | [`newton`] | values and derivatives | 5 to 9 beyond the two ends |
//!
//! None can fail to converge on a function that changes sign: all fall back on bisection.

mod bisection;
mod bracket;
mod chandrupatla;
mod newton;

pub use bisection::bisect;
pub use bracket::Bracket;
pub use chandrupatla::chandrupatla;
pub use newton::newton;

use thiserror::Error;

/// Which end of the final bracket is the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Side {
    /// The end with the smaller magnitude.
    #[default]
    Nearest,
    /// The end where the function is $\ge 0$.
    NonNegative,
    /// The end where the function is $\le 0$.
    NonPositive,
}

/// When to stop, and what to return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootOptions {
    /// Width of the final bracket; zero asks for neighbouring floating-point numbers.
    pub width: f64,
    /// Which end to return.
    pub side: Side,
    /// Evaluations beyond those of the ends.
    pub max_evaluations: usize,
}

impl Default for RootOptions {
    fn default() -> Self {
        Self { width: 0.0, side: Side::Nearest, max_evaluations: 200 }
    }
}

/// A root with the bracket that proves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// The end of the bracket on the wanted side.
    pub x: f64,
    /// The function there.
    pub value: f64,
    /// Final bracket; both ends coincide where the function is exactly zero.
    pub bracket: Bracket,
    /// Evaluations beyond those of the ends.
    pub evaluations: usize,
}

/// Why no root was found.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RootError {
    /// The function has the same sign at both ends.
    #[error("no sign change: f({a:.6e}) = {value_a:.3e} and f({b:.6e}) = {value_b:.3e}")]
    NoSignChange {
        /// One end.
        a: f64,
        /// The function there.
        value_a: f64,
        /// The other end.
        b: f64,
        /// The function there.
        value_b: f64,
    },
    /// The function, or an end of the bracket, is NaN or infinite.
    #[error("the function is not finite at x = {x:.6e}")]
    NotFinite {
        /// Where.
        x: f64,
    },
    /// The allowance of evaluations ran out; the best bracket so far is enclosed.
    #[error("bracket still {:.3e} wide after {evaluations} evaluations", (bracket.b - bracket.a).abs())]
    Exhausted {
        /// Best bracket.
        bracket: Bracket,
        /// Evaluations made.
        evaluations: usize,
    },
}
