//! The disk in few numbers: the fastest sequential read and write, random I/O one at a
//! time and with a queue, commits.

use proofmark_model::{Access, Measurement, Run, StorageKind, Summary, Unit};

use crate::view::declared::rows_of;
use crate::view::disk;
use crate::view::headline::{best, in_question, why_none};
use crate::view::label::Group;
use crate::view::latency::percentile;
use crate::view::num::{Scale, percent};
use crate::view::table::{Cell, Table};
use crate::view::text::clean;
use crate::view::workload::DEVICE;

/// Which of a workload's points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The fastest.
    Fastest,
    /// One I/O in flight a thread, on the fewest threads.
    Single,
    /// The fastest with more in flight.
    Queued,
}

/// A planned row: its name, its workload and its best usable result.
struct Line<'a> {
    name: String,
    /// I/Os in flight per thread, printed where there is no usable result.
    depth: Option<u64>,
    group: &'a Group<'a>,
    best: Option<(&'a Measurement, &'a Summary)>,
}

/// The table; without rows where no such workload was measured.
pub fn table(run: &Run, groups: &[Group]) -> Table {
    let rows = rows_of(groups, "disk_glance").into_iter();
    let lines: Vec<Line> = rows.flat_map(|(group, name)| lines(group, &name)).collect();
    let rates: Vec<f64> = lines
        .iter()
        .filter_map(|l| l.best)
        .filter(|(m, _)| m.unit == Unit::BytePerSecond)
        .map(|(_, s)| s.value())
        .collect();
    let rate = Scale::for_values(&rates, Unit::BytePerSecond);
    let times: Vec<f64> =
        lines.iter().filter_map(|l| l.best?.0.latency.as_ref()).map(|l| l.p50).collect();
    let time = Scale::for_values(&times, Unit::Second);
    let mut table = Table::new(format!("Disk at a glance{}", place(run)))
        .column("operation")
        .number("block")
        .spare(2)
        .number("depth")
        .number("threads")
        .spare(2)
        .measured("rate", rate.label())
        .measured("IOPS", Unit::OpPerSecond.as_str())
        .measured("p50", time.label())
        .measured("p99", time.label())
        .measured("device", "%")
        .spare(3)
        .explained("device", DEVICE)
        .column("verdict");
    table.keys = 4;
    for line in lines {
        let cells = cells(&line, &rate, &time, &mut table);
        table.push(cells);
    }
    table
}

/// The rows of a workload: with random I/O a queue is worth a row of its own.
fn lines<'a>(group: &'a Group<'a>, name: &str) -> Vec<Line<'a>> {
    let random = group.spec.is_some_and(|s| s.work.access == Some(Access::Random));
    let which = if random { &[Which::Single, Which::Queued][..] } else { &[Which::Fastest] };
    which.iter().filter_map(|which| line(group, name, *which)).collect()
}

fn line<'a>(group: &'a Group<'a>, name: &str, which: Which) -> Option<Line<'a>> {
    let asked = in_question(group);
    let depth = |m: &Measurement| m.params.int("queue_depth");
    let deepest = asked.iter().filter_map(|m| depth(m)).max();
    let at = match which {
        Which::Fastest => None,
        Which::Single => Some(1),
        Which::Queued => Some(deepest.filter(|d| *d > 1)?),
    };
    let fits = |m: &&Measurement| match which {
        Which::Fastest => true,
        Which::Single => depth(m) == at,
        Which::Queued => depth(m) > Some(1),
    };
    let mut points: Vec<&Measurement> = asked.into_iter().filter(fits).collect();
    if which == Which::Single {
        let fewest = points.iter().map(|m| m.params.threads()).min();
        points.retain(|m| Some(m.params.threads()) == fewest);
    }
    // A workload whose numbers are all the page cache's has a row that says so.
    if group.all.is_empty() || (which == Which::Single && points.is_empty()) {
        return None;
    }
    let best = best(group, &points);
    Some(Line { name: name.to_owned(), depth: at, best, group })
}

fn cells(line: &Line, rate: &Scale, time: &Scale, table: &mut Table) -> Vec<Cell> {
    let mut cells = vec![Cell::text(line.name.as_str())];
    let Some((m, s)) = line.best else {
        let none = table.missing(why_none(line.group));
        cells.resize(table.columns.len() - 1, none);
        if let Some(depth) = line.depth {
            cells[2] = Cell::text(depth.to_string());
        }
        let worst = line.group.all.iter().map(|m| m.verdict).max();
        cells.push(worst.map_or_else(|| Cell::text("-"), Cell::verdict));
        return cells;
    };
    cells[0].note = disk::way(m).map(|way| table.note(way));
    let parameter = |name: &str| line.group.text(m, name);
    cells.push(table.maybe(parameter("block_size"), || "no block size".to_owned()));
    let depth = parameter("queue_depth");
    cells.push(table.maybe(depth, || "each thread has one I/O in flight".to_owned()));
    cells.push(Cell::text(proofmark_model::format_count(m.params.threads())));
    let bytes = m.unit == Unit::BytePerSecond;
    let shown = rate.number(s.value()).filter(|_| bytes);
    cells.push(table.maybe(shown, || "the result counts commits, not bytes".to_owned()));
    let count = match disk::iops(m) {
        Some(scale) => scale.number(s.value()),
        None => Scale::iops(1).filter(|_| !bytes).and_then(|one| one.number(s.value())),
    };
    cells.push(table.maybe(count, || "no block size".to_owned()));
    cells.push(percentile(m, time, table, |l| Some(l.p50)));
    cells.push(percentile(m, time, table, |l| l.p99));
    let share = disk::device_share(m).and_then(percent);
    cells.push(table.maybe(share, || "not recorded in its trials".to_owned()));
    cells.push(Cell::verdict(m.verdict));
    cells
}

/// `: ext4 on vda (virtio), /data`.
fn place(run: &Run) -> String {
    let Some(s) = run.host.storage.get() else { return String::new() };
    let leaves: Vec<String> = s
        .leaves()
        .map(|d| match &d.transport {
            Some(t) => format!("{} ({t})", d.name),
            None => d.name.clone(),
        })
        .collect();
    let on = match (leaves.is_empty(), s.kind) {
        (false, _) => format!(" on {}", leaves.join(", ")),
        (true, StorageKind::Memory) => " in memory, not on a disk".to_owned(),
        (true, StorageKind::Network) => " on a network server, not on a local disk".to_owned(),
        (true, _) => String::new(),
    };
    clean(&format!(": {}{on}, {}", s.file_system, s.path))
}
