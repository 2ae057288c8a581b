//! Two points between which a function changes sign.

use super::{Root, RootError, RootOptions, Side};

/// Two points with function values of opposite sign (or zero).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// One end.
    pub a: f64,
    /// The function there.
    pub value_a: f64,
    /// The other end, on either side of `a`.
    pub b: f64,
    /// The function there.
    pub value_b: f64,
}

impl Bracket {
    /// Bracket from ends whose values are known, as they are after a time step.
    pub fn new(a: f64, value_a: f64, b: f64, value_b: f64) -> Result<Self, RootError> {
        for (x, value) in [(a, value_a), (b, value_b)] {
            if !(x.is_finite() && value.is_finite()) {
                return Err(RootError::NotFinite { x });
            }
        }
        if (value_a > 0.0 && value_b > 0.0) || (value_a < 0.0 && value_b < 0.0) {
            return Err(RootError::NoSignChange { a, value_a, b, value_b });
        }
        Ok(Self { a, value_a, b, value_b })
    }

    /// Bracket from two evaluations.
    pub fn evaluate(mut f: impl FnMut(f64) -> f64, a: f64, b: f64) -> Result<Self, RootError> {
        let (value_a, value_b) = (f(a), f(b));
        Self::new(a, value_a, b, value_b)
    }

    /// Distance of the ends.
    pub fn width(&self) -> f64 {
        (self.b - self.a).abs()
    }

    /// Whether the ends cannot be told apart to the wanted width, or one of them is a root.
    pub(super) fn is_done(&self, width: f64) -> bool {
        self.value_a == 0.0 || self.value_b == 0.0 || self.width() <= self.resolution(width)
    }

    /// The wanted width, or the spacing of floating-point numbers here if that is larger.
    pub(super) fn resolution(&self, width: f64) -> f64 {
        width.max(f64::EPSILON * self.a.abs().max(self.b.abs())).max(f64::MIN_POSITIVE)
    }

    /// Replaces the end with the same sign by a new point strictly between.
    pub(super) fn shrink(&mut self, x: f64, value: f64) -> Result<(), RootError> {
        if !value.is_finite() {
            return Err(RootError::NotFinite { x });
        }
        if value == 0.0 {
            *self = Self { a: x, value_a: 0.0, b: x, value_b: 0.0 };
        } else if (value > 0.0) == (self.value_a > 0.0) {
            (self.a, self.value_a) = (x, value);
        } else {
            (self.b, self.value_b) = (x, value);
        }
        Ok(())
    }

    /// The result: the end on the wanted side of a bracket that needs no more shrinking.
    pub(super) fn finish(self, options: &RootOptions, evaluations: usize) -> Root {
        let mut bracket = self;
        if bracket.value_a == 0.0 {
            (bracket.b, bracket.value_b) = (bracket.a, 0.0);
        } else if bracket.value_b == 0.0 {
            (bracket.a, bracket.value_a) = (bracket.b, 0.0);
        }
        let take_a = match options.side {
            Side::Nearest => bracket.value_a.abs() <= bracket.value_b.abs(),
            Side::NonNegative => bracket.value_a >= 0.0,
            Side::NonPositive => bracket.value_a <= 0.0,
        };
        let (x, value) =
            if take_a { (bracket.a, bracket.value_a) } else { (bracket.b, bracket.value_b) };
        Root { x, value, bracket, evaluations }
    }
}
