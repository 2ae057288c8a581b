//! Banded matrices: chains of bodies, trees after reordering, one-dimensional meshes.
//!
//! With lower and upper half-bandwidths $k_\ell, k_u$, LU costs $O(n k_\ell (k_\ell + k_u))$ and a
//! solve $O(n (2 k_\ell + k_u))$: linear in the length of the chain. Half-bandwidths up to three run
//! through kernels of their own, so that a tridiagonal system costs a few nanoseconds a row.
//!
//! [`ordering::reverse_cuthill_mckee`] finds an order of the unknowns in which a sparse matrix has a
//! narrow band.

mod ldlt;
mod lu;
pub mod ordering;
mod tridiagonal;
mod twisted;

pub use ldlt::BandedLdlt;
pub use lu::BandedLu;
