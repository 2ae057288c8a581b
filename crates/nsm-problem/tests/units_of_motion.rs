//! The same physics in other units is the same motion, by every method: millimetres, grams, milliseconds; inches, pounds, minutes; centimetres, grams, seconds.

use std::fmt::Write;

use nsm_problem::{METHODS, Problem, RunResult, StateRecord, Watch};

/// Relative difference to the largest number of its kind that is no difference.
const SAME: f64 = 1e-9;

/// A method that gains energy where a contact closes and enlarges all rounding there: its bound, set after seeing 1.5e-9.
const ENLARGES: (&str, f64) = ("direct-midpoint", 1e-8);

/// How many units a metre, a kilogram and a second are.
#[derive(Clone, Copy, Debug)]
struct Units([f64; 3]);

impl Units {
    const SI: Self = Self([1.0; 3]);
    const OTHERS: [Self; 3] = [
        Self([1e3; 3]),
        Self([1.0 / 0.0254, 1.0 / 0.453_592_37, 1.0 / 60.0]),
        Self([1e2, 1e3, 1.0]),
    ];

    /// Of a word such as `kg m2/s`.
    fn of(&self, word: &str) -> f64 {
        let (mut size, mut below) = (1.0, false);
        for factor in word.split_inclusive([' ', '/']) {
            let name = factor.trim_end_matches([' ', '/']);
            let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let power: i32 = name[letters.len()..].parse().unwrap_or(1);
            let [m, kg, s] = self.0;
            let unit = match letters {
                "m" => m,
                "kg" => kg,
                "s" => s,
                "N" => kg * m / (s * s),
                "J" => kg * m * m / (s * s),
                "" => 1.0,
                other => panic!("{other} is no unit of these tests"),
            };
            size *= unit.powi(if below { -power } else { power });
            below |= factor.ends_with('/');
        }
        size
    }

    /// A file whose quantities stand as `<9.81 m/s2>`, in these units.
    fn write(&self, template: &str) -> String {
        let mut parts = template.split('<');
        let mut text = parts.next().unwrap().to_owned();
        for part in parts {
            let (quantity, rest) = part.split_once('>').unwrap();
            let (number, unit) = quantity.split_once(' ').unwrap();
            let value = number.parse::<f64>().unwrap() * self.of(unit);
            let _ = write!(text, "{value:e}{rest}");
        }
        text
    }
}

/// Systems with quantities in their units, their step and their end; with coordinates, what these are.
struct Case {
    name: &'static str,
    text: &'static str,
    step: f64,
    end: f64,
    coordinates: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "pendulum on a rod",
        text: r#"
            [system]
            coordinates = ["x", "y"]
            mass        = [<0.7 kg>, <0.7 kg>]
            potential   = "<6.86 N>*y"
            equality    = { rod = "x^2 + y^2 - <1 m2>" }
            [start]
            q = [<1 m>, 0]
            "#,
        step: 0.01,
        end: 0.6,
        coordinates: "m",
    },
    Case {
        name: "ball over a floor",
        text: r#"
            restitution = 0.5
            [system]
            coordinates = ["y"]
            mass        = [<0.7 kg>]
            potential   = "<6.86 N>*y"
            inequality  = { floor = "y" }
            [start]
            q = [<1 m>]
            "#,
        step: 0.01,
        end: 1.2,
        coordinates: "m",
    },
    Case {
        name: "masses on springs, with a force and a table of neither",
        text: r#"
            [system]
            coordinates = ["x", "y"]
            mass        = [<0.7 kg>, <0.2 kg>]
            potential   = "0.5*<40 N/m>*x^2 + 0.5*<15 N/m>*(y - x)^2 + 0.25*<9 N/m3>*x^4"
            force       = { y = "-<0.03 kg/s>*v_y" }
            [start]
            q = [<0.3 m>, <-0.1 m>]
            v = [0, <2 m/s>]
            "#,
        step: 0.01,
        end: 1.2,
        coordinates: "m",
    },
    Case {
        name: "double pendulum in angles",
        text: r#"
            [system]
            coordinates = ["a", "b"]
            kinetic     = "<0.25 kg m2>*(v_a^2 + v_b^2/2 + v_a*v_b*cos(a - b))"
            potential   = "-<4.905 J>*(2*cos(a) + cos(b))"
            [start]
            q = [1.0, 0.5]
            "#,
        step: 0.01,
        end: 1.2,
        coordinates: "1",
    },
    Case {
        name: "block that slides to rest",
        text: r#"
            friction = 0.4
            restitution = 0
            [system]
            coordinates = ["x", "y"]
            mass        = [<0.7 kg>, <0.7 kg>]
            potential   = "<6.86 N>*y"
            inequality  = { floor = "y" }
            [system.tangent]
            floor = ["v_x"]
            [start]
            v = [<2 m/s>, 0]
            q = [0, 0]
            "#,
        step: 0.01,
        end: 1.0,
        coordinates: "m",
    },
    Case {
        name: "closed loop of four bars on a spring",
        text: r#"
            gravity = [0, 0, <-9.81 m/s2>]
            [[body]]
            name = "a"
            mass = <1.2 kg>
            inertia = [<0.01 kg m2>, <0.02 kg m2>, <0.02 kg m2>]
            position = [0, 0, <0.5 m>]
            [[body]]
            name = "b"
            mass = <0.7 kg>
            inertia = [<0.01 kg m2>, <0.03 kg m2>, <0.02 kg m2>]
            position = [<1 m>, 0, <1 m>]
            [[body]]
            name = "c"
            mass = <1.2 kg>
            inertia = [<0.01 kg m2>, <0.02 kg m2>, <0.02 kg m2>]
            position = [<2 m>, 0, <0.5 m>]
            [[joint]]
            name = "o"
            type = "revolute"
            bodies = ["ground", "a"]
            at = [0, 0, 0]
            axis = [0, 1, 0]
            rate = <3 1/s>
            [[joint]]
            name = "p"
            type = "revolute"
            bodies = ["a", "b"]
            at = [0, 0, <1 m>]
            axis = [0, 1, 0]
            rate = <-3 1/s>
            [[joint]]
            name = "q"
            type = "revolute"
            bodies = ["b", "c"]
            at = [<2 m>, 0, <1 m>]
            axis = [0, 1, 0]
            rate = <3 1/s>
            [[joint]]
            name = "r"
            type = "revolute"
            bodies = ["c", "ground"]
            at = [<2 m>, 0, 0]
            axis = [0, 1, 0]
            [[spring]]
            name = "s"
            between = ["a", "c"]
            at = [[0, 0, <0.5 m>], [<2 m>, 0, <0.5 m>]]
            stiffness = <30 N/m>
            damping = <0.5 kg/s>
            length = <1.7 m>
            "#,
        step: 0.01,
        end: 0.5,
        coordinates: "",
    },
    Case {
        name: "bodies on joints over a floor that rubs",
        text: r#"
            gravity = [0, 0, <-9.81 m/s2>]
            restitution = 0.3
            friction = 0.5
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[body]]
            name = "thigh"
            mass = <2 kg>
            inertia = [<0.03 kg m2>, <0.03 kg m2>, <0.01 kg m2>]
            shape = { sphere = <0.05 m> }
            position = [0, 0, <0.5 m>]
            velocity = [<1 m/s>, 0, 0]
            [[body]]
            name = "foot"
            mass = <1 kg>
            inertia = [<0.01 kg m2>, <0.01 kg m2>, <0.01 kg m2>]
            shape = { sphere = <0.05 m> }
            position = [<0.1 m>, 0, <0.1 m>]
            velocity = [<1 m/s>, 0, 0]
            [[joint]]
            name = "knee"
            type = "revolute"
            bodies = ["thigh", "foot"]
            at = [0, 0, <0.3 m>]
            axis = [0, 1, 0]
            stiffness = <8 N m>
            damping = <0.2 N m s>
            "#,
        step: 0.005,
        end: 0.4,
        coordinates: "",
    },
    Case {
        name: "beam on a hinge",
        text: r#"
            gravity = [0, 0, <-9.81 m/s2>]
            [[beam]]
            name = "beam"
            ends = [[0, 0, 0], [<1 m>, 0, 0]]
            elements = 3
            GA = <4e3 N>
            EA = <8e3 N>
            EI1 = <10 N m2>
            EI2 = <10 N m2>
            GJ = <10 N m2>
            mass = <1 kg/m>
            inertia = [<1e-3 kg m>, <1e-3 kg m>]
            [[joint]]
            name = "hinge"
            type = "revolute"
            bodies = ["ground", "beam.start"]
            at = [0, 0, 0]
            axis = [0, 1, 0]
            "#,
        step: 0.01,
        end: 0.2,
        coordinates: "",
    },
    Case {
        name: "rigid bodies that strike each other and a floor",
        text: r#"
            gravity = [0, 0, <-9.81 m/s2>]
            restitution = 0.6
            friction = 0.2
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[body]]
            name = "egg"
            mass = <1.3 kg>
            shape = { ellipsoid = [<0.2 m>, <0.15 m>, <0.1 m>] }
            position = [0, 0, <0.3 m>]
            angular_velocity = [<1 1/s>, <3 1/s>, <-2 1/s>]
            [[body]]
            name = "ball"
            mass = <0.4 kg>
            shape = { sphere = <0.1 m> }
            position = [<0.5 m>, <0.03 m>, <0.35 m>]
            velocity = [<-1.5 m/s>, 0, 0]
            "#,
        step: 0.005,
        end: 0.5,
        coordinates: "",
    },
    Case {
        name: "ellipsoid that strikes a floor without loss",
        text: r#"
            gravity = [0, 0, <-9.81 m/s2>]
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[body]]
            name = "egg"
            mass = <1.3 kg>
            shape = { ellipsoid = [<0.2 m>, <0.15 m>, <0.1 m>] }
            position = [0, 0, <0.3 m>]
            angular_velocity = [<1 1/s>, <3 1/s>, <-2 1/s>]
            "#,
        step: 0.005,
        // Methods that take contacts as forces amplify rounding a hundred thousand times until 0.5.
        end: 0.25,
        coordinates: "",
    },
];

fn run(case: &Case, method: &str, units: Units) -> Result<RunResult, String> {
    let (step, end) = (case.step, case.end);
    let run = format!(
        "[[run]]\nmethod = \"{method}\"\nstep = <{step} s>\nend = <{end} s>\nsamples = 4\n"
    );
    let problem = Problem::parse(&units.write(&format!("{}\n{run}", case.text)))
        .map_err(|error| error.to_string())?;
    problem.execute(&problem.runs[0], None, Watch::default()).map_err(|error| error.to_string())
}

/// Vectors of a state in SI units, each to be compared by its own size.
fn vectors(state: &StateRecord, case: &Case, units: Units) -> Vec<Vec<f64>> {
    let scaled = |x: &[f64], unit: &str| x.iter().map(|x| x / units.of(unit)).collect();
    let Some(bodies) = &state.bodies else {
        let at = state.coordinates.as_ref().unwrap();
        let rate = format!("{}/s", case.coordinates);
        return vec![scaled(&at.q, case.coordinates), scaled(&at.v, &rate)];
    };
    let (mut places, mut momenta, mut turns, mut spins) = (vec![], vec![], vec![], vec![]);
    for (_, body) in bodies.iter() {
        places.extend::<Vec<f64>>(scaled(&body.position, "m"));
        momenta.extend::<Vec<f64>>(scaled(&body.momentum, "kg m/s"));
        if let Some(turning) = &body.turning {
            turns.extend(turning.rotation.as_flattened());
            spins.extend::<Vec<f64>>(scaled(&turning.angular_momentum, "kg m2/s"));
        }
    }
    vec![places, momenta, turns, spins]
}

/// What differs between two runs of the same physics; nothing if both are refused.
fn difference(case: &Case, method: &str, units: Units, si: &Result<RunResult, String>) -> String {
    let other = run(case, method, units);
    let (si, other) = match (si, other) {
        (Ok(si), Ok(other)) => (si, other),
        (Err(_), Err(_)) => return String::new(),
        (si, other) => return format!("{:?} / {:?}", si.as_ref().err(), other.err()),
    };
    if si.failure.is_some() != other.failure.is_some() {
        return format!("{:?} / {:?}", si.failure, other.failure);
    }
    let (one, two) = (vectors(&si.end, case, Units::SI), vectors(&other.end, case, units));
    for (kind, (a, b)) in one.iter().zip(&two).enumerate() {
        let size = a.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        // What is at rest is compared by what it was worth before.
        let size = size.max(0.1);
        let error = a.iter().zip(b).fold(0.0_f64, |e, (a, b)| e.max((a - b).abs() / size));
        let same = if method == ENLARGES.0 { ENLARGES.1 } else { SAME };
        if error.is_nan() || error > same {
            return format!("vector {kind} differs by {error:e}: {a:?} / {b:?}");
        }
    }
    String::new()
}

#[test]
fn other_units_are_the_same_motion_by_every_method() {
    let (mut off, mut moved) = (Vec::new(), Vec::new());
    for case in CASES {
        for method in METHODS.iter().map(|m| m.name) {
            let si = run(case, method, Units::SI);
            let Ok(result) = &si else { continue };
            if result.failure.is_none() {
                moved.push((case.name, method));
            }
            for units in Units::OTHERS {
                let difference = difference(case, method, units, &si);
                if !difference.is_empty() {
                    off.push(format!("{}, {method}, {units:?}: {difference}", case.name));
                }
            }
        }
    }
    assert!(off.is_empty(), "{off:#?}");
    for method in METHODS {
        assert!(moved.iter().any(|m| m.1 == method.name), "{} moved none of them", method.name);
    }
    for case in CASES {
        let by = moved.iter().filter(|m| m.0 == case.name).count();
        assert!(by >= 1, "{}: moved by {by} methods", case.name);
    }
}
