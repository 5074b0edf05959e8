//! HPL, the High-Performance Linpack of the TOP500, alone or in the output of HPC Challenge.

mod listing;
mod runner;
#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

/// Its only test: the function that it times.
const TEST: &str = "HPL_pdgesv";

/// HPL.
pub(crate) struct Hpl;

impl Tool for Hpl {
    fn description(&self) -> &Description {
        &Description {
            id: "hpl",
            title: "HPL, Petitet, Whaley, Dongarra and Cleary",
            package: "Debian: hpcc",
            about: "The text that HPL 1.0 to 2.3 print, and HPL's section of the hpccoutf.txt of \
                    HPC Challenge. A line of the table is a solve, by P x Q processes; how many \
                    threads each has is not told. Counted are 2/3 n^3 + 3/2 n^2 operations (1 \
                    Gflops is 10^9 a second); lines of the same variant, N, NB, P and Q are trials \
                    of one figure. A file with a solve whose residual FAILED, is missing, or \
                    contradicts its PASSED, or whose Time contradicts its Gflops, is refused. The \
                    residuals stay out: HPL tells neither the leading dimension nor, where it \
                    passed, |Ax - b|. What HPC Challenge also measured (DGEMM, STREAM, ...) is not \
                    read as HPL's.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line.starts_with("HPLinpack "))
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(text)
    }
}
