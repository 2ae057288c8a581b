//! Contacts that see each other: connected components under shared momenta.
//!
//! Two contacts are linked when $\nabla g_i^\top W \nabla g_j$ can be non-zero, that is when $W$ couples a column of
//! one to a column of the other. The Gram matrix is block diagonal over the islands, so each is solved
//! on its own and none can disturb another, not even by rounding.

use nsm_constraints::Metric;

use crate::ContactRows;

/// Islands of a set of contacts, with the workspace to find them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// Union–find over slots.
    root: Vec<usize>,
    /// Last slot seen at a coordinate, valid where the stamp is current.
    owner: Vec<usize>,
    stamp: Vec<u64>,
    now: u64,
    /// Members, island after island, each in the order given.
    members: Vec<usize>,
    ends: Vec<usize>,
    label: Vec<usize>,
}

impl Islands {
    pub(crate) fn new(dimension: usize, contacts: usize) -> Self {
        Self {
            root: vec![0; contacts],
            owner: vec![0; dimension],
            stamp: vec![0; dimension],
            now: 0,
            members: Vec::with_capacity(contacts),
            ends: Vec::with_capacity(contacts),
            label: vec![0; contacts],
        }
    }

    /// Groups the given slots; slot $a$ stands for row `candidates[a]`.
    pub(crate) fn group(
        &mut self,
        metric: &Metric,
        rows: ContactRows<'_>,
        candidates: &[usize],
        slots: &[usize],
    ) {
        self.members.clear();
        self.ends.clear();
        if slots.len() < 2 {
            self.members.extend_from_slice(slots);
            self.ends.extend(slots.iter().map(|_| 1));
            return;
        }
        if self.root.len() < candidates.len() {
            self.root.resize(candidates.len(), 0);
            self.label.resize(candidates.len(), 0);
        }
        self.now += 1;
        for &a in slots {
            self.root[a] = a;
            self.label[a] = usize::MAX;
            let (columns, _) = rows.row(candidates[a]);
            for &c in columns {
                let Self { root, owner, stamp, now, .. } = self;
                metric.for_coupled(c, |j| {
                    if stamp[j] == *now {
                        let (x, y) = (find(root, a), find(root, owner[j]));
                        root[x.max(y)] = x.min(y);
                    }
                });
            }
            for &c in columns {
                self.owner[c] = a;
                self.stamp[c] = self.now;
            }
        }
        // Counting sort by island, islands in the order of their first member.
        for &a in slots {
            let leader = find(&mut self.root, a);
            if self.label[leader] == usize::MAX {
                self.label[leader] = self.ends.len();
                self.ends.push(0);
            }
            let island = self.label[leader];
            self.ends[island] += 1;
        }
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        self.members.resize(slots.len(), 0);
        for &a in slots {
            let leader = find(&mut self.root, a);
            let at = &mut self.ends[self.label[leader]];
            self.members[*at] = a;
            *at += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Slots of island `k`.
    pub(crate) fn island(&self, k: usize) -> &[usize] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.members[start..self.ends[k]]
    }
}

fn find(root: &mut [usize], mut a: usize) -> usize {
    while root[a] != a {
        root[a] = root[root[a]];
        a = root[a];
    }
    a
}
