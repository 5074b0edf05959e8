//! The names of likwid-bench's tests: `stream_mem_avx512` is the loop `stream` with non-temporal
//! stores and vectors of 512 bits.

use proofmark_model::Isa;

/// A loop whose variants are one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) name: &'static str,
    /// The number of arrays. A loop that stores writes the last one.
    pub(super) arrays: u64,
    pub(super) stores: bool,
}

/// The loops of 64-bit numbers whose names are split.
pub(super) const LOOPS: [Loop; 4] = [
    Loop { name: "copy", arrays: 2, stores: true },
    Loop { name: "stream", arrays: 3, stores: true },
    Loop { name: "load", arrays: 1, stores: false },
    Loop { name: "store", arrays: 1, stores: true },
];

/// The instruction sets with likwid's names. Its scalar loops move one number at a time.
pub(super) const SETS: [(&str, &str); 3] =
    [(Isa::Sse2.name(), "sse"), (Isa::Avx2.name(), "avx"), (Isa::Avx512.name(), "avx512")];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) base: Loop,
    pub(super) isa: &'static str,
    /// True if it stores past the caches.
    pub(super) nontemporal: bool,
    /// True if product and sum are one instruction.
    pub(super) fused: bool,
}

impl Name {
    /// Reads the name of a test that is a variant of one of the loops.
    pub(super) fn read(test: &str) -> Option<Self> {
        let mut words = test.split('_').peekable();
        let base = words.next()?;
        let base = LOOPS.into_iter().find(|l| l.name == base)?;
        // `load_mem` is different: it has non-temporal loads.
        let nontemporal = base.stores && words.next_if_eq(&"mem").is_some();
        let set = words.peek().and_then(|word| SETS.into_iter().find(|set| set.1 == *word));
        if set.is_some() {
            words.next();
        }
        let fused = words.next_if_eq(&"fma").is_some();
        let isa = set.map_or(Isa::Scalar.name(), |set| set.0);
        words.next().is_none().then_some(Self { base, isa, nontemporal, fused })
    }

    /// Returns the name of a test. Like proofmark's, its multiplication rounds before the addition.
    pub(super) fn test(base: Loop, isa: &str, nontemporal: bool) -> Option<String> {
        let (_, set) = SETS.into_iter().find(|set| set.0 == isa)?;
        let mem = if nontemporal { "_mem" } else { "" };
        Some(format!("{}{mem}_{set}", base.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_loop_set_and_stores() {
        let read = |test| Name::read(test).map(|n| (n.base.name, n.isa, n.nontemporal, n.fused));
        for (test, expected) in [
            ("copy", Some(("copy", "scalar", false, false))),
            ("copy_mem_avx512", Some(("copy", "avx512", true, false))),
            ("stream_avx_fma", Some(("stream", "avx2", false, true))),
            ("stream_mem", Some(("stream", "scalar", true, false))),
            ("load_sse", Some(("load", "sse2", false, false))),
            ("store_mem_sse", Some(("store", "sse2", true, false))),
            ("load_mem", None),
            ("stream_sp", None),
            ("stream_sp_avx", None),
            ("triad_avx512", None),
            ("copy_avx512_mem", None),
            ("clload", None),
            ("", None),
        ] {
            assert_eq!(read(test), expected, "{test}");
        }
    }
}
