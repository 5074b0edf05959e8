//! The lists that crates keep apart, held against each other: no crate but this
//! one sees them all.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_host::{FINDINGS, designs};
use proofmark_judge::{ceilings, checks, microarchitecture, streams_are_known};
use proofmark_model::{ParameterKind, Params, Subsystem, Unit, WorkloadSpec};
use proofmark_workloads::ALL as WORKLOADS;

/// Designs that the host names and for which nobody has documented well enough
/// what a core can start in a cycle. They have no CPU ceiling.
const WITHOUT_A_ROW: &[&str] = &[
    "a64fx",
    "ampere1",
    "apple_avalanche",
    "apple_blizzard",
    "apple_firestorm",
    "apple_icestorm",
    "cortex_a53",
    "cortex_a57",
    "neoverse_n3",
    "tsv110",
];

#[test]
fn every_ceiling_that_a_workload_declares_exists_and_is_declared() {
    let known: BTreeSet<_> = ceilings::ALL.iter().map(|rule| rule.id()).collect();
    let mut declared = BTreeSet::new();
    for workload in WORKLOADS {
        let spec = workload.spec();
        for id in spec.ceilings.iter() {
            assert!(known.contains(id.as_ref()), "{}: no ceiling {id}", spec.id);
            declared.insert(id.as_ref());
        }
    }
    assert_eq!(declared, known, "a ceiling that no workload declares is never derived");
}

#[test]
fn designs_of_the_host_and_rows_of_the_judge_are_the_same() {
    let named: BTreeSet<_> = designs().collect();
    assert_eq!(named.len(), designs().count(), "a design is listed twice");
    let rows: BTreeSet<_> = microarchitecture::rows().map(|row| row.id).collect();
    let unnamed: Vec<_> = rows.difference(&named).collect();
    assert!(unnamed.is_empty(), "rows for designs that the host never names: {unnamed:?}");
    let without: Vec<_> = named.difference(&rows).copied().collect();
    assert_eq!(without, WITHOUT_A_ROW, "designs without a row");
}

#[test]
fn what_a_memory_workload_reads_and_writes_is_known_to_the_judge() {
    let rates =
        |s: &&WorkloadSpec| s.subsystem == Subsystem::Memory && s.unit == Unit::BytePerSecond;
    let specs: Vec<_> = WORKLOADS.iter().map(|workload| workload.spec()).filter(rates).collect();
    assert!(specs.len() > 1, "no workloads of memory");
    for spec in specs {
        let op = spec.parameters.iter().find(|parameter| parameter.name == "op");
        let points = match op.map(|parameter| &parameter.kind) {
            Some(ParameterKind::Choice(words)) => {
                words.iter().map(|word| Params::default().with("op", word.as_ref())).collect()
            }
            _ => vec![Params::default()],
        };
        for params in points {
            assert!(streams_are_known(&spec.id, &params), "{} {params:?}", spec.id);
        }
    }
}

#[test]
fn an_id_explains_one_thing() {
    let workloads = WORKLOADS.iter().map(|workload| workload.spec().id.as_ref());
    let ids = workloads
        .chain(checks::ALL.iter().map(|check| check.id()))
        .chain(ceilings::ALL.iter().map(|rule| rule.id()))
        .chain(FINDINGS.iter().map(|finding| finding.0))
        .chain(proofmark_reference::ALL.iter().map(|tool| tool.id()))
        .chain(proofmark_audit::rules::ALL.iter().map(|rule| rule.id()));
    let mut count: BTreeMap<&str, u32> = BTreeMap::new();
    for id in ids {
        *count.entry(id).or_default() += 1;
    }
    let shared: Vec<_> = count.iter().filter(|(_, n)| **n > 1).map(|(id, _)| *id).collect();
    // A check and a rule of the audit that look for the same fault; both are explained.
    assert_eq!(shared, ["page_cache", "random_faster"]);
    for tool in proofmark_reference::ALL {
        assert!(!tool.title().is_empty() && tool.about().len() > 40, "{}", tool.id());
    }
}
