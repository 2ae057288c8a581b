//! The intermediate gradient at a switch and the impact law that goes with it.
//!
//! \[PB\] (31)–(32), (45) and the case (29) leaves open. In the metric $M^{-1}$ the constraint
//! gradients before and after a switch span subspaces with principal pairs $(u_i, w_i)$,
//! $u_i \cdot w_j = \delta_{ij} \cos\theta_i$. The intermediate gradient has the rows
//! $$ b_i = (1 - \mathcal{E})\\,u_i + s_i\\,\mathcal{E}\\,w_i, \qquad s_i = \pm 1 , $$
//! which equals (45) for one constraint, gives $G^+$ at $\mathcal{E} = 1$, and does not depend on how the rows of
//! $G^-$ and $G^+$ are mixed, scaled or ordered. Rows of $G^+$ without a partner stay as they are. At
//! $\mathcal{E} = \tfrac12$ energy is conserved for every choice of signs, because
//! $b_i \cdot (v^+ + v^-) = 0$. All $s_i = +1$ unless the direction condition (54) fails at
//! $\mathcal{E} = \tfrac12$; then the fewest pairs that satisfy it are flipped, those closer than $10^{-3}$ excepted.
//!
//! In these coordinates $D_{\mathcal{E}}$ is diagonal and the impact law explicit:
//! $$ v^+ = v^- - M^{-1} G_{\mathcal{E}}^\top \Lambda, \qquad
//!    \Lambda_i = \frac{w_i \cdot v^- - \tau_i}{(1 - \mathcal{E}) \cos\theta_i + s_i \mathcal{E}} , \qquad
//!    \Delta E = -\tfrac12 \Lambda^\top G_{\mathcal{E}} (v^+ + v^-) \tag{42} $$
//! with $\tau$ from $g_t$ where the constraints are rheonomic.

use nsm_solvers::LinearError;
use nsm_solvers::small::qr::PivotedQr;
use nsm_solvers::small::{axpy, cholesky, dot};

use crate::AlphaError;
use crate::principal::Principal;

/// Pairs whose $\cos\theta$ exceeds this are the same direction and are not flipped ($\theta \le 10^{-3}$).
const SAME: f64 = 1.0 - 0.5e-6;
/// Pairs beyond which not every pattern of signs is tried.
const MOST_FLIPS: usize = 16;

/// A switch: constraint gradients before and after it ($m \times n$, row by row), and the motion.
#[derive(Clone, Copy, Debug)]
pub struct Switch<'a> {
    /// The mass matrix, $n \times n$, row by row.
    pub mass: &'a [f64],
    /// $G^-$.
    pub before: &'a [f64],
    /// $G^+$.
    pub after: &'a [f64],
    /// $g_t^+$; empty where the constraints do not depend on time.
    pub rates: &'a [f64],
    /// $Z$, the gradient of the switching function.
    pub surface: &'a [f64],
    /// $z_t$.
    pub surface_rate: f64,
    /// $v^-$.
    pub velocity: &'a [f64],
    /// $\mathcal{E} \in [0, 1]$.
    pub interpolation: f64,
}

/// Intermediate gradients and impacts at switches, with all memory allocated once.
///
/// ```
/// use nsm_alpha::{Interpolation, Switch};
///
/// // A unit mass runs along y = 0 into the slope y = x: half of its energy is lost.
/// let kink = Switch {
///     mass: &[1.0, 0.0, 0.0, 1.0],
///     before: &[0.0, 1.0],
///     after: &[-1.0, 1.0],
///     rates: &[],
///     surface: &[1.0, 0.0],
///     surface_rate: 0.0,
///     velocity: &[1.0, 0.0],
///     interpolation: 1.0,
/// };
/// let mut law = Interpolation::new(2, 1);
/// let energy_change = law.impact(&kink)?;
/// assert!((energy_change + 0.25).abs() < 1e-15);
/// assert!((law.velocity()[0] - 0.5).abs() < 1e-15);
/// // Along the bisector energy is conserved.
/// assert!(law.impact(&Switch { interpolation: 0.5, ..kink })?.abs() < 1e-15);
/// # Ok::<(), nsm_alpha::AlphaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Interpolation {
    n: usize,
    factor: Vec<f64>,
    /// Orthonormal rows before and after in the metric, then their principal vectors.
    before: Vec<f64>,
    after: Vec<f64>,
    qr: PivotedQr,
    principal: Principal,
    scratch: Vec<f64>,
    particular: Vec<f64>,
    velocity_before: Vec<f64>,
    velocity: Vec<f64>,
    impulse: Vec<f64>,
    gradient: Vec<f64>,
    signs: Vec<f64>,
    /// $(w_i \cdot v^- - \tau_i)$ and $\hat z \cdot u_i$, $\hat z \cdot w_i$.
    slips: Vec<f64>,
    leans: Vec<[f64; 2]>,
    rank: usize,
}

impl Interpolation {
    /// Room for `n` coordinates and up to `m` constraints on either side.
    pub fn new(n: usize, m: usize) -> Self {
        Self {
            n,
            factor: vec![0.0; n * n],
            before: vec![0.0; m * n],
            after: vec![0.0; m * n],
            qr: PivotedQr::new(m, n),
            principal: Principal::new(m),
            scratch: vec![0.0; m * n],
            particular: vec![0.0; n],
            velocity_before: vec![0.0; n],
            velocity: vec![0.0; n],
            impulse: vec![0.0; m],
            gradient: vec![0.0; m * n],
            signs: vec![1.0; m],
            slips: vec![0.0; m],
            leans: vec![[0.0; 2]; m],
            rank: 0,
        }
    }

    /// $v^+$ of the last [`impact`](Self::impact).
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// The rows of $G_{\mathcal{E}}$ of the last [`impact`](Self::impact), one per independent row of $G^+$.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient[..self.rank * self.n]
    }

    /// $\Lambda$ of the last [`impact`](Self::impact), one per row of $G_{\mathcal{E}}$.
    pub fn impulse(&self) -> &[f64] {
        &self.impulse[..self.rank]
    }

    /// Builds $G_{\mathcal{E}}$ and applies the impact law; returns the energy change (42).
    ///
    /// # Errors
    /// A mass that is not positive definite, or a $G_{\mathcal{E}}$ that cannot enforce the constraints after.
    pub fn impact(&mut self, switch: &Switch<'_>) -> Result<f64, AlphaError> {
        let n = self.n;
        self.factor.copy_from_slice(switch.mass);
        let massless = |e: LinearError| AlphaError::MasslessInterpolation {
            interpolation: switch.interpolation,
            coordinate: match e {
                LinearError::NotPositiveDefinite { pivot, .. } => pivot,
                _ => 0,
            },
        };
        cholesky::factor(n, &mut self.factor, nsm_solvers::small::tolerance(n))
            .map_err(massless)?;
        let r_before = self.orthonormal(switch.before, true)?;
        let rank = self.orthonormal(switch.after, false)?;
        self.rank = rank;
        // A velocity that satisfies the constraints after, while their factorisation is at hand.
        self.particular.fill(0.0);
        if switch.rates.iter().any(|g| *g != 0.0) {
            for (s, g) in self.scratch.iter_mut().zip(switch.rates) {
                *s = -g;
            }
            let target = &self.scratch[..switch.rates.len()];
            self.qr.solve_minimum_norm(target, &mut self.particular).map_err(massless)?;
        }
        let pairs = self.principal.pairs(
            n,
            (r_before, &mut self.before),
            (rank, &mut self.after),
            &mut self.scratch,
        );
        // v̂ = Lᵀ v.
        multiply_transposed(n, &self.factor, switch.velocity, &mut self.velocity_before);
        // ẑ = L⁻¹ Z.
        let z = &mut self.velocity;
        z.copy_from_slice(switch.surface);
        cholesky::solve_lower(n, &self.factor, z).map_err(massless)?;
        for i in 0..rank {
            let w = &self.after[i * n..(i + 1) * n];
            self.slips[i] = dot(w, &self.velocity_before) - dot(w, &self.particular);
            let lean = if i < pairs { dot(&self.before[i * n..(i + 1) * n], z) } else { 0.0 };
            self.leans[i] = [lean, dot(w, z)];
        }
        let approach = dot(z, &self.velocity_before) + switch.surface_rate;
        self.choose_signs(pairs, rank, approach);
        self.apply(pairs, switch)
    }

    /// Orthonormal basis of the row space of `g` in the metric $M^{-1}$; returns its dimension.
    fn orthonormal(&mut self, g: &[f64], before: bool) -> Result<usize, AlphaError> {
        let n = self.n;
        let m = g.len() / n;
        let wrong = |_| AlphaError::Orthogonal { interpolation: f64::NAN };
        let rows = &mut self.scratch[..m * n];
        rows.copy_from_slice(g);
        for row in rows.chunks_exact_mut(n) {
            cholesky::solve_lower(n, &self.factor, row).map_err(wrong)?;
        }
        let rank = self.qr.factor(m, n, rows, 1e-9).map_err(wrong)?;
        let basis = if before { &mut self.before } else { &mut self.after };
        for i in 0..rank {
            let row = &mut basis[i * n..(i + 1) * n];
            row.fill(0.0);
            row[i] = 1.0;
            self.qr.apply_q(row).map_err(wrong)?;
        }
        Ok(rank)
    }

    /// All signs positive, or the fewest flips that let the motion cross at $\mathcal{E} = \tfrac12$ (55).
    fn choose_signs(&mut self, pairs: usize, rank: usize, approach: f64) {
        self.signs.fill(1.0);
        let cosines = self.principal.cosines();
        // Zv⁺ at ½ is a sum over the pairs, each with its own sign.
        let part = |i: usize, s: f64| {
            let [lean_u, lean_w] = self.leans[i];
            if i < pairs {
                self.slips[i] * (lean_u + s * lean_w) / (cosines[i] + s)
            } else {
                self.slips[i] * lean_w
            }
        };
        let all: f64 = (0..rank).map(|i| part(i, 1.0)).sum();
        let crosses = |after: f64| approach * after >= 0.0;
        if crosses(approach - all) {
            return;
        }
        let mut free = [0_usize; MOST_FLIPS];
        let mut count = 0;
        for i in (0..pairs).filter(|&i| cosines[i] < SAME).take(MOST_FLIPS) {
            free[count] = i;
            count += 1;
        }
        // Widest angles first, so that the choice among as many flips depends on the subspaces only.
        free[..count].sort_unstable_by(|&i, &j| cosines[i].total_cmp(&cosines[j]));
        for flips in 1..=count {
            for pattern in 0_u32..1 << count {
                if pattern.count_ones() as usize != flips {
                    continue;
                }
                let chosen = |k: usize| pattern >> k & 1 == 1;
                let change: f64 = (0..count)
                    .filter(|&k| chosen(k))
                    .map(|k| part(free[k], -1.0) - part(free[k], 1.0))
                    .sum();
                if crosses(approach - all - change) {
                    for k in (0..count).filter(|&k| chosen(k)) {
                        self.signs[free[k]] = -1.0;
                    }
                    return;
                }
            }
        }
    }

    fn apply(&mut self, pairs: usize, switch: &Switch<'_>) -> Result<f64, AlphaError> {
        let (n, rank, e) = (self.n, self.rank, switch.interpolation);
        let cosines = self.principal.cosines();
        let after = &mut self.velocity;
        after.copy_from_slice(&self.velocity_before);
        let mut energy_change = 0.0;
        for i in 0..rank {
            let s = self.signs[i];
            let row = &mut self.gradient[i * n..(i + 1) * n];
            row.fill(0.0);
            let w = &self.after[i * n..(i + 1) * n];
            let diagonal = if i < pairs {
                axpy(1.0 - e, &self.before[i * n..(i + 1) * n], row);
                axpy(s * e, w, row);
                (1.0 - e) * cosines[i] + s * e
            } else {
                row.copy_from_slice(w);
                1.0
            };
            if diagonal.abs() < 1e-12 {
                return Err(AlphaError::Orthogonal { interpolation: e });
            }
            self.impulse[i] = self.slips[i] / diagonal;
            axpy(-self.impulse[i], row, after);
        }
        for i in 0..rank {
            let row = &self.gradient[i * n..(i + 1) * n];
            energy_change -=
                0.5 * self.impulse[i] * (dot(row, after) + dot(row, &self.velocity_before));
        }
        // Back to coordinates: v = L⁻ᵀ v̂, rows g = L ĝ.
        let wrong = |_| AlphaError::Orthogonal { interpolation: e };
        cholesky::solve_lower_transposed(n, &self.factor, after).map_err(wrong)?;
        for i in 0..rank {
            multiply_lower(n, &self.factor, &mut self.gradient[i * n..(i + 1) * n]);
        }
        Ok(energy_change)
    }
}

/// $y = L^\top x$ from a factor whose diagonal is stored as reciprocals.
fn multiply_transposed(n: usize, l: &[f64], x: &[f64], y: &mut [f64]) {
    for j in 0..n {
        y[j] = x[j] / l[j * n + j];
        for i in j + 1..n {
            y[j] += l[i * n + j] * x[i];
        }
    }
}

/// $x \leftarrow L x$ from the same factor.
fn multiply_lower(n: usize, l: &[f64], x: &mut [f64]) {
    for i in (0..n).rev() {
        x[i] = x[i] / l[i * n + i] + dot(&l[i * n..i * n + i], &x[..i]);
    }
}
