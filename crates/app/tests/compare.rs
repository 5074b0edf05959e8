//! `compare` and `check` on run files: what they print, write and end with.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::*;
use proofmark_model::{
    Comparison, Ending, Finding, Measurement, Params, Plan, Probe, Run, Severity, Summary, Verdict,
    WorkloadSpec, comparison_schema, testing,
};
use proofmark_testing::PROCESS_DEADLINE;

/// A folder with run files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a run whose point number i has the i-th value, after `change`.
    fn run(&self, name: &str, values: &[f64], change: impl Fn(&mut Run)) -> PathBuf {
        let mut run = run(values);
        change(&mut run);
        let path = self.path().join(format!("{name}.json"));
        fs::write(&path, serde_json::to_vec(&run).unwrap()).unwrap();
        path
    }

    fn proofmark(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = Command::cargo_bin("proofmark").unwrap();
        command.timeout(PROCESS_DEADLINE);
        command.current_dir(self.path()).env("COLUMNS", "80").args(arguments).assert()
    }
}

fn run(values: &[f64]) -> Run {
    let spec = proofmark_workloads::find("cpu.flops").unwrap().spec().clone();
    let measured = values.iter().enumerate().map(|(i, v)| measurement(&spec, i as u64 + 1, *v));
    Run {
        workloads: BTreeMap::from([("cpu.flops".to_owned(), spec.clone())]),
        plan: Plan { profile: "test".into(), ..Plan::default() },
        ..testing::run(measured.collect())
    }
}

fn measurement(spec: &WorkloadSpec, threads: u64, value: f64) -> Measurement {
    let values: Vec<f64> = (0..8).map(|i| value * (0.997 + 0.001 * f64::from(i))).collect();
    Measurement {
        summary: Some(Summary {
            n: 8,
            mean: value,
            sd: None,
            median: value,
            ci95: Some([value * 0.997, value * 1.003]),
            min: value * 0.997,
            max: value * 1.003,
        }),
        ..testing::measurement(spec, Params::default().with("threads", threads), &values)
    }
}

fn throttled(run: &mut Run) {
    for m in &mut run.measurements {
        let message = "a CPU quota of 0.5 CPUs held the process back for 50 % of the time";
        m.findings.push(Finding::new("throttled", Severity::Suspect, message, ""));
        m.verdict = Verdict::Suspect;
    }
}

#[test]
fn a_run_and_itself_do_not_differ() {
    let folder = Folder::new();
    folder.run("a", &[1e9, 2e9, 4e9], |_| {});
    let none = "No difference is shown in any of 3 compared results.";
    folder
        .proofmark(&["compare", "a.json", "a.json"])
        .success()
        .stdout(predicate::str::starts_with(none));
    let fine = "None of 3 results is slower";
    let checked = folder.proofmark(&["check", "a.json", "--against", "a.json"]);
    checked.code(0).stdout(predicate::str::starts_with(fine)).stderr("");
}

#[test]
fn half_the_speed_is_slower_with_its_cause_and_ends_with_4() {
    let folder = Folder::new();
    folder.run("a", &[1e9, 2e9], |_| {});
    folder.run("b", &[0.5e9, 1e9], throttled);
    let said = predicate::str::contains("B is slower in 2 of 2 compared results")
        .and(predicate::str::contains("in B a CPU quota of 0.5 CPUs held"));
    // To compare is no check: it ends with 0.
    folder.proofmark(&["compare", "a.json", "b.json"]).code(0).stdout(said);
    let checked = folder.proofmark(&["check", "b.json", "--against", "a.json"]).code(4).stderr("");
    let text = String::from_utf8(checked.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.lines().all(|l| !l.is_empty()) && text.contains("slower cpu.flops 1 thread: 0.500")
    );
    // The other way round nothing is slower, and suspect is no failure.
    folder.proofmark(&["check", "a.json", "--against", "b.json"]).code(0);
    folder.proofmark(&["check", "b.json", "--against", "b.json"]).code(0);
}

#[test]
fn what_the_baseline_has_and_is_gone_fails() {
    let folder = Folder::new();
    folder.run("a", &[1e9, 2e9], |_| {});
    folder.run("short", &[1e9], |_| {});
    let gone = predicate::str::contains("gone cpu.flops 2 threads: only in A");
    folder.proofmark(&["check", "short.json", "--against", "a.json"]).code(4).stdout(gone);
    folder.proofmark(&["check", "a.json", "--against", "short.json"]).code(0);
    folder.run("crashed", &[1e9, 2e9], |run| {
        let m = &mut run.measurements[1];
        (m.trials, m.summary, m.verdict) = (Vec::new(), None, Verdict::Invalid);
        m.ending = Ending::Crashed { signal: Some("SIGILL".into()), detail: "gone".into() };
    });
    let checked = folder.proofmark(&["check", "crashed.json", "--against", "a.json"]);
    checked.code(4).stdout(predicate::str::contains("ended by SIGILL"));
}

#[test]
fn a_check_with_too_little_to_judge_fails() {
    let folder = Folder::new();
    folder.run("a", &[1e9, 2e9], |_| {});
    folder.run("empty", &[], |_| {});
    let few = |run: &mut Run| {
        for m in &mut run.measurements {
            m.trials.truncate(1);
            m.summary.as_mut().unwrap().ci95 = None;
        }
    };
    folder.run("few", &[1e9, 2e9], few);
    let contains = |text: &str| predicate::str::contains(text.to_owned());
    let checked = |run: &str, base: &str| folder.proofmark(&["check", run, "--against", base]);
    let told = "too little to pass: only 0 of 2 points of the baseline could be judged";
    checked("few.json", "a.json").code(4).stdout(contains(told).and(contains("too few to judge")));
    checked("a.json", "empty.json").code(4).stdout(contains("baseline has no number that counts"));
    // Reworded help is no other work, and all of three trials apart are slower.
    folder.run("slow", &[0.5e9, 1e9], |run| {
        run.workloads.get_mut("cpu.flops").unwrap().summary = "worded anew".into();
        for m in &mut run.measurements {
            m.trials.truncate(3);
            m.summary.as_mut().unwrap().ci95 = None;
        }
    });
    folder.run("three", &[1e9, 2e9], |run| {
        for m in &mut run.measurements {
            m.trials.truncate(3);
            m.summary.as_mut().unwrap().ci95 = None;
        }
    });
    let apart = contains("2 slower, 0 gone").and(contains("but there is no interval"));
    checked("slow.json", "three.json").code(4).stdout(apart);
    checked("three.json", "three.json").code(0);
}

#[test]
fn a_margin_that_is_asked_for_decides() {
    let folder = Folder::new();
    folder.run("a", &[1e9], |_| {});
    folder.run("b", &[0.97e9], |_| {});
    let check = ["check", "b.json", "--against", "a.json"];
    folder.proofmark(&check).code(0);
    folder.proofmark(&[&check[..], &["--margin", "0.01"]].concat()).code(4);
    folder.proofmark(&[&check[..], &["--margin", "1%"]].concat()).code(4);
    folder.proofmark(&[&check[..], &["--margin", "3.5 %"]].concat()).code(0);
    for bad in ["1.5", "NaN", "inf", "101%", "%"] {
        let refused = folder.proofmark(&[&check[..], &["--margin", bad]].concat()).code(2);
        refused.stdout("").stderr(predicate::str::contains("a fraction from 0 to 1"));
    }
}

#[test]
fn every_format_is_written_where_it_is_asked_for() {
    let folder = Folder::new();
    folder.run("a", &[1e9, 2e9], |_| {});
    folder.run("b", &[0.5e9, 1e9], throttled);
    let json = folder.proofmark(&["compare", "a.json", "b.json", "--format", "json"]).code(0);
    let made: Comparison = serde_json::from_slice(&json.get_output().stdout).unwrap();
    assert_eq!((made.points.len(), made.b.name.as_str()), (2, "b.json"));
    let check = ["check", "b.json", "--against", "a.json", "--format"];
    let same = folder.proofmark(&[&check[..], &["json"]].concat()).code(4);
    let same: Comparison = serde_json::from_slice(&same.get_output().stdout).unwrap();
    assert_eq!(same, made, "check holds the run against the baseline");
    let junit = folder.proofmark(&[&check[..], &["junit", "--out", "r.xml"]].concat());
    junit.code(4).stdout("");
    assert!(fs::read_to_string(folder.path().join("r.xml")).unwrap().contains("failures=\"2\""));
    let page = ["compare", "a.json", "b.json", "--format", "html", "--out", "c.html"];
    folder.proofmark(&page).code(0).stdout("");
    assert!(
        fs::read_to_string(folder.path().join("c.html")).unwrap().starts_with("<!doctype html>")
    );
}

#[test]
fn what_is_mistyped_is_told_in_a_line() {
    let folder = Folder::new();
    folder.run("a", &[1e9], |_| {});
    fs::write(folder.path().join("torn.json"), "{\"schema\": ").unwrap();
    for (arguments, word) in [
        (&["compare", "a.json", "a.json", "--format", "htm"][..], "did you mean 'html'?"),
        (&["check", "a.json", "--against", "a.json", "--format", "xml"], "check --help"),
        (&["compare", "a.json", "none.json"], "none.json"),
        (&["compare", "torn.json", "a.json"], "torn.json"),
        (&["check", "a.json"], "--against"),
    ] {
        let line = predicate::function(|e: &str| e.lines().count() == 1 && !e.contains("panicked"));
        let told = folder.proofmark(arguments).code(2).stdout("");
        told.stderr(predicate::str::contains(word).and(line));
    }
}

#[test]
fn a_strangers_run_file_steers_nothing() {
    let folder = Folder::new();
    let evil = "\u{1b}[2J<script>alert(1)</script>\u{202e}";
    folder.run("a", &[1e9], |_| {});
    folder.run("evil", &[1e308], |run| {
        run.host.cpu.model_name = Probe::known(evil.into(), evil);
        run.measurements[0].findings.push(Finding::new(evil, Severity::Suspect, evil, evil));
        run.measurements[0].trials[0].value = -0.0;
        run.plan.profile = evil.into();
        run.plan.policy.target = 1e300;
    });
    for format in ["terminal", "html", "json"] {
        let out = folder.proofmark(&["compare", "a.json", "evil.json", "--format", format]).code(0);
        let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{format}");
        assert!(format != "html" || !text.contains("<script>alert"), "{format}");
    }
}

#[test]
fn the_checked_in_schema_is_the_program_s() {
    let now = format!("{}\n", serde_json::to_string_pretty(&comparison_schema()).unwrap());
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/proofmark.comparison-2.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "a comparison's shape changed; UPDATE_SCHEMA=1 cargo test rewrites {}",
        path.display()
    );
}
