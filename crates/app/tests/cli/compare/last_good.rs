//! The baseline `last-good` of `check`.

use proofmark_model::{Param, Timestamp};

use super::*;
use crate::Ended;

#[test]
fn the_last_good_run_of_this_machine_is_a_baseline() {
    let host = |name: &'static str, run: &mut Run| {
        run.host.os.host_name = Probe::known(name.to_owned(), "made up");
        run.host.cpu.model_name = Probe::known("Some CPU".to_owned(), "made up");
    };
    let at = |second: i64, run: &mut Run| {
        run.started = Timestamp::from_millis(1_000 * second).unwrap();
    };
    let folder = Folder::new();
    let write = |name: &str, values: &[f64], change: &dyn Fn(&mut Run)| {
        let mut run = run(values);
        host("web-1", &mut run);
        change(&mut run);
        folder.file(&format!("{name}.json"), serde_json::to_vec(&run).unwrap());
    };
    write("old", &[1e9], &|run| at(1, run));
    write("good", &[2e9], &|run| at(2, run));
    write("invalid", &[3e9, 3e9], &|run| {
        at(3, run);
        let (signal, detail) = (Some("SIGSEGV".to_owned()), "made up".to_owned());
        run.measurements[1].ending = Ending::Crashed { signal, detail };
        run.measurements[1].verdict = Verdict::Invalid;
    });
    write("other", &[4e9], &|run| (at(4, run), host("web-2", run)).0);
    write("others_cpu", &[4e9], &|run| {
        at(5, run);
        run.host.cpu.model_name = Probe::known("Another CPU".to_owned(), "made up");
    });
    write("nothing", &[], &|run| at(6, run));
    write("now", &[1.95e9], &|run| at(7, run));
    write("later", &[5e9], &|run| at(8, run));
    let run = |arguments: &[&str]| {
        let mut command = folder.command();
        command.args(arguments).env("PROOFMARK_HISTORY", folder.path().join("history.db"));
        Ended::run(&mut command)
    };
    let check = ["check", "now.json", "--against", "last-good"];
    // A first run has no baseline: that is undecided, and its requirements are tested.
    let first = run(&check);
    assert_eq!((first.code, first.stderr.as_str()), (Some(5), ""));
    let says = one_line(&first.stdout);
    assert!(says.starts_with("? undecided: no baseline in the history"), "{says}");
    assert!(says.contains("it has no earlier run; name one with"), "{says}");
    for (requirement, code, says) in
        [("cpu.flops>=1FLOP/s", 5, "✓ met"), ("cpu.flops>=9TFLOP/s", 4, "✗ missed")]
    {
        let first = run(&[&check[..], &["--require", requirement]].concat());
        assert_eq!(first.code, Some(code));
        let found = [says, "? undecided: no baseline"].map(|text| first.stdout.contains(text));
        assert_eq!(found, [true; 2], "{}", first.stdout);
    }
    for name in ["other", "others_cpu", "now", "later"] {
        assert_eq!(run(&["history", "--add", &format!("{name}.json")]).code, Some(0));
    }
    let none = run(&check);
    assert_eq!(none.code, Some(5));
    let says = one_line(&none.stdout);
    assert!(says.contains("of the earlier runs 2 of other machines"), "{says}");
    for name in ["old", "good", "invalid", "nothing"] {
        assert_eq!(run(&["history", "--add", &format!("{name}.json")]).code, Some(0));
    }
    let found = run(&check);
    assert_eq!(found.code, Some(0), "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.contains("baseline: run 6 of the history, 1970-01-01 00:00:02"));
    assert!(found.stdout.contains("good.json"), "{}", found.stdout);
    // A run whose file is gone is passed over.
    std::fs::remove_file(folder.path().join("good.json")).unwrap();
    let older = run(&check);
    assert!(older.stderr.contains("baseline: run 5 of the history, 1970-01-01 00:00:01"));
    let without = "; 1 earlier run whose file is gone or changed could not be held against it";
    assert!(one_line(&older.stderr).contains(without), "{}", older.stderr);
    assert!(!found.stderr.contains("gone"), "{}", found.stderr);
    // By its number, too.
    assert!(run(&["check", "3", "--against", "last-good"]).stderr.contains("baseline: run 5"));
}

/// Runs of one machine, checked one after the other against the newest good one.
struct Series {
    folder: Folder,
}

impl Series {
    fn new(runs: Vec<Run>) -> Self {
        let folder = Folder::new();
        for (i, mut run) in runs.into_iter().enumerate() {
            run.started = Timestamp::from_millis(1_000 * (i as i64 + 1)).unwrap();
            folder.file(&format!("{i}.json"), serde_json::to_vec(&run).unwrap());
        }
        Self { folder }
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = self.folder.command();
        command.args(arguments).env("PROOFMARK_HISTORY", self.folder.path().join("history.db"));
        Ended::run(&mut command)
    }

    /// Checks each run and adds it to the history: the exit status, and the number of its baseline,
    /// 0 without one.
    fn checked(&self, runs: usize) -> Vec<(i32, u32)> {
        let check = |i: usize| {
            let name = format!("{i}.json");
            let checked = self.run(&["check", &name, "--against", "last-good"]);
            assert_eq!(self.run(&["history", "--add", &name]).code, Some(0));
            let number = checked.stderr.split("baseline: run ").nth(1);
            let number = number.and_then(|rest| rest.split(' ').next()?.parse().ok());
            (checked.code.unwrap(), number.unwrap_or(0))
        };
        (0..runs).map(check).collect()
    }
}

#[test]
fn a_run_of_another_profile_or_of_more_workloads_is_no_baseline() {
    let mut another = run(&[8e9]);
    another.plan.profile = "another".to_owned();
    let mut more = run(&[8e9, 8e9]);
    more.measurements[1].workload = "cpu.iops".to_owned();
    let series = Series::new(vec![another, more, run(&[2e9])]);
    assert_eq!(series.checked(3), [(5, 0); 3]);
    let checked = series.run(&["check", "2.json", "--against", "last-good"]);
    let says = one_line(&checked.stdout);
    assert!(says.contains("1 of another profile, 1 of more workloads"), "{says}");
}

#[test]
fn a_run_that_is_slower_is_no_baseline_of_the_next() {
    // Two results of one machine; the second one falls to half, and stays there.
    let speeds = [[2e9, 4e9], [2.02e9, 4.02e9], [2e9, 2e9], [2e9, 2.02e9], [2.01e9, 1.98e9]];
    let series = Series::new(speeds.iter().map(|speeds| run(speeds)).collect());
    assert_eq!(series.checked(5), [(5, 0), (0, 1), (4, 2), (4, 2), (4, 2)]);
    let run = |arguments: &[&str]| series.run(arguments);
    let again = run(&["check", "4.json", "--against", "last-good"]);
    assert!(again.stderr.contains("; 2 newer runs are slower or lack results"), "{}", again.stderr);
    // A wider margin accepts them, and so does the user by name.
    let wide = run(&["check", "4.json", "--against", "last-good", "--margin", "60%"]);
    assert!(wide.code == Some(0) && wide.stderr.contains("baseline: run 4"), "{}", wide.stderr);
    assert_eq!(run(&["check", "4.json", "--against", "4"]).code, Some(0));
}

#[test]
fn a_run_that_failed_against_one_whose_file_is_gone_is_named_as_not_held_against_it() {
    let speeds: [&[f64]; 4] = [&[2e9], &[2e9], &[1e9], &[1e9]];
    let series = Series::new(speeds.iter().map(|speeds| run(speeds)).collect());
    assert_eq!(series.checked(4), [(5, 0), (0, 1), (4, 2), (4, 2)]);
    for name in ["0.json", "1.json"] {
        std::fs::remove_file(series.folder.path().join(name)).unwrap();
    }
    let checked = series.run(&["check", "3.json", "--against", "last-good"]);
    let says = one_line(&checked.stderr);
    assert!(says.contains("baseline: run 3"), "{says}");
    let without = "; 2 earlier runs whose files are gone or changed could not be held against it";
    assert!(says.contains(without), "{says}");
}

#[test]
fn a_run_that_lacks_results_is_no_baseline_of_the_next() {
    // The second result is lost, and is slower when it comes back.
    let speeds: [&[f64]; 3] = [&[2e9, 4e9], &[2e9], &[2e9, 2e9]];
    let series = Series::new(speeds.iter().map(|speeds| run(speeds)).collect());
    assert_eq!(series.checked(3), [(5, 0), (4, 1), (4, 1)]);
    // What the checked run does not have either is not missed.
    let speeds: [&[f64]; 3] = [&[2e9, 4e9], &[2e9], &[2e9]];
    let series = Series::new(speeds.iter().map(|speeds| run(speeds)).collect());
    assert_eq!(series.checked(3), [(5, 0), (4, 1), (0, 2)]);
}

#[test]
fn runs_match_without_the_sizes_that_the_machine_set() {
    let triad = |value: f64, size: u64| {
        let spec = proofmark_workloads::find("memory.triad").unwrap().spec().clone();
        let mut m = measurement(&spec, 1, value);
        m.params.0.insert("array_size".into(), Param::Int(size));
        let workloads = BTreeMap::from([("memory.triad".to_owned(), spec)]);
        Run { workloads, ..Run { measurements: vec![proved(m)], ..run(&[]) } }
    };
    let (small, large) = (512 << 20, 1 << 30);
    let runs = vec![triad(10e9, small), triad(5e9, small), triad(5e9, large)];
    assert_eq!(Series::new(runs).checked(3), [(5, 0), (4, 1), (4, 1)]);
}
