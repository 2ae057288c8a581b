//! Islands that are chains, whatever the order in which their contacts come.
//!
//! A chain's contacts can be walked from one end to the other; along the walk its Gram matrix is
//! tridiagonal, and since neighbours push their common body in opposite directions, the couplings
//! are not positive.

use crate::island_gram::IslandGram;

/// A chain put in order, with its tridiagonal matrix.
#[derive(Debug)]
pub(crate) struct Chain {
    order: Vec<usize>,
    pub(crate) diagonal: Vec<f64>,
    pub(crate) off_diagonal: Vec<f64>,
    pub(crate) q: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
}

impl Chain {
    pub(crate) fn new(contacts: usize) -> Self {
        let room = || Vec::with_capacity(contacts);
        Self {
            order: Vec::with_capacity(contacts),
            diagonal: room(),
            off_diagonal: room(),
            q: room(),
            lambda: room(),
        }
    }

    /// Walks the island from one end; false when it is no chain.
    pub(crate) fn order(&mut self, gram: &IslandGram) -> bool {
        let k = gram.columns().0.len() - 1;
        self.order.clear();
        self.diagonal.clear();
        self.off_diagonal.clear();
        let Some(end) = (0..k).find(|&a| gram.column(a).0.len() <= 2) else { return false };
        let (mut previous, mut here) = (usize::MAX, end);
        loop {
            let (indices, values) = gram.column(here);
            let mut next = None;
            for (&a, &value) in indices.iter().zip(values) {
                if a == here {
                    self.diagonal.push(value);
                } else if a != previous && next.replace((a, value)).is_some() {
                    return false;
                }
            }
            self.order.push(here);
            match next {
                Some((a, coupling)) if coupling <= 0.0 && self.order.len() < k => {
                    self.off_diagonal.push(coupling);
                    (previous, here) = (here, a);
                }
                Some(_) => return false,
                None => return self.order.len() == k,
            }
        }
    }

    /// The right-hand side along the walk, and a cold start.
    pub(crate) fn gather(&mut self, q: &[f64]) {
        self.q.clear();
        self.q.extend(self.order.iter().map(|&a| q[a]));
        self.lambda.clear();
        self.lambda.resize(q.len(), 0.0);
    }

    /// Multipliers back to the order of the island.
    pub(crate) fn scatter(&self, lambda: &mut [f64]) {
        for (&a, l) in self.order.iter().zip(&self.lambda) {
            lambda[a] = *l;
        }
    }
}
