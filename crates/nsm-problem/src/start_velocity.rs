//! Velocities of bodies that hang on joints: the motion of the mechanism that has them.
//!
//! Of all velocities $v$ that the constraints allow, $G v = 0$, those that agree with what is given, and of these the
//! smallest. Nothing is moved silently: what the joints do not allow is refused.

use nsm_constraints::multibody::{Mechanism, NodeId};
use nsm_geom::Vec3;
use nsm_model::{State, System};
use nsm_solvers::small::qr::PivotedQr;

use super::{Place, ProblemError};

/// The velocity of a body as a file gives it, in the world.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) node: NodeId,
    pub(crate) place: Place,
    pub(crate) velocity: Option<Vec3>,
    pub(crate) angular: Option<Vec3>,
}

/// How far a velocity may be from what the joints allow, relative to its size.
const TOLERANCE: f64 = 1e-8;
const RANK: f64 = 1e-10;

/// The start with the velocities of bodies on joints, and of all that they drag along.
pub(crate) fn along_joints(
    system: &System,
    start: &State,
    mechanism: &Mechanism,
    given: &[Given],
) -> Result<State, ProblemError> {
    let motions = allowed_motions(system, start).map_err(|e| given[0].place.error(e))?;
    let n = system.dimension();
    let freedoms = motions.len() / n;
    // What is asked of each coordinate beyond what the start has.
    let mut asked: Vec<(usize, f64, &Given)> = Vec::new();
    for body in given {
        let first = mechanism.coordinates(body.node).start;
        let at = |i: usize| Vec3::from_column_slice(&start.q[first + i..first + i + 3]);
        if let Some(v) = body.velocity {
            asked.extend((0..3).map(|k| (first + k, v[k], body)));
        }
        if let Some(w) = body.angular {
            for i in [3, 6, 9] {
                let rate = w.cross(&at(i));
                asked.extend((0..3).map(|k| (first + i + k, rate[k], body)));
            }
        }
    }
    let rest: Vec<f64> = asked.iter().map(|&(c, rate, _)| rate - start.v[c]).collect();
    // min |A w - rest| with the rows of Aᵀ given motion by motion.
    let transposed: Vec<f64> = motions
        .chunks_exact(n)
        .flat_map(|motion| asked.iter().map(|&(c, _, _)| motion[c]))
        .collect();
    let fail = |e: nsm_solvers::LinearError| given[0].place.error(e.to_string());
    let mut qr = PivotedQr::new(freedoms, asked.len());
    qr.factor(freedoms, asked.len(), &transposed, RANK).map_err(fail)?;
    let mut shares = vec![0.0; freedoms];
    qr.least_squares_minimum_norm(&rest, &mut shares).map_err(fail)?;
    let mut v = start.v.clone();
    for (motion, share) in motions.chunks_exact(n).zip(&shares) {
        for (v, m) in v.iter_mut().zip(motion) {
            *v += share * m;
        }
    }
    let size = asked.iter().fold(1.0_f64, |a, &(_, rate, _)| a.max(rate.abs()));
    for &(c, rate, body) in &asked {
        let off = (v[c] - rate).abs();
        if off > TOLERANCE * size {
            return Err(body.place.error(format!(
                "the joints do not allow this velocity: `{}` would have to be {rate:.6e} and can be {:.6e}",
                system.names()[c], v[c]
            )));
        }
    }
    let mut state = State::new(system, &start.q, &v).map_err(|e| given[0].place.system(&e))?;
    state.t = start.t;
    Ok(state)
}

/// An orthonormal basis of the velocities that the constraints allow, one a row.
fn allowed_motions(system: &System, start: &State) -> Result<Vec<f64>, String> {
    let (n, rows) = (system.dimension(), system.equalities());
    let mut gradients = vec![0.0; rows.entries()];
    rows.gradients(&start.q, start.t, &mut gradients);
    let mut dense = vec![0.0; rows.len() * n];
    for (i, out) in dense.chunks_exact_mut(n).enumerate() {
        rows.add_row(i, &gradients, 1.0, out);
    }
    let mut qr = PivotedQr::new(rows.len(), n);
    let rank = qr.factor(rows.len(), n, &dense, RANK).map_err(|e| e.to_string())?;
    let mut motions = vec![0.0; (n - rank) * n];
    qr.null_space(&mut motions).map_err(|e| e.to_string())?;
    Ok(motions)
}
