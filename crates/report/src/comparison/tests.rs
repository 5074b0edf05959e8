//! A comparison by hand, in every form.

use proofmark_model::testing::summary;
use proofmark_model::{
    Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem,
    Comparison, Difference, FigureKind, Number, Params, Ratio, Side, Subsystem, Timestamp, Unit,
    Verdict,
};
use proptest::prelude::*;

use super::view::View;
use super::*;
use crate::Options;
use crate::check::Check;

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

fn junit(c: &Comparison) -> String {
    Check::new("new", Some(c), &[]).junit().unwrap()
}

/// The machine as before, and half of it delivered; at the end one point where both fell.
fn shares() -> Comparison {
    use Comparability::{NoDifferenceShown, Slower};
    let half = |mut p: ComparedPoint| {
        let ratio = Ratio { median: 0.5, ci95: Some([0.49, 0.51]) };
        let resolution = Some(0.06);
        p.figure = Some(FigureKind::Attainable);
        for Number { summary, .. } in p.a.iter_mut().chain(&mut p.b) {
            summary.headline = FigureKind::Attainable;
            summary.attainable = summary.delivered.clone();
        }
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

/// Too few trials to judge most results.
fn few() -> Comparison {
    let mut c = comparison();
    let mut few = c.points[2].clone();
    few.headline.as_mut().unwrap().outcome = Comparability::NotComparable;
    few.reason = "1 trial is too few".to_owned();
    c.points = vec![c.points[2].clone(), few.clone(), few];
    c
}

#[test]
fn forms() {
    for (name, c) in [("usual", comparison()), ("shares", shares()), ("few", few())] {
        let all = [terminal(&c, false, &wide(80)), terminal(&c, true, &wide(160)), markdown(&c)];
        insta::assert_snapshot!(name, all.join("\n\n---\n\n"));
        insta::assert_snapshot!(format!("{name}_check"), check(&c) + "\n" + &junit(&c));
        assert_eq!(serde_json::from_str::<Comparison>(&json(&c).unwrap()).unwrap(), c);
        for width in [20, 40, 60, 80, 100, 200] {
            for line in terminal(&c, true, &wide(width)).lines() {
                assert!(textwrap::core::display_width(line) <= width, "{width}: {line}");
            }
        }
    }
    let mut bad = comparison();
    bad.subsystems[0].margin = f64::NAN;
    assert!(json(&bad).is_err(), "what is no number could not be read again");
}

#[test]
fn a_verdict_counts_what_there_is() {
    let said = |points: Vec<ComparedPoint>| {
        let c = Comparison { points, ..comparison() };
        View::from_comparison(&c).verdict
    };
    let point = |at: usize| vec![comparison().points[at].clone()];
    assert_eq!(said(Vec::new()), "Neither run measured anything.");
    assert!(said(point(2)).starts_with("No difference is shown in the one compared result."));
    assert_eq!(said(point(5)), "No results can be compared.");
    let mut fine = comparison();
    fine.points.retain(|p| !p.fails());
    assert!(check(&fine).starts_with("None of 3 results is slower than in base or gone;"));
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
    let xml = junit(&c);
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
        let xml = junit(&c);
        prop_assert!(html(&c).is_ok() && roxmltree::Document::parse(&xml).is_ok(), "{xml}");
    }
}
