//! The system's allocator, which reports a failed allocation before the process ends.
//!
//! The standard library aborts such a process with a line that names no limit. If a worker ends so,
//! its run explains it. No other process would explain the end of the run itself.

#![allow(unsafe_code)] // The trait of allocators is unsafe.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use proofmark_model::lock;
use rustix::process::{Resource, getrlimit};

/// Bytes that are freed to make room for the report.
const RESERVE: usize = 256 << 10;

static REPORT: OnceLock<fn(usize)> = OnceLock::new();
static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The allocator of a program. [`report_no_memory`] sets what it reports.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportingAllocator;

/// Sets the function that is called with the size of a failed allocation, in bytes. It should end
/// the process. If it returns, the allocation fails as usual.
pub fn report_no_memory(report: fn(usize)) {
    *lock(&KEPT) = Vec::with_capacity(RESERVE);
    let _ = REPORT.set(report);
}

/// Returns `allocated`, after a report if it is null.
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
            // No wait: the thread that holds the lock may be waiting for memory.
            if let Ok(mut kept) = KEPT.try_lock() {
                *kept = Vec::new();
            }
            report(bytes);
            REPORTING.store(false, Ordering::Relaxed);
        }
        // A worker, a program that has just started, or a report that itself runs out of memory.
        None => end_without_memory(bytes),
    }
}

/// If a limit of this process is the cause, ends the process with a line that names it. Making the
/// line allocates nothing.
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
    let message = &line[..line.len() - left];
    // SAFETY: writes initialized bytes to a descriptor that may be closed. Then ends the process at
    // once: no more of its code runs.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(1)
    }
}

// SAFETY: each call goes unchanged to the system's allocator, and its result comes back unchanged.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the trait's contract, which is that of `System` too.
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
