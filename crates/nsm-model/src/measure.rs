//! Diagnostics of a state, computed the same way for every integrator.

use nsm_constraints::{Rows, Switching};

use crate::work::{WorkBook, WorkMemory};
use crate::{Events, State, System};

/// What is known about one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Time.
    pub t: f64,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
    /// The tracked quantities, in the order of [`Probe::invariants`].
    pub invariants: Vec<f64>,
    /// The gaps, one per inequality.
    pub gaps: Vec<f64>,
    /// Largest coordinate, or place of a body.
    pub size: f64,
    /// Largest $|f_i(q)|$ over the equalities, those of the present mode included.
    pub position_residual: f64,
    /// Largest $\sum_k |\partial_k f_i|\\,|q|_\infty$ over the same: what the values are made of.
    pub position_scale: f64,
    /// Largest $|\dot f_i|$ over the same.
    pub velocity_residual: f64,
    /// Largest $\sum_k |\partial_k f_i|\\,|v_k|$ over the same, with what rounding of positions makes of them: what the rates are made of.
    pub velocity_scale: f64,
    /// Work since the start of everything that no potential gives, in the order of [`Probe::workers`].
    pub work: Vec<f64>,
}

impl Measurement {
    /// Total energy.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Total energy without the work that was done: what stays put between impacts.
    pub fn balance(&self) -> f64 {
        self.energy() - self.work.iter().sum::<f64>()
    }

    /// How deep the deepest contact lies below its surface; zero if none does, NaN if a gap is NaN.
    pub fn penetration(&self) -> f64 {
        self.gaps.iter().fold(0.0, |depth, gap| larger(depth, -gap))
    }
}

/// Under which gap what happens at a contact is accounted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounts {
    /// Every contact has a gap of its own.
    #[default]
    Each,
    /// Contacts from this one on share one gap, the last.
    Together(usize),
    /// There are two gaps: one of the contacts before this one, the other of the rest.
    Two(usize),
    /// So many contacts from this one on share one gap, which stands in their place; those after them have one each.
    Pool(usize, usize),
}

impl Accounts {
    /// The gap of a contact.
    pub fn gap(self, contact: usize) -> usize {
        match self {
            Self::Each => contact,
            Self::Two(from) => usize::from(contact >= from),
            Self::Pool(from, count) if contact >= from + count => contact - count + 1,
            Self::Together(from) | Self::Pool(from, _) => contact.min(from),
        }
    }
}

/// Measures states of one kind.
pub trait Probe {
    /// The kind of state.
    type State;

    /// Names of the tracked quantities.
    fn invariants(&self) -> Vec<String>;

    /// Which of the tracked quantities should stay what they are.
    fn conserved(&self) -> Vec<bool> {
        vec![true; self.invariants().len()]
    }

    /// Names of the gaps.
    fn gaps(&self) -> Vec<String>;

    /// Under which gap what happens at a contact is accounted for.
    fn accounts(&self) -> Accounts {
        Accounts::Each
    }

    /// Names of all that may rub: the gaps, then dry friction on freedoms.
    fn rubbing(&self) -> Vec<String> {
        self.gaps()
    }

    /// Whether something does work on the system, so that its energy may rise: forces that no potential gives, surfaces that move by themselves, and
    /// whatever depends on time.
    fn is_driven(&self) -> bool;

    /// What the potential is made of, $\sum_k |\partial_k V|\\,|q|_\infty$: places are known to rounding, and the potential to that part of this.
    fn potential_scale(&self, _state: &Self::State) -> f64 {
        0.0
    }

    /// Names of what does work: forces, and terms and constraints that depend on time.
    fn workers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Takes what the method knows of the step to the state that is measured next: the impulses of its equalities, and its events.
    fn tell(&mut self, _state: &Self::State, _impulses: Option<&[f64]>, _events: &Events) {}

    /// Time of a state.
    fn time(&self, state: &Self::State) -> f64;

    /// Measures a state into `out`, whose vectors are resized at the first use and kept.
    fn measure(&mut self, state: &Self::State, out: &mut Measurement);
}

/// What a [`SystemProbe`] remembers of the states that it has measured.
#[derive(Clone, Debug)]
pub struct ProbeMemory {
    last: f64,
    step: f64,
    work: WorkMemory,
}

/// The probe for systems in coordinates.
#[derive(Debug)]
pub struct SystemProbe<'a> {
    system: &'a System,
    gradients: Vec<f64>,
    rows: Vec<f64>,
    /// Coordinates shifted by whole periods, for periodic modes.
    local: Vec<f64>,
    book: WorkBook<'a>,
    /// When the last state was, and how long the step from there took.
    last: f64,
    step: f64,
}

impl<'a> SystemProbe<'a> {
    /// A probe with its workspace.
    pub fn new(system: &'a System) -> Self {
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        let all = || modes.iter().chain([system.equalities()]);
        Self {
            system,
            gradients: vec![0.0; all().map(Rows::entries).max().unwrap_or(0)],
            rows: vec![0.0; all().map(Rows::len).max().unwrap_or(0)],
            local: vec![0.0; system.dimension()],
            book: WorkBook::new(system),
            last: f64::NAN,
            step: f64::INFINITY,
        }
    }

    /// What it remembers of the states so far.
    pub fn memory(&self) -> ProbeMemory {
        ProbeMemory { last: self.last, step: self.step, work: self.book.memory() }
    }

    /// A probe that goes on where one of a system stopped that differs from its own by inequalities alone.
    #[must_use]
    pub fn following(mut self, memory: ProbeMemory) -> Self {
        (self.last, self.step) = (memory.last, memory.step);
        self.book.follow(memory.work);
        self
    }

    /// Takes the residuals of a set of equalities into the measurement.
    fn residuals(
        &mut self,
        equalities: &Rows,
        q: &[f64],
        t: f64,
        v: &[f64],
        out: &mut Measurement,
    ) {
        let rows = &mut self.rows[..equalities.len()];
        let gradients = &mut self.gradients[..equalities.entries()];
        let size = largest(q);
        equalities.values(q, t, rows);
        out.position_residual = larger(out.position_residual, largest(rows));
        equalities.gradients(q, t, gradients);
        equalities.velocities(q, t, gradients, v, rows);
        out.velocity_residual = larger(out.velocity_residual, largest(rows));
        for i in 0..equalities.len() {
            let gradient = &gradients[equalities.span(i)];
            let columns = equalities.columns(i).iter().zip(gradient);
            // Rounding of positions over a step is a speed too: at rest there is no other.
            let rounding = 8.0 * f64::EPSILON / self.step;
            let speed = columns.map(|(&k, g)| g.abs() * (v[k].abs() + rounding * q[k].abs())).sum();
            out.velocity_scale = larger(out.velocity_scale, speed);
            let slope: f64 = gradient.iter().map(|g| g.abs()).sum();
            out.position_scale = larger(out.position_scale, slope * size);
        }
    }
}

impl Probe for SystemProbe<'_> {
    type State = State;

    fn invariants(&self) -> Vec<String> {
        self.system.invariants().iter().map(|i| i.name.clone()).collect()
    }

    fn conserved(&self) -> Vec<bool> {
        self.system.invariants().iter().map(|i| i.conserved).collect()
    }

    fn gaps(&self) -> Vec<String> {
        self.system.inequalities().names().to_vec()
    }

    fn rubbing(&self) -> Vec<String> {
        self.system.rubbing_names()
    }

    fn is_driven(&self) -> bool {
        let system = self.system;
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        let rows = [system.potential(), system.equalities(), system.inequalities()];
        !system.forces().is_empty()
            || system.tangents().drift()
            || rows.into_iter().chain(modes).any(Rows::is_rheonomic)
    }

    fn potential_scale(&self, state: &State) -> f64 {
        let potential = self.system.potential();
        let mut slopes = vec![0.0_f64; potential.entries()];
        potential.gradients(&state.q, state.t, &mut slopes);
        slopes.iter().map(|s| s.abs()).sum::<f64>() * largest(&state.q)
    }

    fn workers(&self) -> Vec<String> {
        self.book.names()
    }

    fn tell(&mut self, state: &State, impulses: Option<&[f64]>, events: &Events) {
        self.book.tell(state, impulses, events);
    }

    fn time(&self, state: &State) -> f64 {
        state.t
    }

    fn measure(&mut self, state: &State, out: &mut Measurement) {
        let State { t, q, v, p, mode } = state;
        out.t = *t;
        out.size = largest(q);
        out.kinetic = self.system.kinetic_energy(q, v);
        out.potential = self.system.potential().sum(q, *t);
        if *t > self.last {
            self.step = t - self.last;
        }
        self.last = *t;
        self.book.book(state);
        out.work.clone_from(&self.book.work);
        out.invariants.clear();
        out.invariants.extend(self.system.invariants().iter().map(|i| i.value(q, p)));
        out.gaps.resize(self.system.inequalities().len(), 0.0);
        self.system.inequalities().values(q, *t, &mut out.gaps);
        // A formula that overflows tells nothing.
        out.gaps.iter_mut().filter(|gap| gap.is_infinite()).for_each(|gap| *gap = f64::NAN);
        (out.position_residual, out.velocity_residual) = (0.0, 0.0);
        (out.position_scale, out.velocity_scale) = (0.0, 0.0);
        let system = self.system;
        self.residuals(system.equalities(), q, *t, v, out);
        if let Some(switching) = system.switching() {
            match switching.rows(*mode) {
                Some(rows) => {
                    let mut local = std::mem::take(&mut self.local);
                    self.residuals(rows, switching.local(*mode, q, &mut local), *t, v, out);
                    self.local = local;
                }
                None => out.position_residual = f64::NAN,
            }
        }
    }
}

/// Largest magnitude; NaN if any entry is NaN.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, b| larger(a, b.abs()))
}

/// The larger of the two; NaN if either is.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { f64::max(a, b) }
}
