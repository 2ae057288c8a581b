//! Expressions as a graph in which equal sub-expressions are one node, and their exact derivatives.
//!
//! Nodes are hash-consed, so a derivative shares everything it can with the function itself and the
//! compiled tape computes it once. Constructors fold constants and drop neutral elements; nothing
//! cleverer, so that a formula is evaluated as it is written.

use std::collections::HashMap;

use super::foreign::Call;
use super::parse::{Ast, Function, Operator};
use super::{FormulaError, Names};

/// A node of the graph.
pub(crate) type Id = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// The bits of a number.
    Constant(u64),
    /// A slot of the input.
    Variable(usize),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// A call of a foreign function, by its place in the list of calls.
    Foreign(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Negate,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Exp,
    Log,
    Abs,
    Floor,
    /// $-1$, $0$ or $1$: the derivative of `abs`.
    Sign,
    /// $x^n$ for a small integer.
    Integer(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Atan2,
    Min,
    Max,
    /// 1 where the first is at most the second, else 0: which branch `min` and `max` take.
    AtMost,
}

impl Unary {
    pub(crate) fn apply(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Sqrt => x.sqrt(),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tan => x.tan(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Abs => x.abs(),
            Self::Floor => x.floor(),
            Self::Sign => {
                if x == 0.0 {
                    0.0
                } else {
                    x.signum()
                }
            }
            Self::Integer(2) => x * x,
            Self::Integer(n) => x.powi(n),
        }
    }
}

impl Binary {
    pub(crate) fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
            Self::Atan2 => a.atan2(b),
            // NaN must come through, unlike in f64::min and f64::max.
            Self::Min => {
                if a <= b {
                    a
                } else {
                    b + 0.0 * a
                }
            }
            Self::Max => {
                if a <= b {
                    b
                } else {
                    a + 0.0 * b
                }
            }
            Self::AtMost => f64::from(u8::from(a <= b)),
        }
    }
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    index: HashMap<Node, Id>,
    calls: Vec<Call>,
}

impl Graph {
    pub(crate) fn node(&self, id: Id) -> Node {
        self.nodes[id]
    }

    /// The value of a constant node.
    pub(crate) fn as_constant(&self, id: Id) -> Option<f64> {
        match self.nodes[id] {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(crate) fn constant(&mut self, value: f64) -> Id {
        // One zero: -0.0 would otherwise hide from the simplifications.
        self.intern(Node::Constant(if value == 0.0 { 0 } else { value.to_bits() }))
    }

    pub(crate) fn variable(&mut self, slot: usize) -> Id {
        self.intern(Node::Variable(slot))
    }

    /// Parses a formula and inserts it; `names` says what its names mean.
    pub(crate) fn read(&mut self, text: &str, names: &Names) -> Result<Id, FormulaError> {
        super::check_length(text)?;
        let ast = super::parse::parse(text, &names.functions)?;
        self.insert(&ast, text, names)
    }

    fn insert(&mut self, ast: &Ast, text: &str, names: &Names) -> Result<Id, FormulaError> {
        Ok(match ast {
            Ast::Number(value) => self.constant(*value),
            Ast::Name(name, at) => match names.meaning(name) {
                Some(super::Meaning::Value(value)) => self.constant(value),
                Some(super::Meaning::Slot(slot)) => self.variable(slot),
                None => return Err(names.unknown(name, text, *at)),
            },
            Ast::Reduce(_, _, span) => {
                let message = "lists of results belong in `check` only".to_owned();
                let (formula, at) = (text.to_owned(), span.start);
                return Err(FormulaError { formula, at, message });
            }
            Ast::Negate(inner) => {
                let inner = self.insert(inner, text, names)?;
                self.unary(Unary::Negate, inner)
            }
            Ast::Binary(operator, a, b) => {
                let operator = match operator {
                    Operator::Add => Binary::Add,
                    Operator::Subtract => Binary::Subtract,
                    Operator::Multiply => Binary::Multiply,
                    Operator::Divide => Binary::Divide,
                    Operator::Power => Binary::Power,
                    _ => {
                        let message =
                            "comparisons have no derivative and belong in `check` only".to_owned();
                        return Err(FormulaError { formula: text.to_owned(), at: 0, message });
                    }
                };
                let a = self.insert(a, text, names)?;
                let b = self.insert(b, text, names)?;
                self.binary(operator, a, b)
            }
            Ast::Foreign(name, arguments) => {
                let Some(function) = names.functions.get(name) else {
                    return Err(names.unknown(name, text, 0));
                };
                let inner = arguments.iter().map(|a| self.insert(a, text, names));
                let arguments = inner.collect::<Result<_, _>>()?;
                self.call(Call { function: function.clone(), arguments, by: Vec::new() })
            }
            Ast::Call(function, arguments) => {
                let mut inner = Vec::with_capacity(2);
                for argument in arguments {
                    inner.push(self.insert(argument, text, names)?);
                }
                let (a, b) = (inner[0], inner.get(1).copied().unwrap_or(inner[0]));
                match function {
                    Function::Atan2 => self.binary(Binary::Atan2, a, b),
                    Function::Min => self.binary(Binary::Min, a, b),
                    Function::Max => self.binary(Binary::Max, a, b),
                    Function::Sqrt => self.unary(Unary::Sqrt, a),
                    Function::Sin => self.unary(Unary::Sin, a),
                    Function::Cos => self.unary(Unary::Cos, a),
                    Function::Tan => self.unary(Unary::Tan, a),
                    Function::Asin => self.unary(Unary::Asin, a),
                    Function::Acos => self.unary(Unary::Acos, a),
                    Function::Atan => self.unary(Unary::Atan, a),
                    Function::Exp => self.unary(Unary::Exp, a),
                    Function::Log => self.unary(Unary::Log, a),
                    Function::Abs => self.unary(Unary::Abs, a),
                    Function::Floor => self.unary(Unary::Floor, a),
                }
            }
        })
    }

    /// A call as a node, one for equal calls.
    fn call(&mut self, call: Call) -> Id {
        let known = self.calls.iter().position(|other| other.equals(&call));
        let place = known.unwrap_or_else(|| {
            self.calls.push(call);
            self.calls.len() - 1
        });
        self.intern(Node::Foreign(place))
    }

    /// The call of a node.
    pub(crate) fn call_of(&self, place: usize) -> &Call {
        &self.calls[place]
    }

    pub(crate) fn unary(&mut self, f: Unary, a: Id) -> Id {
        if let Some(x) = self.as_constant(a) {
            return self.constant(f.apply(x));
        }
        match (f, self.nodes[a]) {
            (Unary::Negate, Node::Unary(Unary::Negate, inner)) => inner,
            (Unary::Integer(1), _) => a,
            _ => self.intern(Node::Unary(f, a)),
        }
    }

    pub(crate) fn binary(&mut self, f: Binary, a: Id, b: Id) -> Id {
        let (x, y) = (self.as_constant(a), self.as_constant(b));
        if let (Some(x), Some(y)) = (x, y) {
            return self.constant(f.apply(x, y));
        }
        match (f, x, y) {
            (Binary::Add, Some(0.0), _) => b,
            (Binary::Add | Binary::Subtract, _, Some(0.0)) => a,
            (Binary::Subtract, Some(0.0), _) => self.unary(Unary::Negate, b),
            (Binary::Multiply, Some(0.0), _) | (Binary::Multiply, _, Some(0.0)) => {
                self.constant(0.0)
            }
            (Binary::Divide, Some(0.0), _) => self.constant(0.0),
            (Binary::Multiply, Some(1.0), _) => b,
            (Binary::Multiply | Binary::Divide, _, Some(1.0)) => a,
            (Binary::Power, _, Some(0.5)) => self.unary(Unary::Sqrt, a),
            #[allow(clippy::cast_possible_truncation)] // an integer of at most two digits
            (Binary::Power, _, Some(n)) if n.fract() == 0.0 && n.abs() <= 64.0 => {
                if n == 0.0 {
                    self.constant(1.0)
                } else {
                    self.unary(Unary::Integer(n as i32), a)
                }
            }
            _ => self.intern(Node::Binary(f, a, b)),
        }
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let id = self.nodes.len();
        self.nodes.push(node);
        self.index.insert(node, id);
        id
    }

    /// Whether the expression is a polynomial as it is written: sums and products, and quotients by constants.
    pub(crate) fn is_polynomial(&self, root: Id) -> bool {
        self.reachable(&[root]).into_iter().all(|id| match self.nodes[id] {
            Node::Constant(_) | Node::Variable(_) | Node::Unary(Unary::Negate, _) => true,
            Node::Unary(f, _) => matches!(f, Unary::Integer(n) if n > 0),
            Node::Binary(Binary::Divide, _, b) => self.as_constant(b).is_some(),
            Node::Binary(f, ..) => {
                matches!(f, Binary::Add | Binary::Subtract | Binary::Multiply)
            }
            Node::Foreign(_) => false,
        })
    }

    /// Whether the expression contains the variable.
    pub(crate) fn depends_on(&self, id: Id, slot: usize) -> bool {
        self.reachable(&[id]).into_iter().any(|i| self.nodes[i] == Node::Variable(slot))
    }

    /// All nodes below the given ones, operands before results.
    pub(crate) fn reachable(&self, roots: &[Id]) -> Vec<Id> {
        // Operands always have smaller indices than results, so one sweep down and one sort suffice.
        let mut seen = vec![false; self.nodes.len()];
        let mut stack: Vec<Id> = roots.to_vec();
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            match self.nodes[id] {
                Node::Constant(_) | Node::Variable(_) => {}
                Node::Unary(_, a) => stack.push(a),
                Node::Binary(_, a, b) => stack.extend([a, b]),
                Node::Foreign(place) => stack.extend(&self.calls[place].arguments),
            }
        }
        (0..self.nodes.len()).filter(|&i| seen[i]).collect()
    }

    /// The exact derivative by a variable.
    pub(crate) fn derivative(&mut self, id: Id, slot: usize) -> Id {
        let order = self.reachable(&[id]);
        let mut derivatives: HashMap<Id, Id> = HashMap::with_capacity(order.len());
        for node in order {
            let derivative = self.local_derivative(node, slot, &derivatives);
            derivatives.insert(node, derivative);
        }
        derivatives[&id]
    }

    /// Derivative of one node, given those of its operands.
    fn local_derivative(&mut self, id: Id, slot: usize, known: &HashMap<Id, Id>) -> Id {
        let zero = self.constant(0.0);
        match self.nodes[id] {
            Node::Constant(_) => zero,
            Node::Variable(s) => self.constant(if s == slot { 1.0 } else { 0.0 }),
            Node::Unary(f, a) => {
                let da = known[&a];
                if da == zero {
                    return zero;
                }
                let outer = self.outer_derivative(f, a, id);
                self.binary(Binary::Multiply, outer, da)
            }
            Node::Binary(f, a, b) => {
                let (da, db) = (known[&a], known[&b]);
                if da == zero && db == zero {
                    return zero;
                }
                self.binary_derivative(f, (a, da), (b, db), id)
            }
            Node::Foreign(place) => {
                let call = self.calls[place].clone();
                let mut sum = zero;
                for (k, a) in call.arguments.iter().enumerate() {
                    if known[a] == zero {
                        continue;
                    }
                    let by = call.by.iter().copied().chain([k]).collect();
                    let partial = self.call(Call { by, ..call.clone() });
                    let term = self.binary(Binary::Multiply, partial, known[a]);
                    sum = self.binary(Binary::Add, sum, term);
                }
                sum
            }
        }
    }

    /// $f\'(a)$, where `id` is $f(a)$ itself.
    fn outer_derivative(&mut self, f: Unary, a: Id, id: Id) -> Id {
        let one = self.constant(1.0);
        match f {
            Unary::Negate => self.constant(-1.0),
            Unary::Sqrt => {
                let half = self.constant(0.5);
                self.binary(Binary::Divide, half, id)
            }
            Unary::Sin => self.unary(Unary::Cos, a),
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, a);
                self.unary(Unary::Negate, sine)
            }
            Unary::Tan => {
                let square = self.unary(Unary::Integer(2), id);
                self.binary(Binary::Add, one, square)
            }
            Unary::Asin | Unary::Acos => {
                let square = self.unary(Unary::Integer(2), a);
                let inside = self.binary(Binary::Subtract, one, square);
                let root = self.unary(Unary::Sqrt, inside);
                let sign = self.constant(if f == Unary::Asin { 1.0 } else { -1.0 });
                self.binary(Binary::Divide, sign, root)
            }
            Unary::Atan => {
                let square = self.unary(Unary::Integer(2), a);
                let below = self.binary(Binary::Add, one, square);
                self.binary(Binary::Divide, one, below)
            }
            Unary::Exp => id,
            Unary::Log => self.binary(Binary::Divide, one, a),
            Unary::Abs => self.unary(Unary::Sign, a),
            Unary::Floor | Unary::Sign => self.constant(0.0),
            Unary::Integer(n) => {
                let lower = if n == 1 { one } else { self.unary(Unary::Integer(n - 1), a) };
                let factor = self.constant(f64::from(n));
                self.binary(Binary::Multiply, factor, lower)
            }
        }
    }

    fn binary_derivative(&mut self, f: Binary, (a, da): (Id, Id), (b, db): (Id, Id), id: Id) -> Id {
        match f {
            Binary::Add | Binary::Subtract => self.binary(f, da, db),
            Binary::Multiply => {
                let left = self.binary(Binary::Multiply, da, b);
                let right = self.binary(Binary::Multiply, a, db);
                self.binary(Binary::Add, left, right)
            }
            Binary::Divide => {
                // (da - (a/b) db) / b reuses the quotient.
                let carried = self.binary(Binary::Multiply, id, db);
                let above = self.binary(Binary::Subtract, da, carried);
                self.binary(Binary::Divide, above, b)
            }
            Binary::Power => self.power_derivative((a, da), (b, db), id),
            Binary::Atan2 => {
                let left = self.binary(Binary::Multiply, b, da);
                let right = self.binary(Binary::Multiply, a, db);
                let above = self.binary(Binary::Subtract, left, right);
                let squares = [a, b].map(|x| self.unary(Unary::Integer(2), x));
                let below = self.binary(Binary::Add, squares[0], squares[1]);
                self.binary(Binary::Divide, above, below)
            }
            Binary::Min | Binary::Max => {
                // The derivative of the branch taken: picked = s·first + (1 − s)·second.
                let picks_first = self.binary(Binary::AtMost, a, b);
                let (first, second) = if f == Binary::Min { (da, db) } else { (db, da) };
                let difference = self.binary(Binary::Subtract, first, second);
                let switched = self.binary(Binary::Multiply, picks_first, difference);
                self.binary(Binary::Add, second, switched)
            }
            Binary::AtMost => self.constant(0.0),
        }
    }

    /// $(a^b)\' = b\\,a^{b-1} a\' + a^b \ln(a)\\, b\'$.
    fn power_derivative(&mut self, (a, da): (Id, Id), (b, db): (Id, Id), id: Id) -> Id {
        let one = self.constant(1.0);
        let lower = self.binary(Binary::Subtract, b, one);
        let power = self.binary(Binary::Power, a, lower);
        let scaled = self.binary(Binary::Multiply, b, power);
        let by_base = self.binary(Binary::Multiply, scaled, da);
        if self.as_constant(db) == Some(0.0) {
            return by_base;
        }
        let logarithm = self.unary(Unary::Log, a);
        let grown = self.binary(Binary::Multiply, id, logarithm);
        let by_exponent = self.binary(Binary::Multiply, grown, db);
        self.binary(Binary::Add, by_base, by_exponent)
    }
}
