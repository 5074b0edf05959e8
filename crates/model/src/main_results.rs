//! The main results, which workloads declare before the run: the rows of a report's first screen.
//! `compare` shows them first as well; `check --require` asks them.
//!
//! Parameters of the plan choose them; of the results, only the speed of an instruction set does.
//! Neither verdict nor precision moves a headline: that choice would put the luckiest configuration
//! first.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AUTO, Better, Key, Measurement, Param, Parameter, ParameterKind, Params, Run, Subsystem,
    WorkloadSpec, clean, counted, format_count, format_size, key, way, word,
};

/// A row of the first screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MainRow {
    /// Place among the rows of the subsystem, from 1.
    pub place: u32,
    /// Title, such as `Random read`.
    pub title: Cow<'static, str>,
    /// The configuration that fills the row. Other parameters are at their default, and there are
    /// as many threads as CPUs.
    pub picks: Cow<'static, [Pick]>,
}

/// The choice of one of the measured values of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pick {
    /// Name of the parameter.
    pub parameter: Cow<'static, str>,
    /// The value to choose; if it was not measured, any.
    pub value: PickedValue,
}

/// A choice among the measured values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PickedValue {
    /// The given value.
    Is(Cow<'static, str>),
    /// The smallest value.
    Smallest,
    /// The largest value.
    Largest,
    /// One thread per usable CPU, or the next fewer.
    UsableCpus,
    /// The value with the best figure: for instruction sets only.
    Best,
}

/// A main result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MainResult<'a> {
    /// The row that it fills; `None` where the workload declares none.
    pub row: Option<&'a MainRow>,
    /// The result.
    pub measurement: &'a Measurement,
}

impl MainResult<'_> {
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
        let words: Vec<String> = words.chain(way(m).filter(|way| !usual(way))).collect();
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
            let axis = spec.and_then(|s| s.axis.as_deref()).unwrap_or(key::THREADS.name());
            let others = run.measurements.iter().filter(|o| o.workload == m.workload);
            let mut others = others.filter(|o| o.series.is_none());
            axis == pick.parameter
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

/// Maximum number of results for a first screen with all of them.
const FEW: usize = 18;

impl Run {
    /// Returns the results on the first screen, by subsystem. A run with few results shows all.
    /// Otherwise it shows the declared rows; a subsystem without rows shows one result per
    /// workload.
    pub fn main_results(&self) -> Vec<(Subsystem, Vec<MainResult<'_>>)> {
        let of = |part: Subsystem| (part, self.main_results_of(part));
        let all = Subsystem::KNOWN.iter().copied().map(of);
        all.filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty()).collect()
    }

    fn main_results_of<'a>(&'a self, part: Subsystem) -> Vec<MainResult<'a>> {
        let here: Vec<&Measurement> =
            self.measurements.iter().filter(|m| m.subsystem == part).collect();
        if self.measurements.len() <= FEW {
            let alone = |measurement| MainResult { row: None, measurement };
            return here.into_iter().map(alone).collect();
        }
        let declared = self.declared(&here);
        if !declared.is_empty() {
            return declared;
        }
        let mut seen: Vec<&str> = Vec::new();
        for m in &here {
            if !seen.contains(&&*m.workload) {
                seen.push(&m.workload);
            }
        }
        let of_workload = |id: &str| {
            let all: Vec<_> = here.iter().copied().filter(|m| m.workload == id).collect();
            let measurement = answer(self, &all)?;
            Some(MainResult { row: None, measurement })
        };
        seen.into_iter().filter_map(of_workload).take(FEW).collect()
    }

    /// Returns the results of the declared rows in their order, each once.
    fn declared<'a>(&'a self, here: &[&'a Measurement]) -> Vec<MainResult<'a>> {
        let rows = |spec: &'a WorkloadSpec| spec.role.main_rows.iter().map(move |row| (spec, row));
        let mut rows: Vec<_> = self.workloads.values().flat_map(rows).collect();
        rows.sort_by_key(|(_, row)| row.place);
        let mut found: Vec<MainResult> = Vec::new();
        for (spec, row) in rows {
            let all: Vec<_> = here
                .iter()
                .copied()
                .filter(|m| m.workload == spec.id && m.series.is_none())
                .collect();
            let Some(measurement) = picked(self, Some(spec), &row.picks, all) else { continue };
            if found.iter().all(|h| !std::ptr::eq(h.measurement, measurement)) {
                found.push(MainResult { row: Some(row), measurement });
            }
        }
        found
    }
}

/// Returns the main result of one workload among these: that of its last row, as with all CPUs or
/// the deepest queue. Without a row the defaults decide. Of several that fit, it is the first of
/// the run, as on the first screen, in whatever order they are given.
pub fn answer<'a>(run: &'a Run, all: &[&'a Measurement]) -> Option<&'a Measurement> {
    let spec = run.workloads.get(&all.first()?.workload);
    let row = spec.and_then(|s| s.role.main_rows.last());
    let places = run.measurements.iter().enumerate().map(|(i, m)| (std::ptr::from_ref(m), i));
    let places: BTreeMap<*const Measurement, usize> = places.collect();
    let mut all = all.to_vec();
    // Results that the run does not hold, such as a missing one, come last.
    all.sort_by_key(|m| places.get(&std::ptr::from_ref(*m)).copied().unwrap_or(usize::MAX));
    picked(run, spec, row.map_or(&[], |r| &r.picks), all)
}

fn picked<'a>(
    run: &Run,
    spec: Option<&WorkloadSpec>,
    picks: &[Pick],
    mut left: Vec<&'a Measurement>,
) -> Option<&'a Measurement> {
    let cpus = run.host.limits.usable_cpus.len() as u64;
    let named = |name: &str| picks.iter().any(|p| p.parameter == name);
    let narrow = |left: Vec<&'a Measurement>, pick: &Pick| {
        keep(left, |m, all| pick.value.holds(&pick.parameter, m, all, cpus))
    };
    let is_fixed = |pick: &&Pick| matches!(pick.value, PickedValue::Is(_));
    for pick in picks.iter().filter(is_fixed) {
        left = narrow(left, pick);
    }
    for parameter in spec.map_or(&[][..], |s| &s.parameters).iter().filter(|p| !named(&p.name)) {
        let is_default =
            |m: &Measurement| value(m, &parameter.name).is_some_and(|v| v == parameter.default);
        if !Params::counts_threads(&parameter.name) {
            left = keep(left, |m, _| is_default(m));
        }
    }
    // Over all numbers of threads, so that a failed result does not leave its row to another
    // instruction set.
    for pick in picks.iter().filter(|p| p.value == PickedValue::Best) {
        let wanted = best(&left).and_then(|m| value(m, &pick.parameter));
        left = keep(left, |m, _| value(m, &pick.parameter) == wanted);
    }
    for pick in picks.iter().filter(|p| !is_fixed(p)) {
        left = narrow(left, pick);
    }
    for name in Params::THREADS.map(Key::name).into_iter().filter(|name| !named(name)) {
        left = keep(left, |m, all| PickedValue::UsableCpus.holds(name, m, all, cpus));
    }
    let axis = spec.and_then(|s| s.axis.as_deref());
    if let Some(axis) = axis.filter(|axis| !named(axis) && !Params::counts_threads(axis)) {
        left = keep(left, |m, all| PickedValue::Largest.holds(axis, m, all, cpus));
    }
    left.first().copied()
}

/// Keeps those for which `holds` is true; all if it is true for none.
fn keep(
    all: Vec<&Measurement>,
    holds: impl Fn(&Measurement, &[&Measurement]) -> bool,
) -> Vec<&Measurement> {
    let kept: Vec<_> = all.iter().copied().filter(|m| holds(m, &all)).collect();
    if kept.is_empty() { all } else { kept }
}

fn value(m: &Measurement, parameter: &str) -> Option<String> {
    m.params.named(parameter).map(ToString::to_string)
}

fn number(m: &Measurement, parameter: &str) -> Option<u64> {
    match Params::counts_threads(parameter) {
        true => Some(m.params.threads()),
        false => m.params.number(parameter),
    }
}

impl PickedValue {
    fn holds(&self, parameter: &str, m: &Measurement, all: &[&Measurement], cpus: u64) -> bool {
        let numbers = || all.iter().filter_map(|m| number(m, parameter));
        let is = |wanted: Option<u64>| wanted.is_some() && number(m, parameter) == wanted;
        match self {
            Self::Is(wanted) => value(m, parameter).is_some_and(|v| v == *wanted),
            Self::Smallest => is(numbers().min()),
            Self::Largest => is(numbers().max()),
            Self::UsableCpus => is(numbers().filter(|n| *n <= cpus).max().or(numbers().min())),
            Self::Best => true,
        }
    }
}

/// Returns the result with the best figure, whatever its verdict; the first where none has one.
pub fn best<'a>(all: &[&'a Measurement]) -> Option<&'a Measurement> {
    let figure = |m: &Measurement| m.summary.as_ref().map(|s| s.value()).filter(|v| v.is_finite());
    let rated = all.iter().copied().filter_map(|m| Some((m, figure(m)?)));
    let better = |a: (&'a Measurement, f64), b: (&'a Measurement, f64)| {
        let wins = match a.0.better {
            Better::Higher => b.1 > a.1,
            Better::Lower => b.1 < a.1,
        };
        if wins { b } else { a }
    };
    rated.reduce(better).map(|(m, _)| m).or_else(|| all.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{measurement, run, spec};
    use crate::{Parameter, ParameterKind, Unit, Verdict};

    const fn pick(parameter: &'static str, value: PickedValue) -> Pick {
        Pick { parameter: Cow::Borrowed(parameter), value }
    }

    /// A workload with two rows and these results, each of which is faster than the one before.
    fn measured(points: &[(u64, &str, u64)]) -> Run {
        let mut spec = spec("disk.rand_read", Unit::BytePerSecond);
        spec.subsystem = Subsystem::Disk;
        spec.parameters = Cow::Owned(vec![Parameter {
            name: "block_size".into(),
            about: "".into(),
            kind: ParameterKind::Size { min: 1, max: 1 << 20 },
            default: "4096".into(),
        }]);
        let row = |place, title: &'static str, depth| MainRow {
            place,
            title: title.into(),
            picks: Cow::Owned(vec![pick("queue_depth", depth), pick("isa", PickedValue::Best)]),
        };
        let rows = vec![row(2, "deep", PickedValue::Largest), row(1, "one", PickedValue::Smallest)];
        spec.role.main_rows = Cow::Owned(rows);
        let of = |(i, (depth, isa, block)): (usize, &(u64, &str, u64))| {
            let params = Params::default().with(key::QUEUE_DEPTH, *depth).with(key::ISA, *isa);
            measurement(&spec, params.with(key::BLOCK_SIZE, *block), &[1.0 + i as f64; 8])
        };
        let all = points.iter().enumerate().map(of).collect();
        let mut run = run(all);
        run.workloads.insert(spec.id.to_string(), spec);
        run
    }

    /// Titles, depths and blocks of the rows.
    fn rows(run: &Run) -> Vec<(String, u64, String, u64)> {
        let of = |h: &MainResult| {
            let p = &h.measurement.params;
            let title = h.row.map_or_else(String::new, |r| r.title.to_string());
            let isa = p.get(key::ISA).unwrap().to_owned();
            (title, p.get(key::QUEUE_DEPTH).unwrap(), isa, p.get(key::BLOCK_SIZE).unwrap())
        };
        run.main_results().iter().flat_map(|(_, rows)| rows.iter().map(of)).collect()
    }

    /// More results than a first screen with all of them holds.
    fn sweep() -> Vec<(u64, &'static str, u64)> {
        let blocks = [4096, 8192, 65536];
        let of = |depth| blocks.map(|b| ["a", "b"].map(|isa| (depth, isa, b))).concat();
        [1, 4, 8, 32].into_iter().flat_map(of).collect()
    }

    #[test]
    fn declared_rows_come_in_their_order_and_of_defaults() {
        let run = measured(&sweep());
        let expected = [
            ("one".to_owned(), 1, "b".to_owned(), 4096),
            ("deep".to_owned(), 32, "b".to_owned(), 4096),
        ];
        assert_eq!(rows(&run), expected, "the default block, and the best instruction set");
        // The last declared row is the workload's main result.
        let all: Vec<&Measurement> = run.measurements.iter().collect();
        assert_eq!(answer(&run, &all).unwrap().params.get(key::QUEUE_DEPTH), Some(1));
    }

    #[test]
    fn what_was_not_measured_is_replaced_and_no_result_is_there_twice() {
        let mut run = measured(&sweep());
        run.measurements.retain(|m| m.params.get(key::QUEUE_DEPTH) == Some(8));
        run.measurements.retain(|m| m.params.get(key::BLOCK_SIZE) != Some(4096));
        run.measurements.extend(run.measurements.clone());
        run.measurements.extend(run.measurements.clone());
        run.measurements.extend(run.measurements.clone());
        assert_eq!(rows(&run).len(), 1, "{:?}", rows(&run));
    }

    #[test]
    fn of_few_results_all_are_there() {
        let run = measured(&sweep()[..5]);
        assert_eq!(run.main_results()[0].1.len(), 5);
        assert!(run.main_results()[0].1.iter().all(|h| h.row.is_none()));
    }

    #[test]
    fn no_verdict_moves_a_row_and_only_the_figure_chooses_an_instruction_set() {
        let mut run = measured(&sweep());
        let before = rows(&run);
        run.measurements.iter_mut().for_each(|m| m.verdict = Verdict::Invalid);
        assert_eq!(rows(&run), before);
        for m in &mut run.measurements {
            if m.params.get(key::ISA) == Some("b") {
                m.summary = None;
            }
        }
        assert!(rows(&run).iter().all(|(_, _, isa, _)| isa == "a"), "{:?}", rows(&run));
    }
}
