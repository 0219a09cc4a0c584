//! Memory for everything that is small, and what happens when the system has none left.
//!
//! Invariant: an allocation that cannot fail in the language ends the program with the words that it has chosen,
//! not with a signal; one that can fail, under
//! [`can_fail`], returns its error. The hook is called where nothing
//! can be allocated, by any thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Whether this thread can go on without the memory that it asks for.
    static CAN_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, for a program that wants to say so when there is no more memory.
///
/// ```
/// use tilewave::store::Allocator;
///
/// #[global_allocator]
/// static ALLOCATOR: Allocator = Allocator::new(|_bytes| std::process::exit(1));
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Allocator {
    exhausted: fn(usize) -> !,
}

impl Allocator {
    /// Returns an allocator that calls `exhausted` with the bytes that could not be had. It must not allocate.
    pub const fn new(exhausted: fn(usize) -> !) -> Allocator {
        Allocator { exhausted }
    }

    fn given(&self, memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() && !CAN_FAIL.get() {
            (self.exhausted)(bytes);
        }
        memory
    }
}

// SAFETY: every call goes to the system's allocator as it came, and what that returns is returned; the hook in
// between is called instead of returning null, and never returns.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of this function, which are the same.
        self.given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Calls what takes memory that it can do without.
pub(super) fn can_fail<T>(take: impl FnOnce() -> T) -> T {
    CAN_FAIL.set(true);
    let taken = take();
    CAN_FAIL.set(false);
    taken
}
