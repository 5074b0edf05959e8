//! A piece of the arrays of a stream workload, and the contract of the loops that run over it.
//!
//! A loop makes several passes over one segment. Each pass first stamps the last line of the
//! source. So afterwards the last line of the destination shows that the last pass ran to its end.
//! The rest of the destination shows that the operation was done.

#![allow(unsafe_code)] // The loops work on raw memory; their contract is [`Loop`].

/// Bytes of which the length of every segment is a multiple.
pub(crate) const GRAIN: usize = 256;

/// The same piece of each array. An array that the operation does not use is null. The loops in
/// assembly depend on this layout.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) dst: *mut f64,
    /// The first source; its last line takes the stamp.
    pub(crate) a: *mut f64,
    /// The second source.
    pub(crate) b: *mut f64,
    /// Length of the piece of each array.
    pub(crate) bytes: usize,
}

/// Bytes of the stamp: one line of equal f64.
pub(crate) const STAMP: usize = 64;

/// Makes `passes` passes over a segment. Pass `p` (from 0) has the stamp `first_stamp + p`. `write`
/// fills the destination with the stamp. `copy`, `scale`, `add` and `triad` write it to the last
/// [`STAMP`] bytes of `a` before the pass. `read` returns the wrapping sum of all words that it
/// loaded over all passes, as u64; the others return 0.
///
/// # Safety
///
/// Each array that the operation uses must be valid for `bytes` and start on a line of 64 bytes.
/// `bytes` must be a multiple of [`GRAIN`] and not 0. No array may overlap another. All loops but
/// `read` write to `a`. Stamps must be whole and below 2^53. Other threads see non-temporal stores
/// only after [`fence`].
pub(crate) type Loop =
    unsafe extern "C" fn(segment: &Segment, passes: u64, first_stamp: f64, k: f64) -> u64;

/// Orders all stores of this thread, including non-temporal ones, before later accesses.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
