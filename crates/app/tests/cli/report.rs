//! `proofmark report`: which run, how much of it, and the commands that it names.

use std::ffi::OsStr;

use proofmark_model::{Params, Run, Timestamp, Unit, key, testing};

use super::{Ended, Folder, proved};

/// A run of `cpu.flops` that began in that hour of 2026, with so many results.
fn run(hour: i64, results: u64) -> Run {
    let started = Timestamp::from_millis(1_767_225_600_000 + hour * 3_600_000).unwrap();
    let spec = testing::spec("cpu.flops", Unit::FlopPerSecond);
    let at = |threads: u64| {
        let params = Params::default().with(key::THREADS, threads);
        proved(testing::measurement(&spec, params, &[1e10; 8]))
    };
    let mut run = testing::run((1..=results).map(at).collect());
    run.workloads.insert(spec.id.to_string(), spec);
    Run { started, label: Some(format!("run of hour {hour}")), ..run }
}

/// A directory with its own history.
struct Place(Folder);

impl Place {
    fn new() -> Self {
        Self(Folder::new())
    }

    fn run(&self, name: &str, run: &Run) {
        self.0.file(&format!("{name}/run.json"), serde_json::to_vec(run).unwrap());
    }

    fn prints(&self, arguments: &[impl AsRef<OsStr>]) -> Ended {
        let history = self.0.path().join("h/history.db");
        Ended::run(self.0.command().args(arguments).env("PROOFMARK_HISTORY", history))
    }

    /// Standard output and error of `report` with these arguments.
    #[track_caller]
    fn report(&self, arguments: &[&str]) -> [String; 2] {
        let ended = self.prints(&[&["report"], arguments].concat()).with(0);
        [ended.stdout, ended.stderr]
    }
}

#[test]
fn without_a_run_it_takes_the_newest() {
    let place = Place::new();
    place.prints(&["report"]).refused(2, "proofmark report DIR");
    // Runs elsewhere, which only the history knows. The newest is gone.
    for (name, hour) in [("elsewhere/a", 7), ("elsewhere/b", 5), ("elsewhere/gone", 9)] {
        place.run(name, &run(hour, 1));
        place.prints(&["history", "--add", name]).with(0);
    }
    std::fs::remove_dir_all(place.0.path().join("elsewhere/gone")).unwrap();
    let [text, says] = place.report(&[]);
    assert!(text.contains("run of hour 7"), "{text}");
    assert!(says.contains("elsewhere/a is the newest run of the history"), "{says}");
    // Runs here come first. A directory without a run file is none.
    place.run("proofmark-20260101T030000Z", &run(3, 1));
    place.run("proofmark-20260101T020000Z", &run(2, 1));
    std::fs::create_dir(place.0.path().join("proofmark-20270101T000000Z")).unwrap();
    let [text, says] = place.report(&[]);
    assert!(text.contains("run of hour 3"), "{text}");
    let newest = "proofmark: proofmark-20260101T030000Z is the newest run in this directory\n";
    assert!(says.starts_with(newest), "{says}");
    let [json, says] = place.report(&["--format", "json"]);
    assert!(json.contains("run of hour 3") && says.contains("is the newest run"), "{says}");
    // One that was named is not announced.
    let [text, says] = place.report(&["proofmark-20260101T020000Z"]);
    assert!(text.contains("run of hour 2") && !says.contains("newest"), "{says}");
}

#[test]
fn a_number_of_the_history_is_a_run() {
    let place = Place::new();
    for hour in [1, 2] {
        place.run(&format!("of {hour}"), &run(hour, 1));
        place.prints(&["history", "--add", &format!("of {hour}")]).with(0);
    }
    let [text, _] = place.report(&["2"]);
    assert!(text.contains("run of hour 2"), "{text}");
    let [text, _] = place.report(&["1", "--format", "markdown"]);
    assert!(text.contains("run of hour 1"), "{text}");
    place.prints(&["report", "7"]).refused(2, "no run 7 in the history");
}

#[test]
fn a_short_report_names_the_command_for_the_rest() {
    let place = Place::new();
    place.run("a run's", &run(1, 300));
    place.0.file("a run's/report.html", "the page");
    let [text, _] = place.report(&["a run's"]);
    assert!(text.lines().count() <= 100, "{text}");
    assert!(text.ends_with("Page with charts: a run's/report.html\n"), "{text}");
    let command = text.lines().find_map(|line| line.strip_prefix("All: ")).unwrap();
    // The shell reads the command as the program would.
    let program = env!("CARGO_BIN_EXE_proofmark");
    let line = command.replacen("proofmark", program, 1);
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(place.0.path()).args(["-c", &line]).env("PROOFMARK_HISTORY", "off");
    let all = Ended::run(&mut shell).with(0);
    assert!(all.stdout.lines().count() > 300, "{}", all.stderr);
    assert_eq!(all.stdout, place.report(&["a run's", "--all"])[0]);
}

#[test]
fn markdown_fits_into_an_issue() {
    let place = Place::new();
    place.run("large", &run(1, 1200));
    let [text, _] = place.report(&["large", "--format", "markdown"]);
    assert!((30_000..=60_000).contains(&text.chars().count()), "{}", text.chars().count());
    let [all, _] = place.report(&["large", "--format", "markdown", "--all"]);
    assert!(all.chars().count() > 100_000, "{}", all.chars().count());
    assert!(text.lines().last().unwrap().contains("more results"), "{text}");
    // The rest of a text for others has no path of this machine.
    assert!(!text.contains(place.0.path().to_str().unwrap()), "{text}");
}

/// Pictures for a report of one's own: files that are there stay, and nothing is half written.
#[test]
fn charts_are_written_and_never_replaced() {
    let place = Place::new();
    place.run("a", &run(7, 4));
    let [list, _] = place.report(&["a", "--charts", "new/pictures"]);
    let files: Vec<&str> = list.lines().collect();
    assert!(!files.is_empty(), "{list}");
    let dir = place.0.path();
    for file in &files {
        assert!(file.starts_with("new/pictures/0"), "{file}");
        let svg = std::fs::read_to_string(dir.join(file)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{file}");
    }
    let first = files[0];
    std::fs::write(dir.join(first), "mine").unwrap();
    for file in &files[1..] {
        std::fs::remove_file(dir.join(file)).unwrap();
    }
    let refused = place.prints(&["report", "a", "--charts", "new/pictures"]).with(2);
    assert!(refused.stderr.contains(&format!("{first} exists")), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    assert_eq!(std::fs::read_to_string(dir.join(first)).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(dir.join("new/pictures")).unwrap().count(), 1);
    place.prints(&["report", "a", "--charts", "x", "--out", "y"]).refused(2, "--charts");
}
