//! The whole look on machines captured or composed (`fixtures/README.md` says
//! which), kept as snapshots; and on the machine that runs the tests.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::path::{Path, PathBuf};

use proofmark_host::{Root, look};
use proofmark_model::Host;
use proptest::prelude::*;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The names of all captured and composed machines, sorted.
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
        insta::assert_json_snapshot!(name.clone(), look(&Root::fixture(folder(&name)), "/srv"));
    }
}

/// All files of a machine, copied into a folder with their links.
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

/// A text with one of its words, numbers or marks replaced, or cut, or another text.
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

/// Whatever one file says, the look ends and the other facts have a value or a reason.
#[test]
fn no_damaged_file_stops_the_look() {
    let names = fixtures();
    let keep = tempfile::tempdir().unwrap();
    let machines: Vec<_> = names
        .iter()
        .map(|name| {
            let (to, mut files) = (keep.path().join(name), Vec::new());
            copy(&folder(name), &to, &mut files);
            (to, files)
        })
        .collect();
    let words = "|-1|0|9|65536|4294967295|18446744073709551615|9e999|nan|0x|0xfffff|max|[|]|\\9|\
                 /|..|,|:|-|=|@|é|n|\n\n|cpu |K|99999999999999999999K|1-0|70000|BogoMIPS : 1";
    let words: Vec<_> = words.split('|').map(str::to_owned).collect();
    let word = prop_oneof![3 => prop::sample::select(words), 1 => "\\PC{0,30}"];
    let damage = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8_u8, word);
    proptest!(ProptestConfig::with_cases(400), |((which, at, how, word) in damage)| {
        let all: usize = machines.iter().map(|(_, files)| files.len()).sum();
        let mut which = which.index(all);
        let (root, files) = machines.iter().find(|(_, files)| {
            let here = which < files.len();
            which -= if here { 0 } else { files.len() };
            here
        }).unwrap();
        let sound = std::fs::read(&files[which]).unwrap();
        let text = String::from_utf8_lossy(&sound);
        std::fs::write(&files[which], damaged(&text, at.index(4096), &word, how)).unwrap();
        let root = Root::fixture(root);
        reasons(&serde_json::to_value(look(&root, "/srv")).unwrap());
        for local in ["192.0.2.2", "203.0.113.7", "127.0.0.1"] {
            let _ = proofmark_host::network::interface_to(&root, local.parse().unwrap());
        }
        std::fs::write(&files[which], &sound).unwrap();
    });
}

#[test]
fn an_empty_machine_has_a_reason_for_everything() {
    let nothing = tempfile::tempdir().unwrap();
    let host = look(&Root::fixture(nothing.path()), "/srv");
    assert_eq!(
        checks(&host),
        ["host.usable_cpus", "host.huge_pages_off", "host.modules_hidden", "host.probe_failed"]
    );
    assert_eq!((host.limits.usable_cpus.as_slice(), host.limits.usable_cores), (&[0][..], 1));
    let json = serde_json::to_value(&host).unwrap();
    reasons(&json);
}

/// Every null of the JSON stands beside a reason that says something, or, where
/// the known value is that there is none, beside its source.
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
    let host = look(&Root::live(), "/");
    assert!(!host.limits.usable_cpus.is_empty());
    assert!(host.limits.usable_cores >= 1);
    assert!(host.limits.usable_cores as usize <= host.limits.usable_cpus.len());
    assert_eq!(host.cpu.arch, std::env::consts::ARCH);
    if cfg!(target_arch = "x86_64") {
        assert!(host.cpu.vendor.get().is_some());
        assert!(host.cpu.isa.get().unwrap().iter().any(|name| name == "sse2"));
    }
    // What was taken down and read again is the same machine.
    if let Some(text) = Root::live().cpuid_text() {
        let again = tempfile::tempdir().unwrap();
        std::fs::write(again.path().join("arch"), "x86_64").unwrap();
        std::fs::write(again.path().join("cpuid.txt"), text).unwrap();
        let copy = look(&Root::fixture(again.path()), "/srv");
        assert_eq!(copy.cpu.vendor, host.cpu.vendor);
        assert_eq!(copy.cpu.model_name, host.cpu.model_name);
        assert_eq!(copy.cpu.model, host.cpu.model);
    }
    reasons(&serde_json::to_value(&host).unwrap());
}

#[test]
fn a_live_io_uring_that_is_refused_says_why() {
    let host = look(&Root::live(), "/");
    let reported = host.limits.io_uring.get().expect("it is tried on the live machine");
    assert_eq!(host.limits.io_uring.origin() == "io_uring_setup", *reported);
}
