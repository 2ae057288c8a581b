//! Robots from URDF: what is imported moves as it should, and mistakes name the part.

mod common;

use std::path::Path;

use common::Folder;

/// An arm of two links, the second with its principal axes turned against the link.
const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <link name="world"/>
  <link name="upper">
    <inertial><origin xyz="0.25 0 0"/><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial>
    <collision><origin xyz="0.25 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.03" length="0.5"/></geometry></collision>
  </link>
  <link name="fore">
    <inertial><origin xyz="0.2 0 0" rpy="0 0.4 0"/><mass value="1"/><inertia ixx="0.004" iyy="0.02" izz="0.021"/></inertial>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="continuous">
    <parent link="world"/><child link="upper"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/><dynamics damping="0.1"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/><origin xyz="0.5 0 0" rpy="0 0.3 0"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="wrist" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.4 0 0"/></joint>
</robot>"#;

#[test]
fn a_robot_from_urdf_moves_as_the_same_written_by_hand() {
    let imported = nsm::urdf::import(ARM, Path::new("."), &nsm::urdf::Options::default()).unwrap();
    assert_eq!(imported.notes, Vec::<String>::new());
    let run = "[[run]]\nmethod = \"energy-momentum\"\nstep = 0.002\nend = 0.5\n";
    let head = imported.problem.split("[[run]]").next().unwrap();
    let (s, c) = 0.3_f64.sin_cos();
    let (ts, tc) = 0.7_f64.sin_cos();
    let hand = format!(
        "gravity = [0, 0, -9.81]\n[[body]]\nname = \"upper\"\nmass = 2\ninertia = [0.01, 0.05, 0.05]\nposition = [0.25, 0, 1]\n\
         [[body]]\nname = \"fore\"\nmass = 1\ninertia = [0.004, 0.02, 0.021]\nposition = [{:?}, 0, {:?}]\nrotation = [[{tc:?}, 0, {ts:?}], [0, 1, 0], [{:?}, 0, {tc:?}]]\n\
         [[joint]]\nname = \"shoulder\"\ntype = \"revolute\"\nbodies = [\"ground\", \"upper\"]\nat = [0, 0, 1]\naxis = [0, 1, 0]\ndamping = 0.1\n\
         [[joint]]\nname = \"elbow\"\ntype = \"revolute\"\nbodies = [\"upper\", \"fore\"]\nat = [0.5, 0, 1]\naxis = [0, 1, 0]\n",
        0.5 + 0.2 * c,
        1.0 - 0.2 * s,
        -ts
    );
    let ends = [format!("{head}{run}"), format!("{hand}{run}")].map(|text| {
        let problem = nsm::problem::Problem::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let result =
            problem.execute(&problem.runs[0], None, nsm::problem::Watch::default()).unwrap();
        result.recording.samples.last().unwrap().clone()
    });
    let [a, b] = &ends;
    assert!((a[0] - 0.5).abs() < 1e-12 && a.len() > 24);
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}

/// An arm of URDF with dry joints hangs where its friction holds it; what its joints carry is among the results.
#[test]
fn friction_of_a_robot_holds_its_joints() {
    let dry = ARM.replace("damping=\"0.1\"", "friction=\"40\"").replacen(
        "<axis xyz=\"0 1 0\"/>\n  </joint>\n  <joint name=\"wrist\"",
        "<axis xyz=\"0 1 0\"/><dynamics friction=\"15\"/>\n  </joint>\n  <joint name=\"wrist\"",
        1,
    );
    let imported = nsm::urdf::import(&dry, Path::new("."), &nsm::urdf::Options::default()).unwrap();
    let head = imported.problem.split("[[run]]").next().unwrap();
    assert!(head.contains("dry_friction = 40.0") && head.contains("dry_friction = 15.0"), "{head}");
    let text = format!("{head}[[run]]\nstep = 0.01\nend = 0.5\n");
    let problem = nsm::problem::Problem::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let result = problem.execute(&problem.runs[0], None, nsm::problem::Watch::default()).unwrap();
    assert_eq!(result.method, "svci");
    // Weights of both links about both joints, +y being downwards for an arm along +x.
    let fore = 0.2 * 0.3_f64.cos();
    let expected = [2.0 * 9.81 * 0.25 + 9.81 * (0.5 + fore), 9.81 * fore];
    for (name, moment) in ["shoulder_friction", "elbow_friction"].into_iter().zip(expected) {
        let nsm::problem::Carried::Row(band) = result.reactions[name] else { panic!("{name}") };
        for torque in [band.min, band.max] {
            assert!((torque + moment).abs() < 1e-9, "{name}: {band:?} {moment}");
        }
    }
}

#[test]
fn mistakes_of_robots_name_the_part() {
    let import =
        |text: &str| nsm::urdf::import(text, Path::new("."), &nsm::urdf::Options::default());
    let mesh = "<collision><geometry><mesh filename=\"package://arm/upper.stl\"/></geometry></collision></link>";
    for (text, expected) in [
        (
            ARM.replace("<inertial><origin xyz=\"0.25 0 0\"/><mass value=\"2\"/><inertia ixx=\"0.01\" ixy=\"0\" ixz=\"0\" iyy=\"0.05\" iyz=\"0\" izz=\"0.05\"/></inertial>", ""),
            "link `upper` moves and has no <inertial>",
        ),
        (ARM.replace("value=\"2\"", "value=\"0\""), "link `upper` has the mass 0"),
        (ARM.replace("ixx=\"0.004\"", "ixx=\"much\""), "`ixx` is \"much\""),
        (ARM.replace("child link=\"fore\"", "child link=\"four\""), "a link `four`, which does not exist"),
        (ARM.replace("name=\"elbow\" type=\"continuous\"", "name=\"elbow\" type=\"revolute\""), "needs a <limit lower upper>"),
        (ARM.replace("name=\"elbow\" type=\"continuous\"", "name=\"elbow\" type=\"ball\""), "`ball`"),
        (ARM.replacen("</link>", mesh, 1), "package://arm/upper.stl is not found"),
        ("<sdf/>".to_owned(), "this is a <sdf>"),
        ("robot".to_owned(), "no XML"),
    ] {
        let found = import(&text).unwrap_err().to_string();
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
}

/// A binary STL of a box with a dent in one side.
fn dented_box() -> Vec<u8> {
    let corner = |i: u32| -> Vec<f32> {
        let half = [0.1, 0.05, 0.05].into_iter().enumerate();
        half.map(|(k, x)| if i >> k & 1 == 1 { x } else { -x }).collect()
    };
    let faces = [
        [0, 2, 3],
        [0, 3, 1],
        [4, 5, 7],
        [4, 7, 6],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 7],
        [2, 7, 3],
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 7],
        [1, 7, 5],
    ];
    let mut bytes = vec![b' '; 80];
    bytes.extend(13_u32.to_le_bytes());
    let mut triangle = |corners: [Vec<f32>; 3]| {
        bytes.extend([0; 12]);
        bytes.extend(corners.concat().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    };
    for face in faces {
        triangle(face.map(corner));
    }
    triangle([corner(0), corner(1), vec![0.0; 3]]);
    bytes
}

/// Every kind of joint, a mesh, and a joint that follows another.
const KINDS: &str = r#"<robot name="kinds">
  <link name="world"/>
  <link name="puck"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><geometry><mesh filename="package://kinds/box.stl" scale="2 2 2"/></geometry></collision></link>
  <link name="mast"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
  <link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/><inertia ixx="0.001" iyy="0.002" izz="0.002"/></inertial></link>
  <link name="b"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/><inertia ixx="0.001" iyy="0.002" izz="0.002"/></inertial></link>
  <link name="free"><inertial><mass value="0.3"/><inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial></link>
  <joint name="ice" type="planar"><parent link="world"/><child link="puck"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="prismatic"><parent link="puck"/><child link="mast"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/><limit lower="-0.1" upper="0.2"/></joint>
  <joint name="one" type="revolute"><parent link="mast"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/></joint>
  <joint name="two" type="continuous"><parent link="mast"/><child link="b"/><origin xyz="0 0.2 0"/><axis xyz="0 1 0"/><mimic joint="one" multiplier="-2" offset="0.1"/></joint>
  <joint name="gone" type="floating"><parent link="world"/><child link="free"/><origin xyz="0 0 5"/></joint>
</robot>"#;

#[test]
fn every_kind_of_joint_of_a_robot_moves_as_it_should() {
    let folder = Folder::new("kinds");
    let mesh = folder.file("box.stl", "");
    std::fs::write(mesh, dented_box()).unwrap();
    let import = |text: &str| nsm::urdf::import(text, &folder.0, &nsm::urdf::Options::default());
    let imported = import(KINDS).unwrap();
    assert_eq!(
        imported.notes,
        [
            "link `puck`: the mesh package://kinds/box.stl of 9 corners is taken as its convex hull of 8"
        ]
    );
    let tracked =
        imported.problem.replacen("gravity", "track = [\"lift\", \"one\", \"two\"]\ngravity", 1);
    let problem = nsm::problem::Problem::parse(&tracked).unwrap();
    let result = problem.execute(&problem.runs[0], None, nsm::problem::Watch::default()).unwrap();
    let json = result.json();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    // The free link falls by g/2, the puck stays in its plane, the mast comes to rest on its stop, one follows the other.
    let free = number(&json["final"]["bodies"]["free"]["position"][2]);
    assert!((free - 5.0 + 0.5 * 9.81).abs() < 1e-9, "{free}");
    assert!(number(&json["final"]["bodies"]["puck"]["position"][2]).abs() < 1e-12);
    let end = |name: &str| number(&json["invariants"][name]["end"]);
    assert!((end("lift") + 0.1).abs() < 1e-12);
    assert!((end("two") + 2.0 * end("one")).abs() < 1e-12);
    assert!(number(&json["invariants"]["one"]["min"]) < -0.5);
    for (from, to, expected) in [
        ("mimic joint=\"one\"", "mimic joint=\"won\"", "mimics `won`, which does not exist"),
        (
            "mimic joint=\"one\"",
            "mimic joint=\"ice\"",
            "`ice` is planar, and only joints of one freedom",
        ),
        ("multiplier=\"-2\"", "multiplier=\"0\"", "make it `fixed`"),
        (
            "lower=\"-1\" upper=\"1\"",
            "lower=\"1\" upper=\"-1\"",
            "the first must be below the second",
        ),
        ("box.stl\" scale=\"2 2 2\"", "box.stl\" scale=\"2 0 2\"", "has no hull"),
        ("izz=\"0.001\"", "izz=\"0.01\"", "the Euler tensor of `free`"),
        ("name=\"lift\"", "name=\"one\"", "the name `one` is taken"),
        ("<child link=\"free\"/>", "<child link=\"a\"/>", "hangs on two joints"),
    ] {
        // The last match: the first may be another part.
        let at = KINDS.rfind(from).unwrap();
        let text = format!("{}{to}{}", &KINDS[..at], &KINDS[at + from.len()..]);
        let found = import(&text).unwrap_err().to_string();
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
}

#[test]
fn the_arm_of_the_suite_is_the_import_of_its_robot() {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/mechanisms/");
    let robot = std::fs::read_to_string(format!("{home}arm.urdf")).unwrap();
    let imported =
        nsm::urdf::import(&robot, Path::new(home), &nsm::urdf::Options::default()).unwrap();
    let arm = std::fs::read_to_string(format!("{home}robot-arm.toml")).unwrap();
    let mut rest = arm.lines();
    let parts = imported.problem.split("[[run]]").next().unwrap();
    for line in parts.lines().filter(|line| !line.starts_with("title")) {
        assert!(rest.any(|other| other == line), "{line}");
    }
}
