//! `[[repeat]]`: copies of blocks with an index; and blocks that are `like` another of their kind.
//!
//! A `[[repeat]]` with `with = [{ … }, …]` is a template: one copy for each table, whose entries are names in the copy.
//!
//! In a copy, `{…}` in a text is a formula of the index and the parameters; a text where a number belongs is such a formula as a whole; and in
//! formulas of motion (`torque`, `motor`, …) the index stands for its value.

use std::borrow::Cow;
use std::fmt::Write;

use nsm_formula::{Scope, constant, nearest};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::reader::{Reader, Source};
use super::{Place, ProblemError};

/// Keys that hold texts, and keys that hold formulas of what moves.
const TEXTS: [&str; 9] =
    ["name", "type", "bodies", "between", "where", "of", "frame", "like", "shape"];
const FORMULAS: [&str; 5] = ["torque", "force", "motor", "motor_rate", "value"];

/// Most copies of one `[[repeat]]`.
const MOST: usize = 100_000;

/// Kinds of blocks that may be repeated, or be like each other.
const BLOCKS: [&str; 10] = [
    "body",
    "joint",
    "beam",
    "spring",
    "point_mass",
    "load",
    "bushing",
    "attraction",
    "plane",
    "contact",
];

type Table<'t> = DeTable<'t>;

/// Replaces every `[[repeat]]` by its copies, behind the blocks that the file gives itself, and completes blocks that are like others.
pub(crate) fn expand<'t>(
    root: &mut Table<'t>,
    source: Source<'_>,
    parameters: &[(String, f64)],
) -> Result<(), ProblemError> {
    let old = std::mem::replace(root, Table::new());
    let mut copies: Vec<(&str, Spanned<DeValue<'t>>)> = Vec::new();
    let mut kept = Vec::new();
    for (key, value) in old {
        if key.get_ref() == "repeat" {
            let line = Place { key: "repeat".into(), line: Some(source.line(value.span().start)) };
            let list = value.get_ref().as_array();
            let list =
                list.ok_or_else(|| line.error("expected `[[repeat]]`, an array of tables"))?;
            for (k, one) in list.iter().enumerate() {
                let place = Place {
                    key: format!("repeat[{k}]"),
                    line: Some(source.line(one.span().start)),
                };
                let table = one.get_ref().as_table();
                let table = table.ok_or_else(|| place.error("expected a table"))?;
                copy(table, source, parameters, &place, &mut copies)?;
            }
        } else {
            kept.push((key, value));
        }
    }
    for (key, value) in kept {
        root.insert(key, value);
    }
    for (kind, block) in copies {
        let span = block.span();
        let at = root.iter().find(|(k, _)| k.get_ref() == kind).map(|(k, _)| k.clone());
        let key = at.unwrap_or_else(|| Spanned::new(span.clone(), Cow::Owned(kind.to_owned())));
        let entry =
            root.entry(key).or_insert_with(|| Spanned::new(span, DeValue::Array(DeArray::new())));
        if let DeValue::Array(list) = entry.get_mut() {
            list.push(block);
        }
    }
    complete_blocks(root, source)
}

fn copy<'t>(
    table: &Table<'t>,
    source: Source<'_>,
    parameters: &[(String, f64)],
    place: &Place,
    copies: &mut Vec<(&'static str, Spanned<DeValue<'t>>)>,
) -> Result<(), ProblemError> {
    let given = read_with(table, place)?;
    let (count, first, index) = {
        let reader = Reader::new(source, table, &place.key, 0);
        let count = reader.count_up_to("count", MOST).map_err(|e| at(e, place))?;
        let count = match (count, given.len()) {
            (Some(_), 1..) => return Err(place.error("give `count` or `with`, not both")),
            (None, 0) => {
                let message =
                    "`count` is missing: how many copies; or `with`, a table of values for each";
                return Err(place.error(message));
            }
            (Some(count), 0) => count,
            (None, copies) => copies,
        };
        let first = reader.number("from").map_err(|e| at(e, place))?.unwrap_or(0.0);
        let index = reader.text("index").map_err(|e| at(e, place))?.unwrap_or("i").to_owned();
        (count, first, index)
    };
    for (key, _) in table {
        let key = key.get_ref().as_ref();
        if !["count", "from", "index", "with"].contains(&key) && !BLOCKS.contains(&key) {
            let near = nearest(key, BLOCKS.into_iter().chain(["count", "from", "index", "with"]));
            let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
            return Err(place.error(format!("`{key}` cannot be repeated{hint}")));
        }
    }
    for k in 0..count {
        let value = first + k as f64;
        let mut scope = Scope::new(&[], parameters).map_err(|e| place.error(e.message))?;
        scope.define(&index, value).map_err(|e| place.error(e.message))?;
        let mut named = vec![(index.as_str(), Named::Number(value))];
        for (name, entry) in given.get(k).into_iter().flatten() {
            if let Named::Number(value) = entry {
                scope.define(name, *value).map_err(|e| place.error(e.message))?;
            }
            named.push((name, entry.clone()));
        }
        let copier = Copier { scope, named: &named, place };
        for kind in BLOCKS {
            let Some((_, blocks)) = table.iter().find(|(key, _)| key.get_ref() == kind) else {
                continue;
            };
            let list = blocks.get_ref().as_array();
            let list = list.ok_or_else(|| {
                place.error(format!("expected `[[repeat.{kind}]]`, an array of tables"))
            })?;
            for block in list {
                copies.push((kind, copier.value(block, "")?));
            }
        }
    }
    Ok(())
}

fn at(error: ProblemError, place: &Place) -> ProblemError {
    ProblemError { line: error.line.or(place.line), ..error }
}

/// Copies values for one value of the index.
struct Copier<'a> {
    scope: Scope,
    /// The index, and what `with` gives.
    named: &'a [(&'a str, Named)],
    place: &'a Place,
}

/// What a name in a copy stands for.
#[derive(Clone, Debug, PartialEq)]
enum Named {
    Number(f64),
    Text(String),
}

/// The tables of `with`, entry by entry.
fn read_with(table: &Table<'_>, place: &Place) -> Result<Vec<Vec<(String, Named)>>, ProblemError> {
    let Some((_, value)) = table.iter().find(|(key, _)| key.get_ref() == "with") else {
        return Ok(Vec::new());
    };
    let wrong = || {
        place.error("`with` is a list of tables of numbers and texts, one for each copy, as in `with = [{ side = \"left\", y = 1 }, { side = \"right\", y = -1 }]`")
    };
    let list = value.get_ref().as_array().ok_or_else(wrong)?;
    let one = |entry: &Spanned<DeValue<'_>>| {
        let table = entry.get_ref().as_table().ok_or_else(wrong)?;
        let entries = table.iter().map(|(name, value)| {
            let named = match value.get_ref() {
                DeValue::String(text) => Named::Text(text.to_string()),
                DeValue::Float(x) => Named::Number(x.as_str().parse().map_err(|_| wrong())?),
                DeValue::Integer(x) => {
                    let whole = i64::from_str_radix(x.as_str(), x.radix()).map_err(|_| wrong())?;
                    #[allow(clippy::cast_precision_loss)]
                    Named::Number(whole as f64)
                }
                _ => return Err(wrong()),
            };
            Ok((name.get_ref().to_string(), named))
        });
        entries.collect::<Result<Vec<_>, _>>()
    };
    let tables = list.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    if tables.is_empty() { Err(wrong()) } else { Ok(tables) }
}

impl Copier<'_> {
    fn value<'t>(
        &self,
        value: &Spanned<DeValue<'t>>,
        key: &str,
    ) -> Result<Spanned<DeValue<'t>>, ProblemError> {
        let copy = match value.get_ref() {
            DeValue::Array(list) => {
                let mut array = DeArray::new();
                for entry in list {
                    array.push(self.value(entry, key)?);
                }
                DeValue::Array(array)
            }
            DeValue::Table(table) => {
                let mut copy = Table::new();
                for (name, entry) in table {
                    copy.insert(name.clone(), self.value(entry, name.get_ref())?);
                }
                DeValue::Table(copy)
            }
            DeValue::String(text) => DeValue::String(Cow::Owned(self.text(text, key)?)),
            other => other.clone(),
        };
        Ok(Spanned::new(value.span(), copy))
    }

    fn text(&self, text: &str, key: &str) -> Result<String, ProblemError> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}') else { break };
            filled.push_str(&rest[..open]);
            let inside = &rest[open + 1..open + close];
            match self.named.iter().find(|(name, _)| *name == inside.trim()) {
                Some((_, Named::Text(text))) => filled.push_str(text),
                _ => filled.push_str(&self.number(inside)?.to_string()),
            }
            rest = &rest[open + close + 1..];
        }
        filled.push_str(rest);
        if TEXTS.contains(&key) {
            Ok(filled)
        } else if FORMULAS.contains(&key) {
            Ok(self.put_index(&filled))
        } else {
            Ok(format!("({:e})", self.number(&filled)?))
        }
    }

    fn number(&self, formula: &str) -> Result<f64, ProblemError> {
        constant(formula, &self.scope).map_err(|e| self.place.formula(&e))
    }

    /// The index and other numbers as words of their own, in brackets by their values.
    fn put_index(&self, formula: &str) -> String {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let mut out = String::new();
        let mut rest = formula;
        while let Some(start) = rest.find(word) {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            match self.named.iter().find(|(name, _)| *name == &rest[..end]) {
                Some((_, Named::Number(value))) => {
                    let _ = write!(out, "({value:e})");
                }
                _ => out.push_str(&rest[..end]),
            }
            rest = &rest[end..];
        }
        out + rest
    }
}

/// Blocks that are `like` another of their kind: what they do not say themselves is as there, but for the name.
fn complete_blocks(root: &mut Table<'_>, source: Source<'_>) -> Result<(), ProblemError> {
    for (kind, value) in root.iter_mut() {
        let kind = kind.get_ref().as_ref().to_owned();
        let DeValue::Array(array) = value.get_mut() else { continue };
        if !BLOCKS.contains(&kind.as_str()) {
            continue;
        }
        let mut list: Vec<_> = array.iter().cloned().collect();
        let text = |block: &Spanned<DeValue<'_>>, key: &str| {
            let table = block.get_ref().as_table()?;
            let (_, value) = table.iter().find(|(k, _)| k.get_ref() == key)?;
            Some(value.get_ref().as_str()?.to_owned())
        };
        let models: Vec<Option<String>> = list.iter().map(|block| text(block, "like")).collect();
        let names: Vec<Option<String>> = list.iter().map(|block| text(block, "name")).collect();
        for (k, model) in models.iter().enumerate() {
            let Some(model) = model else { continue };
            let line = Some(source.line(list[k].span().start));
            let place = Place { key: format!("{kind}[{k}].like"), line };
            let found = names.iter().position(|name| name.as_ref() == Some(model));
            let Some(other) = found.filter(|&other| other != k) else {
                let near = nearest(model, names.iter().flatten().map(String::as_str));
                let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
                return Err(place.error(format!("there is no other {kind} named `{model}`{hint}")));
            };
            if models[other].is_some() {
                let message = format!("`{model}` is itself like another: name that one");
                return Err(place.error(message));
            }
            let Some(source) = list[other].get_ref().as_table().cloned() else { continue };
            let DeValue::Table(table) = list[k].get_mut() else { continue };
            let own = std::mem::replace(table, Table::new());
            for (key, value) in own {
                if key.get_ref() != "like" {
                    table.insert(key, value);
                }
            }
            for (key, value) in source {
                let known = table.iter().any(|(k, _)| k.get_ref() == key.get_ref());
                if key.get_ref() != "name" && !known {
                    table.insert(key, value);
                }
            }
        }
        *array = DeArray::new();
        for block in list {
            array.push(block);
        }
    }
    Ok(())
}
