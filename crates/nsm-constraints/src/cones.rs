//! Tangent and normal cones at a configuration with several active contacts.
//!
//! With $N$ the gradients of the active contacts,
//! $$ T(q) = \lbrace y : N^\top y \ge 0 \rbrace \qquad (2.5), \qquad
//!    -\partial I_A(q) = \lbrace N \lambda : \lambda \ge 0 \rbrace \qquad (2.4) $$
//! \[KP\]. Velocities that may follow lie in $T$, impulses in the inward normal cone. The two are polar
//! in the metric $W$: every momentum splits uniquely [Moreau 1962] into
//! $$ p = p_T - N\lambda, \qquad W p_T \in T(q), \qquad \lambda \ge 0, \qquad p_T^\top W N \lambda = 0 . $$

use nsm_solvers::least_squares::GramNnls;

use crate::{ConstraintError, ContactTolerance, Metric, Rows};

/// The active contact that a velocity drives together fastest, and its rate; none if $v \in T(q)$.
///
/// Contacts approach if their rate is below minus the threshold of `tolerance`, see [`ContactTolerance`].
pub fn leaves_tangent_cone(
    rows: &Rows,
    gradients: &[f64],
    active: &[usize],
    v: &[f64],
    tolerance: &ContactTolerance,
) -> Option<(usize, f64)> {
    let mut worst: Option<(usize, f64)> = None;
    for &i in active {
        let (rate, scale) = tolerance.rate(rows.columns(i), &gradients[rows.span(i)], v);
        if rate < -tolerance.velocity * scale && worst.is_none_or(|(_, least)| rate < least) {
            worst = Some((i, rate));
        }
    }
    worst
}

/// Workspace for Moreau's decomposition along the cones of up to a given number of contacts.
///
/// ```
/// use nsm_constraints::{Affine, ConeSplitter, Metric, Rows};
///
/// // A corner between a floor and a wall.
/// let mut rows = Rows::new(2);
/// rows.push("wall", Affine::above(0, 0.0)?)?;
/// rows.push("floor", Affine::above(1, 0.0)?)?;
/// let metric = Metric::diagonal(&[1.0, 1.0])?;
/// let mut splitter = ConeSplitter::new(2, 2);
/// let mut tangential = [0.0; 2];
/// let pushes = splitter.split(&rows, &[1.0, 1.0], &[0, 1], &metric, &[3.0, -2.0], &mut tangential)?;
/// assert_eq!(pushes, [0.0, 2.0]);
/// assert_eq!(tangential, [3.0, 0.0]);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConeSplitter {
    gram: Vec<f64>,
    rates: Vec<f64>,
    multipliers: Vec<f64>,
    weighted: Vec<f64>,
    kernel: GramNnls,
}

impl ConeSplitter {
    /// Room for `contacts` active contacts on `dimension` coordinates.
    pub fn new(dimension: usize, contacts: usize) -> Self {
        Self {
            gram: Vec::with_capacity(contacts * contacts),
            rates: Vec::with_capacity(contacts),
            multipliers: Vec::with_capacity(contacts),
            weighted: vec![0.0; dimension],
            kernel: GramNnls::new(contacts),
        }
    }

    /// Splits `p` along the cones of the `active` rows: writes $p_T$, returns $\lambda$ in their order.
    ///
    /// $p_T$ is the momentum of the velocity in $T(q)$ nearest to $Wp$; it is $p$ itself, and $\lambda = 0$, where
    /// nothing approaches.
    ///
    /// # Errors
    /// More contacts than there is room for, or numbers that are not finite.
    pub fn split(
        &mut self,
        rows: &Rows,
        gradients: &[f64],
        active: &[usize],
        metric: &Metric,
        p: &[f64],
        tangential: &mut [f64],
    ) -> Result<&[f64], ConstraintError> {
        let k = active.len();
        metric.apply(p, &mut self.weighted);
        self.rates.clear();
        self.rates.extend(active.iter().map(|&i| rows.row_dot(i, gradients, &self.weighted)));
        self.gram.clear();
        self.gram.resize(k * k, 0.0);
        for (b, &j) in active.iter().enumerate() {
            self.weighted.fill(0.0);
            metric.add_applied(rows.columns(j), &gradients[rows.span(j)], &mut self.weighted);
            for (a, &i) in active[..=b].iter().enumerate() {
                let product = rows.row_dot(i, gradients, &self.weighted);
                self.gram[a * k + b] = product;
                self.gram[b * k + a] = product;
            }
        }
        self.multipliers.clear();
        self.multipliers.resize(k, 0.0);
        let _ = self
            .kernel
            .solve(&self.gram, &self.rates, &mut self.multipliers)
            .map_err(|source| ConstraintError::Cone { source })?;
        tangential.copy_from_slice(p);
        for (&i, lambda) in active.iter().zip(&self.multipliers) {
            rows.add_row(i, gradients, *lambda, tangential);
        }
        Ok(&self.multipliers)
    }
}
