//! HPL, the High-Performance Linpack of the TOP500, alone or in the output of HPC Challenge.

mod derivative;
mod listing;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::Printed;

use crate::{Description, Malformed, Output, Tool, same_work};

/// The only test of HPL: the function that it times.
const TEST: &str = "HPL_pdgesv";

pub(crate) struct Hpl;

impl Tool for Hpl {
    fn description(&self) -> &Description {
        &Description {
            id: "hpl",
            printed: Printed::Problem,
            title: "HPL, Petitet, Whaley, Dongarra and Cleary",
            package: "Debian: hpcc",
            reads: "its text",
            same_work: const { &[same_work("HPL_pdgesv", "cpu.linpack")] },
            about: "Reads the text that HPL 1.0 to 2.3 print, and HPL's section of HPC Challenge's \
                    hpccoutf.txt. Each line of the table is a solve by P x Q processes, whose \
                    threads HPL does not report. proofmark counts 2/3 n^3 + 3/2 n^2 operations; 1 \
                    Gflops is 10^9 a second. Lines with the same variant, N, NB, P and Q are trials \
                    of one figure. A residual that PASSED proves a solve; one that FAILED, is \
                    missing or contradicts its word refuses the file. So does a Time that \
                    contradicts its Gflops, or an N, NB, P or Q that is none of the parameters \
                    above. It warns if the summary contradicts the table. Figures have no residual \
                    of ours: HPL reports neither the leading dimension nor |Ax - b|. Builds for \
                    accelerators (HPL-NVIDIA, rocHPL) and in mixed precision (HPL-MxP, HPL-AI) are \
                    refused by name. HPC Challenge's other tests are not read as HPL's.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let is_hpl = |line: &str| {
            listing::is_head(line)
                || line.starts_with("HPLinpack ")
                || derivative::detect(line).is_some()
        };
        text.lines().any(is_hpl)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        derivative::refuse(text)?;
        listing::read(text)
    }
}
