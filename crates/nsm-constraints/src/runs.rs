//! Neighbouring rows of one kind, which are evaluated together: a call for each would cost more than its arithmetic.

use std::any::Any;
use std::ops::Range;

use crate::affine::AffineRows;
use crate::rods::PlaneRod;
use crate::{Affine, Field, Rod};

/// Rows that are evaluated together.
#[derive(Clone)]
pub(crate) enum Run {
    Fields(Range<usize>),
    Affine(Range<usize>, AffineRows),
    Rods(Range<usize>, Vec<PlaneRod>),
}

/// What kind of run a row belongs to.
pub(crate) enum RunKind {
    Rod(PlaneRod),
    Affine(Affine),
    Any,
}

impl RunKind {
    pub(crate) fn of(field: &(impl Field + 'static)) -> Self {
        match (field as &dyn Any).downcast_ref::<Rod>().and_then(PlaneRod::new) {
            Some(rod) => Self::Rod(rod),
            None => field.affine().map_or(Self::Any, Self::Affine),
        }
    }
}
