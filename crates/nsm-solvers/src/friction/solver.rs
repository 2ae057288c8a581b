//! The chain of methods with its workspace.

use super::newton::Memory;
use super::work::Work;
use super::{
    FrictionError, FrictionMethod, FrictionOptions, FrictionProblem, FrictionReport, admm, cone,
    gauss_seidel, interior, newton, proximal,
};

/// A method and the most of its iterations.
type Stage = (FrictionMethod, usize);

/// Solves friction problems, and keeps its storage: problems that Gauss–Seidel or Newton's method solve allocate nothing once it has
/// grown to their size.
#[derive(Clone, Debug, Default)]
pub struct FrictionSolver {
    work: Work,
    newton: Memory,
    interior: interior::Memory,
    again: Vec<f64>,
}

impl FrictionSolver {
    /// Solves a friction problem from the impulses in `r` (a warm start, or zero), through the methods in turn.
    ///
    /// # Errors
    /// [`FrictionError::NotSolved`] with the best impulses left in `r`.
    pub fn solve(
        &mut self,
        problem: &FrictionProblem,
        r: &mut [f64],
        options: &FrictionOptions,
    ) -> Result<FrictionReport, FrictionError> {
        use FrictionMethod::{Admm, GaussSeidel, InteriorPoint, Newton, Proximal};
        let stages = [
            (Newton, WARM),
            (GaussSeidel, 30),
            (Newton, 25),
            (InteriorPoint, 60),
            (Newton, 25),
            (Proximal, 12),
            (Admm, 1000),
            (Newton, 40),
            (Admm, 20_000),
            (Newton, 60),
        ];
        let hasty = [
            (Newton, WARM),
            (GaussSeidel, 30),
            (Newton, 200),
            (InteriorPoint, 40),
            (Newton, 400),
            (Admm, 300),
            (Newton, 400),
        ];
        // In a pile neither sweeps nor Newton's method alone find out which contacts stick.
        let crowd = [(Newton, HASTE), (InteriorPoint, 40), (Newton, 80)];
        let stages: &[_] = if options.patient { &stages } else { &hasty };
        // Sweeps from impulses of the step before lead away from the solution before they lead to it.
        let warm = problem.len() > FEW && r.iter().any(|r| *r != 0.0);
        if !warm || options.patient {
            return self.run(problem, r, options, if warm { stages } else { &stages[1..] });
        }
        let first: &[_] = if is_pile(problem) { &crowd } else { &stages[..QUICKLY] };
        self.run_twice(problem, r, options, (first, &stages[1..]))
    }

    /// From the impulses in `r`, and if that does not do from nothing: from where the quick methods do not arrive, they often do from there.
    fn run_twice(
        &mut self,
        problem: &FrictionProblem,
        r: &mut [f64],
        options: &FrictionOptions,
        (first, second): (&[Stage], &[Stage]),
    ) -> Result<FrictionReport, FrictionError> {
        let mut again = std::mem::take(&mut self.again);
        again.clear();
        again.resize(r.len(), 0.0);
        let mut outcome = self.run(problem, r, options, first);
        if let Err(FrictionError::NotSolved { residual, .. }) = outcome {
            let other = self.run(problem, &mut again, options, second);
            let better = match &other {
                Err(FrictionError::NotSolved { residual: other, .. }) => *other < residual,
                other => other.is_ok(),
            };
            if better {
                r.copy_from_slice(&again);
                outcome = other;
            }
        }
        self.again = again;
        outcome
    }

    /// The scale-free residual of impulses, as the methods measure it.
    pub fn residual(&mut self, problem: &FrictionProblem, r: &[f64]) -> f64 {
        self.work.start((0..3 * problem.len()).map(|k| r[k] / problem.scale[k / 3]));
        self.work.measure(problem)
    }

    pub(super) fn run(
        &mut self,
        problem: &FrictionProblem,
        r: &mut [f64],
        options: &FrictionOptions,
        stages: &[Stage],
    ) -> Result<FrictionReport, FrictionError> {
        let m = 3 * problem.len();
        if r.len() != m {
            let what = "the impulses";
            return Err(FrictionError::Length { what, length: r.len(), expected: m });
        }
        if let Some(k) = r.iter().position(|x| !x.is_finite()) {
            return Err(FrictionError::NotFinite { what: "the impulse", contact: k / 3 });
        }
        let Self { work, newton: memory, interior, .. } = self;
        work.start((0..m).map(|k| r[k] / problem.scale[k / 3]));
        let (mut iterations, mut stage) = (0, FrictionMethod::GaussSeidel);
        // Putting the answer into the cones may cost a little.
        let tolerance = 0.3 * options.tolerance;
        let fair = tolerance.max(0.3 * options.enough);
        // The quick methods go on while they help.
        let stall = fair.min(tolerance.max(options.quick));
        let crowd = problem.len() > MANY;
        let pile = is_pile(problem) && !options.patient;
        let slow = |m: &FrictionMethod| match m {
            FrictionMethod::GaussSeidel | FrictionMethod::Newton => false,
            FrictionMethod::InteriorPoint => !pile,
            FrictionMethod::Admm | FrictionMethod::Proximal => true,
        };
        let (mut newtons, mut quick, mut stalled) = (0, true, f64::INFINITY);
        for &(method, most) in stages {
            let before = work.residual;
            quick &= !slow(&method);
            // What Newton's method cannot better, sweeps need not beyond the middle, and the slow methods not at all.
            let enough = match (quick, newtons) {
                (true, 0) => tolerance,
                (true, _) => (tolerance * stall).sqrt(),
                (false, _) => fair,
            };
            if work.measure(problem) <= enough {
                break;
            }
            iterations += match method {
                FrictionMethod::GaussSeidel => gauss_seidel::sweep(problem, work, enough, most),
                FrictionMethod::Newton => {
                    newtons += usize::from(most != WARM && most != HASTE);
                    newton::iterate(problem, work, memory, (enough, stall), most)
                }
                FrictionMethod::InteriorPoint => {
                    let aim = if pile { enough.max(options.quick) } else { enough };
                    interior::iterate(problem, work, interior, aim, most)
                }
                FrictionMethod::Admm => admm::iterate(problem, work, enough, most),
                FrictionMethod::Proximal => proximal(problem, work, enough, most),
            };
            if work.residual < before {
                stage = method;
            }
            work.return_to_best();
            if method == FrictionMethod::Newton {
                // Sweeps in between have not helped, and need not be tried again; in a crowd they never do.
                if crowd && work.residual <= stall
                    || work.residual <= fair && work.residual > 0.5 * stalled
                {
                    break;
                }
                stalled = work.residual;
            }
        }
        finish(problem, work, r, options, (stage, iterations))
    }
}

/// The first of the stages, which are quick.
const QUICKLY: usize = 3;
/// Newton's iterations from the impulses of the step before, and contacts up to which sweeps are quicker.
const WARM: usize = 50;
/// The same in a pile, where the interior point comes next.
const HASTE: usize = 20;
const FEW: usize = 3;
/// Contacts above which sweeps do not carry a residual further that is small already.
const MANY: usize = 64;

/// Whether this is a crowd whose bodies are known: the interior point is quick where it is solved for them.
fn is_pile(problem: &FrictionProblem) -> bool {
    problem.len() > MANY && problem.bodies.pay(problem.len())
}

/// Share of the energies that impulses exchange below which a gain is rounding.
const ROUNDING: f64 = 1e-15;

/// Makes the best iterate an answer: in the cones exactly, and without a gain of energy.
fn finish(
    problem: &FrictionProblem,
    work: &mut Work,
    r: &mut [f64],
    options: &FrictionOptions,
    (stage, iterations): (FrictionMethod, usize),
) -> Result<FrictionReport, FrictionError> {
    for i in 0..problem.len() {
        let point = cone::project(cone::triple(&work.best, i), problem.friction[i]);
        work.best[3 * i..3 * i + 3].copy_from_slice(&point);
    }
    let (best, u) = (&mut work.best, &mut work.u);
    problem.velocity(best, u);
    let along: f64 = best.iter().zip(&problem.q).map(|(r, q)| r * q).sum();
    let square: f64 =
        best.iter().zip(u.iter().zip(&problem.q)).map(|(r, (u, q))| r * (u - q)).sum();
    let mut energy_change = along + 0.5 * square;
    let mut shortened = 1.0;
    // What lies within rounding of the energies that are exchanged is no gain; impulses that only press against each other have none but that.
    let exchanged: f64 = best
        .iter()
        .zip(&problem.q)
        .zip(u.iter())
        .map(|((r, q), u)| r.abs() * (q.abs() + u.abs()))
        .sum();
    if energy_change > ROUNDING * exchanged {
        shortened =
            if along >= 0.0 || square <= 0.0 { 0.0 } else { (-2.0 * along / square).min(1.0) };
        for r in best.iter_mut() {
            *r *= shortened;
        }
        problem.velocity(best, u);
        energy_change = shortened * (along + 0.5 * shortened * square);
    }
    let residual = problem.residual(best, u);
    for (k, r) in r.iter_mut().enumerate() {
        *r = best[k] * problem.scale[k / 3];
    }
    if residual.is_nan() || residual > options.acceptable.max(options.tolerance) {
        let of = |i: usize| {
            cone::residual(&cone::triple(best, i), &cone::triple(u, i), &problem.friction[i..=i])
                / problem.scale[i]
        };
        let contact = (0..problem.len()).max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap_or(0);
        return Err(FrictionError::NotSolved { residual, contact });
    }
    Ok(FrictionReport { residual, stage, iterations, energy_change, shortened })
}
