//! A workload that runs a test's function.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proofmark_model::testing::spec;
use proofmark_model::{FileState, NetworkTraffic, Params, Solution, Unit, Work, WorkloadSpec};

use crate::clock_samples::ClockSamples;
use crate::gaps::Gaps;
use crate::latency::Latencies;
use crate::protocol::Reply;
use crate::team::CpuTeam;
use crate::workload::{Amount, Configuration, Load, Placement, Refusal, Setup, Workload};

/// A call of the engine to a thread.
#[derive(Debug)]
pub(crate) enum Call<'a> {
    Make,
    Begin,
    Thread,
    Prepare(u64),
    Start,
    Run(u64),
    Disturb(&'a AtomicBool, &'a mut Gaps),
    Verify,
    Drop,
}

/// The behaviour of the thread with that number. For a run it returns the iterations that are
/// proved, or the failure of the system; for a disturbance the bytes moved.
pub(crate) type Act = dyn Fn(usize, Call) -> Result<u64, String> + Send + Sync;

/// A workload with 2 units of work per iteration.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) spec: &'static WorkloadSpec,
    pub(crate) amount: Amount,
    pub(crate) act: Arc<Act>,
    pub(crate) moved: Option<f64>,
    /// Threads that only disturb, as long as one is left to work.
    pub(crate) disturbers: u64,
    /// If set, it works on a disk and reports one microsecond per operation.
    pub(crate) file: Option<FileState>,
    pub(crate) network: Option<NetworkTraffic>,
    pub(crate) solution: Option<Solution>,
    /// Does everything twice. The second time counts as idle.
    pub(crate) idles: bool,
    /// The clock that it read between its parts.
    pub(crate) clock_hz: Option<f64>,
}

/// Proves every iteration, and moves a million bytes while others work.
pub(crate) fn count(call: Call) -> Result<u64, String> {
    match call {
        Call::Run(iterations) => Ok(std::hint::black_box(iterations)),
        Call::Disturb(stop, _) => {
            while !stop.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_micros(100));
            }
            Ok(1_000_000)
        }
        _ => Ok(0),
    }
}

impl Fake {
    pub(crate) fn new(
        amount: Amount,
        act: impl Fn(usize, Call) -> Result<u64, String> + Send + Sync + 'static,
    ) -> Self {
        let work = Work { whole_problem: amount == Amount::Whole, ..Work::CORE };
        let spec = WorkloadSpec { work, ..spec("cpu.fake", Unit::OpPerSecond) };
        let spec = Box::leak(Box::new(spec));
        let (moved, file, network, solution, clock_hz) = (None, None, None, None, None);
        let (disturbers, idles, act) = (0, false, Arc::new(act));
        Self { spec, amount, act, moved, disturbers, file, network, solution, idles, clock_hz }
    }

    /// Makes it wait for a device.
    pub(crate) fn of_a_device(self) -> Self {
        let work = Work::DEVICE;
        let spec = WorkloadSpec { work, ..self.spec.clone() };
        Self { spec: Box::leak(Box::new(spec)), ..self }
    }

    pub(crate) fn counting(amount: Amount) -> Self {
        Self::new(amount, |_, call| count(call))
    }

    /// Makes it report the time of an operation.
    pub(crate) fn timing(self) -> Self {
        Self { spec: Box::leak(Box::new(spec("cpu.fake", Unit::Second))), ..self }
    }

    pub(crate) fn leak(self) -> &'static dyn Workload {
        Box::leak(Box::new(self))
    }

    pub(crate) fn team(self, threads: usize, cpus: &[u32]) -> Result<CpuTeam, Reply> {
        let cut = self.spec.work.cut();
        let setup: Arc<dyn Setup> = Arc::new(self);
        CpuTeam::start(&setup, cut, threads, cpus, vec![], vec![])
    }
}

impl Workload for Fake {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }
    fn configure(&self, _: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(self.clone()))
    }
}

impl Configuration for Fake {
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        (self.act)(0, Call::Make).map_err(Refusal)?;
        Ok(self)
    }
}

impl Setup for Fake {
    fn amount(&self) -> Amount {
        self.amount
    }
    fn work_per_iteration(&self) -> f64 {
        2.0
    }
    fn moved_per_iteration(&self) -> Option<f64> {
        self.moved
    }
    fn workers(&self, threads: u64) -> u64 {
        threads.saturating_sub(self.disturbers).max(1)
    }
    fn on_disk(&self) -> bool {
        self.file.is_some()
    }
    fn file(&self) -> Option<FileState> {
        self.file.clone()
    }
    fn begin_trial(&self) -> Result<(), Refusal> {
        (self.act)(0, Call::Begin).map(|_| ()).map_err(Refusal)
    }
    fn network(&self) -> Result<Option<NetworkTraffic>, Refusal> {
        Ok(self.network.clone())
    }
    fn solution(&self) -> Option<Solution> {
        self.solution.clone()
    }
    fn pinned(&self) -> bool {
        self.file.is_none()
    }
    fn placement(&self) -> Placement {
        Placement { huge: Some(0.5), misplaced: Some(0.25) }
    }
    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        (self.act)(index, Call::Thread).map_err(Refusal)?;
        let clock = self.clock_hz.map(|hz| ClockSamples::from_readings(&[(hz, 1.0); 5]));
        let (fake, idled) = (self.clone(), Duration::ZERO);
        Ok(Box::new(Thread { fake, index, done: 0, failure: None, idled, clock }))
    }
}

struct Thread {
    fake: Fake,
    index: usize,
    done: u64,
    failure: Option<String>,
    idled: Duration,
    clock: Option<ClockSamples>,
}

impl Thread {
    fn act(&self, call: Call) -> Result<u64, String> {
        (self.fake.act)(self.index, call)
    }
}

impl Load for Thread {
    fn prepare(&mut self, iterations: u64) {
        let _ = self.act(Call::Prepare(iterations));
    }
    fn begin(&mut self) {
        let _ = self.act(Call::Start);
        self.done = 0;
    }
    fn run(&mut self, iterations: u64) {
        match self.act(Call::Run(iterations)) {
            Ok(done) => self.done = self.done.saturating_add(done),
            Err(failure) => self.failure = Some(failure),
        }
        if self.fake.idles {
            let waits = Instant::now();
            let _ = self.act(Call::Run(iterations));
            self.idled = waits.elapsed();
        }
    }
    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }
    fn idled_s(&mut self) -> f64 {
        self.idled.as_secs_f64()
    }
    fn latencies(&mut self, all: &mut Latencies) {
        let timed = if self.fake.file.is_some() { self.done } else { 0 };
        (0..timed).for_each(|_| all.record(1000));
    }
    fn clock_samples(&self) -> Option<&ClockSamples> {
        self.clock.as_ref()
    }
    fn disturb(&mut self, stop: &AtomicBool, gaps: &mut Gaps) -> f64 {
        self.act(Call::Disturb(stop, gaps)).unwrap() as f64
    }
    fn verify(&mut self) -> Result<u64, String> {
        self.act(Call::Verify)?;
        Ok(self.done)
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let _ = self.act(Call::Drop);
    }
}
