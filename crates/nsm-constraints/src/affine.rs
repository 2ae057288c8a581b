//! Affine functions of the coordinates: half-spaces, linear constraints, weights.
//!
//! $$ \varphi(q) = a \cdot x + d, \qquad \nabla \varphi = a, \qquad \nabla^2 \varphi = 0 $$

use crate::{ConstraintError, Field};

/// $a \cdot x + d$ on chosen coordinates $x$.
///
/// ```
/// use nsm_constraints::{Affine, Field};
///
/// // Above a plane that rises at 45°, as a distance.
/// let slope = Affine::half_space(&[0, 1], &[-1.0, 1.0], 0.0)?;
/// assert!((slope.value(&[0.0, 2.0], 0.0) - 2.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    coordinates: Vec<usize>,
    coefficients: Vec<f64>,
    offset: f64,
}

impl Affine {
    /// $a \cdot x + d$ with `coefficients` $a$ and `offset` $d$.
    ///
    /// # Errors
    /// Lengths that disagree, repeated coordinates, numbers that are not finite.
    pub fn new(
        coordinates: &[usize],
        coefficients: &[f64],
        offset: f64,
    ) -> Result<Self, ConstraintError> {
        if coefficients.len() != coordinates.len() {
            return Err(ConstraintError::Length {
                what: "the list of coefficients",
                length: coefficients.len(),
                expected: coordinates.len(),
            });
        }
        crate::blocks::check_distinct(coordinates)?;
        for &value in coefficients.iter().chain([&offset]) {
            finite("a coefficient of an affine function", value)?;
        }
        Ok(Self { coordinates: coordinates.to_vec(), coefficients: coefficients.to_vec(), offset })
    }

    /// The signed distance $n \cdot x + d$ from the boundary of a half-space, with $n$ and $d$ divided by $|n|$.
    ///
    /// # Errors
    /// As for [`Affine::new`], or a normal of length zero.
    pub fn half_space(
        coordinates: &[usize],
        normal: &[f64],
        offset: f64,
    ) -> Result<Self, ConstraintError> {
        let length = crate::distance::norm(normal);
        if !(length > 0.0 && length.is_finite()) {
            let (what, must) = ("the length of a normal", "positive and finite");
            return Err(ConstraintError::Parameter { what, must, value: length });
        }
        let unit: Vec<f64> = normal.iter().map(|x| x / length).collect();
        Self::new(coordinates, &unit, offset / length)
    }

    /// $q_i - d$: coordinate $i$ above a floor at $d$.
    ///
    /// # Errors
    /// A height that is not finite.
    pub fn above(coordinate: usize, height: f64) -> Result<Self, ConstraintError> {
        Self::new(&[coordinate], &[1.0], -height)
    }

    /// $d - q_i$: coordinate $i$ below a ceiling at $d$.
    ///
    /// # Errors
    /// A height that is not finite.
    pub fn below(coordinate: usize, height: f64) -> Result<Self, ConstraintError> {
        Self::new(&[coordinate], &[-1.0], height)
    }

    /// $q_j - q_i - d$: the gap between two points on a line, $j$ ahead of $i$.
    ///
    /// # Errors
    /// Twice the same coordinate, or a distance that is not finite.
    pub fn ahead(i: usize, j: usize, distance: f64) -> Result<Self, ConstraintError> {
        Self::new(&[i, j], &[-1.0, 1.0], -distance)
    }

    /// The potential $-\sum_k m_k\\, g \cdot x_k$ of weights: points given by their coordinates, and gravity $g$.
    ///
    /// # Errors
    /// A point with more or fewer coordinates than $g$; coordinates that appear twice.
    pub fn weight(points: &[(&[usize], f64)], gravity: &[f64]) -> Result<Self, ConstraintError> {
        let (mut coordinates, mut coefficients) = (Vec::new(), Vec::new());
        for &(point, mass) in points {
            if point.len() != gravity.len() {
                return Err(ConstraintError::Length {
                    what: "a point in a field of gravity",
                    length: point.len(),
                    expected: gravity.len(),
                });
            }
            coordinates.extend_from_slice(point);
            coefficients.extend(gravity.iter().map(|g| -mass * g));
        }
        Self::new(&coordinates, &coefficients, 0.0)
    }

    /// The tangent of a field at a configuration, \[KP\] (7.1d) for a single constraint.
    ///
    /// # Errors
    /// Values or gradients that are not finite there.
    pub fn tangent(field: &dyn Field, q: &[f64], t: f64) -> Result<Self, ConstraintError> {
        let coordinates = field.coordinates();
        let mut gradient = vec![0.0; coordinates.len()];
        field.gradient(q, t, &mut gradient);
        let at: f64 = gradient.iter().zip(coordinates).map(|(g, &c)| g * q[c]).sum();
        Self::new(coordinates, &gradient, field.value(q, t) - at)
    }
}

/// Affine rows of a bundle evaluated together: contacts with walls and between points on a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct AffineRows {
    /// Coordinates and coefficients, row after row, and where each row ends.
    terms: Vec<(usize, f64)>,
    ends: Vec<usize>,
    offsets: Vec<f64>,
}

impl AffineRows {
    pub(crate) fn push(&mut self, row: &Affine) {
        let terms = row.coordinates.iter().zip(&row.coefficients);
        self.terms.extend(terms.map(|(&c, &a)| (c, a)));
        self.ends.push(self.terms.len());
        self.offsets.push(row.offset);
    }

    /// Writes the value of every row.
    pub(crate) fn values(&self, q: &[f64], out: &mut [f64]) {
        let mut start = 0;
        for ((value, offset), &end) in out.iter_mut().zip(&self.offsets).zip(&self.ends) {
            *value = offset + self.terms[start..end].iter().map(|&(c, a)| a * q[c]).sum::<f64>();
            start = end;
        }
    }

    /// Writes the gradient of every row, one after another.
    pub(crate) fn gradients(&self, out: &mut [f64]) {
        for (g, (_, a)) in out.iter_mut().zip(&self.terms) {
            *g = *a;
        }
    }
}

impl Field for Affine {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let terms = self.coordinates.iter().zip(&self.coefficients);
        self.offset + terms.map(|(&c, a)| a * q[c]).sum::<f64>()
    }

    fn gradient(&self, _q: &[f64], _t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.coefficients);
    }

    fn hessian(&self, _q: &[f64], _t: f64, _w: f64, _out: &mut [f64]) {}

    fn is_affine(&self) -> bool {
        true
    }

    fn affine(&self) -> Option<Affine> {
        Some(self.clone())
    }
}

pub(crate) fn finite(what: &'static str, value: f64) -> Result<(), ConstraintError> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(ConstraintError::Parameter { what, must: "finite", value })
    }
}
