//! True distance of a point to an ellipsoid, inside and outside.
//!
//! The closest surface point $x$ of $z$ satisfies $z_i = x_i(1 + t/e_i^2)$, so that $t$ solves the secular
//! equation $\sum_i (e_iz_i/(e_i^2+t))^2 = 1$ on $t > -e_{\min}^2$, where its left side is convex and
//! decreasing [Eberly 2013]. In units of $e_{\min}$ and with $w = 1 + t/e_{\min}^2$, the distance from the
//! pole, Newton's method from the best single-term lower bound climbs monotonically to the root; keeping $w$
//! rather than $t$ preserves every digit near the pole, that is, for points next to the plane of the two
//! longer axes. Then
//! $$ \psi = t\\,\lvert(x_i/e_i^2)_i\rvert, \qquad \nabla\psi = (x_i/e_i^2)_i/|\cdot|. $$
//!
//! Points exactly on that plane, near the centre, have no root: two surface points (or a whole ring)
//! are equally near, $\psi$ has a ridge and no gradient.

use super::SignedDistance;
use crate::{Vec3, shape::Ellipsoid};

/// Enough for the slowest case, a point within $10^{-16}$ of the end of the ridge.
const MAX_NEWTON: usize = 200;

impl Ellipsoid {
    /// $\psi(z)$ and $\nabla\psi(z)$.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        let e = self.semi_axes();
        let unit = e.min();
        let k = e / unit;
        let y = z.abs() / unit;
        // r − 1 as a product, exact for axes that differ by rounding.
        let pole = k.map(|k| (k - 1.0) * (k + 1.0));
        let ky = k.component_mul(&y);
        let start = (0..3).map(|i| ky[i] - pole[i]).fold(0.0, f64::max);

        let Some(w) = secular_root(&ky, &pole, start) else {
            return self.on_the_ridge(z);
        };
        let t = w - 1.0;
        // x_i/e_i² up to a factor; an axis whose coordinate is zero has no component.
        let slope =
            Vec3::from_fn(
                |i, _| if y[i] == 0.0 { 0.0 } else { (y[i] / (w + pole[i])).copysign(z[i]) },
            );
        let length = slope.norm();
        SignedDistance::new(t * unit * length, slope / length)
    }

    /// The nearest point of the surface, one of them if there are several.
    pub fn closest_point(&self, z: &Vec3) -> Vec3 {
        let psi = self.signed_distance(z);
        match psi.gradient {
            Some(n) => z - psi.value * n,
            None => self.ridge_point(z),
        }
    }

    fn on_the_ridge(&self, z: &Vec3) -> SignedDistance {
        SignedDistance::without_gradient(-(z - self.ridge_point(z)).norm())
    }

    /// The limit $w \to 0$: coordinates along longer axes are stretched by $r/(r-1)$, the rest of the way is
    /// along a shortest axis.
    fn ridge_point(&self, z: &Vec3) -> Vec3 {
        let e = self.semi_axes();
        let unit = e.min();
        let mut x = Vec3::zeros();
        let mut level = 0.0;
        for i in 0..3 {
            let k = e[i] / unit;
            if k > 1.0 {
                x[i] = z[i] * (k / (k - 1.0)) * (k / (k + 1.0));
                level += (x[i] / e[i]).powi(2);
            }
        }
        x[e.imin()] = unit * (1.0 - level).max(0.0).sqrt();
        x
    }
}

/// The root $w > 0$ of $\sum_i(ky_i/(w + pole_i))^2 = 1$, or `None` if the sum is below one for every
/// positive $w$.
fn secular_root(ky: &Vec3, pole: &Vec3, start: f64) -> Option<f64> {
    let residual_and_slope = |w: f64| {
        let (mut sum, mut slope) = (-1.0, 0.0);
        for i in 0..3 {
            if ky[i] > 0.0 {
                let inverse = 1.0 / (w + pole[i]);
                let q = (ky[i] * inverse) * (ky[i] * inverse);
                sum += q;
                slope -= 2.0 * q * inverse;
            }
        }
        (sum, slope)
    };
    let mut w = start;
    let (mut g, mut slope) = residual_and_slope(w);
    if w == 0.0 && g <= 0.0 {
        return None;
    }
    for _ in 0..MAX_NEWTON {
        // A convex decreasing function: from the left the iterates increase; rounding ends the climb.
        let next = w - g / slope;
        if g <= 0.0 || next <= w {
            break;
        }
        w = next;
        (g, slope) = residual_and_slope(w);
    }
    Some(w)
}
