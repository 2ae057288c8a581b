//! Formulas that are sums of products of affine forms: rods, springs of a free length, quadratic potentials.
//!
//! $$ \varphi = \sum_k c_k\\,a_k(q)\\,b_k(q) + l(q), \qquad \nabla\varphi = \sum_k c_k\\,(b_k \nabla a_k + a_k \nabla b_k) + \nabla l , $$
//! with affine $a_k$, $b_k$ and $l$. They are kept as they are written, $(x - y)^2$ not expanded, so that no digit is lost, and cost a few products where a list of
//! operations costs a branch for each.

use super::graph::{Binary, Graph, Id, Node, Unary};

/// More products or coefficients than this stay a list of operations.
const MANY: usize = 64;

/// An affine form: slots or places of coordinates with their coefficients, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Line {
    terms: Vec<(usize, f64)>,
    constant: f64,
}

impl Line {
    fn add(&mut self, other: &Self, factor: f64) {
        self.constant += factor * other.constant;
        for &(slot, a) in &other.terms {
            match self.terms.iter_mut().find(|t| t.0 == slot) {
                Some(term) => term.1 += factor * a,
                None => self.terms.push((slot, factor * a)),
            }
        }
    }

    fn scale(&mut self, factor: f64) {
        self.constant *= factor;
        self.terms.iter_mut().for_each(|t| t.1 *= factor);
    }

    #[inline]
    fn value(&self, q: &[f64]) -> f64 {
        let mut sum = self.constant;
        for &(slot, a) in &self.terms {
            sum += a * q[slot];
        }
        sum
    }

    fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.terms.iter().all(|t| t.1.is_finite())
    }
}

/// $c\\,a\\,b$; without $b$, $c\\,a^2$.
#[derive(Clone, Debug)]
struct Product {
    factor: f64,
    a: Line,
    b: Option<Line>,
}

/// The sum.
#[derive(Clone, Debug)]
pub(crate) struct Quadratic {
    products: Vec<Product>,
    /// $l$ is this factor times this form: $k(x + 1)$ is not $kx + k$ in the last digit.
    factor: f64,
    line: Line,
    /// Place of every slot in the block of coordinates.
    places: Vec<usize>,
}

impl Quadratic {
    /// The formula as such a sum, if it is one of the slots in `coordinates`.
    pub(crate) fn of(graph: &Graph, root: Id, coordinates: &[usize]) -> Option<Self> {
        let order = graph.reachable(&[root]);
        let mut forms: Vec<Option<Self>> = vec![None; root + 1];
        for id in order {
            forms[id] = Self::node(graph, id, &forms);
            // One operation that fits nowhere spoils all above it.
            forms[id].as_ref()?;
        }
        let mut form = forms[root].take()?;
        let last = coordinates.last().map_or(0, |c| c + 1);
        form.places = vec![usize::MAX; last];
        for (place, &c) in coordinates.iter().enumerate() {
            form.places[c] = place;
        }
        let lines = form.products.iter().flat_map(|p| std::iter::once(&p.a).chain(&p.b));
        let known = |l: &Line| {
            l.is_finite() && l.terms.iter().all(|t| form.places.get(t.0).is_some_and(|&p| p < last))
        };
        let finite = form.factor.is_finite() && form.products.iter().all(|p| p.factor.is_finite());
        (finite && lines.chain([&form.line]).all(known)).then_some(form)
    }

    fn node(graph: &Graph, id: Id, forms: &[Option<Self>]) -> Option<Self> {
        let form = |id: Id| forms[id].clone();
        let mut result = match graph.node(id) {
            Node::Constant(bits) => {
                Self::affine(Line { terms: vec![], constant: f64::from_bits(bits) })
            }
            Node::Variable(slot) => Self::affine(Line { terms: vec![(slot, 1.0)], constant: 0.0 }),
            Node::Unary(Unary::Negate, a) => form(a)?.scaled(-1.0),
            Node::Unary(Unary::Integer(2), a) => Self::product(form(a)?, None)?,
            Node::Binary(Binary::Add, a, b) => form(a)?.plus(form(b)?),
            Node::Binary(Binary::Subtract, a, b) => form(a)?.plus(form(b)?.scaled(-1.0)),
            Node::Binary(Binary::Divide, a, b) => form(a)?.scaled(1.0 / graph.as_constant(b)?),
            Node::Binary(Binary::Multiply, a, b) => {
                match (graph.as_constant(a), graph.as_constant(b)) {
                    (Some(factor), _) => form(b)?.scaled(factor),
                    (_, Some(factor)) => form(a)?.scaled(factor),
                    _ => Self::product(form(a)?, Some(form(b)?))?,
                }
            }
            _ => return None,
        };
        result.line.terms.retain(|t| t.1 != 0.0);
        (result.products.len() <= MANY && result.line.terms.len() <= MANY).then_some(result)
    }

    fn affine(line: Line) -> Self {
        Self { products: Vec::new(), factor: 1.0, line, places: Vec::new() }
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.factor *= factor;
        self.products.iter_mut().for_each(|p| p.factor *= factor);
        self
    }

    fn plus(mut self, other: Self) -> Self {
        self.line.scale(self.factor);
        self.factor = 1.0;
        self.line.add(&other.line, other.factor);
        self.products.extend(other.products);
        self
    }

    /// $a\\,b$ of two affine forms, or $a^2$.
    fn product(a: Self, b: Option<Self>) -> Option<Self> {
        if !a.products.is_empty() || b.as_ref().is_some_and(|b| !b.products.is_empty()) {
            return None;
        }
        let factor = a.factor * b.as_ref().map_or(a.factor, |b| b.factor);
        let b = b.map(|b| b.line).filter(|b| *b != a.line);
        let product = Product { factor, a: a.line, b };
        Some(Self { products: vec![product], ..Self::affine(Line::default()) })
    }

    /// The value at all coordinates `q`.
    #[inline]
    pub(crate) fn value(&self, q: &[f64]) -> f64 {
        let mut sum = 0.0;
        for Product { factor, a, b } in &self.products {
            let a = a.value(q);
            sum += factor * (a * b.as_ref().map_or(a, |b| b.value(q)));
        }
        sum + self.factor * self.line.value(q)
    }

    /// Writes the gradient on the block.
    #[inline]
    pub(crate) fn gradient(&self, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut add = |line: &Line, factor: f64| {
            for &(slot, a) in &line.terms {
                out[self.places[slot]] += factor * a;
            }
        };
        for Product { factor, a, b } in &self.products {
            match b {
                None => add(a, 2.0 * factor * a.value(q)),
                Some(b) => {
                    add(a, factor * b.value(q));
                    add(b, factor * a.value(q));
                }
            }
        }
        add(&self.line, self.factor);
    }

    /// Whether there is a product, and the Hessian does not vanish.
    pub(crate) fn is_curved(&self) -> bool {
        !self.products.is_empty()
    }
}
