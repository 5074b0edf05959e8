//! Every kind of page, opened in a browser: a run's report, two runs side by side, past runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proofmark_model::{
    Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, ComparedPoint, ComparedSubsystem,
    Comparison, Difference, FigureKind, Number, Params, PastFigure, PastPoint, Ratio, Run, Side,
    Subsystem, Timestamp, Unit, Verdict, testing,
};
use proofmark_report::history::{self, Form};
use proofmark_report::{Options, comparison, find};
use proofmark_testing::{output, wait};

use super::fixture;

/// A text that would be markup, and does not fit in a line.
fn hostile() -> String {
    format!("<i>'\"&</script>{}", "x".repeat(60))
}

fn report(run: &Run) -> String {
    find("html").unwrap().render(run, &Options::default()).unwrap()
}

fn day(n: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + n * 86_400_000).unwrap()
}

fn number(median: f64) -> Option<Number> {
    Some(Number { summary: testing::summary(median), verdict: Verdict::Valid })
}

/// Points with these ratios, on 1, 2, 3 threads and so on.
fn compared(ratios: &[f64]) -> Vec<ComparedPoint> {
    let one = |(i, ratio): (usize, &f64)| ComparedPoint {
        workload: "memory.copy".into(),
        name: format!("{} threads", i + 1),
        row: Some("Memory copy".into()),
        subsystem: Subsystem::Memory,
        params: Params::default().with("threads", i as u64 + 1),
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        a: number(8e9 * (i + 1) as f64),
        b: number(8e9 * (i + 1) as f64 * ratio),
        figure: Some(FigureKind::Typical),
        delivered: Some(ComparedFigure {
            ratio: Ratio { median: 0.5 * ratio, ci95: None },
            margin: 0.04,
            resolution: None,
            outcome: Comparability::Slower,
        })
        .filter(|_| i % 2 == 1),
        headline: Some(ComparedFigure {
            ratio: Ratio { median: *ratio, ci95: Some([ratio * 0.99, ratio * 1.01]) },
            margin: 0.04,
            resolution: Some(0.06),
            outcome: match *ratio {
                r if r < 0.9 => Comparability::Slower,
                r if r > 1.1 => Comparability::Faster,
                _ => Comparability::NoDifferenceShown,
            },
        }),
        reason: "no finding and no fact about the machines tells why".into(),
    };
    ratios.iter().enumerate().map(one).collect()
}

/// Two runs side by side: slower, faster, alike, gone, not comparable, and a stranger's texts.
fn side_by_side() -> String {
    let side = |name: &str, day_| Side {
        name: name.into(),
        started: day(day_),
        version: "0.1.0".into(),
        machine: hostile(),
        profile: "quick".into(),
    };
    let mut points = compared(&[0.5, 0.25, 40.0, 1.2, 1.0, 1.01, 0.99, 1.0, 1.0]);
    let at = points.len() - 1;
    (points[at].b, points[at].headline) = (None, None);
    points[at].reason = "only in A".to_owned();
    (points[at - 1].headline, points[at - 1].reason) = (None, hostile());
    (points[0].name, points[0].reason) = (hostile(), hostile());
    let difference = Difference { what: hostile(), a: "none".into(), b: hostile() };
    let comparison = Comparison {
        schema: COMPARISON_SCHEMA.into(),
        a: side("base", 1),
        b: side(&hostile(), 2),
        differences: vec![difference],
        subsystems: vec![ComparedSubsystem {
            subsystem: Subsystem::Memory,
            speed: Some(Ratio { median: 0.99, ci95: Some([0.5, 1.2]) }),
            margin: 0.04,
            resolution: Some(0.06),
            faster: 2,
            slower: 2,
            no_difference_shown: 3,
            not_comparable: 1,
            gone: 1,
        }],
        points,
    };
    comparison::html(&comparison).unwrap()
}

/// A measurement over twelve runs, on two numbers of threads, on a machine with a long name.
fn over_runs() -> String {
    let one = |threads: i64, run: i64| PastPoint {
        run,
        started: day(run),
        host: Some(hostile()),
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        workload: "memory.copy".into(),
        method: 1,
        params: Params::default().with("threads", threads.unsigned_abs()),
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        over_time: false,
        n: 8,
        headline: FigureKind::Typical,
        attainable: None,
        delivered: Some(PastFigure { value: 8e9, ci95: None }),
        value: 8e9 * (threads * 10 + run % 3) as f64,
        ci95: (run != 4).then_some([7.9e9 * threads as f64 * 10.0, 9e9 * threads as f64 * 11.0]),
        levels: None,
        efficiency: Some(0.9),
        verdict: [Verdict::Valid, Verdict::Suspect, Verdict::Invalid][(run % 3) as usize],
    };
    let points: Vec<PastPoint> =
        (1..=2).flat_map(|threads| (1..=12).map(move |run| one(threads, run))).collect();
    history::points("memory.copy", None, &points, Form::Html, &Options::default()).unwrap()
}

fn write(folder: &str, pages: &[(&str, String)]) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&dir).unwrap();
    let write = |(name, html): &(&str, String)| {
        let path = dir.join(name).with_extension("html");
        std::fs::write(&path, html).unwrap();
        path
    };
    pages.iter().map(write).collect()
}

/// What was not looked at, and why.
fn skipped(line: &str) -> Option<&str> {
    line.strip_prefix("skipped: ")
}

/// What the page test says of these pages, all tried out but the short ones; `None` without a
/// browser, which the log then tells: past the test harness's capture, so that it can be counted.
#[track_caller]
fn opened(pages: &[PathBuf], short: &[PathBuf]) -> Option<Output> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/page-test");
    let mut python = Command::new("python3");
    python.arg(script).args(pages).arg("--short").args(short);
    let is_there = Command::new("python3").arg("--version").stdout(Stdio::null()).spawn();
    let is_there =
        is_there.is_ok_and(|mut python| wait("python3 --version", &mut python).success());
    let out = is_there.then(|| output(&mut python)).filter(|o| o.status.code() != Some(77));
    let Some(out) = out else {
        proofmark_testing::skip("no python3 or no Chromium");
        return None;
    };
    for reason in String::from_utf8_lossy(&out.stdout).lines().filter_map(skipped) {
        proofmark_testing::skip(reason);
    }
    Some(out)
}

#[test]
fn a_browser_finds_nothing_wrong_with_any_page() {
    let pages = [
        ("published", report(&fixture::published())),
        ("side-by-side", side_by_side()),
        ("over-runs", over_runs()),
    ];
    let short = [
        ("over-time", report(&fixture::hostile_of(fixture::endured(), &hostile()))),
        ("empty", report(&fixture::empty())),
    ];
    let (pages, short) = (write("pages", &pages), write("pages", &short));
    if let Some(out) = opened(&pages, &short) {
        let said = [out.stdout, out.stderr].concat();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}

#[test]
fn what_is_wrong_with_a_page_is_told_whether_it_is_short_or_not() {
    let bad = over_runs()
        .replacen("<main>", "<main><div style=\"width:2000px\">.</div>", 1)
        .replacen("</h1>", "</h1><p style=\"color:#888;background:#999\">pale</p>", 1)
        .replacen("</h1>", "</h1><button style=\"outline:none\"></button>", 1);
    let path = write("bad-pages", &[("bad", bad)]);
    let Some(out) = opened(&path, &path) else { return };
    let said = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    let count = |words: &str| said.lines().filter(|l| l.contains(words)).count();
    assert_eq!(count("fits: 400 pixels: "), 2, "{said}");
    assert!(count("legible: contrast") >= 1, "{said}");
    assert!(count("keys: Tab: nothing shows the focus of BUTTON") >= 1, "{said}");
    let ruled = !said.lines().any(|line| skipped(line).is_some());
    assert_eq!(count("rules: opened: critical: button-name"), if ruled { 2 } else { 0 }, "{said}");
    assert!(said.contains("\n2 pages, "), "{said}");
}
