//! The life of one thread of a team, and a trial that is not cut into slices.

use std::sync::mpsc::{Receiver, Sender};

use super::sliced::{self, SlicedOrder};
use super::timed::{Counters, TeamState, ThreadResult, Timed};
use crate::affinity::pin;
use crate::clock_samples::ClockSamples;
use crate::device::DeviceCounters;
use crate::gaps::Gaps;
use crate::load_clock::{LoadClock, TrialClock};
use crate::protocol::Reply;
use crate::rounds::Cpu;
use crate::tracer::Tracer;
use crate::workload::{Load, Setup};

#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// A trial of one call of the load, or two.
    Plain(Plain),
    /// A trial in slices.
    Sliced(SlicedOrder),
}

impl From<Plain> for Order {
    fn from(order: Plain) -> Self {
        Self::Plain(order)
    }
}

impl From<SlicedOrder> for Order {
    fn from(order: SlicedOrder) -> Self {
        Self::Sliced(order)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    /// Iterations that run first, untimed, to bring the core to the load's own clock.
    pub(super) ahead: u64,
    /// Iterations that are timed; `None`: the thread only loads the machine until the others are
    /// done.
    pub(super) iterations: Option<u64>,
    pub(super) clock: bool,
}

/// Runs one thread: sets it up, then takes trials until there are no more orders.
pub(super) fn live(
    setup: &dyn Setup,
    (index, of): (usize, usize),
    (cpu, pinned_to): (Cpu, Option<u32>),
    state: &TeamState,
    inbox: &Receiver<Order>,
    outbox: &Sender<Result<ThreadResult, Reply>>,
) {
    let mut load = match setup.thread(index, of) {
        Ok(load) => load,
        Err(refusal) => {
            let _ = outbox.send(Err(refusal.into()));
            return;
        }
    };
    let ready = ThreadResult { cpu: Some(cpu), ..ThreadResult::default() };
    if outbox.send(Ok(ready)).is_err() {
        return;
    }
    while let Ok(order) = inbox.recv() {
        let (before, tracer) = (load.visits(), Tracer::for_this_thread());
        pinned_to.into_iter().for_each(return_to);
        let result = match order {
            Order::Plain(order) => one_trial(load.as_mut(), order, state, index == 0),
            Order::Sliced(order) => sliced::one_trial(load.as_mut(), order, state, index),
        };
        let visits = before.zip(load.visits()).map(|(before, after)| [before, after]);
        let tracer = || tracer.or(Tracer::for_this_thread());
        let result = result.map(|r| ThreadResult { visits, tracer: tracer(), ..r });
        if outbox.send(result).is_err() {
            return;
        }
    }
}

/// Pins the thread again if it was moved: a CPU that went offline, or left the cpuset, may be back.
fn return_to(cpu: u32) {
    if rustix::thread::sched_getcpu() as u32 != cpu {
        pin(cpu); // If that fails, the trial reports where it ran.
    }
}

/// Runs a trial without slices. All counters are read directly before and after the timed part.
fn one_trial(
    load: &mut dyn Load,
    order: Plain,
    state: &TeamState,
    leads: bool,
) -> Result<ThreadResult, Reply> {
    if let Some(iterations) = order.iterations {
        load.prepare(order.ahead + iterations);
    }
    state.start.wait();
    if order.iterations.is_some() {
        load.run(order.ahead);
    }
    // The counters of the system must not include another thread's untimed work.
    state.start.wait();
    load.begin();
    let before = order.clock.then(|| LoadClock::read(load));
    let devices = || leads.then(|| DeviceCounters::read(&state.sources.devices)).flatten();
    let devices_before = devices();
    let counters = Counters::before(state, leads);
    state.start.wait();
    let iterations = order.iterations.unwrap_or(0);
    let gaps = order.iterations.is_none().then(Gaps::begin);
    let timed = Timed::run(load, state, gaps, |load| load.run(iterations));
    let devices_after = devices();
    let after = order.clock.then(|| LoadClock::read(load));
    let counters = [counters, Counters::after(&timed, state, leads)];
    let around = before.zip(after).map(|(before, after)| [before, after]);
    let plain = around.map(|[before, after]| before.plain.hz().max(after.plain.hz()));
    let within = plain.and_then(|hz| load.clock_samples()?.mean(hz));
    Ok(ThreadResult {
        claimed: iterations,
        clock: TrialClock { before, after, within },
        issue_width: load.clock_samples().and_then(ClockSamples::issue_width),
        device: devices_after.zip(devices_before).and_then(|(after, before)| after.since(&before)),
        ..timed.result(load, counters)?
    })
}
