//! Rounds of impulses whose matrix is that of the start of a piece, where they do not contract.
//!
//! Contacts whose gaps differ at second order alone, such as corners of two links at the hinge between them, have a matrix that is almost singular in
//! how they share: of the same small size as what it misses. Rounds then pass the load to and fro for ever, or creep towards the share, or away from it until one
//! of them opens. From the first round on that does not come nearer, a share $\alpha$ of each change $d$ is taken, by Aitken's rule in the norm of the energy,
//! $$ \alpha_{k+1} = -\alpha_k \frac{d_k^\top W (d_{k+1} - d_k)}{(d_{k+1} - d_k)^\top W (d_{k+1} - d_k)} , $$
//! which is exact where one mode is what remains; more than the whole, as far as no contact opens, where changes creep. Where contacts change
//! sides from round to round it may run in circles: the share is bounded by one that falls as often as changes do not for some rounds.

/// Rounds without a change this much smaller than all before, after which shares are taken, and after which their bound is halved.
const FREE: usize = 4;
const PATIENCE: usize = 8;
const NEARER: f64 = 0.5;

/// The largest share and the least one.
const MOST: f64 = 1e4;
const LEAST: f64 = 1.0 / 64.0;

/// What is remembered of the round before.
#[derive(Debug, Default)]
pub(crate) struct Relaxation {
    /// The smallest change, and the rounds since.
    smallest: f64,
    since: usize,
    share: f64,
    bound: Option<f64>,
    energy: f64,
    v: Vec<f64>,
}

impl Relaxation {
    pub(crate) fn begin(&mut self) {
        (self.smallest, self.since, self.share) = (f64::INFINITY, 0, 1.0);
        self.bound = None;
    }

    /// The share of the change of a round to take, whose impulses are `p` and the velocities they cause `v`, `change` being its size and
    /// `farthest` the share with which the first contact opens.
    pub(crate) fn share(&mut self, change: f64, farthest: f64, p: &[f64], v: &[f64]) -> f64 {
        self.since += 1;
        if change < NEARER * self.smallest {
            (self.smallest, self.since) = (change, 0);
        }
        let dot = |v: &[f64]| p.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
        let energy = dot(v);
        if let Some(bound) = self.bound {
            let both = dot(&self.v);
            let share = -self.share * (both - self.energy) / (energy + self.energy - 2.0 * both);
            // Changes that grow in one direction lead away from a share that no round comes to.
            let away = share < 0.0 && both > 0.0;
            let share = if away || !share.is_finite() { MOST } else { share };
            self.share = share.max(LEAST).min(farthest.max(1.0)).min(bound);
        }
        match self.bound {
            None if self.since >= FREE => self.bound = Some(MOST),
            Some(bound) if self.since >= PATIENCE => {
                (self.bound, self.since) = (Some((0.5 * bound).clamp(LEAST, 1.0)), 0);
            }
            _ => {}
        }
        self.energy = energy;
        self.v.clear();
        self.v.extend_from_slice(v);
        self.share
    }
}

/// The share of a change $d$, of which `done` is in the impulses $r$, three for each contact, with which the first contact opens.
pub(crate) fn farthest(r: &[f64], d: &[f64], done: f64) -> f64 {
    let normals = r.iter().zip(d).step_by(3);
    let opening = normals.filter(|(_, d)| **d < 0.0).map(|(r, d)| (r - done * d) / -d);
    opening.filter(|share| *share > 0.0).fold(f64::INFINITY, f64::min)
}
