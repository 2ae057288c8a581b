//! What a run gives: the ledger, the recording, and the JSON that the contract promises.

use nsm_model::{Ledger, Warning};
use serde_json::{Map, Value, json};

use super::account::{band, word};
use super::record::{Form, Recording};
use nsm_formula::{Figure, nearest};

/// A run that has ended, well or not.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Name of the run.
    pub name: String,
    /// Name of its family, if it is a member of one.
    pub family: Option<String>,
    /// Its method.
    pub method: String,
    /// Why nsm took this method, where the file names none.
    pub recommended: Option<&'static str>,
    /// Step size.
    pub step: f64,
    /// The account.
    pub ledger: Ledger,
    /// Samples and events.
    pub recording: Recording,
    /// How the states of events are written as JSON.
    pub form: Form,
    /// Wall-clock time in seconds, if there was a clock.
    pub seconds: Option<f64>,
    /// Why the files end before the run does, if they do.
    pub unwritten: Option<String>,
    /// Why the run ended before its end time, if a step failed.
    pub failure: Option<String>,
    /// Whether it was interrupted from outside.
    pub interrupted: bool,
    /// Everything that the JSON says but for the records of events.
    pub summary: Value,
}

impl RunResult {
    /// The object under `runs.NAME` of the contract.
    pub fn json(&self) -> Value {
        let mut object = self.summary.clone();
        object["event_records"] = Value::Array(self.event_records());
        if self.left_out() > 0 {
            object["event_records_left_out"] = json!(self.left_out());
        }
        object
    }

    /// The result at a path such as `energy.max`, `final.q` or `windows[*].energy.min`.
    ///
    /// # Errors
    /// Says which part of the path there is not, and what is most like it.
    pub fn figure(&self, path: &str) -> Result<Figure, String> {
        if path.starts_with("event_records") {
            self.all_kept(path)?;
            // Long runs have many: they are written down only where someone asks.
            return lookup(&json!({ "event_records": self.event_records() }), path);
        }
        match path.strip_prefix("warnings") {
            Some("") => Ok(self.count_warnings(|_| true)),
            Some(rest) if rest.starts_with('.') => {
                let kind = &rest[1..];
                if Warning::KINDS.contains(&kind) {
                    return Ok(self.count_warnings(|w| w.kind() == kind));
                }
                let known = Warning::KINDS.join(", ");
                Err(format!("there are no warnings of the kind `{kind}`, but of {known}"))
            }
            _ => lookup(&self.summary, path),
        }
    }

    /// How many warnings there are of those asked for.
    fn count_warnings(&self, asked: impl Fn(&Warning) -> bool) -> Figure {
        Figure::Number(self.ledger.warnings().iter().filter(|w| asked(w)).count() as f64)
    }

    /// Events that happened and are not kept in full.
    pub fn left_out(&self) -> usize {
        self.recording.event_times.len() - self.recording.events.len()
    }

    /// A list of events must not be judged by its beginning.
    fn all_kept(&self, path: &str) -> Result<(), String> {
        let kept = self.recording.events.len();
        let chosen = path["event_records".len()..].strip_prefix('[');
        let one = chosen.and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        if self.left_out() == 0 || one.is_some_and(|k| k < kept) {
            return Ok(());
        }
        Err(format!(
            "only the first {kept} of {} events are kept in full; `[output]` with `events = \"all\"` keeps every one",
            self.recording.event_times.len()
        ))
    }

    /// The events that are kept, with the state at the end of the step.
    fn event_records(&self) -> Vec<Value> {
        let events = self.recording.events.iter();
        events
            .map(|e| {
                let mut object = self.form.json(e.t, &e.state);
                if let Some(object) = object.as_object_mut() {
                    object.insert("contacts".into(), json!(e.contacts));
                    object.insert("impulses".into(), json!(e.impulses));
                    object.insert("energy_change".into(), json!(e.energy_change));
                    if !e.slips.is_empty() {
                        object.insert("tangential".into(), json!(e.tangential));
                        object.insert("slips".into(), json!(e.slips));
                        object.insert("work".into(), json!(e.work));
                    }
                }
                object
            })
            .collect()
    }
}

/// What the ledger and the recording say, and the last good state.
pub(crate) fn summary(ledger: &Ledger, recording: &Recording, last: &Value) -> Value {
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
    let warning =
        |w: &Warning| json!({ "kind": w.kind(), "message": w.to_string(), "value": w.value() });
    let warnings: Vec<Value> = ledger.warnings().iter().map(warning).collect();
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
        "final": last,
        "event_times": recording.event_times,
        "warnings": warnings,
    });
    if let Some((min, max)) = ledger.projection {
        let total = ledger.projected_energy;
        object["projected_energy"] = json!({ "total": total, "min": min, "max": max });
    }
    object
}

/// What joints carried: largest force and torque at the recorded instants, and those at the end; what else carries a force, by its
/// band.
pub(crate) fn reactions(recording: &Recording) -> Value {
    let column = |k: usize| recording.reactions.iter().map(move |row| row[k]);
    let mut object = Map::new();
    let mut k = 1;
    while let Some(name) = recording.reaction_columns.get(k) {
        let Some(joint) = name.strip_suffix(".Fn") else {
            let mut values = column(k);
            let mut all = nsm_model::Band::new(values.next().unwrap_or(f64::NAN));
            values.for_each(|x| all.extend(x));
            object.insert(word(name), band(&all));
            k += 1;
            continue;
        };
        let vector = |first: usize| {
            let at =
                |row: &Vec<f64>| <[f64; 3]>::try_from(&row[first..first + 3]).unwrap_or_default();
            let size = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let vectors = || recording.reactions.iter().map(at);
            let largest = vectors().map(size).fold(0.0, f64::max);
            json!({ "start": vectors().next(), "end": vectors().next_back(), "max": largest })
        };
        object.insert(word(joint), json!({ "force": vector(k), "torque": vector(k + 3) }));
        k += 6;
    }
    Value::Object(object)
}

/// One part of a path.
enum Part<'p> {
    Key(&'p str),
    Index(usize),
    Range(usize, usize),
}

/// The result at a path such as `energy.max`, `final.q[1]` or `windows[2..].energy.min` of a JSON object.
///
/// # Errors
/// Says which part of the path there is not, and what is most like it.
pub fn lookup(object: &Value, path: &str) -> Result<Figure, String> {
    let mut found = Vec::new();
    let mut many = false;
    let parts = split(path)?;
    gather(object, &parts, "", &mut found, &mut many)?;
    match found[..] {
        [x] if !many => Ok(Figure::Number(x)),
        _ => Ok(Figure::List(found)),
    }
}

/// Splits off a first `[…]` and gives the entries that it means, of so many, and the rest of the path.
///
/// # Errors
/// If there is none, or it means entries that there are not.
pub(crate) fn indices(path: &str, length: usize) -> Result<(Vec<usize>, &str), String> {
    let end = path.find(']').filter(|_| path.starts_with('['));
    let Some(end) = end else { return Err("which of them? `[0]`, `[*]`, `[1..3]`".into()) };
    let rest = &path[end + 1..];
    let chosen = match index(&path[1..end])? {
        Part::Index(k) if k < length => vec![k],
        Part::Range(a, b) if a < length && (b <= length || b == usize::MAX) => {
            (a..b.min(length)).collect()
        }
        _ => {
            return Err(format!(
                "there are {length} of them, from 0 to {}",
                length.saturating_sub(1)
            ));
        }
    };
    Ok((chosen, rest))
}

fn index(text: &str) -> Result<Part<'_>, String> {
    let number = |text: &str, default: usize| match text {
        "" => Ok(default),
        text => text.parse().map_err(|_| format!("`[{text}]` is no place in a list")),
    };
    Ok(match (text, text.split_once("..")) {
        ("*", _) => Part::Range(0, usize::MAX),
        (_, Some((a, b))) => Part::Range(number(a, 0)?, number(b, usize::MAX)?),
        (text, None) => Part::Index(number(text, usize::MAX)?),
    })
}

fn split(path: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let end = inside.find(']').ok_or("`[` without `]`")?;
            parts.push(index(&inside[..end])?);
            rest = &inside[end + 1..];
        } else {
            let key = rest.strip_prefix('.').unwrap_or(rest);
            let end = key.find(['.', '[']).unwrap_or(key.len());
            parts.push(Part::Key(&key[..end]));
            rest = &key[end..];
        }
    }
    Ok(parts)
}

fn gather(
    value: &Value,
    parts: &[Part<'_>],
    so_far: &str,
    found: &mut Vec<f64>,
    many: &mut bool,
) -> Result<(), String> {
    let Some((part, rest)) = parts.split_first() else {
        return numbers(value, so_far, found, many);
    };
    match part {
        Part::Key(key) => {
            let dot = if so_far.is_empty() { "" } else { "." };
            // Nodes of beams are named like entries of a list: `beam[10]`.
            if let Some((Part::Index(k), rest)) = rest.split_first() {
                let whole = format!("{key}[{k}]");
                if let Some(inner) = value.get(&whole) {
                    return gather(inner, rest, &format!("{so_far}{dot}{whole}"), found, many);
                }
            }
            let Some(inner) = value.get(key) else {
                let known: Vec<&str> =
                    value.as_object().into_iter().flatten().map(|(k, _)| k.as_str()).collect();
                let hint = match nearest(key, known.iter().copied()) {
                    Some(near) => format!(", did you mean `{so_far}{dot}{near}`?"),
                    None if known.is_empty() => String::new(),
                    None => format!(" (known: {})", known.join(", ")),
                };
                return Err(format!("the run has no result `{so_far}{dot}{key}`{hint}"));
            };
            gather(inner, rest, &format!("{so_far}{dot}{key}"), found, many)
        }
        Part::Index(_) | Part::Range(..) => {
            let Some(list) = value.as_array() else {
                return Err(format!("`{so_far}` is not a list"));
            };
            let range = match *part {
                Part::Range(a, b) => a..b.min(list.len()),
                Part::Index(k) => k..k.saturating_add(1),
                Part::Key(_) => 0..0,
            };
            *many |= matches!(part, Part::Range(..));
            let entries = list.get(range.clone()).filter(|e| !e.is_empty() || range.start == 0);
            let Some(entries) = entries else {
                return Err(format!("`{so_far}` has {} entries, counted from 0", list.len()));
            };
            for (entry, k) in entries.iter().zip(range) {
                gather(entry, rest, &format!("{so_far}[{k}]"), found, many)?;
            }
            Ok(())
        }
    }
}

fn numbers(value: &Value, path: &str, found: &mut Vec<f64>, many: &mut bool) -> Result<(), String> {
    match value {
        Value::Array(list) => {
            *many = true;
            let entry = |entry: &Value| match entry {
                // What is no number still counts: a list stands for its length.
                Value::Object(_) | Value::String(_) => {
                    found.push(f64::NAN);
                    Ok(())
                }
                entry => numbers(entry, path, found, many),
            };
            list.iter().try_for_each(entry)
        }
        Value::Bool(flag) => {
            found.push(f64::from(u8::from(*flag)));
            Ok(())
        }
        // JSON has no NaN or infinity; a number that is missing was not finite.
        Value::Null => {
            found.push(f64::NAN);
            Ok(())
        }
        Value::Number(number) => {
            found.push(number.as_f64().unwrap_or(f64::NAN));
            Ok(())
        }
        Value::Object(object) => {
            let known: Vec<&str> = object.keys().map(String::as_str).collect();
            Err(format!("`{path}` is not a number: say which of {}", known.join(", ")))
        }
        Value::String(text) => Err(format!("`{path}` is the text \"{text}\", not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_reach_into_objects_and_lists() {
        let object = json!({
            "energy": { "max": 2.5 }, "final": { "q": [1.0, [3.0, 4.0]] }, "bad": null, "failed": true,
            "beam[3]": { "x": 7 }, "windows": [{ "min": 1 }, { "min": 2 }, { "min": 3 }],
        });
        let number = |path: &str| match lookup(&object, path) {
            Ok(Figure::Number(x)) => x,
            other => panic!("{path}: {other:?}"),
        };
        let list = |path: &str| match lookup(&object, path) {
            Ok(Figure::List(list)) => list,
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(number("energy.max"), 2.5);
        assert_eq!(number("final.q[0]"), 1.0);
        assert_eq!(number("final.q[1][1]"), 4.0);
        assert_eq!(number("failed"), 1.0);
        assert_eq!(number("beam[3].x"), 7.0);
        assert!(number("bad").is_nan());
        assert_eq!(list("final.q"), [1.0, 3.0, 4.0]);
        assert_eq!(list("windows[*].min"), [1.0, 2.0, 3.0]);
        assert_eq!(list("windows[1..].min"), [2.0, 3.0]);
        assert_eq!(list("windows[..1].min"), [1.0]);
        for (path, message) in [
            ("energy.mx", "no result `energy.mx`, did you mean `energy.max`?"),
            ("energi", "did you mean `energy`?"),
            ("windows[1].mn", "did you mean `windows[1].min`?"),
            ("final.q[7]", "`final.q` has 2 entries"),
            ("windows[7..].min", "`windows` has 3 entries"),
            ("energy", "`energy` is not a number: say which of max"),
            ("energy[0]", "`energy` is not a list"),
        ] {
            let found = lookup(&object, path).unwrap_err();
            assert!(found.contains(message), "{path}: {found}");
        }
    }

    #[test]
    fn members_are_chosen_by_their_places() {
        assert_eq!(indices("[2].energy", 3), Ok((vec![2], ".energy")));
        assert_eq!(indices("[*].energy", 2), Ok((vec![0, 1], ".energy")));
        assert_eq!(indices("[1..]", 3), Ok((vec![1, 2], "")));
        assert!(indices("[3]", 3).unwrap_err().contains("there are 3 of them"));
        assert!(indices(".energy", 3).unwrap_err().contains("which of them?"));
    }
}
