//! Comparisons of lists in separate crates, which only this crate sees together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proofmark_host::{FINDINGS, designs};
use proofmark_judge::{ceilings, checks, microarchitecture};
use proofmark_model::{Pace, Params, PickedValue, Subsystem, Unit, WorkloadSpec, key};
use proofmark_reference::{ALL as TOOLS, Figure, Installed, Task, Tool};
use proofmark_workloads::ALL as WORKLOADS;

use super::captured;

/// Designs that the host names and that have no CPU ceiling: no source documents well enough what a
/// core can start per cycle.
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
    let known: BTreeSet<_> = ceilings::ALL.iter().map(|rule| rule.id).collect();
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
    let mut rows = BTreeSet::new();
    for spec in WORKLOADS.iter().map(|workload| workload.spec()) {
        let id = &spec.id;
        assert!(spec.method >= 1, "{id} has no method");
        if let Some(data) = &spec.work.data {
            assert!(spec.parameter(&data.parameter).is_some(), "{id}: data of {}", data.parameter);
        }
        let named = spec.role.counterparts.iter().map(|c| &*c.workload);
        named.for_each(|other| assert!(ids.contains(&other) && other != id, "{id}: {other}"));
        for row in spec.role.main_rows.iter() {
            assert!(rows.insert((spec.subsystem, row.place)), "{id}: row {} twice", row.place);
            for pick in row.picks.iter() {
                assert!(
                    spec.parameter(&pick.parameter).is_some(),
                    "{id}: picks {}",
                    pick.parameter
                );
                // No other parameter may be chosen by its result.
                let isa = pick.parameter == "isa";
                assert_eq!(pick.value == PickedValue::Best, isa, "{id}: {}", pick.parameter);
            }
        }
        // Without its reads and writes a memory rate has no ceiling.
        let rate = spec.work.pace == Pace::Memory && spec.unit == Unit::BytePerSecond;
        for params in spec.choices(Params::default()).iter().filter(|_| rate) {
            assert!(spec.work.traffic(params).is_some(), "{id} {params:?}");
        }
    }
    for subsystem in Subsystem::ALL {
        assert!(rows.contains(&(subsystem, 1)), "nothing answers for {subsystem}");
    }
}

#[test]
fn an_id_explains_one_thing() {
    let workloads = WORKLOADS.iter().map(|workload| workload.spec().id.as_ref());
    let ids = workloads
        .chain(checks::ALL.iter().map(|check| check.id))
        .chain(ceilings::ALL.iter().map(|rule| rule.id))
        .chain(FINDINGS.iter().map(|finding| finding.0))
        .chain(TOOLS.iter().map(|tool| tool.id()))
        .chain(proofmark_audit::rules::ALL.iter().map(|rule| rule.id));
    let mut count: BTreeMap<&str, u32> = BTreeMap::new();
    for id in ids {
        *count.entry(id).or_default() += 1;
    }
    let shared: Vec<_> = count.iter().filter(|(_, n)| **n > 1).map(|(id, _)| *id).collect();
    // A check and a rule of the audit that look for the same fault; both are explained.
    assert_eq!(shared, ["page_cache", "random_faster"]);
    for tool in TOOLS {
        let tool = tool.description();
        assert!(!tool.title.is_empty() && tool.about.len() > 40, "{}", tool.id);
    }
}

/// Returns the figures of the captured outputs, with their tools.
fn figures() -> Vec<(&'static dyn Tool, Figure)> {
    let texts: Vec<String> =
        captured().iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let read = texts.iter().flat_map(|text| TOOLS.iter().map(|tool| (*tool, tool.parse(text))));
    let known = read.filter_map(|(tool, output)| Some((tool, output.ok()?.figures)));
    known.flat_map(|(tool, all)| all.into_iter().map(move |figure| (tool, figure))).collect()
}

/// Tools whose output proofmark only reads.
const ONLY_READ: &[&str] = &[];

/// Tools of whose captured outputs no figure is a workload's. The output of these two programs of
/// lmbench does not report what they did.
const OTHER_WORK: &[&str] = &["lmbench", "lmbench-bw"];

#[test]
fn imports_of_a_tool_are_workloads_of_ours() {
    let mut tools = BTreeSet::new();
    for (tool, figure) in figures() {
        let spec = figure.declaration(tool, WORKLOADS.iter().map(|workload| workload.spec()));
        if WORKLOADS.iter().any(|workload| workload.spec().id == spec.id) {
            tools.insert(tool.id());
        }
    }
    let without: Vec<_> = TOOLS.iter().map(|t| t.id()).filter(|id| !tools.contains(id)).collect();
    assert_eq!(without, OTHER_WORK);
}

/// Returns configurations of a workload, with every combination of its choices.
fn points(spec: &WorkloadSpec) -> Vec<Params> {
    const SIZES: [(&str, u64); 6] = [
        ("array_size", 128 << 20),
        ("working_set", 1 << 20),
        ("block_size", 1 << 15),
        ("file_size", 1 << 30),
        ("n", 2000),
        ("reads", 70),
    ];
    let mut params = Params::default().with(key::MATRIX_BLOCK, 256);
    for parameter in spec.parameters.iter() {
        let size = SIZES.iter().find(|(name, _)| *name == parameter.name);
        params = match size {
            Some((name, value)) => params.with_named(name, *value),
            None if Params::counts_threads(&parameter.name) => {
                params.with_named(&parameter.name, 1)
            }
            None if parameter.name == "queue_depth" => params.with_named(&parameter.name, 1),
            None => params.with_named(&parameter.name, "auto"),
        };
    }
    spec.choices(params)
}

/// Returns the command of a tool's test for a configuration, if the tool has one.
fn run(tool: &dyn Tool, spec: &WorkloadSpec, params: &Params, work: f64) -> Option<String> {
    let test = tool.test_for(spec, params)?;
    let (cpus, file) = (&[0, 1][..], Path::new("/proc/77/fd/5"));
    let task = Task { spec, test, params, seconds: 0.2, work, cpus, file, port: 5201 };
    let installed = Installed { program: "/usr/bin/tool".into(), version: "3.12".to_owned() };
    Some(match tool.invocation(&installed, &task) {
        Ok(invocation) => format!("{invocation:?}"),
        Err(why) => format!("refused: {why}"),
    })
}

#[test]
fn every_tool_is_run_for_a_workload() {
    let (mut named, mut runs) = (BTreeSet::new(), BTreeSet::new());
    for spec in WORKLOADS.iter().map(|workload| workload.spec()) {
        for (params, tool) in points(spec).iter().flat_map(|p| TOOLS.iter().map(move |t| (p, *t))) {
            for command in [4e9, 1e3].into_iter().filter_map(|work| run(tool, spec, params, work)) {
                named.insert(tool.id());
                runs.extend((!command.starts_with("refused")).then_some(tool.id()));
            }
        }
    }
    let all = TOOLS.iter().map(|tool| tool.id()).filter(|id| !ONLY_READ.contains(id));
    let all: BTreeSet<_> = all.collect();
    assert_eq!(named, all, "a tool that does no workload's work");
    // The installed program decides whether hpl and stream can run.
    let without: Vec<_> = all.difference(&runs).filter(|id| **id != "hpl").collect();
    assert_eq!(without, [&"stream"]);
}

#[test]
fn every_declared_test_is_one_of_its_tool() {
    // Modes of fileio differ by a word in their outputs; no output of these two is captured.
    const UNSEEN: [(&str, &str); 2] = [("sysbench", "seqrewr"), ("sysbench", "rndrd")];
    let seen: BTreeSet<_> =
        figures().into_iter().map(|(tool, figure)| (tool.id(), figure.test.to_string())).collect();
    for (tool, same) in
        TOOLS.iter().flat_map(|t| t.description().same_work.iter().map(move |s| (t, s)))
    {
        let (id, test) = (tool.id(), same.test);
        let mut specs = WORKLOADS.iter().map(|workload| workload.spec());
        let spec = specs.find(|spec| spec.id == same.workload);
        let spec = spec.unwrap_or_else(|| panic!("{id} {test}: no workload {}", same.workload));
        let is_run = tool.counts(test).is_some();
        let is_read = seen.contains(&(id, test.to_owned()));
        assert!(is_run || is_read || UNSEEN.contains(&(id, test)), "{}: {id} {test}", spec.id);
        if let Some(when) = &same.when {
            let has = |p: &Params| p.word(&when.parameter) == Some(&*when.value);
            assert!(points(spec).iter().any(has), "{}: {id} {test}: {when:?}", spec.id);
        }
    }
}
