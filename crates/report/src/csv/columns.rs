//! The columns in their order.

use proofmark_model::{EndTraffic, FileState, Run, Solution, TcpState, Trial, Unit};

use super::{Cell, Column, Columns, Row, fixed, parameters};
use crate::view::{median, trial_iops, why_no_trials};

/// Returns the columns of a run's table.
pub fn all(run: &Run) -> Vec<Column<'_, Row<'_>>> {
    let mut after: Vec<Column<Row>> = fixed(Row::RESULT).collect();
    after.extend(TRIAL.iter().map(|(name, cell)| trial_column(*name, cell)));
    for (end, traffic) in ENDS {
        let end_column = |(name, cell): &'static (&str, fn(&EndTraffic) -> Cell)| {
            let cell = move |t: &Trial| t.network.as_ref().map(|n| cell(traffic(n))).into();
            trial_column(format!("{end}_{name}"), cell)
        };
        after.extend(END.iter().map(end_column));
    }
    after.extend(SOLUTION.iter().map(|(name, cell)| trial_column(*name, cell)));
    after.extend(fixed(Row::MISSING));
    // Names of parameters do not depend on whether a reference tool ran.
    let others = Row::RUN.iter().chain(Row::TOOL).map(|(name, _)| (*name).to_owned());
    let taken = others.chain(after.iter().map(|(name, _)| name.clone())).collect();
    let params = run.measurements.iter().map(|m| &m.params);
    let mut all: Vec<Column<Row>> = fixed(Row::RUN).collect();
    if run.measurements.iter().any(|m| !m.references.is_empty()) {
        all.extend(fixed(Row::TOOL));
    }
    all.extend(parameters(params, |row: &Row| &row.m.params, &taken));
    all.extend(after);
    all
}

/// Returns a column about the trial, which is empty where only the trial's value is known.
fn trial_column<'a>(
    name: impl Into<String>,
    cell: impl Fn(&Trial) -> Cell + 'a,
) -> Column<'a, Row<'a>> {
    (name.into(), Box::new(move |row: &Row| row.known.map(&cell).into()))
}

impl<'a> Row<'a> {
    const RUN: &'a Columns<Self> = &[
        ("run_id", |r| r.run.started.to_string().into()),
        ("host", |r| r.run.host.os.host_name.get().map(String::as_str).into()),
        ("label", |r| r.run.label.as_deref().into()),
        ("workload", |r| (&*r.m.workload).into()),
        ("subsystem", |r| r.m.subsystem.as_str().into()),
    ];

    /// The tool of a row, where reference tools ran.
    const TOOL: &'a Columns<Self> = &[
        ("tool", |r| r.tool.map_or("proofmark", |t| &t.tool).into()),
        ("tool_version", |r| r.tool.map_or(&*r.run.tool.version, |t| &t.version).into()),
        ("command", |r| r.tool.map(|t| &*t.command).into()),
    ];

    const RESULT: &'a Columns<Self> = &[
        ("trial", |r| r.trial.map(|(at, _)| at as u64).into()),
        ("value", |r| r.trial.map(|(_, v)| v).into()),
        ("unit", |r| r.m.unit.as_str().into()),
        ("iops", |r| r.trial.and_then(|(_, v)| trial_iops(r.m, v)).into()),
        ("seconds_s", |r| r.known.map(|t| t.seconds).into()),
        ("work", |r| r.known.map(|t| t.work).into()),
        ("work_unit", |r| work_unit(r.m.unit).into()),
        ("moved_bytes", |r| r.known.and_then(|t| t.moved).into()),
        ("background_bytes_per_s", |r| r.known.and_then(|t| t.background).into()),
        ("started_utc", |r| r.known.map(|t| t.started.to_string()).into()),
        ("verdict", |r| r.tool.map_or(r.m.verdict, |t| t.verdict).as_str().into()),
    ];

    /// The reason why a measurement has no trials.
    const MISSING: &'a Columns<Self> =
        &[("missing", |r| r.trial.is_none().then(|| why_no_trials(r.m)).into())];
}

/// Columns of a trial's conditions, its disk, its file and its network.
const TRIAL: &Columns<Trial> = &[
    ("clock_hz", |t| t.conditions.clock_hz.into()),
    ("clock_spread", |t| t.conditions.clock_spread.into()),
    ("clock_disagreement", |t| t.conditions.clock_disagreement.into()),
    ("steal_s", |t| t.conditions.steal_s.into()),
    ("throttled_s", |t| t.conditions.throttled_s.into()),
    ("other_cpu_s", |t| t.conditions.other_cpu_s.into()),
    ("own_cpu_s", |t| t.conditions.own_cpu_s.into()),
    ("involuntary_switches", |t| t.conditions.involuntary_switches.into()),
    ("migrations", |t| t.conditions.migrations.into()),
    ("minor_faults", |t| t.conditions.minor_faults.into()),
    ("major_faults", |t| t.conditions.major_faults.into()),
    ("swapped_pages", |t| t.conditions.swapped_pages.into()),
    ("huge_pages_share", |t| t.conditions.huge_pages.into()),
    ("misplaced_pages_share", |t| t.conditions.misplaced_pages.into()),
    ("device_read_bytes", |t| t.device.as_ref().map(|d| d.read_bytes).into()),
    ("device_written_bytes", |t| t.device.as_ref().map(|d| d.written_bytes).into()),
    ("device_reads", |t| t.device.as_ref().map(|d| d.reads).into()),
    ("device_writes", |t| t.device.as_ref().map(|d| d.writes).into()),
    ("device_flushes", |t| t.device.as_ref().map(|d| d.flushes).into()),
    ("device_busy_s", |t| t.device.as_ref().map(|d| d.busy_s).into()),
    ("device_in_flight_s", |t| t.device.as_ref().map(|d| d.in_flight_s).into()),
    ("own_read_bytes", |t| t.device.as_ref().map(|d| d.own_read_bytes).into()),
    ("own_written_bytes", |t| t.device.as_ref().map(|d| d.own_written_bytes).into()),
    ("asked_read_bytes", |t| t.file.as_ref().map(|f| f.asked_read_bytes).into()),
    ("asked_written_bytes", |t| t.file.as_ref().map(|f| f.asked_written_bytes).into()),
    ("file_direct", |t| t.file.as_ref().map(|f| f.direct).into()),
    ("file_size_bytes", |t| t.file.as_ref().map(|f| f.size_bytes).into()),
    ("file_unwritten_share", |t| t.file.as_ref().map(|f| f.unwritten).into()),
    ("file_cached_share", |t| t.file.as_ref().map(|f| f.cached).into()),
    ("file_entropy_bits", |t| t.file.as_ref().map(|f| f.entropy_bits).into()),
    ("file_flushed", |t| t.file.as_ref().map(FileState::flushed).into()),
    ("sent_bytes", |t| t.network.as_ref().map(|n| n.sent_bytes).into()),
    ("received_bytes", |t| t.network.as_ref().map(|n| n.received_bytes).into()),
    ("datagrams_sent", |t| datagrams(t).map(|d| d.sent).into()),
    ("datagrams_received", |t| datagrams(t).map(|d| d.received).into()),
    ("datagrams_reordered", |t| datagrams(t).map(|d| d.reordered).into()),
    ("datagrams_duplicated", |t| datagrams(t).map(|d| d.duplicated).into()),
    ("jitter_s", |t| datagrams(t).map(|d| d.jitter_s).into()),
    ("tcp_retransmits", |t| t.network.as_ref().map(|n| n.retransmits()).into()),
    ("tcp_window_bytes", |t| tcp(t, |s| s.window_bytes as f64)),
    ("tcp_rtt_s", |t| tcp(t, |s| s.rtt_s)),
    ("tcp_segment_bytes", |t| tcp(t, |s| s.segment_bytes as f64)),
];

fn datagrams(t: &Trial) -> Option<proofmark_model::Datagrams> {
    t.network.as_ref()?.datagrams
}

/// Returns the median over the connections.
fn tcp(t: &Trial, read: fn(&TcpState) -> f64) -> Cell {
    median(t.network.iter().flat_map(|n| &n.streams).map(read)).into()
}

type Traffic = fn(&proofmark_model::NetworkTraffic) -> &EndTraffic;

const ENDS: [(&str, Traffic); 2] = [("client", |n| &n.client), ("server", |n| &n.server)];

/// Columns of each end of a network.
const END: &Columns<EndTraffic> = &[
    ("interface_in_bytes", |e| e.in_bytes.into()),
    ("interface_out_bytes", |e| e.out_bytes.into()),
    ("interface_in_packets", |e| e.in_packets.into()),
    ("interface_out_packets", |e| e.out_packets.into()),
    ("interface_dropped", |e| e.dropped.into()),
    ("tcp_retransmits", |e| e.retransmits.into()),
    ("in_datagrams", |e| e.in_datagrams.into()),
    ("out_datagrams", |e| e.out_datagrams.into()),
    ("full_buffers", |e| e.full_buffers.into()),
    ("cpu_dropped", |e| e.cpu_dropped.into()),
    ("own_cpu_s", |e| e.own_cpu_s.into()),
    ("busy_s", |e| e.busy_s.into()),
    ("cpus", |e| e.cpus.into()),
];

/// Columns of a linear solver.
const SOLUTION: &Columns<Trial> = &[
    ("leading_dimension", |t| t.solution.as_ref().map(|s| s.leading_dimension).into()),
    ("alignment_bytes", |t| t.solution.as_ref().map(|s| s.alignment).into()),
    ("residual", |t| t.solution.as_ref().map(|s| s.residual).into()),
    ("normalised_residual", |t| t.solution.as_ref().map(|s| s.normalised_residual).into()),
    ("residual_passes", |t| t.solution.as_ref().map(Solution::passes).into()),
];

/// Returns the unit of the work of a trial whose rate has this unit.
fn work_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::FlopPerSecond => "FLOP",
        Unit::OpPerSecond | Unit::Second => "op",
        Unit::Hertz => "cycle",
        Unit::BytePerSecond => "B",
        Unit::BitPerSecond => "bit",
    }
}
