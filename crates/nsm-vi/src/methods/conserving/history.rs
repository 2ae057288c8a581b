//! Numbers of the next step from those of the last five.

/// Steps that are kept.
const KEPT: usize = 5;

/// What the last $1, 2, \dots$ steps, the newest first, say of the next one. All five meet what varies as a cubic and what changes sign with every
/// step: multipliers and velocities of the conserving step do, once a constraint was ever left ($\dot f_1 \approx -\dot f_0$).
/// The weights are those of $1 - (1 - z)^4 (1 + z)$.
const WEIGHTS: [[f64; KEPT]; KEPT] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [2.0, -1.0, 0.0, 0.0, 0.0],
    [3.0, -3.0, 1.0, 0.0, 0.0],
    [2.0, 0.0, -2.0, 1.0, 0.0],
    [3.0, -2.0, -2.0, 3.0, -1.0],
];

/// A vector over the last steps, the newest first.
#[derive(Debug)]
pub(super) struct History {
    steps: [Vec<f64>; KEPT],
    known: usize,
}

impl History {
    pub(super) fn new(len: usize) -> Self {
        Self { steps: std::array::from_fn(|_| vec![0.0; len]), known: 0 }
    }

    /// Forgets the steps before.
    pub(super) fn forget(&mut self) {
        self.known = 0;
    }

    /// The values of the last step.
    pub(super) fn last(&self) -> &[f64] {
        &self.steps[0]
    }

    /// What the values will be; nothing if no step is known.
    pub(super) fn next(&self) -> impl Iterator<Item = f64> + '_ {
        let w = WEIGHTS[self.known.max(1) - 1];
        let [a, b, c, d, e] =
            self.steps.each_ref().map(|s| if self.known > 0 { &s[..] } else { &[] });
        let earlier = b.iter().zip(c).zip(d.iter().zip(e));
        a.iter().zip(earlier).map(move |(a, ((b, c), (d, e)))| {
            (w[0] * a + w[1] * b) + (w[2] * c + w[3] * d) + w[4] * e
        })
    }

    /// The values of a step that was taken.
    pub(super) fn remember(&mut self, values: impl Iterator<Item = f64>) {
        self.steps.rotate_right(1);
        self.steps[0].iter_mut().zip(values).for_each(|(kept, value)| *kept = value);
        self.known = (self.known + 1).min(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_and_what_alternates_are_met() {
        let (mut smooth, mut both) = (History::new(1), History::new(1));
        let cubic = |x: f64| 0.25 * x * x * x - 3.0 * x * x + x - 2.0;
        let mut sign = 1.0;
        assert_eq!(both.next().next(), None);
        for step in 0..9_u32 {
            let x = f64::from(step);
            let (parabola, value) = (x * x - 4.0 * x, cubic(x) + 7.0 * sign);
            if step > 2 {
                assert_eq!(smooth.next().next(), Some(parabola));
            }
            if step > 4 {
                assert_eq!(both.next().next(), Some(value));
            }
            smooth.remember(std::iter::once(parabola));
            both.remember(std::iter::once(value));
            sign = -sign;
        }
        assert_eq!(both.last(), [cubic(8.0) + 7.0]);
        both.forget();
        assert_eq!(both.next().next(), None);
    }
}
