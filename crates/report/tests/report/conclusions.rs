//! No sentence says what its numbers do not, whatever the numbers are.

use proofmark_model::{Finding, Measurement, Run, Severity, Verdict};
use proofmark_report::view::{Claim, Says, View};
use proptest::prelude::*;

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
    let same = claim.text.contains("o difference");
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

#[test]
fn numbers_whose_intervals_overlap_show_no_difference() {
    let mut run = fixture::run();
    // On 8 threads a worker crashed.
    run.measurements.retain(|m| m.params.threads() < 8);
    each(&mut run, "cpu.flops").for_each(|m| set(m, 1.0, Some(0.9), Verdict::Valid));
    let said = texts(&run);
    let shown = "No difference is shown between floating-point peak with 4 threads and that with 1";
    assert!(said.iter().any(|t| t.starts_with(shown)), "{said:?}");
    each(&mut run, "cpu.flops").for_each(|m| set(m, 1.0, Some(0.01), Verdict::Valid));
    let said = texts(&run);
    let shown =
        "Floating-point peak with 4 threads is 4.00 times that with 1 thread: 393.6 GFLOP/s";
    assert!(said.iter().any(|t| t.starts_with(shown)), "{said:?}");
}

#[test]
fn without_an_interval_trials_that_overlap_show_no_difference() {
    let mut run = fixture::published();
    let apart = "4.00 times that with 1 thread: 393.6 GFLOP/s vs. 98.40 GFLOP/s (avx2; no \
        interval, but no trials overlap)";
    assert!(texts(&run).iter().any(|t| t.contains(apart)), "{:?}", texts(&run));
    each(&mut run, "cpu.flops").for_each(|m| m.summary.as_mut().unwrap().trials.min = 0.0);
    let said = texts(&run);
    assert!(!said.iter().any(|t| t.contains("no trials overlap") && t.starts_with("Floating")));
    assert!(said.iter().any(|t| t.starts_with("No difference is shown between floating-point")));
}

#[test]
fn an_invalid_number_is_in_no_sentence() {
    let mut run = fixture::run();
    each(&mut run, "cpu.flops").for_each(|m| set(m, 1.0, Some(0.01), Verdict::Invalid));
    let said = texts(&run);
    assert!(said.iter().all(|t| !t.contains("loating-point peak")), "{said:?}");
}

#[test]
fn threads_that_take_turns_are_no_scaling() {
    let said = texts(&fixture::oversubscribed());
    assert!(said.iter().any(|t| t.contains("with 2 threads is 2.00 times")), "{said:?}");
    assert!(said.iter().all(|t| !t.contains("with 4 threads is")), "{said:?}");
}

#[test]
fn a_page_cache_is_compared_with_nothing() {
    let mut run = fixture::published();
    let direct = texts(&run).iter().filter(|t| t.starts_with("Sequential write is")).count();
    assert_eq!(direct, 1);
    each(&mut run, "disk.seq_write").for_each(|m| {
        m.trials.iter_mut().filter_map(|t| t.file.as_mut()).for_each(|f| f.direct = Some(false));
    });
    let said = texts(&run);
    assert!(said.iter().all(|t| !t.starts_with("Sequential write is")), "{said:?}");
}

#[test]
fn a_tool_is_slower_only_where_the_interval_excludes_one() {
    let mut run = fixture::beside();
    let said = |run: &Run| {
        let all = claims(run);
        all.into_iter().find(|c| c.text.contains("fio")).map(|c| (c.says, c.text)).unwrap()
    };
    let of = |run: &mut Run, interval| {
        for r in each(run, "disk.seq_read").flat_map(|m| &mut m.references) {
            (r.ratio.median, r.ratio.ci95) = (1.1, Some(interval));
        }
    };
    of(&mut run, [1.05, 1.15]);
    assert_eq!(said(&run).0, Says::More);
    assert!(said(&run).1.ends_with("1.100 times fio's result, 95 % interval 1.050 to 1.150."));
    of(&mut run, [0.95, 1.15]);
    assert_eq!(said(&run).0, Says::Same);
    assert!(said(&run).1.contains("no difference from fio is shown"));
}

#[test]
fn what_time_brought_is_told_once() {
    let said = texts(&fixture::endured());
    let fell = "3 levels, 15.60 to 31.20 Gop/s; the largest of 2 changes: at 3 min 20 s (08:56:42 \
        UTC) it fell to 0.500 times the level before, from 31.20 Gop/s to 15.60 Gop/s: throttling began";
    assert_eq!(said.iter().filter(|t| t.contains(fell)).count(), 1, "{said:?}");
    assert_eq!(said.len(), 1, "the median over several levels is no answer: {said:?}");
}

#[test]
fn a_run_without_numbers_has_no_conclusion() {
    assert!(View::from_run(&fixture::empty()).conclusions.is_empty());
}
