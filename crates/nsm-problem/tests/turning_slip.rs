//! Slip that turns: a tripod that spins while it slides, against its equations of motion, whose three normal forces follow from statics.

use nsm_problem::{Problem, Watch};

const FEET: [[f64; 2]; 3] = [[0.4, 0.0], [-0.3, 0.25], [-0.3, -0.25]];
const HEIGHT: f64 = 0.15;
const MU: f64 = 0.3;
const INERTIA: f64 = 0.1;

/// $\dot s$ of place, angle and their rates, for one kilogram.
fn rates(s: [f64; 6]) -> [f64; 6] {
    let (sin, cos) = s[2].sin_cos();
    let arms = FEET.map(|[a, b]| [cos * a - sin * b, sin * a + cos * b]);
    // Friction on each newton of a foot, against its slip.
    let pull = arms.map(|[x, y]| {
        let u = [s[3] - s[5] * y, s[4] + s[5] * x];
        let speed = u[0].hypot(u[1]);
        u.map(|u| -MU * u / speed)
    });
    // Weight, and no moment about the horizontal axes, by Cramer's rule.
    let column =
        |k: usize| [1.0, arms[k][1] + HEIGHT * pull[k][1], -HEIGHT * pull[k][0] - arms[k][0]];
    let det = |c: [[f64; 3]; 3]| {
        c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1])
            - c[1][0] * (c[0][1] * c[2][2] - c[0][2] * c[2][1])
            + c[2][0] * (c[0][1] * c[1][2] - c[0][2] * c[1][1])
    };
    let all = [column(0), column(1), column(2)];
    let mut out = [s[3], s[4], s[5], 0.0, 0.0, 0.0];
    for k in 0..3 {
        let mut with = all;
        with[k] = [9.81, 0.0, 0.0];
        let force = pull[k].map(|f| f * det(with) / det(all));
        out[3] += force[0];
        out[4] += force[1];
        out[5] += (arms[k][0] * force[1] - arms[k][1] * force[0]) / INERTIA;
    }
    out
}

/// By the Runge–Kutta method of fourth order.
fn reference(end: f64) -> [f64; 6] {
    let (n, mut s) = (2000, [0.0, 0.0, 0.0, 2.0, 0.0, 5.0]);
    let h = end / f64::from(n);
    let along = |s: [f64; 6], k: [f64; 6], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
    for _ in 0..n {
        let k1 = rates(s);
        let k2 = rates(along(s, k1, 0.5 * h));
        let k3 = rates(along(s, k2, 0.5 * h));
        let k4 = rates(along(s, k3, h));
        for i in 0..6 {
            s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    s
}

fn place(method: &str, step: f64, end: f64) -> [f64; 2] {
    let text = format!(
        r#"
        gravity = [0, 0, -9.81]
        restitution = 0
        friction = {MU}
        [[plane]]
        name = "floor"
        normal = [0, 0, 1]
        [[body]]
        name = "tripod"
        mass = 1
        inertia = [0.05, 0.09, {INERTIA}]
        shape = {{ union = [
            {{ sphere = 0.05, at = [0.4, 0, -0.1] }},
            {{ sphere = 0.05, at = [-0.3, 0.25, -0.1] }},
            {{ sphere = 0.05, at = [-0.3, -0.25, -0.1] }},
        ] }}
        position = [0, 0, {HEIGHT}]
        velocity = [2, 0, 0]
        angular_velocity = [0, 0, 5]
        [[run]]
        method = "{method}"
        step = {step}
        end = {end}
        "#
    );
    let problem = Problem::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{method}: {:?}", result.failure);
    let body = result.end.bodies.as_ref().unwrap()["tripod"].position;
    [body[0], body[1]]
}

#[test]
fn friction_acts_against_the_slip_in_the_middle_of_a_step() {
    let end = 0.4;
    let exact = reference(end);
    for method in ["lgvci", "svci"] {
        let error = |step: f64| {
            let [x, y] = place(method, step, end);
            (x - exact[0]).abs().max((y - exact[1]).abs())
        };
        let (coarse, fine) = (error(0.005), error(0.0025));
        // 5e-4 and of first order with friction against the slip at the end.
        assert!(coarse < 3e-5, "{method}: {coarse}");
        assert!(fine < 0.3 * coarse, "{method}: {coarse} {fine}");
    }
}
