//! Judges a run file again when it is read: it may have been judged by other rules, or edited.

use proofmark_model::{
    FigureKind, Finding, Measurement, RawRun, Run, Severity, Statistics, Tool, Trial, Verdict,
    Verification, WorkloadSpec, check_id, counted, format_seconds, summarise,
};

use crate::checks;
use crate::raw::raw_measurement;
use crate::run::judge;

/// Findings of reading a run file: id, title and meaning.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        EDITED,
        "Stored conclusions do not follow from the trials",
        "proofmark judges each run file again when it reads it. The stored statistics and \
         verification of a result must follow from its trials. So must verdict and findings, if the \
         same program wrote the file; then the declarations of workloads must also be its own. A \
         run that ended must have a result for each planned configuration (missing_result has the \
         exception). Otherwise the file was changed after the run, and the result is invalid. Edits \
         that contradict nothing in the file stay undetected. Use the original file, or measure \
         again.",
    ),
    (
        MISSING,
        "A planned configuration has no result",
        "The run ended, but its file has no result for some planned configuration. If another \
         version wrote it under a time limit, it may never have written that result: some versions \
         wrote none for a configuration whose time ran out. Or the result was removed. The file \
         does not show which, so the run is suspect; each result that it has is judged by itself. \
         Without a time limit, or from this same version, a missing result was removed: \
         edited_file. For the whole plan, measure again.",
    ),
    (
        STORED_VERDICT,
        "The stored verdict has no reason",
        "proofmark judges each run file again when it reads it. The file of another version has a \
         worse verdict, and stores no reason for it. Measure again.",
    ),
];
const EDITED: &str = "edited_file";
const MISSING: &str = "missing_result";
const STORED_VERDICT: &str = "stored_verdict";
const UNFINISHED: &str = check_id::UNFINISHED;

const ADVICE: &str = "use the original file, or measure again";

/// The identity of this program and its workloads.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    /// Version, commit and build.
    pub tool: &'a Tool,
    /// Declarations by the workload's id.
    pub declared: &'a dyn Fn(&str) -> Option<&'static WorkloadSpec>,
}

/// A run that was read and judged again.
#[derive(Debug, Clone, PartialEq)]
pub struct Reread {
    /// The run, judged by this program.
    pub run: Run,
    /// Number of results whose verdict is not the stored one.
    pub changed: usize,
}

impl Reread {
    /// The changes in one line; `None` if there are none.
    pub fn words(&self) -> Option<String> {
        let all = counted(self.run.measurements.len(), "verdict");
        let changed = (self.changed > 0)
            .then(|| format!("{} of {all} changed, see the findings", self.changed));
        let of_run = self.run.findings.iter().find(|f| [EDITED, MISSING].contains(&&*f.check));
        let parts = changed.into_iter().chain(of_run.map(|f| f.message.clone()));
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| format!("judged again by this version: {}", parts.join("; ")))
    }
}

/// Judges a stored run again. `raw` is its measured part, maybe completed since it was saved.
pub fn read_again(stored: &Run, raw: &RawRun, own: Own) -> Reread {
    let mut run = judge(raw);
    // Facts removed from an anonymous run may have decided a verdict.
    let by_us = stored.tool == *own.tool && !stored.anonymous;
    let has_facts = has_all_facts(stored, own.tool);
    let mut changed = 0;
    for (new, old) in run.measurements.iter_mut().zip(&stored.measurements) {
        // A result that was completed since was judged with fewer trials.
        let is_complete = new.trials.len() == old.trials.len();
        let what = is_complete.then(|| contradiction(stored, old)).flatten();
        let what =
            what.or_else(|| differing_conclusions(old, new).filter(|_| by_us && is_complete));
        match what {
            Some(what) => {
                new.findings.push(Finding::new(EDITED, Severity::Invalid, what, ADVICE));
            }
            None => keep_worse_verdict(old, new, &stored.tool, has_facts),
        }
        new.verdict = new.verdict.max(Verdict::from_findings(&new.findings));
        changed += usize::from(new.verdict != old.verdict);
    }
    let declared = by_us.then(|| differing_declaration(stored, own.declared)).flatten();
    let missing = without_a_result(&run, stored.tool == *own.tool);
    run.findings.extend(missing.into_iter().chain(declared));
    Reread { run, changed }
}

/// Describes a stored value that contradicts the result's own trials, whatever program wrote it.
fn contradiction(run: &Run, stored: &Measurement) -> Option<String> {
    if !statistics_agree(stored) {
        return Some("its stored statistics are not those of its trials".to_owned());
    }
    let counted = raw_measurement(stored).verification();
    if !verification_agrees(stored.verification.as_ref(), counted.as_ref()) {
        return Some("its stored verification is not that of its trials".to_owned());
    }
    (!is_in_order(run, stored)).then(|| "its trials overlap or are not in order of time".to_owned())
}

/// Describes stored conclusions that differ from those of the same program.
fn differing_conclusions(stored: &Measurement, judged: &Measurement) -> Option<String> {
    if !figures_agree(stored, judged) {
        return Some("its stored figures are not those of its trials".to_owned());
    }
    let doubts = |m: &Measurement| -> Vec<String> {
        let doubts = m.findings.iter().filter(|f| f.severity > Severity::Note);
        doubts.map(|f| f.check.to_string()).collect()
    };
    let (old, new) = (doubts(stored), doubts(judged));
    let words = |verdict: Verdict, doubts: &[String]| match doubts {
        [] => verdict.to_string(),
        doubts => format!("{verdict} ({})", doubts.join(", ")),
    };
    (stored.verdict != judged.verdict || old != new).then(|| {
        format!(
            "its stored verdict is {}, but the same program finds {} in its data",
            words(stored.verdict, &old),
            words(judged.verdict, &new)
        )
    })
}

/// The finding that the file declares a workload differently from the program that wrote it.
fn differing_declaration(
    run: &Run,
    declared: &dyn Fn(&str) -> Option<&'static WorkloadSpec>,
) -> Option<Finding> {
    let differs =
        |(id, spec): &(&String, &WorkloadSpec)| declared(id).is_some_and(|own| own != *spec);
    let (id, _) = run.workloads.iter().filter(|_| run.imported.is_none()).find(differs)?;
    let message = format!("the file declares {id} in another way than the program that wrote it");
    Some(Finding::new(EDITED, Severity::Invalid, message, ADVICE))
}

/// Largest relative difference by rounding.
const ROUNDING: f64 = 1e-9;

fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

fn statistics_agree(m: &Measurement) -> bool {
    let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
    let (Some(Statistics { n, mean, median, min, max, .. }), Some(stored)) =
        (summarise(&values), m.summary.as_ref().map(|s| &s.trials))
    else {
        return true;
    };
    stored.n == n
        && [(mean, stored.mean), (median, stored.median), (min, stored.min), (max, stored.max)]
            .into_iter()
            .all(|(a, b)| equal(a, b))
}

/// Returns true if the stored figures are those that this program derives.
fn figures_agree(stored: &Measurement, judged: &Measurement) -> bool {
    let (Some(a), Some(b)) = (&stored.summary, &judged.summary) else {
        return stored.summary.is_none() == judged.summary.is_none();
    };
    let kinds = [FigureKind::Attainable, FigureKind::Typical, FigureKind::Delivered];
    let agree = |kind: FigureKind| match (a.figure(kind).value, b.figure(kind).value) {
        (Some(a), Some(b)) => equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    a.headline == b.headline && kinds.into_iter().all(agree)
}

/// Share by which the wall clock may be adjusted between two trials.
const ADJUSTED: f64 = 0.02;
/// Seconds by which the wall clock may be read before a trial's timed part begins.
const READ_S: f64 = 0.05;

/// Returns true if each trial began after the one before had ended, or if that is unknown. The
/// trials of another tool have one time, and the wall clock may have been set.
fn is_in_order(run: &Run, m: &Measurement) -> bool {
    let was_set = run.clocks.is_none_or(|c| (c.realtime_s - c.boottime_s).abs() > READ_S);
    let in_order = |pair: &[Trial]| {
        let (before, after) = (&pair[0], &pair[1]);
        after.started.since(before.started) >= (1.0 - ADJUSTED) * before.seconds - READ_S
    };
    run.imported.is_some() || was_set || m.series.is_some() || m.trials.windows(2).all(in_order)
}

fn verification_agrees(stored: Option<&Verification>, judged: Option<&Verification>) -> bool {
    let (Some(a), Some(b)) = (stored, judged) else { return true };
    equal(a.claimed, b.claimed) && equal(a.counted, b.counted)
}

/// Returns true if the file has all facts from which its own checks made their findings, so that this
/// program can make them anew. Checks find all in what the file holds. Only an anonymous run lacks
/// facts that it had, and a newer program may record some that this one does not read.
fn has_all_facts(run: &Run, own: &Tool) -> bool {
    let numbers = |tool: &Tool| -> Option<Vec<u64>> {
        tool.version.split('.').map(|number| number.parse().ok()).collect()
    };
    let is_read = numbers(&run.tool).zip(numbers(own)).is_some_and(|(by, own)| by <= own);
    is_read && !run.anonymous
}

/// Keeps the reasons of a stored verdict that is worse than the new one; with `has_facts` only those
/// that no check of this program makes anew.
fn keep_worse_verdict(stored: &Measurement, judged: &mut Measurement, by: &Tool, has_facts: bool) {
    if judged.verdict >= stored.verdict || stored.verdict.is_undoubted() {
        return;
    }
    // A run that was completed since is no longer unfinished.
    let is_over = |f: &Finding| f.check == UNFINISHED && judged.trials.len() > stored.trials.len();
    let weighs = |f: &&Finding| Verdict::from_findings(std::slice::from_ref(*f)) == stored.verdict;
    if stored.findings.iter().filter(weighs).any(is_over) {
        return;
    }
    let reasons: Vec<&Finding> = stored.findings.iter().filter(weighs).collect();
    let found_by = format!("proofmark {}", by.version);
    let is_lost = |f: &&&Finding| !has_facts || checks::find(&f.check).is_none();
    let is_kept = |f: &&&Finding| is_lost(f) && !judged.findings.contains(f);
    let kept: Vec<&&Finding> = reasons.iter().filter(is_kept).collect();
    let kept = kept.into_iter().map(|f| (*f).clone().with("found_by", found_by.clone()));
    judged.findings.extend(kept);
    if reasons.is_empty() {
        let severity = match stored.verdict {
            Verdict::Invalid => Severity::Invalid,
            _ => Severity::Suspect,
        };
        let message = format!("{found_by} called it {} and stored no reason", stored.verdict);
        let advice = "measure again";
        judged.findings.push(Finding::new(STORED_VERDICT, severity, message, advice));
    }
}

/// The finding that a run which ended lacks planned results. `by_us`: this program wrote it, which
/// writes a result for each. Other versions wrote none for some whose time ran out.
fn without_a_result(run: &Run, by_us: bool) -> Option<Finding> {
    if run.ended.is_none() || run.interrupted.is_some() {
        return None;
    }
    let lacks = |point: &&proofmark_model::Point| {
        !run.measurements.iter().any(|m| m.workload == point.workload && m.params == point.params)
    };
    let lacking: Vec<_> = run.plan.points.iter().filter(lacks).collect();
    let first = lacking.first()?;
    let what = format!(
        "the run ended, but {} of {} has no result in the file, such as {first}",
        lacking.len(),
        counted(run.plan.points.len(), "planned configuration"),
    );
    Some(match run.plan.policy.budget_s.filter(|_| !by_us) {
        None => {
            let message = format!("{what}: results were removed");
            Finding::new(EDITED, Severity::Invalid, message, ADVICE)
        }
        Some(limit_s) => {
            let message = format!(
                "{what}: either proofmark {} did not write it when the time limit of {} was reached, \
                 or it was removed",
                run.tool.version,
                format_seconds(limit_s)
            );
            let advice = "read the other results by themselves; for the whole plan, measure again";
            Finding::new(MISSING, Severity::Suspect, message, advice)
        }
    })
}

#[cfg(test)]
mod tests;
