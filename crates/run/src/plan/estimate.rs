//! The estimated time of a plan.

use proofmark_model::{Plan, Point, format_seconds, key};

use super::references;
use crate::registry::{find, in_rounds};
use crate::schedule::{fewest_trials, least_trials, turn_s, warm_trials};
use crate::set_up;

/// Seconds of a plan with its minimum and its maximum of trials, warm-up included; the budget may
/// limit the latter.
pub fn estimate(plan: &Plan) -> (f64, f64) {
    let times = |point: &Point| plan.policy.trials_for(&point.workload);
    let least = seconds(plan, |point| times(point).0);
    let most = seconds(plan, |point| times(point).1);
    let own_s = |budget_s: f64| budget_s - references::seconds(plan);
    (least, plan.policy.budget_s.map_or(most, |b| most.min(own_s(b).max(least))))
}

/// Seconds of a run that its trials do not take: the start of the command, reports and the history.
pub(super) fn around_s(plan: &Plan) -> f64 {
    /// Seconds to read the machine, and to judge and report one result.
    const START_S: f64 = 1.0;
    const RESULT_S: f64 = 2e-3;
    START_S + RESULT_S * plan.points.len() as f64
}

/// Seconds of each configuration with its minimum of trials.
pub(super) fn point_costs(plan: &Plan) -> Vec<f64> {
    let least = |p: &Point| plan.policy.trials_for(&p.workload).0;
    let set_up = set_up::seconds(plan, &find).into_iter().enumerate();
    set_up.map(|(place, set_up_s)| set_up_s + measured_s(plan, place, &least)).collect()
}

/// The time with reference tools in words: `about 42 min 20 s`, or `about 1 min 2 s to 3 min 10 s`.
pub fn takes(plan: &Plan) -> String {
    let tools_s = references::seconds(plan);
    let (least, most) = estimate(plan);
    in_words([least + tools_s, most + tools_s])
}

/// The same without the plan's reference tools, whose time a profile adds to its own.
pub fn takes_alone(plan: &Plan) -> String {
    let (least, most) = estimate(plan);
    in_words([least, most])
}

fn in_words(seconds: [f64; 2]) -> String {
    let [least, most] = seconds.map(format_seconds);
    if least == most { format!("about {most}") } else { format!("about {least} to {most}") }
}

/// Seconds of a plan with so many trials per configuration, without reference tools.
pub(super) fn seconds(plan: &Plan, trials: impl Fn(&Point) -> u32) -> f64 {
    let set_up = set_up::seconds(plan, &find);
    let each = set_up.into_iter().enumerate();
    each.map(|(place, set_up_s)| set_up_s + measured_s(plan, place, &trials)).sum()
}

/// Seconds of a plan with the fewest trials: the rounds that an interval needs, or fewer where fewer
/// were requested; of other loads the trials that every configuration gets.
pub(super) fn fewest_s(plan: &Plan) -> f64 {
    let rounds = |id: &str| plan.policy.trials_for(id).0.min(fewest_trials(true));
    seconds(plan, |p| if in_rounds(&p.workload) { rounds(&p.workload) } else { 0 })
}

/// Seconds of one configuration with so many trials.
pub(super) fn point_s(plan: &Plan, place: usize, trials: &impl Fn(&Point) -> u32) -> f64 {
    let set_up_s = set_up::seconds(plan, &find).get(place).copied().unwrap_or(0.0);
    set_up_s + measured_s(plan, place, trials)
}

/// Seconds of one configuration without its set-up.
pub(super) fn measured_s(plan: &Plan, place: usize, trials: &impl Fn(&Point) -> u32) -> f64 {
    let Some(point) = plan.points.get(place) else { return 0.0 };
    if let Some(series) = plan.series_of(place) {
        return series.for_s;
    }
    let Some(workload) = find(&point.workload) else { return 0.0 };
    let policy = &plan.policy;
    let trial = turn_s(workload, &point.params, policy);
    // The warm-up of a complete solve takes whole trials.
    let whole = point.params.get(key::MATRIX_SIZE).is_some();
    let warm_up = match whole {
        _ if workload.spec().work.cut().has_slices() => 0.0,
        true => trial * warm_trials(trial),
        false => policy.trial_s_for(&point.workload),
    };
    // Like the schedule: a configuration stops at its time, but not before its minimum of trials.
    let least = f64::from(least_trials(workload, policy));
    let in_time = policy.point_s_for(&point.workload).map_or(f64::INFINITY, |s| s / trial);
    warm_up + trial * f64::from(trials(point)).min(in_time.ceil()).max(least)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Policy, key};

    use super::*;
    use proofmark_model::Params;

    #[test]
    fn a_problem_that_is_solved_whole_warms_up_whole() {
        let policy = Policy { min_trials: 3, max_trials: 3, ..Policy::default() };
        // Two seconds of warm-up are one trial of the large one, and at most three of any.
        for (n, one_s, times) in [(20_000, 2.0..f64::MAX, 4.0), (100, 0.0..0.05, 6.0)] {
            let params = Params::default()
                .with(key::THREADS, 1)
                .with(key::MATRIX_SIZE, n)
                .with(key::MATRIX_BLOCK, 64)
                .with(key::ISA, "sse2");
            let one = find("cpu.linpack").unwrap().needs(&params).trial_s(policy.trial_s);
            assert!(one_s.contains(&one), "{n}: {one} s");
            let points = vec![Point { workload: "cpu.linpack".to_owned(), params }];
            let all = estimate(&Plan { policy: policy.clone(), points, ..Plan::default() }).0;
            assert!(all > times * one && all < times * one + 1.0, "{all} s of {one} s each");
        }
    }

    #[test]
    fn a_point_that_had_its_time_is_counted_with_the_trials_that_it_always_gets() {
        let params = Params::default()
            .with(key::THREADS, 1)
            .with(key::MATRIX_SIZE, 20_000)
            .with(key::MATRIX_BLOCK, 64)
            .with(key::ISA, "sse2");
        let points = vec![Point { workload: "cpu.linpack".to_owned(), params }];
        let of = |point_s| {
            let policy = Policy { point_s, ..Policy::default() };
            estimate(&Plan { policy, points: points.clone(), ..Plan::default() })
        };
        let (least, most) = of(Some(0.1));
        assert_eq!(least, most);
        let (eight, twenty) = of(None);
        // One warm-up; then 3 trials, or 8 to 20.
        assert!((eight / least - 9.0 / 4.0).abs() < 0.05, "{eight} and {least}");
        assert!((twenty / least - 21.0 / 4.0).abs() < 0.1, "{twenty} and {least}");
    }

    #[test]
    fn what_is_cut_takes_8_rounds_at_least_and_no_warm_up() {
        let params = |n: u64| {
            Params::default()
                .with(key::THREADS, n)
                .with(key::MATRIX_BLOCK, 64)
                .with(key::ISA, "sse2")
        };
        let points: Vec<_> =
            [1, 2].map(|n| Point { workload: "cpu.flops".to_owned(), params: params(n) }).into();
        let of = |policy: Policy| {
            let (least, most) =
                estimate(&Plan { policy, points: points.clone(), ..Plan::default() });
            // Without what comes before the first trial of each.
            [least, most].map(|s| (s - 2.0 * set_up::WARM_UP_S) / 2.0)
        };
        let usual = Policy { min_trials: 3, ..Policy::default() };
        let are = |policy: Policy, least: f64, most: f64| {
            let found = of(policy.clone());
            let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
            assert!(near((found[0], least)) && near((found[1], most)), "{policy:?}: {found:?}");
        };
        are(usual.clone(), 8.0 * 0.126, 20.0 * 0.126);
        are(Policy { min_trials: 12, ..usual.clone() }, 12.0 * 0.126, 20.0 * 0.126);
        are(Policy { trial_s: 0.02, ..usual.clone() }, 8.0 * 0.046, 20.0 * 0.046);
        are(Policy { point_s: Some(0.1), ..usual.clone() }, 8.0 * 0.126, 8.0 * 0.126);
        // As many as were asked for, and no more.
        are(Policy { max_trials: 5, ..usual.clone() }, 5.0 * 0.126, 5.0 * 0.126);
        are(Policy { max_trials: 3, ..usual.clone() }, 3.0 * 0.126, 3.0 * 0.126);
        // However long each is.
        are(Policy { trial_s: 0.4, ..usual }, 8.0 * 0.426, 20.0 * 0.426);
    }
}
