//! Impacts with friction: Newton's law with the exact cone of Coulomb, and a limiter that keeps it from gaining energy.
//!
//! With $u^-$ the velocities of the contacts in their frames (normal, tangent, tangent), $W$ the matrix that turns impulses into changes of
//! them and $E = \operatorname{diag}(e, e_T, e_T)$, every round takes the contacts that approach (and all that do not rebound) and finds
//! $$ u^+ = u^- + W r, \qquad K_\mu \ni r \perp \hat\xi \in K_\mu^*, \qquad \xi = u^+ + E u^-, $$
//! a friction problem with $q = (1 + E)u^-$. With one value $e = e_T$ everywhere it loses energy, and so does every plastic impact ($E = 0$).
//! Any other gains energy in some configurations (a rod that strikes at 45° with $e = 1$ gains a third of what it brought). Therefore
//! $$ \Delta E = r \cdot u^- + \tfrac12 r \cdot W r \le (1 - e_{\max}^2)\\,\Delta E_{\text{plastic}} $$
//! is demanded ($\le 0$ where nothing rubs), and $E$ is replaced by $\alpha E$ with the largest $\alpha \in [0, 1]$ that satisfies it. For
//! central impacts $\alpha = 1$. Without friction the impact is the reflection of [`Kernel`](crate::Kernel).

use nsm_model::ContactLaw;
use nsm_solvers::friction::{
    Delassus, Exchange, FrictionError, FrictionOptions, FrictionProblem, FrictionSolver,
};

use crate::ReflectError;

/// Steps of the search for the limiter.
const SEARCH: usize = 100;

/// Problems without solution after which the search is given up.
const UNSOLVED: usize = 2;

/// Share of the energies that impulses exchange below which a gain is rounding.
const ROUNDING: f64 = 1e-15;

/// A gain that rounding may hide is no gain below this share of the energy that the impulses would give to bodies at rest.
const HIDDEN: f64 = 1e-14;

/// Share of that energy which impulses that press against each other leave unknown: beyond it the contacts jam.
const JAMMED: f64 = 1e-10;

/// Share of the largest velocity below which a contact does not slip.
const STICKS: f64 = 1e-9;

/// What is proved about an impact with friction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct FrictionCertificate {
    /// Rounds; none if nothing approached.
    pub rounds: usize,
    /// Smallest factor $\alpha$ by which restitutions were lowered; one where none was.
    pub limiter: f64,
    /// Largest scale-free residual of the friction problems.
    pub residual: f64,
    /// Energy after minus energy before; not positive, up to rounding.
    pub energy_change: f64,
    /// Whether the rounds were ended by one without rebound.
    pub collapsed: bool,
}

/// Resolves impacts with friction; nothing is allocated once it has grown to the contacts that it meets, unless a problem needs the
/// slower methods of [`nsm_solvers::friction`].
///
/// ```
/// use nsm_model::ContactLaw;
/// use nsm_reflect::FrictionImpact;
/// use nsm_solvers::friction::Delassus;
///
/// // A ball (m = 1, I = 2/5 m R²) that bounces and slips on a floor.
/// let mut w = Delassus::default();
/// w.set_full(1, &[1.0, 0.0, 0.0, 0.0, 3.5, 0.0, 0.0, 0.0, 3.5]);
/// let law = ContactLaw { restitution: 0.5, tangential_restitution: 0.0, friction: 0.05 };
/// let mut impact = FrictionImpact::default();
/// let certificate = impact.resolve(&w, &[-2.0, 1.0, 0.0], &[law], &[1e-12])?;
/// // The normal impulse is (1 + e)·2, friction 0.05 of that.
/// assert!((impact.impulses()[0] - 3.0).abs() < 1e-14);
/// assert!((impact.impulses()[1] + 0.15).abs() < 1e-14);
/// assert!(impact.slips()[0] && certificate.energy_change < 0.0);
/// # Ok::<(), nsm_reflect::ReflectError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrictionImpact {
    /// What is asked of the friction problems.
    pub options: FrictionOptions,
    problem: FrictionProblem,
    solver: FrictionSolver,
    exchange: Exchange,
    chosen: Vec<usize>,
    /// Of the chosen contacts: velocities, $E u^-$, right-hand side, friction, impulses and those of the best attempt.
    u: Vec<f64>,
    rebound: Vec<f64>,
    q: Vec<f64>,
    mu: Vec<f64>,
    r: Vec<f64>,
    kept: Vec<f64>,
    /// Of all contacts: impulses of the round, and what they do.
    spread: Vec<f64>,
    change: Vec<f64>,
    impulses: Vec<f64>,
    after: Vec<f64>,
    work: Vec<f64>,
    slips: Vec<bool>,
}

impl Default for FrictionImpact {
    fn default() -> Self {
        Self {
            options: FrictionOptions {
                tolerance: 1e-13,
                enough: 1e-10,
                acceptable: 1e-6,
                patient: false,
                ..FrictionOptions::default()
            },
            problem: FrictionProblem::default(),
            solver: FrictionSolver::default(),
            exchange: Exchange::default(),
            chosen: Vec::new(),
            u: Vec::new(),
            rebound: Vec::new(),
            q: Vec::new(),
            mu: Vec::new(),
            r: Vec::new(),
            kept: Vec::new(),
            spread: Vec::new(),
            change: Vec::new(),
            impulses: Vec::new(),
            after: Vec::new(),
            work: Vec::new(),
            slips: Vec::new(),
        }
    }
}

/// What an attempt with some $\alpha$ came to.
#[derive(Clone, Copy)]
struct Attempt {
    energy_change: f64,
    /// What the energy change is made of.
    exchanged: f64,
    residual: f64,
    /// $r\cdot u$, $r\cdot Wr$, and what rounding leaves unknown of the energy.
    along: f64,
    square: f64,
    doubt: f64,
}

impl FrictionImpact {
    /// Impulses of the last impact, three for each contact: normal, tangent, tangent.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// Velocities after the last impact, three for each contact.
    pub fn after(&self) -> &[f64] {
        &self.after
    }

    /// Energy that each contact added in the last impact (negative: took).
    pub fn work(&self) -> &[f64] {
        &self.work
    }

    /// Whether each contact slips after the last impact.
    pub fn slips(&self) -> &[bool] {
        &self.slips
    }

    /// Resolves the impact of contacts that touch with velocities `before`, three for each; a contact approaches if its normal velocity is
    /// below minus its `tolerance`. Contacts that approach rebound by their law; contacts with restitution zero take part whether they
    /// approach or not.
    ///
    /// # Errors
    /// A law out of range, a contact that no impulse moves, a friction problem without solution, rounds without end, slices that do not fit.
    pub fn resolve(
        &mut self,
        w: &Delassus,
        before: &[f64],
        laws: &[ContactLaw],
        tolerance: &[f64],
    ) -> Result<FrictionCertificate, ReflectError> {
        let n = w.len();
        for (what, length, expected) in [
            ("the list of velocities", before.len(), 3 * n),
            ("the list of laws", laws.len(), n),
            ("the list of tolerances", tolerance.len(), n),
        ] {
            if length != expected {
                return Err(ReflectError::Length { what, length, expected });
            }
        }
        for (contact, law) in laws.iter().enumerate() {
            law.check("")?;
            if before[3 * contact..3 * contact + 3].iter().any(|u| !u.is_finite()) {
                return Err(ReflectError::NotFinite { what: "the velocity", contact });
            }
        }
        self.after.clear();
        self.after.extend_from_slice(before);
        for (vector, length) in
            [(&mut self.impulses, 3 * n), (&mut self.spread, 3 * n), (&mut self.work, n)]
        {
            vector.clear();
            vector.resize(length, 0.0);
        }
        let mut certificate = FrictionCertificate {
            rounds: 0,
            limiter: 1.0,
            residual: 0.0,
            energy_change: 0.0,
            collapsed: false,
        };
        let most = 60 + 4 * n;
        for round in 0..=most + 1 {
            let collapse = round == most;
            if !self.choose(w, laws, tolerance, collapse)? {
                break;
            }
            if round > most {
                return Err(self.endless(round));
            }
            self.round(w, laws, tolerance, collapse, &mut certificate)?;
            certificate.rounds += 1;
            certificate.collapsed |= collapse;
        }
        let speed = before.iter().chain(&self.after).fold(0.0_f64, |a, u| a.max(u.abs()));
        self.slips.clear();
        self.slips.extend((0..n).map(|i| {
            self.after[3 * i + 1].hypot(self.after[3 * i + 2]) > STICKS * speed + tolerance[i]
        }));
        Ok(certificate)
    }

    /// Takes the contacts of the next round; whether any approaches.
    fn choose(
        &mut self,
        w: &Delassus,
        laws: &[ContactLaw],
        tolerance: &[f64],
        collapse: bool,
    ) -> Result<bool, ReflectError> {
        self.chosen.clear();
        let mut approaching = false;
        for (i, law) in laws.iter().enumerate() {
            let violated = self.after[3 * i] < -tolerance[i];
            let inertia = w.own(i)[0];
            if inertia <= 0.0 || inertia.is_nan() {
                if violated {
                    return Err(ReflectError::NotPositive { contact: i, value: inertia });
                }
                continue;
            }
            approaching |= violated;
            if violated || law.restitution == 0.0 || collapse {
                self.chosen.push(i);
            }
        }
        Ok(approaching)
    }

    /// One round over the chosen contacts.
    fn round(
        &mut self,
        w: &Delassus,
        laws: &[ContactLaw],
        tolerance: &[f64],
        collapse: bool,
        certificate: &mut FrictionCertificate,
    ) -> Result<(), ReflectError> {
        for vector in [&mut self.u, &mut self.rebound, &mut self.mu, &mut self.r] {
            vector.clear();
        }
        let mut largest = 0.0_f64;
        for &i in &self.chosen {
            let (u, law) = (&self.after[3 * i..3 * i + 3], &laws[i]);
            let bounces = u[0] < -tolerance[i] && !collapse;
            let (e, tangential) =
                if bounces { (law.restitution, law.tangential_restitution) } else { (0.0, 0.0) };
            let tangential = if law.friction > 0.0 { tangential } else { 0.0 };
            largest = largest.max(e).max(tangential);
            self.u.extend_from_slice(u);
            self.rebound.extend([e * u[0], tangential * u[1], tangential * u[2]]);
            self.mu.push(law.friction);
        }
        self.r.resize(self.u.len(), 0.0);
        let (alpha, mut attempt) = self.limited(w, largest)?;
        self.secure(&mut attempt)?;
        certificate.limiter = certificate.limiter.min(alpha);
        certificate.residual = certificate.residual.max(attempt.residual);
        certificate.energy_change += attempt.energy_change;
        self.apply(w);
        Ok(())
    }

    /// Finds the impulses of a round, into `r`: with restitutions lowered until they obey the bound on energy.
    fn limited(&mut self, w: &Delassus, largest: f64) -> Result<(f64, Attempt), ReflectError> {
        if largest == 0.0 {
            return Ok((1.0, self.attempt(w, 0.0)?));
        }
        let rubs = self.mu.iter().any(|mu| *mu > 0.0);
        let mut target = 0.0;
        let mut plastic = None;
        if rubs && largest < 1.0 {
            let attempt = self.attempt(w, 0.0)?;
            target = (1.0 - largest * largest) * attempt.energy_change;
            plastic = Some(attempt);
        }
        let excess = |a: &Attempt| a.energy_change - target - ROUNDING * a.exchanged;
        let whole = self.attempt(w, 1.0);
        match &whole {
            Ok(attempt) if excess(attempt) <= 0.0 => return Ok((1.0, *attempt)),
            Ok(_) | Err(ReflectError::Friction { .. }) => {}
            Err(error) => return Err(error.clone()),
        }
        // A problem that has no solution counts as one that gains.
        let mut above = whole.as_ref().map_or(f64::INFINITY, &excess);
        let mut best = match plastic {
            Some(attempt) => attempt,
            None => self.attempt(w, 0.0)?,
        };
        if plastic.is_some() {
            self.attempt(w, 0.0)?;
        }
        self.kept.clear();
        self.kept.extend_from_slice(&self.r);
        let (mut low, mut high, mut below) = (0.0, 1.0, excess(&best).min(0.0));
        let (mut side, mut unsolved) = (0, 0);
        for step in 0..SEARCH {
            if high - low <= 2.0 * f64::EPSILON || unsolved > UNSOLVED {
                break;
            }
            let secant = (low * above - high * below) / (above - below);
            let inside = secant > low && secant < high && step % 4 != 3;
            let alpha = if inside { secant } else { 0.5 * (low + high) };
            let attempt = self.attempt(w, alpha);
            unsolved += usize::from(attempt.is_err());
            let value = attempt.as_ref().map_or(f64::INFINITY, |a| a.energy_change - target);
            if let (Ok(attempt), true) = (attempt, value <= 0.0) {
                (low, below, best) = (alpha, value, attempt);
                self.kept.clear();
                self.kept.extend_from_slice(&self.r);
                if value > -ROUNDING * best.exchanged {
                    break;
                }
                if side == -1 {
                    above *= 0.5;
                }
                side = -1;
            } else {
                (high, above) = (alpha, value);
                if side == 1 {
                    below *= 0.5;
                }
                side = 1;
            }
        }
        self.r.clear();
        self.r.extend_from_slice(&self.kept);
        Ok((low, best))
    }

    /// The impulses with restitutions times `alpha`, into `r`, from those that are there.
    fn attempt(&mut self, w: &Delassus, alpha: f64) -> Result<Attempt, ReflectError> {
        self.q.clear();
        self.q.extend(self.u.iter().zip(&self.rebound).map(|(u, b)| u + alpha * b));
        let named = |error: FrictionError, chosen: &[usize]| match error {
            FrictionError::NotSolved { residual, contact } => {
                ReflectError::Friction { contact: chosen[contact], residual }
            }
            FrictionError::NotFinite { what, contact } => {
                ReflectError::NotFinite { what, contact: chosen[contact] }
            }
            FrictionError::NoInertia { contact, value } => {
                ReflectError::NotPositive { contact: chosen[contact], value }
            }
            FrictionError::Length { what, length, expected } => {
                ReflectError::Length { what, length, expected }
            }
            FrictionError::Coefficient { contact, .. } => {
                ReflectError::NotFinite { what: "the friction", contact: chosen[contact] }
            }
        };
        let Self { problem, solver, chosen, q, mu, r, options, .. } = self;
        problem.assemble(w, chosen, q, mu).map_err(|e| named(e, chosen))?;
        let report = solver.solve(problem, r, options);
        if report.is_err() {
            r.fill(0.0);
        }
        let report = report.map_err(|e| named(e, chosen))?;
        self.spread_out(w);
        let (mut along, mut exchanged, mut sizes, mut speed) = (0.0, 0.0, 0.0, 0.0_f64);
        for (slot, &i) in self.chosen.iter().enumerate() {
            for k in 0..3 {
                let (r, u) = (self.r[3 * slot + k], self.u[3 * slot + k]);
                along += r * u;
                exchanged += r.abs() * (u.abs() + 0.5 * self.change[3 * i + k].abs());
                sizes += r.abs();
                speed = speed.max(u.abs());
            }
        }
        let given = w.exchange(&self.spread, &mut self.exchange);
        let moved = (0.5 * given.square).max(along.abs());
        let unknown = f64::EPSILON * given.pressed;
        if unknown > JAMMED * moved {
            let contact = self.strongest();
            return Err(ReflectError::Friction { contact, residual: unknown / moved });
        }
        Ok(Attempt {
            energy_change: along + 0.5 * given.square,
            exchanged,
            residual: report.residual,
            along,
            square: given.square,
            doubt: given.doubt + f64::EPSILON * sizes * speed,
        })
    }

    /// The chosen contact with the largest impulse.
    fn strongest(&self) -> usize {
        let of = |slot: &usize| self.r[3 * slot].abs();
        let slot = (0..self.chosen.len()).max_by(|a, b| of(a).total_cmp(&of(b)));
        self.chosen[slot.unwrap_or(0)]
    }

    /// Shortens the impulses so that the bodies do not gain energy whatever rounding hides: $s$ with $s\\,r\cdot u + s^2\\,r\cdot Wr/2$ at
    /// minus what is unknown.
    fn secure(&mut self, attempt: &mut Attempt) -> Result<(), ReflectError> {
        let Attempt { along, square, doubt, .. } = *attempt;
        if attempt.energy_change + doubt <= HIDDEN * 0.5 * square {
            return Ok(());
        }
        let root = along * along - 2.0 * square * doubt;
        if along >= 0.0 || root.is_nan() || root < 0.0 {
            let (contact, residual) = (self.strongest(), doubt / along.abs());
            return Err(ReflectError::Friction { contact, residual });
        }
        let short = ((root.sqrt() - along) / square).min(1.0);
        self.r.iter_mut().for_each(|r| *r *= short);
        attempt.energy_change = short * (along + 0.5 * short * square);
        Ok(())
    }

    /// Writes what the impulses `r` change, into `change`.
    fn spread_out(&mut self, w: &Delassus) {
        self.spread.fill(0.0);
        for (slot, &i) in self.chosen.iter().enumerate() {
            self.spread[3 * i..3 * i + 3].copy_from_slice(&self.r[3 * slot..3 * slot + 3]);
        }
        self.change.clear();
        self.change.resize(self.spread.len(), 0.0);
        w.add_product(&self.spread, &mut self.change);
    }

    /// Takes the impulses `r` as they are.
    fn apply(&mut self, w: &Delassus) {
        self.spread_out(w);
        for &i in &self.chosen {
            for k in 3 * i..3 * i + 3 {
                self.impulses[k] += self.spread[k];
                self.work[i] += self.spread[k] * (self.after[k] + 0.5 * self.change[k]);
            }
        }
        self.after.iter_mut().zip(&self.change).for_each(|(u, d)| *u += d);
    }

    fn endless(&self, rounds: usize) -> ReflectError {
        let approach = |i: &usize| -self.after[3 * i];
        let worst = (0..self.after.len() / 3).max_by(|a, b| approach(a).total_cmp(&approach(b)));
        let contact = worst.unwrap_or(0);
        ReflectError::Rounds { contact, residual: approach(&contact), rounds }
    }
}
