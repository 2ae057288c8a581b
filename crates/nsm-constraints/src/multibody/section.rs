//! What a cross-section of a beam resists by: stiffness, mass, and the resultants of its stresses.

use crate::ConstraintError;
use crate::distance::not_negative;

/// Stiffnesses of a cross-section, in the directions of the directors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionStiffness {
    /// $GA_1$, $GA_2$: shear along $d_1$ and $d_2$ (force).
    pub shear: [f64; 2],
    /// $EA$: extension along $d_3$ (force).
    pub axial: f64,
    /// $EI_1$, $EI_2$: bending about $d_1$ and $d_2$ (force times area).
    pub bending: [f64; 2],
    /// $GJ$: torsion about $d_3$ (force times area).
    pub torsion: f64,
}

impl SectionStiffness {
    /// In the order of the strains.
    pub(super) fn coefficients(&self) -> [f64; 6] {
        let Self { shear: [s1, s2], axial, bending: [b1, b2], torsion } = *self;
        [s1, s2, axial, b1, b2, torsion]
    }

    /// Refuses stiffnesses that are negative or not finite.
    pub(super) fn check(&self) -> Result<(), ConstraintError> {
        const NAMES: [&str; 6] = [
            "the shear stiffness GA1 of a beam",
            "the shear stiffness GA2 of a beam",
            "the axial stiffness EA of a beam",
            "the bending stiffness EI1 of a beam",
            "the bending stiffness EI2 of a beam",
            "the torsional stiffness GJ of a beam",
        ];
        NAMES.iter().zip(self.coefficients()).try_for_each(|(what, c)| not_negative(what, c))
    }
}

/// Mass of a cross-section for each length of the beam (\[LMO\] (114)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionMass {
    /// $A_\rho$ (mass per length).
    pub per_length: f64,
    /// $M_\rho^1$, $M_\rho^2$: the second moments of the density along $d_1$ and $d_2$ (mass times length).
    pub directors: [f64; 2],
}

impl SectionMass {
    /// Refuses masses that are negative or not finite.
    pub(super) fn check(&self) -> Result<(), ConstraintError> {
        let [first, second] = self.directors;
        not_negative("the mass per length of a beam", self.per_length)?;
        not_negative("the inertia M1 of a beam's section", first)?;
        not_negative("the inertia M2 of a beam's section", second)
    }
}

/// Forces and moments in a cross-section, in the directions of the directors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resultants {
    /// $N_i = GA_1\Gamma_1, GA_2\Gamma_2, EA\\,\Gamma_3$: two shear forces and the axial force, positive in tension.
    pub force: [f64; 3],
    /// $M_i = EI_1 K_1, EI_2 K_2, GJ K_3$: two bending moments and the torque.
    pub moment: [f64; 3],
}
