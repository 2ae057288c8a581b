//! Formulas as fields: what a user writes in a problem file, with exact derivatives.
//!
//! A formula knows `+ - * / ^`, `sqrt sin cos tan asin acos atan atan2 exp log abs min max floor`,
//! `pi`, the parameters, the coordinates and `t`. First and second derivatives are symbolic, share
//! sub-expressions with the function, and are compiled once. At a kink (`abs`, `min`, `max`, `floor`) the
//! derivative is that of the branch taken.
//!
//! ```
//! use nsm_constraints::Field;
//! use nsm_formula::{FormulaField, Scope};
//!
//! let names = ["x", "y"].map(str::to_owned);
//! let scope = Scope::new(&names, &[("l".to_owned(), 5.0)])?;
//! let rod = FormulaField::new("sqrt(x^2 + y^2) - l", &scope)?;
//! let mut gradient = [0.0; 2];
//! rod.gradient(&[3.0, 4.0], 0.0, &mut gradient);
//! assert_eq!(rod.value(&[3.0, 4.0], 0.0), 0.0);
//! assert!((gradient[0] - 0.6).abs() < 1e-15 && (gradient[1] - 0.8).abs() < 1e-15);
//!
//! // Mistakes are pointed at.
//! let error = FormulaField::new("x + yy", &scope).unwrap_err();
//! assert!(error.message.contains("did you mean `y`?") && error.at == 4);
//! # Ok::<(), nsm_formula::FormulaError>(())
//! ```

mod condition;
mod field;
mod foreign;
mod graph;
mod kinetic;
mod parse;
mod quadratic;
mod rolling;
mod tangent;
mod tape;
#[cfg(test)]
mod tests;

pub use condition::{Condition, Figure, Quantity};
pub use field::{FormulaField, FormulaForce, quantity};
pub use foreign::Foreign;
pub use kinetic::FormulaKinetic;
pub use rolling::FormulaRolling;
pub use tangent::FormulaTangent;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use graph::Graph;

/// A formula that cannot be understood.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}\n  {formula}\n  {}^", " ".repeat(self.column()))]
pub struct FormulaError {
    /// The formula.
    pub formula: String,
    /// Byte offset of the culprit.
    pub at: usize,
    /// What is wrong with it.
    pub message: String,
}

impl FormulaError {
    /// Characters in front of the culprit.
    fn column(&self) -> usize {
        self.formula.get(..self.at).map_or(0, |before| before.chars().count())
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A fixed number: a parameter or `pi`.
    Value(f64),
    /// A slot of the input: a coordinate, velocity, momentum or the time.
    Slot(usize),
}

/// What `pi` stands for.
const PI: Meaning = Meaning::Value(std::f64::consts::PI);

/// The coordinates and parameters that formulas of one system may use.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    coordinates: Vec<String>,
    parameters: Vec<(String, f64)>,
    /// Both of them by name, and `pi`.
    names: Names,
}

impl Scope {
    /// Coordinates in their order and named parameters.
    ///
    /// # Errors
    /// A name that is not a word, is used twice, or already means something in formulas; the message
    /// names it.
    pub fn new(coordinates: &[String], parameters: &[(String, f64)]) -> Result<Self, FormulaError> {
        let mut scope = Self::default();
        for (i, name) in coordinates.iter().enumerate() {
            scope.take(name, Meaning::Slot(i))?;
        }
        scope.coordinates = coordinates.to_vec();
        for (name, value) in parameters {
            scope.define(name, *value)?;
        }
        Ok(scope)
    }

    /// Adds a parameter, which the formulas after it may use.
    ///
    /// # Errors
    /// As for [`Scope::new`], and if the value is not finite.
    pub fn define(&mut self, name: &str, value: f64) -> Result<(), FormulaError> {
        if !value.is_finite() {
            let message = format!("parameter `{name}` is {value}: it must be finite");
            return Err(FormulaError { formula: name.to_owned(), at: 0, message });
        }
        self.take(name, Meaning::Value(value))?;
        self.parameters.push((name.to_owned(), value));
        Ok(())
    }

    /// Adds a function, which the formulas after it may call.
    ///
    /// # Errors
    /// As for [`Scope::new`].
    pub fn define_function(
        &mut self,
        name: &str,
        function: Arc<dyn Foreign>,
    ) -> Result<(), FormulaError> {
        self.check_free(name)?;
        self.names.functions.insert(name.to_owned(), function);
        Ok(())
    }

    /// Gives a meaning to a name that is free.
    fn take(&mut self, name: &str, meaning: Meaning) -> Result<(), FormulaError> {
        self.check_free(name)?;
        self.names.push(name.to_owned(), meaning);
        Ok(())
    }

    /// Whether a name is one, and is free.
    fn check_free(&self, name: &str) -> Result<(), FormulaError> {
        let refuse =
            |message: String| Err(FormulaError { formula: name.to_owned(), at: 0, message });
        let mut characters = name.chars();
        let starts = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !starts || !characters.all(|c| c.is_alphanumeric() || c == '_' || c == '\'') {
            return refuse(format!(
                "`{name}` is not a name: use letters, digits and `_`, beginning with a letter"
            ));
        }
        let taken = name == "t"
            || name == "pi"
            || self.names.meaning(name).is_some()
            || self.names.functions.contains_key(name)
            || parse::Function::ALL.iter().any(|(known, ..)| *known == name);
        if taken {
            return refuse(format!(
                "the name `{name}` is taken: it stands for something else in formulas"
            ));
        }
        Ok(())
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.coordinates.len()
    }

    /// Names of the coordinates.
    pub fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    /// Parameters with their values.
    pub fn parameters(&self) -> &[(String, f64)] {
        &self.parameters
    }

    /// Names for functions of $(q, t)$: coordinates in slots $0..n$, time in slot $n$.
    pub(crate) fn of_position(&self) -> Names {
        let mut names = self.names();
        names.push("t".into(), Meaning::Slot(self.dimension()));
        names
    }

    /// Names for functions of $(q, v, t)$ or $(q, p, t)$: `prefix` marks the second half, time is slot $2n$.
    pub(crate) fn of_phase(&self, prefix: &str) -> Names {
        let n = self.dimension();
        let mut names = self.names();
        for (i, coordinate) in self.coordinates.iter().enumerate() {
            names.push(format!("{prefix}{coordinate}"), Meaning::Slot(n + i));
        }
        names.push("t".into(), Meaning::Slot(2 * n));
        names
    }

    /// Names for functions of scalars, their rates (`NAME_rate`) and time.
    pub(crate) fn of_rates(&self) -> Names {
        let n = self.dimension();
        let mut names = self.names();
        for (i, coordinate) in self.coordinates.iter().enumerate() {
            names.push(format!("{coordinate}_rate"), Meaning::Slot(n + i));
        }
        names.push("t".into(), Meaning::Slot(2 * n));
        names
    }

    fn names(&self) -> Names {
        let mut names = self.names.clone();
        names.push("pi".into(), PI);
        names
    }
}

/// Names with their meanings; the first meaning of a name wins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// In the order in which messages list them.
    order: Vec<String>,
    meanings: HashMap<String, Meaning>,
    functions: parse::Functions,
}

/// Most names that a message lists.
const LISTED: usize = 40;

impl Names {
    fn push(&mut self, name: String, meaning: Meaning) {
        if let Entry::Vacant(free) = self.meanings.entry(name.clone()) {
            free.insert(meaning);
            self.order.push(name);
        }
    }

    pub(crate) fn meaning(&self, name: &str) -> Option<Meaning> {
        self.meanings.get(name).copied().or_else(|| (name == "pi").then_some(PI))
    }

    pub(crate) fn unknown(&self, name: &str, text: &str, at: usize) -> FormulaError {
        let pi = (!self.meanings.contains_key("pi")).then_some("pi");
        let known = || self.order.iter().map(String::as_str).chain(pi);
        let hint =
            nearest(name, known()).map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
        let list: Vec<_> = known().take(LISTED + 1).collect();
        let more = if list.len() > LISTED { ", …" } else { "" };
        let list = list[..list.len().min(LISTED)].join(", ");
        let message = format!("there is no `{name}`{hint} (known: {list}{more})");
        FormulaError { formula: text.to_owned(), at, message }
    }
}

/// Longest formula in bytes: nesting, and with it the use of the stack, stays bounded.
const MAX_LENGTH: usize = 10_000;

/// Parses a formula into a graph of its own.
pub(crate) fn build(text: &str, names: &Names) -> Result<(Graph, graph::Id), FormulaError> {
    let mut graph = Graph::default();
    let root = graph.read(text, names)?;
    Ok((graph, root))
}

fn check_length(text: &str) -> Result<(), FormulaError> {
    if text.len() <= MAX_LENGTH {
        return Ok(());
    }
    let message =
        format!("a formula of {} characters is too long (at most {MAX_LENGTH})", text.len());
    Err(FormulaError { formula: text.chars().take(60).collect(), at: 0, message })
}

/// The value of a formula that contains no coordinates and no time.
///
/// # Errors
/// If it cannot be understood or depends on anything but parameters.
pub fn constant(text: &str, scope: &Scope) -> Result<f64, FormulaError> {
    let (graph, root) = build(text, &scope.names)?;
    graph.as_constant(root).filter(|value| value.is_finite()).ok_or_else(|| FormulaError {
        formula: text.to_owned(),
        at: 0,
        message: "this is not a finite number".to_owned(),
    })
}

/// The known word that is most like the given one, if any is close enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(d, candidate)| {
            *d <= (word.chars().count().max(candidate.chars().count()) / 2).max(1)
        })
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// Whether a word is a key of four letters or more with a slip of the pen.
pub fn is_misspelt(word: &str, key: &str) -> bool {
    let letters = key.chars().count();
    letters >= 4 && (1..=1 + usize::from(letters >= 6)).contains(&distance(word, key))
}

/// Edit distance with transpositions of neighbours (optimal string alignment), ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let [a, b]: [Vec<char>; 2] = [a, b].map(|s| s.to_lowercase().chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}
