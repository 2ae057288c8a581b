//! Measures a world of rigid bodies for the ledger.

use nsm_geom::{Plane, so3};
use nsm_model::{Measurement, Probe};

use super::{RigidBody, RigidState, RigidWorld};

/// The probe of a [`RigidWorld`]: energies, momenta and gaps.
///
/// Tracked are, for each body `b`, the linear momentum `b_px` to `b_pz`, the angular momentum `b_Lx` to `b_Lz`
/// about the origin (about the pin for a pinned body), and the translational plus potential energy `b_TPE` and
/// rotational energy `b_RE` of \[TL\] section 7.2. The largest $\lVert R^\top R - I\rVert_F$ is the position residual.
#[derive(Debug)]
pub struct RigidProbe<'a> {
    world: &'a RigidWorld,
}

impl<'a> RigidProbe<'a> {
    /// A probe of a world.
    pub fn new(world: &'a RigidWorld) -> Self {
        Self { world }
    }
}

const TRACKED: [&str; 8] = ["px", "py", "pz", "Lx", "Ly", "Lz", "TPE", "RE"];

impl Probe for RigidProbe<'_> {
    type State = RigidState;

    fn invariants(&self) -> Vec<String> {
        let bodies = self.world.bodies().iter();
        bodies.flat_map(|b| TRACKED.map(|what| format!("{}_{what}", b.name()))).collect()
    }

    /// Momentum along an axis that neither gravity nor a plane pushes along, angular momentum about one that all of them are
    /// parallel to; energies go from one form to the other.
    fn conserved(&self) -> Vec<bool> {
        let gravity = self.world.gravity();
        let pushes =
            || std::iter::once(gravity).chain(self.world.planes().iter().map(Plane::normal));
        let across = |axis: usize| pushes().all(|f| f[axis] == 0.0);
        let parallel = |axis: usize| pushes().all(|f| (0..3).all(|k| k == axis || f[k] == 0.0));
        let body = |b: &RigidBody| {
            let free = !b.has_loads();
            let momentum = |axis| free && !b.is_pinned() && across(axis);
            let angular = |axis| free && parallel(axis);
            let [x, y, z] = [0, 1, 2].map(momentum);
            let [lx, ly, lz] = [0, 1, 2].map(angular);
            [x, y, z, lx, ly, lz, false, false]
        };
        self.world.bodies().iter().flat_map(body).collect()
    }

    fn gaps(&self) -> Vec<String> {
        let contacts = self.world.bodies().len() * self.world.planes().len();
        (0..contacts).map(|contact| self.world.contact_name(contact)).collect()
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
        out.invariants.clear();
        out.gaps.clear();
        for (index, (body, s)) in self.world.bodies().iter().zip(&state.bodies).enumerate() {
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
    }
}
