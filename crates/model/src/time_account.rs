//! The account of threads' time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format_percent;

/// The account of a trial's threads' time: seconds of each, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeAccount {
    /// All time: wall time x threads, the untimed slices ahead included.
    pub wall_s: f64,
    /// Time at work.
    pub working_s: f64,
    /// Time runnable while others used the CPU. Where `throttled_s` is null, it may include a CPU
    /// quota's pauses.
    pub waiting_s: f64,
    /// Time throttled by the cgroup's quota; null where the system does not report it.
    pub throttled_s: Option<f64>,
    /// Time stopped by a signal.
    pub stopped_s: f64,
    /// Steal time, as the hypervisor reports it, in ticks of 10 ms per CPU: a part of the next two.
    /// Null where /proc/stat does not show it.
    pub stolen_s: Option<f64>,
    /// Time on a CPU by the system's account, but not at work.
    pub interrupted_s: f64,
    /// Time neither runnable nor on a CPU, and not stopped.
    pub unaccounted_s: f64,
    /// Gaps that the slices show, which the windows leave out; null where an older version counted
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_s: Option<f64>,
    /// Part of `wall_s` outside the slices, while the counters were read: time taken there is no
    /// gap of theirs.
    #[serde(default)]
    pub edges_s: f64,
}

/// Error of the account as a share of the wall time, apart from time taken while counters are read.
pub const TIME_ACCOUNT_ERROR: f64 = 3e-3;

/// Minimum time of threads, in seconds, for a comparison of the taken with the removed time.
const MIN_ACCOUNT_S: f64 = 1.0;

impl std::ops::Add for TimeAccount {
    type Output = Self;

    /// Adds two accounts; a sum is unknown where one of its parts is.
    fn add(self, o: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        Self {
            wall_s: self.wall_s + o.wall_s,
            working_s: self.working_s + o.working_s,
            waiting_s: self.waiting_s + o.waiting_s,
            throttled_s: both(self.throttled_s, o.throttled_s),
            stopped_s: self.stopped_s + o.stopped_s,
            stolen_s: both(self.stolen_s, o.stolen_s),
            interrupted_s: self.interrupted_s + o.interrupted_s,
            unaccounted_s: self.unaccounted_s + o.unaccounted_s,
            removed_s: both(self.removed_s, o.removed_s),
            edges_s: self.edges_s + o.edges_s,
        }
    }
}

/// A cause that takes time from threads.
#[derive(Debug, Clone, Copy)]
pub struct TimeCause {
    /// Name in a chart.
    pub name: &'static str,
    /// Words in a sentence, after the share that it took.
    pub words: &'static str,
    /// The counter, and its resolution in a round.
    pub counted: &'static str,
    /// Seconds in an account after [`TimeAccount::divided`]; `None` where the counter could not be
    /// read.
    pub seconds: fn(&TimeAccount) -> Option<f64>,
}

impl TimeCause {
    /// The name of time that a quota took.
    pub const THROTTLED: &'static str = "throttled";
    /// The names of time that other programs took.
    pub const BY_OTHER_PROGRAMS: [&'static str; 2] = ["other processes", "waiting for a CPU"];

    const ALL: [Self; 6] = [
        Self {
            name: "other processes",
            words: "used by other processes",
            counted: "schedstat (run delay), to 1 us",
            seconds: |t| Some(t.waiting_s),
        },
        Self {
            name: Self::THROTTLED,
            words: "throttled by a CPU quota",
            counted: "cpu.stat of the cgroups, to 1 us",
            seconds: |t| t.throttled_s,
        },
        Self {
            name: "stopped",
            words: "stopped by a signal",
            counted: "CPU clocks of the threads, to 0.1 %",
            seconds: |t| Some(t.stopped_s),
        },
        Self {
            name: "steal",
            words: "steal",
            counted: "/proc/stat, to a tick of 10 ms a CPU",
            seconds: |t| t.stolen_s,
        },
        Self {
            name: "interrupts",
            words: "interrupts or unreported steal",
            counted: "slices longer than those around them",
            seconds: |t| Some(t.interrupted_s),
        },
        Self {
            name: "unexplained",
            words: "unexplained",
            counted: "what is left, to 0.1 %",
            seconds: |t| Some(t.unaccounted_s),
        },
    ];
}

/// Replaces the first cause where a CPU quota's pauses are not counted.
const WAITING: TimeCause = TimeCause {
    name: "waiting for a CPU",
    words: "spent waiting for a CPU (other processes or a CPU quota)",
    ..TimeCause::ALL[0]
};

impl TimeAccount {
    /// Returns the causes, named by the counters that could be read.
    pub fn causes(&self) -> [TimeCause; 6] {
        let mut all = TimeCause::ALL;
        if self.throttled_s.is_none() {
            all[0] = WAITING;
        }
        all
    }

    /// Subtracts steal time from the time that includes it. For few rounds ticks are too coarse for
    /// that: divide sums, do not sum divided accounts.
    #[must_use]
    pub fn divided(self) -> Self {
        let lost_s = self.unaccounted_s + self.interrupted_s;
        let stolen_s = self.stolen_s.map(|s| s.min(lost_s));
        let taken_s = stolen_s.unwrap_or(0.0);
        let unaccounted_s = (self.unaccounted_s - taken_s).max(0.0);
        Self { stolen_s, unaccounted_s, interrupted_s: lost_s - taken_s - unaccounted_s, ..self }
    }

    /// Returns the share of the time that threads were off their CPUs within windows: typical and
    /// attainable include it. It is 0 within the error of the account. `None` where it is unknown,
    /// or for less than a second.
    pub fn taken_in_figure(&self) -> Option<f64> {
        if self.wall_s < MIN_ACCOUNT_S {
            return None;
        }
        let off_cpu_s =
            self.waiting_s + self.throttled_s.unwrap_or(0.0) + self.stopped_s + self.unaccounted_s;
        // The edges lost the mean share of time, with an error of as much again.
        let at_edges_s = off_cpu_s * (self.edges_s / self.wall_s).clamp(0.0, 1.0);
        let share = (off_cpu_s - at_edges_s - self.removed_s?) / self.wall_s;
        let error = TIME_ACCOUNT_ERROR + at_edges_s / self.wall_s;
        share.is_finite().then_some(if share > error { share } else { 0.0 })
    }

    /// Returns the share of all time at work.
    pub fn at_work(&self) -> f64 {
        self.working_s / self.wall_s
    }

    /// Returns the share of all time that each cause took, most first, without those below `least`.
    pub fn taken(&self, least: f64) -> Vec<(f64, TimeCause)> {
        let divided = self.divided();
        let share = |cause: TimeCause| Some(((cause.seconds)(&divided)? / self.wall_s, cause));
        let all = self.causes().into_iter().filter_map(share);
        let mut all: Vec<_> = all.filter(|(share, _)| *share >= least).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all
    }

    /// Describes the account: `90.0 % at work, 8.0 % used by other processes`; `None` where a share
    /// is no number.
    pub fn words(&self, least: f64) -> Option<String> {
        let taken = self.taken(least).into_iter().map(|(share, cause)| (share, cause.words));
        let all = [(self.at_work(), "at work")].into_iter().chain(taken);
        let part = |(share, words): (f64, &str)| {
            share.is_finite().then(|| format!("{} {words}", format_percent(share)))
        };
        Some(all.map(part).collect::<Option<Vec<_>>>()?.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_taken_out_of_what_holds_it() {
        let account = |stolen_s, interrupted_s, unaccounted_s| {
            let all = TimeAccount {
                wall_s: 1.0,
                stolen_s: Some(stolen_s),
                interrupted_s,
                unaccounted_s,
                ..Default::default()
            };
            let d = all.divided();
            let parts = [d.stolen_s.unwrap(), d.interrupted_s, d.unaccounted_s];
            parts.map(|s| (100.0 * s).round() as i32)
        };
        assert_eq!(account(0.0, 0.1, 0.05), [0, 10, 5]);
        assert_eq!(account(0.03, 0.1, 0.05), [3, 10, 2]);
        assert_eq!(account(0.08, 0.1, 0.05), [8, 7, 0]);
        assert_eq!(account(0.5, 0.1, 0.05), [15, 0, 0], "ticks of more than was lost");
    }

    #[test]
    fn words_name_who_took_most_first() {
        let all = TimeAccount {
            wall_s: 10.0,
            working_s: 9.0,
            throttled_s: Some(0.2),
            waiting_s: 0.8,
            ..Default::default()
        };
        let expected =
            "90.0 % at work, 8.0 % used by other processes, 2.0 % throttled by a CPU quota";
        assert_eq!(all.words(1e-3).unwrap(), expected);
        assert_eq!(all.words(0.05).unwrap(), "90.0 % at work, 8.0 % used by other processes");
    }

    #[test]
    fn what_could_not_be_read_is_not_nothing() {
        let known = TimeAccount { wall_s: 1.0, stolen_s: Some(0.1), ..Default::default() };
        let unknown = TimeAccount { stolen_s: None, interrupted_s: 0.3, ..known };
        assert_eq!((known + known).stolen_s, Some(0.2));
        assert_eq!((known + unknown).stolen_s, None);
        assert_eq!(unknown.divided(), unknown);
        assert!(unknown.taken(0.0).iter().all(|(_, cause)| cause.name != "steal"));
        let waiting =
            TimeAccount { wall_s: 1.0, working_s: 0.5, waiting_s: 0.5, ..Default::default() };
        let expected =
            "50.0 % at work, 50.0 % spent waiting for a CPU (other processes or a CPU quota)";
        assert_eq!(waiting.words(0.01).unwrap(), expected);
        let beyond = TimeAccount { wall_s: 1e-200, waiting_s: 1e200, ..waiting };
        assert_eq!(beyond.words(0.01), None);
    }

    #[test]
    fn what_was_taken_and_not_removed_is_in_the_figure() {
        let account = |waiting_s, removed_s| {
            let all = TimeAccount { wall_s: 2.0, waiting_s, removed_s, ..Default::default() };
            all.taken_in_figure()
        };
        // Another process takes 10 us 7600 times a second: no slice of a memory load shows it.
        let found = account(0.152, Some(0.001)).unwrap();
        assert!((found - 0.0755).abs() < 1e-9, "{found}");
        assert_eq!(account(0.152, Some(0.151)), Some(0.0), "within the error");
        assert_eq!(account(0.152, Some(0.3)), Some(0.0), "interrupts were removed, too");
        assert_eq!(account(0.152, None), None);
        // Others take most of the time, and a fiftieth of it passes while counters are read.
        let busy = TimeAccount {
            wall_s: 2.0,
            waiting_s: 1.4,
            removed_s: Some(1.37),
            edges_s: 0.04,
            ..Default::default()
        };
        assert_eq!(busy.taken_in_figure(), Some(0.0));
        let short = TimeAccount { wall_s: 0.9, removed_s: Some(0.0), ..Default::default() };
        assert_eq!(short.taken_in_figure(), None);
    }
}
