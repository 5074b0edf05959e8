//! The next steps.

use proofmark_model::{FEWEST_NODES, FleetNode, NodeState, StripOutcome, shell_word};

use super::links::links;
use super::lookup::{Fleet, count};
use super::words::{in_state, named};
use crate::view::clean;

/// Maximum of nodes that the command names.
const NAMED: usize = 8;

/// Returns the next steps, a sentence each; none for a healthy fleet.
pub fn next(fleet: &Fleet) -> Vec<String> {
    let report = fleet.report;
    let mut out = Vec::new();
    if report.unfinished.is_some() {
        out.push(
            "Continue the fleet, if it was stopped, with \"proofmark fleet run ... --resume DIR\" and \
             the same options."
                .to_owned(),
        );
    }
    if let Some(names) = in_state(report, NodeState::Slow) {
        let [it, its] = if report.count(NodeState::Slow) == 1 { ["it", ""] } else { ["each", "s"] };
        out.push(format!(
            "Take {names} out of service, run \"proofmark run\" on {it} for all findings, and remove \
             the cause{its}."
        ));
    }
    let unverified = |n: &&FleetNode| n.state == NodeState::Unverified;
    let fixed = report.nodes.iter().filter(unverified).filter(|n| n.to_fix);
    let fixed: Vec<&str> = fixed.map(|n| n.name.as_str()).collect();
    if !fixed.is_empty() {
        out.push(format!("Fix what is reported for {}.", named(fixed.iter().copied())));
    }
    let slow = report.nodes.iter().filter(|n| n.state == NodeState::Slow);
    let slow = slow.map(|n| n.name.as_str());
    out.extend(command(&slow.chain(fixed).collect::<Vec<_>>()));
    let complete = report.unfinished.is_none();
    if complete && report.nodes.iter().filter(unverified).any(|n| !n.to_fix) {
        out.push("Measure the fleet again while nothing else runs on its nodes.".to_owned());
    }
    let slow = links(fleet).into_iter().filter(|link| link.link.confirmed).collect::<Vec<_>>();
    if let [first, more @ ..] = slow.as_slice() {
        let others = if more.is_empty() { String::new() } else { " and of the others".to_owned() };
        out.push(format!(
            "Look at the cables, ports and routes between {}{others}, and measure again.",
            first.names()
        ));
    }
    let uneven = |f: &_| count(f, StripOutcome::TooUneven) > 0;
    if report.groups.iter().flat_map(|g| &g.figures).any(uneven) {
        out.push(
            "Where nodes differ too much to judge, stop other load on them, or find the difference \
             between them."
                .to_owned(),
        );
    }
    if report.groups.iter().any(|g| !g.comparable) {
        out.push(format!("To compare nodes, measure {FEWEST_NODES} or more with the same facts."));
    }
    if report.nodes.is_empty() {
        out.push("Measure the fleet again.".to_owned());
    }
    out
}

/// Returns the command that measures repaired nodes again; `None` without any. The options of the
/// fleet are not known here.
fn command(nodes: &[&str]) -> Option<String> {
    let names = match nodes {
        [] => return None,
        few if few.len() <= NAMED => shell_word(&clean(&few.join(","))),
        _ => "NODES".to_owned(),
    };
    let them = if nodes.len() == 1 { "it" } else { "them" };
    Some(format!(
        "Measure {them} again with \"proofmark fleet run ... --resume DIR --again {names}\" and the same \
         options."
    ))
}
