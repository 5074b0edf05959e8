//! STREAM by John D. McCalpin: its own listing (5.10, and 5.9 before it), and the one in the
//! output of HPC Challenge, whose STREAM is derived from it.

mod listing;
mod program;
mod runner;
#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

/// STREAM.
pub(crate) struct Stream;

impl Tool for Stream {
    fn description(&self) -> &Description {
        &Description {
            id: "stream",
            title: "STREAM, John D. McCalpin",
            package: "compiled as stream or stream_c, or Debian: opa-basic-tools",
            about: "The text that STREAM 5.9 and 5.10 print, and STREAM in the hpccoutf.txt of HPC \
                    Challenge. MB is 10^6 bytes, GB 10^9. Counted are the bytes that the loop \
                    reads and writes, 16 an element for Copy and Scale, 24 for Add and Triad; what \
                    the hardware reads to overwrite it is not. The rate that STREAM prints is of \
                    the fastest iteration but the first: it becomes the one trial of its loop. The \
                    mean and the slowest iteration become stream.copy_mean and stream.copy_slowest \
                    and so on, where their times are printed with 4 digits or more. An output \
                    whose validation failed, or whose least time contradicts its rate, is refused. \
                    In an hpccoutf.txt, StarSTREAM's listing tells of one process while all others \
                    run the same, and becomes stream.star.copy and so on; SingleSTREAM is one \
                    process alone. An hpccoutf.txt is recognised as hpl's: name the tool to read \
                    its STREAM.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let table = |line: &str| line.starts_with("Function ") && line.contains(" Rate");
        text.lines().any(table) && !text.contains("HPLinpack")
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(text)
    }
}
