//! Shortens the rounds of a plan that a CPU quota makes too long.

use proofmark_model::{CpuQuota, Plan, Point};

use super::super::estimate::fewest_s;
use crate::planned::Planned;

/// Id, title and meaning of the finding.
pub(super) const FINDING: (&str, &str, &str) = (
    QUOTA,
    "Fewer configurations under a CPU quota",
    "A CPU quota makes rounds longer: untimed load runs until the quota was refilled twice, then whole \
    periods are timed. Where eight rounds of five periods do not fit into the time of the profile or \
    of --budget, rounds have two periods, and what is delivered is derived from the share of CPU time. \
    Where that does not fit either, configurations are left out: those that fill no row of the \
    summary first. Raise --budget, name fewer workloads, or raise the quota.",
);
pub(super) const QUOTA: &str = "plan.quota";

/// Makes rounds as short as the quota's periods allow, if rounds of five periods take longer than
/// `most_s`.
pub(crate) fn shorten_rounds(planned: &mut Planned, most_s: f64) {
    let fits = fewest_s(&planned.plan) <= most_s;
    if let Some(rounds) = planned.plan.policy.quota.as_mut().filter(|_| !fits) {
        rounds.periods = CpuQuota::MIN_PERIODS as u32;
    }
}

/// Says that rounds have become shorter than in the plan as requested.
pub(super) fn describe(plan: &Plan, asked: &Plan) -> Option<String> {
    let [now, before] = [plan, asked].map(|plan| plan.policy.quota.map(|rounds| rounds.periods));
    let (now, before) = now.zip(before).filter(|(now, before)| now < before)?;
    Some(format!("rounds of {now} instead of {before} periods of the CPU quota"))
}

/// True if the quota limits a configuration of the plan.
pub(super) fn is_limited(plan: &Plan) -> bool {
    let limits = |p: &Point| {
        plan.policy.quota.is_some_and(|rounds| rounds.quota.limits(p.params.threads() as f64))
    };
    plan.points.iter().any(limits)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, Policy, QuotaRounds, Severity, key};

    use super::super::leave_out::{describe, finding, leave_out_under_quota as leave_out};
    use super::*;

    fn quota(cpus: f64, period_s: f64) -> Option<QuotaRounds> {
        let quota = CpuQuota { cpus: Some(cpus), period_s: Some(period_s), burst_s: None };
        Some(QuotaRounds::new(quota))
    }

    /// Instruction sets on two threads and one, then a memory load and a mix.
    fn planned(quota: Option<QuotaRounds>, budget_s: f64) -> Planned {
        let point = |id: &str, threads: u64, isa: &str| Point {
            workload: id.to_owned(),
            params: Params::default().with(key::THREADS, threads).with(key::ISA, isa),
        };
        let points = vec![
            point("cpu.flops", 2, "scalar"),
            point("cpu.flops", 2, "sse2"),
            point("cpu.flops", 2, "avx2+fma"),
            point("cpu.flops", 1, "scalar"),
            point("cpu.iops", 2, "scalar"),
            point("memory.triad", 2, "avx2"),
        ];
        let policy = Policy { trial_s: 0.05, budget_s: Some(budget_s), quota, ..Policy::default() };
        let plan = Plan { policy, points, ..Plan::default() };
        Planned { plan, usable_cpus: 2, ..Planned::default() }
    }

    fn fitted(quota: Option<QuotaRounds>, budget_s: f64) -> Planned {
        let mut planned = planned(quota, budget_s);
        shorten_rounds(&mut planned, budget_s);
        leave_out(&mut planned, budget_s);
        planned
    }

    #[test]
    fn rounds_have_five_periods_where_eight_such_rounds_fit_and_else_two() {
        let periods = |planned: &Planned| planned.plan.policy.quota.map(|r| r.periods);
        let usual = fitted(None, 1.0);
        assert_eq!((usual.plan.points.len(), periods(&usual)), (6, None), "no quota, no haste");
        // Two periods ahead and five or two in each of eight rounds of 100 ms: some 5.8 or 3.4 s.
        for (budget_s, expected, points) in [(60.0, 5, 6), (30.0, 2, 6), (16.0, 2, 4)] {
            let planned = fitted(quota(0.5, 0.1), budget_s);
            assert_eq!(periods(&planned), Some(expected), "{budget_s} s");
            assert_eq!(planned.plan.points.len(), points, "{budget_s} s");
            assert!(fewest_s(&planned.plan) <= budget_s);
        }
        let short = fitted(quota(0.5, 0.01), 15.0);
        assert_eq!((short.plan.points.len(), periods(&short)), (6, Some(5)));
        // A fixed number of rounds is kept, too.
        let mut screen = planned(quota(0.5, 0.1), 13.0);
        (screen.plan.policy.min_trials, screen.plan.policy.max_trials) = (8, 8);
        shorten_rounds(&mut screen, 13.0);
        leave_out(&mut screen, 13.0);
        assert_eq!(screen.plan.points.len(), 3);
        // A quota that leaves the threads all they can use.
        assert_eq!(fitted(quota(2.0, 0.1), 15.0).plan.points.len(), 6);
    }

    #[test]
    fn what_is_left_out_is_listed_and_answers_go_last() {
        let planned = fitted(quota(0.5, 0.1), 13.0);
        let left: Vec<String> = planned
            .plan
            .points
            .iter()
            .map(|p| format!("{} {}", p.workload, p.params.get(key::ISA).unwrap()))
            .collect();
        assert!(left.contains(&"cpu.flops avx2+fma".to_owned()), "{left:?}");
        assert!(left.contains(&"cpu.iops scalar".to_owned()), "{left:?}");
        let line = "for the time limit of 13 s under the CPU quota (0.5 CPUs";
        let after = finding(&planned.plan, 2).unwrap();
        assert_eq!((after.check.as_ref(), after.severity), (QUOTA, Severity::Note));
        for text in [after.message, describe(&planned).unwrap()] {
            assert!(text.contains(line) && text.contains("FP peak, 2 CPUs, sse2"), "{text}");
        }
        let one = fitted(quota(0.1, 1.0), 1.0);
        assert_eq!(one.plan.points.len(), 1, "something is measured");
    }
}
