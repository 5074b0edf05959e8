mod monotone;

use super::*;
use crate::request::{ToolChoice, TypedParameters};
use crate::testing;
use proofmark_model::{CpuQuota, Probe, key};

/// On a machine of 512 CPUs, numbered up to 2047.
#[test]
fn the_default_profile_measures_few_threads_and_all() {
    let host = testing::host(4 << 40, (0..256).chain(1792..2048).collect());
    let names = vec!["cpu".to_owned(), "memory".to_owned()];
    let request = PlanRequest { names, tools: ToolChoice::None, ..PlanRequest::default() };
    let plan = plan(&request, &host).unwrap().plan;
    let threads = |workload: &str| {
        let own = plan.points.iter().filter(|p| p.workload == workload);
        own.map(|p| p.params.threads()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(threads("cpu.flops"), [1, 512].into());
    assert_eq!(threads("cpu.linpack"), [512].into());
    assert!(plan.points.iter().all(|p| p.params.threads() <= 512));
    let (least, most) = estimate(&plan);
    assert!(least.is_finite() && least > 0.0 && most < LONGEST_RUN.as_secs_f64());
}

#[test]
fn a_profile_without_what_is_asked_for_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.toml");
    let text = "name = \"mine\"\n[policy]\ntarget = 0.02\nmin_trials = 6\nmax_trials = 8\n\
                trial = \"10ms\"\n[[points]]\nworkload = \"memory.copy\"\n";
    std::fs::write(&file, text).unwrap();
    let request = PlanRequest {
        names: vec!["cpu".to_owned()],
        profile: file.to_str().unwrap().to_owned(),
        ..PlanRequest::default()
    };
    let error = plan(&request, &testing::host(1 << 30, vec![0])).unwrap_err().to_string();
    assert_eq!(
        error,
        "nothing to measure: profile mine has no configuration of the requested workloads"
    );
}

#[test]
fn a_run_of_one_workload_takes_its_parameters_without_its_name() {
    let host = testing::this_machine();
    let asked = |names: &[&str], set: &str| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let set = vec![set.to_owned()];
        let parameters = TypedParameters { set, ..TypedParameters::default() };
        let tools = ToolChoice::None;
        let request = PlanRequest { names, parameters, tools, ..PlanRequest::default() };
        plan(&request, &host)
    };
    for set in ["mode=overwrite", "disk.fsync.mode=overwrite"] {
        let planned = asked(&["disk.fsync"], set).unwrap();
        let modes = planned.plan.points.iter().map(|p| p.params.get(key::MODE).unwrap().to_owned());
        assert_eq!(modes.collect::<Vec<_>>(), ["overwrite"], "{set}");
    }
    let error = asked(&["disk.fsync", "disk.mixed"], "mode=overwrite").unwrap_err().to_string();
    assert!(error.contains("WORKLOAD.PARAMETER=VALUE"), "{error}");
    let error = asked(&["disk.fsync"], "moode=overwrite").unwrap_err().to_string();
    assert!(error.contains("did you mean 'mode'?"), "{error}");
}

#[test]
fn a_rate_at_which_a_trial_holds_no_datagram_makes_it_longer_and_says_so() {
    let mut host = testing::host(1 << 30, vec![0, 1]);
    let network = proofmark_model::testing::network(proofmark_model::NetworkPath::Loopback);
    host.network = proofmark_model::Probe::known(network, "test");
    let planned = |set: &str| {
        let request = PlanRequest {
            names: vec!["network.udp.stream".to_owned()],
            parameters: TypedParameters {
                set: ["block_size=65507", "streams=1", set]
                    .map(|s| format!("network.udp.stream.{s}"))
                    .into(),
                ..TypedParameters::default()
            },
            tools: ToolChoice::None,
            ..PlanRequest::default()
        };
        plan(&request, &host)
    };
    let slow = planned("rate=1200000").unwrap();
    let found: Vec<_> = slow.findings.iter().filter(|f| f.check == "plan.longer").collect();
    assert_eq!(found.len(), 1, "{:?}", slow.findings);
    assert!(found[0].message.contains("takes about 873"), "{}", found[0].message);
    // A session's time follows from that.
    let least = |set| estimate(&planned(set).unwrap().plan).0;
    assert!(least("rate=300000") > 3.0 * 3.4, "{} s", least("rate=300000"));
    assert!(planned("rate=120000000").unwrap().findings.is_empty());
    let refused = planned("rate=90000").unwrap_err().to_string();
    assert!(refused.contains("5.8 s apart; the maximum is 4 s"), "{refused}");
}

/// The budget that a line of the plan names.
fn named_budget(text: &str) -> std::time::Duration {
    let typed = text.split("--budget ").nth(1).unwrap_or_else(|| panic!("{text}"));
    let digits = typed.chars().take_while(char::is_ascii_digit).collect::<String>();
    let each_s = if typed[digits.len()..].starts_with('m') { 60 } else { 1 };
    std::time::Duration::from_secs(digits.parse::<u64>().unwrap() * each_s)
}

#[test]
fn the_budget_that_reduces_nothing_is_one_that_reduces_nothing_also_under_a_quota() {
    let mut free = testing::host(16 << 30, vec![0, 1]);
    let network = proofmark_model::testing::network(proofmark_model::NetworkPath::Loopback);
    free.network = Probe::known(network, "test");
    free.storage = testing::storage(64 << 30);
    let mut quotas = free.clone();
    let quota = CpuQuota { cpus: Some(0.7), period_s: Some(0.1), burst_s: None };
    quotas.limits.cpu_quota = Probe::known(quota, "test");
    for (host, profile, budget_s) in [(&quotas, "default", 60), (&free, "default", 60)] {
        let within = |budget| {
            let (tools, profile) = (ToolChoice::None, profile.to_owned());
            let budget = Some(budget);
            plan(&PlanRequest { budget, tools, profile, ..PlanRequest::default() }, host).unwrap()
        };
        let lines = |planned: &Planned| -> Vec<String> {
            let changes = planned.findings.iter().filter(|f| f.check == BUDGET);
            changes.map(|f| f.message.clone()).chain(planned.left_out_for_time.clone()).collect()
        };
        let short = lines(&within(std::time::Duration::from_secs(budget_s)));
        let line = short.iter().find(|line| line.starts_with("nothing is reduced"));
        let named = named_budget(line.unwrap_or_else(|| panic!("{budget_s} s: {short:?}")));
        assert_eq!(lines(&within(named)), [""; 0], "{budget_s} s of {profile}: {named:?}");
        let less = named.as_secs_f64() * 0.8;
        if less > budget_s as f64 {
            let less = lines(&within(std::time::Duration::from_secs_f64(less)));
            assert!(!less.is_empty(), "{named:?} is longer than needed");
        }
    }
}
