//! The next steps.

use proofmark_model::{FEWEST_NODES, NodeState, StripOutcome};

use super::links::links;
use super::lookup::{Fleet, count};
use super::words::in_state;

/// Returns the next steps, a sentence each; none for a healthy fleet.
pub fn next(fleet: &Fleet) -> Vec<String> {
    let report = fleet.report;
    let mut out = Vec::new();
    if let Some(names) = in_state(report, NodeState::Slow) {
        let [it, its] = if report.count(NodeState::Slow) == 1 { ["it", ""] } else { ["each", "s"] };
        out.push(format!(
            "Take {names} out of service, run \"proofmark run\" on {it} for all findings, remove the \
             cause{its}, and measure the fleet again."
        ));
    }
    if let Some(names) = in_state(report, NodeState::Unverified) {
        out.push(format!("Fix what is reported for {names}, then measure again."));
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
