//! A contact as mechanics sees it: a frame, one common point, and the bodies that it moves.
//!
//! With $F = (n, t_1, t_2)$ and the common point $p$, the relative velocity and the impulse of a contact are
//! $$ u = F\\,(v_B(p) - v_A(p)), \qquad v(p) = \gamma/m + RJ^{-1}\Pi\times(p - x), $$
//! $$ \gamma_B \mathrel{+}= f, \quad \Pi_B \mathrel{+}= R^\top((p - x)\times f), \quad f = F^\top r, $$
//! and the opposite for $A$: momentum and angular momentum are kept whatever the gap. Where one party stands still, the point is the
//! other's own.

use nsm_geom::collide::{Feature, Found};
use nsm_geom::{Mat3, Vec3};
use nsm_model::{ContactLaw, Touch};
use nsm_solvers::friction::{BodyRows, Delassus};

use super::super::RigidWorld;
use super::scene::{Couple, Party, Scene};
use super::states::{Local, States};

/// A feature that touches or soon will.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) couple: usize,
    pub(super) parts: u32,
    pub(super) key: u64,
    pub(super) feature: Feature,
    pub(super) law: ContactLaw,
    /// The bodies that it moves.
    pub(super) bodies: [Option<usize>; 2],
    pub(super) gap: f64,
    /// $n, t_1, t_2$.
    pub(super) frame: [Vec3; 3],
    /// $p - x$ of both bodies.
    pub(super) arms: [Vec3; 2],
    /// The same of the point at which the pair as a whole pushes.
    pub(super) centre: [Vec3; 2],
    /// $R^\top((p - x)\times F_k)$ and $J^{-1}$ of that, of both bodies.
    turn: [[Vec3; 3]; 2],
    spin: [[Vec3; 3]; 2],
    /// Whether its impulse has no moment: it pushes a ball towards its centre, to the last bit.
    central: [bool; 2],
    /// The impulse as a vector of space.
    pub(super) impulse: Vec3,
}

impl Row {
    /// A row for a feature, placed at the given states; `None` if it has no normal there.
    pub(super) fn new(
        scene: &Scene<'_>,
        index: usize,
        couple: &Couple,
        found: &Found,
        states: &impl States,
    ) -> Option<Self> {
        let moving = |b: usize| (!scene.world.bodies()[b].is_fixed()).then_some(b);
        let first = match couple.a {
            Party::Plane(_) => None,
            Party::Body(a) => moving(a),
        };
        let mut row = Self {
            couple: index,
            parts: found.parts,
            key: found.key,
            feature: found.feature,
            law: couple.law,
            bodies: [first, moving(couple.b)],
            gap: 0.0,
            frame: [Vec3::zeros(); 3],
            arms: [Vec3::zeros(); 2],
            centre: [Vec3::zeros(); 2],
            turn: [[Vec3::zeros(); 3]; 2],
            spin: [[Vec3::zeros(); 3]; 2],
            central: [false; 2],
            impulse: Vec3::zeros(),
        };
        row.place(scene, couple, states).then_some(row)
    }

    /// Moves the frame to where the bodies are; false if the feature has no normal there.
    pub(super) fn place(
        &mut self,
        scene: &Scene<'_>,
        couple: &Couple,
        states: &impl States,
    ) -> bool {
        let Some((a, b)) = scene.colliders(couple) else { return false };
        let Some(touch) = self.feature.at(a, b, scene.poses(couple, states)) else { return false };
        self.gap = touch.gap;
        let n = touch.normal;
        let t = n.cross(&Vec3::ith(n.iamin(), 1.0)).normalize();
        self.frame = [n, t, n.cross(&t)];
        let p = match self.bodies {
            [Some(_), Some(_)] => touch.a + 0.5 * touch.gap * n,
            [Some(_), None] => touch.a,
            [None, _] => touch.b(),
        };
        for side in 0..2 {
            let Some(i) = self.bodies[side] else { continue };
            let (state, body) = (&states[i], &scene.world.bodies()[i]);
            let arm = p - state.pose.x;
            self.arms[side] = arm;
            self.centre[side] = arm;
            self.central[side] = self.law.friction == 0.0 && scene.is_central(i);
            for k in 0..3 {
                if self.central[side] && k == 0 {
                    continue;
                }
                let turn = state.pose.rot.tr_mul(&arm.cross(&self.frame[k]));
                self.turn[side][k] = turn;
                self.spin[side][k] = body.inverse_inertia() * turn;
            }
        }
        true
    }

    /// $u$.
    pub(super) fn velocity(&self, world: &RigidWorld, states: &impl States) -> [f64; 3] {
        let mut u = [0.0; 3];
        for side in 0..2 {
            let Some(i) = self.bodies[side] else { continue };
            let (state, body) = (&states[i], &world.bodies()[i]);
            let v = state.gamma * body.inverse_mass();
            for k in 0..3 {
                let along = self.frame[k].dot(&v) + self.spin[side][k].dot(&state.pi);
                u[k] += if side == 1 { along } else { -along };
            }
        }
        u
    }

    /// Displacement of the two material points from the start of a flight to its end, in the frame of the start.
    ///
    /// Of $R_1 - R = R(A + S)$ the skew part $A$ is a rotation, but the symmetric part $S = O(h^2)$ draws the points of a face together, which
    /// no impulse can: slips that differ by it contradict each other where all points stick. It is taken at the one point where the pair
    /// pushes.
    pub(super) fn displacement(&self, start: &impl States, end: &impl States) -> [f64; 3] {
        let d = self.moved(start, end, &self.centre);
        self.frame.map(|axis| axis.dot(&d))
    }

    /// The same with both parts at the contact's own point, as a vector of space.
    pub(super) fn chord(&self, start: &impl States, end: &impl States) -> Vec3 {
        self.moved(start, end, &self.arms)
    }

    /// What two material points move apart, with the symmetric part of the turn taken at other points.
    fn moved(&self, start: &impl States, end: &impl States, drawn: &[Vec3; 2]) -> Vec3 {
        let mut d = Vec3::zeros();
        for side in 0..2 {
            let Some(i) = self.bodies[side] else { continue };
            let (from, to) = (&start[i].pose, &end[i].pose);
            let turn = from.rot.tr_mul(&to.rot);
            let (skew, still) = (0.5 * (turn - turn.transpose()), 0.5 * (turn + turn.transpose()));
            let point = from.rot.tr_mul(&self.arms[side]);
            let centre = from.rot.tr_mul(&drawn[side]);
            let moved = to.x - from.x + from.rot * (skew * point + (still * centre - centre));
            if side == 1 { d += moved } else { d -= moved }
        }
        d
    }

    /// The impulse in the frame.
    pub(super) fn components(&self) -> [f64; 3] {
        self.frame.map(|axis| axis.dot(&self.impulse))
    }

    /// A vector of space from its components.
    pub(super) fn vector(&self, r: &[f64]) -> Vec3 {
        self.frame[0] * r[0] + self.frame[1] * r[1] + self.frame[2] * r[2]
    }

    /// Gives an impulse to the bodies.
    pub(super) fn kick(&self, world: &RigidWorld, f: &Vec3, states: &mut Local) {
        for side in 0..2 {
            let Some(i) = self.bodies[side] else { continue };
            let f = if side == 1 { *f } else { -f };
            let state = &mut states[i];
            if !world.bodies()[i].is_pinned() {
                state.gamma += f;
            }
            if !self.central[side] {
                state.pi += state.pose.rot.tr_mul(&self.arms[side].cross(&f));
            }
        }
    }

    /// Where it acts with the impulse `f`, seen from the party that is named first.
    pub(super) fn touch(&self, couple: &Couple, f: &Vec3, states: &impl States) -> Option<Touch> {
        let side = usize::from(self.bodies[1].is_some());
        let point = states[self.bodies[side]?].pose.x + self.arms[side];
        // Names: a body over a plane, or the first body of a pair, on which the impulse is `-f`.
        let sign = if matches!(couple.a, Party::Plane(_)) { 1.0 } else { -1.0 };
        let (normal, impulse) = (sign * self.frame[0], sign * f);
        Some(Touch { point: point.into(), normal: normal.into(), impulse: impulse.into() })
    }

    /// Its rows of $JM^{-1/2}$ for both bodies.
    fn factors(&self, world: &RigidWorld) -> [Option<BodyRows>; 2] {
        std::array::from_fn(|side| {
            let b = self.bodies[side]?;
            let body = &world.bodies()[b];
            let sign = if side == 1 { 1.0 } else { -1.0 };
            let (light, root) = (body.inverse_mass().sqrt(), body.inverse_root());
            let mut rows = [0.0; 18];
            for k in 0..3 {
                let (along, turn) =
                    (self.frame[k] * (sign * light), root * self.turn[side][k] * sign);
                for a in 0..3 {
                    rows[6 * k + a] = along[a];
                    rows[6 * k + 3 + a] = turn[a];
                }
            }
            Some((b, rows))
        })
    }

    /// The block of $W$ between two rows; zero if they share no body.
    fn block(&self, other: &Self, world: &RigidWorld) -> [f64; 9] {
        let mut block = Mat3::zeros();
        for side in 0..2 {
            let Some(i) = self.bodies[side] else { continue };
            for opposite in 0..2 {
                if other.bodies[opposite] != Some(i) {
                    continue;
                }
                let sign = if side == opposite { 1.0 } else { -1.0 };
                let light = world.bodies()[i].inverse_mass();
                for k in 0..3 {
                    for l in 0..3 {
                        block[(k, l)] += sign
                            * (light * self.frame[k].dot(&other.frame[l])
                                + self.turn[side][k].dot(&other.spin[opposite][l]));
                    }
                }
            }
        }
        std::array::from_fn(|k| block[(k / 3, k % 3)])
    }
}

/// Which rows move which body.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    entries: Vec<(usize, usize)>,
    neighbours: Vec<usize>,
}

impl Sharing {
    /// $W$ between rows, block by block.
    pub(super) fn delassus(&mut self, world: &RigidWorld, rows: &[Row], w: &mut Delassus) {
        w.clear();
        if let [row] = rows {
            w.push(0, row.block(row, world));
            w.end_row();
            return;
        }
        self.entries.clear();
        for (k, row) in rows.iter().enumerate() {
            self.entries.extend(row.bodies.iter().flatten().map(|&b| (b, k)));
        }
        self.entries.sort_unstable();
        for row in rows {
            w.push_factors(row.factors(world));
            self.neighbours.clear();
            for b in row.bodies.iter().flatten() {
                let from = self.entries.partition_point(|e| e.0 < *b);
                let of = self.entries[from..].iter().take_while(|e| e.0 == *b);
                self.neighbours.extend(of.map(|e| e.1));
            }
            self.neighbours.sort_unstable();
            self.neighbours.dedup();
            for &j in &self.neighbours {
                w.push(j, row.block(&rows[j], world));
            }
            w.end_row();
        }
    }
}

/// Finds where each pair pushes: the mean of its points, weighed by their normal impulses. Rows of a pair follow each other.
pub(super) fn centre(rows: &mut [Row]) {
    for pair in rows.chunk_by_mut(|a, b| a.couple == b.couple) {
        let push = |row: &Row| row.frame[0].dot(&row.impulse).max(0.0);
        let total: f64 = pair.iter().map(push).sum();
        let even = 1.0 / pair.len() as f64;
        let mut centre = [Vec3::zeros(); 2];
        for row in pair.iter() {
            let weight = if total > 0.0 { push(row) / total } else { even };
            for side in 0..2 {
                centre[side] += weight * row.arms[side];
            }
        }
        for row in pair.iter_mut() {
            row.centre = centre;
        }
    }
}
