//! IOzone (William Norcott, Don Capps): its listing.
//!
//! `listing` reads it line by line, `table` the matrix by file and record size, `throughput` what
//! several processes say, `work` what a test does,
//! `runner` what our points are in IOzone's options.

mod listing;
mod runner;
mod table;
mod throughput;
mod work;

#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

/// The first line of a listing, without its indentation.
const FIRST: &str = "Iozone: Performance Test of File I/O";

/// The tool `iozone`.
pub(crate) struct Iozone;

impl Tool for Iozone {
    fn description(&self) -> &Description {
        &Description {
            id: "iozone",
            title: "IOzone (William Norcott, Don Capps)",
            package: "Debian: iozone3 (non-free)",
            about: "Reads the listing of IOzone 3: the matrix by file and record size (-a, or -s \
                    and -r), each cell of which is a figure, and the throughput mode (-t). A kB, \
                    KB or Kbyte of IOzone is 1024 bytes; bytes count once, read or written. \
                    Operations a second (-O) count as so many records; microseconds an operation \
                    (-N) are whole ones, and stay times. A cell of 0 was not measured and is left \
                    out. IOzone's 'write' makes a new file, so it is its 'rewrite' that is \
                    compared, and of reads the first. Without -I all goes through the page cache, \
                    and a file that has just been written lies in it. In throughput mode 'Children \
                    see' adds up the rates that the processes see until the fastest is done with \
                    its file, which ends all; 'Parent sees' is for the same bytes, with starting \
                    and stopping them (iozone.NAME.parent).",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.contains(FIRST)
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(text)
    }
}
