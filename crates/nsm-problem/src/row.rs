//! A member of a family as one row of a table: what was put in, what came out, what there is to warn of, how long it took.
//!
//! The columns are the paths of the results as conditions name them (`energy.max`, `final.q[0]`, `contacts.floor.impulse`), but for
//! what has another length in every member: the instants and records of events.

use serde_json::Value;

use super::{RunResult, Setting};

/// What stands in one column of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: the member has no such result.
    Missing,
    /// A number; not finite where it is no number.
    Number(f64),
    /// A count.
    Integer(i64),
    /// Yes or no.
    Flag(bool),
    /// Words.
    Text(String),
}

/// What a column is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Counts.
    Integer,
    /// Yes or no.
    Flag,
    /// Words.
    Text,
}

impl Kind {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("number", Self::Number),
        ("integer", Self::Integer),
        ("flag", Self::Flag),
        ("text", Self::Text),
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

impl Cell {
    /// What column it belongs in; what is missing fits anywhere.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Missing => None,
            Self::Number(_) => Some(Kind::Number),
            Self::Integer(_) => Some(Kind::Integer),
            Self::Flag(_) => Some(Kind::Flag),
            Self::Text(_) => Some(Kind::Text),
        }
    }

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            // JSON has no NaN or infinity.
            Value::Null => Self::Number(f64::NAN),
            Value::Bool(flag) => Self::Flag(*flag),
            Value::Number(n) => match n.as_i64() {
                Some(count) => Self::Integer(count),
                None => Self::Number(n.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::Text(text.clone()),
            other => Self::Text(other.to_string()),
        }
    }

    /// The field of a CSV file: numbers in the shortest decimals that read back as the same number, words on one line.
    pub fn write(&self, line: &mut String) {
        match self {
            Self::Missing => {}
            Self::Number(x) => line.push_str(zmij::Buffer::new().format(*x)),
            Self::Integer(n) => line.push_str(&n.to_string()),
            Self::Flag(flag) => line.push_str(if *flag { "true" } else { "false" }),
            Self::Text(text) => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                line.push_str(&super::files::quoted(&text));
            }
        }
    }

    /// What such a field says in a column of its kind, if it says anything sensible.
    pub fn read(field: &str, kind: Kind) -> Option<Self> {
        if field.is_empty() {
            return Some(Self::Missing);
        }
        match kind {
            Kind::Number => field.parse().ok().map(Self::Number),
            Kind::Integer => field.parse().ok().map(Self::Integer),
            Kind::Flag => field.parse().ok().map(Self::Flag),
            Kind::Text => Some(Self::Text(field.to_owned())),
        }
    }
}

impl From<Setting> for Cell {
    fn from(setting: Setting) -> Self {
        fn words(setting: &Setting) -> String {
            match setting {
                Setting::Number(x) => format!("{x:?}"),
                Setting::Text(text) => text.clone(),
                Setting::List(list) => {
                    let entries: Vec<String> = list.iter().map(words).collect();
                    format!("[{}]", entries.join(", "))
                }
            }
        }
        match setting {
            Setting::Number(x) => Self::Number(x),
            other => Self::Text(words(&other)),
        }
    }
}

/// Cells by the names of their columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(pub Vec<(String, Cell)>);

/// What has another length in every member, or stands in a column of its own.
const LEFT_OUT: [&str; 8] = [
    "event_times",
    "event_records",
    "event_records_left_out",
    "warnings",
    "varied",
    "seconds",
    "failure",
    "recommended",
];

impl Row {
    /// The row of a member that was run: the inputs, the results of these paths (all of them if none is named), then `failed`, `failure`,
    /// `warnings`, `warning_texts` and `seconds`.
    ///
    /// # Errors
    /// If a path is no result of the run, or means several numbers.
    pub fn of(
        member: usize,
        inputs: Vec<(String, Cell)>,
        result: &RunResult,
        paths: &[String],
    ) -> Result<Self, String> {
        let mut row = Self::begun(member, inputs);
        if paths.is_empty() {
            row.gather("", &result.json());
        }
        for path in paths {
            let cell = match result.figure(path)? {
                nsm_formula::Figure::Number(x) => Cell::Number(x),
                nsm_formula::Figure::List(list) => {
                    let message = format!("`{path}` means {} numbers: say which", list.len());
                    return Err(message);
                }
            };
            row.push(path, cell);
        }
        let warnings = result.ledger.warnings();
        let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        #[allow(clippy::cast_possible_wrap)] // a handful
        row.end(result.failure.clone(), texts.len() as i64, texts.join("; "), result.seconds);
        Ok(row)
    }

    /// The row of a member that could not be built: its inputs, and why.
    pub fn refused(member: usize, inputs: Vec<(String, Cell)>, why: String) -> Self {
        let mut row = Self::begun(member, inputs);
        row.end(Some(why), 0, String::new(), None);
        row
    }

    fn begun(member: usize, inputs: Vec<(String, Cell)>) -> Self {
        #[allow(clippy::cast_possible_wrap)] // far below 2^63
        let mut row = Self(vec![("member".to_owned(), Cell::Integer(member as i64))]);
        row.0.extend(inputs);
        row
    }

    fn end(&mut self, failure: Option<String>, warnings: i64, texts: String, seconds: Option<f64>) {
        self.push("failed", Cell::Flag(failure.is_some()));
        self.push("failure", Cell::Text(failure.unwrap_or_default()));
        self.push("warnings", Cell::Integer(warnings));
        self.push("warning_texts", Cell::Text(texts));
        self.push("seconds", Cell::Number(seconds.unwrap_or(f64::NAN)));
    }

    /// A name stands for one column: the first that has it.
    fn push(&mut self, name: &str, cell: Cell) {
        if !self.0.iter().any(|(known, _)| known == name) {
            self.0.push((name.to_owned(), cell));
        }
    }

    /// The cell of a column.
    pub fn cell(&self, name: &str) -> &Cell {
        self.0.iter().find(|(known, _)| known == name).map_or(&Cell::Missing, |(_, cell)| cell)
    }

    fn gather(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, inner) in object {
                    let own =
                        path.is_empty() && (LEFT_OUT.contains(&key.as_str()) || key == "failed");
                    // `drift` is the older name of `deviation`.
                    if !own && key != "drift" {
                        let dot = if path.is_empty() { "" } else { "." };
                        self.gather(&format!("{path}{dot}{key}"), inner);
                    }
                }
            }
            Value::Array(list) => {
                for (k, inner) in list.iter().enumerate() {
                    self.gather(&format!("{path}[{k}]"), inner);
                }
            }
            leaf => self.push(path, Cell::of(leaf)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_back_as_they_were_written() {
        for cell in [
            Cell::Missing,
            Cell::Number(0.1 + 0.2),
            Cell::Number(-1e300),
            Cell::Number(f64::INFINITY),
            Cell::Integer(-3),
            Cell::Flag(true),
            Cell::Text("at t = 1: no solution".into()),
        ] {
            let mut field = String::new();
            cell.write(&mut field);
            let kind = cell.kind().unwrap_or(Kind::Number);
            assert_eq!(Cell::read(&field, kind), Some(cell));
        }
        let mut field = String::new();
        Cell::Text("one,\n \"two\"".into()).write(&mut field);
        assert_eq!(field, "\"one, \"\"two\"\"\"");
        Cell::Number(f64::NAN).write(&mut field);
        assert!(field.ends_with("NaN"));
        assert_eq!(Cell::read("x", Kind::Number), None);
    }
}
