//! Position steps and multipliers of many constraints at once, at a cost linear in chains of them.
//!
//! $$ \begin{pmatrix} A & -C \cr R^\top & 0 \end{pmatrix} \begin{pmatrix} x \cr z \end{pmatrix}
//!    = \begin{pmatrix} a \cr b \end{pmatrix} $$
//! with one row for every equality and every inequality of the system; rows that are not held have
//! $z = 0$. The pattern is then always the same ([`Kkt`]). It also serves few constraints where $A$ is
//! singular, which a complement of the constraints could not.

use nsm_model::{System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};

use crate::shared::inertia::misfit;

/// From this number of held constraints on, a sparse saddle point costs less than a dense complement.
pub(crate) const MANY: usize = 24;

/// A crowd has more than this many gaps a coordinate, and all but a few of them are open: a pattern that holds a row for each
/// couples everything with everything.
const CROWD: usize = 4;

/// Whether the held constraints of a system, of which there may be `all`, are solved as one sparse saddle point.
pub(crate) fn pays(system: &System, all: usize) -> bool {
    all >= MANY && system.inequalities().len() <= CROWD * system.dimension()
}

/// The saddle point of a system, with all workspace.
#[derive(Debug)]
pub(crate) struct Saddle<'a> {
    system: &'a System,
    kkt: Kkt,
    active: Vec<bool>,
    columns: Vec<f64>,
    rows: Vec<f64>,
    /// Right-hand sides: $n$ positions; equalities, then inequalities.
    pub(crate) a: Vec<f64>,
    pub(crate) b: Vec<f64>,
    /// Solution, in the same order.
    pub(crate) x: Vec<f64>,
    pub(crate) z: Vec<f64>,
}

impl<'a> Saddle<'a> {
    /// The saddle point with $A$ at `pattern`. If `symmetric`, $C = R$, and $A$ is positive definite with its lower
    /// triangle alone in the pattern.
    pub(crate) fn new(
        system: &'a System,
        pattern: &[(usize, usize)],
        symmetric: bool,
    ) -> Result<Self, SystemError> {
        let n = system.dimension();
        let mut gradients = Vec::new();
        let mut m = 0;
        for rows in [system.equalities(), system.inequalities()] {
            for i in 0..rows.len() {
                gradients.extend(rows.columns(i).iter().map(|&c| (m, c)));
                m += 1;
            }
        }
        let pattern =
            KktPattern { unknowns: n, rows: m, block: pattern, gradients: &gradients, symmetric };
        let singular = !system.mass().massless().is_empty();
        let built = if singular {
            Kkt::with_path(&pattern, KktPath::Condensed)
        } else {
            Kkt::new(&pattern)
        };
        Ok(Self {
            system,
            kkt: built.map_err(|error| misfit(&error))?,
            active: vec![true; m],
            columns: vec![0.0; gradients.len()],
            rows: vec![0.0; gradients.len()],
            a: vec![0.0; n],
            b: vec![0.0; m],
            x: vec![0.0; n],
            z: vec![0.0; m],
        })
    }

    /// Solves with the given entries of $A$, columns $C$ and rows $R$ (gradient values of equalities and
    /// inequalities), with the `independent` equalities (all, if empty) and the `contacts` held.
    pub(crate) fn solve(
        &mut self,
        leading: &[f64],
        columns: (&[f64], &[f64]),
        rows: (&[f64], &[f64]),
        independent: &[bool],
        contacts: &[usize],
    ) -> Result<(), LinearError> {
        let equal = self.system.equalities().len();
        let (equalities, inequalities) = self.active.split_at_mut(equal);
        equalities.fill(true);
        equalities.iter_mut().zip(independent).for_each(|(active, kept)| *active = *kept);
        inequalities.fill(false);
        for &i in contacts {
            inequalities[i] = true;
        }
        join(columns, &mut self.columns);
        join(rows, &mut self.rows);
        self.kkt.set_block(leading)?;
        self.kkt.factorise_active(&self.columns, &self.rows, &[], &self.active)?;
        self.solve_again()
    }

    /// Solves for another right-hand side with the last factorisation.
    pub(crate) fn solve_again(&mut self) -> Result<(), LinearError> {
        self.kkt.solve(&self.a, &self.b, &mut self.x, &mut self.z)?;
        self.z.iter_mut().for_each(|z| *z = -*z);
        Ok(())
    }
}

fn join((first, second): (&[f64], &[f64]), out: &mut [f64]) {
    let (head, tail) = out.split_at_mut(first.len());
    head.copy_from_slice(first);
    tail.copy_from_slice(second);
}
