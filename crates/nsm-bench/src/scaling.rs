//! How the cost of a step grows with the system: a chain of rods and a cantilever of $N$ elements, stepped by every method whose equations
//! couple neighbours.
//!
//! The elements stay as they are while their number grows, and what moves them is bounded, so that a step of $h = 10^{-3}$ resolves
//! the motion equally well whatever $N$ is: chains whose links shorten, or that hang by their whole weight, meet $h\omega = 2$.
//!
//! * The *chain* lies along $x$ from its pivot in waves of 20 links of 0.1 m and 0.1 kg, link $i$ at the angle
//!   $\theta_i = 0.6 \sin \varphi_i$ with $\varphi_i = 2\pi (i + \tfrac12)/20$ to $x$; the wave turns every link with
//!   $\dot\theta_i = 3 \cos \varphi_i$ while the whole falls. Every rod works, and none as a copy of its neighbour.
//! * The *cantilever* bends under its weight, in elements of 0.036 m.

use std::time::{Duration, Instant};

use nsm_alpha::{ClassicalAlpha, Index, Nsga};
use nsm_constraints::multibody::{Beam, End, JointKind, Mechanism, SectionMass, SectionStiffness};
use nsm_constraints::{Affine, Rod};
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature, Variational};

const H: f64 = 1e-3;
const SETUPS: usize = 3;
/// Steps before and in the measurement, and how many of them are timed together where they are short.
const BEFORE: usize = 10;
const STEPS: usize = 40;
const GROUP: usize = 5;
/// The measurement begins anew at least so often, and until it has lasted long enough or too long.
const ROUNDS: usize = 5;
const ENOUGH: Duration = Duration::from_millis(100);
const TOO_MUCH: Duration = Duration::from_secs(20);
/// Processor time is counted in ticks of some milliseconds: shorter runs are not measured by it.
const TICKS: Duration = Duration::from_millis(100);

/// What fails in an experiment of this kind is not expected to.
pub type Error = Box<dyn std::error::Error>;

/// A system of which there is one of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Rods on a pivot, in waves.
    Chain,
    /// A clamped beam.
    Cantilever,
}

/// A method that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `vi` by the midpoint rule.
    Midpoint,
    /// `vi` by the trapezoidal rule of its potential.
    Verlet,
    /// The step that conserves energy.
    Conserving,
    /// Null space projection with all coordinates as unknowns.
    NullSpace,
    /// Null space projection with a freedom for each unknown.
    Reparametrised,
    /// Generalized-$\alpha$ of index 3.
    IndexThree,
    /// The nonsmooth generalized-$\alpha$ scheme.
    Nsga,
}

impl Family {
    /// Both, with the sizes that they are measured at.
    pub const ALL: [(Self, &[usize]); 2] = [
        (Self::Chain, &[10, 32, 100, 316, 1000, 3162, 10_000]),
        (Self::Cantilever, &[10, 32, 100, 316, 1000]),
    ];

    /// How tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain of rods",
            Self::Cantilever => "cantilever of beam elements",
        }
    }
}

impl Method {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::Midpoint,
        Self::Verlet,
        Self::Conserving,
        Self::NullSpace,
        Self::Reparametrised,
        Self::IndexThree,
        Self::Nsga,
    ];

    /// How tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Midpoint => "`vi`, midpoint",
            Self::Verlet => "`vi`, Verlet",
            Self::Conserving => "`conserving`",
            Self::NullSpace => "null space",
            Self::Reparametrised => "null space, reparametrised",
            Self::IndexThree => "generalized-α, index 3",
            Self::Nsga => "`nsga`",
        }
    }
}

/// What a system of one size costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Elements.
    pub size: usize,
    /// Making the stepper, and its first step: the best of several.
    pub setup: Duration,
    /// A step, the best of several runs.
    pub step: Duration,
    /// Iterations a step.
    pub iterations: f64,
}

/// Measures a method on a system of `size` elements.
pub fn measure(family: Family, method: Method, size: usize) -> Result<Cost, Error> {
    let mechanism = if family == Family::Cantilever { Some(cantilever(size)?) } else { None };
    let (system, start) = match &mechanism {
        Some(mechanism) => System::of(mechanism)?,
        None => chain(size)?,
    };
    let set_up = || -> Result<_, Error> {
        let clock = Instant::now();
        let mut stepper = bind(method, &system, &start, mechanism.as_ref())?;
        stepper.step(&mut start.clone())?;
        Ok((stepper, clock.elapsed()))
    };
    let (mut stepper, mut setup) = set_up()?;
    for _ in 1..SETUPS {
        setup = setup.min(set_up()?.1);
    }
    let mut state = start.clone();
    // Of every few steps the best time over several runs, in sum, or the least processor time of a run that is long enough for its
    // clock: what else the machine does is not counted.
    let group = if setup < Duration::from_millis(5) { GROUP } else { 1 };
    let mut best = vec![Duration::MAX; STEPS / group];
    let (mut spent, mut iterations, mut least) = (Duration::ZERO, 0, Duration::MAX);
    for round in 0.. {
        if round >= ROUNDS && (spent > ENOUGH || round >= 100 * ROUNDS) || spent > TOO_MUCH {
            break;
        }
        state.clone_from(&start);
        for _ in 0..BEFORE {
            stepper.step(&mut state)?;
        }
        iterations = 0;
        let before = processor_time();
        for best in &mut best {
            let clock = Instant::now();
            for _ in 0..group {
                iterations += stepper.step(&mut state)?.iterations;
            }
            let took = clock.elapsed();
            spent += took;
            *best = took.min(*best);
        }
        if let (Some(before), Some(after)) = (before, processor_time()) {
            let took = after.saturating_sub(before);
            least = if took < TICKS { least } else { least.min(took) };
        }
    }
    let count = u32::try_from(STEPS)?;
    let step = best.iter().sum::<Duration>().min(least) / count;
    Ok(Cost { size, setup, step, iterations: iterations as f64 / f64::from(count) })
}

/// The exponent $p$ of $c N^p$ that fits best in logarithms.
pub fn exponent(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<_> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / count;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (up, down) = logs.iter().fold((0.0, 0.0), |(up, down), (x, y)| {
        (up + (x - mx) * (y - my), down + (x - mx) * (x - mx))
    });
    up / down
}

fn bind<'a>(
    method: Method,
    system: &'a System,
    start: &State,
    mechanism: Option<&'a Mechanism>,
) -> Result<Box<dyn Stepper<State = State> + 'a>, Error> {
    let midpoint = Quadrature::Midpoint;
    Ok(match method {
        Method::Midpoint => Box::new(Variational::new(H, midpoint).stepper(system)?),
        Method::Verlet => Box::new(Variational::new(H, Quadrature::Verlet).stepper(system)?),
        Method::Conserving => Box::new(Conserving::new(H).stepper(system)?),
        Method::NullSpace => Box::new(NullSpace::new(H, midpoint).stepper(system)?),
        Method::Reparametrised => {
            let method = NullSpace::reparametrised(H, midpoint);
            match mechanism {
                Some(mechanism) => Box::new(method.stepper_with(system, mechanism.tree())?),
                None => Box::new(method.stepper(system)?),
            }
        }
        Method::IndexThree => {
            Box::new(ClassicalAlpha::new(H, Index::Three, 0.7)?.stepper(system, start)?)
        }
        Method::Nsga => Box::new(Nsga::new(H, 0.7)?.stepper(system, start)?),
    })
}

fn chain(links: usize) -> Result<(System, State), Error> {
    let (length, mass) = (0.1, 0.1);
    let mut system = System::new(Mass::diagonal(&vec![mass; 2 * links])?);
    let (mut q, mut v) = (Vec::new(), Vec::new());
    let (mut at, mut velocity) = ([0.0; 2], [0.0; 2]);
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], length)?
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], length)?
        };
        system = system
            .with_potential("weight", Affine::new(&[y], &[9.81 * mass], 0.0)?)?
            .with_equality("rod", rod)?;
        let phase = std::f64::consts::TAU * (link as f64 + 0.5) / 20.0;
        let (angle, rate) = (0.6 * phase.sin(), 3.0 * phase.cos());
        let (sin, cos) = angle.sin_cos();
        at = [at[0] + length * cos, at[1] + length * sin];
        velocity = [velocity[0] - length * rate * sin, velocity[1] + length * rate * cos];
        q.extend(at);
        v.extend(velocity);
    }
    let start = State::new(&system, &q, &v)?;
    Ok((system, start))
}

fn cantilever(elements: usize) -> Result<Mechanism, Error> {
    let stiffness = SectionStiffness {
        shear: [175_480.8; 2],
        axial: 547_500.0,
        bending: [114.1, 10.27],
        torsion: 13.74,
    };
    let mass = SectionMass { per_length: 7500.0, directors: [1.5625, 0.1406] };
    let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let ends = [[0.0; 3], [0.0, 0.036 * elements as f64, 0.0]];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81])?;
    let shape = Beam::straight(ends, elements, triad, stiffness, mass);
    let beam = mechanism.add_beam("beam", &shape)?;
    let clamp = [End::Ground, End::Node(mechanism.beam_nodes(beam)[0])];
    mechanism.add_joint("clamp", JointKind::Fixed, clamp, [0.0; 3], [0.0; 3])?;
    Ok(mechanism)
}

/// Processor time of the thread, where the operating system tells it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
