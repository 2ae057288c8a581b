//! The second-order cone: its Jordan algebra, the scaling of Nesterov and Todd, and how far a step stays inside.

use super::{Three, three};

pub(super) fn determinant(z: Three) -> f64 {
    let length = z[1].hypot(z[2]);
    (z[0] - length) * (z[0] + length)
}

/// The product of the Jordan algebra of the cone.
pub(super) fn jordan(a: Three, b: Three) -> Three {
    [a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// $z$ with $a \circ z = b$.
pub(super) fn jordan_divide(a: Three, b: Three) -> Three {
    let along = a[1] * b[1] + a[2] * b[2];
    let first = (a[0] * b[0] - along) / determinant(a);
    [first, (b[1] - first * a[1]) / a[0], (b[2] - first * a[2]) / a[0]]
}

/// The scaling of Nesterov and Todd: $Gx = G^{-1}y = \lambda$.
#[derive(Clone, Debug)]
pub(super) struct Scaling {
    w: Three,
    eta: f64,
    pub(super) lambda: Three,
}

impl Scaling {
    pub(super) fn new(x: Three, y: Three) -> Self {
        let (dx, dy) = (determinant(x).max(1e-300), determinant(y).max(1e-300));
        let (x1, y1) = (x.map(|a| a / dx.sqrt()), y.map(|a| a / dy.sqrt()));
        let dot = x1[0] * y1[0] + x1[1] * y1[1] + x1[2] * y1[2];
        let gamma = (0.5 * (1.0 + dot)).max(0.5).sqrt();
        let w = [
            0.5 * (y1[0] + x1[0]) / gamma,
            0.5 * (y1[1] - x1[1]) / gamma,
            0.5 * (y1[2] - x1[2]) / gamma,
        ];
        let mut scaling = Self { w, eta: (dy / dx).powf(0.25), lambda: [0.0; 3] };
        scaling.lambda = scaling.apply(x);
        scaling
    }

    pub(super) fn apply(&self, z: Three) -> Three {
        self.turned(z, 1.0, self.eta)
    }

    pub(super) fn unapply(&self, z: Three) -> Three {
        self.turned(z, -1.0, 1.0 / self.eta)
    }

    fn turned(&self, z: Three, sign: f64, eta: f64) -> Three {
        let [w0, w1, w2] = [self.w[0], sign * self.w[1], sign * self.w[2]];
        let along = w1 * z[1] + w2 * z[2];
        let common = z[0] + along / (1.0 + w0);
        [eta * (w0 * z[0] + along), eta * (z[1] + common * w1), eta * (z[2] + common * w2)]
    }

    /// $G^2$.
    pub(super) fn square(&self) -> [[f64; 3]; 3] {
        let mut columns = [[0.0; 3]; 3];
        for (k, column) in columns.iter_mut().enumerate() {
            let mut unit = [0.0; 3];
            unit[k] = 1.0;
            *column = self.apply(self.apply(unit));
        }
        std::array::from_fn(|a| std::array::from_fn(|b| columns[b][a]))
    }
}

/// The longest step that stays in the cones.
pub(super) fn longest(z: &[f64], d: &[f64]) -> f64 {
    let mut most = f64::INFINITY;
    for i in 0..z.len() / 3 {
        let (z, d) = (three(z, i), three(d, i));
        let (a, b, c) = (
            d[0] * d[0] - d[1] * d[1] - d[2] * d[2],
            z[0] * d[0] - z[1] * d[1] - z[2] * d[2],
            determinant(z),
        );
        let discriminant = b * b - a * c;
        let step = if a < 0.0 || (b < 0.0 && discriminant >= 0.0) {
            c / (discriminant.max(0.0).sqrt() - b)
        } else {
            f64::INFINITY
        };
        if step > 0.0 {
            most = most.min(step);
        }
        if d[0] < 0.0 {
            most = most.min(-z[0] / d[0]);
        }
    }
    most
}
