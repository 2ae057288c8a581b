//! States as results hold them: by coordinates, by bodies, or both.

use std::ops::Index;

/// Things by their names, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    /// The one with this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, thing)| thing)
    }

    /// Names and things.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, thing)| (name.as_str(), thing))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// # Panics
/// If there is none with this name.
impl<T> Index<&str> for Named<T> {
    type Output = T;

    fn index(&self, name: &str) -> &T {
        self.get(name).unwrap_or_else(|| panic!("there is no `{name}`"))
    }
}

impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// A state: systems in coordinates have those, rigid bodies have bodies, mechanisms have both.
#[derive(Clone, Debug, PartialEq)]
pub struct StateRecord {
    /// Time.
    pub t: f64,
    /// Positions, velocities and momenta.
    pub coordinates: Option<Coordinates>,
    /// The bodies.
    pub bodies: Option<Named<BodyState>>,
}

/// A state in coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Momenta.
    pub p: Vec<f64>,
}

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Position of its centre.
    pub position: [f64; 3],
    /// Momentum.
    pub momentum: [f64; 3],
    /// Rotation and spin; a point mass has none.
    pub turning: Option<Turning>,
}

/// How a body is turned and how it turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// Rotation from the body frame to the world, row by row.
    pub rotation: [[f64; 3]; 3],
    /// Angular momentum in the body frame.
    pub angular_momentum: [f64; 3],
}
