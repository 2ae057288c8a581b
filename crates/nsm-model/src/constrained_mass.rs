//! The mass under equality constraints: which velocity belongs to a momentum.
//!
//! $$ \begin{pmatrix} M & G^\top \cr G & 0 \end{pmatrix} \begin{pmatrix} v \cr \mu \end{pmatrix}
//!    = \begin{pmatrix} p \cr b \end{pmatrix} $$
//! With $b = -f_t$, $v$ is the velocity that the constraints allow and $Mv = p - G^\top\mu$ the momentum made
//! tangent: with a basis $P$ of the allowed motions $v = P(P^\top M P)^{-1}P^\top p$ (\[LMO\] (40) for singular $M$ too). It is
//! regular whenever every motion that the constraints allow has inertia; massless coordinates whose
//! velocity follows from the others' are therefore no obstacle.
//!
//! Rows of $G$ that depend on others are left out and have $\mu = 0$. Which they are is found once for a stretch of a motion: as long as the rows
//! that are left out depend on the others, which one solve shows, and these do not on each other, which the pivots and the size of the solution show, and not for more
//! than [`STRETCH`] configurations, since the best choice changes along a motion.
//!
//! Cost is linear for chains and beams: through the multipliers where the mass falls into small blocks,
//! else by a banded or sparse elimination of the whole. There, in units $v = Dv\'$ in which every coordinate has about unit
//! mass and every row $G\' = RGD$ unit length, $DMD + G\'^\top G\'$ stands for the mass and $Dp + G\'^\top Rb$ for the momentum: the same
//! answer, since $Gv = b$, from a leading block that is definite wherever the saddle point is regular, also where some
//! coordinates are lighter than others by many orders, as the directors of thin beams are.

use nsm_constraints::Rows;
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern, RowRank};
use nsm_solvers::small::norm_inf;

use crate::{Mass, SystemError};

/// Configurations after which the independent rows are chosen anew.
const STRETCH: usize = 16;

/// A row depends on others if the share of it that they do not make up is below this.
const DEPENDS: f64 = 1e-6;

/// Where it takes parts of the others that are this many times larger than itself, they depend on each other nearly as much: the rows are chosen anew.
const BLOWN_UP: f64 = 4.0;

/// How much more is let through as dependent where the elimination finds that too little was.
const LOOSER: [f64; 3] = [1.0, 1e2, 1e4];

/// The saddle point of a mass and the gradients of constraints, with all workspace.
#[derive(Clone, Debug)]
pub struct ConstrainedMass {
    kkt: Kkt,
    /// Present where the mass alone is no leading block.
    filling: Option<Filling>,
    rank: RowRank,
    /// Whether the rank was ever looked at, and whether rows were ever redundant.
    known: bool,
    deficient: bool,
    active: Vec<bool>,
    /// Configurations since the rank was looked at.
    age: usize,
    entries: Vec<(usize, usize)>,
    /// A push along all rows that are left out, and what it moves.
    push: Vec<f64>,
    none: Vec<f64>,
    moved: (Vec<f64>, Vec<f64>),
}

impl ConstrainedMass {
    /// The saddle point of a mass under the rows of some bundles, one after another.
    ///
    /// # Errors
    /// A pattern too large to be factorised.
    pub fn new(mass: &Mass, bundles: &[&Rows]) -> Result<Self, SystemError> {
        let entries = mass.entries();
        let regular = mass.massless().is_empty() && !mass.is_banded();
        Self::from_entries(mass.dimension(), &entries, regular, bundles)
    }

    /// The same with mass one on the coordinates that have none: a metric on all motions.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn filled(mass: &Mass, bundles: &[&Rows]) -> Result<Self, SystemError> {
        let mut entries = mass.entries();
        for entry in entries.iter_mut().filter(|e| e.0 == e.1) {
            if mass.massless().binary_search(&entry.0).is_ok() {
                entry.2 += 1.0;
            }
        }
        Self::from_entries(mass.dimension(), &entries, !mass.is_banded(), bundles)
    }

    fn from_entries(
        n: usize,
        entries: &[(usize, usize, f64)],
        regular: bool,
        bundles: &[&Rows],
    ) -> Result<Self, SystemError> {
        let mut gradients = Vec::new();
        let mut m = 0;
        for rows in bundles {
            for i in 0..rows.len() {
                gradients.extend(rows.columns(i).iter().map(|&c| (m, c)));
                m += 1;
            }
        }
        let (block, values, filling);
        if regular {
            let lower = || entries.iter().filter(|e| e.0 >= e.1);
            block = lower().map(|&(i, j, _)| (i, j)).collect::<Vec<_>>();
            values = lower().map(|e| e.2).collect::<Vec<_>>();
            filling = None;
        } else {
            let filled = Filling::new(n, entries, m, &gradients);
            (block, values) = (filled.block.clone(), filled.mass.clone());
            filling = Some(filled);
        }
        let pattern = KktPattern {
            unknowns: n,
            rows: m,
            block: &block,
            gradients: &gradients,
            symmetric: true,
        };
        let built =
            if regular { Kkt::new(&pattern) } else { Kkt::with_path(&pattern, KktPath::Condensed) };
        let mut kkt = built.map_err(|error| misfit(&error))?;
        kkt.set_block(&values).map_err(|error| misfit(&error))?;
        Ok(Self {
            kkt,
            filling,
            rank: RowRank::new(m, n, &gradients).map_err(|error| misfit(&error))?,
            known: m <= 1,
            deficient: false,
            active: vec![true; m],
            age: 0,
            push: vec![0.0; n],
            none: vec![0.0; m],
            moved: (vec![0.0; n], vec![0.0; m]),
            entries: gradients,
        })
    }

    /// Puts other values in place of a diagonal mass; they count from the next [`factorise`](Self::factorise) on.
    ///
    /// # Errors
    /// Values that are not positive, or more or fewer than the mass has entries.
    pub fn set_diagonal(&mut self, mass: &[f64]) -> Result<(), LinearError> {
        self.kkt.set_block(mass)
    }

    /// Factorises with gradient values, bundle after bundle.
    ///
    /// # Errors
    /// Numbers that are not finite, or a motion without inertia.
    pub fn factorise(&mut self, gradients: &[f64]) -> Result<(), LinearError> {
        if let Some(filling) = &mut self.filling {
            filling.scale(gradients);
            self.kkt.set_block(&filling.sum)?;
        }
        let kept = self.known && (!self.deficient || self.age < STRETCH);
        self.age += 1;
        if !kept {
            return self.choose(gradients);
        }
        let outcome = self.eliminate(gradients);
        let suspicious = match outcome {
            Ok(()) => {
                !self.kkt.redundant().is_empty()
                    || (self.deficient && !self.still_depend(gradients)?)
            }
            Err(LinearError::Singular { .. } | LinearError::NotPositiveDefinite { .. }) => true,
            Err(_) => false,
        };
        if suspicious { self.choose(gradients) } else { outcome }
    }

    /// Chooses independent rows and eliminates.
    fn choose(&mut self, gradients: &[f64]) -> Result<(), LinearError> {
        let mut outcome = Ok(());
        for loose in LOOSER {
            outcome = self.find_rank(gradients, loose).and_then(|()| self.eliminate(gradients));
            match outcome {
                Err(LinearError::Singular { .. } | LinearError::NotPositiveDefinite { .. }) => {}
                _ => break,
            }
        }
        outcome
    }

    /// Whether the rows that are left out still depend on the others: these make up a push along all of them.
    fn still_depend(&mut self, gradients: &[f64]) -> Result<bool, LinearError> {
        let mut push = std::mem::take(&mut self.push);
        let (mut moved, mut mu) = std::mem::take(&mut self.moved);
        push.fill(0.0);
        for (&(row, column), g) in self.entries.iter().zip(gradients) {
            if !self.active[row] {
                // Weights that no two rows share, so that they do not cancel each other.
                push[column] += g * (1.0 + 0.618 * ((row * row) as f64).sin());
            }
        }
        let size = norm_inf(&push);
        let none = std::mem::take(&mut self.none);
        let outcome = self.solve(&push, &none, &mut moved, &mut mu);
        self.none = none;
        let mut largest = 0.0_f64;
        for (&(row, column), g) in self.entries.iter().zip(gradients) {
            if self.active[row] {
                push[column] -= g * mu[row];
                largest = largest.max((g * mu[row]).abs());
            }
        }
        let depend = norm_inf(&push) <= DEPENDS * size && largest <= BLOWN_UP * size;
        (self.push, self.moved) = (push, (moved, mu));
        outcome.map(|()| depend)
    }

    fn find_rank(&mut self, gradients: &[f64], loose: f64) -> Result<(), LinearError> {
        let redundant = self.rank.find_within(gradients, &[], loose)?;
        self.known = true;
        self.age = 0;
        self.deficient |= !redundant.is_empty();
        self.active.fill(true);
        for &i in redundant {
            self.active[i] = false;
        }
        Ok(())
    }

    fn eliminate(&mut self, gradients: &[f64]) -> Result<(), LinearError> {
        let active = if self.deficient { &self.active[..] } else { &[] };
        let gradients = self.filling.as_ref().map_or(gradients, |filling| &filling.g);
        self.kkt.factorise_active(gradients, &[], &[], active)
    }

    /// Rows that were left out by the last [`factorise`](Self::factorise), ascending.
    pub fn redundant(&self) -> &[usize] {
        self.rank.redundant()
    }

    /// Whether each row was kept by the last [`factorise`](Self::factorise).
    pub fn independent(&self) -> &[bool] {
        &self.active
    }

    /// Solves for $v$ and $\mu$; rows that were left out have $\mu = 0$.
    ///
    /// # Errors
    /// Wrong lengths, or no successful [`factorise`](Self::factorise) before.
    pub fn solve(
        &mut self,
        p: &[f64],
        b: &[f64],
        v: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), LinearError> {
        match &mut self.filling {
            Some(filling) => filling.solve(&mut self.kkt, (p, b), v, mu),
            None => self.kkt.solve(p, b, v, mu),
        }
    }

    /// Solves with $p = 0$: the displacement along $M^{-1}G^\top$ that changes the constraints by $b$.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn displace(
        &mut self,
        b: &[f64],
        v: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), LinearError> {
        match &mut self.filling {
            Some(filling) => filling.solve(&mut self.kkt, (&[], b), v, mu),
            None => self.kkt.displace(b, v, mu),
        }
    }
}

/// The lower triangle of $DMD + G\'^\top G\'$ with its pattern.
#[derive(Clone, Debug)]
struct Filling {
    block: Vec<(usize, usize)>,
    /// $DMD$ in the places of the block, and the sum.
    mass: Vec<f64>,
    sum: Vec<f64>,
    /// Place in the block and the two gradient entries of every product.
    products: Vec<[usize; 3]>,
    /// Row and column of every gradient entry, and $G\'$ at the last factorisation.
    gradients: Vec<(usize, usize)>,
    g: Vec<f64>,
    /// $D$ and $R$, in powers of two.
    units: Vec<f64>,
    lengths: Vec<f64>,
    p: Vec<f64>,
    b: Vec<f64>,
}

impl Filling {
    fn new(
        n: usize,
        entries: &[(usize, usize, f64)],
        rows: usize,
        gradients: &[(usize, usize)],
    ) -> Self {
        let mut spans = vec![0..0; rows];
        for (e, &(row, _)) in gradients.iter().enumerate() {
            let start = if spans[row].is_empty() { e } else { spans[row].start };
            spans[row] = start..e + 1;
        }
        let pairs = || {
            let of_row = |span: &std::ops::Range<usize>| {
                let span = span.clone();
                span.clone().flat_map(move |a| span.clone().map(move |b| (a, b)))
            };
            spans.iter().flat_map(of_row).filter(|&(a, b)| gradients[a].1 >= gradients[b].1)
        };
        let mut block: Vec<(usize, usize)> =
            entries.iter().filter(|e| e.0 >= e.1).map(|e| (e.0, e.1)).collect();
        block.extend(pairs().map(|(a, b)| (gradients[a].1, gradients[b].1)));
        block.sort_unstable();
        block.dedup();
        let place = |i: usize, j: usize| block.binary_search(&(i, j)).unwrap_or_else(|at| at);
        let mut mass = vec![0.0; block.len()];
        let units = units(n, entries, rows, gradients);
        for &(i, j, value) in entries.iter().filter(|e| e.0 >= e.1) {
            mass[place(i, j)] += value * units[i] * units[j];
        }
        let products =
            pairs().map(|(a, b)| [place(gradients[a].1, gradients[b].1), a, b]).collect();
        Self {
            sum: mass.clone(),
            mass,
            products,
            gradients: gradients.to_vec(),
            g: vec![0.0; gradients.len()],
            units,
            lengths: vec![1.0; rows],
            p: vec![0.0; n],
            b: vec![0.0; rows],
            block,
        }
    }

    /// Takes in gradients: $R$, $G\'$ and the sum.
    fn scale(&mut self, gradients: &[f64]) {
        self.lengths.fill(0.0);
        for ((g, value), &(row, column)) in self.g.iter_mut().zip(gradients).zip(&self.gradients) {
            *g = value * self.units[column];
            self.lengths[row] += *g * *g;
        }
        self.lengths.iter_mut().for_each(|r| *r = power_of_two(*r));
        for (g, &(row, _)) in self.g.iter_mut().zip(&self.gradients) {
            *g *= self.lengths[row];
        }
        self.sum.copy_from_slice(&self.mass);
        for &[place, a, b] in &self.products {
            self.sum[place] += self.g[a] * self.g[b];
        }
    }

    /// Solves in its units, from $Dp + G\'^\top Rb$ and $Rb$; an empty `p` stands for zero.
    fn solve(
        &mut self,
        kkt: &mut Kkt,
        (p, b): (&[f64], &[f64]),
        v: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), LinearError> {
        for (what, found, expected) in
            [("momentum", p.len(), self.p.len()), ("rates", b.len(), self.b.len())]
        {
            if found != expected && (found > 0 || what == "rates") {
                return Err(LinearError::Size { what, expected, found });
            }
        }
        for ((own, b), r) in self.b.iter_mut().zip(b).zip(&self.lengths) {
            *own = b * r;
        }
        self.p.fill(0.0);
        for ((own, p), d) in self.p.iter_mut().zip(p).zip(&self.units) {
            *own = p * d;
        }
        for (&(row, column), g) in self.gradients.iter().zip(&self.g) {
            self.p[column] += g * self.b[row];
        }
        kkt.solve(&self.p, &self.b, v, mu)?;
        v.iter_mut().zip(&self.units).for_each(|(v, d)| *v *= d);
        mu.iter_mut().zip(&self.lengths).for_each(|(mu, r)| *mu *= r);
        Ok(())
    }
}

/// The power of two next to $1/\sqrt x$, one if there is none.
fn power_of_two(x: f64) -> f64 {
    let y = (-0.5 * x.log2()).round().exp2();
    if x > 0.0 && y.is_finite() && y > 0.0 { y } else { 1.0 }
}

/// $D_i \approx m_i^{-1/2}$, with the least mass that a row shares with it for a coordinate that has none.
fn units(
    n: usize,
    entries: &[(usize, usize, f64)],
    rows: usize,
    gradients: &[(usize, usize)],
) -> Vec<f64> {
    let mut mass = vec![0.0; n];
    for &(i, _, value) in entries.iter().filter(|e| e.0 == e.1) {
        mass[i] += value;
    }
    let mut least = vec![f64::INFINITY; rows];
    for &(row, column) in gradients.iter().filter(|g| mass[g.1] > 0.0) {
        least[row] = mass[column].min(least[row]);
    }
    let mut shared = vec![f64::INFINITY; n];
    for &(row, column) in gradients {
        shared[column] = least[row].min(shared[column]);
    }
    let pairs = mass.iter().zip(&shared);
    pairs.map(|(m, s)| power_of_two(if *m > 0.0 { *m } else { *s })).collect()
}

/// A massless coordinate that moves freely: its velocity follows neither from the mass nor from `rows`.
///
/// Explains why [`ConstrainedMass::factorise`] fails; allocates.
pub fn motion_without_inertia(mass: &Mass, rows: &Rows, gradients: &[f64]) -> Option<usize> {
    let massless = mass.massless();
    let (mut entries, mut values) = (Vec::new(), Vec::new());
    for i in 0..rows.len() {
        for (c, g) in rows.columns(i).iter().zip(&gradients[rows.span(i)]) {
            if let Ok(at) = massless.binary_search(c) {
                entries.push((at, i));
                values.push(*g);
            }
        }
    }
    let mut rank = RowRank::new(massless.len(), rows.len().max(1), &entries).ok()?;
    let free = rank.find(&values, &[]).ok()?;
    free.first().map(|&at| massless[at])
}

fn misfit(error: &LinearError) -> SystemError {
    SystemError::DoesNotFit { method: "the mass under constraints", why: error.to_string() }
}
