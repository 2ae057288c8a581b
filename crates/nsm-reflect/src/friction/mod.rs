//! Impacts with Coulomb friction, and the contacts of a system with their tangents.

mod impact;
mod rows;

pub use impact::{FrictionCertificate, FrictionImpact};
pub use rows::FrictionRows;
