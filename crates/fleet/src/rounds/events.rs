//! What an event of a node means: its hello, an answer, or its end.

use proofmark_model::clean_excerpt;

use super::{Coordinator, Unfinished};
use crate::launch::{Copied, Event};
use crate::protocol::{Answer, AnswerReader};

/// Meaning of a node's event.
pub(super) enum NodeEvent {
    Nothing,
    Copying(String, Copied),
    /// A node's hello, and another name of its machine with the reason why that is not measured.
    Hello(String, Option<(String, String)>),
    Answer(String, Answer),
    Gone(String, String),
}

impl Coordinator<'_> {
    pub(super) fn interpret(&mut self, event: Event) -> Result<NodeEvent, Unfinished> {
        let known =
            |node: &String| self.fleet.plan.nodes.contains(node) && !self.gone.contains(node);
        Ok(match event {
            Event::Line { node, .. } | Event::Ended { node, .. } | Event::Copying { node, .. }
                if !known(&node) =>
            {
                NodeEvent::Nothing
            }
            Event::Ended { node, reason } => {
                let reason = self.with_printed(&node, reason);
                NodeEvent::Gone(node, reason)
            }
            Event::Copying { node, copied } => NodeEvent::Copying(node, copied),
            Event::Failed(why) => return Err(Unfinished::Failed(why)),
            Event::Line { node, line } => {
                match self.heard.entry(node.clone()).or_default().read(&line) {
                    Ok(None) => NodeEvent::Nothing,
                    Err(reason) => NodeEvent::Gone(node, reason),
                    Ok(Some(Answer::Hello { node: name, .. })) if name != node => NodeEvent::Gone(
                        node,
                        format!("it reported another name, '{}'", clean_excerpt(&name, 60)),
                    ),
                    Ok(Some(Answer::Hello { .. })) if !self.greeted.insert(node.clone()) => {
                        NodeEvent::Gone(node, "it sent a second hello".to_owned())
                    }
                    Ok(Some(Answer::Hello { tool, boot_id, .. })) => {
                        match tool.mismatch(&self.fleet.plan.tool) {
                            Some(reason) => NodeEvent::Gone(node, reason),
                            None => self.hello(node, boot_id),
                        }
                    }
                    Ok(Some(answer)) => NodeEvent::Answer(node, answer),
                }
            }
        })
    }

    /// Takes the hello of a node. Nodes with one boot id run on the same machine, which on a testbed
    /// all do: of several the first in the plan stays, whichever answered first.
    fn hello(&mut self, node: String, boot_id: Option<String>) -> NodeEvent {
        let Some(boot_id) = boot_id.filter(|_| self.fleet.plan.testbed.is_none()) else {
            return NodeEvent::Hello(node, None);
        };
        let Some(other) = self.boots.insert(boot_id.clone(), node.clone()) else {
            return NodeEvent::Hello(node, None);
        };
        let same = |as_node: &str| {
            format!("it is the same machine as {as_node}: both names lead to one kernel")
        };
        let is_first = self.fleet.plan.nodes.iter().find(|name| **name == node || **name == other)
            == Some(&node);
        if is_first {
            let reason = same(&node);
            return NodeEvent::Hello(node, Some((other, reason)));
        }
        let reason = same(&other);
        self.boots.insert(boot_id, other);
        NodeEvent::Gone(node, reason)
    }

    /// Adds what a node without a hello printed, which is the work of its start files.
    pub(super) fn with_printed(&self, node: &str, reason: String) -> String {
        let printed = self.heard.get(node).and_then(AnswerReader::printed);
        match printed.filter(|_| !self.greeted.contains(node)) {
            Some(printed) => format!("{reason}; its start files printed: {printed}"),
            None => reason,
        }
    }
}
