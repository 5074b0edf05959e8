//! The first screen: the main results, which workloads declare before the run, and the causes of
//! results that are not valid.

use proofmark_model::{
    FigureKind, Host, MainResult as Chosen, Measurement, NetworkPath, OverRuns, Run, Storage,
    StorageKind, Subsystem, Summary, Verdict, counted,
};
use serde::Serialize;

use super::delivered_share::Lost;
use super::findings::FindingGroup;
use super::label::{Group, anchor, delivered, interval, usable, why_no_trials};
use super::main_results::{ScreenPart, ScreenRow};
use super::merge_messages::Kind;
use super::network;
use super::num::{median, percentage};
use super::operation;
use super::references::phrase;
use super::text::{and_list, clean, joined};
use super::workload_figure::{half_width, near, result_scale};

pub use self::notes::Notes;
use self::notes::{NAMED, Row};

mod notes;

/// Maximum number of causes on the first screen.
const CAUSES: usize = 3;

/// The results and causes that a reader sees first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstScreen {
    /// The results, one part per subsystem.
    pub parts: Vec<ScreenPart>,
    /// What limited or disturbed them.
    pub notes: Notes,
    /// The causes of results that are not valid, worst first.
    pub causes: Vec<FindingGroup>,
    /// The number of further causes, which are among the findings.
    pub more: usize,
}

/// Builds the first screen of a run.
pub fn build(run: &Run, groups: &[Group], findings: &[FindingGroup]) -> FirstScreen {
    let all = run.main_results();
    let with_row = |chosen| Some((chosen, row(run, groups, chosen)?));
    let shown: Vec<(Subsystem, Vec<(&Chosen, ScreenRow)>)> = all
        .iter()
        .map(|(part, some)| (*part, some.iter().filter_map(with_row).collect()))
        .collect();
    let rows = shown.iter().flat_map(|(_, rows)| rows);
    let rows: Vec<Row> = rows.map(|(chosen, row)| (chosen.measurement, row)).collect();
    let notes = Notes::write(run, &rows);
    let part = |(part, rows): (Subsystem, Vec<(&Chosen, ScreenRow)>)| ScreenPart {
        subsystem: part.as_str(),
        title: part.info().title,
        word: part.info().word,
        about: about(&run.host, part).unwrap_or_default(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    };
    let named: Vec<Named> = shown
        .iter()
        .flat_map(|(_, rows)| rows)
        .map(|(chosen, row)| (chosen.measurement, row.title.clone()))
        .collect();
    let bad = bad(findings, &named);
    FirstScreen {
        parts: shown.into_iter().map(part).collect(),
        notes,
        causes: bad.iter().take(CAUSES).map(|f| cause(f, &named)).collect(),
        more: bad.len().saturating_sub(CAUSES),
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

fn row(run: &Run, groups: &[Group], chosen: &Chosen) -> Option<ScreenRow> {
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
        lost: other.and_then(|_| Lost::of_measurement(m)),
        unit: scale.label().to_owned(),
        delivered_interval: delivered_interval(m).and_then(|ends| scale.tight_interval(ends)),
        within: found.filter(|_| interval(m).is_some()).and_then(|(_, s)| half_width(s)),
        between: found.and_then(|(m, s)| between_runs(run, m, s)),
        few: found.and_then(|(m, s)| too_few(m, s)),
        near: near(m, &scale).filter(|_| found.is_some()),
        rounds: rounds(m),
        loss: found.and_then(|(m, _)| network::loss_of_rate(m)),
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

/// How the headline varied between earlier runs, and their number: `4.0 % (9)`.
fn between_runs(run: &Run, m: &Measurement, s: &Summary) -> Option<String> {
    let between = run.between_runs_of(&m.workload, &m.params)?;
    let runs = between.over_runs.runs();
    match &between.over_runs {
        _ if between.figure != s.headline => None,
        OverRuns::Two { .. } => Some(format!("2 states ({runs})")),
        OverRuns::One(level) => Some(format!("{} ({runs})", percentage(level.between_runs()?)?)),
    }
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

/// The findings that are problems: first those that together give each row its cause, then the others,
/// each worst first.
fn bad<'f>(findings: &'f [FindingGroup], rows: &[Named]) -> Vec<&'f FindingGroup> {
    let mut without_cause: Vec<&Measurement> = rows.iter().map(|(m, _)| *m).collect();
    let mut is_first = |found: &&FindingGroup| {
        let before = without_cause.len();
        without_cause.retain(|m| !is_at(found, m));
        without_cause.len() < before
    };
    let problems = findings.iter().filter(|f| f.is_problem());
    let (first, others): (Vec<_>, Vec<_>) = problems.partition(|found| is_first(found));
    [first, others].concat()
}

/// The finding with the rows where it was made; its evidence is among the findings.
fn cause(found: &FindingGroup, rows: &[Named]) -> FindingGroup {
    FindingGroup { place: place(found, rows), places: Vec::new(), ..found.clone() }
}

/// Returns true if the finding was made at that result.
fn is_at(found: &FindingGroup, m: &Measurement) -> bool {
    m.findings.iter().any(|f| {
        clean(&f.check) == found.check
            && f.severity == found.severity
            && Kind::of_message(&clean(&f.message)) == found.kind
    })
}

/// `Commit and Random read`, `Commit and 3 others`, `18 results`; for a finding in no row, the
/// workloads.
fn place(found: &FindingGroup, rows: &[Named]) -> String {
    let here: Vec<&Named> = rows.iter().filter(|(m, _)| is_at(found, m)).collect();
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
