//! The statistics and units that fit a workload, for requirements and for messages about mistyped
//! ones.

use proofmark_model::{Cut, FigureKind, Measurement, Run, Unit, WorkloadSpec, and_list};

use super::{STATISTICS, Statistic};

/// The unit of a number; `None` is a share.
pub(super) type Dimension = Option<Unit>;

/// A limit in a base unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) dimension: Dimension,
}

/// The units of a statistic of a workload. Random disk I/O is required in bytes or in operations.
pub(super) fn dimensions(statistic: Statistic, spec: &WorkloadSpec) -> Vec<Dimension> {
    match statistic {
        Statistic::Delivered if has_iops(spec) => vec![Some(spec.unit), Some(Unit::OpPerSecond)],
        Statistic::Delivered | Statistic::Attainable | Statistic::Typical => vec![Some(spec.unit)],
        Statistic::Efficiency => vec![None],
        Statistic::Iops => vec![Some(Unit::OpPerSecond)],
        _ => vec![Some(Unit::Second)],
    }
}

fn has_iops(spec: &WorkloadSpec) -> bool {
    let bytes_on_disk =
        spec.subsystem.info().uses_block_devices && spec.unit == Unit::BytePerSecond;
    bytes_on_disk && spec.work.is_random()
}

const PERCENT: &str = "%";

/// Reads a number in a typed unit, which must be one of these; without any, a known one.
pub(super) fn amount(number: f64, unit: &str, fitting: &[&str]) -> Option<Amount> {
    if !fitting.contains(&unit) {
        return None;
    }
    if unit == PERCENT {
        return Some(Amount { value: number / 100.0, dimension: None });
    }
    let (_, dimension, factor) = Unit::TYPED.iter().find(|(word, ..)| *word == unit)?;
    Some(Amount { value: number * factor, dimension: Some(*dimension) })
}

/// Units as typed that a statistic of a workload may have; of an unknown workload, all that the
/// statistic may have.
pub(super) fn typed_units(statistic: Statistic, spec: Option<&WorkloadSpec>) -> Vec<&'static str> {
    const OF_DISKS: &str = "IOPS";
    let dimensions = match spec {
        Some(spec) => dimensions(statistic, spec),
        None => match statistic {
            Statistic::Efficiency => vec![None],
            Statistic::Iops => vec![Some(Unit::OpPerSecond)],
            Statistic::Delivered | Statistic::Attainable | Statistic::Typical => {
                Unit::ALL.into_iter().map(Some).collect()
            }
            _ => vec![Some(Unit::Second)],
        },
    };
    let disk = spec.is_none_or(|s| s.subsystem.info().uses_block_devices);
    let typed = Unit::TYPED.iter().filter(|(word, unit, _)| {
        dimensions.contains(&Some(*unit)) && (disk || !word.ends_with(OF_DISKS))
    });
    let percent = dimensions.contains(&None).then_some(PERCENT);
    typed.map(|(word, ..)| *word).chain(percent).collect()
}

/// Returns true if results of a workload have the statistic: those of the run, or of another run
/// that measures the same. Single operations are timed where the work waits for a device, if at all.
pub(super) fn has_statistic(statistic: Statistic, run: &Run, spec: &WorkloadSpec) -> bool {
    let measured: Vec<&Measurement> =
        run.measurements.iter().filter(|m| m.workload == spec.id && m.summary.is_some()).collect();
    let any = |has: &dyn Fn(&Measurement) -> bool| measured.iter().any(|m| has(m));
    let waits = spec.work.cut() == Cut::Single;
    let figure = |kind: FigureKind| {
        let cut = !waits && run.imported.is_none();
        cut || any(&|m| m.summary.as_ref().is_some_and(|s| s.figure(kind).value.is_some()))
    };
    match statistic {
        Statistic::Delivered => spec.unit.is_work(),
        Statistic::Attainable => figure(FigureKind::Attainable),
        Statistic::Typical => figure(FigureKind::Typical),
        Statistic::Efficiency => !spec.ceilings.is_empty() || any(&|m| m.efficiency.is_some()),
        Statistic::Iops => has_iops(spec) || spec.unit == Unit::OpPerSecond,
        _ => waits && measured.is_empty() || any(&|m| m.latency.is_some()),
    }
}

/// Returns `no statistic 'p98' of disk.fsync; there are delivered, mean and p50`.
pub(super) fn no_statistic(word: &str, run: &Run, spec: &WorkloadSpec) -> String {
    let all = STATISTICS.iter().filter(|(_, statistic)| has_statistic(*statistic, run, spec));
    let all = and_list(all.map(|(word, _)| *word));
    format!("no statistic '{word}' of {}; there are {all}", spec.id)
}

/// Returns `no unit 'msec' for p99 of disk.fsync; there are s, ms and us`.
pub(super) fn no_unit(
    unit: &str,
    statistic: Statistic,
    workload: &str,
    fitting: &[&str],
) -> String {
    let of = format!("{} of {workload}", statistic.word());
    let (are, all) = (if fitting.len() == 1 { "is" } else { "are" }, and_list(fitting));
    match unit {
        "" => format!("{of} needs a unit; there {are} {all}"),
        _ => format!("no unit '{unit}' for {of}; there {are} {all}"),
    }
}
