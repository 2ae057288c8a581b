//! A saddle point of the shape of a beam: local constraints in nodes that are coupled.

use super::normal;
use nsm_solvers::kkt::KktPattern;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

const NODE: usize = 12;
/// Local rows of a node.
pub(crate) const LOCAL: usize = 6;

/// A beam of nodes with twelve coordinates and six rows each; joints between some neighbours.
pub(crate) struct Beam {
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) block: Vec<(usize, usize)>,
    pub(crate) gradients: Vec<(usize, usize)>,
    pub(crate) symmetric: bool,
    pub(crate) a: Vec<f64>,
    pub(crate) g: Vec<f64>,
    pub(crate) g_lower: Vec<f64>,
}

impl Beam {
    /// Local rows concern the last nine coordinates of a node, a joint four of one node and four of the next. The last
    /// three coordinates have no entry in $A$ if `massless`: the rows hold them.
    pub(crate) fn new(
        rng: &mut Pcg64Mcg,
        nodes: usize,
        joints: &[usize],
        symmetric: bool,
        massless: bool,
    ) -> Self {
        let n = NODE * nodes;
        let (mut block, mut a) = (Vec::new(), Vec::new());
        for i in 0..n {
            for j in 0..n {
                let (near, lower) = ((i / NODE).abs_diff(j / NODE) <= 1, j <= i);
                let empty = massless && (i % NODE >= 9 || j % NODE >= 9);
                if near && !empty && (lower || !symmetric) {
                    block.push((i, j));
                    let value = rng.random_range(-1.0..1.0);
                    a.push(if i == j { 60.0 + value } else { value });
                }
            }
        }
        let (mut gradients, mut m) = (Vec::new(), 0);
        for node in 0..nodes {
            for _ in 0..LOCAL {
                gradients.extend((3..NODE).map(|c| (m, NODE * node + c)));
                m += 1;
            }
        }
        for &node in joints {
            for c in 0..3 {
                for at in [NODE * node + c, NODE * (node + 1) + c] {
                    gradients.extend((0..NODE).step_by(3).map(|d| (m, at + d)));
                }
                m += 1;
            }
        }
        let g = normal(rng, gradients.len());
        let near = |v: &f64| v + if symmetric { 0.0 } else { rng.random_range(-1e-3..1e-3) };
        let g_lower = g.iter().map(near).collect();
        Self { n, m, block, gradients, symmetric, a, g, g_lower }
    }

    pub(crate) fn pattern(&self) -> KktPattern<'_> {
        KktPattern {
            unknowns: self.n,
            rows: self.m,
            block: &self.block,
            gradients: &self.gradients,
            symmetric: self.symmetric,
        }
    }
}
