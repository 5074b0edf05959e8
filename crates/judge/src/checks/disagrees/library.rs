//! The core whose kernels a library of linear algebra runs, as its version names it.

use proofmark_model::Isa;

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

/// The instruction set of the kernels for a core.
fn kernels_of(core: &str) -> Option<Isa> {
    let named = |names: &str| names.split(' ').any(|name| name.eq_ignore_ascii_case(core));
    KERNELS.iter().find(|(_, names)| named(names)).map(|(isa, _)| *isa)
}

/// The core that a version ends with, as in `0.3.21 (Haswell)`, and its kernels' instruction set.
fn core(version: &str) -> Option<(&str, Isa)> {
    let (_, core) = version.strip_suffix(')')?.rsplit_once('(')?;
    Some((core, kernels_of(core)?))
}

/// Place of an instruction set, the narrowest first.
fn width(isa: Isa) -> Option<usize> {
    Isa::ALL.iter().position(|one| *one == isa)
}

/// Variables that select a library's kernels, with the tools that use it.
const CHOICES: [(&str, &[&str]); 5] = [
    ("BLIS_ARCH_TYPE", &["blis", "hpl"]),
    ("MKL_CBWR", &["mkl", "linpack", "hpl"]),
    ("MKL_DEBUG_CPU_TYPE", &["mkl", "linpack", "hpl"]),
    ("MKL_ENABLE_INSTRUCTIONS", &["mkl", "linpack", "hpl"]),
    ("OPENBLAS_CORETYPE", &["openblas", "hpl"]),
];

/// Values of the variables of oneMKL, with the instruction set of the kernels. With AUTO and OFF it
/// chooses the widest that the CPU has (oneMKL developer guide, "Values for the CBWR environment
/// variable").
const MKL: [(&str, Isa); 5] = [
    ("AUTO", Isa::Avx512),
    ("OFF", Isa::Avx512),
    ("AVX512", Isa::Avx512),
    ("AVX2", Isa::Avx2Fma),
    ("AVX", Isa::Avx2),
];

/// The instruction set that the value of a variable selects, if that is known.
fn selected(value: &str) -> Option<Isa> {
    let value = value.split(',').next().unwrap_or(value);
    let of_mkl = MKL.iter().find(|(name, _)| {
        // AVX512_E1 and others are subsets.
        value.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    });
    of_mkl.map(|(_, isa)| *isa).or_else(|| kernels_of(value))
}

/// The variables of an environment that select the kernels of a tool's library, with their values.
fn chosen<'a>(tool: &str, environment: &'a str) -> Vec<(&'a str, &'a str)> {
    let all = environment.split(' ').filter_map(|variable| {
        let (name, value) = variable.split_once('=')?;
        let (_, tools) = CHOICES.iter().find(|(choice, _)| *choice == name)?;
        tools.contains(&tool).then_some((variable, value))
    });
    all.collect()
}

/// Explains a slower tool by its library's kernels, for a narrower core than `ours`: the one that
/// its version names, else one that a variable may have selected.
pub(super) fn explain(tool: &str, version: &str, environment: &str, ours: Isa) -> Option<String> {
    let is_narrower = |theirs: &Isa| width(*theirs) < width(ours);
    let chosen = chosen(tool, environment);
    let list = |is: &dyn Fn(&str) -> bool| {
        let all = chosen.iter().filter(|(_, value)| is(value)).map(|(variable, _)| *variable);
        Some(all.collect::<Vec<_>>().join(" and ")).filter(|all| !all.is_empty())
    };
    if let Some((core, theirs)) = core(version) {
        let since = list(&|value| value.eq_ignore_ascii_case(core));
        let since = since.map(|all| format!(" since {all} is set")).unwrap_or_default();
        return is_narrower(&theirs).then(|| {
            format!(
                "{tool} runs its kernels for another core, {core} ({}){since}, but proofmark used {}",
                theirs.name(),
                ours.name()
            )
        });
    }
    let all = list(&|value| selected(value).is_none_or(|theirs| is_narrower(&theirs)))?;
    Some(format!("{all} is set, by which {tool} may run kernels for another core"))
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
