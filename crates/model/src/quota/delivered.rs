//! Observations of CPU quotas in a trial, and the delivered figure of a limited load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CpuQuota, Round, Trial, Unit, counted, format_percent};

/// A trial's observations of the CPU quotas of its cgroups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct QuotaTrial {
    /// The tightest quota at the start of the timed part.
    pub before: CpuQuota,
    /// The tightest quota at its end.
    pub after: CpuQuota,
    /// Refills seen under load before the timed part.
    pub refills_ahead: u64,
    /// Periods before the timed part in which the threads were throttled: after one, saved bursts
    /// are spent.
    pub throttled_ahead: u64,
    /// Periods that ended in the timed part (nr_periods).
    pub periods: u64,
    /// Periods of the timed part in which the threads were throttled (nr_throttled).
    pub throttled_periods: u64,
    /// CPUs that the threads could use at a time: the lesser of threads and usable CPUs.
    pub cpus: f64,
    /// Seconds of the timed part, our own readings of the clock included; 0 where it was not cut.
    pub timed_s: f64,
    /// Seconds of whole periods from the start of the timed part, over which `own_cpu_s` was
    /// counted; 0 where fewer than one fits.
    pub window_s: f64,
    /// CPU time in that window of the threads that share the work, by their own clocks, in
    /// CPU-seconds; null where a clock could not be read.
    pub own_cpu_s: Option<f64>,
    /// CPUs that these threads could use at a time, without those that only load the machine; null
    /// in files of older versions.
    pub own_cpus: Option<f64>,
}

impl QuotaTrial {
    /// Adds a later part of a trial that was not cut.
    #[must_use]
    pub fn plus(self, later: Self) -> Self {
        Self {
            after: later.after,
            periods: self.periods.saturating_add(later.periods),
            throttled_periods: self.throttled_periods.saturating_add(later.throttled_periods),
            timed_s: 0.0,
            window_s: 0.0,
            own_cpu_s: None,
            ..self
        }
    }

    /// Returns the CPU-seconds that the threads that share the work could use in the window.
    fn could_use_s(&self) -> f64 {
        self.window_s * self.own_cpus()
    }

    fn own_cpus(&self) -> f64 {
        self.own_cpus.unwrap_or(self.cpus)
    }

    /// Returns true if a quota limited the threads.
    pub fn is_limited(&self) -> bool {
        self.throttled_ahead + self.throttled_periods > 0 || self.before.limits(self.cpus)
    }

    /// Returns true if the quota changed while the trial ran.
    pub fn has_changed(&self) -> bool {
        self.before != self.after
    }

    /// Returns true if the threads had been throttled by their second refill. A count over whole
    /// periods from there on is the quota's share.
    pub fn is_steady(&self) -> bool {
        self.refills_ahead >= CpuQuota::REFILLS && self.throttled_ahead > 0 && !self.has_changed()
    }

    /// Returns the whole periods of the window; 0 where there is none.
    pub fn whole_periods(&self) -> f64 {
        (self.window_s / self.before.period()).round()
    }

    /// Returns true if the timed part is at least five whole periods of a load in its steady state.
    /// Then its own rate is the delivered one.
    pub fn is_whole(&self) -> bool {
        let period = self.before.period();
        let rest_s = (self.timed_s - self.window_s).abs();
        self.is_steady() && self.whole_periods() >= CpuQuota::PERIODS && rest_s < 0.02 * period
    }

    /// Returns the share of its CPUs that a load in its steady state used, over at least two whole
    /// periods. `None` where that was not seen.
    pub fn share(&self) -> Option<f64> {
        let share = self.own_cpu_s? / self.could_use_s();
        let is_seen = self.is_steady() && self.whole_periods() >= CpuQuota::MIN_PERIODS;
        (is_seen && share.is_finite() && share >= 0.0).then_some(share.min(1.0))
    }
}

/// The delivered rounds of a load that a CPU quota limited in at least one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaDelivered {
    /// Figure in the measurement's unit and seconds of each round that shows it.
    pub rounds: Vec<(f64, f64)>,
    /// Reason why not all rounds count as measured; `None` if all do. Derived figures are no
    /// independent count of work.
    pub derived: Option<String>,
}

impl QuotaDelivered {
    /// Returns all work over all time.
    pub fn value(&self, unit: Unit) -> Option<f64> {
        let work: f64 = self.rounds.iter().map(|(value, s)| unit.rate(*value) * s).sum();
        let seconds: f64 = self.rounds.iter().map(|(_, s)| s).sum();
        (seconds > 0.0).then(|| unit.value(work, seconds))
    }
}

/// Returns the delivered rounds of these trials if a CPU quota limited one of them; `None` if none
/// was limited, or no round shows it.
///
/// A round of five whole periods or more, after the second refill, counts as measured. So does one
/// that no quota limited, or in which the quota changed. Another round of at least two periods
/// counts as its rate while it ran (typical, else attainable) x its threads' share of the CPUs. A
/// shorter one shows nothing and is left out.
pub fn delivered_under_quota(unit: Unit, trials: &[Trial]) -> Option<QuotaDelivered> {
    let limited = |t: &Trial| t.quota.filter(QuotaTrial::is_limited);
    trials.iter().find(|t| !t.rounds.is_empty() && limited(t).is_some())?;
    let (mut rounds, mut derived, mut left_out) = (Vec::new(), Vec::new(), 0);
    for trial in trials {
        let measured = |r: &Round| (r.delivered, r.seconds);
        match limited(trial).filter(|q| !q.is_whole() && !q.has_changed()) {
            None => rounds.extend(trial.rounds.iter().map(measured)),
            Some(quota) => match quota.share().filter(|_| is_of_load(&quota, trial)) {
                Some(share) => {
                    let each = trial.rounds.iter().filter_map(|r| shared(unit, r, share));
                    rounds.extend(each);
                    derived.push(quota);
                }
                None => left_out += trial.rounds.len(),
            },
        }
    }
    let derived = why_derived(&derived, left_out);
    (!rounds.is_empty()).then_some(QuotaDelivered { rounds, derived })
}

/// Returns true if the share of CPU time is known to be that of the threads that do the work: not
/// in a file of an older version, if others loaded the machine beside them.
fn is_of_load(quota: &QuotaTrial, trial: &Trial) -> bool {
    quota.own_cpus.is_some() || trial.loading.is_none()
}

/// Returns the delivered figure of a round with that share of its CPUs, and its seconds.
fn shared(unit: Unit, round: &Round, share: f64) -> Option<(f64, f64)> {
    let running = unit.rate(round.typical.or(round.attainable)?);
    Some((unit.value(running * share * round.seconds, round.seconds), round.seconds))
}

fn why_derived(derived: &[QuotaTrial], left_out: usize) -> Option<String> {
    let rounds = |n: usize| counted(n as f64, "round");
    let too_short = |n| format!("{} left out, without the quota's share", rounds(n));
    let Some(first) = derived.first() else { return (left_out > 0).then(|| too_short(left_out)) };
    let [own_s, had_s] = derived
        .iter()
        .fold([0.0; 2], |[own, had], q| [own + q.own_cpu_s.unwrap_or(0.0), had + q.could_use_s()]);
    let words = format!(
        "the rate while it ran x {} of the CPU time of {} ({:.3} CPU-seconds in {} of {} or more): \
         the time did not allow rounds of {} whole periods",
        format_percent(own_s / had_s),
        counted(first.own_cpus(), "CPU"),
        own_s,
        rounds(derived.len()),
        counted(CpuQuota::MIN_PERIODS, "period"),
        CpuQuota::PERIODS,
    );
    Some(if left_out > 0 { format!("{words}; {}", too_short(left_out)) } else { words })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: CpuQuota = CpuQuota { cpus: Some(0.5), period_s: Some(0.1), burst_s: None };

    /// A round of so many periods of two threads under half a CPU. It runs at 40 while it runs and
    /// read `delivered` itself.
    fn limited(periods: f64, delivered: f64) -> Trial {
        let seconds = periods * 0.1;
        let quota = QuotaTrial {
            before: QUOTA,
            after: QUOTA,
            refills_ahead: 2,
            throttled_ahead: 1,
            periods: periods as u64,
            throttled_periods: periods as u64,
            cpus: 2.0,
            timed_s: seconds,
            window_s: periods.floor() * 0.1,
            own_cpu_s: Some(0.5 * periods.floor() * 0.1),
            own_cpus: Some(2.0),
        };
        let typical = Some(40.0);
        let round = Round { seconds, delivered, typical, ..Round::default() };
        Trial { quota: Some(quota), rounds: vec![round], ..Trial::default() }
    }

    fn with(trial: Trial, change: fn(&mut QuotaTrial)) -> Trial {
        let mut trial = trial;
        trial.quota.iter_mut().for_each(change);
        trial
    }

    /// Returns the value of rounds of a rate, and true if it is derived.
    fn found(trials: &[Trial]) -> Option<(f64, bool)> {
        let found = delivered_under_quota(Unit::OpPerSecond, trials)?;
        Some((found.value(Unit::OpPerSecond)?, found.derived.is_some()))
    }

    #[test]
    fn five_whole_periods_count_as_measured_and_fewer_by_their_share() {
        assert_eq!(found(&[limited(5.0, 10.1), limited(5.0, 9.9)]), Some((10.0, false)));
        // The reading of an aliased round does not count: only its rate and its threads' clocks do.
        for periods in [2.0, 3.0, 4.0] {
            assert_eq!(found(&[limited(periods, 1.6)]), Some((10.0, true)), "{periods}");
        }
        // A fixed amount of work ends anywhere: its whole periods show the share.
        assert_eq!(found(&[limited(7.4, 12.0)]), Some((10.0, true)));
        let both = found(&[limited(5.0, 10.0), limited(2.0, 1.6)]);
        assert_eq!(both, Some((10.0, true)));
    }

    #[test]
    fn what_a_quotas_number_alone_would_say_is_not_said() {
        // Neighbours in the same cgroup left it a fifth of a CPU.
        let crowded = with(limited(2.0, 3.0), |q| q.own_cpu_s = Some(0.04));
        assert_eq!(found(&[crowded]).map(|f| f.0.round()), Some(8.0 / 2.0));
        // The share was not seen.
        for unseen in [
            with(limited(2.0, 3.0), |q| q.own_cpu_s = None),
            with(limited(2.0, 3.0), |q| q.refills_ahead = 1),
            with(limited(2.0, 3.0), |q| q.throttled_ahead = 0),
            with(limited(2.0, 3.0), |q| q.window_s = 0.1),
            limited(0.4, 19.0),
        ] {
            assert_eq!(found(std::slice::from_ref(&unseen)), None, "{unseen:?}");
            let some = delivered_under_quota(Unit::OpPerSecond, &[limited(5.0, 10.0), unseen]);
            let some = some.unwrap();
            assert_eq!(some.rounds.len(), 1);
            let words = some.derived.unwrap();
            assert!(words.contains("1 round left out, without the quota's share"), "{words}");
        }
    }

    /// Recorded: half a load of memory beside one thread's latency, under 1.2 CPUs.
    #[test]
    fn a_thread_beside_the_load_has_its_share_of_its_own_cpu() {
        let beside =
            with(limited(2.0, 24.0), |q| (q.own_cpus, q.own_cpu_s) = (Some(1.0), Some(0.12)));
        let delivered = delivered_under_quota(Unit::OpPerSecond, std::slice::from_ref(&beside));
        let delivered = delivered.unwrap();
        let value = delivered.value(Unit::OpPerSecond).unwrap();
        assert!((value / (0.6 * 40.0) - 1.0).abs() < 1e-9, "{value}");
        let words = delivered.derived.unwrap();
        assert!(words.contains("x 60.0 % of the CPU time of 1 CPU (0.120 CPU-seconds"), "{words}");
        assert!(beside.quota.unwrap().is_limited(), "by what both threads use");
        // An older file of it does not show whose time was counted; that of another load does.
        let older = |m: &Trial| with(m.clone(), |q| q.own_cpus = None);
        let loading = Some(crate::LoadingThreads::default());
        assert_eq!(found(&[Trial { loading, ..older(&beside) }]), None);
        assert_eq!(found(&[older(&limited(2.0, 1.6))]), Some((10.0, true)));
    }

    #[test]
    fn without_a_limit_nothing_changes_and_a_quota_that_came_or_went_counts_as_measured() {
        let free =
            with(limited(0.5, 40.0), |q| *q = QuotaTrial { cpus: 2.0, ..Default::default() });
        assert_eq!(found(&[free.clone(), free.clone()]), None);
        let set = with(limited(5.0, 25.0), |q| q.before = CpuQuota::default());
        assert!(set.quota.unwrap().has_changed());
        let (value, derived) = found(&[free, set, limited(5.0, 10.0)]).unwrap();
        let all = (0.05 * 40.0 + 0.5 * 25.0 + 0.5 * 10.0) / 1.05;
        assert!((value / all - 1.0).abs() < 1e-9 && !derived, "{value} {all}");
    }

    #[test]
    fn a_time_grows_as_its_share_falls() {
        let mut trial = limited(2.0, 1.0);
        trial.rounds[0].typical = Some(1e-7);
        let found = delivered_under_quota(Unit::Second, &[trial]).unwrap();
        let value = found.value(Unit::Second).unwrap();
        assert!((value / 4e-7 - 1.0).abs() < 1e-9, "{value}");
        let words = found.derived.unwrap();
        let expected =
            "x 25.0 % of the CPU time of 2 CPUs (0.100 CPU-seconds in 1 round of 2 periods";
        assert!(words.contains(expected), "{words}");
    }
}
