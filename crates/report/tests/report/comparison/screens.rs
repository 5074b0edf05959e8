//! What a reader must find at any width and in every format.

use proofmark_model::ComparedPercentile;

use super::*;

/// Main results of a machine that B has half of, one of them a time, and one coarse.
pub fn main_results() -> Comparison {
    use Comparability::{Faster, NoDifferenceShown, Slower};
    let mut c = comparison();
    let titles = [
        ("FP peak, 2 CPUs, avx512", 0.5, Slower, [0.49, 0.51], 0.04),
        ("Sequential write, 1 MiB, depth 8", 0.964, NoDifferenceShown, [0.907, 0.977], 0.198),
        ("Random read, 4 KiB, depth 1", 0.607, NoDifferenceShown, [0.461, 0.902], 0.333),
        ("Memory latency, 256 MiB", 0.5, Faster, [0.49, 0.51], 0.04),
    ];
    c.points = Vec::new();
    for (place, (title, value, outcome, ends, margin)) in titles.into_iter().enumerate() {
        let mut p = point(place as u64 + 1, value, outcome, "no finding explains it");
        (p.main_row, p.title) = (Some(place), title.into());
        let headline = p.headline.as_mut().unwrap();
        headline.ratio = Ratio { median: value, ci95: Some(ends) };
        headline.margin = margin;
        p.b.as_mut().unwrap().verdict = Verdict::Valid;
        c.points.push(p);
    }
    let [first, write, _, time] = &mut c.points[..] else { unreachable!() };
    first.best_of_each = Some(["avx512".into(), "avx2".into()]);
    write.b.as_mut().unwrap().verdict = Verdict::Coarse;
    (time.unit, time.better, time.workload) =
        (Unit::Second, Better::Lower, "memory.latency".into());
    (time.a, time.b) = (number(1.2e-7, Verdict::Valid), number(6e-8, Verdict::Valid));
    c
}

#[test]
fn both_figures_stay_at_any_width() {
    let c = main_results();
    let texts = [60, 80, 100, 120].map(|width| terminal(&c, false, &wide(width)));
    for (text, width) in texts.iter().zip([60, 80, 100, 120]) {
        let main = text.split("Main results").nth(1).unwrap();
        let main = main.split("\n\n").next().unwrap();
        for figure in ["64.00 GFLOP/s", "32.00", "120.0 ns", "60.00", "~ 61.70"] {
            assert!(main.contains(figure), "{width}: {figure} is not in {main}");
        }
        for (difference, n) in
            [("▼ slower", 1), ("▲ faster", 1), ("within margin", 1), ("▽ perhaps slower", 1)]
        {
            assert_eq!(main.matches(difference).count(), n, "{width}: {difference} in {main}");
        }
        for note in [
            "within the margin of 19.8 % (a ratio of 0.802): two runs",
            "beyond the margin of 33.3 % (a ratio of 0.667): perhaps",
        ] {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(note), "{width}: {note} is not in {text}");
        }
        assert!(!text.contains("delivered A"), "{text}");
    }
    insta::assert_snapshot!("widths", texts.join("\n\n---\n\n"));
}

#[test]
fn what_a_machine_delivers_has_a_row_of_its_own() {
    let text = terminal(&shares(), false, &wide(80));
    let rows: Vec<&str> =
        text.lines().filter(|l| l.trim_start().starts_with("delivered ")).collect();
    assert!(rows.len() >= 4 && rows.iter().all(|l| l.contains("32.00")), "{text}");
    // Nothing differs, but a machine that delivers half of its headline shows it.
    let mut quiet = shares();
    quiet.points.truncate(1);
    quiet.points[0].delivered.as_mut().unwrap().outcome = Comparability::NoDifferenceShown;
    assert!(terminal(&quiet, true, &wide(80)).contains("\n  delivered"));
    for n in quiet.points[0].b.iter_mut() {
        n.summary.delivered = n.summary.attainable.clone();
    }
    let calm = terminal(&quiet, true, &wide(80));
    assert!(!calm.contains("\n  delivered"), "{calm}");
    // Of a time it is a latency.
    let mut time = shares().points[0].clone();
    (time.better, time.unit) = (Better::Lower, Unit::Second);
    let time = Comparison { points: vec![time], ..shares() };
    assert!(terminal(&time, true, &wide(80)).contains("\n  delivered latency"));
    assert!(check(&time).contains("delivered latency"), "{}", check(&time));
}

#[test]
fn the_sentence_is_first_in_every_format() {
    let mut c = comparison();
    c.sentence = "B delivers 0.31 of A's CPU & more.".into();
    let begins = "new against base\nB delivers 0.31 of A's CPU & more.\n";
    assert!(terminal(&c, false, &wide(80)).starts_with(begins));
    let lines = check(&c);
    assert_eq!(lines.lines().nth(2), Some("B delivers 0.31 of A's CPU & more."), "{lines}");
    let text = markdown(&c);
    let third = text.lines().filter(|l| !l.is_empty()).nth(1).unwrap().to_owned();
    assert!(third.contains("B delivers 0.31 of A's CPU &amp; more."), "{text}");
    let xml = junit(&c);
    let property =
        "<property name=\"comparison\" value=\"B delivers 0.31 of A&apos;s CPU &amp; more.\"";
    assert!(xml.contains(property), "{xml}");
    let value: serde_json::Value = serde_json::from_str(&json(&c).unwrap()).unwrap();
    assert_eq!(value["sentence"], "B delivers 0.31 of A's CPU & more.");
    let page = html(&c).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("B delivers 0.31 of A") < at("compared results"));
}

#[test]
fn prices_have_a_table_and_times_are_left_out() {
    let mut c = main_results();
    for (side, per_hour) in [(&mut c.a, 0.4), (&mut c.b, 0.1)] {
        side.price = Some(Price { per_hour, currency: "$".into() });
    }
    let compared = figure(2.0, [1.96, 2.04], Comparability::Faster);
    let money = PerPrice { figure: FigureKind::Delivered, a: 160e9, b: 320e9, compared };
    for p in c.points.iter_mut().filter(|p| p.better == Better::Higher) {
        p.per_price = Some(money.clone());
    }
    for text in [terminal(&c, false, &wide(80)), markdown(&c), html(&c).unwrap()] {
        let text = text.replace('\\', "");
        let text = text.replace("&#x2f;", "/");
        assert!(text.contains("price 0.10 $/h"), "{text}");
        let table = text.split("the figure for 1 $/h.").last().unwrap();
        assert!(table.contains("160.0 GFLOP/s") && table.contains("320.0 GFLOP/s"), "{table}");
        let rows = table.split("subsystem").next().unwrap();
        assert_eq!(rows.matches("160.0 GFLOP/s").count(), 3, "{rows}");
    }
    let both = [c.clone(), Comparison { b: Side { letter: 'C', ..c.b.clone() }, ..c.clone() }];
    let text = several(&both, &wide(100));
    assert_eq!(text.matches("320.0 GFLOP/s").count(), 6, "{text}");
    for letter in ['B', 'C'] {
        let sets = format!("] best instruction set of each: avx512 in A, avx2 in {letter}");
        assert!(text.contains(&sets), "{text}");
    }
    let csv = comparison::csv(&both).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 4, "{csv}");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let mut reader = csv.lines().skip(1).map(|l| l.to_owned());
    let row = reader.next().unwrap();
    assert!(row.starts_with("B,new,"), "{row}");
    for name in ["ratio", "per_price_ratio", "outcome", "baseline", "value", "reason"] {
        column(name);
    }
    assert!(row.contains(",0.5,") && row.contains(",2,") && row.contains(",slower,"), "{row}");
}

#[test]
fn a_check_names_a_cause_once_and_begins_with_the_deciding_ratio() {
    let c = comparison();
    let text = check(&c);
    assert_eq!(text.matches("a CPU quota of 0.5 CPUs").count(), 1, "{text}");
    let rows: Vec<&str> = text.lines().filter(|l| l.contains("threads, avx2+fma")).collect();
    assert!(rows.iter().any(|l| l.starts_with("  0.500  ")), "{text}");
    assert!(rows.iter().any(|l| l.starts_with("  0.250  ")), "{text}");
    // Of a result whose delivered figure moved, that ratio decides, not the headline's.
    let text = check(&shares());
    let rows: Vec<&str> = text.lines().filter(|l| l.contains(" delivered ")).collect();
    assert!(rows.iter().filter(|l| l.starts_with("  0.500  ")).count() >= 4, "{text}");
    for width in [40, 60, 80, 100] {
        let run = testing::run(Vec::new());
        let text = Check::new(("new", &run), &[]).against(Ok(&c)).terminal(&wide(width));
        let most = text.lines().map(textwrap::core::display_width).max();
        assert!(most <= Some(width) && text.lines().all(|l| !l.is_empty()), "{text}");
    }
}

#[test]
fn a_check_says_which_slower_results_others_disturbed_and_which_are_perhaps_slower() {
    let flat = |c: &Comparison| check(c).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut c = shares();
    for p in &mut c.points[..4] {
        p.disturbances = vec!["other_cpu".into()];
    }
    assert_eq!(c.decision(), proofmark_model::Decision::Undecided);
    let text = flat(&c);
    for part in [
        "? slower, disturbed, in 3 results: attainable: no difference shown",
        "Disturbed: what others took explains that these results are slower",
        "None of 5 results fails compared with base, but 4 are slower by a disturbance alone, so it is \
         undecided; 1 without a shown difference (1 perhaps slower),",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('✗') && junit(&c).contains("type=\"disturbed\""), "{text}");
    c.points[3].disturbances.clear();
    let text = flat(&c);
    let last = "1 of 5 results fails compared with base: 1 slower, 0 gone; 3 more are slower by a \
                disturbance alone;";
    assert!(text.contains(last) && text.contains("✗ slower in 1 result"), "{text}");
    let json = Check::new(("new", &testing::run(Vec::new())), &[]).against(Ok(&c)).json().unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let counts = &json["counts"]["results"];
    assert_eq!([&counts["slower"], &counts["disturbed"], &counts["perhaps_slower"]], [4, 3, 1]);
    assert_eq!((&json["results"][0]["fails"], &json["exit_status"]), (&false.into(), &4.into()));
    // What passes may be perhaps slower.
    let c = main_results();
    let text = flat(&c);
    for part in ["▽ perhaps slower Random read, 4 KiB, depth 1: no finding", "(1 perhaps slower)"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn percentiles_of_single_operations_have_rows_that_are_not_judged() {
    let mut c = main_results();
    let of = |name: &str, a, b| ComparedPercentile { percentile: name.into(), a, b, value: b / a };
    c.points.last_mut().unwrap().percentiles =
        vec![of("p50", 1e-4, 1.1e-4), of("p99", 1.503e-3, 84.15e-3)];
    let text = terminal(&c, false, &wide(120));
    let row = text.lines().find(|l| l.starts_with("  p99 of operations")).unwrap();
    for part in ["1.503 ms", "84.15", "56.0", "not judged"] {
        assert!(row.contains(part), "{part} is not in {row}");
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says =
        "p99 of single operations is higher by a factor of 56.0 in 1 result (shown, not judged).";
    assert!(flat.contains(says), "{text}");
    assert!(html(&c).unwrap().contains("p99 of single operations"));
}

#[test]
fn a_page_has_labels_and_reasons_below_its_tables_and_every_row_has_its_digits() {
    let mut c = main_results();
    let titles = |c: &Comparison| html(c).unwrap().contains("instance-B against instance-A");
    assert!(!titles(&c));
    (c.a.label, c.b.label) = (Some("instance-A".into()), Some("instance-B".into()));
    assert!(titles(&c));
    c.points[0].reason = "in B a limit is near".into();
    // A row below its result is indented.
    let below = vec![ComparedPercentile { percentile: "p99".into(), a: 1.0, b: 2.0, value: 2.0 }];
    c.points[0].percentiles = below;
    let page = html(&c).unwrap();
    assert!(page.contains("<span class=\"below\">  p99 of operations</span>"), "{page}");
    assert!(!page.contains(">reason<"), "no column of long texts");
    assert!(page.contains(">Reasons<") && page.contains("in B a limit is near"), "{page}");
    // 62.53 MB/s next to 7.135 GB/s is no 0.063.
    let p = &mut c.points[0];
    (p.unit, p.a, p.b) =
        (Unit::BytePerSecond, number(7.135e9, Verdict::Valid), number(62.53e6, Verdict::Valid));
    let text = terminal(&c, false, &wide(120));
    assert!(text.contains("62.53 MB/s") && !text.contains("0.063"), "{text}");
}
