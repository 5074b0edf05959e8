//! The report depends only on what workloads declare: with other ids its content is the same.

use std::collections::BTreeSet;

use proofmark_model::Run;
use proofmark_report::{ALL, Options, RunFormat};

use super::fixture;

/// The ids of a run with new names of the same length and order, which tables need.
fn names(run: &Run) -> Vec<(&str, String)> {
    let ids: BTreeSet<&str> = run.measurements.iter().map(|m| &*m.workload).collect();
    ids.into_iter()
        .enumerate()
        .map(|(at, id)| (id, format!("{:x<1$}", format!("w{:02}", at + 1), id.len())))
        .collect()
}

/// The run with those names; of two ids with the same start, the longer one is replaced first.
fn renamed(run: &Run, names: &[(&str, String)]) -> Run {
    let mut json = serde_json::to_string(run).unwrap();
    for (id, name) in names.iter().rev() {
        json = json.replace(id, name);
    }
    serde_json::from_str(&json).unwrap()
}

fn render(format: &RunFormat, run: &Run) -> String {
    let options = Options { width: 100, color: false };
    // Markdown escapes some ids.
    format.render(run, &options).unwrap().replace('\\', "")
}

#[test]
fn no_format_knows_a_workload_by_its_id() {
    for run in [fixture::published(), fixture::memory()] {
        let names = names(&run);
        let other = renamed(&run, &names);
        for format in ALL {
            let (text, mut renamed) = (render(format, &run), render(format, &other));
            for (id, name) in &names {
                // A summary has titles only.
                let named = format.id == "summary" || renamed.contains(name);
                assert!(named && !renamed.contains(id), "{}: {id}", format.id);
                renamed = renamed.replace(name, id);
            }
            for (line, expected) in renamed.lines().zip(text.lines()) {
                assert_eq!(line, expected, "{}", format.id);
            }
            assert_eq!(renamed.lines().count(), text.lines().count(), "{}", format.id);
        }
    }
}

/// Lists of results, such as a comparison's, have no headings by subsystem: a title stands alone.
#[test]
fn no_two_workloads_have_the_same_title() {
    let mut titles = BTreeSet::new();
    for workload in proofmark_workloads::ALL {
        let spec = workload.spec();
        assert!(titles.insert(spec.title.to_lowercase()), "{}: {}", spec.id, spec.title);
    }
}
