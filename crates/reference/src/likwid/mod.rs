//! likwid-bench of LIKWID, by the RRZE of Erlangen: loops written in assembly, one for each
//! instruction set and kind of store, timed as they are.

mod listing;
mod name;
mod runner;
#[cfg(test)]
mod tests;

use crate::{Malformed, Output, Tool};

/// likwid-bench.
pub(crate) struct LikwidBench;

impl Tool for LikwidBench {
    fn id(&self) -> &'static str {
        "likwid-bench"
    }

    fn title(&self) -> &'static str {
        "likwid-bench, RRZE Erlangen"
    }

    fn about(&self) -> &'static str {
        "The text that likwid-bench prints of one test. MByte is 10^6 bytes. Counted are the bytes \
         that the loop reads and writes; what the hardware reads to overwrite it is not. The rate \
         is that of all iterations together, over the time of the slowest thread. copy, load and \
         store of 64-bit numbers become memory.copy, read and write, and stream, which is STREAM's \
         Triad, memory.triad; isa and stores follow from the test's name, array_size is that of one \
         array over all threads. likwid's own triad has four arrays: it and every other test become \
         likwid-bench.NAME, those of peakflops in operations a second."
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line == listing::TITLE)
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(text)
    }
}
