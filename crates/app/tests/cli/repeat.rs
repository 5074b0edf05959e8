//! `run --repeat`: whole runs, what a stop leaves of them, and the report over all.

use std::process::{Child, Stdio};
use std::time::Duration;

use proofmark_model::{OverRuns, RunGroup, read_run};
use proofmark_testing::{wait, wait_until_within};

use super::{Ended, Folder};

/// A run of a second or two.
const RUN: [&str; 8] =
    ["run", "cpu.clock", "--threads", "1", "--trials", "3", "--no-reference", "--no-history"];

/// Time in which a run of the tests begins or ends on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn repeated(folder: &Folder, options: &[&str]) -> Ended {
    folder.run(&[&RUN[..], options].concat())
}

fn begun(folder: &Folder, options: &[&str]) -> Child {
    let mut command = folder.command();
    command.args(RUN).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Returns true if a run file in the folder is that of a run which ended.
fn has_ended(folder: &Folder, file: &str) -> bool {
    let text = std::fs::read_to_string(folder.path().join(file)).unwrap_or_default();
    read_run(&text).is_ok_and(|run| run.ended.is_some())
}

fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    Ended::run(std::process::Command::new("sh").args(["-c", &kill])).with(0);
}

#[test]
fn each_run_is_one_of_its_own_and_the_report_is_over_all() {
    let folder = Folder::new();
    let ended = repeated(&folder, &["--repeat", "3", "--out", "all"]).with(0);
    assert!(ended.stderr.contains("run 3 of 3"), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("3 runs from") && ended.stdout.contains("between runs"),
        "{}",
        ended.stdout
    );
    let starts = ["01", "02", "03"].map(|number| {
        let run = read_run(&folder.text(&format!("all/run-{number}/run.json"))).unwrap();
        assert_eq!(run.measurements.len(), 1);
        run.started
    });
    assert!(starts.is_sorted());
    assert!(folder.text("all/report.html").contains("<html"));
    let json = folder.prints(&["report", "all", "--format", "json"]);
    let group: RunGroup = serde_json::from_str(&json).unwrap();
    assert_eq!(group.runs.iter().map(|run| run.started).collect::<Vec<_>>(), starts);
    assert_eq!(group.changes, []);
    let [clock] = &group.results[..] else { panic!("{json}") };
    // On a busy machine a run may have no clock.
    if clock.values.iter().flatten().count() == 3 {
        let Some(OverRuns::One(level)) = &clock.over_runs else { panic!("{json}") };
        let [low, high] = level.ci95.unwrap();
        assert!(low <= level.median && level.median <= high);
    }
    // Markdown has the same table, and one run is reported as before.
    assert!(folder.prints(&["report", "all", "--format", "markdown"]).contains("| between runs |"));
    assert!(folder.prints(&["report", "all/run-02"]).contains("Core clock"));
    // They are one side of a comparison, and so is one of them.
    let words = ["compare", "all", "--", "all/run-01"];
    folder.run(&words).refused(2, "a run is on both sides");
    let words = "--charts is of one run";
    folder.run(&["report", "all", "--charts", "svg"]).refused(2, words);
}

#[test]
fn a_killed_series_of_runs_goes_on_where_it_was() {
    let folder = Folder::new();
    let mut child = begun(&folder, &["--repeat", "3", "--every", "5s", "--out", "all"]);
    let second = || folder.path().join("all/run-02/run.json").exists();
    wait_until_within(PATIENCE, "the second run to begin", second);
    child.kill().unwrap();
    wait("the killed command to end", &mut child);
    // The run ends with its parent, and saves what it has.
    let first = folder.text("all/run-01/run.json");
    wait_until_within(PATIENCE, "the run of the killed command to end", || {
        let text = std::fs::read_to_string(folder.path().join("all/run-02/run.json")).ok()?;
        let run = read_run(&text).ok()?;
        (run.interrupted.is_some() || run.ended.is_some()).then_some(())
    });
    let was_cut = read_run(&folder.text("all/run-02/run.json")).unwrap().interrupted.is_some();
    let ended = folder.run(&["run", "--resume", "all"]).with(0);
    assert!(ended.stderr.contains("of 3 runs are done"), "{}", ended.stderr);
    assert_eq!(folder.text("all/run-01/run.json"), first, "a run that ended was taken again");
    assert!(has_ended(&folder, "all/run-02/run.json") && has_ended(&folder, "all/run-03/run.json"));
    assert_eq!(folder.path().join("all/run-02-stopped").exists(), was_cut);
    // Nothing is left to do.
    let again = folder.run(&["run", "--resume", "all"]).with(0);
    assert!(again.stderr.contains("3 of 3 runs are done"), "{}", again.stderr);
    assert!(!again.stderr.contains("run 1 of 3"), "{}", again.stderr);
}

#[test]
fn a_signal_between_two_runs_stops_at_once_and_says_how_to_go_on() {
    let folder = Folder::new();
    let mut command = folder.command();
    command.args(RUN).args(["--repeat", "2", "--every", "1h", "--out", "all"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let first = || has_ended(&folder, "all/run-01/run.json");
    wait_until_within(PATIENCE, "the first run to end", first);
    signal(&child, "INT");
    assert_eq!(wait("the stopped command to end", &mut child).code(), Some(130));
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert!(stderr.contains("proofmark run --resume"), "{stderr}");
    let report = folder.prints(&["report", "all"]);
    assert!(report.contains("1 run from"), "{report}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let refuses = |options: &[&str], word: &str| {
        folder.refuses(&[&RUN[..], options].concat(), word);
    };
    refuses(&["--repeat", "1"], "from 2 to");
    refuses(&["--every", "1m"], "--every needs");
    refuses(&["--repeat", "3", "--every", "1m", "--for", "1h"], "two of");
    refuses(&["--for", "1ms"], "too short");
    refuses(&["--repeat", "3", "--json", "-"], "--json");
    refuses(&["--resume", "all"], "--resume");
    folder.refuses(&["run", "--resume", "all"], "has no repeat.json");
    std::fs::create_dir(folder.path().join("all")).unwrap();
    folder.file("all/repeat.json", "{}");
    folder.refuses(&["run", "--resume", "all"], "repeat.json");
    refuses(&["--repeat", "2", "--out", "all"], "--resume all");
    let plan = folder.run(&[&RUN[..], &["--repeat", "4", "--every", "30m", "--dry-run"]].concat());
    assert!(plan.with(0).stdout.contains("4 runs, one every 30 min, "));
}
