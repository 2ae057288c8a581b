//! Hidden constraints and projection over the coordinates that have mass, (115) and (116).
//!
//! The third directors of a beam's nodes have no mass. The paper drops them, and the constraints that contain them, from the
//! projection of momenta,
//! $$ \bar Q = I - \bar G^\top (\bar G \bar M^{-1} \bar G^\top)^{-1} \bar G \bar M^{-1} \qquad\text{(\[LMO\] (116))} . $$
//! The result satisfies $\bar G \bar M^{-1}\bar p = 0$ (\[LMO\] (115)), but forces on the third directors turn the triads too, and these are lost: the
//! transforms of the two steps that meet at a node (\[LMO\] (39), (40)) no longer agree. They do with
//! $Q = M P (P^\top M P)^{-1} P^\top$, which needs no inverse of the mass.

use nsm_constraints::Rows;
use nsm_model::{State, Stepper, System};
use nsm_solvers::small::gram::PivotedCholesky;
use nsm_vi::{ConstrainedLegendre, DiscreteLagrangian, NullSpace, Quadrature, Segment};

use super::Swing;
use crate::{Effort, Expected, Findings, ScenarioError};

pub(super) fn projection(_: Effort) -> Result<Findings, ScenarioError> {
    let swing = Swing::new()?;
    let system = &swing.system;
    let mut stepper = NullSpace::reparametrised(1e-2, Quadrature::Midpoint)
        .stepper_with(system, swing.mechanism.tree())?;
    let mut legendre = ConstrainedLegendre::new(system, Quadrature::Midpoint)?;
    let mut lagrangian = DiscreteLagrangian::new(system, Quadrature::Midpoint);
    let mut reduced = Reduced::new(system);
    let n = system.dimension();
    let [mut plus, mut minus] = [vec![0.0; n], vec![0.0; n]];
    let mut worst = Worst::default();
    let (mut full, mut short) = (Vec::new(), Vec::new());
    let mut nodes = vec![swing.start.clone()];
    for _ in 0..NODES {
        let mut state = nodes[nodes.len() - 1].clone();
        stepper.step(&mut state)?;
        nodes.push(state);
    }
    for three in nodes.windows(3) {
        let [a, b, c] = three else { continue };
        let (reaching, leaving) = (segment(a, b), segment(b, c));
        legendre.projected_plus(reaching, &mut plus)?;
        legendre.projected_minus(leaving, &mut minus)?;
        let size = largest(&plus);
        let agree = distance(&plus, &minus) / size;
        let hidden = reduced.hidden(b, &plus) / size;
        let exact = plus.clone();
        lagrangian.d2(reaching.start, reaching.end, reaching.t, reaching.h, &mut plus);
        lagrangian.d1(leaving.start, leaving.end, leaving.t, leaving.h, &mut minus);
        for x in &mut minus {
            *x = -*x;
        }
        reduced.project(b, &mut plus)?;
        reduced.project(b, &mut minus)?;
        let apart = distance(&plus, &minus) / size;
        worst.agree = worst.agree.max(agree);
        worst.hidden = worst.hidden.max(hidden);
        worst.hidden_reduced = worst.hidden_reduced.max(reduced.hidden(b, &plus) / size);
        worst.apart = worst.apart.max(apart);
        worst.lost = worst.lost.max(distance(&plus, &exact) / size);
        full.push([b.t, agree]);
        short.push([b.t, apart]);
    }
    let mut findings = Findings::default();
    let rows = reduced.rows.len() as f64;
    findings.check("constraints without a third director", rows, Expected::Near(89.0, 0.0));
    findings.check("(115) by Q", worst.hidden, Expected::AtMost(1e-12));
    findings.check("(115) by (116)", worst.hidden_reduced, Expected::AtMost(1e-12));
    findings.check("(39) against (40) by Q", worst.agree, Expected::AtMost(1e-9));
    findings.check("(39) against (40) by (116)", worst.apart, Expected::Within(1e-5, 1e-2));
    findings.check("momentum lost by (116)", worst.lost, Expected::Within(1e-5, 1e-2));
    let labels = ("t [s]", "(39) against (40), relative");
    findings.curve("Q", labels, full);
    findings.curve("(116)", labels, short);
    Ok(findings)
}

/// Nodes that are looked at: up to t = 1 s.
const NODES: usize = 100;

#[derive(Default)]
struct Worst {
    hidden: f64,
    hidden_reduced: f64,
    agree: f64,
    apart: f64,
    lost: f64,
}

fn segment<'s>(a: &'s State, b: &'s State) -> Segment<'s> {
    Segment { start: &a.q, end: &b.q, t: a.t, h: b.t - a.t }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
}

/// Momenta and constraints without what belongs to massless coordinates.
struct Reduced<'a> {
    system: &'a System,
    /// The constraints that contain none.
    rows: Vec<usize>,
    gradients: Vec<f64>,
    velocity: Vec<f64>,
}

impl<'a> Reduced<'a> {
    fn new(system: &'a System) -> Self {
        let (all, massless) = (system.equalities(), system.mass().massless());
        let heavy = |i: &usize| all.columns(*i).iter().all(|column| !massless.contains(column));
        Self {
            system,
            rows: (0..all.len()).filter(heavy).collect(),
            gradients: vec![0.0; all.entries()],
            velocity: vec![0.0; system.dimension()],
        }
    }

    /// $\bar G \bar M^{-1} \bar p$.
    fn defects(&mut self, at: &State, p: &[f64]) -> Vec<f64> {
        let all: &Rows = self.system.equalities();
        all.gradients(&at.q, at.t, &mut self.gradients);
        self.system.mass().solve(p, &mut self.velocity);
        self.rows.iter().map(|&i| all.row_dot(i, &self.gradients, &self.velocity)).collect()
    }

    /// Largest of (115), in units of velocity.
    fn hidden(&mut self, at: &State, p: &[f64]) -> f64 {
        largest(&self.defects(at, p))
    }

    /// $\bar p \leftarrow \bar Q \bar p$ (116).
    fn project(&mut self, at: &State, p: &mut [f64]) -> Result<(), ScenarioError> {
        for &k in self.system.mass().massless() {
            p[k] = 0.0;
        }
        let defects = self.defects(at, p);
        let (all, m) = (self.system.equalities(), self.rows.len());
        let mut gram = vec![0.0; m * m];
        let mut line = vec![0.0; self.system.dimension()];
        for (a, &i) in self.rows.iter().enumerate() {
            line.fill(0.0);
            all.add_row(i, &self.gradients, 1.0, &mut line);
            self.system.mass().solve(&line, &mut self.velocity);
            for (b, &j) in self.rows.iter().enumerate() {
                gram[a * m + b] = all.row_dot(j, &self.gradients, &self.velocity);
            }
        }
        let mut factor = PivotedCholesky::new(m);
        factor.factor(m, &gram, 1e-12)?;
        let mut impulses = vec![0.0; m];
        factor.solve_basic(&defects, &mut impulses)?;
        for (&i, impulse) in self.rows.iter().zip(&impulses) {
            all.add_row(i, &self.gradients, -impulse, p);
        }
        Ok(())
    }
}
