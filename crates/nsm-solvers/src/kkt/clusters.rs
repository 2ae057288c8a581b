//! Clusters of unknowns whose constraints concern themselves alone: a rigid body, a node of a beam.
//!
//! A row joins the clusters it touches as long as the union stays small: first within vectors, then within bodies, then
//! between two bodies. Rows that would make it larger (the joints of a long chain) stay *global*. Unknowns without a local row go to the
//! cluster that $A$ ties them to most.

use super::KktPattern;

/// Sizes of clusters, in the order in which they are formed: vectors and pairs of them, bodies, pairs of bodies.
const SIZES: [usize; 3] = [6, 12, 24];

/// A partition of the unknowns, with the rows that are local to each part.
#[derive(Debug, Clone)]
pub(super) struct Clusters {
    /// Cluster of every unknown, and its place in it.
    pub(super) of: Vec<usize>,
    pub(super) place: Vec<usize>,
    /// Unknowns of cluster `c`: `members[starts[c]..starts[c + 1]]`.
    pub(super) members: Vec<usize>,
    pub(super) starts: Vec<usize>,
    /// Local rows of cluster `c`: `rows[row_starts[c]..row_starts[c + 1]]`.
    pub(super) rows: Vec<usize>,
    pub(super) row_starts: Vec<usize>,
    /// Rows that are local to none, ascending.
    pub(super) global: Vec<usize>,
}

impl Clusters {
    /// Clusters of at most `limit` unknowns (unconstrained ones come on top).
    pub(super) fn new(pattern: &KktPattern<'_>, limit: usize) -> Self {
        let (n, m) = (pattern.unknowns, pattern.rows);
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); m];
        for &(row, k) in pattern.gradients {
            columns[row].push(k);
        }
        let mut forest = Forest::new(n);
        let mut local = vec![false; m];
        for small in SIZES.into_iter().filter(|&size| size <= limit) {
            for row in 0..m {
                local[row] = local[row] || forest.join(&columns[row], small);
            }
        }
        let mut root: Vec<usize> = (0..n).map(|k| forest.root(k)).collect();
        let constrained: Vec<bool> = root.iter().map(|&r| forest.rows[r] > 0).collect();
        adopt(pattern, &constrained, &mut root);
        let number = numbered(&root);
        let of: Vec<usize> = root.iter().map(|&r| number[r]).collect();
        let count = of.iter().max().map_or(0, |c| c + 1);
        let (members, starts) = grouped(count, &of, |_| true);
        let mut place = vec![0; n];
        for c in 0..count {
            for (at, &k) in members[starts[c]..starts[c + 1]].iter().enumerate() {
                place[k] = at;
            }
        }
        let owner: Vec<usize> =
            columns.iter().map(|columns| columns.first().map_or(0, |&k| of[k])).collect();
        let (rows, row_starts) = grouped(count, &owner, |row| local[row]);
        let global = (0..m).filter(|&row| !local[row]).collect();
        Self { of, place, members, starts, rows, row_starts, global }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Unknowns and local rows of a cluster.
    pub(super) fn size(&self, c: usize) -> (usize, usize) {
        (self.starts[c + 1] - self.starts[c], self.row_starts[c + 1] - self.row_starts[c])
    }
}

/// Union–find over unknowns that counts members and rows.
struct Forest {
    parent: Vec<usize>,
    members: Vec<usize>,
    rows: Vec<usize>,
}

impl Forest {
    fn new(n: usize) -> Self {
        Self { parent: (0..n).collect(), members: vec![1; n], rows: vec![0; n] }
    }

    fn root(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    /// Joins the trees of some unknowns and gives them one row more; not if the union were too large or over-determined.
    fn join(&mut self, unknowns: &[usize], limit: usize) -> bool {
        let mut roots: Vec<usize> = unknowns.iter().map(|&k| self.root(k)).collect();
        roots.sort_unstable();
        roots.dedup();
        let members: usize = roots.iter().map(|&r| self.members[r]).sum();
        let rows: usize = roots.iter().map(|&r| self.rows[r]).sum();
        let Some(&first) = roots.first() else { return false };
        if members > limit || rows >= members {
            return false;
        }
        for &r in &roots {
            self.parent[r] = first;
        }
        (self.members[first], self.rows[first]) = (members, rows + 1);
        true
    }
}

/// Gives every unconstrained unknown to the constrained cluster with which it shares most entries of $A$; of several, to
/// the nearest in number.
fn adopt(pattern: &KktPattern<'_>, constrained: &[bool], root: &mut [usize]) {
    let mut ties: Vec<(usize, usize, usize)> = Vec::new();
    for &(i, j) in pattern.block {
        for (free, held) in [(i, j), (j, i)] {
            if !constrained[free] && constrained[held] {
                ties.push((free, root[held], free.abs_diff(held)));
            }
        }
    }
    ties.sort_unstable();
    for of_one in ties.chunk_by(|a, b| a.0 == b.0) {
        let best = of_one
            .chunk_by(|a, b| a.1 == b.1)
            .max_by_key(|run| (run.len(), std::cmp::Reverse(run[0].2)));
        if let Some(run) = best {
            root[run[0].0] = run[0].1;
        }
    }
}

/// Numbers of the values that occur, in the order of their first occurrence.
fn numbered(values: &[usize]) -> Vec<usize> {
    let mut number = vec![usize::MAX; values.len()];
    let mut next = 0;
    for &v in values {
        if number[v] == usize::MAX {
            number[v] = next;
            next += 1;
        }
    }
    number
}

/// Indices by group, and where each group starts.
fn grouped(
    count: usize,
    group: &[usize],
    counts: impl Fn(usize) -> bool,
) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; count + 1];
    let chosen = || (0..group.len()).filter(|&i| counts(i));
    chosen().for_each(|i| starts[group[i] + 1] += 1);
    for c in 0..count {
        starts[c + 1] += starts[c];
    }
    let mut fill = starts.clone();
    let mut indices = vec![0; starts[count]];
    for i in chosen() {
        indices[fill[group[i]]] = i;
        fill[group[i]] += 1;
    }
    (indices, starts)
}
