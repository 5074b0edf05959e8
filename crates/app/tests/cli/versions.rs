//! Files of other versions: run files and histories of older programs are read, those of newer ones
//! name the program that reads them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use proofmark_model::{Run, read_run};
use proofmark_testing::{output, skip};
use serde_json::Value;

use super::{Ended, Folder};

/// A run of 0.2.0: its results of four workloads.
const OLD_RUN: &str = include_str!("runs/0.2.0.json");
/// A history of 0.2.0: five runs.
const OLD_HISTORY: &[u8] = include_bytes!("../../../store/tests/captured/0.2.0.db");

fn values(run: &Run) -> Vec<Option<f64>> {
    run.measurements.iter().map(|m| m.summary.as_ref()?.delivered.value).collect()
}

#[test]
fn a_run_of_0_2_0_is_read_by_every_command() {
    let dir = Folder::new();
    dir.file("run/run.json", OLD_RUN);
    let listed = dir.prints(&["list", "formats"]);
    // What does not fit goes on, indented.
    let rows = listed.lines().filter(|line| !line.starts_with(' '));
    let formats: Vec<&str> = rows.filter_map(|l| l.split_whitespace().next()).collect();
    assert!(formats.len() >= 10, "{listed}");
    for format in formats {
        let text = dir.run(&["report", "run", "--format", format]).with(0).stdout;
        assert!(text.contains("cpu.linpack") || text.contains("LINPACK"), "{format}: {text}");
        let has_names = text.contains("before") && text.contains("2026-11-27T19:18:04.233373099Z");
        assert!(has_names || ["terminal", "bmf"].contains(&format), "{format}: {text}");
    }
    let json = dir.run(&["report", "run", "--format", "json"]).with(0).stdout;
    let [then, now] = [OLD_RUN, &json].map(|text| read_run(text).unwrap());
    assert_eq!(values(&then), values(&now), "the figures are those of the file");
    assert!(values(&now).iter().all(Option::is_some));
    dir.run(&["compare", "run", "run"]).with(0);
    dir.run(&["check", "run", "--require", "disk.fsync>1op/s"]).with(0);
    dir.run(&["history", "--history", "h.db", "--add", "run"]).with(0);
    let csv = dir.prints(&["history", "disk.fsync", "--history", "h.db", "--format", "csv"]);
    assert!(csv.contains(",node1,before,"), "host and label of the file: {csv}");
}

/// Names of objects whose keys are no fields: maps, and choices, which have one key.
fn keyed(schema: &Value, defs: &Value, names: &mut BTreeSet<String>) {
    let is_keyed = |of: &Value| {
        let choices = ["oneOf", "anyOf"].iter().filter_map(|word| of[*word].as_array()).flatten();
        let is_choice = choices.into_iter().any(|of| of["additionalProperties"] == false);
        let values = &of["additionalProperties"];
        is_choice || values.is_object() || *values == true
    };
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        let referred = of["$ref"].as_str().and_then(|target| target.rsplit('/').next());
        if is_keyed(of) || referred.is_some_and(|target| is_keyed(&defs[target])) {
            names.insert(name.clone());
        }
    }
    match schema {
        Value::Object(all) => all.values().for_each(|v| keyed(v, defs, names)),
        Value::Array(all) => all.iter().for_each(|v| keyed(v, defs, names)),
        _ => {}
    }
}

/// Adds a key of a later release to every object with fields. Returns their number.
fn extend(value: &mut Value, keyed: &BTreeSet<String>) -> usize {
    match value {
        Value::Array(all) => all.iter_mut().map(|v| extend(v, keyed)).sum(),
        Value::Object(all) => {
            let fields = all.iter_mut().map(|(key, v)| match v {
                Value::Object(map) if keyed.contains(key) => {
                    map.values_mut().map(|v| extend(v, keyed)).sum()
                }
                v => extend(v, keyed),
            });
            let below: usize = fields.sum();
            all.insert("of_a_later_release".to_owned(), serde_json::json!({ "a": [1, "b"] }));
            below + 1
        }
        _ => 0,
    }
}

#[test]
fn keys_of_a_later_release_are_ignored() {
    let mut names = BTreeSet::new();
    let schema = proofmark_model::schema();
    keyed(schema.as_value(), &schema.as_value()["$defs"], &mut names);
    assert!(names.contains("params") && names.contains("workloads"), "{names:?}");
    let mut json: Value = serde_json::from_str(OLD_RUN).unwrap();
    let objects = extend(&mut json, &names);
    assert!(objects > 300, "{objects}");
    let dir = Folder::new();
    dir.file("old/run.json", OLD_RUN);
    dir.file("new/run.json", json.to_string());
    for format in ["json", "csv", "terminal"] {
        let [old, new] = ["old", "new"]
            .map(|name| dir.run(&["report", name, "--format", format, "--all"]).with(0));
        assert_eq!(old.stdout, new.stdout, "{format}");
    }
}

#[test]
fn a_run_of_another_schema_names_its_program() {
    let dir = Folder::new();
    for (schema, word) in [
        ("proofmark.run/3", "use proofmark 9.8.7 or newer"),
        ("proofmark.run/12", "use proofmark 9.8.7 or newer"),
        ("proofmark.run/1", "use proofmark 9.8.7, or measure again"),
        ("proofmark.fleet/1", "this proofmark reads proofmark.run/2"),
    ] {
        let mut json: Value = serde_json::from_str(OLD_RUN).unwrap();
        (json["schema"], json["tool"]["version"]) = (schema.into(), "9.8.7".into());
        dir.file("run.json", json.to_string());
        dir.refuses(&["report", "run.json"], &format!("schema is {schema}"));
        dir.refuses(&["report", "run.json"], word);
    }
}

fn history(dir: &Folder, arguments: &[&str]) -> Ended {
    dir.run(&[&["history", "--history", "data/history.db"], arguments].concat())
}

#[test]
fn a_history_of_0_2_0_is_migrated_once_and_says_so() {
    let dir = Folder::new();
    dir.file("data/history.db", OLD_HISTORY);
    let ended = history(&dir, &[]).with(0);
    assert!(ended.stderr.contains("from version 9 to 10; the old file is"), "{}", ended.stderr);
    assert!(ended.stderr.contains("history.db.version-9\n"), "{}", ended.stderr);
    assert!(ended.stdout.contains("5 past runs") && ended.stdout.contains("web-3"));
    let csv = history(&dir, &["disk.fsync", "--format", "csv"]).with(0).quiet();
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(head.iter().filter(|column| **column == "method").count(), 1, "{csv}");
    assert!(head.contains(&"method_version") && csv.contains("kept the label in place"), "{csv}");
    // JSON has the reasons too, and an old row is selected by its host.
    let json = history(&dir, &["--host", "web-3", "--format", "json"]).with(0).quiet();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["runs"].as_array().unwrap().len(), &json["runs"][0]["label"]),
        (1, &Value::Null)
    );
    assert!(json["runs"][0]["missing"]["label"].is_string());
    // A run that is added now has both names.
    dir.file("run/run.json", OLD_RUN);
    history(&dir, &["--add", "run"]).with(0);
    let csv = history(&dir, &["--label", "before", "--format", "csv"]).with(0).quiet();
    assert_eq!((csv.lines().count(), csv.contains(",node1,before,")), (2, true), "{csv}");
}

/// A small file system stands in for a full and for a read-only disk.
#[test]
fn an_old_history_that_cannot_be_written_is_read() {
    let dir = Folder::new();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    let mount =
        |arguments: &[&str]| output(Command::new("mount").args(arguments).arg(&data)).status;
    if !mount(&["-t", "tmpfs", "-o", "size=36k", "tmpfs"]).success() {
        return skip("no file system can be mounted here");
    }
    dir.file("data/history.db", OLD_HISTORY);
    dir.file("run/run.json", OLD_RUN);
    let tried = || (history(&dir, &[]), history(&dir, &["--add", "run"]));
    let full = tried();
    let remounted = mount(&["-o", "remount,ro"]).success();
    let read_only = tried();
    let left: Vec<_> = fs::read_dir(&data).unwrap().map(|f| f.unwrap().file_name()).collect();
    let same = fs::read(data.join("history.db")).unwrap() == OLD_HISTORY;
    output(Command::new("umount").arg(&data));
    assert!(remounted && same, "{left:?}");
    for ((list, add), word) in [(full, "no space left"), (read_only, "read-only")] {
        assert!(list.with(0).stdout.contains("5 past runs"));
        let add = add.with(1);
        assert!(
            add.stderr.contains("cannot write it") && add.stderr.to_lowercase().contains(word),
            "{}",
            add.stderr
        );
    }
}

/// Standard output of `--json -` is one JSON document, whatever else is said.
#[test]
fn json_on_standard_output_is_all_of_it() {
    let dir = Folder::new();
    let measure = ["--threads", "1", "--trials", "3", "--no-reference"];
    let run = [&["run", "cpu.clock", "--json", "-", "--out", "run"], &measure[..]].concat();
    let ended = dir.run(&run);
    assert!(matches!(ended.code, Some(0 | 3)) && ended.stderr.contains("Report: run"));
    assert_eq!(read_run(&ended.stdout).unwrap().measurements.len(), 1);
    let noise = dir.run(&["noise", "--for", "1s", "--json", "-", "--out", "noise"]);
    assert!(read_run(&noise.stdout).is_ok(), "{}", noise.stderr);
    let info: Value = serde_json::from_str(&dir.run(&["info", "--json"]).with(0).stdout).unwrap();
    assert!(info["host"].is_object(), "{info}");
}
