//! The formats that other programs read: each is parsed here as strictly as its readers do.

use std::collections::BTreeSet;

use proofmark_model::{
    Change, Ending, Finding, Latency, Level, Measurement, Param, Params, Run, Series, Severity,
    Timestamp, Trend, Unit, Verdict, testing,
};
use proofmark_report::{Options, find};
use roxmltree::{Document, Node};
use serde_json::Value;

use super::{fixture, prometheus};

const HOSTILE: &str = "a\"} 1\n# TYPE x info\nb\\\"{c=\\,d}]]></failure><!-- \u{1b}[31m\0\u{b}\u{fffe}\u{ffff}\u{202e}&lt; 'q'";

fn of(format: &str, run: &Run) -> String {
    find(format).unwrap().render(run, &Options::default()).unwrap()
}

/// Every run that the other tests know, also with every text a stranger's, and odd ones.
fn runs() -> Vec<Run> {
    let plain = || {
        vec![
            fixture::run(),
            fixture::empty(),
            fixture::memory(),
            fixture::disk(),
            fixture::network(),
            fixture::linpack(),
            fixture::beside(),
            over_time(),
            cut_short(),
        ]
    };
    let hostile = plain().into_iter().map(|r| fixture::hostile_of(r, HOSTILE));
    plain().into_iter().chain(hostile).chain([not_finite(), twice()]).collect()
}

/// An endurance run with one change.
fn over_time() -> Run {
    let mut run = fixture::run();
    run.measurements.truncate(1);
    let m = &mut run.measurements[0];
    let median = m.summary.as_ref().unwrap().value();
    let level = |from_s: f64, share: f64| Level {
        from_s,
        until_s: from_s + 3.0,
        trials: 3,
        median: median * share,
        ci95: None,
    };
    m.series = Some(Series {
        levels: vec![level(0.0, 1.0), level(3.0, 0.5)],
        changes: vec![Change {
            at_s: 3.0,
            at: fixture::moment(4000),
            ratio: 0.5,
            cause: Some("the quota held back 50 %".into()),
        }],
        trend: Some(Trend { start: median, slope: -1e6, ci95: None }),
        ..testing::series(m.trials[0].started, 6)
    });
    run
}

/// A run that was stopped at its second point.
fn cut_short() -> Run {
    let mut run = fixture::run();
    run.measurements.truncate(2);
    run.measurements[1].trials.clear();
    run.measurements[1].summary = None;
    run.measurements[1].ending = Ending::Interrupted { by: "SIGTERM".into() };
    run.interrupted = Some("SIGTERM".into());
    run
}

/// A run with numbers that are none.
fn not_finite() -> Run {
    let mut run = fixture::beside();
    run.measurements.extend(fixture::disk().measurements);
    run.measurements.extend(over_time().measurements);
    for (m, v) in
        run.measurements.iter_mut().zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].iter().cycle())
    {
        m.efficiency = Some(*v);
        let sampled = m.series.is_some();
        for t in &mut m.trials {
            t.seconds = *v;
            t.value = if sampled { t.value } else { *v };
        }
        if let Some(s) = &mut m.summary {
            s.trials.sd = Some(*v);
            proofmark_model::testing::restate(s, *v, Some([*v, 1.0]));
        }
        if let Some(l) = &mut m.latency {
            (l.p50, l.p99, l.max) = (*v, Some(*v), *v);
        }
        m.references.iter_mut().for_each(|r| (r.value, r.ratio.median) = (*v, *v));
    }
    run
}

/// A run with each point twice, as an import may have it.
fn twice() -> Run {
    let mut run = fixture::beside();
    run.measurements.extend(run.measurements.clone());
    run
}

fn lines(run: &Run) -> Vec<Value> {
    of("jsonl", run).lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn is(line: &Value, metric: &str) -> bool {
    line["metric"] == metric
}

#[test]
fn every_line_is_an_object_that_stands_alone() {
    for run in runs() {
        let lines = lines(&run);
        assert!(!lines.is_empty(), "also a run without a point has its own line");
        for line in &lines {
            let line = line.as_object().unwrap();
            for field in ["time", "run", "tool", "profile", "metric", "unit"] {
                assert!(line[field].is_string(), "{field} of {line:?}");
            }
            assert!(line["value"].as_f64().unwrap().is_finite());
            assert!(line.values().all(|v| !v.is_null()), "{line:?}");
            for field in line.iter().filter(|(name, _)| *name != "params") {
                assert!(!field.1.is_object() && !field.1.is_array(), "{field:?}");
            }
            let of_point = line.contains_key("workload");
            assert_eq!(of_point, line.contains_key("params"));
            assert_ne!(of_point, line["metric"].as_str().unwrap().starts_with("run_"));
        }
        let points = lines.iter().filter(|l| is(l, "trials")).count();
        assert_eq!(points, run.measurements.len(), "one line of trials for each point");
    }
}

#[test]
fn the_lines_hold_the_run_s_own_figures() {
    let run = fixture::run();
    let lines = lines(&run);
    for m in run.measurements.iter().filter(|m| m.summary.is_some()) {
        let params = serde_json::to_value(&m.params).unwrap();
        let own = |metric: &str| {
            let mut found = lines
                .iter()
                .filter(|l| is(l, metric) && l["workload"] == m.workload && l["params"] == params);
            let value = found.next().map(|l| l["value"].as_f64().unwrap());
            assert!(found.next().is_none());
            value
        };
        let s = m.summary.as_ref().unwrap();
        assert_eq!(own("headline"), Some(s.value()));
        assert_eq!(own("sd"), s.trials.sd);
        assert_eq!(own("ci95_high"), s.ci95().map(|c| c[1]));
        assert_eq!(own("efficiency"), m.efficiency);
        assert_eq!(own("ceiling"), m.ceiling.as_ref().map(|c| c.value));
    }
    let refused: Vec<&Value> = lines.iter().filter(|l| l.get("missing").is_some()).collect();
    assert_eq!(refused.len(), 2);
    assert!(refused[0]["missing"].as_str().unwrap().contains("SIGKILL"), "{}", refused[0]);
}

#[test]
fn samples_levels_and_changes_are_lines_with_their_own_time() {
    let run = over_time();
    let lines = lines(&run);
    let samples: Vec<&Value> = lines.iter().filter(|l| is(l, "sample")).collect();
    assert_eq!(samples.len(), run.measurements[0].trials.len());
    let times: BTreeSet<&str> = samples.iter().map(|l| l["time"].as_str().unwrap()).collect();
    assert_eq!(times.len(), samples.len());
    assert_eq!(lines.iter().filter(|l| is(l, "level")).count(), 2);
    let change = lines.iter().find(|l| is(l, "change")).unwrap();
    assert_eq!(change["value"], 0.5);
    assert_eq!(change["time"], fixture::moment(4000).to_string());
    assert!(change["cause"].as_str().unwrap().contains("quota"));
}

#[test]
fn prometheus_and_openmetrics_read_every_run() {
    for run in runs() {
        let text = of("openmetrics", &run);
        let series = prometheus::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let verdicts = series.iter().filter(|s| s.name == "proofmark_measurement_verdict");
        assert_eq!(verdicts.count(), 3 * run.measurements.len());
        assert_eq!(series.iter().filter(|s| s.name == "proofmark_run_info").count(), 1);
    }
}

#[test]
fn a_gauge_is_the_run_s_own_figure() {
    let run = fixture::run();
    let series = prometheus::parse(&of("openmetrics", &run)).unwrap();
    let m = run.measurements.iter().find(|m| m.verdict == Verdict::Suspect).unwrap();
    let of_m = |name: &str, further: &[(&str, &str)]| {
        let mut labels: BTreeSet<(String, String)> =
            m.params.0.iter().map(|(n, v)| (format!("param_{n}"), v.to_string())).collect();
        labels.insert(("workload".into(), m.workload.clone()));
        labels.insert(("subsystem".into(), "cpu".into()));
        labels.extend(further.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())));
        series.iter().find(|s| s.name == name && s.labels == labels).map(|s| s.value)
    };
    let s = m.summary.as_ref().unwrap();
    assert_eq!(of_m("proofmark_measurement_flops_per_second", &[]), Some(s.value()));
    let bound = |b| of_m("proofmark_measurement_interval_flops_per_second", &[("bound", b)]);
    assert_eq!([bound("low"), bound("high")], s.ci95().unwrap().map(Some));
    assert_eq!(of_m("proofmark_efficiency_ratio", &[]), m.efficiency);
    let state = |v| of_m("proofmark_measurement_verdict", &[("verdict", v)]);
    assert_eq!([state("valid"), state("suspect"), state("invalid")], [0.0, 1.0, 0.0].map(Some));
    let start =
        series.iter().find(|s| s.name == "proofmark_run_start_timestamp_seconds").unwrap().value;
    assert_eq!(start, 1_760_000_000.0);
}

#[test]
fn text_of_strangers_comes_back_from_a_label() {
    let mut run = fixture::run();
    let name = "a\"b\\c\\n{d}=,\u{e4}";
    run.measurements.truncate(1);
    run.measurements[0].params = Params::default().with("mix", name);
    let series = prometheus::parse(&of("openmetrics", &run)).unwrap();
    let label = ("param_mix".to_owned(), name.to_owned());
    assert!(series.iter().any(|s| s.labels.contains(&label)), "{series:?}");
    let long = "x".repeat(100_000);
    run.measurements[0].params.0.insert("mix".into(), Param::Text(long));
    assert!(of("openmetrics", &run).len() < 20_000);
}

/// A test case as a reader of JUnit XML sees it.
struct Case {
    suite: String,
    name: String,
    class: String,
    seconds: Option<f64>,
    properties: Vec<(String, String)>,
    /// `failure`, `error`, `skipped`, or `success` where there is none of these.
    ending: String,
    kind: Option<String>,
    message: Option<String>,
    output: Option<String>,
}

fn attribute(node: Node, name: &str) -> Option<String> {
    node.attribute(name).map(str::to_owned)
}

fn children<'a>(node: Node<'a, 'a>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.has_tag_name(tag))
}

fn read_case(suite: &str, node: Node) -> Case {
    let endings = ["failure", "error", "skipped"];
    let mut ended = node.children().filter(|child| endings.contains(&child.tag_name().name()));
    let ending = ended.next();
    assert!(ended.next().is_none(), "a case ends in one way");
    let properties = node.descendants().filter(|child| child.has_tag_name("property"));
    Case {
        suite: suite.to_owned(),
        name: attribute(node, "name").unwrap(),
        class: attribute(node, "classname").unwrap(),
        seconds: node.attribute("time").map(|s| s.parse().unwrap()),
        properties: properties
            .map(|p| (attribute(p, "name").unwrap(), attribute(p, "value").unwrap()))
            .collect(),
        ending: ending.map_or("success", |e| e.tag_name().name()).to_owned(),
        kind: ending.and_then(|e| attribute(e, "type")),
        message: ending.and_then(|e| attribute(e, "message")),
        output: children(node, "system-out").next().and_then(|o| o.text()).map(str::to_owned),
    }
}

fn cases(run: &Run) -> Vec<Case> {
    let xml = of("junit", run);
    let document = Document::parse(&xml).unwrap();
    let root = document.root_element();
    let mut all: Vec<Case> = Vec::new();
    for suite in children(root, "testsuite") {
        let name = attribute(suite, "name").unwrap();
        let cases = children(suite, "testcase").map(|node| read_case(&name, node));
        let cases: Vec<Case> = cases.collect();
        counts_are_true(suite, &cases);
        all.extend(cases);
    }
    counts_are_true(root, &all);
    all
}

fn counts_are_true(node: Node, cases: &[Case]) {
    let count = |name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
    let ended = |ending: &str| cases.iter().filter(|c| c.ending == ending).count();
    assert_eq!(count("tests"), cases.len());
    assert_eq!(count("failures"), ended("failure"));
    assert_eq!(count("errors"), ended("error"));
    assert_eq!(count("skipped"), ended("skipped"));
    if let Some(seconds) = node.attribute("time") {
        let sum: f64 = cases.iter().filter_map(|c| c.seconds).sum();
        let seconds: f64 = seconds.parse().unwrap();
        assert!((seconds - sum).abs() <= 1e-3 * cases.len() as f64, "{seconds} is not {sum}");
    }
}

#[test]
fn every_run_is_well_formed_xml_with_a_case_for_each_point() {
    for run in runs() {
        let xml = of("junit", &run);
        let allowed = |c: char| matches!(c, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(xml.chars().all(allowed), "a character that XML 1.0 does not allow: {xml}");
        let measured = cases(&run).iter().filter(|c| c.suite != "run").count();
        assert_eq!(measured, run.measurements.len());
    }
}

#[test]
fn a_case_ends_as_its_point_did() {
    let mut run = fixture::run();
    let finding = Finding::new("wrong", Severity::Invalid, "it is wrong", "mend it");
    let m = run.measurements.iter_mut().find(|m| m.workload == "cpu.mix.int").unwrap();
    (m.verdict, m.findings) = (Verdict::Invalid, vec![finding.clone()]);
    run.findings.push(finding);
    let all = cases(&run);
    let case = |class: &str, name: &str| {
        all.iter().find(|c| c.class == class && c.name.contains(name)).unwrap()
    };
    let invalid = case("cpu.mix.int", "threads=1");
    assert_eq!(invalid.ending, "failure");
    assert_eq!(invalid.message.as_deref(), Some("it is wrong"));
    assert_eq!(invalid.kind.as_deref(), Some("wrong"));
    assert_eq!(case("cpu.flops", "isa=avx2 threads=8").ending, "error");
    assert_eq!(case("cpu.iops", "threads=8").ending, "skipped");
    assert_eq!(case("run", "host and run").ending, "failure");
    let suspect = case("cpu.flops", "isa=sse2 threads=2");
    assert_eq!(suspect.ending, "success");
    assert!(suspect.output.as_deref().unwrap().contains("the quota held back 12 %"));
    assert!(suspect.properties.contains(&("verdict".to_owned(), "suspect".to_owned())));
    let m = run.measurements.iter().find(|m| m.verdict == Verdict::Suspect).unwrap();
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    assert!((suspect.seconds.unwrap() - seconds).abs() < 1e-3);
}

#[test]
fn points_that_were_not_come_to_are_skipped_and_counted() {
    let run = cut_short();
    let all = cases(&run);
    let left = all.iter().find(|c| c.name == "configurations not measured").unwrap();
    let message = left.message.as_deref().unwrap();
    let count = run.plan.points.len() - 2;
    assert_eq!(left.ending, "skipped");
    assert!(message.starts_with(&format!("{count} planned configurations")), "{message}");
    assert!(message.contains("SIGTERM"));
    assert_eq!(all[1].ending, "skipped");
}

/// A few points of each kind, so that the snapshots stay short.
fn few() -> Run {
    let mut run = fixture::run();
    run.measurements.retain(|m| match m.params.threads() {
        2 => m.workload == "cpu.flops",
        8 => matches!(m.workload.as_str(), "cpu.flops" | "cpu.iops" | "cpu.mix.int"),
        _ => false,
    });
    let of_disk = |m: &Measurement| m.latency.as_ref().is_some_and(|l: &Latency| l.p99.is_some());
    run.measurements.extend(fixture::disk().measurements.into_iter().find(of_disk));
    let beside = fixture::beside().measurements.into_iter();
    run.measurements.extend(beside.filter(|m| !m.references.is_empty()).take(1));
    run.plan.points = run.measurements.iter().map(Measurement::point).collect();
    assert!(run.measurements.iter().any(|m| m.unit == Unit::BytePerSecond));
    assert!(run.started == Timestamp::from_millis(1_760_000_000_000).unwrap());
    run
}

#[test]
fn jsonl() {
    insta::assert_snapshot!(of("jsonl", &few()));
}

#[test]
fn openmetrics() {
    insta::assert_snapshot!(of("openmetrics", &few()));
}

#[test]
fn junit() {
    insta::assert_snapshot!(of("junit", &few()));
}
