//! A trial in slices: see `rounds`.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering;

use proofmark_model::{CpuDistance, CpuPairSeen, QuotaTrial, Timestamp, Trial};

use super::timed::{Counters, TeamState, ThreadResult, Timed};
use super::{CpuTeam, usable_now};
use crate::cpu_pair::CpuPair;
use crate::cutting::Cutting;
use crate::executor::{ExecutorTrial, SlicedAmount as Amount, SlicedTrial};
use crate::gaps::Gaps;
use crate::load_clock::{LoadClock, TrialClock};
use crate::protocol::Reply;
use crate::quota::{self, LeadIn};
use crate::rounds::log::{Log, Until};
use crate::rounds::ticks::{Moment, Scale, Ticks};
use crate::rounds::{Cpu, Recorded, Rounds};
use crate::time_account::continued;
use crate::workload::Load;

/// An order to a thread for a trial in slices.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlicedOrder {
    cutting: Cutting,
    /// Iterations to prepare: about as many as will run.
    ready: u64,
    /// Seconds of untimed slices first, which bring the core to the load's own clock.
    ahead_s: f64,
    /// Approximate seconds of the timed part.
    seconds: f64,
    /// Iterations of the timed part if their number is fixed; `None`: as many as fit.
    iterations: Option<u64>,
    /// True if the threads that work have a fixed number of iterations.
    fixed: bool,
    /// True if the thread shares the work. Otherwise it only loads the machine until the others are
    /// done.
    works: bool,
    /// The end of the untimed slices, under a quota that limits the threads.
    lead_in: Option<LeadIn>,
}

/// Maximum random shift of a timed part's start, in seconds. Other periodic work may stop the
/// threads of each trial at the same moment of its period. Without the shift each timed part would
/// begin equally long after such work.
const SPREAD_S: f64 = 5e-3;

/// Maximum credible seconds of a calibrated slice: iterations of loads that are cut take
/// microseconds.
const MAX_SLICE_S: f64 = 0.05;

/// Seconds before the timed part at which counters are read: more than reading them takes.
const COUNTED_S: f64 = 2e-3;

impl CpuTeam {
    /// Runs a trial in slices, in rounds, on the first threads. The others load the machine
    /// meanwhile.
    pub(super) fn in_slices(&self, asked: &SlicedTrial) -> Result<ExecutorTrial, Reply> {
        let SlicedTrial { workers, amount, ahead_s, .. } = asked;
        let (workers, ahead_s) = (*workers, *ahead_s);
        let started = Timestamp::now();
        let cutting = asked.cutting.for_threads(self.members.len());
        let lead_in = self.lead_in();
        continued().store(false, Ordering::Relaxed);
        let usable = usable_now();
        let how = (cutting, ahead_s, lead_in);
        let order = |i: usize| SlicedOrder::for_thread(i, workers, amount, how);
        let mut results = self.ask(workers, order)?;
        let places = self.places(&results);
        let logs: Vec<_> =
            (0..workers).map(|i| (places[i], std::mem::take(&mut results[i].log))).collect();
        let worked = &results[..workers.min(results.len())];
        let timed = self.timed_part(amount, worked, &logs)?;
        let away = timed.away(&results);
        let recorded = Recorded {
            logs: &logs,
            scale: timed.scale,
            overhead: Ticks::new().overhead(),
            from: timed.begin,
            seconds: timed.seconds,
            cutting: as_seen(cutting, &logs, timed.scale),
            cpus: self.cpus,
            away: &away,
        };
        let window_s = lead_in.map_or(0.0, |l| whole_periods_in(timed.seconds, l.quota.period()));
        let outside_s = recorded.worked_outside_s(window_s);
        let Rounds { all, iterations, clocks, worked_s, gaps_s } =
            recorded.rounds(asked.unit, asked.work_per_iteration);
        let clock = |(i, p): (usize, &ThreadResult)| TrialClock {
            within: clocks.get(i).copied().flatten(),
            ..p.clock
        };
        let clocks: Vec<_> = results.iter().enumerate().map(clock).collect();
        let known = self.trial_data(&results, &clocks, &usable, 1.0);
        let known = Trial {
            started,
            seconds: all.iter().map(|round| round.seconds).sum(),
            rounds: all,
            pairs: self.cpu_pairs(&results),
            time_account: self.time_account(worked, (&worked_s, &gaps_s), known.ran_on.as_ref()),
            quota: known.quota.map(|seen| QuotaTrial {
                timed_s: timed.seconds,
                window_s,
                own_cpu_s: own_cpu_s(worked, &outside_s),
                own_cpus: Some(self.could_use(worked.len())),
                ..seen
            }),
            // Counters are read some milliseconds before the timed part begins and after it ends.
            conditions: known.conditions.part(timed.seconds / timed.counted_s),
            ..known
        };
        let usual = logs.iter().filter_map(|(_, log)| log.usual_ticks()).max_by(f64::total_cmp);
        let each_s = usual.map(|ticks| ticks * timed.scale.tick_s);
        let from = timed.from;
        Ok(ExecutorTrial {
            from,
            within: iterations,
            each_s,
            ..ExecutorTrial::from_threads(&results, known)
        })
    }

    /// The timed part, from the results of the threads that worked.
    fn timed_part(
        &self,
        amount: &Amount,
        worked: &[ThreadResult],
        logs: &[(Cpu, Log)],
    ) -> Result<TimedPart, Reply> {
        let (from, span_s) = super::span(worked);
        let [first, last] = worked.iter().find_map(|p| p.moments).ok_or_else(super::died)?;
        let scale = Scale::between(first, last);
        let (begin, seconds) = match amount {
            Amount::Iterations(..) => {
                (logs.iter().map(|(_, log)| log.from).min().unwrap_or(0), span_s)
            }
            Amount::Seconds(seconds) => {
                let begin = self.state.begin.load(Ordering::Relaxed);
                let long = at_least_a_slice(logs, begin, Ticks::new().in_seconds(*seconds));
                (begin, long as f64 * scale.tick_s)
            }
        };
        let begin_s = first.raw_seconds_at(begin, scale);
        Ok(TimedPart { from, begin, begin_s, seconds, scale, counted_s: first.seconds_to(last) })
    }
}

/// The timed part of a trial.
struct TimedPart {
    /// Start of the first thread, on the clock of trials.
    from: f64,
    /// Begin, in ticks and on the clock of trials.
    begin: u64,
    begin_s: f64,
    seconds: f64,
    scale: Scale,
    /// Seconds between the readings of the counters.
    counted_s: f64,
}

impl TimedPart {
    /// The gaps of each thread that only loaded the machine, in seconds from the begin.
    fn away(&self, results: &[ThreadResult]) -> Vec<Vec<(f64, f64)>> {
        let from_begin = |(from, to): &(f64, f64)| (from - self.begin_s, to - self.begin_s);
        let loads = results.iter().filter_map(|p| p.disturbed.as_ref());
        loads.map(|load| load.gaps.all().iter().map(from_begin).collect()).collect()
    }
}

impl SlicedOrder {
    /// The order for thread `index`. The first `workers` threads share the work.
    fn for_thread(
        index: usize,
        workers: usize,
        amount: &Amount,
        (cutting, ahead_s, lead_in): (Cutting, f64, Option<LeadIn>),
    ) -> Self {
        let seconds = amount.seconds();
        let parts = [ahead_s + SPREAD_S, seconds].map(|s| cutting.iterations_in(s));
        let ready = parts.into_iter().fold(0, u64::saturating_add);
        let (iterations, fixed) = (amount.iterations(index), amount.is_fixed());
        let works = index < workers;
        Self { cutting, ready, ahead_s, seconds, iterations, fixed, works, lead_in }
    }
}

impl CpuTeam {
    /// The distance of the CPUs of two threads each, before the timed part and after it.
    fn cpu_pairs(&self, results: &[ThreadResult]) -> Vec<CpuPairSeen> {
        let pair = |k: usize| {
            let cpus = [2 * k, 2 * k + 1].map(|thread| self.runs_on[thread].number);
            let [before, after] = results[2 * k].partner_seen;
            CpuPairSeen { cpus, before, after }
        };
        (0..self.state.pairs.len()).map(pair).collect()
    }
}

/// The cutting with the measured time of the longest slices, if slices ran ahead.
fn as_seen(cutting: Cutting, logs: &[(Cpu, Log)], scale: Scale) -> Cutting {
    let longest = logs.iter().filter_map(|(_, log)| log.slice_ticks()).max_by(f64::total_cmp);
    let slice_s = longest.map_or(cutting.slice_s, |ticks| ticks * scale.tick_s);
    Cutting { slice_s, ..cutting }
}

impl CpuTeam {
    /// The CPU of each thread, by which windows are summed. A thread that was elsewhere at either
    /// end counts on the CPU that it shared with another, so that no core is counted without work.
    fn places(&self, results: &[ThreadResult]) -> Vec<Cpu> {
        let place = |i: usize| {
            let (planned, Some(result)) = (self.planned.get(i).copied(), results.get(i)) else {
                return self.runs_on[i];
            };
            let away = |cpu: &&u32| self.pinned && planned.is_some_and(|planned| planned != **cpu);
            let Some(away) = result.ran_on.iter().find(away) else { return self.runs_on[i] };
            let shared = result.ran_on.iter().find(|cpu| {
                let others = results.iter().enumerate().filter(|(other, _)| *other != i);
                others.flat_map(|(_, r)| &r.ran_on).any(|other| other == *cpu)
            });
            Cpu::for_thread(i, Some(*shared.unwrap_or(away)))
        };
        (0..results.len()).map(place).collect()
    }
}

/// Seconds of the whole periods that fit into `seconds`.
fn whole_periods_in(seconds: f64, period_s: f64) -> f64 {
    // A timed part that is one slice short still has all its periods.
    (seconds / period_s + 1e-3).floor() * period_s
}

/// CPU time of the threads by their own clocks, without the time outside of the window.
fn own_cpu_s(results: &[ThreadResult], outside_s: &[f64]) -> Option<f64> {
    let own = |(p, outside): (&ThreadResult, &f64)| Some((p.counters.cpu_s? - outside).max(0.0));
    results.iter().zip(outside_s).map(own).sum()
}

/// The ticks `long`, or more if all threads were stopped longer: until one has done something.
fn at_least_a_slice(logs: &[(Cpu, Log)], begin: u64, long: u64) -> u64 {
    let ended = logs.iter().filter_map(|(_, log)| log.first_end_after(begin)).min();
    long.max(ended.map_or(0, |end| end - begin))
}

/// The ticks with a random shift of up to `spread`, at most a quarter of them.
fn spread(ticks: u64, spread: u64) -> u64 {
    let spread = spread.min(ticks / 4);
    let random = RandomState::new().hash_one(ticks);
    ticks - spread + random % (2 * spread + 1)
}

/// Marks a start that is not known yet.
const NOT_YET: u64 = u64::MAX;

/// Seconds between readings of the refills under a quota.
const REFILLS_READ_S: f64 = 1e-3;

/// Runs the untimed slices. Returns the tick at which the timed part begins, and under a quota the
/// refills and throttled periods before it.
fn run_ahead(
    load: &mut dyn Load,
    order: SlicedOrder,
    state: &TeamState,
    (ticks, timed, leads): (Ticks, &mut Log, bool),
    gaps: Option<&mut Gaps>,
) -> (u64, [u64; 2]) {
    let mut log = Log::with_room(order.cutting, order.ahead_s);
    if order.works {
        load.prepare(order.ready);
    }
    // At least one slice. The last one may begin at the end of its time.
    let slice_s = order.cutting.slice_s.min(MAX_SLICE_S);
    let [long, rest] =
        [order.ahead_s.max(slice_s), slice_s + COUNTED_S].map(|s| ticks.in_seconds(s));
    let begin_after = |long: u64| ticks.now() + spread(long, ticks.in_seconds(SPREAD_S)) + rest;
    // The time counts from here on: with many threads, their arrival takes longer than the untimed
    // part.
    state.start.wait_after(|| {
        state.ahead_over.store(false, Ordering::Release);
        let begin = if order.lead_in.is_some() { NOT_YET } else { begin_after(long) };
        state.begin.store(begin, Ordering::Release);
    });
    let mut refills = [0; 2];
    if let Some(gaps) = gaps {
        // Threads that load the machine also do so before the timed part. Under a quota they use
        // its time, too.
        load.disturb(&state.ahead_over, gaps);
        return (state.begin.load(Ordering::Acquire), refills);
    }
    if let Some(lead_in) = order.lead_in {
        refills = run_lead_in(load, (order, lead_in), state, (ticks, &mut log, leads), || {
            // Soon, before the allowance is used up.
            begin_after(ticks.in_seconds(2.0 * slice_s))
        });
    }
    let begin = state.begin.load(Ordering::Acquire);
    log.run_ahead(load, ticks, order.cutting.cut, Until::Tick(begin - rest));
    // A thread that was stopped so far has not read the clock. This brings its code into the cache.
    log.read_clock(load, ticks, ticks.now());
    let per_second = ticks.in_seconds(1.0) as f64;
    timed.fit(&log, order.cutting, per_second, (order.seconds, order.iterations));
    (begin, refills)
}

/// Runs untimed slices until the time that the quota saved before the trial is used up. The leading
/// thread decides that, and returns the refills and throttled periods. The log keeps the last
/// slices.
fn run_lead_in(
    load: &mut dyn Load,
    (order, lead_in): (SlicedOrder, LeadIn),
    state: &TeamState,
    (ticks, log, leads): (Ticks, &mut Log, bool),
    begin: impl Fn() -> u64,
) -> [u64; 2] {
    let (since, mut seen) = (ticks.now(), [0; 2]);
    let mut decide = || {
        seen = lead_in.seen(&quota::read_all(&state.sources.cpu_stat));
        let elapsed_s = (ticks.now() - since) as f64 / ticks.in_seconds(1.0) as f64;
        if lead_in.is_over(seen, elapsed_s) {
            state.begin.store(begin(), Ordering::Release);
        }
    };
    while state.begin.load(Ordering::Acquire) == NOT_YET {
        log.start_over();
        let until = Until::Tick(ticks.now() + ticks.in_seconds(REFILLS_READ_S));
        log.run_ahead(load, ticks, order.cutting.cut, until);
        if leads {
            decide();
        }
    }
    seen
}

/// Measures the distance to the partner's CPU, on the first of two threads.
fn meet_partner(state: &TeamState, index: usize) -> Option<CpuDistance> {
    state.start.wait_after(|| state.pairs.iter().for_each(CpuPair::reset));
    let pair = state.pairs.get(index / 2)?;
    if index.is_multiple_of(2) {
        return pair.look();
    }
    pair.be_seen();
    None
}

/// Runs a trial in slices. They run on from the untimed part into the timed one. The timed part
/// begins and ends at moments that are independent of other work, so time that is lost at its edges
/// counts correctly. A fixed amount of work begins when all threads are ready.
pub(super) fn one_trial(
    load: &mut dyn Load,
    order: SlicedOrder,
    state: &TeamState,
    index: usize,
) -> Result<ThreadResult, Reply> {
    let (ticks, cut, leads) = (Ticks::new(), order.cutting.cut, index == 0);
    let mut log = Log::with_room(order.cutting, order.seconds);
    let before = meet_partner(state, index);
    let mut gaps = (!order.works).then(Gaps::begin);
    let ahead = (ticks, &mut log, leads);
    let (begin, refills_ahead) = run_ahead(load, order, state, ahead, gaps.as_mut());
    let counters = Counters::before(state, leads);
    let first = leads.then(|| Moment::read(ticks));
    if leads {
        // Threads that only load the machine read their counters after this one, so that the
        // seconds of all are those of the timed part.
        state.ahead_over.store(true, Ordering::Release);
    }
    load.begin();
    if order.fixed {
        state.start.wait();
    }
    let until = match order.iterations {
        Some(iterations) => Until::Iterations(iterations),
        None => Until::Tick(begin + ticks.in_seconds(order.seconds)),
    };
    let timed = Timed::run(load, state, gaps, |load| log.run(load, ticks, cut, until));
    let after = LoadClock::read(load);
    let counters = [counters, Counters::after(&timed, state, leads)];
    let moments = first.map(|first| [first, Moment::read(ticks)]);
    let partner_seen = [before, meet_partner(state, index)];
    Ok(ThreadResult {
        claimed: log.iterations(),
        log,
        moments,
        partner_seen,
        refills_ahead,
        clock: TrialClock { after: Some(after), ..TrialClock::default() },
        ..timed.result(load, counters)?
    })
}

#[cfg(test)]
mod tests;
