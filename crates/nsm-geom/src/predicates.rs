//! The exact sign of an orientation determinant.
//!
//! A convex hull built on rounded orientation tests can contradict itself on nearly coplanar points. Here a
//! floating-point filter decides almost always, and where it cannot, the determinant is evaluated without
//! error as an expansion, a sum of non-overlapping doubles [Shewchuk 1997]. Exact unless an intermediate
//! product under- or overflows.

use std::cmp::Ordering;

use crate::Vec3;

/// Sign of $\det(a-d, b-d, c-d)$: greater if $d$ lies below the plane through $a, b, c$ seen
/// counter-clockwise from above, that is, on the inner side of an outward-oriented triangle.
pub(crate) fn orient3d(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> Ordering {
    let (u, v, w) = (a - d, b - d, c - d);
    let (bc, cb) = (v.x * w.y, w.x * v.y);
    let (ca, ac) = (w.x * u.y, u.x * w.y);
    let (ab, ba) = (u.x * v.y, v.x * u.y);
    let det = u.z * (bc - cb) + v.z * (ca - ac) + w.z * (ab - ba);
    let permanent = (bc.abs() + cb.abs()) * u.z.abs()
        + (ca.abs() + ac.abs()) * v.z.abs()
        + (ab.abs() + ba.abs()) * w.z.abs();
    // Shewchuk's o3derrboundA with ε = 2⁻⁵³.
    let epsilon = 0.5 * f64::EPSILON;
    let bound = (7.0 + 56.0 * epsilon) * epsilon * permanent;
    if det > bound {
        Ordering::Greater
    } else if det < -bound {
        Ordering::Less
    } else {
        exact(a, b, c, d)
    }
}

fn exact(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> Ordering {
    let difference = |p: &Vec3, i: usize| {
        let (s, e) = two_sum(p[i], -d[i]);
        let mut difference = Expansion::ZERO;
        difference.add(e);
        difference.add(s);
        difference
    };
    let [u, v, w] = [a, b, c].map(|p| [0, 1, 2].map(|i| difference(p, i)));
    let minor = |p: &[Expansion; 3], q: &[Expansion; 3]| {
        let mut m = p[0].times(&q[1]);
        for t in q[0].times(&p[1]).terms() {
            m.add(-t);
        }
        m
    };
    let mut det = Expansion::ZERO;
    for (z, p, q) in [(&u[2], &v, &w), (&v[2], &w, &u), (&w[2], &u, &v)] {
        for t in minor(p, q).times(z).terms() {
            det.add(*t);
        }
    }
    let leading = det.terms().last().copied().unwrap_or(0.0);
    leading.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

/// A sum of non-overlapping non-zero doubles, smallest first. The determinant needs at most 192 of them:
/// three products of a difference (2) with a minor of products of differences (2 · 8), each term twice.
struct Expansion {
    terms: [f64; 192],
    len: usize,
}

impl Expansion {
    const ZERO: Self = Self { terms: [0.0; 192], len: 0 };

    fn terms(&self) -> &[f64] {
        &self.terms[..self.len]
    }

    /// Shewchuk's GROW-EXPANSION, dropping zeros.
    fn add(&mut self, b: f64) {
        let mut q = b;
        let mut kept = 0;
        for i in 0..self.len {
            let (s, e) = two_sum(q, self.terms[i]);
            if e != 0.0 {
                self.terms[kept] = e;
                kept += 1;
            }
            q = s;
        }
        if q != 0.0 {
            self.terms[kept] = q;
            kept += 1;
        }
        self.len = kept;
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = Self::ZERO;
        for &p in self.terms() {
            for &q in other.terms() {
                let high = p * q;
                product.add(p.mul_add(q, -high));
                product.add(high);
            }
        }
        product
    }
}

/// $a + b = s + e$ exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decides_points_one_unit_in_the_last_place_off_the_plane() {
        let (a, b, c) =
            (Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.1, 0.2, 0.3), Vec3::new(0.1, 7.7, 0.3));
        let on = Vec3::new(0.7, 0.3, 0.3);
        assert_eq!(orient3d(&a, &b, &c, &on), Ordering::Equal);
        let above = Vec3::new(0.7, 0.3, 0.3_f64.next_up());
        let below = Vec3::new(0.7, 0.3, 0.3_f64.next_down());
        assert_eq!(orient3d(&a, &b, &c, &above), Ordering::Less);
        assert_eq!(orient3d(&a, &b, &c, &below), Ordering::Greater);
    }

    #[test]
    fn is_antisymmetric_on_collinear_noise() {
        let third = 1.0 / 3.0;
        let p: Vec<Vec3> = (0..6).map(|k| Vec3::new(third, 0.7, 1.9) * f64::from(k)).collect();
        let q = Vec3::new(0.2, 0.9, -0.4);
        for i in 0..6 {
            for j in 0..6 {
                for k in 0..6 {
                    let forward = orient3d(&p[i], &p[j], &p[k], &q);
                    assert_eq!(forward, orient3d(&p[j], &p[i], &p[k], &q).reverse());
                    assert_eq!(forward, orient3d(&p[j], &p[k], &p[i], &q));
                }
            }
        }
    }
}
