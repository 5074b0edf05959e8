//! What limited or disturbed the main results, in a line each: the two most important lines above the
//! results, the others below.

use std::cmp::Reverse;

use proofmark_model::{
    AT_LIMIT, Figure, FigureKind, Measurement, Run, Subsystem, TimeCause, Trial, counted,
    placement_words,
};
use serde::Serialize;

use crate::view::circumstances;
use crate::view::delivered_share::{Lost, small_share};
use crate::view::main_results::ScreenRow;
use crate::view::text::{and_list, capital, clean, joined};

/// Columns of a line, and lines of notes above the results.
const COLUMNS: usize = 80;
const LINES: usize = 2;

/// The notes of a first screen, most important first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Notes {
    /// Those above the results: at most two lines of 80 columns.
    pub above: Vec<String>,
    /// The others, below the results.
    pub below: Vec<String>,
}

/// Maximum number of rows that are named; more are counted.
pub const NAMED: usize = 2;

/// A main result with its row.
pub type Row<'a> = (&'a Measurement, &'a ScreenRow);

impl Notes {
    /// The notes of a run with these rows.
    pub fn write(run: &Run, rows: &[Row]) -> Self {
        let [time, programs] = circumstances::briefly(run);
        let all = [lost(run, rows), limits(rows), time, programs, placements(rows)];
        let mut room = LINES;
        let mut notes = Self::default();
        for note in all.into_iter().flatten() {
            let lines = note.chars().count().div_ceil(COLUMNS);
            match room.checked_sub(lines).filter(|_| notes.below.is_empty()) {
                Some(rest) => {
                    room = rest;
                    notes.above.push(note);
                }
                None => notes.below.push(note),
            }
        }
        notes.below.extend(slow_ends(rows));
        notes.below.extend(between_runs(run, rows));
        notes
    }
}

/// Says that nothing is known of other runs, where no row has their variation.
fn between_runs(run: &Run, rows: &[Row]) -> Option<String> {
    let is_known = rows.iter().any(|(_, row)| row.between.is_some());
    let has_figure = rows.iter().any(|(_, row)| row.value.is_some());
    (has_figure && !is_known && run.imported.is_none())
        .then(|| "Between runs: not known (see run --repeat).".to_owned())
}

/// Share of a delivered figure by which the slow end of its interval may be below it without a note,
/// and share of an undisturbed figure within which its interval counts as narrow.
const SLOW: f64 = 0.15;
const NARROW: f64 = 0.05;

/// Why the interval of a delivered figure reaches far down while the undisturbed figure is steady.
fn slow_ends(rows: &[Row]) -> Option<String> {
    let is_wide = |(m, row): &Row| {
        let far = |f: &Figure| Some(f.ci95?[0] < (1.0 - SLOW) * f.value?);
        let narrow = |f: &Figure| {
            let [low, high] = f.ci95?;
            Some((high - low) / 2.0 <= NARROW * f.value?)
        };
        let Some(s) = m.summary.as_ref().filter(|_| row.delivered_interval.is_some()) else {
            return false;
        };
        let is_rate = m.unit.is_work() && s.headline != FigureKind::Delivered;
        is_rate && far(&s.delivered) == Some(true) && narrow(s.figure(s.headline)) == Some(true)
    };
    // Rounds of these loads have a fixed time.
    let note = "Intervals of delivered: the slow end adds one round at most 25 % as fast.";
    rows.iter().any(is_wide).then(|| note.to_owned())
}

/// The title of a row, with its configuration where another row has the same title.
fn name(row: &ScreenRow, rows: &[Row]) -> String {
    match rows.iter().filter(|(_, other)| other.title == row.title).count() {
        0 | 1 => row.title.clone(),
        _ => row.name(),
    }
}

/// `FP peak delivered 57.4 % of attainable: CPU quota of 1.2 CPUs.` of the CPU load with the most
/// threads, which represents the whole machine. `None` where it got nearly all of its CPUs.
fn lost(run: &Run, rows: &[Row]) -> Option<String> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|(m, _)| Reverse(m.params.threads()));
    rows.iter().find_map(|(m, row)| {
        m.summary.as_ref().filter(|s| s.headline == FigureKind::Attainable)?;
        row.value.as_ref()?;
        let name = name(row, &rows);
        match row.lost.as_ref()? {
            Lost::Share(share) => {
                let cause = largest_cause(run, m, 1.0 - small_share(m)?);
                let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
                Some(format!("{name} delivered {share} of attainable{cause}."))
            }
            Lost::Unknown(_) => Some(format!("{name}: delivered not known ({}).", quota(run)?)),
        }
    })
}

/// `CPU quota of 1.2 CPUs`.
fn quota(run: &Run) -> Option<String> {
    let cpus = run.host.limits.cpu_quota.get()?.cpus?;
    Some(format!("CPU quota of {}", counted(cpus, "CPU")))
}

/// Returns true if the threads got as much as the quota allows, and it throttled them. Then it limits
/// them, whatever else took their time.
fn is_at_quota(run: &Run, m: &Measurement, missing: f64) -> bool {
    let cpus = run.host.limits.cpu_quota.get().and_then(|quota| quota.cpus);
    let got = (1.0 - missing) * m.params.threads() as f64;
    let is_throttled = |t: &Trial| {
        t.time_account.and_then(|a| a.throttled_s).or(t.conditions.throttled_s) > Some(0.0)
    };
    cpus.is_some_and(|cpus| got >= AT_LIMIT * cpus) && m.trials.iter().any(is_throttled)
}

/// The quota, if the threads got all of it; else the cause that took most of their time, if it
/// explains half of what is missing.
fn largest_cause(run: &Run, m: &Measurement, missing: f64) -> Option<String> {
    if is_at_quota(run, m, missing) {
        return quota(run);
    }
    let all = run.time_account_of(&m.trials)?.divided();
    let taken = all.causes().into_iter().filter_map(|c| Some(((c.seconds)(&all)?, c)));
    let (seconds, most) = taken.max_by(|a, b| a.0.total_cmp(&b.0))?;
    if seconds < 0.5 * missing * all.wall_s {
        return None;
    }
    let quota = quota(run).filter(|_| most.name == TimeCause::THROTTLED);
    Some(quota.unwrap_or_else(|| most.name.to_owned()))
}

/// `Cgroup I/O limit reached: Sequential read and Random read.` of limits that someone set: another
/// machine, or the same without them, is faster.
fn limits(rows: &[Row]) -> Option<String> {
    let mut reached: Vec<(String, Vec<String>)> = Vec::new();
    for (m, row) in rows {
        let Some(limit) = m.bottleneck.as_ref().filter(|b| b.is_set_limit()) else { continue };
        let (limit, name) = (clean(&limit.resource), name(row, rows));
        match reached.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, names)) => names.push(name),
            None => reached.push((limit, vec![name])),
        }
    }
    let each = reached.into_iter().map(|(limit, mut names)| {
        let others = names.len().saturating_sub(NAMED) as u64;
        names.truncate(NAMED);
        names.extend((others > 0).then(|| counted(others, "other")));
        format!("{} reached: {}.", capital(&limit), and_list(names))
    });
    Some(joined(each, " ")).filter(|text| !text.is_empty())
}

/// Where the vCPUs of memory loads were, which may change a figure as much as another machine does: on
/// two cores of one chip, or of two. Rows with the same placements are named together.
fn placements(rows: &[Row]) -> Option<String> {
    let mut places: Vec<(Vec<&str>, String, Vec<String>)> = Vec::new();
    for (m, row) in rows {
        let known = m.cpu_placements.iter().filter(|p| p.is_known());
        let names: Vec<&str> = known.map(|p| p.name.as_str()).collect();
        if names.is_empty() || m.subsystem != Subsystem::Memory || m.params.threads() < 2 {
            continue;
        }
        match places.iter_mut().find(|(known, ..)| *known == names) {
            Some((.., all)) => all.push(name(row, rows)),
            None => places.push((names, placement_words(&m.cpu_placements), vec![name(row, rows)])),
        }
    }
    let each = places.iter().map(|(names, words, rows)| match rows.as_slice() {
        [row] => format!("{row}: {}", clean(words)),
        rows => format!("{}: {}", and_list(rows), clean(&and_list(names))),
    });
    let each = joined(each, "; ");
    (!each.is_empty()).then(|| format!("vCPU placement of {each}."))
}
