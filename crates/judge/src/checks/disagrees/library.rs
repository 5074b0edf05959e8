//! The core whose kernels a library of linear algebra runs, as its version names it.

use proofmark_model::{Isa, Param};

use super::causes::{Compared, Explanation, Extent, Side};

/// The instruction set of a library's kernels, by the core that the library names them after.
/// OpenBLAS and BLIS choose that core as they start, and fall back to an older one for a CPU that
/// they do not know.
const KERNELS: [(Isa, &str); 4] = [
    (Isa::Avx512, "skylakex cooperlake sapphirerapids skx knl zen4 zen5"),
    (Isa::Avx2Fma, "haswell zen zen2 zen3 bulldozer piledriver steamroller excavator"),
    (Isa::Avx2, "sandybridge"),
    (
        Isa::Sse2,
        "prescott core2 penryn dunnington nehalem atom nano athlon opteron opteron_sse3 barcelona \
         bobcat generic",
    ),
];

/// The core that a version ends with, as in `0.3.21 (Haswell)`, and its kernels' instruction set.
fn core(version: &str) -> Option<(&str, Isa)> {
    let (_, core) = version.strip_suffix(')')?.rsplit_once('(')?;
    let named = |names: &str| names.split(' ').any(|name| name.eq_ignore_ascii_case(core));
    KERNELS.iter().find(|(_, names)| named(names)).map(|(isa, _)| (core, *isa))
}

/// The core and instruction set of the library's kernels, if they are narrower than `ours`.
pub(super) fn narrower(version: &str, ours: Isa) -> Option<(&str, Isa)> {
    let at = |isa: Isa| Isa::ALL.iter().position(|one| *one == isa);
    core(version).filter(|(_, theirs)| at(*theirs) < at(ours))
}

/// Variables that select a library's kernels, with the tools that use it.
const CHOICES: [(&str, &[&str]); 5] = [
    ("BLIS_ARCH_TYPE", &["blis", "hpl"]),
    ("MKL_CBWR", &["mkl", "linpack", "hpl"]),
    ("MKL_DEBUG_CPU_TYPE", &["mkl", "linpack", "hpl"]),
    ("MKL_ENABLE_INSTRUCTIONS", &["mkl", "linpack", "hpl"]),
    ("OPENBLAS_CORETYPE", &["openblas", "hpl"]),
];

/// The variables of an environment that select the kernels of a tool's library:
/// `OPENBLAS_CORETYPE=Haswell`.
pub(super) fn chosen<'a>(tool: &str, environment: &'a str) -> Vec<&'a str> {
    let is_choice = |variable: &&str| {
        let name = variable.split('=').next();
        let known = CHOICES.iter().filter(|(choice, _)| Some(*choice) == name);
        known.into_iter().any(|(_, tools)| tools.contains(&tool))
    };
    environment.split(' ').filter(is_choice).collect()
}

/// Name of the reference implementation, as the tool's parameter `BLAS` has it.
const REFERENCE_BLAS: &str = "blas";

/// Explains that proofmark is faster if the tool is linked to the reference implementation of BLAS.
pub(super) fn reference_blas(c: &Compared) -> Option<Explanation> {
    let is_reference = |blas: &Param| *blas == Param::from(REFERENCE_BLAS);
    c.theirs.params.named("BLAS").filter(|blas| is_reference(blas))?;
    let words = "its BLAS is the reference library, which has no kernels for this CPU".to_owned();
    Extent::Open.explain(words).filter(|_| c.ahead() == Side::Ours)
}

/// Returns true if a version names a core of which the kernels are known.
pub(super) fn names_core(version: &str) -> bool {
    core(version).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_its_core() {
        for (version, expected) in [
            ("0.3.21 (Haswell)", Some(("Haswell", Isa::Avx2Fma))),
            ("0.3.29 (SkylakeX)", Some(("SkylakeX", Isa::Avx512))),
            ("0.9.0, LAPACK 3.12.0 (zen3)", Some(("zen3", Isa::Avx2Fma))),
            ("0.2.20 (Nehalem)", Some(("Nehalem", Isa::Sse2))),
            ("0.3.21 (Unheard_of)", None),
            ("2024.2", None),
        ] {
            assert_eq!(core(version), expected, "{version}");
        }
    }
}
