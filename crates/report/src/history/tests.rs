//! Made-up histories in every form.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use proofmark_model::{
    Better, FigureKind, Params, PastFigure, PastPoint, PastRun, Timestamp, Unit, Verdict,
};

use super::spark;
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

#[test]
fn every_form_has_its_word() {
    for form in Form::ALL {
        assert_eq!(Form::find(form.id()), Some(form));
    }
    assert_eq!(Form::find("pdf"), None);
}

#[test]
fn runs_are_a_table_that_fits() {
    let all = [past(1), past(12)];
    let text = runs(&all, Form::Terminal, &WIDE).unwrap();
    assert!(text.starts_with("run  started, UTC      host   machine"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.starts_with(" 12  2025-10-21 08:53  node1"), "{text}");
    assert!(last.contains("A CPU, 2 CPUs, 16 GiB") && last.ends_with("/runs/12"), "{text}");
    for width in [20, 40, 60, 80] {
        let text = runs(&all, Form::Terminal, &Options { width, color: false }).unwrap();
        assert!(text.lines().all(|l| l.chars().count() <= width), "{width}: {text}");
        assert!(text.contains("12"), "{text}");
    }
    let mut bare = past(3);
    bare.host = None;
    let text = runs(&[bare], Form::Terminal, &WIDE).unwrap();
    assert!(text.contains("  -     A CPU"), "{text}");
}

#[test]
fn a_line_a_point_with_its_changes() {
    let text = drawn(&two(), 80);
    let expected = "\
cpu.flops over time: 2 lines, 2025-10-10 08:53 to 2025-10-12 08:53 UTC
in all runs: isa avx2
change: compared with the previous run that is not invalid

threads 1 (higher is better)
▄▄▄
lowest block 47.74, highest 52.76 GFLOP/s
run  started, UTC    delivered  95 % interval  change  of ceiling  verdict
                       GFLOP/s        GFLOP/s       %        %
  1  2025-10-10 08:53    50.00    49.50–50.50       -     90.0  ✓ valid
  2  2025-10-11 08:53    50.50      50.0–51.0    +1.0     90.0  ✓ valid
  3  2025-10-12 08:53    50.00    49.50–50.50    -1.0     90.0  ✓ valid
";
    let same = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let first: Vec<_> = text.lines().take(expected.lines().count() - 2).collect();
    let until: Vec<_> = expected.lines().take(expected.lines().count() - 2).collect();
    assert_eq!(same(&first.join("\n")), same(&until.join("\n")), "{text}");
    assert!(text.contains("-10.9"), "{text}");
    assert_eq!(text.matches("isa").count(), 1, "what does not differ is listed once: {text}");
    for width in [20, 40, 60] {
        let text = drawn(&two(), width);
        assert!(text.lines().all(|l| l.chars().count() <= width), "{width}: {text}");
        assert!(text.contains("-10.9"), "{text}");
    }
}

#[test]
fn what_was_delivered_is_beside_another_headline() {
    let mut all = two();
    for p in &mut all[..3] {
        let ci95 = Some([0.4 * p.value, 0.6 * p.value]);
        p.headline = FigureKind::Attainable;
        p.attainable = Some(PastFigure { value: p.value, ci95: p.ci95 });
        p.delivered = Some(PastFigure { value: 0.5 * p.value, ci95 });
    }
    let text = drawn(&all, 100);
    let heads: Vec<&str> = text.lines().filter(|l| l.starts_with("run ")).collect();
    let words: Vec<Vec<&str>> = heads.iter().map(|h| h.split_whitespace().collect()).collect();
    assert!(words[0].contains(&"attainable") && words[0].contains(&"delivered"), "{text}");
    assert_eq!(words[1].iter().filter(|w| **w == "delivered").count(), 1, "{text}");
    assert!(text.contains("25.25"), "half of 50.50: {text}");
    let page = points("cpu.flops", None, &all, Form::Html, &WIDE).unwrap();
    assert!(page.contains("delivered") && page.contains("25.25"), "{page}");
    let csv = points("cpu.flops", None, &all, Form::Csv, &WIDE).unwrap();
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    let of = |name: &str| row[head.iter().position(|h| h == name).unwrap()].to_owned();
    assert_eq!(of("headline"), "attainable");
    assert_eq!(of("attainable").parse::<f64>().unwrap(), 50e9);
    assert_eq!(of("delivered").parse::<f64>().unwrap(), 25e9);
    assert_eq!(of("delivered_ci95_high").parse::<f64>().unwrap(), 0.6 * 50e9);
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
    let (chart, _) = spark::chart(&lines[0], 80);
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
fn samples_over_time_are_a_line_of_their_own() {
    let mut all = two()[..3].to_vec();
    (all[1].over_time, all[1].levels, all[1].ci95) = (true, Some(3), None);
    all.swap(1, 2);
    let lines = lines(&all, None);
    let names: Vec<&str> = lines.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["", "sampled over time"]);
    assert_eq!(lines[1].moments[0].change, None);
    let text = drawn(&all, 80);
    assert!(text.contains("3 levels") && text.contains("sampled over time (higher"), "{text}");
    let alone = drawn(&all[2..], 80);
    assert!(alone.contains("in all runs: isa avx2, threads 1, sampled over time\n"), "{alone}");
    let page = points("cpu.flops", None, &all, Form::Html, &WIDE).unwrap();
    assert!(page.contains("50.50 GFLOP/s, over 3 levels, ✓ valid"), "{page}");
}

#[test]
fn of_more_runs_than_columns_several_share_a_sign() {
    let chart = |values: &[f64], width| {
        let all: Vec<_> = values.iter().enumerate().map(|(i, v)| point(i as i64, 1, *v)).collect();
        spark::chart(&lines(&all, None)[0], width)
    };
    assert_eq!(chart(&[100.0, 50.0, 100.0], 80).0.signs, "▇▁▇");
    assert_eq!(chart(&[1e308, -1e308, 1.0], 80).0.signs.chars().count(), 3);
    let many: Vec<f64> = (0..1000).map(|i| f64::from(i / 500) + 1.0).collect();
    let (drawn, each) = chart(&many, 20);
    assert_eq!((drawn.signs.as_str(), each), (&*["▁".repeat(10), "▇".repeat(10)].concat(), 50));
}

#[test]
fn programs_get_what_is_stored() {
    let json = points("cpu.flops", None, &two(), Form::Json, &WIDE).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], "proofmark.history/1");
    let read: Vec<PastPoint> = serde_json::from_value(value["points"].clone()).unwrap();
    assert_eq!(read, two());
    let json = runs(&[past(1)], Form::Json, &WIDE).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let read: Vec<PastRun> = serde_json::from_value(value["runs"].clone()).unwrap();
    assert_eq!(read, [past(1)]);
    let csv = points("cpu.flops", None, &two(), Form::Csv, &WIDE).unwrap();
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let at = |name: &str, head: &::csv::StringRecord| head.iter().position(|h| h == name).unwrap();
    let head = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), rows[5][at("value", &head)].parse::<f64>().unwrap()), (6, 90e9));
    assert_eq!((&rows[5][at("threads", &head)], &rows[5][at("over_time", &head)]), ("2", "false"));
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
    assert_eq!(page.matches("<svg viewBox").count(), 2);
    assert_eq!(page.matches("<tbody>").count(), 2);
    assert!(page.contains("run 2, 2025-10-11 08:53: 50.50"), "a mark says what it is");
    assert!(page.contains("! suspect") && page.contains("role=\"img\""));
    assert!(!page.contains("http://") || page.matches("http://").count() == 2, "only namespaces");
    let list = runs(&[past(1)], Form::Html, &WIDE).unwrap();
    assert!(list.contains("<th scope=\"row\">1</th>"), "{list}");
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
