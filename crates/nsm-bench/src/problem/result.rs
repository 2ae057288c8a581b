//! What a run gives: the ledger, the recording, and the JSON that the contract promises.

use nsm_model::{Band, Ledger};
use serde_json::{Map, Value, json};

use super::record::{Form, Recording};

/// A run that has ended, well or not.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Name of the run.
    pub name: String,
    /// Its method.
    pub method: String,
    /// Step size.
    pub step: f64,
    /// The account.
    pub ledger: Ledger,
    /// Samples and events.
    pub recording: Recording,
    /// The last good state, as JSON.
    pub last: Value,
    /// How the states of events are written as JSON.
    pub form: Form,
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Why the run ended before its end time, if a step failed.
    pub failure: Option<String>,
    /// Whether it was interrupted from outside.
    pub interrupted: bool,
}

impl RunResult {
    /// The object under `runs.NAME` of the contract.
    pub fn json(&self) -> Value {
        let ledger = &self.ledger;
        let invariants: Map<String, Value> =
            ledger.invariants.iter().map(|(name, b)| (name.clone(), band(b))).collect();
        let times: Vec<f64> = self.recording.events.iter().map(|e| e.t).collect();
        let mut object = json!({
            "method": self.method,
            "step": self.step,
            "steps": ledger.steps,
            "events": ledger.events,
            "rounds": ledger.rounds,
            "most_rounds": ledger.most_rounds,
            "iterations": ledger.iterations,
            "energy": band(&ledger.energy),
            "event_energy_change": ledger.event_energy_change,
            "invariants": invariants,
            "penetration": ledger.penetration,
            "residual": { "position": ledger.position_residual, "velocity": ledger.velocity_residual },
            "final": self.last,
            "event_times": times,
            "event_records": self.event_records(),
            "seconds": self.seconds,
        });
        if let (Some((min, max)), Some(object)) = (ledger.projection, object.as_object_mut()) {
            let total = ledger.projected_energy;
            let energy = json!({ "total": total, "min": min, "max": max });
            object.insert("projected_energy".into(), energy);
        }
        if let (Some(failure), Some(object)) = (&self.failure, object.as_object_mut()) {
            object.insert("failure".into(), json!(failure));
        }
        object
    }

    /// Every event with the state at the end of its step.
    fn event_records(&self) -> Vec<Value> {
        let events = self.recording.events.iter();
        events
            .map(|e| {
                let mut object = self.form.json(e.t, &e.state);
                if let Some(object) = object.as_object_mut() {
                    object.insert("contacts".into(), json!(e.contacts));
                    object.insert("impulses".into(), json!(e.impulses));
                    object.insert("energy_change".into(), json!(e.energy_change));
                }
                object
            })
            .collect()
    }
}

fn band(band: &Band) -> Value {
    json!({
        "start": band.start, "min": band.min, "max": band.max, "end": band.end,
        "drift": band.drift(), "width": band.width(),
    })
}

/// The number at a path such as `energy.max` or `final.q[1]` of a JSON object.
pub fn lookup(object: &Value, path: &str) -> Option<f64> {
    let mut value = object;
    for part in path.split('.') {
        let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        value = value.get(name)?;
        for index in indices.split_terminator(']') {
            value = value.get(index.strip_prefix('[')?.parse::<usize>().ok()?)?;
        }
    }
    match value {
        // A list stands for its length: `event_times > 3` would otherwise need its own word.
        Value::Array(list) => Some(list.len() as f64),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        // JSON has no NaN or infinity; a number that is missing was not finite.
        Value::Null => Some(f64::NAN),
        other => other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_reach_into_objects_and_lists() {
        let object =
            json!({ "energy": { "max": 2.5 }, "final": { "q": [1.0, [3.0, 4.0]] }, "bad": null });
        assert_eq!(lookup(&object, "energy.max"), Some(2.5));
        assert_eq!(lookup(&object, "final.q[0]"), Some(1.0));
        assert_eq!(lookup(&object, "final.q[1][1]"), Some(4.0));
        assert_eq!(lookup(&object, "final.q"), Some(2.0));
        assert!(lookup(&object, "bad").is_some_and(f64::is_nan));
        assert_eq!(lookup(&object, "energy.mx"), None);
        assert_eq!(lookup(&object, "final.q[7]"), None);
    }
}
