//! The system's allocator, which says why there is no memory before the process ends.
//!
//! The standard library aborts a process whose allocation fails, with a line that names no limit. A
//! worker may end so: its run explains it. The run itself has nobody who would.

#![allow(unsafe_code)] // The trait of allocators is unsafe.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use proofmark_model::lock;
use rustix::process::{Resource, getrlimit};

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
    *lock(&KEPT) = Vec::with_capacity(RESERVE);
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
    match REPORT.get().filter(|_| !REPORTING.swap(true, Ordering::Relaxed)) {
        Some(report) => {
            // Nobody waits for a lock here, in whose scope memory may be had.
            if let Ok(mut kept) = KEPT.try_lock() {
                *kept = Vec::new();
            }
            report(bytes);
            REPORTING.store(false, Ordering::Relaxed);
        }
        // A worker, a program that has just started, or a report that finds no memory itself.
        None => end_without_memory(bytes),
    }
}

/// Ends the process with a line that takes no memory to make, if a limit of this process is the cause.
fn end_without_memory(bytes: usize) {
    let limits = [(Resource::As, "RLIMIT_AS"), (Resource::Data, "RLIMIT_DATA")];
    let set = limits.into_iter().find_map(|(limit, name)| Some((getrlimit(limit).current?, name)));
    let Some((limit, name)) = set else { return };
    let mut line = [0; 200];
    let mut rest = &mut line[..];
    let _ = writeln!(
        rest,
        "proofmark: memory allocation of {bytes} bytes failed: caused by the limit of {limit} bytes \
         ({name}); raise it"
    );
    let left = rest.len();
    let said = &line[..line.len() - left];
    // SAFETY: writes bytes that are there to a descriptor that may be closed; then ends the process
    // at once: nothing of it runs any more.
    unsafe {
        libc::write(libc::STDERR_FILENO, said.as_ptr().cast(), said.len());
        libc::_exit(1)
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
