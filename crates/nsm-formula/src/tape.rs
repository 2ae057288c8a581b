//! A compiled list of operations: evaluates several expressions of one graph at once.

use std::cell::RefCell;

use super::foreign::Call;
use super::graph::{Binary, Graph, Id, Node, Unary};

/// An operation on registers; the commonest have a place of their own, so that one branch decides.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize),
    Add(usize, usize),
    Subtract(usize, usize),
    Multiply(usize, usize),
    Square(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Foreign(usize),
}

/// Operations in order, each writing the register of its position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    /// Registers that never change, in front.
    constants: Vec<f64>,
    steps: Vec<Step>,
    outputs: Vec<usize>,
    /// Calls of foreign functions, with registers as arguments.
    calls: Vec<Call>,
}

thread_local! {
    /// Registers, grown once per thread: evaluation does not allocate after that.
    static REGISTERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl Tape {
    pub(crate) fn compile(graph: &Graph, outputs: &[Id]) -> Self {
        let order = graph.reachable(outputs);
        let mut register = vec![usize::MAX; order.last().map_or(0, |last| last + 1)];
        let mut constants = Vec::new();
        for &id in &order {
            if let Some(value) = graph.as_constant(id) {
                register[id] = constants.len();
                constants.push(value);
            }
        }
        let (mut steps, mut calls) = (Vec::new(), Vec::new());
        for &id in &order {
            let step = match graph.node(id) {
                Node::Constant(_) => continue,
                Node::Variable(slot) => Step::Load(slot),
                Node::Unary(Unary::Integer(2), a) => Step::Square(register[a]),
                Node::Unary(f, a) => Step::Unary(f, register[a]),
                Node::Binary(Binary::Add, a, b) => Step::Add(register[a], register[b]),
                Node::Binary(Binary::Subtract, a, b) => Step::Subtract(register[a], register[b]),
                Node::Binary(Binary::Multiply, a, b) => Step::Multiply(register[a], register[b]),
                Node::Binary(f, a, b) => Step::Binary(f, register[a], register[b]),
                Node::Foreign(place) => {
                    let call = graph.call_of(place);
                    let arguments = call.arguments.iter().map(|&id| register[id]).collect();
                    calls.push(Call { arguments, ..call.clone() });
                    Step::Foreign(calls.len() - 1)
                }
            };
            register[id] = constants.len() + steps.len();
            steps.push(step);
        }
        Self { constants, steps, outputs: outputs.iter().map(|&id| register[id]).collect(), calls }
    }

    /// Evaluates all outputs; `input` gives the value of a slot.
    pub(crate) fn evaluate(
        &self,
        input: impl Fn(usize) -> f64,
        mut output: impl FnMut(usize, f64),
    ) {
        if self.calls.is_empty() {
            REGISTERS.with_borrow_mut(|registers| self.run(registers, input, &mut output));
        } else {
            // A foreign function may evaluate formulas itself.
            let mut registers = REGISTERS.take();
            self.run(&mut registers, input, &mut output);
            REGISTERS.set(registers);
        }
    }

    #[inline]
    fn run(
        &self,
        registers: &mut Vec<f64>,
        input: impl Fn(usize) -> f64,
        output: &mut impl FnMut(usize, f64),
    ) {
        let first = self.constants.len();
        if registers.len() < first + self.steps.len() {
            registers.resize(first + self.steps.len(), 0.0);
        }
        let registers = &mut registers[..first + self.steps.len()];
        registers[..first].copy_from_slice(&self.constants);
        for (i, step) in self.steps.iter().enumerate() {
            registers[first + i] = match *step {
                Step::Load(slot) => input(slot),
                Step::Add(a, b) => registers[a] + registers[b],
                Step::Subtract(a, b) => registers[a] - registers[b],
                Step::Multiply(a, b) => registers[a] * registers[b],
                Step::Square(a) => registers[a] * registers[a],
                Step::Unary(f, a) => f.apply(registers[a]),
                Step::Binary(f, a, b) => f.apply(registers[a], registers[b]),
                Step::Foreign(place) => {
                    let Call { function, arguments, by } = &self.calls[place];
                    let arguments: Vec<f64> = arguments.iter().map(|&a| registers[a]).collect();
                    function.partial(&arguments, by)
                }
            };
        }
        for (i, &register) in self.outputs.iter().enumerate() {
            output(i, registers[register]);
        }
    }

    /// Evaluates the first output.
    pub(crate) fn value(&self, input: impl Fn(usize) -> f64) -> f64 {
        let mut result = f64::NAN;
        self.evaluate(input, |i, value| {
            if i == 0 {
                result = value;
            }
        });
        result
    }
}
