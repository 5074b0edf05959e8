//! Programs that print HPL's table for other work: on accelerators, or in mixed precision.

use crate::Malformed;
use crate::text::lines;

const NVIDIA: &str = "HPL-NVIDIA measures GPUs";
const AMD: &str = "rocHPL measures GPUs";
const PHI: &str = "this HPL solved on Xeon Phi coprocessors";
const MIXED: &str = "HPL-MxP (HPL-AI) solves in mixed precision, which is no LINPACK";
const ACCELERATED: &str = "this HPL rates each accelerator, in brackets: it measures GPUs";

/// The starts of their lines, without leading `=` and spaces.
const BEGINNINGS: [(&str, &str); 8] = [
    ("HPL-NVIDIA", NVIDIA),
    ("HPL-MxP", MIXED),
    ("HPL-AI", MIXED),
    ("HPL_AI ", MIXED),
    // rocHPL prints HPL's own headline, and these lines.
    ("Allreduce_dmxswp impl", AMD),
    ("p      :", AMD),
    ("Final Score:", AMD),
    ("Number of Intel(R) Xeon Phi(TM) coprocessors :", PHI),
];

/// Returns the reason why a line is not HPL's.
pub(super) fn detect(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches(['=', ' ']);
    if super::listing::is_solve(line) && line.contains('(') {
        return Some(ACCELERATED);
    }
    let (beginning, what) = BEGINNINGS.into_iter().find(|(start, _)| line.starts_with(start))?;
    let none = line.strip_prefix(beginning).is_some_and(|count| count.trim() == "0");
    (!none).then_some(what)
}

/// Refuses the output of programs other than HPL.
pub(super) fn refuse(text: &str) -> Result<(), Malformed> {
    let message = |what| format!("{what}: proofmark has no such workload");
    let found = lines(text).find_map(|(at, line)| Some(Malformed::at(at, message(detect(line)?))));
    found.map_or(Ok(()), Err)
}
