//! A longer budget holds what a shorter one holds, where no earlier step of the two differs.

use std::collections::BTreeSet;
use std::time::Duration;

use proofmark_model::{
    CpuQuota, Host, NetworkPath, Params, Point, Probe, QuotaRounds, key, testing as model,
};

use super::super::budget::leave_out_of_budget;
use super::*;

/// A machine of two CPUs with a quota of so many, by its period.
fn machine(quota: Option<(f64, f64)>) -> Host {
    let mut host = testing::host(16 << 30, vec![0, 1]);
    host.network = Probe::known(model::network(NetworkPath::Loopback), "test");
    host.storage = testing::storage(64 << 30);
    if let Some((cpus, period_s)) = quota {
        let quota = CpuQuota { cpus: Some(cpus), period_s: Some(period_s), burst_s: None };
        host.limits.cpu_quota = Probe::known(quota, "test");
    }
    host
}

fn request(profile: &str) -> PlanRequest {
    PlanRequest {
        profile: profile.to_owned(),
        budget: Some(Duration::from_secs(60)),
        tools: ToolChoice::None,
        ..PlanRequest::default()
    }
}

/// The planned configurations, with however many iterations.
fn held(planned: &Planned) -> BTreeSet<(String, Params)> {
    let of = |p: &Point| (p.workload.clone(), p.params.clone().without(key::ITERATIONS));
    planned.plan.points.iter().map(of).collect()
}

/// Checks that each plan holds what the one before it holds.
fn grow(what: &str, plans: impl Iterator<Item = (f64, Planned)>) {
    let mut before: Option<(f64, BTreeSet<_>)> = None;
    for (budget_s, planned) in plans {
        let now = held(&planned);
        if let Some((shorter_s, held)) = before {
            let lost: Vec<_> = held.difference(&now).collect();
            assert!(lost.is_empty(), "{what}: {shorter_s} s holds and {budget_s} s lacks {lost:?}");
        }
        before = Some((budget_s, now));
    }
}

#[test]
fn a_longer_time_holds_what_a_shorter_one_holds() {
    for (profile, quota) in
        [("default", None), ("default", Some((0.5, 0.1))), ("quick", Some((0.7, 0.05)))]
    {
        let host = machine(quota);
        let request = request(profile);
        let mut asked = requested(&request, &host).unwrap();
        let quota = host.limits.cpu_quota.get().map(|quota| QuotaRounds::new(*quota));
        assert_eq!(asked.plan.policy.quota, quota);
        asked.plan.policy.min_trials = 3;
        let filled = |budget_s: u32| {
            let mut planned = asked.clone();
            leave_out_of_budget(&mut planned, f64::from(budget_s));
            (f64::from(budget_s), planned)
        };
        grow(&format!("{profile}, {quota:?}"), (5..200).step_by(13).map(filled));
    }
}

#[test]
fn a_longer_budget_holds_what_a_shorter_one_holds_also_under_a_quota() {
    // Each held less than the one before it, for another reason.
    for (profile, quota, budgets) in [
        ("default", (0.5, 0.1), &[55, 60, 110, 115][..]),
        ("default", (0.7, 0.1), &[360, 390]),
        ("default", (1.2, 0.1), &[30, 35, 65, 70]),
        ("quick", (0.7, 0.1), &[20, 25, 40, 1800]),
    ] {
        let host = machine(Some(quota));
        let request = request(profile);
        let asked = requested(&request, &host).unwrap();
        let limit = TimeLimit { request: &request, host: &host, asked: &asked };
        let plans = budgets.iter().map(|budget_s| f64::from(*budget_s));
        grow(profile, plans.map(|budget_s| (budget_s, limit.within(Some(budget_s)))));
    }
}
