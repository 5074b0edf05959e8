//! Rounds over nodes: all measure and answer, then measure again. Nodes that look slow measure once
//! more with some of their group that do not. Last, if requested, the network between them
//! (`pairs`).

mod answers;
mod events;
mod pairs;
mod start;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use proofmark_model::{FEWEST_NODES, FleetLine, FleetPlan, NodeFailure, NodesAgain, Pass};

use crate::launch::{Event, Launcher};
use crate::log::{FleetLog, ResumeState, rounds_done};
use crate::protocol::{AnswerReader, NodeTask, Order};
use answers::{Accepted, check_answer};
use events::NodeEvent;
pub use pairs::NetworkPass;
use pairs::PairHistory;

/// Maximum of queued lines from nodes.
const QUEUE: usize = 8192;
/// Time in which a stop that ended connections arrives here too, and the time after which it is
/// waited for again.
const STOP_DELAY: Duration = Duration::from_millis(300);
const STOP_APART: Duration = Duration::from_secs(3);
/// Interval between checks whether the user has stopped the fleet.
const STEP: Duration = Duration::from_millis(100);
/// Interval of keep-alive messages to nodes.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(60);

/// Time limits for nodes.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// Time until all nodes have started.
    pub start: Duration,
    /// Time until all nodes have answered an order.
    pub round: Duration,
}

/// Fleet to measure.
pub struct Fleet<'a> {
    /// Nodes, task and rounds.
    pub plan: &'a FleetPlan,
    /// Time limits for nodes.
    pub limits: TimeLimits,
    /// File for the answers.
    pub log: &'a mut FleetLog,
    /// State from an earlier launcher.
    pub known: &'a ResumeState,
    /// Returns the nodes of the second pass, from the fleet's file.
    pub nodes_again: &'a dyn Fn() -> Result<Vec<String>, String>,
    /// Tests of the network between nodes, if requested.
    pub network: Option<NetworkPass<'a>>,
    /// Prints a line for the user.
    pub print: &'a dyn Fn(&str),
    /// Returns true when the user stops the fleet.
    pub stopped: &'a dyn Fn() -> bool,
}

/// Reason why a fleet is incomplete.
#[derive(Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The user stopped it.
    Stopped,
    /// The launcher failed.
    Failed(String),
}

impl From<std::io::Error> for Unfinished {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(format!("cannot write the fleet's file: {error}"))
    }
}

/// Measures a fleet and appends every answer to its file.
pub fn measure(fleet: Fleet, launcher: &mut dyn Launcher) -> Result<(), Unfinished> {
    let (to, events) = sync_channel(QUEUE);
    launcher.start(to).map_err(Unfinished::Failed)?;
    let mut coordinator = Coordinator {
        fleet,
        launcher,
        events,
        heard: BTreeMap::new(),
        greeted: BTreeSet::new(),
        boots: BTreeMap::new(),
        gone: BTreeSet::new(),
        addresses: BTreeMap::new(),
        pairs: PairHistory::default(),
        in_vain: Duration::ZERO,
        last_keep_alive: Instant::now(),
        last_wait_for_stop: None,
    };
    let all = coordinator.fleet.plan.nodes.clone();
    coordinator.await_hellos(&all)?;
    coordinator.warn_of_too_few();
    let (repaired, others): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|node| coordinator.fleet.known.again.contains(node));
    coordinator.pass(Pass::First, &others)?;
    coordinator.pass(Pass::First, &repaired)?;
    let again = coordinator.nodes_again()?;
    if !again.is_empty() {
        coordinator.print(&format!("second pass: measuring {} again", again.join(", ")));
        coordinator.pass(Pass::Again, &again)?;
    }
    coordinator.network_pass()
}

struct Coordinator<'a> {
    fleet: Fleet<'a>,
    launcher: &'a mut dyn Launcher,
    events: Receiver<Event>,
    /// Incomplete answers by node.
    heard: BTreeMap<String, AnswerReader>,
    /// Nodes that failed for good and get no more orders.
    gone: BTreeSet<String>,
    /// Nodes that sent their hello.
    greeted: BTreeSet<String>,
    /// Node of each boot id.
    boots: BTreeMap<String, String>,
    /// Addresses of nodes that serve others.
    addresses: BTreeMap<String, Vec<SocketAddr>>,
    pairs: PairHistory,
    /// Time for which nodes that were given up were waited for alone.
    in_vain: Duration,
    /// Time of the last keep-alive message.
    last_keep_alive: Instant,
    /// Time when a failure last made it wait for a stop.
    last_wait_for_stop: Option<Instant>,
}

/// Identifies a round by its pass and number.
type RoundId = (Pass, u32);

impl Coordinator<'_> {
    fn print(&self, line: &str) {
        (self.fleet.print)(line);
    }

    /// Returns the nodes of the second pass: those in the file, else those judged now.
    fn nodes_again(&mut self) -> Result<Vec<String>, Unfinished> {
        if let Some(nodes) = &self.fleet.known.nodes_again {
            return Ok(nodes.clone());
        }
        let nodes = (self.fleet.nodes_again)().map_err(Unfinished::Failed)?;
        self.log_line(FleetLine::NodesAgain(NodesAgain { nodes: nodes.clone(), at: None }))?;
        Ok(nodes)
    }

    /// Measures all rounds of a pass that the file lacks.
    fn pass(&mut self, pass: Pass, nodes: &[String]) -> Result<(), Unfinished> {
        let rounds = self.fleet.plan.rounds;
        let done = rounds_done(self.fleet.known, pass, nodes, rounds);
        let begun = (Instant::now(), self.in_vain);
        for round in done + 1..=rounds {
            let here: Vec<String> =
                nodes.iter().filter(|node| !self.gone.contains(*node)).cloned().collect();
            if here.is_empty() {
                return Ok(());
            }
            for mut nodes in batches(here.clone(), self.fleet.plan.at_once, round) {
                // A node may have failed while others were measured.
                nodes.retain(|node| !self.gone.contains(node));
                if nodes.is_empty() {
                    continue;
                }
                let work = NodeTask::Measure(self.fleet.plan.task.clone());
                self.run_orders((pass, round), &[Order { nodes, pass, round, work }])?;
            }
            let left = here.iter().filter(|node| !self.gone.contains(*node)).count();
            let again = if pass == Pass::Again { " second pass:" } else { "" };
            let each = self.seconds_since(begun) / f64::from(round - done);
            let mut time = time_left(each * f64::from(rounds - round));
            if pass == Pass::First && self.fleet.plan.nodes.len() >= FEWEST_NODES {
                time += &second_pass(second_pass_s(self.fleet.plan, each, nodes));
            }
            self.print(&format!(
                "[{round}/{rounds}]{again} {left} of {} nodes answered{time}",
                nodes.len()
            ));
        }
        Ok(())
    }

    /// Returns the seconds since a moment, without those in which nodes were waited for in vain.
    fn seconds_since(&self, (begun, in_vain): (Instant, Duration)) -> f64 {
        let vain = self.in_vain.saturating_sub(in_vain);
        begun.elapsed().saturating_sub(vain).as_secs_f64()
    }

    /// Sends orders at the same time and waits for all answers.
    fn run_orders(&mut self, round_id: RoundId, orders: &[Order]) -> Result<(), Unfinished> {
        orders.iter().for_each(|order| self.launcher.order(order));
        let mut waiting: BTreeMap<&String, &NodeTask> = BTreeMap::new();
        for order in orders {
            waiting.extend(order.nodes.iter().map(|node| (node, &order.work)));
        }
        let limit = self.fleet.limits.round;
        let begun = Instant::now();
        let mut last_answer = begun;
        let mut late = 0;
        while !waiting.is_empty() {
            let Some(event) = self.next((begun, limit), &mut late)? else { break };
            let (node, answer) = match self.interpret(event)? {
                NodeEvent::Nothing | NodeEvent::Hello(..) | NodeEvent::Copying(..) => continue,
                NodeEvent::Gone(node, reason) => (node, Err((reason, true))),
                NodeEvent::Answer(node, answer) => {
                    let own = &self.fleet.plan.tool;
                    let answer =
                        check_answer((&node, own), round_id, waiting.get(&node).copied(), answer);
                    (node, answer)
                }
            };
            match answer {
                Ok(Accepted::Round(round)) => {
                    self.pairs.add(&round);
                    self.log_line(FleetLine::Round(round))?;
                }
                Ok(Accepted::Addresses(addresses)) => {
                    drop(self.addresses.insert(node.clone(), addresses))
                }
                Err((reason, gone)) => {
                    self.fail(&node, waiting.get(&node).copied(), round_id, reason, gone)?;
                }
            }
            waiting.remove(&node);
            last_answer = Instant::now();
        }
        if !waiting.is_empty() {
            self.in_vain += last_answer.elapsed();
        }
        for (node, work) in waiting {
            let mut reason = format!("no answer within {} s", limit.as_secs());
            if let Some(printed) = self.heard.get(node).and_then(AnswerReader::printed) {
                reason = format!("its answer is not proofmark's: {printed} ({reason})");
            }
            self.fail(node, Some(work), round_id, reason, true)?;
        }
        Ok(())
    }

    /// Returns the next event before a deadline. `late` counts events that are read after it.
    fn next(
        &mut self,
        (begun, limit): (Instant, Duration),
        late: &mut usize,
    ) -> Result<Option<Event>, Unfinished> {
        loop {
            if (self.fleet.stopped)() {
                return Err(Unfinished::Stopped);
            }
            if self.last_keep_alive.elapsed() > KEEP_ALIVE_INTERVAL {
                self.launcher.keep_alive();
                self.last_keep_alive = Instant::now();
            }
            let left = limit.saturating_sub(begun.elapsed());
            // Accept events that arrived in time but are read late: at most one full queue.
            *late += usize::from(left.is_zero());
            if *late <= QUEUE
                && let Ok(event) = self.events.try_recv()
            {
                return Ok(Some(event));
            }
            if left.is_zero() {
                return Ok(None);
            }
            match self.events.recv_timeout(left.min(STEP)) {
                Ok(event) => return Ok(Some(event)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left.min(STEP)),
            }
        }
    }

    fn fail(
        &mut self,
        node: &str,
        work: Option<&NodeTask>,
        round_id: RoundId,
        reason: String,
        gone: bool,
    ) -> Result<(), Unfinished> {
        self.wait_for_stop()?;
        let (pass, round) = round_id;
        let partner = match work {
            Some(NodeTask::Pair { partner, .. }) => Some(partner.clone()),
            _ => None,
        };
        if let Some(partner) = &partner {
            self.pairs.fail(node, partner);
        }
        let with = partner.iter().map(|partner| format!(" with {partner}")).collect::<String>();
        self.print(&format!("{node}{with}: {reason}"));
        if gone {
            self.gone.insert(node.to_owned());
            self.launcher.end(node);
        }
        let node = node.to_owned();
        self.log_line(FleetLine::Failure(NodeFailure { node, partner, pass, round, reason, gone }))
    }

    /// Waits a moment before a node is blamed. What stops this program may end its connections
    /// first: a signal to all processes of a job or a terminal.
    fn wait_for_stop(&mut self) -> Result<(), Unfinished> {
        let waits = self.last_wait_for_stop.is_none_or(|last| last.elapsed() > STOP_APART);
        let begun = Instant::now();
        while waits && begun.elapsed() < STOP_DELAY && !(self.fleet.stopped)() {
            std::thread::sleep(STEP / 4);
        }
        if waits {
            self.last_wait_for_stop = Some(Instant::now());
        }
        if (self.fleet.stopped)() { Err(Unfinished::Stopped) } else { Ok(()) }
    }

    fn log_line(&mut self, line: FleetLine) -> Result<(), Unfinished> {
        Ok(self.fleet.log.append(&line)?)
    }
}

/// Returns the maximum seconds of the second pass after a round of `each_s` seconds. It may have all
/// nodes of the fleet, where these may be the repaired ones alone.
fn second_pass_s(plan: &FleetPlan, each_s: f64, nodes: &[String]) -> f64 {
    let turns = |nodes: &[String]| f64::from(turns(nodes.len(), plan.at_once));
    each_s * turns(&plan.nodes) / turns(nodes) * f64::from(plan.rounds)
}

/// Returns the number of batches of so many nodes.
fn turns(nodes: usize, at_once: Option<u32>) -> u32 {
    let at_once = at_once.map_or(usize::MAX, |n| n.max(1) as usize);
    nodes.div_ceil(at_once).max(1) as u32
}

/// Splits a round's nodes into batches that measure at the same time. Batches are as large as
/// allowed and differ from round to round.
fn batches(mut nodes: Vec<String>, at_once: Option<u32>, round: u32) -> Vec<Vec<String>> {
    let count = turns(nodes.len(), at_once) as usize;
    let by = round as usize % nodes.len().max(1);
    nodes.rotate_left(by);
    if count > 1 && round.is_multiple_of(2) {
        nodes.reverse();
    }
    let size = nodes.len().div_ceil(count).max(1);
    nodes.chunks(size).map(<[String]>::to_vec).collect()
}

/// Describes the time that the rounds left are expected to take; empty without any.
fn time_left(seconds: f64) -> String {
    if seconds > 0.0 { format!(", about {} left", about(seconds)) } else { String::new() }
}

/// Describes the time of the second pass, which takes place if a node looks slow.
fn second_pass(seconds: f64) -> String {
    format!("; if a node looks slow, up to {} for a second pass", about(seconds))
}

fn about(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s => format!("{} min", (s / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests;
