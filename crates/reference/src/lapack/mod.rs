//! The libraries of dense linear algebra: `dgesv_` and `dgemm_` of OpenBLAS, BLIS and MKL.
//!
//! They are libraries, not programs. `solve.py` loads one, times a call, checks the result and
//! prints the lines that `listing` reads.

mod listing;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::Printed;

use crate::{Description, Malformed, Output, SameWork, Tool, same_work};

/// The tests of a library: a call of the function of that name.
const SOLVE: &str = "dgesv";
const MULTIPLY: &str = "dgemm";

pub(crate) struct Library {
    description: Description,
    /// The environment variables that set its threads.
    threads: &'static [&'static str],
    /// The variables that limit it to AVX2 on a CPU with more; `None` if it cannot be limited.
    avx2: Option<&'static [(&'static str, &'static str)]>,
}

const SAME_WORK: &[SameWork] =
    const { &[same_work(MULTIPLY, "cpu.dgemm"), same_work(SOLVE, "cpu.linpack")] };

const ABOUT: &str = "\
    proofmark calls the library's dgesv_ (2/3 n^3 + 2 n^2 operations) or dgemm_ (2 n^3) from \
    Python and reads the lines that its script prints. It times the call alone, after calls with \
    small matrices. Matrices are stored by columns in huge pages, which threads on all CPUs touch \
    first. The leading dimension is a multiple of 8, never of 256. The numbers are random, from a \
    circle of 1048573. A solution has its residual. proofmark checks a product with a random \
    vector and refuses a wrong one. BLIS has no dgesv_: proofmark calls that of a LAPACK \
    (liblapack.so.3) that uses BLIS, if there is one. The library chooses its instructions, unless \
    the configuration asks for others that the library can be limited to.";

pub(crate) const OPENBLAS: Library = Library {
    description: Description {
        id: "openblas",
        printed: Printed::Problem,
        title: "OpenBLAS, Zhang Xianyi and others",
        package: "Debian: libopenblas0, python3",
        reads: "what proofmark's script prints",
        same_work: SAME_WORK,
        about: ABOUT,
    },
    threads: &["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"],
    avx2: Some(&[("OPENBLAS_CORETYPE", "Haswell")]),
};

pub(crate) const BLIS: Library = Library {
    description: Description {
        id: "blis",
        printed: Printed::Problem,
        title: "BLIS, Field Van Zee and others, with netlib's LAPACK",
        package: "Debian: libblis4-pthread, liblapack3, python3",
        reads: "what proofmark's script prints",
        same_work: SAME_WORK,
        about: ABOUT,
    },
    threads: &["BLIS_NUM_THREADS", "OMP_NUM_THREADS"],
    // BLIS_ARCH_TYPE is a number that means another core in each version.
    avx2: None,
};

pub(crate) const MKL: Library = Library {
    description: Description {
        id: "mkl",
        printed: Printed::Problem,
        title: "Intel oneAPI Math Kernel Library",
        package: "Intel: oneapi-mkl; Debian: libmkl-rt, python3",
        reads: "what proofmark's script prints",
        same_work: SAME_WORK,
        about: ABOUT,
    },
    threads: &["MKL_NUM_THREADS", "OMP_NUM_THREADS"],
    // `solve.py` limits MKL by a call. The answer reports whether MKL complies.
    avx2: Some(&[]),
};

impl Tool for Library {
    fn description(&self) -> &Description {
        &self.description
    }

    fn recognises(&self, text: &str) -> bool {
        listing::library(text) == Some(self.description.id)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        listing::parse(self, text)
    }
}
