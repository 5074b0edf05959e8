//! Made-up runs. No machine produced these figures.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

use proofmark_model::{Ending, Measurement, Params, Probe, Run, Unit, Verdict, key, testing};

pub use testing::{moment, spec};

/// Returns a result whose interval is ± 1 %.
pub fn measurement(workload: &str, params: Params, median: f64) -> Measurement {
    let mut m = Measurement::new(&spec(workload, Unit::FlopPerSecond), params);
    m.summary = Some(testing::summary(median));
    m.efficiency = Some(0.9);
    m.ending = Ending::Complete;
    m
}

/// Returns a run that started this many milliseconds after the first.
pub fn run(started_ms: i64, measurements: Vec<Measurement>) -> Run {
    let (started, ended) = (moment(started_ms), Some(moment(started_ms + 1000)));
    let mut run = Run { started, ended, ..testing::run(measurements) };
    run.host.cpu.model_name = Probe::known("A CPU".to_owned(), "made up");
    run.host.memory.total_bytes = Probe::known(16_700_000_000, "made up");
    run.host.limits.usable_cpus = vec![0, 1];
    run.plan.profile = "quick".into();
    run
}

/// Gives a run the name of its machine.
pub fn on(host: &str, mut run: Run) -> Run {
    run.host.os.host_name = Probe::known(host.to_owned(), "made up");
    run
}

/// Returns a run of `cpu.flops` on one and two threads.
pub fn small(started_ms: i64) -> Run {
    let at = |threads: u64| Params::default().with(key::ISA, "avx2").with(key::THREADS, threads);
    let mut one = measurement("cpu.flops", at(1), 50e9 + started_ms as f64);
    one.verdict = Verdict::Suspect;
    run(started_ms, vec![one, measurement("cpu.flops", at(2), 99e9)])
}
