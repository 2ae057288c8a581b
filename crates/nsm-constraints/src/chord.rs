//! Where the step began: what rows on velocities need to know to be rows on positions.
//!
//! A nonholonomic row $A(q)\\,v = 0$ is no function of a configuration that is to be zero. Over the chord of a step from $q_0$ it is:
//! $$ g(q) = A\big(\tfrac12(q_0 + q)\big)\\,(q - q_0), $$
//! with the discrete gradient $\bar\nabla g = A(\tfrac12(q_0 + q))$, and that is the discrete Lagrange–d'Alembert principle \[Cortés & Martínez 2001\]: methods that hold
//! $g(q_1) = 0$ by forces along $\bar\nabla g$ do no work, and those that take the forces along $A(q_0)$ and $A(q_1)$ are reversible. A step says where it begins
//! ([`begin`]); outside of one such a row is zero.

use std::cell::RefCell;
use std::marker::PhantomData;

thread_local! {
    /// Where the step that is taken on this thread began; grown once.
    static START: RefCell<(bool, Vec<f64>)> = const { RefCell::new((false, Vec::new())) };
}

/// A step is under way until this is dropped.
#[derive(Debug)]
pub struct Chord {
    /// It belongs to its thread.
    bound: PhantomData<*const ()>,
}

/// A step begins here.
#[must_use]
pub fn begin(q: &[f64]) -> Chord {
    START.with_borrow_mut(|(under_way, start)| {
        *under_way = true;
        start.clear();
        start.extend_from_slice(q);
    });
    Chord { bound: PhantomData }
}

impl Drop for Chord {
    fn drop(&mut self) {
        START.with_borrow_mut(|(under_way, _)| *under_way = false);
    }
}

/// What a function makes of the start of the step that is under way; nothing if there is none.
pub fn from_start<T>(what: impl FnOnce(&[f64]) -> T) -> Option<T> {
    START.with_borrow(|(under_way, start)| under_way.then(|| what(start)))
}
