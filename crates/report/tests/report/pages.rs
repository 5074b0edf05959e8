//! Every kind of page, opened in a browser: a run's report, two runs compared, past runs, a fleet.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proofmark_report::{Options, comparison, fleet};
use proofmark_testing::{output, wait};

use super::comparison::strange;
use super::fixture;
use super::history::{over_time, twelve};
use super::reading::render;

/// A text that contains markup and is too long for a line.
fn hostile() -> String {
    format!("<i>'\"&</script>{}", "x".repeat(60))
}

fn side_by_side() -> String {
    let mut c = strange(&hostile());
    c.points.iter_mut().for_each(|p| p.workload = "memory.copy".into());
    (c.points[0].main_row, c.points[0].title) = (Some(0), "Memory copy".into());
    comparison::html(std::slice::from_ref(&c)).unwrap()
}

fn over_runs() -> String {
    let points = twelve(&hostile());
    over_time("memory.copy", &points, "html", &Options::default())
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

/// The reason why something was skipped, from a line of the page test.
fn skipped(line: &str) -> Option<&str> {
    line.strip_prefix("skipped: ")
}

/// Output of the page test on these pages, which tries all functions except on the short ones.
/// `None` without a browser: the log then states it past the test harness's capture, so that it can
/// be counted.
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
        ("published", render("html", &fixture::published())),
        ("side-by-side", side_by_side()),
        ("over-runs", over_runs()),
        ("fleet", fleet::html(&fixture::fleet::strange(&hostile())).unwrap()),
    ];
    let short = [
        ("over-time", render("html", &fixture::hostile_of(fixture::endured(), &hostile()))),
        ("empty", render("html", &fixture::empty())),
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
    assert_eq!(count("check_width: 400 pixels: "), 2, "{said}");
    assert!(count("check_contrast: contrast") >= 1, "{said}");
    assert!(count("keys: Tab: no visible focus ring on BUTTON") >= 1, "{said}");
    let ruled = !said.lines().any(|line| skipped(line).is_some());
    assert_eq!(count("rules: opened: critical: button-name"), if ruled { 2 } else { 0 }, "{said}");
    assert!(said.contains("\n2 pages, "), "{said}");
}
