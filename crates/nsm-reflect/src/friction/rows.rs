//! The contacts of a system with their normals and tangents, at one configuration.
//!
//! Every contact has three rows: the gradient of its gap and its tangential velocities, all projected onto the equalities
//! ([`CotangentProjection`]), so that $W = J P J^\top$ with $P = M^{-1} - M^{-1}F(F^\top M^{-1} F)^{+} F^\top M^{-1}$. $W$ has a block for every pair of
//! contacts that share a coordinate, through joints or not: its cost is linear in the contacts of a sparse system.
//!
//! Dry friction on a freedom, numbered after the contacts, is a contact whose normal row is none: its normal impulse is its bound whatever moves. It stands in $W$ as
//! a diagonal entry of its own, as large as that of its rate, so that with $\mu = 1$ and the right-hand side $-B\\,W_{NN}$ the law of Coulomb says
//! $r_N = B$, $\lvert r_T\rvert \le B$.

use nsm_constraints::{CotangentProjection, Metric, RowPattern};
use nsm_model::System;
use nsm_solvers::friction::Delassus;

use crate::ReflectError;

const NONE: usize = usize::MAX;

/// Rows of the contacts placed last, and the matrix between them; nothing is allocated once it has grown to the contacts that it meets.
#[derive(Debug)]
pub struct FrictionRows {
    rows: PlacedRows,
    tangents: Vec<f64>,
    rates: Vec<f64>,
    w: Delassus,
    /// Coordinate to slots: linked lists of (slot, next).
    heads: Vec<usize>,
    links: Vec<(usize, usize)>,
    neighbours: Vec<usize>,
    stamp: Vec<usize>,
    weighted: [Vec<f64>; 3],
}

/// The rows of the placed contacts.
#[derive(Debug)]
struct PlacedRows {
    placed: Vec<usize>,
    /// Pattern of the given rows, $3i$ to $3i + 2$ being those of contact $i$, and their values.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    projection: Option<CotangentProjection>,
    projected: Vec<f64>,
    /// $f_t$, and the velocity along every row that surfaces and equalities have by themselves; empty where none moves.
    rates: Vec<f64>,
    drift: Vec<f64>,
    /// What surfaces alone do.
    surfaces: Vec<f64>,
}

impl PlacedRows {
    /// Row `k` of a placed contact, projected onto the equalities.
    fn row(&self, slot: usize, k: usize) -> (&[usize], &[f64]) {
        let row = 3 * self.placed[slot] + k;
        let (starts, columns, values) = match &self.projection {
            Some(p) => (p.starts(), p.columns(), &self.projected),
            None => (&self.starts[..], &self.columns[..], &self.values),
        };
        let span = starts[row]..starts[row + 1];
        (&columns[span.clone()], &values[span])
    }

    /// The same as it was given.
    fn given(&self, slot: usize, k: usize) -> (&[usize], &[f64]) {
        let row = 3 * self.placed[slot] + k;
        let span = self.starts[row]..self.starts[row + 1];
        (&self.columns[span.clone()], &self.values[span])
    }

    /// Velocity along row `k` of a placed contact where nothing moves but what does so by itself.
    fn drift(&self, slot: usize, k: usize) -> f64 {
        self.drift.get(3 * self.placed[slot] + k).copied().unwrap_or(0.0)
    }

    /// The same of its surface alone.
    fn surface(&self, slot: usize, k: usize) -> f64 {
        self.surfaces.get(3 * self.placed[slot] + k).copied().unwrap_or(0.0)
    }

    /// All rows by slot and direction.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        (0..self.placed.len()).flat_map(|slot| (0..3).map(move |k| (slot, k)))
    }
}

impl FrictionRows {
    /// For the contacts of a system, in the metric $M^{-1}$.
    pub fn new(system: &System, metric: &Metric) -> Self {
        let (gaps, tangents) = (system.inequalities(), system.tangents());
        let (mut starts, mut columns) = (vec![0], Vec::new());
        let mut add = |rows: [&[usize]; 3]| {
            for row in rows {
                columns.extend_from_slice(row);
                starts.push(columns.len());
            }
        };
        for i in 0..gaps.len() {
            add([gaps.columns(i), tangents.columns(i, 0), tangents.columns(i, 1)]);
        }
        let rates = system.dry().rates();
        (0..system.dry().len()).for_each(|k| add([&[], rates.columns(k, 0), &[]]));
        let all = gaps.len() + system.dry().len();
        let pattern = RowPattern { starts: &starts, columns: &columns };
        let projection = (!system.equalities().is_empty())
            .then(|| CotangentProjection::new(metric, system.equalities(), pattern));
        let projected = projection.as_ref().map_or(0, |p| p.columns().len());
        let n = system.dimension();
        let driven = system.equalities().is_rheonomic();
        let belts = tangents.drift() || gaps.is_rheonomic();
        let zeros = |used: bool, length: usize| vec![0.0; if used { length } else { 0 }];
        Self {
            rows: PlacedRows {
                rates: zeros(driven, system.equalities().len()),
                drift: zeros(driven || belts, 3 * all),
                surfaces: zeros(belts, 3 * all),
                placed: Vec::with_capacity(all),
                values: vec![0.0; columns.len()],
                starts,
                columns,
                projected: vec![0.0; projected],
                projection,
            },
            tangents: vec![0.0; tangents.entries()],
            rates: vec![0.0; rates.entries()],
            w: Delassus::default(),
            heads: vec![NONE; n],
            links: Vec::new(),
            neighbours: Vec::with_capacity(all),
            stamp: vec![NONE; all],
            weighted: [vec![0.0; n], vec![0.0; n], vec![0.0; n]],
        }
    }

    /// Takes the rows of `contacts` (ascending, dry friction last) at a configuration; `g` and `f` are gradient values of the inequalities, current for
    /// `contacts`, and of the equalities.
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn place(
        &mut self,
        system: &System,
        metric: &Metric,
        (q, t): (&[f64], f64),
        (g, f): (&[f64], &[f64]),
        contacts: &[usize],
    ) -> Result<(), ReflectError> {
        let (gaps, tangents) = (system.inequalities(), system.tangents());
        let rows = &mut self.rows;
        rows.placed.clear();
        rows.placed.extend_from_slice(contacts);
        for &i in contacts {
            let dry = i.checked_sub(gaps.len());
            let (normal, first, second) = if let Some(k) = dry {
                let rates = system.dry().rates();
                rates.coefficients(k, q, t, &mut self.rates);
                (&[][..], &self.rates[rates.span(k, 0)], &[][..])
            } else {
                tangents.coefficients(i, q, t, &mut self.tangents);
                let [first, second] = [0, 1].map(|k| &self.tangents[tangents.span(i, k)]);
                (&g[gaps.span(i)], first, second)
            };
            for (row, source) in [normal, first, second].into_iter().enumerate() {
                if source.iter().any(|x| !x.is_finite()) {
                    let what = if row == 0 { "the gradient" } else { "the tangential velocity" };
                    return Err(ReflectError::NotFinite { what, contact: i });
                }
                let span = rows.starts[3 * i + row]..rows.starts[3 * i + row + 1];
                rows.values[span].copy_from_slice(source);
            }
            if !rows.surfaces.is_empty() {
                let [first, second] = tangents.drift_of(i, q, t);
                if !(first.is_finite() && second.is_finite()) {
                    let what = "the velocity of the surface";
                    return Err(ReflectError::NotFinite { what, contact: i });
                }
                let field = (i < gaps.len()).then(|| gaps.field(i));
                let wall = field.filter(|gap| gap.is_rheonomic()).map_or(0.0, |gap| gap.rate(q, t));
                rows.surfaces[3 * i..3 * i + 3].copy_from_slice(&[wall, first, second]);
                rows.drift[3 * i..3 * i + 3].copy_from_slice(&[wall, first, second]);
            }
        }
        if let Some(projection) = &mut rows.projection {
            projection.renew();
            if !rows.rates.is_empty() {
                system.equalities().rates(q, t, &mut rows.rates);
            }
            let pattern = RowPattern { starts: &rows.starts, columns: &rows.columns };
            let given = (pattern, &rows.values[..]);
            for &i in contacts {
                for row in 3 * i..3 * i + 3 {
                    let equalities = (system.equalities(), f, &rows.rates[..]);
                    let rate = projection
                        .project(metric, equalities, given, row, &mut rows.projected)
                        .map_err(|source| ReflectError::Projection { contact: i, source })?;
                    if !rows.rates.is_empty() {
                        rows.drift[row] = rate + rows.surfaces.get(row).unwrap_or(&0.0);
                    }
                }
            }
        }
        self.couple(metric, gaps.len());
        Ok(())
    }

    /// The matrix $W$ between the placed contacts.
    pub fn delassus(&self) -> &Delassus {
        &self.w
    }

    /// Velocities $u = Jv$ of the placed contacts, seen from surfaces that move by themselves, three for each, by rows as they were given: for velocities that are not tangent to the equalities
    /// where the contacts were placed, such as those of a chord.
    pub fn velocities_given(&self, v: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend(self.rows.all().map(|(slot, k)| {
            let (columns, values) = self.rows.given(slot, k);
            let along = columns.iter().zip(values).map(|(&c, x)| x * v[c]).sum::<f64>();
            along + self.rows.surface(slot, k)
        }));
    }

    /// Turns velocities `u` at the placed contacts into those in the middle between there and another configuration, as far as surfaces that move by
    /// themselves do so differently there.
    pub fn add_half_turn(&self, system: &System, (q, t): (&[f64], f64), u: &mut [f64]) {
        if self.rows.surfaces.is_empty() {
            return;
        }
        for (slot, u) in u.chunks_exact_mut(3).enumerate() {
            let contact = self.rows.placed[slot];
            if contact < system.inequalities().len() {
                let there = system.tangents().drift_of(contact, q, t);
                for k in 0..2 {
                    u[k + 1] += 0.5 * (there[k] - self.rows.surface(slot, k + 1));
                }
            }
        }
    }

    /// Work that an impulse of a placed contact does on the system beyond what it does between its parties, $-r\\cdot\\text{drift}$: what drives its surface gives it.
    pub fn surface_work(&self, slot: usize, r: &[f64]) -> f64 {
        -(0..3).map(|k| r[k] * self.rows.surface(slot, k)).sum::<f64>()
    }

    /// The first tangential velocity of one of them by its row as it was given, and the sum of the sizes of its terms.
    pub fn rate_given(&self, slot: usize, v: &[f64]) -> (f64, f64) {
        let (columns, values) = self.rows.given(slot, 1);
        let terms = columns.iter().zip(values).map(|(&c, x)| x * v[c]);
        terms.fold((0.0, 0.0), |(rate, size), x| (rate + x, size + x.abs()))
    }

    /// The same for velocities that the equalities allow, by projected rows and what equalities do by themselves.
    pub fn velocities(&self, v: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend(self.rows.all().map(|(slot, k)| {
            let (columns, values) = self.rows.row(slot, k);
            let along = columns.iter().zip(values).map(|(&c, x)| x * v[c]).sum::<f64>();
            along + self.rows.drift(slot, k)
        }));
    }

    /// Adds $J^\top r$ to a momentum, tangent to the equalities.
    pub fn push(&self, r: &[f64], p: &mut [f64]) {
        for ((slot, k), impulse) in self.rows.all().zip(r) {
            let (columns, values) = self.rows.row(slot, k);
            columns.iter().zip(values).for_each(|(&c, x)| p[c] += impulse * x);
        }
    }

    /// The same with rows as they were given: what the contacts themselves push.
    pub fn push_given(&self, r: &[f64], p: &mut [f64]) {
        for ((slot, k), impulse) in self.rows.all().zip(r) {
            let (columns, values) = self.rows.given(slot, k);
            columns.iter().zip(values).for_each(|(&c, x)| p[c] += impulse * x);
        }
    }

    /// Forms $W$; numbers from `gaps` on are dry friction.
    fn couple(&mut self, metric: &Metric, gaps: usize) {
        let Self { rows, w, heads, links, neighbours, stamp, weighted, .. } = self;
        links.clear();
        for (slot, k) in rows.all() {
            for &c in rows.row(slot, k).0 {
                if heads[c] == NONE || links[heads[c]].0 != slot {
                    links.push((slot, heads[c]));
                    heads[c] = links.len() - 1;
                }
            }
        }
        stamp.fill(NONE);
        w.clear();
        for slot in 0..rows.placed.len() {
            neighbours.clear();
            for (k, weighted) in weighted.iter_mut().enumerate() {
                let (columns, values) = rows.row(slot, k);
                metric.add_applied(columns, values, weighted);
                for &c in columns {
                    metric.for_coupled(c, |j| {
                        let mut link = heads[j];
                        while link != NONE {
                            let (other, next) = links[link];
                            if stamp[other] != slot {
                                stamp[other] = slot;
                                neighbours.push(other);
                            }
                            link = next;
                        }
                    });
                }
            }
            neighbours.sort_unstable();
            for &other in neighbours.iter() {
                let mut block = [0.0; 9];
                for b in 0..3 {
                    let (columns, values) = rows.row(other, b);
                    for (a, weighted) in weighted.iter().enumerate() {
                        let terms = columns.iter().zip(values);
                        block[3 * a + b] = terms.map(|(&c, x)| x * weighted[c]).sum();
                    }
                }
                if other == slot && rows.placed[slot] >= gaps {
                    block[0] = block[4];
                }
                w.push(other, block);
            }
            w.end_row();
            for (k, weighted) in weighted.iter_mut().enumerate() {
                for &c in rows.row(slot, k).0 {
                    metric.for_coupled(c, |j| weighted[j] = 0.0);
                }
            }
        }
        for (slot, k) in rows.all() {
            rows.row(slot, k).0.iter().for_each(|&c| heads[c] = NONE);
        }
    }
}
