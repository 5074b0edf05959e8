//! Profiles: their time, their reduction by a budget, copies, and refused ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Ended, Folder, listed, rows};

/// Runs the program in a directory where it must write nothing.
fn proofmark(arguments: &[&str]) -> Ended {
    let folder = Folder::new();
    let ended = folder.run(arguments);
    assert_eq!(folder.count(), 0, "{arguments:?} wrote something");
    ended
}

/// Profiles in a directory of this test.
fn folder(name: &str) -> Vec<PathBuf> {
    let all = listed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(name));
    assert!(all.len() >= 5, "{all:?}");
    all
}

#[test]
fn profiles_that_are_some_are_planned() {
    for path in folder("valid") {
        let text = proofmark(&["run", "--profile", path.to_str().unwrap(), "--dry-run"]).with(0);
        assert!(text.stdout.contains(" of profile x; "), "{}: {}", path.display(), text.stdout);
    }
}

#[test]
fn a_profile_whose_trials_are_too_few_for_an_interval_is_told_so() {
    let folder = Folder::new();
    let text = "name = \"few\"\n[policy]\ntarget = 0.02\nmin_trials = 3\nmax_trials = 6\n\
                trial = \"10ms\"\n[[points]]\nworkload = \"cpu.flops\"\nthreads = 1\n";
    folder.file("few.toml", text);
    let line = "no 95 % interval for cpu.flops: at most 6 trials are planned";
    let dry_run = folder.run(&["run", "--profile", "few.toml", "--dry-run"]).with(0);
    assert!(dry_run.stdout.contains(line), "{}", dry_run.stdout);
    folder.file("enough.toml", text.replace("max_trials = 6", "max_trials = 8"));
    let dry_run = folder.run(&["run", "--profile", "enough.toml", "--dry-run"]).with(0);
    assert!(!dry_run.stdout.contains("no 95 %"), "{}", dry_run.stdout);
    let published = proofmark(&["explain", "aws-2016"]).with(0).stdout;
    let line = published.lines().find(|line| line.starts_with("# no 95 % interval for "));
    assert!(line.is_some_and(|line| line.contains("3 trials are planned")), "{published}");
}

#[test]
fn profiles_that_are_none_are_refused_with_line_and_nearest_name() {
    for path in folder("invalid") {
        let text = fs::read_to_string(&path).unwrap();
        let expected = text.lines().next().unwrap().strip_prefix("# refused: ").unwrap();
        let refusal = format!("{}: {}", path.display(), expected.trim_end());
        proofmark(&["run", "--profile", path.to_str().unwrap(), "--dry-run"]).refused(2, &refusal);
    }
}

/// The configurations of a dry run, their minimum and maximum seconds, and its standard error.
fn cost(arguments: &[&str]) -> (usize, f64, f64, String) {
    let Ended { stdout, stderr, .. } =
        proofmark(&[&["run", "--dry-run"], arguments].concat()).with(0);
    let last = stdout.lines().last().unwrap();
    // Thousands are apart.
    let points = last.split(' ').next().unwrap().replace('\u{202f}', "").parse().unwrap();
    let (_, times) = last.rsplit_once("; about ").unwrap();
    // A known time is printed once.
    let (least, most) = times.split_once(" to ").unwrap_or((times, times));
    assert!(!times.ends_with(&format!(" to {least}")), "{last}");
    (points, seconds(least), seconds(most), stderr)
}

/// Parses `1 h 5 min 2 s` to seconds.
fn seconds(text: &str) -> f64 {
    let words: Vec<_> = text.split(' ').collect();
    let of = |pair: &[&str]| {
        let units = [("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)];
        let unit = units.into_iter().find(|(name, _)| *name == pair[1]).unwrap().1;
        pair[0].parse::<f64>().unwrap() * unit
    };
    words.chunks(2).map(of).sum()
}

#[test]
fn a_profile_takes_what_it_says() {
    let listed = proofmark(&["list", "profiles"]).stdout;
    let mut rows: Vec<String> = Vec::new();
    for line in listed.lines() {
        match rows.last_mut() {
            // What does not fit goes on, indented.
            Some(row) if line.starts_with(' ') => *row += &format!(" {}", line.trim()),
            _ => rows.push(line.to_owned()),
        }
    }
    for (name, says, says_min) in [
        ("quick", "at most 45 s", 0.75),
        ("chameleon-2017", "GFLOPS over 600 s; here about ", 50.0),
        ("aws-2016", "GFLOPS over 600 s; here about ", 35.0),
    ] {
        let line = rows.iter().find(|row| row.starts_with(name)).unwrap();
        assert!(line.contains(says), "{line}");
        let (_, least, most, _) = cost(&["--profile", name, "--no-reference"]);
        assert!(most <= says_min * 60.0, "{name} takes {most} s");
        assert!(most >= says_min * 60.0 / 2.0, "{name} says too much: it takes {most} s");
        // The list, the explanation and the plan have the same figure.
        let explained = proofmark(&["explain", name]).stdout;
        let times = line.rsplit_once("; here ").unwrap().1;
        assert!(explained.lines().next().unwrap().contains(&times.replace('\n', " ")), "{times}");
        let own = times.split(" without reference tools").next().unwrap();
        let own = own.strip_prefix("about ").unwrap();
        let (first, last) = own.split_once(" to ").unwrap_or((own, own));
        assert_eq!([seconds(first), seconds(last)], [least, most], "{name}: {times}");
    }
}

/// Three seconds are less than the plan's start: one result, or little more, and a list of the rest.
#[test]
fn a_tiny_budget_measures_what_is_wanted_most_and_ends() {
    let dir = Folder::new();
    let profile = ["--profile", "thorough", "--no-reference", "--no-history"];
    let ended =
        dir.run(&[&["run", "cpu", "--budget", "3s", "--out", "out"][..], &profile].concat());
    let ended = ended.with(0);
    let run = fs::read_to_string(dir.path().join("out/run.json")).unwrap();
    let run = proofmark_model::read_run(&run).unwrap();
    let measured: Vec<_> = run.measurements.iter().filter(|m| !m.trials.is_empty()).collect();
    let out = |m: &proofmark_model::Measurement| {
        matches!(m.ending, proofmark_model::Ending::LeftOut { .. })
    };
    assert!(!measured.is_empty(), "{}", ended.stdout);
    assert!(run.measurements.iter().all(|m| out(m) == m.trials.is_empty()), "{}", ended.stdout);
    for m in measured {
        let rounds: usize = m.trials.iter().map(|t| t.rounds.len()).sum();
        assert!(rounds >= 8 || m.trials.len() >= 3, "{}: {rounds}", m.workload);
    }
    let left_out = "left out: for the time limit of 3.0 s, unless time remains: ";
    assert!(ended.stderr.contains(left_out), "{}", ended.stderr);
    let all = "nothing is reduced or left out with --budget ";
    assert!(ended.stderr.contains(all), "{}", ended.stderr);
}

#[test]
fn a_budget_shrinks_the_published_experiments_and_says_how() {
    let published = ["--profile", "chameleon-2017", "--no-reference"];
    let within = |budget: &str| cost(&[&published[..], &["--budget", budget]].concat());
    let whole = cost(&published);
    assert!(!whole.3.contains("for the budget"), "{}", whole.3);
    for minutes in [30, 20, 10, 5] {
        let (points, least, most, stderr) = within(&format!("{minutes}m"));
        let budget_s = f64::from(minutes) * 60.0;
        assert!(least <= budget_s && most <= budget_s, "{minutes} min: {least} s: {stderr}");
        assert!(least > budget_s / 2.0, "{minutes} min: no more than needed goes: {least} s");
        assert!(stderr.contains("series 600 s -> "), "{stderr}");
        assert!(points < whole.0 || minutes > 20, "{points}");
        if minutes == 20 {
            assert!(stderr.contains("LINPACK, 2 CPUs, n 20\u{202f}000"), "{stderr}");
            assert!(
                !stderr.contains("iterations"),
                "published work goes after what is large: {stderr}"
            );
        }
    }
    let stderr = within("10s").3;
    let iterations = "iterations of cpu.mix.int 1000000000 -> 100000000";
    assert!(
        stderr.contains(iterations)
            && stderr.contains("left out: for the time limit of 10 s, unless time remains: "),
        "{stderr}"
    );
}

#[test]
fn a_matrix_of_files_and_blocks_leaves_nothing_out_aloud() {
    let stderr = |profile: &str| cost(&["--no-reference", "--profile", profile]).3;
    let matrix = folder("valid").into_iter().find(|p| p.ends_with("matrix.toml")).unwrap();
    for profile in ["chameleon-2017", matrix.to_str().unwrap()] {
        let stderr = stderr(profile);
        assert!(!stderr.contains("needs a file of"), "{stderr}");
    }
    // The program prints what it leaves out.
    let text = fs::read_to_string(matrix).unwrap().replace("[\"4KB\", \"1MB\"]", "\"1MB\"");
    let (dir, one) = (Folder::new(), "needs a file of 1 MiB, but file_size is 64 KiB");
    let stderr = stderr(dir.file("loud.toml", text).to_str().unwrap());
    assert!(stderr.contains(one), "{stderr}");
}

#[test]
fn a_small_cut_costs_trials_alone() {
    let quick = |budget: &str| cost(&["cpu.linpack", "--profile", "quick", "--budget", budget]);
    let (points, least, _, stderr) = quick("1h");
    assert!(!stderr.contains("for the budget"), "{stderr}");
    let (left, less, _, stderr) = quick(&format!("{}ms", (least * 750.0) as u64));
    assert_eq!(left, points, "{stderr}");
    assert!(less < least && stderr.contains("trials per result instead of 8"), "{stderr}");
    assert_eq!(stderr.matches("for the budget").count(), 1, "{stderr}");
    assert!(stderr.contains("nothing is reduced or left out with --budget "), "{stderr}");
    // Measurements in rounds keep 8 of them, which become shorter.
    let quick = |budget: &str| cost(&["cpu.clock", "--profile", "quick", "--budget", budget]);
    let (points, least, _, _) = quick("1h");
    let (left, less, _, stderr) = quick(&format!("{}ms", (least * 900.0) as u64));
    assert_eq!(left, points, "{stderr}");
    assert!(less < least && stderr.contains(": rounds 50.00 ms -> "), "{stderr}");
    assert_eq!(stderr.matches("for the budget").count(), 1, "{stderr}");
}

#[test]
fn an_explained_profile_is_a_profile() {
    let dir = Folder::new();
    let listed = dir.prints(&["list", "profiles"]);
    assert_eq!(rows(&listed).count(), 7, "{listed}");
    for name in rows(&listed).filter_map(|line| line.split(' ').next()) {
        let text = dir.prints(&["explain", name]);
        let path = dir.file("mine.toml", &text);
        let copied = cost(&["--no-reference", "--profile", path.to_str().unwrap()]).0;
        let configurations = proofmark_model::counted(copied as u64, "configuration");
        assert!(text.starts_with(&format!("# On this machine: {configurations}; ")), "{text}");
    }
}

/// A name tells a result from every other one of its run.
#[test]
fn each_result_of_a_profile_has_a_name_of_its_own() {
    for profile in ["quick", "default", "thorough", "chameleon-2017", "aws-2016"] {
        let text = proofmark(&["run", "--profile", profile, "--no-reference", "--dry-run"]).with(0);
        let names = text.stdout.lines().filter_map(|line| line.split_once("  # "));
        let names: Vec<&str> = names.map(|(_, name)| name).collect();
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len(), "{profile}: {names:#?}");
        assert!(names.len() > 20, "{profile}: {}", text.stdout);
    }
}
