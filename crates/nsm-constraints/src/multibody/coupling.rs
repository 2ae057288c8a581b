//! Rows on gauges: motors, gears, screws, rods, stops, ropes.
//!
//! $$ g(q, t) = \sum_k a_k\varphi_k(q) - c - u(t), $$
//! as an equality ($g = 0$: a motor moves one freedom by $u$, a gear ties two together, a rod keeps a distance) or as an inequality ($g \ge 0$: a
//! stop, a rope). Over a chord the discrete gradient is that of the gauges, which keeps momenta.

use std::sync::Arc;

use super::elements::NamedField;
use super::error::MechanismError;
use super::gauge::{Arm, Gauge, Reference};
use super::joint::{End, JointId};
use super::mechanism::{Mechanism, finite};
use crate::Field;

/// A row on gauges.
#[derive(Clone)]
pub struct Coupling {
    gauges: Vec<(f64, Gauge)>,
    constant: f64,
    motion: Option<Arc<dyn Field>>,
    coordinates: Vec<usize>,
    places: Vec<Vec<usize>>,
}

impl std::fmt::Debug for Coupling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = (&self.gauges, self.constant);
        f.debug_tuple("Coupling").field(&parts).finish_non_exhaustive()
    }
}

/// Coordinates of one gauge at most.
const BLOCK: usize = 24;

impl Coupling {
    /// $\sum_k a_k\varphi_k - c$.
    pub fn new(gauges: Vec<(f64, Gauge)>, constant: f64) -> Self {
        let mut coordinates: Vec<usize> =
            gauges.iter().flat_map(|(_, gauge)| gauge.coordinates().iter().copied()).collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let place = |c: &usize| coordinates.binary_search(c).unwrap_or_default();
        let places =
            gauges.iter().map(|(_, g)| g.coordinates().iter().map(place).collect()).collect();
        Self { gauges, constant, motion: None, coordinates, places }
    }

    /// $\varphi - u(t)$, with $u$ a field of no coordinates. An angle is taken within half a turn of $u$.
    pub fn motor(gauge: Gauge, motion: Arc<dyn Field>) -> Self {
        Self { motion: Some(motion), ..Self::new(vec![(1.0, gauge)], 0.0) }
    }

    fn reading(&self, (a, gauge): &(f64, Gauge), q: &[f64], t: f64) -> f64 {
        match &self.motion {
            Some(motion) => a * gauge.value_near(q, motion.value(&[], t)),
            None => a * gauge.value(q, t),
        }
    }

    /// Adds one gauge's block, evaluated by `write`, times its factor.
    fn gather(&self, out: &mut [f64], write: impl Fn(&Gauge, &mut [f64])) {
        out.fill(0.0);
        for ((a, gauge), places) in self.gauges.iter().zip(&self.places) {
            let mut block = [0.0; BLOCK];
            write(gauge, &mut block[..places.len()]);
            for (&i, g) in places.iter().zip(block) {
                out[i] += a * g;
            }
        }
    }

    fn gather_square(&self, w: f64, out: &mut [f64], write: impl Fn(&Gauge, f64, &mut [f64])) {
        let n = self.coordinates.len();
        for ((a, gauge), places) in self.gauges.iter().zip(&self.places) {
            let k = places.len();
            let mut block = [0.0; BLOCK * BLOCK];
            write(gauge, a * w, &mut block[..k * k]);
            for (row, &i) in block.chunks_exact(k.max(1)).zip(places) {
                for (x, &j) in row.iter().zip(places) {
                    out[i * n + j] += x;
                }
            }
        }
    }
}

impl Field for Coupling {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], t: f64) -> f64 {
        let sum: f64 = self.gauges.iter().map(|gauge| self.reading(gauge, q, t)).sum();
        sum - self.constant - self.motion.as_ref().map_or(0.0, |u| u.value(&[], t))
    }

    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
        self.gather(out, |gauge, block| gauge.gradient(q, t, block));
    }

    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
        self.gather_square(w, out, |gauge, w, block| gauge.hessian(q, t, w, block));
    }

    fn mean_gradient(&self, start: &[f64], end: &[f64], t: f64, out: &mut [f64]) -> bool {
        self.gather(out, |gauge, block| {
            gauge.mean_gradient(start, end, t, block);
        });
        true
    }

    fn mean_hessian(&self, start: &[f64], end: &[f64], t: f64, w: f64, out: &mut [f64]) -> bool {
        self.gather_square(w, out, |gauge, w, block| {
            gauge.mean_hessian(start, end, t, w, block);
        });
        true
    }

    fn is_affine(&self) -> bool {
        self.gauges.iter().all(|(_, gauge)| gauge.is_affine())
    }

    fn is_rheonomic(&self) -> bool {
        self.motion.as_ref().is_some_and(Field::is_rheonomic)
    }

    fn rate(&self, _q: &[f64], t: f64) -> f64 {
        self.motion.as_ref().map_or(0.0, |u| -u.rate(&[], t))
    }

    fn second_rate(&self, _q: &[f64], t: f64) -> f64 {
        self.motion.as_ref().map_or(0.0, |u| -u.second_rate(&[], t))
    }
}

/// An equality of a mechanism besides those of its joints.
#[derive(Clone, Debug)]
pub(super) struct PlacedCoupling {
    pub(super) row: NamedField,
    /// The joint of which it is a part.
    pub(super) joint: Option<JointId>,
    /// Whether it moves the joint, and is no part of what holds it together.
    pub(super) motor: bool,
}

impl Mechanism {
    /// Adds an equality on the mechanism's coordinates.
    ///
    /// # Errors
    /// A name that is taken, coordinates that the mechanism does not have.
    pub fn add_equality(&mut self, name: &str, row: Arc<dyn Field>) -> Result<(), MechanismError> {
        crate::check_coordinates(name, row.coordinates(), self.dimension)?;
        self.take_name(name)?;
        self.push_coupling(name.to_owned(), row, None, false);
        Ok(())
    }

    /// A gap by a field of the coordinates, which is not to become negative: backlash, a cable, a wall.
    ///
    /// # Errors
    /// A coordinate out of range, a name that is taken.
    pub fn add_inequality(
        &mut self,
        name: &str,
        row: Arc<dyn Field>,
    ) -> Result<(), MechanismError> {
        crate::check_coordinates(name, row.coordinates(), self.dimension)?;
        self.take_name(name)?;
        self.limits.push(NamedField(name.to_owned(), row));
        Ok(())
    }

    /// Prescribes a freedom of a joint: $\varphi = u(t)$, $u$ a field of no coordinates. A motor drives what nothing else holds.
    ///
    /// # Errors
    /// An unknown joint, or a freedom that it does not have.
    pub fn add_motor(
        &mut self,
        joint: JointId,
        freedom: usize,
        motion: Arc<dyn Field>,
    ) -> Result<(), MechanismError> {
        let gauge = self.freedom(joint, freedom, Reference::Near(0.0))?;
        let found = self.known_joint(joint)?;
        let name = numbered(&found.name, "motor", freedom, found.kind.freedoms());
        self.push_coupling(name, Arc::new(Coupling::motor(gauge, motion)), Some(joint), true);
        Ok(())
    }

    /// Makes a row on gauges a part of a joint.
    ///
    /// # Errors
    /// An unknown joint.
    pub fn couple(
        &mut self,
        joint: JointId,
        what: &str,
        row: Coupling,
    ) -> Result<(), MechanismError> {
        let name = format!("{}: {what}", self.known_joint(joint)?.name);
        self.push_coupling(name, Arc::new(row), Some(joint), false);
        Ok(())
    }

    /// A rod without mass between two points that are given in the world at the start; its length is theirs if absent.
    ///
    /// # Errors
    /// As for [`add_spring`](Self::add_spring); another length than the distance of the points.
    pub fn add_rod(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
        length: Option<f64>,
    ) -> Result<(), MechanismError> {
        let (gauge, distance) = self.rod(name, ends, at)?;
        let length = length.unwrap_or(distance);
        if (length - distance).abs() > 1e-9 * distance {
            let name = name.to_owned();
            return Err(MechanismError::Length { name, length, distance });
        }
        self.add_equality(name, Arc::new(Coupling::new(vec![(1.0, gauge)], distance)))
    }

    /// A rope without mass: the points come no farther apart than its length.
    ///
    /// # Errors
    /// As for [`add_rod`](Self::add_rod); a rope that is too short at the start.
    pub fn add_rope(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
        length: Option<f64>,
    ) -> Result<(), MechanismError> {
        let (gauge, distance) = self.rod(name, ends, at)?;
        let length = length.unwrap_or(distance);
        if length.is_nan() || length < distance * (1.0 - 1e-12) {
            let name = name.to_owned();
            return Err(MechanismError::Length { name, length, distance });
        }
        self.take_name(name)?;
        let row = Coupling::new(vec![(-1.0, gauge)], -length);
        self.limits.push(NamedField(name.to_owned(), Arc::new(row)));
        Ok(())
    }

    fn rod(
        &self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
    ) -> Result<(Gauge, f64), MechanismError> {
        let gauge = Gauge::distance(&self.line(name, ends, at)?);
        let distance = gauge.value(&self.start_position(), 0.0);
        self.check_apart(name, ends, at, distance)?;
        Ok((gauge, distance))
    }

    /// Keeps a point of the second end on a line (`plane` false) or in a plane of the first, through `at` with this unit axis: along
    /// the line, across the plane. The second end may be a particle.
    ///
    /// # Errors
    /// A name that is taken, the same end twice, a first end without directors, an axis that is not a unit vector.
    pub fn add_slot(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [f64; 3],
        axis: [f64; 3],
        plane: bool,
    ) -> Result<(), MechanismError> {
        let axis = unit(name, axis)?;
        let gap = self.line(name, ends, [at, at])?;
        let [n, a, b] = self.frame(name, ends[0], axis)?;
        self.take_name(name)?;
        let across =
            if plane { vec![("across", n)] } else { vec![("across a", a), ("across b", b)] };
        for (what, direction) in across {
            let row = Coupling::new(vec![(1.0, Gauge::product(&gap, &direction))], 0.0);
            self.push_coupling(format!("{name}: {what}"), Arc::new(row), None, false);
        }
        Ok(())
    }

    /// Holds two points together, of which either may be a particle.
    ///
    /// # Errors
    /// A name that is taken, the same end twice, a particle that is elsewhere.
    pub fn add_pin(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [f64; 3],
    ) -> Result<(), MechanismError> {
        let gap = self.line(name, ends, [at, at])?;
        self.take_name(name)?;
        for (k, what) in ["x", "y", "z"].into_iter().enumerate() {
            let mut along = [0.0; 3];
            along[k] = 1.0;
            let gauge = Gauge::product(&gap, &Arm::fixed(along));
            let row = Coupling::new(vec![(1.0, gauge)], 0.0);
            self.push_coupling(format!("{name}: {what}"), Arc::new(row), None, false);
        }
        Ok(())
    }

    /// The product of a direction that the first end of a joint carries and one that the second carries, both given in the world at the start.
    ///
    /// # Errors
    /// An unknown joint, directions that are not unit vectors.
    pub fn product(
        &self,
        joint: JointId,
        directions: [[f64; 3]; 2],
    ) -> Result<Gauge, MechanismError> {
        let found = self.known_joint(joint)?;
        let mut arms = Vec::with_capacity(2);
        for (end, direction) in found.ends.into_iter().zip(directions) {
            let n = unit(&found.name, direction)?;
            arms.push(self.carried(&found.name, end, n)?);
        }
        Ok(Gauge::product(&arms[0], &arms[1]))
    }

    /// Keeps a freedom between two bounds, of which either may be infinite.
    ///
    /// # Errors
    /// An unknown joint, bounds the wrong way round, a start outside them.
    pub fn add_limits(
        &mut self,
        joint: JointId,
        freedom: usize,
        gauge: &Gauge,
        [lower, upper]: [f64; 2],
    ) -> Result<(), MechanismError> {
        let found = self.known_joint(joint)?;
        let name = found.name.clone();
        if lower.is_nan() || upper.is_nan() || lower >= upper {
            return Err(MechanismError::Limits { joint: name, lower, upper });
        }
        let now = gauge.value(&self.start_position(), 0.0);
        if now < lower || now > upper {
            return Err(MechanismError::OutsideLimits { joint: name, value: now, lower, upper });
        }
        let freedoms = found.kind.freedoms();
        for (what, sign, bound) in [("lower", 1.0, lower), ("upper", -1.0, upper)] {
            if bound.is_finite() {
                let row = Coupling::new(vec![(sign, gauge.clone())], sign * bound);
                let name = numbered(&name, what, freedom, freedoms);
                self.limits.push(NamedField(name, Arc::new(row)));
            }
        }
        Ok(())
    }

    /// The inequalities of the mechanism, with their names: limits of joints, ropes and gaps by formula.
    pub fn limits(&self) -> impl Iterator<Item = (&str, Arc<dyn Field>)> {
        self.limits.iter().map(|NamedField(name, row)| (name.as_str(), Arc::clone(row)))
    }

    /// Whether there are equalities besides those of the bodies and of the lower pairs.
    pub fn has_couplings(&self) -> bool {
        !self.couplings.is_empty()
    }

    fn push_coupling(
        &mut self,
        name: String,
        row: Arc<dyn Field>,
        joint: Option<JointId>,
        motor: bool,
    ) {
        self.couplings.push(PlacedCoupling { row: NamedField(name, row), joint, motor });
    }

    /// A unit vector with two across it, as an end carries them.
    fn frame(&self, name: &str, end: End, axis: [f64; 3]) -> Result<[Arm; 3], MechanismError> {
        let triad = super::joint::triad(axis.into());
        let mut arms = Vec::with_capacity(3);
        for direction in triad {
            arms.push(self.carried(name, end, direction.into())?);
        }
        let [n, a, b] = <[Arm; 3]>::try_from(arms).unwrap_or_else(|_| unreachable!());
        Ok([n, a, b])
    }

    /// A direction of the world at the start, as an end carries it.
    pub(super) fn carried(&self, name: &str, end: End, n: [f64; 3]) -> Result<Arm, MechanismError> {
        Ok(match end {
            End::Ground => Arm::fixed(n),
            End::Node(id) => {
                let node = self.with_directors(name, id)?;
                Arm::direction(node.start, node.pose.resolve(n))
            }
        })
    }
}

/// `knee: motor`, or `slide: motor 2` where there are several freedoms.
fn numbered(name: &str, what: &str, freedom: usize, freedoms: usize) -> String {
    if freedoms == 1 {
        format!("{name}: {what}")
    } else {
        format!("{name}: {what} {}", freedom + 1)
    }
}

pub(super) fn unit(name: &str, axis: [f64; 3]) -> Result<[f64; 3], MechanismError> {
    finite("the axis", name, &axis)?;
    let length = nsm_geom::Vec3::from(axis).norm();
    if (length - 1.0).abs() > 1e-8 {
        return Err(MechanismError::Axis { joint: name.to_owned(), length });
    }
    Ok(axis.map(|x| x / length))
}
