//! From text to a syntax tree.
//!
//! Precedence as in mathematics: `^` binds tightest and to the right, then a leading minus, then
//! `*` and `/`, then `+` and `-`, comparisons, `&&`, `||`; so `-x^2` is $-(x^2)$ and `2^-1` is ½.
//! A parser of our own because the libraries at hand read `-x^2` as $(-x)^2$ or give derivatives of
//! only some of the functions.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Foreign, FormulaError};

/// A syntax tree; positions are byte offsets into the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ast {
    Number(f64),
    /// A name, possibly with dots and indices as in `final.q[0]`.
    Name(String, usize),
    Call(Function, Vec<Ast>),
    /// A function that was given by name.
    Foreign(String, Vec<Ast>),
    /// A number made of lists, with the part of the text that it was read from.
    Reduce(Reduction, Vec<Ast>, std::ops::Range<usize>),
    Negate(Box<Ast>),
    Binary(Operator, Box<Ast>, Box<Ast>),
}

/// Two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// The functions that formulas know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Exp,
    Log,
    Abs,
    Min,
    Max,
    Floor,
}

impl Function {
    pub(crate) const ALL: [(&'static str, Self, usize); 14] = [
        ("sqrt", Self::Sqrt, 1),
        ("sin", Self::Sin, 1),
        ("cos", Self::Cos, 1),
        ("tan", Self::Tan, 1),
        ("asin", Self::Asin, 1),
        ("acos", Self::Acos, 1),
        ("atan", Self::Atan, 1),
        ("atan2", Self::Atan2, 2),
        ("exp", Self::Exp, 1),
        ("log", Self::Log, 1),
        ("abs", Self::Abs, 1),
        ("min", Self::Min, 2),
        ("max", Self::Max, 2),
        ("floor", Self::Floor, 1),
    ];
}

/// What makes a number of a list of results; conditions know them, formulas of mechanics do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reduction {
    Largest,
    Least,
    Mean,
    Median,
    Deviation,
    Sum,
    Count,
    Distance,
}

impl Reduction {
    pub(crate) const ALL: [(&'static str, Self, usize); 8] = [
        ("largest", Self::Largest, 1),
        ("least", Self::Least, 1),
        ("mean", Self::Mean, 1),
        ("median", Self::Median, 1),
        ("deviation", Self::Deviation, 1),
        ("sum", Self::Sum, 1),
        ("count", Self::Count, 1),
        ("distance", Self::Distance, 2),
    ];
}

/// Deepest nesting that is parsed, so that no input can exhaust the stack.
const MAX_DEPTH: usize = 200;

/// Functions by name.
pub(crate) type Functions = HashMap<String, Arc<dyn Foreign>>;

/// Parses a formula, which may call these functions.
pub(crate) fn parse(text: &str, functions: &Functions) -> Result<Ast, FormulaError> {
    whole(Parser { text, at: 0, depth: 0, runs: None, functions: Some(functions) })
}

/// Parses a condition on results; in `runs.NAME.…` the name is one of `runs`, whatever letters it has.
pub(crate) fn parse_condition(text: &str, runs: &[&str]) -> Result<Ast, FormulaError> {
    whole(Parser { text, at: 0, depth: 0, runs: Some(runs), functions: None })
}

fn whole(mut parser: Parser<'_>) -> Result<Ast, FormulaError> {
    let tree = parser.expression(0)?;
    parser.skip_space();
    match parser.rest().chars().next() {
        None => Ok(tree),
        Some(found) => Err(parser.error(format!("`{found}` does not continue the formula"))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Names of runs, where the text is a condition.
    runs: Option<&'a [&'a str]>,
    /// Functions that were given.
    functions: Option<&'a Functions>,
}

/// Binding strength of the leading minus: looser than `^`, tighter than `*`.
const UNARY: u8 = 6;

impl<'a> Parser<'a> {
    /// An expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Ast, FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} levels of nesting")));
        }
        let mut left = if self.take("-") || self.take("\u{2212}") {
            Ast::Negate(Box::new(self.expression(UNARY)?))
        } else if self.take("+") {
            self.expression(UNARY)?
        } else {
            self.atom()?
        };
        while let Some((operator, token, strength)) = self.peek_operator() {
            if strength < least {
                break;
            }
            self.at += token.len();
            // `^` groups to the right and admits a signed exponent; all others group to the left.
            let right = if operator == Operator::Power {
                self.expression(UNARY)?
            } else {
                self.expression(strength + 1)?
            };
            left = Ast::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn peek_operator(&mut self) -> Option<(Operator, &'static str, u8)> {
        const OPERATORS: [(&str, Operator, u8); 14] = [
            ("||", Operator::Or, 1),
            ("&&", Operator::And, 2),
            ("<=", Operator::LessEqual, 3),
            (">=", Operator::GreaterEqual, 3),
            ("==", Operator::Equal, 3),
            ("!=", Operator::NotEqual, 3),
            ("<", Operator::Less, 3),
            (">", Operator::Greater, 3),
            ("+", Operator::Add, 4),
            ("-", Operator::Subtract, 4),
            ("\u{2212}", Operator::Subtract, 4),
            ("*", Operator::Multiply, 5),
            ("/", Operator::Divide, 5),
            ("^", Operator::Power, 7),
        ];
        self.skip_space();
        let rest = self.rest();
        OPERATORS.iter().find(|(token, ..)| rest.starts_with(token)).map(|&(t, o, s)| (o, t, s))
    }

    fn atom(&mut self) -> Result<Ast, FormulaError> {
        self.skip_space();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Err(
                self.error("the formula ends where a number, a name or `(` should follow".into())
            );
        };
        if first == '(' {
            self.at += 1;
            let inner = self.expression(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if first.is_ascii_digit() || first == '.' {
            return self.number();
        }
        if first.is_alphabetic() || first == '_' {
            let name = self.name();
            self.skip_space();
            if self.rest().starts_with('(') {
                return self.call(name, start);
            }
            return Ok(Ast::Name(name.to_owned(), start));
        }
        Err(self.error(format!("`{first}` where a number, a name or `(` should stand")))
    }

    fn number(&mut self) -> Result<Ast, FormulaError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(bytes.len()));
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let text = &self.rest()[..end];
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += end;
                Ok(Ast::Number(value))
            }
            _ => Err(self.error(format!("`{text}` is not a number"))),
        }
    }

    /// A name: letters, digits and `_`, then any number of `.name`, `[index]`, `[*]` and `[from..to]`.
    fn name(&mut self) -> &'a str {
        let start = self.at;
        let word = |s: &str| {
            s.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\'')).unwrap_or(s.len())
        };
        self.at += word(self.rest());
        if &self.text[start..self.at] == "runs" {
            self.at += self.run_name();
        }
        loop {
            let rest = self.rest();
            if let Some(after) = rest.strip_prefix('.') {
                let length = word(after);
                if length > 0 {
                    self.at += 1 + length;
                    continue;
                }
            }
            if let Some(after) = rest.strip_prefix('[') {
                let index = |b: &u8| b.is_ascii_digit() || matches!(b, b'*' | b'.');
                let length = after.bytes().take_while(index).count();
                if length > 0 && after[length..].starts_with(']') {
                    self.at += length + 2;
                    continue;
                }
            }
            break;
        }
        &self.text[start..self.at]
    }

    /// Length of `.NAME` with the longest name of a run that fits here: such names may hold `-`, `.` and spaces.
    fn run_name(&self) -> usize {
        let Some(rest) = self.rest().strip_prefix('.') else { return 0 };
        let ends = |name: &&&str| {
            let after = rest.strip_prefix(**name).map(|r| r.chars().next());
            after.is_some_and(|c| c.is_none_or(|c| !c.is_alphanumeric() && c != '_'))
        };
        let known = self.runs.unwrap_or_default().iter().filter(ends);
        known.map(|name| 1 + name.len()).max().unwrap_or(0)
    }

    fn call(&mut self, name: &str, start: usize) -> Result<Ast, FormulaError> {
        if let Some(&(_, reduction, arity)) =
            Reduction::ALL.iter().find(|(known, ..)| *known == name).filter(|_| self.runs.is_some())
        {
            let arguments = self.arguments()?;
            self.check_arity(name, start, arguments.len(), arity)?;
            return Ok(Ast::Reduce(reduction, arguments, start..self.at));
        }
        if let Some(function) = self.functions.and_then(|given| given.get(name)) {
            let arguments = self.arguments()?;
            self.check_arity(name, start, arguments.len(), function.arity())?;
            return Ok(Ast::Foreign(name.to_owned(), arguments));
        }
        let Some(&(_, function, arity)) = Function::ALL.iter().find(|(known, ..)| *known == name)
        else {
            let mut known = Function::ALL.map(|(n, ..)| n).to_vec();
            if self.runs.is_some() {
                known.extend(Reduction::ALL.map(|(n, ..)| n));
            }
            let hint = super::nearest(name, known.iter().copied())
                .map(|n| format!(", did you mean `{n}`?"))
                .unwrap_or_default();
            self.at = start;
            return Err(self.error(format!(
                "there is no function `{name}`{hint} (known: {})",
                known.join(", ")
            )));
        };
        let arguments = self.arguments()?;
        // `min` and `max` of any number of arguments fold to pairs.
        let folds = matches!(function, Function::Min | Function::Max) && arguments.len() > 2;
        if !folds {
            self.check_arity(name, start, arguments.len(), arity)?;
        }
        if folds {
            let mut arguments = arguments.into_iter();
            let first = arguments.next().unwrap_or(Ast::Number(0.0));
            return Ok(arguments.fold(first, |a, b| Ast::Call(function, vec![a, b])));
        }
        Ok(Ast::Call(function, arguments))
    }

    fn arguments(&mut self) -> Result<Vec<Ast>, FormulaError> {
        self.expect("(")?;
        let mut arguments = vec![self.expression(0)?];
        while self.take(",") {
            arguments.push(self.expression(0)?);
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn check_arity(
        &mut self,
        name: &str,
        start: usize,
        given: usize,
        arity: usize,
    ) -> Result<(), FormulaError> {
        if given == arity {
            return Ok(());
        }
        self.at = start;
        Err(self.error(format!("`{name}` takes {arity} argument(s), not {given}")))
    }

    fn expect(&mut self, token: &str) -> Result<(), FormulaError> {
        if self.take(token) {
            return Ok(());
        }
        let found = self
            .rest()
            .chars()
            .next()
            .map_or("the formula ends".into(), |c| format!("`{c}` stands"));
        Err(self.error(format!("{found} where `{token}` should be")))
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, message: String) -> FormulaError {
        FormulaError { formula: self.text.to_owned(), at: self.at, message }
    }
}
