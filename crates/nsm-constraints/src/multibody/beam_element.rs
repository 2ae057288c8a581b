//! The two-node element of a geometrically exact beam.
//!
//! A beam is a line of centroids $\varphi(s)$ with a triad of directors $d_i(s)$ (\[LMO\] (112)). Between two nodes $a$, $b$ at the
//! reference distance $l$ both are interpolated linearly (\[LMO\] (113)), directors included, which leaves the strains invariant under
//! rigid motions \[Betsch & Steinmann 2002\]. At the one quadrature point in the middle
//! $$ \Gamma_i = d_i\cdot\varphi\' - \Gamma_i^0, \qquad
//!    K_i = \tfrac12(d_k\cdot d_j\' - d_j\cdot d_k\') - K_i^0 = \frac{d_k^a\cdot d_j^b - d_j^a\cdot d_k^b}{2l} - K_i^0, $$
//! $(i, j, k)$ cyclic: shear $\Gamma_1, \Gamma_2$, extension $\Gamma_3$, bending $K_1, K_2$ about $d_1, d_2$, torsion $K_3$. All vanish in the reference
//! configuration. Each strain is $\varepsilon_k = \tfrac12 q^\top B_k q - \varepsilon_k^0$ with a constant $B_k$ that couples four vectors of the nodes, so
//! the stored energy and its derivatives are exact and cheap:
//! $$ V = \tfrac l2\sum_k c_k\varepsilon_k^2, \qquad \nabla V = l\sum_k c_k\varepsilon_k B_k q, \qquad
//!    V\'\' = l\sum_k c_k\big(B_k q\\,(B_k q)^\top + \varepsilon_k B_k\big), $$
//! $c = (GA_1, GA_2, EA, EI_1, EI_2, GJ)$.
//!
//! Over a chord, averaged stresses times the strain gradient at the midpoint,
//! $$ \bar\nabla V = l\sum_k c_k\tfrac12\big(\varepsilon_k(q_0) + \varepsilon_k(q_1)\big)\\,B_k\\,\tfrac12(q_0 + q_1), $$
//! do the work $V(q_1) - V(q_0)$ and have neither resultant nor moment: energy and both momenta are exact.

use super::section::{Resultants, SectionMass, SectionStiffness};
use crate::{ConstraintError, Field};

/// Coordinates of a node: $\varphi, d_1, d_2, d_3$.
const NODE: usize = 12;

/// The vectors $\varphi, d_1, d_2, d_3$ of both nodes.
type Vectors = [[f64; 3]; 8];

/// $2l\\,B$ of a component of $\varphi\'$ on $(\varphi^a, \varphi^b, d_i^a, d_i^b)$.
const STRETCH: [[f64; 4]; 4] =
    [[0.0, 0.0, -1.0, -1.0], [0.0, 0.0, 1.0, 1.0], [-1.0, 1.0, 0.0, 0.0], [-1.0, 1.0, 0.0, 0.0]];

/// $2l\\,B$ of a component of the curvature on $(d_j^a, d_j^b, d_k^a, d_k^b)$.
const CURVE: [[f64; 4]; 4] =
    [[0.0, 0.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]];

/// The vectors that each strain couples, and how.
const STRAINS: [([usize; 4], &[[f64; 4]; 4]); 6] = [
    ([0, 4, 1, 5], &STRETCH),
    ([0, 4, 2, 6], &STRETCH),
    ([0, 4, 3, 7], &STRETCH),
    ([2, 6, 3, 7], &CURVE),
    ([3, 7, 1, 5], &CURVE),
    ([1, 5, 2, 6], &CURVE),
];

/// The stored energy of one element of a beam, a [`Field`] on the 24 coordinates of its nodes.
///
/// ```
/// use nsm_constraints::Field;
/// use nsm_constraints::multibody::{BeamElement, SectionStiffness};
///
/// let stiffness =
///     SectionStiffness { shear: [5e4; 2], axial: 1e5, bending: [10.0; 2], torsion: 8.0 };
/// let node = |z| [0.0, 0.0, z, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let element = BeamElement::new([0, 12], &[node(0.0), node(0.5)], &stiffness)?;
/// // Stretched by a hundredth of its length: N = EA/100 and V = l EA/2 (1/100)².
/// let q = [node(0.0), node(0.505)].concat();
/// assert!((element.resultants(&q).force[2] - 1e3).abs() < 1e-9);
/// assert!((element.value(&q, 0.0) - 2.5).abs() < 1e-12);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BeamElement {
    coordinates: [usize; 2 * NODE],
    length: f64,
    stiffness: [f64; 6],
    reference: [f64; 6],
}

impl BeamElement {
    /// An element between the nodes whose first coordinates are given, free of stress in the reference configuration of
    /// both, $(\varphi, d_1, d_2, d_3)$ each.
    ///
    /// # Errors
    /// A stiffness that is negative or not finite, nodes in the same place, third directors across the axis, numbers that
    /// are not finite, overlapping nodes.
    pub fn new(
        nodes: [usize; 2],
        reference: &[[f64; NODE]; 2],
        stiffness: &SectionStiffness,
    ) -> Result<Self, ConstraintError> {
        stiffness.check()?;
        for &x in reference.as_flattened() {
            crate::affine::finite("a coordinate of a beam's reference", x)?;
        }
        let coordinates: [usize; 2 * NODE] =
            std::array::from_fn(|i| nodes[i / NODE].saturating_add(i % NODE));
        crate::blocks::check_distinct(&coordinates)?;
        let vectors: Vectors =
            std::array::from_fn(|k| std::array::from_fn(|c| reference[k / 4][3 * (k % 4) + c]));
        let length = crate::distance::norm(&difference(&vectors[4], &vectors[0]));
        if !(length > 0.0 && length.is_finite()) {
            let (what, must) = ("the length of a beam's element", "positive and finite");
            return Err(ConstraintError::Parameter { what, must, value: length });
        }
        let mut element =
            Self { coordinates, length, stiffness: stiffness.coefficients(), reference: [0.0; 6] };
        element.reference = element.strains_of(&vectors);
        // Beyond 60° the axial stiffness would resist shear.
        let cosine = element.reference[2];
        if cosine.abs() < 0.5 {
            let what = "the cosine between the third directors of a beam's element and its axis";
            return Err(ConstraintError::Parameter { what, must: "near 1 or -1", value: cosine });
        }
        Ok(element)
    }

    /// Length $l$ in the reference configuration.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The strains $(\Gamma_1, \Gamma_2, \Gamma_3, K_1, K_2, K_3)$.
    pub fn strains(&self, q: &[f64]) -> [f64; 6] {
        self.strains_of(&self.gather(q))
    }

    /// Forces and moments in the middle of the element.
    pub fn resultants(&self, q: &[f64]) -> Resultants {
        let strains = self.strains(q);
        let stress = |k: usize| self.stiffness[k] * strains[k];
        Resultants {
            force: std::array::from_fn(stress),
            moment: std::array::from_fn(|i| stress(3 + i)),
        }
    }

    /// The entries $(i, j, M_{ij})$ of the consistent mass $\tfrac l6\begin{pmatrix}2 & 1\cr 1 & 2\end{pmatrix}$ times
    /// $(A_\rho, M_\rho^1, M_\rho^2)$ on $(\varphi, d_1, d_2)$ (\[LMO\] (114)); $d_3$ has no mass.
    ///
    /// # Errors
    /// A mass that is negative or not finite.
    pub fn mass_entries(
        &self,
        section: &SectionMass,
    ) -> Result<Vec<(usize, usize, f64)>, ConstraintError> {
        section.check()?;
        let [first, second] = section.directors;
        let mut entries = Vec::with_capacity(36);
        for (vector, density) in [section.per_length, first, second].into_iter().enumerate() {
            for c in 3 * vector..3 * (vector + 1) {
                let at = [self.coordinates[c], self.coordinates[NODE + c]];
                for (i, j, share) in [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)] {
                    entries.push((at[i], at[j], share * density * self.length / 6.0));
                }
            }
        }
        Ok(entries)
    }

    fn gather(&self, q: &[f64]) -> Vectors {
        std::array::from_fn(|k| std::array::from_fn(|c| q[self.coordinates[3 * k + c]]))
    }

    /// $B_k q$ on the four vectors that strain $k$ couples.
    #[inline]
    fn slope(&self, k: usize, vectors: &Vectors) -> [[f64; 3]; 4] {
        let (at, pattern) = STRAINS[k];
        let factor = 0.5 / self.length;
        let mut slope = [[0.0; 3]; 4];
        for (row, weights) in slope.iter_mut().zip(pattern) {
            for (weight, &vector) in weights.iter().zip(&at) {
                for (sum, x) in row.iter_mut().zip(&vectors[vector]) {
                    *sum += factor * weight * x;
                }
            }
        }
        slope
    }

    /// $\tfrac12 q^\top B_k q - \varepsilon_k^0$, from $B_k q$.
    fn strain(&self, k: usize, vectors: &Vectors, slope: &[[f64; 3]; 4]) -> f64 {
        // Half of the form: the first two vectors couple with the last two alone.
        let (at, _) = STRAINS[k];
        let products = (0..2).map(|r| dot(&vectors[at[r]], &slope[r]));
        products.sum::<f64>() - self.reference[k]
    }

    fn strains_of(&self, vectors: &Vectors) -> [f64; 6] {
        std::array::from_fn(|k| self.strain(k, vectors, &self.slope(k, vectors)))
    }

    /// Adds $f\\,(x\\,y^\top + s B_k)$ to a 24×24 matrix.
    fn add_stiffness(
        &self,
        k: usize,
        (x, y): (&[[f64; 3]; 4], &[[f64; 3]; 4]),
        (f, s): (f64, f64),
        out: &mut [f64],
    ) {
        let (at, pattern) = STRAINS[k];
        let factor = f * s * 0.5 / self.length;
        for r in 0..4 {
            for c in 0..3 {
                let (first, row) = (f * x[r][c], 3 * at[r] + c);
                let line = &mut out[2 * NODE * row..2 * NODE * (row + 1)];
                for s in 0..4 {
                    let entries = &mut line[3 * at[s]..3 * at[s] + 3];
                    for (entry, second) in entries.iter_mut().zip(&y[s]) {
                        *entry += first * second;
                    }
                    entries[c] += factor * pattern[r][s];
                }
            }
        }
    }
}

impl Field for BeamElement {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let squares = self.strains(q).into_iter().zip(self.stiffness).map(|(e, c)| c * e * e);
        0.5 * self.length * squares.sum::<f64>()
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let vectors = self.gather(q);
        out.fill(0.0);
        for k in 0..6 {
            let slope = self.slope(k, &vectors);
            let stress = self.stiffness[k] * self.strain(k, &vectors, &slope);
            scatter(k, self.length * stress, &slope, out);
        }
    }

    fn hessian(&self, q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let vectors = self.gather(q);
        for k in 0..6 {
            let slope = self.slope(k, &vectors);
            let strain = self.strain(k, &vectors, &slope);
            let factor = w * self.length * self.stiffness[k];
            self.add_stiffness(k, (&slope, &slope), (factor, strain), out);
        }
    }

    fn mean_gradient(&self, start: &[f64], end: &[f64], _t: f64, out: &mut [f64]) -> bool {
        let (first, last) = (self.gather(start), self.gather(end));
        let middle = mean(&first, &last);
        let (before, after) = (self.strains_of(&first), self.strains_of(&last));
        out.fill(0.0);
        for k in 0..6 {
            let stress = 0.5 * self.stiffness[k] * (before[k] + after[k]);
            scatter(k, self.length * stress, &self.slope(k, &middle), out);
        }
        true
    }

    fn mean_hessian(&self, start: &[f64], end: &[f64], _t: f64, w: f64, out: &mut [f64]) -> bool {
        let (first, last) = (self.gather(start), self.gather(end));
        let middle = mean(&first, &last);
        let before = self.strains_of(&first);
        for k in 0..6 {
            let (between, slope) = (self.slope(k, &middle), self.slope(k, &last));
            let strain = 0.5 * (before[k] + self.strain(k, &last, &slope));
            // ∂ε̄/∂q₁ = ½ B q₁, and the midpoint moves by half.
            let factor = 0.5 * w * self.length * self.stiffness[k];
            self.add_stiffness(k, (&between, &slope), (factor, strain), out);
        }
        true
    }
}

fn scatter(k: usize, factor: f64, slope: &[[f64; 3]; 4], out: &mut [f64]) {
    for (&vector, values) in STRAINS[k].0.iter().zip(slope) {
        for (c, value) in values.iter().enumerate() {
            out[3 * vector + c] += factor * value;
        }
    }
}

fn mean(a: &Vectors, b: &Vectors) -> Vectors {
    std::array::from_fn(|k| std::array::from_fn(|c| 0.5 * (a[k][c] + b[k][c])))
}

fn difference(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|c| a[c] - b[c])
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
