//! Solvers for problems with inequalities, and the linear algebra beneath them, without allocation in
//! the loop. They know nothing of mechanics.
//!
//! | module | problem | |
//! |---|---|---|
//! | [`lcp`] | $0 \le z \perp Mz + q \ge 0$ | one default strategy that verifies its answer, and each method by name |
//! | [`least_squares`] | $\min_{\lambda \ge 0} \lvert p + G\lambda \rvert_W$ | contact problems given by their factors |
//! | [`friction`] | $K_\mu \ni r \perp u + \mu\lvert u_T\rvert n \in K_\mu^{\ast},\quad u = Wr + q$ | Coulomb's law with the exact cone; a chain of methods that verifies its answer |
//! | [`newton`] | when an iteration ends, and which of its steps need a matrix of their own | one rule for all that iterate |
//! | [`kkt`] | $\begin{pmatrix} A & G^\top \cr G^\prime & -C \end{pmatrix} \begin{pmatrix} x \cr \lambda \end{pmatrix} = \begin{pmatrix} f \cr b \end{pmatrix}$ | redundant rows named, minimum norm |
//! | [`roots`] | $f(x) = 0$ in a bracket | the bracket is the proof, the side is yours |
//! | [`LinearSystem`] | $Ax = b$, pattern known beforehand | dense, banded or sparse, chosen once |
//! | [`small`] | LU, Cholesky, $LDL^\top$, QR on slices | fastest below some 32 unknowns |
//! | [`dense`], [`banded`], [`sparse`] | the factorisations behind [`LinearSystem`] | |
//!
//! Everything follows one pattern. A *workspace* (`LcpWorkspace`, `Kkt`, `LinearSystem`, …) is built once from
//! sizes and sparsity and owns all memory; its verbs take slices and do not allocate. A *report* says
//! what it took: iterations, residual, active set. A failure is a typed *error* that names the culprit;
//! the best point reached is left in the caller's vectors. NaN, infinities and wrong sizes are errors,
//! never panics. Matrices on slices are row-major. Results do not depend on the number of threads.
//!
//! # Example
//! Two beads between a wall at 0 and each other, pushed left: which touch, and with what force?
//! ```
//! use nsm_solvers::lcp::{Matrix, solve};
//!
//! // Gaps x₀ and x₁ - x₀ with x = (λ₀ - λ₁ - 0.5, λ₁ - 0.2).
//! let solution = solve(Matrix::dense(2, &[1.0, -1.0, -1.0, 2.0])?, &[-0.5, 0.3])?;
//! assert_eq!(solution.active, [0, 1]);
//! assert!((solution.z[0] - 0.7).abs() < 1e-15 && (solution.z[1] - 0.2).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod banded;
pub mod dense;
mod error;
pub mod friction;
pub mod kkt;
pub mod lcp;
pub mod least_squares;
mod linear_system;
mod memory;
pub mod newton;
mod refine;
pub mod roots;
pub mod small;
pub mod sparse;

pub use error::{LinearError, SolverError};
pub use linear_system::{LinearSystem, Method, Structure};
