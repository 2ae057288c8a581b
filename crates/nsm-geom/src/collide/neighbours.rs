//! Which bodies are near each other: a list of pairs with a skin, rebuilt when something has moved by half of it.
//!
//! Balls around the bodies are sorted into a grid of cells as wide as the largest of them, but for the few that are much larger than the rest,
//! which are compared with all. Rows of cells along the first axis are scattered over buckets, and cells of a row follow each other: what surrounds
//! a body lies in nine short ranges. Cost and memory are linear in the number of bodies wherever they are, and pairs come in the order of their
//! bodies.

use rayon::prelude::*;

use super::{share, shares};
use crate::Vec3;

/// The near pairs of a set of balls.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    radii: Vec<f64>,
    /// Bodies too large for the grid.
    large: Vec<u32>,
    is_large: Vec<bool>,
    /// Whether a body stands still: two such bodies are no pair.
    still: Vec<bool>,
    cell: f64,
    skin: f64,
    /// Centres when the list was made.
    built: Vec<Vec3>,
    pairs: Vec<(u32, u32)>,
    /// Cell of each body, the small bodies sorted by bucket, and where the buckets begin.
    cells: Vec<[i64; 3]>,
    sorted: Vec<Placed>,
    buckets: Vec<u32>,
    /// Pairs of the bodies of each share.
    shared: Vec<Vec<(u32, u32)>>,
    rebuilds: usize,
}

/// A body in the grid.
#[derive(Debug, Clone, Copy, Default)]
struct Placed {
    cell: [i64; 3],
    centre: Vec3,
    radius: f64,
    body: u32,
}

/// Bodies larger than the typical one by this factor are compared with all.
const LARGE: f64 = 4.0;

impl Neighbours {
    /// A list for balls with these radii; `still` says which never move. The skin is set at the first [update](Self::update).
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
    pub fn new(radii: &[f64], still: &[bool]) -> Self {
        let mut sorted: Vec<f64> = radii.iter().copied().filter(|r| *r > 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let typical = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let is_large: Vec<bool> = radii.iter().map(|r| *r > LARGE * typical).collect();
        let mut largest: f64 = 0.0;
        for (r, large) in radii.iter().zip(&is_large) {
            largest = if *large { largest } else { largest.max(*r) };
        }
        let n = radii.len();
        Self {
            large: (0..n).filter(|&i| is_large[i]).map(|i| i as u32).collect(),
            is_large,
            still: still.to_vec(),
            radii: radii.to_vec(),
            cell: 2.0 * largest,
            built: Vec::with_capacity(n),
            sorted: Vec::with_capacity(n),
            // Twice as many as bodies: few rows share one. One more at the end, to say where the last of them ends.
            buckets: vec![0; (2 * n).next_power_of_two().max(4) + 1],
            cells: Vec::with_capacity(n),
            ..Self::default()
        }
    }

    /// Brings the list up to date: afterwards it holds every pair of balls closer than `reach`. Returns whether it was made anew.
    pub fn update(&mut self, centres: impl Fn(usize) -> Vec3, reach: f64) -> bool {
        let fresh = self.is_fresh(&centres, reach);
        if !fresh {
            self.rebuild(centres, reach);
        }
        !fresh
    }

    /// Whether the list still holds every pair of balls closer than `reach`.
    pub fn is_fresh(&self, centres: impl Fn(usize) -> Vec3, reach: f64) -> bool {
        !self.built.is_empty() && reach <= self.skin && {
            let slack = 0.5 * (self.skin - reach);
            let limit = slack * slack;
            (0..self.radii.len()).all(|i| (centres(i) - self.built[i]).norm_squared() <= limit)
        }
    }

    /// The pairs, the smaller index first, in order.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// How often the list was made.
    pub fn rebuilds(&self) -> usize {
        self.rebuilds
    }

    /// Makes the list anew.
    pub fn rebuild(&mut self, centres: impl Fn(usize) -> Vec3, reach: f64) {
        self.rebuilds += 1;
        // Room for some steps at this speed, not more than a good part of a body.
        self.skin = (6.0 * reach).min(reach + 0.4 * self.cell).max(2.0 * reach);
        let n = self.radii.len();
        self.built.clear();
        self.built.extend((0..n).map(centres));
        self.fill_grid();
        let (mut pairs, mut shared) =
            (std::mem::take(&mut self.pairs), std::mem::take(&mut self.shared));
        pairs.clear();
        let count = shares(n);
        if count == 1 {
            (0..n).for_each(|i| self.pairs_of(i, &mut pairs));
        } else {
            shared.resize_with(count, Vec::new);
            shared.par_iter_mut().enumerate().for_each(|(k, pairs)| {
                pairs.clear();
                share(k, count, n).for_each(|i| self.pairs_of(i, pairs));
            });
            for of in &shared {
                pairs.extend_from_slice(of);
            }
        }
        (self.pairs, self.shared) = (pairs, shared);
    }

    /// Sorts the small bodies by bucket, and by their numbers within each.
    #[allow(clippy::cast_possible_truncation)] // cells far beyond 2^63 would be bodies at infinity
    fn fill_grid(&mut self) {
        let n = self.radii.len();
        let in_grid = |i: usize| self.radii[i] > 0.0 && !self.is_large[i];
        let width = self.cell + self.skin;
        let mask = self.buckets.len() - 2;
        self.cells.clear();
        self.cells
            .extend(self.built.iter().map(|x| [x.x, x.y, x.z].map(|x| (x / width).floor() as i64)));
        self.buckets.fill(0);
        let mut count = 0;
        for i in (0..n).filter(|&i| in_grid(i)) {
            self.buckets[bucket(&self.cells[i], mask)] += 1;
            count += 1;
        }
        let mut end = 0;
        for bucket in &mut self.buckets {
            end += *bucket;
            *bucket = end;
        }
        self.sorted.resize(count, Placed::default());
        for i in (0..n).rev().filter(|&i| in_grid(i)) {
            let (cell, centre, radius) = (self.cells[i], self.built[i], self.radii[i]);
            let at = &mut self.buckets[bucket(&cell, mask)];
            *at -= 1;
            self.sorted[*at as usize] = Placed { cell, centre, radius, body: i as u32 };
        }
    }

    /// Appends the pairs of a body with those that come after it, in order.
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
    fn pairs_of(&self, i: usize, pairs: &mut Vec<(u32, u32)>) {
        if self.radii[i] <= 0.0 {
            return;
        }
        let (centre, own) = (self.built[i], self.radii[i] + self.skin);
        let from = pairs.len();
        let mut consider = |j: u32, there: &Vec3, radius: f64| {
            let reach = own + radius;
            let near = (centre - there).norm_squared() <= reach * reach;
            if near && !(self.still[i] && self.still[j as usize]) {
                pairs.push((i as u32, j));
            }
        };
        if self.is_large[i] {
            for j in i + 1..self.radii.len() {
                if self.radii[j] > 0.0 {
                    consider(j as u32, &self.built[j], self.radii[j]);
                }
            }
            return;
        }
        for &j in &self.large {
            if j as usize > i {
                consider(j, &self.built[j as usize], self.radii[j as usize]);
            }
        }
        let [x, y, z] = self.cells[i];
        let mask = self.buckets.len() - 2;
        for dz in -1..=1 {
            for dy in -1..=1 {
                let row = [x, y.wrapping_add(dy), z.wrapping_add(dz)];
                let first = bucket(&[x.wrapping_sub(1), row[1], row[2]], mask);
                // The three cells of the row, of which the buckets may begin again at zero.
                let (end, wrapped) = (first + 3, (first + 3).saturating_sub(mask + 1));
                for (from, to) in [(first, end - wrapped), (0, wrapped)] {
                    let (from, to) = (self.buckets[from], self.buckets[to]);
                    for other in &self.sorted[from as usize..to as usize] {
                        let along = other.cell[0].wrapping_sub(x);
                        if other.body as usize > i
                            && other.cell[1..] == row[1..]
                            && (-1..=1).contains(&along)
                        {
                            consider(other.body, &other.centre, other.radius);
                        }
                    }
                }
            }
        }
        pairs[from..].sort_unstable();
    }
}

/// The bucket of a cell; different cells may share one.
#[allow(clippy::cast_possible_truncation)] // masked anyway
fn bucket(cell: &[i64; 3], mask: usize) -> usize {
    let [x, y, z] = cell.map(i64::cast_unsigned);
    let row = y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F) ^ z.wrapping_mul(0x1656_67B1_9E37_79F9);
    (row >> 20).wrapping_add(x) as usize & mask
}
