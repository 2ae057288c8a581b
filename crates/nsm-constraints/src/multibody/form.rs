//! Points and directions that move with a node, as affine functions of the coordinates.
//!
//! With constant components $X_I$ a point of a node is $x = \varphi + X_I d_I$ (\[LMO\] (54)) and a direction $n = N_I d_I$
//! (\[LMO\] (62)): linear in $q$. Products of two of them are the quadratic rows of the joints.

use crate::{ConstraintError, Quadratic};

/// An affine function $c + b \cdot q$.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    pub(super) constant: f64,
    pub(super) terms: Vec<(usize, f64)>,
}

/// Three of them: a point or a direction.
pub(super) type VectorForm = [Form; 3];

/// A direction at rest.
pub(super) fn constant(x: [f64; 3]) -> VectorForm {
    x.map(|constant| Form { constant, terms: Vec::new() })
}

/// The point $\varphi + X_I d_I$ of the node whose coordinates begin at `start`.
pub(super) fn point(start: usize, x: [f64; 3]) -> VectorForm {
    let mut form = direction(start, x);
    for (k, component) in form.iter_mut().enumerate() {
        component.terms.push((start + k, 1.0));
    }
    form
}

/// The direction $N_I d_I$ of the node whose coordinates begin at `start`.
pub(super) fn direction(start: usize, n: [f64; 3]) -> VectorForm {
    std::array::from_fn(|k| Form {
        constant: 0.0,
        terms: (0..3).filter(|&i| n[i] != 0.0).map(|i| (start + 3 + 3 * i + k, n[i])).collect(),
    })
}

/// $a - b$.
pub(super) fn difference(a: &VectorForm, b: &VectorForm) -> VectorForm {
    std::array::from_fn(|k| {
        let minus = b[k].terms.iter().map(|&(c, x)| (c, -x));
        Form {
            constant: a[k].constant - b[k].constant,
            terms: a[k].terms.iter().copied().chain(minus).collect(),
        }
    })
}

/// One component as a field.
pub(super) fn component(a: &Form) -> Result<Quadratic, ConstraintError> {
    Quadratic::new(a.constant, &a.terms, &[])
}

/// $a \cdot b$ as a field.
pub(super) fn product(a: &VectorForm, b: &VectorForm) -> Result<Quadratic, ConstraintError> {
    let (mut constant, mut linear, mut products) = (0.0, Vec::new(), Vec::new());
    for (a, b) in a.iter().zip(b) {
        constant += a.constant * b.constant;
        linear.extend(a.terms.iter().map(|&(c, x)| (c, x * b.constant)));
        linear.extend(b.terms.iter().map(|&(c, x)| (c, x * a.constant)));
        for &(i, x) in &a.terms {
            products.extend(b.terms.iter().map(|&(j, y)| (i, j, x * y)));
        }
    }
    Quadratic::new(constant, &linear, &products)
}
