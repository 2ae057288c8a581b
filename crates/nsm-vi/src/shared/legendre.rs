//! Momenta, energies and hidden constraints of a discrete trajectory with constraints.
//!
//! A trajectory $q_0, q_1, \dots$ of the multiplier scheme (\[LMO\] (22)) has at every node one momentum, by three
//! transforms (\[LMO\] (34)–(42)):
//! $$ p_k = -D_1 L_d + \tfrac h2 G^\top\lambda_k = D_2 L_d - \tfrac h2 G^\top\lambda_k, \qquad
//!    {}^Q p_k = -Q D_1 L_d = Q D_2 L_d, \qquad {}^P p_k = -P^\top D_1 L_d = P^\top D_2 L_d, $$
//! where $D_1 L_d$ belongs to the step that leaves node $k$ and $D_2 L_d$ to the one that reaches it. The integrators
//! keep ${}^Q p_k$ in their state; it satisfies the hidden constraint $G M^{-1} p = 0$ exactly, $p_k$ does not once there is
//! a potential.
//!
//! Of the energies, $E_d$ of two neighbours (\[LMO\] (52)) oscillates more than $H_d$ of a node (\[LMO\] (53)).

use nsm_model::{System, SystemError};
use nsm_solvers::LinearError;

use crate::Quadrature;
use crate::shared::lagrangian::DiscreteLagrangian;
use crate::shared::null_basis::NullBasis;

/// One step of a trajectory: from where to where, when it begins and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment<'s> {
    /// $q_k$.
    pub start: &'s [f64],
    /// $q_{k+1}$.
    pub end: &'s [f64],
    /// $t_k$.
    pub t: f64,
    /// $h$.
    pub h: f64,
}

/// Transforms and diagnostics of trajectories with constraints, with their workspace.
///
/// All methods panic if a slice is shorter than the system.
#[derive(Debug)]
pub struct ConstrainedLegendre<'a> {
    system: &'a System,
    lagrangian: DiscreteLagrangian<'a>,
    basis: NullBasis<'a>,
    gradients: Vec<f64>,
    other: Vec<f64>,
    velocity: Vec<f64>,
}

impl<'a> ConstrainedLegendre<'a> {
    /// The transforms of a system by a quadrature.
    ///
    /// # Errors
    /// A mass that depends on the configuration, or constraints that switch.
    pub fn new(system: &'a System, quadrature: Quadrature) -> Result<Self, SystemError> {
        system.require_constant_mass("the discrete Legendre transform")?;
        system.require_no_switching("the discrete Legendre transform")?;
        let n = system.dimension();
        Ok(Self {
            system,
            lagrangian: DiscreteLagrangian::new(system, quadrature),
            basis: NullBasis::new(system),
            gradients: vec![0.0; system.equalities().entries()],
            other: vec![0.0; n],
            velocity: vec![0.0; n],
        })
    }

    /// Writes $p_k^- = -D_1 L_d(q_k, q_{k+1}) + \tfrac h2 G^\top(q_k)\lambda_k$ (\[LMO\] (34)).
    pub fn constrained_minus(&mut self, leaving: Segment<'_>, lambda: &[f64], out: &mut [f64]) {
        self.minus(leaving, out);
        self.add_constraints((leaving.start, leaving.t), lambda, 0.5 * leaving.h, out);
    }

    /// Writes $p_k^+ = D_2 L_d(q_{k-1}, q_k) - \tfrac h2 G^\top(q_k)\lambda_k$ (\[LMO\] (35)).
    pub fn constrained_plus(&mut self, reaching: Segment<'_>, lambda: &[f64], out: &mut [f64]) {
        self.plus(reaching, out);
        let t = reaching.t + reaching.h;
        self.add_constraints((reaching.end, t), lambda, -0.5 * reaching.h, out);
    }

    /// Writes ${}^Q p_k^- = -Q(q_k) D_1 L_d(q_k, q_{k+1})$ (\[LMO\] (39)).
    ///
    /// # Errors
    /// Gradients that are not finite, or a motion without inertia.
    pub fn projected_minus(
        &mut self,
        leaving: Segment<'_>,
        out: &mut [f64],
    ) -> Result<(), SystemError> {
        self.minus(leaving, out);
        self.project((leaving.start, leaving.t), out)
    }

    /// Writes ${}^Q p_k^+ = Q(q_k) D_2 L_d(q_{k-1}, q_k)$ (\[LMO\] (40)).
    ///
    /// # Errors
    /// As for [`projected_minus`](Self::projected_minus).
    pub fn projected_plus(
        &mut self,
        reaching: Segment<'_>,
        out: &mut [f64],
    ) -> Result<(), SystemError> {
        self.plus(reaching, out);
        self.project((reaching.end, reaching.t + reaching.h), out)
    }

    /// Writes ${}^P p_k^- = -P^\top(q_k) D_1 L_d(q_k, q_{k+1})$ (\[LMO\] (41)) for an orthonormal basis $P$ into the front of
    /// `out`; returns the number of freedoms.
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn reduced_minus(
        &mut self,
        leaving: Segment<'_>,
        out: &mut [f64],
    ) -> Result<usize, SystemError> {
        let mut momentum = std::mem::take(&mut self.other);
        self.minus(leaving, &mut momentum);
        self.other = momentum;
        self.reduce((leaving.start, leaving.t), out)
    }

    /// Writes ${}^P p_k^+ = P^\top(q_k) D_2 L_d(q_{k-1}, q_k)$ (\[LMO\] (42)), as [`reduced_minus`](Self::reduced_minus).
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn reduced_plus(
        &mut self,
        reaching: Segment<'_>,
        out: &mut [f64],
    ) -> Result<usize, SystemError> {
        let mut momentum = std::mem::take(&mut self.other);
        self.plus(reaching, &mut momentum);
        self.other = momentum;
        self.reduce((reaching.end, reaching.t + reaching.h), out)
    }

    /// Writes $\lambda_k = R_d^\top(q_k)\\,[D_1 L_d(q_k, q_{k+1}) + D_2 L_d(q_{k-1}, q_k)]$ (\[LMO\] (38)).
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn multipliers(
        &mut self,
        reaching: Segment<'_>,
        leaving: Segment<'_>,
        out: &mut [f64],
    ) -> Result<(), SystemError> {
        let mut sum = vec![0.0; self.system.dimension()];
        self.plus(reaching, &mut sum);
        self.recover(leaving, sum, 1.0 / leaving.h, out)
    }

    /// Writes $\lambda_0 = 2 R_d^\top(q_0)\\,[p(0) + D_1 L_d(q_0, q_1)]$ (\[LMO\] (47)).
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn initial_multipliers(
        &mut self,
        p: &[f64],
        leaving: Segment<'_>,
        out: &mut [f64],
    ) -> Result<(), SystemError> {
        self.recover(leaving, p[..self.system.dimension()].to_vec(), 2.0 / leaving.h, out)
    }

    /// $E_d(q_k, q_{k+1})$ (\[LMO\] (52)).
    pub fn discrete_energy(&mut self, segment: Segment<'_>) -> f64 {
        let Segment { start, end, t, h } = segment;
        for ((v, a), b) in self.velocity.iter_mut().zip(start).zip(end) {
            *v = (b - a) / h;
        }
        let kinetic = self.system.mass().kinetic_energy(&self.velocity);
        2.0 * kinetic - self.lagrangian.value(start, end, t, h) / h
    }

    /// $H_d(q, p) = \tfrac12 p^\top M^{-1} p + V(q)$ (\[LMO\] (53)), without the coordinates that have no mass.
    pub fn hamiltonian(&mut self, q: &[f64], p: &[f64], t: f64) -> f64 {
        self.system.mass().solve(p, &mut self.velocity);
        self.system.mass().kinetic_energy(&self.velocity) + self.system.potential().sum(q, t)
    }

    /// Writes $f_d = G(\tfrac{q_k + q_{k+1}}2)\\,\tfrac{q_{k+1} - q_k}h$ (\[LMO\] (45)): zero for quadratic constraints.
    pub fn velocity_defect(&mut self, segment: Segment<'_>, out: &mut [f64]) {
        let Segment { start, end, t, h } = segment;
        for (i, (a, b)) in start.iter().zip(end).enumerate() {
            self.velocity[i] = (b - a) / h;
            self.other[i] = 0.5 * (a + b);
        }
        let rows = self.system.equalities();
        rows.gradients(&self.other, t + 0.5 * h, &mut self.gradients);
        rows.multiply(&self.gradients, &self.velocity, out);
    }

    /// Writes $h_d = G(q)\\,M^{-1} p$ (\[LMO\] (46)), over the coordinates that have mass (\[LMO\] (115)).
    pub fn momentum_defect(&mut self, (q, t): (&[f64], f64), p: &[f64], out: &mut [f64]) {
        let rows = self.system.equalities();
        rows.gradients(q, t, &mut self.gradients);
        self.system.mass().solve(p, &mut self.velocity);
        rows.multiply(&self.gradients, &self.velocity, out);
    }

    /// Projects a momentum, $p \leftarrow Q(q)\\,p$ with $Q = M P (P^\top M P)^{-1} P^\top$.
    ///
    /// # Errors
    /// Gradients that are not finite, or a motion without inertia.
    pub fn project(&mut self, (q, t): (&[f64], f64), p: &mut [f64]) -> Result<(), SystemError> {
        self.basis
            .evaluate(q, t)
            .and_then(|()| self.basis.factor_inertia())
            .and_then(|()| self.basis.project(p, &mut self.velocity))
            .map_err(misfit)
    }

    fn minus(&mut self, leaving: Segment<'_>, out: &mut [f64]) {
        self.lagrangian.d1(leaving.start, leaving.end, leaving.t, leaving.h, out);
        for x in out.iter_mut() {
            *x = -*x;
        }
    }

    fn plus(&mut self, reaching: Segment<'_>, out: &mut [f64]) {
        self.lagrangian.d2(reaching.start, reaching.end, reaching.t, reaching.h, out);
    }

    fn add_constraints(&mut self, (q, t): (&[f64], f64), lambda: &[f64], s: f64, out: &mut [f64]) {
        let rows = self.system.equalities();
        rows.gradients(q, t, &mut self.gradients);
        rows.add_transposed(&self.gradients, lambda, s, out);
    }

    /// Writes $P^\top$ times the vector in `other`.
    fn reduce(&mut self, (q, t): (&[f64], f64), out: &mut [f64]) -> Result<usize, SystemError> {
        self.basis.evaluate(q, t).map_err(misfit)?;
        self.basis.reduce(&self.other, out);
        Ok(self.basis.freedoms())
    }

    /// Writes $s\\,R^\top(q_k)\\,[D_1 L_d + b]$.
    fn recover(
        &mut self,
        leaving: Segment<'_>,
        mut b: Vec<f64>,
        s: f64,
        out: &mut [f64],
    ) -> Result<(), SystemError> {
        let mut momentum = std::mem::take(&mut self.other);
        self.minus(leaving, &mut momentum);
        for (b, p) in b.iter_mut().zip(&momentum) {
            *b = s * (*b - p);
        }
        self.other = momentum;
        self.basis.evaluate(leaving.start, leaving.t).map_err(misfit)?;
        self.basis.multipliers(&b, out).map_err(misfit)
    }
}

fn misfit(error: LinearError) -> SystemError {
    SystemError::DoesNotFit { method: "the constrained Legendre transform", why: error.to_string() }
}
