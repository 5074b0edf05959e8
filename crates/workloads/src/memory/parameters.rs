//! The parameters that memory workloads share, and how `auto` is resolved.

use std::borrow::Cow;

use proofmark_engine::Refusal;
use proofmark_model::{
    AUTO, Access, Data, Host, Pace, Param, Parameter, ParameterKind, Params, Role, Subsystem,
    Traffic, Unit, Work, WorkloadSpec,
};

use crate::arena::Pages;
use crate::cpu::isa::Isa;
pub(super) use crate::declare::size_parameter;
use crate::declare::{self, MOST, Words, threads_parameter};

pub(super) const THREADS: Parameter =
    threads_parameter("Threads, each pinned to a CPU, each with its own part of the memory.", "1");

pub(super) const PAGES: Parameter = Parameter {
    name: Cow::Borrowed("pages"),
    about: Cow::Borrowed("Page type of the memory: huge pages where available, or base pages."),
    kind: ParameterKind::Choice(Cow::Borrowed(&[Cow::Borrowed("huge"), Cow::Borrowed("small")])),
    default: Cow::Borrowed("huge"),
};

pub(super) const ISA: Parameter = Parameter {
    name: Cow::Borrowed("isa"),
    about: Cow::Borrowed(
        "Instruction set of the loop; auto: the widest of this CPU; scalar: plain Rust, which the \
         compiler may vectorise.",
    ),
    kind: ParameterKind::Choice(Cow::Borrowed(&[
        Cow::Borrowed("scalar"),
        Cow::Borrowed("sse2"),
        Cow::Borrowed("avx2"),
        Cow::Borrowed("avx512"),
    ])),
    default: Cow::Borrowed(AUTO),
};

pub(super) const STORES: Parameter = Parameter {
    name: Cow::Borrowed("stores"),
    about: Cow::Borrowed(
        "Ordinary (temporal) stores, which first read the line they write, or non-temporal stores, \
         which do not; auto: non-temporal where such a loop exists.",
    ),
    kind: ParameterKind::Choice(Cow::Borrowed(&[
        Cow::Borrowed("temporal"),
        Cow::Borrowed("nontemporal"),
    ])),
    default: Cow::Borrowed(AUTO),
};

/// Arrays that a workload of memory reads and writes at every point.
pub(super) const fn traffic(read: f64, written: f64, flops: f64) -> Traffic {
    Traffic { when: None, read, written, flops }
}

/// Data that must come from memory, the size of each array by that parameter.
pub(super) const fn arrays(parameter: &'static str) -> Data {
    Data {
        parameter: Cow::Borrowed(parameter),
        per_thread: false,
        all_arrays: false,
        any_level: false,
    }
}

/// A working set that points choose to fit into a cache level or to exceed all.
pub(super) const ANY_LEVEL: Data = Data {
    parameter: Cow::Borrowed("working_set"),
    per_thread: false,
    all_arrays: false,
    any_level: true,
};

/// A chase through memory: each load waits for the one before it.
pub(super) const fn chase(data: Data, names_node: bool) -> Work {
    Work {
        pace: Pace::Memory,
        access: Some(Access::Dependent),
        traffic: Cow::Borrowed(&[]),
        data: Some(data),
        names_node,
        whole_problem: false,
    }
}

/// A workload that tells bytes a second of the whole machine's memory.
pub(super) const fn rate(
    words: Words,
    parameters: &'static [Parameter],
    axis: Option<&'static str>,
    work: Work,
    role: Role,
) -> WorkloadSpec {
    let what = (Subsystem::Memory, Unit::BytePerSecond);
    declare::rate(words, what, parameters, axis, CEILINGS, work, role)
}

const CEILINGS: &[Cow<str>] = &[Cow::Borrowed("memory.core"), Cow::Borrowed("memory.dram")];

const MIB: u64 = 1 << 20;

/// What STREAM asks for: at least 4 times the last-level cache that the usable CPUs
/// reach, in bytes. Whole MiB, not less than 256; 1 GiB where no cache is reported.
pub(super) fn four_times_the_cache(host: &Host) -> u64 {
    let bytes = host.usable_cache().map_or(1024 * MIB, |cache| cache.saturating_mul(4));
    bytes.clamp(256 * MIB, MOST).next_multiple_of(MIB)
}

/// These parameters with that parameter set, if it is `auto`.
pub(super) fn settled<T: Into<Param>>(
    params: Params,
    parameter: &str,
    value: impl FnOnce(&Params) -> T,
) -> Params {
    if params.text(parameter) != Some(AUTO) {
        return params;
    }
    let value = value(&params);
    params.with(parameter, value)
}

pub(super) fn text<'a>(params: &'a Params, parameter: &str) -> Result<&'a str, Refusal> {
    params.text(parameter).ok_or_else(|| Refusal(format!("{parameter} is not set")))
}

/// The value of a parameter that is a number of bytes.
pub(super) fn size(params: &Params, parameter: &str) -> Result<u64, Refusal> {
    params.int(parameter).ok_or_else(|| Refusal(format!("{parameter} is not set")))
}

pub(super) fn pages(params: &Params) -> Result<Pages, Refusal> {
    let name = text(params, "pages")?;
    Pages::parse(name).ok_or_else(|| Refusal(format!("pages has no value '{name}'")))
}

/// The instruction set of the `isa` parameter, if this CPU has it.
pub(super) fn isa(params: &Params) -> Result<Isa, Refusal> {
    let name = text(params, "isa")?;
    let isa = Isa::parse(name).ok_or_else(|| Refusal(format!("isa has no value '{name}'")))?;
    if isa.is_supported() {
        Ok(isa)
    } else {
        Err(Refusal(format!("this CPU does not support {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::host;
    use super::*;

    #[test]
    fn sizes_are_four_times_the_cache_within_reason() {
        for (cache, mib) in [
            (Some(480 << 20), 1920),
            (Some((100 << 20) + 1), 401),
            (Some(32 << 20), 256),
            (Some(0), 256),
            (None, 1024),
        ] {
            assert_eq!(four_times_the_cache(&host(cache)), mib << 20, "{cache:?}");
        }
        assert_eq!(four_times_the_cache(&host(Some(u64::MAX))), MOST);
    }

    #[test]
    fn only_what_is_left_to_the_machine_is_settled() {
        let auto = Params::default().with("a", AUTO).with("b", 5);
        let both = |p| settled(settled(p, "a", |_| 7), "b", |_| 7);
        assert_eq!(both(auto), Params::default().with("a", 7).with("b", 5));
        assert_eq!(both(Params::default()), Params::default());
    }

    #[test]
    fn what_is_not_set_or_not_known_is_refused() {
        let refused = |name: &str| {
            let params = Params::default().with("pages", name).with("isa", name);
            (pages(&params).unwrap_err().0, isa(&params).unwrap_err().0)
        };
        let (pages, isa) = refused("none");
        assert_eq!((&*pages, &*isa), ("pages has no value 'none'", "isa has no value 'none'"));
        assert_eq!(size(&Params::default(), "n").unwrap_err().0, "n is not set");
        assert_eq!(super::pages(&Params::default()).unwrap_err().0, "pages is not set");
    }

    #[test]
    fn an_isa_that_is_not_here_is_refused() {
        for set in Isa::ALL {
            let found = isa(&Params::default().with("isa", set.name()));
            assert_eq!(found.ok(), set.is_supported().then_some(set));
        }
    }
}
