//! An impact law bound to a system.
//!
//! The gradients come from whoever steps (they are needed there too), in the order of
//! [`Rows`](nsm_constraints::Rows). Equality constraints are kept: contact gradients are projected onto
//! their cotangent space, \[KP\] (6.7), inside the reflection as well.

use nsm_constraints::{ContactTolerance, CotangentProjection, Metric, Rows};
use nsm_model::System;

use crate::{Certificate, ContactRows, ImpactLaw, Kernel, ReflectError};

/// Resolves the impacts of one system; nothing is allocated in an impact.
///
/// ```
/// use nsm_constraints::{AutoDiff, Expr, Scalar};
/// use nsm_model::{Mass, System};
/// use nsm_reflect::{ContactTolerance, ImpactLaw, Reflector};
///
/// struct Height;
/// impl Expr for Height {
///     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T { q[0] }
/// }
/// let ball = System::new(Mass::diagonal(&[2.0])?)
///     .with_inequality("floor", AutoDiff::new(Height, &[0]).unwrap())?;
/// let mut reflector = Reflector::new(&ball, ImpactLaw::Reflection, ContactTolerance::default())?;
/// let mut p = [-3.0];
/// let certificate = reflector.reflect(&ball, &[1.0], &[], &[0], &mut p)?;
/// assert_eq!(p, [3.0]);
/// assert_eq!(reflector.impulses(), [6.0]);
/// assert_eq!(certificate.energy_change, 0.0);
/// # Ok::<(), nsm_reflect::ReflectError>(())
/// ```
#[derive(Debug)]
pub struct Reflector {
    law: ImpactLaw,
    metric: Metric,
    kernel: Kernel,
    starts: Vec<usize>,
    columns: Vec<usize>,
    equalities: Option<Projected>,
}

/// Contact gradients projected onto the equalities of a system.
#[derive(Debug)]
pub(crate) struct Projected {
    projection: CotangentProjection,
    values: Vec<f64>,
    /// $f_t$, and the drift of every contact; empty where no equality moves by itself.
    rates: Vec<f64>,
    drift: Vec<f64>,
}

impl Projected {
    /// Nothing if the system has no equalities.
    pub(crate) fn new(system: &System, metric: &Metric) -> Option<Self> {
        (!system.equalities().is_empty()).then(|| {
            let rows = system.inequalities();
            let projection = CotangentProjection::new(metric, system.equalities(), rows.pattern());
            let values = vec![0.0; projection.columns().len()];
            let moving = system.equalities().is_rheonomic();
            let none_unless_moving = |length: usize| vec![0.0; if moving { length } else { 0 }];
            let rates = none_unless_moving(system.equalities().len());
            let drift = none_unless_moving(rows.len());
            Self { projection, values, rates, drift }
        })
    }

    /// Gradient entries over all contacts.
    pub(crate) fn entries(&self) -> usize {
        self.values.len()
    }

    /// How fast equalities move by themselves at a configuration.
    pub(crate) fn at(&mut self, system: &System, (q, t): (&[f64], f64)) {
        if !self.rates.is_empty() {
            system.equalities().rates(q, t, &mut self.rates);
        }
    }
}

impl Reflector {
    /// Binds a law to a system, with $W = M^{-1}$.
    ///
    /// # Errors
    /// Massless coordinates, restitutions outside $[0, 1]$ or of the wrong number.
    pub fn new(
        system: &System,
        law: ImpactLaw,
        tolerance: ContactTolerance,
    ) -> Result<Self, ReflectError> {
        system.require_regular_mass()?;
        Self::with_metric(system, system.mass().inverse_metric()?, law, tolerance)
    }

    /// Binds a law to a system, with another metric, such as that of [`ShadowMetric`](crate::ShadowMetric).
    ///
    /// The metric's pattern is taken from here; [`reflect_in`](Reflector::reflect_in) takes its values anew.
    ///
    /// # Errors
    /// As for [`Reflector::new`], or a metric of another dimension.
    pub fn with_metric(
        system: &System,
        metric: Metric,
        law: ImpactLaw,
        tolerance: ContactTolerance,
    ) -> Result<Self, ReflectError> {
        let rows = system.inequalities();
        law.check(rows.len())?;
        if metric.dimension() != system.dimension() {
            return Err(ReflectError::Length {
                what: "the metric",
                length: metric.dimension(),
                expected: system.dimension(),
            });
        }
        let equalities = Projected::new(system, &metric);
        let mut starts = vec![0];
        starts.extend((0..rows.len()).map(|i| rows.span(i).end));
        let mut kernel = Kernel::new(system.dimension(), rows.len(), tolerance);
        kernel.reserve(equalities.as_ref().map_or(rows.entries(), Projected::entries));
        Ok(Self {
            law,
            metric,
            kernel,
            columns: (0..rows.len()).flat_map(|i| rows.columns(i).iter().copied()).collect(),
            starts,
            equalities,
        })
    }

    /// Bounds the number of rounds of an impact.
    #[must_use]
    pub fn with_max_rounds(mut self, rounds: usize) -> Self {
        self.kernel.max_rounds = Some(rounds);
        self
    }

    /// The law.
    pub fn law(&self) -> &ImpactLaw {
        &self.law
    }

    /// When a contact approaches, and when it is at rest.
    pub fn tolerance(&self) -> &ContactTolerance {
        &self.kernel.tolerance
    }

    /// The metric $W$ of [`reflect`](Reflector::reflect).
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Total impulse of each candidate in the last impact, in the order of the candidates.
    pub fn impulses(&self) -> &[f64] {
        self.kernel.impulses()
    }

    /// Says where the impacts to come happen. Only equalities that depend on time want to know: contacts with what they move are resolved as the parties see
    /// each other.
    pub fn at(&mut self, system: &System, q: &[f64], t: f64) {
        if let Some(projected) = &mut self.equalities {
            projected.at(system, (q, t));
        }
    }

    /// Changes `p` so that none of the candidate contacts approaches.
    ///
    /// `g` and `f` are the gradient values of the inequalities and of the equalities of `system` (the
    /// system to which the reflector was bound), at the configuration of the impact.
    ///
    /// # Errors
    /// Leaves `p` as it was; see [`Kernel::reflect`].
    #[inline]
    pub fn reflect(
        &mut self,
        system: &System,
        g: &[f64],
        f: &[f64],
        candidates: &[usize],
        p: &mut [f64],
    ) -> Result<Certificate, ReflectError> {
        let Self { law, metric, kernel, starts, columns, equalities } = self;
        if equalities.is_none() && g.len() == columns.len() {
            let rows = ContactRows::of_pattern(starts, columns, g);
            return kernel.reflect_checked(law, metric, rows, candidates, p);
        }
        let rows = gather(system, metric, (starts, columns), equalities, (g, f), candidates)?;
        kernel.reflect_checked(law, metric, rows, candidates, p)
    }

    /// As [`reflect`](Reflector::reflect), in a metric whose values change from impact to impact.
    ///
    /// # Errors
    /// As for [`reflect`](Reflector::reflect).
    pub fn reflect_in(
        &mut self,
        metric: &Metric,
        system: &System,
        g: &[f64],
        f: &[f64],
        candidates: &[usize],
        p: &mut [f64],
    ) -> Result<Certificate, ReflectError> {
        let Self { law, kernel, starts, columns, equalities, .. } = self;
        let rows = gather(system, metric, (starts, columns), equalities, (g, f), candidates)?;
        kernel.reflect_checked(law, metric, rows, candidates, p)
    }
}

/// The rows of the impact: as they are, or projected onto the equalities.
pub(crate) fn gather<'a>(
    system: &System,
    metric: &Metric,
    (starts, columns): (&'a [usize], &'a [usize]),
    equalities: &'a mut Option<Projected>,
    (g, f): (&'a [f64], &'a [f64]),
    candidates: &[usize],
) -> Result<ContactRows<'a>, ReflectError> {
    check_length("the list of gradient values", g, columns.len())?;
    let Some(Projected { projection, values, rates, drift }) = equalities else {
        return Ok(ContactRows::of_pattern(starts, columns, g));
    };
    let (equalities, inequalities): (&Rows, &Rows) = (system.equalities(), system.inequalities());
    check_length("the list of equality gradients", f, equalities.entries())?;
    projection.renew();
    for &contact in candidates {
        if contact < inequalities.len() {
            let given = (inequalities.pattern(), g);
            let rate = projection
                .project(metric, (equalities, f, rates), given, contact, values)
                .map_err(|source| ReflectError::Projection { contact, source })?;
            if let Some(drift) = drift.get_mut(contact) {
                *drift = rate;
            }
        }
    }
    let rows = ContactRows::of_pattern(projection.starts(), projection.columns(), values);
    Ok(rows.with_drift(drift))
}

fn check_length(what: &'static str, slice: &[f64], expected: usize) -> Result<(), ReflectError> {
    if slice.len() == expected {
        Ok(())
    } else {
        Err(ReflectError::Length { what, length: slice.len(), expected })
    }
}
