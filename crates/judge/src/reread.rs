//! A run file that is read is judged again: what it holds may have been judged by other rules, or
//! edited.

use proofmark_model::{
    FigureKind, Finding, Measurement, RawRun, Run, Severity, Statistics, Tool, Trial, Verdict,
    Verification, WorkloadSpec, check_id, counted, summarise,
};

use crate::raw::raw_measurement;
use crate::run::judge;

/// What reading a run file may find: id, title and meaning.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        EDITED,
        "Stored conclusions do not follow from the trials",
        "A run file that is read is judged again. What it stores of a result (statistics, \
         verification, and, where the same program wrote it, verdict and findings) must follow from \
         its trials; declarations of workloads must be this program's, if it wrote the file; a run that \
         ended must hold a result for each planned configuration. Otherwise the file was changed after \
         the run, and the result is invalid. Edits that contradict nothing \
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
const UNFINISHED: &str = check_id::UNFINISHED;

const ADVICE: &str = "use the original file, or measure again";

/// This program: which one it is, and what it declares of its workloads.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    /// Version, commit and build.
    pub tool: &'a Tool,
    /// Declarations by the workload's id.
    pub declared: &'a dyn Fn(&str) -> Option<&'static WorkloadSpec>,
}

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
        let changed = (self.changed > 0)
            .then(|| format!("{} of {all} changed, see the findings", self.changed));
        let of_run = self.run.findings.iter().find(|f| f.check == EDITED);
        let parts = changed.into_iter().chain(of_run.map(|f| f.message.clone()));
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| format!("judged again by this version: {}", parts.join("; ")))
    }
}

/// Judges what a file stores again. `raw` is what it measured, maybe completed since it was saved.
pub fn read_again(stored: &Run, raw: &RawRun, own: Own) -> Reread {
    let mut run = judge(raw);
    // What is gone from an anonymous run may have decided a verdict.
    let by_us = stored.tool == *own.tool && !stored.anonymous;
    let mut changed = 0;
    for (new, old) in run.measurements.iter_mut().zip(&stored.measurements) {
        // What was completed was judged with fewer trials.
        let is_complete = new.trials.len() == old.trials.len();
        let what = is_complete.then(|| edited(stored, old)).flatten();
        let what = what.or_else(|| other_conclusions(old, new).filter(|_| by_us && is_complete));
        match what {
            Some(what) => {
                new.findings.push(Finding::new(EDITED, Severity::Invalid, what, ADVICE));
            }
            None => uphold(old, new, &stored.tool),
        }
        new.verdict = new.verdict.max(Verdict::of(&new.findings));
        changed += usize::from(new.verdict != old.verdict);
    }
    let declared = by_us.then(|| other_declaration(stored, own.declared)).flatten();
    run.findings.extend(without_a_result(&run).into_iter().chain(declared));
    Reread { run, changed }
}

/// What a stored result says that its own trials do not, whatever program wrote it.
fn edited(run: &Run, stored: &Measurement) -> Option<String> {
    if !statistics_agree(stored) {
        return Some("its stored statistics are not those of its trials".to_owned());
    }
    let counted = raw_measurement(stored).verification();
    if !verification_agrees(stored.verification.as_ref(), counted.as_ref()) {
        return Some("its stored verification is not that of its trials".to_owned());
    }
    (!is_one_after_the_other(run, stored))
        .then(|| "its trials overlap or are not in order of time".to_owned())
}

/// What the same program concluded otherwise.
fn other_conclusions(stored: &Measurement, judged: &Measurement) -> Option<String> {
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

/// That a workload is declared in another way than the program that wrote the file does.
fn other_declaration(
    run: &Run,
    declared: &dyn Fn(&str) -> Option<&'static WorkloadSpec>,
) -> Option<Finding> {
    let differs =
        |(id, spec): &(&String, &WorkloadSpec)| declared(id).is_some_and(|own| own != *spec);
    let (id, _) = run.workloads.iter().filter(|_| run.imported.is_none()).find(differs)?;
    let message = format!("the file declares {id} in another way than the program that wrote it");
    Some(Finding::new(EDITED, Severity::Invalid, message, ADVICE))
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

/// Whether the same program makes the same figures of the trials.
fn figures_agree(stored: &Measurement, judged: &Measurement) -> bool {
    let (Some(a), Some(b)) = (&stored.summary, &judged.summary) else {
        return stored.summary.is_none() == judged.summary.is_none();
    };
    let kinds = [FigureKind::Attainable, FigureKind::Typical, FigureKind::Delivered];
    let agree = |kind: FigureKind| match (a.figure(kind).value, b.figure(kind).value) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    a.headline == b.headline && kinds.into_iter().all(agree)
}

/// Trials begin after the one before has ended, by the wall clock, which may be adjusted by this
/// share and is read some time before a trial's timed part begins.
const ADJUSTED: f64 = 0.02;
const READ_S: f64 = 0.05;

/// Whether each trial began when the one before it had ended; also where nobody can know: another
/// tool's have one moment, and the wall clock may have been set.
fn is_one_after_the_other(run: &Run, m: &Measurement) -> bool {
    let was_set = run.clocks.is_none_or(|c| (c.realtime_s - c.boottime_s).abs() > READ_S);
    let in_order = |pair: &[Trial]| {
        let (before, after) = (&pair[0], &pair[1]);
        after.started.since(before.started) >= (1.0 - ADJUSTED) * before.seconds - READ_S
    };
    run.imported.is_some() || was_set || m.series.is_some() || m.trials.windows(2).all(in_order)
}

fn verification_agrees(stored: Option<&Verification>, judged: Option<&Verification>) -> bool {
    let (Some(a), Some(b)) = (stored, judged) else { return true };
    same(a.claimed, b.claimed) && same(a.counted, b.counted)
}

/// Keeps the reasons of a stored verdict that is worse than what is found now.
fn uphold(stored: &Measurement, judged: &mut Measurement, by: &Tool) {
    if judged.verdict >= stored.verdict || stored.verdict.is_undoubted() {
        return;
    }
    // A run that was completed since is no longer unfinished.
    let is_over = |f: &Finding| f.check == UNFINISHED && judged.trials.len() > stored.trials.len();
    let weighs = |f: &&Finding| Verdict::of(std::slice::from_ref(*f)) == stored.verdict;
    if stored.findings.iter().filter(weighs).any(is_over) {
        return;
    }
    let reasons: Vec<&Finding> = stored.findings.iter().filter(weighs).collect();
    let found_by = format!("proofmark {}", by.version);
    let kept = reasons.iter().map(|f| (*f).clone().with("found_by", found_by.clone()));
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

/// That a run which ended lacks results that were planned.
fn without_a_result(run: &Run) -> Option<Finding> {
    if run.ended.is_none() || run.interrupted.is_some() {
        return None;
    }
    let lacks = |point: &&proofmark_model::Point| {
        !run.measurements.iter().any(|m| m.workload == point.workload && m.params == point.params)
    };
    let lacking: Vec<_> = run.plan.points.iter().filter(lacks).collect();
    let first = lacking.first()?;
    let message = format!(
        "the run ended, but {} of {} has no result in the file, such as {first}: results were removed",
        lacking.len(),
        counted(run.plan.points.len(), "planned configuration"),
    );
    Some(Finding::new(EDITED, Severity::Invalid, message, ADVICE))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Account, Clocks};

    use super::*;
    use crate::raw_of;
    use crate::testing::*;

    /// A judged run of two results, one of which others disturbed.
    fn stored() -> Run {
        let proved =
            |m| each(m, |_, t| t.verified = Some(Account { claimed: t.work, counted: t.work }));
        let stolen = each(flops(2), |_, t| t.conditions.steal_s = Some(0.3 * t.seconds));
        let run = judge(&raw_of(&run(host(), vec![proved(flops(1)), proved(stolen)])));
        let verdicts: Vec<Verdict> = run.measurements.iter().map(|m| m.verdict).collect();
        assert_eq!(verdicts, [Verdict::Coarse, Verdict::Suspect]);
        run
    }

    fn declared(id: &str) -> Option<&'static WorkloadSpec> {
        proofmark_workloads::find(id).map(|workload| workload.spec())
    }

    fn read(stored: &Run, own: &Tool) -> Reread {
        read_again(stored, &raw_of(stored), Own { tool: own, declared: &declared })
    }

    fn other() -> Tool {
        Tool { version: "9.9.9".to_owned(), commit: None, build: String::new() }
    }

    /// What is found in the first result, whose verdict must be that.
    #[track_caller]
    fn found(stored: &Run, own: &Tool, verdict: Verdict) -> Vec<String> {
        let m = read(stored, own).run.measurements.swap_remove(0);
        assert_eq!(m.verdict, verdict, "{:?}", m.findings);
        m.findings.iter().map(|f| format!("{}: {}", f.check, f.message)).collect()
    }

    #[test]
    fn a_file_that_nobody_changed_is_judged_as_it_was() {
        let stored = stored();
        for own in [&stored.tool, &other()] {
            let reread = read(&stored, own);
            assert_eq!((&reread.run, reread.changed, reread.words()), (&stored, 0, None));
        }
    }

    #[test]
    fn what_does_not_follow_from_the_trials_is_invalid() {
        type Edit = fn(&mut Measurement);
        let edits: [(&str, Edit); 6] = [
            ("figures", |m| m.summary.as_mut().unwrap().delivered.value = Some(1.0)),
            ("statistics", |m| m.summary.as_mut().unwrap().trials.median *= 1.05),
            ("statistics", |m| drop(m.trials.pop())),
            ("verification", |m| m.verification.as_mut().unwrap().counted *= 2.0),
            ("the same program finds", |m| m.verdict = Verdict::Suspect),
            ("the same program finds", |m| {
                m.findings.push(Finding::new("steal", Severity::Suspect, "", ""));
                m.verdict = Verdict::Suspect;
            }),
        ];
        for (word, edit) in edits {
            let mut stored = stored();
            edit(&mut stored.measurements[0]);
            let all = found(&stored, &stored.tool, Verdict::Invalid);
            assert!(all.iter().any(|f| f.starts_with(EDITED) && f.contains(word)), "{all:?}");
        }
        let mut whitewashed = stored();
        let m = &mut whitewashed.measurements[1];
        (m.verdict, m.findings) = (Verdict::Valid, Vec::new());
        let reread = read(&whitewashed, &whitewashed.tool.clone());
        assert_eq!(reread.run.measurements[1].verdict, Verdict::Invalid);
        assert_eq!(
            reread.words().unwrap(),
            "judged again by this version: 1 of 2 verdicts changed, see the findings"
        );
    }

    #[test]
    fn trials_that_were_sorted_or_stretched_are_invalid() {
        let in_time = || {
            let mut run = stored();
            let seconds = 10.0;
            let [raw_s, monotonic_s, boottime_s, realtime_s] = [seconds; 4];
            run.clocks = Some(Clocks { raw_s, monotonic_s, boottime_s, realtime_s });
            for (i, t) in run.measurements[0].trials.iter_mut().enumerate() {
                t.started = run.started.after(i as f64 * (t.seconds + 0.02)).unwrap();
            }
            run.measurements.truncate(1);
            run
        };
        let first =
            |run: &Run| found(run, &other(), read(run, &other()).run.measurements[0].verdict);
        assert!(first(&in_time()).is_empty());
        let mut sorted = in_time();
        sorted.measurements[0].trials.swap(0, 1);
        assert!(first(&sorted)[0].contains("not in order of time"), "{:?}", first(&sorted));
        sorted.clocks.as_mut().unwrap().realtime_s += 1.0;
        assert!(first(&sorted).is_empty(), "the clock was set");
        let mut stretched = in_time();
        for t in &mut stretched.measurements[0].trials {
            (t.seconds, t.work) = (100.0 * t.seconds, 100.0 * t.work);
            t.verified = Some(Account { claimed: t.work, counted: t.work });
        }
        let v = stretched.measurements[0].verification.as_mut().unwrap();
        (v.claimed, v.counted) = (100.0 * v.claimed, 100.0 * v.counted);
        assert!(first(&stretched)[0].contains("overlap"), "{:?}", first(&stretched));
    }

    #[test]
    fn no_verdict_of_another_program_gets_better() {
        let mut old = stored();
        let m = &mut old.measurements[0];
        m.findings.push(Finding::new("swap", Severity::Invalid, "it swapped", ""));
        m.verdict = Verdict::Invalid;
        assert_eq!(found(&old, &other(), Verdict::Invalid), ["swap: it swapped"]);
        old.measurements[0].findings.clear();
        let all = found(&old, &other(), Verdict::Invalid);
        assert!(all[0].starts_with(STORED_VERDICT), "{all:?}");
        // A worse verdict replaces the stored one.
        let mut old = stored();
        (old.measurements[1].verdict, old.measurements[1].findings) = (Verdict::Valid, Vec::new());
        let reread = read(&old, &other());
        assert_eq!(reread.run.measurements[1].verdict, Verdict::Suspect);
        assert_eq!(reread.changed, 1);
    }

    #[test]
    fn an_anonymous_run_keeps_its_verdicts_without_the_facts_that_decided_them() {
        let mut run = stored();
        let m = &mut run.measurements[0];
        m.findings.push(Finding::new("not_durable", Severity::Suspect, "mounted volatile", ""));
        m.verdict = Verdict::Suspect;
        run.anonymous = true;
        assert_eq!(found(&run, &run.tool, Verdict::Suspect), ["not_durable: mounted volatile"]);
        run.anonymous = false;
        assert!(
            found(&run, &run.tool, Verdict::Invalid)[0].starts_with(EDITED),
            "it has its names"
        );
    }

    #[test]
    fn what_the_same_program_declares_otherwise_is_found() {
        let mut run = stored();
        run.workloads.get_mut("memory.rand_read").unwrap().work.data = None;
        let tool = run.tool.clone();
        let message = |run: &Run, own: &Tool| read(run, own).run.findings.pop().map(|f| f.message);
        let said = message(&run, &tool).unwrap();
        assert!(said.contains("declares memory.rand_read in another way"), "{said}");
        assert_eq!(message(&run, &other()), None, "another program's declarations are its own");
    }

    #[test]
    fn results_that_were_removed_are_missed() {
        let mut stored = stored();
        stored.measurements.pop();
        let found = |stored: &Run| read(stored, &other()).run.findings;
        assert!(found(&stored)[0].message.contains("1 of 2 planned configurations has no result"));
        let words = read(&stored, &other()).words().unwrap();
        assert!(words.contains("results were removed"), "{words}");
        stored.interrupted = Some("SIGINT".to_owned());
        assert!(found(&stored).is_empty(), "it was stopped");
    }
}
