//! Consistent starts: which constraint a start violates and by how much, and its projection.
//!
//! The projection is orthogonal in the metric of the mass (unit mass where there is none):
//! $$ q \leftarrow q - M^{-1} F^\top (F M^{-1} F^\top)^{+} f(q), \qquad
//!    v \leftarrow v - M^{-1} F^\top (F M^{-1} F^\top)^{+} (F v + f_t), $$
//! the first repeated to convergence. Redundant constraints pass: one independent set of them is corrected, and
//! what the others have left must be round-off. The cost is linear for chains ([`ConstrainedMass`]).

use nsm_constraints::{Rows, Switching};
use nsm_solvers::LinearError;

use crate::{ConstrainedMass, State, System, SystemError};

/// How far a start may be from its constraints, in the units of the constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// On position level: $|f| \le$ this, $g \ge -$ this.
    pub position: f64,
    /// On velocity level: $|\dot f| \le$ this.
    pub velocity: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { position: 1e-8, velocity: 1e-8 }
    }
}

/// Checks that a start satisfies the constraints of its system.
///
/// A closed contact that approaches is no violation: it is an impact at the start.
///
/// # Errors
/// Names the constraint that is violated most, on position level first.
pub fn check_start(
    system: &System,
    state: &State,
    tolerance: Tolerance,
) -> Result<(), SystemError> {
    check_finite(system, state)?;
    let mut local = vec![0.0; system.dimension()];
    let mode = active_mode(system, state, tolerance, &mut local)?;
    let equalities = || [(system.equalities(), &*state.q)].into_iter().chain(mode);
    for (rows, q) in equalities() {
        let mut values = vec![0.0; rows.len()];
        rows.values(q, state.t, &mut values);
        if let Some((i, value)) = worst(&values, f64::abs, tolerance.position) {
            let constraint = rows.name(i).to_owned();
            return Err(SystemError::InfeasiblePosition { constraint, value, must: "0" });
        }
    }
    let inequalities = system.inequalities();
    let mut gaps = vec![0.0; inequalities.len()];
    inequalities.values(&state.q, state.t, &mut gaps);
    if let Some((i, value)) = worst(&gaps, |g| -g, tolerance.position) {
        let constraint = inequalities.name(i).to_owned();
        return Err(SystemError::InfeasiblePosition { constraint, value, must: ">= 0" });
    }
    for (rows, q) in equalities() {
        let mut values = vec![0.0; rows.len()];
        let mut gradients = vec![0.0; rows.entries()];
        rows.gradients(q, state.t, &mut gradients);
        rows.velocities(q, state.t, &gradients, &state.v, &mut values);
        if let Some((i, rate)) = worst(&values, f64::abs, tolerance.velocity) {
            let constraint = rows.name(i).to_owned();
            return Err(SystemError::InfeasibleVelocity { constraint, rate, must: "0" });
        }
    }
    Ok(())
}

/// The rows of the present mode with the coordinates at which they are evaluated.
fn active_mode<'a>(
    system: &'a System,
    state: &'a State,
    tolerance: Tolerance,
    local: &'a mut [f64],
) -> Result<Option<(&'a Rows, &'a [f64])>, SystemError> {
    let Some(switching) = system.switching() else { return Ok(None) };
    let rows = switching.rows(state.mode).ok_or(SystemError::Uncovered)?;
    let region = switching.region(state.mode, &state.q, state.t);
    if region.is_nan() || region < -tolerance.position {
        return Err(SystemError::OutsideMode { name: switching.name(state.mode), region });
    }
    Ok(Some((rows, switching.local(state.mode, &state.q, local))))
}

/// Moves a start onto the equality constraints, those of its mode included, on position and on velocity level.
///
/// The mode stays what it is.
///
/// # Errors
/// A mass that depends on the configuration is refused, and a mode that the system does not have. If the Newton
/// iteration does not converge, the worst constraint is named; the state is then unchanged.
pub fn project_start(system: &System, state: &mut State) -> Result<(), SystemError> {
    const ITERATIONS: usize = 50;
    system.require_constant_mass("the projection of a start")?;
    check_finite(system, state)?;
    let mut projector = Projector::new(system, state.mode)?;
    if projector.residual.is_empty() {
        return Ok(());
    }
    let mut projected = state.clone();
    let mut before = projected.q.clone();
    let mut iterations = 0;
    loop {
        projector.values(&projected.q, projected.t);
        // Newton has converged when its step is round-off of the positions.
        let moved = projected.q.iter().zip(&before).map(|(a, b)| (a - b).abs() / (1.0 + b.abs()));
        let converged = iterations > 0 && moved.fold(0.0, f64::max) <= 4.0 * f64::EPSILON;
        let exact = projector.residual.iter().all(|r| *r == 0.0);
        if exact || converged {
            break;
        }
        let (_, worst) = projector.worst();
        if iterations == ITERATIONS || !worst.is_finite() {
            return Err(projector.failure(iterations));
        }
        before.copy_from_slice(&projected.q);
        projector.gradients(&before, projected.t);
        projector.correct(&mut projected.q).map_err(|_| projector.failure(iterations))?;
        iterations += 1;
    }
    // Contradictory constraints converge too, to a compromise: what is left must be round-off as well.
    projector.gradients(&projected.q, projected.t);
    projector.check_round_off(&projected.q, iterations)?;
    projector.velocities(&projected.q, &projected.v, projected.t);
    projector.correct(&mut projected.v).map_err(|_| projector.failure(iterations))?;
    system.mass().multiply(&projected.v, &mut projected.p);
    *state = projected;
    Ok(())
}

/// Workspace of the mass-orthogonal correction $x \leftarrow x - M^{-1} F^\top (F M^{-1} F^\top)^+ r$.
struct Projector<'a> {
    /// Rows that hold in every mode, then those of the mode, with the coordinates to evaluate them at.
    bundles: Vec<&'a Rows>,
    switching: Option<(&'a Switching, i64)>,
    local: Vec<f64>,
    saddle: ConstrainedMass,
    /// Bundle after bundle.
    gradients: Vec<f64>,
    residual: Vec<f64>,
    multipliers: Vec<f64>,
    zero: Vec<f64>,
    step: Vec<f64>,
}

impl<'a> Projector<'a> {
    fn new(system: &'a System, mode: i64) -> Result<Self, SystemError> {
        let mut bundles = vec![system.equalities()];
        if let Some(switching) = system.switching() {
            bundles.push(switching.rows(mode).ok_or(SystemError::Uncovered)?);
        }
        let (n, m) = (system.dimension(), bundles.iter().map(|rows| rows.len()).sum());
        Ok(Self {
            saddle: ConstrainedMass::filled(system.mass(), &bundles)?,
            gradients: vec![0.0; bundles.iter().map(|rows| rows.entries()).sum()],
            bundles,
            switching: system.switching().map(|switching| (switching, mode)),
            local: vec![0.0; n],
            residual: vec![0.0; m],
            multipliers: vec![0.0; m],
            zero: vec![0.0; n],
            step: vec![0.0; n],
        })
    }

    /// Calls `visit` with each bundle, its coordinates, its part of the gradients and of the residual.
    fn visit(&mut self, q: &[f64], visit: impl Fn(&Rows, &[f64], &mut [f64], &mut [f64])) {
        let (mut gradients, mut residual) = (&mut self.gradients[..], &mut self.residual[..]);
        for (k, rows) in self.bundles.iter().enumerate() {
            let (own, rest) = gradients.split_at_mut(rows.entries());
            let (values, others) = residual.split_at_mut(rows.len());
            (gradients, residual) = (rest, others);
            let at = match self.switching {
                Some((switching, mode)) if k == 1 => switching.local(mode, q, &mut self.local),
                _ => q,
            };
            visit(rows, at, own, values);
        }
    }

    fn values(&mut self, q: &[f64], t: f64) {
        self.visit(q, |rows, at, _, out| rows.values(at, t, out));
    }

    fn gradients(&mut self, q: &[f64], t: f64) {
        self.visit(q, |rows, at, out, _| rows.gradients(at, t, out));
    }

    fn velocities(&mut self, q: &[f64], v: &[f64], t: f64) {
        self.visit(q, |rows, at, gradients, out| rows.velocities(at, t, gradients, v, out));
    }

    /// Corrects `x` by the residual, with the gradients evaluated last.
    fn correct(&mut self, x: &mut [f64]) -> Result<(), LinearError> {
        self.saddle.factorise(&self.gradients)?;
        let (step, multipliers) = (&mut self.step, &mut self.multipliers);
        self.saddle.solve(&self.zero, &self.residual, step, multipliers)?;
        for (x, d) in x.iter_mut().zip(step) {
            *x -= *d;
        }
        Ok(())
    }

    fn check_round_off(&self, q: &[f64], iterations: usize) -> Result<(), SystemError> {
        let (mut entry, mut row) = (0, 0);
        for rows in &self.bundles {
            for i in 0..rows.len() {
                let columns = rows.columns(i);
                let gradient = &self.gradients[entry..entry + columns.len()];
                let terms = gradient.iter().zip(columns).map(|(g, &c)| (g * q[c]).abs());
                let (scale, left) = (terms.sum::<f64>(), self.residual[row]);
                if left.is_nan() || left.abs() > 1e-12 * (1.0 + scale) {
                    let constraint = rows.name(i).to_owned();
                    return Err(SystemError::Projection { constraint, residual: left, iterations });
                }
                entry += columns.len();
                row += 1;
            }
        }
        Ok(())
    }

    /// The row that is violated most; NaN counts as largest.
    fn worst(&self) -> (usize, f64) {
        let size = |x: f64| if x.is_nan() { f64::INFINITY } else { x.abs() };
        let entries = self.residual.iter().copied().enumerate();
        entries.max_by(|a, b| size(a.1).total_cmp(&size(b.1))).unwrap_or((0, 0.0))
    }

    fn failure(&self, iterations: usize) -> SystemError {
        let (row, residual) = self.worst();
        let mut names = self.bundles.iter().flat_map(|rows| rows.names());
        let constraint = names.nth(row).cloned().unwrap_or_default();
        SystemError::Projection { constraint, residual, iterations }
    }
}

fn check_finite(system: &System, state: &State) -> Result<(), SystemError> {
    for (what, x) in [("position", &state.q), ("velocity", &state.v), ("momentum", &state.p)] {
        if x.len() != system.dimension() {
            return Err(SystemError::Length {
                what,
                length: x.len(),
                expected: system.dimension(),
            });
        }
        if let Some(i) = x.iter().position(|a| !a.is_finite()) {
            return Err(SystemError::NotFinite {
                what,
                name: system.names()[i].clone(),
                value: x[i],
            });
        }
    }
    Ok(())
}

/// The entry whose violation is largest and above the tolerance; NaN counts as infinite.
fn worst(values: &[f64], violation: impl Fn(f64) -> f64, tolerance: f64) -> Option<(usize, f64)> {
    let size = |x: f64| if x.is_nan() { f64::INFINITY } else { violation(x) };
    let (i, &x) = values.iter().enumerate().max_by(|a, b| size(*a.1).total_cmp(&size(*b.1)))?;
    (size(x) > tolerance).then_some((i, x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mass;
    use nsm_constraints::{AutoDiff, Expr, Scalar};

    struct Circle;
    impl Expr for Circle {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] * q[0] + q[1] * q[1] - 1.0
        }
    }

    /// A particle on the unit circle, the constraint given twice.
    fn bead() -> System {
        System::new(Mass::diagonal(&[1.0, 4.0]).unwrap())
            .with_equality("circle", AutoDiff::new(Circle, &[0, 1]).unwrap())
            .unwrap()
            .with_equality("circle again", AutoDiff::new(Circle, &[0, 1]).unwrap())
            .unwrap()
    }

    #[test]
    fn violations_are_named_with_their_size() {
        let bead = bead();
        let off = State::new(&bead, &[1.1, 0.0], &[0.0, 1.0]).unwrap();
        match check_start(&bead, &off, Tolerance::default()) {
            Err(SystemError::InfeasiblePosition { constraint, value, must: "0" }) => {
                assert!(constraint.starts_with("circle"));
                assert!((value - 0.21).abs() < 1e-12);
            }
            other => panic!("{other:?}"),
        }
        let leaving = State::new(&bead, &[1.0, 0.0], &[0.5, 1.0]).unwrap();
        assert!(matches!(
            check_start(&bead, &leaving, Tolerance::default()),
            Err(SystemError::InfeasibleVelocity { rate: 1.0, .. })
        ));
    }

    #[test]
    fn projection_reaches_redundant_constraints_and_is_orthogonal_in_the_mass() {
        let bead = bead();
        let mut state = State::new(&bead, &[1.2, 0.5], &[0.3, 1.0]).unwrap();
        let before = state.clone();
        project_start(&bead, &mut state).unwrap();
        check_start(&bead, &state, Tolerance { position: 4e-15, velocity: 4e-15 }).unwrap();
        // M Δv is parallel to the gradient: no tangential impulse.
        let dp = [state.p[0] - before.p[0], state.p[1] - before.p[1]];
        assert!((dp[0] * state.q[1] - dp[1] * state.q[0]).abs() < 1e-15);
    }

    #[test]
    fn large_constraints_are_projected_to_their_own_round_off() {
        struct Orbit;
        impl Expr for Orbit {
            fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
                q[0] * q[0] + q[1] * q[1] - 1e12
            }
        }
        let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
            .with_equality("orbit", AutoDiff::new(Orbit, &[0, 1]).unwrap())
            .unwrap();
        let mut state = State::new(&system, &[7e5, 7e5], &[1.0, -1.0]).unwrap();
        project_start(&system, &mut state).unwrap();
        assert!((state.q[0].hypot(state.q[1]) - 1e6).abs() < 1e-9);
    }

    #[test]
    fn contradictory_constraints_are_no_solution() {
        struct At(f64);
        impl Expr for At {
            fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
                q[0] - self.0
            }
        }
        let system = System::new(Mass::diagonal(&[1.0]).unwrap())
            .with_equality("here", AutoDiff::new(At(0.0), &[0]).unwrap())
            .unwrap()
            .with_equality("there", AutoDiff::new(At(1.0), &[0]).unwrap())
            .unwrap();
        let mut state = State::new(&system, &[0.3], &[0.0]).unwrap();
        assert!(matches!(project_start(&system, &mut state), Err(SystemError::Projection { .. })));
        assert_eq!(state.q, [0.3]);
    }

    #[test]
    fn a_projection_without_solution_leaves_the_state() {
        struct Never;
        impl Expr for Never {
            fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
                q[0] * q[0] + 1.0
            }
        }
        let system = System::new(Mass::diagonal(&[1.0]).unwrap())
            .with_equality("never", AutoDiff::new(Never, &[0]).unwrap())
            .unwrap();
        let mut state = State::new(&system, &[0.3], &[1.0]).unwrap();
        let before = state.clone();
        assert!(matches!(project_start(&system, &mut state), Err(SystemError::Projection { .. })));
        assert_eq!(state, before);
    }
}
