//! Tests of `proofmark noise`, and of what all measuring commands print on standard error.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::Folder;

#[test]
fn it_looks_for_as_long_as_is_asked_and_prints_where_the_time_went() {
    let folder = Folder::new();
    let ended = folder.run(&["noise", "--for", "1s", "--out", "noise"]).with(0);
    assert!(ended.stdout.contains("Where the time went, over "), "{}", ended.stdout);
    // 24 to 50 lines, with those on standard error at the end.
    let lines = ended.stdout.lines().count();
    assert!(lines <= 48 && !ended.stdout.contains("counted by"), "{lines}: {}", ended.stdout);
    let page = folder.text("noise/report.html");
    assert!(page.contains("Where the time went"));
    let full = folder.run(&["noise", "--for", "1s", "--all", "--out", "full"]).stdout;
    assert!(full.contains("counted by") && full.lines().count() > lines, "{full}");
    folder.refuses(&["noise", "--for", "0.5s"], "--for must be at least 1s");
}

#[test]
fn progress_is_in_the_form_that_was_asked() {
    let folder = Folder::new();
    let said = |mode: &str| {
        folder.run(&["noise", "--for", "1s", "--progress", mode, "--out", mode]).stderr
    };
    let objects: Vec<Value> =
        said("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&str> = objects.iter().map(|o| o["event"].as_str().unwrap()).collect();
    let place = |event: &str| events.iter().position(|e| *e == event);
    let [start, trial, done, end] = ["started", "trial", "done", "ended"]
        .map(|e| place(e).unwrap_or_else(|| panic!("{events:?}: {e}")));
    assert!(start < trial && trial < done && done < end, "{events:?}");
    assert_eq!(objects[start]["configurations"], 1);
    assert!(objects[start]["estimate_s"].as_f64().is_some_and(|s| s > 0.0));
    let last = &objects[done];
    assert_eq!((&last["workload"], &last["done"]), (&Value::from("cpu.flops"), &Value::from(1)));
    let value = &last["value"];
    assert!(value.is_null() || value.as_f64().is_some_and(|v| v > 0.0), "{last}");
    assert!(last["left_s"].is_number() && !last["ending"].is_null(), "{last}");
    assert!(objects.iter().any(|o| o["text"].as_str().is_some_and(|t| t.contains("report.html"))));
    // Every event and its fields are explained.
    let explained = folder.prints(&["explain", "progress"]);
    for object in &objects {
        for name in object.as_object().unwrap().keys().filter(|name| *name != "event") {
            assert!(explained.contains(name.as_str()), "{name}: {explained}");
        }
        let event = object["event"].as_str().unwrap();
        assert!(explained.lines().any(|l| l.starts_with(event)), "{event}: {explained}");
    }
    assert!(said("plain").contains("[1/1] "));
    assert!(!said("none").contains("[1/1] "));
}

/// Programs that keep every CPU busy until the end of a test.
struct Busy(Vec<Child>);

impl Busy {
    fn begin() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).stdout(Stdio::null()).spawn().unwrap()
        };
        Self((0..cpus).map(|_| spin()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_machine_that_must_be_quiet_and_is_not_is_not_measured() {
    let folder = Folder::new();
    let busy = Busy::begin();
    let asked = ["noise", "--for", "1s", "--out", "noise", "--wait-quiet", "1s"];
    let ended = folder.run(&[&asked[..], &["--require-quiet"]].concat()).with(1);
    assert!(ended.stderr.contains("nothing was measured (--require-quiet)"), "{}", ended.stderr);
    let names = "busiest programs (100 % = one CPU): ";
    let mut busy_lines = ended.stderr.lines().filter(|line| line.contains(" busy"));
    assert!(busy_lines.all(|line| line.contains(names)), "{}", ended.stderr);
    assert!(!folder.path().join("noise").exists());
    // Its result may be any.
    let ended = folder.run(&asked);
    assert!(folder.path().join("noise/report.html").exists());
    assert!(ended.stderr.contains("expect disturbed figures"), "{}", ended.stderr);
    drop(busy);
}
