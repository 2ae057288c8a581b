//! Conditions on results: `energy.max < 128.5 && abs(final.q[0] - 1) <= 1e-9`.

use super::parse::{Ast, Function, Operator};
use super::{FormulaError, parse_bounded};

/// A condition that is evaluated once, on named numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    tree: Ast,
}

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// If it cannot be understood, or is a number and not a condition.
    pub fn new(text: &str) -> Result<Self, FormulaError> {
        let tree = parse_bounded(text)?;
        if !is_condition(&tree) {
            let message = "this is a number, not a condition: compare it with something, as in `energy.max < 2`";
            return Err(FormulaError {
                formula: text.to_owned(),
                at: 0,
                message: message.to_owned(),
            });
        }
        Ok(Self { text: text.to_owned(), tree })
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

    /// Whether it holds; `lookup` gives the value of a name.
    ///
    /// A comparison with NaN never holds.
    ///
    /// # Errors
    /// The first name that `lookup` does not know.
    pub fn holds(&self, lookup: &dyn Fn(&str) -> Option<f64>) -> Result<bool, FormulaError> {
        self.evaluate(&self.tree, lookup).map(|value| value == 1.0)
    }

    fn evaluate(
        &self,
        tree: &Ast,
        lookup: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<f64, FormulaError> {
        let truth = |b: bool| f64::from(u8::from(b));
        Ok(match tree {
            Ast::Number(value) => *value,
            Ast::Name(name, _) if name == "pi" => std::f64::consts::PI,
            Ast::Name(name, at) => lookup(name).ok_or_else(|| FormulaError {
                formula: self.text.clone(),
                at: *at,
                message: format!("the run has no result `{name}`"),
            })?,
            Ast::Negate(a) => -self.evaluate(a, lookup)?,
            Ast::Call(function, arguments) => {
                let a = self.evaluate(&arguments[0], lookup)?;
                let b = match arguments.get(1) {
                    Some(b) => self.evaluate(b, lookup)?,
                    None => a,
                };
                call(*function, a, b)
            }
            Ast::Binary(operator, a, b) => {
                let (a, b) = (self.evaluate(a, lookup)?, self.evaluate(b, lookup)?);
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
        })
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
        Ast::Call(_, arguments) => arguments.iter().for_each(|a| collect(a, names)),
        Ast::Binary(_, a, b) => {
            collect(a, names);
            collect(b, names);
        }
    }
}
