//! The Gram matrix $A = G^\top W G$ of an island on the pattern of shared momenta.

use crate::multipliers::Island;

const NONE: usize = usize::MAX;

/// Compressed columns of a sparse Gram matrix, with the workspace to assemble them.
#[derive(Debug)]
pub(crate) struct IslandGram {
    /// Coordinate to members: linked lists through `links`, valid where the stamp is current.
    heads: Vec<usize>,
    stamps: Vec<u64>,
    now: u64,
    links: Vec<(usize, usize)>,
    /// Last column in which a member was met.
    met: Vec<usize>,
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl IslandGram {
    pub(crate) fn new(dimension: usize, contacts: usize) -> Self {
        Self {
            heads: vec![NONE; dimension],
            stamps: vec![0; dimension],
            now: 0,
            links: Vec::with_capacity(4 * contacts),
            met: Vec::with_capacity(contacts),
            starts: Vec::with_capacity(contacts + 1),
            indices: Vec::with_capacity(4 * contacts),
            values: Vec::with_capacity(4 * contacts),
        }
    }

    /// Makes room for gradients with this many entries in all.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.links.reserve(entries.saturating_sub(self.links.len()));
    }

    /// Links members through their coordinates; false when three of them share one, and so are no chain.
    pub(crate) fn may_be_chain(&mut self, island: Island<'_>) -> bool {
        self.now += 1;
        self.links.clear();
        for a in 0..island.len() {
            for &c in island.row(a).0 {
                if self.push(a, c) != NONE
                    && self.links.last().is_some_and(|l| self.links[l.1].1 != NONE)
                {
                    return false;
                }
            }
        }
        true
    }

    /// Links members through their coordinates.
    pub(crate) fn link(&mut self, island: Island<'_>) {
        self.now += 1;
        self.links.clear();
        for a in 0..island.len() {
            for &c in island.row(a).0 {
                self.push(a, c);
            }
        }
    }

    /// Puts member `a` in front of the list of coordinate `c`; returns the link behind it.
    fn push(&mut self, a: usize, c: usize) -> usize {
        let behind = if self.stamps[c] == self.now { self.heads[c] } else { NONE };
        self.stamps[c] = self.now;
        self.heads[c] = self.links.len();
        self.links.push((a, behind));
        behind
    }

    /// Assembles the columns of the members just linked; `weighted` is zero and stays so.
    pub(crate) fn assemble(&mut self, island: Island<'_>, weighted: &mut [f64]) {
        let k = island.len();
        self.met.clear();
        self.met.resize(k, NONE);
        self.starts.clear();
        self.indices.clear();
        self.values.clear();
        self.starts.push(0);
        for b in 0..k {
            let (columns, gradient) = island.row(b);
            island.metric.add_applied(columns, gradient, weighted);
            let begin = self.indices.len();
            let Self { heads, stamps, now, links, met, indices, .. } = self;
            for &c in columns {
                island.metric.for_coupled(c, |j| {
                    let mut link = if stamps[j] == *now { heads[j] } else { NONE };
                    while link != NONE {
                        let (a, behind) = links[link];
                        if met[a] != b {
                            met[a] = b;
                            indices.push(a);
                        }
                        link = behind;
                    }
                });
            }
            self.indices[begin..].sort_unstable();
            for &a in &self.indices[begin..] {
                let (columns, gradient) = island.row(a);
                self.values.push(columns.iter().zip(gradient).map(|(&c, g)| weighted[c] * g).sum());
            }
            self.starts.push(self.indices.len());
            for &c in columns {
                island.metric.for_coupled(c, |j| weighted[j] = 0.0);
            }
        }
    }

    /// Column starts, row indices and values.
    pub(crate) fn columns(&self) -> (&[usize], &[usize], &[f64]) {
        (&self.starts, &self.indices, &self.values)
    }

    /// Row indices and values of column `b`.
    pub(crate) fn column(&self, b: usize) -> (&[usize], &[f64]) {
        let span = self.starts[b]..self.starts[b + 1];
        (&self.indices[span.clone()], &self.values[span])
    }
}
