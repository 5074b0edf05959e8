//! A fleet's report in every form, on reports that no machine made.

mod page;

use proofmark_model::{
    Decision, DifferingFact, FactValue, FigureKind, FleetReport, NodeState, Pass, Reliance,
    SuspectResult, UnfinishedPass,
};
use proofmark_report::Options;
use proofmark_report::fleet::{html, json, junit, openmetrics, terminal, whole_terminal};
use proptest::prelude::*;

use super::fixture::fleet::{
    healthy, linked, many, missing, one_slow, slow_at, strange, three, two_groups, uneven,
};
use super::prometheus::{parse, promtool};

const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[2J\"'&]]>\u{0}\u{202e}\\\n";

fn wide(width: usize) -> Options {
    Options { width, color: false }
}

fn all() -> Vec<(&'static str, FleetReport)> {
    let mut testbed = one_slow();
    testbed.plan.testbed = Some("nodes are containers of one machine.".into());
    let mut empty = healthy(0, 1);
    empty.groups.clear();
    vec![
        ("healthy", healthy(8, 5)),
        ("one_slow", one_slow()),
        ("testbed", testbed),
        ("two_groups", two_groups()),
        ("missing", missing()),
        ("uneven", uneven()),
        ("linked", linked()),
        ("three", three()),
        ("many", many(200, 20)),
        ("empty", empty),
    ]
}

#[test]
fn screens() {
    let screen =
        |(name, report): &(&str, FleetReport)| format!("# {name}\n{}", terminal(report, &wide(80)));
    let all: Vec<_> = all().into_iter().chain([("large", many(1000, 80))]).collect();
    insta::assert_snapshot!(all.iter().map(screen).collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_missing_or_suspect_on_all_nodes_is_said() {
    let mut report = healthy(8, 3);
    report.unfinished = Some(UnfinishedPass { pass: Pass::First, rounds: 7, planned: 8 });
    report.groups[0].suspect = vec![SuspectResult {
        title: "Triad, 2 CPUs".into(),
        check: "in_cache".into(),
        message: "50.2 % of the data may come from the cache".into(),
        rounds: 63,
        of: 64,
    }];
    let texts = [terminal(&report, &wide(200)), html(&report).unwrap()];
    for text in &texts {
        for words in [
            "The fleet is not complete: it has 7 of 8 rounds and no second pass.",
            "Triad, 2 CPUs: suspect in 63 of 64 rounds of nodes (in_cache): 50.2 %",
            "--resume DIR",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
    report.unfinished = Some(UnfinishedPass { pass: Pass::Again, rounds: 6, planned: 8 });
    let text = terminal(&report, &wide(200));
    assert!(text.contains("it has 6 of 8 rounds of the second pass."), "{text}");
}

#[test]
fn a_screen_has_24_lines_and_no_line_is_too_wide() {
    let hostile = strange(&"long words and more of them ".repeat(30));
    let crowded = {
        let mut report = many(1000, 80);
        report.plan.testbed = Some("nodes are containers of one machine ".repeat(9));
        let again = report.groups[0].clone();
        report.groups.extend([again.clone(), again.clone(), again]);
        for g in &mut report.groups {
            g.links = vec![linked().groups[0].links[0].clone(); 9];
            g.links.iter_mut().for_each(|l| (l.figure, l.cause) = (0, "long words ".repeat(40)));
            g.not_judged = uneven().groups[0].not_judged.clone();
        }
        for n in &mut report.nodes {
            n.name = format!("{}-{}", n.name, "x".repeat(70));
        }
        report
    };
    // Two groups get more lines each than four.
    let mut two = FleetReport { groups: crowded.groups[..2].to_vec(), ..crowded.clone() };
    two.groups.iter_mut().flat_map(|g| &mut g.facts).for_each(|f| f.value = "fact ".repeat(40));
    for report in all().iter().map(|(_, r)| r).chain([&hostile, &crowded, &two]) {
        for width in [20, 40, 60, 80, 132] {
            let text = terminal(report, &wide(width));
            assert!(width < 80 || text.lines().count() <= 24, "{}\n{text}", text.lines().count());
            for line in text.lines() {
                assert!(textwrap::core::display_width(line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_map_shows_every_pair_of_nodes_once_in_each_direction() {
    let page = html(&linked()).unwrap();
    let map = page.split("id=\"between\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(map.matches("<tr><th scope=\"row\">").count(), 8);
    assert_eq!(map.matches(">–</td>").count(), 8, "a node with itself");
    assert_eq!(map.matches(">0.12</td>").count(), 2);
    assert_eq!(map.matches("class=\"h5 invalid\">0.12").count(), 2);
    assert_eq!(map.matches(" suspect\">0.93").count(), 2);
    assert_eq!(map.matches(">0.61</td>").count(), 14, "a row and a column");
    assert!(!html(&one_slow()).unwrap().contains("id=\"between\""));
}

#[test]
fn without_a_slow_node_the_figure_in_which_nodes_differ_most_is_first() {
    let titles = |report: &FleetReport| {
        let text = terminal(report, &wide(100));
        let table: Vec<String> =
            text.lines().skip_while(|line| !line.contains("median")).map(str::to_owned).collect();
        let place = |title: &str| table.iter().position(|line| line.contains(title));
        ["LINPACK", "Triad", "Disk random read"].map(place)
    };
    let mut report = healthy(8, 5);
    report.groups[0].figures[4].strips[2].ratio = Some(0.971);
    assert!(matches!(titles(&report), [Some(a), Some(b), Some(1)] if a.min(b) > 1));
    // What was not confirmed is more doubtful than any difference within the margin.
    slow_at(&mut report, "n5", 2, 0.985, false);
    assert!(matches!(titles(&report), [Some(3..), Some(1), Some(2)]), "{:?}", titles(&report));
}

#[test]
fn nodes_that_are_not_compared_show_the_figure_whose_share_is_named() {
    let mut report = three();
    let figures = &mut report.groups[0].figures;
    let mut delivered = figures[0].clone();
    delivered.kind = FigureKind::Delivered;
    delivered.strips.iter_mut().for_each(|s| s.reliance = Reliance::Assumed);
    figures[0].strips.iter_mut().for_each(|s| s.of_ceiling = None);
    figures.push(delivered);
    let text = terminal(&report, &wide(120));
    let title = &report.groups[0].figures[0].title;
    assert!(text.contains(&format!("{title}, delivered")), "{text}");
    assert!(!text.contains(&format!("{title}, attainable")), "{text}");
    assert!(text.contains("90.0 % (assumed)"), "{text}");
}

#[test]
fn the_age_of_the_rounds_that_a_repaired_node_is_compared_with_is_said_once() {
    let mut report = healthy(8, 5);
    report.nodes[2].asked_again_after_s = Some(1230.0);
    let words = "n3 was measured again 20 min 30 s after the fleet began. It is compared \
                 with the older rounds of the others.";
    for text in [terminal(&report, &wide(80)), html(&report).unwrap()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches("was measured again").count(), 1, "{text}");
        assert!(text.contains(words) || text.contains(&words.replace('\'', "&#39;")), "{text}");
    }
    report.nodes[4].asked_again_after_s = Some(3.0 * 86_400.0);
    let text = terminal(&report, &wide(200));
    assert!(text.contains("n3 and n5 were measured again up to 3 days after"), "{text}");
    report.nodes.iter_mut().for_each(|n| n.asked_again_after_s = Some(5.0));
    assert!(!terminal(&report, &wide(80)).contains("measured again"), "all are as old");
}

#[test]
fn results_that_cannot_be_judged_are_named_once() {
    let report = uneven();
    for text in [terminal(&report, &wide(80)), html(&report).unwrap()] {
        let left =
            "Not judged: 5 results (Disk write, Copy, Fork and 2 others); most nodes lack them.";
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(left), "{text}");
        assert_eq!(text.matches("differs too much between nodes to judge").count(), 1, "{text}");
    }
    assert!(html(&report).unwrap().contains("45.1 % (not judged)"));
}

#[test]
fn the_answer_says_how_groups_differ() {
    let words = "All 9 nodes are healthy. 4 nodes have usable CPUs 4, the others 2; nodes are \
                 compared only within their group.";
    for text in [terminal(&two_groups(), &wide(132)), html(&two_groups()).unwrap()] {
        assert!(text.contains(words), "{text}");
    }
    let mut more = two_groups();
    more.groups.extend([more.groups[1].clone(), more.groups[1].clone()]);
    let another = more.groups[1].differences[0].clone();
    more.groups[1].differences.push(another);
    let text = terminal(&more, &wide(132)).replace('\n', " ");
    let words = "4 nodes have usable CPUs 4, the largest group 2, and 1 more difference; 4 nodes have \
                 usable CPUs 4, the largest group 2; 1 other group with other differences; nodes are compared";
    assert!(text.contains(words), "{text}");
    // What keeps a node from being compared is a reason of that node.
    more.groups.iter_mut().skip(1).for_each(|g| g.comparable = false);
    assert!(!terminal(&more, &wide(132)).contains("only within their group"));
}

#[test]
fn colours_repeat_the_state() {
    let text = terminal(&one_slow(), &Options { width: 80, color: true });
    assert!(text.contains("\u{1b}[91m✗ slow\u{1b}[0m"), "{text:?}");
}

#[test]
fn metrics() {
    let mut out = String::new();
    for (name, report) in all() {
        let text = openmetrics(&report);
        let series = parse(&text).unwrap();
        let state = |s| {
            series.iter().filter(move |x| x.name == "proofmark_fleet_node_state" && x.value == s)
        };
        assert_eq!(state(1.0).count(), report.nodes.len(), "{name}");
        assert_eq!(state(0.0).count(), 3 * report.nodes.len(), "{name}");
        if name == "two_groups" {
            out = text;
        }
    }
    insta::assert_snapshot!(out);
    assert!(parse(&openmetrics(&strange(HOSTILE))).is_ok());
    let all = all().into_iter().map(|(_, report)| report).chain([strange(HOSTILE)]);
    promtool(&all.map(|report| openmetrics(&report)).collect::<Vec<_>>());
}

#[test]
fn each_slow_figure_is_a_series() {
    let series = parse(&openmetrics(&one_slow())).unwrap();
    let slow: Vec<_> = series.iter().filter(|s| s.name == "proofmark_fleet_node_slow").collect();
    assert_eq!(slow.len(), 2);
    assert!(slow.iter().all(|s| s.labels.contains(&("node".into(), "n3".into()))));
    let ratio =
        series.iter().find(|s| s.name == "proofmark_fleet_node_speed_ratio" && s.value == 0.921);
    assert!(ratio.is_some(), "a ratio has the digits that the report has");
}

#[test]
fn cases() {
    let of =
        |name: &str, report: &FleetReport| format!("<!-- {name} -->\n{}", junit(report).unwrap());
    let left_out = ["many", "uneven", "healthy", "one_slow"];
    let shown = all().into_iter().filter(|(name, _)| !left_out.contains(name));
    insta::assert_snapshot!(shown.map(|(name, r)| of(name, &r)).collect::<Vec<_>>().join("\n"));
    for (name, report) in all() {
        let xml = junit(&report).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let failures = document.descendants().filter(|n| n.has_tag_name("failure")).count();
        assert_eq!(failures > 0, report.decision() != Decision::Met, "{name}: {xml}");
    }
}

#[test]
fn the_json_reads_back_unchanged() {
    for (name, report) in all() {
        let text = json(&report).unwrap();
        assert!(serde_json::from_str::<FleetReport>(&text).unwrap() == report, "{name}");
    }
    let mut bad = one_slow();
    bad.nodes[0].figures[0].ratio = f32::NAN;
    assert!(json(&bad).is_err(), "a number that is not finite cannot be read back");
}

#[test]
fn every_form_warns_of_a_testbed() {
    let (_, report) = all().swap_remove(2);
    let forms = [
        terminal(&report, &wide(200)),
        html(&report).unwrap(),
        openmetrics(&report),
        junit(&report).unwrap(),
    ];
    let said =
        "nodes are containers of one machine; figures between nodes are not those of a network";
    for text in forms {
        assert!(text.contains(said), "{text}");
    }
    assert!(json(&report).unwrap().contains("\"testbed\""));
}

#[test]
fn untrusted_text_stays_text() {
    let report = strange(HOSTILE);
    let (page, xml) = (html(&report).unwrap(), junit(&report).unwrap());
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert!(roxmltree::Document::parse(&xml).is_ok() && !xml.contains("<script>"));
    for text in [page, xml, terminal(&report, &wide(80)), openmetrics(&report)] {
        assert!(!text.contains(['\u{1b}', '\u{0}', '\u{202e}']), "{text}");
    }
}

#[test]
fn a_slow_node_without_cause_or_reason_names_its_figures() {
    let mut report = healthy(8, 5);
    slow_at(&mut report, "n3", 2, 0.921, true);
    report.nodes[2].state = NodeState::Slow;
    report.nodes.swap(0, 2);
    let text = terminal(&report, &wide(80));
    assert!(text.contains("✗ slow  n3: Triad, 2 CPUs (0.921)"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_form_panics(
        text in any::<String>(), ratios in prop::collection::vec(any::<f32>(), 1..9),
        values in prop::collection::vec(any::<f64>(), 1..9), width in 0_usize..200, color in any::<bool>(),
    ) {
        let mut report = strange(&text);
        let (mut ratios, mut values) = (ratios.into_iter().cycle(), values.into_iter().cycle());
        for f in report.groups.iter_mut().flat_map(|g| &mut g.figures) {
            (f.median, f.margin, f.spread) = (values.next(), values.next(), values.next());
            for s in &mut f.strips {
                (s.ratio, s.value, s.of_ceiling) = (ratios.next(), values.next(), ratios.next());
                s.ratios.iter_mut().chain(&mut s.again).for_each(|r| *r = ratios.next());
            }
            f.strips.pop();
        }
        let _ = (terminal(&report, &Options { width, color }), json(&report));
        prop_assert!(parse(&openmetrics(&report)).is_ok());
        prop_assert!(html(&report).is_ok());
        prop_assert!(roxmltree::Document::parse(&junit(&report).unwrap()).is_ok());
    }
}

#[test]
fn all_names_every_node_and_cuts_no_text() {
    let mut report = many(200, 20);
    let cause = "a cause of many words ".repeat(30);
    report.nodes[0].cause = Some(format!("{}: {cause}", report.nodes[0].name));
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let screen = flat(terminal(&report, &wide(80)));
    assert!(screen.contains("(--all names them)"), "{screen}");
    let whole = flat(whole_terminal(&report, &wide(80)));
    let (above, _) = whole.split_once(" figure median").unwrap();
    assert!(above.contains(cause.trim_end()) && !above.contains('…'), "{whole}");
    for node in report.nodes.iter().filter(|n| n.state != NodeState::Healthy) {
        assert!(whole.contains(&node.name), "{}", node.name);
    }
}

#[test]
fn names_are_whole_where_there_is_room() {
    let mut report = one_slow();
    let long = "node-17.rack-3.cluster.example.org";
    for name in report.groups.iter_mut().flat_map(|g| &mut g.nodes) {
        *name = format!("{name}-{long}");
    }
    report.nodes.iter_mut().for_each(|n| n.name = format!("{}-{long}", n.name));
    let slow = report.nodes[0].name.clone();
    let row = |width| {
        let text = terminal(&report, &wide(width));
        text.lines().filter(|line| line.contains(&format!("{slow} 0."))).count()
    };
    assert_eq!(row(80), 0);
    assert!(row(160) > 0, "{}", terminal(&report, &wide(160)));
}

#[test]
fn facts_that_differ_are_listed_with_their_nodes() {
    let mut report = healthy(8, 5);
    let value = |value: &str, nodes: &[&str]| FactValue {
        value: value.to_owned(),
        nodes: nodes.iter().map(|n| (*n).to_owned()).collect(),
    };
    report.groups[0].differing = vec![
        DifferingFact {
            what: "CPU quota".into(),
            usual: Some("none".into()),
            others: vec![value("0.6 CPUs", &["n3"])],
        },
        DifferingFact {
            what: "firmware".into(),
            usual: None,
            others: vec![value("2.0", &["n1", "n2"]), value("2.1", &["n3"])],
        },
    ];
    let words =
        "CPU quota 0.6 CPUs on n3 (none on the others); firmware 2.0 on n1 and n2, 2.1 on n3";
    for text in [terminal(&report, &wide(80)), html(&report).unwrap()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn columns_that_a_narrow_terminal_leaves_out_are_mentioned() {
    let mut left_out = 0;
    for width in 40..=110 {
        let text = terminal(&one_slow(), &wide(width));
        let says = text.contains("a wider terminal shows more columns");
        assert_ne!(says, text.contains("spread"), "{width}: {text}");
        left_out += usize::from(says);
    }
    assert!(left_out > 0);
}

#[test]
fn long_reasons_are_cut_and_no_node_is_left_without_one() {
    let mut report = healthy(4, 18);
    let reasons = |i: usize| {
        (0..5).map(|r| format!("reason {r} of n{i} {}", "with many words ".repeat(8))).collect()
    };
    for (i, node) in report.nodes.iter_mut().enumerate() {
        (node.state, node.reasons) = (NodeState::Unverified, reasons(i));
    }
    let text = terminal(&report, &wide(100));
    assert!((0..4).all(|i| text.contains(&format!("reason 0 of n{i}"))), "{text}");
    assert!(text.lines().count() <= 24 && !text.contains("and others"), "{text}");
    let whole = whole_terminal(&report, &wide(100));
    let flat = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!((0..4).all(|i| flat.contains(&format!("Reason 4 of n{i}"))), "{whole}");
}
