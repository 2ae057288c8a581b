//! Steps do not allocate, counted.

mod common;
mod counting;

use common::{Affine, Distance, Rod, auto, oscillator, pogo, spheres};
use nsm_constraints::multibody::{
    Beam, End, Inertia, JointKind, LineElement, Mechanism, Pose, SectionMass, SectionStiffness,
};
use nsm_constraints::{FixedTangent, Rod as Bar, Scalar};
use nsm_model::{
    AutoKinetic, ContactLaw, DryFriction, KineticExpr, Mass, State, Stepper, System, Wound,
};
use nsm_vi::{
    Conserving, ConservingTangent, ConstraintAt, ConstraintSolver, Direct, DiscreteSmooth, Energy,
    Gvi, Hybrid, Newmark, NullSpace, Projected, Projection, ProjectionMatrix, Quadrature,
    Restitution, Svci, Variational,
};

fn count(name: &str, start: &State, mut stepper: impl Stepper<State = State>, steps: usize) {
    let mut state = start.clone();
    let (before, mut events) = (counting::allocations(), 0);
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        events += stepper.events().len();
    }
    let allocations = counting::allocations() - before;
    assert_eq!(allocations, 0, "{name}: {allocations} in {steps} steps with {events} events");
}

fn cradle() -> (System, State) {
    let (n, mut q) = (5, Vec::new());
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * n]).unwrap());
    for i in 0..n {
        let (pivot, angle) = (0.5 * i as f64, if i < 2 { -0.6_f64 } else { 0.0 });
        system = system
            .with_potential("weight", auto(Affine(vec![9.8], 0.0), &[2 * i + 1]))
            .unwrap()
            .with_equality("rod", auto(Rod([pivot, 0.0], 1.0, 1.0), &[2 * i, 2 * i + 1]))
            .unwrap();
        q.extend([pivot + angle.sin(), -angle.cos()]);
    }
    for i in 0..n - 1 {
        let pair = [2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3];
        system = system.with_inequality("pair", auto(Distance(0.5), &pair)).unwrap();
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * n]).unwrap();
    (system, state)
}

/// A hanging chain, some of its rods given twice, with a massless coordinate that follows its end.
fn chain(links: usize, doubled: usize, follower: bool) -> (System, State) {
    let n = 2 * links;
    let mut masses = vec![1.0; n];
    let mut q: Vec<f64> =
        (0..n).map(|i| if i % 2 == 0 { (i / 2 + 1) as f64 } else { 0.0 }).collect();
    if follower {
        masses.push(0.0);
        q.push(links as f64);
    }
    let mut system = System::new(Mass::diagonal(&masses).unwrap());
    for link in (0..links).chain(0..doubled) {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Bar::to_pivot(&[x, y], &[0.0, 0.0], 1.0).unwrap()
        } else {
            Bar::between(&[x - 2, y - 2], &[x, y], 1.0).unwrap()
        };
        system = system
            .with_potential("weight", auto(Affine(vec![9.8], 0.0), &[y]))
            .unwrap()
            .with_equality("rod", rod)
            .unwrap();
    }
    if follower {
        let end = auto(Affine(vec![1.0, -1.0], 0.0), &[n, n - 2]);
        system = system.with_equality("follower", end).unwrap();
    }
    let state = State::new(&system, &q, &vec![0.0; q.len()]).unwrap();
    (system, state)
}

/// A beam under its weight, clamped at one end and pushed at the other.
fn cantilever() -> Mechanism {
    let stiffness =
        SectionStiffness { shear: [80.0; 2], axial: 100.0, bending: [0.5, 0.8], torsion: 0.4 };
    let mass = SectionMass { per_length: 1.3, directors: [0.02, 0.03] };
    let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let beam = Beam::straight([[0.0; 3], [0.0, 1.0, 0.0]], 8, triad, stiffness, mass);
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -1.0]).unwrap();
    let id = mechanism.add_beam("boom", &beam).unwrap();
    let nodes = mechanism.beam_nodes(id).to_vec();
    let ends = [End::Ground, nodes[0].into()];
    mechanism.add_joint("clamp", JointKind::Fixed, ends, [0.0; 3], [0.0; 3]).unwrap();
    mechanism.add_load("push", nodes[8], [1.0, 0.0, 0.0], &[(0.0, 0.0), (0.01, 0.2)]).unwrap();
    mechanism
}

/// A box that tumbles, slides and rests on its corners, with friction; the first steps find room.
fn rub() {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let pose = Pose::at([0.0, 0.0, 0.1]);
    let node = mechanism.add_body("box", Inertia::cuboid(1.0, [0.4, 0.3, 0.2]), pose).unwrap();
    mechanism.set_velocity(node, [1.0, 0.2, 0.0], [0.0, 0.0, 3.0]).unwrap();
    let (system, mut state) = System::of(&mechanism).unwrap();
    let shape = nsm_geom::Shape::cuboid([0.2, 0.15, 0.1]).unwrap();
    let floor = nsm_geom::Plane::new(nsm_geom::Vec3::z(), 0.0).unwrap();
    let system = system.with_plane_contact(&mechanism, (node, &shape), &floor, "floor").unwrap();
    let law = ContactLaw { friction: 0.3, ..ContactLaw::frictionless(0.2) };
    let laws = vec![law; system.inequalities().len()];
    let system = system.with_contact_laws(&laws).unwrap();
    let method =
        Svci { restitution: Restitution::Uniform(0.2), ..Svci::new(0.005, Quadrature::Verlet) };
    let mut stepper = method.stepper(&system).unwrap();
    for _ in 0..3 {
        stepper.step(&mut state).unwrap();
    }
    count("box with friction", &state, stepper, 200);
}

// One test: the counter is shared by all threads of the binary.
#[test]
fn no_step_allocates() {
    varying_mass();
    chains_with_springs();
    let q = Quadrature::Midpoint;
    let (pogo, start) = pogo(0.1, 1.0);
    count("pogo", &start, Gvi::new(0.1, Quadrature::Verlet).stepper(&pogo).unwrap(), 2000);
    let shadow = Gvi { energy: Energy::SecondOrder, ..Gvi::new(0.1, Quadrature::Verlet) };
    count("pogo, H2", &start, shadow.stepper(&pogo).unwrap(), 2000);
    count("hybrid", &start, Hybrid::new(0.1, Quadrature::Verlet).stepper(&pogo).unwrap(), 2000);
    let (oscillator, start) = oscillator();
    count("oscillator", &start, Gvi::new(0.1, q).stepper(&oscillator).unwrap(), 1000);
    let linearised = Gvi { linearised: true, ..Gvi::new(0.1, q) };
    count("linearised", &start, linearised.stepper(&oscillator).unwrap(), 1000);
    count("free", &start, Variational::new(0.1, q).stepper(&oscillator).unwrap(), 100);
    let direct = Direct::new(0.1, ConstraintAt::Endpoint);
    count("endpoint", &start, direct.stepper(&oscillator).unwrap(), 1000);
    count("newmark", &start, Newmark::imex(0.05, 0.25, 0.5).stepper(&oscillator).unwrap(), 500);
    let (spheres, start) = spheres();
    count("spheres", &start, Gvi::new(0.5, q).stepper(&spheres).unwrap(), 1000);
    let mut smooth = DiscreteSmooth::new(0.5, q);
    smooth.tolerances.contact.gap = 1e-2;
    count("smooth", &start, smooth.stepper(&spheres).unwrap(), 1000);
    let (cradle, start) = cradle();
    let conserving = Conserving::new(0.01).stepper(&cradle).unwrap();
    count("conserving", &start, conserving, 200);
    let tangent = ConservingTangent::new(0.01).stepper(&cradle).unwrap();
    count("conserving, tangent", &start, tangent, 200);
    for method in [NullSpace::new(0.01, q), NullSpace::reparametrised(0.01, q)] {
        count("null space", &start, method.stepper(&cradle).unwrap(), 200);
    }
    count("multipliers", &start, Variational::new(0.01, q).stepper(&cradle).unwrap(), 200);
    let solver = ConstraintSolver::augmented();
    let augmented = Conserving { solver, ..Conserving::new(0.01) }.stepper(&cradle).unwrap();
    count("augmented", &start, augmented, 200);
    for projection in [Projection::mass(), Projection::penalty(ProjectionMatrix::Identity, 5.0)] {
        let inner = Conserving::new(0.01).stepper(&cradle).unwrap();
        let projected = Projected::new(&cradle, inner, &projection).unwrap();
        count("projected", &start, projected, 200);
    }
    for (links, doubled, follower) in
        [(100, 0, false), (20, 7, false), (100, 100, false), (10, 0, true), (60, 9, true)]
    {
        let (system, start) = chain(links, doubled, follower);
        for quadrature in [q, Quadrature::Verlet] {
            let stepper = Variational::new(1e-3, quadrature).stepper(&system).unwrap();
            count("chain", &start, stepper, 20);
        }
        count("chain", &start, Conserving::new(1e-3).stepper(&system).unwrap(), 20);
    }
    let beam = cantilever();
    let (boom, mut state) = System::of(&beam).unwrap();
    let mut freedoms = NullSpace::reparametrised(1e-3, q).stepper_with(&boom, beam.tree()).unwrap();
    // The first step checks the reparametrisation and allocates.
    freedoms.step(&mut state).unwrap();
    count("beam, null space", &state, freedoms, 20);
    count("beam", &state, Variational::new(1e-3, q).stepper(&boom).unwrap(), 20);
    count("beam, conserving", &state, Conserving::new(1e-3).stepper(&boom).unwrap(), 20);
    rub();
    let repredicted = Gvi { repredict: true, ..Gvi::new(0.01, q) };
    count("cradle", &start, Gvi::new(0.01, q).stepper(&cradle).unwrap(), 1000);
    count("cradle, repredicted", &start, repredicted.stepper(&cradle).unwrap(), 1000);
}

/// A chain of bars with springs and dampers in its hinges and along it, driven by a motor.
fn sprung(links: usize) -> (System, State) {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let mut before = End::Ground;
    for k in 0..links {
        let x = k as f64;
        let inertia = Inertia::cuboid(1.0, [1.0, 0.3, 0.2]);
        let bar =
            mechanism.add_body(&format!("bar{k}"), inertia, Pose::at([x + 0.5, 0.0, 0.0])).unwrap();
        let ends = [before, bar.into()];
        let at = [x, 0.0, 0.0];
        let hinge = mechanism
            .add_joint(&format!("hinge{k}"), JointKind::Revolute, ends, at, [0.0, 1.0, 0.0])
            .unwrap();
        let angle = mechanism.counted_freedom(hinge, 0).unwrap();
        mechanism.add_joint_spring(hinge, angle.clone(), 20.0, 0.1).unwrap();
        mechanism.add_joint_damper(hinge, angle, 0.1).unwrap();
        let spring = LineElement { length: None, stiffness: 5.0, damping: 0.2 };
        let at = [[0.0, 0.0, 1.0], [x + 1.0, 0.0, 0.0]];
        mechanism.add_spring(&format!("spring{k}"), [End::Ground, bar.into()], at, spring).unwrap();
        before = bar.into();
    }
    System::of(&mechanism).unwrap()
}

/// A double pendulum in angles.
struct Angles;

impl KineticExpr for Angles {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
    }
}

fn varying_mass() {
    let system = System::with_variable_mass(AutoKinetic::new(Angles, 2).unwrap())
        .unwrap()
        .with_equality("tied", auto(Affine(vec![1.0, 0.5], 0.3), &[0, 1]))
        .unwrap();
    let start = State::new(&system, &[0.3, -1.2], &[1.0, -2.0]).unwrap();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let stepper = Variational::new(0.01, quadrature).stepper(&system).unwrap();
        count("varying mass", &start, stepper, 50);
    }
    // The same between stops, with friction in one of the joints; the first steps find room.
    let system = System::with_variable_mass(AutoKinetic::new(Angles, 2).unwrap())
        .unwrap()
        .with_inequality("stop", auto(Affine(vec![1.0, -1.0], 0.2), &[0, 1]))
        .unwrap()
        .with_dry_friction(
            "joint",
            FixedTangent::new(&[0, 1], &[1.0, -1.0]).unwrap(),
            DryFriction { bound: 0.1, load: None },
        )
        .unwrap();
    let mut state = State::new(&system, &[0.3, -1.2], &[-1.0, 2.0]).unwrap();
    let method =
        Svci { restitution: Restitution::Uniform(0.5), ..Svci::new(0.01, Quadrature::Verlet) };
    let mut stepper = method.stepper(&system).unwrap();
    for _ in 0..70 {
        stepper.step(&mut state).unwrap();
    }
    count("varying mass, stop and friction", &state, stepper, 200);
}

/// Beside the others in one test: allocations are counted for the whole process.
fn chains_with_springs() {
    let (system, start) = sprung(4);
    let h = 0.005;
    let vi = Variational::new(h, Quadrature::Midpoint).stepper(&system).unwrap();
    count("vi", &start, Wound::new(&system, vi, &start), 50);
    let conserving = Conserving::new(h).stepper(&system).unwrap();
    count("energy-momentum", &start, Wound::new(&system, conserving, &start), 50);
}
