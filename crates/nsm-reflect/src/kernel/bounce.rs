//! The impact of a single contact: no rounds, no islands, nothing to remember.
//!
//! $$ p^+ = p - (1 + e)\\, \frac{\nabla g^\top W p}{\nabla g^\top W \nabla g}\\, \nabla g $$

use super::Kernel;
use crate::{Certificate, ContactRows, ImpactLaw, ReflectError};

impl Kernel {
    /// The impact of a single contact in a diagonal metric.
    #[inline]
    pub(super) fn bounce(
        &mut self,
        law: &ImpactLaw,
        w: &[f64],
        rows: ContactRows<'_>,
        contact: usize,
        p: &mut [f64],
    ) -> Result<Certificate, ReflectError> {
        let (columns, values) = rows.row(contact);
        let (mut rate, mut scale, mut square) = (0.0, 0.0, 0.0);
        for (&k, g) in columns.iter().zip(values) {
            let v = w[k] * p[k];
            rate += g * v;
            scale += g.abs() * (v.abs() + self.tolerance.speed);
            square += w[k] * g * g;
        }
        if !scale.is_finite() || !rate.is_finite() {
            return Err(ReflectError::NotFinite { what: "the rate", contact });
        }
        if rate >= -self.tolerance.velocity * scale {
            let residual = (-rate).max(0.0);
            return Ok(Certificate { residual, ..Certificate::default() });
        }
        if square <= 0.0 || !square.is_finite() {
            return Err(ReflectError::NotPositive { contact, value: square });
        }
        let factor = 1.0
            + match law {
                ImpactLaw::Reflection | ImpactLaw::Published => 1.0,
                ImpactLaw::Sequential(e) | ImpactLaw::Newton(e) | ImpactLaw::Lcp(e) => {
                    e.of(contact)
                }
            };
        let impulse = -factor * rate / square;
        if !impulse.is_finite() {
            return Err(ReflectError::NotFinite { what: "the impulse", contact });
        }
        let (mut energy_change, mut after) = (0.0, 0.0);
        for (&k, g) in columns.iter().zip(values) {
            let before = p[k];
            p[k] = before + impulse * g;
            energy_change += 0.5 * w[k] * (p[k] - before) * (p[k] + before);
            after += g * w[k] * p[k];
        }
        self.impulses[0] = impulse;
        Ok(Certificate {
            rounds: 1,
            reflected: 1,
            residual: (-after).max(0.0),
            energy_change,
            least_impulse: impulse,
            largest_island: 1,
        })
    }
}
