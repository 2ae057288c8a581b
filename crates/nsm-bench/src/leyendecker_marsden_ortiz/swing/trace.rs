//! Runs of the swing by the variational and by the energy–momentum scheme, and what is measured on the way.

use nsm_model::{State, Stepper};
use nsm_vi::{Conserving, ConstrainedLegendre, NullSpace, Quadrature, Segment};

use super::{Swing, UNLOADED};
use crate::ScenarioError;

/// The swing at one node of its trajectory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) t: f64,
    /// $E_d(q_n, q_{n+1})$, $H_d(q_n, p_n)$ and $H_d(q_n, {}^Q p_n)$.
    pub(super) energy: [f64; 3],
    /// Angular momentum in the same terms.
    pub(super) momentum: [[f64; 3]; 3],
    /// Turn of the right link.
    pub(super) angle: f64,
    /// Position $(y, z)$ of the mass.
    pub(super) mass: [f64; 2],
    /// Axial force, shear force along $d_1$ and bending moment about $e_1$ in the element to the right of the mass.
    pub(super) stress: [f64; 3],
}

/// A run of the swing.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) samples: Vec<Sample>,
}

impl Trace {
    /// By the null space method in the freedoms of the joints and nodes (\[LMO\] (28)).
    pub(super) fn variational(swing: &Swing, h: f64, end: f64) -> Result<Self, ScenarioError> {
        let mut stepper = NullSpace::reparametrised(h, Quadrature::Midpoint)
            .stepper_with(&swing.system, swing.mechanism.tree())?;
        let mut record = Recorder::new(swing)?;
        let mut state = swing.start.clone();
        while state.t < end - 0.5 * h {
            let before = state.clone();
            stepper.step(&mut state)?;
            record.add(&before, &state, stepper.node_momentum());
        }
        Ok(Self { samples: record.samples })
    }

    /// By the energy–momentum scheme, whose momenta belong to the nodes as they are.
    pub(super) fn conserving(swing: &Swing, h: f64, end: f64) -> Result<Self, ScenarioError> {
        let mut stepper = Conserving::new(h).stepper(&swing.system)?;
        let mut record = Recorder::new(swing)?;
        let mut state = swing.start.clone();
        while state.t < end - 0.5 * h {
            let before = state.clone();
            stepper.step(&mut state)?;
            record.add(&before, &state, &before.p);
        }
        Ok(Self { samples: record.samples })
    }

    /// The nodes after the load has gone.
    pub(super) fn free(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|s| s.t > UNLOADED + 1e-9)
    }

    /// Least and largest of a quantity after the load has gone.
    pub(super) fn range(&self, of: impl Fn(&Sample) -> f64) -> [f64; 2] {
        self.free()
            .map(of)
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    }

    /// Time and turn at which the right link reverses, event X: the vertex of the parabola through the highest points.
    pub(super) fn event(&self) -> [f64; 2] {
        let highest = (1..self.samples.len().saturating_sub(1))
            .max_by(|&i, &j| self.samples[i].angle.total_cmp(&self.samples[j].angle));
        let Some(k) = highest else { return [f64::NAN; 2] };
        let [a, b, c] = [k - 1, k, k + 1].map(|i| self.samples[i].angle);
        let h = self.samples[k + 1].t - self.samples[k].t;
        let (slope, bend) = (0.5 * (c - a), a - 2.0 * b + c);
        [self.samples[k].t - h * slope / bend, b - 0.5 * slope * slope / bend]
    }

    /// The node nearest to an instant.
    pub(super) fn at(&self, t: f64) -> Option<&Sample> {
        self.samples.iter().min_by(|a, b| (a.t - t).abs().total_cmp(&(b.t - t).abs()))
    }

    /// At most some hundred points of a quantity.
    pub(super) fn points(&self, of: impl Fn(&Sample) -> [f64; 2]) -> Vec<[f64; 2]> {
        let every = self.samples.len().div_ceil(250).max(1);
        self.samples.iter().step_by(every).map(of).collect()
    }
}

struct Recorder<'a> {
    swing: &'a Swing,
    legendre: ConstrainedLegendre<'a>,
    scratch: [Vec<f64>; 3],
    samples: Vec<Sample>,
}

impl<'a> Recorder<'a> {
    fn new(swing: &'a Swing) -> Result<Self, ScenarioError> {
        let zero = vec![0.0; swing.system.dimension()];
        Ok(Self {
            swing,
            legendre: ConstrainedLegendre::new(&swing.system, Quadrature::Midpoint)?,
            scratch: [zero.clone(), zero.clone(), zero],
            samples: Vec::new(),
        })
    }

    fn add(&mut self, before: &State, after: &State, p: &[f64]) {
        let Self { swing, legendre, scratch: [velocity, middle, momentum], samples } = self;
        let (q, t) = (&before.q, before.t);
        let h = after.t - t;
        for (i, (a, b)) in q.iter().zip(&after.q).enumerate() {
            velocity[i] = (b - a) / h;
            middle[i] = 0.5 * (a + b);
        }
        swing.system.mass().multiply(velocity, momentum);
        let turning = |q: &[f64], p: &[f64]| swing.mechanism.angular_momentum(q, p);
        let stress = swing.element().resultants(q);
        samples.push(Sample {
            t,
            energy: [
                legendre.discrete_energy(Segment { start: q, end: &after.q, t, h }),
                legendre.hamiltonian(q, p, t),
                legendre.hamiltonian(q, &before.p, t),
            ],
            momentum: [turning(middle, momentum), turning(q, p), turning(q, &before.p)],
            angle: swing.right_angle(q),
            mass: swing.mass(q),
            stress: [stress.force[2], stress.force[0], stress.moment[1]],
        });
    }
}
