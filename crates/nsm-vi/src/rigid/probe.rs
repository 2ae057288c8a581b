//! Measures a world of rigid bodies for the ledger.

use nsm_geom::collide::Neighbours;
use nsm_geom::{Plane, body_gap, so3};
use nsm_model::{ContactLaw, Measurement, Probe};

use super::{RigidBody, RigidState, RigidWorld};

/// The probe of a [`RigidWorld`]: energies, momenta and gaps.
///
/// Tracked are, for each body `b`, the linear momentum `b_px` to `b_pz`, the angular momentum `b_Lx` to `b_Lz`
/// about the origin (about the pin for a pinned body), and the translational plus potential energy `b_TPE` and
/// rotational energy `b_RE` of \[TL\] section 7.2. Gaps are those of bodies at planes and, where bodies may touch each other, of all pairs up
/// to [`RigidProbe::PAIRS`] bodies, of the closest pair alone (as `bodies / bodies`) beyond. The largest $\lVert R^\top R - I\rVert_F$ is the position residual.
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

    fn measure_pairs(&mut self, state: &RigidState, gaps: &mut Vec<f64>) {
        let world = self.world;
        match &mut self.pairs {
            Pairs::None => {}
            Pairs::Each(each) => gaps.extend(each.iter().map(|&(a, b, touch)| {
                if touch { Self::pair_gap(world, a, b, state) } else { f64::INFINITY }
            })),
            Pairs::Closest(neighbours, far) => {
                neighbours.update(|i| state.bodies[i].pose.x, 1e-3 * *far);
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
        let bodies = self.world.bodies().iter();
        bodies.flat_map(|b| TRACKED.map(|what| format!("{}_{what}", b.name()))).collect()
    }

    /// Momentum along an axis that neither gravity nor a plane pushes along, angular momentum about one that all of them are
    /// parallel to, of bodies that meet no others and rub at no plane; energies go from one form to the other.
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
        for (index, (body, s)) in self.world.bodies().iter().zip(&state.bodies).enumerate() {
            out.size = out.size.max(s.pose.x.amax() + body.radius());
            let rotational = body.rotational_energy(s);
            let translational = body.translational_energy(s);
            let potential = body.potential_energy(self.world.gravity(), state.t, &s.pose);
            out.kinetic += translational + rotational;
            out.potential += potential;
            out.position_residual =
                out.position_residual.max(so3::orthogonality_defect(&s.pose.rot));
            out.invariants.extend(s.gamma.iter());
            let about = if body.is_pinned() { s.pose.rot * s.pi } else { s.angular_momentum() };
            out.invariants.extend(about.iter());
            out.invariants.extend([translational + potential, rotational]);
            out.gaps.extend((0..self.world.planes().len()).map(|p| self.world.gap(index, p, s)));
        }
        self.measure_pairs(state, &mut out.gaps);
    }
}
