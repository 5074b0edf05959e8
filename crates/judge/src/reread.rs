//! A run file that is read is judged again: what it holds may have been judged by other rules, or
//! edited.

use proofmark_model::{
    Finding, Measurement, RawRun, Run, Severity, Statistics, Tool, Verdict, Verification, counted,
    summarise,
};

use crate::run::judge;

/// What reading a run file may find: id, title and meaning.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        EDITED,
        "The file contradicts itself",
        "A run file that is read is judged again. What it stores of a result (statistics, \
         verification, and, where the same program wrote it, verdict and findings) must follow from \
         its trials; a run that ended must hold a result for each planned configuration. Otherwise \
         the file was changed after the run, and the result is invalid. Edits that contradict nothing \
         in the file cannot be seen. Use the original file, or measure again.",
    ),
    (
        STORED_VERDICT,
        "The stored verdict has no reason",
        "A run file that is read is judged again, and no verdict gets better by that: the reasons of a \
         worse one that another version of proofmark stored are kept. This file stores none. Measure \
         again.",
    ),
];
const EDITED: &str = "edited_file";
const STORED_VERDICT: &str = "stored_verdict";

/// Checks that were withdrawn because they were wrong: a verdict that rests on one of them alone
/// gets better when it is read. Each with its reason.
const WITHDRAWN: &[&str] = &[];

/// A run that was read, judged again, and how many of its verdicts that changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Reread {
    /// The run, judged by this program.
    pub run: Run,
    /// Results whose verdict is not the stored one.
    pub changed: usize,
}

impl Reread {
    /// What changed, in one line; `None` if nothing did.
    pub fn words(&self) -> Option<String> {
        let all = counted(self.run.measurements.len(), "verdict");
        let is = if self.changed == 1 { "is" } else { "are" };
        let line = format!("judged again: {} of {all} {is} not the stored one", self.changed);
        (self.changed > 0).then_some(line)
    }
}

/// Judges what a file stores again. `raw` is what it measured, maybe completed since it was saved;
/// `own` is this program.
pub fn read_again(stored: &Run, raw: &RawRun, own: &Tool) -> Reread {
    let mut run = judge(raw);
    let by_us = stored.tool == *own;
    let mut changed = 0;
    for (new, old) in run.measurements.iter_mut().zip(&stored.measurements) {
        // What was completed was judged with fewer trials.
        if new.trials.len() == old.trials.len() {
            match contradiction(old, new, by_us) {
                Some(found) => new.findings.push(found),
                None => uphold(old, new, &stored.tool),
            }
            new.verdict = Verdict::of(&new.findings);
        }
        changed += usize::from(new.verdict != old.verdict);
    }
    run.findings.extend(without_a_result(&run));
    Reread { run, changed }
}

/// What a stored result says that its own trials do not.
fn contradiction(stored: &Measurement, judged: &Measurement, by_us: bool) -> Option<Finding> {
    let advice = "use the original file, or measure again";
    let found = |what: String| Finding::new(EDITED, Severity::Invalid, what, advice);
    if !statistics_agree(stored) {
        return Some(found("its stored statistics are not those of its trials".to_owned()));
    }
    if !verification_agrees(stored.verification.as_ref(), judged.verification.as_ref()) {
        return Some(found("its stored verification is not that of its trials".to_owned()));
    }
    let doubts = |m: &Measurement| -> Vec<String> {
        let doubts = m.findings.iter().filter(|f| f.severity > Severity::Note);
        doubts.map(|f| f.check.to_string()).collect()
    };
    let (old, new) = (doubts(stored), doubts(judged));
    if by_us && (stored.verdict != judged.verdict || old != new) {
        let words = |verdict: Verdict, doubts: &[String]| match doubts {
            [] => verdict.to_string(),
            doubts => format!("{verdict} ({})", doubts.join(", ")),
        };
        return Some(found(format!(
            "its stored verdict is {}, but the same program finds {} in its data",
            words(stored.verdict, &old),
            words(judged.verdict, &new)
        )));
    }
    None
}

/// Rounding that a number may have gone through.
const ROUNDING: f64 = 1e-9;

fn same(a: f64, b: f64) -> bool {
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
            .all(|(a, b)| same(a, b))
}

fn verification_agrees(stored: Option<&Verification>, judged: Option<&Verification>) -> bool {
    let (Some(a), Some(b)) = (stored, judged) else { return true };
    same(a.claimed, b.claimed) && same(a.counted, b.counted)
}

/// Keeps the reasons of a stored verdict that is worse than what is found now.
fn uphold(stored: &Measurement, judged: &mut Measurement, by: &Tool) {
    if judged.verdict >= stored.verdict {
        return;
    }
    let weighs = |f: &&Finding| Verdict::of(std::slice::from_ref(*f)) == stored.verdict;
    let reasons: Vec<&Finding> = stored.findings.iter().filter(weighs).collect();
    let found_by = format!("proofmark {}", by.version);
    let kept = reasons.iter().filter(|f| !WITHDRAWN.contains(&f.check.as_ref()));
    let kept = kept.map(|f| (*f).clone().with("found_by", found_by.clone()));
    judged.findings.extend(kept);
    if reasons.is_empty() {
        let severity = match stored.verdict {
            Verdict::Invalid => Severity::Invalid,
            Verdict::Valid | Verdict::Suspect => Severity::Suspect,
        };
        let message = format!("{found_by} called it {} and stored no reason", stored.verdict);
        let advice = "measure again";
        judged.findings.push(Finding::new(STORED_VERDICT, severity, message, advice));
    }
}

/// That a run which ended lacks results that were planned.
fn without_a_result(run: &Run) -> Option<Finding> {
    if run.ended.is_none() || run.interrupted.is_some() {
        return None;
    }
    let has = |point: &&proofmark_model::Point| {
        !run.measurements.iter().any(|m| m.workload == point.workload && m.params == point.params)
    };
    let lacking: Vec<_> = run.plan.points.iter().filter(has).collect();
    let first = lacking.first()?;
    let message = format!(
        "the run ended, but {} of {} has no result in the file, such as {first}: results were removed",
        lacking.len(),
        counted(run.plan.points.len(), "planned configuration"),
    );
    Some(Finding::new(
        EDITED,
        Severity::Invalid,
        message,
        "use the original file, or measure again",
    ))
}
