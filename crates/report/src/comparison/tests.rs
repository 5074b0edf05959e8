//! A comparison by hand, in every form.

use proofmark_model::testing::summary;
use proofmark_model::{
    Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem,
    Comparison, Difference, FigureKind, Number, Params, Ratio, Side, Subsystem, Timestamp, Unit,
    Verdict,
};
use proptest::prelude::*;

use super::*;
use crate::Options;

fn number(median: f64, verdict: Verdict) -> Option<Number> {
    Some(Number { summary: summary(median), verdict })
}

fn side(name: &str) -> Side {
    Side {
        name: name.into(),
        started: Timestamp::from_millis(1_760_000_000_000).unwrap(),
        version: "0.1.0".into(),
        machine: "AMD EPYC, 2 usable CPUs".into(),
        profile: "quick".into(),
    }
}

/// `cpu.flops` on so many threads, B / A as given.
fn point(threads: u64, ratio: f64, outcome: Comparability, reason: &str) -> ComparedPoint {
    ComparedPoint {
        workload: "cpu.flops".into(),
        name: format!("avx2+fma, f64, {threads} threads"),
        row: None,
        subsystem: Subsystem::Cpu,
        params: Params::default().with("threads", threads),
        unit: Unit::FlopPerSecond,
        better: Better::Higher,
        a: number(64e9, Verdict::Valid),
        b: number(64e9 * ratio, Verdict::Suspect),
        figure: Some(FigureKind::Delivered),
        headline: Some(ComparedFigure {
            ratio: Ratio { median: ratio, ci95: Some([ratio * 0.99, ratio * 1.01]) },
            margin: 0.04,
            resolution: Some(0.052),
            outcome,
        }),
        delivered: None,
        reason: reason.into(),
    }
}

/// Two slower, one faster, one alike, one only in A, one that is invalid in A.
fn comparison() -> Comparison {
    use Comparability::{Faster, NoDifferenceShown, NotComparable, Slower};
    let quota =
        |share: &str| format!("in B a CPU quota of 0.5 CPUs held the process back for {share} %");
    let mut only = point(16, 1.0, NotComparable, "only in A");
    (only.b, only.headline) = (None, None);
    let mut invalid = point(32, 1.0, NotComparable, "A is invalid: the page cache did it");
    invalid.a = number(1e9, Verdict::Invalid);
    invalid.headline = None;
    let mut time = point(8, 0.5, Faster, "no finding and no fact about the machines tells why");
    (time.workload, time.unit, time.better) =
        ("memory.latency".into(), Unit::Second, Better::Lower);
    (time.a, time.b) = (number(1e-7, Verdict::Valid), number(5e-8, Verdict::Valid));
    time.subsystem = Subsystem::Memory;
    Comparison {
        schema: COMPARISON_SCHEMA.into(),
        a: side("base"),
        b: side("new"),
        differences: vec![Difference {
            what: "CPU quota".into(),
            a: "none".into(),
            b: "0.5 CPUs".into(),
        }],
        subsystems: vec![ComparedSubsystem {
            subsystem: Subsystem::Cpu,
            speed: Some(Ratio { median: 0.5, ci95: None }),
            margin: 0.04,
            resolution: Some(0.052),
            faster: 0,
            slower: 2,
            no_difference_shown: 1,
            not_comparable: 1,
            gone: 1,
        }],
        points: vec![
            point(1, 0.5, Slower, &quota("48.1")),
            point(2, 0.25, Slower, &quota("73.9")),
            point(4, 1.01, NoDifferenceShown, "the interval holds 1 (margin 4.0 %)"),
            time,
            only,
            invalid,
        ],
    }
}

fn wide(width: usize) -> Options {
    Options { width, color: false }
}

#[test]
fn the_verdict_comes_first_with_its_cause() {
    let view = View::from_comparison(&comparison());
    assert_eq!(
        view.verdict,
        "B is slower in 2 and faster in 1 of 4 compared results. Median speed of B \
         relative to A: cpu 0.500. 1 result of A is missing or invalid in B. 1 other result cannot be compared. \
         In the median result, slowdowns below 6 % (cpu) are not detectable."
    );
    assert!(view.causes[0].starts_with("slower in 2 results, for example: in B a CPU quota"));
    assert_eq!(view.causes.len(), 2, "{:?}", view.causes);
    let order: Vec<&str> = view.differing.iter().map(|l| l.outcome).collect();
    assert_eq!(order, ["▼ slower", "▼ slower", "▲ faster"]);
    assert_eq!(view.gone, ["cpu.flops avx2+fma, f64, 16 threads: only in A"]);
    assert_eq!(view.differing[0].ratio.as_deref(), Some("0.250"), "the farthest first");
    let mut none = comparison();
    none.points.clear();
    assert_eq!(View::from_comparison(&none).verdict, "Neither run measured anything.");
    let mut alike = comparison();
    alike.points = vec![alike.points[2].clone()];
    let said = View::from_comparison(&alike).verdict;
    assert!(said.starts_with("No difference is shown in the one compared result."), "{said}");
    alike.points = vec![comparison().points[5].clone()];
    assert_eq!(View::from_comparison(&alike).verdict, "No results can be compared.");
}

#[test]
fn many_points_of_one_run_only_are_told_in_a_line() {
    let mut c = comparison();
    let only = c.points[4].clone();
    c.points = (0..20).map(|_| only.clone()).collect();
    let view = View::from_comparison(&c);
    assert_eq!(view.gone, ["20 results, cpu.flops (20): only in A"]);
    assert!(view.differing.is_empty() && view.not_comparable.is_empty());
    assert_eq!((view.tally.gone, view.tally.not_comparable), (20, 0));
    assert_eq!(terminal(&c, true, &wide(80)).matches("only in A").count(), 1, "listed once");
}

#[test]
fn what_no_point_shows_alone_is_told_where_all_together_leave_1_out() {
    let mut c = comparison();
    c.points = vec![c.points[2].clone(), c.points[2].clone()];
    let said = |c: &Comparison| View::from_comparison(c).verdict;
    assert!(!said(&c).contains("together"), "no interval over the points: {}", said(&c));
    c.subsystems[0].speed = Some(Ratio { median: 0.73, ci95: Some([0.6, 0.9]) });
    let still = "All results together show a difference: median speed of B relative to A: cpu 0.730 (0.600–0.900).";
    assert!(said(&c).contains(still), "{}", said(&c));
    c.subsystems[0].speed = Some(Ratio { median: 0.95, ci95: Some([0.9, 1.1]) });
    assert!(!said(&c).contains("together"), "{}", said(&c));
}

#[test]
fn a_check_tells_what_it_could_not_judge_and_when_that_is_too_much() {
    let mut c = comparison();
    let mut few = c.points[2].clone();
    few.headline.as_mut().unwrap().outcome = Comparability::NotComparable;
    few.reason = "1 trial is too few".to_owned();
    c.points = vec![c.points[2].clone(), few.clone()];
    let text = check(&c);
    assert!(text.contains("not judged cpu.flops avx2+fma, f64, 4 threads: 1 trial is"), "{text}");
    assert!(!text.contains("too little") && text.contains("1 not comparable; slowdowns below"));
    c.points.push(few);
    let why = "only 1 of 3 results of the baseline could be judged, less than half";
    assert!(check(&c).contains(&format!("too little to pass: {why}\n")));
    assert!(View::from_comparison(&c).verdict.contains(why));
    let xml = junit(&c, None);
    assert!(xml.contains(r#"tests="4" skipped="2" failures="1""#) && xml.contains(why), "{xml}");
}

#[test]
fn a_terminal_has_no_line_that_is_too_long() {
    for width in [20, 40, 60, 80, 100, 200] {
        let text = terminal(&comparison(), true, &wide(width));
        for line in text.lines() {
            assert!(textwrap::core::display_width(line) <= width, "{width}: {line}");
        }
    }
    let text = terminal(&comparison(), false, &wide(80));
    assert!(text.starts_with("B is slower in 2"), "{text}");
    for words in ["▼ slower", "0.250", "Gone", "CPU quota", "--all lists them", "lower is better"]
    {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    assert!(!text.contains("4 threads"), "{text}");
    assert!(terminal(&comparison(), true, &wide(80)).contains("4 threads"));
}

#[test]
fn a_check_has_a_line_for_each_point_that_fails() {
    let text = check(&comparison());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with(
        "slower cpu.flops avx2+fma, f64, 1 threads: 0.500 (0.495–0.505), margin 4.0 %; in B a CPU"
    ));
    assert_eq!(lines[2], "gone cpu.flops avx2+fma, f64, 16 threads: only in A");
    assert_eq!(
        lines[3],
        "3 of 6 results fail compared with base: 2 slower, 1 gone; 1 without a shown difference, \
         1 faster, 1 not comparable; slowdowns below 6 % (cpu) are not detectable."
    );
    let mut fine = comparison();
    fine.points.retain(|p| !p.fails());
    assert!(check(&fine).starts_with("None of 3 results is slower than in base or gone;"));
}

/// The machine as before, and half of it delivered; at the end one point where both fell.
fn shares() -> Comparison {
    use Comparability::{NoDifferenceShown, Slower};
    let half = |mut p: ComparedPoint| {
        let ratio = Ratio { median: 0.5, ci95: Some([0.49, 0.51]) };
        let resolution = Some(0.06);
        p.figure = Some(FigureKind::Attainable);
        p.delivered = Some(ComparedFigure { ratio, margin: 0.04, resolution, outcome: Slower });
        p
    };
    let why = "attainable: no difference shown; delivered is 50 % lower: in B a CPU quota";
    let mut all: Vec<_> = (1..=3).map(|i| half(point(i, 1.0, NoDifferenceShown, why))).collect();
    all.push(half(point(4, 0.5, Slower, "attainable is 50 % lower (the machine), and delivered")));
    let mut calm = half(point(5, 1.0, NoDifferenceShown, "the interval contains 1"));
    calm.delivered.as_mut().unwrap().outcome = NoDifferenceShown;
    all.push(calm);
    Comparison { points: all, ..comparison() }
}

#[test]
fn it_is_said_which_figure_moved() {
    let c = shares();
    let view = View::from_comparison(&c);
    let said = "B is slower in 4 of 5 compared results. Of the rounds, attainable: no difference \
                shown in 4 of 5 results; delivered: 4 slower (your share of the machine fell in 3).";
    assert!(view.verdict.starts_with(said), "{}", view.verdict);
    let order: Vec<&str> = view.differing.iter().map(|l| l.outcome).collect();
    assert_eq!(
        order,
        ["▼ delivered slower", "▼ delivered slower", "▼ delivered slower", "▼ slower"]
    );
    assert_eq!((view.alike.len(), view.differing[0].delivered.as_deref()), (1, Some("0.500")));
    let text = terminal(&c, false, &wide(160));
    assert!(text.contains("delivered B / A") && text.contains("▼ delivered slower"), "{text}");
    assert!(!terminal(&comparison(), true, &wide(160)).contains("delivered B / A"));
    let text = check(&c);
    let line = "slower cpu.flops avx2+fma, f64, 1 threads: 1.00 (0.990–1.01), margin 4.0 %; \
                delivered 0.500 (0.490–0.510), margin 4.0 %; attainable: no difference shown; \
                delivered is 50 % lower";
    assert!(text.contains(line) && text.contains("4 slower, 0 gone"), "{text}");
    let xml = junit(&c, None);
    assert!(xml.contains(r#"failures="4""#) && xml.contains("attainable B / A 1.00"), "{xml}");
    assert!(xml.contains("delivered B / A 0.500 (0.490–0.510), margin 4.0 %"), "{xml}");
    let page = html(&c).unwrap();
    assert_eq!(page.matches(r#"<span class="ends">delivered 0.500</span>"#).count(), 4);
    let read: Comparison = serde_json::from_str(&json(&c).unwrap()).unwrap();
    assert_eq!(read, c);
}

#[test]
fn junit_counts_what_fails_and_what_is_skipped() {
    let text = junit(&comparison(), None);
    let head =
        r#"<testsuites name="new against base" tests="6" skipped="1" failures="3" errors="0">"#;
    assert!(text.contains(head), "{text}");
    assert!(text.contains(r#"type="gone""#) && text.contains(r#"type="slower""#));
    assert!(
        text.contains(
            "A 64.00 GFLOP/s; B 32.00 GFLOP/s; delivered B / A 0.500 (0.495–0.505), margin 4.0 %"
        ),
        "{text}"
    );
}

#[test]
fn json_is_the_comparison_and_what_is_no_number_is_refused() {
    let text = json(&comparison()).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), comparison());
    let mut bad = comparison();
    bad.subsystems[0].margin = f64::NAN;
    assert!(json(&bad).is_err());
}

#[test]
fn the_page_needs_nothing_else_and_names_its_drawings() {
    let page = html(&comparison()).unwrap();
    assert!(
        page.contains(r#"aria-label="ratio 0.500, 95 % interval 0.495 to 0.505, margin 4.0 %""#)
    );
    assert_eq!(page.matches(r#"<svg class="whisker""#).count(), 4, "one for each ratio");
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    for id in ["answer", "differing", "alike", "gone", "not-comparable", "differences", "method"] {
        assert!(page.contains(&format!(r#"id="{id}""#)), "{id}");
    }
}

#[test]
fn a_strangers_text_is_text() {
    let evil = "<script>alert(1)</script>\u{1b}[2J\"'&]]>\u{0}";
    let mut c = comparison();
    (c.a.name, c.b.machine) = (evil.into(), evil.into());
    for p in &mut c.points {
        (p.workload, p.name, p.reason) = (evil.into(), evil.into(), evil.into());
    }
    c.differences[0].b = evil.into();
    let page = html(&c).unwrap();
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    let xml = junit(&c, None);
    assert!(!xml.contains("<script>"));
    for text in [page, xml, terminal(&c, true, &wide(80)), check(&c)] {
        assert!(!text.contains(['\u{1b}', '\u{0}']), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_form_panics(
        text in any::<String>(), values in prop::collection::vec(any::<f64>(), 1..9),
        width in 0_usize..200, color in any::<bool>(),
    ) {
        let mut next = values.iter().copied().cycle();
        let mut value = || next.next().unwrap_or(0.0);
        let mut c = comparison();
        for p in &mut c.points {
            (p.workload, p.name, p.reason) = (text.clone(), text.clone(), text.clone());
            if let Some(h) = &mut p.headline {
                h.margin = value();
                h.ratio = Ratio { median: value(), ci95: Some([value(), value()]) };
            }
            p.a = number(value(), Verdict::Valid);
        }
        c.subsystems[0].margin = value();
        c.subsystems[0].speed = Some(Ratio { median: value(), ci95: Some([value(), value()]) });
        let _ = (terminal(&c, true, &Options { width, color }), check(&c), json(&c));
        let xml = junit(&c, None);
        prop_assert!(html(&c).is_ok() && roxmltree::Document::parse(&xml).is_ok(), "{xml}");
    }
}
