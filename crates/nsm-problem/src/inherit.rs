//! `like = "other.toml"`: the tables that a file does not give itself, but for runs and expectations.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::reader::{Reader, Source};
use super::{ProblemError, parse_table};

/// The file that this one is like, if it says so.
pub(crate) fn model_of(text: &str) -> Result<Option<String>, ProblemError> {
    let table = parse_table(text)?;
    let notes = RefCell::default();
    let reader =
        Reader::new(Source { text, notes: &notes, functions: &[] }, table.get_ref(), "", 0);
    let model = reader.text("like")?.map(str::to_owned);
    Ok(model)
}

/// Adds what `table` lacks; mistakes in what is added are reported at the line of `like`.
pub(crate) fn complete<'t>(table: &mut DeTable<'t>, model: &DeTable<'t>) {
    let Some(here) = table.iter().find(|(k, _)| k.get_ref() == "like").map(|(k, _)| k.span())
    else {
        return;
    };
    for (key, value) in model {
        let own = ["title", "source", "run", "expect", "figure", "like"];
        let name = key.get_ref().as_ref();
        if own.contains(&name) || table.iter().any(|(k, _)| k.get_ref() == name) {
            continue;
        }
        table.insert(Spanned::new(here.clone(), key.get_ref().clone()), placed(value, &here));
    }
}

/// The same value, said to stand elsewhere.
fn placed<'t>(value: &Spanned<DeValue<'t>>, here: &Range<usize>) -> Spanned<DeValue<'t>> {
    let moved = match value.get_ref() {
        DeValue::Array(list) => {
            let mut array = DeArray::new();
            list.iter().for_each(|v| array.push(placed(v, here)));
            DeValue::Array(array)
        }
        DeValue::Table(table) => {
            let mut copy = DeTable::new();
            for (key, v) in table {
                copy.insert(Spanned::new(here.clone(), key.get_ref().clone()), placed(v, here));
            }
            DeValue::Table(copy)
        }
        other => other.clone(),
    };
    Spanned::new(here.clone(), moved)
}
