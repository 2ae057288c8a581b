//! Repeated solves allocate nothing: counted, method by method.
#![allow(unsafe_code)] // a counting allocator cannot be written without it

#[path = "common/families.rs"]
mod families;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use families::{chain, pile, psd, rng, spd, stack};
use nsm_solvers::lcp::{LcpWorkspace, Matrix, Method, MixedWorkspace};
use nsm_solvers::least_squares::{
    BoundedGram, FactoredNnls, Factors, GramNnls, TridiagonalNnls, Weight,
};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: forwards to the system allocator; the counter is a plain thread-local cell.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of the second call of `f`.
fn allocations(mut f: impl FnMut()) -> usize {
    f();
    let before = COUNT.with(Cell::get);
    f();
    COUNT.with(Cell::get) - before
}

#[test]
fn every_method_by_name() {
    for n in [6, 40] {
        let p = spd(n, 1);
        let matrix = Matrix::dense(n, &p.m).unwrap();
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        for method in Method::ALL {
            if method == Method::ChainSweep || (method == Method::Enumeration && n > 14) {
                continue;
            }
            let mut workspace = LcpWorkspace::new(n);
            let count = allocations(|| {
                let _ = workspace.solve_with(method, matrix, &p.q, &mut z, &mut w).unwrap();
            });
            assert_eq!(count, 0, "{method}, n = {n}");
        }
    }
}

#[test]
fn default_strategy_on_every_family() {
    for contacts in [chain(200, 1), stack(48, 1), stack(200, 1), pile(200, 1)] {
        let p = contacts.dense();
        let n = p.n;
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], vec![], vec![]);
        for j in 0..n {
            for i in 0..n {
                if p.m[j * n + i] != 0.0 {
                    row_idx.push(i);
                    values.push(p.m[j * n + i]);
                }
            }
            col_ptr.push(values.len());
        }
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        for matrix in [
            Matrix::dense(n, &p.m).unwrap(),
            Matrix::sparse(n, &col_ptr, &row_idx, &values).unwrap(),
        ] {
            let mut workspace = LcpWorkspace::new(n);
            let count = allocations(|| {
                let _ = workspace.solve(matrix, &p.q, &mut z, &mut w).unwrap();
            });
            assert_eq!(count, 0, "n = {n}");
        }
    }
}

#[test]
fn failures_too() {
    let m = [1.0, -1.0, -1.0, 1.0];
    let matrix = Matrix::dense(2, &m).unwrap();
    let mut workspace = LcpWorkspace::new(2);
    let count = allocations(|| {
        workspace.solve(matrix, &[-1.0, 0.5], &mut [0.0; 2], &mut [0.0; 2]).unwrap_err();
    });
    assert_eq!(count, 0);
}

#[test]
fn least_squares_kernels() {
    let mut rng = rng(3);
    let p = psd(12, 9, &mut rng);
    let mut gram = GramNnls::new(12);
    let mut x = vec![0.0; 12];
    // The kernels are ready at once: no first call.
    let before = COUNT.with(Cell::get);
    let _ = gram.solve(&p.m, &p.q, &mut x).unwrap();
    assert_eq!(COUNT.with(Cell::get) - before, 0);

    let mut tridiagonal = TridiagonalNnls::new(3);
    let mut bounded = BoundedGram::new(12);
    let (lower, upper) = (vec![0.0; 12], vec![0.5; 12]);
    let before = COUNT.with(Cell::get);
    let _ = tridiagonal.solve(&[2.0; 3], &[-1.0; 2], &[-1.0; 3], &mut [0.0; 3]).unwrap();
    let _ = bounded.solve(&p.m, &p.q, &lower, &upper, &mut x).unwrap();
    assert_eq!(COUNT.with(Cell::get) - before, 0);
}

#[test]
fn factored_and_mixed() {
    for c in [chain(100, 1), stack(24, 1), stack(100, 1)] {
        let weight = Weight::Diagonal(&c.inverse_mass);
        let f =
            Factors::new(&c.row_start, &c.columns, &c.values, c.velocity.len(), weight).unwrap();
        let mut solver = FactoredNnls::new();
        let mut lambda = vec![0.0; c.n()];
        let count = allocations(|| {
            lambda.fill(0.0);
            let _ = solver.solve(&f, &c.q, &mut lambda).unwrap();
        });
        assert_eq!(count, 0, "n = {}", c.n());
    }
    let p = spd(20, 2);
    let equation: Vec<bool> = (0..20).map(|i| i < 5).collect();
    let mut workspace = MixedWorkspace::new(20, 5);
    let (mut z, mut w) = (vec![0.0; 20], vec![0.0; 20]);
    let matrix = Matrix::dense(20, &p.m).unwrap();
    let count = allocations(|| {
        let _ = workspace.solve(matrix, &p.q, &equation, &mut z, &mut w).unwrap();
    });
    assert_eq!(count, 0);
}
