//! `cpu.pingpong`: the time of a cache line from each CPU to each other CPU and back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use proofmark_engine::{
    Amount, Barrier, Configuration, CpuPair, Load, Refusal, Setup, Workload, usable_cpus,
    wait_until,
};
use proofmark_model::{
    AUTO, Better, CpuDistance, CpuPairSeen, Host, Parameter, Params, Role, Subsystem, Unit, Work,
    WorkloadSpec, key, lock,
};

use crate::declare::{Words, interleaved, rate, threads_parameter};
use crate::params::resolved;

const THREADS: Parameter = threads_parameter(
    "CPUs with one thread each, evenly spread over the usable CPUs: 2 to 64; auto: all, up to 64.",
    AUTO,
);

/// Maximum CPUs. More CPUs have too many pairs for one picture.
const MAX_CPUS: u64 = 64;

/// Passes in a trial, divided among the turns: together about 20 ms.
const PASSES: u64 = 100_000;
const MIN_PASSES: u64 = 1_000;

/// Probes of each pair, since a thread may lose its CPU during one.
const TRIES: usize = 3;

static SPEC: WorkloadSpec = {
    let words = Words {
        id: "cpu.pingpong",
        title: "Round trip between CPUs",
        summary: "Seconds in which a cache line goes from one CPU to another and back.",
        detail: "Each pair of CPUs passes a cache line back and forth: one thread writes the next number, \
                 the other waits for it and answers with its own. All CPUs run at once in pairs, until \
                 each CPU has been paired with each other CPU. The figure is the mean over these turns. A \
                 turn takes as long as its slowest pair. Before each trial proofmark probes the pairs, \
                 again all CPUs at once: the fastest round trip of each pair, and whether its CPUs take \
                 issue slots from each other, as SMT siblings do. So the report shows which CPUs are near \
                 each other, even where a hypervisor does not report it. Verification: the last number \
                 of each pair proves its passes.",
        method: 1,
    };
    let what = (Subsystem::Cpu, Unit::Second);
    let mut spec = rate(words, what, const { &[THREADS] }, None, &[], Work::CORE, Role::NONE);
    spec.work.whole_problem = true;
    spec.better = Better::Lower;
    interleaved(spec)
};

/// Round trips between all CPUs.
pub struct PingPong;

impl Workload for PingPong {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        let cpus = host.limits.usable_cpus.len() as u64;
        vec![resolved(params, key::THREADS, |_| cpus.min(MAX_CPUS))]
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        let (threads, cpus) = (params.threads(), usable_cpus(None).map_or(1, |c| c.len() as u64));
        match threads {
            0 | 1 => Err(Refusal("a round trip needs two CPUs: use threads=2 or more".to_owned())),
            n if n > MAX_CPUS => {
                Err(Refusal(format!("cpu.pingpong supports at most {MAX_CPUS} CPUs")))
            }
            n if n > cpus => {
                Err(Refusal(format!("each thread needs its own CPU: use at most {cpus} threads")))
            }
            n => Ok(Box::new(Parsed { threads: n as usize })),
        }
    }

    fn verification(&self) -> &'static str {
        "the last number of each pair"
    }
}

struct Parsed {
    threads: usize,
}

impl Configuration for Parsed {
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(PairSetup { shared: Arc::new(Shared::new(self.threads)) }))
    }
}

/// State that all threads share.
struct Shared {
    threads: usize,
    passes: u64,
    all: Barrier,
    /// The lines of the pairs of a turn, by the lower thread of each pair.
    turns: Vec<Turn>,
    seen: Mutex<BTreeMap<(usize, usize), CpuDistance>>,
    cpus: Mutex<Vec<u32>>,
}

/// The number that two threads pass, on its own cache line.
#[derive(Default)]
#[repr(align(128))]
struct Turn {
    number: AtomicU64,
    probe: CpuPair,
}

impl Shared {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            passes: (PASSES / turns(threads) as u64).max(MIN_PASSES),
            all: Barrier::new(threads),
            turns: (0..threads).map(|_| Turn::default()).collect(),
            seen: Mutex::default(),
            cpus: Mutex::default(),
        }
    }
}

/// Returns the turns until each of this many threads has been paired with each other one.
fn turns(threads: usize) -> usize {
    threads + threads % 2 - 1
}

/// Returns a thread's partner in a turn by the circle method, or `None` for the odd one out.
fn partner(thread: usize, turn: usize, threads: usize) -> Option<usize> {
    let others = turns(threads);
    let met = if thread == others {
        // The partner of the fixed thread is the one whose double is the turn, modulo the others.
        (0..others).find(|i| 2 * i % others == turn)?
    } else {
        match (turn + others - thread % others) % others {
            met if met == thread => others,
            met => met,
        }
    };
    (met < threads).then_some(met)
}

struct PairSetup {
    shared: Arc<Shared>,
}

impl Setup for PairSetup {
    fn amount(&self) -> Amount {
        Amount::Whole
    }

    /// Returns a thread's share of all consecutive passes.
    fn work_per_iteration(&self) -> f64 {
        let Shared { threads, passes, .. } = *self.shared;
        (turns(threads) as u64 * passes) as f64 / threads as f64
    }

    fn cpus(&self, usable: &[u32]) -> Vec<u32> {
        let (all, threads) = (usable.len(), self.shared.threads);
        let spread = |i: usize| usable.get(i * all / threads).copied();
        let cpus: Vec<u32> = (0..threads).filter_map(spread).collect();
        lock(&self.shared.cpus).clone_from(&cpus);
        cpus
    }

    fn pairs(&self) -> Vec<CpuPairSeen> {
        let cpus = lock(&self.shared.cpus);
        let cpu = |thread: usize| cpus.get(thread).copied().unwrap_or(thread as u32);
        let seen = std::mem::take(&mut *lock(&self.shared.seen));
        let pair = |((a, b), distance)| CpuPairSeen {
            cpus: [cpu(a), cpu(b)],
            before: Some(distance),
            after: None,
        };
        seen.into_iter().map(pair).collect()
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(PairLoad { shared: Arc::clone(&self.shared), index, proved: 0 }))
    }
}

/// The load of one CPU's thread.
struct PairLoad {
    shared: Arc<Shared>,
    index: usize,
    /// Turns whose last number was correct.
    proved: usize,
}

impl PairLoad {
    /// Calls `exchange` with each other thread, all pairs of a turn at once.
    fn for_each_partner(&self, mut exchange: impl FnMut(&Turn, bool, usize)) {
        let Shared { threads, all, turns: places, .. } = &*self.shared;
        for turn in 0..turns(*threads) {
            all.wait_after(|| {
                for place in places {
                    place.number.store(0, Ordering::Release);
                    place.probe.reset();
                }
            });
            if let Some(partner) = partner(self.index, turn, *threads) {
                let first = self.index.min(partner);
                exchange(&places[first], first == self.index, partner);
            }
            // All threads read the numbers before one resets them.
            all.wait();
        }
    }
}

/// Waits for a number. Spins without a pause, which would take longer than a pass, then yields: the
/// other thread may need this CPU.
fn wait_for(number: &AtomicU64, wanted: u64) {
    const SPINS: u32 = 10_000;
    let is = || number.load(Ordering::Acquire) == wanted;
    if !(0..SPINS).any(|_| is()) {
        wait_until(is);
    }
}

impl Load for PairLoad {
    fn begin(&mut self) {
        self.proved = 0;
        for _ in 0..TRIES {
            self.for_each_partner(|turn, is_first, partner| {
                if !is_first {
                    return turn.probe.be_seen();
                }
                if let Some(distance) = turn.probe.look() {
                    lock(&self.shared.seen).entry((self.index, partner)).or_insert(distance);
                }
            });
        }
    }

    fn run(&mut self, iterations: u64) {
        let passes = self.shared.passes;
        for _ in 0..iterations {
            let mut proved = 0;
            self.for_each_partner(|turn, is_first, _| {
                let number = &turn.number;
                let is = |wanted| wait_for(number, wanted);
                for pass in 0..passes {
                    if is_first {
                        number.store(2 * pass + 1, Ordering::Release);
                        is(2 * pass + 2);
                    } else {
                        is(2 * pass + 1);
                        number.store(2 * pass + 2, Ordering::Release);
                    }
                }
                proved += usize::from(number.load(Ordering::Acquire) == 2 * passes);
            });
            self.proved += proved;
        }
    }

    fn verify(&mut self) -> Result<u64, String> {
        let met = self.shared.threads - 1;
        match self.proved % met {
            0 => Ok((self.proved / met) as u64),
            _ => Err(format!(
                "{} pairings are verified, which is not a multiple of {met}",
                self.proved
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::params::testing::WorkloadExt;

    #[test]
    fn each_thread_is_paired_with_each_other_once() {
        for threads in 2..=9 {
            let mut met = BTreeSet::new();
            for turn in 0..turns(threads) {
                for thread in 0..threads {
                    let Some(other) = partner(thread, turn, threads) else { continue };
                    assert_ne!(other, thread);
                    assert_eq!(partner(other, turn, threads), Some(thread), "{threads} {turn}");
                    assert!(thread > other || met.insert((thread, other)), "{threads}: twice");
                }
            }
            assert_eq!(met.len(), threads * (threads - 1) / 2);
        }
    }

    #[test]
    fn one_cpu_and_too_many_are_refused() {
        let threads = |n| PingPong.refusal(&Params::default().with(key::THREADS, n));
        assert!(threads(1).unwrap().contains("two CPUs"));
        assert!(threads(65).unwrap().contains("at most 64"));
    }

    #[test]
    fn passes_are_verified_and_each_pair_is_probed() {
        // Few passes, so that threads that share one CPU can finish them.
        let threads = 3;
        let shared = Arc::new(Shared { passes: 3, ..Shared::new(threads) });
        let setup = PairSetup { shared: Arc::clone(&shared) };
        std::thread::scope(|scope| {
            for index in 0..threads {
                let setup = &setup;
                scope.spawn(move || {
                    let mut load = setup.thread(index, threads).unwrap();
                    load.begin();
                    load.run(2);
                    assert_eq!(load.verify(), Ok(2));
                });
            }
        });
        assert!(setup.pairs().len() <= 3);
        let mut wrong = PairLoad { shared, index: 0, proved: 3 };
        assert!(wrong.verify().unwrap_err().contains("not a multiple of"));
    }
}
