//! The order in which trials are taken, and when a point has enough of them.
//!
//! Points whose set-up is cheap are measured together: all are warmed up, then
//! each takes one trial in turn, round after round, so that drift of the machine
//! touches every point alike and an interval spans the time of the whole group
//! (duet benchmarking, Bulej et al., ICPE'20; random interleaving, after which
//! the order of every second round is reversed here). Other points are measured
//! one by one, and so are those that are sampled over time (`series`).

use proofmark_model::{Ending, Measurement, Plan, Point, Policy, Trial};

use crate::account::verification;
use crate::clock::Clock;
use crate::protocol::{Request, Taken};
use crate::session::{Launcher, Session, Stop};
use crate::steady::{WINDOW, is_steady};
use crate::workload::Workload;
use proofmark_model::summarise;

/// Most points that are measured together; each is a process with its threads.
const GROUP: usize = 64;

/// Most threads of all points that are measured together.
const GROUP_THREADS: u64 = 256;

/// Trials that every point gets, whatever the budget.
pub const LEAST_TRIALS: usize = 3;

/// Timed seconds after which a point is warm, however few trials they were: a trial of
/// seconds reaches its steady state within itself.
const WARM_S: f64 = 2.0;

/// Timed seconds that a point takes to warm up again after other work ran.
const AGAIN_S: f64 = 0.1;

/// Warm-up trials of so many seconds each that a steady point takes.
pub fn warm_trials(seconds: f64) -> f64 {
    (WARM_S / seconds).ceil().clamp(1.0, WINDOW as f64)
}

/// What a run shows while it goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// Setting up: making arrays, writing files.
    SetUp,
    /// Warming up.
    Warm,
    /// Taking trials.
    Trial,
    /// The point has ended.
    Done,
}

/// Who is told of every step. Called between trials, never during one.
pub trait Observer {
    /// A point has made a step. `measurements` holds all that is known of the
    /// plan's points so far, in order, unjudged; `index` is the one that changed.
    /// Returns what it left of the state in which the points were.
    fn step(
        &mut self,
        phase: Phase,
        measurements: &[Measurement],
        index: usize,
        done: usize,
    ) -> Left;

    /// A sample of a series was taken; `m` holds it too, maybe made one with its neighbours.
    /// `at_s` is when it began, in seconds after the series did. A step follows.
    fn sampled(&mut self, _index: usize, _m: &Measurement, _at_s: f64, _sample: &Trial) {}
}

/// What an observer left of the state that points had warmed up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Nothing that a trial sees was done meanwhile.
    Warm,
    /// Other work ran on the machine: caches, clocks and devices are as that left them.
    Cold,
}

/// What a run needs.
pub struct Schedule<'a> {
    /// The points, all of known workloads, and the policy.
    pub plan: &'a Plan,
    /// Finds a workload.
    pub find: &'a dyn Fn(&str) -> Option<&'static dyn Workload>,
    /// Starts workers.
    pub launcher: &'a dyn Launcher,
    /// Time, for the budget.
    pub clock: &'a dyn Clock,
    /// How the run is stopped.
    pub stop: &'a Stop,
}

struct Slot {
    index: usize,
    /// Until the point has ended.
    session: Option<Box<dyn Session>>,
    /// How often other work had run when it last was warm.
    warm_at: usize,
}

/// What a run has so far.
struct State<'a, 'o> {
    schedule: &'a Schedule<'a>,
    observer: &'o mut dyn Observer,
    measurements: Vec<Measurement>,
    done: usize,
    /// How often other work ran on the machine.
    cooled: usize,
    /// Seconds that series took: no budget of trials is spent by them.
    series_s: f64,
}

impl Schedule<'_> {
    /// Measures every point of the plan. Points that end badly, or that the run
    /// was stopped before, say so in their ending; the others are not touched.
    pub fn run(&self, observer: &mut dyn Observer) -> Vec<Measurement> {
        let known =
            |p: &Point| Some(Measurement::new((self.find)(&p.workload)?.spec(), p.params.clone()));
        let measurements: Vec<_> = self.plan.points.iter().filter_map(known).collect();
        debug_assert_eq!(measurements.len(), self.plan.points.len());
        let mut state =
            State { schedule: self, observer, measurements, done: 0, cooled: 0, series_s: 0.0 };
        let start = self.clock.now();
        let groups = self.groups();
        for (from, to) in groups {
            match self.plan.series_of(from) {
                Some(planned) => state.endure(from, planned),
                None => state.measure(from..to, start + state.series_s),
            }
        }
        state.measurements
    }

    /// When these points, set up by now, have had their share of what is left of the
    /// budget of a run that began at `start`.
    fn deadline(&self, start: f64, points: std::ops::Range<usize>) -> Option<f64> {
        let now = self.clock.now();
        let left = (start + self.plan.policy.budget_s? - now).max(0.0);
        let all = points.start..self.plan.points.len();
        Some(now + left * self.trial_s(points) / self.trial_s(all))
    }

    /// Seconds that one trial of each of these points takes, about.
    fn trial_s(&self, range: std::ops::Range<usize>) -> f64 {
        let of = |i: usize| {
            let p = &self.plan.points[i];
            let workload = (self.find)(&p.workload);
            workload.map_or(0.0, |k| k.trial_seconds(&p.params, &self.plan.policy)).max(1e-3)
        };
        range.filter(|i| self.plan.series_of(*i).is_none()).map(of).sum()
    }

    /// Ranges of points that are measured together.
    fn groups(&self) -> Vec<(usize, usize)> {
        let cheap = |i: usize| {
            let workload = (self.find)(&self.plan.points[i].workload);
            workload.is_some_and(|k| k.spec().interleave) && self.plan.series_of(i).is_none()
        };
        let mut groups: Vec<(usize, usize)> = Vec::new();
        let mut threads = 0;
        for (i, point) in self.plan.points.iter().enumerate() {
            threads += point.params.threads();
            match groups.last_mut() {
                Some((from, to))
                    if i - *from < GROUP
                        && threads <= GROUP_THREADS
                        && cheap(i)
                        && cheap(i - 1) =>
                {
                    *to = i + 1;
                }
                _ => {
                    threads = point.params.threads();
                    groups.push((i, i + 1));
                }
            }
        }
        groups
    }
}

impl State<'_, '_> {
    fn measure(&mut self, range: std::ops::Range<usize>, start: f64) {
        let mut active: Vec<Slot> = Vec::new();
        for index in range.clone() {
            match self.set_up(index) {
                Ok(session) => {
                    active.push(Slot { index, session: Some(session), warm_at: self.cooled })
                }
                Err(ending) => self.end(index, ending),
            }
        }
        let deadline = self.schedule.deadline(start, range);
        while !active.is_empty() {
            active.retain_mut(|slot| match self.turn(slot, deadline) {
                None => true,
                Some(ending) => {
                    // Before anybody is told: what it holds may be wanted.
                    slot.session = None;
                    self.end(slot.index, ending);
                    false
                }
            });
            // The other way round next time, so that no point always follows the same one.
            active.reverse();
        }
    }

    /// A point that is set up and warm.
    fn set_up(&mut self, index: usize) -> Result<Box<dyn Session>, Ending> {
        self.tell(Phase::SetUp, index);
        if let Some(ending) = self.stopped() {
            return Err(ending);
        }
        let mut session = self.schedule.launcher.launch(&self.schedule.plan.points[index])?;
        self.warm(index, session.as_mut())?;
        Ok(session)
    }

    fn stopped(&self) -> Option<Ending> {
        self.schedule.stop.stopped_by().map(|by| Ending::Interrupted { by })
    }

    fn warm(&mut self, index: usize, session: &mut dyn Session) -> Result<(), Ending> {
        let target = self.policy().target_for(self.measurements[index].subsystem);
        let mut warm_s = 0.0;
        while warm_s < WARM_S && !is_steady(&self.measurements[index].warmup, target) {
            let trial = session.take(Request::Warm)?.trial;
            warm_s += trial.seconds;
            self.measurements[index].warmup.push(trial.value);
            self.tell(Phase::Warm, index);
        }
        Ok(())
    }

    /// One trial of one point, and how the point ended if that was the last.
    fn turn(&mut self, slot: &mut Slot, deadline: Option<f64>) -> Option<Ending> {
        if let Some(ending) = self.stopped() {
            return Some(ending);
        }
        let m = &self.measurements[slot.index];
        let late = || deadline.is_some_and(|d| self.schedule.clock.now() >= d);
        if m.trials.len() >= LEAST_TRIALS && (late() || had_its_time(m, self.policy())) {
            return Some(Ending::Budget);
        }
        let cooled = self.cooled;
        let session = slot.session.as_deref_mut()?;
        let warm = warm_again(session, slot.warm_at != cooled);
        slot.warm_at = cooled;
        match warm.and_then(|()| session.take(Request::Trial)) {
            Ok(taken) => self.record(slot.index, taken),
            Err(ending) => return Some(ending),
        }
        let ending = enough(&self.measurements[slot.index], self.policy());
        if ending.is_none() {
            self.tell(Phase::Trial, slot.index);
        }
        ending
    }

    /// Keeps a trial.
    fn record(&mut self, index: usize, taken: Taken) {
        let m = &mut self.measurements[index];
        m.trials.push(taken.trial);
        m.latency = taken.latency;
        self.summarise(index);
    }

    /// Makes the statistics and the account of a measurement's trials.
    fn summarise(&mut self, index: usize) {
        let m = &mut self.measurements[index];
        let kind = (self.schedule.find)(&m.workload).map_or("none", Workload::verification);
        let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
        m.summary = summarise(&values);
        m.verification = verification(kind, &m.trials);
    }

    fn end(&mut self, index: usize, ending: Ending) {
        self.measurements[index].ending = ending;
        self.done += 1;
        self.tell(Phase::Done, index);
    }

    fn tell(&mut self, phase: Phase, index: usize) {
        let left = self.observer.step(phase, &self.measurements, index, self.done);
        self.cooled += usize::from(left == Left::Cold);
    }

    fn policy(&self) -> &Policy {
        &self.schedule.plan.policy
    }
}

/// Warms a point up again if other work ran since it was warm.
fn warm_again(session: &mut dyn Session, is_cold: bool) -> Result<(), Ending> {
    let mut warm_s = 0.0;
    while is_cold && warm_s < AGAIN_S {
        warm_s += session.take(Request::Warm)?.trial.seconds;
    }
    Ok(())
}

/// Takes one trial of a point in a session of its own, warmed up as for a measurement.
///
/// # Errors
/// How the point ended instead.
pub fn once(launcher: &dyn Launcher, point: &Point, target: f64) -> Result<Trial, Ending> {
    let mut session = launcher.launch(point)?;
    let (mut warm, mut warm_s) = (Vec::new(), 0.0);
    while warm_s < WARM_S && !is_steady(&warm, target) {
        let trial = session.take(Request::Warm)?.trial;
        warm_s += trial.seconds;
        warm.push(trial.value);
    }
    Ok(session.take(Request::Trial)?.trial)
}

/// Whether a point's trials took as long as one point may.
fn had_its_time(m: &Measurement, policy: &Policy) -> bool {
    let timed: f64 = m.trials.iter().map(|t| t.seconds).sum();
    policy.point_s_for(&m.workload).is_some_and(|s| timed >= s)
}

/// Whether a point has all the trials it needs, and how that came about.
fn enough(m: &Measurement, policy: &Policy) -> Option<Ending> {
    let taken = m.trials.len();
    let (least, most) = policy.trials_for(&m.workload);
    let fixed = least == most;
    let target = policy.target_for(m.subsystem);
    let width = m.summary.as_ref().and_then(proofmark_model::Summary::half_width);
    if taken >= least as usize && (fixed || width.is_some_and(|w| w <= target)) {
        return Some(Ending::Complete);
    }
    (taken >= most as usize).then_some(Ending::Budget)
}

mod series;
#[cfg(test)]
mod tests;
