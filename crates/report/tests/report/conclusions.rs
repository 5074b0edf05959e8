//! No sentence contradicts its numbers, whatever the numbers are.

use proofmark_model::{Figure, FigureKind, Finding, Measurement, Round, Run, Severity, Verdict};
use proofmark_report::view::{Claim, Relation, conclusions_of};
use proptest::prelude::*;

use super::dump::Dump;
use super::fixture;
use super::reading::each;

/// Every claim of a run.
fn claims(run: &Run) -> Vec<Claim> {
    conclusions_of(run).into_iter().flat_map(|c| c.claims).collect()
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
    for (t, share) in m.trials.iter_mut().zip([0.97, 1.03, 1.0].into_iter().cycle()) {
        (t.value, t.work) = (value * share, t.work * factor);
    }
    m.verdict = verdict;
    m.findings = match verdict {
        Verdict::Suspect => vec![Finding::new("steal", Severity::Suspect, "x", "y")],
        Verdict::Invalid => vec![Finding::new("page_cache", Severity::Invalid, "x", "y")],
        _ => vec![],
    };
}

/// Asserts that the numbers of a claim agree, as printed and as measured.
fn holds(claim: &Claim) {
    let (Some(left), Some(right)) = (&claim.left, &claim.right) else {
        assert!(!matches!(claim.relation, Relation::More | Relation::Less), "{claim:?}");
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
    match claim.relation {
        Relation::More => assert!(l > r && left.value > right.value && apart, "{claim:?}"),
        Relation::Less => assert!(l < r && left.value < right.value && apart, "{claim:?}"),
        _ => {}
    }
    assert!(!claim.text.contains("o difference"), "nothing follows: {claim:?}");
    let undecided = claim.text.contains("undecided");
    assert_eq!(undecided, claim.relation == Relation::Undecided, "{claim:?}");
    if !undecided && !claim.text.contains("'s result") {
        let said = claim.text.split(" is ").nth(1).unwrap().split(' ').next().unwrap();
        let factor: f64 = said.parse().unwrap();
        assert!((factor - left.value / right.value).abs() <= 0.051 * factor, "{claim:?}");
    }
}

/// Asserts that the claim's figure is in a table: the median of a measurement that no check doubts,
/// or of one over time with its verdict.
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
        let over_time = claim.relation == Relation::Is;
        let may = |m: &&Measurement| m.verdict.is_undoubted() || over_time && m.verdict.is_usable();
        assert!(found.iter().copied().any(|m| may(&m)), "{claim:?}");
        let suspect = found.iter().all(|m| m.verdict == Verdict::Suspect);
        assert!(!suspect || claim.text.contains("suspect)"), "{claim:?}");
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

/// If few rounds give no interval, the printed figure is judged, not the delivered one.
#[test]
fn the_figure_that_is_printed_is_the_one_that_was_judged() {
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload == "cpu.flops" && m.params.threads() < 8);
    for m in each(&mut run, "cpu.flops") {
        let s = m.summary.as_mut().unwrap();
        let value = s.value();
        s.headline = FigureKind::Attainable;
        s.attainable = Figure::alone(value, "3 rounds are too few");
        s.delivered = Figure::alone(0.5 * value, "3 rounds are too few");
        m.trials.truncate(3);
        // The rest of each was taken, of the last trial nearly all.
        for (i, t) in m.trials.iter_mut().enumerate() {
            let got = [0.9, 0.5, 0.1][i] * value;
            let attainable = Some(value * (0.999 + 0.001 * i as f64));
            t.value = got;
            t.rounds = vec![Round { delivered: got, attainable, ..Round::default() }];
        }
        (s.trials.min, s.trials.max, s.trials.n) = (0.1 * value, 0.9 * value, 3);
    }
    let said = texts(&run);
    assert!(said.iter().any(|s| s.contains(" is 4.00 times ")), "{said:?}");
    assert!(said.iter().all(|s| !s.contains("o difference") && s.contains("(rounds ")), "{said:?}");
    // As much of both, and the other way round: what is not printed differs.
    for m in each(&mut run, "cpu.flops") {
        let s = m.summary.as_mut().unwrap();
        s.attainable.value = Some(98.4e9);
        for (i, t) in m.trials.iter_mut().enumerate() {
            let threads = m.params.threads() as f64;
            t.value = 1e9 * threads;
            t.rounds[0].delivered = 1e9 * threads;
            t.rounds[0].attainable = Some(98e9 + 4e8 * i as f64);
        }
    }
    let said = texts(&run);
    assert!(said.is_empty(), "the figures that are printed show no difference: {said:?}");
}

/// Claims of unusual runs: results that are missing, not valid or not alike are not compared.
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

/// Places half of the rounds of these results near, or nearly all.
fn place(m: &mut Measurement, near: f64) {
    let placed = |name: &str, ns: f64, share| proofmark_model::CpuPlacement {
        name: name.to_owned(),
        round_trip_s: Some(1e-9 * ns),
        rounds: 5,
        share,
        figure: None,
    };
    m.cpu_placements = vec![placed("near (50 ns)", 50.0, near), placed("far", 390.0, 1.0 - near)];
}

#[test]
fn a_ratio_of_results_at_other_vcpu_placements_says_so() {
    const WORDS: &str = "at other vCPU placements";
    let mut run = fixture::memory();
    let page = |run: &Run| super::reading::render("markdown", run);
    run.measurements.iter_mut().for_each(|m| place(m, 0.9));
    assert!(!page(&run).contains(WORDS));
    let factors = texts(&run).into_iter().filter(|t| t.contains(" times ")).count();
    // Every second number of threads, and every second workload.
    for m in run.measurements.iter_mut().filter(|m| m.params.threads() == 2) {
        place(m, 0.4);
    }
    assert!(page(&run).contains(&format!("({WORDS})")), "by threads");
    for m in &mut run.measurements {
        place(m, if m.workload.contains("rand") { 0.4 } else { 0.9 });
    }
    let said = texts(&run).into_iter().filter(|t| t.contains(WORDS)).count();
    assert!(said > 0 && factors > 0, "{said} of {factors}: {:?}", texts(&run));
}
