//! Consistent starts: which constraint a start violates and by how much, and its projection.
//!
//! The projection is orthogonal in the metric of the mass (unit mass where there is none):
//! $$ q \leftarrow q - M^{-1} F^\top (F M^{-1} F^\top)^{+} f(q), \qquad
//!    v \leftarrow v - M^{-1} F^\top (F M^{-1} F^\top)^{+} (F v + f_t), $$
//! the first repeated to convergence. The pseudo-inverse lets redundant constraints pass.

use nsm_constraints::Rows;
use nsm_solvers::small::gram::PivotedCholesky;

use crate::{State, System, SystemError};

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

/// Moves a start onto the equality constraints that hold in every mode, on position and on velocity level.
///
/// # Errors
/// A mass that depends on the configuration is refused. If the Newton iteration does not converge; the state is then unchanged.
pub fn project_start(system: &System, state: &mut State) -> Result<(), SystemError> {
    const ITERATIONS: usize = 50;
    system.require_constant_mass("the projection of a start")?;
    check_finite(system, state)?;
    let rows = system.equalities();
    if rows.is_empty() {
        return Ok(());
    }
    let mut projector = Projector::new(system);
    let mut projected = state.clone();
    let mut residual = vec![0.0; rows.len()];
    let mut before = projected.q.clone();
    let mut iterations = 0;
    loop {
        rows.values(&projected.q, projected.t, &mut residual);
        // Newton has converged when its step is round-off of the positions.
        let moved = projected.q.iter().zip(&before).map(|(a, b)| (a - b).abs() / (1.0 + b.abs()));
        let converged = iterations > 0 && moved.fold(0.0, f64::max) <= 4.0 * f64::EPSILON;
        let exact = residual.iter().all(|r| *r == 0.0);
        if exact || converged {
            break;
        }
        let worst = (0..rows.len())
            .max_by(|&a, &b| residual[a].abs().total_cmp(&residual[b].abs()))
            .unwrap_or(0);
        if iterations == ITERATIONS || !residual[worst].is_finite() {
            let constraint = rows.name(worst).to_owned();
            return Err(SystemError::Projection {
                constraint,
                residual: residual[worst],
                iterations,
            });
        }
        before.copy_from_slice(&projected.q);
        projector.correct(system, &before, projected.t, &residual, &mut projected.q)?;
        iterations += 1;
    }
    // Contradictory constraints converge too, to a compromise: what is left must be round-off as well.
    projector.gradients(system, &projected.q, projected.t);
    for (i, &left) in residual.iter().enumerate() {
        let scale: f64 = rows
            .columns(i)
            .iter()
            .zip(projector.row(rows, i))
            .map(|(&c, g)| (g * projected.q[c]).abs())
            .sum();
        if left.abs() > 1e-12 * (1.0 + scale) {
            return Err(SystemError::Projection {
                constraint: rows.name(i).to_owned(),
                residual: left,
                iterations,
            });
        }
    }
    let mut gradients = vec![0.0; rows.entries()];
    rows.gradients(&projected.q, projected.t, &mut gradients);
    rows.velocities(&projected.q, projected.t, &gradients, &projected.v, &mut residual);
    projector.correct(system, &projected.q, projected.t, &residual, &mut projected.v)?;
    system.mass().multiply(&projected.v, &mut projected.p);
    *state = projected;
    Ok(())
}

/// Workspace of the mass-orthogonal correction $x \leftarrow x - M^{-1} F^\top (F M^{-1} F^\top)^+ r$.
struct Projector {
    gradients: Vec<f64>,
    gram: Vec<f64>,
    factor: PivotedCholesky,
    multipliers: Vec<f64>,
}

impl Projector {
    fn new(system: &System) -> Self {
        let rows = system.equalities();
        let m = rows.len();
        Self {
            gradients: vec![0.0; rows.entries()],
            gram: vec![0.0; m * m],
            factor: PivotedCholesky::new(m),
            multipliers: vec![0.0; m],
        }
    }

    fn gradients(&mut self, system: &System, q: &[f64], t: f64) {
        system.equalities().gradients(q, t, &mut self.gradients);
    }

    fn row(&self, rows: &Rows, i: usize) -> &[f64] {
        &self.gradients[rows.span(i)]
    }

    fn correct(
        &mut self,
        system: &System,
        q: &[f64],
        t: f64,
        r: &[f64],
        x: &mut [f64],
    ) -> Result<(), SystemError> {
        let rows = system.equalities();
        let m = rows.len();
        self.gradients(system, q, t);
        for i in 0..m {
            let column = weighted_row(system, rows, i, &self.gradients);
            for j in 0..m {
                self.gram[j * m + i] = rows.row_dot(j, &self.gradients, &column);
            }
        }
        let failed = |_| SystemError::Projection {
            constraint: rows.name(0).to_owned(),
            residual: f64::NAN,
            iterations: 0,
        };
        self.factor.factor(m, &self.gram, 1e-12).map_err(failed)?;
        self.factor.solve_minimum_norm(r, &mut self.multipliers).map_err(failed)?;
        for i in 0..m {
            for (x, w) in x.iter_mut().zip(weighted_row(system, rows, i, &self.gradients)) {
                *x -= self.multipliers[i] * w;
            }
        }
        Ok(())
    }
}

/// $M^{-1} \nabla f_i$, with unit mass where there is none.
fn weighted_row(system: &System, rows: &Rows, i: usize, gradients: &[f64]) -> Vec<f64> {
    let n = system.dimension();
    let (mut row, mut weighted) = (vec![0.0; n], vec![0.0; n]);
    rows.add_row(i, gradients, 1.0, &mut row);
    system.mass().solve(&row, &mut weighted);
    for &c in system.mass().massless() {
        weighted[c] = row[c];
    }
    weighted
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
