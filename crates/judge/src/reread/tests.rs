//! Tests of run files that are read again, unchanged or edited.

use proofmark_model::{Account, Clocks};

use super::*;
use crate::raw_of;
use crate::testing::*;

/// A judged run of two results, one of them disturbed.
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

/// The findings of the first result, whose verdict must be `verdict`.
#[track_caller]
fn found(stored: &Run, own: &Tool, verdict: Verdict) -> Vec<String> {
    let m = read(stored, own).run.measurements.swap_remove(0);
    assert_eq!(m.verdict, verdict, "{:?}", m.findings);
    m.findings.iter().map(|f| format!("{}: {}", f.check, f.message)).collect()
}

#[test]
fn an_unchanged_file_is_judged_as_it_was() {
    let stored = stored();
    for own in [&stored.tool, &other()] {
        let reread = read(&stored, own);
        assert_eq!((&reread.run, reread.changed, reread.words()), (&stored, 0, None));
    }
}

#[test]
fn values_that_do_not_follow_from_the_trials_are_invalid() {
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
    let first = |run: &Run| found(run, &other(), read(run, &other()).run.measurements[0].verdict);
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

/// A stored run whose first result has one more finding.
fn with_finding(finding: Finding) -> Run {
    let mut run = stored();
    let m = &mut run.measurements[0];
    m.findings.push(finding);
    m.verdict = Verdict::from_findings(&m.findings);
    run
}

#[test]
fn a_false_finding_of_an_older_program_goes() {
    let old = with_finding(Finding::new("work_removed", Severity::Invalid, "it is false", ""));
    let build = Tool { build: "another".to_owned(), ..old.tool.clone() };
    for own in [&build, &other()] {
        assert!(found(&old, own, Verdict::Coarse).is_empty());
        assert_eq!(read(&old, own).changed, 1);
    }
    assert!(found(&old, &old.tool, Verdict::Invalid)[0].starts_with(EDITED), "the same program");
}

#[test]
fn a_finding_stays_whose_evidence_is_not_in_the_file() {
    let stored_one = Finding::new("work_removed", Severity::Invalid, "of the machine", "");
    for (finding, own) in [
        // A newer program may record facts that this one does not read.
        (stored_one.clone(), Tool { version: "0.0.1".to_owned(), ..other() }),
        (stored_one.clone(), Tool { version: "unknown".to_owned(), ..other() }),
        (Finding { check: "of_the_future".into(), ..stored_one.clone() }, other()),
        (stored_one.clone().found_in_output(), other()),
        (stored_one.found_in_output(), stored().tool),
    ] {
        let run = with_finding(finding);
        let all = found(&run, &own, Verdict::Invalid);
        assert!(matches!(&all[..], [one] if one.ends_with("of the machine")), "{all:?}");
    }
}

#[test]
fn a_stored_verdict_without_a_reason_stays() {
    let mut old = stored();
    old.measurements[0].verdict = Verdict::Invalid;
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
    assert!(found(&run, &run.tool, Verdict::Invalid)[0].starts_with(EDITED), "it has its names");
}

#[test]
fn a_declaration_that_the_same_program_does_not_have_is_found() {
    let mut run = stored();
    run.workloads.get_mut("memory.rand_read").unwrap().work.data = None;
    let tool = run.tool.clone();
    let message = |run: &Run, own: &Tool| read(run, own).run.findings.pop().map(|f| f.message);
    let text = message(&run, &tool).unwrap();
    assert!(text.contains("declares memory.rand_read in another way"), "{text}");
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
    // Where the time may have run out, another version may not have written it.
    stored.plan.policy.budget_s = Some(180.0);
    let [missing] = &found(&stored)[..] else { panic!("one finding") };
    assert_eq!((&*missing.check, missing.severity), (MISSING, Severity::Suspect));
    assert!(missing.message.contains("limit of 3 min") && missing.message.ends_with("removed"));
    let words = read(&stored, &other()).words().unwrap();
    assert!(words.contains("1 of 2 planned configurations has no result"), "{words}");
    let by_us = read(&stored, &stored.tool.clone()).run.findings;
    assert_eq!((&*by_us[0].check, by_us[0].severity), (EDITED, Severity::Invalid));
    stored.interrupted = Some("SIGINT".to_owned());
    assert!(found(&stored).is_empty(), "it was stopped");
}
