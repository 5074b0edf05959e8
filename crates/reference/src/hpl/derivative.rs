//! Programs that print HPL's table for other work: on accelerators, or in mixed precision.

use crate::Malformed;
use crate::text::lines;

const NVIDIA: &str = "HPL-NVIDIA measures GPUs: proofmark has no such workload";
const AMD: &str = "rocHPL measures GPUs: proofmark has no such workload";
const PHI: &str = "this HPL solved on Xeon Phi coprocessors: proofmark has no such workload";
const MIXED: &str = "HPL-MxP (HPL-AI) solves in mixed precision, which is no LINPACK: proofmark has no such workload";
const ACCELERATED: &str = "this HPL rates each accelerator, in brackets: it measures GPUs, and proofmark has no such workload";

/// How their lines begin, after what frames them.
const BEGINNINGS: [(&str, &str); 7] = [
    ("HPL-NVIDIA", NVIDIA),
    ("HPL-MxP", MIXED),
    ("HPL-AI", MIXED),
    ("HPL_AI ", MIXED),
    // rocHPL has the headline of HPL itself, and lines of its own.
    ("Allreduce_dmxswp impl", AMD),
    ("p      :", AMD),
    ("Final Score:", AMD),
];

/// What a line says of another program than HPL.
pub(super) fn of(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches(['=', ' ']);
    if let Some(count) = line.strip_prefix("Number of Intel(R) Xeon Phi(TM) coprocessors :") {
        return (count.trim() != "0").then_some(PHI);
    }
    if super::listing::is_solve(line) && line.contains('(') {
        return Some(ACCELERATED);
    }
    BEGINNINGS.into_iter().find(|(beginning, _)| line.starts_with(beginning)).map(|(_, what)| what)
}

/// Refuses what is not HPL's.
pub(super) fn refuse(text: &str) -> Result<(), Malformed> {
    let found = lines(text).find_map(|(at, line)| Some(Malformed::at(at, of(line)?)));
    found.map_or(Ok(()), Err)
}
