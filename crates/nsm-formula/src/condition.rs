//! Conditions on results: `energy.max < 128.5 && abs(final.q[0] - 1) <= 1e-9`.
//!
//! A name stands for a number or for a list. Lists are calculated with entry by entry inside `largest`,
//! `least`, `mean`, `median`, `deviation`, `sum`, `count` and `distance`, which make numbers of them:
//! `largest(runs.scan[*].energy.max / runs.scan[*].energy.start) < 1.06`. Anywhere else a list stands for
//! its length.

use super::parse::{Ast, Function, Operator, Reduction, parse_condition};
use super::{FormulaError, check_length};

/// A condition that is evaluated once, on named results.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    tree: Ast,
}

/// A list of numbers made of results, such as `runs.scan[*].energy.width`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity(Condition);

impl Quantity {
    /// Parses a quantity; in `runs.NAME.…` the name is one of `runs`.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn new(text: &str, runs: &[&str]) -> Result<Self, FormulaError> {
        check_length(text)?;
        let quantity = Condition { text: text.to_owned(), tree: parse_condition(text, runs)? };
        quantity.check(&quantity.tree, true)?;
        Ok(Self(quantity))
    }

    /// The names that occur in it, in order, without repetition.
    pub fn names(&self) -> Vec<&str> {
        self.0.names()
    }

    /// Its numbers; `lookup` gives the result of a name.
    ///
    /// # Errors
    /// As for [`Condition::holds`].
    pub fn list(&self, lookup: Lookup<'_>) -> Result<Vec<f64>, FormulaError> {
        self.0.evaluate(&self.0.tree, true, lookup).map(list)
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// One number.
    Number(f64),
    /// Several.
    List(Vec<f64>),
}

/// Gives the result of a name, or says why there is none.
type Lookup<'a> = &'a dyn Fn(&str) -> Result<Figure, String>;

impl Condition {
    /// Parses a condition; in `runs.NAME.…` the name is one of `runs`.
    ///
    /// # Errors
    /// If it cannot be understood, or is a number and not a condition.
    pub fn new(text: &str, runs: &[&str]) -> Result<Self, FormulaError> {
        check_length(text)?;
        let condition = Self { text: text.to_owned(), tree: parse_condition(text, runs)? };
        if !is_condition(&condition.tree) {
            let message = "this is a number, not a condition: compare it with something, as in `energy.max < 2`";
            return Err(condition.error(0, message));
        }
        condition.check(&condition.tree, false)?;
        Ok(condition)
    }

    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that occur in it, in order, without repetition.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect(&self.tree, &mut names);
        names
    }

    /// Whether it holds; `lookup` gives the result of a name.
    ///
    /// A comparison with NaN never holds.
    ///
    /// # Errors
    /// The first name that `lookup` does not know, or lists of different lengths.
    pub fn holds(&self, lookup: Lookup<'_>) -> Result<bool, FormulaError> {
        self.number(&self.tree, lookup).map(|value| value == 1.0)
    }

    /// The numbers that decide: every name outside of a list, and every number made of lists, as written.
    ///
    /// # Errors
    /// As for [`Condition::holds`].
    pub fn figures(&self, lookup: Lookup<'_>) -> Result<Vec<(String, f64)>, FormulaError> {
        let mut parts = Vec::new();
        deciding(&self.tree, &mut parts);
        let mut figures: Vec<(String, f64)> = Vec::new();
        for part in parts {
            let text = match part {
                Ast::Reduce(_, _, span) => &self.text[span.clone()],
                Ast::Name(name, _) => name,
                _ => continue,
            };
            if !figures.iter().any(|(known, _)| known == text) {
                figures.push((text.to_owned(), self.number(part, lookup)?));
            }
        }
        Ok(figures)
    }

    fn error(&self, at: usize, message: impl Into<String>) -> FormulaError {
        FormulaError { formula: self.text.clone(), at, message: message.into() }
    }

    /// Results of several runs or windows mean nothing outside of a list function; `count` counts conditions.
    fn check(&self, tree: &Ast, in_list: bool) -> Result<(), FormulaError> {
        match tree {
            Ast::Name(name, at) if !in_list && is_many(name) => {
                let message = format!(
                    "`{name}` is a list: say what of it, as in `largest(…)`, `least(…)`, `mean(…)` or `count(… > 0)`"
                );
                Err(self.error(*at, message))
            }
            Ast::Number(_) | Ast::Name(..) => Ok(()),
            Ast::Negate(a) => self.check(a, in_list),
            Ast::Call(_, arguments) | Ast::Foreign(_, arguments) => {
                arguments.iter().try_for_each(|a| self.check(a, in_list))
            }
            Ast::Reduce(Reduction::Count, arguments, span) if !is_condition(&arguments[0]) => {
                Err(self.error(span.start, "`count` counts where a condition holds, as in `count(runs.scan[*].events > 5)`"))
            }
            Ast::Reduce(_, arguments, _) => arguments.iter().try_for_each(|a| self.check(a, true)),
            Ast::Binary(_, a, b) => self.check(a, in_list).and_then(|()| self.check(b, in_list)),
        }
    }

    /// The value outside of lists: a list stands for its length.
    fn number(&self, tree: &Ast, lookup: Lookup<'_>) -> Result<f64, FormulaError> {
        match self.evaluate(tree, false, lookup)? {
            Figure::Number(value) => Ok(value),
            Figure::List(list) => Ok(list.len() as f64),
        }
    }

    fn evaluate(
        &self,
        tree: &Ast,
        in_list: bool,
        lookup: Lookup<'_>,
    ) -> Result<Figure, FormulaError> {
        let of = |tree: &Ast| {
            if in_list {
                self.evaluate(tree, true, lookup)
            } else {
                self.number(tree, lookup).map(Figure::Number)
            }
        };
        Ok(match tree {
            Ast::Number(value) => Figure::Number(*value),
            Ast::Name(name, _) if name == "pi" => Figure::Number(std::f64::consts::PI),
            Ast::Name(name, at) => lookup(name).map_err(|message| self.error(*at, message))?,
            Ast::Negate(a) => map(of(a)?, |a| -a),
            Ast::Reduce(reduction, arguments, span) => {
                let lists = arguments
                    .iter()
                    .map(|a| self.evaluate(a, true, lookup).map(list))
                    .collect::<Result<Vec<_>, _>>()?;
                let value = match (reduction, &lists[..]) {
                    (Reduction::Distance, [a, b]) if a.len() != b.len() => {
                        let message = format!("lists of {} and {} numbers", a.len(), b.len());
                        return Err(self.error(span.start, message));
                    }
                    (Reduction::Distance, [a, b]) => {
                        largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()), 0.0)
                    }
                    (reduction, [a, ..]) => reduce(*reduction, a),
                    (_, []) => f64::NAN,
                };
                Figure::Number(value)
            }
            Ast::Foreign(name, _) => {
                return Err(self.error(0, format!("a check knows no function `{name}`")));
            }
            Ast::Call(function, arguments) => {
                let a = of(&arguments[0])?;
                let b = arguments.get(1).map_or(Ok(Figure::Number(0.0)), of)?;
                self.pairwise(a, b, |a, b| call(*function, a, b))?
            }
            Ast::Binary(operator, a, b) => {
                self.pairwise(of(a)?, of(b)?, |a, b| combine(*operator, a, b))?
            }
        })
    }

    /// Entry by entry; a single number goes with every entry.
    fn pairwise(
        &self,
        a: Figure,
        b: Figure,
        f: impl Fn(f64, f64) -> f64,
    ) -> Result<Figure, FormulaError> {
        Ok(match (a, b) {
            (Figure::Number(a), Figure::Number(b)) => Figure::Number(f(a, b)),
            (a, Figure::Number(b)) => map(a, |a| f(a, b)),
            (Figure::Number(a), b) => map(b, |b| f(a, b)),
            (Figure::List(a), Figure::List(b)) if a.len() == b.len() => {
                Figure::List(a.iter().zip(b).map(|(a, b)| f(*a, b)).collect())
            }
            (Figure::List(a), Figure::List(b)) => {
                return Err(self.error(0, format!("lists of {} and {} numbers", a.len(), b.len())));
            }
        })
    }
}

/// Whether a name stands for results of several runs, windows or instants.
fn is_many(name: &str) -> bool {
    name.contains("[*]") || name.contains("..")
}

fn map(figure: Figure, f: impl Fn(f64) -> f64) -> Figure {
    match figure {
        Figure::Number(a) => Figure::Number(f(a)),
        Figure::List(list) => Figure::List(list.into_iter().map(f).collect()),
    }
}

fn list(figure: Figure) -> Vec<f64> {
    match figure {
        Figure::Number(a) => vec![a],
        Figure::List(list) => list,
    }
}

/// The largest, NaN if any is: what diverged must not be hidden.
fn largest(values: impl Iterator<Item = f64>, first: f64) -> f64 {
    values.fold(first, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

/// NaN for an empty list, but for sum and count.
fn reduce(reduction: Reduction, list: &[f64]) -> f64 {
    let n = list.len() as f64;
    let mean = || list.iter().sum::<f64>() / n;
    let first = list.first().copied().unwrap_or(f64::NAN);
    match reduction {
        Reduction::Largest => largest(list.iter().copied(), first),
        Reduction::Least => -largest(list.iter().map(|a| -a), -first),
        Reduction::Mean => mean(),
        Reduction::Median => {
            let mut sorted = list.to_vec();
            sorted.sort_by(f64::total_cmp);
            let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
            0.5 * (at(list.len().saturating_sub(1) / 2) + at(list.len() / 2))
        }
        Reduction::Deviation => {
            let mean = mean();
            (list.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
        }
        Reduction::Sum => list.iter().sum(),
        Reduction::Count => list.iter().filter(|a| **a == 1.0).count() as f64,
        Reduction::Distance => f64::NAN,
    }
}

fn combine(operator: Operator, a: f64, b: f64) -> f64 {
    let truth = |b: bool| f64::from(u8::from(b));
    match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Power => a.powf(b),
        Operator::Less => truth(a < b),
        Operator::LessEqual => truth(a <= b),
        Operator::Greater => truth(a > b),
        Operator::GreaterEqual => truth(a >= b),
        Operator::Equal => truth(a == b),
        Operator::NotEqual => truth(a != b && !a.is_nan() && !b.is_nan()),
        Operator::And => truth(a == 1.0 && b == 1.0),
        Operator::Or => truth(a == 1.0 || b == 1.0),
    }
}

fn call(function: Function, a: f64, b: f64) -> f64 {
    match function {
        Function::Sqrt => a.sqrt(),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Atan2 => a.atan2(b),
        Function::Exp => a.exp(),
        Function::Log => a.ln(),
        Function::Abs => a.abs(),
        Function::Min => a.min(b),
        Function::Max => a.max(b),
        Function::Floor => a.floor(),
    }
}

/// Whether the outermost operation is a comparison or joins conditions.
fn is_condition(tree: &Ast) -> bool {
    match tree {
        Ast::Binary(Operator::And | Operator::Or, a, b) => is_condition(a) && is_condition(b),
        Ast::Binary(operator, ..) => matches!(
            operator,
            Operator::Less
                | Operator::LessEqual
                | Operator::Greater
                | Operator::GreaterEqual
                | Operator::Equal
                | Operator::NotEqual
        ),
        _ => false,
    }
}

fn collect<'a>(tree: &'a Ast, names: &mut Vec<&'a str>) {
    match tree {
        Ast::Number(_) => {}
        Ast::Name(name, _) => {
            if name != "pi" && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        Ast::Negate(a) => collect(a, names),
        Ast::Call(_, arguments) | Ast::Foreign(_, arguments) | Ast::Reduce(_, arguments, _) => {
            for argument in arguments {
                collect(argument, names);
            }
        }
        Ast::Binary(_, a, b) => {
            collect(a, names);
            collect(b, names);
        }
    }
}

/// Names and numbers made of lists, in order; what a list function holds is not looked into.
fn deciding<'a>(tree: &'a Ast, parts: &mut Vec<&'a Ast>) {
    match tree {
        Ast::Number(_) => {}
        Ast::Name(name, _) if name == "pi" => {}
        Ast::Name(..) | Ast::Reduce(..) => parts.push(tree),
        Ast::Negate(a) => deciding(a, parts),
        Ast::Call(_, arguments) | Ast::Foreign(_, arguments) => {
            for a in arguments {
                deciding(a, parts);
            }
        }
        Ast::Binary(_, a, b) => {
            deciding(a, parts);
            deciding(b, parts);
        }
    }
}
