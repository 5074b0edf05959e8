//! Tests of the full detection on captured or composed machines (see `fixtures/README.md`), as
//! snapshots, and on the live machine.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proofmark_host::{Root, detect};
use proofmark_model::Host;
use proptest::prelude::*;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Returns the sorted names of all captured and composed machines.
fn fixtures() -> Vec<String> {
    let entries = std::fs::read_dir(folder("")).unwrap().map(|e| e.unwrap());
    let folders = entries.filter(|e| e.path().is_dir());
    let mut names: Vec<_> = folders.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn checks(host: &Host) -> Vec<&str> {
    host.findings.iter().map(|f| f.check.as_ref()).collect()
}

#[test]
fn every_fixture_has_its_snapshot() {
    let names = fixtures();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        insta::assert_json_snapshot!(name.clone(), detect(&Root::fixture(folder(&name)), "/srv"));
    }
}

/// Copies all files of a machine into a folder, with their links.
fn copy(from: &Path, to: &Path, files: &mut Vec<PathBuf>) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|e| e.unwrap()) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&path, &to, files);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(path).unwrap(), to).unwrap();
        } else {
            std::fs::copy(path, &to).unwrap();
            files.push(to);
        }
    }
}

/// Damages a text: replaces a word, number or mark, cuts it, or replaces it all.
fn damaged(text: &str, at: usize, word: &str, how: u8) -> String {
    let part = |c: char| !c.is_alphanumeric() && c != '_';
    let parts: Vec<&str> = text.split_inclusive(part).collect();
    let at = at % parts.len().max(1);
    match how {
        0 => word.to_owned(),
        1 => parts[..at].concat(),
        2 => [&parts[..at], &[word]].concat().concat(),
        _ => [&parts[..at], &[word], parts.get(at + 1..).unwrap_or_default()].concat().concat(),
    }
}

/// Numbers and texts outside of any valid file.
const NUMBERS: &[&str] = &["18446744073709551615", "4294967295", "-1", "0", "9e999", "nan", "x"];
const TEXTS: &[&str] =
    &["", "é", "[", "]", "\\9", "/", "..", ",", ":", "=", "@", "-", " - ", "\n\n"];

/// Replaces all numbers of a text.
fn with_numbers(text: &str, number: &str) -> String {
    let parts = text.split_inclusive(|c: char| !c.is_alphanumeric());
    let replaced = parts.map(|part| match part.starts_with(|c: char| c.is_ascii_digit()) {
        true => number.to_owned() + part.trim_start_matches(char::is_alphanumeric),
        false => part.to_owned(),
    });
    replaced.collect()
}

/// Detection completes with any content of one file; other facts keep a value or a reason.
#[test]
fn no_damaged_file_stops_detection() {
    let keep = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    let mut own_files = |name: String| {
        let (to, mut own) = (keep.path().join(&name), Vec::new());
        copy(&folder(&name), &to, &mut own);
        // One file of each kind is enough: those of other CPUs, nodes and disks are parsed alike.
        own.retain(|file| {
            let path = file.strip_prefix(&to).unwrap().to_str().unwrap();
            seen.insert(path.replace(|c: char| c.is_ascii_digit(), ""))
        });
        own.into_iter().map(|file| (to.clone(), file)).collect()
    };
    let machines: Vec<Vec<(PathBuf, PathBuf)>> =
        fixtures().into_iter().map(&mut own_files).collect();
    let damage = &|(machine, file): &(PathBuf, PathBuf), text: &dyn Fn(&str) -> String| {
        let sound = std::fs::read(file).unwrap();
        std::fs::write(file, text(&String::from_utf8_lossy(&sound))).unwrap();
        let root = Root::fixture(machine);
        let path = file.to_str().unwrap();
        if path.contains("/net/") || path.ends_with("/addresses") {
            for local in ["192.0.2.2", "203.0.113.7", "127.0.0.1"] {
                let _ = proofmark_host::network::interface_to(&root, local.parse().unwrap());
            }
        } else {
            reasons(&serde_json::to_value(detect(&root, "/srv")).unwrap());
        }
        std::fs::write(file, &sound).unwrap();
    };
    std::thread::scope(|scope| {
        for files in &machines {
            scope.spawn(move || {
                for file in files {
                    NUMBERS.iter().for_each(|n| damage(file, &|text| with_numbers(text, n)));
                    TEXTS.iter().for_each(|other| damage(file, &|_| (*other).to_owned()));
                }
            });
        }
    });
    let files = machines.concat();
    let word = prop_oneof![
        3 => prop::sample::select([NUMBERS, TEXTS].concat()).prop_map(str::to_owned),
        1 => "\\PC{0,30}",
    ];
    let which = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8_u8, word);
    proptest!(ProptestConfig::with_cases(200), |((file, at, how, word) in which)| {
        damage(&files[file.index(files.len())], &|text| damaged(text, at.index(4096), &word, how));
    });
}

#[test]
fn an_empty_machine_has_a_reason_for_everything() {
    let nothing = tempfile::tempdir().unwrap();
    let host = detect(&Root::fixture(nothing.path()), "/srv");
    assert_eq!(
        checks(&host),
        ["host.usable_cpus", "host.huge_pages_off", "host.modules_hidden", "host.probe_failed"]
    );
    assert_eq!((host.limits.usable_cpus.as_slice(), host.limits.usable_cores), (&[0][..], 1));
    let json = serde_json::to_value(&host).unwrap();
    reasons(&json);
}

/// Checks that every null of the JSON has a reason, or its source if the value is known to be none.
fn reasons(value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            if map.get("value").is_some_and(serde_json::Value::is_null) {
                let reason = map.get("reason").or(map.get("source")).and_then(|r| r.as_str());
                assert!(reason.is_some_and(|r| r.len() > 5), "{map:?}");
            }
            map.values().for_each(reasons);
        }
        serde_json::Value::Array(list) => list.iter().for_each(reasons),
        _ => {}
    }
}

#[test]
fn the_live_machine() {
    let host = detect(&Root::live(), "/");
    let cores = host.limits.usable_cores as usize;
    assert!((1..=host.limits.usable_cpus.len()).contains(&cores), "{cores}");
    assert_eq!(host.cpu.arch, std::env::consts::ARCH);
    if cfg!(target_arch = "x86_64") {
        assert!(host.cpu.vendor.get().is_some());
        assert!(host.cpu.isa.get().unwrap().iter().any(|name| name == "sse2"));
    }
    // Writing CPUID and reading it again gives the same machine.
    if let Some(text) = Root::live().cpuid_text() {
        let again = tempfile::tempdir().unwrap();
        std::fs::write(again.path().join("arch"), "x86_64").unwrap();
        std::fs::write(again.path().join("cpuid.txt"), text).unwrap();
        let copy = detect(&Root::fixture(again.path()), "/srv");
        assert_eq!(copy.cpu.vendor, host.cpu.vendor);
        assert_eq!(copy.cpu.model_name, host.cpu.model_name);
        assert_eq!(copy.cpu.model, host.cpu.model);
    }
    let io_uring = &host.limits.io_uring;
    let allowed = io_uring.get().expect("it is tried on the live machine");
    assert_eq!(io_uring.origin() == "io_uring_setup", *allowed, "a refusal says why");
    assert_eq!(host.limits.pinning.get(), None, "the caller tries it");
    reasons(&serde_json::to_value(&host).unwrap());
    let refused = Root::live().with_pinning(Some(Err("Operation not permitted".to_owned())));
    let found = detect(&refused, "/srv").findings;
    let message = found.iter().find(|f| f.check == "host.pinning_refused").map(|f| &*f.message);
    let expected = "Threads cannot be pinned to CPUs: sched_setaffinity: Operation not permitted.";
    assert_eq!(message, Some(expected), "{found:?}");
    let allowed = detect(&Root::live().with_pinning(Some(Ok(()))), "/srv");
    assert!(allowed.findings.iter().all(|f| f.check != "host.pinning_refused"));
}
