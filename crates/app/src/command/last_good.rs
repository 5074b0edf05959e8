//! The baseline `last-good` of `proofmark check`: the newest earlier run of the same machine in the
//! history that has no invalid result.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, compare};
use proofmark_model::{PastRun, Run};
use proofmark_store::Filter;

use super::compare::ReadRun;
use crate::error::usage;
use crate::history_file;
use crate::text::say;

/// Finds and reads the baseline of a run, and prints its number and date.
pub(super) fn find(own: &Run, history: Option<&Path>) -> Result<ReadRun> {
    let path = history_file::file(history)?;
    let store = history_file::open_existing(&path)?;
    let all = store.map_or_else(|| Ok(Vec::new()), |s| s.runs(&Filter::default()))?;
    let mut passed = Passed::default();
    // The oldest comes first.
    for past in all.iter().rev().filter(|past| past.started.0 < own.started.0) {
        if past.machine != own.host.same_machine_words() {
            passed.machines += 1;
        } else if past.verdicts.invalid > 0 {
            passed.invalid += 1;
        } else if let Some(found) = read(past, own, &path, &mut passed) {
            let started = past.started.display();
            say(&format!("proofmark: baseline: run {} of the history, {started}", past.id));
            return Ok(found);
        }
    }
    Err(usage(format!(
        "no baseline in the history {}: {}; name one with --against RUN, or add one with `proofmark \
         history --add RUN`",
        path.display(),
        passed.words()
    )))
}

/// Earlier runs that are no baseline, by the reason.
#[derive(Debug, Default)]
struct Passed {
    machines: usize,
    invalid: usize,
    unreadable: usize,
    nothing_in_common: usize,
}

impl Passed {
    fn words(&self) -> String {
        let each = [
            (self.machines, "of other machines"),
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
fn read(past: &PastRun, own: &Run, history: &Path, passed: &mut Passed) -> Option<ReadRun> {
    let Ok(found) = ReadRun::read(&past.id.to_string(), Some(history)) else {
        passed.unreadable += 1;
        return None;
    };
    if !is_same_machine(&found.run, own) {
        passed.machines += 1;
        return None;
    }
    let sides = [Named::new('A', &found.name, &found.run), Named::new('B', "", own)];
    let comparison = compare(sides[0], sides[1], Options::default());
    if comparison.points.iter().any(|p| p.in_base() && !p.gone()) {
        return Some(found);
    }
    passed.nothing_in_common += 1;
    None
}

/// Returns true for two runs of machines with the same hardware and the same host name or label;
/// a name that a run does not have matches any.
fn is_same_machine(a: &Run, b: &Run) -> bool {
    let host = |run: &'_ Run| run.host.os.host_name.get().cloned();
    let same = |x: Option<String>, y: Option<String>| x.zip(y).is_none_or(|(x, y)| x == y);
    a.host.same_machine_words() == b.host.same_machine_words()
        && (same(host(a), host(b)) || a.label.is_some() && a.label == b.label)
}
