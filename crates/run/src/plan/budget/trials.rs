//! Fewer and shorter trials.

use std::collections::BTreeMap;

use proofmark_model::{Point, Policy, and_list, counted, format_seconds};

use super::Step;
use crate::plan::references;
use crate::registry::{in_rounds, needs};
use crate::schedule::fewest_trials;

/// Shortest round and trial that a budget makes, in seconds.
const TRIAL_S: f64 = 0.02;
/// Minimum share of its length that a trial without rounds keeps, and seconds that always suffice.
const TRIAL_PART: f64 = 0.2;
const LONG_TRIAL_S: f64 = 0.5;

/// Maximum number of workloads that are named for one change of length.
const NAMED: usize = 2;

/// Factor by which trials become shorter, repeatedly, until the plan fits.
const SHORTER: f64 = 0.8;

impl Step<'_> {
    /// Workloads of the plan; true for those whose trials are cut into rounds.
    fn workloads(&self) -> BTreeMap<String, bool> {
        let ids = self.plan().points.iter().map(|p| p.workload.clone());
        ids.map(|id| (id.clone(), in_rounds(&id))).collect()
    }

    /// Reduces trials to as many as fit, down to the minimum. Reported at the end, since
    /// [`Step::more_trials`] may undo it.
    pub(super) fn fewer_trials(&mut self) -> Option<String> {
        let asked = self.plan().policy.clone();
        let workloads = self.workloads();
        let mut open = workloads.iter().filter(|(id, _)| !asked.trials_of.contains_key(*id));
        let all_in_rounds = open.all(|(_, in_rounds)| *in_rounds);
        let most = asked.trials_of.values().copied().fold(asked.min_trials, u32::max);
        for trials in (fewest_trials(false)..most).rev() {
            let policy = &mut self.planned.plan.policy;
            policy.min_trials = asked.min_trials.min(trials.max(fewest_trials(all_in_rounds)));
            for (id, of) in &mut policy.trials_of {
                *of = asked.trials_of[id].min(trials.max(fewest_trials(in_rounds(id))));
            }
            if self.fits() {
                break;
            }
        }
        None
    }

    /// Restores the trials, if the time suffices.
    pub(super) fn more_trials(&mut self) {
        let policy = self.plan().policy.clone();
        let (asked, now) = (&self.asked.policy, &mut self.planned.plan.policy);
        (now.min_trials, now.trials_of) = (asked.min_trials, asked.trials_of.clone());
        if !self.fits() {
            self.planned.plan.policy = policy;
        }
    }

    pub(super) fn describe_trials(&self) -> Option<String> {
        let (asked, now) = (&self.asked.policy, &self.plan().policy);
        let mut lines = Vec::new();
        let workloads = self.workloads();
        let open = |id: &String| !now.trials_of.contains_key(id);
        let has = |in_rounds: bool| workloads.iter().any(|(id, r)| *r == in_rounds && open(id));
        let (least, asked_for) = (now.min_trials, asked.min_trials);
        if has(false) && least < asked_for {
            let result = if has(true) { "result without rounds" } else { "result" };
            let own = self.with_fewer_than(least, false);
            lines
                .push(format!("as few as {least} trials per {result} instead of {asked_for}{own}"));
        }
        let least = least.max(fewest_trials(true));
        if has(true) && least < asked_for {
            let own = self.with_fewer_than(least, true);
            lines.push(format!("as few as {least} rounds per result instead of {asked_for}{own}"));
        }
        let mut of: BTreeMap<(u32, u32), Vec<&str>> = BTreeMap::new();
        for (workload, n) in asked.trials_of.iter().filter(|(k, n)| now.trials_of[*k] < **n) {
            of.entry((now.trials_of[workload], *n)).or_default().push(workload);
        }
        for ((now, asked), workloads) in of {
            lines.push(format!("{now} trials instead of {asked} of {}", workloads.join(", ")));
        }
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    /// ` (cpu.linpack: 3)`: the workloads of a kind that keep a smaller number of their own.
    fn with_fewer_than(&self, least: u32, of_rounds: bool) -> String {
        let (asked, now) = (&self.asked.policy.trials_of, &self.plan().policy.trials_of);
        let planned = self.workloads();
        // A number that was reduced has words of its own.
        let kept = now.iter().filter(|(id, n)| {
            **n < least && asked.get(*id) == Some(*n) && planned.get(*id) == Some(&of_rounds)
        });
        let own: Vec<String> = kept.map(|(id, n)| format!("{id}: {n}")).collect();
        if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) }
    }

    /// Shortens trials until the plan fits, down to the shortest.
    pub(super) fn shorter_trials(&mut self) -> Option<String> {
        let (asked, workloads) = (self.plan().policy.clone(), self.workloads());
        let mut part = 1.0;
        loop {
            part *= SHORTER;
            let before = self.plan().policy.clone();
            self.planned.plan.policy = shorter(&asked, &workloads, part);
            (self.lengthen)(&mut self.planned.plan.policy);
            references::lengthen(&mut self.planned.plan);
            if self.fits() || self.plan().policy == before {
                break;
            }
        }
        self.describe_shorter(&asked, &workloads)
    }

    /// True if trials of the workload have a planned duration, not a fixed amount of work.
    fn is_timed(&self, id: &str) -> bool {
        let timed = |p: &Point| needs(p).fixed_s.is_none();
        self.plan().points.iter().any(|p| p.workload == id && timed(p))
    }

    fn describe_shorter(
        &self,
        asked: &Policy,
        workloads: &BTreeMap<String, bool>,
    ) -> Option<String> {
        let policy = &self.plan().policy;
        let change = |id: &&String| (asked.trial_s_for(id), policy.trial_s_for(id));
        let words = |id: &String| {
            let (from, to) = change(&id);
            format!("{} -> {}", format_seconds(from), format_seconds(to))
        };
        let of_kind = |in_rounds: bool| {
            let ids = workloads.iter().filter(|(_, r)| **r == in_rounds).map(|(id, _)| id);
            let ids = ids.filter(|id| change(id).1 < change(id).0 && self.is_timed(id));
            let (own, usual): (Vec<_>, Vec<_>) =
                ids.partition(|id| asked.trial_s_of.contains_key(*id));
            let mut alike: BTreeMap<String, Vec<&String>> = BTreeMap::new();
            own.into_iter().for_each(|id| alike.entry(words(id)).or_default().push(id));
            let of = alike.iter().map(|(words, ids)| format!("of {} {words}", some_of(ids)));
            usual.first().map(|id| words(id)).into_iter().chain(of).collect::<Vec<_>>().join(", ")
        };
        let lines = [("rounds", of_kind(true)), ("trials", of_kind(false))];
        let lines = lines.iter().filter(|(_, changes)| !changes.is_empty());
        let lines: Vec<_> = lines.map(|(what, changes)| format!("{what} {changes}")).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    }
}

/// `cpu.clock, cpu.flops and 12 others`.
fn some_of(ids: &[&String]) -> String {
    let (named, others) = ids.split_at(NAMED.min(ids.len()));
    let others = (!others.is_empty()).then(|| counted(others.len() as u64, "other"));
    and_list(named.iter().map(|id| (*id).clone()).chain(others))
}

/// The policy with trials of this share of their length; `workloads` as of [`Step::workloads`].
fn shorter(asked: &Policy, workloads: &BTreeMap<String, bool>, part: f64) -> Policy {
    let shorter = |trial_s: f64, in_rounds: bool, rounds: u32| {
        let least_s = if in_rounds { 0.0 } else { (trial_s * TRIAL_PART).min(LONG_TRIAL_S) };
        (trial_s * part).max(least_s).max((TRIAL_S * f64::from(rounds)).min(trial_s))
    };
    let mut policy = Policy { trial_s: shorter(asked.trial_s, false, 1), ..asked.clone() };
    for (id, in_rounds) in workloads {
        let rounds = if *in_rounds { rounds_of_a_trial(asked, id) } else { 1 };
        let trial_s = shorter(asked.trial_s_for(id), *in_rounds, rounds);
        if trial_s != policy.trial_s_for(id) {
            policy.trial_s_of.insert(id.clone(), trial_s);
        }
    }
    policy
}

/// Rounds that a trial must hold: few trials, such as three, are cut into enough for an interval.
fn rounds_of_a_trial(policy: &Policy, id: &str) -> u32 {
    match policy.is_fixed(id) {
        true => fewest_trials(true).div_ceil(policy.trials_for(id).1.max(1)),
        false => 1,
    }
}
