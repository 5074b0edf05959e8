//! sysbench 1.0 by Alexey Kopytov: its tests of CPU, memory and files.

mod facts;
mod figures;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::Printed;

use crate::{Description, Malformed, Output, Tool, same_work, same_work_where};

pub(crate) struct Sysbench;

impl Tool for Sysbench {
    fn description(&self) -> &Description {
        &Description {
            id: "sysbench",
            printed: Printed::Mean,
            title: "sysbench, Alexey Kopytov",
            package: "Debian: sysbench",
            same_work: const {
                &[
                    same_work("seqrd", "disk.seq_read"),
                    same_work("seqrewr", "disk.seq_write"),
                    same_work("rndrd", "disk.rand_read"),
                    same_work("rndwr", "disk.rand_write"),
                    same_work("rndrw", "disk.mixed"),
                    same_work_where("memory_read", "memory.sweep", ("op", "read")),
                    same_work_where("memory_write", "memory.sweep", ("op", "write")),
                ]
            },
            about: "Reads one run of sysbench 1.0's cpu, memory or fileio. cpu: an event tests all \
                    numbers up to a limit for primes; sysbench.cpu is in events a second. memory: \
                    bytes that each thread stores to or loads from one block, repeatedly, so \
                    mostly from a cache (sysbench.memory_write, memory_read). sysbench does not \
                    report whether it accesses the block in order or at random. fileio: bytes \
                    read, written, or both. A sequential write makes its files (sysbench.seqwr); a \
                    sequential rewrite (seqrewr) does not. MiB is 2^20 bytes. Times are the total \
                    time; proofmark computes the work from it and the rate. file_size is that of \
                    all files together. sysbench flushes as file-fsync-freq, file-fsync-end and \
                    file-fsync-all say. Writing with the first or the last is other work than \
                    proofmark's and becomes sysbench.seqrewr, rndwr and rndrw. proofmark reads the \
                    latency only if the requested percentile is the median and no time is printed \
                    as 0.00 ms.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| facts::version(line).is_some())
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        figures::read(&facts::read(text)?)
    }
}
