//! The report in short: its length, its names, and what it says of the rest.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Run, Unit, key};
use proofmark_report::view::View;
use proofmark_report::{Options, find};

use super::fixture;
use super::reading::{MORE, each, found, render};

const HOSTILE: &str = "<b>|`*_[x](y)\u{1b}[31m \n\"><img src=x onerror=1>&lt;\u{202e}";

fn short(format: &str, run: &Run, width: usize) -> String {
    let options = Options { width, color: false };
    find(format).unwrap().render_short(run, &options, &MORE).unwrap()
}

/// A run of that many results, a third of which have findings of their own.
fn large(results: u64) -> Run {
    let mut run = fixture::run();
    let bad = run.measurements.iter().find(|m| !m.findings.is_empty()).unwrap().clone();
    let one = |i: u64| {
        let params = fixture::params(i % 64 + 1).with(key::ITERATIONS, i).with(key::MIX, "add16");
        let mut m = fixture::good("cpu.mix.int", params, Unit::OpPerSecond, 1e9 * i as f64);
        if i.is_multiple_of(3) {
            m.verdict = bad.verdict;
            m.findings = bad.findings.clone();
            for finding in &mut m.findings {
                finding.message =
                    format!("cause {} of {}", "x".repeat(i as usize % 7), finding.message);
            }
        }
        m
    };
    run.measurements = (1..=results).map(one).collect();
    run
}

fn all() -> Vec<Run> {
    let mut all = fixture::every_and_hostile(HOSTILE);
    all.extend(fixture::every().map(|run| fixture::hostile_of(run, &HOSTILE.repeat(40))));
    all.extend([large(300), large(1000)]);
    all
}

#[test]
fn a_terminal_gets_two_screens_at_most() {
    for run in all() {
        for width in [60, 80, 120] {
            let text = short("terminal", &run, width);
            assert!(text.lines().count() <= 100, "{width}: {}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            let end = text.rsplit("\n\n").next().unwrap();
            let end = end.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(end.starts_with("Left out: "), "{end}");
            assert!(end.contains("proofmark report 'a run' --all"), "{end}");
            assert!(end.ends_with("a run/report.html"), "{end}");
        }
    }
}

#[test]
fn an_issue_takes_the_markdown() {
    for run in all() {
        let text = short("markdown", &run, 80);
        assert!(text.chars().count() <= 60_000, "{}", text.chars().count());
        let end = text.lines().last().unwrap();
        assert!(end.starts_with("Left out: ") && end.contains("--format markdown --all"), "{end}");
        let full = render("markdown", &run);
        assert!(text.len() < full.len() || full.len() < 20_000);
    }
}

/// In an issue, what a reader needs is open, and the long lists are folded.
#[test]
fn an_issue_shows_the_answer_and_folds_the_rest() {
    for run in [fixture::run(), fixture::published(), large(300)] {
        let text = short("markdown", &run, 80);
        let mut open = String::new();
        for part in text.split("<details>") {
            open += part.rsplit("</details>").next().unwrap();
        }
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        assert!(open.lines().count() < 120, "{open}");
        let groups = found(&run);
        let count = |bad: bool| groups.iter().filter(|g| g.is_problem() == bad).count();
        let shown = |text: &str| text.lines().filter(|l| l.starts_with("- **")).count();
        assert!(shown(&open) <= count(true) && shown(&text) - shown(&open) <= count(false));
        // A table within the fold needs an empty line before it.
        assert!(text.contains(&format!(
            "<summary>Every result ({})</summary>\n\n| result ",
            run.measurements.len()
        )));
    }
}

/// Every finding, conclusion and result is printed or counted among those left out.
#[test]
fn what_is_left_out_is_counted() {
    for run in [fixture::run(), fixture::published(), large(30), large(1000)] {
        let groups = found(&run);
        let problems = groups.iter().filter(|g| g.is_problem()).count();
        let notes = groups.len() - problems;
        for (text, all) in [
            (short("terminal", &run, 80), [("more problem", problems), ("note", notes)]),
            (
                short("markdown", &run, 80),
                [("more finding", groups.len()), ("more result", run.measurements.len())],
            ),
        ] {
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let left = &flat[flat.find("Left out: ").unwrap()..];
            for (noun, all) in all {
                let words: Vec<&str> = noun.split(' ').collect();
                let at = left.match_indices(noun).next().map(|(at, _)| at);
                let count = at.map_or(0, |at| {
                    let before = left[..at].trim_end().rsplit([' ', '\u{a0}']).next().unwrap();
                    let digits: String = before.chars().filter(char::is_ascii_digit).collect();
                    digits.parse::<usize>().unwrap()
                });
                let printed = match words[words.len() - 1] {
                    "problem" => {
                        let begins = ["! suspect ", "✗ invalid ", "- not run "];
                        text.lines().filter(|l| begins.iter().any(|b| l.starts_with(b))).count()
                    }
                    "note" => 0,
                    "finding" => text.lines().filter(|l| l.starts_with("- **")).count(),
                    _ => {
                        let rows = text.split("<summary>Every result (").nth(1).unwrap_or_default();
                        let rows = rows.lines().filter(|l| l.starts_with("| ")).count();
                        rows.saturating_sub(2)
                    }
                };
                assert_eq!(printed + count, all, "{noun}: {left}\n{text}");
            }
        }
    }
}

/// A result has one name on the first screen, in the table of all results, in the findings and in
/// the sentence on precision, and no other result has it.
#[test]
fn one_row_has_one_name() {
    for run in fixture::every() {
        let text = short("markdown", &run, 80);
        let rows = text.split("<summary>Every result (").nth(1).unwrap_or_default();
        let cell =
            |row: &str| row.trim_matches('|').split('|').next().unwrap().trim().replace('\\', "");
        let names: Vec<String> =
            rows.lines().filter(|l| l.starts_with("| ")).skip(2).map(cell).collect();
        assert_eq!(names.len(), run.measurements.len(), "{text}");
        let distinct: BTreeSet<&String> = names.iter().collect();
        let key = |m: &Measurement| (m.workload.clone(), m.params.clone(), m.series.is_some());
        let results: BTreeSet<_> = run.measurements.iter().map(key).collect();
        assert_eq!(distinct.len(), results.len(), "{names:?}");
        let first = View::from_run(&run).summary.first;
        for row in first.parts.iter().flat_map(|p| &p.rows) {
            assert!(names.contains(&row.name()), "{} is none of {names:?}", row.name());
        }
        for place in found(&run).iter().flat_map(|g| &g.places) {
            let known = ["the run", "the host"].contains(&&*place.at);
            assert!(known || names.contains(&place.at), "{} is none of {names:?}", place.at);
        }
    }
}

/// A parameter that is not what the workload's row shows is part of the name.
#[test]
fn a_name_has_what_is_unusual() {
    let mut run = fixture::disk();
    for m in each(&mut run, "disk.fsync") {
        m.params = m.params.clone().with(key::METHOD, "o_dsync").with(key::MODE, "overwrite");
    }
    let text = short("terminal", &run, 120);
    assert!(text.contains("Commits, 4 KiB, 2 threads, overwrite, o_dsync"), "{text}");
}
