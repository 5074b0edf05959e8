//! The parameters that memory workloads share, and the resolution of `auto`.

use std::borrow::Cow;

use proofmark_engine::Refusal;
use proofmark_model::key::{Bytes, Key};
use proofmark_model::{
    AUTO, Access, Data, Host, Isa, Pace, Parameter, Params, Role, Subsystem, Traffic, Unit, Work,
    WorkloadSpec, ceiling_id, key, word,
};

use super::stream::op::Stores;
use crate::arena::Pages;
use crate::declare::{
    self, MAX_SIZE, Words, choice_parameter, lower_is_better, threads_parameter, words,
};
use crate::params::choice;

pub(super) const THREADS: Parameter =
    threads_parameter("Threads, each pinned to a CPU, each with its own part of the memory.", "1");

pub(super) const PAGES: Parameter = choice_parameter(
    key::PAGES,
    "Page type of the memory: huge pages where available, or base pages.",
    const { &words(["huge", "small"]) },
    "huge",
);

pub(super) const ISA: Parameter = choice_parameter(
    key::ISA,
    "Instruction set of the loop; auto: the widest of this CPU; scalar: plain Rust, which the \
     compiler may vectorise.",
    const { &words([Isa::Scalar.name(), Isa::Sse2.name(), Isa::Avx2.name(), Isa::Avx512.name()]) },
    AUTO,
);

pub(super) const STORES: Parameter = choice_parameter(
    key::STORES,
    "Ordinary (temporal) stores, which first read the line they write, or non-temporal stores, \
     which do not; auto: non-temporal where such a loop exists.",
    const { &words(["temporal", "nontemporal"]) },
    AUTO,
);

/// Declares data that must come from memory. The parameter is the size of each array.
pub(super) const fn arrays(key: Key<Bytes>) -> Data {
    let parameter = Cow::Borrowed(key.name());
    Data { parameter, per_thread: false, all_arrays: false, any_level: false }
}

/// Declares a working set that may fit into a cache level.
pub(super) const ANY_LEVEL: Data = {
    let mut data = arrays(key::WORKING_SET);
    data.any_level = true;
    data
};

/// Declares a chase through memory: each load waits for the previous one.
pub(super) const fn chase(data: Data, names_node: bool) -> Work {
    work(Access::Dependent, Cow::Borrowed(&[]), data, names_node)
}

/// Declares work that waits for memory.
pub(super) const fn work(
    access: Access,
    traffic: Cow<'static, [Traffic]>,
    data: Data,
    names_node: bool,
) -> Work {
    let access = Some(access);
    let data = Some(data);
    Work { pace: Pace::Memory, access, traffic, data, names_node, whole_problem: false }
}

/// Declares a workload that reports the time of one load of a chase.
pub(super) const fn time_of_load(
    words: Words,
    parameters: &'static [Parameter],
    axis: Option<&'static str>,
    work: Work,
    role: Role,
) -> WorkloadSpec {
    let what = (Subsystem::Memory, Unit::Second);
    let ceilings = &[Cow::Borrowed(ceiling_id::MEMORY_LOAD_USE)];
    lower_is_better(declare::rate(words, what, parameters, axis, ceilings, work, role))
}

/// Declares a workload that reports bytes per second of the whole machine's memory.
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

const CEILINGS: &[Cow<str>] =
    &words([ceiling_id::MEMORY_CORE, ceiling_id::MEMORY_DRAM, ceiling_id::MEMORY_LIMIT]);

const MIB: u64 = 1 << 20;

/// Returns the array size that STREAM requires: at least 4 times the last-level cache that the
/// usable CPUs reach, in bytes. It is in whole MiB and at least 256 MiB, or 1 GiB where the system
/// reports no cache.
pub(super) fn four_times_the_cache(host: &Host) -> u64 {
    let bytes = host.usable_cache().map_or(1024 * MIB, |cache| cache.saturating_mul(4));
    bytes.clamp(256 * MIB, MAX_SIZE).next_multiple_of(MIB)
}

pub(super) fn pages(params: &Params) -> Result<Pages, Refusal> {
    choice(params, key::PAGES, &[(word::HUGE, Pages::Huge), (word::SMALL, Pages::Small)])
}

pub(super) fn stores(params: &Params) -> Result<Stores, Refusal> {
    choice(params, key::STORES, &Stores::ALL.map(|stores| (stores.name(), stores)))
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
        assert_eq!(four_times_the_cache(&host(Some(u64::MAX))), MAX_SIZE);
    }
}
