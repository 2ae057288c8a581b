//! Complementarity problems, least squares under inequalities, Newton methods, saddle-point systems
//! and scalar roots. Knows nothing of mechanics.

mod error;
pub mod lcp;
pub mod least_squares;
mod refine;
pub mod small;

pub use error::LinearError;
