//! The time limit of a run. The schedule knows what each configuration still needs for its minimum
//! of trials, at the pace of the run so far. What does not fit into the rest of the time is left
//! out, the least wanted first. A configuration for which there seems to be no time waits until all
//! others have ended, so that time which they did not use helps it.

use std::collections::BTreeMap;
use std::ops::Range;

use proofmark_model::{Ending, Plan, PlannedSeries, Subsystem};

use super::{Means, State, least_trials, turn_s, warm_up_s};
use crate::set_up::{self, Prepared, SetUp};

/// The time limit that ends a run.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    /// Seconds of the budget that were spent before the measurement.
    pub ahead_s: f64,
    /// Rank of each configuration, 0 for the most wanted.
    pub ranks: Vec<usize>,
}

/// Reserve for judging and reports: seconds, and multiples of what one save of the run takes.
const REPORTS_S: f64 = 0.3;
const REPORTS: f64 = 5.0;

/// Minimum duration of a series: seconds, and samples.
const SERIES_S: f64 = 10.0;
const SAMPLES: f64 = 10.0;

/// Tolerance of the decision whether something fits, as a share of the budget, of which it is a part.
pub const TOLERANCE: f64 = 0.01;

/// Multiple of its estimate that one trial counts at most: a pause of seconds is no pace.
const OUTLIER: f64 = 8.0;

/// Seconds that count as estimated exactly, so that the first steps of a run do not decide its pace.
const PRIOR_S: f64 = 1.0;

/// The progress of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Progress {
    Waiting,
    /// It is set up. It took so many trials, and with warm-up so many in so many seconds.
    Begun {
        trials: u32,
        taken: u32,
        seconds: f64,
    },
    Ended,
}

/// Estimates of a configuration.
struct Estimate {
    subsystem: Option<Subsystem>,
    turn_s: f64,
    warm_s: f64,
    least: u32,
    /// Minimum seconds of a series.
    series_s: Option<f64>,
}

/// Measured and estimated seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    measured_s: f64,
    estimated_s: f64,
}

impl Pace {
    fn add(&mut self, measured_s: f64, estimated_s: f64) {
        self.measured_s += measured_s;
        self.estimated_s += estimated_s;
    }

    fn factor(self) -> f64 {
        (self.measured_s + PRIOR_S) / (self.estimated_s + PRIOR_S)
    }
}

/// The paces of one kind of step.
#[derive(Debug, Default)]
struct Paces {
    all: Pace,
    of: BTreeMap<Option<Subsystem>, Pace>,
}

impl Paces {
    fn add(&mut self, subsystem: Option<Subsystem>, measured_s: f64, estimated_s: f64) {
        self.all.add(measured_s, estimated_s);
        self.of.entry(subsystem).or_default().add(measured_s, estimated_s);
    }

    /// The factor of a subsystem. Without a step of it half of what makes all others slow counts.
    fn factor(&self, subsystem: Option<Subsystem>) -> f64 {
        let others = || 0.5 + 0.5 * self.all.factor().max(1.0);
        self.of.get(&subsystem).map_or_else(others, |pace| pace.factor())
    }
}

/// The limit of a run that has one.
pub(super) struct Limit {
    /// The time at which the run ends, reports included.
    end: f64,
    tolerance_s: f64,
    /// The configurations, the most wanted first.
    order: Vec<usize>,
    data: Vec<SetUp>,
    pub(super) prepared: Prepared,
    estimates: Vec<Estimate>,
    pub(super) progress: Vec<Progress>,
    set_ups: Paces,
    turns: Paces,
    /// Longest time that the observers took, which save the run.
    observers_s: f64,
    pub(super) has_result: bool,
    /// The configurations that count: first the planned ones, in the end also the others.
    counted: usize,
    /// True in the end, when nothing is left that could give way to a set-up that takes longer.
    is_last_chance: bool,
}

/// What the configurations need, and which of them fit.
pub(super) struct Needs {
    pub(super) seconds: Vec<f64>,
    fits: Vec<bool>,
}

impl Needs {
    /// Seconds of those that fit.
    fn total_s(&self) -> f64 {
        let fitting = self.seconds.iter().zip(&self.fits);
        fitting.filter(|(_, fits)| **fits).map(|(seconds, _)| seconds).sum()
    }
}

impl Limit {
    /// Creates the limit of a plan; `None` if nothing ends it.
    pub(super) fn new(plan: &Plan, planned: usize, means: &Means) -> Option<Self> {
        let deadline = means.deadline?;
        let budget_s = plan.policy.budget_s?;
        let end = means.clock.now() - deadline.ahead_s + budget_s;
        let count = plan.points.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|place| deadline.ranks.get(*place).copied().unwrap_or(*place));
        let estimates = (0..count).map(|place| Estimate::new(plan, means, place)).collect();
        Some(Self {
            end,
            tolerance_s: TOLERANCE * budget_s,
            order,
            data: set_up::needs(plan, means.find),
            prepared: Prepared::default(),
            estimates,
            progress: vec![Progress::Waiting; count],
            set_ups: Paces::default(),
            turns: Paces::default(),
            observers_s: 0.0,
            has_result: false,
            counted: planned,
            is_last_chance: false,
        })
    }

    /// The time at which the measurement ends, so that reports are written in time.
    fn measured_until(&self) -> f64 {
        self.reported_from() - self.tolerance_s
    }

    /// The time at which the reports begin.
    pub(super) fn reported_from(&self) -> f64 {
        let reports_s = REPORTS_S * self.turns.all.factor().max(1.0) + REPORTS * self.observers_s;
        self.end - reports_s
    }

    /// What each configuration needs now, and which fit into the rest of the time without the seconds
    /// that are reserved for tools.
    pub(super) fn needs(&self, plan: &Plan, now: f64, reserved_s: f64) -> Needs {
        let count = self.progress.len();
        let mut needs = Needs { seconds: vec![0.0; count], fits: vec![false; count] };
        let mut left_s = self.measured_until() - now - reserved_s;
        let mut prepared = self.prepared.clone();
        // What has half of its minimum is completed before anything else begins.
        let (half, others): (Vec<usize>, Vec<usize>) =
            self.order.iter().partition(|place| self.has_half(**place));
        for place in half.into_iter().chain(others) {
            if self.progress[place] == Progress::Ended || place >= self.counted {
                continue;
            }
            let seconds = self.needs_s(plan, place, &prepared);
            needs.seconds[place] = seconds;
            if seconds <= left_s + self.tolerance_s || seconds == 0.0 {
                needs.fits[place] = true;
                left_s -= seconds;
                if self.progress[place] == Progress::Waiting {
                    prepared.add(plan, place, &self.data[place]);
                }
            }
        }
        // A run has a result, however long it takes.
        if !self.has_result && !needs.fits.contains(&true) {
            // What is set up is nearest to one.
            let begun = |p: &&usize| matches!(self.progress[**p], Progress::Begun { .. });
            let is_open = |p: &&usize| self.progress[**p] != Progress::Ended;
            let first = self.order.iter().find(begun).or_else(|| self.order.iter().find(is_open));
            if let Some(first) = first {
                needs.fits[*first] = true;
            }
        }
        needs
    }

    fn has_half(&self, place: usize) -> bool {
        match self.progress[place] {
            Progress::Begun { trials, .. } => 2 * trials >= self.estimates[place].least,
            Progress::Waiting | Progress::Ended => false,
        }
    }

    /// Seconds of the trials so far.
    fn taken_s(&self, place: usize) -> f64 {
        match self.progress[place] {
            Progress::Begun { seconds, .. } => seconds,
            Progress::Waiting | Progress::Ended => 0.0,
        }
    }

    pub(super) fn needs_s(&self, plan: &Plan, place: usize, prepared: &Prepared) -> f64 {
        let Estimate { subsystem, turn_s, warm_s, least, series_s } = self.estimates[place];
        match self.progress[place] {
            Progress::Ended => 0.0,
            Progress::Begun { .. } if series_s.is_some() => 0.0,
            Progress::Begun { trials, taken, seconds } => {
                // Its own pace, and that of its subsystem as if of two more trials.
                let usual_s = turn_s * self.turns.factor(subsystem);
                let each_s = (seconds + 2.0 * usual_s) / f64::from(taken + 2);
                each_s * f64::from(least.saturating_sub(trials))
            }
            Progress::Waiting => {
                let set_up_s = prepared.seconds(plan, place, &self.data[place]);
                let trials_s = warm_s + turn_s * f64::from(least);
                let pace = self.set_ups.factor(subsystem);
                // Quick starts of processes promise nothing for gigabytes of memory.
                let pace = if self.is_last_chance { pace.max(1.0) } else { pace };
                set_up_s * pace + series_s.unwrap_or(trials_s * self.turns.factor(subsystem))
            }
        }
    }
}

impl Estimate {
    fn new(plan: &Plan, means: &Means, place: usize) -> Self {
        let point = &plan.points[place];
        let workload = (means.find)(&point.workload);
        let turn_s = workload.map_or(0.0, |w| turn_s(w, &point.params, &plan.policy));
        let series_s = plan
            .series_of(place)
            .map(|series| SERIES_S.max(SAMPLES * series.every_s).min(series.for_s));
        Self {
            subsystem: workload.map(|w| w.spec().subsystem),
            turn_s,
            warm_s: workload.map_or(0.0, |w| warm_up_s(w, turn_s)),
            least: workload.map_or(0, |w| least_trials(w, &plan.policy)),
            series_s,
        }
    }
}

impl State<'_, '_, '_> {
    pub(super) fn needs(&self) -> Option<Needs> {
        let reserved_s = self.pairs.reserved_s();
        Some(self.limit.as_ref()?.needs(self.plan, self.means.clock.now(), reserved_s))
    }

    /// Fails if the time limit leaves no time for the rest of a configuration's minimum.
    pub(super) fn has_time_for(&self, place: usize) -> Result<(), Ending> {
        match self.needs() {
            // The trials so far are lost: they would be taken again.
            Some(needs) if !needs.fits[place] => {
                let taken_s = self.limit.as_ref().map_or(0.0, |limit| limit.taken_s(place));
                Err(Ending::LeftOut { needs_s: needs.seconds[place] + taken_s })
            }
            _ => Ok(()),
        }
    }

    /// True if the time limit leaves time for another trial of a configuration that has its minimum.
    pub(super) fn has_spare_trial(&self, place: usize) -> bool {
        let Some(limit) = &self.limit else { return true };
        let seconds = match limit.progress[place] {
            Progress::Begun { taken, seconds, .. } if taken > 0 => seconds / f64::from(taken),
            _ => limit.estimates[place].turn_s,
        };
        self.has_spare_s(seconds + self.pairs.reserved_s())
    }

    /// True if there is time for another pair with a tool. What a named tool keeps of the budget is its.
    pub(super) fn has_time_for_pair(&self, place: usize, which: usize) -> bool {
        let seconds = self.pairs.run_s(place, which);
        let keeps = || {
            let until = self.limit.as_ref().map_or(f64::INFINITY, Limit::measured_until);
            seconds <= self.pairs.reserved_s() && self.means.clock.now() + seconds <= until
        };
        self.pairs.has_time(place, which) && (self.has_spare_s(seconds) || keeps())
    }

    /// True if the time limit leaves time for `seconds` of something that is not needed.
    fn has_spare_s(&self, seconds: f64) -> bool {
        let Some((limit, needs)) = self.limit.as_ref().zip(self.needs()) else { return true };
        self.means.clock.now() + seconds + needs.total_s() <= limit.measured_until()
    }

    /// The end of a series that begins now, in seconds: at least the minimum for which it had time.
    /// Its last sample may end half a tick later.
    pub(super) fn series_s(&self, place: usize, planned: &PlannedSeries) -> f64 {
        let Some((limit, needs)) = self.limit.as_ref().zip(self.needs()) else {
            return planned.for_s;
        };
        let others_s = needs.total_s() + self.pairs.reserved_s();
        let left_s = limit.measured_until() - others_s - self.means.clock.now();
        let least_s = limit.estimates[place].series_s.unwrap_or(0.0);
        planned.for_s.min((left_s - 0.5 * planned.every_s).max(least_s))
    }

    /// True if a configuration has not begun, for lack of time.
    pub(super) fn waits(&self, place: usize) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.progress[place] == Progress::Waiting)
    }

    /// Lets all configurations that wait begin if there is time. Data that earlier ones set up is gone.
    pub(super) fn begin_last_chance(&mut self) {
        self.is_last_chance = true;
        if let Some(limit) = &mut self.limit {
            limit.prepared = Prepared::default();
            limit.counted = limit.progress.len();
            limit.is_last_chance = true;
        }
    }

    /// The end of the measurement, and the planned seconds of these configurations' tools and of later
    /// series and tools.
    pub(super) fn measured_until(&self, places: &Range<usize>) -> Option<(f64, f64)> {
        let limit = self.limit.as_ref()?;
        let end = limit.measured_until();
        let series = self.plan.series.iter().filter(|s| s.point >= places.end).map(|s| s.for_s);
        Some((end, series.sum::<f64>() + self.pairs.planned_s(places.start)))
    }

    /// Notes that a configuration was set up, which took so many seconds.
    pub(super) fn note_set_up(&mut self, place: usize, seconds: f64) {
        let Some(limit) = &mut self.limit else { return };
        let estimated_s = limit.prepared.add_next(self.plan, place, &limit.data[place]);
        limit.set_ups.add(limit.estimates[place].subsystem, seconds, estimated_s);
        limit.progress[place] = Progress::Begun { trials: 0, taken: 0, seconds: 0.0 };
    }

    /// Notes a warm-up trial of a configuration, which took so many seconds.
    pub(super) fn note_warm_up(&mut self, place: usize, took_s: f64) {
        let Some(limit) = &mut self.limit else { return };
        let Estimate { subsystem, turn_s, .. } = limit.estimates[place];
        let took_s = took_s.min(OUTLIER * turn_s);
        limit.turns.add(subsystem, took_s, turn_s);
        if let Progress::Begun { taken, seconds, .. } = &mut limit.progress[place] {
            *taken += 1;
            *seconds += took_s;
        }
    }

    /// Notes a trial of a configuration, which took so many seconds.
    pub(super) fn note_trial(&mut self, place: usize, took_s: f64) {
        self.note_warm_up(place, took_s);
        let progress = self.limit.as_mut().map(|limit| &mut limit.progress[place]);
        if let Some(Progress::Begun { trials, .. }) = progress {
            *trials += 1;
        }
    }

    /// Notes that a configuration begins anew later, if there is time.
    pub(super) fn note_wait(&mut self, place: usize) {
        if let Some(limit) = &mut self.limit {
            limit.progress[place] = Progress::Waiting;
        }
    }

    /// Notes the end of a configuration.
    pub(super) fn note_end(&mut self, place: usize, has_result: bool) {
        let Some(limit) = &mut self.limit else { return };
        limit.progress[place] = Progress::Ended;
        limit.has_result |= has_result;
    }

    /// Notes how long the observers took for a step.
    pub(super) fn note_observers(&mut self, seconds: f64) {
        if let Some(limit) = &mut self.limit {
            limit.observers_s = limit.observers_s.max(seconds);
        }
    }
}
