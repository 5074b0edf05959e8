//! The order of trials, and when a configuration has enough of them.
//!
//! Configurations that are cut into rounds, and those whose set-up is cheap, are measured in groups.
//! Each takes one trial in turn, every second time backwards: drift affects all alike, and an interval
//! spans the time of the group (duet benchmarking, Bulej et al., ICPE'20). Others are measured one by
//! one, as are series (`series`). The time of a profile is for trials; pairs with tools (`pairs`) and
//! series do not count. A time limit (`limit`) is for all of them, and ends the run.

mod deadline;
mod groups;
mod limit;
mod pairs;
mod series;
#[cfg(test)]
mod tests;
mod turns;
mod warm_up;

use std::collections::BTreeMap;
use std::ops::Range;

use proofmark_engine::{Clock, Launcher, Request, Session, Stop, Taken, Workload};
use proofmark_model::{Cut, Ending, LOOKS, Plan, Point, Policy, RawMeasurement, Summary};
use proofmark_reference::Tool;

use crate::event::{Event, Observer, Step};
use crate::pairs::Pairs;
use crate::record::RunFile;
use crate::set_up;
use crate::tool::ToolRunner;
pub use groups::Grouping;
use limit::Limit;
pub use limit::{Deadline, TOLERANCE};
pub use turns::{fewest_trials, least_trials, turn_s};
pub use warm_up::{warm_trials, warm_up_s};

/// The means of a run: all that a test replaces.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Finds a workload.
    pub find: &'a dyn Fn(&str) -> Option<&'static dyn Workload>,
    /// Bytes of memory that the run may use.
    pub memory_bytes: u64,
    /// Starts workers.
    pub launcher: &'a dyn Launcher,
    /// Finds a reference tool.
    pub find_tool: &'a dyn Fn(&str) -> Option<&'static dyn Tool>,
    /// Runs reference tools.
    pub tools: &'a dyn ToolRunner,
    /// Reads the time.
    pub clock: &'a dyn Clock,
    /// Stops the run.
    pub stop: &'a Stop,
    /// Saves the run meanwhile.
    pub file: &'a dyn RunFile,
    /// Prints a line for the user.
    pub print_line: &'a dyn Fn(&str),
    /// The time limit that ends the run; `None`: each configuration gets its minimum of trials.
    pub deadline: Option<&'a Deadline>,
}

struct Active {
    place: usize,
    /// `None` once the configuration has ended.
    session: Option<Box<dyn Session>>,
}

struct State<'a, 'o, 'p> {
    plan: &'a Plan,
    means: Means<'a>,
    pairs: Pairs<'a>,
    observers: &'o mut [&'p mut dyn Observer],
    measurements: Vec<RawMeasurement>,
    done: usize,
    start: f64,
    /// Estimated seconds to set up each configuration.
    set_up_s: Vec<f64>,
    /// Seconds of series and pairs, which do not count towards the time of a profile.
    away_s: f64,
    limit: Option<Limit>,
    /// Number of configurations that are planned; the others are measured in the end, if there is time.
    planned: usize,
    /// True once configurations without time for their minimum wait no longer.
    is_last_chance: bool,
}

/// What was measured of a plan.
pub struct Measured {
    /// The result of each configuration.
    pub results: Vec<RawMeasurement>,
    /// The tools for which no time was left, each with its number of configurations.
    pub tools_left_out: BTreeMap<String, u64>,
}

/// Measures every configuration of the plan and its pairs with tools. Each result holds its ending, also
/// where it failed or the run was stopped before it. In the time that remains it measures what the plan
/// left out: those results follow, without an ending where there was no time.
pub fn run(
    plan: &Plan,
    means: &Means,
    pairs: Pairs,
    observers: &mut [&mut dyn Observer],
) -> Measured {
    let planned = plan.points.len();
    let plan = &with_left_out(plan, means);
    let known = |p: &Point| {
        let workload = (means.find)(&p.workload)?;
        let counted_by = Some(workload.verification().to_owned());
        Some(RawMeasurement {
            counted_by,
            ..RawMeasurement::new(workload.spec(), p.params.clone())
        })
    };
    let mut measurements: Vec<_> = plan.points.iter().filter_map(known).collect();
    debug_assert_eq!(measurements.len(), plan.points.len());
    measurements.iter_mut().enumerate().for_each(|(place, m)| pairs.describe(place, m));
    let start = means.clock.now();
    let (done, away_s) = (0, 0.0);
    let means = *means;
    let set_up_s = set_up::seconds(plan, &means.find);
    let limit = Limit::new(plan, planned, &means);
    let mut state = State {
        plan,
        means,
        pairs,
        observers,
        measurements,
        done,
        start,
        set_up_s,
        away_s,
        limit,
        planned,
        is_last_chance: false,
    };
    for group in state.groups(planned) {
        state.visit(group);
    }
    state.take_waiting_pairs();
    // Who names tools wants them more than configurations that the plan left out.
    if state.pairs.are_named() {
        state.take_further_pairs();
    }
    state.begin_last_chance();
    for group in state.groups(plan.points.len()) {
        state.visit(group);
    }
    state.take_further_pairs();
    means.stop.set_time_left(None);
    let tools_left_out = state.pairs.left_out_to_the_end();
    Measured { results: state.measurements, tools_left_out }
}

/// The plan with what it leaves out at the end, if a time limit ends the run.
fn with_left_out(plan: &Plan, means: &Means) -> Plan {
    let mut plan = plan.clone();
    let left_out = std::mem::take(&mut plan.left_out);
    if means.deadline.is_some() {
        plan.points.extend(left_out);
    }
    plan
}

impl State<'_, '_, '_> {
    /// Estimated maximum seconds of these configurations, without set-up.
    fn most_s(&self, places: Range<usize>) -> f64 {
        let seconds = |place: usize| {
            let Point { workload: id, params } = &self.plan.points[place];
            let Some(workload) = self.workload(place) else { return 0.0 };
            let (turn_s, most) =
                (turn_s(workload, params, self.policy()), self.policy().trials_for(id).1);
            let longest_s = self.policy().point_s_for(id).unwrap_or(f64::INFINITY);
            warm_up_s(workload, turn_s) + (turn_s * f64::from(most)).min(longest_s)
        };
        places.filter(|place| self.plan.series_of(*place).is_none()).map(seconds).sum()
    }

    /// The ranges of the first `count` configurations that are measured together.
    fn groups(&self, count: usize) -> Vec<Range<usize>> {
        self.grouping().groups(count)
    }

    fn grouping(&self) -> Grouping<'_> {
        let Means { find, memory_bytes, .. } = self.means;
        Grouping { plan: self.plan, find, memory_bytes }
    }

    fn workload(&self, place: usize) -> Option<&'static dyn Workload> {
        self.grouping().workload(place)
    }

    fn takes_turns(&self, place: usize) -> bool {
        self.grouping().takes_turns(place)
    }

    fn has_slices(&self, place: usize) -> bool {
        self.grouping().has_slices(place)
    }

    /// Measures the configurations of a group, or those that waited for their last chance.
    fn visit(&mut self, group: Range<usize>) {
        let is_due = |place: &usize| !self.is_last_chance || self.waits(*place);
        let places: Vec<usize> = group.clone().filter(is_due).collect();
        match self.plan.series_of(group.start) {
            _ if places.is_empty() => {}
            Some(planned) => self.endure(group.start, planned),
            None => self.measure(group, &places),
        }
    }

    fn measure(&mut self, group: Range<usize>, places: &[usize]) {
        let mut active: Vec<Active> = Vec::new();
        for place in places.iter().copied() {
            match self.set_up(place) {
                Ok(session) => active.push(Active { place, session: Some(session) }),
                Err(ending) => self.end(place, ending),
            }
        }
        let begun: Vec<usize> = active.iter().map(|point| point.place).collect();
        // Warm-up counts towards the share of a configuration; set-up does not.
        let deadline = if self.is_last_chance { None } else { self.deadline(group) };
        active.retain_mut(|point| {
            let Some(session) = point.session.as_deref_mut() else { return false };
            let warmed = self.warm(point.place, session);
            warmed.map_err(|ending| self.end(point.place, ending)).is_ok()
        });
        while !active.is_empty() {
            active.retain_mut(|point| match self.turn(point, deadline) {
                None => true,
                Some(ending) => {
                    point.session = None;
                    self.end(point.place, ending);
                    false
                }
            });
            // Backwards next time, so that no configuration always follows the same one.
            active.reverse();
        }
        // After the group, whose configurations hold memory and files that a tool may need.
        begun.into_iter().for_each(|place| self.take_pairs(place));
    }

    /// The time at which these configurations, now set up, have used their share of the rest of the
    /// budget. The set-up of later ones is reserved.
    fn deadline(&self, places: Range<usize>) -> Option<f64> {
        let now = self.means.clock.now();
        let later_s: f64 = self.set_up_s[places.end..self.planned].iter().sum();
        let (end, others_s) = match self.measured_until(&places) {
            Some(limited) => limited,
            None => (self.start + self.policy().budget_s? + self.away_s, 0.0),
        };
        let left_s = (end - now - later_s - others_s).max(0.0);
        let all = places.start..self.planned;
        Some(now + left_s * self.most_s(places) / self.most_s(all))
    }

    /// Sets a configuration up.
    fn set_up(&mut self, place: usize) -> Result<Box<dyn Session>, Ending> {
        if self.stopped().is_none() {
            self.has_time_for(place)?;
        }
        self.notify(Event::SetUp, place);
        if let Some(ending) = self.stopped() {
            return Err(ending);
        }
        self.limit_waiting(place);
        let (launcher, point) = (self.means.launcher, &self.plan.points[place]);
        let on_a_bus = self.workload(place).is_some_and(|w| w.spec().work.cut() == Cut::Bus);
        let in_turn = self.takes_turns(place);
        let begun = self.means.clock.now();
        let session = match on_a_bus && in_turn {
            true => launcher.launch_together(point),
            false => launcher.launch(point),
        };
        self.note_set_up(place, self.means.clock.now() - begun);
        session.map_err(|ending| self.with_rest(place, ending))
    }

    fn stopped(&self) -> Option<Ending> {
        self.means.stop.stopped_by().map(|by| Ending::Interrupted { by })
    }

    /// Takes one trial of a configuration; returns its ending if that was the last.
    fn turn(&mut self, point: &mut Active, deadline: Option<f64>) -> Option<Ending> {
        if let Some(ending) = self.stopped() {
            return Some(ending);
        }
        let m = &self.measurements[point.place];
        let least = self.workload(point.place).map_or(0, |w| least_trials(w, self.policy()));
        let late = || {
            deadline.is_some_and(|most| self.means.clock.now() >= most)
                || !self.has_spare_trial(point.place)
        };
        if m.trials.len() >= least as usize && (late() || had_its_time(m, self.policy())) {
            return Some(Ending::Budget);
        }
        if m.trials.len() < least as usize
            && let Err(left_out) = self.has_time_for(point.place)
        {
            return Some(left_out);
        }
        self.limit_waiting(point.place);
        let begun = self.means.clock.now();
        match point.session.as_deref_mut()?.take(Request::Trial) {
            Ok(taken) => self.record(point.place, taken),
            Err(ending) => return Some(self.with_rest(point.place, ending)),
        }
        self.note_trial(point.place, self.means.clock.now() - begun);
        let ending = self.enough(point.place);
        if ending.is_none() {
            self.notify(Event::Trial, point.place);
        }
        ending
    }

    fn record(&mut self, place: usize, taken: Taken) {
        let m = &mut self.measurements[place];
        m.trials.push(taken.trial);
        m.latency = taken.latency;
    }

    /// The ending of a configuration that has enough trials. The interval is checked after 8, 12 and 20
    /// trials only: a check after each would find a narrow one by chance. A trial counts as one round
    /// then, since the rounds of one trial resemble each other.
    fn enough(&self, place: usize) -> Option<Ending> {
        let (m, policy) = (&self.measurements[place], self.policy());
        let (least, most) = policy.trials_for(&m.workload);
        let taken = m.trials.len();
        if policy.is_fixed(&m.workload) {
            return (taken >= least as usize).then_some(Ending::Complete);
        }
        let is_narrow = || {
            let spec = self.workload(place).map(Workload::spec);
            let half_width = m.summary(spec, policy).as_ref().and_then(Summary::half_width);
            half_width.is_some_and(|half| half <= policy.target_for(m.subsystem))
        };
        if taken >= least as usize && LOOKS.contains(&taken) && is_narrow() {
            return Some(Ending::Complete);
        }
        // After the last check it ends.
        let most = (most as usize).min(LOOKS[2].max(least as usize));
        (taken >= most).then_some(Ending::Budget)
    }

    /// Ends a configuration. One that is left out waits for its last chance, if it has not had that.
    fn end(&mut self, place: usize, mut ending: Ending) {
        if matches!(ending, Ending::LeftOut { .. }) && self.has_minimum(place) {
            ending = Ending::Budget;
        }
        let m = &mut self.measurements[place];
        if matches!(ending, Ending::LeftOut { .. }) {
            // Fewer trials than the minimum are no result.
            (m.trials, m.warmup, m.latency, m.series) = Default::default();
            if !self.is_last_chance || place >= self.planned {
                return self.note_wait(place);
            }
        }
        m.ending = ending;
        let has_result = !m.trials.is_empty();
        if !matches!(m.ending, Ending::Complete | Ending::Budget | Ending::Interrupted { .. }) {
            self.pairs.close(place);
            self.pairs.describe(place, m);
        }
        self.note_end(place, has_result);
        self.done += 1;
        self.notify(Event::Done, place);
    }

    /// True if a configuration has its minimum of trials, or a sample of its series.
    fn has_minimum(&self, place: usize) -> bool {
        let least = self.workload(place).map_or(0, |w| least_trials(w, self.policy())) as usize;
        let m = &self.measurements[place];
        m.trials.len() >= if m.series.is_some() { 1 } else { least.max(1) }
    }

    fn notify(&mut self, event: Event, place: usize) {
        let (measurements, policy) = (&self.measurements, &self.plan.policy);
        let step = Step { event, place, measurements, done: self.done, policy };
        let begun = self.means.clock.now();
        self.observers.iter_mut().for_each(|observer| observer.observe(&step));
        let took_s = self.means.clock.now() - begun;
        self.note_observers(took_s);
    }

    fn policy(&self) -> &Policy {
        &self.plan.policy
    }
}

/// True if the trials have used the time of one configuration.
fn had_its_time(m: &RawMeasurement, policy: &Policy) -> bool {
    let timed: f64 = m.trials.iter().map(|t| t.seconds).sum();
    policy.point_s_for(&m.workload).is_some_and(|s| timed >= s)
}
