//! The order in which trials are taken, and when a point has enough of them.
//!
//! Points whose set-up is cheap are measured together: all are warmed up, then
//! each takes one trial in turn, round after round, so that drift of the machine
//! touches every point alike and an interval spans the time of the whole group
//! (duet benchmarking, Bulej et al., ICPE'20; random interleaving, after which
//! the order of every second round is reversed here). Other points are measured
//! one by one.

use proofmark_model::{Ending, Measurement, Plan, Point, Policy, Witness};

use crate::clock::Clock;
use crate::kernel::Kernel;
use crate::protocol::{Request, Sample};
use crate::session::{Launcher, Session, Stop};
use crate::statistics::summarise;
use crate::steady::is_steady;

/// Most points that are measured together; each is a process with its threads.
const GROUP: usize = 64;

/// Most threads of all points that are measured together.
const GROUP_THREADS: u64 = 256;

/// Trials that every point gets, whatever the budget.
const LEAST_TRIALS: usize = 3;

/// What a run shows while it goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
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
    fn step(&mut self, phase: Phase, measurements: &[Measurement], index: usize, done: usize);
}

/// What a run needs.
pub struct Schedule<'a> {
    /// The points, all of known kernels, and the policy.
    pub plan: &'a Plan,
    /// Finds a kernel.
    pub find: &'a dyn Fn(&str) -> Option<&'static dyn Kernel>,
    /// Starts workers.
    pub launcher: &'a dyn Launcher,
    /// Time, for the budget.
    pub clock: &'a dyn Clock,
    /// How the run is stopped.
    pub stop: &'a Stop,
}

struct Slot {
    index: usize,
    session: Box<dyn Session>,
}

/// What a run has so far.
struct State<'a, 'o> {
    schedule: &'a Schedule<'a>,
    observer: &'o mut dyn Observer,
    measurements: Vec<Measurement>,
    done: usize,
}

impl Schedule<'_> {
    /// Measures every point of the plan. Points that end badly, or that the run
    /// was stopped before, say so in their ending; the others are not touched.
    pub fn run(&self, observer: &mut dyn Observer) -> Vec<Measurement> {
        let known =
            |p: &Point| Some(Measurement::new((self.find)(&p.kernel)?.spec(), p.params.clone()));
        let measurements: Vec<_> = self.plan.points.iter().filter_map(known).collect();
        debug_assert_eq!(measurements.len(), self.plan.points.len());
        let mut state = State { schedule: self, observer, measurements, done: 0 };
        let start = self.clock.now();
        let groups = self.groups();
        for (from, to) in groups {
            let now = self.clock.now();
            // The rest of the budget, divided among the points that are left.
            let deadline = self.plan.policy.budget_s.map(|b| {
                let left = (start + b - now).max(0.0);
                now + left * self.trial_s(from..to) / self.trial_s(from..self.plan.points.len())
            });
            state.measure(from..to, deadline);
        }
        state.measurements
    }

    /// Seconds that one trial of each of these points takes, about.
    fn trial_s(&self, range: std::ops::Range<usize>) -> f64 {
        let of = |p: &Point| {
            let nominal = (self.find)(&p.kernel).and_then(|k| k.nominal_seconds(&p.params));
            nominal.unwrap_or(self.plan.policy.trial_s_for(&p.kernel)).max(1e-3)
        };
        self.plan.points[range].iter().map(of).sum()
    }

    /// Ranges of points that are measured together.
    fn groups(&self) -> Vec<(usize, usize)> {
        let cheap = |p: &Point| (self.find)(&p.kernel).is_some_and(|k| k.spec().interleave);
        let mut groups: Vec<(usize, usize)> = Vec::new();
        let mut threads = 0;
        for (i, point) in self.plan.points.iter().enumerate() {
            threads += point.params.threads();
            match groups.last_mut() {
                Some((from, to))
                    if i - *from < GROUP
                        && threads <= GROUP_THREADS
                        && cheap(point)
                        && cheap(&self.plan.points[i - 1]) =>
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
    fn measure(&mut self, range: std::ops::Range<usize>, deadline: Option<f64>) {
        let mut active: Vec<Slot> = Vec::new();
        for index in range {
            let point = &self.schedule.plan.points[index];
            let session = self.stopped().map_or_else(|| self.schedule.launcher.launch(point), Err);
            match session.and_then(|mut s| self.warm(index, s.as_mut()).map(|()| s)) {
                Ok(session) => active.push(Slot { index, session }),
                Err(ending) => self.end(index, ending),
            }
        }
        while !active.is_empty() {
            active.retain_mut(|slot| match self.turn(slot, deadline) {
                None => true,
                Some(ending) => {
                    self.end(slot.index, ending);
                    false
                }
            });
            // The other way round next time, so that no point always follows the same one.
            active.reverse();
        }
    }

    fn stopped(&self) -> Option<Ending> {
        self.schedule.stop.stopped_by().map(|by| Ending::Interrupted { by })
    }

    fn warm(&mut self, index: usize, session: &mut dyn Session) -> Result<(), Ending> {
        while !is_steady(&self.measurements[index].warmup, self.policy().target) {
            let sample = session.sample(Request::Warm)?;
            let m = &mut self.measurements[index];
            m.warmup.push(m.unit.value(sample.claimed, sample.seconds));
            self.observer.step(Phase::Warm, &self.measurements, index, self.done);
        }
        Ok(())
    }

    /// One trial of one point, and how the point ended if that was the last.
    fn turn(&mut self, slot: &mut Slot, deadline: Option<f64>) -> Option<Ending> {
        if let Some(ending) = self.stopped() {
            return Some(ending);
        }
        let taken = self.measurements[slot.index].trials.len();
        if taken >= LEAST_TRIALS && deadline.is_some_and(|d| self.schedule.clock.now() >= d) {
            return Some(Ending::Budget);
        }
        match slot.session.sample(Request::Trial) {
            Ok(sample) => self.record(slot.index, sample),
            Err(ending) => return Some(ending),
        }
        let ending = enough(&self.measurements[slot.index], self.policy());
        if ending.is_none() {
            self.observer.step(Phase::Trial, &self.measurements, slot.index, self.done);
        }
        ending
    }

    fn record(&mut self, index: usize, sample: Sample) {
        let witness =
            (self.schedule.find)(&self.measurements[index].kernel).map_or("none", Kernel::witness);
        let m = &mut self.measurements[index];
        let w = m.witness.get_or_insert_with(|| Witness {
            kind: witness.to_owned(),
            claimed: 0.0,
            counted: 0.0,
            note: "work claimed by the kernel against work that its verified results prove, over all trials"
                .to_owned(),
        });
        w.claimed += sample.claimed;
        w.counted += sample.counted;
        m.trials.push(proofmark_model::Trial {
            value: m.unit.value(sample.claimed, sample.seconds),
            seconds: sample.seconds,
            work: sample.claimed,
            moved: sample.moved,
            background: sample.background,
            started: sample.started,
            conditions: sample.conditions,
        });
        let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
        m.summary = summarise(&values);
    }

    fn end(&mut self, index: usize, ending: Ending) {
        self.measurements[index].ending = ending;
        self.done += 1;
        self.observer.step(Phase::Done, &self.measurements, index, self.done);
    }

    fn policy(&self) -> &Policy {
        &self.schedule.plan.policy
    }
}

/// Whether a point has all the trials it needs, and how that came about.
fn enough(m: &Measurement, policy: &Policy) -> Option<Ending> {
    let taken = m.trials.len();
    let fixed = policy.min_trials == policy.max_trials;
    let width = m.summary.as_ref().and_then(proofmark_model::Summary::half_width);
    if taken >= policy.min_trials as usize && (fixed || width.is_some_and(|w| w <= policy.target)) {
        return Some(Ending::Complete);
    }
    (taken >= policy.max_trials as usize).then_some(Ending::Budget)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use proofmark_model::{Conditions, Params, Timestamp};

    use super::*;
    use crate::null::NULL;

    /// Time that moves only when a session says so.
    #[derive(Clone, Default)]
    struct FakeClock(Rc<Cell<f64>>);

    impl Clock for FakeClock {
        fn now(&self) -> f64 {
            self.0.get()
        }
    }

    /// Every point takes a second a trial and tells its next value; `log` keeps the order.
    struct Script {
        clock: FakeClock,
        log: Rc<RefCell<Vec<(u64, Request)>>>,
        values: fn(point: u64, trial: usize) -> Result<f64, Ending>,
    }

    struct Actor {
        script: Script,
        point: u64,
        trial: usize,
    }

    impl Launcher for Script {
        fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
            let script =
                Script { clock: self.clock.clone(), log: self.log.clone(), values: self.values };
            Ok(Box::new(Actor { script, point: point.params.threads(), trial: 0 }))
        }
    }

    impl Session for Actor {
        fn sample(&mut self, request: Request) -> Result<Sample, Ending> {
            self.script.log.borrow_mut().push((self.point, request));
            self.script.clock.0.set(self.script.clock.now() + 1.0);
            let value = match request {
                Request::Warm => 100.0,
                Request::Trial => {
                    self.trial += 1;
                    (self.script.values)(self.point, self.trial)?
                }
            };
            Ok(Sample {
                started: Timestamp::from_millis(0).unwrap(),
                seconds: 1.0,
                claimed: value,
                counted: value,
                moved: None,
                background: None,
                conditions: Conditions::default(),
            })
        }
    }

    #[derive(Default)]
    struct Watch {
        stop_after: Option<usize>,
        stop: Stop,
        steps: usize,
        done: usize,
    }

    impl Observer for Watch {
        fn step(&mut self, phase: Phase, _: &[Measurement], _: usize, _: usize) {
            self.steps += usize::from(phase == Phase::Trial);
            self.done += usize::from(phase == Phase::Done);
            if self.stop_after == Some(self.steps) {
                self.stop.stop("SIGINT");
            }
        }
    }

    type Log = Vec<(u64, Request)>;

    fn run(
        policy: Policy,
        points: u64,
        values: fn(u64, usize) -> Result<f64, Ending>,
        watch: &mut Watch,
    ) -> (Vec<Measurement>, Log) {
        let clock = FakeClock::default();
        let log = Rc::new(RefCell::new(Vec::new()));
        let launcher = Script { clock: clock.clone(), log: log.clone(), values };
        let point = |t| Point {
            kernel: "test.null".to_owned(),
            params: Params::default().with("threads", t),
        };
        let plan =
            Plan { profile: "test".to_owned(), policy, points: (1..=points).map(point).collect() };
        let stop = watch.stop.clone();
        let find = |_: &str| Some(&NULL as &dyn Kernel);
        let schedule =
            Schedule { plan: &plan, find: &find, launcher: &launcher, clock: &clock, stop: &stop };
        let measurements = schedule.run(watch);
        (measurements, log.take())
    }

    fn policy(min: u32, max: u32, budget_s: Option<f64>) -> Policy {
        Policy {
            target: 0.02,
            min_trials: min,
            max_trials: max,
            trial_s: 0.1,
            trial_s_of: std::collections::BTreeMap::new(),
            budget_s,
        }
    }

    #[test]
    fn steady_points_stop_at_the_least_number_and_wild_ones_at_the_greatest() {
        let values =
            |point, trial| Ok(if point == 1 { 100.0 } else { 100.0 + (trial % 2 * 50) as f64 });
        let (m, _) = run(policy(6, 12, None), 2, values, &mut Watch::default());
        assert_eq!((m[0].trials.len(), &m[0].ending), (6, &Ending::Complete));
        assert_eq!((m[1].trials.len(), &m[1].ending), (12, &Ending::Budget));
        assert_eq!(m[0].summary.as_ref().unwrap().median, 100.0);
        assert_eq!(m[1].warmup.len(), 3);
    }

    #[test]
    fn trials_are_taken_in_turn_and_every_second_round_backwards() {
        let (_, log) = run(policy(3, 3, None), 3, |_, _| Ok(1.0), &mut Watch::default());
        let trials: Vec<u64> =
            log.iter().filter(|(_, r)| *r == Request::Trial).map(|(p, _)| *p).collect();
        assert_eq!(trials, [1, 2, 3, 3, 2, 1, 1, 2, 3]);
    }

    #[test]
    fn a_group_is_bounded_in_points_and_in_threads() {
        // Threads 1, 2, 3, ...: 22 points make 253 threads.
        let (_, log) = run(policy(3, 3, None), 30, |_, _| Ok(1.0), &mut Watch::default());
        let first_23rd = log.iter().position(|(p, _)| *p == 23).unwrap();
        let last_22nd = log.iter().rposition(|(p, _)| *p == 22).unwrap();
        assert!(last_22nd < first_23rd, "the 23rd belongs to the next group");
        let last_1st = log.iter().rposition(|(p, _)| *p == 1).unwrap();
        let first_22nd = log.iter().position(|(p, _)| *p == 22).unwrap();
        assert!(first_22nd < last_1st, "the 22nd belongs to the first");
    }

    #[test]
    fn a_fixed_number_is_complete_however_they_scatter() {
        let (m, _) = run(policy(3, 3, None), 1, |_, t| Ok(t as f64), &mut Watch::default());
        assert_eq!((m[0].trials.len(), &m[0].ending), (3, &Ending::Complete));
    }

    #[test]
    fn the_budget_ends_a_run_but_leaves_three_trials() {
        // Two points, 3 s of warm-up and a second a trial each: 10 s are gone after 4 trials.
        let wild = |_, t| Ok((t % 2 + 1) as f64);
        let (m, _) = run(policy(6, 30, Some(10.0)), 2, wild, &mut Watch::default());
        assert!(m.iter().all(|m| m.ending == Ending::Budget && m.trials.len() == 3), "{m:?}");
        let (m, _) = run(policy(6, 30, Some(0.1)), 2, wild, &mut Watch::default());
        assert!(m.iter().all(|m| m.ending == Ending::Budget && m.trials.len() == 3), "{m:?}");
    }

    #[test]
    fn a_crash_costs_one_point() {
        fn crash() -> Ending {
            Ending::Crashed { signal: Some("SIGKILL".to_owned()), detail: String::new() }
        }
        let values = |p, t| if p == 2 && t == 2 { Err(crash()) } else { Ok(1.0) };
        let (m, _) = run(policy(6, 6, None), 3, values, &mut Watch::default());
        assert_eq!(m[1].trials.len(), 1);
        assert_eq!(m[1].ending, crash());
        for i in [0, 2] {
            assert_eq!((m[i].trials.len(), &m[i].ending), (6, &Ending::Complete));
        }
    }

    #[test]
    fn a_stop_keeps_what_was_measured() {
        let mut watch = Watch { stop_after: Some(4), ..Watch::default() };
        let (m, _) = run(policy(6, 6, None), 3, |_, _| Ok(1.0), &mut watch);
        assert_eq!(m.iter().map(|m| m.trials.len()).sum::<usize>(), 4);
        assert!(m.iter().all(|m| m.ending == Ending::Interrupted { by: "SIGINT".to_owned() }));
        assert_eq!(watch.done, 3);
    }

    #[test]
    fn the_witness_adds_up() {
        let (m, _) = run(policy(6, 6, None), 1, |_, _| Ok(5.0), &mut Watch::default());
        let w = m[0].witness.as_ref().unwrap();
        assert_eq!((w.claimed, w.counted), (30.0, 30.0));
    }
}
