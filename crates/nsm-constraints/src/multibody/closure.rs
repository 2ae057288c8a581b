//! Closed loops: the tree and the joints that close it (\[LMO\] (95), (96)).
//!
//! With $P^o$ and $F^o$ of the tree and the rows $g_c$ of the closing joints,
//! $$ P = P^o Z, \qquad Z^\top Z = 1, \quad G_c P^o Z = 0, $$
//! by a pivoted QR factorisation of $(G_c P^o)^\top$, which is small; redundant closing rows, as over-constrained linkages have
//! them, are left out. The reparametrisation is $F_d(u, q) = F^o(y, q)$ with
//! $$ Z^\top y = u, \qquad g_c(F^o(y, q)) = 0, $$
//! solved by Newton's method from $y = Z u$. It is anchored in $q$ and has no preferred coordinate: linkages pass their
//! dead points and turn round without a hand-made partition.

use nsm_solvers::small::{axpy, dot, lu, norm_inf, qr::PivotedQr};

use super::MechanismError;
use super::joint::Joint;
use super::mechanism::Mechanism;
use super::tree::Tree;
use crate::{ConstraintError, Reparametrisation, Rows};

/// Rows whose part outside the others is below this share of them are redundant.
pub(super) const RANK: f64 = 1e-9;

/// A row that is larger than this share of its terms is open.
const OPEN: f64 = 1e-8;

/// Newton's method closes a loop within a few iterations or not at all.
const ITERATIONS: usize = 25;

/// The rows of the closing joints in terms of the tree's freedoms.
#[derive(Debug)]
pub(super) struct Loops {
    pub(super) rows: Rows,
    gradients: Vec<f64>,
    /// What the coordinates count as at least: one for directors, the mechanism's length for positions.
    least: Vec<f64>,
    /// Nonzeros of $P^o$ and their values; none if there are no loops.
    pub(super) places: Vec<(usize, usize)>,
    pub(super) basis: Vec<f64>,
    /// Entry of the gradients, entry of $P^o$, entry of the matrix.
    links: Vec<(usize, usize, usize)>,
    /// $G_c P^o$, row by row.
    pub(super) matrix: Vec<f64>,
}

impl Loops {
    pub(super) fn new(mechanism: &Mechanism, tree: &Tree) -> Result<Self, ConstraintError> {
        Ok(Self::of(mechanism, tree, mechanism.joint_rows(tree.closing())?))
    }

    /// The same with couplings and motors.
    pub(super) fn coupled(mechanism: &Mechanism, tree: &Tree) -> Result<Self, ConstraintError> {
        let mut rows = mechanism.joint_rows(tree.closing())?;
        mechanism.push_couplings(&mut rows)?;
        Ok(Self::of(mechanism, tree, rows))
    }

    fn of(mechanism: &Mechanism, tree: &Tree, rows: Rows) -> Self {
        let t = tree.freedoms();
        let places = if rows.is_empty() { Vec::new() } else { tree.entry_places() };
        let mut at = vec![Vec::new(); mechanism.dimension()];
        for (k, &(c, f)) in places.iter().enumerate() {
            at[c].push((k, f));
        }
        let mut links = Vec::new();
        for i in 0..rows.len() {
            for (g, &c) in rows.span(i).zip(rows.columns(i)) {
                links.extend(at[c].iter().map(|&(k, f)| (g, k, i * t + f)));
            }
        }
        let (entries, size) = (rows.entries(), rows.len() * t);
        let basis = vec![0.0; places.len()];
        let (gradients, matrix) = (vec![0.0; entries], vec![0.0; size]);
        let positions = mechanism.nodes.iter().flat_map(|node| node.pose.position);
        let arms = mechanism.joints.iter().flat_map(|joint| joint.anchors.concat());
        let length = positions.chain(arms).fold(0.0_f64, |a, x| a.max(x.abs()));
        let mut least = vec![1.0; mechanism.dimension()];
        for node in &mechanism.nodes {
            least[node.start..node.start + 3].fill(length);
        }
        Self { rows, gradients, least, places, basis, links, matrix }
    }

    /// Writes $G_c(q) P^o(q)$.
    pub(super) fn evaluate_at(&mut self, tree: &mut Tree, q: &[f64]) {
        if !self.rows.is_empty() {
            tree.null_space(q, &mut self.basis);
            self.evaluate(q);
        }
    }

    /// Writes $G_c(q) P^o$ with the values in `basis`: $P^o$, or the tangent of the tree's reparametrisation.
    fn evaluate(&mut self, q: &[f64]) {
        // Gradients of motors do not depend on the instant.
        self.rows.gradients(q, 0.0, &mut self.gradients);
        self.matrix.fill(0.0);
        for &(g, k, a) in &self.links {
            self.matrix[a] += self.gradients[g] * self.basis[k];
        }
    }

    /// Whether all rows vanish, each to a share of its terms, from gradients that were evaluated near by.
    ///
    /// Coordinates that happen to be zero count as well, so that no unit of length is assumed.
    fn are_closed(&self, q: &[f64], values: &[f64], share: f64) -> bool {
        values.iter().enumerate().all(|(i, value)| {
            let gradients = &self.gradients[self.rows.span(i)];
            let term = |(g, &c): (&f64, &usize)| g.abs() * q[c].abs().max(self.least[c]);
            let terms: f64 = gradients.iter().zip(self.rows.columns(i)).map(term).sum();
            value.abs() <= share * terms
        })
    }

    /// Name of the joint to which a row belongs.
    pub(super) fn joint_of(&self, row: usize, joints: &[Joint]) -> String {
        let name = self.rows.name(row);
        let of = |j: &&Joint| name.strip_prefix(&j.name).is_some_and(|rest| rest.starts_with(": "));
        joints.iter().find(of).map_or_else(|| name.to_owned(), |j| j.name.clone())
    }
}

/// The kinematics of a mechanism with closed loops.
///
/// Without loops it is that of the [`Tree`]; then the tree itself is the better choice, since its tangent is sparse.
#[derive(Debug)]
pub struct Closure {
    tree: Tree,
    loops: Loops,
    freedoms: usize,
    qr: PivotedQr,
    /// The configuration at which $Z$ was computed.
    anchor: Vec<f64>,
    /// $Z^\top$, one basis vector a row.
    basis: Vec<f64>,
    previous: Vec<f64>,
    turned: Vec<f64>,
    /// Independent closing rows there.
    kept: Vec<usize>,
    /// Tree freedoms of the last placement and the unknowns it was made for.
    y: Vec<f64>,
    u: Vec<f64>,
    values: Vec<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    step: Vec<f64>,
    placed: Vec<f64>,
}

impl Mechanism {
    /// The kinematics of the mechanism with its loops closed.
    ///
    /// # Errors
    /// Nothing in the mechanism, or joints that leave no freedom at the start.
    pub fn closure(&self) -> Result<Closure, MechanismError> {
        if self.nodes.is_empty() {
            return Err(MechanismError::Empty);
        }
        let mut tree = self.tree();
        let mut loops = Loops::new(self, &tree)?;
        if loops.places.is_empty() {
            loops.places = tree.entry_places();
            loops.basis = vec![0.0; loops.places.len()];
        }
        let (m, t, n) = (loops.rows.len(), tree.freedoms(), self.dimension());
        let q = self.start_position();
        loops.evaluate_at(&mut tree, &q);
        let mut qr = PivotedQr::new(m, t);
        let rank = qr.factor(m, t, &loops.matrix, RANK).unwrap_or(t);
        if rank == tree.moving() {
            return Err(self.immovable());
        }
        let freedoms = t - rank;
        Ok(Closure {
            tree,
            loops,
            freedoms,
            qr,
            anchor: vec![f64::NAN; n],
            basis: vec![0.0; freedoms * t],
            previous: vec![0.0; freedoms * t],
            turned: vec![0.0; freedoms * t],
            kept: vec![0; rank],
            y: vec![0.0; t],
            u: vec![0.0; freedoms],
            values: vec![0.0; m],
            matrix: vec![0.0; t * t],
            pivots: vec![0; t],
            step: vec![0.0; t],
            placed: vec![0.0; n],
        })
    }
}

impl Closure {
    /// The tree of the joints that close no loop.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Freedoms of the tree in the last placement: what its joints did in that step.
    pub fn tree_steps(&self) -> &[f64] {
        &self.y
    }

    /// Computes $Z$ at another configuration.
    fn anchor(&mut self, q: &[f64]) -> Result<(), ConstraintError> {
        if self.anchor == q {
            return Ok(());
        }
        self.anchor.fill(f64::NAN);
        let (m, t) = (self.loops.rows.len(), self.tree.freedoms());
        self.loops.evaluate_at(&mut self.tree, q);
        let rank = self.qr.factor(m, t, &self.loops.matrix, RANK).unwrap_or(t);
        if rank != t - self.freedoms {
            let name = self.qr.redundant().first().map_or("", |&i| self.loops.rows.name(i)).into();
            let (freedoms, expected) = (t - rank, self.freedoms);
            return Err(ConstraintError::Bifurcation { name, freedoms, expected });
        }
        self.kept.copy_from_slice(self.qr.independent());
        self.previous.copy_from_slice(&self.basis);
        // Lengths agree by construction.
        let _ = self.qr.null_space(&mut self.basis);
        self.align();
        self.anchor.copy_from_slice(q);
        self.y.fill(0.0);
        self.u.fill(0.0);
        Ok(())
    }

    /// Turns the basis so that its vectors are as close as they can be to the previous ones: unknowns then mean the same
    /// from one configuration to the next, and those of the last step are a guess for the next.
    fn align(&mut self) {
        let t = self.tree.freedoms();
        for k in 0..self.freedoms {
            let old = &self.previous[k * t..(k + 1) * t];
            self.step.fill(0.0);
            for row in self.basis.chunks_exact(t) {
                axpy(dot(row, old), row, &mut self.step);
            }
            for row in self.turned[..k * t].chunks_exact(t) {
                let share = dot(row, &self.step);
                axpy(-share, row, &mut self.step);
            }
            let norm = dot(&self.step, &self.step).sqrt();
            // Also at the first configuration, which has none before it.
            if norm < 0.1 {
                return;
            }
            for (new, x) in self.turned[k * t..(k + 1) * t].iter_mut().zip(&self.step) {
                *new = x / norm;
            }
        }
        self.basis.copy_from_slice(&self.turned);
    }

    /// Factorises the equations $Z^\top \delta y = \dots$, $G_c\\, \partial F^o/\partial y\\, \delta y = \dots$ at the present $y$.
    fn factor(&mut self, q: &[f64]) -> Result<(), ConstraintError> {
        let (d, t) = (self.freedoms, self.tree.freedoms());
        self.tree.place(&self.y, q, &mut self.placed)?;
        self.tree.tangent(&self.y, q, &mut self.loops.basis)?;
        self.loops.evaluate(&self.placed);
        self.matrix[..d * t].copy_from_slice(&self.basis);
        for (row, &i) in self.matrix[d * t..].chunks_exact_mut(t).zip(&self.kept) {
            row.copy_from_slice(&self.loops.matrix[i * t..(i + 1) * t]);
        }
        let tolerance = nsm_solvers::small::tolerance(t);
        match lu::factor(t, &mut self.matrix, &mut self.pivots, tolerance) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.open(0)),
        }
    }

    /// The closing row that is violated most at the last placement.
    fn open(&mut self, iterations: usize) -> ConstraintError {
        self.loops.rows.values(&self.placed, 0.0, &mut self.values);
        let size = |i: usize| self.values[i].abs();
        let worst = (0..self.values.len()).fold(0, |w, i| if size(i) > size(w) { i } else { w });
        let name = self.loops.rows.names().get(worst).cloned().unwrap_or_default();
        let residual = self.values.get(worst).copied().unwrap_or(f64::NAN);
        ConstraintError::NotClosed { name, residual, iterations }
    }

    /// Finds $y$ for the unknowns $u$; a failure leaves nothing behind for the next placement.
    fn close(&mut self, u: &[f64], q: &[f64]) -> Result<(), ConstraintError> {
        let closed = self.iterate(u, q);
        if closed.is_err() {
            self.anchor.fill(f64::NAN);
        }
        closed
    }

    /// Newton's method for $y$, from the last one.
    fn iterate(&mut self, u: &[f64], q: &[f64]) -> Result<(), ConstraintError> {
        let (d, t) = (self.freedoms, self.tree.freedoms());
        for (what, length, expected) in [
            ("the vector of freedoms", u.len(), d),
            ("the coordinate vector", q.len(), self.placed.len()),
        ] {
            if length != expected {
                return Err(ConstraintError::Length { what, length, expected });
            }
        }
        self.anchor(q)?;
        for (row, (new, old)) in self.basis.chunks_exact(t).zip(u.iter().zip(&mut self.u)) {
            axpy(new - *old, row, &mut self.y);
            *old = *new;
        }
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            self.factor(q)?;
            self.loops.rows.values(&self.placed, 0.0, &mut self.values);
            let closed = |share| self.loops.are_closed(&self.placed, &self.values, share);
            if closed(f64::EPSILON) {
                return Ok(());
            }
            let nearly = closed(1e-10);
            for (k, row) in self.basis.chunks_exact(t).enumerate() {
                self.step[k] = u[k] - dot(row, &self.y);
            }
            for (step, &i) in self.step[d..].iter_mut().zip(&self.kept) {
                *step = -self.values[i];
            }
            let solved = lu::solve(t, &self.matrix, &self.pivots, &mut self.step);
            let size = norm_inf(&self.step);
            if solved.is_err() || !size.is_finite() {
                break;
            }
            axpy(1.0, &self.step, &mut self.y);
            // No `nsm_solvers::newton::Course`: what ends it is that the loops are closed, in the units of each row, and the size of a step in joints (angles beside
            // lengths) only says that no more can be had. Convergence is quadratic, and steps that are round-off stop decreasing.
            let next = size * (size / before) * (size / before);
            let quadratic = before.is_finite() && next <= 1e-17 * norm_inf(&self.y);
            if nearly && (quadratic || size >= 0.5 * before) {
                return Ok(());
            }
            before = size;
        }
        Err(self.open(ITERATIONS))
    }
}

impl Reparametrisation for Closure {
    fn freedoms(&self) -> usize {
        self.freedoms
    }

    fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        self.close(u, q)?;
        self.tree.place(&self.y, q, &mut self.placed)?;
        // Rows that are redundant at q need not be so elsewhere: where a linkage can go on in several ways.
        self.loops.rows.values(&self.placed, 0.0, &mut self.values);
        if !self.loops.are_closed(&self.placed, &self.values, OPEN) {
            let error = self.open(0);
            self.anchor.fill(f64::NAN);
            return Err(error);
        }
        out.copy_from_slice(&self.placed);
        Ok(())
    }

    fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let (d, t) = (self.freedoms, self.tree.freedoms());
        self.close(u, q)?;
        self.factor(q)?;
        out.fill(0.0);
        for k in 0..d {
            self.step.fill(0.0);
            self.step[k] = 1.0;
            if lu::solve(t, &self.matrix, &self.pivots, &mut self.step).is_err() {
                return Err(self.open(0));
            }
            for (&(c, f), value) in self.loops.places.iter().zip(&self.loops.basis) {
                out[c * d + k] += value * self.step[f];
            }
        }
        Ok(())
    }
}
