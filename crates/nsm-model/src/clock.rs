//! Time as origin plus a number of steps, $t_n = t_0 + n h$, so that it does not collect the rounding of each.

/// The clock of a stepper with steps of equal length.
///
/// It goes on for as long as the stepper is called at the time where its last step ended, and starts anew wherever else
/// it is called.
///
/// ```
/// let mut clock = nsm_model::Clock::new(0.01);
/// let mut t = 0.0;
/// for _ in 0..10_000 {
///     t = clock.tick(t);
/// }
/// assert_eq!(t, 100.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    h: f64,
    origin: f64,
    steps: u32,
    now: f64,
}

impl Clock {
    /// A clock for steps of length $h$ that has not been read yet.
    pub fn new(h: f64) -> Self {
        Self { h, origin: f64::NAN, steps: 0, now: f64::NAN }
    }

    /// When a step from `t` ends; the clock does not move.
    #[must_use]
    pub fn end(&self, t: f64) -> f64 {
        let mut ahead = *self;
        ahead.tick(t)
    }

    /// Books a step from `t`; returns its end.
    pub fn tick(&mut self, t: f64) -> f64 {
        if t != self.now || self.steps == u32::MAX {
            (self.origin, self.steps) = (t, 0);
        }
        self.steps += 1;
        self.now = self.origin + f64::from(self.steps) * self.h;
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn time_collects_no_rounding_and_starts_anew_elsewhere() {
        let mut clock = Clock::new(0.1);
        let mut t = 7.0;
        for n in 1..=100_000_u32 {
            assert_eq!(clock.end(t), 7.0 + f64::from(n) * 0.1);
            t = clock.tick(t);
        }
        assert_eq!(t, 10_007.0);
        assert_eq!(clock.tick(-1.0), -1.0 + 0.1);
        // A failed step is booked by nobody.
        assert_eq!(clock.end(-1.0 + 0.1), -1.0 + 2.0 * 0.1);
        assert_eq!(clock.end(-1.0 + 0.1), -1.0 + 2.0 * 0.1);
    }
}
