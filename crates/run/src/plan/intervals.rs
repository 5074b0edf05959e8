//! Names the workloads of a plan that cannot have an interval, or only a coarse one, however steady
//! they are.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_engine::Workload;
use proofmark_model::{LOOKS, MIN_VALUES, Plan, and_list, counted};

use crate::registry::{find, in_rounds};

/// Returns a line for each number of trials that is too small for an interval.
pub fn without_interval(plan: &Plan) -> Vec<String> {
    lines(plan, |_| true)
}

/// Returns the same where the interval was to decide the number: a policy that contradicts itself.
pub fn contradictions(plan: &Plan) -> Vec<String> {
    lines(plan, |is_fixed| !is_fixed)
}

/// The lines about workloads of which the number of trials is fixed or not.
fn lines(plan: &Plan, counts: fn(bool) -> bool) -> Vec<String> {
    let mut few: BTreeMap<(bool, u32, usize), BTreeSet<&str>> = BTreeMap::new();
    for (place, point) in plan.points.iter().enumerate() {
        let id = point.workload.as_str();
        let (is_fixed, most) = (plan.policy.is_fixed(id), plan.policy.trials_for(id).1);
        // A few trials of a fixed number are cut into enough rounds.
        let is_few = match is_fixed {
            true => most < MIN_VALUES as u32 && !in_rounds(id),
            false => most < LOOKS[0] as u32,
        };
        if is_few && counts(is_fixed) && plan.series_of(place).is_none() {
            let precise = find(id).map_or(MIN_VALUES, trials_for_precision);
            few.entry((is_fixed, most, precise)).or_default().insert(id);
        }
    }
    few.into_iter().map(|(few, ids)| line(few, &and_list(ids))).collect()
}

/// The smallest number of trials whose result may be better than coarse.
fn trials_for_precision(workload: &'static dyn Workload) -> usize {
    let spec = workload.spec();
    spec.work.cut().trials_for_precision(spec.subsystem.info().coarse_from())
}

/// The line about these workloads, of which at most so many trials are planned.
fn line((is_fixed, most, precise): (bool, u32, usize), ids: &str) -> String {
    let trials = counted(u64::from(most), "trial");
    let ([first, second, _], fixed) = (LOOKS, MIN_VALUES);
    let coarse = match precise > fixed {
        true => format!(", and is coarse with fewer than {precise}"),
        false => String::new(),
    };
    // The next look leaves room for noise.
    let advised = |least: usize| match precise > fixed {
        true => precise.max(second),
        false => least,
    };
    match is_fixed {
        true => {
            let n = advised(fixed);
            format!(
                "no 95 % interval for {ids}: {trials} are planned, and an interval needs \
                 {fixed}{coarse} (--trials {n}, or trials = {n} in the profile)"
            )
        }
        false => format!(
            "no 95 % interval for {ids}: at most {trials} are planned, and an interval that decides \
             their number needs {first}{coarse}; set max_trials = {} or more in the profile, or fix \
             the number from {fixed} on (--trials {})",
            advised(first),
            advised(fixed)
        ),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, Point, Policy};

    use super::*;

    fn plan(min_trials: u32, max_trials: u32) -> Plan {
        let point = |id: &str| Point { workload: id.to_owned(), params: Params::default() };
        let points = ["cpu.flops", "cpu.linpack", "disk.fsync"].map(point).into();
        let policy = Policy { min_trials, max_trials, ..Policy::default() };
        Plan { points, policy, ..Plan::default() }
    }

    #[test]
    fn too_few_trials_are_named_with_the_number_that_suffices() {
        let [open, disk] = &contradictions(&plan(3, 6))[..] else { panic!() };
        let start = "no 95 % interval for cpu.flops and cpu.linpack: at most 6 trials are";
        assert!(open.starts_with(start) && open.contains("max_trials = 8"), "{open}");
        assert!(disk.contains("max_trials = 12"), "{disk}");
        assert_eq!(without_interval(&plan(3, 6)), contradictions(&plan(3, 6)));
        let [fixed, disk] = &without_interval(&plan(3, 3))[..] else { panic!() };
        let start = "no 95 % interval for cpu.linpack: 3 trials are planned";
        assert!(fixed.starts_with(start) && fixed.contains("--trials 6"), "{fixed}");
        let end =
            "needs 6, and is coarse with fewer than 9 (--trials 12, or trials = 12 in the profile)";
        assert!(
            disk.starts_with("no 95 % interval for disk.fsync") && disk.ends_with(end),
            "{disk}"
        );
        assert_eq!(contradictions(&plan(3, 3)), [""; 0], "three were asked for");
        for (least, most) in [(6, 6), (3, 8), (8, 20), (1000, 1000)] {
            assert_eq!(without_interval(&plan(least, most)), [""; 0], "{least} to {most}");
        }
    }
}
