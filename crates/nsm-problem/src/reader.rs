//! Reads TOML tables key by key, with the line of every mistake.
//!
//! A [`Reader`] hands out values by key and type. What nobody asked for is an unknown key:
//! [`Reader::finish`] reports it with the nearest key that would have been understood.

use std::cell::RefCell;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::rewrite::entry;
use super::{Place, ProblemError};
use nsm_formula::{Foreign, Scope, constant, is_misspelt, nearest};

type Value<'t> = &'t Spanned<DeValue<'t>>;

/// The text of a file, to turn offsets into lines, and what there is to say about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    pub(crate) notes: &'t RefCell<Vec<String>>,
    /// Functions that formulas of `[system]` may call.
    pub(crate) functions: &'t [(String, Arc<dyn Foreign>)],
}

/// Keys of the whole file that are easily written below the head of a table.
const TOP: [&str; 4] = ["gravity", "restitution", "friction", "tangential_restitution"];

impl Source<'_> {
    pub(crate) fn line(self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|&b| b == b'\n').count()
    }
}

/// One table of the file.
pub(crate) struct Reader<'t> {
    source: Source<'t>,
    table: &'t DeTable<'t>,
    place: Place,
    known: RefCell<Vec<&'static str>>,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(
        source: Source<'t>,
        table: &'t DeTable<'t>,
        key: &str,
        offset: usize,
    ) -> Self {
        let place =
            Place { key: key.to_owned(), line: (!key.is_empty()).then(|| source.line(offset)) };
        Self { source, table, place, known: RefCell::default() }
    }

    /// The table as it is, to be looked into without asking for keys by name.
    pub(crate) fn raw(&self) -> &'t DeTable<'t> {
        self.table
    }

    /// Functions that formulas may call.
    pub(crate) fn functions(&self) -> &'t [(String, Arc<dyn Foreign>)] {
        self.source.functions
    }

    /// Where the table stands.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Where a key of the table stands (the table itself if the key is absent).
    pub(crate) fn place_of(&self, key: &str) -> Place {
        let line = self
            .table
            .iter()
            .find(|(k, _)| k.get_ref() == key)
            .map(|(k, _)| self.source.line(k.span().start));
        Place { key: self.path(key), line: line.or(self.place.line) }
    }

    fn path(&self, key: &str) -> String {
        if self.place.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place.key) }
    }

    pub(crate) fn has(&self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    fn value(&self, key: &'static str) -> Option<Value<'t>> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.table.iter().find(|(k, _)| k.get_ref() == key).map(|(_, v)| v)
    }

    /// Notes something that was mended at a key; members of families say it once.
    pub(crate) fn note(&self, key: &str, what: &str) {
        let note = self.place_of(key).error(what).to_string();
        let mut notes = self.source.notes.borrow_mut();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Reports the first key that nobody asked for.
    pub(crate) fn finish(&self) -> Result<(), ProblemError> {
        let known = self.known.borrow();
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let hint = if TOP.contains(&name) && !self.place.key.is_empty() {
                    "it stands at the top of the file, before the first table".to_owned()
                } else {
                    nearest(name, known.iter().copied()).map_or_else(
                        || format!("known here: {}", known.join(", ")),
                        |n| format!("did you mean `{n}`?"),
                    )
                };
                return Err(self.place_of(name).error(format!("unknown key `{name}`; {hint}")));
            }
        }
        Ok(())
    }

    /// The table as text again, on one line a key, without some keys.
    pub(crate) fn rewritten(&self, without: &[&str]) -> String {
        let kept = self.table.iter().filter(|(key, _)| !without.contains(&key.get_ref().as_ref()));
        kept.map(|(key, v)| entry(key.get_ref(), v.get_ref()) + "\n").collect()
    }

    /// The key must be there.
    pub(crate) fn require<T>(
        &self,
        key: &str,
        value: Option<T>,
        what: &str,
    ) -> Result<T, ProblemError> {
        value.ok_or_else(|| match self.absent(key) {
            Err(misspelt) => misspelt,
            Ok(()) => self.place.error(format!("`{key}` is missing: {what}")),
        })
    }

    /// The key is left out on purpose, not misspelt.
    pub(crate) fn absent(&self, key: &str) -> Result<(), ProblemError> {
        let known = self.known.borrow();
        let mut names = self.table.iter().map(|(name, _)| name.get_ref().as_ref());
        match names.find(|name| !known.contains(name) && is_misspelt(name, key)) {
            Some(name) => Err(self
                .place_of(name)
                .error(format!("unknown key `{name}`; did you mean `{key}`?"))),
            None => Ok(()),
        }
    }

    pub(crate) fn number(&self, key: &'static str) -> Result<Option<f64>, ProblemError> {
        self.value(key).map(|v| number(v, &self.place_of(key))).transpose()
    }

    /// A number that is positive and finite.
    pub(crate) fn positive(&self, key: &'static str) -> Result<Option<f64>, ProblemError> {
        match self.number(key)? {
            Some(x) if x.is_nan() || x <= 0.0 => {
                Err(self.place_of(key).error(format!("{x} is not a positive number")))
            }
            other => Ok(other),
        }
    }

    pub(crate) fn count(&self, key: &'static str) -> Result<Option<usize>, ProblemError> {
        match self.number(key)? {
            None => Ok(None),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // checked to be a small whole number
            Some(x) if x.fract() == 0.0 && (0.0..1e15).contains(&x) => Ok(Some(x as usize)),
            Some(x) => Err(self
                .place_of(key)
                .error(format!("{x} is not a whole number that counts something"))),
        }
    }

    /// A count of things that take memory.
    pub(crate) fn count_up_to(
        &self,
        key: &'static str,
        most: usize,
    ) -> Result<Option<usize>, ProblemError> {
        match self.count(key)? {
            Some(n) if n > most => {
                Err(self.place_of(key).error(format!("{n} are too many: at most {most}")))
            }
            other => Ok(other),
        }
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<Option<&'t str>, ProblemError> {
        self.value(key)
            .map(|v| {
                v.get_ref()
                    .as_str()
                    .ok_or_else(|| wrong(v, "a text in quotes", &self.place_of(key)))
            })
            .transpose()
    }

    pub(crate) fn flag(&self, key: &'static str) -> Result<Option<bool>, ProblemError> {
        self.value(key)
            .map(|v| {
                v.get_ref().as_bool().ok_or_else(|| wrong(v, "true or false", &self.place_of(key)))
            })
            .transpose()
    }

    /// A text that must be one of several words.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ProblemError> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        if let Some((_, value)) = words.iter().find(|(w, _)| *w == word) {
            return Ok(Some(*value));
        }
        let list: Vec<_> = words.iter().map(|(w, _)| format!("`{w}`")).collect();
        let hint =
            nearest(word, words.iter().map(|(w, _)| *w)).map(|w| format!(", did you mean `{w}`?"));
        let message =
            format!("`{word}` is none of {}{}", list.join(", "), hint.unwrap_or_default());
        Err(self.place_of(key).error(message))
    }

    pub(crate) fn numbers(&self, key: &'static str) -> Result<Option<Vec<f64>>, ProblemError> {
        let place = self.place_of(key);
        self.value(key).map(|v| list(v, &place, "a list of numbers", number)).transpose()
    }

    /// Exactly `N` numbers.
    pub(crate) fn vector<const N: usize>(
        &self,
        key: &'static str,
    ) -> Result<Option<[f64; N]>, ProblemError> {
        match self.numbers(key)? {
            None => Ok(None),
            Some(list) => {
                let length = list.len();
                let wrong = |_| {
                    self.place_of(key).error(format!("{length} numbers where {N} are expected"))
                };
                list.try_into().map(Some).map_err(wrong)
            }
        }
    }

    /// A list of lists of numbers.
    pub(crate) fn matrix(&self, key: &'static str) -> Result<Option<Vec<Vec<f64>>>, ProblemError> {
        let place = self.place_of(key);
        let row = |v: Value<'t>, place: &Place| list(v, place, "a list of numbers", number);
        self.value(key).map(|v| list(v, &place, "a list of lists of numbers", row)).transpose()
    }

    /// Whether the key holds a list whose first entry is a list.
    pub(crate) fn is_matrix(&self, key: &'static str) -> bool {
        self.value(key)
            .and_then(|v| v.get_ref().as_array())
            .and_then(|a| a.iter().next())
            .is_some_and(|v| v.get_ref().is_array())
    }

    /// Whether the key holds a list.
    pub(crate) fn is_list(&self, key: &'static str) -> bool {
        self.value(key).is_some_and(|v| v.get_ref().is_array())
    }

    /// Whether the key holds a single number.
    pub(crate) fn is_number(&self, key: &'static str) -> bool {
        self.value(key).is_some_and(|v| v.get_ref().is_float() || v.get_ref().is_integer())
    }

    /// Whether the key holds a text.
    pub(crate) fn is_text(&self, key: &'static str) -> bool {
        self.value(key).is_some_and(|v| v.get_ref().is_str())
    }

    pub(crate) fn texts(&self, key: &'static str) -> Result<Option<Vec<&'t str>>, ProblemError> {
        let place = self.place_of(key);
        let text = |v: Value<'t>, place: &Place| {
            v.get_ref().as_str().ok_or_else(|| wrong(v, "a text in quotes", place))
        };
        self.value(key).map(|v| list(v, &place, "a list of texts", text)).transpose()
    }

    /// A list of lists of texts or numbers, all as texts; empty if the key is absent.
    pub(crate) fn text_matrix(&self, key: &'static str) -> Result<Vec<Vec<String>>, ProblemError> {
        let place = self.place_of(key);
        let text = |v: Value<'t>, place: &Place| match v.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => number(v, place).map(|x| format!("({x:e})")),
        };
        let row = |v: Value<'t>, place: &Place| list(v, place, "a list of formulas", text);
        let rows = self.value(key).map(|v| list(v, &place, "a list of lists of formulas", row));
        Ok(rows.transpose()?.unwrap_or_default())
    }

    pub(crate) fn table(&self, key: &'static str) -> Result<Option<Reader<'t>>, ProblemError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let table = value
            .get_ref()
            .as_table()
            .ok_or_else(|| wrong(value, "a table", &self.place_of(key)))?;
        let mut reader = Reader::new(self.source, table, &self.path(key), value.span().start);
        reader.place.line = self.place_of(key).line.or(reader.place.line);
        Ok(Some(reader))
    }

    /// An array of tables: `[[key]]`, or a list of inline tables.
    pub(crate) fn tables(&self, key: &'static str) -> Result<Vec<Reader<'t>>, ProblemError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let place = self.place_of(key);
        let array = value
            .get_ref()
            .as_array()
            .ok_or_else(|| wrong(value, &format!("an array of tables: `[[{key}]]`"), &place))?;
        array
            .iter()
            .enumerate()
            .map(|(i, v)| {
                let table = v.get_ref().as_table().ok_or_else(|| wrong(v, "a table", &place))?;
                Ok(Reader::new(
                    self.source,
                    table,
                    &format!("{}[{i}]", self.path(key)),
                    v.span().start,
                ))
            })
            .collect()
    }

    /// All entries of a table whose keys the user chooses, as texts or lists of them, in order.
    pub(crate) fn text_lists(&self, key: &'static str) -> Result<Vec<TextList<'t>>, ProblemError> {
        let Some(reader) = self.table(key)? else { return Ok(Vec::new()) };
        let text = |v: Value<'t>, place: &Place| {
            v.get_ref().as_str().ok_or_else(|| wrong(v, "a formula in quotes", place))
        };
        let entries = reader.table.iter().map(|(name, v)| {
            let name = name.get_ref().to_string();
            let place = reader.place_of(&name);
            let texts = match v.get_ref().as_str() {
                Some(text) => vec![text],
                None => list(v, &place, "a formula in quotes, or a list of two", text)?,
            };
            Ok((name, texts, place))
        });
        entries.collect()
    }

    /// All entries of a table whose keys the user chooses, as texts or numbers, in order.
    pub(crate) fn entries(
        &self,
        key: &'static str,
    ) -> Result<Vec<(String, Entry<'t>, Place)>, ProblemError> {
        let Some(reader) = self.table(key)? else { return Ok(Vec::new()) };
        reader
            .table
            .iter()
            .map(|(name, v)| {
                let name = name.get_ref().to_string();
                let place = reader.place_of(&name);
                let entry = match v.get_ref() {
                    DeValue::String(text) => Entry::Text(text.as_ref()),
                    DeValue::Integer(_) | DeValue::Float(_) => Entry::Number(number(v, &place)?),
                    _ => return Err(wrong(v, "a formula in quotes or a number", &place)),
                };
                Ok((name, entry, place))
            })
            .collect()
    }
}

/// A key that the user chose, the texts under it, and where they stand.
pub(crate) type TextList<'t> = (String, Vec<&'t str>, Place);

/// A value under a key that the user chose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Entry<'t> {
    Text(&'t str),
    Number(f64),
}

fn list<'t, T>(
    value: Value<'t>,
    place: &Place,
    what: &str,
    each: impl Fn(Value<'t>, &Place) -> Result<T, ProblemError>,
) -> Result<Vec<T>, ProblemError> {
    let array = value.get_ref().as_array().ok_or_else(|| wrong(value, what, place))?;
    array
        .iter()
        .enumerate()
        .map(|(i, v)| each(v, &Place { key: format!("{}[{i}]", place.key), line: place.line }))
        .collect()
}

fn number(value: Value<'_>, place: &Place) -> Result<f64, ProblemError> {
    let parsed = match value.get_ref() {
        DeValue::Float(float) => float.as_str().parse().ok(),
        #[allow(clippy::cast_precision_loss)]
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|i| i as f64)
        }
        // A number may be written as a formula, such as `"sqrt(2)/2"`; one in quotes is a slip.
        DeValue::String(text) if text.parse::<f64>().is_err() => {
            match constant(text, &Scope::default()) {
                Ok(x) => Some(x),
                Err(_) => return Err(wrong(value, "a number", place)),
            }
        }
        _ => return Err(wrong(value, "a number", place)),
    };
    match parsed {
        Some(x) if f64::is_finite(x) => Ok(x),
        _ => Err(place.error("the number must be finite")),
    }
}

fn wrong(value: Value<'_>, expected: &str, place: &Place) -> ProblemError {
    place.error(format!("expected {expected}, found {}", found(value.get_ref())))
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(integer) => format!("the number {}", integer.as_str()),
        DeValue::Float(float) => format!("the number {}", float.as_str()),
        DeValue::Boolean(flag) => format!("`{flag}`"),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}
