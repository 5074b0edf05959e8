//! The direction of imports: of crates, from the manifests; of files, from their text.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use proofmark_model::FactId;

use super::files;

/// The crates that each crate may import, without `proofmark-`. The binary may import all but test
/// crates.
const ALLOWED: &[(&str, &str)] = &[
    ("model", ""),
    ("host", "model"),
    ("process", "model"),
    ("engine", "model process"),
    ("peer", "model"),
    ("workloads", "model engine peer"),
    ("judge", "model"),
    ("reference", "model process"),
    ("audit", "model"),
    ("report", "model"),
    ("store", "model"),
    ("fleet", "model process"),
    ("run", "model process host engine workloads peer judge reference"),
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

/// Only the programs of tests contain the workloads that go wrong on purpose.
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
    assert_eq!(on, [tests("proofmark"), tests("proofmark"), tests("proofmark-workloads")]);
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
        // Checks and ceilings share files with their users, so the judge's directories do.
        if *name != "judge" {
            assert_eq!(
                files::in_circles(&files::of_folders(&imports)),
                [""; 0],
                "folders in {name}"
            );
        }
    }
}

/// These crates know a workload only by its declaration; a tool names the workloads that its tests
/// repeat.
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

/// Words that a crate also uses in another sense than the parameter, fact or check of that name:
/// columns, headings, evidence. They count only if they are compared or looked up, as do parameters
/// and facts of one plain word.
const ORDINARY: &[(&str, &[&str])] = &[
    ("judge", &["CPU quota", "retransmits"]),
    ("reference", &["refused", "residual", "retransmits"]),
    (
        "app",
        &[
            "crashed",
            "left_out",
            "residual",
            "retransmits",
            "stopped",
            "swap",
            "trend",
            "unverified",
        ],
    ),
    ("run", &[]),
    (
        "report",
        &[
            "CPU quota",
            "I/O limits",
            "clock source",
            "clock_disagreement",
            "crashed",
            "file system",
            "imported",
            "involuntary_switches",
            "memory limit",
            "oversubscribed",
            "refused",
            "residual",
            "retransmits",
            "steal",
            "swap",
            "threads per core",
            "throttled",
            "trend",
            "unverified",
            "usable CPUs",
            "vCPU placement",
        ],
    ),
];

/// Returns the literals of the text that are one of `names`: if the name is compared or looked up,
/// or anywhere if the word has no other sense.
fn named_by_literal<'n>(text: &str, names: &[&'n str], ordinary: &[&str]) -> Vec<&'n str> {
    const LOOK_UP: [&str; 5] = ["named", "params.number", "params.word", ".parameter", "Key::new"];
    let is_named = |name: &&&str| {
        text.match_indices(&format!("\"{name}\"")).any(|(at, literal)| {
            let (before, after) = (text[..at].trim_end(), text[at + literal.len()..].trim_start());
            let (call, argument) = before.rsplit_once('(').unwrap_or((before, "-"));
            let looks_up = call.ends_with("found_before")
                || argument.trim().is_empty() && LOOK_UP.iter().any(|f| call.ends_with(f));
            let is_compared = [" ==", " !="].iter().any(|sign| before.ends_with(sign))
                || ["=>", "| \"", "if "].iter().any(|sign| after.starts_with(sign));
            // The declaration of the check, and names of figures in a finding or a ceiling.
            let is_own = [" id:", ".with(", "input("].iter().any(|sign| before.ends_with(sign));
            looks_up || is_compared || !is_own && !ordinary.contains(name)
        })
    };
    names.iter().filter(is_named).copied().collect()
}

/// Names are typed keys and constants, so that the compiler finds a misspelt one.
#[test]
fn no_parameter_fact_or_check_is_known_by_a_literal() {
    let specs = proofmark_workloads::ALL.iter().map(|workload| workload.spec());
    let mut parameters: BTreeSet<&str> =
        specs.flat_map(|spec| spec.parameters.iter().map(|p| &*p.name)).collect();
    parameters.extend(proofmark_model::key::ALL);
    // A tool's own parameter has this name.
    let facts = FactId::ALL.iter().filter(|id| **id != FactId::Server);
    let facts = facts.map(|id| id.as_str());
    let checks = proofmark_judge::checks::ALL.iter().map(|check| check.id);
    let names: Vec<&str> = parameters.into_iter().chain(facts).chain(checks).collect();
    let is_plain = |name: &&&str| {
        let is_check = proofmark_judge::checks::find(name).is_some();
        !is_check && !name.contains(['_', ' '])
    };
    let plain: Vec<&str> = names.iter().filter(is_plain).copied().collect();
    for (name, words) in ORDINARY {
        let ordinary = [&plain, *words].concat();
        for (module, text) in files_of(name) {
            let found = named_by_literal(&text, &names, &ordinary);
            assert_eq!(found, [""; 0], "{name}: {module} has literals for constants of the model");
        }
    }
}

#[test]
fn a_literal_that_names_something_is_found() {
    let found = |text: &str| !named_by_literal(text, &["steal"], &["steal"]).is_empty();
    for text in [
        r#"f.check == "steal" && x"#,
        r#"match what { "swap" | "steal" => 1 }"#,
        r#"params.named("steal")"#,
        r#"found_before(m, "steal", Severity::Note)"#,
        r#"Key::new( "steal" )"#,
    ] {
        assert!(found(text), "{text}");
    }
    for text in [r#".column("steal", show)"#, r#"finding.with("steal", 7)"#, r#"id: "steal","#] {
        assert!(!found(text), "{text}");
    }
    let anywhere = |text| named_by_literal(text, &["steal"], &[]);
    assert_eq!(anywhere(r#"const TOOK: [&str; 1] = ["steal"];"#), ["steal"]);
    assert!(anywhere(r#"CHECK.finding(x).with("steal", 7)"#).is_empty());
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
    // Siblings through their parent, and paths that are named without an import.
    let siblings =
        [("", ""), ("p", "mod x;"), ("p::x", "use super::y::Y;"), ("p::y", "super::x::f()")];
    assert_eq!(circles(&siblings), ["p::x", "p::y"]);
    // Allowed: a parent and its child, and tests.
    let family = [("", ""), ("p", "mod x; use x::f;"), ("p::x", "use super::P;")];
    assert!(circles(&family).is_empty());
    let tested = [("", ""), ("a", a), ("b", "#[cfg(test)]\nmod tests { use crate::a; }")];
    assert!(circles(&tested).is_empty());
    // A circle of directories without a circle of files.
    let folders =
        [("", ""), ("p::x", "crate::q::y"), ("q::y", ""), ("q::z", "crate::p::w"), ("p::w", "")];
    assert!(circles(&folders).is_empty());
    assert_eq!(files::in_circles(&files::of_folders(&imports(&folders))), ["p", "q"]);
}
