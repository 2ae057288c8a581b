//! The equality constraints at one configuration: gradients, and the mass under them.
//!
//! $$ \begin{pmatrix} M & F \cr F^\top & 0 \end{pmatrix} \begin{pmatrix} v \cr \mu \end{pmatrix}
//!    = \begin{pmatrix} p \cr b \end{pmatrix} $$
//! is factorised once per configuration ([`ConstrainedMass`]): where one step ends it makes the momentum
//! tangent, and where the next begins it is the matrix that holds the constraints.

use nsm_model::{ConstrainedMass, StepError, System, SystemError, motion_without_inertia};
use nsm_solvers::LinearError;
use nsm_solvers::small::norm_inf;

/// Times that a tangent velocity is corrected for the rounding of the projection.
const CORRECTIONS: usize = 2;

/// Equality constraints where they were placed last, with all workspace.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    system: &'a System,
    mass: ConstrainedMass,
    singular: bool,
    rheonomic: bool,
    /// Row after row.
    pub(crate) gradients: Vec<f64>,
    at: Vec<f64>,
    at_time: f64,
    /// $-f_t$.
    rates: Vec<f64>,
    defect: Vec<f64>,
    /// The last velocity and multipliers, and the tangent momentum that the velocity belongs to.
    pub(crate) velocity: Vec<f64>,
    tangent: Vec<f64>,
    pub(crate) multipliers: Vec<f64>,
    dv: Vec<f64>,
    dmu: Vec<f64>,
    impulse: Vec<f64>,
    zero: Vec<f64>,
}

impl<'a> Held<'a> {
    pub(crate) fn new(system: &'a System) -> Result<Self, SystemError> {
        let (n, rows) = (system.dimension(), system.equalities());
        let m = rows.len();
        Ok(Self {
            system,
            mass: ConstrainedMass::new(system.mass(), &[rows])?,
            singular: !system.mass().massless().is_empty(),
            rheonomic: rows.is_rheonomic(),
            gradients: vec![0.0; rows.entries()],
            at: vec![f64::NAN; n],
            at_time: f64::NAN,
            rates: vec![0.0; m],
            defect: vec![0.0; m],
            velocity: vec![0.0; n],
            tangent: vec![f64::NAN; n],
            multipliers: vec![0.0; m],
            dv: vec![0.0; n],
            dmu: vec![0.0; m],
            impulse: vec![0.0; n],
            zero: vec![0.0; n],
        })
    }

    /// Puts other values in place of a diagonal mass, where the matrix is not that of the mass alone.
    pub(crate) fn weigh(&mut self, mass: &[f64]) -> Result<(), LinearError> {
        self.at_time = f64::NAN;
        self.mass.set_diagonal(mass)
    }

    /// Evaluates and factorises at a configuration, unless it is there already.
    pub(crate) fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        if self.at_time == t && self.at == q {
            return Ok(());
        }
        self.at_time = f64::NAN;
        self.tangent.fill(f64::NAN);
        let rows = self.system.equalities();
        rows.gradients(q, t, &mut self.gradients);
        if self.rheonomic {
            rows.rates(q, t, &mut self.rates);
            self.rates.iter_mut().for_each(|r| *r = -*r);
        }
        if let Err(error) = self.mass.factorise(&self.gradients) {
            return Err(self.failure(t, &error));
        }
        self.at.copy_from_slice(q);
        self.at_time = t;
        Ok(())
    }

    /// Rows that depend on others where the constraints were placed last.
    pub(crate) fn redundant(&self) -> &[usize] {
        self.mass.redundant()
    }

    /// Whether each row is kept, one independent set of them.
    pub(crate) fn independent(&self) -> &[bool] {
        self.mass.independent()
    }

    /// Makes `p` tangent; `velocity` is the one that belongs to it, `multipliers` the $\mu$ of
    /// $p \leftarrow p + F\mu$.
    pub(crate) fn project(&mut self, p: &mut [f64]) -> Result<(), LinearError> {
        self.tangent.fill(f64::NAN);
        let rows = self.system.equalities();
        self.mass.solve(p, &self.rates, &mut self.velocity, &mut self.multipliers)?;
        // Multipliers solve normal equations, whose rounding a second pass takes out.
        for _ in 0..CORRECTIONS {
            rows.multiply(&self.gradients, &self.velocity, &mut self.defect);
            let independent = self.mass.independent();
            for ((d, b), kept) in self.defect.iter_mut().zip(&self.rates).zip(independent) {
                *d = if *kept { b - *d } else { 0.0 };
            }
            if norm_inf(&self.defect) <= 4.0 * f64::EPSILON * norm_inf(&self.velocity) {
                break;
            }
            self.mass.solve(&self.zero, &self.defect, &mut self.dv, &mut self.dmu)?;
            add(&mut self.velocity, &self.dv);
            add(&mut self.multipliers, &self.dmu);
        }
        self.multipliers.iter_mut().for_each(|mu| *mu = -*mu);
        if self.singular {
            self.system.mass().multiply(&self.velocity, p);
        } else {
            rows.add_transposed(&self.gradients, &self.multipliers, 1.0, p);
        }
        self.tangent.copy_from_slice(p);
        Ok(())
    }

    /// The velocity of a tangent momentum, in `velocity`.
    pub(crate) fn velocity_of(&mut self, p: &[f64]) -> Result<(), LinearError> {
        if self.tangent == p {
            return Ok(());
        }
        self.tangent.fill(f64::NAN);
        self.mass.solve(p, &self.rates, &mut self.velocity, &mut self.dmu)?;
        self.tangent.copy_from_slice(p);
        Ok(())
    }

    /// The displacement $\delta$ along $M^{-1}F$ with $F^\top\delta = b$, and $\mu$ with $M\delta + F\mu = 0$.
    pub(crate) fn displace(
        &mut self,
        b: &[f64],
        delta: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), LinearError> {
        self.mass.displace(b, delta, mu)
    }

    /// Solves for $v$ and $\mu$ of any right-hand side.
    pub(crate) fn solve(
        &mut self,
        p: &[f64],
        b: &[f64],
        v: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), LinearError> {
        self.mass.solve(p, b, v, mu)
    }

    /// Adds $h M^{-1} F\nu$ to `x`.
    pub(crate) fn push(&mut self, nu: &[f64], h: f64, x: &mut [f64]) {
        self.impulse.fill(0.0);
        self.system.equalities().add_transposed(&self.gradients, nu, h, &mut self.impulse);
        if let Some(inverse) = self.system.mass().as_inverse_diagonal() {
            for ((x, w), p) in x.iter_mut().zip(inverse).zip(&self.impulse) {
                *x += w * p;
            }
            return;
        }
        self.system.mass().solve(&self.impulse, &mut self.dv);
        add(x, &self.dv);
    }

    pub(crate) fn failure(&self, t: f64, error: &LinearError) -> StepError {
        let rows = self.system.equalities();
        for i in 0..rows.len() {
            if self.gradients[rows.span(i)].iter().any(|g| !g.is_finite()) {
                let culprit = rows.name(i).to_owned();
                return StepError::NotFinite { t, what: "the gradient", culprit };
            }
        }
        match motion_without_inertia(self.system.mass(), rows, &self.gradients) {
            Some(i) => {
                let coordinate = self.system.names()[i].clone();
                let source = Box::new(SystemError::Massless { coordinate });
                StepError::Method { t, source }
            }
            None => StepError::Method { t, source: Box::new(*error) },
        }
    }
}

fn add(x: &mut [f64], d: &[f64]) {
    for (x, d) in x.iter_mut().zip(d) {
        *x += d;
    }
}
