//! Nodes: where they are, what they weigh, and their internal constraints.

use nsm_geom::{Mat3, Vec3, so3};

use super::MechanismError;
use super::form::{direction, product};
use crate::{ConstraintError, Quadratic, Rows};

/// A node or a particle of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) usize);

impl NodeId {
    /// Its number, in the order in which nodes and particles were added.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Where a node is: its point $\varphi$ and its directors $d_1, d_2, d_3$, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// $\varphi$.
    pub position: [f64; 3],
    /// $d_1, d_2, d_3$: orthonormal, right- or left-handed.
    pub directors: [[f64; 3]; 3],
}

impl Pose {
    /// At a point, with directors along the axes of the world.
    pub fn at(position: [f64; 3]) -> Self {
        Self::turned(position, [0.0; 3])
    }

    /// At a point, turned out of the axes of the world by a rotation vector.
    pub fn turned(position: [f64; 3], rotation: [f64; 3]) -> Self {
        let turn = so3::exp(&Vec3::from(rotation));
        Self { position, directors: std::array::from_fn(|i| turn.column(i).into_owned().into()) }
    }

    /// Components $X_I = (x - \varphi) \cdot d_I$ of a point of the world.
    pub fn components(&self, point: [f64; 3]) -> [f64; 3] {
        self.resolve((Vec3::from(point) - Vec3::from(self.position)).into())
    }

    /// Components $N_I = n \cdot d_I$ of a direction of the world.
    pub fn resolve(&self, direction: [f64; 3]) -> [f64; 3] {
        self.directors.map(|d| Vec3::from(d).dot(&Vec3::from(direction)))
    }

    /// Directors orthonormal to round-off, if they are to 1e-8.
    pub(super) fn checked(self, node: &str) -> Result<Self, MechanismError> {
        let not_finite = |&value: &f64| {
            let (what, name) = ("the pose", node.to_owned());
            Err(MechanismError::NotFinite { what, name, value })
        };
        if let Some(value) = self.position.iter().find(|x| !x.is_finite()) {
            return not_finite(value);
        }
        let mut d = Mat3::from_columns(&self.directors.map(Vec3::from));
        let defect = (d.tr_mul(&d) - Mat3::identity()).amax();
        if defect.is_nan() || defect > 1e-8 {
            return Err(MechanismError::Directors { node: node.to_owned(), defect });
        }
        // Newton's iteration for the orthogonal polar factor, quadratic from here.
        for _ in 0..2 {
            d *= (Mat3::identity() * 3.0 - d.tr_mul(&d)) * 0.5;
        }
        let directors = std::array::from_fn(|i| d.column(i).into_owned().into());
        Ok(Self { position: self.position, directors })
    }
}

/// Mass of a rigid body and how it is distributed about the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// Total mass $m$.
    pub mass: f64,
    /// Euler tensor $E = \int \rho\rho^\top dm$ about the centre of mass, in the director frame.
    pub euler: [[f64; 3]; 3],
}

/// Share of half the trace of an inertia tensor below which what is left of it in a direction is rounding.
const FLAT: f64 = 1e-10;

impl Inertia {
    /// From the principal values $E_1, E_2, E_3$ of the Euler tensor, directors along the principal axes.
    pub fn principal(mass: f64, euler: [f64; 3]) -> Self {
        let mut tensor = [[0.0; 3]; 3];
        for i in 0..3 {
            tensor[i][i] = euler[i];
        }
        Self { mass, euler: tensor }
    }

    /// From the inertia tensor $J$ about the centre of mass, $E = \tfrac12 \operatorname{tr}(J) - J$ (\[LMO\] (57)). A direction across which a body is flat to
    /// rounding has none.
    pub fn from_tensor(mass: f64, inertia: [[f64; 3]; 3]) -> Self {
        let half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2]);
        let mut euler = inertia.map(|row| row.map(|x| -x));
        for i in 0..3 {
            euler[i][i] += half;
            let others = [euler[i][(i + 1) % 3], euler[i][(i + 2) % 3]];
            if euler[i][i].abs() <= FLAT * half && others == [0.0; 2] {
                euler[i][i] = 0.0;
            }
        }
        Self { mass, euler }
    }

    /// A uniform cuboid with its edges along the directors, $E_I = m a_I^2/12$.
    pub fn cuboid(mass: f64, edges: [f64; 3]) -> Self {
        Self::principal(mass, edges.map(|a| mass * a * a / 12.0))
    }

    pub(super) fn check(&self, node: &str) -> Result<(), MechanismError> {
        check_mass(node, self.mass)?;
        let e = Mat3::from(self.euler);
        let named = |what, value| MechanismError::Euler { node: node.to_owned(), what, value };
        if let Some(&value) = e.iter().find(|x| !x.is_finite()) {
            return Err(named("an entry", value));
        }
        let largest = e.amax();
        let skew = (e - e.transpose()).amax();
        if skew > 1e-10 * largest {
            return Err(named("the difference of two opposite entries", skew));
        }
        let smallest = e.symmetric_eigenvalues().min();
        if smallest < -1e-10 * largest {
            return Err(named("its smallest eigenvalue", smallest));
        }
        Ok(())
    }
}

/// A mass must be finite and not negative.
pub(super) fn check_mass(node: &str, mass: f64) -> Result<(), MechanismError> {
    if mass >= 0.0 && mass.is_finite() {
        Ok(())
    } else {
        Err(MechanismError::Mass { node: node.to_owned(), mass })
    }
}

/// A node with its place in the coordinate vector.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) pose: Pose,
    /// Particles have none.
    pub(super) directors: bool,
    /// Velocity of $\varphi$ and angular velocity that were set.
    pub(super) velocity: Option<[[f64; 3]; 2]>,
    /// Whether it stands still, whatever acts on it.
    pub(super) stands: bool,
}

impl Node {
    /// Number of coordinates.
    pub(super) fn size(&self) -> usize {
        if self.directors { 12 } else { 3 }
    }

    pub(super) fn coordinates(&self) -> Vec<f64> {
        let Pose { position, directors } = self.pose;
        position.into_iter().chain(directors.into_iter().flatten()).take(self.size()).collect()
    }

    pub(super) fn coordinate_names(&self) -> impl Iterator<Item = String> + '_ {
        let prefixes = ["", "d1", "d2", "d3"];
        let all = prefixes.into_iter().flat_map(|p| ["x", "y", "z"].map(|k| format!("{p}{k}")));
        all.take(self.size()).map(|k| format!("{}.{k}", self.name))
    }

    /// The six rows that keep the directors orthonormal (\[LMO\] (56), complete).
    pub(super) fn push_rows(&self, rows: &mut Rows) -> Result<(), ConstraintError> {
        if !self.directors {
            return Ok(());
        }
        let unit = |i: usize| std::array::from_fn(|k| f64::from(u8::from(k == i)));
        for i in 0..3 {
            let first = self.start + 3 + 3 * i;
            let squares: [_; 3] = std::array::from_fn(|k| (first + k, first + k, 0.5));
            rows.push(
                format!("{}: |d{}|", self.name, i + 1),
                Quadratic::new(-0.5, &[], &squares)?,
            )?;
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let row = product(&direction(self.start, unit(i)), &direction(self.start, unit(j)))?;
            rows.push(format!("{}: d{}·d{}", self.name, i + 1, j + 1), row)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_body_has_no_inertia_across_itself_in_any_unit() {
        for unit in [1.0, 1e3, 1.0 / 0.0254, 0.453_592_37 / 3600.0] {
            let moments = [0.01, 0.03, 0.02].map(|x: f64| x * unit);
            let mut tensor = [[0.0; 3]; 3];
            (0..3).for_each(|i| tensor[i][i] = moments[i]);
            let euler = Inertia::from_tensor(1.0, tensor).euler;
            assert_eq!(euler[1][1], 0.0);
            assert!((euler[0][0] / unit - 0.02).abs() < 1e-15);
        }
    }
}
