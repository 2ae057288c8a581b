//! What a run that came to its end may still have done wrong: warnings, found in the ledger by one rule for all methods.
//!
//! Every bound is relative to the run's own scales, so that neither units nor the way a gap is written matter:
//! - **energy**: without a source of work and with $e \le 1$ the energy never rises. Methods have a band of their own about the true energy;
//!   warned of is a rise $\max_{s<t} E(t) - E(s)$ above half of the energy there is to exchange, $E_0 - \min V$, and a trend (least squares
//!   over the run) above a tenth of it: no band of a method that is stable at its step is that wide. Where the potential is deep but rarely
//!   visited, as beside a centre of attraction, that says little: a trend above half of the mean kinetic energy is warned of, too. One impact that adds more than a twentieth of it is
//!   warned of as well: the step is too long for a method that takes impacts where its steps end;
//! - **penetration**: methods that capture impacts meet a contact up to one step late. Warned of is a depth of more than three times the
//!   largest change of that gap in one step; a depth of more than the widest opening that the step resolves, as where a light
//!   body is squeezed and crosses its room in one step; and a depth that grew to twenty times its first value over a hundred steps in a row;
//! - **crossed**: the same depth at a contact where no impact was ever booked: the method does not hold it;
//! - **contacts**: contact forces of a step whose residual is above $10^{-6}$ of the velocities that they act on;
//! - **position residual**: an equality that is off by more than a hundredth of the positions that enter it;
//! - **velocity residual**: a rate of an equality of more than a tenth of the speeds that enter it.

use std::fmt;

use crate::Ledger;

/// Rise of the energy, as a fraction of the energy there is to exchange.
const RISE: f64 = 0.5;
/// Trend of the energy, as a fraction of the same.
const TREND: f64 = 0.1;
/// The same, as a fraction of the mean kinetic energy.
const DRIFT: f64 = 0.5;
/// Gain of one impact, as a fraction of the energy there is to exchange.
const GAIN: f64 = 0.05;
/// What rounding makes of the energy, as a fraction of its size.
const ROUNDING: f64 = 1e-9;
/// What rounding makes of a potential, as a fraction of the places that enter it.
const PLACES: f64 = 1e-12;
/// Gaps of this size, as a fraction of the places that enter them, are none: methods that hold contacts do not look further.
const NONE: f64 = 1e-11;
/// Depth, in changes of the gap over one step.
const DEEP: f64 = 3.0;
/// Depth, in widest openings that the step resolves.
const COARSE: f64 = 1.0;
/// Steps in a row, and growth of the depth over them.
const SINKING: (usize, f64) = (100, 20.0);
/// Residual of contact forces, relative to the velocities that they act on.
const UNSOLVED: f64 = 1e-6;
/// Residual on position level, as a fraction of the positions that enter it.
const APART: f64 = 0.01;
/// Residual on velocity level, as a fraction of the speeds that enter it.
const RESIDUAL: f64 = 0.1;

/// One thing that a run did and its laws do not allow.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The energy rose, and nothing does work.
    Energy {
        /// By how much, from its lowest value on or by its trend.
        rise: f64,
        /// The energy there is to exchange, $E_0 - \min V$.
        available: f64,
    },
    /// The energy drifts upwards, and nothing does work.
    Drift {
        /// By how much, by its trend.
        rise: f64,
        /// The mean kinetic energy.
        kinetic: f64,
    },
    /// An impact added energy.
    Impact {
        /// How much.
        gain: f64,
        /// The energy there is to exchange, $E_0 - \min V$.
        available: f64,
    },
    /// A contact was penetrated deeper than a late impact explains.
    Penetration {
        /// Its name.
        contact: String,
        /// How deep, in the units of the gap.
        depth: f64,
        /// The largest change of the gap in one step.
        reach: f64,
    },
    /// A contact was penetrated by more than the room that it ever had: the step does not resolve the motion there.
    Coarse {
        /// Its name.
        contact: String,
        /// How deep, in the units of the gap.
        depth: f64,
        /// The widest opening at which the gap changed by less than a third of itself in a step.
        opening: f64,
    },
    /// A contact sinks: it is penetrated deeper from step to step.
    Sinking {
        /// Its name.
        contact: String,
        /// How deep in the end.
        depth: f64,
        /// How many steps in a row.
        steps: usize,
    },
    /// A contact was crossed, and no impact was booked at it.
    Crossed {
        /// Its name.
        contact: String,
        /// How deep, in the units of the gap.
        depth: f64,
    },
    /// Contact forces were taken that do not solve their equations.
    ContactForces {
        /// Largest residual, relative to the velocities that they act on.
        residual: f64,
    },
    /// Positions have left the equality constraints.
    PositionResidual {
        /// Largest value of an equality.
        residual: f64,
        /// The positions that enter it.
        size: f64,
    },
    /// Velocities have left the equality constraints.
    VelocityResidual {
        /// Largest rate of an equality.
        residual: f64,
        /// The speeds that enter it.
        speed: f64,
    },
}

impl Warning {
    /// Every [kind](Self::kind) there is.
    pub const KINDS: [&'static str; 7] =
        ["energy", "penetration", "sinking", "crossed", "contacts", "position", "velocity"];

    /// One word for it, the same in all releases.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Energy { .. } | Self::Drift { .. } | Self::Impact { .. } => "energy",
            Self::Penetration { .. } | Self::Coarse { .. } => "penetration",
            Self::Sinking { .. } => "sinking",
            Self::Crossed { .. } => "crossed",
            Self::ContactForces { .. } => "contacts",
            Self::PositionResidual { .. } => "position",
            Self::VelocityResidual { .. } => "velocity",
        }
    }

    /// The number that shows it, as a multiple of what it is measured by.
    pub fn value(&self) -> f64 {
        match self {
            Self::Energy { rise, available } => rise / available,
            Self::Drift { rise, kinetic } => rise / kinetic,
            Self::Impact { gain, available } => gain / available,
            Self::Penetration { depth, reach, .. } => depth / reach,
            Self::Coarse { depth, opening, .. } => depth / opening,
            Self::Sinking { depth, .. } | Self::Crossed { depth, .. } => *depth,
            Self::ContactForces { residual } => *residual,
            Self::PositionResidual { residual, size } => residual / size,
            Self::VelocityResidual { residual, speed } => residual / speed,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Energy { rise, available } => write!(
                f,
                "the energy rose by {rise:.3e}, and nothing does work (there are {available:.3e} to exchange): take a smaller step, or a method that is stable here"
            ),
            Self::Drift { rise, kinetic } => write!(
                f,
                "the energy drifted up by {rise:.3e}, and nothing does work (the kinetic energy is {kinetic:.3e} on average): take a smaller step, or a method that is stable here"
            ),
            Self::Impact { gain, available } => write!(
                f,
                "an impact added {gain:.3e} to the energy (there are {available:.3e} to exchange): take a smaller step, or a method that stops at impacts, such as svci or alpha-event"
            ),
            Self::Penetration { contact, depth, reach } => write!(
                f,
                "`{contact}` is penetrated by {depth:.3e}, while its gap changes by {reach:.3e} in a step at most: take a smaller step, or a method that holds contacts under load"
            ),
            Self::Coarse { contact, depth, opening } => write!(
                f,
                "`{contact}` is penetrated by {depth:.3e}, and never opens by more than {opening:.3e} where the step resolves it: take a smaller step, or a method that locates impacts, such as svci"
            ),
            Self::Sinking { contact, depth, steps } => write!(
                f,
                "`{contact}` sinks: it was penetrated for {steps} steps in a row, to {depth:.3e} and deeper from step to step: take a method that holds resting contacts"
            ),
            Self::Crossed { contact, depth } => write!(
                f,
                "`{contact}` was crossed by {depth:.3e} without an impact: this method does not hold it; take one that does, such as gvi"
            ),
            Self::ContactForces { residual } => write!(
                f,
                "contact forces are solved to {residual:.3e} only, relative to the velocities that they act on: redundant or jammed contacts; take a smaller step, or less friction, and do not trust the forces"
            ),
            Self::PositionResidual { residual, size } => write!(
                f,
                "positions leave the equality constraints: one is off by {residual:.3e} where positions are {size:.3e}: take a smaller step, or a method that holds constraints on position level"
            ),
            Self::VelocityResidual { residual, speed } => write!(
                f,
                "velocities leave the equality constraints: a rate of {residual:.3e} where speeds are {speed:.3e}: take a smaller step, more damping (`rho`), or a method that holds constraints on velocity level"
            ),
        }
    }
}

impl Ledger {
    /// What the run did and its laws do not allow; empty if all is well.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        warnings.extend(self.energy_warning());
        let size = self.contacts.iter().map(|c| c.size).fold(0.0, f64::max);
        let noise = (ROUNDING * size).max(NONE * self.size);
        for (contact, name) in self.contacts.iter().zip(self.gap_names()) {
            warnings.extend(contact.warning(name, noise));
        }
        if self.contact_residual > UNSOLVED {
            let residual = self.contact_residual;
            warnings.push(Warning::ContactForces { residual });
        }
        let (residual, size) = (self.position_residual, self.position_scale);
        if residual > APART * size {
            warnings.push(Warning::PositionResidual { residual, size });
        }
        let (residual, speed) = (self.velocity_residual, self.velocity_scale);
        if residual > RESIDUAL * speed {
            warnings.push(Warning::VelocityResidual { residual, speed });
        }
        warnings
    }

    fn energy_warning(&self) -> Option<Warning> {
        if self.driven {
            return None;
        }
        let energy = &self.energy;
        let size = energy.max.abs().max(energy.min.abs()).max(self.lowest_potential.abs());
        let rounding = ROUNDING * size + PLACES * self.potential_scale;
        let available = (energy.start - self.lowest_potential).max(0.0) + rounding;
        let (rise, trend) = (self.rise, energy.trend());
        if rise > RISE * available {
            return Some(Warning::Energy { rise, available });
        }
        if trend > TREND * available && rise > TREND * available {
            return Some(Warning::Energy { rise: trend, available });
        }
        let kinetic = self.mean_kinetic + rounding;
        if trend > DRIFT * kinetic && rise > DRIFT * kinetic {
            return Some(Warning::Drift { rise: trend, kinetic });
        }
        let gain = self.event_gain;
        (gain > GAIN * available).then_some(Warning::Impact { gain, available })
    }
}

/// What the account keeps of one contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContactAccount {
    gap: f64,
    /// Largest size of the gap, and largest change in one step.
    pub(crate) size: f64,
    reach: f64,
    /// Widest opening at which one step changed the gap by less than a third of it.
    opening: f64,
    /// Depth at the start, and how much deeper it came to be.
    start: f64,
    depth: f64,
    /// Impacts booked.
    pub(crate) events: usize,
    /// Steps in a row below the surface up to now, and the depth at the first of them.
    steps: usize,
    first: f64,
    /// In how many of them it went deeper.
    deeper: usize,
    /// Longest such row that sank, and the depth that it reached.
    sank: (usize, f64),
}

impl ContactAccount {
    pub(crate) fn new(gap: f64) -> Self {
        Self { gap, size: gap.abs(), start: (-gap).max(0.0), ..Self::default() }
    }

    /// Takes in the gap after a step.
    pub(crate) fn step(&mut self, gap: f64) {
        let change = (gap - self.gap).abs();
        self.reach = self.reach.max(change);
        if gap > 3.0 * change {
            self.opening = self.opening.max(gap);
        }
        self.size = self.size.max(gap.abs());
        self.depth = self.depth.max(-gap - self.start);
        let deeper = gap < self.gap;
        self.gap = gap;
        if gap >= 0.0 {
            self.steps = 0;
            return;
        }
        self.steps += 1;
        if self.steps == 1 {
            (self.first, self.deeper) = (-gap, 0);
        }
        self.deeper += usize::from(deeper);
        let (least, growth) = SINKING;
        let sinks = 10 * self.deeper > 9 * self.steps && -gap > growth * self.first;
        if sinks && self.steps >= least && self.steps > self.sank.0 {
            self.sank = (self.steps, -gap);
        }
    }

    /// What is wrong with this contact, if gaps of the size `noise` are rounding.
    fn warning(&self, name: &str, noise: f64) -> Option<Warning> {
        let contact = name.to_owned();
        let &Self { depth, reach, opening, events, sank: (steps, sunk), .. } = self;
        if depth <= noise {
            return None;
        }
        if depth > DEEP * reach {
            return Some(if events == 0 {
                Warning::Crossed { contact, depth }
            } else {
                Warning::Penetration { contact, depth, reach }
            });
        }
        if events > 0 && depth > COARSE * opening && opening > 0.0 {
            return Some(Warning::Coarse { contact, depth, opening });
        }
        (steps > 0 && sunk > noise).then_some(Warning::Sinking { contact, depth: sunk, steps })
    }
}
