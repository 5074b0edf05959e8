//! The formats that other programs read: each is parsed here as strictly as its readers do.

use std::collections::BTreeSet;

use proofmark_model::{
    Ending, Figure, FigureKind, Finding, Measurement, Param, Params, Probe, Run, Severity, Unit,
    Verdict, key,
};
use proofmark_report::find;
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
            for field in ["time", "run_id", "tool", "profile", "metric", "unit"] {
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

/// Prometheus sees what `check` tests. A node that lost half its time has the headline of a quiet one.
#[test]
fn metrics_show_time_that_was_lost() {
    let mut run = fixture::run();
    let mut lost = 0;
    for m in run.measurements.iter_mut().filter(|m| m.unit.is_work()) {
        let Some(s) = &mut m.summary else { continue };
        (s.attainable.value, s.headline) = (Some(s.value()), FigureKind::Attainable);
        s.delivered.value = Some(0.5 * s.value());
        s.delivered.ci95 = Some([0.4 * s.value(), 0.6 * s.value()]);
        for t in &mut m.trials {
            t.time_account = Some(proofmark_model::TimeAccount {
                wall_s: 2.0,
                working_s: 1.0,
                waiting_s: 0.75,
                throttled_s: None,
                stopped_s: 0.25,
                stolen_s: None,
                interrupted_s: 0.0,
                unaccounted_s: 0.0,
                removed_s: None,
                edges_s: 0.0,
            });
        }
        lost += usize::from(!m.trials.is_empty());
    }
    let all = prometheus::parse(&render("openmetrics", &run)).unwrap();
    let named = |name: &str| {
        let name = format!("proofmark_measurement_{name}");
        all.iter().filter(move |s| s.name == name).collect::<Vec<_>>()
    };
    for unit in ["flops_per_second", "operations_per_second"] {
        let headlines = named(unit);
        assert!(!headlines.is_empty());
        for headline in headlines {
            let one = |name: String| {
                let here = named(&name).into_iter();
                let of_it = here.filter(|s| headline.labels.iter().all(|l| s.labels.contains(l)));
                of_it.map(|s| s.value / headline.value).collect::<Vec<_>>()
            };
            assert_eq!(one(format!("delivered_{unit}")), [0.5]);
            let ends = one(format!("delivered_interval_{unit}"));
            assert!(ends.len() == 2 && (ends[0] - 0.4).abs() + (ends[1] - 0.6).abs() < 1e-9);
        }
    }
    let shares = named("lost_time_ratio");
    let sum: f64 = shares.iter().map(|s| s.value).sum();
    assert!(lost > 5 && (sum - 0.5 * lost as f64).abs() < 1e-9, "{sum} of {lost}");
    let stopped = |s: &&&prometheus::Series| s.labels.iter().any(|(_, v)| v == "stopped");
    assert!(shares.iter().filter(stopped).all(|s| s.value == 0.125));
    let (lines, junit) = (render("jsonl", &run), render("junit", &run));
    assert!(lines.contains("\"delivered_ci95_low\"") && junit.contains("name=\"delivered\""));
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
    run.host.os.host_name = Probe::known("node1".to_owned(), "made up");
    run.label = Some("tuned".to_owned());
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
        ("bmf", "bmf", few()),
    ] {
        insta::assert_snapshot!(name, render(format, &run));
    }
}

/// One run in every format: programs that read several of them put the rows together by these.
#[test]
fn every_format_has_host_label_and_run() {
    let run = few();
    let id = run.started.to_string();
    for format in proofmark_report::ALL.iter().map(|format| format.id) {
        let text = render(format, &run);
        // Bencher's format has no place for them.
        let has = format != "bmf";
        for name in ["node1", "tuned", &id] {
            assert_eq!(text.contains(name), has, "{format}: {name}");
        }
    }
    let mut reader = csv_rows(&render("csv", &run));
    let head = reader.remove(0);
    for (name, value) in [("run_id", id.as_str()), ("host", "node1"), ("label", "tuned")] {
        let at = head.iter().position(|column| column == name).unwrap();
        assert!(reader.iter().all(|row| row[at] == value), "{name}");
    }
    for line in render("jsonl", &run).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["run_id"], &line["host"]), (&Value::from(id.as_str()), &"node1".into()));
        assert_eq!(line["label"], "tuned");
    }
    for series in prometheus::parse(&render("openmetrics", &run)).unwrap() {
        for (name, value) in [("host", "node1"), ("label", "tuned")] {
            assert!(series.labels.contains(&(name.into(), value.into())), "{series:?}");
        }
    }
}

/// Rows of a CSV without line breaks in cells.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    text.lines().map(cells).collect()
}

/// The names of parameters of all workloads are names of columns, and no other column has them.
#[test]
fn each_column_of_the_csv_has_a_name_of_its_own() {
    let declared = proofmark_workloads::ALL.iter().map(|w| w.spec());
    let names: BTreeSet<&str> =
        declared.flat_map(|spec| spec.parameters.iter()).map(|p| p.name.as_ref()).collect();
    let mut run = fixture::beside();
    for name in &names {
        run.measurements[0].params.0.insert((*name).to_owned(), Param::Int(1));
    }
    let head = |run: &Run| csv_rows(&render("csv", run)).remove(0);
    let columns = head(&run);
    assert!(names.iter().all(|name| columns.iter().any(|c| c == name)), "{columns:?}");
    // A stranger's parameters, in a run with tools and in one without.
    for name in ["tool", "value", "unit", "host", "a", "param_value"] {
        run.measurements[0].params.0.insert(name.to_owned(), Param::Int(1));
    }
    let columns = head(&run);
    assert!(columns.contains(&"param_tool".to_owned()), "{columns:?}");
    assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len(), "{columns:?}");
    run.measurements.iter_mut().for_each(|m| m.references.clear());
    assert!(head(&run).contains(&"param_tool".to_owned()), "the name does not depend on tools");
}

fn bmf(run: &Run) -> Value {
    serde_json::from_str(&render("bmf", run)).unwrap()
}

/// The schema that Bencher publishes, version 0.
#[test]
fn bencher_reads_every_run() {
    for run in runs() {
        for (name, measures) in bmf(&run).as_object().unwrap() {
            assert!((1..=1024).contains(&name.chars().count()), "{name}");
            let measures = measures.as_object().unwrap();
            assert!(!measures.is_empty());
            for (slug, metric) in measures {
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(slug.len() <= 64 && slug.chars().all(plain), "{slug}");
                let metric = metric.as_object().unwrap();
                let value = metric["value"].as_f64().unwrap();
                let [low, high] = ["lower_value", "upper_value"].map(|end| metric.get(end));
                assert_eq!(
                    (low.is_some(), metric.len()),
                    (high.is_some(), if low.is_some() { 3 } else { 1 })
                );
                assert!(value.is_finite());
                if let (Some(low), Some(high)) = (low, high) {
                    assert!(low.as_f64() <= high.as_f64(), "{name} {slug}: {metric:?}");
                }
            }
        }
    }
}

#[test]
fn a_benchmark_has_the_delivered_figure_and_the_headline() {
    let mut run = fixture::run();
    run.measurements.truncate(2);
    let [rate, time] = &mut run.measurements[..] else { panic!() };
    let name = |m: &Measurement| {
        let parameters = m.params.0.iter().map(|(name, value)| format!("{name}={value}"));
        format!("{}[{}]", m.workload, parameters.collect::<Vec<_>>().join(","))
    };
    let figure = |value: f64| Figure {
        value: Some(value),
        ci95: Some([0.5 * value, 2.0 * value]),
        ..Figure::default()
    };
    for (m, size) in [(&mut *rate, 1e9), (&mut *time, 1e-9)] {
        let summary = m.summary.as_mut().unwrap();
        summary.headline = FigureKind::Typical;
        (summary.typical, summary.delivered) = (figure(8.0 * size), figure(4.0 * size));
    }
    (rate.unit, rate.latency, time.unit, time.latency) =
        (Unit::BytePerSecond, None, Unit::Second, None);
    let names = [name(rate), name(time)];
    let metric = |value: f64| serde_json::json!({ "value": value, "lower_value": 0.5 * value, "upper_value": 2.0 * value });
    let found = bmf(&run);
    assert_eq!(found[&names[0]]["throughput"], metric(4e9), "{found}");
    assert_eq!(found[&names[0]]["throughput-typical"], metric(8e9));
    let nanoseconds = found[&names[1]]["latency"]["value"].as_f64().unwrap();
    assert!((nanoseconds - 4.0).abs() < 1e-9 && found[&names[1]]["latency-typical"].is_object());
    run.measurements[0].verdict = Verdict::Invalid;
    assert!(bmf(&run).get(&names[0]).is_none());
    let line = find("bmf").unwrap().left_out(&run).unwrap();
    assert!(line.contains("1 invalid result: ") && line.contains(&names[0]), "{line}");
    assert!(find("jsonl").unwrap().left_out(&run).is_none());
}

/// Debian has it in `prometheus`.
#[test]
fn promtool_checks_every_run() {
    let runs: Vec<String> = runs().iter().map(|run| render("openmetrics", run)).collect();
    prometheus::promtool(&runs);
}

/// Debian has it in `prometheus-node-exporter`. One collector holds the files of two machines.
#[test]
fn the_textfile_collector_takes_the_files_of_several_machines() {
    let mut run = few();
    let mut texts = vec![render("openmetrics", &run)];
    run.host.os.host_name = Probe::known("node2".to_owned(), "made up");
    texts.push(render("openmetrics", &run));
    let Some(answer) = prometheus::collected(&texts) else { return };
    let series = |text: &str| text.lines().filter(|l| l.starts_with("proofmark_")).count();
    assert_eq!(series(&answer), series(&texts[0]) + series(&texts[1]), "{answer}");
    assert!(answer.contains("\nnode_textfile_scrape_error 0\n"), "{answer}");
}
