//! Early reflection: what a flight would enter at its end is reflected at its start.
//!
//! First order in time and place, exact in energy and momenta, and the cheapest: nothing is located. By choice for all impacts, and for those in
//! crowds where contacts are held.

use super::island::{EARLY, Job, Trouble, Workshop};
use super::row::Row;
use super::scene::{Couple, Scene};

impl Workshop {
    /// Reflects what a flight without contacts would enter, again and again: before contacts are held, so that no friction problem is solved for
    /// flights that are not taken. What rests does not bounce and stays as it is.
    pub(super) fn strike_ahead(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        tau: f64,
    ) -> Result<(), Trouble> {
        for &k in job.list {
            job.couples[k].held = false;
        }
        for _ in 0..EARLY {
            self.trial(scene, job, tau)?;
            self.measure(scene, job);
            if !self.reflect_early(scene, job)? {
                break;
            }
        }
        Ok(())
    }

    /// Reflects what would be entered and approaches; returns whether anything was.
    pub(super) fn reflect_early(
        &mut self,
        scene: &Scene<'_>,
        job: &mut Job<'_>,
    ) -> Result<bool, Trouble> {
        let late = std::mem::take(&mut self.late);
        self.rows.clear();
        for &k in job.list {
            let couple = &job.couples[k];
            let is_late = late.iter().any(|l| l.0 == k);
            if !couple.is_entered() && !is_late {
                continue;
            }
            self.found.clear();
            let motion = (&*job.now, &*job.end);
            let (axes, scratch) = (&mut *job.axes, &mut self.scratch);
            scene.detect(couple, motion, couple.margin, axes, scratch, &mut self.found);
            for found in &self.found {
                let was_late = is_late && late.contains(&(k, found.parts, found.key));
                if found.gap < 0.0 || was_late {
                    self.rows.extend(Row::new(scene, k, couple, found, job.now));
                }
            }
        }
        self.late = late;
        let scale = Self::scale(scene, job);
        self.velocities(scene, job.now, scale);
        let (mut k, u, tolerance) = (0, &self.u, &self.tolerance);
        self.rows.retain(|row| {
            let (un, tol) = (u[3 * k], tolerance[k]);
            k += 1;
            let couple = &job.couples[row.couple];
            un < -tol && !couple.is_over(scene, couple.law.restitution * un.abs())
        });
        if self.rows.is_empty() {
            return Ok(false);
        }
        self.velocities(scene, job.now, scale);
        let struck = self.strike(scene, job.couples, job.now, job.t)?;
        Self::raise_speeds(scene, job);
        Ok(struck)
    }

    /// Holds what would be entered although nothing approaches.
    pub(super) fn hold_entered(
        scene: &Scene<'_>,
        job: &mut Job<'_>,
        may_halve: bool,
    ) -> Result<(), Trouble> {
        let some_held = job.list.iter().any(|&k| job.couples[k].held);
        let entered = |c: &Couple| c.is_entered();
        let grazes = job.list.iter().map(|&k| &job.couples[k]).find(|c| {
            let resting = c.acceleration > 0.0 && c.law.restitution == 1.0 && c.hits == 0;
            entered(c) && c.law.restitution == 1.0 && c.law.friction == 0.0 && !resting
        });
        if let Some(couple) = grazes.filter(|_| may_halve && !some_held) {
            return Err(Trouble::Graze { couple: scene.name(couple) });
        }
        for &k in job.list {
            if job.couples[k].is_entered() {
                job.couples[k].held = true;
            }
        }
        Ok(())
    }
}
