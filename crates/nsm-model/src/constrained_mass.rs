//! The mass under equality constraints: which velocity belongs to a momentum.
//!
//! $$ \begin{pmatrix} M & G^\top \cr G & 0 \end{pmatrix} \begin{pmatrix} v \cr \mu \end{pmatrix}
//!    = \begin{pmatrix} p \cr b \end{pmatrix} $$
//! With $b = -f_t$, $v$ is the velocity that the constraints allow and $Mv = p - G^\top\mu$ the momentum made
//! tangent: with a basis $P$ of the allowed motions $v = P(P^\top M P)^{-1}P^\top p$ (\[LMO\] (40) for singular $M$ too). It is
//! regular whenever every motion that the constraints allow has inertia; massless coordinates whose
//! velocity follows from the others' are therefore no obstacle.
//!
//! Rows of $G$ that depend on others are left out and have $\mu = 0$. Which they are is found anew at every
//! configuration once any have been met: the row that depends on the others changes along a motion.
//!
//! Cost is linear for chains and beams: through the multipliers where the mass falls into small blocks,
//! else by a banded or sparse elimination of the whole. There $M + \gamma G^\top G$ stands for $M$ and $p + \gamma G^\top b$ for $p$: the same
//! answer, since $Gv = b$, from a leading block that is definite wherever the saddle point is regular.

use nsm_constraints::Rows;
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern, RowRank};

use crate::{Mass, SystemError};

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
            if regular { Kkt::new(&pattern) } else { Kkt::with_path(&pattern, KktPath::Full) };
        let mut kkt = built.map_err(|error| misfit(&error))?;
        kkt.set_block(&values).map_err(|error| misfit(&error))?;
        Ok(Self {
            kkt,
            filling,
            rank: RowRank::new(m, n, &gradients).map_err(|error| misfit(&error))?,
            known: m <= 1,
            deficient: false,
            active: vec![true; m],
        })
    }

    /// Factorises with gradient values, bundle after bundle.
    ///
    /// # Errors
    /// Numbers that are not finite, or a motion without inertia.
    pub fn factorise(&mut self, gradients: &[f64]) -> Result<(), LinearError> {
        if let Some(filling) = &mut self.filling {
            self.kkt.set_block(filling.values(gradients))?;
        }
        if !self.known || self.deficient {
            self.find_rank(gradients)?;
        }
        let outcome = self.eliminate(gradients);
        let suspicious = match outcome {
            Ok(()) => !self.kkt.redundant().is_empty(),
            Err(LinearError::Singular { .. } | LinearError::NotPositiveDefinite { .. }) => {
                !self.deficient
            }
            Err(_) => false,
        };
        if !suspicious {
            return outcome;
        }
        self.find_rank(gradients)?;
        if self.deficient { self.eliminate(gradients) } else { outcome }
    }

    fn find_rank(&mut self, gradients: &[f64]) -> Result<(), LinearError> {
        let redundant = self.rank.find(gradients, &[])?;
        self.known = true;
        self.deficient |= !redundant.is_empty();
        self.active.fill(true);
        for &i in redundant {
            self.active[i] = false;
        }
        Ok(())
    }

    fn eliminate(&mut self, gradients: &[f64]) -> Result<(), LinearError> {
        let active = if self.deficient { &self.active[..] } else { &[] };
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
            Some(filling) => self.kkt.solve(filling.momentum(p, b), b, v, mu),
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
            Some(filling) => self.kkt.solve(filling.momentum(&[], b), b, v, mu),
            None => self.kkt.displace(b, v, mu),
        }
    }
}

/// The lower triangle of $M + \gamma G^\top G$ with its pattern.
#[derive(Clone, Debug)]
struct Filling {
    gamma: f64,
    block: Vec<(usize, usize)>,
    /// $M$ in the places of the block, and the sum.
    mass: Vec<f64>,
    sum: Vec<f64>,
    /// Place in the block and the two gradient entries of every product.
    products: Vec<[usize; 3]>,
    /// Row and column of every gradient entry, and its value at the last factorisation.
    gradients: Vec<(usize, usize)>,
    g: Vec<f64>,
    p: Vec<f64>,
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
        for &(i, j, value) in entries.iter().filter(|e| e.0 >= e.1) {
            mass[place(i, j)] += value;
        }
        let products =
            pairs().map(|(a, b)| [place(gradients[a].1, gradients[b].1), a, b]).collect();
        // The size of the mass, so that neither part drowns the other.
        let largest = entries.iter().fold(0.0_f64, |m, e| m.max(e.2.abs()));
        Self {
            gamma: if largest > 0.0 { largest } else { 1.0 },
            sum: mass.clone(),
            mass,
            products,
            gradients: gradients.to_vec(),
            g: vec![0.0; gradients.len()],
            p: vec![0.0; n],
            block,
        }
    }

    fn values(&mut self, gradients: &[f64]) -> &[f64] {
        self.g.copy_from_slice(gradients);
        self.sum.copy_from_slice(&self.mass);
        for &[place, a, b] in &self.products {
            self.sum[place] += self.gamma * gradients[a] * gradients[b];
        }
        &self.sum
    }

    /// $p + \gamma G^\top b$; an empty `p` stands for zero.
    fn momentum(&mut self, p: &[f64], b: &[f64]) -> &[f64] {
        if p.is_empty() {
            self.p.fill(0.0);
        } else {
            self.p.copy_from_slice(p);
        }
        for (&(row, column), g) in self.gradients.iter().zip(&self.g) {
            self.p[column] += self.gamma * g * b[row];
        }
        &self.p
    }
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
