//! Kaufman & Pai, "Geometric numerical integration of inequality constrained, nonsmooth Hamiltonian
//! systems" \[KP\]: what tests share. Its figures are problem files.

pub mod systems;
