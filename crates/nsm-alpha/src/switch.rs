//! A change of mode: is it well-posed, which impulse goes with it, what does it cost.
//!
//! \[PB\] section 2.1.1: the constraints of both modes must meet on the surface $z = 0$, and the surface
//! must cut them, that is (12): $Z$ is independent of $G_1$ and of $G_2$. Both are tested at the point
//! where the constraints of the mode left behind reach the surface, found by Newton's method. The impact
//! is (31)–(32), and the direction condition (54) is tested for the $\mathcal{E}$ in use.

use nsm_constraints::Switching;
use nsm_model::{System, SystemError};
use nsm_solvers::small::qr::PivotedQr;
use nsm_solvers::small::{dot, norm_inf};

use crate::AlphaError;
use crate::bilateral::Bilateral;
use crate::equations::Equations;
use crate::interpolation::{Interpolation, Switch};
use crate::saddle::{Border, Saddle};

/// How far the constraints of the new mode may be from zero where the old ones meet the surface.
const MEETING: f64 = 1e-7;
/// Relative size below which a part of $Z$ outside the constraints counts as zero.
const TANGENT: f64 = 1e-9;

/// Everything needed at a switch.
pub(crate) struct Crossing<'a> {
    switching: Option<&'a Switching>,
    n: usize,
    pub(crate) interpolation: f64,
    law: Interpolation,
    rows: Bilateral<'a>,
    mass: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    values: Vec<f64>,
    surface: Vec<f64>,
    point: Vec<f64>,
    step: Vec<f64>,
    gradient: Vec<f64>,
    qr: PivotedQr,
    stacked: Vec<f64>,
}

impl std::fmt::Debug for Crossing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crossing")
            .field("interpolation", &self.interpolation)
            .finish_non_exhaustive()
    }
}

impl<'a> Crossing<'a> {
    pub(crate) fn new(system: &'a System, interpolation: f64) -> Result<Self, SystemError> {
        let n = system.dimension();
        // Full matrices, for systems that switch only.
        let switches = usize::from(system.switching().is_some());
        let m = switches * Bilateral::capacity_of(system, false);
        Ok(Self {
            switching: system.switching(),
            n,
            interpolation,
            law: Interpolation::new(switches * n, m),
            rows: Bilateral::new(system, false)?,
            mass: vec![0.0; switches * n * n],
            before: vec![0.0; m * n],
            after: vec![0.0; m * n],
            values: vec![0.0; m + 1],
            surface: vec![0.0; n],
            point: vec![0.0; n],
            step: vec![0.0; n],
            gradient: vec![0.0; Bilateral::entries_of(system, false)],
            qr: PivotedQr::new(m + 1, switches * n),
            stacked: vec![0.0; (m + 1) * switches * n],
        })
    }

    /// Entries of $G_{\mathcal{E}}$ as a full matrix: none where nothing switches.
    pub(crate) fn entries_of(system: &System) -> usize {
        let m = Bilateral::capacity_of(system, false);
        if system.switching().is_some() { m * system.dimension() } else { 0 }
    }

    pub(crate) fn name(&self, mode: i64) -> String {
        self.switching.map_or_else(|| format!("mode {mode}"), |s| s.name(mode))
    }

    /// Tests that the modes meet and that neither is tangent to the surface, near $q$.
    pub(crate) fn check_surface(
        &mut self,
        from: i64,
        to: i64,
        q: &[f64],
        t: f64,
    ) -> Result<(), AlphaError> {
        let Some(switching) = self.switching else { return Ok(()) };
        self.point.copy_from_slice(q);
        self.rows.choose(Some(from), &[], q, t);
        // Newton to the constraints of `from` and the surface; quadratic from a point one step away.
        for _ in 0..8 {
            self.stack(switching, from, t);
            let m = self.rows.len() + 1;
            let rank = self.qr.factor(m, self.n, &self.stacked[..m * self.n], TANGENT);
            if rank != Ok(m) {
                return Err(self.tangent(from, to, from));
            }
            let residual = norm_inf(&self.values[..m]);
            if residual < 1e-13
                || self.qr.solve_minimum_norm(&self.values[..m], &mut self.step).is_err()
            {
                break;
            }
            for (x, dx) in self.point.iter_mut().zip(&self.step) {
                *x -= dx;
            }
        }
        let point = std::mem::take(&mut self.point);
        self.rows.choose(Some(to), &[], &point, t);
        self.point = point;
        let m = self.rows.len();
        self.rows.values(&self.point, t, &mut self.values[..m]);
        let size = 1.0 + norm_inf(&self.point);
        let worst = (0..m).max_by(|&a, &b| self.values[a].abs().total_cmp(&self.values[b].abs()));
        if let Some(i) = worst {
            let value = self.values[i];
            if value.is_nan() || value.abs() > MEETING * size {
                return Err(AlphaError::ModesDoNotMeet {
                    from: self.name(from),
                    to: self.name(to),
                    constraint: self.rows.name(i).to_owned(),
                    value,
                });
            }
        }
        self.stack(switching, from, t);
        if self.qr.factor(m + 1, self.n, &self.stacked[..(m + 1) * self.n], TANGENT) != Ok(m + 1) {
            return Err(self.tangent(from, to, to));
        }
        Ok(())
    }

    /// Gradients of the chosen rows and, below them, of the region function of `from`; their values.
    fn stack(&mut self, switching: &Switching, from: i64, t: f64) {
        let (n, m) = (self.n, self.rows.len());
        let (top, bottom) = self.stacked.split_at_mut(m * n);
        self.rows.full_gradient(&self.point, t, top);
        switching.region_gradient(from, &self.point, t, &mut bottom[..n]);
        self.rows.values(&self.point, t, &mut self.values[..m]);
        self.values[m] = switching.region(from, &self.point, t);
    }

    fn tangent(&self, from: i64, to: i64, of: i64) -> AlphaError {
        AlphaError::TangentSurface {
            from: self.name(from),
            to: self.name(to),
            tangent: self.name(of),
        }
    }

    /// $\dot z = Z v + z_t$ of the region left behind.
    pub(crate) fn surface_rate(&mut self, from: i64, q: &[f64], v: &[f64], t: f64) -> f64 {
        match self.switching {
            None => 0.0,
            Some(s) => {
                let rate = s.region_gradient(from, q, t, &mut self.surface);
                dot(&self.surface, v) + rate
            }
        }
    }

    /// The length of the region function and the speed of its rate, as those of a gap
    /// ([`Contacts::length`](crate::contact::Contacts::length)).
    pub(crate) fn surface_scales(
        &mut self,
        from: i64,
        (q, t): (&[f64], f64),
        (lengths, speeds): (&[f64], &[f64]),
    ) -> (f64, f64) {
        let Some(s) = self.switching else { return (0.0, 0.0) };
        s.region_gradient(from, q, t, &mut self.surface);
        let magnitude = |x: &[f64]| self.surface.iter().zip(x).map(|(g, x)| g.abs() * x).sum();
        (magnitude(lengths), magnitude(speeds))
    }

    /// The direction condition (54): the motion must not be sent back through the surface.
    pub(crate) fn check_direction(
        &self,
        from: i64,
        to: i64,
        before: f64,
        after: f64,
    ) -> Result<(), AlphaError> {
        if before * after >= -1e-9 * before * before {
            return Ok(());
        }
        Err(AlphaError::Direction {
            from: self.name(from),
            to: self.name(to),
            before,
            after,
            interpolation: self.interpolation,
        })
    }

    /// The rows of $G_{\mathcal{E}}$ between $G^-$ at $(q^-, t^-)$ in mode `from` and $G^+$ in mode `to`
    /// at $(q^+, t^+)$, for a motion that arrives with $v^-$. With $\mathcal{E} = 1$ they are $G^+$.
    pub(crate) fn intermediate(
        &mut self,
        equations: &mut Equations<'a>,
        (from, to): (i64, i64),
        before: (&[f64], f64),
        after: (&[f64], f64),
        velocity: &[f64],
    ) -> Result<&[f64], AlphaError> {
        if self.interpolation == 1.0 {
            self.rows.choose(Some(to), &[], after.0, after.1);
            let m = self.rows.len();
            self.rows.full_gradient(after.0, after.1, &mut self.after[..m * self.n]);
            return Ok(&self.after[..m * self.n]);
        }
        self.interpolate(equations, (from, to), before, after, velocity)?;
        Ok(self.law.gradient())
    }

    fn interpolate(
        &mut self,
        equations: &mut Equations<'a>,
        (from, to): (i64, i64),
        (q_before, t_before): (&[f64], f64),
        (q_after, t_after): (&[f64], f64),
        velocity: &[f64],
    ) -> Result<f64, AlphaError> {
        let n = self.n;
        self.rows.choose(Some(from), &[], q_before, t_before);
        let m_before = self.rows.len();
        self.rows.full_gradient(q_before, t_before, &mut self.before[..m_before * n]);
        self.rows.choose(Some(to), &[], q_after, t_after);
        let m = self.rows.len();
        self.rows.full_gradient(q_after, t_after, &mut self.after[..m * n]);
        self.rows.rates(q_after, t_after, &mut self.values[..m]);
        equations.mass_matrix(q_after, &mut self.mass);
        let surface_rate = match self.switching {
            Some(s) => s.region_gradient(from, q_after, t_after, &mut self.surface),
            None => 0.0,
        };
        self.law.impact(&Switch {
            mass: &self.mass,
            before: &self.before[..m_before * n],
            after: &self.after[..m * n],
            rates: &self.values[..m],
            surface: &self.surface,
            surface_rate,
            velocity,
            interpolation: self.interpolation,
        })
    }

    /// The impact on the surface at $(q, t)$: replaces $v^-$ by $v^+$, returns energy change and size of
    /// the impulse $|G_{\mathcal{E}}^\top \Lambda|$.
    pub(crate) fn impact(
        &mut self,
        equations: &mut Equations<'a>,
        saddle: &mut Saddle,
        (from, to): (i64, i64),
        (q, t): (&[f64], f64),
        v: &mut [f64],
    ) -> Result<(f64, f64), AlphaError> {
        let n = self.n;
        let approach = self.surface_rate(from, q, v, t);
        let (energy, impulse);
        if self.interpolation == 1.0 {
            (energy, impulse) = self.onto(equations, saddle, to, (q, t), v)?;
        } else {
            energy = self.interpolate(equations, (from, to), (q, t), (q, t), v)?;
            let mut sum = 0.0;
            for j in 0..n {
                let component: f64 = (0..self.law.impulse().len())
                    .map(|i| self.law.gradient()[i * n + j] * self.law.impulse()[i])
                    .sum();
                sum += component * component;
            }
            impulse = sum.sqrt();
            v.copy_from_slice(self.law.velocity());
        }
        let leaving = self.surface_rate(from, q, v, t);
        self.check_direction(from, to, approach, leaving)?;
        Ok((energy, impulse))
    }

    /// Projects $v$ onto the constraints of a mode in the metric of the mass, which may be singular: the
    /// impact with $\mathcal{E} = 1$. Returns energy change and size of the impulse.
    pub(crate) fn onto(
        &mut self,
        equations: &mut Equations<'a>,
        saddle: &mut Saddle,
        to: i64,
        (q, t): (&[f64], f64),
        v: &mut [f64],
    ) -> Result<(f64, f64), AlphaError> {
        let Self { rows, gradient, values, .. } = self;
        rows.choose(Some(to), &[], q, t);
        let m = rows.len();
        rows.gradient(q, t, gradient);
        rows.rates(q, t, &mut values[..m]);
        equations.add_mass(q, 1.0, saddle.begin());
        let singular = |_| AlphaError::Orthogonal { interpolation: 1.0 };
        saddle.factor(rows, Border::Rows(gradient), gradient).map_err(singular)?;
        // The increment W = v⁺ − v⁻, so that a velocity that fits already stays bit by bit.
        let (r, g) = saddle.rhs();
        r.fill(0.0);
        for i in 0..m {
            g[i] = -values[i] - rows.along(i, gradient, v);
        }
        saddle.solve().map_err(singular)?;
        let (w, lambda) = saddle.rhs();
        self.step.fill(0.0);
        rows.add_transposed(1.0, gradient, lambda, &mut self.step);
        let (mut energy, mut impulse) = (0.0, 0.0);
        for (j, reaction) in self.step.iter().enumerate() {
            energy -= 0.5 * reaction * (2.0 * v[j] + w[j]);
            impulse += reaction * reaction;
        }
        for (v, w) in v.iter_mut().zip(w) {
            *v += *w;
        }
        Ok((energy, impulse.sqrt()))
    }
}
