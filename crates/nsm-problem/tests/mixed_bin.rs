//! Bodies of six kinds fall into a bin: what touches is held while other things strike.

use nsm_formula::Figure;
use nsm_problem::{Problem, Watch};

/// Flights to the next event may be as short as they like: what is entered by rounding is not to be left within one of them.
#[test]
fn bodies_that_are_held_gain_nothing_from_short_flights() {
    let text = r#"
title = "Six kinds of bodies in a bin"
gravity = [0, 0, -9.81]
restitution = 0
friction = 0.8
[[plane]]
name="floor"
normal=[0,0,1]
[[plane]]
name="w0"
normal=[1,0,0]
offset=0.5
[[plane]]
name="w1"
normal=[-1,0,0]
offset=0.5
[[plane]]
name="w2"
normal=[0,1,0]
offset=0.5
[[plane]]
name="w3"
normal=[0,-1,0]
offset=0.5
[[body]]
name="b0"
mass=1
shape={capsule=[0.2,0.07]}
position=[0.115,0.147,0.250]
quaternion=[0.4443520782546868, 0.37649030210072154, 0.5314053892858805, 0.6151541231372589]
velocity=[-0.73,-0.79,-1.85]
angular_velocity=[-1.44,1.38,-2.44]
[[body]]
name="b1"
mass=0.1
shape={box=[0.1,0.1,0.1],rounding=0.02}
position=[-0.124,-0.102,0.650]
quaternion=[1, 0, 0, 0]
velocity=[0.84,-0.37,-0.98]
angular_velocity=[1.74,2.70,1.34]
[[body]]
name="b2"
mass=1
shape={polyhedron=[[0.15,0,0],[-0.1,0.12,0],[-0.1,-0.12,0],[0,0,0.2]]}
position=[0.197,-0.067,1.050]
quaternion=[1, 0, 0, 0]
velocity=[0.83,-0.35,-1.29]
angular_velocity=[1.00,0.13,-0.70]
[[body]]
name="b3"
mass=10
shape={cylinder=[0.2,0.1]}
position=[0.003,0.085,1.450]
quaternion=[1, 0, 0, 0]
velocity=[-0.17,0.33,-2.00]
angular_velocity=[-2.74,-0.65,-2.93]
[[body]]
name="b4"
mass=1
shape={cylinder=[0.05,0.12]}
position=[0.033,0.001,1.850]
quaternion=[-0.0902518882769821, -0.38092094111209013, -0.25079358259875134, 0.8853566581960075]
velocity=[-0.04,0.23,-1.22]
angular_velocity=[1.26,0.18,1.42]
[[body]]
name="b5"
mass=10
shape={cylinder=[0.05,0.12]}
position=[-0.152,0.137,2.250]
quaternion=[0.36850952675171483, -0.8846315321251741, 0.06411241244018474, -0.27841943113618]
velocity=[-0.00,0.24,-0.26]
angular_velocity=[2.15,-1.39,0.77]
[[run]]
step = 0.01
end = 1.2
"#;
    let problem = Problem::parse(text).unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    let value = |what: &str| match result.figure(what) {
        Ok(Figure::Number(x)) => x,
        other => panic!("{what}: {other:?}"),
    };
    assert!(value("penetration") < 1e-6, "{}", value("penetration"));
    assert!(value("energy.max") <= value("energy.start") * (1.0 + 1e-12));
    assert!(value("energy.end") < value("energy.start") - 20.0);
}

/// A ball that falls on a floor and one that it falls on, in the coordinates of a mechanism and as rigid bodies: impacts have the places of their instants,
/// not those of the ends of the steps.
#[test]
fn impacts_act_where_they_happen() {
    for method in ["svci", "lgvci"] {
        let text = format!(
            r#"
            title = "Two balls, one above the other"
            gravity = [0, 0, -9.81]
            restitution = 0.5
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[body]]
            name = "low"
            mass = 1
            shape = {{ sphere = 0.1 }}
            position = [0.3, 0.2, 0.4]
            [[body]]
            name = "high"
            mass = 1
            shape = {{ sphere = 0.1 }}
            position = [0.3, 0.2, 1.2]
            [[run]]
            method = "{method}"
            step = 0.01
            end = 0.5
            "#
        );
        let problem = Problem::parse(&text).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        let events = &result.recording.events;
        assert!(events.len() > 1, "{method}: {}", events.len());
        let mut pairs = 0;
        for event in events {
            let point = event.touches[0].unwrap().point;
            assert!((point[0] - 0.3).abs() < 1e-12 && (point[1] - 0.2).abs() < 1e-12, "{point:?}");
            if event.contacts[0].contains("floor") {
                assert!(point[2].abs() < 1e-12, "{method}: {point:?}");
            } else {
                // Midway between the centres, of which the sum falls with g until the first impact: both at z0 - g t²/2 + what the low one has rebounded.
                pairs += 1;
                let (t, first) = (event.t, (2.0 * 0.3 / 9.81_f64).sqrt());
                let low = 0.1 + 0.5 * 9.81 * first * (t - first) - 4.905 * (t - first).powi(2);
                assert!((point[2] - low - 0.1).abs() < 1e-9, "{method}: {point:?}, {low}");
            }
            if pairs > 0 {
                break;
            }
        }
        assert_eq!(pairs, 1, "{method}");
    }
}
