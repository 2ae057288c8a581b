//! A rigid body: mass, inertia, shape and loads.

use std::sync::Arc;

use nsm_geom::{GeomError, Mat3, Pose, Shape, Vec3, mass::check_inertia};

use super::{BodyState, Load, RigidError, Wrench};

/// A rigid body in its body frame.
///
/// The origin of the frame is the centre of mass, unless the body is [pinned](RigidBody::pinned).
#[derive(Clone)]
pub struct RigidBody {
    name: String,
    mass: f64,
    inverse_mass: f64,
    inertia: Mat3,
    inverse_inertia: Mat3,
    /// $S$ with $J^{-1} = S^\top S$.
    inverse_root: Mat3,
    /// $r/\lambda_{\min}(J)$, by which an angular momentum becomes a speed at most.
    lever: f64,
    /// Centre of mass from the pin, for a pinned body.
    pin: Option<Vec3>,
    shape: Option<Shape>,
    radius: f64,
    loads: Vec<Arc<dyn Load>>,
}

impl RigidBody {
    /// A free body with its inertia $J$ about the centre of mass; without a shape it passes through
    /// planes. Of an inertia given to six digits the symmetric part is used.
    ///
    /// # Errors
    /// A mass that is not positive, an inertia that is not symmetric positive definite.
    pub fn new(name: impl Into<String>, mass: f64, inertia: Mat3) -> Result<Self, RigidError> {
        let name = name.into();
        if !(mass.is_finite() && mass > 0.0) {
            return Err(RigidError::Mass { body: name, mass });
        }
        if let Err(source) = check_inertia(&inertia) {
            return Err(RigidError::Body { body: name, source });
        }
        let inertia = 0.5 * (inertia + inertia.transpose());
        let root = |inverse: Mat3| Some((inverse, inverse.cholesky()?.l().transpose()));
        let Some((inverse_inertia, inverse_root)) = inertia.try_inverse().and_then(root) else {
            let source = GeomError::NotPositiveDefinite { eigenvalue: 0.0, asymmetry: 0.0 };
            return Err(RigidError::Body { body: name, source });
        };
        Ok(Self {
            name,
            mass,
            inverse_mass: 1.0 / mass,
            inertia,
            inverse_inertia,
            inverse_root,
            lever: 0.0,
            pin: None,
            shape: None,
            radius: 0.0,
            loads: Vec::new(),
        })
    }

    /// A free body of uniform density that fills a shape; the shape is shifted so that its centre of mass
    /// becomes the origin.
    ///
    /// # Errors
    /// A mass that is not positive, a shape without volume.
    pub fn uniform(name: impl Into<String>, mass: f64, shape: Shape) -> Result<Self, RigidError> {
        let name = name.into();
        let properties = match shape.mass_properties(1.0).and_then(|p| p.with_mass(mass)) {
            Ok(properties) => properties,
            Err(source) => return Err(RigidError::Body { body: name, source }),
        };
        let body = Self::new(name, mass, properties.inertia)?;
        let centre = properties.centre;
        Ok(body.with_shape(if centre == Vec3::zeros() { shape } else { shape.at(-centre) }))
    }

    /// A body that turns about a fixed point, the origin of its frame: a pendulum, a heavy top.
    ///
    /// `inertia` is about that point, `centre` the centre of mass seen from it.
    ///
    /// # Errors
    /// As for [`RigidBody::new`].
    pub fn pinned(
        name: impl Into<String>,
        mass: f64,
        inertia: Mat3,
        centre: Vec3,
    ) -> Result<Self, RigidError> {
        let mut body = Self::new(name, mass, inertia)?;
        if !centre.iter().all(|c| c.is_finite()) {
            return Err(RigidError::NotFinite { what: "the centre of mass", name: body.name });
        }
        body.pin = Some(centre);
        body.inverse_mass = 0.0;
        Ok(body)
    }

    /// A body that stands still whatever strikes it: a table, a ramp, a rail.
    pub fn fixed(name: impl Into<String>, shape: Shape) -> Self {
        Self {
            name: name.into(),
            mass: 0.0,
            inverse_mass: 0.0,
            inertia: Mat3::zeros(),
            inverse_inertia: Mat3::zeros(),
            inverse_root: Mat3::zeros(),
            lever: 0.0,
            pin: None,
            radius: shape.bounding_radius(),
            shape: Some(shape),
            loads: Vec::new(),
        }
    }

    /// Gives the body its shape, placed in the body frame (shift it with [`Shape::at`] where its own
    /// origin is not the centre of mass).
    #[must_use]
    pub fn with_shape(mut self, shape: Shape) -> Self {
        self.radius = shape.bounding_radius();
        self.lever = self.radius / self.inertia.symmetric_eigenvalues().min();
        self.shape = Some(shape);
        self
    }

    /// Adds a potential or a torque.
    #[must_use]
    pub fn with_load(mut self, load: impl Load + 'static) -> Self {
        self.loads.push(Arc::new(load));
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it stands still whatever strikes it.
    pub fn is_fixed(&self) -> bool {
        self.mass == 0.0
    }

    /// Its mass; that of a [fixed](Self::fixed) body is given as zero.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// What a force at the origin of the frame divides by: $1/m$, or zero for a pinned body.
    #[inline]
    pub fn inverse_mass(&self) -> f64 {
        self.inverse_mass
    }

    /// The inertia $J$ about the origin of the frame.
    pub fn inertia(&self) -> &Mat3 {
        &self.inertia
    }

    /// $J^{-1}$.
    #[inline]
    pub fn inverse_inertia(&self) -> &Mat3 {
        &self.inverse_inertia
    }

    /// $S$ with $J^{-1} = S^\top S$.
    pub(super) fn inverse_root(&self) -> &Mat3 {
        &self.inverse_root
    }

    /// The nonstandard inertia $J_d = \tfrac12\mathrm{tr}(J)I - J$ (\[TL\] (4.1)).
    pub fn nonstandard_inertia(&self) -> Mat3 {
        Mat3::identity() * (0.5 * self.inertia.trace()) - self.inertia
    }

    /// Its shape.
    pub fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    /// Radius of a ball about the origin of the frame that holds the shape.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether it turns about a fixed point.
    pub fn is_pinned(&self) -> bool {
        self.pin.is_some()
    }

    /// Kinetic energy, $|\gamma|^2/2m + \tfrac12\Pi\cdot J^{-1}\Pi$ (\[TL\] (4.19)).
    pub fn kinetic_energy(&self, state: &BodyState) -> f64 {
        self.translational_energy(state) + self.rotational_energy(state)
    }

    /// $|\gamma|^2/2m$.
    pub fn translational_energy(&self, state: &BodyState) -> f64 {
        0.5 * self.inverse_mass() * state.gamma.norm_squared()
    }

    /// The rotational energy R.E., $\tfrac12\Pi\cdot J^{-1}\Pi$ (\[TL\] (7.2)).
    pub fn rotational_energy(&self, state: &BodyState) -> f64 {
        0.5 * state.pi.dot(&(self.inverse_inertia * state.pi))
    }

    /// Potential energy in a uniform gravity field and under the loads.
    pub fn potential_energy(&self, gravity: &Vec3, t: f64, pose: &Pose) -> f64 {
        let centre = self.pin.map_or(pose.x, |c| pose.act(&c));
        self.loads
            .iter()
            .fold(-self.mass * gravity.dot(&centre), |sum, load| sum + load.potential(t, pose))
    }

    /// Whether anything but gravity and contacts acts on it.
    pub(super) fn has_loads(&self) -> bool {
        !self.loads.is_empty()
    }

    /// Whether anything acts on it that depends on its pose.
    #[inline]
    pub(super) fn is_loaded(&self) -> bool {
        !self.loads.is_empty() || self.pin.is_some()
    }

    /// All that acts on it.
    pub(super) fn wrench(&self, gravity: &Vec3, t: f64, pose: &Pose) -> Wrench {
        let weight = gravity * self.mass;
        let mut sum = match self.pin {
            Some(centre) => Wrench::at(weight, &centre, pose),
            None => Wrench { force: weight, torque: Vec3::zeros() },
        };
        for load in &self.loads {
            sum += load.wrench(t, pose);
        }
        sum
    }

    /// Bound for the speed of any point of the shape; sums instead of norms, to spare the roots.
    #[inline]
    pub(super) fn speed_bound(&self, state: &BodyState) -> f64 {
        let sum = |v: &Vec3| v.x.abs() + v.y.abs() + v.z.abs();
        self.inverse_mass() * sum(&state.gamma) + self.lever * sum(&state.pi)
    }
}

impl std::fmt::Debug for RigidBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RigidBody")
            .field("name", &self.name)
            .field("mass", &self.mass)
            .field("inertia", &self.inertia)
            .field("pin", &self.pin)
            .field("shape", &self.shape)
            .field("loads", &self.loads.len())
            .finish_non_exhaustive()
    }
}
