//! Complementarity problems, least squares under inequalities, Newton methods, saddle-point systems
//! and scalar roots. Knows nothing of mechanics.

pub mod banded;
pub mod dense;
mod error;
pub mod kkt;
pub mod lcp;
pub mod least_squares;
mod linear_system;
mod memory;
pub mod ncp;
pub mod newton;
mod refine;
pub mod roots;
pub mod small;
pub mod sparse;

pub use error::LinearError;
pub use linear_system::{LinearSystem, Method, Structure};
