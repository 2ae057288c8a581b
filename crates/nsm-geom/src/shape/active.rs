//! Newton's method on the active inequalities of an intersection's support problem.

use super::{Intersection, barrier::Inequality};
use crate::{Mat6, Vec3, Vec6};

/// An inequality is called active if its share of $u$ is at least this part of the largest share.
const SHARE: f64 = 0.02;

/// Indices and multipliers of up to three active inequalities.
struct Active {
    index: [usize; 3],
    multiplier: [f64; 3],
    len: usize,
}

/// The optimum, from the point `z` of the central path at `t`; `None` if the active set does not prove right.
pub(super) fn finish(body: &Intersection, u: &Vec3, t: f64, z: &Vec3) -> Option<Vec3> {
    let mut active = Active::at(body, t, z)?;
    let mut z = *z;
    for _ in 0..12 {
        let step = active.newton(body, u, &z)?;
        z += step;
        let size = step.norm();
        if !size.is_finite() || size > body.reach() {
            return None;
        }
        if size <= 1e-14 * body.reach() {
            break;
        }
    }
    let mut worst = f64::NEG_INFINITY;
    body.each_inequality(&z, &mut |g| worst = worst.max(g.value));
    let optimal = active.multiplier[..active.len].iter().all(|m| *m >= 0.0);
    (optimal && worst <= 1e-13 * (1.0 + body.reach())).then_some(z)
}

impl Active {
    /// On the central path $\lambda_i = 1/(t\\,|g_i|)$.
    fn at(body: &Intersection, t: f64, z: &Vec3) -> Option<Self> {
        let multiplier = |g: &Inequality| -1.0 / (t * g.value);
        let mut largest = 0.0_f64;
        body.each_inequality(z, &mut |g| largest = largest.max(multiplier(&g) * g.gradient.norm()));
        let mut active = Self { index: [0; 3], multiplier: [0.0; 3], len: 0 };
        let mut crowded = false;
        let mut i = 0;
        body.each_inequality(z, &mut |g| {
            if multiplier(&g) * g.gradient.norm() >= SHARE * largest {
                if active.len < 3 {
                    active.index[active.len] = i;
                    active.multiplier[active.len] = multiplier(&g);
                    active.len += 1;
                } else {
                    crowded = true;
                }
            }
            i += 1;
        });
        (!crowded).then_some(active)
    }

    /// One step for $z$, updating the multipliers.
    fn newton(&mut self, body: &Intersection, u: &Vec3, z: &Vec3) -> Option<Vec3> {
        let mut matrix = Mat6::identity();
        matrix.fixed_view_mut::<3, 3>(0, 0).fill(0.0);
        let mut rhs = Vec6::zeros();
        rhs.fixed_rows_mut::<3>(0).copy_from(u);
        let mut i = 0;
        body.each_inequality(z, &mut |g| {
            if let Some(k) = self.index[..self.len].iter().position(|&a| a == i) {
                let mut block = matrix.fixed_view_mut::<3, 3>(0, 0);
                block += g.hessian * self.multiplier[k];
                matrix.fixed_view_mut::<3, 1>(0, 3 + k).copy_from(&g.gradient);
                matrix.fixed_view_mut::<1, 3>(3 + k, 0).copy_from(&g.gradient.transpose());
                matrix[(3 + k, 3 + k)] = 0.0;
                rhs[3 + k] = -g.value;
            }
            i += 1;
        });
        let solution = matrix.lu().solve(&rhs)?;
        for k in 0..self.len {
            self.multiplier[k] = solution[3 + k];
        }
        Some(solution.fixed_rows::<3>(0).into_owned())
    }
}
