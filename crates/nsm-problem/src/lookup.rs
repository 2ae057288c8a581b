//! Results by path: `energy.max`, `final.q[1]`, `windows[2..].energy.min` of what is printed.

use nsm_formula::{Figure, nearest};
use serde_json::Value;

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
    use serde_json::json;

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
