//! Two runs side by side in every form, on comparisons that no machine made.

mod screens;
mod several;
mod untrusted;
mod verdict;

pub use untrusted::strange;

use proofmark_model::testing::{self, summary};
use proofmark_model::{
    Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem,
    Comparison, Difference, FigureKind, Number, Params, PerPrice, Price, Ratio, Side, Subsystem,
    Timestamp, Unit, Verdict, key,
};
use proofmark_report::Options;
use proofmark_report::check::Check;
use proofmark_report::comparison::{self, ComparisonOptions, json};

fn number(median: f64, verdict: Verdict) -> Option<Number> {
    let summary = summary(median);
    Some(Number { summary, verdict })
}

fn side(letter: char, name: &str) -> Side {
    Side {
        group: None,
        letter,
        price: None,
        name: name.into(),
        started: Timestamp::from_millis(1_760_000_000_000).unwrap(),
        version: "0.1.0".into(),
        label: (letter == 'B').then(|| "quiet".to_owned()),
        machine: "AMD EPYC, 2 usable CPUs".into(),
        profile: "quick".into(),
    }
}

/// B / A of a figure with its interval.
fn figure(value: f64, ends: [f64; 2], outcome: Comparability) -> ComparedFigure {
    ComparedFigure {
        value,
        ratio: Ratio { median: value, ci95: Some(ends) },
        margin: 0.04,
        margin_given: false,
        between_runs: None,
        resolution: Some(0.052),
        outcome,
    }
}

/// `cpu.flops` on so many threads, B / A as given.
fn point(threads: u64, ratio: f64, outcome: Comparability, reason: &str) -> ComparedPoint {
    ComparedPoint {
        workload: "cpu.flops".into(),
        name: format!("avx2+fma, f64, {threads} threads"),
        title: format!("FP peak, {threads} threads, avx2+fma"),
        main_row: None,
        random: false,
        subsystem: Subsystem::Cpu,
        params: Params::default().with(key::THREADS, threads),
        unit: Unit::FlopPerSecond,
        better: Better::Higher,
        a: number(64e9, Verdict::Valid),
        b: number(64e9 * ratio, Verdict::Suspect),
        figure: Some(FigureKind::Delivered),
        headline: Some(figure(ratio, [ratio * 0.99, ratio * 1.01], outcome)),
        delivered: None,
        mean_of: None,
        best_of_each: None,
        all_cpus: None,
        percentiles: Vec::new(),
        per_price: None,
        left_out: None,
        disturbances: Vec::new(),
        reason: reason.into(),
    }
}

/// Two slower, one faster, one alike, one only in A, one that is invalid in A.
fn comparison() -> Comparison {
    use Comparability::{Faster, NoDifferenceShown, NotComparable, Slower, Undecided};
    let quota =
        |share: &str| format!("in B a CPU quota of 0.5 CPUs throttled the process for {share} %");
    let mut only = point(16, 1.0, NotComparable, "only in A");
    (only.b, only.headline) = (None, None);
    let mut invalid = point(32, 1.0, NotComparable, "A is invalid: the page cache did it");
    invalid.a = number(1e9, Verdict::Invalid);
    invalid.headline = None;
    let mut time = point(8, 0.5, Faster, "no finding and no fact about the machines tells why");
    (time.workload, time.unit, time.better) =
        ("memory.latency".into(), Unit::Second, Better::Lower);
    time.title = "Memory latency".into();
    (time.a, time.b) = (number(1e-7, Verdict::Valid), number(5e-8, Verdict::Valid));
    time.subsystem = Subsystem::Memory;
    let why = "the figures give 1.20, but all pairs of rounds 0.849 (0.84 to 0.86)";
    let mut torn = point(64, 1.2, Undecided, why);
    torn.headline.as_mut().unwrap().ratio = Ratio { median: 0.849, ci95: Some([0.84, 0.86]) };
    Comparison {
        schema: COMPARISON_SCHEMA.into(),
        a: side('A', "base"),
        b: side('B', "new"),
        sentence: "B delivers 0.25 to 0.50 of A's CPU and 2.0 of its memory.".into(),
        between_runs: String::new(),
        differences: vec![Difference {
            what: "CPU quota".into(),
            a: "none".into(),
            b: "0.5 CPUs".into(),
        }],
        subsystems: vec![ComparedSubsystem {
            subsystem: Subsystem::Cpu,
            margin: 0.04,
            resolution: Some(0.052),
            delivered_resolution: None,
            faster: 0,
            slower: 2,
            no_difference_shown: 1,
            undecided: 1,
            not_comparable: 1,
            not_measured: 0,
            gone: 1,
        }],
        points: vec![
            point(1, 0.5, Slower, &quota("48.1")),
            point(2, 0.25, Slower, &quota("73.9")),
            point(4, 1.01, NoDifferenceShown, "the interval holds 1 (margin 4.0 %)"),
            time,
            only,
            invalid,
            torn,
        ],
    }
}

fn wide(width: usize) -> Options {
    Options { width, color: false }
}

fn junit(c: &Comparison) -> String {
    Check::new(("new", &testing::run(Vec::new())), &[]).against(Ok(c)).junit().unwrap()
}

fn check(c: &Comparison) -> String {
    let run = testing::run(Vec::new());
    Check::new(("new", &run), &[]).against(Ok(c)).terminal(&wide(100))
}

fn terminal(c: &Comparison, all: bool, layout: &Options) -> String {
    comparison::terminal(std::slice::from_ref(c), &ComparisonOptions { layout: *layout, all })
}

fn several(all: &[Comparison], layout: &Options) -> String {
    comparison::terminal(all, &ComparisonOptions { layout: *layout, all: false })
}

fn markdown(c: &Comparison) -> String {
    comparison::markdown(std::slice::from_ref(c))
}

fn html(c: &Comparison) -> Result<String, proofmark_report::RenderError> {
    comparison::html(std::slice::from_ref(c))
}

/// The machine as before, and half of it delivered; at the end one point where both fell.
fn shares() -> Comparison {
    use Comparability::{NoDifferenceShown, Slower};
    let half = |mut p: ComparedPoint| {
        p.figure = Some(FigureKind::Attainable);
        for Number { summary, .. } in p.a.iter_mut().chain(&mut p.b) {
            summary.headline = FigureKind::Attainable;
            summary.attainable = summary.delivered.clone();
        }
        if let (Some(a), Some(b)) = (&p.a, &mut p.b) {
            let (from, to) = (&a.summary.delivered, &mut b.summary.delivered);
            to.value = from.value.map(|v| 0.5 * v);
            to.ci95 = from.ci95.map(|ends| ends.map(|end| 0.5 * end));
        }
        let half = figure(0.5, [0.49, 0.51], Slower);
        p.delivered = Some(ComparedFigure { resolution: Some(0.06), ..half });
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

/// The machine as before, and a delivered figure that is undecided or not comparable.
fn open() -> Comparison {
    use Comparability::{NoDifferenceShown, NotComparable, Slower, Undecided};
    let figure = |outcome| ComparedFigure {
        value: 0.437,
        ratio: Ratio { median: 0.491, ci95: Some([0.481, 0.496]) },
        margin: 0.211,
        margin_given: false,
        between_runs: None,
        resolution: Some(0.25),
        outcome,
    };
    let with = |threads, outcome, why| {
        let mut p = point(threads, 1.0, NoDifferenceShown, why);
        (p.figure, p.delivered) = (Some(FigureKind::Attainable), Some(figure(outcome)));
        p
    };
    let mut c = comparison();
    c.points = vec![
        with(1, Undecided, "attainable: no difference shown; delivered: the figures give 0.437"),
        with(2, NotComparable, "attainable: no difference shown; delivered: both were disturbed"),
        with(4, Slower, "attainable: no difference shown; delivered is 56.3 % lower"),
    ];
    c.subsystems[0].delivered_resolution = Some(0.25);
    c
}

#[test]
fn a_delivered_figure_that_is_open_is_counted_and_no_pass() {
    let c = open();
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = flat(check(&c));
    for part in [
        "? undecided in 1 result: attainable: no difference shown; delivered: the figures give 0.437",
        "1 slower, 0 gone; 0 without a shown difference, 0 faster, 1 undecided, 1 not comparable",
        "in the median result, slowdowns below 5.2 % (CPU) are not detectable; of delivered, those \
         below 25.0 % (CPU).",
        "the median over all pairs of rounds or trials is 0.491 (0.481–0.496): which of the two is right is open",
        "is 0.491 (0.481–0.496): it leads to the same conclusion",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let xml = junit(&c);
    assert!(xml.contains("<error ") && xml.contains("type=\"undecided\""), "{xml}");
    assert!(xml.contains("tests=\"3\"") || xml.contains("tests=\"4\""), "{xml}");
    assert!(!xml.contains("2 threads\" classname=\"cpu.flops\"/>"), "{xml}");
    let all = flat(terminal(&c, true, &wide(160)));
    let moved = "Undisturbed figures show no difference in any of 3 results. Delivered figures are \
                 slower in 1, undecided in 1 and not comparable in 1 of 3 results.";
    assert!(all.contains(moved) && all.contains("5.2 %; delivered 25.0 %"), "{all}");
    let no_base = testing::run(Vec::new());
    let alone = Check::new(("new", &no_base), &[]).against(Err("no baseline in x"));
    assert_eq!(alone.decision(), proofmark_model::Decision::Undecided);
    assert_eq!(alone.terminal(&wide(100)), "? undecided: no baseline in x\n");
    assert!(alone.junit().unwrap().contains("type=\"no baseline\""));
    assert!(alone.json().unwrap().contains("\"no_baseline\": \"no baseline in x\""));
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
    assert!(json(&bad).is_err(), "a number that is not finite cannot be read back");
}

#[test]
fn edited() {
    let mut out = String::new();
    let mut says = |what: &str, c: &Comparison| {
        out += &format!("# {what}\n{}\n{}\n", terminal(c, true, &wide(160)), check(c));
    };
    let with = |points: &[usize]| {
        let all = comparison().points;
        let points = points.iter().map(|at| all[*at].clone()).collect();
        Comparison { points, ..comparison() }
    };
    says("nothing was measured", &with(&[]));
    says("one result", &with(&[2]));
    says("one invalid result", &with(&[5]));
    says("none fails", &with(&[2, 3, 5]));
    says("many results of A only", &with(&[4; 20]));
    insta::assert_snapshot!(out);
}

#[test]
fn the_page_needs_nothing_else_and_names_its_drawings() {
    let page = html(&comparison()).unwrap();
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    for id in [
        "answer",
        "differing",
        "undecided",
        "alike",
        "gone",
        "not-comparable",
        "differences",
        "method",
    ] {
        assert!(page.contains(&format!(r#"id="{id}""#)), "{id}");
    }
    let drawings: Vec<String> = [page, html(&strange("x")).unwrap()]
        .iter()
        .flat_map(|page| page.split(r#"<svg class="whisker""#).skip(1))
        .map(|rest| rest.split("</svg>").next().unwrap().to_owned())
        .collect();
    insta::assert_snapshot!("drawings", drawings.join("\n"));
}
