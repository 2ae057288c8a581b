//! Which contacts matter now: active, extended active and smooth sets.
//!
//! $$ \mathbb{A}(q^t, q^p) = \lbrace i : g_i(q^p) \le 0 \rbrace \cup \lbrace j : g_j(q^t) = 0 \rbrace \qquad (5.3) $$
//! $$ \mathbb{S}(q, p) = \lbrace i : \nabla g_i(q)^\top M^{-1} p = 0,\ g_i(q) = 0 \rbrace \qquad (6.1) $$
//! \[KP\]. A gap that is penetrated counts as closed in both, where the paper has $g = 0$: a contact at rest below its
//! surface is then lifted out by the position update, and would sink otherwise. In floating point "$= 0$" needs a tolerance: one for gaps, one for velocities, the latter used
//! here and in the impact laws alike, so that a contact which a reflection leaves at rest is at rest for
//! the smooth set too.

use crate::Rows;

/// What counts as a closed gap and as a contact at rest.
///
/// The rate $\dot g = \nabla g \cdot v$ counts as zero up to
/// $\tau\\,\sum_k |\partial_k g|\\,(|v_k| + v_0)$: relative to the speeds that enter it, with a floor from a
/// speed $v_0$ that is typical for the system. Scaling a row scales its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactTolerance {
    /// Largest $|g|$ of a closed contact.
    pub gap: f64,
    /// $\tau$.
    pub velocity: f64,
    /// $v_0$.
    pub speed: f64,
}

impl Default for ContactTolerance {
    fn default() -> Self {
        Self { gap: 1e-10, velocity: 1e-12, speed: 1.0 }
    }
}

impl ContactTolerance {
    /// The rate $\nabla g \cdot v$ of a row, and the scale $\sum_k |\partial_k g|\\,(|v_k| + v_0)$ by which
    /// $\tau$ is multiplied.
    #[inline]
    pub fn rate(&self, columns: &[usize], gradient: &[f64], v: &[f64]) -> (f64, f64) {
        let (mut rate, mut scale) = (0.0, 0.0);
        for (&k, g) in columns.iter().zip(gradient) {
            rate += g * v[k];
            scale += g.abs() * (v[k].abs() + self.speed);
        }
        (rate, scale)
    }

    /// Whether the gap is closed.
    #[inline]
    pub fn is_closed(&self, gap: f64) -> bool {
        gap.abs() <= self.gap
    }
}

/// Writes the closed contacts $\lbrace i : g_i = 0 \rbrace$ into `set`.
pub fn active_set(gaps: &[f64], tolerance: &ContactTolerance, set: &mut Vec<usize>) {
    set.clear();
    set.extend((0..gaps.len()).filter(|&i| tolerance.is_closed(gaps[i])));
}

/// Writes the extended active set (5.3) into `set`: gaps now, and gaps at the predicted configuration.
///
/// Line 2 of Algorithm 1. `set` allocates only while its capacity is below the number of contacts.
pub fn extended_active_set(
    gaps: &[f64],
    predicted_gaps: &[f64],
    tolerance: &ContactTolerance,
    set: &mut Vec<usize>,
) {
    set.clear();
    for (i, (gap, predicted)) in gaps.iter().zip(predicted_gaps).enumerate() {
        if *predicted <= 0.0 || *gap <= tolerance.gap {
            set.push(i);
        }
    }
}

/// Writes the smooth set (6.1) into `set`, in order: closed contacts whose gap does not change.
///
/// Line 4 of Algorithm 1; `gradients` are those of `rows`, current where gaps are closed, and $v = M^{-1} p$ is the velocity after
/// the reflection.
pub fn smooth_set(
    rows: &Rows,
    gaps: &[f64],
    gradients: &[f64],
    v: &[f64],
    tolerance: &ContactTolerance,
    set: &mut Vec<usize>,
) {
    set.clear();
    for (i, gap) in gaps.iter().enumerate() {
        if *gap <= tolerance.gap {
            let (rate, scale) = tolerance.rate(rows.columns(i), &gradients[rows.span(i)], v);
            if rate.abs() <= tolerance.velocity * scale {
                set.push(i);
            }
        }
    }
}
