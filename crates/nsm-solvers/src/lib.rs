//! Solvers for problems with inequalities, and the linear algebra beneath them, without allocation in
//! the loop. They know nothing of mechanics.
//!
//! | module | problem | |
//! |---|---|---|
//! | [`lcp`] | $0 \le z \perp Mz + q \ge 0$ | one default strategy that verifies its answer, and each method by name |
//! | [`least_squares`] | $\min_{\lambda \ge 0} \lvert p + G\lambda \rvert_W$ | contact problems given by their factors |
//! | [`friction`] | $K_\mu \ni r \perp u + \mu\lvert u_T\rvert n \in K_\mu^{\ast},\quad u = Wr + q$ | Coulomb's law with the exact cone; a chain of methods that verifies its answer |
//! | [`ncp`] | $F(x, \lambda) = 0,\quad 0 \le \lambda \perp g(x) \ge 0$ | semismooth Newton, primal-dual active set |
//! | [`newton`] | $F(x) = 0$ | line search, frozen Jacobians |
//! | [`kkt`] | $\begin{pmatrix} A & G^\top \cr G^\prime & -C \end{pmatrix} \begin{pmatrix} x \cr \lambda \end{pmatrix} = \begin{pmatrix} f \cr b \end{pmatrix}$ | redundant rows named, minimum norm |
//! | [`roots`] | $f(x) = 0$ in a bracket | the bracket is the proof, the side is yours |
//! | [`LinearSystem`] | $Ax = b$, pattern known beforehand | dense, banded or sparse, chosen once |
//! | [`small`] | LU, Cholesky, $LDL^\top$, QR on slices | fastest below some 32 unknowns |
//! | [`dense`], [`banded`], [`sparse`] | the factorisations behind [`LinearSystem`] | |
//!
//! Everything follows one pattern. A *workspace* (`Newton`, `Kkt`, `LinearSystem`, …) is built once from
//! sizes and sparsity and owns all memory; its verbs take slices and do not allocate. A *report* says
//! what it took: iterations, residual, active set. A failure is a typed *error* that names the culprit;
//! the best point reached is left in the caller's vectors. NaN, infinities and wrong sizes are errors,
//! never panics. Matrices on slices are row-major. Results do not depend on the number of threads.
//!
//! # Example
//! Two beads between a wall at 0 and each other, pushed left: which touch, and with what force?
//! ```
//! use nsm_solvers::kkt::KktPattern;
//! use nsm_solvers::ncp::{Complementarity, Derivatives, NcpOptions, SemismoothNewton};
//!
//! struct Beads;
//! impl Complementarity for Beads {
//!     fn residual(&mut self, x: &[f64], λ: &[f64], force: &mut [f64], gap: &mut [f64]) {
//!         force.copy_from_slice(&[x[0] + 0.5 - λ[0] + λ[1], x[1] + 0.2 - λ[1]]);
//!         gap.copy_from_slice(&[x[0], x[1] - x[0]]);
//!     }
//!     fn derivatives(&mut self, _x: &[f64], _λ: &[f64], d: &mut Derivatives) {
//!         d.block.fill(1.0);
//!         d.forces.copy_from_slice(&[1.0, -1.0, 1.0]);
//!         d.gaps.copy_from_slice(&[1.0, -1.0, 1.0]);
//!     }
//! }
//!
//! let gradients = [(0, 0), (1, 0), (1, 1)];
//! let pattern = KktPattern { unknowns: 2, rows: 2, block: &[], gradients: &gradients, symmetric: false };
//! let mut solver = SemismoothNewton::new(&pattern, 0, NcpOptions::default())?;
//! let (mut x, mut λ) = ([1.0, 2.0], [0.0; 2]);
//! let report = solver.solve(&mut Beads, &mut x, &mut λ)?;
//! assert_eq!(report.active, 2);
//! assert!((λ[0] - 0.7).abs() < 1e-15 && (λ[1] - 0.2).abs() < 1e-15);
//! # Ok::<(), nsm_solvers::SolverError>(())
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
pub mod ncp;
pub mod newton;
mod refine;
pub mod roots;
pub mod small;
pub mod sparse;

pub use error::{LinearError, SolverError};
pub use linear_system::{LinearSystem, Method, Structure};
