//! Several runs on a side: the variation between them decides.

use proofmark_model::Timestamp;

use super::*;

/// Runs a minute apart, named by a letter and their numbers, each with these values of two results
/// times its own factor. Two sides alternate.
fn sides(sides: &[(char, f64)], factors: &[f64]) -> Folder {
    let folder = Folder::new();
    for (at, (letter, factor)) in sides.iter().enumerate() {
        for (i, own) in factors.iter().enumerate() {
            let mut one = run(&[1e9, 2e9].map(|value| value * factor * own));
            let minute = (i * sides.len() + at) as i64;
            one.started = Timestamp::from_millis(60_000 * (minute + 1)).unwrap();
            one.host.os.host_name = Probe::known("one".to_owned(), "made up");
            one.label = Some(format!("label-{letter}"));
            folder.file(&format!("{letter}{i}.json"), serde_json::to_vec(&one).unwrap());
        }
    }
    folder
}

const FACTORS: [f64; 5] = [1.0, 1.004, 0.997, 1.002, 0.996];

fn names(letter: char, n: usize) -> Vec<String> {
    (0..n).map(|i| format!("{letter}{i}.json")).collect()
}

/// Compares the first `n` runs of a with those of b.
fn compared(folder: &Folder, n: usize, more: &[&str]) -> String {
    let (a, b) = (names('a', n), names('b', n));
    let words = ["compare"].into_iter().chain(more.iter().copied());
    let words = words.chain(a.iter().map(String::as_str)).chain(["--"]);
    folder.prints(&words.chain(b.iter().map(String::as_str)).collect::<Vec<_>>())
}

#[test]
fn five_against_five_show_a_tenth() {
    let folder = sides(&[('a', 1.0), ('b', 0.9)], &FACTORS);
    let printed = compared(&folder, 5, &[]);
    let begins = "B delivers 0.90 of A's CPU.\n";
    assert!(one_line(&printed).contains(begins.trim()), "{printed}");
    assert!(one_line(&printed).contains("A a0.json and 4 more; label label-a;"), "{printed}");
    assert!(one_line(&printed).contains("5 runs, 1970-01-01 00:01:00 UTC to"), "{printed}");
    let promise = "(A: 5 runs; B: 5 runs). Of equal machines, at most 1 comparison in 20 shows a";
    assert!(one_line(&printed).contains(promise), "{printed}");
    let json = compared(&folder, 5, &["--format", "json"]);
    let c: Comparison = serde_json::from_str(&json).unwrap();
    assert_eq!(c.a.group.map(|group| group.runs), Some(5));
    let between = c.points[0].headline.as_ref().unwrap().between_runs.as_ref().unwrap();
    assert_eq!((between.runs, between.earlier, between.needs), ([5, 5], [0, 0], None));
    // Equal machines.
    let folder = sides(&[('a', 1.0), ('b', 1.0)], &FACTORS);
    let printed = compared(&folder, 5, &[]);
    assert!(printed.contains("No difference between A and B is shown in CPU"), "{printed}");
}

#[test]
fn few_runs_without_a_history_are_undecided_and_say_how_many_it_takes() {
    let folder = sides(&[('a', 1.0), ('b', 0.9)], &[1.0, 1.06, 0.95, 1.03, 0.97]);
    let printed = one_line(&compared(&folder, 2, &[]));
    assert!(printed.contains("undecided in CPU"), "{printed}");
    assert!(printed.contains("runs needed"), "{printed}");
    let json = compared(&folder, 2, &["--format", "json"]);
    let c: Comparison = serde_json::from_str(&json).unwrap();
    let reason = &c.points[0].reason;
    assert!(reason.contains("2 against 2 runs without a history are too few"), "{reason}");
    assert!(reason.contains("alternating runs of each would show a difference"), "{reason}");
    let printed = one_line(&compared(&folder, 5, &["--all"]));
    assert!(!printed.contains("undecided in CPU"), "{printed}");
    assert!(printed.contains("runs needed"), "{printed}");
}

#[test]
fn a_query_of_the_history_is_a_side() {
    let folder = sides(&[('a', 1.0), ('b', 0.9)], &FACTORS);
    let all = [names('a', 5), names('b', 5)].concat();
    let history = ["--history", "h.db"];
    let add: Vec<&str> = all.iter().map(String::as_str).collect();
    folder.run(&[&["history", "--add"], &add[..], &history].concat()).with(0);
    let words = ["compare", "label=label-a", "label=label-b"];
    let printed = one_line(&folder.prints(&[&words[..], &history].concat()));
    assert!(printed.contains("B delivers 0.90 of A's CPU."), "{printed}");
    let words = ["check", "label=label-b", "--against", "label=label-a,last=4"];
    let printed = one_line(&folder.run(&[&words[..], &history].concat()).with(4).stdout);
    assert!(printed.contains("(A: 4 runs; B: 5 runs)"), "{printed}");
    // A file that is gone is counted.
    std::fs::remove_file(folder.path().join("a0.json")).unwrap();
    let words = ["compare", "label=label-a", "b0.json", "--history", "h.db"];
    let ended = folder.run(&words).with(0);
    assert!(
        ended.stderr.contains("the files of 1 of 5 runs are gone or changed"),
        "{}",
        ended.stderr
    );
    for (query, why) in [
        ("label=none", "finds no run in the history"),
        ("lable=a", "did you mean 'label'?"),
        ("within=soon", "within=soon"),
        ("label=label-a,within=1d", "finds no run in the history"),
    ] {
        folder.run(&["compare", query, "b0.json", "--history", "h.db"]).refused(2, why);
    }
    for (words, why) in [
        (&["compare", "a1.json", "a1.json", "--", "b0.json"][..], "are one run"),
        (&["compare", "a1.json", "a2.json", "--", "a2.json"], "a run is on both sides"),
        (&["compare", "a1.json", "--", "a2.json", "--all"], "options go before the runs"),
    ] {
        folder.run(words).refused(2, why);
    }
    // Two machines are no side.
    let mut other = run(&[1e9]);
    other.host.os.host_name = Probe::known("two".to_owned(), "made up");
    folder.file("other.json", serde_json::to_vec(&other).unwrap());
    let words = ["compare", "a1.json", "other.json", "--", "b0.json"];
    folder.run(&words).refused(2, "are of two machines");
    folder.run(&["compare", "a1.json"]).refused(2, "A1 A2 -- B1 B2");
}

/// Each result is open, and their mean is not.
#[test]
fn a_mean_shows_what_no_single_result_does() {
    let folder = Folder::new();
    for (letter, factor) in [('a', 1.0), ('b', 0.93)] {
        for i in 0..5 {
            // Noise that the results do not share.
            let noise = |k: usize| 1.0 + 0.06 * (((i * 7 + k * 3) % 5) as f64 - 2.0) / 2.0;
            let values: Vec<f64> = (0..12).map(|k| 1e9 * factor * noise(k)).collect();
            let mut one = run(&values);
            let minute = 2 * i + usize::from(letter == 'b');
            one.started = Timestamp::from_millis(60_000 * (minute as i64 + 1)).unwrap();
            one.host.os.host_name = Probe::known("one".to_owned(), "made up");
            folder.file(&format!("{letter}{i}.json"), serde_json::to_vec(&one).unwrap());
        }
    }
    let printed = one_line(&compared(&folder, 5, &[]));
    let says = "by the mean of all results, B has 0.93 of A's CPU.";
    assert!(printed.contains(says), "{printed}");
    assert!(printed.contains("B is slower in 1 of 13 compared results"), "{printed}");
    let json = compared(&folder, 5, &["--format", "json"]);
    let c: Comparison = serde_json::from_str(&json).unwrap();
    assert_eq!(c.decision(), proofmark_model::Decision::Missed);
    let mean = c.points.last().unwrap();
    assert_eq!((mean.mean_of, mean.fails()), (Some(12), true), "{mean:?}");
    let csv = compared(&folder, 5, &["--format", "csv"]);
    assert!(csv.contains("mean of 12 results"), "{csv}");
}
