//! The start of all nodes, up to their hello.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::time::{Duration, Instant};

use proofmark_model::{FEWEST_NODES, Pass, counted};

use super::answers::NOT_ASKED;
use super::{Coordinator, NodeEvent, RoundId, Unfinished};
use crate::launch::Copied;
use crate::log::rounds_done;

impl Coordinator<'_> {
    /// Waits for the hello of every node.
    pub(super) fn await_hellos(&mut self, nodes: &[String]) -> Result<(), Unfinished> {
        let mut waiting: BTreeSet<String> = nodes.iter().cloned().collect();
        let begun = Instant::now();
        let mut copies = Copies::new(self.fleet.limits.start);
        let mut late = 0;
        while !waiting.is_empty() {
            let Some(event) = self.next((begun, copies.limit), &mut late)? else { break };
            match self.interpret(event)? {
                NodeEvent::Nothing => {}
                NodeEvent::Copying(node, copied) => copies.add(node, copied, begun),
                NodeEvent::Hello(node, twin) => {
                    waiting.remove(&node);
                    if let Some((other, reason)) =
                        twin.filter(|(other, _)| !self.gone.contains(other))
                    {
                        self.fail_to_start(&other, reason)?;
                    }
                }
                NodeEvent::Gone(node, reason) => {
                    waiting.remove(&node);
                    self.fail_to_start(&node, reason)?;
                }
                NodeEvent::Answer(node, _) => {
                    waiting.remove(&node);
                    let reason = NOT_ASKED.to_owned();
                    self.fail_to_start(&node, reason)?;
                }
            }
        }
        for node in waiting {
            let reason = self.with_printed(&node, copies.describe(&node));
            self.fail_to_start(&node, reason)?;
        }
        Ok(())
    }

    /// Warns the user if too few nodes have or may get results to compare any of them.
    pub(super) fn warn_of_too_few(&self) {
        let (nodes, known) = (&self.fleet.plan.nodes, self.fleet.known);
        if nodes.len() < FEWEST_NODES {
            let count = counted(nodes.len() as u64, "node");
            self.print(&format!(
                "{count}: measured, not compared with each other; comparing needs {FEWEST_NODES}"
            ));
        }
        let has_part = |node: &&String| !self.gone.contains(*node) || known.has_result(node);
        let left = nodes.iter().filter(has_part).count();
        if nodes.len() >= FEWEST_NODES && (1..FEWEST_NODES).contains(&left) {
            self.print(&format!(
                "only {left} of {} nodes can be measured; comparing needs {FEWEST_NODES}, so no \
                 node will be judged (Ctrl-C stops)",
                nodes.len()
            ));
        }
    }

    /// Records a node that did not start. No order is out, so it counts for its first open round.
    /// A node without an open one keeps its results, and takes no further part.
    fn fail_to_start(&mut self, node: &str, reason: String) -> Result<(), Unfinished> {
        let round_id = self.first_open_round(node);
        let again = &self.fleet.known.again;
        if round_id.0 == Pass::Again && !again.is_empty() && !again.contains(node) {
            self.print(&format!("{node}: {reason}"));
            self.gone.insert(node.to_owned());
            self.launcher.end(node);
            return Ok(());
        }
        self.fail(node, None, round_id, reason, true)
    }

    /// Returns the first round of a node that the file lacks.
    fn first_open_round(&self, node: &str) -> RoundId {
        let (rounds, node) = (self.fleet.plan.rounds, node.to_owned());
        match rounds_done(self.fleet.known, Pass::First, slice::from_ref(&node), rounds) {
            done if done < rounds => (Pass::First, done + 1),
            _ => (Pass::Again, 1),
        }
    }
}

/// Copies of the program that are under way. Each step of one moves the time limit of the start.
pub(super) struct Copies {
    /// Time limit for the start without a copy.
    start: Duration,
    /// Time limit now.
    limit: Duration,
    last: BTreeMap<String, Copied>,
}

impl Copies {
    /// Maximum of the limit, as a multiple of the first one.
    const MOST: u32 = 10;

    fn new(start: Duration) -> Self {
        Self { start, limit: start, last: BTreeMap::new() }
    }

    fn add(&mut self, node: String, copied: Copied, begun: Instant) {
        if self.last.insert(node, copied) != Some(copied) {
            let moved = (begun.elapsed() + self.start).min(Self::MOST * self.start);
            self.limit = self.limit.max(moved);
        }
    }

    /// Explains why a node has not started.
    fn describe(&self, node: &str) -> String {
        let limit = self.start.as_secs();
        match self.last.get(node) {
            Some(Copied { bytes, size }) if bytes < size => format!(
                "the copy of the program stopped at {} of {} MiB for {limit} s (--start-limit)",
                bytes >> 20,
                size.div_ceil(1 << 20)
            ),
            Some(_) => {
                format!("it got the program and did not start within {limit} s (--start-limit)")
            }
            None => format!(
                "it did not start within {limit} s (--start-limit): its login takes longer, or a \
                 start file waits for input"
            ),
        }
    }
}
