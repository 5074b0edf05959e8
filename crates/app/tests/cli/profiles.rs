//! Profiles as a user meets them: what they cost, how a budget shrinks them, how they are copied,
//! and what is refused of one that was changed.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use proofmark_testing::PROCESS_DEADLINE;

/// Standard output, standard error and the exit status.
fn proofmark(arguments: &[&str]) -> (String, String, i32) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::cargo_bin("proofmark").unwrap();
    command.timeout(PROCESS_DEADLINE);
    let out = command.current_dir(dir.path()).args(arguments).output().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{arguments:?} wrote something");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr), out.status.code().unwrap())
}

/// Profiles of a folder of this test.
fn folder(name: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(name);
    let mut all: Vec<_> = fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
    all.sort();
    assert!(all.len() >= 5, "{all:?}");
    all
}

#[test]
fn profiles_that_are_some_are_planned() {
    for path in folder("valid") {
        let (out, err, status) =
            proofmark(&["run", "--profile", path.to_str().unwrap(), "--dry-run"]);
        assert_eq!(status, 0, "{}: {err}", path.display());
        assert!(out.contains(" of profile x; "), "{}: {out}", path.display());
    }
}

#[test]
fn profiles_that_are_none_are_refused_with_line_and_nearest_name() {
    for path in folder("invalid") {
        let text = fs::read_to_string(&path).unwrap();
        let expected = text.lines().next().unwrap().strip_prefix("# refused: ").unwrap();
        let (out, err, status) =
            proofmark(&["run", "--profile", path.to_str().unwrap(), "--dry-run"]);
        assert_eq!((status, out.as_str()), (2, ""), "{}: {err}", path.display());
        assert_eq!(err.lines().count(), 1, "{}: {err}", path.display());
        let told = format!("{}: {}", path.display(), expected.trim_end());
        assert!(err.contains(&told), "{err}is not\n{told}");
    }
}

/// Points of a plan, and the seconds that they take at least and at most.
fn cost(arguments: &[&str]) -> (usize, f64, f64, String) {
    let (out, err, status) = proofmark(&[&["run", "--dry-run"], arguments].concat());
    assert_eq!(status, 0, "{err}");
    let last = out.lines().last().unwrap();
    let points = last.split(' ').next().unwrap().parse().unwrap();
    let (_, times) = last.rsplit_once("; about ").unwrap();
    // A time that is known is said once.
    let (least, most) = times.split_once(" to ").unwrap_or((times, times));
    assert!(!times.ends_with(&format!(" to {least}")), "{last}");
    (points, seconds(least), seconds(most), err)
}

/// Seconds of `1 h 5 min 2 s`.
fn seconds(text: &str) -> f64 {
    let words: Vec<_> = text.split(' ').collect();
    let of = |pair: &[&str]| {
        let unit = match pair[1] {
            "h" => 3600.0,
            "min" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            other => panic!("{other} in {text}"),
        };
        pair[0].parse::<f64>().unwrap() * unit
    };
    words.chunks(2).map(of).sum()
}

#[test]
fn a_profile_takes_what_it_says() {
    for (name, says, says_min) in [
        ("quick", "under 1 minute", 1.0),
        ("chameleon-2017", "40 to 50 minutes", 50.0),
        ("aws-2016", "25 to 35 minutes", 35.0),
    ] {
        let (out, _, _) = proofmark(&["list", "profiles"]);
        let line = out.lines().find(|l| l.starts_with(name)).unwrap();
        assert!(line.contains(says), "{line}");
        let (_, _, most, _) = cost(&["--profile", name, "--no-reference"]);
        assert!(most <= says_min * 60.0, "{name} takes {most} s");
        assert!(most >= says_min * 60.0 / 2.0, "{name} says too much: it takes {most} s");
    }
}

#[test]
fn a_budget_shrinks_the_published_experiments_and_says_how() {
    let whole = cost(&["--profile", "chameleon-2017", "--no-reference"]);
    assert!(!whole.3.contains("for the budget"), "{}", whole.3);
    for minutes in [30.0, 20.0, 10.0, 5.0] {
        let budget = format!("{minutes}m");
        let (points, least, most, told) =
            cost(&["--profile", "chameleon-2017", "--no-reference", "--budget", &budget]);
        assert!(
            least <= minutes * 60.0 && most <= minutes * 60.0,
            "{minutes} min: {least} s: {told}"
        );
        assert!(least > minutes * 60.0 / 2.0, "{minutes} min: no more than needed goes: {least} s");
        assert!(told.contains("series 600 s -> "), "{told}");
        assert!(points < whole.0 || minutes > 20.0, "{points}");
    }
    let told = cost(&["--profile", "chameleon-2017", "--no-reference", "--budget", "20m"]).3;
    assert!(told.contains("cpu.linpack n = 20000"), "{told}");
    assert!(!told.contains("iterations"), "published work goes after what is large: {told}");
    let told = cost(&["--profile", "chameleon-2017", "--no-reference", "--budget", "10s"]).3;
    for word in
        ["iterations of cpu.mix.int 1000000000 -> 100000000", "even so the plan takes about"]
    {
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn a_matrix_of_files_and_blocks_leaves_nothing_out_aloud() {
    let told = |profile: &str| cost(&["--no-reference", "--profile", profile]).3;
    let matrix = folder("valid").into_iter().find(|p| p.ends_with("matrix.toml")).unwrap();
    for profile in ["chameleon-2017", matrix.to_str().unwrap()] {
        let told = told(profile);
        assert!(!told.contains("needs a file of"), "{told}");
    }
    // What is no matrix is left out aloud.
    let text = fs::read_to_string(matrix).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("loud.toml");
    fs::write(&path, text.replace("[\"4KB\", \"1MB\"]", "\"1MB\"")).unwrap();
    let told = told(path.to_str().unwrap());
    assert!(told.contains("needs a file of 1 MiB, but file_size is 64 KiB"), "{told}");
}

#[test]
fn a_small_cut_costs_trials_alone() {
    let (points, least, _, told) = cost(
        &["cpu.mix", "--profile", "quick", "--budget", "1h"]
            .map(|a| if a == "cpu.mix" { "cpu.mix.int" } else { a }),
    );
    assert!(!told.contains("for the budget"), "{told}");
    let budget = format!("{}ms", (least * 600.0) as u64);
    let (left, less, _, told) = cost(&["cpu.mix.int", "--profile", "quick", "--budget", &budget]);
    assert_eq!(left, points, "{told}");
    assert!(less < least && told.contains("trials per result instead of 8"), "{told}");
    assert_eq!(told.matches("for the budget").count(), 1, "{told}");
}

#[test]
fn an_explained_profile_is_a_profile() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["quick", "default", "thorough", "chameleon-2017", "aws-2016"] {
        let (text, err, status) = proofmark(&["explain", name]);
        assert_eq!((status, err.as_str()), (0, ""));
        assert!(text.starts_with("# On this machine: "), "{text}");
        let path = dir.path().join("mine.toml");
        fs::write(&path, &text).unwrap();
        let points = |profile: &str| cost(&["--no-reference", "--profile", profile]).0;
        let here = points(name);
        assert_eq!(points(path.to_str().unwrap()), here);
        assert!(text.starts_with(&format!("# On this machine: {here} configurations")), "{text}");
    }
}
