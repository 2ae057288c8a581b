//! An allocator that counts what the current thread takes from the heap.
#![allow(unsafe_code)] // `GlobalAlloc` cannot be implemented without.

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

struct Counting;

thread_local! {
    // Of this thread alone: the test harness allocates on its own.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: hands every call on to the heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

/// Allocations of this thread so far.
pub(crate) fn allocations() -> usize {
    COUNT.with(Cell::get)
}
