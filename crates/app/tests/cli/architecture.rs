//! The direction of imports: of crates, held against the manifests; of files, against their text.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand};

use super::files;

/// Which of our crates each of our crates may import.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    let everything = vec![
        "proofmark-model",
        "proofmark-host",
        "proofmark-engine",
        "proofmark-workloads",
        "proofmark-peer",
        "proofmark-judge",
        "proofmark-reference",
        "proofmark-audit",
        "proofmark-report",
        "proofmark-store",
        "proofmark-run",
    ];
    BTreeMap::from([
        ("proofmark-model", vec![]),
        ("proofmark-host", vec!["proofmark-model"]),
        ("proofmark-engine", vec!["proofmark-model"]),
        ("proofmark-peer", vec!["proofmark-model"]),
        ("proofmark-workloads", vec!["proofmark-model", "proofmark-engine", "proofmark-peer"]),
        ("proofmark-judge", vec!["proofmark-model"]),
        ("proofmark-reference", vec!["proofmark-model"]),
        ("proofmark-audit", vec!["proofmark-model"]),
        ("proofmark-report", vec!["proofmark-model"]),
        ("proofmark-store", vec!["proofmark-model"]),
        (
            "proofmark-run",
            vec![
                "proofmark-model",
                "proofmark-host",
                "proofmark-engine",
                "proofmark-workloads",
                "proofmark-peer",
                "proofmark-judge",
                "proofmark-reference",
            ],
        ),
        // Of tests only: what has a place in the binary may not import it.
        ("proofmark-testing", vec![]),
        ("proofmark", everything),
    ])
}

#[test]
fn imports_run_one_way() {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let allowed = allowed();
    let ours = |name: &str| name == "proofmark" || name.starts_with("proofmark-");
    let mut crates = 0;
    let mut imports = 0;
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let may = allowed.get(name).unwrap_or_else(|| panic!("{name} has no place in the house"));
        crates += 1;
        for dependency in &package.dependencies {
            if ours(&dependency.name) && dependency.kind != DependencyKind::Development {
                imports += 1;
                assert!(
                    may.contains(&dependency.name.as_str()),
                    "{name} may not import {}",
                    dependency.name
                );
            }
        }
    }
    assert_eq!(crates, allowed.len());
    assert!(imports >= 11, "the manifests were not read: {imports} imports");
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for name in ["run", "app", "judge"] {
        let folder = format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR"));
        let files = files::read(folder.as_ref());
        assert!(files.len() > 20, "{name}: {} files", files.len());
        let imports = files::imports(&files);
        let none = Vec::<Vec<String>>::new();
        assert_eq!(files::circles(&imports), none, "in {name}");
        // Checks and ceilings share files with what uses them, so the judge's folders do.
        if name != "judge" {
            assert_eq!(files::circles(&files::of_folders(&imports)), none, "folders in {name}");
        }
    }
}

#[test]
fn a_circle_is_found() {
    let files = |texts: &[(&str, &str)]| -> BTreeMap<String, String> {
        texts.iter().map(|(module, text)| ((*module).to_owned(), (*text).to_owned())).collect()
    };
    let circles = |texts: &[(&str, &str)]| files::circles(&files::imports(&files(texts))).concat();
    let (a, b, c) =
        ("use crate::b::{self, X};", "use crate::{d, c::{y::Z, T}};", "use crate::a::U;");
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
    let imports = files::imports(&files(&folders));
    assert!(files::circles(&imports).is_empty());
    assert_eq!(files::circles(&files::of_folders(&imports)).concat(), ["p", "q"]);
}
