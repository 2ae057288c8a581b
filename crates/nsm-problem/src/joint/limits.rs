//! What joints resist by: stops, and dry friction.

use std::f64::consts::TAU;

use nsm_constraints::multibody::Mechanism;

use super::{Freedom, counted, per_freedom, refused};
use crate::ProblemError;
use crate::reader::Reader;

/// `limits`: one pair for each freedom.
pub(super) fn read_limits(
    reader: &Reader<'_>,
    freedoms: &mut [Freedom],
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let rows = if reader.is_matrix("limits") {
        reader.matrix("limits")?
    } else {
        reader.numbers("limits")?.map(|pair| vec![pair])
    };
    let Some(rows) = rows else { return Ok(()) };
    let place = reader.place_of("limits");
    counted(reader, "limits", rows.len(), freedoms.len())?;
    for (freedom, row) in freedoms.iter_mut().zip(rows) {
        let Ok(bounds) = <[f64; 2]>::try_from(row.as_slice()) else {
            return Err(place.error("expected a lower and an upper limit, as in `[-0.1, 2.0]`"));
        };
        if bounds[1] - bounds[0] < TAU {
            freedom.near = Some(0.5 * (bounds[0] + bounds[1]));
        }
        let gauge = freedom.gauge(mechanism, true)?;
        mechanism
            .add_limits(freedom.joint, freedom.number, &gauge, bounds)
            .map_err(|e| refused(&place, &e))?;
    }
    Ok(())
}

/// `dry_friction`: a bound for each freedom; `friction` with `bearing_radius` (not for a slide): that of the load.
pub(super) fn read_friction(
    reader: &Reader<'_>,
    freedoms: &[Freedom],
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let bounds = per_freedom(reader, "dry_friction", freedoms.len())?;
    let (friction, radius) = (reader.number("friction")?, reader.number("bearing_radius")?);
    for (key, value) in [("friction", friction), ("bearing_radius", radius)] {
        if value.is_some_and(|x| !(x.is_finite() && x >= 0.0)) {
            let message = format!("`{key}` must be finite and not negative");
            return Err(reader.place_of(key).error(message));
        }
    }
    let load = match (friction, radius, freedoms) {
        (None, None, _) | (Some(0.0), ..) => 0.0,
        (None, Some(_), _) => {
            let message =
                "`bearing_radius` is where the load of a bearing rubs: give its `friction` too";
            return Err(reader.place_of("bearing_radius").error(message));
        }
        (Some(mu), radius, [freedom]) => {
            let gauge = freedom.gauge(mechanism, false)?;
            match (gauge.is_angle(), radius) {
                (true, Some(radius)) => mu * radius,
                (false, None) => mu,
                (true, None) => {
                    let message = "`friction` of a hinge acts at the radius of its bearing: give `bearing_radius` too, or a torque by `dry_friction`; stops of joints do not rub";
                    return Err(reader.place_of("friction").error(message));
                }
                (false, Some(_)) => {
                    let message = "a slide has no `bearing_radius`: `friction` is that of the force across it";
                    return Err(reader.place_of("bearing_radius").error(message));
                }
            }
        }
        (Some(_), ..) => {
            let message = "`friction` by the load is for a joint with one freedom, a hinge or a slide: `dry_friction` gives every freedom a bound; stops of joints do not rub";
            return Err(reader.place_of("friction").error(message));
        }
    };
    if bounds.is_empty() && load == 0.0 {
        return Ok(());
    }
    let key = if bounds.is_empty() { "friction" } else { "dry_friction" };
    for (k, freedom) in freedoms.iter().enumerate() {
        let gauge = freedom.gauge(mechanism, false)?;
        let bound = bounds.get(k).copied().unwrap_or(0.0);
        let added = mechanism.add_joint_friction(freedom.joint, gauge, (bound, load));
        added.map_err(|e| refused(&reader.place_of(key), &e))?;
    }
    Ok(())
}
