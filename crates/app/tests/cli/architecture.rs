//! The direction of imports: of crates, held against the manifests; of files, against their text.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use super::files;

/// What each crate may import, without `proofmark-`; the binary may import all but test crates.
const ALLOWED: &[(&str, &str)] = &[
    ("model", ""),
    ("host", "model"),
    ("engine", "model"),
    ("peer", "model"),
    ("workloads", "model engine peer"),
    ("judge", "model"),
    ("reference", "model"),
    ("audit", "model"),
    ("report", "model"),
    ("store", "model"),
    ("fleet", "model"),
    ("run", "model host engine workloads peer judge reference"),
    ("testing", ""),
];

fn metadata() -> Metadata {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    MetadataCommand::new().manifest_path(workspace).no_deps().exec().unwrap()
}

#[test]
fn imports_run_one_way() {
    let metadata = metadata();
    let (mut crates, mut imports) = (0, 0);
    for package in metadata.workspace_packages() {
        let may = |other: &str| match package.name.strip_prefix("proofmark-") {
            None => other != "testing",
            Some(name) => {
                let row = ALLOWED.iter().find(|(of, _)| *of == name);
                let (_, may) = row.unwrap_or_else(|| panic!("{name} is missing in ALLOWED"));
                may.split(' ').any(|one| one == other)
            }
        };
        crates += 1;
        let others = package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
        for other in others.filter_map(|d| d.name.strip_prefix("proofmark-")) {
            imports += 1;
            assert!(may(other), "{} may not import {other}", package.name);
        }
    }
    assert_eq!(crates, ALLOWED.len() + 1);
    assert!(imports >= 11, "the manifests were not read: {imports} imports");
}

/// The workloads that go wrong on purpose are in the programs of tests alone.
#[test]
fn only_tests_have_planted_faults() {
    let mut on = Vec::new();
    for package in metadata().workspace_packages() {
        let default = package.features.get("default").into_iter().flatten();
        assert_eq!(default.count(), 0, "{}: all its builds have that", package.name);
        let with_faults = package.dependencies.iter().filter(|d| d.features == ["faults"]);
        on.extend(with_faults.map(|d| (package.name.to_string(), d.kind)));
    }
    on.sort_by(|a, b| a.0.cmp(&b.0));
    let tests = |name: &str| (name.to_owned(), DependencyKind::Development);
    assert_eq!(on, [tests("proofmark"), tests("proofmark-workloads")]);
}

fn files_of(name: &str) -> BTreeMap<String, String> {
    let files = files::read(format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR")).as_ref());
    assert!(files.len() > 1 || name == "testing", "{name}: {} files", files.len());
    files
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for (name, _) in ALLOWED.iter().chain(&[("app", "")]) {
        let imports = files::imports(&files_of(name));
        assert_eq!(files::in_circles(&imports), [""; 0], "in {name}");
        // Checks and ceilings share files with what uses them, so the judge's folders do.
        if *name != "judge" {
            assert_eq!(
                files::in_circles(&files::of_folders(&imports)),
                [""; 0],
                "folders in {name}"
            );
        }
    }
}

/// What these crates do about a workload follows from what it declares; a tool only says whose work
/// its tests do.
#[test]
fn no_workload_is_known_by_its_name() {
    for name in ["run", "judge", "reference", "report"] {
        for (module, text) in files_of(name) {
            let text: String = text.lines().filter(|line| !line.contains("same_work")).collect();
            let known = |id: &str| text.contains(&format!("\"{id}\""));
            let known = proofmark_workloads::ALL.iter().find(|w| known(&w.spec().id));
            assert!(known.is_none(), "{name}: {module} names {}", known.unwrap().spec().id);
        }
    }
}

#[test]
fn a_circle_is_found() {
    let imports = |texts: &[(&str, &str)]| {
        let file =
            |(module, text): &(&str, &str)| ((*module).to_owned(), files::without_tests(text));
        files::imports(&texts.iter().map(file).collect())
    };
    let circles = |texts: &[(&str, &str)]| files::in_circles(&imports(texts));
    let (a, b, c) = ("use crate::b::{self, X};", "use crate::{d, c::y::Z, e};", "use crate::a::U;");
    assert_eq!(circles(&[("", ""), ("a", a), ("b", b), ("c", c), ("d", "")]), ["a", "b", "c"]);
    assert!(circles(&[("", ""), ("a", a), ("b", b), ("c", "// crate::a"), ("d", "")]).is_empty());
    // Siblings by way of their parent, and what is not imported but named.
    let siblings =
        [("", ""), ("p", "mod x;"), ("p::x", "use super::y::Y;"), ("p::y", "super::x::f()")];
    assert_eq!(circles(&siblings), ["p::x", "p::y"]);
    // A parent and its child, and tests, may.
    let family = [("", ""), ("p", "mod x; use x::f;"), ("p::x", "use super::P;")];
    assert!(circles(&family).is_empty());
    let tested = [("", ""), ("a", a), ("b", "#[cfg(test)]\nmod tests { use crate::a; }")];
    assert!(circles(&tested).is_empty());
    // Folders, though none of their files is in a circle.
    let folders =
        [("", ""), ("p::x", "crate::q::y"), ("q::y", ""), ("q::z", "crate::p::w"), ("p::w", "")];
    assert!(circles(&folders).is_empty());
    assert_eq!(files::in_circles(&files::of_folders(&imports(&folders))), ["p", "q"]);
}
