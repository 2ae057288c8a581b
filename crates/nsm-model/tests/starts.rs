//! Projection of starts: long chains at linear cost, modes, coordinates without mass.

use nsm_constraints::{Affine, AutoDiff, Expr, Rod, Rows, Scalar, Switching};
use nsm_model::{Mass, State, System, SystemError, Tolerance, check_start, project_start};

const TIGHT: Tolerance = Tolerance { position: 1e-12, velocity: 1e-12 };

#[test]
fn a_chain_of_ten_thousand_links_is_put_together() {
    // The dense matrix of its constraints would have 10^8 entries.
    let links = 10_000;
    let mut system = System::new(Mass::diagonal(&vec![2.0; 2 * links]).unwrap());
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], 0.01).unwrap()
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], 0.01).unwrap()
        };
        system = system.with_equality(&format!("rod {link}"), rod).unwrap();
        let angle = link as f64;
        q.extend([0.01 * (link as f64 + 1.0) + 1e-4 * angle.sin(), 1e-4 * angle.cos()]);
        v.extend([0.1 * angle.cos(), 0.1 * angle.sin()]);
    }
    let mut state = State::new(&system, &q, &v).unwrap();
    assert!(matches!(
        check_start(&system, &state, TIGHT),
        Err(SystemError::InfeasiblePosition { .. })
    ));
    project_start(&system, &mut state).unwrap();
    check_start(&system, &state, TIGHT).unwrap();
    assert!(state.q.iter().zip(&q).all(|(a, b)| (a - b).abs() < 0.05));
}

struct Height(f64, f64);
impl Expr for Height {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[1] - (q[0] - self.0).sin() * self.1
    }
}

fn row(height: f64) -> Rows {
    let mut rows = Rows::new(2);
    rows.push("surface", AutoDiff::new(Height(0.0, height), &[0, 1]).unwrap()).unwrap();
    rows
}

#[test]
fn the_rows_of_the_mode_are_projected_on_too() {
    let switching = Switching::new(2)
        .with_mode("left", Affine::below(0, 0.0).unwrap(), row(1.0))
        .unwrap()
        .with_mode("right", Affine::above(0, 0.0).unwrap(), row(3.0))
        .unwrap();
    let system =
        System::new(Mass::diagonal(&[1.0, 2.0]).unwrap()).with_switching(switching).unwrap();
    for (x, height, mode) in [(-0.5_f64, 1.0, 0), (0.5, 3.0, 1)] {
        let mut state = State::new(&system, &[x, x.sin() * height + 0.1], &[1.0, 0.0]).unwrap();
        project_start(&system, &mut state).unwrap();
        assert_eq!(state.mode, mode);
        check_start(&system, &state, TIGHT).unwrap();
        assert!((state.q[1] - state.q[0].sin() * height).abs() < 1e-15);
        assert!((state.v[1] - state.q[0].cos() * height * state.v[0]).abs() < 1e-14);
    }
    // A periodic mode is evaluated at shifted coordinates.
    let switching = Switching::periodic("wave", 0, 0.0, 2.0, row(1.0)).unwrap();
    let system =
        System::new(Mass::diagonal(&[1.0, 1.0]).unwrap()).with_switching(switching).unwrap();
    let mut state = State::new(&system, &[7.0, 0.7], &[1.0, 0.0]).unwrap();
    project_start(&system, &mut state).unwrap();
    assert_eq!(state.mode, 3);
    assert!((state.q[1] - (state.q[0] - 6.0).sin()).abs() < 1e-15);
    check_start(&system, &state, TIGHT).unwrap();
}

#[test]
fn coordinates_without_mass_move_as_if_they_had_one() {
    struct Sum;
    impl Expr for Sum {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] + q[1] - 1.0
        }
    }
    let system = System::new(Mass::diagonal(&[3.0, 0.0]).unwrap())
        .with_equality("sum", AutoDiff::new(Sum, &[0, 1]).unwrap())
        .unwrap();
    let mut state = State::new(&system, &[0.0, 0.0], &[4.0, 0.0]).unwrap();
    project_start(&system, &mut state).unwrap();
    assert!((state.q[0] - 0.25).abs() < 1e-15 && (state.q[1] - 0.75).abs() < 1e-15);
    assert!((state.v[0] - 3.0).abs() < 1e-15 && (state.v[1] + 3.0).abs() < 1e-15);
    assert_eq!(state.p[1], 0.0);
}
