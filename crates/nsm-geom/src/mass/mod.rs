//! Mass, centre of mass and inertia of rigid bodies.
//!
//! With $\rho$ measured from the centre of mass (\[TL\] Appendix B),
//! $$ J = \int_{\mathcal B}S(\rho)^\top S(\rho)\\,dm, \qquad J_d = \int_{\mathcal B}\rho\rho^\top dm, $$
//! $$ J = \mathrm{tr}(J_d)I - J_d, \qquad J_d = \tfrac12\mathrm{tr}(J)I - J \tag{TL 4.1} $$
//! $$ S(J\Omega) = S(\Omega)J_d + J_dS(\Omega). \tag{TL 4.2} $$
//! Density is uniform. Primitives have closed forms, polyhedra are summed over tetrahedra (exact up to
//! rounding), everything else goes through quadrature to a stated accuracy.

mod moments;
mod quadrature;

pub(crate) use moments::Moments;

use crate::{GeomError, Mat3, Pose, Shape, Vec3, error::positive, so3::skew};

/// Mass, centre of mass and inertia of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Total mass $m$.
    pub mass: f64,
    /// Centre of mass in the body frame.
    pub centre: Vec3,
    /// Standard inertia $J$ about the centre of mass, along the body frame's axes.
    pub inertia: Mat3,
}

/// Principal moments of inertia and the frame in which the inertia is diagonal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrincipalAxes {
    /// Principal moments, ascending.
    pub moments: Vec3,
    /// Rotation whose columns are the principal axes: $J = Q\\,\mathrm{diag}\\,Q^\top$.
    pub axes: Mat3,
}

impl MassProperties {
    /// Mass properties given by hand, checked.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`] for the mass, [`GeomError::NotFinite`] for the centre,
    /// [`GeomError::NotPositiveDefinite`] for the inertia.
    pub fn new(mass: f64, centre: Vec3, inertia: Mat3) -> Result<Self, GeomError> {
        positive("mass", mass)?;
        crate::error::finite("centre of mass", centre)?;
        check_inertia(&inertia)?;
        Ok(Self { mass, centre, inertia: 0.5 * (inertia + inertia.transpose()) })
    }

    /// $J_d$ about the centre of mass (\[TL\] (4.1)).
    pub fn nonstandard(&self) -> Mat3 {
        nonstandard(&self.inertia)
    }

    /// Standard inertia about another point of the body frame (parallel axes).
    pub fn inertia_about(&self, point: &Vec3) -> Mat3 {
        let s = skew(&(self.centre - point));
        self.inertia + self.mass * s.tr_mul(&s)
    }

    /// The same body with its density scaled to a total mass.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn with_mass(&self, mass: f64) -> Result<Self, GeomError> {
        let k = positive("mass", mass)? / self.mass;
        Ok(Self { mass, centre: self.centre, inertia: self.inertia * k })
    }

    /// The same body described in a frame in which it sits at `pose`.
    #[must_use]
    pub fn placed(&self, pose: &Pose) -> Self {
        Self {
            mass: self.mass,
            centre: pose.act(&self.centre),
            inertia: pose.rot * self.inertia * pose.rot.transpose(),
        }
    }

    /// The two bodies joined rigidly.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let centre = (self.mass * self.centre + other.mass * other.centre) / mass;
        Self { mass, centre, inertia: self.inertia_about(&centre) + other.inertia_about(&centre) }
    }

    /// Principal moments and axes.
    pub fn principal_axes(&self) -> PrincipalAxes {
        let eigen = self.inertia.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        let moments = Vec3::from_fn(|k, _| eigen.eigenvalues[order[k]]);
        let (e0, e1) = (eigen.eigenvectors.column(order[0]), eigen.eigenvectors.column(order[1]));
        let axes = Mat3::from_columns(&[e0.into_owned(), e1.into_owned(), e0.cross(&e1)]);
        PrincipalAxes { moments, axes }
    }
}

/// $J_d = \tfrac12\mathrm{tr}(J)I - J$ (\[TL\] (4.1)).
pub fn nonstandard(inertia: &Mat3) -> Mat3 {
    Mat3::identity() * (0.5 * inertia.trace()) - inertia
}

/// $J = \mathrm{tr}(J_d)I - J_d$ (\[TL\] (4.1)).
pub fn standard(nonstandard: &Mat3) -> Mat3 {
    Mat3::identity() * nonstandard.trace() - nonstandard
}

/// Is $J$ symmetric (to $10^{-6}$ of its size) and positive definite?
///
/// # Errors
/// [`GeomError::NotPositiveDefinite`], also for NaN.
pub fn check_inertia(inertia: &Mat3) -> Result<(), GeomError> {
    let asymmetry = (inertia - inertia.transpose()).amax();
    if !inertia.iter().all(|c| c.is_finite()) {
        return Err(GeomError::NotPositiveDefinite { eigenvalue: f64::NAN, asymmetry });
    }
    let eigenvalue = (0.5 * (inertia + inertia.transpose())).symmetric_eigenvalues().min();
    if eigenvalue > 1e-14 * inertia.amax() && asymmetry <= 1e-6 * inertia.amax() {
        Ok(())
    } else {
        Err(GeomError::NotPositiveDefinite { eigenvalue, asymmetry })
    }
}

impl Shape {
    /// Mass properties at uniform density; where no closed form exists, by quadrature with a tolerance of
    /// $10^{-8}$, relative to the volume.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`] for the density.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, GeomError> {
        self.mass_properties_within(density, 1e-8)
    }

    /// As [`Shape::mass_properties`], with the tolerance of the quadrature given.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`] for the density or the tolerance.
    pub fn mass_properties_within(
        &self,
        density: f64,
        tolerance: f64,
    ) -> Result<MassProperties, GeomError> {
        positive("density", density)?;
        positive("quadrature tolerance", tolerance)?;
        Ok(Moments::of(self, tolerance)?.properties(density))
    }
}
