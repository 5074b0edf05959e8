//! Times one configuration: clock, threads, pinning, warm-up, trials, statistics, workers.

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("proofmark measures 64-bit x86 and AArch64 under Linux");

mod account;
mod affinity;
mod allocator;
mod barrier;
pub mod chain;
mod clock;
mod clock_samples;
mod conditions;
mod copy;
mod cpu_pair;
mod cutting;
mod device;
mod executor;
#[cfg(test)]
mod fake;
mod gaps;
mod heartbeat;
mod helper;
mod io_hardware;
mod latency;
mod load_clock;
mod merge;
mod net_dev;
mod protocol;
mod quota;
mod rounds;
mod samples;
mod session;
mod team;
mod thermal;
mod time_account;
mod touched;
mod tracer;
mod traffic;
mod watch;
mod worker;
mod workload;

pub use affinity::{pin, pin_to, usable_cpus};
pub use allocator::{ReportingAllocator, report_no_memory};
pub use barrier::{Barrier, wait_until};
pub use clock::{Clock, ClocksMoment, RawClock, interrupted_share, precision, raw_ns, raw_seconds};
pub use clock_samples::ClockSamples;
pub use copy::copy_rate;
pub use cpu_pair::CpuPair;
pub use device::bytes_of_process;
pub use executor::{Executor, ExecutorTrial, SlicedTrial};
pub use gaps::Gaps;
pub use heartbeat::Heartbeat;
pub use helper::HelperProcess;
pub use latency::Latencies;
pub use protocol::{Request, Taken};
pub use samples::{MAX_SAMPLES, Samples};
pub use session::{Idle, Launcher, Session, SharedWorker, Stop, Workers};
pub use touched::{Visits, touched};
pub use traffic::EndCounters;
pub use watch::Watch;
pub use worker::{SLICED_AHEAD_S, serve};
pub use workload::{
    AHEAD_S, Amount, Configuration, Load, Needs, Placement, Refusal, Setup, Workload,
};
