//! The worker process: sets up configurations and takes their trials.
//!
//! It sets up the workload of a [`Job`] in a slot, then answers each [`Request`] for that slot with a
//! trial. Several slots may be set up at once; loads of the same memory share it. The process ends
//! with its input, so a worker never outlives its run.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use proofmark_model::{Account, Cut, Point, Trial, Unit, median};

use crate::account::verified;
use crate::cutting::Cutting;
use crate::executor::{Executor, ExecutorTrial, SlicedAmount, SlicedTrial};
use crate::latency::TrialLatencies;
use crate::protocol::{Job, Order, Reply, Request, Taken, send};
use crate::team::CpuTeam;
use crate::workload::{Amount, Setup, Workload};
use span::Parts;

mod span;

/// Finds a workload by its id.
pub type Find<'a> = &'a dyn Fn(&str) -> Option<&'static dyn Workload>;

/// Answers each order of `input` on `output`; fails if reading or writing does, or on a broken protocol.
pub fn serve(find: Find, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut slots: BTreeMap<u32, Work> = BTreeMap::new();
    for line in input.lines() {
        let reply = match serde_json::from_str(&line?)? {
            Order::Begin(slot, job) => {
                // First end the threads of the slot's earlier configuration.
                slots.remove(&slot);
                let set_up = Work::set_up(find, &job).map(|made| slots.insert(slot, made));
                set_up.map_or_else(|refused| refused, |_| Reply::Ready)
            }
            Order::Take(slot, request) => match slots.get_mut(&slot) {
                Some(work) => {
                    work.take(request).map_or_else(|ended| ended, |trial| work.reply(trial))
                }
                None => Reply::Refused("nothing is set up".to_owned()),
            },
            Order::End(slot) => {
                slots.remove(&slot);
                Reply::Ready
            }
        };
        send(&mut output, &reply)?;
    }
    Ok(())
}

struct Work {
    unit: Unit,
    cut: Cut,
    setup: Arc<dyn Setup>,
    executor: Box<dyn Executor>,
    workers: u64,
    trial_s: f64,
    /// Minimum rounds of a trial in slices; `None`: one.
    least_rounds: Option<u32>,
    /// Minimum whole periods of a round under a CPU quota.
    quota_periods: u32,
    /// Iterations per thread that fill about `trial_s`; 0 until calibrated.
    filling: u64,
    /// Iterations per thread per second of each warm-up trial.
    rates: Vec<f64>,
    /// How many more trials may be warm-ups.
    more_warm_ups: u32,
    /// Latencies of the operations of all trials so far.
    latencies: TrialLatencies,
    /// State of the parts of samples, where samples are taken over time.
    parts: Parts,
}

/// Seconds of untimed slices before a trial, on average: longer than a core takes to change its clock
/// for wide vectors.
pub const SLICED_AHEAD_S: f64 = 0.02;

/// A warm-up trial is one part in so many of a trial.
const WARM_PART: u64 = 4;

/// Maximum seconds of untimed slices, about: within this time the bus replaces the contents of any
/// cache, and the estimate of their number may be wrong.
const MAX_AHEAD_S: f64 = 2.0;

/// A trial shorter than this share of its plan is too short to use. It is repeated with more
/// iterations, at most [`MAX_LENGTHENING`] times as many at once.
const TOO_SHORT: f64 = 0.1;
const MAX_LENGTHENING: f64 = 16.0;

/// Until the first trial is kept, one shorter than this share of its plan is one more warm-up, at most
/// [`MORE_WARM_UPS`] times: other programs may have slowed down the warm-up. Later ones are kept, since
/// intervals assume trials of the same work.
const SHORT: f64 = 0.5;
const MORE_WARM_UPS: u32 = 2;
/// The median of so many newest rates then gives the new length: of three, one pause does not move it.
const NEWEST_RATES: usize = 3;

/// Maximum repetitions of a trial that is too short.
const MAX_REPEATS: usize = 12;

/// Factor by which a trial is lengthened, so that a core that speeds up does not make it too short.
const MARGIN: f64 = 1.05;

impl Work {
    fn set_up(find: Find, job: &Job) -> Result<Self, Reply> {
        let Point { workload: id, params } = &job.point;
        let workload = find(id).ok_or_else(|| Reply::Refused(format!("no workload {id}")))?;
        let setup: Arc<dyn Setup> = Arc::from(workload.configure(params)?.setup()?);
        let threads = setup.threads(params.threads());
        let count = usize::try_from(threads).unwrap_or(usize::MAX);
        let spec = workload.spec();
        let (unit, cut, trial_s) = (spec.unit, spec.work.cut(), job.trial_s);
        let executor = match setup.executor()? {
            Some(executor) => executor,
            None => {
                let devices = if setup.on_disk() { job.devices.clone() } else { Vec::new() };
                let (cpus, cpu_stat) = (setup.cpus(&job.cpus), job.cpu_stat.clone());
                Box::new(CpuTeam::start(&setup, cut, count, &cpus, cpu_stat, devices)?)
            }
        };
        let workers = setup.workers(threads).min(threads);
        Ok(Self {
            unit,
            cut,
            setup,
            executor,
            workers,
            trial_s,
            least_rounds: job.least_rounds,
            quota_periods: job.quota_periods,
            filling: 0,
            rates: Vec::new(),
            more_warm_ups: MORE_WARM_UPS,
            latencies: TrialLatencies::default(),
            parts: Parts::default(),
        })
    }

    fn take(&mut self, request: Request) -> Result<Trial, Reply> {
        if let Request::Span { part_us, span_us } = request {
            return self.span(part_us as f64 * 1e-6, span_us as f64 * 1e-6);
        }
        // A complete solve cannot be cut: neither for a warm-up nor ahead of a trial.
        if self.cut == Cut::Whole {
            return self.trial(&self.each(1), 0);
        }
        self.calibrate()?;
        match request {
            Request::Warm => self.warm(),
            _ if self.cut.has_slices() => self.sliced(),
            _ => self.long_enough(),
        }
    }

    /// Takes a trial that is not cut; repeats one that is too short, with more iterations. All trials
    /// that are kept have the same number, unless one is far too short.
    fn long_enough(&mut self) -> Result<Trial, Reply> {
        for _ in 0..MAX_REPEATS {
            let before = self.latencies.len();
            let trial = self.trial(&self.shares(self.filling), self.ahead())?;
            let is_fixed = self.setup.amount() != Amount::Calibrated;
            let least = if self.more_warm_ups > 0 { SHORT } else { TOO_SHORT };
            if is_fixed || trial.seconds >= least * self.trial_s {
                self.more_warm_ups = 0;
                return Ok(trial);
            }
            self.latencies.truncate(before);
            self.lengthen_trials(trial.seconds);
        }
        self.trial(&self.shares(self.filling), self.ahead())
    }

    /// Lengthens the next trials, since one took so many seconds.
    fn lengthen_trials(&mut self, seconds: f64) {
        self.rates.push(self.filling as f64 / seconds.max(1e-9));
        self.filling = match seconds < TOO_SHORT * self.trial_s {
            true => lengthened(self.filling, seconds, self.trial_s * MARGIN),
            false => {
                self.more_warm_ups -= 1;
                let newest = self.rates.len().saturating_sub(NEWEST_RATES);
                filling_at(&self.rates[newest..], self.trial_s)
            }
        };
    }

    /// Takes a trial in slices, of a fixed amount of work or of as much as fits into its time.
    fn sliced(&mut self) -> Result<Trial, Reply> {
        let filled = (self.filling, self.trial_s * MARGIN);
        let whole_s = self.executor.whole_periods_s(self.trial_s, self.quota_periods);
        let amount = match self.setup.amount() {
            Amount::Total(total) => {
                let shares = shares(total, self.workers);
                let longest = shares.first().copied().unwrap_or(0);
                let seconds = longest as f64 * filled.1 / filled.0.max(1) as f64;
                SlicedAmount::Iterations(shares, seconds)
            }
            _ => SlicedAmount::Seconds(whole_s.unwrap_or(self.trial_s)),
        };
        // Whole periods of a quota cannot be cut into rounds.
        let least_rounds = self.least_rounds.filter(|_| whole_s.is_none());
        let cutting = Cutting::new((self.cut, least_rounds), amount.seconds(), filled);
        let workers = usize::try_from(self.workers).unwrap_or(usize::MAX);
        self.setup.begin_trial()?;
        let each_s = cutting.slice_s / cutting.slice as f64;
        let trial = self.executor.sliced(&SlicedTrial {
            workers,
            amount,
            cutting,
            ahead_s: untimed_s(self.setup.ahead_iterations(), each_s),
            unit: self.unit,
            work_per_iteration: self.setup.work_per_iteration(),
        })?;
        if let Some(each_s) = trial.each_s {
            self.filling = scaled(1, each_s, self.trial_s * MARGIN);
        }
        self.account_for(trial)
    }

    fn warm(&mut self) -> Result<Trial, Reply> {
        let part = (self.filling / WARM_PART).max(1);
        let trial = self.trial(&self.each(part), self.ahead())?;
        self.latencies.truncate(0);
        self.rates.push(part as f64 / trial.seconds.max(1e-9));
        self.filling = filling_at(&self.rates, self.trial_s);
        Ok(trial)
    }

    /// Finds the iterations that fill a trial, once.
    fn calibrate(&mut self) -> Result<(), Reply> {
        if self.filling == 0 {
            let seconds =
                |iterations| Ok(self.executor.trial(&self.each(iterations), 0)?.known.seconds);
            self.filling = filling(self.trial_s, seconds)?;
        }
        Ok(())
    }

    fn trial(&mut self, shares: &[u64], ahead: u64) -> Result<Trial, Reply> {
        self.setup.begin_trial()?;
        let trial = self.executor.trial(shares, ahead)?;
        self.account_for(trial)
    }

    fn reply(&self, trial: Trial) -> Reply {
        Reply::Taken(Box::new(Taken { trial, latency: self.latencies.summary() }))
    }

    /// Completes a trial with what the workload reports about it.
    fn account_for(&mut self, trial: ExecutorTrial) -> Result<Trial, Reply> {
        let network = self.setup.network()?;
        let iterations = trial.claimed;
        if self.setup.on_disk() && trial.counted != iterations {
            // The device counters verify its bytes, so no other comparison would show the difference.
            let what = format!("{} of {iterations} I/Os are proved", trial.counted);
            return Err(Reply::Unverified(what));
        }
        self.latencies.push(trial.latencies);
        let (placement, file) = (self.setup.placement(), self.setup.file());
        let each = self.setup.work_per_iteration();
        let own =
            Account { claimed: iterations as f64 * each, counted: trial.counted as f64 * each };
        // Lost datagrams are not work: on a network the receiver's count is the work.
        let work = if network.is_some() { own.counted } else { trial.within * each };
        if self.unit == Unit::Second && work == 0.0 {
            return Err(Reply::Unverified("none of the work is proved".to_owned()));
        }
        let mut all = trial.known;
        let seen = self.setup.pairs();
        if !seen.is_empty() {
            all.pairs = seen;
        }
        all.conditions.huge_pages = placement.huge;
        all.conditions.misplaced_pages = placement.misplaced;
        let verified = verified(own, network.as_ref(), file.as_ref(), all.device.as_ref());
        let trial = Trial {
            work,
            verified: Some(verified),
            moved: self.setup.moved_per_iteration().map(|m| m * trial.within),
            file,
            network,
            solution: self.setup.solution(),
            ..all
        };
        Ok(Trial { value: trial.derived_value(self.unit), ..trial })
    }

    fn ahead(&self) -> u64 {
        let ahead_s = self.setup.ahead_s(self.trial_s);
        // Without a calibration it may be a complete solve, which cannot be cut.
        if ahead_s <= 0.0 || self.filling == 0 {
            return 0;
        }
        scaled(self.filling, self.trial_s * MARGIN, ahead_s)
    }

    /// Returns the iterations of each thread: `calibrated` where the amount of work is not fixed.
    fn shares(&self, calibrated: u64) -> Vec<u64> {
        match self.setup.amount() {
            Amount::Calibrated => self.each(calibrated),
            Amount::Total(total) => shares(total, self.workers),
            Amount::Whole => self.each(1),
        }
    }

    fn each(&self, iterations: u64) -> Vec<u64> {
        vec![iterations; usize::try_from(self.workers).unwrap_or(0)]
    }
}

/// Finds the iterations that fill a trial: doubles them until they last long enough to be scaled.
fn filling(trial_s: f64, mut seconds: impl FnMut(u64) -> Result<f64, Reply>) -> Result<u64, Reply> {
    let enough = trial_s / 16.0;
    let (mut iterations, mut half) = (1, f64::INFINITY);
    loop {
        let took = fastest((enough, half), || seconds(iterations))?;
        if took >= enough || iterations >= 1 << 60 {
            return Ok(scaled(iterations, took, trial_s * MARGIN));
        }
        (half, iterations) = (took, iterations * 2);
    }
}

/// Returns the shortest of several timings of the same iterations, since a preempted thread makes some
/// too long. They end with the first that is shorter than `enough`. Otherwise they end once the two
/// shortest agree and are not far longer than half of the iterations took, or after ten timings.
fn fastest(
    (enough, half): (f64, f64),
    mut seconds: impl FnMut() -> Result<f64, Reply>,
) -> Result<f64, Reply> {
    const MIN_TIMINGS: usize = 4;
    const MAX_TIMINGS: usize = 10;
    const AGREE: f64 = 1.25;
    // Twice the iterations should take twice the time; the rest is a margin.
    const LONGER: f64 = 4.0;
    let [mut shortest, mut next] = [f64::INFINITY; 2];
    for timings in 1..=MAX_TIMINGS {
        let took = seconds()?;
        if took < shortest {
            (shortest, next) = (took, shortest);
        } else {
            next = next.min(took);
        }
        let agree = next <= AGREE * shortest && shortest <= LONGER * half;
        if shortest < enough || (agree && timings >= MIN_TIMINGS) {
            break;
        }
    }
    Ok(shortest)
}

/// Scales iterations that took `seconds` up to `goal`, by 2 to [`MAX_LENGTHENING`].
fn lengthened(iterations: u64, seconds: f64, goal: f64) -> u64 {
    scaled(iterations, 1.0, (goal / seconds.max(1e-9)).clamp(2.0, MAX_LENGTHENING))
}

/// Iterations that fill a trial at the median of these rates. With the last rate, a pause as long as a
/// trial would shorten the next trial to a fraction, and a pause in that one would shorten it further.
fn filling_at(rates: &[f64], trial_s: f64) -> u64 {
    scaled(1, 1.0, median(rates).unwrap_or(0.0) * trial_s * MARGIN)
}

/// Scales `iterations` that took `seconds` to take `goal` seconds; at least 1.
fn scaled(iterations: u64, seconds: f64, goal: f64) -> u64 {
    (iterations as f64 * goal / seconds.max(1e-9)).ceil().clamp(1.0, 1e18) as u64
}

/// Seconds of untimed slices for `iterations` of about `each_s` each.
fn untimed_s(iterations: u64, each_s: f64) -> f64 {
    (iterations as f64 * each_s).clamp(SLICED_AHEAD_S, MAX_AHEAD_S)
}

/// Divides `total` among `threads` as evenly as whole numbers allow.
fn shares(total: u64, threads: u64) -> Vec<u64> {
    (0..threads).map(|i| total / threads + u64::from(i < total % threads)).collect()
}

#[cfg(test)]
mod tests;
