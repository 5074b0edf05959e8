//! The history of runs: adding, listing, drawing. Each test has a history of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use proofmark_model::{
    Params, PastPoint, PastRun, Probe, Run, Timestamp, Unit, Verdict, key, testing,
};
use proofmark_testing::{output, skip, wait, wait_until_within};

use super::{Ended, Folder, proved};

/// A directory for a history that does not exist yet.
struct Place(Folder);

impl Place {
    fn new() -> Self {
        Self(Folder::new())
    }

    /// Creates a place with an invented run in a directory of each of these names.
    fn with(runs: &[(&str, Run)]) -> Self {
        let place = Self::new();
        runs.iter().for_each(|(name, run)| place.made_up(name, run));
        place
    }

    fn made_up(&self, name: &str, run: &Run) {
        self.0.file(&format!("{name}/run.json"), serde_json::to_vec(run).unwrap());
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("data/history.db")
    }

    /// Returns the program with this history in its environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.command();
        command.args(arguments).env("PROOFMARK_HISTORY", self.file());
        command.env("HOME", self.path().join("home")).env_remove("XDG_DATA_HOME");
        command
    }

    #[track_caller]
    fn prints(&self, arguments: &[&str]) -> String {
        Ended::run(&mut self.command(arguments)).with(0).quiet()
    }

    fn adds(&self, runs: &[&str]) {
        Ended::run(&mut self.command(&[&["history", "--add"], runs].concat())).with(0);
    }

    fn runs(&self) -> Vec<PastRun> {
        let text = self.prints(&["history", "--format", "json", "--last", "1000"]);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        serde_json::from_value(value["runs"].clone()).unwrap()
    }

    /// Makes the shortest possible run with that history. Returns standard error.
    fn measures(&self, history: Option<&str>, more: &[&str]) -> String {
        let mut command = self.command(&["run", "cpu.clock", "--threads", "1", "--trials", "3"]);
        match history {
            Some(history) => command.env("PROOFMARK_HISTORY", history),
            None => command.env_remove("PROOFMARK_HISTORY"),
        };
        let Ended { stderr, code, .. } = Ended::run(command.arg("--no-reference").args(more));
        assert!(matches!(code, Some(0 | 3)), "{stderr}");
        stderr
    }
}

/// Returns a run of `cpu.flops` on one and two threads that began this many hours into 2026.
fn run(hours: i64, gflops: f64) -> Run {
    let started = Timestamp::from_millis(1_767_225_600_000 + hours * 3_600_000).unwrap();
    let spec = testing::spec("cpu.flops", Unit::FlopPerSecond);
    let at = |threads: u64| {
        let median = gflops * 1e9 * threads as f64;
        let params = Params::default().with(key::ISA, "avx2").with(key::THREADS, threads);
        proved(testing::measurement(&spec, params, &[median; 8]))
    };
    let mut run = Run { started, ended: Some(started), ..testing::run(vec![at(1), at(2)]) };
    run.plan.profile = "quick".into();
    run.host.os.host_name = Probe::known("node1".to_owned(), "made up");
    run
}

fn once(word: &str, said: &str) -> bool {
    said.lines().filter(|l| l.contains(word)).count() == 1
}

#[test]
fn a_run_goes_into_the_history() {
    let place = Place::new();
    let file = place.file();
    let usual = file.to_str();
    assert!(once("Report: one", &place.measures(usual, &["--out", "one"])));
    place.measures(usual, &["--out", "two", "--no-history"]);
    let [one] = &place.runs()[..] else { panic!() };
    assert!(one.path.ends_with("/one") && Path::new(&one.path).is_absolute(), "{}", one.path);
    assert!(one.host.as_deref().is_some_and(|h| !h.is_empty()));
    assert_eq!(one.verdicts.all(), 1);
    let text = place.prints(&["history"]);
    assert!(text.contains("started, UTC"), "{text}");
    let text = place.prints(&["history", "cpu.clock"]);
    // On a busy machine a clock may have no figure, but then a reason.
    let drawn = text.contains("; scale ") || text.contains("\n[1] ");
    assert!(text.contains("Hz") && drawn, "{text}");
    // The command line overrides the environment.
    place.measures(usual, &["--out", "three", "--history", "other.db"]);
    assert!(place.path().join("other.db").is_file());
    assert_eq!(place.runs().len(), 1);
}

#[test]
fn the_history_may_be_off() {
    let place = Place::new();
    assert!(!place.measures(Some(""), &["--out", "a"]).contains("the history"));
    let mut command = place.command(&["history"]);
    Ended::run(command.env("PROOFMARK_HISTORY", "off")).refused(2, "turns the history off");
    assert!(!place.file().exists() && !place.path().join("home").exists());
    place.measures(None, &["--out", "c"]);
    assert!(place.path().join("home/.local/share/proofmark/history.db").is_file());
}

#[test]
fn a_history_that_cannot_be_written_changes_nothing() {
    let place = Place::new();
    let file = place.0.file("text", "no database");
    let stderr = place.measures(file.to_str(), &["--out", "out", "--json", "out.json"]);
    assert!(once("cannot add this run to the history", &stderr), "{stderr}");
    assert!(["out/report.html", "out.json"].iter().all(|name| place.path().join(name).is_file()));
    assert_eq!(place.0.text("text"), "no database", "it is unchanged");
}

/// A file size limit stands in for a full disk, which may not be mountable here.
#[test]
fn a_full_disk_costs_one_line_and_leaves_the_history_whole() {
    let place = Place::with(&[("r0", run(0, 50.0))]);
    place.adds(&["r0"]);
    let before = fs::metadata(place.file()).unwrap().len() / 1024;
    let most = before.div_ceil(4) * 4;
    let names: Vec<String> = (1..200).map(|hours| format!("r{hours}")).collect();
    names.iter().zip(1..).for_each(|(name, hours)| place.made_up(name, &run(hours, 50.0)));
    // The unit is 512 bytes. Without a handler the signal would end the program.
    let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", most * 2);
    let mut shell = Command::new("sh");
    shell.args(["-c", &limit, env!("CARGO_BIN_EXE_proofmark"), "history", "--history"]);
    shell.arg(place.file()).args(names.iter().flat_map(|n| ["--add", n]));
    let stderr = Ended::run(shell.current_dir(place.path())).with(1).stderr;
    let added = stderr.lines().filter(|l| l.contains("of the history")).count();
    let last = stderr.lines().last().unwrap();
    assert!(last.contains("cannot read or write it") && last.contains("history.db"), "{stderr}");
    assert_eq!(stderr.lines().count(), added + 1, "{stderr}");
    assert_eq!(place.runs().len(), added + 1, "what was said to be added is there, and no more");
}

#[test]
fn a_disk_without_room_is_reported() {
    let place = Place::with(&[("one", run(0, 50.0))]);
    let small = place.path().join("data");
    fs::create_dir(&small).unwrap();
    let mount =
        |arguments: &[&str]| output(Command::new("mount").args(arguments).arg(&small)).status;
    if !mount(&["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).success() {
        return skip("no file system can be mounted here");
    }
    let add = || Ended::run(&mut place.command(&["history", "--add", "one"]));
    let full = add();
    let remount = mount(&["-o", "remount,ro"]);
    let read_only = add();
    output(Command::new("umount").arg(&small));
    full.refused(1, "no space left on its disk");
    assert!(remount.success());
    read_only.refused(1, "read-only");
}

#[test]
fn a_run_that_was_stopped_is_kept() {
    let place = Place::new();
    let mut command = place.command(&["run", "cpu.clock", "--threads", "1", "--trials", "1000"]);
    command.args(["--no-reference", "--out", "out"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let file = place.path().join("out/run.json");
    let measured = || {
        let text = fs::read_to_string(&file).ok()?;
        let run = proofmark_model::read_run(&text).ok()?;
        run.measurements.iter().find(|m| m.trials.len() > 2).map(|_| ())
    };
    wait_until_within(Duration::from_secs(120), "three trials in the run file", measured);
    let interrupt = format!("kill -INT {}", child.id());
    Ended::run(Command::new("sh").args(["-c", &interrupt])).with(0);
    assert_eq!(wait("the stopped run to end", &mut child).code(), Some(130));
    let [past] = &place.runs()[..] else { panic!() };
    assert_eq!(past.verdicts.all(), 1);
}

#[test]
fn imports_are_kept_out() {
    let theirs = Run { imported: Some("fio 3.1".into()), ..run(0, 50.0) };
    let place = Place::with(&[("theirs", theirs), ("ours", run(1, 50.0))]);
    let mut command = place.command(&["history", "--add", "ours", "theirs"]);
    Ended::run(&mut command).refused(2, "theirs: results of fio 3.1");
    assert!(!place.file().exists(), "nothing is added then");
}

#[test]
fn an_empty_history_says_how_to_fill_it() {
    let place = Place::with(&[("one", run(0, 50.0))]);
    for arguments in [&["history"][..], &["history", "cpu.flops"]] {
        let text = place.prints(arguments);
        assert!(text.contains("There is no history") && text.contains("--add DIR..."), "{text}");
    }
    assert!(!place.file().exists(), "asking makes no file");
    assert_eq!(place.runs(), []);
    let csv = place.prints(&["history", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 1, "{csv}");
    place.adds(&["one"]);
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
    // Not in order of time; the last one twice.
    place.adds(&["r3", "r0", "r2", "r1", "r3/run.json"]);
    let starts: Vec<_> = place.runs().iter().map(|r| r.started).collect();
    assert_eq!(starts, (0..4).map(|i| run(i, 1.0).started).collect::<Vec<_>>());
    let list = place.prints(&["history", "--last", "2"]);
    assert_eq!(list.lines().count(), 4, "{list}");
    assert!(list.lines().last().unwrap().contains("2026-01-01 03:00"), "the newest last: {list}");

    let text = place.prints(&["history", "cpu.flops", "--set", "threads=2"]);
    assert!(text.contains("▇▇▇▁"), "{text}");
    assert!(text.contains("+2.0") && text.contains("-20.8"), "{text}");
    assert!(text.contains("In all runs: isa avx2, threads 2."), "{text}");
    let text = place.prints(&["history", "cpu.flops", "--format", "json", "--set", "threads=1"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let points: Vec<PastPoint> = serde_json::from_value(value["points"].clone()).unwrap();
    assert_eq!(points.len(), 4);
    assert_eq!((points[3].value, points[3].verdict), (Some(40e9), Verdict::Valid));
    let csv = place.prints(&["history", "cpu.flops", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let [bare, whole] = ["threads=2", "cpu.flops.threads=2"];
    let set =
        |parameter| place.prints(&["history", "cpu.flops", "--set", parameter, "--format", "csv"]);
    assert_eq!((set(bare).lines().count(), set(bare)), (5, set(whole)), "as for run");
    let quiet = place.prints(&["history", "cpu.flops", "--format", "csv", "--out", "out.csv"]);
    assert_eq!((quiet, place.0.text("out.csv")), ("".into(), csv));
}

/// The commands that the message of an empty history names.
#[test]
fn several_runs_are_added_at_once_and_drawn_in_the_same_breath() {
    let place = Place::with(&[("r0", run(0, 50.0)), ("r1", run(1, 51.0))]);
    let mut command = place.command(&["history", "cpu.flops", "--add", "r0", "r1"]);
    let text = Ended::run(&mut command).with(0).stdout;
    assert!(text.contains("cpu.flops over time\nlines 2; "), "{text}");
    assert_eq!(place.runs().len(), 2);
    place.adds(&["r0", "--last", "5", "--add", "r1"]);
}

/// One configuration in trials and over time in one run, and two machines of one name.
#[test]
fn unlike_numbers_are_lines_of_their_own() {
    let mut both = run(0, 50.0);
    let mut series = both.measurements[0].clone();
    series.series = Some(testing::series(both.started, 60));
    both.measurements.insert(0, series);
    let mut other = run(1, 20.0);
    other.host.cpu.model_name = Probe::known("Other CPU".to_owned(), "made up");
    let place = Place::with(&[("both", both), ("other", other)]);
    place.adds(&["both", "other"]);
    let text = place.prints(&["history", "cpu.flops", "--set", "threads=1"]);
    assert!(text.contains("lines 3; ") && text.contains("sampled over time"), "{text}");
    assert!(text.contains("\non Other CPU\n") && !text.contains("-60"), "{text}");
}

#[test]
fn mistypes_are_refused() {
    let place = Place::with(&[("one", run(0, 50.0))]);
    place.adds(&["one"]);
    for (arguments, word) in [
        (&["cpu.flopps"][..], "did you mean 'cpu.flops'?"),
        (&["cpu.flops", "--set", "thread=1"], "did you mean 'threads'?"),
        (&["cpu.flops", "--set", "threads"], "write PARAMETER=VALUE"),
        (&["cpu.flops", "--set", "cpu.iops.threads=1"], "not 'cpu.iops'"),
        (&["--set", "threads=1"], "needs a workload"),
        (&["--format", "jsn"], "did you mean 'json'?"),
        (&["--add", "nothing"], "No such file"),
        (&["--add", "one", "--add", "data/history.db"], "history.db"),
        (&["--within", "7"], "not a duration"),
    ] {
        Ended::run(&mut place.command(&[&["history"], arguments].concat())).refused(2, word);
    }
}
