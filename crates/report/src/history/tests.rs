//! Made-up histories in every form.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use proofmark_model::{
    Better, FigureKind, Params, PastFigure, PastPoint, PastRun, Timestamp, Unit, Verdict,
};

use super::terminal::signs;
use super::{Form, lines, points, runs};
use crate::Options;

const WIDE: Options = Options { width: 100, color: false };

fn day(n: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + n * 86_400_000).unwrap()
}

fn past(id: i64) -> PastRun {
    PastRun {
        id,
        started: day(id),
        ended: Some(day(id)),
        host: Some("node1".into()),
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        profile: "quick".into(),
        version: "0.1.0".into(),
        path: format!("/runs/{id}"),
        valid: 10,
        suspect: 2,
        invalid: 0,
    }
}

fn point(run: i64, threads: u64, value: f64) -> PastPoint {
    PastPoint {
        run,
        started: day(run),
        host: Some("node1".into()),
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        workload: "cpu.flops".into(),
        method: 1,
        params: Params::default().with("isa", "avx2").with("threads", threads),
        unit: Unit::FlopPerSecond,
        better: Better::Higher,
        over_time: false,
        n: 8,
        headline: FigureKind::Delivered,
        value,
        ci95: Some([value * 0.99, value * 1.01]),
        attainable: None,
        delivered: Some(PastFigure { value, ci95: None }),
        levels: None,
        efficiency: Some(0.9),
        verdict: Verdict::Valid,
    }
}

/// Two points in three runs; the second point lost a tenth in the last.
fn two() -> Vec<PastPoint> {
    let at = |threads, values: [f64; 3]| {
        let one = move |(i, v): (usize, &f64)| point(i as i64 + 1, threads, *v * 1e9);
        values.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    [at(1, [50.0, 50.5, 50.0]), at(2, [100.0, 101.0, 90.0])].concat()
}

fn drawn(all: &[PastPoint], width: usize) -> String {
    points("cpu.flops", None, all, Form::Terminal, &Options { width, color: false }).unwrap()
}

/// The first point with another headline than delivered, the last of its runs sampled over time.
fn other_figures() -> Vec<PastPoint> {
    let mut all = two();
    for p in &mut all[..3] {
        let ci95 = Some([0.4 * p.value, 0.6 * p.value]);
        p.headline = FigureKind::Attainable;
        p.attainable = Some(PastFigure { value: p.value, ci95: p.ci95 });
        p.delivered = Some(PastFigure { value: 0.5 * p.value, ci95 });
    }
    (all[2].over_time, all[2].levels, all[2].ci95) = (true, Some(3), None);
    all
}

#[test]
fn forms() {
    let list = [past(1), PastRun { host: None, ..past(12) }];
    for id in ["terminal", "csv"] {
        let form = Form::find(id).unwrap();
        let of = |all: &[PastPoint]| points("cpu.flops", None, all, form, &WIDE).unwrap();
        let all = [runs(&list, form, &WIDE).unwrap(), of(&two()), of(&other_figures())];
        insta::assert_snapshot!(id, all.join("\n---\n\n"));
    }
    for width in [20, 40, 60, 80] {
        let list = runs(&list, Form::Terminal, &Options { width, color: false }).unwrap();
        for line in [list, drawn(&two(), width), drawn(&other_figures(), width)].concat().lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn programs_read_back_what_is_stored() {
    let json = points("cpu.flops", None, &other_figures(), Form::Json, &WIDE).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let read: Vec<PastPoint> = serde_json::from_value(value["points"].clone()).unwrap();
    assert_eq!(read, other_figures());
    let json = runs(&[past(1)], Form::Json, &WIDE).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let read: Vec<PastRun> = serde_json::from_value(value["runs"].clone()).unwrap();
    assert_eq!(read, [past(1)]);
    let csv = points("cpu.flops", None, &two(), Form::Csv, &WIDE).unwrap();
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let at = reader.headers().unwrap().iter().position(|name| name == "value").unwrap();
    let values = reader.records().map(|row| row.unwrap()[at].parse::<f64>().unwrap());
    assert!(values.eq(two().iter().map(|p| p.value)));
}

#[test]
fn machines_are_lines_of_their_own() {
    let mut all = two();
    all[1].host = Some("node2".into());
    all[2].host = None;
    let lines = lines(&all, None);
    let names: Vec<&str> = lines.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "threads 1, on an unnamed machine",
            "threads 1, on node1",
            "threads 1, on node2",
            "threads 2, on node1"
        ]
    );
    let changes = |at: usize| lines[at].moments.iter().map(|m| m.change.is_some());
    assert_eq!(changes(1).collect::<Vec<_>>(), [false], "no change from one machine to another");
    assert_eq!(changes(3).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn an_invalid_number_is_no_measure_of_change() {
    let mut all = two()[..3].to_vec();
    all[1].value = 9e15;
    all[1].verdict = Verdict::Invalid;
    let lines = lines(&all, None);
    let changes: Vec<_> = lines[0].moments.iter().map(|m| m.change).collect();
    assert_eq!(changes, [None, None, Some(0.0)]);
    assert_eq!(lines[0].scale.label(), "GFLOP/s", "nor of the scale");
    let (chart, _) = signs(&lines[0], 80);
    assert_eq!(chart.signs, "▄✗▄");
}

/// Two files that were added, of two machines: neither reports its name.
#[test]
fn machines_without_a_name_are_told_apart_by_what_they_are() {
    let bare = |run, machine: &str, value| PastPoint {
        host: None,
        machine: machine.into(),
        ..point(run, 1, value)
    };
    let all = [bare(1, "Other CPU 9000", 30e9), bare(2, "AMD EPYC", 10e9)];
    let text = drawn(&all, 80);
    assert!(text.contains("2 lines") && text.contains("on AMD EPYC (higher is better)"), "{text}");
    assert!(!text.contains("-66.7"), "no change from one machine to another: {text}");
    // A name that passed on to another machine does not make one of them.
    let mut named = two()[..3].to_vec();
    named[2].machine = "A CPU, 64 CPUs, 256 GiB".into();
    let lines = lines(&named, None);
    let names: Vec<&str> = lines.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["on A CPU, 2 CPUs, 16 GiB", "on A CPU, 64 CPUs, 256 GiB"]);
    named[2].host = None;
    assert_eq!(super::lines(&named, None)[1].name, "on node1 (A CPU, 2 CPUs, 16 GiB)");
}

#[test]
fn of_more_runs_than_columns_several_share_a_sign() {
    let chart = |values: &[f64], width| {
        let all: Vec<_> = values.iter().enumerate().map(|(i, v)| point(i as i64, 1, *v)).collect();
        signs(&lines(&all, None)[0], width)
    };
    assert_eq!(chart(&[100.0, 50.0, 100.0], 80).0.signs, "▇▁▇");
    assert_eq!(chart(&[1e308, -1e308, 1.0], 80).0.signs.chars().count(), 3);
    let many: Vec<f64> = (0..1000).map(|i| f64::from(i / 500) + 1.0).collect();
    let (drawn, each) = chart(&many, 20);
    assert_eq!((drawn.signs.as_str(), each), (&*["▁".repeat(10), "▇".repeat(10)].concat(), 50));
}

#[test]
fn strangers_texts_steer_nothing() {
    let bad = "=1+1\u{1b}[31m\u{202e}\nx";
    let mut run = past(1);
    (run.path, run.machine, run.profile) = (bad.into(), bad.into(), bad.into());
    (run.host, run.version) = (Some(bad.into()), bad.into());
    let mut number = point(1, 1, f64::INFINITY);
    number.host = Some(bad.into());
    number.machine = bad.into();
    number.params = Params::default().with(bad, bad);
    number.ci95 = Some([f64::NAN, -1.0]);
    let other = PastPoint { host: None, ..point(2, 1, -5.0) };
    for form in [Form::Terminal, Form::Csv, Form::Html] {
        let lists = runs(&[run.clone()], form, &WIDE).unwrap();
        let lines = points(bad, None, &[number.clone(), other.clone()], form, &WIDE).unwrap();
        for text in [lists, lines] {
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
            assert!(form != Form::Csv || !text.contains(",="), "{text:?}");
        }
    }
}

#[test]
fn the_page_has_a_chart_a_line() {
    let mut all = two();
    all[4].verdict = Verdict::Suspect;
    all[5].value = f64::INFINITY;
    let page = points("cpu.flops", None, &all, Form::Html, &WIDE).unwrap();
    assert_eq!((page.matches("<svg viewBox").count(), page.matches("<tbody>").count()), (2, 2));
    assert!(page.contains("run 2, 2025-10-11 08:53: 50.50"), "a mark says what it is");
    assert!(page.contains("! suspect") && page.contains("role=\"img\""));
    let page = points("cpu.flops", None, &other_figures(), Form::Html, &WIDE).unwrap();
    assert!(page.contains("50.00 GFLOP/s, over 3 levels, ✓ valid") && page.contains("25.25"));
    let bad = "</script><script>alert(1)</script>";
    let mut hostile = two();
    for p in &mut hostile {
        p.params = Params::default().with(bad, p.run as u64);
        p.host = Some(bad.into());
    }
    let page = points(bad, None, &hostile, Form::Html, &WIDE).unwrap();
    assert_eq!(page.matches("<script>").count(), 1);
    let empty = points("cpu.flops", None, &[], Form::Html, &WIDE).unwrap();
    assert!(empty.contains("The history holds no such results"));
}
