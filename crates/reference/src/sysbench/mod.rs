//! sysbench 1.0 by Alexey Kopytov: its tests of CPU, memory and files.

mod facts;
mod figures;
mod runner;
#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

pub(crate) struct Sysbench;

impl Tool for Sysbench {
    fn description(&self) -> &Description {
        &Description {
            id: "sysbench",
            title: "sysbench, Alexey Kopytov",
            package: "Debian: sysbench",
            about: "The text of one run of sysbench 1.0's cpu, memory or fileio. cpu: an event \
                    tries all numbers up to a limit for primes; sysbench.cpu is in events a \
                    second. memory: bytes that a thread stores to or loads from one block, over \
                    and over, so mostly from a cache: sysbench.memory_write and memory_read; \
                    whether in order or at random is not told. fileio: bytes read, written, or \
                    both; a sequential write makes its files (sysbench.seqwr), a sequential \
                    rewrite (seqrewr) does not. MiB is 2^20 bytes. Times are the total time; work \
                    follows from it and the rate. file_size is that of all files together. \
                    sysbench flushes by itself: file-fsync-freq, file-fsync-end and file-fsync-all \
                    say how; writing with the first or the last is other work than ours, and \
                    becomes sysbench.seqrewr, rndwr and rndrw. Latency is read only where the \
                    percentile that was asked for is the median, and no time is printed as 0.00 \
                    ms.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| facts::version(line).is_some())
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        figures::read(&facts::read(text)?)
    }
}
