//! Quantities that the ledger tracks: momentum maps and whatever else is a function of $q$ and $p$.

use std::sync::Arc;

/// A quantity of $q$ and $p$ that the ledger tracks, such as a momentum map.
#[derive(Clone)]
pub struct Invariant {
    /// Name in tables and files.
    pub name: String,
    /// Whether it should stay what it is: tables then speak of its drift.
    pub conserved: bool,
    value: PhaseFunction,
    /// Where it is linear in $p$ and known: its gradient by $p$.
    direction: Option<Direction>,
}

/// A direction at a configuration.
type Direction = Arc<dyn Fn(&[f64]) -> Vec<f64> + Send + Sync>;

/// An entry of a vector; NaN where a user's invariant names a coordinate that the system lacks.
fn entry(x: &[f64], i: usize) -> f64 {
    x.get(i).copied().unwrap_or(f64::NAN)
}

/// A function of $(q, p)$.
type PhaseFunction = Arc<dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync>;

impl Invariant {
    /// A quantity given by a function of positions and momenta.
    pub fn new(
        name: impl Into<String>,
        value: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), conserved: true, value: Arc::new(value), direction: None }
    }

    /// A momentum whose direction $\xi(q)$, the gradient of $\xi(q) \cdot p$ by $p$, is known: whether symmetry [protects](crate::System::protects) it is
    /// then asked in one look instead of one for each coordinate.
    #[must_use]
    pub fn along(mut self, direction: impl Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static) -> Self {
        self.direction = Some(Arc::new(direction));
        self
    }

    /// The same quantity as something to look at, that nothing conserves.
    #[must_use]
    pub fn observed(mut self) -> Self {
        self.conserved = false;
        self
    }

    /// Total momentum $\sum p_i$ over the given coordinates.
    pub fn linear_momentum(name: impl Into<String>, coordinates: &[usize]) -> Self {
        let coordinates = coordinates.to_vec();
        Self::new(name, move |_, p| coordinates.iter().map(|&i| entry(p, i)).sum())
    }

    /// Angular momentum $\sum (x\\,p_y - y\\,p_x)$ over planar points given by their two coordinates.
    pub fn angular_momentum(name: impl Into<String>, points: &[[usize; 2]]) -> Self {
        let points = points.to_vec();
        Self::new(name, move |q, p| {
            points.iter().map(|&[x, y]| entry(q, x) * entry(p, y) - entry(q, y) * entry(p, x)).sum()
        })
    }

    /// Its value.
    pub fn value(&self, q: &[f64], p: &[f64]) -> f64 {
        (self.value)(q, p)
    }

    /// The gradient of a momentum by $p$, where it is known.
    pub(crate) fn direction(&self, q: &[f64]) -> Option<Vec<f64>> {
        self.direction.as_ref().map(|direction| direction(q))
    }
}
