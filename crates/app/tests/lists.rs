//! The lists that crates keep apart, held against each other: no crate but this
//! one sees them all.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_host::{FINDINGS, designs};
use proofmark_judge::{ceilings, checks, microarchitecture};
use proofmark_model::{Pace, Params, Subsystem, Unit};
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
fn a_workload_declares_facts_that_fit_together() {
    let ids: Vec<&str> = WORKLOADS.iter().map(|workload| &*workload.spec().id).collect();
    let mut leads = BTreeSet::new();
    for spec in WORKLOADS.iter().map(|workload| workload.spec()) {
        let id = &spec.id;
        assert!(spec.method >= 1, "{id} has no method");
        if let Some(data) = &spec.work.data {
            assert!(spec.parameter(&data.parameter).is_some(), "{id}: data of {}", data.parameter);
        }
        let named = spec.role.counterparts.iter().map(|c| &*c.workload);
        named.for_each(|other| assert!(ids.contains(&other) && other != id, "{id}: {other}"));
        if let Some(lead) = spec.role.lead {
            assert!(leads.insert((spec.subsystem, lead)), "{id}: lead {lead} twice");
        }
        // Without what it reads and writes a rate of memory has no ceiling.
        let rate = spec.work.pace == Pace::Memory && spec.unit == Unit::BytePerSecond;
        for params in spec.choices(Params::default()).iter().filter(|_| rate) {
            assert!(spec.work.traffic(params).is_some(), "{id} {params:?}");
        }
    }
    for subsystem in Subsystem::ALL {
        assert!(leads.contains(&(subsystem, 1)), "nothing answers for {subsystem}");
    }
}

#[test]
fn an_id_explains_one_thing() {
    let workloads = WORKLOADS.iter().map(|workload| workload.spec().id.as_ref());
    let ids = workloads
        .chain(checks::ALL.iter().map(|check| check.id))
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
