//! What is known of a run, judged, and saved as often as costs a hundredth of the time.

use std::io;

use proofmark_engine::Clock;
use proofmark_judge::judge_run;
use proofmark_model::{Ending, Measurement, Run};

use crate::event::{Event, Observer, Step};

/// Shortest time between two savings while trials are taken, in seconds: what a `kill -9` costs.
const SAVE_EVERY_S: f64 = 1.0;

/// Judging and saving may take one part in so many of the time: a run of 1000 points takes more
/// than 10 ms to judge and to write. Of a series, what a `kill -9` costs is in the log of samples.
const SAVE_SHARE: f64 = 100.0;

/// Where a run is saved.
pub trait RunFile {
    /// Replaces what was saved, which after an error is still there.
    fn save(&self, run: &Run) -> io::Result<()>;
}

/// A run that goes on: judges and saves what is known.
pub(crate) struct Recorder<'a> {
    run: Run,
    /// Place in the plan of each measurement of the run.
    places: Vec<usize>,
    file: &'a dyn RunFile,
    clock: &'a dyn Clock,
    tell: &'a dyn Fn(&str),
    /// When it was saved, and how long the judging and saving took, in seconds.
    saved_at: f64,
    cost_s: f64,
    saved: usize,
    /// Whether a failure to save was reported; the run goes on without.
    has_failed: bool,
}

impl<'a> Recorder<'a> {
    /// Of a run that begins now and has no measurement.
    pub(crate) fn new(
        run: Run,
        file: &'a dyn RunFile,
        clock: &'a dyn Clock,
        tell: &'a dyn Fn(&str),
    ) -> Self {
        let (saved_at, cost_s, saved) = (clock.now(), 0.0, 0);
        let (places, has_failed) = (Vec::new(), false);
        Self { run, places, file, clock, tell, saved_at, cost_s, saved, has_failed }
    }

    fn is_due(&self, measurements: &[Measurement]) -> bool {
        self.since_saved() >= SAVE_EVERY_S && self.is_affordable(measurements)
    }

    /// Whether saving keeps to its share of the time, if it takes as long a trial as it did last;
    /// twice as long in all at most, or a run that grows fast would never be saved again.
    fn is_affordable(&self, measurements: &[Measurement]) -> bool {
        let growth = trials(measurements).max(1) as f64 / self.saved.max(1) as f64;
        self.since_saved() >= self.cost_s * growth.min(2.0) * SAVE_SHARE
    }

    fn since_saved(&self) -> f64 {
        self.clock.now() - self.saved_at
    }

    /// Judges what is known, and saves it.
    fn save(&mut self, measurements: &[Measurement]) -> io::Result<()> {
        let begun = self.clock.now();
        self.update(measurements);
        let saved = self.file.save(&self.run);
        self.saved_at = self.clock.now();
        self.cost_s = self.saved_at - begun;
        self.saved = trials(measurements);
        saved
    }

    /// Takes over what has a trial or has ended, and judges it.
    fn update(&mut self, measurements: &[Measurement]) {
        let before = std::mem::take(&mut self.run.measurements);
        let mut before = std::mem::take(&mut self.places).into_iter().zip(before).peekable();
        for (place, m) in measurements.iter().enumerate() {
            let known = match before.next_if(|(known, _)| *known == place) {
                Some((_, mut known)) => {
                    take_over(&mut known, m);
                    known
                }
                None if !m.trials.is_empty() || ended_by_itself(&m.ending) => m.clone(),
                None => continue,
            };
            self.places.push(place);
            self.run.measurements.push(known);
        }
        judge_run(&mut self.run);
    }

    /// The run with all that was measured, judged.
    pub(crate) fn finish(mut self, measurements: &[Measurement]) -> Run {
        self.update(measurements);
        self.run
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, step: &Step) {
        let is_due = match step.event {
            Event::SetUp | Event::Warm => false,
            Event::Trial | Event::Sample { .. } | Event::Done => self.is_due(step.measurements),
            // Pairs take minutes: what was measured is not to wait for them.
            Event::Pair { turn: 1, .. } => true,
            Event::Pair { .. } => self.is_affordable(step.measurements),
        };
        if is_due
            && let Err(e) = self.save(step.measurements)
            && !std::mem::replace(&mut self.has_failed, true)
        {
            (self.tell)(&format!("cannot save the run ({e}); the run continues"));
        }
    }
}

/// Makes a measurement that was judged what the later one is, unjudged. Trials only grow in number,
/// but for the last one of a series, which grows itself, and for all of them where neighbours were
/// merged: so nearly all stay where they are.
fn take_over(known: &mut Measurement, later: &Measurement) {
    let merged = |m: &Measurement| m.series.as_ref().map(|s| s.merged);
    let same =
        if merged(known) == merged(later) { known.trials.len().saturating_sub(1) } else { 0 };
    let mut trials = std::mem::take(&mut known.trials);
    trials.truncate(same);
    trials.extend_from_slice(later.trials.get(same..).unwrap_or_default());
    let (workload, params) =
        (std::mem::take(&mut known.workload), std::mem::take(&mut known.params));
    *known = Measurement {
        workload,
        params,
        trials,
        warmup: later.warmup.clone(),
        summary: later.summary.clone(),
        latency: later.latency.clone(),
        verification: later.verification.clone(),
        ceiling: later.ceiling.clone(),
        bottleneck: later.bottleneck.clone(),
        cpu_placements: later.cpu_placements.clone(),
        series: later.series.clone(),
        references: later.references.clone(),
        findings: later.findings.clone(),
        missing: later.missing.clone(),
        ending: later.ending.clone(),
        ..*later
    };
}

fn trials(measurements: &[Measurement]) -> usize {
    measurements.iter().map(|m| m.trials.len()).sum()
}

/// Whether a point without a trial is worth keeping: how it ended is a result.
fn ended_by_itself(ending: &Ending) -> bool {
    use Ending::{Crashed, Limited, Refused, Unverified};
    matches!(ending, Crashed { .. } | Refused { .. } | Limited { .. } | Unverified { .. })
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use proofmark_engine::Samples;
    use proofmark_model::{Params, Plan, PlannedSeries, Policy, Unit, testing};

    use super::*;
    use crate::testing::{Disk, FakeClock};

    /// `cpu.iops` on so many threads, at that rate in each of so many trials.
    fn measured(threads: u64, rate: f64, trials: usize) -> Measurement {
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        let params =
            Params::default().with("threads", threads).with("isa", "scalar").with("type", "i64");
        testing::measurement(spec, params, &vec![rate; trials])
    }

    fn run() -> Run {
        let policy = Policy { min_trials: 6, max_trials: 6, ..Policy::default() };
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        Run {
            ended: None,
            plan: Plan { profile: "test".to_owned(), policy, ..Plan::default() },
            workloads: BTreeMap::from([(spec.id.to_string(), spec.clone())]),
            ..testing::run(Vec::new())
        }
    }

    /// A disk that takes a time for each trial of a run.
    struct SlowDisk<'a> {
        clock: &'a FakeClock,
        seconds_a_trial: f64,
        saved: RefCell<Vec<(f64, usize)>>,
        took: Cell<f64>,
    }

    impl RunFile for SlowDisk<'_> {
        fn save(&self, run: &Run) -> io::Result<()> {
            let trials = trials(&run.measurements);
            let seconds = trials as f64 * self.seconds_a_trial;
            self.saved.borrow_mut().push((self.clock.now(), trials));
            self.took.set(self.took.get() + seconds);
            self.clock.pass(seconds);
            Ok(())
        }
    }

    /// 30 trials of 0.1 s of each point, in turn: seconds in all, those of saving, and each save.
    fn saved(points: usize, seconds_a_trial: f64) -> (f64, f64, Vec<(f64, usize)>) {
        let clock = FakeClock::default();
        let (saved, took) = Default::default();
        let disk = SlowDisk { clock: &clock, seconds_a_trial, saved, took };
        let run = Run { workloads: BTreeMap::new(), ..run() };
        let mut record = Recorder::new(run, &disk, &clock, &|_| ());
        let spec = testing::spec("test.x", Unit::OpPerSecond);
        let params = |n| Params::default().with("threads", n as u64);
        let mut all: Vec<_> = (0..points).map(|n| Measurement::new(&spec, params(n))).collect();
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
        // 20 microseconds a trial: 0.6 s at the end of 1000 points.
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
    fn what_is_saved_is_what_was_measured_and_what_was_concluded_before_is_gone() {
        let (clock, file) = (FakeClock::default(), Disk::default());
        let empty = run();
        let mut record = Recorder::new(empty.clone(), &file, &clock, &|_| ());
        let spec = proofmark_workloads::find("cpu.iops").unwrap().spec();
        let unmeasured = Measurement::new(spec, Params::default().with("threads", 9));
        for n in 1..=7 {
            let other = if n < 4 { unmeasured.clone() } else { measured(9, 1e9, 6) };
            let mut all = vec![other, measured(1, 1e9, n)];
            all[1].missing.insert("x".to_owned(), format!("why {n}"));
            record.save(&all).unwrap();
            let mut expected = Run { measurements: all, ..empty.clone() };
            expected.measurements.retain(|m| !m.trials.is_empty());
            judge_run(&mut expected);
            let saved = file.saved.borrow().last().unwrap().measurements.clone();
            assert_eq!(saved, expected.measurements, "{n}");
        }
    }

    #[test]
    fn the_samples_of_a_series_are_taken_over_when_they_are_merged() {
        let planned = PlannedSeries { point: 0, for_s: 60.0, every_s: 1.0 };
        let mut later = measured(1, 1e9, 6);
        later.series = Some(Samples::begin(&planned, testing::moment(0)));
        let mut known = later.clone();
        // The last one grew, and one came.
        later.trials[5].work = 7.0;
        later.trials.push(testing::trial(3.0, 1.0));
        take_over(&mut known, &later);
        assert_eq!(known, later);
        later.trials = vec![testing::trial(5.0, 2.0); 4];
        later.series.as_mut().unwrap().merged = 2;
        take_over(&mut known, &later);
        assert_eq!(known, later);
    }
}
