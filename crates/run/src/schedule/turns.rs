//! How many trials a configuration gets, and the time that they take.

use proofmark_engine::{SLICED_AHEAD_S, Workload};
use proofmark_model::{Cut, LOOKS, Params, Policy};

/// Trials that every configuration gets, whatever the budget: as many as an interval needs, or 3.
pub const fn fewest_trials(for_interval: bool) -> u32 {
    if for_interval { LOOKS[0] as u32 } else { 3 }
}

/// Workloads of single operations whose trials together take at most this long, in seconds, get the
/// trials of an interval whatever the budget.
const SHORT_S: f64 = 2.0;

/// [`fewest_trials`] of a workload; fewer where the policy requests fewer.
pub fn least_trials(workload: &dyn Workload, policy: &Policy) -> u32 {
    let id = &workload.spec().id;
    let cut = workload.spec().work.cut();
    let (asked, most) = policy.trials_for(id);
    let takes_s = f64::from(asked) * policy.trial_s_for(id);
    match cut == Cut::Single && takes_s <= SHORT_S {
        true => fewest_trials(true).min(asked),
        // A few trials of a fixed number are cut into enough rounds together.
        false => fewest_trials(cut.has_slices()).min(most),
    }
}

/// Seconds between two trials.
const BETWEEN_S: f64 = 0.006;

/// Estimated seconds from the start of a trial, its untimed part included, to the next one.
pub fn turn_s(workload: &dyn Workload, params: &Params, policy: &Policy) -> f64 {
    let has_slices = workload.spec().work.cut().has_slices();
    let ahead_s = if has_slices { SLICED_AHEAD_S } else { 0.0 };
    let needs = workload.needs(params);
    let trial_s = needs.trial_s(policy.trial_s_for(&workload.spec().id));
    let threads = params.threads() as f64;
    let Some(rounds) = policy.quota.filter(|rounds| rounds.quota.limits(threads)) else {
        return trial_s + ahead_s + BETWEEN_S;
    };
    let is_fixed = needs.fixed_s.is_some();
    let lead_in_s = if has_slices { rounds.lead_in_s(threads) } else { 0.0 };
    let trial_s = match rounds.quota.cpus {
        // A fixed amount of work takes as much longer.
        Some(cpus) if is_fixed => trial_s * threads / cpus,
        _ if has_slices => rounds.round_s(trial_s, threads),
        _ => trial_s,
    };
    trial_s + ahead_s + lead_in_s + BETWEEN_S
}
