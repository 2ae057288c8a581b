//! Friction problems: data, and their scaled form.

use super::bodies::Bodies;
use super::{Delassus, FrictionError};

/// A friction problem with block-sparse $W$: find $r$ with $u = Wr + q$ by Coulomb's law.
///
/// Every contact has three rows: normal, tangent, tangent. A planar contact has a second tangent that stands apart: zero
/// velocity, zero coupling; its diagonal entry is then set for it. A contact without friction has coefficient zero.
#[derive(Clone, Debug, Default)]
pub struct FrictionProblem {
    pub(super) friction: Vec<f64>,
    pub(super) q: Vec<f64>,
    /// Row $i$ of blocks occupies `starts[i]..starts[i + 1]`.
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<usize>,
    pub(super) blocks: Vec<[f64; 9]>,
    /// $1/\sqrt{w_i}$ with $w_i = \operatorname{tr} W_{ii}/3$: $r_i = d_i \tilde r_i$.
    pub(super) scale: Vec<f64>,
    /// Index of the diagonal block of every row.
    pub(super) diagonal: Vec<usize>,
    /// $\max_i |q_i|$ before scaling.
    pub(super) size: f64,
    /// The bodies that the contacts move, where they are known.
    pub(super) bodies: Bodies,
    /// What the diagonal of the scaled $W$ has beyond what the bodies give.
    pub(super) compliance: f64,
}

impl FrictionProblem {
    /// From a full matrix, row-major, $3n \times 3n$.
    ///
    /// # Errors
    /// Lengths that do not fit, numbers that are not finite, a negative coefficient, a contact without a positive diagonal.
    pub fn dense(w: &[f64], q: &[f64], friction: &[f64]) -> Result<Self, FrictionError> {
        let n = friction.len();
        check_length("the matrix", w.len(), 9 * n * n)?;
        let mut entries = Vec::new();
        for (k, &value) in w.iter().enumerate() {
            if value != 0.0 {
                entries.push((k / (3 * n), k % (3 * n), value));
            }
        }
        Self::sparse(&entries, q, friction)
    }

    /// From entries (row, column, value) of $W$; those of the same place add up.
    ///
    /// # Errors
    /// As for [`FrictionProblem::dense`].
    pub fn sparse(
        entries: &[(usize, usize, f64)],
        q: &[f64],
        friction: &[f64],
    ) -> Result<Self, FrictionError> {
        let n = friction.len();
        check_length("the free velocity", q.len(), 3 * n)?;
        let mut places: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        for &(row, column, value) in entries {
            if row >= 3 * n || column >= 3 * n {
                return Err(FrictionError::Length {
                    what: "the matrix",
                    length: row.max(column) + 1,
                    expected: 3 * n,
                });
            }
            if !value.is_finite() {
                return Err(FrictionError::NotFinite { what: "the matrix", contact: row / 3 });
            }
            places.push((row / 3, column / 3));
        }
        places.sort_unstable();
        places.dedup();
        let mut problem = Self {
            friction: friction.to_vec(),
            q: q.to_vec(),
            starts: vec![0; n + 1],
            columns: places.iter().map(|p| p.1).collect(),
            blocks: vec![[0.0; 9]; places.len()],
            scale: vec![1.0; n],
            diagonal: vec![0; n],
            size: 0.0,
            bodies: Bodies::default(),
            compliance: 0.0,
        };
        for (k, &(i, j)) in places.iter().enumerate() {
            problem.starts[i + 1] = k + 1;
            if i == j {
                problem.diagonal[i] = k;
            }
        }
        for &(row, column, value) in entries {
            let range = problem.starts[row / 3]..problem.starts[row / 3 + 1];
            let at = problem.columns[range.clone()].binary_search(&(column / 3));
            let block = range.start + at.unwrap_or_else(|_| unreachable!("every place is listed"));
            problem.blocks[block][3 * (row % 3) + column % 3] += value;
        }
        problem.prepare()?;
        Ok(problem)
    }

    /// Takes the contacts `chosen` of a matrix, in ascending order, with their own $q$ and coefficients, into the storage of this problem.
    ///
    /// # Errors
    /// As for [`FrictionProblem::dense`].
    pub fn assemble(
        &mut self,
        w: &Delassus,
        chosen: &[usize],
        q: &[f64],
        friction: &[f64],
    ) -> Result<(), FrictionError> {
        let n = chosen.len();
        check_length("the free velocity", q.len(), 3 * n)?;
        check_length("the list of coefficients", friction.len(), n)?;
        if let Some(&last) = chosen.last()
            && last >= w.len()
        {
            check_length("the matrix", w.len(), last + 1)?;
        }
        self.friction.clear();
        self.friction.extend_from_slice(friction);
        self.q.clear();
        self.q.extend_from_slice(q);
        self.scale.clear();
        self.scale.resize(n, 1.0);
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.blocks.clear();
        self.diagonal.clear();
        for (a, &i) in chosen.iter().enumerate() {
            let (columns, blocks) = w.row(i);
            for (j, block) in columns.iter().zip(blocks) {
                let Ok(b) = chosen.binary_search(j) else { continue };
                if block.iter().any(|x| !x.is_finite()) {
                    return Err(FrictionError::NotFinite { what: "the matrix", contact: a });
                }
                if a == b {
                    self.diagonal.push(self.columns.len());
                }
                self.columns.push(b);
                self.blocks.push(*block);
            }
            self.starts.push(self.columns.len());
        }
        self.bodies.take(w.factors(), chosen);
        self.prepare()
    }

    /// From the rows $J$ of all contacts ($3n$ of them, each a list of columns and values) and the inverse masses:
    /// $W = J M^{-1} J^\top$.
    ///
    /// # Errors
    /// As for [`FrictionProblem::dense`].
    pub fn from_factors(
        rows: &[Vec<(usize, f64)>],
        inverse_mass: &[f64],
        q: &[f64],
        friction: &[f64],
    ) -> Result<Self, FrictionError> {
        check_length("the list of rows", rows.len(), 3 * friction.len())?;
        let mut users = vec![Vec::new(); inverse_mass.len()];
        for (i, row) in rows.iter().enumerate() {
            for &(c, x) in row {
                let expected = inverse_mass.len();
                let list = users.get_mut(c).ok_or(FrictionError::Length {
                    what: "the list of inverse masses",
                    length: expected,
                    expected: c + 1,
                })?;
                list.push((i, x));
            }
        }
        let mut entries = Vec::new();
        for (list, w) in users.iter().zip(inverse_mass) {
            for &(i, x) in list {
                entries.extend(list.iter().map(|&(j, y)| (i, j, x * w * y)));
            }
        }
        Self::sparse(&entries, q, friction)
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.friction.len()
    }

    /// $\max_i |q_i|$, by which residuals are measured.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.friction.is_empty()
    }

    /// Checks, completes planar contacts, and scales every contact alike in all directions, so that its own block has trace three.
    fn prepare(&mut self) -> Result<(), FrictionError> {
        let n = self.len();
        self.size = 0.0;
        for i in 0..n {
            let mu = self.friction[i];
            if !(mu >= 0.0 && mu.is_finite()) {
                return Err(FrictionError::Coefficient { contact: i, value: mu });
            }
            if self.q[3 * i..3 * i + 3].iter().any(|x| !x.is_finite()) {
                return Err(FrictionError::NotFinite { what: "the free velocity", contact: i });
            }
            let length: f64 = self.q[3 * i..3 * i + 3].iter().map(|x| x * x).sum();
            self.size = self.size.max(length.sqrt());
            let block = &mut self.blocks[self.diagonal[i]];
            if block[0].is_nan() || block[0] <= 0.0 {
                return Err(FrictionError::NoInertia { contact: i, value: block[0] });
            }
            for k in [4, 8] {
                if block[k] == 0.0 {
                    block[k] = block[0];
                    self.bodies.clear();
                }
            }
            let trace = (block[0] + block[4] + block[8]) / 3.0;
            self.scale[i] = 1.0 / trace.sqrt();
        }
        for i in 0..n {
            for k in self.starts[i]..self.starts[i + 1] {
                let factor = self.scale[i] * self.scale[self.columns[k]];
                self.blocks[k].iter_mut().for_each(|x| *x *= factor);
            }
            let d = self.scale[i];
            self.q[3 * i..3 * i + 3].iter_mut().for_each(|x| *x *= d);
        }
        self.bodies.scale(&self.scale);
        Ok(())
    }

    /// $u = Wr + q$, scaled.
    pub(super) fn velocity(&self, r: &[f64], u: &mut [f64]) {
        u.copy_from_slice(&self.q);
        for i in 0..self.len() {
            self.add_row(i, r, &mut u[3 * i..3 * i + 3]);
        }
    }

    /// $W + \alpha I$ in place of the $W$ of another problem, in the storage of this one.
    pub(super) fn soften(&mut self, other: &Self, alpha: f64) {
        self.clone_from(other);
        self.compliance += alpha;
        for &k in &other.diagonal {
            for a in 0..3 {
                self.blocks[k][4 * a] += alpha;
            }
        }
    }

    /// Adds row $i$ of $Wr$.
    pub(super) fn add_row(&self, i: usize, r: &[f64], out: &mut [f64]) {
        for k in self.starts[i]..self.starts[i + 1] {
            let (b, j) = (&self.blocks[k], 3 * self.columns[k]);
            for a in 0..3 {
                out[a] += b[3 * a] * r[j] + b[3 * a + 1] * r[j + 1] + b[3 * a + 2] * r[j + 2];
            }
        }
    }

    /// The scale-free residual $\max_i w_i |r_i - P_K(r_i - \hat u_i/w_i)| / \max_i |q_i|$ of scaled impulses.
    pub(super) fn residual(&self, r: &[f64], u: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        for (i, &mu) in self.friction.iter().enumerate() {
            let of = |x: &[f64]| [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
            let defect = super::cone::residual(&of(r), &of(u), &[mu]) / self.scale[i];
            if defect.is_nan() || defect > worst {
                worst = defect;
            }
        }
        if self.size > 0.0 { worst / self.size } else { worst }
    }
}

fn check_length(what: &'static str, length: usize, expected: usize) -> Result<(), FrictionError> {
    if length == expected { Ok(()) } else { Err(FrictionError::Length { what, length, expected }) }
}
