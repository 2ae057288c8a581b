//! Pictures guessed from problem files, and their JSON.

use nsm_geom::Vec3;
use nsm_problem::{FRAMES, Problem, Watch};
use nsm_report::scene::{Link, Scene};

fn scene(text: &str) -> Scene {
    let problem = Problem::parse(text).unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none());
    Scene::of(&problem, &result)
}

const RUN: &str = "[[run]]\nmethod = \"gvi\"\nstep = 0.01\nend = 2.0\n";

#[test]
fn a_ball_moves_along_its_axis_over_its_floor() {
    let text = "[system]\ncoordinates = [\"y\"]\nmass = [1]\npotential = \"9.8*y\"\n\
                inequality = { floor = \"y - 0.25\" }\n[start]\nq = [1]\n";
    let scene = scene(&format!("{text}{RUN}"));
    assert!(!scene.spatial && scene.points.len() == 1);
    assert_eq!(scene.points[0].path[0], Vec3::new(0.0, 1.0, 0.0));
    let [floor] = &scene.outlines[..] else { panic!("{:?}", scene.outlines) };
    assert_eq!(floor.len(), 2);
    assert!(floor.iter().all(|p| (p.y - 0.25).abs() < 1e-9));
    assert!((floor[0].x - floor[1].x).abs() > 0.3);
}

#[test]
fn rods_discs_and_walls_come_from_the_constraints() {
    let text = "[system]\ncoordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\nmass = [1, 1, 1, 1]\n\
        equality = { rod = \"sqrt((x1 - 0.5)^2 + y1^2) - 1\" }\n\
        inequality = { contact = \"sqrt((x1 - x2)^2 + (y1 - y2)^2) - 0.5\", wall = \"9 - x2^2 - y2^2\" }\n\
        [start]\nq = [0.5, -1, 2, -1]\nv = [0.5, 0, -1, 0]\n";
    let scene = scene(&format!("{text}{RUN}"));
    assert_eq!(scene.points[0].radius, Some(0.25));
    assert_eq!(scene.points[1].radius, Some(0.25));
    assert_eq!(scene.links, [Link { from: 0, to: 2, spring: false }]);
    assert!((scene.points[2].path[0] - Vec3::new(0.5, 0.0, 0.0)).norm() < 1e-2);
    // The wall is an inequality: a curve, however round.
    assert!(scene.outlines.iter().flatten().all(|p| (p.norm() - 3.0).abs() < 1e-2));
}

#[test]
fn a_switching_track_is_drawn_mode_by_mode() {
    let text = "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n\
        [[system.mode]]\nname = \"flat\"\nwhere = \"1 - x\"\nequality = { track = \"y\" }\n\
        [[system.mode]]\nname = \"ramp\"\nwhere = \"x - 1\"\nequality = { track = \"y - x + 1\" }\n\
        [start]\nq = [0, 0]\nv = [1, 0]\nmode = \"flat\"\n\
        [[run]]\nmethod = \"nsga\"\nstep = 0.01\nend = 2.0\n";
    let scene = scene(text);
    assert_eq!(scene.outlines.len(), 2);
    let ramp = |p: &Vec3| (p.y - (p.x - 1.0).max(0.0)).abs();
    assert!(scene.outlines.iter().flatten().all(|p| ramp(p) < 1e-9));
}

#[test]
fn coordinates_that_are_no_places_are_shown_in_their_phase_plane() {
    let text = "[system]\ncoordinates = [\"theta\"]\nmass = [1]\npotential = \"-cos(theta)\"\n[start]\nq = [1]\n";
    let scene = scene(&format!("{text}{RUN}"));
    assert!(scene.axes.is_some());
    assert_eq!(scene.points[0].path[0], Vec3::new(1.0, 0.0, 0.0));
}

#[test]
fn a_picture_in_the_file_is_followed() {
    let text = "[system]\ncoordinates = [\"theta\"]\nmass = [1]\nparameters = { l = 2 }\npotential = \"-cos(theta)\"\n\
        [picture]\npoints = [[0, 0], [\"l*sin(theta)\", \"-l*cos(theta)\"]]\nlinks = [[0, 1]]\nradius = 0.1\n\
        curves = [\"y + l\"]\n[start]\nq = [1]\n";
    let scene = scene(&format!("{text}{RUN}"));
    assert_eq!(scene.points[0].path, [Vec3::zeros()]);
    assert!(
        (scene.points[1].path[0] - Vec3::new(2.0 * 1f64.sin(), -2.0 * 1f64.cos(), 0.0)).norm()
            < 1e-12
    );
    assert_eq!(scene.points[1].radius, Some(0.1));
    assert_eq!(scene.links, [Link { from: 0, to: 1, spring: false }]);
    assert_eq!(scene.outlines.len(), 1);
    for (wrong, expected) in [
        ("points = [[0]]", "point 0 has 1 formulas"),
        ("points = [[\"phi\", 0]]", "there is no `phi`"),
        ("links = [[0, 1, 2]]", "pairs of points"),
        ("curves = [\"y - t\"]", "do not move"),
        ("pionts = []", "did you mean `points`?"),
    ] {
        let start = text.find("points").unwrap();
        let end = text.find("[start]").unwrap();
        let file = format!("{}{wrong}\n{}{RUN}", &text[..start], &text[end..]);
        let error = Problem::parse(&file).expect_err(wrong).to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

#[test]
fn bodies_carry_their_surface_and_continuous_quaternions() {
    let text = "gravity = [0, 0, -9.8]\n[[body]]\nmass = 1\nshape = { union = [{ sphere = 1 }, { box = [1, 1, 4] }] }\n\
        position = [0, 0, 5]\nangular_velocity = [3, 5, 1]\n[[plane]]\nnormal = [0, 0, 1]\n\
        [[run]]\nmethod = \"lgvci\"\nstep = 0.001\nend = 8.0\n";
    let scene = scene(text);
    let json = scene.json();
    let body = &json["bodies"][0];
    let vertices = body["vertices"].as_array().unwrap().len() / 3;
    let faces = body["faces"].as_array().unwrap();
    assert!(
        faces
            .iter()
            .flat_map(|f| f.as_array().unwrap())
            .all(|i| i.as_u64().unwrap() < vertices as u64)
    );
    let poses: Vec<f64> =
        body["poses"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert_eq!(poses.len(), 7 * scene.times.len());
    assert!(scene.times.len() <= FRAMES + 1);
    for pair in poses.chunks(7).collect::<Vec<_>>().windows(2) {
        let dot: f64 = (3..7).map(|k| pair[0][k] * pair[1][k]).sum();
        assert!(dot > 0.9, "{dot}");
    }
    // Outward faces: the volume that they enclose is positive for each part.
    let mesh = &scene.bodies[0].mesh;
    let volume: f64 = mesh
        .faces
        .iter()
        .map(|f| {
            let v = |k: usize| mesh.vertices[f[k]];
            (1..f.len() - 1).map(|k| v(0).dot(&v(k).cross(&v(k + 1))) / 6.0).sum::<f64>()
        })
        .sum();
    assert!(volume > 0.9 * (4.0 + 4.18) && volume < 4.0 + 4.19, "{volume}");
    assert!(json.to_string().len() < 60_000, "{}", json.to_string().len());
}

#[test]
fn a_large_scene_is_thinned_and_keeps_its_start() {
    let text =
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[start]\nq = [0, 0]\nv = [1, 2]\n";
    let scene = scene(&format!("{text}{RUN}"));
    assert_eq!(scene.times.len(), 201);
    assert_eq!(scene.thinned(10), scene, "too short to be thinned");
    let mut long = scene.clone();
    long.times = (0..601).map(f64::from).collect();
    long.points[0].path = (0..601).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
    let thin = long.thinned(1500);
    assert_eq!(thin.times.len(), 301);
    assert_eq!(thin.points[0].path.len(), 301);
    assert_eq!(thin.points[0].path[300].x, 600.0);
}

#[test]
fn free_bodies_look_the_same_whichever_way_they_are_moved() {
    let body = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\nshape = {{ box = [1, 2, 3] }}\nposition = [{x}, 0, 0]\n\
             quaternion = [3, 1, 2, 0]\nangular_velocity = [0.3, 0.1, {x}]\n"
        )
    };
    // They stay far apart; two boxes have no gap in coordinates.
    let apart = "[[contact]]\nbetween = [\"a\", \"b\"]\nignore = true\n";
    let run =
        |method: &str| format!("{apart}[[run]]\nmethod = \"{method}\"\nstep = 0.001\nend = 0.5\n");
    let scenes = ["lgvci", "vi"]
        .map(|method| scene(&format!("{}{}{}", body("a", 1.0), body("b", 5.0), run(method))));
    for (one, other) in scenes[0].bodies.iter().zip(&scenes[1].bodies) {
        for (p, q) in one.poses.iter().zip(&other.poses) {
            assert!((p.x - q.x).norm() < 1e-9 && (p.rot - q.rot).norm() < 1e-4, "{p:?} {q:?}");
        }
    }
}

#[test]
fn a_strip_shows_eight_instants_and_rounds_by_their_outline() {
    let text = "gravity = [0, 0, -9.81]\n[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = 0.2 }\nposition = [0, 0, 2]\nvelocity = [3, 0, 0]\n\
                [[body]]\nname = \"brick\"\nmass = 1\nshape = { box = [0.4, 0.2, 0.1] }\nposition = [0, 1, 2]\n\
                [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[[run]]\nstep = 0.01\nend = 0.5\n";
    let scene = scene(text);
    let strip = scene.strip().unwrap();
    assert_eq!(strip.matches("<text").count(), 8);
    assert!(strip.contains("t = 0<") && strip.contains("t = 0.5<") && !strip.contains("NaN"));
    // One outline for the ball and three faces of the brick, in each picture, beside frame and floor.
    let paths = strip.matches("stroke-width=\"0.4\"").count();
    assert_eq!(paths, 8 * 4, "{paths}");
    assert!(strip.len() < 30_000, "{}", strip.len());
    assert!(Scene::default().strip().is_none());
}

/// A ball lies on a box, and the box on a floor.
const LYING: &str = "gravity = [0, 0, -9.81]\nrestitution = 0\nfriction = 0.5\n\
    [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
    [[body]]\nname = \"box\"\nmass = 2\nshape = { box = [1, 1, 0.5] }\nposition = [0, 0, 0.25]\n\
    [[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = 0.3 }\nposition = [0.1, 0, 0.8]\n";

#[test]
fn forces_of_contacts_balance_weights_and_moments_by_both_descriptions_of_bodies() {
    for method in ["lgvci", "svci"] {
        let run = format!("[[run]]\nmethod = \"{method}\"\nstep = 0.01\nend = 0.5\n");
        let problem = Problem::parse(&format!("{LYING}[picture]\nforces = true\n{run}")).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        let last = result.recording.touches.last().unwrap();
        let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
        for touch in last.iter().filter(|touch| touch.contact.contains("floor")) {
            let (p, f) = (Vec3::from(touch.touch.point), Vec3::from(touch.touch.impulse) / 0.01);
            assert!(touch.held && p.z.abs() < 1e-12 && p.x.abs() < 0.5 + 1e-9);
            force += f;
            moment += p.cross(&f);
        }
        // The floor carries both weights, and its forces have the moment of the ball's weight at x = 0.1.
        assert!((force - Vec3::new(0.0, 0.0, 3.0 * 9.81)).norm() < 1e-9, "{method}: {force}");
        assert!((moment - Vec3::new(0.0, -0.981, 0.0)).norm() < 1e-9, "{method}: {moment}");
        // The ball presses the box, which is named first, down where it lies.
        let pressed = last.iter().find(|touch| !touch.contact.contains("floor")).unwrap().touch;
        assert!((Vec3::from(pressed.point) - Vec3::new(0.1, 0.0, 0.5)).norm() < 1e-9);
        assert!((Vec3::from(pressed.impulse) / 0.01 + Vec3::new(0.0, 0.0, 9.81)).norm() < 1e-9);
        // As many arrows as contacts, from their points along their forces, and the strip shows them.
        let scene = Scene::of(&problem, &result);
        assert_eq!(scene.forces.len(), scene.times.len());
        let arrows = scene.forces.last().unwrap();
        assert_eq!(arrows.len(), last.len());
        for ([foot, tip], touch) in arrows.iter().zip(last) {
            assert!((foot - Vec3::from(touch.touch.point)).norm() < 1e-12);
            assert!((tip - foot).cross(&Vec3::from(touch.touch.impulse)).norm() < 1e-12);
        }
        let plain = Problem::parse(&format!("{LYING}{run}")).unwrap();
        let without = plain.execute(&plain.runs[0], None, Watch::default()).unwrap();
        assert!(
            without.recording.touches.is_empty() && Scene::of(&plain, &without).forces.is_empty()
        );
    }
}

#[test]
fn pictures_of_bodies_ask_for_forces_only_and_formulas_have_no_place_for_them() {
    let run = "[[run]]\nstep = 0.01\nend = 0.5\n";
    let error = |text: &str| Problem::parse(text).unwrap_err().to_string();
    let wrong = error(&format!("{LYING}[picture]\nradius = 2\n{run}"));
    assert!(wrong.contains("forces = true"), "{wrong}");
    let misspelt = error(&format!("{LYING}[picture]\nforce = true\n{run}"));
    assert!(misspelt.contains("forces"), "{misspelt}");
    let ball = "[system]\ncoordinates = [\"y\"]\nmass = [1]\ninequality = { floor = \"y\" }\n[start]\nq = [1]\n";
    let nowhere = error(&format!("{ball}[picture]\nforces = true\n{run}"));
    assert!(nowhere.contains("no place"), "{nowhere}");
}
