//! `memory.loaded_latency`: the latency of memory while other threads read memory.

use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use proofmark_engine::{
    Configuration, Gaps, Load, Needs, Placement, Refusal, Setup, Workload, raw_seconds, usable_cpus,
};
use proofmark_model::key::{Count, Key};
use proofmark_model::{AUTO, Host, Parameter, Params, Role, WorkloadSpec, key, median};

use super::chase::Chase;
use super::cycle::Order;
use super::latency::{self, Place, WORKING_SET, whole_pages};
use super::parameters::{PAGES, arrays, chase, time_of_load};
use super::reader::{BURST, Reader};
use crate::arena::Arena;
use crate::declare::{Words, count_parameter, threads_parameter};
use crate::params::{required, resolved};

pub struct LoadedLatency;

const THREADS: Parameter = threads_parameter(
    "Threads: one chases pointers, the others load the memory; auto: one per CPU.",
    AUTO,
);

/// Percentage of their maximum read rate at which the loading threads read.
const LOAD_SHARE: Key<Count> = Key::new("load");

const LOAD: Parameter = count_parameter(
    LOAD_SHARE,
    "Target of the loading threads, in percent of their maximum read rate; 0: no load.",
    0..=100,
    "100",
);

static SPEC: WorkloadSpec = time_of_load(
    Words {
        id: "memory.loaded_latency",
        title: "Loaded latency",
        summary: "The time of one dependent load while other threads read memory.",
        detail: "The first thread runs memory.latency. The others read a second region of the same \
                 total size, from start to end and again, in bursts of 16 KiB. proofmark first \
                 measures how fast they read together without the chase. Below a load of 100 each \
                 pauses between bursts to hold that percentage of its share, as far as the chase \
                 permits. Between bursts, and at load 0, they spin without touching memory, so \
                 that the core clocks stay alike. Windows in which they were off their CPUs do not \
                 count. The report shows the bandwidth that they reached outside that time as the \
                 background of each trial. Verification: that of memory.latency.",
        method: 2,
    },
    const { &[THREADS, LOAD, WORKING_SET, PAGES] },
    Some(LOAD_SHARE.name()),
    chase(arrays(key::WORKING_SET), false),
    Role::NONE,
);

impl Workload for LoadedLatency {
    fn spec(&self) -> &'static WorkloadSpec {
        &SPEC
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        let params = latency::resolve_auto(params, host);
        vec![resolved(params, key::THREADS, |_| host.limits.usable_cpus.len().max(1) as u64)]
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        let cpus = usable_cpus(None).map_or(1, |cpus| cpus.len() as u64);
        let (threads, load) = (params.threads(), load(params)?);
        if threads > cpus {
            let reason =
                "the loading threads need CPUs of their own: use at most one thread per CPU";
            return Err(Refusal(reason.to_owned()));
        }
        if threads == 1 && load > 0 {
            let reason = "one thread cannot chase and load the memory: set load=0 or use 2 threads";
            return Err(Refusal(reason.to_owned()));
        }
        Ok(Box::new(Parsed { place: Place::from_params(params)?, threads, load }))
    }

    fn verification(&self) -> &'static str {
        latency::VERIFICATION
    }
}

struct Parsed {
    place: Place,
    threads: u64,
    /// Load in percent.
    load: u64,
}

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        let memory_bytes = Regions::divide(self.place.bytes, self.threads).all();
        Needs { memory_bytes, ..Needs::default() }
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let Self { place: Place { bytes, pages }, threads, load } = *self;
        let regions = Regions::divide(bytes, threads);
        let arena = Arena::get(regions.all(), pages, threads)?;
        Ok(Box::new(Loaded {
            chase: Chase::new(arena, bytes, Order::Rand),
            regions,
            load,
            ready: Barrier::new(threads as usize),
        }))
    }
}

fn load(params: &Params) -> Result<u64, Refusal> {
    required(params, LOAD_SHARE).map(|percent| percent.min(100))
}

/// The division of the arena among the threads.
struct Regions {
    /// Bytes of the chase.
    chase: u64,
    /// Bytes of each loading thread, in whole bursts.
    part: u64,
    loading: u64,
}

impl Regions {
    fn divide(bytes: u64, threads: u64) -> Self {
        let loading = threads.saturating_sub(1);
        let part = whole_pages(bytes).div_ceil(loading.max(1)).next_multiple_of(BURST);
        Self { chase: bytes, part, loading }
    }

    fn all(&self) -> u64 {
        self.chase + self.loading * self.part
    }

    /// Returns the offset of a loading thread's part. Thread 0 chases.
    fn start(&self, thread: u64) -> u64 {
        self.chase + (thread - 1) * self.part
    }
}

struct Loaded {
    chase: Chase,
    regions: Regions,
    /// Load in percent.
    load: u64,
    /// Barrier before the loading threads measure their maximum rate.
    ready: Barrier,
}

impl Setup for Loaded {
    fn work_per_iteration(&self) -> f64 {
        1.0
    }

    fn workers(&self, _: u64) -> u64 {
        1
    }

    fn placement(&self) -> Placement {
        self.chase.arena.placement(self.regions.all())
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        if index == 0 {
            let chaser = self.chase.begin();
            self.ready.wait();
            return Ok(Box::new(chaser));
        }
        let start = self.regions.start(index as u64);
        let reader = Reader::new(&self.chase.arena, start, self.regions.part);
        // A thread that cannot read still reaches the barrier, so that the others do not wait
        // forever.
        self.ready.wait();
        let mut loader = Loader { reader: reader?, period_s: 0.0, load: self.load };
        if (1..100).contains(&self.load) {
            loader.measure();
        }
        Ok(Box::new(loader))
    }
}

/// Minimum seconds for which the loading threads measure their maximum rate.
const MEASURED_S: f64 = 0.02;

/// Minimum number of chunks that they measure: a thread that shares its CPU reads few in that time.
const MIN_CHUNKS: usize = 40;

/// Bursts between two readings of the clock where none pauses: a reading delays the loads after it.
const CHUNK: u64 = 16;

/// Seconds between the starts of two bursts that give `load` percent of the maximum rate, from the
/// durations of chunks without a pause. The second half counts, so that all threads have begun. Its
/// median is that of a thread on its CPU.
fn period_s(chunks_s: &[f64], load: u64) -> f64 {
    let usual_s = median(&chunks_s[chunks_s.len() / 2..]).unwrap_or(0.0);
    usual_s / CHUNK as f64 * 100.0 / load as f64
}

struct Loader {
    reader: Reader,
    /// Seconds between the starts of two bursts that give the load. 0: no pause.
    period_s: f64,
    /// Load in percent.
    load: u64,
}

impl Loader {
    /// Reads without a pause while the other loading threads do.
    fn measure(&mut self) {
        let start = raw_seconds();
        let (mut from, mut chunks_s) = (start, Vec::new());
        while from < start + MEASURED_S || chunks_s.len() < MIN_CHUNKS {
            self.chunk();
            let now = raw_seconds();
            chunks_s.push(now - from);
            from = now;
        }
        self.period_s = period_s(&chunks_s, self.load);
    }

    fn chunk(&mut self) {
        for _ in 0..CHUNK {
            black_box(self.reader.burst());
        }
    }

    /// Reads bursts until the flag is set, and returns their number.
    fn bursts(&mut self, stop: &AtomicBool, gaps: &mut Gaps) -> u64 {
        let (mut bursts, mut due) = (0, 0.0);
        while !stop.load(Ordering::Relaxed) {
            let now = gaps.read_clock();
            if self.load == 0 || now < due {
                spin_loop();
            } else if self.period_s > 0.0 {
                // A thread that is late by more than 4 bursts does not catch up.
                due = due.max(now - 4.0 * self.period_s) + self.period_s;
                black_box(self.reader.burst());
                bursts += 1;
            } else {
                self.chunk();
                bursts += CHUNK;
            }
        }
        bursts
    }
}

impl Load for Loader {
    /// Does nothing: a loading thread has no share of the work.
    fn run(&mut self, _: u64) {}

    fn disturb(&mut self, stop: &AtomicBool, gaps: &mut Gaps) -> f64 {
        (self.bursts(stop, gaps) * BURST) as f64
    }

    fn target(&self) -> Option<f64> {
        match self.load {
            0 => Some(0.0),
            _ => (self.period_s > 0.0).then(|| BURST as f64 / self.period_s),
        }
    }

    fn verify(&mut self) -> Result<u64, String> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::params::testing::{WorkloadExt, params, verified};

    fn point(threads: u64, load: u64) -> Params {
        params(&format!("threads={threads} load={load} working_set=4194304 pages=small"))
    }

    /// Returns the bytes that the loading thread reads in this many seconds while thread 0 chases.
    fn disturbed(load: u64, seconds: f64) -> f64 {
        let setup = LoadedLatency.setup(&point(2, load)).unwrap();
        assert_eq!(setup.workers(2), 1);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let loading =
                scope.spawn(|| setup.thread(1, 2).unwrap().disturb(&stop, &mut Gaps::begin()));
            let mut chaser = setup.thread(0, 2).unwrap();
            chaser.run(100);
            let proved = verified(chaser.as_mut(), &[60_000, 1, 39_999]);
            std::thread::sleep(Duration::from_secs_f64(seconds));
            // Before any assertion: a failed one would leave the other thread running forever.
            stop.store(true, Ordering::Relaxed);
            assert_eq!(proved, Ok(100_000));
            loading.join().unwrap()
        })
    }

    #[test]
    fn load_0_reads_nothing_and_load_100_reads() {
        assert_eq!(disturbed(0, 0.02), 0.0);
        // A busy machine may delay the loading thread.
        assert!(disturbed(100, 0.5) > BURST as f64);
    }

    #[test]
    fn the_target_is_that_of_the_period() {
        let arena = Arena::get(1 << 20, crate::arena::Pages::Small, 1).unwrap();
        let target = |load, period_s| {
            let reader = Reader::new(&arena, 0, 1 << 20).unwrap();
            Loader { reader, period_s, load }.target()
        };
        assert_eq!(target(0, 0.0), Some(0.0));
        assert_eq!(target(50, 0.5), Some(2.0 * BURST as f64));
        assert_eq!(target(100, 0.0), None, "as many as it can");
    }

    #[test]
    fn a_load_is_kept_by_pausing() {
        let arena = Arena::get(1 << 20, crate::arena::Pages::Small, 1).unwrap();
        let reader = Reader::new(&arena, 0, 1 << 20).unwrap();
        // One burst per millisecond, at any speed of the machine.
        let mut loader = Loader { reader, period_s: 1e-3, load: 50 };
        let stop = AtomicBool::new(false);
        let start = raw_seconds();
        let bursts = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
            });
            loader.disturb(&stop, &mut Gaps::begin()) / BURST as f64
        });
        let most = (raw_seconds() - start) / 1e-3 + 6.0;
        assert!(bursts >= 2.0 && bursts <= most, "{bursts} of {most}");
    }

    #[test]
    fn the_period_is_that_of_a_thread_on_its_cpu() {
        let burst_s = 2e-6;
        let chunk_s = CHUNK as f64 * burst_s;
        let near = |chunks_s: &[f64], load: u64, expected: f64| {
            let found = period_s(chunks_s, load);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
        };
        near(&[chunk_s; 40], 100, burst_s);
        near(&[chunk_s; 41], 50, 2.0 * burst_s);
        // Another process has the CPU for 4 ms after every fourth chunk: 97 % of the time.
        let mut taken = [chunk_s; 40];
        taken.iter_mut().step_by(4).for_each(|s| *s += 4e-3);
        near(&taken, 50, 2.0 * burst_s);
        // The others begin late, and until then this one reads faster.
        let mut alone = [chunk_s; 40];
        alone[..20].fill(chunk_s / 2.0);
        near(&alone, 25, 4.0 * burst_s);
    }

    #[test]
    fn the_period_is_that_of_the_load() {
        let arena = Arena::get(1 << 20, crate::arena::Pages::Small, 1).unwrap();
        let period = |load| {
            let reader = Reader::new(&arena, 0, 1 << 20).unwrap();
            let mut loader = Loader { reader, period_s: 0.0, load };
            loader.measure();
            loader.period_s
        };
        // Other work on this machine can only make a period longer.
        let tenth = (0..5).map(|_| period(10)).fold(f64::INFINITY, f64::min);
        proofmark_testing::wait_until("a period that is not disturbed", || {
            let most = period(90);
            most > 0.0 && tenth > 2.0 * most
        });
    }

    #[test]
    fn parts_lie_side_by_side_and_fit() {
        for (bytes, threads) in [(4096, 1), (4096, 2), (1 << 20, 4), ((1 << 30) + 4096, 7)] {
            let regions = Regions::divide(bytes, threads);
            let mut end = bytes;
            for thread in 1..threads {
                assert_eq!(regions.start(thread), end);
                assert!(regions.part.is_multiple_of(BURST) && end.is_multiple_of(64));
                end += regions.part;
            }
            assert_eq!(regions.all(), end);
            assert!(threads == 1 || end >= 2 * bytes);
            let place = Place { bytes, pages: crate::arena::Pages::Huge };
            assert_eq!(Parsed { place, threads, load: 0 }.needs().memory_bytes, end);
        }
    }

    #[test]
    fn a_load_needs_threads_and_cpus_of_its_own() {
        let refused = |p: &Params| LoadedLatency.refusal(p).unwrap();
        assert_eq!(LoadedLatency.refusal(&point(1, 0)), None);
        assert!(refused(&point(1, 50)).contains("use 2 threads"));
        assert!(refused(&point(4096, 0)).contains("one thread per CPU"));
    }
}
