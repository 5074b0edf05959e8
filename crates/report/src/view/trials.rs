//! Every trial of a workload, with the system's counters.

use proofmark_model::{Conditions, Measurement, Trial, Unit};

use super::columns::not_finite;
use super::label::{Group, why_no_trials};
use super::num::{Scale, median, plain};
use super::shared_parts::keyed;
use super::table::Table;

/// A title, a unit and a trial's value.
type Column = (&'static str, Option<&'static str>, fn(&Trial) -> Option<f64>);

/// Maximum number of such columns that a page has room for.
const SHOWN: usize = 4;

/// Columns that are shown unless they are 0 in all trials.
const COLUMNS: [Column; 32] = [
    ("moved", Some("B"), |t| t.moved),
    ("load moved", Some("B/s"), |t| t.background),
    ("clock", Some("GHz"), |t| t.conditions.clock_hz.map(|v| v / 1e9)),
    ("steal", Some("s"), |t| t.conditions.steal_s),
    ("throttled", Some("s"), |t| t.conditions.throttled_s),
    ("other processes", Some("s"), |t| t.conditions.other_cpu_s),
    ("unused CPUs busy", Some("s"), |t| t.conditions.elsewhere_cpu_s),
    ("own CPU", Some("s"), |t| t.conditions.own_cpu_s),
    ("switches", None, |t| count(&t.conditions, |c| c.involuntary_switches)),
    ("migrations", None, |t| count(&t.conditions, |c| c.migrations)),
    ("minor faults", None, |t| count(&t.conditions, |c| c.minor_faults)),
    ("major faults", None, |t| count(&t.conditions, |c| c.major_faults)),
    ("swapped pages", None, |t| count(&t.conditions, |c| c.swapped_pages)),
    ("in huge pages", Some("%"), |t| t.conditions.huge_pages.map(|v| v * 100.0)),
    ("on a wrong node", Some("%"), |t| t.conditions.misplaced_pages.map(|v| v * 100.0)),
    ("requested reads", Some("B"), |t| t.file.as_ref().map(|f| f.asked_read_bytes as f64)),
    ("requested writes", Some("B"), |t| t.file.as_ref().map(|f| f.asked_written_bytes as f64)),
    ("device read", Some("B"), |t| t.device.as_ref().map(|d| d.read_bytes as f64)),
    ("device wrote", Some("B"), |t| t.device.as_ref().map(|d| d.written_bytes as f64)),
    ("flushes", None, |t| t.device.as_ref()?.flushes.map(|v| v as f64)),
    ("device busy", Some("s"), |t| t.device.as_ref().map(|d| d.busy_s)),
    ("in flight", None, |t| t.device.as_ref().map(|d| d.in_flight_s / t.seconds)),
    ("file cached", Some("%"), |t| t.file.as_ref()?.cached.map(|v| v * 100.0)),
    ("never written", Some("%"), |t| t.file.as_ref()?.unwritten.map(|v| v * 100.0)),
    ("entropy", Some("bit/B"), |t| t.file.as_ref()?.entropy_bits),
    ("sent", Some("B"), |t| t.network.as_ref().map(|n| n.sent_bytes as f64)),
    ("received", Some("B"), |t| t.network.as_ref().map(|n| n.received_bytes as f64)),
    ("lost", Some("%"), |t| t.network.as_ref()?.datagrams.map(|d| d.loss() * 100.0)),
    ("client CPU", Some("s"), |t| t.network.as_ref()?.client.own_cpu_s),
    ("server CPU", Some("s"), |t| t.network.as_ref()?.server.own_cpu_s),
    ("buffer full", None, |t| t.network.as_ref()?.client.full_buffers.map(|v| v as f64)),
    ("disk and network I/O", Some("B"), |t| count(&t.conditions, |c| c.io_bytes)),
];

fn count(c: &Conditions, read: fn(&Conditions) -> Option<u64>) -> Option<f64> {
    read(c).map(|v| v as f64)
}

/// Bytes per second that the hardware must transfer for the headline: the figure times the bytes
/// moved per byte counted.
pub fn moved(m: &Measurement) -> Option<f64> {
    if m.unit != Unit::BytePerSecond {
        return None;
    }
    let per_byte = median(m.trials.iter().filter_map(|t| Some(t.moved? / t.work)))?;
    Some(per_byte * m.summary.as_ref()?.value())
}

/// Bytes per second that the other threads moved: the median over the trials.
pub fn background(m: &Measurement) -> Option<f64> {
    median(m.trials.iter().filter_map(|t| t.background))
}

/// The unit of a trial's work.
fn work(group: &Group) -> &'static str {
    match group.all.first().map(|m| m.unit) {
        Some(Unit::FlopPerSecond) => "FLOP",
        Some(Unit::Hertz) => "cycles",
        Some(Unit::BytePerSecond) => "B",
        Some(Unit::BitPerSecond) => "bit",
        _ => "op",
    }
}

/// The unit of the verified work: bytes for a disk, else the unit of a trial's work.
pub fn verified(group: &Group) -> &'static str {
    let disk = group.all.iter().any(|m| m.subsystem.info().uses_block_devices);
    if disk { "B" } else { work(group) }
}

/// A trial with its index; a measurement without trials has one row without a trial.
type Row<'a> = (&'a Measurement, Option<(usize, &'a Trial)>);

fn trial<'a>(row: &Row<'a>) -> Result<&'a Trial, String> {
    row.1.map(|(_, t)| t).ok_or_else(|| why_no_trials(row.0))
}

/// One row per trial; a measurement without trials has one row with the reason.
pub fn table(group: &Group, scale: &Scale) -> Table {
    let recorded = |read: fn(&Trial) -> Option<f64>| {
        group.all.iter().flat_map(|m| &m.trials).any(|t| read(t).is_some_and(|v| v != 0.0))
    };
    let mut columns: Vec<&Column> = COLUMNS.iter().filter(|(_, _, read)| recorded(*read)).collect();
    let more = columns.len() > SHOWN;
    columns.truncate(SHOWN);
    let what = "every trial; columns that are 0 throughout are left out";
    let seconds = |t: &Trial| {
        let text = format!("{:.4}", t.seconds);
        let text = if text.len() > 12 { plain(t.seconds) } else { text };
        t.seconds.is_finite().then_some(text)
    };
    let mut table = keyed::<Row>(group, what)
        .number("trial", |(m, trial)| {
            trial.map(|(at, _)| (at + 1).to_string()).ok_or_else(|| why_no_trials(m))
        })
        .measured("value", scale.label(), |row| {
            scale.number(trial(row)?.value).ok_or_else(not_finite)
        })
        .measured("wall time", "s", |row| seconds(trial(row)?).ok_or_else(not_finite))
        .measured("work", work(group), |row| Ok::<_, String>(plain(trial(row)?.work)))
        .column("started, UTC", |row| {
            Ok::<_, String>(trial(row)?.started.0.strftime("%H:%M:%S%.3f").to_string())
        });
    for (title, unit, value) in columns {
        let read = |row: &Row| {
            let value = value(trial(row)?).map(plain);
            value.ok_or_else(|| "not reported by the system".to_owned())
        };
        table = match unit {
            Some(unit) => table.measured(title, unit, read),
            None => table.number(title, read),
        };
    }
    let mut table = table.rows(group.all.iter().flat_map(|m| {
        let trials = m.trials.iter().enumerate().map(|t| (*m, Some(t)));
        trials.chain(m.trials.is_empty().then_some((*m, None)))
    }));
    table.caption += if more { "; further columns are in report.csv" } else { "" };
    table
}
