//! The configuration of a main result in words.

use super::{MainResult, MainRow, Pick, PickedValue, value};
use crate::{
    AUTO, Measurement, Param, Parameter, ParameterKind, Params, Run, clean, counted, format_count,
    format_size, io_path, key, word,
};

impl MainResult<'_> {
    /// Returns the title with the configuration: `FP peak, 2 CPUs, avx2`; `None` without a row.
    pub fn title(&self, run: &Run) -> Option<String> {
        let title = [clean(&self.row?.title), self.configuration(run)?];
        let title: Vec<String> = title.into_iter().filter(|part| !part.is_empty()).collect();
        Some(title.join(", "))
    }

    /// Describes the parameters that the row picks, in few words: `2 CPUs`, `4 KiB, depth 32`;
    /// `None` without a row.
    pub fn configuration(&self, run: &Run) -> Option<String> {
        let (row, m) = (self.row?, self.measurement);
        let names: Vec<&str> = match m.subsystem.info().uses_block_devices {
            true => {
                let threads = (m.params.threads() > 1).then_some(key::THREADS.name());
                let in_place = m.params.get(key::MODE) != Some(word::APPEND);
                let mode = in_place.then_some(key::MODE.name());
                let first = [key::BLOCK_SIZE.name(), key::QUEUE_DEPTH.name()];
                let last = [threads, mode, Some(key::METHOD.name())];
                first.into_iter().chain(last.into_iter().flatten()).collect()
            }
            false => {
                let open = row.picks.iter().filter(|pick| is_open(run, m, pick));
                open.map(|pick| &*pick.parameter).chain(unusual(run, m, row)).collect()
            }
        };
        let usual = |way: &String| way == "direct" || way == "direct, flush included";
        let words = names.into_iter().filter_map(|name| word(run, m, name));
        let words: Vec<String> = words.chain(io_path(m).filter(|way| !usual(way))).collect();
        Some(words.join(", "))
    }
}

/// Returns the parameters that are not at their default and that the row does not pick. The value
/// of `auto` is left out, and so is the amount of work.
fn unusual<'a>(run: &'a Run, m: &Measurement, row: &MainRow) -> Vec<&'a str> {
    let declared = run.workloads.get(&m.workload).map_or(&[][..], |s| &s.parameters);
    let is_unusual = |p: &&Parameter| {
        let kept = [AUTO, ""].contains(&&*p.default)
            || Params::counts_threads(&p.name)
            || row.picks.iter().any(|pick| pick.parameter == p.name);
        !kept && value(m, &p.name).is_some_and(|v| v != p.default)
    };
    declared.iter().filter(is_unusual).map(|p| &*p.name).collect()
}

/// Returns true if the row's title does not give the value of the parameter.
fn is_open(run: &Run, m: &Measurement, pick: &Pick) -> bool {
    let own = m.params.named(&pick.parameter);
    let spec = run.workloads.get(&m.workload);
    match &pick.value {
        // A row that shows another value than it picks says so. The report's head names the path to
        // the server.
        PickedValue::Is(wanted) => {
            key::PATH != *pick.parameter && own.is_some_and(|v| v.to_string() != *wanted)
        }
        PickedValue::UsableCpus | PickedValue::Smallest => true,
        PickedValue::Best | PickedValue::Largest => {
            let is_axis = spec.and_then(|s| s.axis.as_deref()) == Some(&*pick.parameter);
            let others = run.measurements.iter().filter(|o| o.workload == m.workload);
            let mut others = others.filter(|o| o.series.is_none());
            is_axis
                || key::THREADS == *pick.parameter
                || others.any(|o| o.params.named(&pick.parameter) != own)
        }
    }
}

/// Describes one parameter: `2 CPUs`, `depth 32`, `4 KiB`.
fn word(run: &Run, m: &Measurement, name: &str) -> Option<String> {
    const SIZE: &str = key::MATRIX_SIZE.name();
    const THREADS: &str = key::THREADS.name();
    const STREAMS: &str = key::STREAMS.name();
    const DEPTH: &str = key::QUEUE_DEPTH.name();
    let cpus = run.host.limits.usable_cpus.len() as u64;
    let kind = run.workloads.get(&m.workload).and_then(|s| s.parameter(name)).map(|p| &p.kind);
    Some(match (name, m.params.named(name)?) {
        // The largest problem fills the row; the workload's section gives its size.
        (SIZE, _) => return None,
        (THREADS, Param::Int(n))
            if !m.subsystem.info().uses_block_devices && (cpus == 0 || *n <= cpus) =>
        {
            counted(*n, "CPU")
        }
        (THREADS | STREAMS, Param::Int(n)) => counted(*n, name.trim_end_matches('s')),
        (DEPTH, Param::Int(n)) => format!("depth {n}"),
        (_, Param::Int(n)) if matches!(kind, Some(ParameterKind::Size { .. })) => format_size(*n),
        (_, Param::Int(n)) => format!("{} {}", name.replace('_', " "), format_count(*n)),
        (_, other) => clean(&other.to_string()),
    })
}
