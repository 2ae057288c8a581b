//! Results as JSON, in the words of the contract. JSON is printed from the types, never read back.

use nsm_model::{Band, Warning};
use serde_json::{Map, Value, json};

use super::account::{Answers, ContactTotal, Instant, Window, word};
use super::result::{Carried, Load, RunResult, Setting};
use super::state::{BodyState, Named, StateRecord};

/// Everything about a run but the records of its events.
pub(crate) fn run(result: &RunResult) -> Value {
    let ledger = &result.ledger;
    let invariants: Map<String, Value> = ledger
        .invariants
        .iter()
        .zip(&ledger.conserved)
        .map(|((name, b), &conserved)| {
            let mut object = band(b);
            object["conserved"] = json!(conserved);
            (name.clone(), object)
        })
        .collect();
    let mut object = json!({
        "steps": ledger.steps,
        "events": ledger.events,
        "rounds": ledger.rounds,
        "most_rounds": ledger.most_rounds,
        "iterations": ledger.iterations,
        "split_steps": ledger.split_steps,
        "contact_residual": ledger.contact_residual,
        "energy": band(&ledger.energy),
        "event_energy_change": ledger.event_energy_change,
        "contact_work": ledger.contact_work,
        "invariants": invariants,
        "penetration": ledger.penetration,
        "residual": { "position": ledger.position_residual, "velocity": ledger.velocity_residual },
        "balance": band(&ledger.balance),
        "work": ledger.work.iter().map(|(name, w)| (word(name), json!(w))).collect::<Map<_, _>>(),
        "final": state(&result.end),
        "event_times": result.recording.event_times,
        "warnings": warnings(&ledger.warnings()),
    });
    if let Some((min, max)) = ledger.projection {
        let total = ledger.projected_energy;
        object["projected_energy"] = json!({ "total": total, "min": min, "max": max });
    }
    answers(&result.answers, &mut object);
    if !result.reactions.is_empty() {
        object["reactions"] = named(&result.reactions, carried);
    }
    object["method"] = json!(result.method);
    if let Some(why) = result.recommended {
        object["recommended"] = json!(why);
    }
    object["step"] = json!(result.step);
    let varied = result.varied.iter();
    object["varied"] =
        varied.map(|(path, s)| json!({ "path": path, "value": setting(s) })).collect();
    object["seconds"] = json!(result.seconds);
    object["failed"] = json!(result.failure.is_some());
    if let Some(failure) = &result.failure {
        object["failure"] = json!(failure);
    }
    object
}

/// Warnings with the numbers that they are about.
pub fn warnings(list: &[Warning]) -> Value {
    let one =
        |w: &Warning| json!({ "kind": w.kind(), "message": w.to_string(), "value": w.value() });
    list.iter().map(one).collect()
}

/// A value that a family varies.
pub fn setting(value: &Setting) -> Value {
    match value {
        Setting::Number(x) => json!(x),
        Setting::Text(text) => json!(text),
        Setting::List(list) => list.iter().map(setting).collect(),
    }
}

/// The events that are kept, with the state at the end of the step.
pub(crate) fn events(result: &RunResult) -> Value {
    let event = |e: &super::record::EventRecord| {
        let mut object = state(&result.form.state(e.t, &e.state));
        object["contacts"] = json!(e.contacts);
        object["impulses"] = json!(e.impulses);
        object["energy_change"] = json!(e.energy_change);
        if e.touches.iter().any(Option::is_some) {
            let points = e.touches.iter().map(|touch| touch.map(|touch| touch.point));
            object["points"] = json!(points.collect::<Vec<_>>());
        }
        if !e.slips.is_empty() {
            object["tangential"] = json!(e.tangential);
            object["slips"] = json!(e.slips);
            object["work"] = json!(e.work);
        }
        if !e.carried.is_empty() {
            object["reactions"] = impulses(&result.recording.reaction_columns[1..], &e.carried);
        }
        object
    };
    result.recording.events.iter().map(event).collect()
}

/// What constraints carried in an event: impulse and angular impulse of each joint, a number for each row.
fn impulses(columns: &[String], carried: &[f64]) -> Value {
    let mut object = Map::new();
    let mut k = 0;
    while let Some(name) = columns.get(k) {
        if let Some(joint) = name.strip_suffix(".Fn") {
            let (impulse, angular) = (&carried[k..k + 3], &carried[k + 3..k + 6]);
            object.insert(word(joint), json!({ "impulse": impulse, "angular_impulse": angular }));
            k += 6;
        } else {
            object.insert(word(name), json!(carried[k]));
            k += 1;
        }
    }
    Value::Object(object)
}

fn named<T>(things: &Named<T>, print: impl Fn(&T) -> Value) -> Value {
    Value::Object(things.iter().map(|(name, thing)| (name.to_owned(), print(thing))).collect())
}

fn state(state: &StateRecord) -> Value {
    let mut object = json!({ "t": state.t });
    if let Some(c) = &state.coordinates {
        object["q"] = json!(c.q);
        object["v"] = json!(c.v);
        object["p"] = json!(c.p);
    }
    if let Some(bodies) = &state.bodies {
        object["bodies"] = named(bodies, body);
    }
    object
}

fn body(body: &BodyState) -> Value {
    let mut object = json!({ "position": body.position });
    if let Some(turning) = &body.turning {
        object["rotation"] = json!(turning.rotation);
    }
    object["momentum"] = json!(body.momentum);
    if let Some(turning) = &body.turning {
        object["angular_momentum"] = json!(turning.angular_momentum);
    }
    object
}

fn answers(answers: &Answers, object: &mut Value) {
    object["gaps"] = named(&answers.gaps, band);
    object["contacts"] = named(&answers.contacts, contact);
    object["penetrating_steps"] = json!(answers.penetrating_steps);
    object["events_per_step"] =
        json!({ "most": answers.most_events, "several": answers.several_events });
    if !answers.at.is_empty() {
        object["at"] = answers.at.iter().map(|i| i.as_ref().map_or(Value::Null, instant)).collect();
    }
    if !answers.windows.is_empty() {
        object["windows"] = answers.windows.iter().map(window).collect();
    }
}

fn instant(instant: &Instant) -> Value {
    let mut object = state(&instant.state);
    object["energy"] = json!(instant.energy);
    object["invariants"] = named(&instant.invariants, |x| json!(x));
    object
}

fn window(w: &Window) -> Value {
    json!({
        "t": w.start,
        "energy": band(&w.energy),
        "invariants": named(&w.invariants, band),
        "penetration": w.penetration,
        "residual": { "position": w.position_residual, "velocity": w.velocity_residual },
        "events": w.events,
    })
}

fn contact(total: &ContactTotal) -> Value {
    json!({
        "events": total.events,
        "impulse": total.impulse,
        "tangential": total.tangential,
        "work": total.work,
        "sticking": total.sticking,
        "slipping": total.slipping,
        "largest_force": total.largest_force,
        "largest_tangential_force": total.largest_tangential_force,
    })
}

fn carried(carried: &Carried) -> Value {
    let load = |l: &Load| json!({ "start": l.start, "end": l.end, "max": l.max });
    match carried {
        Carried::Joint { force, torque, impulse, angular_impulse } => json!({
            "force": load(force), "torque": load(torque),
            "impulse": { "max": impulse }, "angular_impulse": { "max": angular_impulse },
        }),
        Carried::Row(all) => band(all),
    }
}

/// A band; `drift` is the older name of `deviation`.
fn band(band: &Band) -> Value {
    let deviation = band.deviation();
    json!({
        "start": band.start, "min": band.min, "max": band.max, "end": band.end,
        "deviation": deviation, "trend": band.trend(), "drift": deviation, "width": band.width(),
    })
}
