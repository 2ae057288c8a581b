//! Shares of the work on many bodies, for several threads.
//!
//! Each share is done by itself, and what comes of them is put together in their order: nothing depends on how many threads there are.

use std::ops::Range;

/// Bodies below which to wake other threads takes longer than what they would do.
const MANY: usize = 4096;
/// Shares for each thread, so that one that is late does not keep the others waiting for long.
const EACH: usize = 4;

/// In how many shares threads take the work on so many bodies: one, if it is not worth their while, or there is but one thread.
pub fn shares(bodies: usize) -> usize {
    match if bodies < MANY { 1 } else { rayon::current_num_threads() } {
        1 => 1,
        threads => EACH * threads,
    }
}

/// The `k`-th of so many equal shares of `total`.
pub fn share(k: usize, shares: usize, total: usize) -> Range<usize> {
    total * k / shares..total * (k + 1) / shares
}
