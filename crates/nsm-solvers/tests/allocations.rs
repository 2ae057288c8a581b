//! No solver allocates once its workspace is built.
#![allow(unsafe_code)] // A counting allocator must implement the unsafe trait GlobalAlloc.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{normal, rng};
use nsm_solvers::dense::{DenseCholesky, DenseLu};
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::roots::{Bracket, RootOptions, chandrupatla};
use nsm_solvers::small::{gram::PivotedCholesky, qr::PivotedQr};
use nsm_solvers::{LinearSystem, Method, Structure};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: forwards to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs twice, and asserts that the second run did not allocate.
fn assert_no_allocation(what: &str, mut run: impl FnMut()) {
    run();
    let before = COUNT.with(Cell::get);
    run();
    let count = COUNT.with(Cell::get) - before;
    assert_eq!(count, 0, "{what} allocated {count} times");
}

#[test]
fn the_counter_counts() {
    let before = COUNT.with(Cell::get);
    std::hint::black_box(vec![1.0; 10]);
    assert!(COUNT.with(Cell::get) > before);
}

#[test]
fn dense_factorisations() {
    let mut rng = rng(1);
    for n in [3, 32, 33, 100] {
        let mut a = normal(&mut rng, n * n);
        (0..n).for_each(|i| a[i * n + i] += 50.0 * n as f64);
        let b = normal(&mut rng, n);
        let mut x = b.clone();
        let (mut lu, mut cholesky) = (DenseLu::new(n), DenseCholesky::new(n));
        assert_no_allocation("DenseLu", || {
            lu.factor(&a).unwrap();
            lu.solve_in_place(&mut x).unwrap();
            lu.solve_transposed_in_place(&mut x).unwrap();
            lu.rcond(1.0).unwrap();
        });
        assert_no_allocation("DenseCholesky", || {
            cholesky.factor(&a).unwrap();
            cholesky.solve_in_place(&mut x).unwrap();
        });
        let mut gram = PivotedCholesky::new(n);
        assert_no_allocation("PivotedCholesky", || {
            let ones = &a[..1];
            gram.factor(1, ones, 1e-12).unwrap();
            gram.solve_minimum_norm(&b[..1], &mut x[..1]).unwrap();
        });
        let mut qr = PivotedQr::new(n, n);
        let (rows, mut lambda) = (n.min(5), [0.0; 5]);
        assert_no_allocation("PivotedQr", || {
            qr.factor(rows, n, &a[..rows * n], 1e-12).unwrap();
            qr.least_squares_minimum_norm(&b, &mut lambda[..rows]).unwrap();
            qr.solve_minimum_norm(&b[..rows], &mut x).unwrap();
        });
    }
}

#[test]
fn linear_systems() {
    let mut rng = rng(2);
    for n in [3, 20, 200] {
        let entries: Vec<(usize, usize)> =
            (0..n).map(|i| (i, i)).chain((1..n).map(|i| (i, i - 1))).collect();
        let values: Vec<f64> = (0..entries.len()).map(|e| if e < n { 4.0 } else { 1.0 }).collect();
        let b = normal(&mut rng, n);
        let signs = vec![1; n];
        let mut x = vec![0.0; n];
        for method in [Method::Dense, Method::Banded, Method::Sparse] {
            for structure in
                [Structure::General, Structure::PositiveDefinite, Structure::SaddlePoint(&signs)]
            {
                let mut system = LinearSystem::with_method(n, &entries, structure, method).unwrap();
                assert_no_allocation(&format!("{method:?} {structure:?}"), || {
                    system.factorise(&values).unwrap();
                    system.solve_refined(&b, &mut x, 3).unwrap();
                    system.rcond().unwrap();
                });
            }
        }
    }
}

#[test]
fn roots() {
    assert_no_allocation("roots", || {
        let bracket = Bracket::evaluate(f64::cos, 1.0, 2.0).unwrap();
        chandrupatla(f64::cos, bracket, &RootOptions::default()).unwrap();
    });
}

/// Beads on a line, each above the one before.
struct Beads {
    n: usize,
}

impl Beads {
    fn gradients(&self) -> Vec<(usize, usize)> {
        (0..self.n).flat_map(|i| [(i, i), (i, i.saturating_sub(1))]).skip(1).collect()
    }

    fn values(&self, out: &mut [f64]) {
        for (v, (i, k)) in
            out.iter_mut().zip((0..self.n).flat_map(|i| [(i, i), (i, i.saturating_sub(1))]).skip(1))
        {
            *v = if i == k { 1.0 } else { -1.0 };
        }
    }
}

#[test]
fn saddle_points() {
    for n in [1, 3, 100] {
        let beads = Beads { n };
        let gradients = beads.gradients();
        let mut g = vec![0.0; gradients.len()];
        beads.values(&mut g);
        let pattern = KktPattern {
            unknowns: n,
            rows: n,
            block: &[],
            gradients: &gradients,
            symmetric: false,
        };
        let (f, b) = (vec![1.0; n], vec![0.5; n]);
        let (mut x, mut lambda) = (vec![0.0; n], vec![0.0; n]);
        for path in [KktPath::Schur, KktPath::Full] {
            let mut kkt = Kkt::with_path(&pattern, path).unwrap();
            assert_no_allocation(&format!("{path:?}"), || {
                kkt.set_block(&f).unwrap();
                kkt.factorise(&g, &g, &[]).unwrap();
                kkt.solve_refined(&f, &b, &mut x, &mut lambda, 2).unwrap();
            });
            // A row without gradient is redundant, and found without allocation the second time.
            let mut zero = g.clone();
            zero[0] = 0.0;
            if n > 1 {
                zero[1] = 0.0;
            }
            assert_no_allocation(&format!("redundant {path:?}"), || {
                kkt.factorise(&g, &zero, &[]).ok();
                kkt.solve(&f, &b, &mut x, &mut lambda).ok();
            });
        }
    }
}

#[test]
fn condensed_saddle_points() {
    for (symmetric, massless) in [(true, false), (false, false), (false, true)] {
        for nodes in [3, 9, 40] {
            let beam =
                common::beam::Beam::new(&mut common::rng(7), nodes, &[1], symmetric, massless);
            let mut kkt = Kkt::with_path(&beam.pattern(), KktPath::Condensed).unwrap();
            assert_eq!(kkt.path(), KktPath::Condensed, "{nodes} nodes");
            let (f, b) = (vec![1.0; beam.n], vec![0.5; beam.m]);
            let (mut x, mut lambda) = (vec![0.0; beam.n], vec![0.0; beam.m]);
            assert_no_allocation(&format!("{nodes} nodes"), || {
                kkt.set_block(&beam.a).unwrap();
                kkt.factorise(&beam.g, &beam.g_lower, &[]).unwrap();
                kkt.solve_refined(&f, &b, &mut x, &mut lambda, 2).unwrap();
            });
        }
    }
}
