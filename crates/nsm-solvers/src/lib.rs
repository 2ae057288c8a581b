//! Complementarity problems, least squares under inequalities, Newton methods, saddle-point systems
//! and scalar roots. Knows nothing of mechanics.

pub mod least_squares;
