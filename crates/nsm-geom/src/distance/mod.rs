//! Signed gap between two bodies, with contact normal, witness points and derivatives.
//!
//! For convex bodies $A$, $B$ with support functions $h$ in the inertial frame,
//! $$ \mathrm{gap} = \max_{|n|=1} f(n), \qquad f(n) = -h_A(n) - h_B(-n), $$
//! positive: the distance; negative: the shortest translation that separates them. $n$ points from $A$ to $B$,
//! and the witness points satisfy $b - a = \mathrm{gap}\\,n$. With $\rho$ the witness points in the body frames,
//! $$ \dot{\mathrm{gap}} = n\cdot(\dot x_B - \dot x_A) + \chi_A\cdot\Omega_A + \chi_B\cdot\Omega_B, \qquad
//!    \chi_A = -\rho_A\times R_A^\top n, \quad \chi_B = \rho_B\times R_B^\top n. $$
//!
//! Balls, capsules and rounded shapes are a core with a radius, so that contacts shallower than the radii are
//! solved as distances between cores. A ball against anything uses the signed distance function, ellipsoids
//! that are apart Newton's method for the normal alone. Otherwise
//! GJK [Gilbert, Johnson & Keerthi 1988] finds the closest points of the cores or, if they overlap, an
//! expanding polytope finds the nearest face of $A - B$; both end in finitely many steps for polyhedral
//! cores. For curved cores Newton's method on the sphere of normals then sharpens $n$ to round-off, keeping it
//! orthogonal to the edges and faces in contact; its result is taken only if it raises $f$, which no wrong
//! normal can. A union's gap is the least over its parts.

pub(crate) mod core;
mod epa;
mod gjk;
mod normal;

use self::core::Core;
use crate::{GeomError, Pose, Shape, Vec3};

/// The gap between two bodies, in the inertial frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyGap {
    /// Signed gap: positive when apart, negative in penetration.
    pub gap: f64,
    /// Unit normal $n$ from the first body to the second.
    pub normal: Vec3,
    /// Witness point on the first body.
    pub point_a: Vec3,
    /// Witness point on the second body, `point_a + gap * normal`.
    pub point_b: Vec3,
}

/// Derivatives of a gap by the motion of both bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapGradient {
    /// $\partial\\,\mathrm{gap}/\partial x_B = n = -\partial\\,\mathrm{gap}/\partial x_A$.
    pub normal: Vec3,
    /// Derivative by a rotation of the first body in its frame.
    pub chi_a: Vec3,
    /// Derivative by a rotation of the second body in its frame.
    pub chi_b: Vec3,
}

impl BodyGap {
    /// Derivatives for bodies at the poses for which the gap was computed.
    pub fn gradient(&self, pose_a: &Pose, pose_b: &Pose) -> GapGradient {
        let chi = |pose: &Pose, point: &Vec3| {
            pose.act_inverse(point).cross(&pose.rot.tr_mul(&self.normal))
        };
        GapGradient {
            normal: self.normal,
            chi_a: -chi(pose_a, &self.point_a),
            chi_b: chi(pose_b, &self.point_b),
        }
    }
}

/// The gap between `a` at `pose_a` and `b` at `pose_b`.
///
/// # Errors
/// [`GeomError::NotFinite`] if a pose is; [`GeomError::NotConverged`] if the search for the normal fails,
/// which no tested configuration does.
pub fn body_gap(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Result<BodyGap, GeomError> {
    gap_of_parts(a, pose_a, b, pose_b, None)
}

/// As [`body_gap`], starting from a normal that was right a moment ago.
///
/// For ellipsoids, rounded or not, that saves the search: Newton's method follows the normal from `hint`, in
/// penetration too, where it finds the local maximum of $f$ nearest to it rather than look for a better one
/// elsewhere. Other shapes ignore the hint.
///
/// # Errors
/// As for [`body_gap`].
pub fn body_gap_near(
    hint: &Vec3,
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
) -> Result<BodyGap, GeomError> {
    gap_of_parts(a, pose_a, b, pose_b, Some(hint))
}

fn gap_of_parts(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    hint: Option<&Vec3>,
) -> Result<BodyGap, GeomError> {
    let finite = |p: &Pose| p.x.iter().chain(p.rot.iter()).all(|c| c.is_finite());
    if !(finite(pose_a) && finite(pose_b)) {
        return Err(GeomError::NotFinite { what: "pose" });
    }
    if let (Shape::Sphere(s), Shape::Sphere(t)) = (a, b)
        && let Some(gap) = ball_gap(&pose_a.x, s.radius(), &pose_b.x, t.radius())
    {
        return Ok(gap);
    }
    // Relative to the first body nothing is lost to a far-away origin.
    let shift = pose_a.x;
    let near_a = Pose { x: Vec3::zeros(), ..*pose_a };
    let near_b = Pose { x: pose_b.x - shift, ..*pose_b };
    let mut least: Option<BodyGap> = None;
    let mut failure = None;
    core::each_convex_part(a, &near_a, &mut |part_a| {
        core::each_convex_part(
            b,
            &near_b,
            &mut |part_b| match convex_gap(&part_a, &part_b, hint) {
                Ok(found) if least.is_none_or(|l| found.gap < l.gap) => least = Some(found),
                Ok(_) => {}
                Err(error) => failure = Some(error),
            },
        );
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let found = least.ok_or(GeomError::NoParts { what: "union" })?;
    Ok(BodyGap { point_a: found.point_a + shift, point_b: found.point_b + shift, ..found })
}

/// $f(n)$: how far apart the bodies are along a unit vector, a lower bound for the gap.
///
/// A positive value proves separation at the cost of two support queries. Unions count as their hulls.
pub fn separation_along(n: &Vec3, a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    let h_a = a.support_value(&pose_a.rot.tr_mul(n));
    let h_b = b.support_value(&-pose_b.rot.tr_mul(n));
    n.dot(&(pose_b.x - pose_a.x)) - h_a - h_b
}

/// Two balls; `None` if they are concentric and any normal would do.
fn ball_gap(a: &Vec3, radius_a: f64, b: &Vec3, radius_b: f64) -> Option<BodyGap> {
    let between = b - a;
    let distance = between.norm();
    if distance == 0.0 {
        return None;
    }
    let normal = between / distance;
    let (point_a, point_b) = (a + radius_a * normal, b - radius_b * normal);
    Some(BodyGap { gap: distance - radius_a - radius_b, normal, point_a, point_b })
}

pub(crate) fn convex_gap(a: &Core, b: &Core, hint: Option<&Vec3>) -> Result<BodyGap, GeomError> {
    let contact = if let Some(c) = smooth_contact(a, b, hint) {
        c
    } else if let Some(c) = ball_contact(a, b) {
        c
    } else if let Some(c) = ball_contact(b, a) {
        c.reversed()
    } else {
        match gjk::closest(a, b) {
            Ok(apart) => apart,
            Err(gjk::Overlap) => epa::deepest(a, b)?,
        }
    };
    // Closest points of polyhedra are exact, but the direction between points that nearly coincide is not.
    let delicate = contact.gap.abs() < 1e-3 * (contact.a.norm() + contact.b.norm());
    let sharp = if a.is_curved() || b.is_curved() || delicate {
        normal::sharpen(a, b, &contact)
    } else {
        contact
    };
    Ok(BodyGap {
        gap: sharp.gap - a.radius - b.radius,
        normal: sharp.normal,
        point_a: sharp.a + a.radius * sharp.normal,
        point_b: sharp.b - b.radius * sharp.normal,
    })
}

/// Gap, normal and closest points of two cores, with the support points that span the contact.
#[derive(Debug, Clone, Copy)]
struct CoreContact {
    gap: f64,
    normal: Vec3,
    a: Vec3,
    b: Vec3,
    /// Support pairs of $A$ and $B$ whose hulls hold the closest points.
    pairs: [(Vec3, Vec3); 3],
    count: usize,
    /// Found by a closed form, nothing to sharpen.
    exact: bool,
}

impl CoreContact {
    fn reversed(self) -> Self {
        Self {
            normal: -self.normal,
            a: self.b,
            b: self.a,
            pairs: self.pairs.map(|(a, b)| (b, a)),
            ..self
        }
    }
}

/// Two ellipsoids: the normal by Newton's method, from the hint or the line of centres.
fn smooth_contact(a: &Core, b: &Core, hint: Option<&Vec3>) -> Option<CoreContact> {
    if !(a.is_ellipsoid() && b.is_ellipsoid()) {
        return None;
    }
    let followed =
        hint.and_then(|n| n.try_normalize(0.0)).and_then(|n| normal::climb(a, b, &n, true));
    followed.or_else(|| {
        let between = (b.pose.x - a.pose.x).try_normalize(0.0)?;
        normal::climb(a, b, &between, false)
    })
}

/// A point core against a core whose signed distance is known; `None` where that has no gradient.
fn ball_contact(a: &Core, b: &Core) -> Option<CoreContact> {
    if !a.is_point() {
        return None;
    }
    let psi = b.signed_distance(&a.pose.x)?;
    let normal = -psi.gradient?;
    let point = a.pose.x + psi.value * normal;
    let pairs = [(a.pose.x, point); 3];
    Some(CoreContact {
        gap: psi.value,
        normal,
        a: a.pose.x,
        b: point,
        pairs,
        count: 1,
        exact: true,
    })
}
