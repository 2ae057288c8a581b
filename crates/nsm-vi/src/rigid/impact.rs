//! The jump of the momenta where a body touches planes.
//!
//! One touching point with $\chi = \rho\times R^\top n$, rate $B = n\cdot\gamma/m + \chi\cdot J^{-1}\Pi < 0$ and
//! $A = |n|^2/m + \chi\cdot J^{-1}\chi$:
//! $$ \gamma^+ = \gamma + \lambda n, \qquad \Pi^+ = \Pi + \lambda\chi, \qquad \lambda = -(1+e)\frac BA, \tag{TL 4.21} $$
//! which conserves the energy at any configuration for $e = 1$. A point that does not approach is left alone.
//! Several points that touch together (the corners of a face, two walls) are reflected together over those
//! that approach, until none does: the generalized reflection of \[KP\].
//!
//! Optionally the impact steers the energy back to that at the start of the run,
//! $\lambda = (-B + \sqrt{B^2 - 2A(E^- - E_0)})/A$: it hides the rounding of the flight rather than removing it.

use nsm_geom::{Plane, PlaneGap, Vec3};
use nsm_reflect::{
    ContactRows, ContactTolerance, ImpactLaw, Kernel, Metric, ReflectError, Restitution,
};

use super::{BodyState, RigidBody};

/// The points that touch, and room to reflect them.
#[derive(Debug)]
pub(super) struct Impact {
    restitution: f64,
    law: ImpactLaw,
    /// $\mathrm{diag}(I/m, J^{-1})$ of each body.
    metrics: Vec<Metric>,
    kernel: Kernel,
    contacts: Vec<PlaneGap>,
    points: Vec<Point>,
    candidates: Vec<usize>,
    /// The rows $(n, \chi)$ on the momenta $(\gamma, \Pi)$.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

/// A touching point and the impulse it received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) plane: usize,
    pub(super) impulse: f64,
    normal: Vec3,
    chi: Vec3,
}

/// What an impact did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub(super) rounds: usize,
    pub(super) energy_change: f64,
}

impl Impact {
    /// Room for up to `points` touching points of one body.
    pub(super) fn new(
        bodies: &[RigidBody],
        points: usize,
        restitution: f64,
    ) -> Result<Self, ReflectError> {
        let law = if restitution == 1.0 {
            ImpactLaw::Reflection
        } else {
            ImpactLaw::Newton(Restitution::Uniform(restitution))
        };
        Ok(Self {
            restitution,
            law,
            metrics: bodies.iter().map(metric).collect::<Result<_, _>>()?,
            kernel: Kernel::new(6, points, ContactTolerance::default()),
            contacts: Vec::with_capacity(points),
            points: Vec::with_capacity(points),
            candidates: (0..points).collect(),
            starts: (0..=points).map(|i| 6 * i).collect(),
            columns: (0..6 * points).map(|k| k % 6).collect(),
            values: vec![0.0; 6 * points],
        })
    }

    /// The points that touched at the last impact.
    pub(super) fn points(&self) -> &[Point] {
        &self.points
    }

    /// Collects the points of a body that lie within `tie` of a plane, and says whether one approaches.
    pub(super) fn collect(
        &mut self,
        body: &RigidBody,
        planes: &[Plane],
        near: &[usize],
        state: &BodyState,
        tie: f64,
    ) -> bool {
        self.points.clear();
        let Some(shape) = body.shape() else { return false };
        let mut approaches = false;
        for &plane in near {
            let p = &planes[plane];
            if shape.plane_gap(p, &state.pose).gap > tie {
                continue;
            }
            shape.plane_contacts(p, &state.pose, tie, &mut self.contacts);
            for contact in self.contacts.iter().filter(|c| c.gap <= tie) {
                let point = Point { plane, impulse: 0.0, normal: *p.normal(), chi: contact.chi };
                approaches |= point.rate(body, state) < 0.0;
                self.points.push(point);
            }
        }
        approaches
    }

    /// Lets the collected points of body number `index` bounce.
    ///
    /// `excess` is the energy above that at the start of the run, where it is to be removed.
    pub(super) fn resolve(
        &mut self,
        index: usize,
        body: &RigidBody,
        state: &mut BodyState,
        excess: Option<f64>,
    ) -> Result<Resolved, ReflectError> {
        if let [point] = &mut self.points[..] {
            let before = body.kinetic_energy(state);
            let b = point.rate(body, state);
            if b >= 0.0 {
                return Ok(Resolved { rounds: 0, energy_change: 0.0 });
            }
            let a = point.square(body);
            point.impulse = match excess.map(|x| b * b - 2.0 * a * x) {
                Some(square) if square > 0.0 => (square.sqrt() - b) / a,
                _ => -(1.0 + self.restitution) * b / a,
            };
            state.gamma += point.normal * point.impulse;
            state.pi += point.chi * point.impulse;
            let energy_change = body.kinetic_energy(state) - before;
            return Ok(Resolved { rounds: 1, energy_change });
        }
        let n = self.points.len();
        for (row, point) in self.values.chunks_exact_mut(6).zip(&self.points) {
            row[..3].copy_from_slice(point.normal.as_slice());
            row[3..].copy_from_slice(point.chi.as_slice());
        }
        let rows =
            ContactRows::new(6, &self.starts[..=n], &self.columns[..6 * n], &self.values[..6 * n])?;
        let mut p = [0.0; 6];
        p[..3].copy_from_slice(state.gamma.as_slice());
        p[3..].copy_from_slice(state.pi.as_slice());
        let metric = &self.metrics[index];
        let certificate =
            self.kernel.reflect(&self.law, metric, rows, &self.candidates[..n], &mut p)?;
        state.gamma.copy_from_slice(&p[..3]);
        state.pi.copy_from_slice(&p[3..]);
        for (point, impulse) in self.points.iter_mut().zip(self.kernel.impulses()) {
            point.impulse = *impulse;
        }
        Ok(Resolved { rounds: certificate.rounds, energy_change: certificate.energy_change })
    }
}

impl Point {
    /// $B = n\cdot\gamma/m + \chi\cdot J^{-1}\Pi$, the rate of the gap.
    fn rate(&self, body: &RigidBody, state: &BodyState) -> f64 {
        body.inverse_mass() * self.normal.dot(&state.gamma)
            + self.chi.dot(&(body.inverse_inertia() * state.pi))
    }

    /// $A = |n|^2/m + \chi\cdot J^{-1}\chi$.
    fn square(&self, body: &RigidBody) -> f64 {
        body.inverse_mass() * self.normal.norm_squared()
            + self.chi.dot(&(body.inverse_inertia() * self.chi))
    }
}

fn metric(body: &RigidBody) -> Result<Metric, ReflectError> {
    let mut entries: Vec<_> = (0..3).map(|k| (k, k, body.inverse_mass())).collect();
    let inverse = body.inverse_inertia();
    let mirrored = 0.5 * (inverse + inverse.transpose());
    entries.extend((0..9).map(|k| (3 + k / 3, 3 + k % 3, mirrored[(k / 3, k % 3)])));
    Ok(Metric::from_entries(6, &entries)?)
}
