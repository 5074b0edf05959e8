//! The direction of imports, held against the manifests.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand};

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
