//! Orderings that bring the entries of a sparse matrix close to its diagonal.

use std::collections::VecDeque;

use crate::error::LinearError;

/// Reverse Cuthill–McKee order of the graph of a square matrix [George & Liu 1981, section 4.3].
///
/// `entries` are the positions of nonzeros; the pattern is symmetrised. The result lists the original
/// indices in their new order. Each connected component starts from a pseudo-peripheral vertex.
pub fn reverse_cuthill_mckee(
    n: usize,
    entries: &[(usize, usize)],
) -> Result<Vec<usize>, LinearError> {
    let (start, neighbours) = adjacency(n, entries)?;
    let degree = |v: usize| start[v + 1] - start[v];
    let mut order = Vec::with_capacity(n);
    let mut visited = vec![false; n];
    let mut level = vec![usize::MAX; n];
    let mut by_degree: Vec<usize> = (0..n).collect();
    by_degree.sort_by_key(|&v| degree(v));
    for root in by_degree {
        if visited[root] {
            continue;
        }
        let root = pseudo_peripheral(root, &start, &neighbours, &mut level);
        let mut queue = VecDeque::from([root]);
        visited[root] = true;
        let mut next = Vec::new();
        while let Some(v) = queue.pop_front() {
            order.push(v);
            next.clear();
            next.extend(
                neighbours[start[v]..start[v + 1]].iter().copied().filter(|&w| !visited[w]),
            );
            next.sort_by_key(|&w| degree(w));
            for &w in &next {
                visited[w] = true;
                queue.push_back(w);
            }
        }
    }
    order.reverse();
    Ok(order)
}

/// Lower and upper half-bandwidth of a matrix whose unknowns are taken in the given order.
pub fn half_bandwidths(order: &[usize], entries: &[(usize, usize)]) -> (usize, usize) {
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    entries.iter().fold((0, 0), |(lower, upper), &(i, j)| {
        let (i, j) = (place[i], place[j]);
        (lower.max(i.saturating_sub(j)), upper.max(j.saturating_sub(i)))
    })
}

/// Connected component of every vertex of the graph of a matrix, numbered by first appearance, and
/// their number. Entries outside the matrix are ignored.
pub fn components(n: usize, entries: &[(usize, usize)]) -> (Vec<usize>, usize) {
    let mut parent: Vec<usize> = (0..n).collect();
    for &(i, j) in entries {
        if i < n && j < n {
            let (a, b) = (root(&mut parent, i), root(&mut parent, j));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut number = vec![usize::MAX; n];
    let mut count = 0;
    let mut block_of = vec![0; n];
    for v in 0..n {
        let r = root(&mut parent, v);
        if number[r] == usize::MAX {
            number[r] = count;
            count += 1;
        }
        block_of[v] = number[r];
    }
    (block_of, count)
}

/// Representative of a component, halving the path to it.
fn root(parent: &mut [usize], mut v: usize) -> usize {
    while parent[v] != v {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    v
}

/// Neighbours of every vertex, sorted and without repetition: `neighbours[start[v]..start[v + 1]]`.
fn adjacency(
    n: usize,
    entries: &[(usize, usize)],
) -> Result<(Vec<usize>, Vec<usize>), LinearError> {
    let mut pairs = Vec::with_capacity(2 * entries.len());
    for &(i, j) in entries {
        if let Some(&index) = [i, j].iter().find(|&&k| k >= n) {
            return Err(LinearError::Index { what: "entry", index, bound: n });
        }
        if i != j {
            pairs.push((i, j));
            pairs.push((j, i));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut start = vec![0; n + 1];
    for &(i, _) in &pairs {
        start[i + 1] += 1;
    }
    for v in 0..n {
        start[v + 1] += start[v];
    }
    Ok((start, pairs.into_iter().map(|(_, j)| j).collect()))
}

/// A vertex of (nearly) largest eccentricity in the component of `root`.
fn pseudo_peripheral(
    root: usize,
    start: &[usize],
    neighbours: &[usize],
    level: &mut [usize],
) -> usize {
    let mut root = root;
    let mut depth = 0;
    loop {
        let mut reached = vec![root];
        level[root] = 0;
        let mut head = 0;
        while head < reached.len() {
            let v = reached[head];
            head += 1;
            for &w in &neighbours[start[v]..start[v + 1]] {
                if level[w] == usize::MAX {
                    level[w] = level[v] + 1;
                    reached.push(w);
                }
            }
        }
        let deepest = level[*reached.last().unwrap_or(&root)];
        let farthest = reached
            .iter()
            .copied()
            .filter(|&v| level[v] == deepest)
            .min_by_key(|&v| start[v + 1] - start[v])
            .unwrap_or(root);
        for v in reached {
            level[v] = usize::MAX;
        }
        if deepest <= depth {
            return root;
        }
        (root, depth) = (farthest, deepest);
    }
}
