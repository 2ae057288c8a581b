//! Bilateral constraints that switch: which of them hold depends on the mode.
//!
//! \[PB\] section 2. A switching system is in exactly one *mode* at a time, and each mode $i$ has a region
//! $$ \mathcal{X}_i = \lbrace q : z_i(q, t) > 0 \rbrace \tag{19} $$
//! and equalities $g_i^{\mathcal{Z}}(q, t) = 0$. Products of Heaviside functions as in (4) and (21) lose the
//! constraint on the surface itself, so the mode is an integer that belongs to the state, and a switch
//! is a change of that integer. On a surface the present mode stays.
//!
//! Two kinds: modes listed one by one, each with its region function ([`Switching::with_mode`]); and
//! one set of rows that repeats along a coordinate with a period ([`Switching::periodic`]), whose mode
//! is $\lfloor (q_c - q_{c,0}) / T \rfloor$ and need not be enumerated, as for a cam.

use crate::{ConstraintError, Field, Rows, check_coordinates};

/// The modes of a system and the equalities of each.
///
/// ```
/// use nsm_constraints::{AutoDiff, Expr, Rows, Scalar, Switching};
///
/// /// $s\,(x - l)$.
/// struct Beyond { l: f64, sign: f64 }
/// impl Expr for Beyond {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T { (q[0] - self.l) * self.sign }
/// }
/// /// $y - k\,(x - l)$.
/// struct Track { l: f64, slope: f64 }
/// impl Expr for Track {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T { q[1] - (q[0] - self.l) * self.slope }
/// }
///
/// let (mut flat, mut ramp) = (Rows::new(2), Rows::new(2));
/// flat.push("track", AutoDiff::new(Track { l: 3.0, slope: 0.0 }, &[0, 1])?)?;
/// ramp.push("track", AutoDiff::new(Track { l: 3.0, slope: 1.0 }, &[0, 1])?)?;
/// let kink = Switching::new(2)
///     .with_mode("flat", AutoDiff::new(Beyond { l: 3.0, sign: -1.0 }, &[0])?, flat)?
///     .with_mode("ramp", AutoDiff::new(Beyond { l: 3.0, sign: 1.0 }, &[0])?, ramp)?;
/// assert_eq!(kink.mode_at(&[2.0, 0.0], 0.0, 0), Some(0));
/// assert_eq!(kink.mode_at(&[3.5, 0.5], 0.0, 0), Some(1));
/// // On the surface the present mode stays.
/// assert_eq!(kink.mode_at(&[3.0, 0.0], 0.0, 0), Some(0));
/// assert_eq!(kink.mode_at(&[3.0, 0.0], 0.0, 1), Some(1));
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
pub struct Switching {
    dimension: usize,
    names: Vec<String>,
    rows: Vec<Rows>,
    regions: Regions,
}

enum Regions {
    /// Mode $i$ is where the $i$-th function is positive.
    Functions(Vec<Box<dyn Field>>),
    /// Mode $k$ is where $k \le (q_c - \text{origin}) / \text{period} < k + 1$.
    Periodic { coordinate: usize, origin: f64, period: f64 },
}

impl Switching {
    /// No modes yet, on `dimension` coordinates.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            names: Vec::new(),
            rows: Vec::new(),
            regions: Regions::Functions(Vec::new()),
        }
    }

    /// Adds a mode that is active where `region` is positive; its index is the number of modes before.
    ///
    /// # Errors
    /// A region or rows on other coordinates than the system's, a region of more than
    /// [`MAX_BLOCK`](crate::MAX_BLOCK) coordinates, or a switching that is periodic.
    pub fn with_mode(
        mut self,
        name: &str,
        region: impl Field + 'static,
        rows: Rows,
    ) -> Result<Self, ConstraintError> {
        crate::check_block(region.coordinates())?;
        check_coordinates(name, region.coordinates(), self.dimension)?;
        self.check_rows(&rows)?;
        let Regions::Functions(functions) = &mut self.regions else {
            return Err(ConstraintError::PeriodicMode { name: name.to_owned() });
        };
        functions.push(Box::new(region));
        self.names.push(name.to_owned());
        self.rows.push(rows);
        Ok(self)
    }

    /// One set of rows, given for $q_c \in [q_{c,0}, q_{c,0} + T)$, that repeats along coordinate $c$.
    ///
    /// In mode $k$ the rows are evaluated at $q_c - kT$.
    ///
    /// # Errors
    /// An unknown coordinate, a period that is not positive, rows on other coordinates.
    pub fn periodic(
        name: &str,
        coordinate: usize,
        origin: f64,
        period: f64,
        rows: Rows,
    ) -> Result<Self, ConstraintError> {
        check_coordinates(name, &[coordinate], rows.dimension())?;
        if !(period.is_finite() && period > 0.0) {
            let must = "positive and finite";
            return Err(ConstraintError::Parameter { what: "the period", must, value: period });
        }
        if !origin.is_finite() {
            let must = "finite";
            return Err(ConstraintError::Parameter { what: "the origin", must, value: origin });
        }
        Ok(Self {
            dimension: rows.dimension(),
            names: vec![name.to_owned()],
            rows: vec![rows],
            regions: Regions::Periodic { coordinate, origin, period },
        })
    }

    fn check_rows(&self, rows: &Rows) -> Result<(), ConstraintError> {
        if rows.dimension() == self.dimension {
            return Ok(());
        }
        Err(ConstraintError::Length {
            what: "the coordinate vector of a mode's rows",
            length: rows.dimension(),
            expected: self.dimension,
        })
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Whether there is no mode at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every set of rows that some mode uses, to size workspaces by.
    pub fn all_rows(&self) -> &[Rows] {
        &self.rows
    }

    /// The mode with this name.
    pub fn find(&self, name: &str) -> Option<i64> {
        self.names.iter().position(|n| n == name).and_then(|i| i64::try_from(i).ok())
    }

    /// Name of a mode; periodic ones carry their number.
    pub fn name(&self, mode: i64) -> String {
        match &self.regions {
            Regions::Periodic { .. } => format!("{} {mode}", self.names[0]),
            Regions::Functions(_) => match self.slot(mode) {
                Some(i) => self.names[i].clone(),
                None => format!("mode {mode}"),
            },
        }
    }

    /// The rows of a mode, or `None` if there is no such mode. Evaluate them at [`local`](Self::local).
    pub fn rows(&self, mode: i64) -> Option<&Rows> {
        self.slot(mode).map(|i| &self.rows[i])
    }

    /// The coordinates at which the rows of `mode` are evaluated: `q` itself, or `q` shifted by whole
    /// periods, written to `scratch`. Derivatives by $q$ are the same.
    pub fn local<'a>(&self, mode: i64, q: &'a [f64], scratch: &'a mut [f64]) -> &'a [f64] {
        match self.regions {
            Regions::Functions(_) => q,
            Regions::Periodic { coordinate, period, .. } => {
                let scratch = &mut scratch[..q.len()];
                scratch.copy_from_slice(q);
                scratch[coordinate] -= mode as f64 * period;
                scratch
            }
        }
    }

    /// $z_i(q, t)$: positive inside the region of the mode, negative outside.
    ///
    /// For periodic modes $z_k = T s\\,(1 - s)$ with $s = (q_c - q_{c,0})/T - k$.
    pub fn region(&self, mode: i64, q: &[f64], t: f64) -> f64 {
        match &self.regions {
            Regions::Functions(z) => {
                self.slot(mode).map_or(f64::NEG_INFINITY, |i| z[i].value(q, t))
            }
            Regions::Periodic { coordinate, origin, period } => {
                let s = (q[*coordinate] - origin) / period - mode as f64;
                period * s * (1.0 - s)
            }
        }
    }

    /// Writes $Z = \partial z_i / \partial q$ (dense, length $n$) and returns $\partial z_i / \partial t$.
    pub fn region_gradient(&self, mode: i64, q: &[f64], t: f64, out: &mut [f64]) -> f64 {
        out.fill(0.0);
        match &self.regions {
            Regions::Functions(z) => {
                let Some(i) = self.slot(mode) else { return 0.0 };
                let block = z[i].coordinates();
                let mut values = [0.0; crate::MAX_BLOCK];
                z[i].gradient(q, t, &mut values[..block.len()]);
                for (value, &c) in values.iter().zip(block) {
                    out[c] = *value;
                }
                if z[i].is_rheonomic() { z[i].rate(q, t) } else { 0.0 }
            }
            Regions::Periodic { coordinate, origin, period } => {
                let s = (q[*coordinate] - origin) / period - mode as f64;
                out[*coordinate] = 1.0 - 2.0 * s;
                0.0
            }
        }
    }

    /// The mode at $q$, given the present one: that one while $z \ge 0$, else the region that holds $q$
    /// most clearly, or `None` if none does.
    pub fn mode_at(&self, q: &[f64], t: f64, present: i64) -> Option<i64> {
        if self.region(present, q, t) >= 0.0 {
            return Some(present);
        }
        match &self.regions {
            Regions::Functions(z) => {
                let mut best = (0.0, None);
                for (i, z) in z.iter().enumerate() {
                    let value = z.value(q, t);
                    if value > best.0 {
                        best = (value, i64::try_from(i).ok());
                    }
                }
                best.1
            }
            Regions::Periodic { coordinate, origin, period } => {
                let k = ((q[*coordinate] - origin) / period).floor();
                // Beyond 2^53 the period is no longer resolved: not a mode.
                #[allow(clippy::cast_possible_truncation)]
                (k.abs() < 9.0e15).then_some(k as i64)
            }
        }
    }

    /// The mode in which a start lies: the region that holds $q$, or on a surface the one that $v$ leads
    /// into; `None` where the modes do not cover the start.
    pub fn start(&self, q: &[f64], v: &[f64], t: f64) -> Option<i64> {
        self.entered(None, q, v, t, 1e-9)
    }

    /// The mode that a motion on the surface enters when it leaves `from` with velocity $v$, looked up a
    /// small time `ahead`.
    pub fn entered(
        &self,
        from: Option<i64>,
        q: &[f64],
        v: &[f64],
        t: f64,
        ahead: f64,
    ) -> Option<i64> {
        match &self.regions {
            Regions::Functions(z) => {
                let skip = from.and_then(|m| self.slot(m));
                let mut best: Option<(f64, usize)> = None;
                for (i, field) in z.iter().enumerate().filter(|(i, _)| Some(*i) != skip) {
                    let value = field.value(q, t);
                    let value = if value.abs() > 1e-7 {
                        value
                    } else {
                        // On the surface, first order in time decides.
                        ahead * rate_along(&**field, q, v, t)
                    };
                    if value >= 0.0 && best.is_none_or(|(b, _)| value > b) {
                        best = Some((value, i));
                    }
                }
                best.and_then(|(_, i)| i64::try_from(i).ok())
            }
            Regions::Periodic { coordinate, origin, period } => {
                let s = (q[*coordinate] - origin) / period;
                let nearest = s.round();
                let k = if (s - nearest).abs() > 1e-9 {
                    s.floor()
                } else if v[*coordinate] < 0.0 {
                    nearest - 1.0
                } else {
                    nearest
                };
                #[allow(clippy::cast_possible_truncation)] // just bounded
                (k.abs() < 9.0e15).then_some(k as i64)
            }
        }
    }

    fn slot(&self, mode: i64) -> Option<usize> {
        match self.regions {
            Regions::Periodic { .. } => Some(0),
            Regions::Functions(_) => usize::try_from(mode).ok().filter(|&i| i < self.rows.len()),
        }
    }
}

/// $\dot z = Z v + \partial z / \partial t$ by the field's own gradient.
fn rate_along(field: &dyn Field, q: &[f64], v: &[f64], t: f64) -> f64 {
    let block = field.coordinates();
    let mut gradient = [0.0; crate::MAX_BLOCK];
    field.gradient(q, t, &mut gradient[..block.len()]);
    let rate = if field.is_rheonomic() { field.rate(q, t) } else { 0.0 };
    gradient.iter().zip(block).map(|(g, &c)| g * v[c]).sum::<f64>() + rate
}

impl std::fmt::Debug for Switching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let periodic = matches!(self.regions, Regions::Periodic { .. });
        f.debug_struct("Switching")
            .field("modes", &self.names)
            .field("periodic", &periodic)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AutoDiff, Expr, Scalar};

    /// $c + \sum_k w_k q_k$ over the block.
    struct Affine(f64, Vec<f64>);
    impl Expr for Affine {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            self.1.iter().zip(q).fold(T::from(self.0), |sum, (&w, &q)| sum + q * w)
        }
    }

    fn affine(c: f64, w: &[f64], block: &[usize]) -> AutoDiff<Affine> {
        AutoDiff::new(Affine(c, w.to_vec()), block).unwrap()
    }

    fn cam() -> Switching {
        let mut rows = Rows::new(2);
        rows.push("contact", affine(0.0, &[1.0, -1.0], &[0, 1])).unwrap();
        Switching::periodic("turn", 1, 0.5, 2.0, rows).unwrap()
    }

    #[test]
    fn periodic_modes_are_numbered_without_being_listed() {
        let cam = cam();
        assert_eq!(cam.mode_at(&[0.0, 0.6], 0.0, 0), Some(0));
        assert_eq!(cam.mode_at(&[0.0, -0.1], 0.0, 0), Some(-1));
        assert_eq!(cam.mode_at(&[0.0, 2.0e6 + 0.6], 0.0, 0), Some(1_000_000));
        // On the surface the present mode stays, from either side.
        assert_eq!(cam.mode_at(&[0.0, 2.5], 0.0, 0), Some(0));
        assert_eq!(cam.mode_at(&[0.0, 2.5], 0.0, 1), Some(1));
        assert_eq!(cam.start(&[0.0, 2.5], &[0.0, 1.0], 0.0), Some(1));
        assert_eq!(cam.start(&[0.0, 2.5], &[0.0, -1.0], 0.0), Some(0));
        let mut scratch = [0.0; 2];
        assert_eq!(cam.local(3, &[1.0, 7.0], &mut scratch), [1.0, 1.0]);
        let mut z = [0.0; 2];
        cam.region_gradient(0, &[0.0, 2.5], 0.0, &mut z);
        assert_eq!(z, [0.0, -1.0]);
        assert_eq!(cam.region(0, &[0.0, 2.5], 0.0), 0.0);
        assert_eq!(cam.name(4), "turn 4");
    }

    #[test]
    fn a_gap_between_regions_is_not_covered() {
        let modes = Switching::new(2)
            .with_mode("left", affine(-1.0, &[-1.0], &[1]), Rows::new(2))
            .unwrap()
            .with_mode("right", affine(-1.0, &[1.0], &[1]), Rows::new(2))
            .unwrap();
        assert_eq!(modes.start(&[9.0, 0.0], &[0.0, 1.0], 0.0), None);
        assert_eq!(modes.mode_at(&[9.0, 0.0], 0.0, 0), None);
        assert_eq!(modes.start(&[9.0, 1.0], &[0.0, 1.0], 0.0), Some(1));
        assert_eq!(modes.entered(Some(0), &[9.0, 1.0], &[0.0, 1.0], 0.0, 1e-6), Some(1));
        assert_eq!(modes.find("right"), Some(1));
        assert!(modes.rows(2).is_none() && modes.rows(-1).is_none());
        let mut z = [7.0; 2];
        modes.region_gradient(0, &[9.0, 0.0], 0.0, &mut z);
        assert_eq!(z, [0.0, -1.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(matches!(
            Switching::periodic("turn", 0, 0.0, 0.0, Rows::new(1)),
            Err(ConstraintError::Parameter { what: "the period", .. })
        ));
        assert!(Switching::periodic("turn", 3, 0.0, 1.0, Rows::new(1)).is_err());
        assert!(matches!(
            cam().with_mode("more", affine(0.0, &[1.0], &[0]), Rows::new(2)),
            Err(ConstraintError::PeriodicMode { .. })
        ));
        let alien = Switching::new(2).with_mode("m", affine(0.0, &[1.0], &[0]), Rows::new(3));
        assert!(matches!(alien, Err(ConstraintError::Length { .. })));
    }
}
