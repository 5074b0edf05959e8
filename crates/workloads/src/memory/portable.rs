//! Stream loops in plain Rust, for any architecture.
//!
//! [`black_box`] takes each chunk once it is stored, so that no compiler can omit a pass or replace
//! a whole segment by one library call. Within a chunk the compiler may use the vectors of the
//! target.

#![allow(unsafe_code)] // The same signature as the loops in assembly.

use std::hint::black_box;

use super::segment::{GRAIN, Loop, STAMP, Segment};
use super::stream::op::{Op, Stores};

const CHUNK: usize = GRAIN / size_of::<f64>();

type Chunk = [f64; CHUNK];

/// Returns the loop for the operation. Plain Rust has ordinary stores only.
pub(crate) fn find(op: Op, stores: Stores) -> Option<Loop> {
    if stores == Stores::NonTemporal {
        return None;
    }
    Some(match op {
        Op::Read => read,
        Op::Write => write,
        Op::Copy => copy,
        Op::Scale => scale,
        Op::Add => add,
        Op::Triad => triad,
    })
}

unsafe extern "C" fn read(segment: &Segment, passes: u64, _: f64, _: f64) -> u64 {
    let mut sums = [0u64; 4];
    for _ in 0..passes {
        let a = black_box(segment.a).cast::<Chunk>();
        for at in 0..segment.bytes / GRAIN {
            // SAFETY: `a` holds `bytes`, by the contract of `Loop`.
            let chunk = unsafe { &*a.add(at) };
            for four in chunk.chunks_exact(4) {
                for (sum, x) in sums.iter_mut().zip(four) {
                    *sum = sum.wrapping_add(x.to_bits());
                }
            }
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

/// Defines a loop that computes each chunk of the destination from the stamp, `k` and the chunks of
/// the sources.
macro_rules! storing {
    ($name:ident, [$($source:ident),*], |$stamp:ident, $k:ident, $at:ident| $value:expr) => {
        unsafe extern "C" fn $name(
            segment: &Segment, passes: u64, first_stamp: f64, factor: f64
        ) -> u64 {
            for pass in 0..passes {
                let ($stamp, $k) = black_box((first_stamp + pass as f64, factor));
                let _ = ($stamp, $k); // Not every operation uses both.
                // SAFETY: each array that the operation names holds `bytes`, none overlaps
                // another, and the stamp lies within `a`, by the contract of `Loop`.
                unsafe {
                    $(stamp_last(segment.$source, segment, $stamp);)*
                    for chunk in 0..segment.bytes / GRAIN {
                        $(let $source = &*segment.$source.cast::<Chunk>().add(chunk);)*
                        let dst = &mut *segment.dst.cast::<Chunk>().add(chunk);
                        for $at in 0..CHUNK {
                            dst[$at] = $value;
                        }
                        black_box(dst);
                    }
                }
            }
            0
        }
    };
}

/// Writes the stamp to the last line of `source` if that is the first source.
unsafe fn stamp_last(source: *mut f64, segment: &Segment, stamp: f64) {
    if source == segment.a {
        let last = (segment.bytes - STAMP) / size_of::<f64>();
        // SAFETY: the caller's promise that `a` holds `bytes`.
        unsafe { source.add(last).cast::<[f64; STAMP / 8]>().write([stamp; STAMP / 8]) }
    }
}

storing!(write, [], |stamp, k, at| stamp);
storing!(copy, [a], |stamp, k, at| a[at]);
storing!(scale, [a], |stamp, k, at| k * a[at]);
storing!(add, [a, b], |stamp, k, at| a[at] + b[at]);
storing!(triad, [a, b], |stamp, k, at| a[at] + k * b[at]);
