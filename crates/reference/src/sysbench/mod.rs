//! sysbench (Alexey Kopytov): its tests of CPU, memory and files.

mod accounts;
mod facts;
mod figures;
mod fileio;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::{Printed, key, word};

use crate::{Description, Malformed, Output, Tool, same_work, same_work_where};

pub(crate) struct Sysbench;

impl Tool for Sysbench {
    fn description(&self) -> &Description {
        &Description {
            id: "sysbench",
            printed: Printed::Mean,
            title: "sysbench, Alexey Kopytov",
            package: "Debian: sysbench",
            reads: "its text",
            same_work: const {
                &[
                    same_work("seqrd", "disk.seq_read"),
                    same_work("seqrewr", "disk.seq_write"),
                    same_work("rndrd", "disk.rand_read"),
                    same_work("rndwr", "disk.rand_write"),
                    same_work("rndrw", "disk.mixed"),
                    same_work_where("memory_read", "memory.sweep", (key::OPERATION, word::READ)),
                    same_work_where("memory_write", "memory.sweep", (key::OPERATION, word::WRITE)),
                ]
            },
            about: "Reads cpu, memory and fileio of sysbench 0.4.12, 0.5, 1.0 and 1.1. Runs of one \
                    test with the same parameters are trials; other tests are left out. cpu (sysbench.cpu): an event tests \
                    all numbers up to a limit for primes. memory: bytes that each thread stores to \
                    or loads from one block, mostly a cache; the order of the accesses is not \
                    reported. fileio: bytes read, written, or both; seqwr makes its files, seqrewr \
                    does not. MiB is 2^20 bytes, and so is a Mb or MB before 1.0. Times are the \
                    total time; 1.1's fileio prints none, and the latencies' sum by thread replaces \
                    it. file_size is that of all files together. Writes without any fsync() are \
                    flush=none, with those at the end flush=end. Flushing more often, or writing \
                    with sync or dsync, is other work than proofmark's. proofmark reads the latency \
                    only if the percentile is the median and no time is 0.00 ms. It warns if \
                    operations, bytes, events, times and rates contradict each other.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(facts::begins)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        figures::read(text)
    }
}
