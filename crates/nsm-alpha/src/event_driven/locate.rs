//! Where in a piece of a step the first event lies.

use nsm_model::StepError;

use super::EventDrivenStepper;

/// Where an event lies.
pub(super) enum Located {
    /// Inside the piece; the solver's end is there.
    Ahead,
    /// At its very start.
    AtOnce,
}

impl EventDrivenStepper<'_> {
    /// Finds the first event in a piece of length $h$ whose end violates a region or a gap; leaves the
    /// solver's end there.
    pub(super) fn locate(&mut self, h: f64) -> Result<Located, StepError> {
        let (mut low, mut high) = (0.0, h);
        let mut at_high = self.margin()?;
        // A contact that just opened, or a mode just entered, starts at zero: find where it is positive.
        let mut at_low = f64::NAN;
        let mut trial = 0.5 * h;
        while trial > 1e-13 * h {
            self.solve(trial)?;
            let margin = self.margin()?;
            if margin > 0.0 {
                (low, at_low) = (trial, margin);
                break;
            }
            (high, at_high) = (trial, margin);
            trial *= 0.5;
        }
        if at_low.is_nan() {
            return Ok(Located::AtOnce);
        }
        // False position with halved ends (Illinois) and a bisection now and then.
        let mut side = 0;
        for k in 0..80 {
            let guess = if k % 4 == 3 {
                0.5 * (low + high)
            } else {
                (low * at_high - high * at_low) / (at_high - at_low)
            };
            let guess = guess.clamp(low, high);
            self.solve(guess)?;
            let margin = self.margin()?;
            if margin.abs() <= 1e-5 || (high - low) <= 4.0 * f64::EPSILON * (self.from.t.abs() + h)
            {
                break;
            }
            if margin > 0.0 {
                (low, at_low) = (guess, margin);
                if side == 1 {
                    at_high *= 0.5;
                }
                side = 1;
            } else {
                (high, at_high) = (guess, margin);
                if side == -1 {
                    at_low *= 0.5;
                }
                side = -1;
            }
        }
        Ok(Located::Ahead)
    }
}
