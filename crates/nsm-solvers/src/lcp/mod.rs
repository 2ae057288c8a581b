//! Linear complementarity problems: find $z$ and $w$ with
//! $$ 0 \le z \perp w = Mz + q \ge 0 , \tag{1} $$
//! that is, $z, w \ge 0$ and $z_i w_i = 0$ for every $i$.

mod block;
mod certificate;
mod dense_factor;
mod enumeration;
mod envelope;
mod error;
mod interior;
mod lemke;
mod matrix;
mod mixed;
mod newton;
mod projected;
mod report;
mod sparse_memory;
mod strategy;
mod workspace;

pub use error::{LcpError, LcpFailure};
pub use matrix::Matrix;
pub use mixed::MixedWorkspace;
pub use report::{Method, Report, Solution, natural_residual};
pub use strategy::{solve, solve_with};
pub use workspace::{LcpWorkspace, Options};
