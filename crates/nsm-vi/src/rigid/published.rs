//! The LGVCI as published, at work: bodies over planes, each by itself.

use nsm_geom::Shape;
use nsm_model::{Clock, Events, StepError, StepReport};
use nsm_reflect::ReflectError;
use nsm_solvers::roots::Bracket;

use super::{
    BodyState, Flight, Jump, Lgvci, RigidBody, RigidError, RigidState, RigidWorld, Unsolved,
    approach::{Approach, Contact, Sample},
    impact::Impact,
};

/// Each body by itself over planes.
#[derive(Debug)]
pub(super) struct PublishedStepper<'a> {
    world: &'a RigidWorld,
    method: Lgvci,
    h: f64,
    /// Energy of each body at the start.
    energies: Vec<f64>,
    next: Vec<BodyState>,
    near: Vec<usize>,
    impact: Impact,
    order: Vec<usize>,
    pending: Events,
    events: Events,
    clock: Clock,
}

impl<'a> PublishedStepper<'a> {
    pub(super) fn new(
        method: Lgvci,
        world: &'a RigidWorld,
        start: &RigidState,
        h: f64,
    ) -> Result<Self, RigidError> {
        let bodies = world.bodies();
        let most = |b: &RigidBody| b.shape().map_or(0, Shape::max_plane_contacts);
        let points = world.planes().len() * bodies.iter().map(most).max().unwrap_or(0);
        let events = method.impact_limit.min(256) * bodies.len().min(64);
        let room = || Events::with_capacity(events, 2 * events + points);
        Ok(Self {
            world,
            method,
            h,
            energies: (0..bodies.len())
                .map(|b| world.body_energy(b, start.t, &start.bodies[b]))
                .collect(),
            next: start.bodies.clone(),
            near: Vec::with_capacity(world.planes().len()),
            impact: Impact::new(bodies, points, method.restitution)
                .map_err(|source| RigidError::Impact { source })?,
            order: Vec::with_capacity(events),
            pending: room(),
            events: room(),
            clock: Clock::new(h),
        })
    }

    /// Carries body `b` through a step from time `t`; adds its impacts to `pending`.
    fn advance(&mut self, b: usize, t: f64, report: &mut StepReport) -> Result<(), StepError> {
        let mut from = self.next[b];
        let (mut elapsed, mut touching, mut impacts) = (0.0, false, 0);
        loop {
            let left = self.h - elapsed;
            let leg = self.fly(b, t + elapsed, from, left, report)?;
            match self.first_contact(b, &leg, touching, impacts, report)? {
                None if leg.tau == left => {
                    self.next[b] = leg.end;
                    return Ok(());
                }
                None => (elapsed, from, touching) = (elapsed + leg.tau, leg.end, false),
                Some((tau, state)) => {
                    (elapsed, from, touching) = (elapsed + tau, state, true);
                    impacts += 1;
                    if impacts > self.method.impact_limit {
                        return Err(self.accumulation(b, t + elapsed, impacts));
                    }
                    self.strike(b, t + elapsed, &mut from, report)?;
                }
            }
        }
    }

    /// Flies body `b` for the time `left`, or for a fraction of it where it would turn too far at once.
    fn fly(
        &self,
        b: usize,
        t: f64,
        from: BodyState,
        left: f64,
        report: &mut StepReport,
    ) -> Result<Leg, StepError> {
        let body = &self.world.bodies()[b];
        let mut tau = left;
        let Flight { end, iterations, residual } = loop {
            match self.method.flow.fly(body, self.world.gravity(), t, &from, tau) {
                Ok(flight) => break flight,
                Err(_) if tau > FRACTION * self.h => tau *= 0.5,
                Err(unsolved) => return Err(self.unsolved(b, t, unsolved)),
            }
        };
        report.iterations += iterations;
        report.residual = report.residual.max(residual);
        if !end.is_finite() {
            let culprit = body.name().to_owned();
            return Err(StepError::NotFinite { t, what: "the state", culprit });
        }
        Ok(Leg { t, from, tau, end })
    }

    /// When and in which state body `b` first strikes a plane on a leg; its touching points are collected.
    fn first_contact(
        &mut self,
        b: usize,
        leg: &Leg,
        touching: bool,
        impacts: usize,
        report: &mut StepReport,
    ) -> Result<Option<(f64, BodyState)>, StepError> {
        let (body, planes) = (&self.world.bodies()[b], self.world.planes());
        let Some(shape) = body.shape() else { return Ok(None) };
        let speed = SAFETY * body.speed_bound(&leg.from).max(body.speed_bound(&leg.end));
        let reach = speed * leg.tau;
        self.near.clear();
        self.near.extend((0..planes.len()).filter(|&p| {
            // The ball around the body is the cheapest proof that the plane is out of reach.
            planes[p].signed_distance(&leg.end.pose.x) - body.radius() <= reach
                && shape.plane_gap(&planes[p], &leg.end.pose).gap <= reach
        }));
        if self.near.is_empty() {
            return Ok(None);
        }
        let tie = self.method.tie * body.radius();
        let mut approach = Approach {
            body,
            planes,
            near: &self.near,
            gravity: self.world.gravity(),
            flow: &self.method.flow,
            t: leg.t,
            from: &leg.from,
            speed,
            iterations: 0,
        };
        let closed = approach.measure(0.0, leg.from).gap <= tie;
        if closed && !touching && self.impact.collect(body, planes, &self.near, &leg.from, tie) {
            return Ok(Some((0.0, leg.from)));
        }
        let last = approach.measure(leg.tau, leg.end);
        let found = match approach.first_contact(&last, touching || closed) {
            Ok(Contact::Bracket(bracket)) => self.touch(&mut approach, bracket).map(Some),
            Ok(Contact::Free) => Ok(None),
            // Within the tie the body may end slightly below the plane that it grazes.
            Ok(Contact::Stuck) if last.gap >= -tie => Ok(None),
            Ok(Contact::Stuck) => return Err(self.accumulation(b, leg.t, impacts)),
            Err(unsolved) => Err(unsolved),
        };
        report.iterations += approach.iterations;
        let found = found.map_err(|unsolved| self.unsolved(b, leg.t, unsolved))?;
        Ok(found.map(|at| {
            self.impact.collect(body, planes, &self.near, &at.state, tie);
            (at.tau, at.state)
        }))
    }

    /// The last sample before the gap turns negative.
    fn touch(&self, approach: &mut Approach<'_>, bracket: Bracket) -> Result<Sample, Unsolved> {
        let mut failure = None;
        let gap = |tau: f64| match approach.sample(tau) {
            Ok(sample) => sample.gap,
            Err(unsolved) => {
                failure = Some(unsolved);
                f64::NAN
            }
        };
        let tau = self.method.root.last_free(gap, bracket, f64::EPSILON * self.h);
        match failure {
            Some(unsolved) => Err(unsolved),
            None => approach.sample(tau.unwrap_or(bracket.a)),
        }
    }

    /// Lets the collected points of body `b` bounce and books the event.
    fn strike(
        &mut self,
        b: usize,
        t: f64,
        state: &mut BodyState,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let world = self.world;
        let body = &world.bodies()[b];
        let excess = (self.method.jump == Jump::Targeting && self.method.restitution == 1.0)
            .then(|| world.body_energy(b, t, state) - self.energies[b]);
        let resolved = match self.impact.resolve(b, body, state, excess) {
            Ok(resolved) => resolved,
            Err(error) => return Err(self.unresolved(b, t, error)),
        };
        report.rounds += resolved.rounds;
        if resolved.rounds > 0 {
            let points = self.impact.points().iter().filter(|p| p.impulse != 0.0);
            self.pending.push(
                t,
                resolved.energy_change,
                resolved.rounds,
                points.map(|p| (world.contact(b, p.plane), p.impulse)),
            );
        }
        Ok(())
    }

    #[cold]
    fn unsolved(&self, b: usize, t: f64, unsolved: Unsolved) -> StepError {
        StepError::NotConverged {
            t,
            what: "the relative attitude",
            iterations: unsolved.iterations,
            residual: unsolved.residual,
            culprit: self.world.bodies()[b].name().to_owned(),
        }
    }

    #[cold]
    fn unresolved(&self, b: usize, t: f64, error: ReflectError) -> StepError {
        match error {
            ReflectError::Rounds { contact, residual, rounds } => {
                let plane = self.impact.points().get(contact).map_or(0, |p| p.plane);
                let contact = self.world.contact_name(self.world.contact(b, plane));
                StepError::Impact { t, rounds, residual, contact }
            }
            source => StepError::Method { t, source: Box::new(source) },
        }
    }

    #[cold]
    fn accumulation(&self, b: usize, t: f64, events: usize) -> StepError {
        let plane = self.impact.points().first().map(|p| p.plane).or(self.near.first().copied());
        let contact = self.world.contact_name(self.world.contact(b, plane.unwrap_or(0)));
        StepError::Accumulation { t, events, contact }
    }
}

/// A flight between impacts.
struct Leg {
    t: f64,
    from: BodyState,
    tau: f64,
    end: BodyState,
}

/// A step may be split into parts as small as this fraction of it.
const FRACTION: f64 = 1.0 / 64.0;
/// The bound for the speed holds for the flight in continuous time; the discrete one follows it closely.
const SAFETY: f64 = 1.25;

impl PublishedStepper<'_> {
    pub(super) fn step(&mut self, state: &mut RigidState) -> Result<StepReport, StepError> {
        if state.bodies.len() != self.next.len() {
            let (given, expected) = (state.bodies.len(), self.next.len());
            let source = Box::new(RigidError::Bodies { given, expected });
            return Err(StepError::Method { t: state.t, source });
        }
        let mut report = StepReport::default();
        self.pending.clear();
        self.next.copy_from_slice(&state.bodies);
        for b in 0..self.next.len() {
            self.advance(b, state.t, &mut report)?;
            if !self.world.body_energy(b, state.t + self.h, &self.next[b]).is_finite() {
                let culprit = self.world.bodies()[b].name().to_owned();
                return Err(StepError::NotFinite { t: state.t, what: "the energy", culprit });
            }
        }
        if self.next.len() == 1 {
            std::mem::swap(&mut self.events, &mut self.pending);
        } else {
            self.sort_events();
        }
        state.bodies.copy_from_slice(&self.next);
        state.t = self.clock.tick(state.t);
        Ok(report)
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }

    /// Events come in body by body; they leave in the order of time, then of bodies.
    fn sort_events(&mut self) {
        self.events.clear();
        self.order.clear();
        self.order.extend(0..self.pending.len());
        let pending = &self.pending;
        let time = |i: usize| pending.iter().nth(i).map_or(0.0, |event| event.t);
        self.order.sort_unstable_by(|&i, &j| time(i).total_cmp(&time(j)).then(i.cmp(&j)));
        for &i in &self.order {
            if let Some(e) = pending.iter().nth(i) {
                let contacts = e.contacts.iter().copied().zip(e.impulses.iter().copied());
                self.events.push(e.t, e.energy_change, e.rounds, contacts);
            }
        }
    }
}
