//! Measures a world of rigid bodies for the ledger.

use nsm_geom::collide::Neighbours;
use nsm_geom::{Plane, body_gap, so3};
use nsm_model::{Accounts, ContactLaw, Measurement, Probe};

use super::{RigidBody, RigidState, RigidWorld};

/// The probe of a [`RigidWorld`]: energies, momenta and gaps.
///
/// Tracked are, for each body `b`, the linear momentum `b_px` to `b_pz`, the angular momentum `b_Lx` to `b_Lz`
/// about the origin (about the pin for a pinned body), and the translational plus potential energy `b_TPE` and
/// rotational energy `b_RE` of \[TL\] section 7.2. Gaps are those of bodies at planes and, where bodies may touch each other, of all pairs up
/// to [`RigidProbe::PAIRS`] bodies, of the closest pair alone (as `bodies / bodies`) beyond. Of more than [`RigidProbe::EACH`] bodies the same quantities
/// are tracked in sum, as `px` to `RE`, and of the gaps at planes the least (as `bodies / planes`): what is told of a world does not grow with it. The largest $\lVert R^\top R - I\rVert_F$ is the position residual.
#[derive(Debug)]
pub struct RigidProbe<'a> {
    world: &'a RigidWorld,
    pairs: Pairs,
}

/// Which gaps between bodies are measured.
#[derive(Debug)]
enum Pairs {
    None,
    /// All of them, in order; those that pass through each other are infinitely far apart.
    Each(Vec<(usize, usize, bool)>),
    /// The closest one, up to this distance.
    Closest(Box<Neighbours>, f64),
}

impl<'a> RigidProbe<'a> {
    /// Bodies up to which the gaps of all pairs are measured.
    pub const PAIRS: usize = 24;
    /// Bodies up to which each is tracked by itself.
    pub const EACH: usize = 250;

    /// A probe of a world.
    pub fn new(world: &'a RigidWorld) -> Self {
        let bodies = world.bodies();
        let n = bodies.len();
        let touch = |a: usize, b: usize| {
            let shaped = bodies[a].shape().is_some() && bodies[b].shape().is_some();
            let fixed = bodies[a].is_fixed() && bodies[b].is_fixed();
            shaped && !fixed && world.law(a, b, ContactLaw::ELASTIC).is_some()
        };
        let pairs = if n > Self::PAIRS {
            let radii: Vec<f64> =
                bodies.iter().map(|b| if b.shape().is_some() { b.radius() } else { 0.0 }).collect();
            let still: Vec<bool> = bodies.iter().map(RigidBody::is_fixed).collect();
            let far = radii.iter().copied().filter(|r| *r > 0.0).fold(f64::INFINITY, f64::min);
            Pairs::Closest(Box::new(Neighbours::new(&radii, &still)), far)
        } else {
            let each = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
            let each: Vec<_> = each.map(|(a, b)| (a, b, touch(a, b))).collect();
            if each.iter().any(|pair| pair.2) { Pairs::Each(each) } else { Pairs::None }
        };
        Self { world, pairs }
    }

    /// The gap of two bodies; infinite if they have no shapes.
    fn pair_gap(world: &RigidWorld, a: usize, b: usize, state: &RigidState) -> f64 {
        let shape = |i: usize| world.bodies()[i].shape();
        let (Some(s), Some(t)) = (shape(a), shape(b)) else { return f64::INFINITY };
        let pose = |i: usize| &state.bodies[i].pose;
        body_gap(s, pose(a), t, pose(b)).map_or(f64::NAN, |gap| gap.gap)
    }

    /// Whether there are so many bodies that they are tracked in sum.
    fn is_crowd(&self) -> bool {
        self.world.bodies().len() > Self::EACH
    }

    /// The least gap between a body and a plane.
    fn least_at_planes(&self, state: &RigidState) -> f64 {
        let (n, mut least) = (self.world.bodies().len(), f64::INFINITY);
        for (b, (body, s)) in self.world.bodies().iter().zip(&state.bodies).enumerate() {
            for (p, plane) in self.world.planes().iter().enumerate() {
                // A bound below the gap; what is not finite is looked at.
                if plane.signed_distance(&s.pose.x) - body.radius() >= least
                    || self.world.law(b, n + p, ContactLaw::ELASTIC).is_none()
                {
                    continue;
                }
                let gap = self.world.gap(b, p, s);
                if gap.is_nan() {
                    return gap;
                }
                least = least.min(gap);
            }
        }
        least
    }

    fn measure_pairs(&mut self, state: &RigidState, gaps: &mut Vec<f64>) {
        let world = self.world;
        match &mut self.pairs {
            Pairs::None => {}
            Pairs::Each(each) => gaps.extend(each.iter().map(|&(a, b, touch)| {
                if touch { Self::pair_gap(world, a, b, state) } else { f64::INFINITY }
            })),
            Pairs::Closest(neighbours, far) => {
                neighbours.update(|i| state.bodies[i].pose.x, LOOK * *far);
                let mut least = *far;
                for &(a, b) in neighbours.pairs() {
                    let (a, b) = (a as usize, b as usize);
                    let reach = world.bodies()[a].radius() + world.bodies()[b].radius();
                    let between = state.bodies[a].pose.x - state.bodies[b].pose.x;
                    if between.norm() - reach < least
                        && world.law(a, b, ContactLaw::ELASTIC).is_some()
                    {
                        least = least.min(Self::pair_gap(world, a, b, state));
                    }
                }
                gaps.push(least);
            }
        }
    }
}

/// Up to this distance, as a share of the smallest radius, the closest pair is sure to be found.
const LOOK: f64 = 0.1;

const TRACKED: [&str; 8] = ["px", "py", "pz", "Lx", "Ly", "Lz", "TPE", "RE"];

impl Probe for RigidProbe<'_> {
    type State = RigidState;

    fn potential_scale(&self, state: &RigidState) -> f64 {
        let place = state.bodies.iter().map(|b| b.pose.x.amax()).fold(0.0, f64::max);
        let mass = |b: &RigidBody| if b.is_fixed() { 0.0 } else { b.mass() };
        let weight: f64 = self.world.bodies().iter().map(mass).sum();
        weight * self.world.gravity().norm() * place
    }

    fn invariants(&self) -> Vec<String> {
        if self.is_crowd() {
            return TRACKED.map(str::to_owned).to_vec();
        }
        let bodies = self.world.bodies().iter();
        bodies.flat_map(|b| TRACKED.map(|what| format!("{}_{what}", b.name()))).collect()
    }

    /// Momentum along an axis that neither gravity nor a plane pushes along, angular momentum about one that all of them are
    /// parallel to, of bodies that meet no others and rub at no plane; energies go from one form to the other. The sums over many bodies
    /// stay if nothing stands still that they could meet.
    fn conserved(&self) -> Vec<bool> {
        let gravity = self.world.gravity();
        let pushes =
            || std::iter::once(gravity).chain(self.world.planes().iter().map(Plane::normal));
        let across = |axis: usize| pushes().all(|f| f[axis] == 0.0);
        let parallel = |axis: usize| pushes().all(|f| (0..3).all(|k| k == axis || f[k] == 0.0));
        let n = self.world.bodies().len();
        let rubs = |b: usize| {
            let laws = (0..self.world.planes().len())
                .filter_map(|p| self.world.law(b, n + p, ContactLaw::ELASTIC));
            laws.into_iter().any(|law| law.friction > 0.0)
        };
        if self.is_crowd() {
            let bodies = self.world.bodies();
            let holds = |b: &RigidBody| b.is_fixed() || b.is_pinned() || b.has_loads();
            let free = !bodies.iter().any(holds) && !(0..n).any(rubs);
            let [x, y, z] = [0, 1, 2].map(|axis| free && across(axis));
            let [lx, ly, lz] = [0, 1, 2].map(|axis| free && parallel(axis));
            return vec![x, y, z, lx, ly, lz, false, false];
        }
        let alone = matches!(self.pairs, Pairs::None);
        let body = |(index, b): (usize, &RigidBody)| {
            let free = alone && !b.has_loads() && !rubs(index);
            let momentum = |axis| free && !b.is_pinned() && across(axis);
            let angular = |axis| free && parallel(axis);
            let [x, y, z] = [0, 1, 2].map(momentum);
            let [lx, ly, lz] = [0, 1, 2].map(angular);
            [x, y, z, lx, ly, lz, false, false]
        };
        self.world.bodies().iter().enumerate().flat_map(body).collect()
    }

    fn gaps(&self) -> Vec<String> {
        if self.is_crowd() {
            return ["bodies / planes", "bodies / bodies"].map(str::to_owned).to_vec();
        }
        let n = self.world.bodies().len();
        let pairs = match self.pairs {
            Pairs::Each(_) => n * (n - 1) / 2,
            Pairs::None | Pairs::Closest(..) => 0,
        };
        let contacts = n * self.world.planes().len() + pairs;
        let mut names: Vec<String> =
            (0..contacts).map(|contact| self.world.contact_name(contact)).collect();
        if matches!(self.pairs, Pairs::Closest(..)) {
            names.push("bodies / bodies".into());
        }
        names
    }

    fn accounts(&self) -> Accounts {
        let pairs = self.world.bodies().len() * self.world.planes().len();
        match self.pairs {
            _ if self.is_crowd() => Accounts::Two(pairs),
            Pairs::Closest(..) => Accounts::Together(pairs),
            Pairs::None | Pairs::Each(_) => Accounts::Each,
        }
    }

    /// A load may depend on time, or have no potential.
    fn is_driven(&self) -> bool {
        self.world.bodies().iter().any(RigidBody::has_loads)
    }

    fn time(&self, state: &RigidState) -> f64 {
        state.t
    }

    fn measure(&mut self, state: &RigidState, out: &mut Measurement) {
        out.t = state.t;
        (out.kinetic, out.potential, out.position_residual) = (0.0, 0.0, 0.0);
        // Directors are unit vectors.
        (out.position_scale, out.size) = (1.0, 0.0);
        out.invariants.clear();
        out.gaps.clear();
        let crowd = self.is_crowd();
        let mut sums = [0.0; TRACKED.len()];
        for (index, (body, s)) in self.world.bodies().iter().zip(&state.bodies).enumerate() {
            out.size = out.size.max(s.pose.x.amax() + body.radius());
            let rotational = body.rotational_energy(s);
            let translational = body.translational_energy(s);
            let potential = body.potential_energy(self.world.gravity(), state.t, &s.pose);
            out.kinetic += translational + rotational;
            out.potential += potential;
            out.position_residual =
                out.position_residual.max(so3::orthogonality_defect(&s.pose.rot));
            let about = if body.is_pinned() { s.pose.rot * s.pi } else { s.angular_momentum() };
            let (p, l) = (&s.gamma, &about);
            let tracked = [p.x, p.y, p.z, l.x, l.y, l.z, translational + potential, rotational];
            if crowd {
                sums.iter_mut().zip(tracked).for_each(|(sum, x)| *sum += x);
                continue;
            }
            out.invariants.extend(tracked);
            out.gaps.extend((0..self.world.planes().len()).map(|p| self.world.gap(index, p, s)));
        }
        if crowd {
            out.invariants.extend(sums);
            out.gaps.push(self.least_at_planes(state));
        }
        self.measure_pairs(state, &mut out.gaps);
    }
}
