//! Which bodies are near each other: a list of pairs with a skin, rebuilt when something has moved by half of it.
//!
//! Balls around the bodies are sorted into a grid of cells as wide as the largest of them, but for the few that are much larger than the rest,
//! which are compared with all. Cost and memory are linear in the number of bodies, and pairs come in the order of their bodies.

use crate::Vec3;

/// The near pairs of a set of balls.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    radii: Vec<f64>,
    /// Bodies too large for the grid.
    large: Vec<usize>,
    is_large: Vec<bool>,
    /// Whether a body stands still: two such bodies are no pair.
    still: Vec<bool>,
    cell: f64,
    skin: f64,
    /// Centres when the list was made.
    built: Vec<Vec3>,
    pairs: Vec<(u32, u32)>,
    /// Cell of each small body, and the bodies sorted by cell.
    cells: Vec<[i64; 3]>,
    order: Vec<(u64, u32)>,
    rebuilds: usize,
}

/// Bodies larger than the typical one by this factor are compared with all.
const LARGE: f64 = 4.0;

impl Neighbours {
    /// A list for balls with these radii; `still` says which never move. The skin is set at the first [update](Self::update).
    pub fn new(radii: &[f64], still: &[bool]) -> Self {
        let mut sorted: Vec<f64> = radii.iter().copied().filter(|r| *r > 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let is_large: Vec<bool> = radii.iter().map(|r| *r > LARGE * typical).collect();
        let mut largest: f64 = 0.0;
        for (r, large) in radii.iter().zip(&is_large) {
            largest = if *large { largest } else { largest.max(*r) };
        }
        Self {
            large: (0..radii.len()).filter(|&i| is_large[i]).collect(),
            is_large,
            still: still.to_vec(),
            radii: radii.to_vec(),
            cell: 2.0 * largest,
            built: Vec::with_capacity(radii.len()),
            order: Vec::with_capacity(radii.len()),
            cells: Vec::with_capacity(radii.len()),
            ..Self::default()
        }
    }

    /// Brings the list up to date: afterwards it holds every pair of balls closer than `reach`. Returns whether it was made anew.
    pub fn update(&mut self, centres: impl Fn(usize) -> Vec3, reach: f64) -> bool {
        let fresh = !self.built.is_empty() && reach <= self.skin && {
            let slack = 0.5 * (self.skin - reach);
            let limit = slack * slack;
            (0..self.radii.len()).all(|i| (centres(i) - self.built[i]).norm_squared() <= limit)
        };
        if !fresh {
            self.rebuild(centres, reach);
        }
        !fresh
    }

    /// The pairs, the smaller index first, in order.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// How often the list was made.
    pub fn rebuilds(&self) -> usize {
        self.rebuilds
    }

    #[allow(clippy::cast_possible_truncation)] // cells far beyond 2^63 would be bodies at infinity
    fn rebuild(&mut self, centres: impl Fn(usize) -> Vec3, reach: f64) {
        self.rebuilds += 1;
        // Room for some steps at this speed, not more than a good part of a body.
        self.skin = (6.0 * reach).min(reach + 0.4 * self.cell).max(2.0 * reach);
        let n = self.radii.len();
        self.built.clear();
        self.built.extend((0..n).map(centres));
        self.pairs.clear();
        let width = self.cell + self.skin;
        self.cells.clear();
        self.order.clear();
        for i in 0..n {
            let c = self.built[i] / width;
            self.cells.push([c.x, c.y, c.z].map(|x| x.floor() as i64));
            if !self.is_large[i] && self.radii[i] > 0.0 {
                self.order.push((hash(&self.cells[i]), i as u32));
            }
        }
        self.order.sort_unstable();
        for k in 0..self.order.len() {
            let i = self.order[k].1 as usize;
            let own = self.cells[i];
            // Half of the surroundings, and the rest of the own cell: each pair is met once.
            for at in k + 1..self.order.len() {
                let (h, j) = self.order[at];
                if h != self.order[k].0 {
                    break;
                }
                if self.cells[j as usize] == own {
                    consider(self, i, j as usize);
                }
            }
            for [dx, dy, dz] in HALF {
                let cell = [own[0] + dx, own[1] + dy, own[2] + dz];
                let h = hash(&cell);
                let from = self.order.partition_point(|e| e.0 < h);
                for at in from..self.order.len() {
                    let (other, j) = self.order[at];
                    if other != h {
                        break;
                    }
                    if self.cells[j as usize] == cell {
                        consider(self, i, j as usize);
                    }
                }
            }
        }
        for at in 0..self.large.len() {
            let i = self.large[at];
            for j in 0..n {
                if self.radii[j] > 0.0 && i != j && (!self.is_large[j] || i < j) {
                    consider(self, i, j);
                }
            }
        }
        self.pairs.sort_unstable();
    }
}

/// Takes in a pair that is near enough.
#[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
fn consider(list: &mut Neighbours, i: usize, j: usize) {
    let reach = list.radii[i] + list.radii[j] + list.skin;
    let near = (list.built[i] - list.built[j]).norm_squared() <= reach * reach;
    if near && !(list.still[i] && list.still[j]) {
        list.pairs.push((i.min(j) as u32, i.max(j) as u32));
    }
}

const HALF: [[i64; 3]; 13] = [
    [1, 0, 0],
    [-1, 1, 0],
    [0, 1, 0],
    [1, 1, 0],
    [-1, -1, 1],
    [0, -1, 1],
    [1, -1, 1],
    [-1, 0, 1],
    [0, 0, 1],
    [1, 0, 1],
    [-1, 1, 1],
    [0, 1, 1],
    [1, 1, 1],
];

/// A number for a cell; different cells may share one.
fn hash(cell: &[i64; 3]) -> u64 {
    let mixed =
        cell.iter().zip([0x9E37_79B9_7F4A_7C15_u64, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9]);
    mixed.fold(0, |h: u64, (c, k)| h ^ c.cast_unsigned().wrapping_mul(k)) >> 20
}
