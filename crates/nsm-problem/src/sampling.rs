//! How much of a run is recorded: which instants, and how much of each where states are long.

/// Which instants are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// This many instants after the start, evenly spaced over the run.
    Count(usize),
    /// Every so many steps.
    Every(usize),
    /// [`USUAL`](Self::USUAL) instants after the start, or as many as hold [`MOST`](Self::MOST) numbers.
    Usual,
}

impl Sampling {
    /// Instants that are recorded unless the run says otherwise.
    pub const USUAL: usize = 500;
    /// Numbers in them: with 18 for each, a thousand bodies are recorded some 160 times.
    pub const MOST: usize = 3_000_000;

    /// How many instants of so many numbers are kept if one may choose.
    pub(crate) fn usual(most: usize, numbers: usize) -> usize {
        most.min(Self::MOST / numbers.max(1)).max(1)
    }

    /// The same with a count for rows of so many numbers.
    pub(crate) fn counted(self, numbers: usize) -> Self {
        match self {
            Self::Usual => Self::Count(Self::usual(Self::USUAL, numbers)),
            other => other,
        }
    }

    /// Whether step `step` of `steps` is recorded; the start and the end always are.
    pub fn takes(self, step: usize, steps: usize) -> bool {
        match self {
            _ if step == 0 || step == steps => true,
            Self::Every(k) => step.is_multiple_of(k.max(1)),
            // The step on which the count of due samples rises.
            Self::Usual => Self::Count(Self::USUAL).takes(step, steps),
            Self::Count(n) => due(step, n, steps) > due(step - 1, n, steps),
        }
    }
}

fn due(step: usize, samples: usize, steps: usize) -> u128 {
    step as u128 * samples as u128 / steps.max(1) as u128
}

/// Numbers of a state above which it is not written down for every event.
pub const WIDE: usize = 4500;

/// Numbers of a state above which it is not filmed: pictures of so many bodies take megabytes each and show little.
pub const FILMED: usize = 27_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_even_and_include_both_ends() {
        let taken = |sampling: Sampling, steps| {
            (0..=steps).filter(|&s| sampling.takes(s, steps)).collect::<Vec<_>>()
        };
        assert_eq!(taken(Sampling::Count(4), 8), [0, 2, 4, 6, 8]);
        assert_eq!(taken(Sampling::Count(3), 10), [0, 4, 7, 10]);
        assert_eq!(taken(Sampling::Count(500), 3), [0, 1, 2, 3]);
        assert_eq!(taken(Sampling::Every(4), 10), [0, 4, 8, 10]);
        assert_eq!(taken(Sampling::Count(0), 3), [0, 3]);
    }
}
