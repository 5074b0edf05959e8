//! Plans whose memory takes long to set up.

use proofmark_model::testing::cache;
use proofmark_model::{Host, Probe, key};

use super::*;
use crate::plan::{estimate, plan};
use crate::request::{PlanRequest, ToolChoice};
use crate::testing;

/// 16 CPUs of a guest, or of a machine of their own, with a last-level cache of so many MiB.
fn machine(virtualisation: &str, cache_mib: u64) -> Host {
    let mut host = testing::host(126 << 30, (0..16).collect());
    host.os.virtualisation = Probe::known(virtualisation.to_owned(), "test");
    let cpus: Vec<u32> = (0..16).collect();
    host.cpu.caches = Probe::known(vec![cache(3, cache_mib << 20, &cpus, 1)], "test");
    host
}

fn planned(host: &Host, names: &[&str], budget: Option<u64>) -> Planned {
    let request = PlanRequest {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        profile: "quick".to_owned(),
        budget: budget.map(std::time::Duration::from_secs),
        tools: ToolChoice::None,
        ..PlanRequest::default()
    };
    plan(&request, host).unwrap()
}

#[test]
fn a_workload_that_is_asked_for_is_measured() {
    let within = |id, budget_s| planned(&machine("kvm", 300), &["memory.copy", id], Some(budget_s));
    let has = |planned: &Planned, id| planned.plan.points.iter().any(|p| p.workload == id);
    for id in ["memory.copy", "cpu.dgemm"] {
        assert!(has(&within("cpu.dgemm", 30), id), "{id}");
    }
    // The arrays alone take 4.5 s to set up.
    let short = within("cpu.clock", 3);
    assert!(has(&short, "cpu.clock") && !has(&short, "memory.copy"), "{:?}", short.plan.points);
    let line = "for the time limit of 3.0 s, unless time remains: Memory copy, 16 CPUs; \
                Memory copy, 1 CPU";
    assert_eq!(short.left_out_for_time.as_deref(), Some(line));
}

fn budget_findings(planned: &Planned) -> String {
    let texts = planned.findings.iter().filter(|f| f.check == BUDGET);
    texts.map(|f| f.message.clone()).collect()
}

fn memory_s(planned: &Planned) -> f64 {
    let seconds = |plan: &Plan| set_up::seconds(plan, &find).iter().sum::<f64>();
    let policy = proofmark_model::Policy { memory_rate: None, ..planned.plan.policy.clone() };
    seconds(&planned.plan) - seconds(&Plan { policy, ..planned.plan.clone() })
}

/// Copies and latencies were set up in 7.75 s there.
#[test]
fn memory_that_is_set_up_takes_time() {
    let guest = machine("kvm", 300);
    let memory = planned(&guest, &["memory.copy", "memory.latency"], None);
    let set_up_s = memory_s(&memory);
    assert!((set_up_s / 7.75 - 1.0).abs() < 0.2, "{set_up_s} s");
    assert!(budget_findings(&memory).is_empty(), "what was named is measured");
    let (least, most) = estimate(&memory.plan);
    let trials_s: f64 = memory.plan.points.len() as f64 * (8.0 * 0.076 + 0.05);
    assert!((least - set_up_s - trials_s).abs() < 0.5 && most >= least, "{least} {most}");
    let own = memory_s(&planned(&machine("none", 300), &["memory.copy"], None));
    assert!((0.5..2.0).contains(&own), "{own} s");
    // The arrays of copy are those of triad, for any number of threads.
    let streams = planned(&guest, &["memory.copy", "memory.triad"], None);
    let bytes: f64 = 3.0 * 1200.0 * f64::from(1 << 20);
    assert!((memory_s(&streams) * 0.8e9 / bytes - 1.0).abs() < 0.01, "{:?}", streams.plan);
}

#[test]
fn where_the_time_of_a_profile_cannot_hold_it_less_is_measured_and_the_plan_says_so() {
    let local = |planned: &Planned| {
        let order = |p: &Point| p.params.get(key::ORDER) == Some("local");
        planned.plan.points.iter().any(order)
    };
    let usual = planned(&machine("kvm", 300), &[], None);
    assert!(local(&usual) && budget_findings(&usual).is_empty(), "{}", budget_findings(&usual));
    let large = planned(&machine("kvm", 1920), &[], None);
    assert!(!local(&large) && large.plan.points.iter().any(|p| p.workload == "memory.triad"));
    let line = large.left_out_for_time.as_deref().unwrap();
    assert!(line.starts_with("for the time limit of 42 s, unless time remains: "), "{line}");
    assert!(line.contains("Memory latency, local"), "{line}");
    assert!(large.plan.left_out.iter().any(|p| p.params.get(key::ORDER) == Some("local")));
    let own = planned(&machine("none", 960), &[], None);
    assert!(local(&own) && budget_findings(&own).is_empty(), "{}", budget_findings(&own));
}

#[test]
fn a_budget_that_cannot_hold_it_leaves_out_what_answers_for_no_row() {
    let names = ["memory"];
    let roomy = planned(&machine("kvm", 300), &names, Some(60));
    assert!(budget_findings(&roomy).is_empty(), "{}", budget_findings(&roomy));
    let tight = planned(&machine("kvm", 300), &names, Some(12));
    let line = tight.left_out_for_time.as_deref().unwrap();
    assert!(line.contains("Memory latency, local"), "{line}");
    assert!(!line.contains("Memory latency, 1.2 GiB"), "that is a row: {line}");
    assert!(tight.plan.points.len() < roomy.plan.points.len());
    assert!(tight.plan.points.iter().any(|p| p.workload == "memory.triad"));
}
