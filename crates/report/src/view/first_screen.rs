//! The first screen: the results that answer for the machine, as workloads declare them before the
//! run, and the causes of what is not valid.

use std::cmp::Reverse;

use proofmark_model::{
    FigureKind, Host, MainResult as Chosen, Measurement, NetworkPath, Run, Severity, Storage,
    StorageKind, Subsystem, TimeCause, Verdict, counted,
};
use serde::Serialize;

use super::alike::Kind;
use super::columns::{Columns, Entry};
use super::findings::FindingGroup;
use super::label::{Group, interval, usable, why_no_trials};
use super::num::percent;
use super::operation;
use super::references::phrase;
use super::table::Table;
use super::text::{and_list, capital, clean, joined, plural};
use super::workload_figure::{Near, delivered_share, half_width, near, shown_on};

/// Causes that are on the first screen.
const CAUSES: usize = 3;

/// What a hurried reader sees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstScreen {
    /// The results, a subsystem each.
    pub parts: Vec<ScreenPart>,
    /// `FP peak, 2 CPUs: attainable 118.1 GFLOP/s, delivered 67.8 GFLOP/s (57.4 %): CPU quota of 1.2
    /// CPUs.` `None` where the run got nearly all of its CPUs.
    pub got: Option<String>,
    /// What is not valid and why, worst first.
    pub causes: Vec<Cause>,
    /// Further causes, which are among the findings.
    pub more: usize,
}

/// The results of a subsystem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenPart {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The same for people: `CPU`, `Memory`.
    pub title: &'static str,
    /// The same within a sentence: `CPU`, `memory`.
    #[serde(skip)]
    pub word: &'static str,
    /// What was measured: the disk, the way to the server; empty where that is the machine.
    pub about: String,
    /// One a result.
    pub rows: Vec<ScreenRow>,
}

/// A result with what is needed to judge it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenRow {
    /// What is asked for: `Random read`.
    pub title: String,
    /// `4 KiB, depth 32`: the configuration as far as the title leaves it open.
    pub configuration: String,
    /// The workload's id: that of a [`super::WorkloadView`].
    pub workload: String,
    /// Place of that among the report's workloads, from 0.
    pub at: usize,
    /// Which figure is put first: of CPU loads attainable, of memory loads typical, else delivered.
    pub kind: FigureKind,
    /// That figure; `None` where there is no usable result.
    pub value: Option<String>,
    /// What the run got, where another figure is put first.
    pub delivered: Option<String>,
    /// The unit of both; of a disk's random I/O, I/Os per second.
    pub unit: String,
    /// Half the width of the interval: `1.9 %`.
    pub within: Option<String>,
    /// Against the ceiling.
    pub near: Option<Near>,
    /// The figures of its rounds, or trials, in order, as shares of the greatest.
    #[serde(skip)]
    pub rounds: Vec<f64>,
    /// Times of single operations: p50 and p99.
    pub percentiles: Option<[String; 2]>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why there is no figure, where there is none.
    pub why_none: String,
    /// `1.01 times fio (0.99 to 1.02)`; `None` where no reference tool ran or its result is not valid.
    pub reference: Option<String>,
}

/// A cause of suspect or invalid results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// How much it weighs.
    pub severity: Severity,
    /// Id of the check.
    pub check: String,
    /// What was found.
    pub sentence: String,
    /// Where: `Commit and Random read`, or how many of the results.
    pub place: String,
    /// What to do about it.
    pub advice: String,
}

/// The first screen of a run.
pub fn build(run: &Run, groups: &[Group], findings: &[FindingGroup]) -> FirstScreen {
    let all = run.main_results();
    let with_row = |chosen| Some((chosen, row(groups, chosen)?));
    let shown: Vec<(Subsystem, Vec<(&Chosen, ScreenRow)>)> = all
        .iter()
        .map(|(part, some)| (*part, some.iter().filter_map(with_row).collect()))
        .collect();
    // The load with the most threads speaks for the whole machine: it is tried first.
    let mut rows: Vec<_> = shown.iter().flat_map(|(_, rows)| rows).collect();
    rows.sort_by_key(|(chosen, _)| Reverse(chosen.measurement.params.threads()));
    let got = rows.into_iter().find_map(|(c, row)| say_delivered(run, c.measurement, row));
    let part = |(part, rows): (Subsystem, Vec<(&Chosen, ScreenRow)>)| ScreenPart {
        subsystem: part.as_str(),
        title: part.info().title,
        word: part.info().word,
        about: about(&run.host, part).unwrap_or_default(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    };
    let bad = || findings.iter().filter(|f| f.is_problem());
    let chosen: Vec<&Chosen> = all.iter().flat_map(|(_, chosen)| chosen).collect();
    FirstScreen {
        parts: shown.into_iter().map(part).collect(),
        got,
        causes: bad().take(CAUSES).map(|f| cause(f, &chosen)).collect(),
        more: bad().count().saturating_sub(CAUSES),
    }
}

/// What was measured where that is not the machine itself.
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
            let parts = [Some(name.as_str()), kind, Some(place.as_str())];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
    })
}

impl ScreenRow {
    /// `FP peak, 2 CPUs, avx512`.
    pub fn name(&self) -> String {
        joined([&*self.title, &self.configuration], ", ")
    }

    /// What the run got, where no figure before it has the unit.
    pub fn delivered_with_unit(&self) -> Option<String> {
        self.delivered.as_ref().map(|value| format!("{value} {}", self.unit))
    }
}

fn row(groups: &[Group], chosen: &Chosen) -> Option<ScreenRow> {
    let m = chosen.measurement;
    let is_there = |g: &Group| g.all.iter().any(|one| std::ptr::eq(*one, m));
    let at = groups.iter().position(is_there)?;
    let group = &groups[at];
    let found = usable(m);
    let kind = m.summary.as_ref().map_or(FigureKind::Delivered, |s| s.headline);
    let shown = m.summary.as_ref().filter(|_| m.verdict.is_usable());
    // Of a result without a headline the delivered figure is shown.
    let value = shown.map(|s| s.figure(kind).value.or(s.delivered.value).unwrap_or(f64::NAN));
    let values: Vec<f64> = value.into_iter().collect();
    let scale = shown_on(group, m, &values);
    let show = |value: Option<f64>| value.and_then(|v| scale.number(v));
    let delivered = shown.filter(|_| kind != FigureKind::Delivered && m.unit.is_work());
    let percentiles = m.latency.as_ref().filter(|_| found.is_some());
    Some(ScreenRow {
        title: chosen.row.map_or_else(|| group.heading(), |r| clean(&r.title)),
        configuration: chosen.configuration(group.run).unwrap_or_else(|| group.short(m)),
        workload: group.name(),
        at,
        kind,
        value: show(found.map(|(_, s)| s.value())),
        delivered: show(delivered.and_then(|s| s.delivered.value)),
        unit: scale.label().to_owned(),
        within: found.filter(|_| interval(m).is_some()).and_then(|(_, s)| half_width(s)),
        near: near(m, &scale).filter(|_| found.is_some()),
        rounds: rounds(m),
        percentiles: percentiles.and_then(operation::p50_and_p99),
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

/// Who took the rest is said only where less than this was delivered.
const NEARLY_ALL: f64 = 0.95;

/// What was attainable and what was delivered of a CPU load, and who took the rest.
fn say_delivered(run: &Run, m: &Measurement, row: &ScreenRow) -> Option<String> {
    let is_attainable = m.summary.as_ref()?.headline == FigureKind::Attainable;
    let share = delivered_share(m).filter(|share| is_attainable && *share < NEARLY_ALL)?;
    let (attainable, delivered) = (row.value.as_ref()?, row.delivered.as_ref()?);
    let unit = &row.unit;
    let cause =
        largest_cause(run, m, 1.0 - share).map_or_else(String::new, |cause| format!(": {cause}"));
    let share = percent(share)?;
    let name = row.name();
    Some(format!(
        "{name}: attainable {attainable} {unit}, delivered {delivered} {unit} ({share} %){cause}."
    ))
}

/// Who took most of the time of a load's threads, if that explains half of what is missing.
fn largest_cause(run: &Run, m: &Measurement, missing: f64) -> Option<String> {
    let all = m.trials.iter().filter_map(|t| t.time_account).reduce(|a, b| a + b)?.divided();
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

fn rounds(m: &Measurement) -> Vec<f64> {
    let rounds = m.trials.iter().flat_map(|t| &t.rounds).map(|r| r.delivered);
    let mut all: Vec<f64> = rounds.collect();
    if all.is_empty() {
        all = m.trials.iter().map(|t| t.value).collect();
    }
    all.retain(|v| v.is_finite() && *v >= 0.0);
    let most = all.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        all.iter_mut().for_each(|v| *v /= most);
    }
    all
}

/// The ratio to the first reference tool whose result is valid.
fn reference_ratio(m: &Measurement) -> Option<String> {
    let r = m.references.iter().find(|r| r.verdict.is_undoubted())?;
    phrase(r, &clean(&r.tool))
}

fn cause(found: &FindingGroup, rows: &[&Chosen]) -> Cause {
    Cause {
        severity: found.severity,
        check: found.check.clone(),
        sentence: found.sentence.clone(),
        place: place(found, rows),
        advice: found.advice.clone(),
    }
}

/// Rows that are named; more are counted.
const NAMED: usize = 2;

/// `Commit and Random read`, `Commit and 3 others`, `18 results`; of a finding in no row, the workloads.
fn place(found: &FindingGroup, rows: &[&Chosen]) -> String {
    let is_here = |m: &Measurement| {
        m.findings.iter().any(|f| {
            clean(&f.check) == found.check
                && f.severity == found.severity
                && Kind::of_message(&clean(&f.message)) == found.kind
        })
    };
    let here: Vec<&&Chosen> = rows.iter().filter(|c| is_here(c.measurement)).collect();
    let mut named: Vec<String> = here.iter().filter_map(|c| Some(clean(&c.row?.title))).collect();
    named.dedup();
    let others = found.places.len().saturating_sub(here.len()) as u64;
    match (named.len(), others) {
        (0, _) => return found.briefly.clone(),
        (1..=NAMED, 0) => {}
        (1..=NAMED, others) => named.push(plural(others, "other")),
        _ => return plural(found.places.len() as u64, "result"),
    }
    and_list(&named)
}

/// The column of attainable and typical figures.
const ATTAINABLE_OR_TYPICAL: &str = "att./typical";

impl FirstScreen {
    /// The results as tables: those of the machine itself in one, those of a device or a network in the
    /// other, so that each has the columns that it needs.
    pub fn tables(&self) -> Vec<Table> {
        let (own, others): (Vec<_>, Vec<_>) = self.parts.iter().partition(|p| p.about.is_empty());
        [own, others].iter().filter(|parts| !parts.is_empty()).map(|p| table(p)).collect()
    }
}

fn table(parts: &[&ScreenPart]) -> Table {
    let rows = || parts.iter().flat_map(|p| &p.rows);
    let has = |what: fn(&ScreenRow) -> bool| rows().any(what);
    let mut kinds: Vec<FigureKind> = rows().map(|r| r.kind).collect();
    kinds.retain(|kind| *kind != FigureKind::Delivered);
    kinds.dedup();
    let first = match kinds.as_slice() {
        [] => FigureKind::Delivered.as_str(),
        [one] => one.as_str(),
        _ => ATTAINABLE_OR_TYPICAL,
    };
    let delivered = has(|r| r.delivered.is_some());
    let only_delivered = move |r: &ScreenRow| delivered && r.kind == FigureKind::Delivered;
    let about = |p: &&ScreenPart| match p.about.as_str() {
        "" => p.title.to_owned(),
        about => format!("{}: {about}", p.title),
    };
    let value = |r: &ScreenRow| match &r.value {
        Some(value) => Entry::from(format!("{value} {}", r.unit)),
        None => Entry::from("-").noted(&*r.why_none),
    };
    let percentile = |r: &ScreenRow, at: usize| r.percentiles.as_ref().map(|p| p[at].clone());
    Columns::new(joined(parts.iter().map(about), "; "))
        .column(&capital(&and_list(parts.iter().map(|p| p.word))), |r: &&ScreenRow| r.name())
        .keys()
        .number(first, |r| if only_delivered(r) { "-".into() } else { value(r) })
        .when(delivered, |table| {
            table.number("delivered", |r| match only_delivered(r) {
                true => value(r),
                false if r.value.is_none() => r.delivered_with_unit().into(),
                false => r.delivered.clone().into(),
            })
        })
        .number("±", |r| r.within.clone())
        .spare(1)
        .when(has(|r| r.near.is_some()), |table| {
            let near = |r: &&ScreenRow| r.near.as_ref().map(|n| format!("{} %", n.percent));
            table.number("of ceiling", near).spare(2)
        })
        .when(has(|r| r.percentiles.is_some()), |table| {
            let table = table.number("p50", move |r| percentile(r, 0)).spare(2);
            table.number("p99", move |r| percentile(r, 1)).spare(1)
        })
        .column("verdict", |r| match r.value.is_some() || r.verdict != Verdict::Valid {
            true => Entry::from(r.verdict),
            // What was not measured has none.
            false => "-".into(),
        })
        .rows(rows())
}
