//! likwid-bench of LIKWID, by the RRZE of Erlangen: loops written in assembly, one for each
//! instruction set and kind of store, timed as they are.

mod listing;
mod name;
mod runner;
#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

/// likwid-bench.
pub(crate) struct LikwidBench;

impl Tool for LikwidBench {
    fn description(&self) -> &Description {
        &Description {
            id: "likwid-bench",
            title: "likwid-bench, RRZE Erlangen",
            package: "Debian: likwid",
            about: "The text that likwid-bench prints of one test. MByte is 10^6 bytes. Counted \
                    are the bytes that the loop reads and writes; what the hardware reads to \
                    overwrite it is not. The rate is that of all iterations together, over the \
                    time of the slowest thread. The names of the loops copy, load, store and \
                    stream (STREAM's Triad) of 64-bit numbers are taken apart: the instruction set \
                    and the kind of store become parameters, array_size is that of one array over \
                    all threads. likwid's own triad has four arrays: it and every other test \
                    become likwid-bench.NAME, those of peakflops in operations a second.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line == listing::TITLE)
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(text)
    }
}
