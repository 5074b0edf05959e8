//! Runs go into the history, and the history is listed and drawn. Each test has a history of its
//! own.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use proofmark_model::{
    Measurement, Params, PastPoint, PastRun, Run, Summary, Timestamp, Unit, Verdict, testing,
};
use proofmark_testing::{PROCESS_DEADLINE, output, wait, wait_until_within};

/// A folder with a history that is not there yet.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("data/history.db")
    }

    /// The program, which knows this history by the environment.
    fn proofmark(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("proofmark").unwrap();
        command.timeout(PROCESS_DEADLINE);
        command.current_dir(self.path()).args(arguments);
        command.env("COLUMNS", "100").env("PROOFMARK_HISTORY", self.file());
        command.env("HOME", self.path().join("home")).env_remove("XDG_DATA_HOME");
        command
    }

    /// What it prints, having succeeded without a word on standard error.
    fn prints(&self, arguments: &[&str]) -> String {
        let out = self.proofmark(arguments).assert().code(0).stderr("");
        String::from_utf8(out.get_output().stdout.clone()).unwrap()
    }

    fn runs(&self) -> Vec<PastRun> {
        let text = self.prints(&["history", "--format", "json", "--last", "1000"]);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        serde_json::from_value(value["runs"].clone()).unwrap()
    }

    /// A made-up run in a folder of that name.
    fn made_up(&self, name: &str, run: &Run) {
        fs::create_dir(self.path().join(name)).unwrap();
        let file = self.path().join(name).join("run.json");
        fs::write(file, serde_json::to_vec(run).unwrap()).unwrap();
    }

    /// The shortest run that there is.
    fn measure(&self, more: &[&str]) -> Command {
        let mut command = self.proofmark(&["run", "cpu.clock", "--threads", "1", "--trials", "3"]);
        command.arg("--no-reference").args(more);
        command
    }
}

/// A run of `cpu.flops` on one and two threads that began so many hours after 2026 did.
fn run(hours: i64, gflops: f64) -> Run {
    let started = Timestamp::from_millis(1_767_225_600_000 + hours * 3_600_000).unwrap();
    let spec = testing::spec("cpu.flops", Unit::FlopPerSecond);
    let at = |threads: u64| {
        let median = gflops * 1e9 * threads as f64;
        let params = Params::default().with("isa", "avx2").with("threads", threads);
        let mut m = Measurement::new(&spec, params);
        let ci95 = Some([median * 0.99, median * 1.01]);
        let (min, max) = (median, median);
        m.summary = Some(Summary { n: 8, mean: median, sd: None, median, ci95, min, max });
        m
    };
    let mut run = Run { started, ended: Some(started), ..testing::run(vec![at(1), at(2)]) };
    run.plan.profile = "quick".into();
    run
}

/// One line on standard error with this in it.
fn one_line(word: &str) -> impl Predicate<str> + use<> {
    predicate::str::contains(word.to_owned())
        .and(predicate::function(|e: &str| e.lines().count() == 1 && !e.contains("panicked")))
}

/// One of the lines on standard error with this in it, and no panic.
fn a_line(word: &str) -> impl Predicate<str> + use<> {
    let word = word.to_owned();
    predicate::function(move |e: &str| {
        e.lines().filter(|l| l.contains(&word)).count() == 1 && !e.contains("panicked")
    })
}

fn skip(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

#[test]
fn a_run_goes_into_the_history() {
    let place = Place::new();
    place
        .measure(&["--out", "one"])
        .assert()
        .code(predicate::in_iter([0, 3]))
        .stderr(a_line("Report: one"));
    place.measure(&["--out", "two", "--no-history"]).assert().code(predicate::in_iter([0, 3]));
    let [one] = &place.runs()[..] else { panic!() };
    assert!(one.path.ends_with("/one") && Path::new(&one.path).is_absolute(), "{}", one.path);
    assert!(one.host.as_deref().is_some_and(|h| !h.is_empty()));
    assert_eq!(one.valid + one.suspect + one.invalid, 1);
    let text = place.prints(&["history"]);
    assert!(text.contains("started, UTC"), "{text}");
    let text = place.prints(&["history", "cpu.clock"]);
    assert!(text.contains("Hz") && text.contains("lowest block"), "{text}");
    // Named on the command line it counts more than the environment.
    let other = place.path().join("other.db");
    place
        .measure(&["--out", "three", "--history", "other.db"])
        .assert()
        .code(predicate::in_iter([0, 3]));
    assert!(other.is_file());
    assert_eq!(place.runs().len(), 1);
}

#[test]
fn the_history_may_be_off() {
    let place = Place::new();
    for (name, off) in [("a", "off"), ("b", "")] {
        let mut command = place.measure(&["--out", name]);
        command.env("PROOFMARK_HISTORY", off).assert().code(predicate::in_iter([0, 3]));
        let mut command = place.proofmark(&["history"]);
        command
            .env("PROOFMARK_HISTORY", off)
            .assert()
            .code(2)
            .stderr(one_line("turns the history off"));
    }
    assert!(!place.file().exists() && !place.path().join("home").exists());
    let mut command = place.measure(&["--out", "c"]);
    command.env_remove("PROOFMARK_HISTORY").assert().code(predicate::in_iter([0, 3]));
    assert!(place.path().join("home/.local/share/proofmark/history.db").is_file());
}

#[test]
fn a_history_that_cannot_be_written_changes_nothing() {
    let place = Place::new();
    fs::write(place.path().join("data"), "a file where the folder should be").unwrap();
    let with = place.measure(&["--out", "a", "--json", "a.json"]).output().unwrap();
    let said = String::from_utf8(with.stderr).unwrap();
    assert!(a_line("cannot add this run to the history").eval(&said), "{said}");
    assert!(matches!(with.status.code(), Some(0 | 3)), "{:?}", with.status);
    assert!(place.path().join("a/report.html").is_file() && place.path().join("a.json").is_file());

    for (name, text) in [("text", "no database"), ("torn", "SQLite format 3\0 and no more")] {
        let file = place.path().join(name);
        fs::write(&file, text).unwrap();
        let out = place.measure(&["--out", &format!("out-{name}"), "--history", name]);
        let out = { out }.output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(a_line("cannot add this run to the history").eval(&said), "{said}");
        assert!(matches!(out.status.code(), Some(0 | 3)), "{:?}", out.status);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is unchanged");
    }
}

/// A file that may not grow takes the place of a full disk where none can be mounted.
#[test]
fn a_full_disk_costs_one_line_and_leaves_the_history_whole() {
    let place = Place::new();
    place.made_up("one", &run(0, 50.0));
    place.prints_added(&["one"]);
    let before = fs::metadata(place.file()).unwrap().len() / 1024;
    let most = before.div_ceil(4) * 4;
    for hours in 1..200 {
        place.made_up(&format!("r{hours}"), &run(hours, 50.0));
    }
    let names: Vec<String> = (1..200).map(|h| format!("r{h}")).collect();
    // In units of 512 bytes; without a handler the signal would end the program.
    let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", most * 2);
    let mut shell = Process::new("sh");
    shell.args(["-c", &limit]).arg(assert_cmd::cargo::cargo_bin("proofmark"));
    shell.args(["history", "--history"]).arg(place.file());
    shell.args(names.iter().flat_map(|n| ["--add", n]));
    let out = output(shell.current_dir(place.path()));
    let said = String::from_utf8(out.stderr).unwrap();
    let added = said.lines().filter(|l| l.contains("of the history")).count();
    let last = said.lines().last().unwrap();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(last.contains("cannot read or write it") && last.contains("history.db"), "{said}");
    assert_eq!(said.lines().count(), added + 1, "{said}");
    assert_eq!(place.runs().len(), added + 1, "what was said to be added is there, and no more");
}

impl Place {
    fn prints_added(&self, names: &[&str]) {
        let mut command = self.proofmark(&["history"]);
        command.arg("--add").args(names).assert().code(0);
    }
}

#[test]
fn a_disk_without_room_is_told() {
    let place = Place::new();
    let small = place.path().join("data");
    fs::create_dir(&small).unwrap();
    let mount =
        |arguments: &[&str]| output(Process::new("mount").args(arguments).arg(&small)).status;
    if !mount(&["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).success() {
        return skip("a_disk_without_room_is_told", "no file system can be mounted here");
    }
    place.made_up("one", &run(0, 50.0));
    let told = place.proofmark(&["history", "--add", "one"]).output().unwrap();
    let remount = mount(&["-o", "remount,ro"]);
    let read_only = place.proofmark(&["history", "--add", "one"]).output().unwrap();
    output(Process::new("umount").arg(&small));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(told.status.code(), Some(1));
    let said = text(told.stderr);
    assert!(one_line("no space left on its disk").eval(&said), "{said}");
    assert!(remount.success());
    let said = text(read_only.stderr);
    assert!(one_line("read-only").eval(&said), "{said}");
}

#[test]
fn a_run_that_was_stopped_is_kept() {
    let place = Place::new();
    let mut child = Process::new(assert_cmd::cargo::cargo_bin("proofmark"))
        .args(["run", "cpu.clock", "--threads", "1", "--trials", "1000", "--no-reference"])
        .args(["--out", "out"])
        .current_dir(place.path())
        .env("PROOFMARK_HISTORY", place.file())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = place.path().join("out/run.json");
    let measured = || {
        let text = fs::read_to_string(&file).ok()?;
        let run = proofmark_model::read_run(&text).ok()?;
        run.measurements.iter().find(|m| m.trials.len() > 2).map(|_| ())
    };
    wait_until_within(Duration::from_secs(120), "three trials in the run file", measured);
    let interrupt = format!("kill -INT {}", child.id());
    assert!(output(Process::new("sh").args(["-c", &interrupt])).status.success());
    assert_eq!(wait("the stopped run to end", &mut child).code(), Some(130));
    let [past] = &place.runs()[..] else { panic!() };
    assert_eq!(past.valid + past.suspect + past.invalid, 1);
}

#[test]
fn imports_are_kept_out() {
    let place = Place::new();
    let mut import = run(0, 50.0);
    import.imported = Some("fio 3.1".into());
    place.made_up("theirs", &import);
    place.made_up("ours", &run(1, 50.0));
    let mut command = place.proofmark(&["history", "--add", "ours", "theirs"]);
    command.assert().code(2).stderr(one_line("theirs: results of fio 3.1"));
    assert!(!place.file().exists(), "nothing is added then");
}

#[test]
fn an_empty_history_says_how_to_fill_it() {
    let place = Place::new();
    for arguments in [&["history"][..], &["history", "cpu.flops"]] {
        let text = place.prints(arguments);
        assert!(text.contains("is empty") && text.contains("--add"), "{text}");
    }
    assert!(!place.file().exists(), "asking makes no file");
    assert_eq!(place.runs(), []);
    let csv = place.prints(&["history", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 1, "{csv}");
    place.made_up("one", &run(0, 50.0));
    place.prints_added(&["one"]);
    let text = place.prints(&["history", "--host", "nobody"]);
    assert!(text.contains("has no run that matches"), "{text}");
    let text = place.prints(&["history", "memory.read", "--within", "1h"]);
    assert!(text.contains("has no result of memory.read that matches"), "{text}");
}

#[test]
fn added_runs_are_listed_and_drawn() {
    let place = Place::new();
    for (i, gflops) in [50.0, 51.0, 50.5, 40.0].into_iter().enumerate() {
        place.made_up(&format!("r{i}"), &run(i as i64, gflops));
    }
    // Not in the order of time; the last one twice.
    place.prints_added(&["r3", "r0", "r2", "r1", "r3/run.json"]);
    let starts: Vec<_> = place.runs().iter().map(|r| r.started).collect();
    assert_eq!(starts, (0..4).map(|i| run(i, 1.0).started).collect::<Vec<_>>());
    let list = place.prints(&["history", "--last", "2"]);
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.lines().last().unwrap().contains("2026-01-01 03:00"), "the newest last: {list}");

    let text = place.prints(&["history", "cpu.flops", "--set", "threads=2"]);
    assert!(text.contains("▇▇▇▁"), "{text}");
    assert!(text.contains("+2.0") && text.contains("-20.8"), "{text}");
    assert!(text.contains("in all runs: isa avx2, threads 2\n"), "{text}");
    let text = place.prints(&["history", "cpu.flops", "--format", "json", "--set", "threads=1"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let points: Vec<PastPoint> = serde_json::from_value(value["points"].clone()).unwrap();
    assert_eq!(points.len(), 4);
    assert_eq!((points[3].median, points[3].verdict), (40e9, Verdict::Valid));
    let csv = place.prints(&["history", "cpu.flops", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let [bare, whole] = ["threads=2", "cpu.flops.threads=2"];
    let set =
        |parameter| place.prints(&["history", "cpu.flops", "--set", parameter, "--format", "csv"]);
    assert_eq!((set(bare).lines().count(), set(bare)), (5, set(whole)), "as for run");
    let quiet = place.prints(&["history", "cpu.flops", "--format", "csv", "--out", "out.csv"]);
    assert_eq!(
        (quiet, fs::read_to_string(place.path().join("out.csv")).unwrap()),
        ("".into(), csv)
    );
}

/// What a person types after the message of an empty history.
#[test]
fn several_runs_are_added_at_once_and_drawn_in_the_same_breath() {
    let place = Place::new();
    place.made_up("r0", &run(0, 50.0));
    place.made_up("r1", &run(1, 51.0));
    assert!(place.prints(&["history"]).contains("--add DIR..."));
    let mut command = place.proofmark(&["history", "cpu.flops", "--add", "r0", "r1"]);
    command.assert().code(0).stdout(predicate::str::contains("cpu.flops over time: 2 lines"));
    assert_eq!(place.runs().len(), 2);
    place.proofmark(&["history", "--add", "r0", "--last", "5", "--add", "r1"]).assert().code(0);
}

/// One point in trials and over time in one run; and two machines whose names no file tells.
#[test]
fn unlike_numbers_are_lines_of_their_own() {
    let place = Place::new();
    let mut both = run(0, 50.0);
    let mut series = both.measurements[0].clone();
    series.series = serde_json::from_value(serde_json::json!({
        "for_s": 60, "every_s": 1, "started": both.started, "samples": 60, "merged": 1,
        "levels": [], "changes": [], "trend": null,
    }))
    .unwrap();
    both.measurements.insert(0, series);
    let mut other = run(1, 20.0);
    other.host.cpu.model_name = proofmark_model::Probe::known("Other CPU".to_owned(), "made up");
    place.made_up("both", &both);
    place.made_up("other", &other);
    place.prints_added(&["both", "other"]);
    let text = place.prints(&["history", "cpu.flops", "--set", "threads=1"]);
    assert!(text.contains("3 lines") && text.contains("sampled over time"), "{text}");
    assert!(text.contains("on Other CPU (higher is better)") && !text.contains("-60"), "{text}");
}

#[test]
fn mistypes_are_told() {
    let place = Place::new();
    place.made_up("one", &run(0, 50.0));
    place.prints_added(&["one"]);
    let refused = |arguments: &[&str], word: &str| {
        let mut command = place.proofmark(&["history"]);
        command.args(arguments).assert().code(2).stdout("").stderr(one_line(word));
    };
    refused(&["cpu.flopps"], "did you mean 'cpu.flops'?");
    refused(&["cpu.flops", "--set", "thread=1"], "did you mean 'threads'?");
    refused(&["cpu.flops", "--set", "threads"], "write PARAMETER=VALUE");
    refused(&["cpu.flops", "--set", "cpu.iops.threads=1"], "not 'cpu.iops'");
    refused(&["--set", "threads=1"], "needs a workload");
    refused(&["--format", "jsn"], "did you mean 'json'?");
    refused(&["--add", "nothing"], "No such file");
    refused(&["--add", "one", "--add", "data/history.db"], "history.db");
    refused(&["--within", "7"], "not a duration");
}
