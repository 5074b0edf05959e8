//! HPL, the High-Performance Linpack of the TOP500, alone or in the output of HPC Challenge.

mod derivative;
mod listing;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::Printed;

use crate::{Description, Malformed, Output, Tool, same_work};

/// Its only test: the function that it times.
const TEST: &str = "HPL_pdgesv";

pub(crate) struct Hpl;

impl Tool for Hpl {
    fn description(&self) -> &Description {
        &Description {
            id: "hpl",
            printed: Printed::Problem,
            title: "HPL, Petitet, Whaley, Dongarra and Cleary",
            package: "Debian: hpcc",
            same_work: const { &[same_work("HPL_pdgesv", "cpu.linpack")] },
            about: "Reads the text that HPL 1.0 to 2.3 print, and HPL's section of HPC Challenge's \
                    hpccoutf.txt. Each line of the table is a solve by P x Q processes. HPL does \
                    not report how many threads each process has. proofmark counts 2/3 n^3 + 3/2 \
                    n^2 operations; 1 Gflops is 10^9 a second. Lines with the same variant, N, NB, \
                    P and Q are trials of one figure. A residual that PASSED proves a solve. \
                    proofmark refuses a file with a solve whose residual FAILED, is missing or \
                    contradicts its PASSED. It also refuses one whose Time contradicts its Gflops, \
                    or whose N, NB, P and Q are none of the parameters above the table. It warns if \
                    the summary contradicts the table. Figures have no \
                    residual of ours: HPL reports neither the leading dimension nor, of a solve that \
                    passed, |Ax - b|. HPL-NVIDIA, rocHPL and other builds for accelerators, and \
                    HPL-MxP (HPL-AI), which solves in mixed precision, are refused by name. \
                    proofmark does not read HPC Challenge's other tests (DGEMM, STREAM, ...) as \
                    HPL's.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let is_hpl = |line: &str| {
            listing::is_head(line)
                || line.starts_with("HPLinpack ")
                || derivative::of(line).is_some()
        };
        text.lines().any(is_hpl)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        derivative::refuse(text)?;
        listing::read(text)
    }
}
