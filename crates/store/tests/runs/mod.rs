//! Made-up runs. No machine made these figures.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

use std::collections::BTreeMap;

use proofmark_model::{
    Better, Ending, Host, Measurement, Params, Plan, Probe, Role, Run, SCHEMA, Subsystem, Summary,
    Timestamp, Tool, Unit, Verdict, Work, WorkloadSpec,
};

/// A moment, this many milliseconds after the first.
pub fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + ms).unwrap()
}

/// A workload of that name.
pub fn spec(id: &str, unit: Unit) -> WorkloadSpec {
    WorkloadSpec {
        id: id.to_owned().into(),
        title: "".into(),
        summary: "".into(),
        detail: "".into(),
        subsystem: Subsystem::Cpu,
        unit,
        better: if unit == Unit::Second { Better::Lower } else { Better::Higher },
        parameters: vec![].into(),
        axis: None,
        ceilings: vec![].into(),
        interleave: true,
        method: 1,
        work: Work::CORE,
        role: Role::NONE,
    }
}

/// A measurement whose interval is 1 % to both sides.
pub fn measurement(workload: &str, params: Params, median: f64) -> Measurement {
    let mut m = Measurement::new(&spec(workload, Unit::FlopPerSecond), params);
    m.summary = Some(Summary {
        n: 8,
        mean: median,
        sd: Some(median * 0.01),
        median,
        ci95: Some([median * 0.99, median * 1.01]),
        min: median * 0.98,
        max: median * 1.02,
    });
    m.efficiency = Some(0.9);
    m.ending = Ending::Complete;
    m
}

/// A run that began this many milliseconds after the first and measured that.
pub fn run(started_ms: i64, measurements: Vec<Measurement>) -> Run {
    let mut host = Host::unknown("made up");
    host.cpu.model_name = Probe::known("A CPU".to_owned(), "made up");
    host.memory.total_bytes = Probe::known(16_700_000_000, "made up");
    host.limits.usable_cpus = vec![0, 1];
    let points = measurements.iter().map(Measurement::point).collect();
    Run {
        schema: SCHEMA.into(),
        tool: Tool { version: "0.1.0".into(), commit: None, build: "test".into() },
        started: moment(started_ms),
        ended: Some(moment(started_ms + 1000)),
        interrupted: None,
        imported: None,
        host,
        plan: Plan { profile: "quick".into(), points, ..Plan::default() },
        workloads: BTreeMap::new(),
        measurements,
        findings: Vec::new(),
    }
}

/// A run of `cpu.flops` on one and two threads.
pub fn small(started_ms: i64) -> Run {
    let at = |threads: u64| Params::default().with("isa", "avx2").with("threads", threads);
    let mut one = measurement("cpu.flops", at(1), 50e9 + started_ms as f64);
    one.verdict = Verdict::Suspect;
    run(started_ms, vec![one, measurement("cpu.flops", at(2), 99e9)])
}
