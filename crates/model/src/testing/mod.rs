//! Made-up trials, measurements and runs for the tests of every crate. No machine made these
//! figures. A test changes what it is about: `Trial { moved: Some(8.0), ..trial(4e9, 0.1) }`.

use std::collections::BTreeMap;

use crate::{
    Better, Ending, Figure, FigureKind, Host, Measurement, Params, Plan, Role, Run, SCHEMA, Series,
    Statistics, Subsystem, Summary, Timestamp, Tool, Trial, Unit, Work, WorkloadSpec,
};

mod machine;
mod random;

pub use machine::{block_device, cache, interface, memory_module, network, storage};
pub use random::Random;

/// A moment, so many milliseconds after the start of made-up runs.
pub fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + ms).unwrap_or_default()
}

/// A trial at that rate.
pub fn trial(rate: f64, seconds: f64) -> Trial {
    Trial { value: rate, ..Trial::new(Unit::OpPerSecond, rate * seconds, seconds) }
}

/// A workload of that id without a parameter or a ceiling; its subsystem is the id's first word.
pub fn spec(id: &str, unit: Unit) -> WorkloadSpec {
    let subsystem =
        Subsystem::KNOWN.iter().copied().find(|s| id.split('.').next() == Some(s.as_str()));
    WorkloadSpec {
        id: id.to_owned().into(),
        title: "".into(),
        summary: "".into(),
        detail: "".into(),
        subsystem: subsystem.unwrap_or(Subsystem::Cpu),
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

/// Statistics of 8 trials around this median, with an interval of 1 % to both sides.
pub fn summary(median: f64) -> Summary {
    let ci95 = Some([median * 0.99, median * 1.01]);
    let trials = Statistics {
        n: 8,
        mean: median,
        sd: Some(median / 100.0),
        median,
        ci95,
        min: median * 0.98,
        max: median * 1.02,
    };
    let delivered = Figure { value: Some(median), ci95, ..Figure::default() };
    Summary { delivered, trials, ..Summary::default() }
}

/// Gives a summary's headline this value and interval.
pub fn restate(summary: &mut Summary, value: f64, ci95: Option<[f64; 2]>) {
    let figure = Figure { value: Some(value), ci95, ..Figure::default() };
    match summary.headline {
        FigureKind::Attainable => summary.attainable = figure,
        FigureKind::Typical => summary.typical = figure,
        FigureKind::Delivered => summary.delivered = figure,
    }
    (summary.trials.median, summary.trials.mean, summary.trials.ci95) = (value, value, ci95);
}

/// Multiplies all that a summary holds.
pub fn rescale(summary: &mut Summary, factor: f64) {
    let Summary { attainable, typical, delivered, trials, .. } = summary;
    for figure in [attainable, typical, delivered] {
        figure.value = figure.value.map(|v| v * factor);
        figure.ci95 = figure.ci95.map(|ends| ends.map(|v| v * factor));
    }
    for v in [&mut trials.mean, &mut trials.median, &mut trials.min, &mut trials.max] {
        *v *= factor;
    }
    trials.sd = trials.sd.map(|v| v * factor);
    trials.ci95 = trials.ci95.map(|ends| ends.map(|v| v * factor));
}

/// A measurement that has all its trials, each of 0.1 s and with its value of these.
pub fn measurement(spec: &WorkloadSpec, params: Params, values: &[f64]) -> Measurement {
    let trial = |value: &f64| match spec.unit {
        Unit::Second => Trial { value: *value, ..Trial::new(spec.unit, 0.1 / value, 0.1) },
        _ => trial(*value, 0.1),
    };
    Measurement {
        trials: values.iter().map(trial).collect(),
        summary: Summary::from_values(values),
        ending: Ending::Complete,
        ..Measurement::new(spec, params)
    }
}

/// The series of a measurement of so many seconds with one sample each, without findings.
pub fn series(started: Timestamp, seconds: u32) -> Series {
    Series {
        for_s: seconds.into(),
        every_s: 1.0,
        started,
        samples: seconds.into(),
        merged: 1,
        levels: Vec::new(),
        changes: Vec::new(),
        trend: None,
    }
}

/// A run of one second with these measurements.
pub fn run(measurements: Vec<Measurement>) -> Run {
    let points = measurements.iter().map(Measurement::point).collect();
    Run {
        schema: SCHEMA.into(),
        tool: Tool { version: "0.1.0".into(), commit: None, build: "test".into() },
        started: moment(0),
        ended: Some(moment(1000)),
        interrupted: None,
        imported: None,
        label: None,
        anonymous: false,
        cpu_placements: Vec::new(),
        programs: Vec::new(),
        programs_of_one_cpu: None,
        between_runs: Vec::new(),
        clocks: None,
        host: Host::unknown("made up"),
        plan: Plan { profile: "test".into(), points, ..Plan::default() },
        workloads: BTreeMap::new(),
        measurements,
        findings: Vec::new(),
    }
}
