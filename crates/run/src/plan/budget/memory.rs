//! Leaves out configurations whose memory takes long to set up.

use proofmark_model::{Finding, Plan, Point, Severity, format_seconds};

use super::super::estimate::fewest_s;
use super::quota::{answers, words};
use super::{BUDGET, Step};
use crate::planned::Planned;
use crate::registry::find;
use crate::set_up;

/// Minimum seconds of set-up for which a configuration is left out.
const LEAST_S: f64 = 0.1;

/// Place of the configuration whose omission saves the most time of setting up memory. Only those that
/// answer for no row of the summary and that `may_go` are candidates.
fn slowest(plan: &Plan, may_go: impl Fn(&Plan, usize) -> bool) -> Option<usize> {
    let total = |plan: &Plan| set_up::seconds(plan, &find).iter().sum::<f64>();
    let all_s = total(plan);
    let saved_s = |at: usize| {
        let mut points = plan.points.clone();
        points.remove(at);
        all_s - total(&Plan { points, policy: plan.policy.clone(), ..Plan::default() })
    };
    let spare = |at: &usize| {
        !answers(plan, &plan.points[*at]) && plan.series.is_empty() && may_go(plan, *at)
    };
    let each = (0..plan.points.len()).filter(spare).map(|at| (at, saved_s(at)));
    let most = each.filter(|(_, s)| *s >= LEAST_S).max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(at, _)| at)
}

/// True if its workload has another configuration: a requested workload keeps one.
fn is_not_the_last(plan: &Plan, at: usize) -> bool {
    let workload = &plan.points[at].workload;
    plan.points.iter().filter(|point| point.workload == *workload).count() > 1
}

/// Leaves out configurations until the rest fits into the profile's time, with a finding that lists
/// them.
pub(crate) fn leave_out(planned: &mut Planned) {
    let Some(budget_s) = planned.plan.policy.budget_s else { return };
    let asked_s = fewest_s(&planned.plan);
    let mut out: Vec<Point> = Vec::new();
    while fewest_s(&planned.plan) > budget_s
        && let Some(place) = slowest(&planned.plan, |_, _| true)
    {
        out.push(planned.plan.points[place].clone());
        planned.keep(|at, _| at != place);
    }
    if out.is_empty() {
        return;
    }
    let [asked, budget] = [asked_s, budget_s].map(format_seconds);
    let message = format!(
        "the plan would take {asked} of {budget}, since its memory takes long to set up; left out: {}",
        words(&out)
    );
    let advice = "raise --budget, or name fewer workloads";
    planned.add(Finding::new(BUDGET, Severity::Note, message, advice));
}

impl Step<'_> {
    /// Leaves out the configurations whose own memory takes longest to set up.
    pub(super) fn less_memory(&mut self) -> Option<String> {
        let before = self.needed_s();
        let mut out: Vec<Point> = Vec::new();
        while !self.fits()
            && let Some(place) = slowest(self.plan(), is_not_the_last)
        {
            out.push(self.plan().points[place].clone());
            self.planned.keep(|at, _| at != place);
        }
        let took = format_seconds(before - self.needed_s());
        (!out.is_empty()).then(|| {
            format!("left out, since their memory takes long to set up: {} ({took})", words(&out))
        })
    }
}

#[cfg(test)]
mod tests {
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
        let plan = planned(&machine("kvm", 300), &["memory.copy", "cpu.dgemm"], Some(3)).plan;
        for id in ["memory.copy", "cpu.dgemm"] {
            assert!(plan.points.iter().any(|point| point.workload == id), "{id}");
        }
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
        let left_out = "since its memory takes long to set up; left out: ";
        assert!(budget_findings(&large).contains(left_out), "{}", budget_findings(&large));
        assert!(
            budget_findings(&large).contains("memory.latency order=local"),
            "{}",
            budget_findings(&large)
        );
        let own = planned(&machine("none", 960), &[], None);
        assert!(local(&own) && budget_findings(&own).is_empty(), "{}", budget_findings(&own));
    }

    #[test]
    fn a_budget_that_cannot_hold_it_leaves_out_what_answers_for_no_row() {
        let names = ["memory"];
        let roomy = planned(&machine("kvm", 300), &names, Some(60));
        assert!(budget_findings(&roomy).is_empty(), "{}", budget_findings(&roomy));
        let tight = planned(&machine("kvm", 300), &names, Some(12));
        assert!(
            budget_findings(&tight).contains("left out, since their memory takes long"),
            "{}",
            budget_findings(&tight)
        );
        assert!(tight.plan.points.len() < roomy.plan.points.len());
        assert!(tight.plan.points.iter().any(|p| p.workload == "memory.triad"));
    }
}
