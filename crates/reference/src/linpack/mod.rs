//! Intel's LINPACK for shared memory (`xlinpack_xeon64`, `runme_xeon64`).

mod listing;
mod runner;
#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

/// Its only test.
const TEST: &str = "LINPACK";

/// Intel's LINPACK.
pub(crate) struct Linpack;

impl Tool for Linpack {
    fn description(&self) -> &Description {
        &Description {
            id: "linpack",
            title: "Intel Optimized LINPACK Benchmark",
            package: "Intel: onemkl-benchmarks (xlinpack_xeon64)",
            about: "The text of Intel's LINPACK for shared memory. A line of the table is a solve: \
                    lines of the same size, leading dimension and alignment are trials of one \
                    figure. Counted are 2/3 n^3 + 2 n^2 operations; a GFlop is 10^9 of them. The \
                    alignment is told in units of 1024 bytes. Residuals and normalised residuals \
                    go along with each trial. Refused are a file whose summary has other averages \
                    or maxima than its solves, one whose Time(s) contradicts its GFlops, and one \
                    that calls a solution failed whose normalised residual would pass, or passed \
                    where it would fail (16, as HPL has it). Written after published listings; no \
                    output that the program itself had just printed was at hand.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(is_head)
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(text)
    }
}

/// Whether a line is the head of the table of solves.
fn is_head(line: &str) -> bool {
    let words =
        ["Size", "LDA", "Align.", "Time(s)", "GFlops", "Residual", "Residual(norm)", "Check"];
    line.split_whitespace().eq(words)
}
