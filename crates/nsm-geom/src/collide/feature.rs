//! What touches, and its gap at any pose.
//!
//! | feature | gap | normal |
//! |---|---|---|
//! | point $s$ of $B$, face $(n_0, c_0)$ of $A$ | $R_An_0\cdot(x_B + R_Bs - x_A) - c_0 - r$ | $R_An_0$ |
//! | edges | $n\cdot(P_B - P_A)$ | $\pm e_A\times e_B/\lvert e_A\times e_B\rvert$ |
//! | point and segment, two points | distance less radii | from $A$ to $B$ |
//! | rim and segment | the same, of the point of the rim towards the segment | from $A$ to $B$ |
//! | round parts | the gap of the parts | common normal |
//! | round part or rim, face | support of the part | that of the face |
//!
//! A plane is a face of the world, which stands still at the identity.

use super::Collider;
use crate::{Pose, Vec3, distance::convex_gap};

/// One of the two bodies of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// What touches, in the frames of the two bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Feature {
    /// A point of one body with a ball about it, and a face plane of the other.
    PointFace {
        /// Whose point it is.
        owner: Side,
        /// The point, in its owner's frame.
        point: Vec3,
        /// Radius of the ball about the point.
        radius: f64,
        /// Outward normal of the face, in the frame of its body.
        normal: Vec3,
        /// Its offset, rounding of its body included.
        offset: f64,
    },
    /// Two edges that cross.
    Edges {
        /// A point and the direction of the edge of the first body.
        a: [Vec3; 2],
        /// Those of the second.
        b: [Vec3; 2],
        /// Sign of $e_A \times e_B$ that points out of the first body.
        sign: f64,
    },
    /// A point of one body with a ball about it, and a segment of the other with one.
    PointSegment {
        /// Whose point it is.
        owner: Side,
        /// The point, in its owner's frame.
        point: Vec3,
        /// Ends of the segment.
        segment: [Vec3; 2],
        /// Radius about the point, and about the segment.
        radii: [f64; 2],
    },
    /// A rim of one body and a segment of the other: two cylinders side by side.
    RimSegment {
        /// Whose rim it is.
        owner: Side,
        /// Centre of the rim, in the frame of its body.
        centre: Vec3,
        /// Its axis.
        axis: Vec3,
        /// Radius of the rim.
        rim: f64,
        /// Ends of the segment.
        segment: [Vec3; 2],
        /// Rounding of the rim, and radius about the segment.
        radii: [f64; 2],
    },
    /// Two balls.
    Balls {
        /// Centres.
        centres: [Vec3; 2],
        /// Radii.
        radii: [f64; 2],
    },
    /// Two convex parts by their common normal.
    Parts {
        /// Index of the part of each body.
        parts: [u32; 2],
        /// The normal where it was found.
        normal: Vec3,
    },
    /// A round part of one body over a face plane of the other.
    Round {
        /// Whose part it is.
        owner: Side,
        /// Index of the part.
        part: u32,
        /// Outward normal of the face, in the frame of its body.
        normal: Vec3,
        /// Its offset, rounding of its body included.
        offset: f64,
    },
    /// A rim of one body over a face plane of the other.
    Rim {
        /// Whose rim it is.
        owner: Side,
        /// Centre of the rim, in the frame of its body.
        centre: Vec3,
        /// Its axis.
        axis: Vec3,
        /// Radius of the rim, and rounding.
        radii: [f64; 2],
        /// Outward normal of the face, in the frame of its body.
        normal: Vec3,
        /// Its offset, rounding of its body included.
        offset: f64,
    },
}

/// A feature at two poses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Positive when apart.
    pub gap: f64,
    /// Unit vector from the first body to the second.
    pub normal: Vec3,
    /// The point of the first body; that of the second is `a + gap * normal`.
    pub a: Vec3,
}

impl Touch {
    /// The point of the second body.
    pub fn b(&self) -> Vec3 {
        self.a + self.gap * self.normal
    }

    fn between(a: Vec3, b: Vec3, radii: [f64; 2], otherwise: &Vec3) -> Self {
        let r = b - a;
        let d = r.norm();
        let normal = if d > 0.0 { r / d } else { *otherwise };
        Self { gap: d - radii[0] - radii[1], normal, a: a + radii[0] * normal }
    }

    /// The point `z` of its owner, with a ball about it, over a face with this normal.
    fn over(owner: Side, z: Vec3, radius: f64, normal: Vec3, gap: f64) -> Self {
        match owner {
            Side::B => Self { gap, normal, a: z - (radius + gap) * normal },
            Side::A => Self { gap, normal: -normal, a: z - radius * normal },
        }
    }

    /// The point `z` of its owner beside a segment of the other body, each with a radius.
    fn beside(owner: Side, z: Vec3, segment: [Vec3; 2], radii: [f64; 2]) -> Self {
        let touch = Self::between(nearest(&segment, &z), z, [radii[1], radii[0]], &Vec3::z());
        if owner == Side::B { touch } else { touch.reversed() }
    }

    fn reversed(self) -> Self {
        Self { gap: self.gap, normal: -self.normal, a: self.b() }
    }
}

/// The point of a segment that is nearest to `z`.
pub(super) fn nearest([e, f]: &[Vec3; 2], z: &Vec3) -> Vec3 {
    let along = f - e;
    let t = (along.dot(&(z - e)) / along.norm_squared()).clamp(0.0, 1.0);
    e + t * along
}

/// The point of a rim towards a segment.
pub(super) fn towards(segment: &[Vec3; 2], centre: &Vec3, axis: &Vec3, rim: f64) -> Vec3 {
    let way = nearest(segment, centre) - centre;
    let across = way - axis * axis.dot(&way);
    let length = across.norm();
    if length > 0.0 { centre + across * (rim / length) } else { *centre }
}

/// The pose of the owner, that of the face, and the owner's shape.
fn owned<'a>(
    owner: Side,
    [p, q]: [&'a Pose; 2],
    a: Option<&'a Collider>,
    b: &'a Collider,
) -> Option<(&'a Pose, &'a Pose, &'a Collider)> {
    Some(match owner {
        Side::A => (p, q, a?),
        Side::B => (q, p, b),
    })
}

impl Feature {
    /// The feature at these poses; `None` if the normal of two round parts is not found.
    pub fn at(&self, a: Option<&Collider>, b: &Collider, poses: [&Pose; 2]) -> Option<Touch> {
        let [p, q] = poses;
        Some(match self {
            Self::PointFace { owner, point, radius, normal, offset } => {
                let (own, face) = if *owner == Side::B { (q, p) } else { (p, q) };
                let n = face.rot * normal;
                let z = own.act(point);
                let gap = n.dot(&(z - face.x)) - offset - radius;
                Touch::over(*owner, z, *radius, n, gap)
            }
            Self::Edges { a, b, sign } => {
                let (u, v) = (p.rot * a[1], q.rot * b[1]);
                let cross = u.cross(&v);
                let square = cross.norm_squared();
                if square == 0.0 {
                    return None;
                }
                let n = cross * (sign / square.sqrt());
                let between = q.act(&b[0]) - p.act(&a[0]);
                let along = between.cross(&v).dot(&cross) / square;
                Touch { gap: n.dot(&between), normal: n, a: p.act(&a[0]) + along * u }
            }
            Self::PointSegment { owner, point, segment, radii } => {
                let (at, of) = if *owner == Side::B { (q, p) } else { (p, q) };
                let segment = segment.map(|s| of.act(&s));
                Touch::beside(*owner, at.act(point), segment, *radii)
            }
            Self::RimSegment { owner, centre, axis, rim, segment, radii } => {
                let (at, of) = if *owner == Side::B { (q, p) } else { (p, q) };
                let segment = segment.map(|s| of.act(&s));
                let z = towards(&segment, &at.act(centre), &(at.rot * axis), *rim);
                Touch::beside(*owner, z, segment, *radii)
            }
            Self::Balls { centres, radii } => {
                Touch::between(p.act(&centres[0]), q.act(&centres[1]), *radii, &Vec3::z())
            }
            Self::Parts { parts, normal } => {
                let first = a?.parts.get(parts[0] as usize)?.at(p, &p.x);
                let second = b.parts.get(parts[1] as usize)?.at(q, &p.x);
                let found = convex_gap(&first, &second, Some(normal)).ok()?;
                Touch { gap: found.gap, normal: found.normal, a: found.point_a + p.x }
            }
            Self::Round { owner, part, normal, offset } => {
                let (own, face, body) = owned(*owner, poses, a, b)?;
                let n = face.rot * normal;
                let part = body.parts.get(*part as usize)?;
                let z = own.act(&part.support(&-own.rot.tr_mul(&n)));
                Touch::over(*owner, z, 0.0, n, n.dot(&(z - face.x)) - offset)
            }
            Self::Rim { owner, centre, axis, radii, normal, offset } => {
                let (own, face, _) = owned(*owner, poses, a, b)?;
                let n = face.rot * normal;
                let along = own.rot * axis;
                let across = n - along * along.dot(&n);
                let length = across.norm();
                let outward = if length > 0.0 { across / length } else { Vec3::zeros() };
                let z = own.act(centre) - radii[0] * outward - radii[1] * n;
                Touch::over(*owner, z, 0.0, n, n.dot(&(z - face.x)) - offset)
            }
        })
    }

    /// Whether its points stay with the bodies: then only its pose changes from step to step.
    pub fn is_material(&self) -> bool {
        matches!(self, Self::PointFace { .. } | Self::Edges { .. })
    }

    /// The material point that a later detection may have moved along its edge.
    pub fn point(&self) -> Option<&Vec3> {
        match self {
            Self::PointFace { point, .. } => Some(point),
            _ => None,
        }
    }
}
