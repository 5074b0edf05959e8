//! The division of arrays among threads and segments, and their places in an arena.

use proofmark_engine::Refusal;
use proofmark_model::format_size;

use super::super::segment::GRAIN;
use super::op::Op;
use crate::arena::{ALIGNMENT, nodes};

/// Bytes of a segment, unless a thread's part is smaller. One call of a hot loop processes one
/// segment. It is long enough that the call costs nothing, and short enough that a trial can stop
/// at nearly any point.
const SEGMENT: u64 = 128 << 10;

/// Maximum bytes of a part that is one segment where the operation is a read. In guided loops the
/// first pass of a call prefetches. This halves the rate at which a set within L2 is read (95
/// instead of 190 GB/s on Granite Rapids). Writes and copies lose nothing.
const WHOLE: u64 = 2 << 20;

const MIN_SEGMENT: u64 = 1 << 10;

/// Distance in bytes of an array from a multiple of [`ALIGNMENT`], per array before it. Loops
/// access the same element of all arrays. Without the odd 1 KiB a load could have the low 12
/// address bits of a store in flight, which many CPUs first take for the same address. On Granite
/// Rapids it makes no difference. With 1 KiB alone the current lines of a loop seem to share a DRAM
/// bank. On Zen 4 plain SSE2 loops then copy 20 GB/s per core, and 26 to 31 GB/s with 8 KiB to 1
/// MiB more. 128 KiB keeps the place in an L2 cache with ways of that size.
const SKEW: u64 = (128 << 10) + (1 << 10);

/// Returns the alignment of parts. A page has one node, so on several nodes no two parts share a
/// page.
fn page() -> u64 {
    if nodes() > 1 { ALIGNMENT as u64 } else { 4096 }
}

/// Arrays, each divided into one part per thread, and each part into equal segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    arrays: u64,
    /// Places of the destination and the sources, where the operation has them.
    pub(super) dst: Option<u64>,
    pub(super) sources: [Option<u64>; 2],
    pub(super) threads: u64,
    pub(super) segment: u64,
    pub(super) segments: u64,
    /// Bytes from one thread's part to the next.
    part_stride: u64,
    array_stride: u64,
}

impl Layout {
    /// Lays out the arrays of one operation, of up to `array_size` bytes each. Less than 256 bytes
    /// per segment may remain unused. Returns an error if a thread's part would be too small.
    pub(super) fn new(op: Op, array_size: u64, threads: u64) -> Result<Self, Refusal> {
        Self::with_page(op, array_size, threads.max(1), page())
    }

    /// Lays out the arrays that all operations share: a destination, the source that loops stamp,
    /// and the source for reads, which no loop writes.
    pub(super) fn shared(op: Op, array_size: u64, threads: u64) -> Result<Self, Refusal> {
        let all = Self::with_page(Op::Triad, array_size, threads.max(1), page())?;
        let has = |is_used: bool, place| is_used.then_some(place);
        let (dst, second) = (has(op.stores(), 0), has(op.sources() > 1, 2));
        let first = if op.stores() { has(op.sources() > 0, 1) } else { Some(2) };
        Ok(Self { dst, sources: [first, second], ..all })
    }

    /// Returns true if all operations share the arrays.
    pub(super) fn is_shared(&self) -> bool {
        self.arrays == 3
    }

    fn with_page(op: Op, array_size: u64, threads: u64, page: u64) -> Result<Self, Refusal> {
        let part = array_size / threads;
        let whole = op == Op::Read && part <= WHOLE;
        let segments = if whole { 1 } else { (part / SEGMENT).max(1) };
        let segment = part / segments / GRAIN as u64 * GRAIN as u64;
        if segment < MIN_SEGMENT {
            let (size, least) = (format_size(array_size), format_size(MIN_SEGMENT));
            return Err(Refusal(format!(
                "an array of {size} is too small for {threads} threads: each part needs at least \
                 {least}"
            )));
        }
        // The last array begins this far into a page, and its parts end as far beyond one.
        let shift = if page > SKEW { SKEW * (op.arrays() as u64 - 1) } else { 0 };
        let part_stride = (segment * segments + shift).next_multiple_of(page);
        let array_stride = (part_stride * threads).next_multiple_of(ALIGNMENT as u64) + SKEW;
        let arrays = op.arrays() as u64;
        let mut places = 0..arrays;
        let mut next = |is_used: bool| if is_used { places.next() } else { None };
        let dst = next(op.stores());
        let sources = [next(op.sources() > 0), next(op.sources() > 1)];
        Ok(Self { arrays, dst, sources, threads, segment, segments, part_stride, array_stride })
    }

    /// Returns the bytes from the start of the first array to the end of the last one.
    pub(super) fn bytes(&self) -> u64 {
        self.array_stride * (self.arrays - 1) + self.part_stride * self.threads
    }

    /// Returns the places of the arrays with the number of the source that each holds, or `None`
    /// for the destination.
    pub(super) fn contents(&self) -> impl Iterator<Item = (u64, Option<u64>)> {
        let has_dst = self.dst.is_some() || self.is_shared();
        (0..self.arrays)
            .map(move |place| (place, if has_dst { place.checked_sub(1) } else { Some(place) }))
    }

    /// Returns the number of the source that the first source array holds.
    pub(super) fn numbers_of_first(&self) -> u64 {
        let place = self.sources[0];
        self.contents().find(|(at, _)| Some(*at) == place).and_then(|(_, n)| n).unwrap_or(0)
    }

    /// Returns the bytes of one thread's part of an array.
    pub(super) fn part(&self) -> u64 {
        self.segment * self.segments
    }

    /// Returns the bytes of an array before a thread's part.
    pub(super) fn within(&self, thread: u64) -> u64 {
        self.part_stride * thread
    }

    /// Returns the offset in the arena of a thread's part of an array.
    pub(super) fn offset(&self, array: u64, thread: u64) -> u64 {
        self.array_stride * array + self.within(thread)
    }

    /// Describes the layout. Equal for segments at the same places, for any number of threads.
    pub(super) fn describe(&self) -> String {
        let Self { arrays, threads, segment, array_stride, part_stride, .. } = self;
        let parts = if *part_stride == self.part() {
            format!("{} B", part_stride * threads)
        } else {
            format!("{threads} parts of {} B each {part_stride} B", self.part())
        };
        format!("{arrays} arrays each {array_stride} B, {parts}, segments of {segment} B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn layout(op: Op, size: u64, threads: u64) -> Layout {
        Layout::with_page(op, size, threads, 4096).unwrap()
    }

    #[test]
    fn parts_are_whole_segments_and_lose_next_to_nothing() {
        for (op, size, threads, segment, segments) in [
            (Op::Copy, 4096, 1, 4096, 1),
            (Op::Copy, 4096, 4, 1024, 1),
            (Op::Copy, 128 << 10, 1, 128 << 10, 1),
            (Op::Copy, 200_000, 1, 199_936, 1),
            (Op::Copy, MIB, 1, 128 << 10, 8),
            (Op::Copy, MIB, 2, 128 << 10, 4),
            (Op::Copy, MIB + 70_000, 1, 139_776, 8),
            (Op::Copy, 640 * MIB, 3, 131_072, 1706),
            // A read that fits into a core's cache is one segment.
            (Op::Read, 4 * MIB, 2, 2 * MIB, 1),
            (Op::Read, 5 * MIB, 2, 128 << 10, 20),
            (Op::Write, 4 * MIB, 2, 128 << 10, 16),
        ] {
            let l = layout(op, size, threads);
            assert_eq!((l.segment, l.segments), (segment, segments), "{op:?} {size} {threads}");
            let used = l.part() * threads;
            assert!(used <= size && size - used < threads * (segments + 1) * GRAIN as u64, "{l:?}");
        }
    }

    #[test]
    fn nothing_overlaps_and_no_two_arrays_share_low_address_bits() {
        for (size, threads, page) in [(4096, 4, 4096), (MIB + 70_000, 3, 4096), (MIB, 5, 2 << 20)] {
            let l = Layout::with_page(Op::Add, size, threads, page).unwrap();
            let places = (0..3).flat_map(|a| (0..threads).map(move |t| (a, t)));
            let starts: Vec<u64> = places.map(|(a, t)| l.offset(a, t)).collect();
            assert!(starts.windows(2).all(|w| w[0] + l.part() <= w[1]), "{starts:?}");
            assert!(starts.last().unwrap() + l.part() <= l.bytes());
            let low: Vec<u64> = (0..3).map(|a| l.offset(a, 1) % 4096).collect();
            assert_eq!(low, [0, 1024, 2048]);
            assert_eq!(l.within(1) % page, 0);
            assert!(SKEW % ALIGNMENT as u64 >= 8 << 10, "one bank of DRAM");
            if page == ALIGNMENT as u64 {
                let page_of = |offset: u64| offset / page;
                let last = |a: u64, t: u64| page_of(l.offset(a, t) + l.part() - 1);
                let shared = |a: u64, t: u64| last(a, t - 1) == page_of(l.offset(a, t));
                assert!((0..3).all(|a| (1..threads).all(|t| !shared(a, t))), "{starts:?}");
            }
        }
    }
}
