//! The system's allocator, which says why there is no memory before the process ends.
//!
//! The standard library aborts a process whose allocation fails, with a line that names no limit. A
//! worker may end so: its run explains it. The run itself has nobody who would.

#![allow(unsafe_code)] // The trait of allocators is unsafe.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Memory that is given up to have some for the report, in bytes.
const RESERVE: usize = 256 << 10;

static REPORT: OnceLock<fn(usize)> = OnceLock::new();
static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The allocator of a program; see [`report_no_memory`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportingAllocator;

/// From now on `report` is called with the bytes of an allocation that fails. It ends the process;
/// where it returns, the allocation fails as usual.
pub fn report_no_memory(report: fn(usize)) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Vec::with_capacity(RESERVE);
    let _ = REPORT.set(report);
}

/// What was allocated, after the report if that is nothing.
fn checked(allocated: *mut u8, bytes: usize) -> *mut u8 {
    if allocated.is_null() {
        no_memory(bytes);
    }
    allocated
}

#[cold]
fn no_memory(bytes: usize) {
    static REPORTING: AtomicBool = AtomicBool::new(false);
    // The report itself may find no memory: then the standard library's line is all.
    if let Some(report) = REPORT.get().filter(|_| !REPORTING.swap(true, Ordering::Relaxed)) {
        // Nobody waits for a lock here, in whose scope memory may be had.
        if let Ok(mut kept) = KEPT.try_lock() {
            *kept = Vec::new();
        }
        report(bytes);
        REPORTING.store(false, Ordering::Relaxed);
    }
}

// SAFETY: each call goes to the system's allocator as it is, and its result comes back as it is.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the trait's contract, which is the same there.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above; `old` came from the same allocator.
        checked(unsafe { System.realloc(old, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above; `old` came from the same allocator.
        unsafe { System.dealloc(old, layout) }
    }
}
