//! The first screen: the main results, which workloads declare before the run, and the causes of
//! results that are not valid.

use std::cmp::Reverse;

use proofmark_model::{
    CpuPlacement, FigureKind, Host, MainResult as Chosen, Measurement, NetworkPath, Run, Storage,
    StorageKind, Subsystem, Summary, TimeCause, Verdict, counted, placement_words,
};
use serde::Serialize;

use super::findings::FindingGroup;
use super::label::{Group, anchor, delivered, interval, usable, why_no_trials};
use super::main_results::{Lost, ScreenPart, ScreenRow};
use super::merge_messages::Kind;
use super::num::{median, percentage};
use super::operation;
use super::references::phrase;
use super::text::{and_list, clean, joined};
use super::workload_figure::{delivered_share, half_width, near, result_scale};

/// Maximum number of causes on the first screen.
const CAUSES: usize = 3;

/// The results and causes that a reader sees first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstScreen {
    /// The results, one part per subsystem.
    pub parts: Vec<ScreenPart>,
    /// `FP peak, 2 CPUs: attainable 118.1 GFLOP/s, delivered 67.8 GFLOP/s (57.4 %): CPU quota of
    /// 1.2 CPUs.` `None` where the run got nearly all of its CPUs.
    pub got: Option<String>,
    /// The vCPU placement of memory loads, where it is known: `vCPU placement: Memory triad, 2 CPUs: far
    /// (390 ns) 62.5 %, unknown 37.5 %. ...`
    pub placed: Option<String>,
    /// The causes of results that are not valid, worst first.
    pub causes: Vec<FindingGroup>,
    /// The number of further causes, which are among the findings.
    pub more: usize,
}

/// Builds the first screen of a run.
pub fn build(run: &Run, groups: &[Group], findings: &[FindingGroup]) -> FirstScreen {
    let all = run.main_results();
    let with_row = |chosen| Some((chosen, row(groups, chosen)?));
    let shown: Vec<(Subsystem, Vec<(&Chosen, ScreenRow)>)> = all
        .iter()
        .map(|(part, some)| (*part, some.iter().filter_map(with_row).collect()))
        .collect();
    // The load with the most threads represents the whole machine, so it is tried first.
    let mut rows: Vec<_> = shown.iter().flat_map(|(_, rows)| rows).collect();
    rows.sort_by_key(|(chosen, _)| Reverse(chosen.measurement.params.threads()));
    let got = rows.into_iter().find_map(|(c, row)| compare_delivered(run, c.measurement, row));
    let rows = shown.iter().flat_map(|(_, rows)| rows);
    let placed = placed(rows.map(|(chosen, row)| (chosen.measurement, row)));
    let part = |(part, rows): (Subsystem, Vec<(&Chosen, ScreenRow)>)| ScreenPart {
        subsystem: part.as_str(),
        title: part.info().title,
        word: part.info().word,
        about: about(&run.host, part).unwrap_or_default(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    };
    let bad = || findings.iter().filter(|f| f.is_problem());
    let named: Vec<Named> = shown
        .iter()
        .flat_map(|(_, rows)| rows)
        .map(|(chosen, row)| (chosen.measurement, row.title.clone()))
        .collect();
    FirstScreen {
        parts: shown.into_iter().map(part).collect(),
        got,
        placed,
        causes: bad().take(CAUSES).map(|f| cause(f, &named)).collect(),
        more: bad().count().saturating_sub(CAUSES),
    }
}

/// The device or network that was measured; `None` where that is the machine itself.
fn about(host: &Host, part: Subsystem) -> Option<String> {
    match part.info() {
        info if info.uses_block_devices => host.storage.get().map(about_disk),
        info if info.has_server => {
            let network = host.network.get()?;
            Some(match network.path {
                NetworkPath::Loopback => "loopback, which is not a network".to_owned(),
                NetworkPath::Peer => clean(&format!("to {}", network.server.name)),
            })
        }
        _ => None,
    }
}

/// `vda, virtio, ext4 at /srv`.
fn about_disk(storage: &Storage) -> String {
    let place = format!("{} at {}", storage.file_system, storage.path);
    clean(&match (storage.kind, storage.leaves().count(), storage.leaves().next()) {
        (StorageKind::Memory, ..) => format!("{}, in memory, not on a disk", storage.path),
        (_, _, None) => format!("{place}, device unknown"),
        (_, count, Some(device)) => {
            let name = if count == 1 { device.name.clone() } else { format!("{count} devices") };
            let kind = device.transport.as_deref().or(device.model.as_deref());
            joined([name.as_str(), kind.unwrap_or_default(), &place], ", ")
        }
    })
}

fn row(groups: &[Group], chosen: &Chosen) -> Option<ScreenRow> {
    let m = chosen.measurement;
    let is_there = |g: &Group| g.all.iter().any(|one| std::ptr::eq(*one, m));
    let at = groups.iter().position(is_there)?;
    let group = &groups[at];
    let found = usable(m);
    let kind = m.summary.as_ref().map_or(FigureKind::Delivered, |s| s.headline);
    let shown = m.summary.as_ref().filter(|_| m.verdict.is_usable());
    // A result without a headline shows its delivered figure.
    let value = shown.map(|s| s.figure(kind).value.or(s.delivered.value).unwrap_or(f64::NAN));
    let values: Vec<f64> = value.into_iter().collect();
    let scale = result_scale(group, m, &values);
    let show = |value: Option<f64>| value.and_then(|v| scale.number(v));
    let other = shown.filter(|_| kind != FigureKind::Delivered && m.unit.is_work());
    let percentiles = m.latency.as_ref().filter(|_| found.is_some());
    Some(ScreenRow {
        title: group.heading(),
        configuration: group.short(m),
        workload: group.name(),
        anchor: anchor(at),
        kind,
        value: show(found.map(|(_, s)| s.value())),
        delivered: show(other.and_then(|s| s.delivered.value)),
        lost: other.and_then(|s| lost(m, s)),
        unit: scale.label().to_owned(),
        delivered_interval: delivered_interval(m).and_then(|ends| scale.tight_interval(ends)),
        within: found.filter(|_| interval(m).is_some()).and_then(|(_, s)| half_width(s)),
        few: found.and_then(|(m, s)| too_few(m, s)),
        near: near(m, &scale).filter(|_| found.is_some()),
        rounds: rounds(m),
        percentiles: percentiles.and_then(operation::p50_and_p99),
        has_disturbed_tail: percentiles.is_some() && operation::has_disturbed_tail(m),
        verdict: m.verdict,
        why_none: match (&m.summary, m.verdict) {
            (None, _) => why_no_trials(m),
            (_, Verdict::Invalid) => "invalid: do not use it".to_owned(),
            (Some(s), _) if found.is_none() => s.figure(kind).missing.clone().unwrap_or_default(),
            _ => String::new(),
        },
        reference: reference_ratio(m),
    })
}

/// The interval of the delivered figure of a usable result.
fn delivered_interval(m: &Measurement) -> Option<[f64; 2]> {
    delivered(m).filter(|_| m.verdict.is_usable())?.ci95
}

/// The trials of a result that has too few for an interval.
fn too_few(m: &Measurement, s: &Summary) -> Option<String> {
    let few = interval(m).is_none() && m.series.is_none();
    few.then(|| counted(s.trials.n, "trial"))
}

/// The cause is named only where less than this share was delivered.
const NEARLY_ALL: f64 = 0.95;

/// The attainable and the delivered figure of a CPU load, and what took the difference.
fn compare_delivered(run: &Run, m: &Measurement, row: &ScreenRow) -> Option<String> {
    let is_attainable = m.summary.as_ref()?.headline == FigureKind::Attainable;
    let share = delivered_share(m).filter(|share| is_attainable && *share < NEARLY_ALL)?;
    let (attainable, delivered) = (row.value.as_ref()?, row.delivered.as_ref()?);
    let unit = &row.unit;
    let cause =
        largest_cause(run, m, 1.0 - share).map_or_else(String::new, |cause| format!(": {cause}"));
    let share = percentage(share)?;
    let name = row.name();
    Some(format!(
        "{name}: attainable {attainable} {unit}, delivered {delivered} {unit} ({share}){cause}."
    ))
}

/// The cause that took most of the threads' time, if it explains half of what is missing.
fn largest_cause(run: &Run, m: &Measurement, missing: f64) -> Option<String> {
    let all = run.time_account_of(&m.trials)?.divided();
    let taken = all.causes().into_iter().filter_map(|c| Some(((c.seconds)(&all)?, c)));
    let (seconds, most) = taken.max_by(|a, b| a.0.total_cmp(&b.0))?;
    if seconds < 0.5 * missing * all.wall_s {
        return None;
    }
    let quota = run.host.limits.cpu_quota.get().and_then(|q| q.cpus);
    Some(match quota.filter(|_| most.name == TimeCause::THROTTLED) {
        Some(cpus) => format!("CPU quota of {}", counted(cpus, "CPU")),
        None => most.name.to_owned(),
    })
}

/// Where the vCPUs of memory loads were, which may change a figure as much as another machine does: on
/// two cores of one chip, or of two. Rows with the same placements are named together.
fn placed<'a>(rows: impl Iterator<Item = (&'a Measurement, &'a ScreenRow)>) -> Option<String> {
    let mut places: Vec<(Vec<&str>, String, Vec<String>)> = Vec::new();
    for (m, row) in rows {
        let is_known = |p: &CpuPlacement| p.round_trip_s.is_some() || p.figure.is_some();
        let known = m.cpu_placements.iter().filter(|p| is_known(p));
        let names: Vec<&str> = known.map(|p| p.name.as_str()).collect();
        if names.is_empty() || m.subsystem != Subsystem::Memory || m.params.threads() < 2 {
            continue;
        }
        match places.iter_mut().find(|(known, ..)| *known == names) {
            Some((.., rows)) => rows.push(row.name()),
            None => places.push((names, placement_words(&m.cpu_placements), vec![row.name()])),
        }
    }
    let each = places.iter().map(|(names, words, rows)| match rows.as_slice() {
        [row] => format!("{row}: {}", clean(words)),
        rows => format!("{}: {}", and_list(rows), clean(&and_list(names))),
    });
    let each = joined(each, "; ");
    let again = "The hypervisor may choose another next time, with other figures.";
    (!each.is_empty()).then(|| format!("vCPU placement of {each}. {again}"))
}

/// The delivered share, where it is small, or why it is not known.
fn lost(m: &Measurement, s: &Summary) -> Option<Lost> {
    if let Some(why) = s.delivered.missing.as_ref().filter(|_| s.delivered.value.is_none()) {
        return Some(Lost::Unknown(clean(why)));
    }
    delivered_share(m).filter(|share| *share < NEARLY_ALL).and_then(percentage).map(Lost::Share)
}

/// The rounds, or trials, as differences from their median.
fn rounds(m: &Measurement) -> Vec<f64> {
    let rounds = m.trials.iter().flat_map(|t| &t.rounds).map(|r| r.delivered);
    let mut all: Vec<f64> = rounds.collect();
    if all.is_empty() {
        all = m.trials.iter().map(|t| t.value).collect();
    }
    all.retain(|v| v.is_finite() && *v >= 0.0);
    match median(all.iter().copied()).filter(|middle| *middle > 0.0) {
        Some(middle) => all.iter().map(|v| v / middle - 1.0).collect(),
        None => Vec::new(),
    }
}

/// The ratio to the first reference tool whose result is valid.
fn reference_ratio(m: &Measurement) -> Option<String> {
    let r = m.references.iter().find(|r| r.verdict.is_undoubted())?;
    phrase(r, &clean(&r.tool))
}

/// A result on the first screen, and its title.
type Named<'a> = (&'a Measurement, String);

/// The finding with the rows where it was made; its evidence is among the findings.
fn cause(found: &FindingGroup, rows: &[Named]) -> FindingGroup {
    FindingGroup { place: place(found, rows), places: Vec::new(), ..found.clone() }
}

/// Maximum number of rows that are named; more are counted.
const NAMED: usize = 2;

/// `Commit and Random read`, `Commit and 3 others`, `18 results`; for a finding in no row, the
/// workloads.
fn place(found: &FindingGroup, rows: &[Named]) -> String {
    let is_here = |m: &Measurement| {
        m.findings.iter().any(|f| {
            clean(&f.check) == found.check
                && f.severity == found.severity
                && Kind::of_message(&clean(&f.message)) == found.kind
        })
    };
    let here: Vec<&Named> = rows.iter().filter(|(m, _)| is_here(m)).collect();
    let mut named: Vec<String> = here.iter().map(|(_, title)| title.clone()).collect();
    named.dedup();
    let others = found.places.len().saturating_sub(here.len()) as u64;
    match (named.len(), others) {
        (0, _) => return found.briefly.clone(),
        (1..=NAMED, 0) => {}
        (1..=NAMED, others) => named.push(counted(others, "other")),
        _ => return counted(found.places.len() as u64, "result"),
    }
    and_list(&named)
}
