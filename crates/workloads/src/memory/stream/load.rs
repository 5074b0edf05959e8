//! One thread's part of the arrays: its segments and their verification.

#![allow(unsafe_code)] // Hot loops work on raw memory, whose contents are then read back.

use std::sync::Arc;

use proofmark_engine::{Load, Visits};

use super::super::loops::find;
use super::super::segment::{Loop, STAMP, Segment, fence};
use super::data::Progression;
use super::layout::Layout;
use super::op::{Op, Stores};
use crate::arena::Arena;
use crate::cpu::isa::Isa;

/// Factor of scale and triad, as in STREAM.
const K: f64 = 3.0;

/// Value of a destination before it is written. No operation has this result.
const UNWRITTEN: f64 = f64::NAN;

/// One thread's part.
///
/// Iterations are counted from set-up and never restart: iteration `i` is a pass over segment `i %
/// segments` with stamp `i + 1`. So a trial continues where the previous one stopped, and does not
/// begin with lines that are still in the cache.
pub(super) struct StreamLoad {
    hot: Loop,
    /// Loop that writes past the caches, where this machine has one. Otherwise lines that
    /// verification leaves in the cache would be written back during the next trial.
    pub(super) erase: Option<Loop>,
    op: Op,
    /// True if `hot` writes past the caches.
    past_caches: bool,
    /// Start of the part in each array. Null for arrays that `op` does not use.
    places: Segment,
    segments: u64,
    /// Number of the source that the first source array holds.
    numbers: u64,
    /// Index of the part's first element in its array.
    first: u64,
    done: u64,
    /// Iterations done before `begin`.
    before: u64,
    /// Iterations done up to the last verification.
    proved: u64,
    /// Sum of all words read since the last verification.
    sum: u64,
    arena: Arc<Arena>,
}

/// Fills a thread's part of an array with the numbers of a source, or marks it as unwritten.
/// `first` is the index of its first element in the array.
fn fill_with(part: *mut f64, elements: usize, (numbers, first): (Option<u64>, u64)) {
    // SAFETY: this many elements are this thread's part, aligned and mapped.
    let part = unsafe { std::slice::from_raw_parts_mut(part, elements) };
    match numbers {
        Some(numbers) => Progression::source(numbers, first).fill(part),
        None => part.fill(UNWRITTEN),
    }
}

impl StreamLoad {
    /// Creates the part of a thread and touches its pages. `fill`: the arena does not hold the
    /// arrays yet.
    pub(super) fn new(
        (op, hot, stores): (Op, Loop, Stores),
        arena: &Arc<Arena>,
        layout: &Layout,
        thread: u64,
        fill: bool,
    ) -> Self {
        let bytes = layout.part() as usize;
        let array = |place: u64| {
            let offset = layout.offset(place, thread) as usize;
            arena.place_here(offset, bytes);
            arena.base().wrapping_add(offset).cast::<f64>()
        };
        let used = |place: Option<u64>| place.map_or(std::ptr::null_mut(), array);
        let first = layout.within(thread) / 8;
        if fill {
            layout
                .contents()
                .for_each(|(place, numbers)| fill_with(array(place), bytes / 8, (numbers, first)));
        }
        let past_the_caches = |isa| find(Op::Write, Stores::NonTemporal, isa);
        Self {
            hot,
            erase: Isa::ALL.into_iter().rev().find_map(past_the_caches),
            op,
            past_caches: stores == Stores::NonTemporal,
            places: Segment {
                dst: used(layout.dst),
                a: used(layout.sources[0]),
                b: used(layout.sources[1]),
                bytes: layout.segment as usize,
            },
            numbers: layout.numbers_of_first(),
            segments: layout.segments,
            first,
            done: 0,
            before: 0,
            proved: 0,
            sum: 0,
            arena: Arc::clone(arena),
        }
    }

    fn segment(&self, iteration: u64) -> Segment {
        let Segment { dst, a, b, bytes } = self.places;
        let offset = (iteration % self.segments) as usize * bytes;
        let at = |start: *mut f64| {
            if start.is_null() { start } else { start.wrapping_byte_add(offset) }
        };
        Segment { dst: at(dst), a: at(a), b: at(b), bytes }
    }

    /// Returns the index in its array of the first element of an iteration's segment.
    fn index(&self, iteration: u64) -> u64 {
        self.first + iteration % self.segments * (self.places.bytes / 8) as u64
    }

    fn pass(&mut self, passes: u64) {
        let segment = self.segment(self.done);
        // SAFETY: the segment belongs to this thread, is mapped as long as `self` lives, and has a
        // valid length. The CPU was checked for the instruction set of the loop.
        let sum = unsafe { (self.hot)(&segment, passes, stamp(self.done), K) };
        self.sum = self.sum.wrapping_add(sum);
        self.done += passes;
    }

    fn prove(&self) -> Result<(), String> {
        if !self.op.stores() {
            return self.prove_read();
        }
        // In the order of the run: the lines that this check leaves in the cache are those that the
        // next run reaches last.
        let covered = (self.done - self.proved).min(self.segments);
        (self.done - covered..self.done).try_for_each(|iteration| self.prove_written(iteration))
    }

    /// Compares each element of the destination with the expected result of an iteration, and marks
    /// the elements as unwritten.
    fn prove_written(&self, iteration: u64) -> Result<(), String> {
        let Segment { dst, bytes, .. } = self.segment(iteration);
        // SAFETY: this thread's part, and no loop runs.
        let found = unsafe { std::slice::from_raw_parts(dst, bytes / 8) };
        let (stamp, index) = (stamp(iteration), self.index(iteration));
        let (body, line) = found.split_at((bytes - STAMP) / 8);
        let end = index + body.len() as u64;
        let a = |index| match self.op {
            Op::Write => Progression::constant(stamp),
            _ => Progression::source(self.numbers, index),
        };
        self.compare(body, index, a(index))?;
        self.compare(line, end, Progression::constant(stamp))?;
        self.make_unwritten(dst, bytes);
        Ok(())
    }

    fn make_unwritten(&self, dst: *mut f64, bytes: usize) {
        let none = std::ptr::null_mut();
        match self.erase {
            // SAFETY: as for `pass`; a single pass stores its stamp as it is.
            Some(erase) => unsafe {
                erase(&Segment { dst, a: none, b: none, bytes }, 1, UNWRITTEN, K);
            },
            // SAFETY: this thread's part, and no loop runs.
            None => unsafe { std::slice::from_raw_parts_mut(dst, bytes / 8) }.fill(UNWRITTEN),
        }
    }

    /// Compares elements of the destination from `index` of the array on.
    fn compare(&self, found: &[f64], index: u64, a: Progression) -> Result<(), String> {
        let b = Progression::source(1, index);
        let expected = Progression::combine(|a, b| result(self.op, a, b), a, b);
        let Some(at) = expected.first_difference(found) else { return Ok(()) };
        let (number, expected) = (index + at as u64, expected.at(at));
        Err(match found.get(at) {
            Some(value) if !value.is_nan() => {
                format!("element {number} is {value}, expected {expected}")
            }
            _ => format!("element {number} was not written, expected {expected}"),
        })
    }

    /// Compares the sum of all words read with the known sum of the segments.
    fn prove_read(&self) -> Result<(), String> {
        let mut expected = 0_u64;
        let end = self.proved + (self.done - self.proved).min(self.segments);
        for iteration in self.proved..end {
            let times = (self.done - iteration).div_ceil(self.segments);
            let numbers = Progression::source(self.numbers, self.index(iteration));
            let sum = numbers.sum_of_bits(self.places.bytes / 8);
            expected = expected.wrapping_add(sum.wrapping_mul(times));
        }
        if self.sum == expected {
            return Ok(());
        }
        Err(format!("the sum of the words read is {:#x}, expected {expected:#x}", self.sum))
    }
}

impl Load for StreamLoad {
    fn begin(&mut self) {
        self.before = self.done;
    }

    fn run(&mut self, iterations: u64) {
        if self.segments == 1 {
            // The whole part in one call, repeatedly, so that calls cost nothing.
            if iterations > 0 {
                self.pass(iterations);
            }
        } else {
            for _ in 0..iterations {
                self.pass(1);
            }
        }
        fence();
    }

    fn verify(&mut self) -> Result<u64, String> {
        if let Err(wrong) = self.prove() {
            // The extent of the damage is unknown, so the next configuration fills the arrays
            // again.
            self.arena.holds("something wrong");
            return Err(wrong);
        }
        (self.proved, self.sum) = (self.done, 0);
        Ok(self.done - self.before)
    }

    fn visits(&self) -> Option<Visits> {
        let Segment { dst, a, b, bytes } = self.places;
        let sources = [a, b].iter().filter(|array| !array.is_null()).count();
        // A destination that is written past the caches takes no cache space from the sources.
        let arrays = match (dst.is_null(), sources) {
            (true, _) | (_, 0) => sources.max(1),
            (false, _) => sources + usize::from(!self.past_caches),
        };
        Some(Visits {
            place_bytes: bytes as u64,
            round: self.segments,
            round_bytes: (bytes * arrays) as u64 * self.segments,
            visits: self.done,
        })
    }
}

fn stamp(iteration: u64) -> f64 {
    (iteration + 1) as f64
}

/// Returns the value that an operation gives an element of the destination.
fn result(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Read | Op::Write | Op::Copy => a,
        Op::Scale => K * a,
        Op::Add => a + b,
        Op::Triad => a + K * b,
    }
}
