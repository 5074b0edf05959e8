//! Judges the results of a run so far and saves them, for at most a hundredth of the time.

use std::io;

use proofmark_engine::Clock;
use proofmark_judge::judge;
use proofmark_model::{Ending, Point, RawMeasurement, RawRun, Run};

use crate::event::{Event, Observer, Step};
use crate::registry::declarations;

/// Minimum seconds between two saves while trials are taken: what a `kill -9` costs.
const SAVE_EVERY_S: f64 = 1.0;

/// Inverse of the fraction of the time that judging and saving may take. A run of 1000
/// configurations takes more than 10 ms to judge and write. A series also logs its samples, so a
/// `kill -9` loses none.
const SAVE_SHARE: f64 = 100.0;

/// File in which a run is saved.
pub trait RunFile {
    /// Replaces the saved run. After an error the old one is still there.
    fn save(&self, run: &Run) -> io::Result<()>;
}

/// Judges and saves a run while it goes on.
pub(crate) struct Recorder<'a> {
    /// The run without its measurements.
    run: RawRun,
    file: &'a dyn RunFile,
    clock: &'a dyn Clock,
    print_line: &'a dyn Fn(&str),
    /// Time of the last save, and the duration of judging and saving, in seconds.
    saved_at: f64,
    cost_s: f64,
    saved: usize,
    /// True if a failure to save was reported. The run continues without saves.
    has_failed: bool,
}

impl<'a> Recorder<'a> {
    /// Creates the recorder of a run that begins now.
    pub(crate) fn new(
        run: RawRun,
        file: &'a dyn RunFile,
        clock: &'a dyn Clock,
        print_line: &'a dyn Fn(&str),
    ) -> Self {
        let (saved_at, cost_s, saved) = (clock.now(), 0.0, 0);
        Self { run, file, clock, print_line, saved_at, cost_s, saved, has_failed: false }
    }

    fn is_due(&self, measurements: &[RawMeasurement]) -> bool {
        self.since_saved() >= SAVE_EVERY_S && self.is_affordable(measurements)
    }

    /// True if saving keeps to its share of the time, assuming the same duration per trial as last
    /// time. The assumed total at most doubles: otherwise a run that grows fast would never be
    /// saved again.
    fn is_affordable(&self, measurements: &[RawMeasurement]) -> bool {
        let growth = trials(measurements).max(1) as f64 / self.saved.max(1) as f64;
        self.since_saved() >= self.cost_s * growth.min(2.0) * SAVE_SHARE
    }

    fn since_saved(&self) -> f64 {
        self.clock.now() - self.saved_at
    }

    /// Judges the results so far and saves them.
    fn save(&mut self, measurements: &[RawMeasurement]) -> io::Result<()> {
        let begun = self.clock.now();
        let saved = self.file.save(&judge(&self.so_far(measurements)));
        self.saved_at = self.clock.now();
        self.cost_s = self.saved_at - begun;
        self.saved = trials(measurements);
        saved
    }

    /// Returns the run with the measurements that have a trial or have ended. What the plan left
    /// out and the run measured after all is part of its plan.
    pub(crate) fn so_far(&self, measurements: &[RawMeasurement]) -> RawRun {
        let known = |m: &&RawMeasurement| !m.trials.is_empty() || ended_by_itself(&m.ending);
        let mut run =
            self.run.with_measurements(measurements.iter().filter(known).cloned().collect());
        let extra = measurements.iter().skip(run.plan.points.len());
        let mut is_measured = extra.map(|m| known(&m));
        let was_left_out = |_: &mut Point| is_measured.next().unwrap_or(false);
        let measured: Vec<Point> = run.plan.left_out.extract_if(.., was_left_out).collect();
        run.workloads.extend(declarations(&measured));
        run.plan.points.extend(measured);
        run
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, step: &Step) {
        let is_due = match step.event {
            Event::SetUp | Event::Warm => false,
            Event::Trial | Event::Sample { .. } | Event::Done => self.is_due(step.measurements),
            // Pairs take minutes. The results before them must not wait.
            Event::Pair { turn: 1, .. } => true,
            Event::Pair { .. } | Event::Paired { .. } => self.is_affordable(step.measurements),
        };
        if is_due
            && let Err(e) = self.save(step.measurements)
            && !std::mem::replace(&mut self.has_failed, true)
        {
            (self.print_line)(&format!("cannot save the run ({e}); the run continues"));
        }
    }
}

fn trials(measurements: &[RawMeasurement]) -> usize {
    measurements.iter().map(|m| m.trials.len()).sum()
}

/// True if a configuration without a trial is kept: its ending is a result.
fn ended_by_itself(ending: &Ending) -> bool {
    use Ending::{Crashed, LeftOut, Limited, Refused, Unverified};
    matches!(
        ending,
        Crashed { .. } | Refused { .. } | LeftOut { .. } | Limited { .. } | Unverified { .. }
    )
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use proofmark_model::{Params, Plan, Policy, Unit, key, testing};

    use super::*;
    use crate::testing::{Disk, FakeClock};

    /// `cpu.iops` on this many threads, at that rate in each of `trials` trials.
    fn measured(threads: u64, rate: f64, trials: usize) -> RawMeasurement {
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        let params = Params::default()
            .with(key::THREADS, threads)
            .with(key::ISA, "scalar")
            .with(key::NUMBER_TYPE, "i64");
        let trials = vec![testing::trial(rate, 1.0); trials];
        RawMeasurement { trials, ..RawMeasurement::new(spec, params) }
    }

    fn run() -> RawRun {
        let policy = Policy { min_trials: 6, max_trials: 6, ..Policy::default() };
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        RawRun {
            ended: None,
            plan: Plan { profile: "test".to_owned(), policy, ..Plan::default() },
            workloads: BTreeMap::from([(spec.id.to_string(), spec.clone())]),
            ..testing::run(Vec::new()).with_measurements(Vec::new())
        }
    }

    /// A disk that takes time for each trial of a run.
    struct SlowDisk<'a> {
        clock: &'a FakeClock,
        seconds_a_trial: f64,
        saved: RefCell<Vec<(f64, usize)>>,
        took: Cell<f64>,
    }

    impl RunFile for SlowDisk<'_> {
        fn save(&self, run: &Run) -> io::Result<()> {
            let trials = run.measurements.iter().map(|m| m.trials.len()).sum();
            let seconds = trials as f64 * self.seconds_a_trial;
            self.saved.borrow_mut().push((self.clock.now(), trials));
            self.took.set(self.took.get() + seconds);
            self.clock.pass(seconds);
            Ok(())
        }
    }

    /// 30 trials of 0.1 s of each configuration, in turn: total seconds, those of saving, and each
    /// save.
    fn saved(points: usize, seconds_a_trial: f64) -> (f64, f64, Vec<(f64, usize)>) {
        let clock = FakeClock::default();
        let (saved, took) = Default::default();
        let disk = SlowDisk { clock: &clock, seconds_a_trial, saved, took };
        let run = RawRun { workloads: BTreeMap::new(), ..run() };
        let mut record = Recorder::new(run, &disk, &clock, &|_| ());
        let spec = testing::spec("test.x", Unit::OpPerSecond);
        let params = |n| Params::default().with(key::THREADS, n as u64);
        let mut all: Vec<_> = (0..points).map(|n| RawMeasurement::new(&spec, params(n))).collect();
        for _ in 0..30 {
            for place in 0..points {
                clock.pass(0.1);
                all[place].trials.push(testing::trial(1.0, 0.1));
                if record.is_due(&all) {
                    record.save(&all).unwrap();
                }
            }
        }
        (clock.now(), disk.took.get(), disk.saved.take())
    }

    #[test]
    fn saving_costs_a_hundredth_of_a_run_however_large() {
        // 20 microseconds per trial: 0.6 s at the end of 1000 configurations.
        for (points, seconds_a_trial) in [(1000, 2e-5), (1000, 1e-4), (64, 2e-5), (1, 0.0)] {
            let (all_s, saving_s, saved) = saved(points, seconds_a_trial);
            assert!(saving_s <= 0.01 * all_s, "{points}: {saving_s} s of {all_s}");
            assert!(saved.len() > 1, "{points}: saved at {saved:?}");
        }
    }

    #[test]
    fn what_costs_little_is_saved_once_a_second() {
        let (all_s, _, saved) = saved(64, 1e-6);
        assert!(saved.len() as f64 >= 0.8 * all_s, "{} times in {all_s} s", saved.len());
        let apart = |pair: &[(f64, usize)]| pair[1].0 - pair[0].0;
        assert!(saved.windows(2).all(|pair| apart(pair) >= 1.0));
    }

    #[test]
    fn what_was_left_out_and_measured_after_all_is_declared() {
        let (clock, file, done) = (FakeClock::default(), Disk::default(), measured(2, 1e9, 6));
        let run = RawRun { workloads: BTreeMap::new(), ..run() };
        let plan = Plan { left_out: vec![done.point()], ..run.plan.clone() };
        let record = Recorder::new(RawRun { plan, ..run }, &file, &clock, &|_| ());
        let so_far = record.so_far(std::slice::from_ref(&done));
        assert_eq!((&so_far.plan.points, so_far.plan.left_out.len()), (&vec![done.point()], 0));
        assert!(so_far.workloads.contains_key(&done.workload), "{:?}", so_far.workloads.keys());
        assert!(record.so_far(&[]).workloads.is_empty(), "nothing was measured");
    }

    #[test]
    fn what_is_saved_is_what_was_measured_judged() {
        let (clock, file) = (FakeClock::default(), Disk::default());
        let empty = run();
        let mut record = Recorder::new(empty.clone(), &file, &clock, &|_| ());
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        let unmeasured = RawMeasurement::new(spec, Params::default().with(key::THREADS, 9));
        for n in 1..=7 {
            let other = if n < 4 { unmeasured.clone() } else { measured(9, 1e9, 6) };
            let mut all = vec![other, measured(1, 1e9, n)];
            all[1].missing.insert("x".to_owned(), format!("why {n}"));
            record.save(&all).unwrap();
            all.retain(|m| !m.trials.is_empty());
            let expected = judge(&empty.with_measurements(all));
            let saved = file.saved.borrow().last().unwrap().measurements.clone();
            assert_eq!(saved, expected.measurements, "{n}");
        }
    }
}
