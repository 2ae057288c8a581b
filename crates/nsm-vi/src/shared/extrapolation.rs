//! Numbers of the next step from those of the last three.

/// A vector that varies smoothly from step to step, its last value, change and change of that.
#[derive(Debug)]
pub(crate) struct Extrapolation {
    last: Vec<f64>,
    change: Vec<f64>,
    second_change: Vec<f64>,
    /// Steps in a row of which these are known, up to three.
    known: usize,
}

impl Extrapolation {
    pub(crate) fn new(len: usize) -> Self {
        let zero = vec![0.0; len];
        Self { last: zero.clone(), change: zero.clone(), second_change: zero, known: 0 }
    }

    /// Forgets the steps before.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.known = 0;
    }

    /// Whether there was a step before.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.known > 0
    }

    /// The values of the last step.
    #[inline]
    pub(crate) fn last(&self) -> &[f64] {
        &self.last
    }

    /// What the values will be if their second change is the same once more.
    #[inline]
    pub(crate) fn next(&self) -> impl Iterator<Item = f64> + '_ {
        let changes = self.change.iter().zip(&self.second_change);
        self.last.iter().zip(changes).map(|(last, (change, second))| last + change + second)
    }

    /// The values of a step that was taken.
    #[inline]
    pub(crate) fn remember(&mut self, values: impl Iterator<Item = f64>) {
        let changes = self.change.iter_mut().zip(&mut self.second_change);
        for ((last, (change, second)), new) in self.last.iter_mut().zip(changes).zip(values) {
            let new_change = if self.known > 0 { new - *last } else { 0.0 };
            *second = if self.known > 1 { new_change - *change } else { 0.0 };
            *change = new_change;
            *last = new;
        }
        self.known = (self.known + 1).min(3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabolas_are_met() {
        let smooth = |n: f64| 0.25 * n * n - 3.0 * n + 1.0;
        let mut values = Extrapolation::new(1);
        for n in 0..6_i32 {
            let at = f64::from(n);
            if n > 2 {
                assert_eq!(values.next().next(), Some(smooth(at)));
            }
            values.remember(std::iter::once(smooth(at)));
        }
        values.forget();
        assert!(!values.is_known());
    }
}
