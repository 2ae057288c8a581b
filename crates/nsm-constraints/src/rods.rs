//! Rods of a bundle evaluated together.
//!
//! $$ x = q_a - s\\,q_b - c, \qquad f = (|x|^2 - l^2)\\,\frac{1}{2l}, \qquad \nabla f = \frac{x}{l}\\,(1, -s) $$
//! with $s = 1$ between two points and $s = 0$ (and $b = a$) to a pivot $c$: one formula without a branch, over numbers that
//! lie side by side. A chain asks for them several times a step, and a call for each would cost more than the arithmetic.

use crate::Rod;

/// A rod in the plane, as numbers; the coordinates of either end are neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneRod {
    /// The first coordinate of either end.
    a: usize,
    b: usize,
    s: f64,
    centre: [f64; 2],
    square: f64,
    reciprocal: f64,
}

impl PlaneRod {
    /// The numbers of a rod, if it lies in the plane.
    pub(crate) fn new(rod: &Rod) -> Option<Self> {
        let (coordinates, [cx, cy, _]) = rod.in_plane()?;
        let (a, b, s) = match *coordinates {
            [x, y] if y == x + 1 => (x, x, 0.0),
            [x, y, u, v] if y == x + 1 && v == u + 1 => (x, u, 1.0),
            _ => return None,
        };
        let (length, reciprocal) = rod.length();
        Some(Self { a, b, s, centre: [cx, cy], square: length * length, reciprocal })
    }

    #[inline]
    fn vector(&self, q: &[f64]) -> [f64; 2] {
        let (a, b) = (&q[self.a..self.a + 2], &q[self.b..self.b + 2]);
        [a[0] - self.s * b[0] - self.centre[0], a[1] - self.s * b[1] - self.centre[1]]
    }
}

/// Writes $f$ of every rod.
pub(crate) fn values(rods: &[PlaneRod], q: &[f64], out: &mut [f64]) {
    for (f, rod) in out.iter_mut().zip(rods) {
        let [x, y] = rod.vector(q);
        *f = (x * x + y * y - rod.square) * (0.5 * rod.reciprocal);
    }
}

/// Writes $\nabla f$ of every rod, one after another.
pub(crate) fn gradients(rods: &[PlaneRod], q: &[f64], mut out: &mut [f64]) {
    for rod in rods {
        let [x, y] = rod.vector(q);
        let (x, y) = (rod.reciprocal * x, rod.reciprocal * y);
        let entries = if rod.s == 0.0 { 2 } else { 4 };
        let Some((gradient, rest)) = out.split_at_mut_checked(entries) else { return };
        match gradient {
            [gx, gy] => (*gx, *gy) = (x, y),
            [gx, gy, hx, hy] => (*gx, *gy, *hx, *hy) = (x, y, -x, -y),
            _ => {}
        }
        out = rest;
    }
}

/// Adds $\lambda\\,\nabla f$ of every rod to `out`, without keeping the gradients.
pub(crate) fn add_gradients(rods: &[PlaneRod], q: &[f64], lambda: &[f64], out: &mut [f64]) {
    for (rod, lambda) in rods.iter().zip(lambda) {
        let [x, y] = rod.vector(q);
        let (x, y) = (lambda * (rod.reciprocal * x), lambda * (rod.reciprocal * y));
        let a = &mut out[rod.a..rod.a + 2];
        a[0] += x;
        a[1] += y;
        let b = &mut out[rod.b..rod.b + 2];
        b[0] -= rod.s * x;
        b[1] -= rod.s * y;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Affine, Field, Rod, Rows};

    #[test]
    fn together_they_are_what_each_is_alone() {
        let mut rows = Rows::new(9);
        let mut push = |field: Box<dyn Field>| rows.push("row", field).unwrap();
        push(Box::new(Affine::above(8, 0.1).unwrap()));
        // A boxed rod is not recognised, which must not show either.
        push(Box::new(Rod::between(&[0, 1], &[2, 3], 1.1).unwrap()));
        for rod in [
            Rod::to_pivot(&[4, 1], &[0.3, -0.2], 0.7).unwrap(),
            Rod::between(&[3, 2], &[0, 5], 1.3).unwrap(),
            Rod::between(&[0, 1, 2], &[6, 7, 8], 0.9).unwrap(),
            Rod::to_pivot(&[7], &[0.4], 2.0).unwrap(),
            Rod::between(&[6, 1], &[7, 8], 1.7).unwrap(),
            Rod::between(&[2, 3], &[7, 8], 1.4).unwrap(),
            Rod::to_pivot(&[5, 6], &[0.3, -0.2], 0.6).unwrap(),
            Rod::between(&[5, 6], &[2, 3], 0.8).unwrap(),
        ] {
            rows.push("rod", rod).unwrap();
        }
        rows.push("floor", Affine::above(2, 0.5).unwrap()).unwrap();
        rows.push("level", Affine::new(&[], &[], 0.7).unwrap()).unwrap();
        rows.push("pair", Affine::new(&[3, 1], &[-0.3, 1.9], 0.2).unwrap()).unwrap();
        let q: Vec<f64> = (0..9).map(|i| (1.7 * f64::from(i)).sin()).collect();
        let (mut values, mut gradients) = (vec![0.0; rows.len()], vec![0.0; rows.entries()]);
        rows.values(&q, 0.0, &mut values);
        rows.gradients(&q, 0.0, &mut gradients);
        let lambda: Vec<f64> = (0..rows.len()).map(|i| 0.3 - (2.3 * i as f64).cos()).collect();
        let (mut together, mut apart) = (q.clone(), q.clone());
        let mut scratch = vec![0.0; rows.largest_block()];
        rows.add_gradients(&q, 0.0, &lambda, &mut scratch, &mut together);
        rows.add_transposed(&gradients, &lambda, 1.0, &mut apart);
        assert_eq!(together, apart);
        for (i, value) in values.iter().enumerate() {
            assert_eq!(*value, rows.field(i).value(&q, 0.0), "row {i}");
            let mut gradient = vec![0.0; rows.columns(i).len()];
            rows.field(i).gradient(&q, 0.0, &mut gradient);
            assert_eq!(gradients[rows.span(i)], gradient, "row {i}");
        }
    }
}
