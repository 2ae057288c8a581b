//! Measures a world of rigid bodies for the ledger.

use nsm_geom::so3;
use nsm_model::{Measurement, Probe};

use super::{RigidState, RigidWorld};

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

    fn gaps(&self) -> Vec<String> {
        let contacts = self.world.bodies().len() * self.world.planes().len();
        (0..contacts).map(|contact| self.world.contact_name(contact)).collect()
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
