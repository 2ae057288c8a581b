//! A smooth scalar function of a few coordinates and of time.
//!
//! Potentials, equality constraints $f(q, t) = 0$ and inequality constraints $g(q, t) \ge 0$ are the
//! same mathematical object, and every integrator needs the same things of it: its value, its
//! gradient and its Hessian, on the few coordinates that it depends on (its *block*). Rheonomic
//! functions add the derivatives by time.
//!
//! Two ways to provide one: implement [`Field`] by hand, or write the value once as an
//! [`Expr`](crate::Expr) and let [`AutoDiff`](crate::AutoDiff) derive the rest exactly.

use std::sync::Arc;

use crate::Affine;

/// A smooth scalar function $\varphi(q, t)$ of the coordinates listed in its block.
///
/// All methods receive the *whole* coordinate vector and pick their own entries from it; derivatives
/// are written in the order of [`coordinates`](Field::coordinates). `q` is at least as long as the
/// largest coordinate; whoever assembles fields checks that once ([`Rows::push`](crate::Rows::push)).
pub trait Field: Send + Sync {
    /// The block: the coordinates on which the function depends, without repetition.
    fn coordinates(&self) -> &[usize];

    /// $\varphi(q, t)$.
    fn value(&self, q: &[f64], t: f64) -> f64;

    /// Writes $\partial \varphi / \partial q$ on the block.
    fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]);

    /// Adds $w\\,\partial^2 \varphi / \partial q^2$ on the block to `out`, row by row ($k \times k$).
    ///
    /// Never called when [`is_affine`](Field::is_affine) says so.
    fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]);

    /// $v^\top (\partial^2 \varphi / \partial q^2)\\,v$; `scratch` holds the square of the block.
    fn bend(&self, q: &[f64], t: f64, v: &[f64], scratch: &mut [f64]) -> f64 {
        scratch.fill(0.0);
        self.hessian(q, t, 1.0, scratch);
        let columns = self.coordinates();
        let mut sum = 0.0;
        for (row, &a) in scratch.chunks_exact(columns.len().max(1)).zip(columns) {
            sum += v[a] * row.iter().zip(columns).map(|(h, &b)| h * v[b]).sum::<f64>();
        }
        sum
    }

    /// Writes a discrete gradient of the field's own over the chord from `start` to `end` at the instant $t$, and says so.
    ///
    /// A discrete gradient $\bar\nabla\varphi(q_0, q_1)$ does the work $\bar\nabla\varphi\cdot(q_1 - q_0) = \varphi(q_1) - \varphi(q_0)$ exactly and tends to the
    /// gradient as the chord shrinks. The general one of \[Gonzalez 1996\] does not see the symmetries of the field; a field that
    /// knows one which does, so that momenta are conserved with the energy, gives it here.
    fn mean_gradient(&self, _start: &[f64], _end: &[f64], _t: f64, _out: &mut [f64]) -> bool {
        false
    }

    /// Adds $w\\,\partial\bar\nabla\varphi/\partial q_1$ of [`mean_gradient`](Field::mean_gradient) to `out`, row by row, and says so.
    ///
    /// The matrix need not be symmetric.
    fn mean_hessian(
        &self,
        _start: &[f64],
        _end: &[f64],
        _t: f64,
        _w: f64,
        _out: &mut [f64],
    ) -> bool {
        false
    }

    /// Whether the gradient is the same everywhere: it may then be evaluated anywhere, and the Hessian is left out of every
    /// pattern. A function with a kink, such as $|x|$, is not affine although its Hessian vanishes beside the kink.
    fn is_affine(&self) -> bool {
        false
    }

    /// Whether the Hessian is the same everywhere. The gradient in the middle of a chord then is a discrete gradient, which keeps all symmetries, and the function
    /// needs no [`mean_gradient`](Field::mean_gradient) of its own.
    fn is_quadratic(&self) -> bool {
        self.is_affine()
    }

    /// The same function as an [`Affine`], if it is one and does not depend on time; bundles evaluate such rows together.
    fn affine(&self) -> Option<Affine> {
        None
    }

    /// What the row is over a step from `start` to `q`: its value there, unless it is one on velocities.
    ///
    /// A nonholonomic row $A(q)\\,v = 0$ is no function of a configuration that is to be zero, and its [`value`](Field::value) is zero everywhere. Over the chord of
    /// a step it is: $g(q_0, q) = A\big(\tfrac12(q_0 + q)\big)\\,(q - q_0)$, with the discrete gradient $\bar\nabla g = A(\tfrac12(q_0 + q))$, and that is the discrete
    /// Lagrange–d'Alembert principle \[Cortés & Martínez 2001\]: methods that hold $g(q_0, q_1) = 0$ by forces along $\bar\nabla g$ do no work, and those that take the
    /// forces along $A(q_0)$ and $A(q_1)$ are reversible.
    fn value_over(&self, _start: &[f64], q: &[f64], t: f64) -> f64 {
        self.value(q, t)
    }

    /// Whether the row is one on velocities: a row on positions only [over a step](Field::value_over), and gradients are $A(q)$.
    fn is_nonholonomic(&self) -> bool {
        false
    }

    /// Whether the function depends on time explicitly.
    fn is_rheonomic(&self) -> bool {
        false
    }

    /// $\partial \varphi / \partial t$.
    fn rate(&self, _q: &[f64], _t: f64) -> f64 {
        0.0
    }

    /// Writes $\partial^2 \varphi / \partial q\\,\partial t$ on the block.
    fn rate_gradient(&self, _q: &[f64], _t: f64, out: &mut [f64]) {
        out.fill(0.0);
    }

    /// $\partial^2 \varphi / \partial t^2$.
    fn second_rate(&self, _q: &[f64], _t: f64) -> f64 {
        0.0
    }
}

/// A field behind a pointer is the same field.
macro_rules! behind_a_pointer {
    ($($pointer:ident),*) => {$(
        impl<F: Field + ?Sized> Field for $pointer<F> {
            fn coordinates(&self) -> &[usize] {
                (**self).coordinates()
            }
            fn value(&self, q: &[f64], t: f64) -> f64 {
                (**self).value(q, t)
            }
            fn gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
                (**self).gradient(q, t, out);
            }
            fn hessian(&self, q: &[f64], t: f64, w: f64, out: &mut [f64]) {
                (**self).hessian(q, t, w, out);
            }
            fn bend(&self, q: &[f64], t: f64, v: &[f64], scratch: &mut [f64]) -> f64 {
                (**self).bend(q, t, v, scratch)
            }
            fn mean_gradient(&self, start: &[f64], end: &[f64], t: f64, out: &mut [f64]) -> bool {
                (**self).mean_gradient(start, end, t, out)
            }
            fn mean_hessian(&self, start: &[f64], end: &[f64], t: f64, w: f64, out: &mut [f64]) -> bool {
                (**self).mean_hessian(start, end, t, w, out)
            }
            fn is_affine(&self) -> bool {
                (**self).is_affine()
            }
            fn is_quadratic(&self) -> bool {
                (**self).is_quadratic()
            }
            fn affine(&self) -> Option<Affine> {
                (**self).affine()
            }
            fn value_over(&self, start: &[f64], q: &[f64], t: f64) -> f64 {
                (**self).value_over(start, q, t)
            }
            fn is_nonholonomic(&self) -> bool {
                (**self).is_nonholonomic()
            }
            fn is_rheonomic(&self) -> bool {
                (**self).is_rheonomic()
            }
            fn rate(&self, q: &[f64], t: f64) -> f64 {
                (**self).rate(q, t)
            }
            fn rate_gradient(&self, q: &[f64], t: f64, out: &mut [f64]) {
                (**self).rate_gradient(q, t, out);
            }
            fn second_rate(&self, q: &[f64], t: f64) -> f64 {
                (**self).second_rate(q, t)
            }
        }
    )*};
}

behind_a_pointer!(Box, Arc);
