//! What an impact law proves about its answer.

/// The certificate of a resolved impact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use]
pub struct Certificate {
    /// Rounds of the law; none if nothing approached.
    pub rounds: usize,
    /// Contacts that received an impulse.
    pub reflected: usize,
    /// Largest rate of approach $\max_i(-w_i, 0)$ left among the candidates: rounding only.
    pub residual: f64,
    /// $\tfrac12 \lvert p^+ \rvert^2_W - \tfrac12 \lvert p^- \rvert^2_W$, computed from the momenta, without what equalities that
    /// move by themselves add.
    pub energy_change: f64,
    /// Smallest total impulse; negative only under [`ImpactLaw::Published`](crate::ImpactLaw::Published).
    pub least_impulse: f64,
    /// Contacts in the largest set that was solved together.
    pub largest_island: usize,
}

/// A symmetry of momenta: a permutation of coordinates with signs.
///
/// A law that treats contacts alike maps symmetric momenta to symmetric momenta;
/// [`preserved`](Symmetry::preserved) says whether it did.
///
/// ```
/// use nsm_reflect::Symmetry;
///
/// // Mirror of two planar discs on either side of the x axis: (x, y), (x', y') swap, y changes sign.
/// let mirror = Symmetry::new(&[(2, 1.0), (3, -1.0), (0, 1.0), (1, -1.0)]).unwrap();
/// assert_eq!(mirror.preserved(&[1.0, 0.0, 1.0, 0.0], &[0.5, 0.2, 0.5, -0.2], 1e-12), Some(true));
/// assert_eq!(mirror.preserved(&[1.0, 0.0, 1.0, 0.0], &[0.5, 0.2, 0.4, -0.2], 1e-12), Some(false));
/// assert_eq!(mirror.preserved(&[1.0, 0.0, 0.0, 0.0], &[0.5, 0.2, 0.4, -0.2], 1e-12), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    images: Vec<(usize, f64)>,
}

impl Symmetry {
    /// The map $(Sp)\_k = s_k\\,p_{j_k}$ with `images[k]` $= (j_k, s_k)$, $s_k = \pm 1$; none if the $j_k$ are no permutation or a sign is no sign.
    pub fn new(images: &[(usize, f64)]) -> Option<Self> {
        let mut hit = vec![false; images.len()];
        for &(j, sign) in images {
            if sign.abs() != 1.0 || std::mem::replace(hit.get_mut(j)?, true) {
                return None;
            }
        }
        Some(Self { images: images.to_vec() })
    }

    /// $\max_k \lvert (Sp)_k - p_k \rvert$; infinite for a momentum of another size.
    pub fn defect(&self, p: &[f64]) -> f64 {
        if p.len() != self.images.len() {
            return f64::INFINITY;
        }
        self.images
            .iter()
            .zip(p)
            .fold(0.0, |worst, (&(j, sign), x)| (sign * p[j] - x).abs().max(worst))
    }

    /// Whether the momentum after is symmetric, up to `tolerance` times its size; none if that before was not.
    pub fn preserved(&self, before: &[f64], after: &[f64], tolerance: f64) -> Option<bool> {
        let size = before.iter().chain(after).fold(0.0_f64, |a, x| a.max(x.abs()));
        (self.defect(before) <= tolerance * size).then(|| self.defect(after) <= tolerance * size)
    }
}
