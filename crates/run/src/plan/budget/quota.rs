//! Shrinks a plan that a CPU quota makes too long: first the rounds, then the configurations.

use proofmark_model::{
    CpuQuota, Finding, MainRow, Params, PickedValue, Plan, Point, Severity, format_seconds,
};

use super::super::estimate::fewest_s;
use crate::planned::Planned;
use crate::registry::find;

/// Id, title and meaning of the finding.
pub(super) const FINDING: (&str, &str, &str) = (
    QUOTA,
    "Fewer configurations under a CPU quota",
    "A CPU quota makes rounds longer: untimed load runs until the quota was refilled twice, then whole \
    periods are timed. Where eight rounds of five periods do not fit into the time of the profile or \
    of --budget, rounds have two periods, and what is delivered is derived from the share of CPU time. \
    Where that does not fit either, configurations are left out: first those that answer for no row of \
    the summary. Raise --budget, name fewer workloads, or raise the quota.",
);
const QUOTA: &str = "plan.quota";

/// Makes rounds as short as the quota's periods allow, if rounds of five periods exceed the budget.
pub(crate) fn shorten_rounds(planned: &mut Planned) {
    let fits = fits(&planned.plan);
    if let Some(rounds) = planned.plan.policy.quota.as_mut().filter(|_| !fits) {
        rounds.periods = CpuQuota::MIN_PERIODS as u32;
    }
}

fn fits(plan: &Plan) -> bool {
    plan.policy.budget_s.is_none_or(|budget_s| fewest_s(plan) <= budget_s)
}

/// True if the quota limits a configuration of the plan.
fn is_limited(plan: &Plan) -> bool {
    let limits = |p: &Point| {
        plan.policy.quota.is_some_and(|rounds| rounds.quota.limits(p.params.threads() as f64))
    };
    plan.points.iter().any(limits)
}

/// Leaves out configurations until the rest fits into the budget, with a finding that lists them.
pub(crate) fn leave_out(planned: &mut Planned) {
    if !is_limited(&planned.plan) || fits(&planned.plan) {
        return;
    }
    let asked_s = fewest_s(&planned.plan);
    let mut out: Vec<Point> = Vec::new();
    while !fits(&planned.plan) {
        let Some(place) = least_wanted(&planned.plan) else { break };
        out.push(planned.plan.points[place].clone());
        planned.keep(|at, _| at != place);
    }
    if out.is_empty() {
        return;
    }
    let rounds = planned.plan.policy.quota.map(|r| r.quota.words()).unwrap_or_default();
    let message = format!(
        "under the CPU quota ({rounds}) the plan would take {} of {}; left out: {}",
        format_seconds(asked_s),
        format_seconds(planned.plan.policy.budget_s.unwrap_or(f64::NAN)),
        words(&out)
    );
    let advice = "raise --budget, name fewer workloads, or raise the quota (cpu.max)";
    planned.add(Finding::new(QUOTA, Severity::Note, message, advice));
}

/// Lists the configurations, named as in the report.
pub(super) fn words(points: &[Point]) -> String {
    let word = |p: &Point| match find(&p.workload) {
        Some(workload) => workload.spec().describe(&p.params),
        None => p.workload.clone(),
    };
    points.iter().rev().map(word).collect::<Vec<_>>().join(", ")
}

/// Place of the configuration to leave out first; `None` where only one is left. The workload with the
/// most configurations loses its last one that answers for no row of the summary. Then go workloads
/// with one configuration and no such row, then the last of the plan.
fn least_wanted(plan: &Plan) -> Option<usize> {
    if plan.points.len() < 2 {
        return None;
    }
    let count = |p: &Point| plan.points.iter().filter(|q| q.workload == p.workload).count();
    let spare = |p: &Point| !answers(plan, p) && plan.series.is_empty();
    let places = || 0..plan.points.len();
    let several = places().filter(|at| count(&plan.points[*at]) > 1 && spare(&plan.points[*at]));
    several
        .max_by_key(|at| (count(&plan.points[*at]), *at))
        .or_else(|| places().rfind(|at| spare(&plan.points[*at])))
        .or_else(|| places().next_back())
}

/// True if a configuration answers for a row of the summary, among those planned.
pub(super) fn answers(plan: &Plan, point: &Point) -> bool {
    let rows = find(&point.workload).map(|w| &w.spec().role.main_rows);
    rows.is_some_and(|rows| rows.iter().any(|row| picks(plan, point, row)))
}

fn picks(plan: &Plan, point: &Point, row: &MainRow) -> bool {
    let all = || plan.points.iter().filter(|p| p.workload == point.workload);
    let most_threads = || all().map(|p| p.params.threads()).max();
    let named_threads = row.picks.iter().any(|pick| Params::counts_threads(&pick.parameter));
    let has_threads = named_threads || Some(point.params.threads()) == most_threads();
    has_threads
        && row.picks.iter().all(|pick| {
            let name = &*pick.parameter;
            let own = point.params.named(name);
            let number = |p: &Point| p.params.number(name);
            match &pick.value {
                PickedValue::Is(wanted) => {
                    let is =
                        |p: &Point| p.params.named(name).is_some_and(|v| v.to_string() == **wanted);
                    is(point) || !all().any(is)
                }
                PickedValue::Smallest => number(point) == all().map(number).min().flatten(),
                PickedValue::Largest => number(point) == all().map(number).max().flatten(),
                PickedValue::UsableCpus => Some(point.params.threads()) == most_threads(),
                // Which is best nobody knows yet: the widest is planned last.
                PickedValue::Best => {
                    let as_many = |p: &&Point| p.params.threads() == point.params.threads();
                    all().rfind(as_many).map(|p| p.params.named(name)) == Some(own)
                }
            }
        })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Policy, QuotaRounds, key};

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
        Planned { plan: Plan { policy, points, ..Plan::default() }, ..Planned::default() }
    }

    fn fitted(quota: Option<QuotaRounds>, budget_s: f64) -> Planned {
        let mut planned = planned(quota, budget_s);
        shorten_rounds(&mut planned);
        leave_out(&mut planned);
        planned
    }

    #[test]
    fn rounds_have_five_periods_where_eight_such_rounds_fit_and_else_two() {
        let periods = |planned: &Planned| planned.plan.policy.quota.map(|r| r.periods);
        let usual = fitted(None, 1.0);
        assert_eq!((usual.plan.points.len(), periods(&usual)), (6, None), "no quota, no haste");
        // Two periods ahead and five or two in each of eight rounds of 100 ms: some 5.8 or 3.4 s.
        for (budget_s, expected, points) in [(60.0, 5, 6), (30.0, 2, 6), (15.0, 2, 4)] {
            let planned = fitted(quota(0.5, 0.1), budget_s);
            assert_eq!(periods(&planned), Some(expected), "{budget_s} s");
            assert_eq!(planned.plan.points.len(), points, "{budget_s} s");
            assert!(fewest_s(&planned.plan) <= budget_s);
        }
        let short = fitted(quota(0.5, 0.01), 15.0);
        assert_eq!((short.plan.points.len(), periods(&short)), (6, Some(5)));
        // A fixed number of rounds is kept, too.
        let mut screen = planned(quota(0.5, 0.1), 12.0);
        (screen.plan.policy.min_trials, screen.plan.policy.max_trials) = (8, 8);
        shorten_rounds(&mut screen);
        leave_out(&mut screen);
        assert_eq!(screen.plan.points.len(), 3);
        // A quota that leaves the threads all they can use.
        assert_eq!(fitted(quota(2.0, 0.1), 15.0).plan.points.len(), 6);
    }

    #[test]
    fn what_is_left_out_is_listed_and_answers_go_last() {
        let planned = fitted(quota(0.5, 0.1), 12.0);
        let left: Vec<String> = planned
            .plan
            .points
            .iter()
            .map(|p| format!("{} {}", p.workload, p.params.get(key::ISA).unwrap()))
            .collect();
        assert!(left.contains(&"cpu.flops avx2+fma".to_owned()), "{left:?}");
        assert!(left.contains(&"cpu.iops scalar".to_owned()), "{left:?}");
        let [finding] = &planned.findings[..] else { panic!("{:?}", planned.findings) };
        assert_eq!((finding.check.as_ref(), finding.severity), (QUOTA, Severity::Note));
        for said in ["0.5 CPUs", "left out: ", "cpu.flops isa=sse2 threads=2"] {
            assert!(finding.message.contains(said), "{said}: {}", finding.message);
        }
        let one = fitted(quota(0.1, 1.0), 1.0);
        assert_eq!(one.plan.points.len(), 1, "something is measured");
    }
}
