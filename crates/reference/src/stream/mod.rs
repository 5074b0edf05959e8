//! STREAM (John D. McCalpin): its own listing (5.10, and 5.9 before it), and that in the output of
//! HPC Challenge, whose STREAM is derived from it.

mod listing;
mod program;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::Printed;

use crate::{Description, Malformed, Output, Tool, same_work};

pub(crate) struct Stream;

impl Tool for Stream {
    fn description(&self) -> &Description {
        &Description {
            id: "stream",
            printed: Printed::Mean,
            title: "STREAM, John D. McCalpin",
            package: "compiled as stream or stream_c, or Debian: opa-basic-tools",
            reads: "its text",
            same_work: const {
                &[
                    same_work("Copy", "memory.copy"),
                    same_work("Scale", "memory.scale"),
                    same_work("Add", "memory.add"),
                    same_work("Triad", "memory.triad"),
                ]
            },
            about: "Reads the text that STREAM 5.8 to 5.10, its Fortran and its MPI version print, \
                    and STREAM in HPC Challenge's hpccoutf.txt: name the tool there. Runs with the \
                    same arrays, threads and iterations are trials of one figure. MB is 10^6 bytes, \
                    GB 10^9. STREAM counts the bytes that the loop reads and writes, not what the \
                    hardware reads before it overwrites. The rate of the fastest iteration after \
                    the first is a trial of its loop. The mean and the slowest become \
                    stream.copy_mean, stream.copy_slowest and so on, where their times have 4 \
                    digits or more. STREAM's validation proves the work: proofmark refuses a run \
                    that failed it or does not reach it. It also refuses times that contradict \
                    their rate or each other, and loops on a GPU. StarSTREAM reports one process \
                    while all others run the same (stream.star.copy); SingleSTREAM is one process \
                    alone.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(listing::is_head) && !text.contains("HPLinpack")
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        listing::read(text)
    }
}

/// A loop of STREAM: its label, and the number of its arrays.
struct Loop {
    label: &'static str,
    arrays: u64,
}

static LOOPS: [Loop; 4] = [
    Loop { label: "Copy", arrays: 2 },
    Loop { label: "Scale", arrays: 2 },
    Loop { label: "Add", arrays: 3 },
    Loop { label: "Triad", arrays: 3 },
];

/// Returns true if STREAM has a loop with this label.
fn has_loop(label: &str) -> bool {
    LOOPS.iter().any(|l| l.label == label)
}

/// The suffix of a loop's name for the mean time of its iterations.
const MEAN: &str = "_mean";

/// The minimum digits of a time. With fewer, its rounding error exceeds 0.1 %.
const DIGITS: usize = 4;
