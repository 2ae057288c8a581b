//! The course of an iteration of Newton's method: which steps need a matrix of their own, and when it ends. One rule for all integrators.
//!
//! Sizes of steps $\delta_k$ are compared with the size of the unknowns, so that a tolerance has no unit. The rule knows the rate (quadratic
//! with a matrix of its own, linear with the matrix of an earlier iteration), stagnation, and the floor that rounding sets.

/// Whether Newton's step `last`, after one of size `before`, ends an iteration towards a relative `tolerance`.
///
/// Both are sizes of steps in the units of the unknowns, of which `scale` is the size. Newton's method converges quadratically:
/// the next step would be about $\delta_k^3/\delta_{k-1}^2$; steps that no longer shrink are round-off.
fn is_converged(tolerance: f64, before: f64, last: f64, scale: f64) -> bool {
    let small = tolerance * scale;
    let stalled = last >= 0.5 * before && last <= 1e-9 * scale;
    let next = if before.is_finite() && before > 0.0 {
        last * (last / before) * (last / before)
    } else {
        last
    };
    last <= small || (last <= 1e-6 * scale && next <= 1e-2 * small) || stalled
}

/// As long as a step shrinks by this, the matrix of an earlier iteration will do.
const CONTRACTS: f64 = 0.1;

/// The same for an iteration that may have used the matrix of an earlier one, which converges linearly: what is left is then a
/// geometric series of steps. `fresh` says that the matrix was made in the iteration.
fn ends(tolerance: f64, fresh: bool, before: f64, last: f64, scale: f64) -> bool {
    if fresh {
        return is_converged(tolerance, before, last, scale);
    }
    let small = tolerance * scale;
    let rate = last / before;
    let stalled = rate >= 0.5 && last <= 1e-13 * scale;
    last <= small || (rate < 0.5 && last * rate <= 0.1 * small) || stalled
}

/// With which matrices the steps of an iteration are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrices {
    /// Each step with its own.
    Full,
    /// The first with its own; others where the step before shrank too little.
    Chord,
}

/// An iteration of Newton's method on its way: the sizes of its last two steps, in the units of the unknowns.
///
/// The loop belongs to the caller, who alone knows what a step is and what to say where there is no end:
/// ```
/// use nsm_solvers::newton::{Course, Matrices};
///
/// // x² = 2 with a chord: the slope is taken anew where steps shrink too little.
/// let (mut x, mut slope) = (1.5_f64, 0.0);
/// let mut course = Course::new(1e-15, Matrices::Chord);
/// for _ in 0..20 {
///     if course.wants_matrix() {
///         slope = 2.0 * x;
///     }
///     let step = (2.0 - x * x) / slope;
///     x += step;
///     course.stepped(step.abs());
///     if course.ends(x.abs()) {
///         break;
///     }
/// }
/// assert!((x - 2.0_f64.sqrt()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Course {
    tolerance: f64,
    matrices: Matrices,
    before: f64,
    last: f64,
    fresh: bool,
}

impl Course {
    /// An iteration towards a relative tolerance that has taken no step.
    #[inline]
    pub fn new(tolerance: f64, matrices: Matrices) -> Self {
        Self { tolerance, matrices, before: f64::INFINITY, last: f64::INFINITY, fresh: true }
    }

    /// Whether the next step needs a matrix of its own.
    #[inline]
    pub fn wants_matrix(&mut self) -> bool {
        let first = self.last == f64::INFINITY;
        self.fresh =
            first || self.matrices == Matrices::Full || self.last > CONTRACTS * self.before;
        self.fresh
    }

    /// The next step is made with a matrix of its own, whether wanted or not.
    #[inline]
    pub fn renew(&mut self) {
        self.fresh = true;
    }

    /// Forgets the steps so far, as where the equations have changed.
    #[inline]
    pub fn forget(&mut self) {
        self.last = f64::INFINITY;
    }

    /// A step of this size was taken.
    #[inline]
    pub fn stepped(&mut self, size: f64) {
        self.before = self.last;
        self.last = size;
    }

    /// Whether the step taken last was the last; `scale` is the size of the unknowns.
    #[inline]
    pub fn ends(&self, scale: f64) -> bool {
        ends(self.tolerance, self.fresh, self.before, self.last, scale)
    }

    /// Size of the last step, infinite before the first.
    #[inline]
    pub fn last(&self) -> f64 {
        self.last
    }
}

/// A smaller contraction of one step is luck and says nothing of the next.
const LUCK: f64 = 1e-2;

/// How an iteration with one frozen matrix goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    /// Another step.
    GoesOn,
    /// It has converged.
    Ends,
    /// The matrix will not do.
    Fails,
}

/// An iteration whose matrix was made before it began: it contracts, or is given up.
#[derive(Clone, Copy, Debug)]
pub struct Frozen {
    tolerance: f64,
    /// Relative size of steps that are rounding.
    noise: f64,
    /// The last step, and the one before it.
    before: f64,
    earlier: f64,
    observed: f64,
}

impl Frozen {
    /// An iteration towards a relative tolerance, for equations of which `rows` are constraints.
    #[inline]
    pub fn new(tolerance: f64, rows: usize) -> Self {
        let noise = 4.0 * f64::EPSILON * (1.0 + rows as f64);
        let none = f64::INFINITY;
        Self { tolerance, noise, before: none, earlier: none, observed: 0.0 }
    }

    /// A step of size `last` was taken; `scale` is the size of the unknowns. What is left is below `last` times the worst contraction seen. Where
    /// unknowns of two kinds correct each other in turn, every other step contracts, and two are looked at together.
    #[inline]
    pub fn stepped(&mut self, last: f64, scale: f64) -> Contraction {
        if !last.is_finite() {
            return Contraction::Fails;
        }
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let small = self.tolerance * scale;
        let mut rate = last / self.before;
        if rate > 0.5 {
            rate = (last / self.earlier).sqrt();
        }
        self.observed = larger(self.observed, rate);
        let stalled = last >= 0.5 * self.before && last <= self.noise * scale;
        if last * larger(self.observed, LUCK) <= LUCK * small || stalled {
            return Contraction::Ends;
        }
        if rate > 0.5 {
            return Contraction::Fails;
        }
        (self.earlier, self.before) = (self.before, last);
        Contraction::GoesOn
    }
}

#[cfg(test)]
mod tests {
    use super::{Contraction, Frozen};

    fn outcome(steps: &[f64]) -> Contraction {
        let mut course = Frozen::new(1e-15, 1);
        let mut last = Contraction::GoesOn;
        for step in steps {
            assert_eq!(last, Contraction::GoesOn);
            last = course.stepped(*step, 1.0);
        }
        last
    }

    #[test]
    fn two_kinds_of_unknowns_may_contract_in_turn() {
        // The first moves, the second loads: one ratio says nothing yet.
        assert_eq!(outcome(&[2e-6, 3e-6]), Contraction::GoesOn);
        assert_eq!(outcome(&[3e-6, 3e-7, 4e-10, 4e-10, 5e-13, 6e-13]), Contraction::GoesOn);
        assert_eq!(outcome(&[1e-3, 9e-4, 8e-4]), Contraction::Fails);
        assert_eq!(outcome(&[1e-3, 1e-4, 1e-3]), Contraction::Fails);
        assert_eq!(outcome(&[1e-6, 1e-9, 1e-18]), Contraction::Ends);
        assert_eq!(outcome(&[1e-6, f64::NAN]), Contraction::Fails);
    }
}
