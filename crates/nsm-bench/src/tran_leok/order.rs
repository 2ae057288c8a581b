//! Order of convergence: two for attitude, momentum and instants of impact; the path is exact in flight.

use nsm_geom::Vec3;
use nsm_vi::rigid::{Lgvci, RigidState};

use super::{Case, G, cases::run, start};
use crate::{Axes, Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![Scenario::new(
        "tran-leok/order",
        "Section 5",
        "The trapezoidal discrete Lagrangian gives a method of second order.",
        Status::Reproduced,
        order,
    )]
}

const CONVERGENCE: (&str, &str) = ("step", "error of R at t = 1.9");

fn order(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    for case in Case::ALL {
        let world = case.world()?;
        // Just before the first impact, and the impact itself.
        let free = |steps: usize| {
            let t = 1.9;
            run(&Lgvci::default(), &world, start(), t / steps as f64, steps).map(|r| r.state)
        };
        let first = |steps: usize| {
            run(&Lgvci::default(), &world, start(), 4.0 / steps as f64, steps)
                .map(|r| r.times.first().copied().unwrap_or(f64::NAN))
        };
        let name = case.name();
        let (a, b, c) = (free(200)?, free(400)?, free(800)?);
        let ratio = |of: fn(&RigidState, &RigidState) -> f64| (of(&a, &b) / of(&b, &c)).log2();
        let attitude = ratio(|s, t| (s.bodies[0].pose.rot - t.bodies[0].pose.rot).norm());
        found.check(format!("case {name}: order of R"), attitude, Expected::Near(2.0, 0.1));
        // A cube is a spherical top: its momentum in the body frame does not change at all.
        if case != Case::IV {
            let momentum = ratio(|s, t| (s.bodies[0].pi - t.bodies[0].pi).norm());
            found.check(format!("case {name}: order of Π"), momentum, Expected::Near(2.0, 0.1));
        }
        let exact = free(6400)?;
        let error = |s: &RigidState| (s.bodies[0].pose.rot - exact.bodies[0].pose.rot).norm();
        let point = |steps: usize| free(steps).map(|s| [1.9 / steps as f64, error(&s)]);
        let points: Vec<_> =
            [50, 100, 200, 400, 800].into_iter().map(point).collect::<Result<_, _>>()?;
        found.curve(format!("case {name}"), CONVERGENCE, points);
        let (a, b, c) = (first(1600)?, first(3200)?, first(6400)?);
        found.check(
            format!("case {name}: order of the first instant of impact"),
            ((a - b) / (b - c)).abs().log2(),
            Expected::Near(2.0, 0.15),
        );
        let end = free(190)?;
        let t = end.t;
        let exact = Vec3::new(2.0 * t, 2.0 * t, 10.0 + 10.0 * t - 0.5 * G * t * t);
        found.check(
            format!("case {name}: error of the path in flight"),
            (end.bodies[0].pose.x - exact).norm(),
            Expected::AtMost(1e-12),
        );
    }
    found.draw(CONVERGENCE, Axes::DoubleLogarithmic);
    Ok(found)
}
