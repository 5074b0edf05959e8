//! No sentence says what its numbers do not, whatever the numbers are.

use proofmark_model::{Finding, Measurement, Run, Severity, Verdict};
use proofmark_report::view::{Claim, Says, View};
use proptest::prelude::*;

use super::dump::Dump;
use super::fixture;
use super::reading::each;

/// Every claim of a run.
fn claims(run: &Run) -> Vec<Claim> {
    View::from_run(run).conclusions.into_iter().flat_map(|c| c.claims).collect()
}

fn texts(run: &Run) -> Vec<String> {
    claims(run).into_iter().map(|c| c.text).collect()
}

/// Sets every value of a measurement to a multiple, with an interval of this half-width.
fn set(m: &mut Measurement, factor: f64, half: Option<f64>, verdict: Verdict) {
    let Some(s) = &mut m.summary else { return };
    let value = s.value() * factor;
    let half = half.map(|h| h * value);
    proofmark_model::testing::restate(s, value, half.map(|h| [value - h, value + h]));
    (s.trials.min, s.trials.max) = (value * 0.97, value * 1.03);
    for t in &mut m.trials {
        (t.value, t.work) = (t.value * factor, t.work * factor);
    }
    m.verdict = verdict;
    m.findings = match verdict {
        Verdict::Valid => vec![],
        Verdict::Suspect => vec![Finding::new("steal", Severity::Suspect, "x", "y")],
        Verdict::Invalid => vec![Finding::new("page_cache", Severity::Invalid, "x", "y")],
    };
}

/// What the numbers of a claim say, as printed and as measured.
fn holds(claim: &Claim) {
    let (Some(left), Some(right)) = (&claim.left, &claim.right) else {
        assert!(!matches!(claim.says, Says::More | Says::Less | Says::Same), "{claim:?}");
        return;
    };
    let [l, r]: [f64; 2] = [&left.text, &right.text].map(|t| t.parse().unwrap());
    let apart = match (left.interval, right.interval) {
        (Some([a, b]), Some([c, d])) => a > d || c > b,
        (Some([a, b]), None) if right.value == 1.0 => a > 1.0 || b < 1.0,
        // As `set` has their least and their greatest trial.
        _ => {
            let (l, r) = (left.value, right.value);
            l * 0.97 > r * 1.03 || r * 0.97 > l * 1.03
        }
    };
    match claim.says {
        Says::More => assert!(l > r && left.value > right.value && apart, "{claim:?}"),
        Says::Less => assert!(l < r && left.value < right.value && apart, "{claim:?}"),
        _ => {}
    }
    let same = claim.text.contains("o difference") || claim.text.contains("undecided");
    assert_eq!(same, claim.says == Says::Same, "{claim:?}");
    if !same && !claim.text.contains("'s result") {
        let said = claim.text.split(" is ").nth(1).unwrap().split(' ').next().unwrap();
        let factor: f64 = said.parse().unwrap();
        assert!((factor - left.value / right.value).abs() <= 0.051 * factor, "{claim:?}");
    }
}

/// The number in a table: the claim's figure is the median of a measurement that is not invalid.
fn in_the_run(run: &Run, claim: &Claim) {
    if claim.text.contains("'s result") || claim.text.contains("its result") {
        return;
    }
    for figure in [&claim.left, &claim.right].into_iter().flatten() {
        let id = figure.workload.trim_end_matches(" over time");
        let of = |m: &&Measurement| {
            m.workload == id && m.summary.as_ref().is_some_and(|s| s.value() == figure.value)
        };
        let found: Vec<_> = run.measurements.iter().filter(of).collect();
        assert!(found.iter().any(|m| m.verdict != Verdict::Invalid), "{claim:?}");
        let suspect = found.iter().all(|m| m.verdict == Verdict::Suspect);
        let of_part = |m: &&Measurement| found.iter().any(|f| f.subsystem == m.subsystem);
        let all = run.measurements.iter().filter(of_part).all(|m| m.verdict == Verdict::Suspect);
        assert!(!suspect || all || claim.text.contains("(suspect)"), "{claim:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn no_sentence_contradicts_its_numbers(
        seed in prop::collection::vec((0.2_f64..5.0, prop::option::of(0.0_f64..0.6), 0_u8..6), 40),
        ratio in (0.5_f64..2.0, 0.0_f64..0.5),
    ) {
        let mut run = fixture::published();
        each(&mut run, "cpu.mix.float").for_each(|m| m.trials.truncate(20));
        for (i, m) in run.measurements.iter_mut().enumerate() {
            let (factor, half, verdict) = seed[i % seed.len()];
            let verdict = match verdict {
                0 => Verdict::Invalid,
                1 => Verdict::Suspect,
                _ => Verdict::Valid,
            };
            set(m, factor, half, verdict);
            for r in &mut m.references {
                r.ratio.median = ratio.0;
                r.ratio.ci95 = Some([ratio.0 - ratio.1, ratio.0 + ratio.1]);
            }
        }
        for claim in claims(&run) {
            holds(&claim);
            in_the_run(&run, &claim);
        }
    }
}

/// Claims of runs that are not as usual: what is not shown, not valid or not alike is not compared.
#[test]
fn edited_runs() {
    let mut out = Dump::default();
    let mut says = |what: &str, run: &Run| {
        out.text += &format!("# {what}\n{}\n", texts(run).join("\n"));
    };
    let mut run = fixture::run();
    // On 8 threads a worker crashed.
    run.measurements.retain(|m| m.params.threads() < 8 && m.workload == "cpu.flops");
    for (what, half, verdict) in [
        ("wide intervals overlap", 0.9, Verdict::Valid),
        ("narrow ones do not", 0.01, Verdict::Valid),
        ("all are suspect", 0.01, Verdict::Suspect),
        ("an invalid result is in no sentence", 0.01, Verdict::Invalid),
    ] {
        each(&mut run, "cpu.flops").for_each(|m| set(m, 1.0, Some(half), verdict));
        says(what, &run);
    }
    let mut run = fixture::published();
    run.measurements.retain(|m| ["cpu.flops", "disk.seq_write"].contains(&&*m.workload));
    says("no interval", &run);
    each(&mut run, "cpu.flops").for_each(|m| m.summary.as_mut().unwrap().trials.min = 0.0);
    let trials = each(&mut run, "disk.seq_write").flat_map(|m| &mut m.trials);
    trials.filter_map(|t| t.file.as_mut()).for_each(|f| f.direct = Some(false));
    says("no interval, and trials overlap; writes went through the page cache", &run);
    let mut run = fixture::run();
    run.host.limits.usable_cpus.truncate(2);
    says("threads that take turns are no scaling", &run);
    let mut run = fixture::beside();
    run.measurements.retain(|m| m.workload == "disk.seq_read");
    for interval in [[1.05, 1.15], [0.95, 1.15]] {
        for r in each(&mut run, "disk.seq_read").flat_map(|m| &mut m.references) {
            (r.ratio.median, r.ratio.ci95) = (1.1, Some(interval));
            r.paired.iter_mut().for_each(|t| t.value = 1.1 * r.value);
        }
        says(&format!("fio at 1.1, {interval:?}"), &run);
    }
    says("nothing was measured", &fixture::empty());
    insta::assert_snapshot!(out.text);
}
