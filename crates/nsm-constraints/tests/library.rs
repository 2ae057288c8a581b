//! The library's fields, differentiated by hand, against automatic differentiation of their formulas.

use nsm_constraints::{
    Affine, AutoDiff, Central, ConstraintError, Expr, Field, LineSpring, LinearisedRows, Profile,
    Rod, Rows, Scalar, SphereGap, Spring,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The block is a point, or two points one after the other.
struct Formula<F> {
    points: usize,
    centre: [f64; 3],
    of_square: F,
}

/// $\varphi(s)$, written for any number.
#[derive(Clone, Copy)]
enum Of {
    Distance { radius: f64, side: f64 },
    Rod(f64),
    Spring { k: f64, l: f64 },
    Power { k: f64, e: f64 },
    Sextic(f64),
}

impl Expr for Formula<Of> {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let d = q.len() / self.points;
        let mut s = T::from(0.0);
        for k in 0..d {
            let x = if self.points == 2 { q[k] - q[d + k] } else { q[k] - self.centre[k] };
            s += x * x;
        }
        match self.of_square {
            Of::Distance { radius, side } => (s.sqrt() - radius) * side,
            Of::Rod(l) => (s - l * l) / (2.0 * l),
            Of::Spring { k, l } => {
                let stretch = s.sqrt() - l;
                stretch * stretch * (0.5 * k)
            }
            Of::Power { k, e } => s.powf(e) * k,
            Of::Sextic(k) => s * (s - 1.0) * (s - 1.0) * k,
        }
    }
}

/// A name, the field by hand and the same by automatic differentiation.
type Pair = (&'static str, Box<dyn Field>, Box<dyn Field>);

fn agree(name: &str, hand: &dyn Field, automatic: &dyn Field, rng: &mut Pcg64) {
    let block = hand.coordinates();
    assert_eq!(block, automatic.coordinates(), "{name}");
    let k = block.len();
    let size = block.iter().max().map_or(0, |m| m + 1);
    for _ in 0..200 {
        let q: Vec<f64> = (0..size).map(|_| rng.random_range(-2.0..2.0)).collect();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs()));
        let (a, b) = (hand.value(&q, 0.3), automatic.value(&q, 0.3));
        assert!(close(a, b), "{name}: value {a} against {b}");
        let (mut g, mut f) = (vec![0.0; k], vec![0.0; k]);
        hand.gradient(&q, 0.3, &mut g);
        automatic.gradient(&q, 0.3, &mut f);
        for (a, b) in g.iter().zip(&f) {
            assert!(close(*a, *b), "{name}: gradient {g:?} against {f:?}");
        }
        let (mut h, mut j) = (vec![1.0; k * k], vec![1.0; k * k]);
        if !hand.is_affine() {
            hand.hessian(&q, 0.3, -1.7, &mut h);
        }
        automatic.hessian(&q, 0.3, -1.7, &mut j);
        for (a, b) in h.iter().zip(&j) {
            assert!(close(*a, *b), "{name}: Hessian {h:?} against {j:?}");
        }
    }
}

#[test]
fn hand_derivatives_match_the_automatic_ones_in_all_dimensions() {
    let mut rng = Pcg64::seed_from_u64(7);
    let c = [0.3, -0.2, 0.1];
    for d in 1..=3_usize {
        let a: Vec<usize> = (0..d).map(|k| 2 * k + 1).collect();
        let b: Vec<usize> = (0..d).map(|k| 2 * k).collect();
        let both = [a.clone(), b.clone()].concat();
        let one = |of| AutoDiff::new(Formula { points: 1, centre: c, of_square: of }, &a).unwrap();
        let two =
            |of| AutoDiff::new(Formula { points: 2, centre: c, of_square: of }, &both).unwrap();
        let inside = Of::Distance { radius: 5.0, side: -1.0 };
        let outside = Of::Distance { radius: 0.5, side: 1.0 };
        let (power, sextic) = (Of::Power { k: 25.0, e: -1.0 }, Of::Sextic(1.5));
        let kepler = Of::Power { k: -2.0, e: -0.5 };
        let odd = Of::Power { k: 0.7, e: 1.75 };
        let profile = |of: Of| match of {
            Of::Power { k, e } => Profile::Power { strength: k, exponent: e },
            Of::Sextic(k) => Profile::SexticWell { strength: k },
            _ => unreachable!(),
        };
        let spring = Of::Spring { k: 3.0, l: 1.2 };
        let slack = Of::Spring { k: 3.0, l: 0.0 };
        let centre = &c[..d];
        let mut pairs: Vec<Pair> = vec![
            (
                "inside",
                Box::new(SphereGap::inside(&a, centre, 5.0).unwrap()),
                Box::new(one(inside)),
            ),
            (
                "outside",
                Box::new(SphereGap::outside(&a, centre, 0.5).unwrap()),
                Box::new(one(outside)),
            ),
            (
                "balls",
                Box::new(SphereGap::between_balls(&a, &b, 0.3, 0.2).unwrap()),
                Box::new(two(outside)),
            ),
            (
                "pivot",
                Box::new(Rod::to_pivot(&a, centre, 1.3).unwrap()),
                Box::new(one(Of::Rod(1.3))),
            ),
            ("rod", Box::new(Rod::between(&a, &b, 0.7).unwrap()), Box::new(two(Of::Rod(0.7)))),
            ("spring", Box::new(Spring::between(&a, &b, 3.0, 1.2).unwrap()), Box::new(two(spring))),
            (
                "anchor",
                Box::new(Spring::to_anchor(&a, centre, 3.0, 1.2).unwrap()),
                Box::new(one(spring)),
            ),
            (
                "slack",
                Box::new(Spring::to_anchor(&a, centre, 3.0, 0.0).unwrap()),
                Box::new(one(slack)),
            ),
        ];
        for of in [power, sextic, kepler, odd] {
            let about = Central::about(&a, centre, profile(of)).unwrap();
            let between = Central::between(&a, &b, profile(of)).unwrap();
            pairs.push(("about", Box::new(about), Box::new(one(of))));
            pairs.push(("between", Box::new(between), Box::new(two(of))));
        }
        for (name, hand, automatic) in &pairs {
            agree(name, hand, automatic, &mut rng);
        }
    }
}

struct Line {
    a: Vec<f64>,
    d: f64,
}
impl Expr for Line {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let mut sum = T::from(self.d);
        for (q, a) in q.iter().zip(&self.a) {
            sum += *q * *a;
        }
        sum
    }
}

/// $\tfrac{k}{2}(q_0 - q_1 - l)^2$.
struct Pogo;
impl Expr for Pogo {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let u = q[0] - q[1] - 5.0;
        u * u * 5.0
    }
}

#[test]
fn affine_fields_and_the_pogos_spring_match_too() {
    let mut rng = Pcg64::seed_from_u64(11);
    let line =
        |a: &[f64], d, block: &[usize]| AutoDiff::new(Line { a: a.to_vec(), d }, block).unwrap();
    let cases: Vec<Pair> = vec![
        (
            "half-space",
            Box::new(Affine::half_space(&[3, 1], &[3.0, -4.0], 10.0).unwrap()),
            Box::new(line(&[0.6, -0.8], 2.0, &[3, 1])),
        ),
        ("above", Box::new(Affine::above(2, 0.5).unwrap()), Box::new(line(&[1.0], -0.5, &[2]))),
        ("below", Box::new(Affine::below(2, 0.5).unwrap()), Box::new(line(&[-1.0], 0.5, &[2]))),
        (
            "ahead",
            Box::new(Affine::ahead(0, 1, 2.0).unwrap()),
            Box::new(line(&[-1.0, 1.0], -2.0, &[0, 1])),
        ),
        (
            "weight",
            Box::new(Affine::weight(&[(&[0, 1], 2.0), (&[3, 2], 0.5)], &[0.0, -9.8]).unwrap()),
            Box::new(line(&[0.0, 19.6, 0.0, 4.9], 0.0, &[0, 1, 3, 2])),
        ),
        (
            "pogo",
            Box::new(LineSpring::new(1, 0, 10.0, 5.0).unwrap()),
            Box::new(AutoDiff::new(Pogo, &[1, 0]).unwrap()),
        ),
    ];
    for (name, hand, automatic) in &cases {
        agree(name, hand, automatic, &mut rng);
        assert_eq!(hand.is_affine(), *name != "pogo");
    }
}

#[test]
fn derivatives_are_finite_where_the_direction_is_undefined() {
    let fields: [Box<dyn Field>; 3] = [
        Box::new(SphereGap::inside(&[0, 1], &[0.0, 0.0], 1.0).unwrap()),
        Box::new(Spring::to_anchor(&[0, 1], &[0.0, 0.0], 2.0, 1.0).unwrap()),
        Box::new(Spring::to_anchor(&[0, 1], &[0.0, 0.0], 2.0, 0.0).unwrap()),
    ];
    for (field, curvature) in fields.iter().zip([0.0, 0.0, 2.0]) {
        let (mut g, mut h) = ([f64::NAN; 2], [0.0; 4]);
        field.gradient(&[0.0, 0.0], 0.0, &mut g);
        field.hessian(&[0.0, 0.0], 0.0, 1.0, &mut h);
        assert_eq!(g, [0.0; 2]);
        assert_eq!(h, [curvature, 0.0, 0.0, curvature]);
    }
}

#[test]
fn parameters_without_sense_are_refused() {
    let refused = |r: Result<(), ConstraintError>| assert!(r.is_err());
    refused(SphereGap::inside(&[0], &[0.0], -1.0).map(drop));
    refused(SphereGap::inside(&[0, 1], &[0.0], 1.0).map(drop));
    refused(SphereGap::between_balls(&[0, 1], &[1, 2], 1.0, 1.0).map(drop));
    refused(SphereGap::between_balls(&[0, 1], &[2], 1.0, 1.0).map(drop));
    refused(SphereGap::outside(&[], &[], 1.0).map(drop));
    refused(SphereGap::outside(&[0, 1, 2, 3], &[0.0; 4], 1.0).map(drop));
    refused(Rod::to_pivot(&[0], &[f64::NAN], 1.0).map(drop));
    refused(Rod::between(&[0], &[1], 0.0).map(drop));
    refused(Spring::between(&[0], &[1], -1.0, 1.0).map(drop));
    refused(LineSpring::new(1, 1, 1.0, 1.0).map(drop));
    refused(Affine::half_space(&[0, 1], &[0.0, 0.0], 1.0).map(drop));
    refused(Affine::new(&[0, 1], &[1.0], 0.0).map(drop));
    refused(Affine::weight(&[(&[0, 1], 1.0)], &[-9.8]).map(drop));
    let profile = Profile::Power { strength: f64::INFINITY, exponent: 1.0 };
    refused(Central::about(&[0], &[0.0], profile).map(drop));
}

#[test]
fn a_linearised_constraint_is_its_tangent_and_moves() {
    let mut rows = Rows::new(4);
    rows.push("balls", SphereGap::between_balls(&[0, 1], &[2, 3], 1.0, 1.0).unwrap()).unwrap();
    rows.push("floor", Affine::above(1, -9.0).unwrap()).unwrap();
    let q = [0.0, -1.4, 0.3, 1.4];
    let mut linear = LinearisedRows::new(&rows, &q, 0.0);
    for shift in [0.0, 0.5] {
        let q: Vec<f64> = q.iter().map(|x| x + shift * x * x).collect();
        linear.renew(&rows, &q, 0.0);
        let tangent = Affine::tangent(rows.field(0), &q, 0.0).unwrap();
        let mut gradients = vec![0.0; rows.entries()];
        rows.gradients(&q, 0.0, &mut gradients);
        assert_eq!(linear.gradients(), gradients);
        let away: Vec<f64> = q.iter().enumerate().map(|(i, x)| x + 0.1 * i as f64).collect();
        let mut values = [0.0; 2];
        linear.values(&rows, &away, &mut values);
        assert!((values[0] - tangent.value(&away, 0.0)).abs() < 1e-14);
        assert!((values[1] - rows.value(1, &away, 0.0)).abs() < 1e-14);
        // The gap is convex: its tangent lies below it, and touches where it was taken.
        assert!(values[0] < rows.value(0, &away, 0.0));
        assert!((linear.value(&rows, 0, &q) - rows.value(0, &q, 0.0)).abs() < 1e-15);
    }
}
