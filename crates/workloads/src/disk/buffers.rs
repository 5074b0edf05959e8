//! I/O buffers: aligned, allocated before the first I/O, one mapping per thread.
//!
//! A block of 1 MiB in huge pages is 1 or 2 segments. In base pages it is up to 256, depending on
//! chance. A device that accepts fewer per request (virtio: 254) then needs two requests.

#![allow(unsafe_code)] // Maps memory by system calls and makes slices of it.

use std::ffi::c_void;
use std::ptr;

use proofmark_engine::Refusal;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Alignment in bytes: the smallest page size here, and at least any device's sector.
pub(super) const PAGE: usize = 4096;

/// Bytes of a huge page where base pages are 4 KiB. The mapping is aligned to it.
const HUGE: usize = 2 << 20;

pub(super) struct Buffers {
    /// The whole mapping, for unmapping.
    mapped: (*mut c_void, usize),
    base: *mut u8,
    stride: usize,
    block: usize,
    count: usize,
}

impl Buffers {
    /// Returns the bytes of memory for `count` buffers of `block` bytes.
    pub(super) fn bytes(count: u64, block: u64) -> u64 {
        count.saturating_mul(block.next_multiple_of(PAGE as u64))
    }

    /// Allocates `count` zeroed buffers of `block` bytes. The calling thread touches their pages.
    pub(super) fn new(count: usize, block: usize) -> Result<Self, Refusal> {
        let bytes = Self::bytes(count as u64, block as u64) as usize;
        let huge = bytes >= HUGE;
        let mapped = if huge { bytes.next_multiple_of(HUGE) + HUGE } else { bytes };
        // SAFETY: a new mapping, which overlaps nothing.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .map_err(|e| Refusal(format!("cannot allocate {count} I/O buffers of {block} B: {e}")))?;
        let base = start.cast::<u8>();
        let base = if huge { base.wrapping_add(base.align_offset(HUGE)) } else { base };
        if huge {
            // SAFETY: the advice changes no byte. If it fails, the memory has base pages.
            let _ = unsafe {
                madvise(base.cast(), bytes.next_multiple_of(HUGE), Advice::LinuxHugepage)
            };
        }
        // SAFETY: within the mapping, which nothing else refers to.
        unsafe { base.write_bytes(0, bytes) };
        let stride = block.next_multiple_of(PAGE);
        Ok(Self { mapped: (start, mapped), base, stride, block, count })
    }

    /// Returns one buffer, which must not be in flight.
    pub(super) fn slot(&mut self, index: usize) -> &mut [u8] {
        assert!(index < self.count);
        // SAFETY: within the mapping, which lives as long as `self`. Slots do not overlap, so the
        // kernel moves only the bytes of others meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.address(index), self.block) }
    }

    pub(super) fn address(&self, index: usize) -> *mut u8 {
        self.base.wrapping_add(index * self.stride)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no slice of it outlives `self`.
        let _ = unsafe { munmap(self.mapped.0, self.mapped.1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        for (count, block) in [(1, 1), (3, 513), (8, 1 << 20), (2, (1 << 20) + 1)] {
            let mut buffers = Buffers::new(count, block).unwrap();
            for i in 0..count {
                let slot = buffers.slot(i);
                assert_eq!((slot.len(), slot.as_ptr().addr() % PAGE), (block, 0));
                assert!(slot.iter().all(|b| *b == 0), "another slot's bytes");
                slot.fill(1 + i as u8);
            }
            for i in 0..count {
                assert!(buffers.slot(i).iter().all(|b| *b == 1 + i as u8));
            }
        }
        assert_eq!(Buffers::bytes(3, 513), 3 * 4096);
    }

    #[test]
    #[should_panic(expected = "index < self.count")]
    fn a_slot_that_is_not_there_is_not_given() {
        let _ = Buffers::new(1, 512).map(|mut b| b.slot(1).len());
    }
}
