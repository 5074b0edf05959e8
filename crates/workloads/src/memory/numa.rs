//! `memory.numa_read`: bandwidth between a node's CPUs and a node's memory.

use std::sync::Arc;

use proofmark_engine::{Configuration, Load, Needs, Placement, Refusal, Setup, Visits, Workload};
use proofmark_model::{
    AUTO, Access, Host, Parameter, Params, Role, Subsystem, Unit, WorkloadSpec, key,
};

use super::latency::{Place, WORKING_SET, resolve_auto};
use super::node::{CPU_NODE, MEMORY_NODE, Pair, THREADS_ON, require_several_nodes};
use super::parameters::{PAGES, arrays, work};
use super::reader::{BURST, Reader};
use super::stream::op::Op;
use crate::arena::Arena;
use crate::declare::{Words, rate, threads_parameter};
use crate::mix::STEP;
use crate::params::resolved;

pub struct NumaRead;

const THREADS: Parameter = threads_parameter(
    "Threads, each pinned to a CPU of the node; auto: one per usable CPU of the node.",
    AUTO,
);

static READ: WorkloadSpec = rate(
    Words {
        id: "memory.numa_read",
        title: "Read bandwidth by node",
        summary: "Bytes per second that the CPUs of one node read from the memory of one node.",
        detail: "The threads are pinned to CPUs of one NUMA node. The memory is bound to one node, \
                 the same or another, before it is touched. Afterwards proofmark asks the system \
                 where the pages are. Each thread reads its own part of the working set from start \
                 to end, again and again, and sums every 64-bit word. Verification: the words are \
                 known, so the sum proves that all were read. The ratio of a node's own memory to \
                 another node's memory shows the cost of the link.",
        method: 2,
    },
    (Subsystem::Memory, Unit::BytePerSecond),
    const { &[CPU_NODE, MEMORY_NODE, THREADS, WORKING_SET, PAGES] },
    None,
    &[], // The ceilings of the whole machine are not valid for one node.
    work(Access::Sequential, Op::Read.declared(), arrays(key::WORKING_SET), true),
    Role::NONE,
);

impl Workload for NumaRead {
    fn spec(&self) -> &'static WorkloadSpec {
        &READ
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        vec![resolved(resolve_auto(params, host), key::THREADS, |p| {
            usable_node_cpus(p, host).max(1)
        })]
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        require_several_nodes()?;
        let (pair, threads) = (Pair::from_params(params)?, params.threads());
        let cpus = pair.cpus.len();
        if threads > cpus as u64 {
            return Err(Refusal(format!("the node has {cpus} CPUs, but threads is {threads}")));
        }
        let place = Place::from_params(params)?;
        let part = part(place.bytes, threads)?;
        Ok(Box::new(Parsed { pair, place, part }))
    }

    fn verification(&self) -> &'static str {
        "the sum of all words"
    }
}

struct Parsed {
    pair: Pair,
    place: Place,
    /// Bytes of one thread.
    part: u64,
}

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        Needs { memory_bytes: self.place.bytes, ..Needs::default() }
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let Self { pair, place: Place { bytes, pages }, part } = *self;
        let arena = pair.arena(bytes, pages)?;
        arena.holds(&format!("numbers in parts of {part} bytes"));
        Ok(Box::new(Readers { pair, arena, bytes, part }))
    }
}

/// Returns the number of usable CPUs of the node, according to the host facts.
fn usable_node_cpus(params: &Params, host: &Host) -> u64 {
    let nodes = host.cpu.numa_nodes.get().map_or(&[][..], Vec::as_slice);
    let node = nodes.iter().find(|n| Some(u64::from(n.id)) == params.get(THREADS_ON));
    let usable = |cpu: &&u32| host.limits.usable_cpus.contains(cpu);
    node.map_or(0, |n| n.cpus.iter().filter(usable).count() as u64)
}

/// Returns the bytes of one thread, in whole bursts.
fn part(bytes: u64, threads: u64) -> Result<u64, Refusal> {
    match bytes / threads.max(1) / BURST * BURST {
        0 => Err(Refusal(format!("working_set must be at least {BURST} B per thread"))),
        part => Ok(part),
    }
}

struct Readers {
    pair: Pair,
    arena: Arc<Arena>,
    bytes: u64,
    part: u64,
}

impl Setup for Readers {
    fn work_per_iteration(&self) -> f64 {
        BURST as f64
    }

    fn moved_per_iteration(&self) -> Option<f64> {
        Some(BURST as f64)
    }

    fn cpus(&self, usable: &[u32]) -> Vec<u32> {
        self.pair.among(usable)
    }

    fn placement(&self) -> Placement {
        self.arena.placement(self.bytes)
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        let offset = index as u64 * self.part;
        let reader = Reader::new(&self.arena, offset, self.part)?;
        self.pair.expect(&self.arena, offset, self.part);
        Ok(Box::new(Summing::new(reader)))
    }
}

/// A load that reads numbers whose sums are known.
struct Summing {
    reader: Reader,
    /// Sum of all bursts before each burst, and the sum of all.
    before: Vec<u64>,
    /// The first burst since `begin`, and the number of bursts since.
    ran: (u64, u64),
    sum: u64,
    /// Bursts read since set-up.
    visits: u64,
}

impl Summing {
    fn new(mut reader: Reader) -> Self {
        let (mut before, mut sum, mut number) = (vec![0], 0_u64, 0_u64);
        for burst in 0..reader.bursts {
            for word in reader.words(burst) {
                // Multiples of an odd number: no two words are the same.
                number = number.wrapping_add(STEP);
                *word = number;
                sum = sum.wrapping_add(number);
            }
            before.push(sum);
        }
        Self { reader, before, ran: (0, 0), sum: 0, visits: 0 }
    }

    /// Returns the sum of the first `bursts` bursts, counted over the end.
    fn first(&self, bursts: u64) -> u64 {
        let len = self.reader.bursts;
        let whole = self.before[len as usize].wrapping_mul(bursts / len);
        whole.wrapping_add(self.before[(bursts % len) as usize])
    }
}

impl Load for Summing {
    fn begin(&mut self) {
        self.ran = (self.reader.next, 0);
        self.sum = 0;
    }

    fn run(&mut self, iterations: u64) {
        self.ran.1 += iterations;
        self.visits += iterations;
        for _ in 0..iterations {
            self.sum = self.sum.wrapping_add(self.reader.burst());
        }
    }

    fn verify(&mut self) -> Result<u64, String> {
        let (start, bursts) = self.ran;
        let expected = self.first(start + bursts).wrapping_sub(self.first(start));
        if self.sum == expected {
            return Ok(bursts);
        }
        let sum = self.sum;
        Err(format!("the sum of {bursts} bursts is {sum:#x}, expected {expected:#x}"))
    }

    fn visits(&self) -> Option<Visits> {
        let (round, visits) = (self.reader.bursts, self.visits);
        Some(Visits { place_bytes: BURST, round, round_bytes: BURST * round, visits })
    }
}

#[cfg(test)]
mod tests {
    use super::super::NUMA_LATENCY;
    use super::*;
    use crate::params::testing::{WorkloadExt, params, prove, uneven_slices, verified};

    fn point(bytes: u64) -> Params {
        params(&format!("cpu_node=0 memory_node=0 working_set={bytes} pages=small threads=1"))
    }

    /// Every machine has node 0.
    #[test]
    fn both_prove_their_work_on_node_0() {
        for workload in [&NumaRead as &dyn Workload, &NUMA_LATENCY] {
            let setup = match workload.setup(&point(1 << 20)) {
                Ok(setup) => setup,
                Err(refusal) => return proofmark_testing::skip(refusal),
            };
            prove(&*setup, 1, &[1, 1000, 7], &workload.spec().id);
            assert_eq!(setup.placement().misplaced, Some(0.0));
        }
    }

    #[test]
    fn a_burst_too_few_or_a_wrong_word_is_found() {
        let arena = Arena::get(5 * BURST, crate::arena::Pages::Small, 1).unwrap();
        let mut load = Summing::new(Reader::new(&arena, 0, 5 * BURST).unwrap());
        load.run(3);
        for slices in [vec![13], uneven_slices(13), uneven_slices(100)] {
            let all = slices.iter().sum();
            assert_eq!(verified(&mut load, &slices), Ok(all));
        }
        for (claimed, made) in [(13, 12), (13, 14), (1, 0), (5, 0)] {
            load.begin();
            load.run(4);
            load.run(made);
            load.ran.1 = 4 + claimed;
            load.run(2);
            assert!(load.verify().is_err(), "{claimed} claimed, {made} made");
        }
        load.reader.words(3)[17] ^= 1;
        assert!(verified(&mut load, &[2, 2, 1]).unwrap_err().contains("5 bursts"));
    }

    #[test]
    fn one_node_is_refused_in_one_line() {
        for workload in [&NumaRead as &dyn Workload, &NUMA_LATENCY] {
            let one = crate::arena::nodes() == 1;
            let expected = one.then(|| "this machine has one NUMA node".to_owned());
            assert_eq!(workload.refusal(&point(1 << 20)), expected);
        }
    }

    #[test]
    fn each_thread_has_at_least_a_burst() {
        assert_eq!(part(1 << 20, 3), Ok(21 * BURST));
        assert!(part(2 * BURST, 3).unwrap_err().to_string().contains("per thread"));
    }
}
