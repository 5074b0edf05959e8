//! Rounds over nodes: all of them measure, answer, and measure again. Then those that look slow, once
//! more, beside some of their group that do not. Then, if it is asked for, the network between them
//! (`pairs`).

mod answers;
mod pairs;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use proofmark_model::{FleetLine, FleetPlan, NodeFailure, NodesAgain, Pass, clean_excerpt};

use crate::launch::{Event, Launcher};
use crate::log::{FleetLog, ResumeState, rounds_done};
use crate::protocol::{Answer, AnswerReader, Order, Work};
use answers::{Kept, NOT_ASKED, check_answer};
pub use pairs::NetworkPass;
use pairs::PairHistory;

/// Lines of nodes that wait to be read.
const QUEUE: usize = 8192;
/// How often nodes are told that the launcher is there.
const WAKE: Duration = Duration::from_secs(60);

/// How long nodes are waited for.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// Until all have started.
    pub start: Duration,
    /// Until those that were asked have answered.
    pub round: Duration,
}

/// A fleet that is measured.
pub struct Fleet<'a> {
    /// What is to be measured, where.
    pub plan: &'a FleetPlan,
    /// How long nodes are waited for.
    pub limits: TimeLimits,
    /// Where lines are appended.
    pub log: &'a mut FleetLog,
    /// What is known from before.
    pub known: &'a ResumeState,
    /// By the fleet's file, which nodes to measure again.
    pub nodes_again: &'a dyn Fn() -> Result<Vec<String>, String>,
    /// The network between nodes, if it is measured.
    pub network: Option<NetworkPass<'a>>,
    /// Says a line to the user.
    pub tell: &'a dyn Fn(&str),
    /// Whether to stop.
    pub stopped: &'a dyn Fn() -> bool,
}

/// Why a fleet was not measured to its end.
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

/// Measures a fleet.
pub fn measure(fleet: Fleet, launcher: &mut dyn Launcher) -> Result<(), Unfinished> {
    let (to, events) = sync_channel(QUEUE);
    launcher.start(to).map_err(Unfinished::Failed)?;
    let mut asking = Coordinator {
        fleet,
        launcher,
        events,
        heard: BTreeMap::new(),
        said_hello: BTreeSet::new(),
        gone: BTreeSet::new(),
        addresses: BTreeMap::new(),
        pairs: PairHistory::default(),
        woken: Instant::now(),
    };
    let all = asking.fleet.plan.nodes.clone();
    asking.begin(&all)?;
    asking.pass(Pass::First, &all)?;
    let again = asking.nodes_again()?;
    if !again.is_empty() {
        asking.tell(&format!("measuring again: {}", again.join(", ")));
        asking.pass(Pass::Again, &again)?;
    }
    asking.network_pass()
}

struct Coordinator<'a> {
    fleet: Fleet<'a>,
    launcher: &'a mut dyn Launcher,
    events: Receiver<Event>,
    /// What each node has said of an answer that goes on.
    heard: BTreeMap<String, AnswerReader>,
    /// Who is asked no more.
    gone: BTreeSet<String>,
    /// Who has said what it runs.
    said_hello: BTreeSet<String>,
    /// Where nodes answer others.
    addresses: BTreeMap<String, Vec<SocketAddr>>,
    pairs: PairHistory,
    /// When nodes were told last that the launcher is there.
    woken: Instant,
}

/// Which round of which pass.
type When = (Pass, u32);

impl Coordinator<'_> {
    fn tell(&self, line: &str) {
        (self.fleet.tell)(line);
    }

    /// Which nodes are measured again: as the file says, if it does.
    fn nodes_again(&mut self) -> Result<Vec<String>, Unfinished> {
        if let Some(nodes) = &self.fleet.known.nodes_again {
            return Ok(nodes.clone());
        }
        let nodes = (self.fleet.nodes_again)().map_err(Unfinished::Failed)?;
        self.keep(FleetLine::NodesAgain(NodesAgain { nodes: nodes.clone() }))?;
        Ok(nodes)
    }

    /// Waits until every node has said what it runs.
    fn begin(&mut self, nodes: &[String]) -> Result<(), Unfinished> {
        let mut waiting: BTreeSet<String> = nodes.iter().cloned().collect();
        let limit = self.fleet.limits.start;
        let begun = Instant::now();
        // Nobody has been asked anything: who fails here fails in the first round that is to come.
        let when = self.to_come(nodes);
        let mut late = 0;
        while !waiting.is_empty() {
            let Some(event) = self.next((begun, limit), &mut late)? else { break };
            match self.understand(event)? {
                Heard::Nothing => {}
                Heard::Hello(node) => drop(waiting.remove(&node)),
                Heard::Gone(node, reason) => {
                    waiting.remove(&node);
                    self.fail(&node, None, when, reason, true)?;
                }
                Heard::Answer(node, _) => {
                    waiting.remove(&node);
                    let reason = NOT_ASKED.to_owned();
                    self.fail(&node, None, when, reason, true)?;
                }
            }
        }
        for node in waiting {
            let reason = format!("it did not start within {} s (--start-limit)", limit.as_secs());
            self.fail(&node, None, when, reason, true)?;
        }
        Ok(())
    }

    /// The first round that is not known from before.
    fn to_come(&self, nodes: &[String]) -> When {
        let rounds = self.fleet.plan.rounds;
        match rounds_done(self.fleet.known, Pass::First, nodes, rounds) {
            done if done < rounds => (Pass::First, done + 1),
            _ => (Pass::Again, 1),
        }
    }

    /// All rounds of a pass that are not known from before.
    fn pass(&mut self, pass: Pass, nodes: &[String]) -> Result<(), Unfinished> {
        let rounds = self.fleet.plan.rounds;
        let done = rounds_done(self.fleet.known, pass, nodes, rounds);
        for round in done + 1..=rounds {
            let here: Vec<String> =
                nodes.iter().filter(|node| !self.gone.contains(*node)).cloned().collect();
            if here.is_empty() {
                return Ok(());
            }
            for mut nodes in batches(here.clone(), self.fleet.plan.at_once, round) {
                // One may have gone while others were asked.
                nodes.retain(|node| !self.gone.contains(node));
                if nodes.is_empty() {
                    continue;
                }
                let work = Work::Measure(self.fleet.plan.task.clone());
                self.ask((pass, round), &[Order { nodes, pass, round, work }])?;
            }
            let left = here.iter().filter(|node| !self.gone.contains(*node)).count();
            let again = if pass == Pass::Again { " second pass:" } else { "" };
            self.tell(&format!("[{round}/{rounds}]{again} {left} of {} nodes answer", nodes.len()));
        }
        Ok(())
    }

    /// Has some nodes follow orders at once, and waits for their answers.
    fn ask(&mut self, when: When, orders: &[Order]) -> Result<(), Unfinished> {
        orders.iter().for_each(|order| self.launcher.order(order));
        let mut waiting: BTreeMap<&String, &Work> = BTreeMap::new();
        for order in orders {
            waiting.extend(order.nodes.iter().map(|node| (node, &order.work)));
        }
        let limit = self.fleet.limits.round;
        let begun = Instant::now();
        let mut late = 0;
        while !waiting.is_empty() {
            let Some(event) = self.next((begun, limit), &mut late)? else { break };
            let (node, answer) = match self.understand(event)? {
                Heard::Nothing | Heard::Hello(_) => continue,
                Heard::Gone(node, reason) => (node, Err((reason, true))),
                Heard::Answer(node, answer) => {
                    let own = &self.fleet.plan.tool;
                    let answer =
                        check_answer((&node, own), when, waiting.get(&node).copied(), answer);
                    (node, answer)
                }
            };
            match answer {
                Ok(Kept::Round(round)) => {
                    self.pairs.add(&round);
                    self.keep(FleetLine::Round(round))?;
                }
                Ok(Kept::Addresses(addresses)) => {
                    drop(self.addresses.insert(node.clone(), addresses))
                }
                Err((reason, gone)) => {
                    self.fail(&node, waiting.get(&node).copied(), when, reason, gone)?;
                }
            }
            waiting.remove(&node);
        }
        for (node, work) in waiting {
            let reason = format!("no answer within {} s", limit.as_secs());
            self.fail(node, Some(work), when, reason, true)?;
        }
        Ok(())
    }

    /// The next event within a limit of a moment. `late` counts those that were read afterwards.
    fn next(
        &mut self,
        (begun, limit): (Instant, Duration),
        late: &mut usize,
    ) -> Result<Option<Event>, Unfinished> {
        const STEP: Duration = Duration::from_millis(100);
        loop {
            if (self.fleet.stopped)() {
                return Err(Unfinished::Stopped);
            }
            if self.woken.elapsed() > WAKE {
                self.launcher.keep_alive();
                self.woken = Instant::now();
            }
            let left = limit.saturating_sub(begun.elapsed());
            // What has come in time counts, however late it is read: that is no more than waits.
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

    fn understand(&mut self, event: Event) -> Result<Heard, Unfinished> {
        let known =
            |node: &String| self.fleet.plan.nodes.contains(node) && !self.gone.contains(node);
        Ok(match event {
            Event::Said { node, .. } | Event::Ended { node, .. } if !known(&node) => Heard::Nothing,
            Event::Ended { node, reason } => Heard::Gone(node, reason),
            Event::Failed(why) => return Err(Unfinished::Failed(why)),
            Event::Said { node, line } => {
                match self.heard.entry(node.clone()).or_default().read(&line) {
                    Ok(None) => Heard::Nothing,
                    Err(reason) => Heard::Gone(node, reason),
                    Ok(Some(Answer::Hello { node: name, .. })) if name != node => {
                        Heard::Gone(node, format!("it calls itself '{}'", clean_excerpt(&name, 60)))
                    }
                    Ok(Some(Answer::Hello { .. })) if !self.said_hello.insert(node.clone()) => {
                        Heard::Gone(node, "it sent a second hello".to_owned())
                    }
                    Ok(Some(Answer::Hello { tool, .. })) => {
                        match tool.mismatch(&self.fleet.plan.tool) {
                            Some(reason) => Heard::Gone(node, reason),
                            None => Heard::Hello(node),
                        }
                    }
                    Ok(Some(answer)) => Heard::Answer(node, answer),
                }
            }
        })
    }

    fn fail(
        &mut self,
        node: &str,
        work: Option<&Work>,
        when: When,
        reason: String,
        gone: bool,
    ) -> Result<(), Unfinished> {
        let (pass, round) = when;
        let partner = match work {
            Some(Work::Pair { partner, .. }) => Some(partner.clone()),
            _ => None,
        };
        if let Some(partner) = &partner {
            self.pairs.fail(node, partner);
        }
        let with = partner.iter().map(|partner| format!(" with {partner}")).collect::<String>();
        self.tell(&format!("{node}{with}: {reason}"));
        if gone {
            self.gone.insert(node.to_owned());
            self.launcher.end(node);
        }
        let node = node.to_owned();
        self.keep(FleetLine::Failure(NodeFailure { node, partner, pass, round, reason, gone }))
    }

    fn keep(&mut self, line: FleetLine) -> Result<(), Unfinished> {
        Ok(self.fleet.log.append(&line)?)
    }
}

/// The nodes of a round that measure at the same time, by turns: as many each time as possible, and
/// with others in each round.
fn batches(mut nodes: Vec<String>, at_once: Option<u32>, round: u32) -> Vec<Vec<String>> {
    let at_once = at_once.map_or(usize::MAX, |n| n.max(1) as usize);
    let count = nodes.len().div_ceil(at_once).max(1);
    let by = round as usize % nodes.len().max(1);
    nodes.rotate_left(by);
    if count > 1 && round.is_multiple_of(2) {
        nodes.reverse();
    }
    let size = nodes.len().div_ceil(count).max(1);
    nodes.chunks(size).map(<[String]>::to_vec).collect()
}

/// What a node's line means.
enum Heard {
    Nothing,
    Hello(String),
    Answer(String, Answer),
    Gone(String, String),
}

#[cfg(test)]
mod tests;
