//! The mass where a system is: the constant one, or that of a configuration.
//!
//! Whoever needs $M^{-1}$ at a place asks for it with the place, and never holds the mass of another one by mistake. A mass that depends on the
//! configuration is a full block in a few coordinates; it is inverted once per configuration, without allocation.

use nsm_constraints::Metric;
use nsm_solvers::LinearError;
use nsm_solvers::small::{self, cholesky};

use super::block::Block;
use super::{Coupled, Mass, Place, Shape};
use crate::{StepError, System, SystemError, VariableMass};

/// The mass of one system at the configuration that is asked for.
pub struct PlacedMass<'a> {
    system: &'a System,
    metric: Metric,
    varying: Option<Box<Varying<'a>>>,
}

struct Varying<'a> {
    law: &'a dyn VariableMass,
    mass: Mass,
    matrix: Vec<f64>,
    at: Vec<f64>,
}

impl std::fmt::Debug for PlacedMass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlacedMass")
            .field("varies", &self.varying.is_some())
            .finish_non_exhaustive()
    }
}

impl<'a> PlacedMass<'a> {
    /// The mass of a system in which every coordinate has inertia.
    ///
    /// # Errors
    /// Coordinates without mass, and masses whose inverse is too large to be formed.
    pub fn new(system: &'a System) -> Result<Self, SystemError> {
        let Some(law) = system.variable_mass() else {
            system.require_regular_mass()?;
            return Ok(Self { system, metric: system.mass().inverse_metric()?, varying: None });
        };
        let n = system.dimension();
        let mass = Mass::full_block(n);
        let metric = mass.inverse_metric()?;
        let (matrix, at) = (vec![0.0; n * n], vec![f64::NAN; n]);
        let varying = Some(Box::new(Varying { law, mass, matrix, at }));
        Ok(Self { system, metric, varying })
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// Whether the mass depends on the configuration.
    pub fn varies(&self) -> bool {
        self.varying.is_some()
    }

    /// The mass at a configuration.
    ///
    /// # Errors
    /// A direction without inertia there, named by a coordinate.
    #[inline]
    pub fn at(&mut self, q: &[f64], t: f64) -> Result<&Mass, StepError> {
        self.place(q, t)?;
        Ok(self.last())
    }

    /// The mass at a configuration, and its inverse as the inner product on momenta.
    ///
    /// # Errors
    /// Those of [`at`](Self::at).
    #[inline]
    pub fn with_metric(&mut self, q: &[f64], t: f64) -> Result<(&Mass, &Metric), StepError> {
        self.place(q, t)?;
        let mass = self.varying.as_ref().map_or(self.system.mass(), |varying| &varying.mass);
        Ok((mass, &self.metric))
    }

    /// The metric at the last configuration; of a constant mass always the same.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The mass at the last configuration.
    #[inline]
    pub fn last(&self) -> &Mass {
        self.varying.as_ref().map_or(self.system.mass(), |varying| &varying.mass)
    }

    #[inline]
    fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        let Some(varying) = &mut self.varying else { return Ok(()) };
        if varying.at == q {
            return Ok(());
        }
        varying.at.fill(f64::NAN);
        varying.law.matrix(q, &mut varying.matrix);
        if let Err(pivot) = varying.mass.renew(&mut varying.matrix) {
            let culprit = self.system.names().get(pivot).cloned().unwrap_or_default();
            let what = "the mass, by the kinetic energy,";
            return Err(StepError::Singular { t, what, culprit });
        }
        varying.mass.copy_inverse(self.metric.values_mut());
        varying.at.copy_from_slice(q);
        Ok(())
    }
}

impl Mass {
    /// One full block on all `dimension` coordinates, the identity until it is [renewed](Mass::renew).
    pub fn full_block(dimension: usize) -> Self {
        let coupled = Coupled {
            mass: vec![0.0; dimension],
            inverse: vec![0.0; dimension],
            blocks: vec![Block::identity(dimension)],
            bands: Vec::new(),
            place: (0..dimension).map(|at| Place::Block { block: 0, at }).collect(),
        };
        Self { dimension, shape: Shape::Coupled(Box::new(coupled)), massless: Vec::new() }
    }

    /// Gives a [full block](Mass::full_block) other values, row by row, without allocation; `matrix` is overwritten by its factor.
    ///
    /// # Errors
    /// The first coordinate along which the matrix is not positive definite; the values are lost then. A mass that is no full block is
    /// left as it is.
    pub fn renew(&mut self, matrix: &mut [f64]) -> Result<(), usize> {
        let Shape::Coupled(coupled) = &mut self.shape else { return Ok(()) };
        match coupled.blocks.first_mut() {
            Some(block) if block.size() == self.dimension => block.renew(matrix),
            _ => Ok(()),
        }
    }

    fn copy_inverse(&self, out: &mut [f64]) {
        if let Shape::Coupled(coupled) = &self.shape
            && let Some(block) = coupled.blocks.first()
        {
            out.copy_from_slice(block.inverse());
        }
    }
}

impl Block {
    fn identity(size: usize) -> Self {
        let mut mass = vec![0.0; size * size];
        mass.iter_mut().step_by(size + 1).for_each(|x| *x = 1.0);
        Self { members: (0..size).collect(), inverse: mass.clone(), mass }
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// Other values, positive definite; else the coordinate that shows that they are not.
    fn renew(&mut self, matrix: &mut [f64]) -> Result<(), usize> {
        let size = self.size();
        self.mass.copy_from_slice(matrix);
        let pivot = |error| match error {
            LinearError::Singular { pivot, .. }
            | LinearError::NotPositiveDefinite { pivot, .. } => pivot,
            _ => 0,
        };
        cholesky::factor(size, matrix, small::tolerance(size)).map_err(pivot)?;
        for (j, column) in self.inverse.chunks_exact_mut(size).enumerate() {
            column.fill(0.0);
            column[j] = 1.0;
            cholesky::solve(size, matrix, column).map_err(pivot)?;
        }
        for i in 0..size {
            for j in 0..i {
                let mean = 0.5 * (self.inverse[i * size + j] + self.inverse[j * size + i]);
                self.inverse[i * size + j] = mean;
                self.inverse[j * size + i] = mean;
            }
        }
        Ok(())
    }
}
