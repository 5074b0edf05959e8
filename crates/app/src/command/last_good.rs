//! The baseline `last-good` of `proofmark check`: the newest good earlier run of the same machine and
//! profile in the history. A run of workloads that the checked one did not plan is none: these would
//! be gone.
//!
//! A run is good if no result is invalid, and none is slower or gone compared with the good run before
//! it, of those that the checked run has, whatever made it slower. So a slowdown that lasts fails every
//! check. The runs themselves decide that: the history needs no record of checks. A run whose file is
//! gone cannot show that a later one is slower, so the line about the baseline counts such runs.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::in_both;
use proofmark_model::{ComparedPoint, PastRun, Run};
use proofmark_store::Filter;

use super::side::{ReadSide, compare_read};
use crate::history_file::{self, is_same_machine};
use crate::text::say;

/// Finds and reads the baseline of a run, and prints its number and date, and what could not be held
/// against it. `Err` is the reason why there is none.
pub(super) fn find(
    own: &ReadSide,
    history: Option<&Path>,
    margin: Option<f64>,
) -> Result<Result<ReadSide, String>> {
    let path = history_file::file(history)?;
    let store = history_file::open_existing(&path)?;
    let all = store.map_or_else(|| Ok(Vec::new()), |s| s.runs(&Filter::default()))?;
    let mut passed = Passed::default();
    let mut good: Option<(&PastRun, ReadSide)> = None;
    // The oldest comes first.
    for past in all.iter().filter(|past| past.started < own.first_started()) {
        if past.machine != own.run().host.same_machine_words() {
            passed.machines += 1;
        } else if past.profile != own.run().plan.profile {
            passed.profiles += 1;
        } else if past.verdicts.invalid > 0 {
            passed.invalid += 1;
        } else if let Some(found) = read(past, own, &path, &mut passed) {
            if good.as_ref().is_some_and(|(_, base)| is_worse(&found, base, own, margin)) {
                passed.failed += 1;
            } else {
                (good, passed.failed) = (Some((past, found)), 0);
            }
        }
    }
    let Some((past, found)) = good else {
        return Ok(Err(format!(
            "no baseline in the history {}: {}; name one with --against RUN, or add one with \
             `proofmark history --add RUN`",
            path.display(),
            passed.words()
        )));
    };
    let (started, others) = (past.started.display(), passed.beside_baseline());
    say(&format!("proofmark: baseline: run {} of the history, {started}{others}", past.id));
    Ok(Ok(found))
}

/// Returns true if a past run is slower than the good one before it or lacks a result, of those that
/// the checked run has too. One that others made slower is no baseline either.
fn is_worse(found: &ReadSide, base: &ReadSide, own: &ReadSide, margin: Option<f64>) -> bool {
    let comparison = compare_read([base, found], 'B', [None, None], margin);
    let shared = in_both(base.run(), own.run());
    let is_shared =
        |p: &ComparedPoint| shared.iter().any(|m| m.workload == p.workload && m.params == p.params);
    comparison.points.iter().any(|p| p.is_worse() && (p.mean_of.is_some() || is_shared(p)))
}

/// Earlier runs that are no baseline, by the reason.
#[derive(Debug, Default)]
struct Passed {
    machines: usize,
    profiles: usize,
    workloads: usize,
    invalid: usize,
    unreadable: usize,
    nothing_in_common: usize,
    /// Those after the newest good one that are worse.
    failed: usize,
}

impl Passed {
    /// Names the newer runs that are worse than the baseline, and the runs against which
    /// nobody knows whether the baseline is good.
    fn beside_baseline(&self) -> String {
        let newer = match self.failed {
            0 => String::new(),
            1 => "; a newer run is slower or lacks results".to_owned(),
            n => format!("; {n} newer runs are slower or lack results"),
        };
        let unreadable = match self.unreadable {
            0 => return newer,
            1 => "1 earlier run whose file is".to_owned(),
            n => format!("{n} earlier runs whose files are"),
        };
        format!("{newer}; {unreadable} gone or changed could not be held against it")
    }

    fn words(&self) -> String {
        let each = [
            (self.machines, "of other machines"),
            (self.profiles, "of another profile"),
            (self.workloads, "of more workloads"),
            (self.invalid, "with an invalid result"),
            (self.unreadable, "whose file is gone or changed"),
            (self.nothing_in_common, "without a result to compare"),
        ];
        let named = each.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        match named.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "it has no earlier run".to_owned(),
            some => format!("of the earlier runs {some}"),
        }
    }
}

/// Reads a past run, if it is of the same machine and has results to compare with.
fn read(past: &PastRun, own: &ReadSide, history: &Path, passed: &mut Passed) -> Option<ReadSide> {
    let Ok(found) = ReadSide::read(&past.id.to_string(), Some(history)) else {
        passed.unreadable += 1;
        return None;
    };
    if !is_same_machine(found.run(), own.run()) {
        passed.machines += 1;
        return None;
    }
    let Run { plan, measurements, .. } = own.run();
    let ids = plan.points.iter().map(|p| &p.workload);
    let planned: BTreeSet<&String> = ids.chain(measurements.iter().map(|m| &m.workload)).collect();
    if !found.run().measurements.iter().all(|m| planned.contains(&m.workload)) {
        passed.workloads += 1;
        return None;
    }
    let comparison = compare_read([&found, own], 'B', [None, None], None);
    if comparison.points.iter().any(|p| p.in_base() && !p.gone() && !p.is_left_out()) {
        return Some(found);
    }
    passed.nothing_in_common += 1;
    None
}
