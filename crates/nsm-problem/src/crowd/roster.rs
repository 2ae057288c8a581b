//! Which pairs of a crowd are near, and for how long that is known.
//!
//! Every body has a ball about the origin of its frame that holds its shape, and room around it. Pairs whose balls with their rooms do not meet cannot touch
//! for as long as every body stays within its room: other pairs are near.

use nsm_constraints::multibody::Mechanism;
use nsm_geom::Vec3;
use nsm_geom::collide::Neighbours;
use nsm_model::State;

use super::Crowd;

/// Room of a body at rest, as a share of its radius.
const SKIN: f64 = 0.2;

/// Steps at the present speed for which there is room besides.
const AHEAD: f64 = 8.0;

/// The near pairs at an instant.
#[derive(Debug)]
pub(super) struct Roster {
    /// The pairs, in order.
    pub(super) pairs: Vec<(u32, u32)>,
    centres: Vec<Vec3>,
    rooms: Vec<f64>,
}

impl Roster {
    /// The pairs that are near at a state, with room for some steps of this length; `reach` is how far bodies are known to come in the next one, if that is
    /// farther.
    pub(super) fn near(
        crowd: &Crowd,
        mechanism: &Mechanism,
        state: &State,
        h: f64,
        reach: &[f64],
    ) -> Self {
        let pull = Vec3::from(mechanism.gravity()).norm();
        let ahead = |k: usize| AHEAD * crowd.way(k, state, (h, pull));
        Self::of(crowd, state, |k| ahead(k).max(reach.get(k).copied().unwrap_or(0.0)))
    }

    /// The pairs that are near at a state, every body having this room and a skin.
    pub(super) fn of(crowd: &Crowd, state: &State, room: impl Fn(usize) -> f64) -> Self {
        let n = crowd.shapes.len();
        let centres: Vec<Vec3> = (0..n).map(|k| crowd.centre(k, state)).collect();
        let room = |k: usize| {
            if crowd.still[k] { 0.0 } else { SKIN * crowd.radii[k] + room(k) }
        };
        let rooms: Vec<f64> = (0..n).map(room).collect();
        let balls: Vec<f64> = crowd.radii.iter().zip(&rooms).map(|(r, room)| r + room).collect();
        let mut neighbours = Neighbours::new(&balls, &crowd.still);
        neighbours.rebuild(|k| centres[k], 0.0);
        let near = neighbours.pairs().iter().copied();
        let pairs = near.filter(|&(a, b)| crowd.law(a, b).is_some()).collect();
        Self { pairs, centres, rooms }
    }

    /// Whether every body stays within its room that goes so far from where it is.
    pub(super) fn holds(&self, crowd: &Crowd, state: &State, way: impl Fn(usize) -> f64) -> bool {
        (0..self.rooms.len()).all(|k| {
            let moved = (crowd.centre(k, state) - self.centres[k]).norm();
            crowd.still[k] || moved + way(k) <= self.rooms[k]
        })
    }
}
