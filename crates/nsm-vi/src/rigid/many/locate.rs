//! When does something touch? The next impact of an island along its flight.

use nsm_solvers::roots::Bracket;

use super::island::{Candidate, Job, NONE, SEARCHES, Trouble, Workshop};
use super::row::Row;
use super::scene::{Party, Scene};
use super::strike::LANDING;

/// What comes next in an island.
pub(super) enum Next {
    /// Contacts are to be held from here on.
    Held,
    /// Something touches after this time.
    At(f64),
    /// With what is held the instant costs too much to find.
    Dear,
}

/// Halvings in search of a positive gap behind an impact.
const HALVINGS: usize = 40;

impl Workshop {
    /// What comes next: the instant of the earliest impact, or contacts that are to be held.
    pub(super) fn next_event(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        left: f64,
    ) -> Result<Next, Trouble> {
        let scale = Self::scale(scene, job);
        self.candidates.clear();
        let (mut held, mut at_once) = (false, false);
        for at in 0..job.list.len() {
            let k = job.list[at];
            if !job.couples[k].is_entered() {
                continue;
            }
            let gap = self.touching_rows(scene, job, k);
            let couple = job.couples[k];
            if self.searches > SEARCHES {
                return Ok(Next::Dear);
            }
            if self.rows.is_empty() {
                // Not touching yet.
                let law = couple.law;
                let slow = LANDING * scene.h * couple.acceleration;
                if law.restitution < 1.0 && slow > 0.0 {
                    let u = self.approach(scene, job, k);
                    let speed = u.min(0.0).powi(2) + 2.0 * couple.acceleration * gap.max(0.0);
                    if speed <= slow * slow {
                        job.couples[k].held = true;
                        held = true;
                        continue;
                    }
                }
                let bracket =
                    Bracket { a: 0.0, value_a: gap.max(0.0), b: left, value_b: couple.gap };
                self.candidates.push(Candidate { couple: k, feature: None, bracket });
                continue;
            }
            self.velocities(scene, job.now, scale);
            let mut least = (f64::INFINITY, 0.0);
            for (i, tol) in self.tolerance.iter().enumerate() {
                if self.u[3 * i] < least.0 {
                    least = (self.u[3 * i], *tol);
                }
            }
            if least.0 < -least.1 {
                at_once = true;
                continue;
            }
            let over = couple.law.restitution < 1.0 && couple.is_over(scene, least.0);
            if over || least.0 <= least.1 {
                job.couples[k].held = true;
                held = true;
                continue;
            }
            if let Some(bracket) = self.comes_back(scene, job, k, left)? {
                self.candidates.push(Candidate { couple: k, feature: None, bracket });
            } else {
                job.couples[k].held = true;
                held = true;
            }
        }
        if held {
            return Ok(Next::Held);
        }
        if at_once {
            return Ok(Next::At(0.0));
        }
        self.wait_for_features(scene, job, left);
        self.earliest(scene, job, left)
    }

    /// Features that were left out of the held ones, as candidates.
    fn wait_for_features(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, left: f64) {
        for at in 0..self.excluded.len() {
            let (k, parts, key) = self.excluded[at];
            let couple = job.couples[k];
            self.found.clear();
            let motion = (&*job.now, &*job.end);
            let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
            scene.detect(&couple, motion, couple.margin, axes, scratch, &mut self.found);
            let named = self.found.iter().find(|f| (f.parts, f.key) == (parts, key));
            let Some(found) = named.filter(|f| f.gap < -NONE * couple.size) else { continue };
            let value_b = found.gap;
            if let Some(row) = Row::new(scene, k, &couple, found, job.now) {
                let bracket = Bracket { a: 0.0, value_a: row.gap.max(0.0), b: left, value_b };
                self.candidates.push(Candidate { couple: k, feature: Some(row), bracket });
            }
        }
    }

    /// The earliest instant among the candidates.
    fn earliest(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        left: f64,
    ) -> Result<Next, Trouble> {
        let mut first = left;
        let candidates = std::mem::take(&mut self.candidates);
        let mut failure = None;
        for candidate in &candidates {
            if self.searches > SEARCHES {
                self.candidates = candidates;
                return Ok(Next::Dear);
            }
            let mut bracket = candidate.bracket;
            if first < bracket.b {
                if first <= bracket.a {
                    continue;
                }
                let value = self.gap_at(scene, job, candidate, first)?;
                if value >= 0.0 {
                    continue;
                }
                (bracket.b, bracket.value_b) = (first, value);
            }
            if bracket.value_a <= 0.0 {
                first = bracket.a;
                continue;
            }
            let gap = |tau: f64| match self.gap_at(scene, job, candidate, tau) {
                Ok(gap) => gap,
                Err(trouble) => {
                    failure = Some(trouble);
                    f64::NAN
                }
            };
            let width = f64::EPSILON * scene.h;
            let root = scene.method.root.last_free(gap, bracket, width).unwrap_or(bracket.a);
            if let Some(trouble) = failure {
                return Err(trouble);
            }
            first = first.min(root);
        }
        self.candidates = candidates;
        Ok(Next::At(first))
    }

    /// The gap of a candidate after `tau`.
    fn gap_at(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        candidate: &Candidate,
        tau: f64,
    ) -> Result<f64, Trouble> {
        let k = candidate.couple;
        if job.list.iter().any(|&k| job.couples[k].held) {
            self.searches += 1;
            let candidates = std::mem::take(&mut self.candidates);
            let outcome = self.trial(scene, job, tau);
            self.candidates = candidates;
            outcome?;
        } else {
            let couple = job.couples[k];
            if let Party::Body(a) = couple.a {
                self.fly_one(scene, job, a, tau)?;
            }
            self.fly_one(scene, job, couple.b, tau)?;
        }
        let couple = &job.couples[k];
        if let Some(row) = &candidate.feature {
            let Some((a, b)) = scene.colliders(couple) else { return Ok(f64::INFINITY) };
            let touch = row.feature.at(a, b, scene.poses(couple, job.end));
            return Ok(touch.map_or(f64::INFINITY, |touch| touch.gap));
        }
        let motion = (&*job.now, &*job.end);
        Ok(scene.gap(couple, motion, job.axes, &mut self.scratch, &mut self.found))
    }

    /// A contact that touches and separates but is entered in the end: between when and when?
    fn comes_back(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        k: usize,
        left: f64,
    ) -> Result<Option<Bracket>, Trouble> {
        let nothing = Bracket { a: 0.0, value_a: 0.0, b: left, value_b: 0.0 };
        let candidate = Candidate { couple: k, feature: None, bracket: nothing };
        let mut right = (left, job.couples[k].gap);
        let mut tau = left;
        for _ in 0..HALVINGS {
            tau *= 0.5;
            let gap = self.gap_at(scene, job, &candidate, tau)?;
            if gap > 0.0 {
                return Ok(Some(Bracket { a: tau, value_a: gap, b: right.0, value_b: right.1 }));
            }
            if gap < 0.0 {
                right = (tau, gap);
            }
        }
        Ok(None)
    }

    /// Whether a couple that pushed in the step before still touches, and nothing of it is about to bounce. To hold all of these from the
    /// start saves a pile from being built up layer by layer in every step, with friction problems that lack what lies on top.
    pub(super) fn rests(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, k: usize) -> bool {
        let contact = scene.contact(&job.couples[k]);
        let at = job.memory.partition_point(|m| m.contact < contact);
        if job.memory.get(at).is_none_or(|m| m.contact != contact) {
            return false;
        }
        self.touching_rows(scene, job, k);
        let couple = &job.couples[k];
        let bounces = |row: &Row| {
            let u = row.velocity(scene.world, job.now)[0];
            let e = couple.law.restitution;
            u < 0.0 && e > 0.0 && !couple.is_over(scene, e * -u)
        };
        !self.rows.is_empty() && !self.rows.iter().any(bounces)
    }

    /// Collects the features of a couple that touch now; returns its gap.
    pub(super) fn touching_rows(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, k: usize) -> f64 {
        self.rows.clear();
        self.add_touching(scene, job, k)
    }

    pub(super) fn add_touching(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, k: usize) -> f64 {
        let couple = &job.couples[k];
        let tie = scene.tie(couple);
        self.found.clear();
        let motion = (&*job.now, &*job.now);
        let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
        let gap = scene.detect(couple, motion, couple.margin, axes, scratch, &mut self.found);
        if gap <= tie {
            for found in self.found.iter().filter(|f| f.gap <= tie) {
                self.rows.extend(Row::new(scene, k, couple, found, job.now));
            }
        }
        gap
    }

    /// Least normal velocity of the features of a couple within its margin.
    fn approach(&mut self, scene: &Scene<'_>, job: &mut Job<'_>, k: usize) -> f64 {
        let couple = &job.couples[k];
        self.found.clear();
        let motion = (&*job.now, &*job.end);
        let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
        scene.detect(couple, motion, couple.margin, axes, scratch, &mut self.found);
        let rows = self.found.iter().filter_map(|f| Row::new(scene, k, couple, f, job.now));
        rows.map(|row| row.velocity(scene.world, job.now)[0]).fold(f64::INFINITY, f64::min)
    }
}
