//! Linear complementarity problems: find $z$ and $w$ with
//! $$ 0 \le z \perp w = Mz + q \ge 0 , \tag{1} $$
//! that is, $z, w \ge 0$ and $z_i w_i = 0$ for every $i$.
//!
//! # What it is
//! For symmetric positive semidefinite $M$, (1) states the optimality of
//! $\min_{z\ge0} \tfrac12 z^\top Mz + q^\top z$; $w$ is then unique, $z$ only if $M$ is definite. A solution exists
//! exactly when $q^\top d \ge 0$ for all $d \ge 0$ with $Md = 0$. For P-matrices (all principal minors positive)
//! there is exactly one solution for every $q$; in general there may be none, several, or a continuum
//! [Cottle, Pang & Stone 1992]. The matrix is given as dense rows or as compressed sparse columns ([`Matrix`]).
//!
//! # Solving
//! [`solve`] brings rows and columns to order one (by powers of two, nothing is rounded), picks methods by structure and
//! size, verifies the answer by its natural residual in that problem,
//! $$ \rho(z) = \max_i |\min(z_i, (Mz + q)_i)| / \max_i |q_i| \le 10^{-12} $$
//! (or as much as rounding of $z$ itself makes, but never above $10^{-6}$), and falls through to the next method otherwise.
//! [`LcpWorkspace`] does the same without allocating again. Each method can be called by name:
//!
//! | [`Method`] | for | cost of an iteration |
//! |---|---|---|
//! | `Lemke` | any matrix; processes copositive-plus ones | $O(n^2)$ per pivot |
//! | `BlockPivoting` | P-matrices, best symmetric | factorisation of $M_{AA}$ |
//! | `ActiveSet` | symmetric semidefinite | $O(n^2)$ per exchange |
//! | `ChainSweep` | tridiagonal, couplings not positive | $O(n)$ |
//! | `InteriorPoint` | symmetric semidefinite, sparse or dense | factorisation of $M + D$ |
//! | `ProjectedGaussSeidel` | symmetric definite | one product $Mz$ |
//! | `AcceleratedGradient` | symmetric semidefinite | two products $Mz$ |
//! | `NewtonFischerBurmeister`, `NewtonMin` | any matrix, no guarantee | factorisation |
//! | `Enumeration` | any matrix, $n \le 14$, decides solvability | $2^n$ small problems |
//!
//! # When there is no solution
//! [`LcpError::Infeasible`] is returned only with a certificate $d \ge 0,\ M^\top d \le 0,\ q^\top d < 0$;
//! [`LcpError::NoSolution`] when each of the $2^n$ complementary cones was separated from $q$. Both are checked with the caller's
//! numbers and without rounding. What holds up to rounding only is [`LcpError::NearlyInfeasible`], and proves nothing. Every
//! other failure carries the residual of the best point, and the point itself.
//!
//! # Related problems
//! Equations beside inequalities: [`MixedWorkspace`]. $M = G^\top WG$ given by its factors, bounds on both sides, and
//! kernels of a few nanoseconds for a few contacts: [`crate::least_squares`].
//!
//! ```
//! use nsm_solvers::lcp::{Matrix, solve};
//!
//! let rows = [
//!     2.0, 1.0, 0.0, //
//!     -1.0, 2.0, 1.0, //
//!     0.0, 0.0, 2.0,
//! ];
//! let solution = solve(Matrix::dense(3, &rows)?, &[-1.0, 2.0, -3.0])?;
//! assert_eq!(solution.z, [0.5, 0.0, 1.5]);
//! assert_eq!(solution.w, [0.0, 3.0, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod certificate;
mod columns;
mod dense_factor;
mod enumeration;
pub(crate) mod envelope;
mod equilibrate;
mod error;
mod exact;
mod interior;
mod judge;
mod lemke;
mod matrix;
mod mixed;
mod newton;
mod projected;
mod report;
mod sparse_memory;
mod strategy;
mod supernodal;
mod workspace;

pub use error::{LcpError, LcpFailure};
pub use matrix::Matrix;
pub use mixed::MixedWorkspace;
pub use report::{Method, Report, Solution, natural_residual};
pub use strategy::{solve, solve_with};
pub use workspace::{LcpWorkspace, Options};
