//! Variational integrators: generalized variational integrators with inequality and equality
//! constraints on $\mathbb R^n$, and Lie group variational collision integrators on $SE(3)$.
