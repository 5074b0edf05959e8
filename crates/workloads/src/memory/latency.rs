//! `memory.latency` and `memory.numa_latency`: the time of one dependent load.

use std::borrow::Cow;

use proofmark_engine::{Configuration, Load, Needs, Placement, Refusal, Setup, Workload};
use proofmark_model::{
    Host, Parameter, Params, PickedValue, Property, Role, WorkloadSpec, key, word,
};

use super::chase::Chase;
use super::cycle::{Order, PAGE};
use super::node::{CPU_NODE, MEMORY_NODE, Pair, require_several_nodes};
use super::parameters::{
    self, ANY_LEVEL, PAGES, arrays, chase, four_times_the_cache, time_of_load,
};
use crate::arena::{Arena, Pages};
use crate::declare::{
    Words, auto_size_parameter, choice_parameter, main_row, pick, pick_value, words,
};
use crate::params::{choice, required, resolved};

/// A workload that chases pointers on one thread.
pub struct Latency {
    spec: &'static WorkloadSpec,
    /// True if the parameters name the nodes of the thread and of the memory.
    by_node: bool,
}

pub static LATENCY: Latency = Latency { spec: &SPEC, by_node: false };
pub static NUMA_LATENCY: Latency = Latency { spec: &BY_NODE, by_node: true };

pub(super) const WORKING_SET: Parameter = auto_size_parameter(
    key::WORKING_SET,
    "Size of the working set, in whole 4 KiB; auto: 4 times the last-level cache.",
    PAGE,
);

pub(super) const VERIFICATION: &str = "the known end of the pointer chase";

const ORDER: Parameter = choice_parameter(
    key::ORDER,
    "Order of the loads: rand (anywhere) or local (within 2 MiB, then the next 2 MiB, one line of \
     each pair, so that the TLB holds every page).",
    const { &words(["rand", "local"]) },
    "rand",
);

static SPEC: WorkloadSpec = time_of_load(
    Words {
        id: "memory.latency",
        title: "Memory latency",
        summary: "The time of one dependent load, by working set.",
        detail: "One thread follows a cycle of pointers through the working set, one pointer per \
                 64-byte line. Each load gives the address of the next, so no load can start \
                 early. The cycle consists of sweeps. Each sweep visits every 4 KiB page once, in \
                 one random order, and takes a line that no other sweep takes. So prefetchers \
                 cannot guess the next line, and a page evicted from the TLB has not returned when \
                 it is needed again. A working set that fits into a cache shows that cache's \
                 latency. One of several times the last-level cache shows the latency of main \
                 memory. Comparing huge with base pages, or rand with local, shows the TLB's \
                 share. Verification: the order is computed, so the last line after any number of \
                 steps is known. The walk must end there. This proves the loads up to whole rounds \
                 of the cycle.",
        method: 2,
    },
    const { &[WORKING_SET, PAGES, ORDER] },
    Some(key::WORKING_SET.name()),
    chase(ANY_LEVEL, false),
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[main_row(
                        3,
                        "Memory latency",
                        const {
                            &[
                                pick_value(key::ORDER, word::RAND),
                                pick(key::WORKING_SET, PickedValue::Largest),
                            ]
                        },
                    )]
                },
            ),
            provides: Cow::Borrowed(&[Property::LoadLatency]),
            ..Role::NONE
        }
    },
);

static BY_NODE: WorkloadSpec = time_of_load(
    Words {
        id: "memory.numa_latency",
        title: "Memory latency by node",
        summary: "The time of one dependent load, from a CPU of one node to the memory of one node.",
        detail: "memory.latency on one thread that is pinned to a CPU of one NUMA node. The memory \
                 is bound to one node, the same or another, before it is touched. Afterwards \
                 proofmark asks the system where the pages are. The difference between two memory \
                 nodes is the latency that the link adds. Verification: that of memory.latency.",
        method: 2,
    },
    const { &[CPU_NODE, MEMORY_NODE, WORKING_SET, PAGES] },
    None,
    chase(arrays(key::WORKING_SET), true),
    Role::NONE,
);

impl Workload for Latency {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        vec![resolve_auto(params, host)]
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        let (pair, order) = if self.by_node {
            require_several_nodes()?;
            (Some(Pair::from_params(params)?), Order::Rand)
        } else {
            (None, order(params)?)
        };
        Ok(Box::new(Parsed { place: Place::from_params(params)?, pair, order }))
    }

    fn verification(&self) -> &'static str {
        VERIFICATION
    }
}

struct Parsed {
    place: Place,
    pair: Option<Pair>,
    order: Order,
}

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        Needs { memory_bytes: self.place.bytes, ..Needs::default() }
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let Self { place: Place { bytes, pages }, pair, order } = *self;
        let arena = match &pair {
            Some(pair) => pair.arena(bytes, pages)?,
            None => Arena::get(bytes, pages, 1)?,
        };
        Ok(Box::new(Alone { chase: Chase::new(arena, bytes, order), pair }))
    }
}

fn order(params: &Params) -> Result<Order, Refusal> {
    choice(params, key::ORDER, &[(word::RAND, Order::Rand), (word::LOCAL, Order::Local)])
}

/// Resolves the working set: a multiple of the cache by default, always in whole pages.
pub(super) fn resolve_auto(params: Params, host: &Host) -> Params {
    let params = resolved(params, key::WORKING_SET, |_| four_times_the_cache(host));
    match params.get(key::WORKING_SET) {
        Some(bytes) => params.with(key::WORKING_SET, whole_pages(bytes)),
        None => params,
    }
}

pub(super) fn whole_pages(bytes: u64) -> u64 {
    bytes - bytes % PAGE
}

/// Size and page type of the measured memory.
pub(super) struct Place {
    pub(super) bytes: u64,
    pub(super) pages: Pages,
}

impl Place {
    /// Reads the memory's size and pages from the parameters.
    pub(super) fn from_params(params: &Params) -> Result<Self, Refusal> {
        let bytes = whole_pages(required(params, key::WORKING_SET)?);
        if bytes < PAGE {
            return Err(Refusal("working_set must be at least 4 KiB".to_owned()));
        }
        Ok(Self { bytes, pages: parameters::pages(params)? })
    }
}

/// The chase of one thread, with the nodes of thread and memory if the parameters name them.
struct Alone {
    chase: Chase,
    pair: Option<Pair>,
}

impl Setup for Alone {
    fn work_per_iteration(&self) -> f64 {
        1.0
    }

    fn cpus(&self, usable: &[u32]) -> Vec<u32> {
        self.pair.as_ref().map_or_else(|| usable.to_vec(), |pair| pair.among(usable))
    }

    fn placement(&self) -> Placement {
        self.chase.arena.placement(self.chase.bytes)
    }

    fn thread(&self, _: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        let chaser = self.chase.begin();
        if let Some(pair) = &self.pair {
            pair.expect(&self.chase.arena, 0, self.chase.bytes);
        }
        Ok(Box::new(chaser))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::testing::{WorkloadExt, params, prove};

    fn point(bytes: u64, rest: &str) -> Params {
        params(&format!("working_set={bytes} {rest}"))
    }

    #[test]
    fn every_working_set_proves_its_loads() {
        for rest in ["huge order=rand", "huge order=local", "small order=rand", "small order=local"]
        {
            for bytes in [4096, 5000, 32 << 10, 1 << 20, (9 << 20) + 4096, 64 << 20] {
                let setup = LATENCY.setup(&point(bytes, &format!("pages={rest}"))).unwrap();
                prove(&*setup, 1, &[1, 100_000, 33], &format!("{bytes} bytes, {rest}"));
            }
        }
    }

    #[test]
    fn invalid_parameters_are_refused() {
        assert_eq!(whole_pages(100_000), 98_304);
        for (words, reason) in [
            ("working_set=100 pages=huge order=rand", "working_set must be at least 4 KiB"),
            ("working_set=8192 pages=large order=rand", "pages has no value 'large'"),
            ("", "order is not set"),
            ("order=rand", "working_set is not set"),
            ("order=seq", "order has no value 'seq'"),
        ] {
            assert_eq!(LATENCY.refusal(&params(words)).as_deref(), Some(reason));
        }
    }
}
