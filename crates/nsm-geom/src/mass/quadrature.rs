//! Moments by quadrature over the sphere of directions.
//!
//! A convex body seen from an inner point $p$ is $\lbrace p + sd : 0\le s\le r(d)\rbrace$, so that
//! $$ \int 1 = \int_{S^2}\tfrac{r^3}{3}, \qquad \int\rho = \int_{S^2}\tfrac{r^4}{4}d, \qquad
//!    \int\rho\rho^\top = \int_{S^2}\tfrac{r^5}{5}dd^\top $$
//! about $p$. The sphere is projected on the six sides of a cube and integrated line by line. On a line the
//! radial function is smooth but for kinks where the ray changes from one piece of the surface to another;
//! these are located by bisection and Gauss' rule is applied between them. Across the lines the integral is
//! smooth but for isolated places, which adaptive bisection closes in on.
//! A union is summed by inclusion and exclusion, only its overlaps being integrated.
//! Everything is visited in a fixed order: the result has the same bits every time.

use super::Moments;
use crate::{GeomError, Pose, Shape, Vec3};

/// Gauss' rule with ten points: positive half of the nodes, and their weights.
const NODES: [f64; 5] = [
    0.148_874_338_981_631_22,
    0.433_395_394_129_247_2,
    0.679_409_568_299_024_4,
    0.865_063_366_688_984_5,
    0.973_906_528_517_171_7,
];
const WEIGHTS: [f64; 5] = [
    0.295_524_224_714_752_87,
    0.269_266_719_309_996_35,
    0.219_086_362_515_982_04,
    0.149_451_349_150_580_6,
    0.066_671_344_308_688_14,
];
/// Places on each line at which the piece of the surface is looked up; a piece that shows nowhere on them is
/// missed.
const SAMPLES: u32 = 16;
const MAX_DEPTH: u32 = 40;

/// Moments of a convex body seen from its inner point `p`; the volume to about `tolerance` (absolute), the
/// higher moments in proportion to the body's size.
pub(super) fn convex(body: &Shape, p: &Vec3, tolerance: f64) -> Moments {
    let mut sum = Moments::ZERO;
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let side =
                Side { body, p, axis, sign, size: size_from(body, p), tolerance: tolerance / 12.0 };
            for k in 0..4 {
                let low = -1.0 + 0.5 * f64::from(k);
                sum.add(1.0, &side.across(low, low + 0.5));
            }
        }
    }
    sum.placed(&Pose::translation(*p))
}

/// Moments of a union of convex parts: $\sum_i - \sum_{i<j} + \dots$, subsets without common interior pruned.
pub(super) fn union(parts: &[Shape], tolerance: f64) -> Result<Moments, GeomError> {
    let mut sum = Moments::ZERO;
    for (i, part) in parts.iter().enumerate() {
        let alone = Moments::of(part, tolerance)?;
        sum.add(1.0, &alone);
        overlaps(parts, i + 1, &mut vec![part.clone()], tolerance * alone.volume, &mut sum)?;
    }
    Ok(sum)
}

fn overlaps(
    parts: &[Shape],
    next: usize,
    chosen: &mut Vec<Shape>,
    tolerance: f64,
    sum: &mut Moments,
) -> Result<(), GeomError> {
    for i in next..parts.len() {
        chosen.push(parts[i].clone());
        match Shape::intersection(chosen.clone()) {
            Ok(common) => {
                let sign = if chosen.len().is_multiple_of(2) { -1.0 } else { 1.0 };
                let moments = match &common {
                    Shape::Intersection(s) => convex(&common, s.inner_point(), tolerance),
                    exact => Moments::of(exact, tolerance)?,
                };
                sum.add(sign, &moments);
                overlaps(parts, i + 1, chosen, tolerance, sum)?;
            }
            Err(GeomError::EmptyIntersection { .. }) => {}
            Err(error) => return Err(error),
        }
        chosen.pop();
    }
    Ok(())
}

/// One side of the cube of directions: `sign` along `axis`, offsets $s, t \in [-1, 1]$ along the other two.
struct Side<'a> {
    body: &'a Shape,
    p: &'a Vec3,
    axis: usize,
    sign: f64,
    size: f64,
    tolerance: f64,
}

impl Side<'_> {
    /// Lines at $s$ between `low` and `high`, adaptively.
    fn across(&self, low: f64, high: f64) -> Moments {
        let line = |s: f64| self.line(s);
        adaptive(&line, low, high, &|m| self.error(m), self.tolerance)
    }

    /// The line at $s$: pieces between kinks.
    fn line(&self, s: f64) -> Moments {
        let mut sum = Moments::ZERO;
        let step = 2.0 / f64::from(SAMPLES);
        let (mut start, mut piece) = (-1.0, self.piece(s, -1.0));
        for k in 0..SAMPLES {
            let (a, b) = (-1.0 + step * f64::from(k), -1.0 + step * f64::from(k + 1));
            self.kinks(s, (a, piece), (b, self.piece(s, b)), &mut |t, next| {
                sum.add(1.0, &self.smooth(s, start, t));
                (start, piece) = (t, next);
            });
        }
        sum.add(1.0, &self.smooth(s, start, 1.0));
        sum
    }

    /// Reports each place between two samples at which the piece changes, with the piece beyond it.
    fn kinks(
        &self,
        s: f64,
        (mut a, from): (f64, usize),
        (mut b, to): (f64, usize),
        report: &mut dyn FnMut(f64, usize),
    ) {
        if from == to {
            return;
        }
        while b - a > 4.0 * f64::EPSILON {
            let mid = 0.5 * (a + b);
            let between = self.piece(s, mid);
            if between == from {
                a = mid;
            } else if between == to {
                b = mid;
            } else {
                self.kinks(s, (a, from), (mid, between), report);
                self.kinks(s, (mid, between), (b, to), report);
                return;
            }
        }
        report(b, to);
    }

    /// A stretch of a line without kinks; tighter than across, since its errors are not seen there.
    fn smooth(&self, s: f64, low: f64, high: f64) -> Moments {
        let point = |t: f64| self.integrand(s, t);
        adaptive(&point, low, high, &|m| self.error(m), 0.01 * self.tolerance)
    }

    fn integrand(&self, s: f64, t: f64) -> Moments {
        let (d, length) = self.direction(s, t);
        let r = self.body.exit(self.p, &d).length;
        let r3 = r * r * r / (length * length * length);
        let first = d * (0.25 * r3 * r);
        Moments { volume: r3 / 3.0, first, second: first * d.transpose() * (0.8 * r) }
    }

    fn piece(&self, s: f64, t: f64) -> usize {
        self.body.exit(self.p, &self.direction(s, t).0).piece
    }

    fn direction(&self, s: f64, t: f64) -> (Vec3, f64) {
        let mut d = Vec3::zeros();
        d[self.axis] = self.sign;
        d[(self.axis + 1) % 3] = s;
        d[(self.axis + 2) % 3] = t;
        let length = d.norm();
        (d / length, length)
    }

    fn error(&self, m: &Moments) -> f64 {
        m.volume
            .abs()
            .max(m.first.amax() / self.size)
            .max(m.second.amax() / (self.size * self.size))
    }
}

/// Bisection until two halves agree with the whole. An interval may err in proportion to its length, or by a
/// two-hundredth of the whole tolerance, which is what lets isolated singularities end.
fn adaptive(
    f: &dyn Fn(f64) -> Moments,
    low: f64,
    high: f64,
    error: &dyn Fn(&Moments) -> f64,
    tolerance: f64,
) -> Moments {
    let whole = gauss(f, low, high);
    let rule = Adaptive { f, error, tolerance };
    let mut sum = Moments::ZERO;
    rule.refine(low, high, &whole, 0, &mut sum);
    sum
}

struct Adaptive<'a> {
    f: &'a dyn Fn(f64) -> Moments,
    error: &'a dyn Fn(&Moments) -> f64,
    tolerance: f64,
}

impl Adaptive<'_> {
    fn refine(&self, low: f64, high: f64, whole: &Moments, depth: u32, sum: &mut Moments) {
        let mid = 0.5 * (low + high);
        let (left, right) = (gauss(self.f, low, mid), gauss(self.f, mid, high));
        let mut difference = *whole;
        difference.add(-1.0, &left);
        difference.add(-1.0, &right);
        let allowed = self.tolerance * (high - low).max(0.005);
        if (self.error)(&difference) <= allowed || depth >= MAX_DEPTH {
            sum.add(1.0, &left);
            sum.add(1.0, &right);
        } else {
            self.refine(low, mid, &left, depth + 1, sum);
            self.refine(mid, high, &right, depth + 1, sum);
        }
    }
}

fn gauss(f: &dyn Fn(f64) -> Moments, low: f64, high: f64) -> Moments {
    let (mid, half) = (0.5 * (low + high), 0.5 * (high - low));
    let mut sum = Moments::ZERO;
    for (node, weight) in NODES.into_iter().zip(WEIGHTS) {
        sum.add(half * weight, &f(mid - half * node));
        sum.add(half * weight, &f(mid + half * node));
    }
    sum
}

/// Largest distance from `p` to the surface along the coordinate axes.
fn size_from(body: &Shape, p: &Vec3) -> f64 {
    (0..3)
        .flat_map(|i| [Vec3::ith(i, 1.0), Vec3::ith(i, -1.0)])
        .map(|d| body.exit(p, &d).length)
        .fold(0.0, f64::max)
}
