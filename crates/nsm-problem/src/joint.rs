//! `[[joint]]`: what holds parts together, and what acts on the freedoms that it leaves.

mod limits;

use std::f64::consts::TAU;
use std::sync::Arc;

use nsm_constraints::Field;
use nsm_constraints::multibody::{
    Coupling, Gauge, GaugeForce, JointId, JointKind, Mechanism, Reference,
};
use nsm_formula::{FormulaForce, Scope, nearest};

use super::account::word;
use super::element::read_line;
use super::flexible::turn_onto;
use super::motion::{Integral, Parameters, read_formula};
use super::multibody::{end_named, name_of, refused};
use super::reader::Reader;
use super::{Contacts, Place, ProblemError};

/// What a joint is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Pair(JointKind),
    Universal,
    ConstantVelocity,
    Screw,
    Distance,
    PointOnLine,
    PointOnPlane,
    Gear,
}

const TYPES: [(&str, Type); 14] = [
    ("revolute", Type::Pair(JointKind::Revolute)),
    ("prismatic", Type::Pair(JointKind::Prismatic)),
    ("cylindrical", Type::Pair(JointKind::Cylindrical)),
    ("spherical", Type::Pair(JointKind::Spherical)),
    ("planar", Type::Pair(JointKind::Planar)),
    ("fixed", Type::Pair(JointKind::Fixed)),
    ("universal", Type::Universal),
    ("constant-velocity", Type::ConstantVelocity),
    ("screw", Type::Screw),
    ("distance", Type::Distance),
    ("point-on-line", Type::PointOnLine),
    ("point-on-plane", Type::PointOnPlane),
    ("gear", Type::Gear),
    ("rack", Type::Gear),
];

/// A freedom of a joint that formulas may speak of.
pub(crate) struct Freedom {
    pub(crate) name: String,
    joint: JointId,
    number: usize,
    /// Where its angle lies, if limits say so.
    near: Option<f64>,
}

impl Freedom {
    /// Its gauge; turns are counted where its value matters and no limits keep it within one.
    pub(crate) fn gauge(
        &self,
        mechanism: &mut Mechanism,
        value: bool,
    ) -> Result<Gauge, ProblemError> {
        let gauge = match self.near {
            None if value => mechanism.counted_freedom(self.joint, self.number),
            near => {
                mechanism.freedom(self.joint, self.number, Reference::Near(near.unwrap_or(0.0)))
            }
        };
        gauge.map_err(|e| refused(&Place::default(), &e))
    }
}

/// Reads all joints; where a rate is given, its place, and the freedoms that formulas may speak of.
pub(crate) fn read_joints(
    reader: &Reader<'_>,
    parameters: &Parameters,
    mechanism: &mut Mechanism,
    own: &mut Contacts,
) -> Result<(Option<Place>, Vec<Freedom>), ProblemError> {
    let tables = reader.tables("joint")?;
    let (mut rated, mut freedoms, mut gears) = (None, Vec::new(), Vec::new());
    let mut made = Vec::new();
    for (i, table) in tables.iter().enumerate() {
        let name = name_of(table, "joint", i)?;
        let known = TYPES.map(|(word, _)| word).join(", ");
        let kind =
            table.require("type", table.choice("type", &TYPES)?, &format!("one of {known}"))?;
        own.read_stops(table, &name)?;
        if kind == Type::Gear {
            gears.push((name, i));
            made.push(0..0);
            continue;
        }
        let joint = read_joint(table, &name, kind, mechanism)?;
        if table.has("rate") {
            rated.get_or_insert_with(|| table.place_of("rate"));
        }
        let first = freedoms.len();
        let named = match kind {
            Type::Pair(JointKind::Spherical | JointKind::Fixed) => 0,
            Type::Pair(pair) => pair.freedoms(),
            Type::Screw => 1,
            _ => 0,
        };
        if let Some(joint) = joint {
            for number in 0..named {
                let word = word(&name);
                let name = if named == 1 { word } else { format!("{word}_{}", number + 1) };
                freedoms.push(Freedom { name, joint, number, near: None });
            }
        }
        made.push(first..freedoms.len());
    }
    for (name, i) in gears {
        read_gear(&tables[i], &name, &freedoms, mechanism)?;
    }
    for (table, own) in tables.iter().zip(&made) {
        limits::read_limits(table, &mut freedoms[own.clone()], mechanism)?;
    }
    let names: Vec<String> = freedoms.iter().map(|f| f.name.clone()).collect();
    for (table, own) in tables.iter().zip(made) {
        read_drives(table, &freedoms, own, (&names, parameters), mechanism)?;
        table.finish()?;
    }
    Ok((rated, freedoms))
}

fn read_joint(
    reader: &Reader<'_>,
    name: &str,
    kind: Type,
    mechanism: &mut Mechanism,
) -> Result<Option<JointId>, ProblemError> {
    let refuse = |e| refused(reader.place(), &e);
    if kind == Type::Distance {
        let (ends, at) = read_line(reader, "bodies", mechanism)?;
        let length = reader.number("length")?;
        let rope = reader.flag("rope")?.unwrap_or(false);
        let added = if rope {
            mechanism.add_rope(name, ends, at, length)
        } else {
            mechanism.add_rod(name, ends, at, length)
        };
        return added.map(|()| None).map_err(refuse);
    }
    let names = reader.require(
        "bodies",
        reader.texts("bodies")?,
        "the names of the two bodies that it joins; `\"ground\"` is one",
    )?;
    let &[first, second] = names.as_slice() else {
        let message = format!("a joint has two bodies, here are {}", names.len());
        return Err(reader.place_of("bodies").error(message));
    };
    let at = reader.require(
        "at",
        reader.vector("at")?,
        "the point of the joint in the world, at the start",
    )?;
    let axis: Option<[f64; 3]> = reader.vector("axis")?;
    let needs_axis = !matches!(
        kind,
        Type::Pair(JointKind::Spherical | JointKind::Fixed)
            | Type::Universal
            | Type::ConstantVelocity
    );
    let axis = if needs_axis {
        reader.require("axis", axis, "a unit vector in the world, at the start")?
    } else {
        axis.unwrap_or([0.0, 0.0, 1.0])
    };
    let place = reader.place_of("bodies");
    let ends = [end_named(mechanism, first, &place)?, end_named(mechanism, second, &place)?];
    let is_particle = |name: &str| {
        mechanism.node(name).is_some_and(|node| mechanism.coordinates(node).len() == 3)
    };
    let pair = match kind {
        Type::PointOnLine | Type::PointOnPlane => {
            let plane = kind == Type::PointOnPlane;
            return mechanism.add_slot(name, ends, at, axis, plane).map(|()| None).map_err(refuse);
        }
        Type::Pair(JointKind::Spherical) if is_particle(first) || is_particle(second) => {
            return mechanism.add_pin(name, ends, at).map(|()| None).map_err(refuse);
        }
        Type::Pair(pair) => pair,
        Type::Screw => JointKind::Cylindrical,
        _ => JointKind::Spherical,
    };
    let joint = mechanism.add_joint(name, pair, ends, at, axis).map_err(refuse)?;
    let mut rate = if reader.is_list("rate") {
        reader.numbers("rate")?
    } else {
        reader.number("rate")?.map(|rate| vec![rate])
    };
    match kind {
        Type::Universal => {
            let arms = read_arms(reader, axis)?;
            let cross = mechanism.product(joint, arms).map_err(refuse)?;
            let row = Coupling::new(vec![(1.0, cross)], 0.0);
            mechanism.couple(joint, "cross", row).map_err(refuse)?;
        }
        Type::ConstantVelocity => {
            // The second shaft's frame is the first one's, bent and not twisted: axes that agree stay as they are.
            let [first, second] = read_shafts(reader, axis)?;
            let [a, b] = across(first);
            let bend = turn_onto(&first.into(), &second.into());
            let [c, d] = [a, b].map(|x| (bend * nsm_geom::Vec3::from(x)).into());
            let twist = [[b, c], [a, d]].map(|pair| mechanism.product(joint, pair));
            let [one, other] = twist;
            let gauges = vec![(1.0, one.map_err(refuse)?), (-1.0, other.map_err(refuse)?)];
            mechanism.couple(joint, "twist", Coupling::new(gauges, 0.0)).map_err(refuse)?;
        }
        Type::Screw => {
            let pitch = reader.require(
                "pitch",
                reader.number("pitch")?,
                "the travel of one turn; negative for a left-handed thread",
            )?;
            if pitch == 0.0 {
                let message =
                    "a screw of zero pitch does not travel: that is a joint of type `revolute`";
                return Err(reader.place_of("pitch").error(message));
            }
            let angle = mechanism.counted_freedom(joint, 0).map_err(refuse)?;
            let travel = mechanism.freedom(joint, 1, Reference::Near(0.0)).map_err(refuse)?;
            let row = Coupling::new(vec![(1.0, travel), (-pitch / TAU, angle)], 0.0);
            mechanism.couple(joint, "thread", row).map_err(refuse)?;
            if let Some([turn]) = rate.as_deref() {
                rate = Some(vec![*turn, pitch / TAU * turn]);
            }
        }
        _ => {}
    }
    if let Some(rate) = &rate {
        mechanism.set_rate(joint, rate).map_err(|e| refused(&reader.place_of("rate"), &e))?;
    }
    Ok(Some(joint))
}

/// Two unit vectors across an axis.
fn across(axis: [f64; 3]) -> [[f64; 3]; 2] {
    let axis = nsm_geom::Vec3::from(axis);
    let a = nsm_geom::Vec3::ith(axis.iamin(), 1.0);
    let a = (a - axis * axis.dot(&a)).normalize();
    [a.into(), axis.cross(&a).into()]
}

/// The shafts of a constant velocity coupling: `axis` where they agree at the start, `axes` where they do not.
fn read_shafts(reader: &Reader<'_>, axis: [f64; 3]) -> Result<[[f64; 3]; 2], ProblemError> {
    let shafts = match reader.matrix("axes")? {
        Some(rows) => pair_of_vectors(&rows, &reader.place_of("axes"))?,
        None if reader.has("axis") => [axis; 2],
        None => {
            let message = "`axis` is missing: the shaft of both bodies; or `axes`, that of the first and that of the second where they are bent at the start";
            return Err(reader.place().error(message));
        }
    };
    let cosine = nsm_geom::Vec3::from(shafts[0]).dot(&nsm_geom::Vec3::from(shafts[1]));
    if cosine < 1e-6 {
        let message = "the shafts are bent by a right angle or more: turn one of the axes round, or draw them closer to a line";
        return Err(reader.place_of("axes").error(message));
    }
    Ok(shafts)
}

fn pair_of_vectors(rows: &[Vec<f64>], place: &Place) -> Result<[[f64; 3]; 2], ProblemError> {
    let vectors: Option<Vec<[f64; 3]>> =
        rows.iter().map(|row| <[f64; 3]>::try_from(row.as_slice()).ok()).collect();
    vectors
        .and_then(|vectors| vectors.try_into().ok())
        .ok_or_else(|| place.error("expected two unit vectors with three numbers each"))
}

/// `axes`: the arms of the cross on the first and on the second body; two across `axis` if left out.
fn read_arms(reader: &Reader<'_>, axis: [f64; 3]) -> Result<[[f64; 3]; 2], ProblemError> {
    let Some(rows) = reader.matrix("axes")? else {
        if reader.has("axis") {
            return Ok(across(axis));
        }
        let message = "`axis` is missing: the shaft, across which the cross lies; or `axes`, its arms on the first and on the second body";
        return Err(reader.place().error(message));
    };
    let place = reader.place_of("axes");
    let arms = pair_of_vectors(&rows, &place)?;
    let product = nsm_geom::Vec3::from(arms[0]).dot(&nsm_geom::Vec3::from(arms[1]));
    if product.abs() > 1e-9 {
        return Err(place.error("the arms of a cross are at right angles"));
    }
    Ok(arms)
}

fn read_gear(
    reader: &Reader<'_>,
    name: &str,
    freedoms: &[Freedom],
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let of = reader.require(
        "of",
        reader.texts("of")?,
        "the two joints that it ties together, as in `of = [\"a\", \"b\"]`",
    )?;
    let place = reader.place_of("of");
    let &[first, second] = of.as_slice() else {
        return Err(place.error(format!("a gear ties two joints together, here are {}", of.len())));
    };
    let ratio = reader.require(
        "ratio",
        reader.number("ratio")?,
        "what the first freedom does for each unit of the second; negative for wheels that mesh outside",
    )?;
    if ratio == 0.0 {
        return Err(reader.place_of("ratio").error("a gear of ratio zero holds its first joint"));
    }
    let mut find = |name: &str| {
        let Some(freedom) = freedoms.iter().find(|f| f.name == word(name)) else {
            let near = nearest(name, freedoms.iter().map(|f| f.name.as_str()));
            let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
            let message = format!(
                "there is no freedom `{name}`{hint}: revolute, prismatic and screw joints have one, and `NAME_1`, `NAME_2` are those of a cylindrical joint"
            );
            return Err(place.error(message));
        };
        freedom.gauge(mechanism, true)
    };
    let gauges = vec![(1.0, find(first)?), (-ratio, find(second)?)];
    let row = Arc::new(Coupling::new(gauges, 0.0));
    mechanism.add_equality(name, row).map_err(|e| refused(reader.place(), &e))
}

/// One value for a single freedom, or a list with one for each.
fn per_freedom(
    reader: &Reader<'_>,
    key: &'static str,
    freedoms: usize,
) -> Result<Vec<f64>, ProblemError> {
    let values = if reader.is_list(key) {
        reader.numbers(key)?
    } else {
        reader.number(key)?.map(|x| vec![x])
    };
    let values = values.unwrap_or_default();
    counted(reader, key, values.len(), freedoms)?;
    Ok(values)
}

fn counted(
    reader: &Reader<'_>,
    key: &'static str,
    found: usize,
    freedoms: usize,
) -> Result<(), ProblemError> {
    if found == 0 || found == freedoms {
        return Ok(());
    }
    let message = if freedoms == 0 {
        "this joint has no freedom that is an angle about or a travel along an axis".to_owned()
    } else {
        format!("one for each of the {freedoms} freedoms of this joint, here are {found}")
    };
    Err(reader.place_of(key).error(message))
}

/// Springs, dampers, torques and motors on the freedoms of one joint.
fn read_drives(
    reader: &Reader<'_>,
    all: &[Freedom],
    own: std::ops::Range<usize>,
    (names, parameters): (&[String], &Parameters),
    mechanism: &mut Mechanism,
) -> Result<(), ProblemError> {
    let count = own.len();
    let refuse = |e| refused(reader.place(), &e);
    let stiffness = per_freedom(reader, "stiffness", count)?;
    let rest = per_freedom(reader, "rest", count)?;
    if !rest.is_empty() && stiffness.is_empty() {
        let message = "`rest` is where a spring rests: give its `stiffness` too";
        return Err(reader.place_of("rest").error(message));
    }
    let damping = per_freedom(reader, "damping", count)?;
    for (k, freedom) in all[own.clone()].iter().enumerate() {
        if let Some(&stiffness) = stiffness.get(k) {
            let gauge = freedom.gauge(mechanism, true)?;
            let rest = rest.get(k).copied().unwrap_or(0.0);
            let added = mechanism.add_joint_spring(freedom.joint, gauge, stiffness, rest);
            added.map_err(|e| refused(&reader.place_of("stiffness"), &e))?;
        }
        if let Some(&damping) = damping.get(k) {
            let gauge = freedom.gauge(mechanism, false)?;
            let added = mechanism.add_joint_damper(freedom.joint, gauge, damping);
            added.map_err(|e| refused(&reader.place_of("damping"), &e))?;
        }
    }
    limits::read_friction(reader, &all[own.clone()], mechanism)?;
    let torques: Vec<String> = if reader.is_text("torque") {
        reader.text("torque")?.map(str::to_owned).into_iter().collect()
    } else {
        reader.texts("torque")?.unwrap_or_default().into_iter().map(str::to_owned).collect()
    };
    counted(reader, "torque", torques.len(), count)?;
    for (k, text) in torques.iter().enumerate() {
        let place = reader.place_of("torque");
        let force = controller(text, all, own.start + k, (names, parameters), mechanism, &place)?;
        let joint = &all[own.start + k].name;
        mechanism.add_force(&format!("{joint}: torque"), Arc::new(force)).map_err(refuse)?;
    }
    let motor = match (
        read_formula(reader, "motor", parameters)?,
        read_formula(reader, "motor_rate", parameters)?,
    ) {
        (Some(_), Some(_)) => {
            let message =
                "a motor prescribes the position (`motor`) or the rate (`motor_rate`), not both";
            return Err(reader.place_of("motor_rate").error(message));
        }
        (Some(motion), None) => Some(("motor", motion)),
        (None, Some(rate)) => {
            let motion: Arc<dyn Field> = Arc::new(Integral::new(rate, mechanism.start_time()));
            Some(("motor_rate", motion))
        }
        (None, None) => None,
    };
    let Some((key, motion)) = motor else { return Ok(()) };
    let place = reader.place_of(key);
    if count != 1 {
        let message = "a motor drives the one freedom of a revolute, prismatic or screw joint";
        return Err(place.error(message));
    }
    let (begin, rate) =
        (motion.value(&[], mechanism.start_time()), motion.rate(&[], mechanism.start_time()));
    if !begin.is_finite() || !rate.is_finite() {
        return Err(place.error(format!("the motor begins at {begin} with the rate {rate}")));
    }
    if begin.abs() > 1e-9 {
        let message = format!(
            "the motor begins at {begin}, but freedoms are zero where the file draws them: let the formula begin at 0, or draw the joint there"
        );
        return Err(place.error(message));
    }
    let freedom = &all[own.start];
    mechanism.add_motor(freedom.joint, freedom.number, motion).map_err(refuse)
}

/// A force on one freedom by a formula of freedoms, rates and time.
fn controller(
    text: &str,
    all: &[Freedom],
    own: usize,
    (names, parameters): (&[String], &Parameters),
    mechanism: &mut Mechanism,
    place: &Place,
) -> Result<GaugeForce, ProblemError> {
    let scope =
        |names: &[String]| Scope::new(names, parameters).map_err(|e| place.error(e.message));
    let whole =
        FormulaForce::of_rates(&[(own, text)], &scope(names)?).map_err(|e| place.formula(&e))?;
    // The same formula of those freedoms alone that it speaks of.
    let used = nsm_constraints::Force::coordinates(&whole).to_vec();
    let few: Vec<String> = used.iter().map(|&k| names[k].clone()).collect();
    let at = used.iter().position(|&k| k == own).unwrap_or(0);
    let law =
        FormulaForce::of_rates(&[(at, text)], &scope(&few)?).map_err(|e| place.formula(&e))?;
    let gauges = used
        .iter()
        .map(|&k| all[k].gauge(mechanism, whole.reads(k)))
        .collect::<Result<Vec<_>, _>>()?;
    GaugeForce::new(gauges, Arc::new(law)).map_err(|e| place.error(e.to_string()))
}
