//! The formats that other programs read: each is parsed here as strictly as its readers do.

use proofmark_model::{Ending, Finding, Measurement, Param, Params, Run, Severity, Verdict, key};
use roxmltree::Document;
use serde_json::Value;

use super::reading::render;
use super::{fixture, prometheus};

const HOSTILE: &str = "a\"} 1\n# TYPE x info\nb\\\"{c=\\,d}]]></failure><!-- \u{1b}[31m\0\u{b}\u{fffe}\u{ffff}\u{202e}&lt; 'q'";

/// Every run that the other tests know, also with every text a stranger's, and odd ones.
fn runs() -> Vec<Run> {
    let stopped = [cut_short(), fixture::hostile_of(cut_short(), HOSTILE)];
    let odd = stopped.into_iter().chain([not_finite(), twice()]);
    fixture::every_and_hostile(HOSTILE).into_iter().chain(odd).collect()
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
    run.measurements.extend(fixture::endured().measurements);
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

#[test]
fn every_line_is_an_object_that_stands_alone() {
    for run in runs() {
        let text = render("jsonl", &run);
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
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
        let points = lines.iter().filter(|l| l["metric"] == "trials").count();
        assert_eq!(points, run.measurements.len(), "one line of trials for each point");
    }
}

#[test]
fn what_is_no_number_is_an_empty_cell() {
    let csv = render("csv", &not_finite());
    assert!(![",NaN", ",inf", ",-inf"].iter().any(|number| csv.contains(number)), "{csv}");
}

#[test]
fn prometheus_and_openmetrics_read_every_run() {
    for run in runs() {
        let text = render("openmetrics", &run);
        let series = prometheus::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let verdicts = series.iter().filter(|s| s.name == "proofmark_measurement_verdict");
        let verdicts: Vec<f64> = verdicts.map(|s| s.value).collect();
        assert_eq!(verdicts.len(), 6 * run.measurements.len());
        assert_eq!(verdicts.iter().sum::<f64>(), run.measurements.len() as f64, "one each");
        assert_eq!(series.iter().filter(|s| s.name == "proofmark_run_info").count(), 1);
    }
}

#[test]
fn text_of_strangers_comes_back_from_a_label() {
    let mut run = fixture::run();
    let name = "a\"b\\c\\n{d}=,\u{e4}";
    run.measurements.truncate(1);
    // Two names become the same.
    run.measurements[0].params =
        Params::default().with(key::MIX, name).with_named("a b", 1).with_named("a-b", 2);
    let series = prometheus::parse(&render("openmetrics", &run)).unwrap();
    let label = ("param_mix".to_owned(), name.to_owned());
    assert!(series.iter().any(|s| s.labels.contains(&label)), "{series:?}");
    let long = "x".repeat(100_000);
    run.measurements[0].params.0.insert("mix".into(), Param::Text(long));
    assert!(render("openmetrics", &run).len() < 20_000);
}

#[test]
fn every_run_is_well_formed_xml_with_a_case_for_each_point() {
    for run in runs() {
        let xml = render("junit", &run);
        let allowed = |c: char| matches!(c, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(xml.chars().all(allowed), "a character that XML 1.0 does not allow: {xml}");
        let document = Document::parse(&xml).unwrap();
        let suites = document.descendants().filter(|node| node.has_tag_name("testsuite"));
        let of_points = suites.filter(|suite| suite.attribute("name") != Some("run"));
        let cases = of_points.flat_map(|suite| suite.children());
        let cases = cases.filter(|node| node.has_tag_name("testcase"));
        assert_eq!(cases.count(), run.measurements.len());
    }
}

/// A few points of each kind, one of them invalid, so that the snapshots stay short.
fn few() -> Run {
    let mut run = fixture::run();
    run.measurements.retain(|m| match m.params.threads() {
        2 => m.workload == "cpu.flops",
        8 => matches!(m.workload.as_str(), "cpu.flops" | "cpu.iops" | "cpu.mix.int"),
        _ => false,
    });
    let of_disk = |m: &Measurement| m.latency.as_ref().is_some_and(|l| l.p99.is_some());
    run.measurements.extend(fixture::disk().measurements.into_iter().find(of_disk));
    let beside = fixture::beside().measurements.into_iter();
    run.measurements.extend(beside.filter(|m| !m.references.is_empty()).take(1));
    run.plan.points = run.measurements.iter().map(Measurement::point).collect();
    let finding = Finding::new("wrong", Severity::Invalid, "it is wrong", "mend it");
    let m = run.measurements.iter_mut().find(|m| m.workload == "cpu.mix.int").unwrap();
    (m.verdict, m.findings) = (Verdict::Invalid, vec![finding.clone()]);
    run.findings.push(finding);
    run
}

#[test]
fn snapshots() {
    let mut over_time = fixture::endured();
    over_time.measurements[0].trials.truncate(3);
    for (format, name, run) in [
        ("jsonl", "jsonl", few()),
        ("jsonl", "jsonl_over_time", over_time),
        ("openmetrics", "openmetrics", few()),
        ("junit", "junit", few()),
        ("junit", "junit_cut_short", cut_short()),
    ] {
        insta::assert_snapshot!(name, render(format, &run));
    }
}
