//! JUnit XML: a suite with a case for each node, and for each link that is slow or unverified.
//!
//! - slow, unverified: `failure`, its type the state and its message the cause or reason;
//! - not compared: `skipped`;
//! - healthy: passes.
//!
//! Slow figures that the second pass did not confirm are in `system-out`.

use proofmark_model::{FleetNode, FleetReport, NodeState, clean};

use super::links::{Link, links};
use super::lookup::Fleet;
use super::words::{finite, speed, testbed};
use crate::RenderError;
use crate::junit::{Case, Cause, Ending, Properties, Suite, text, timestamp, write};
use crate::view::joined;

/// Writes the document.
///
/// # Errors
/// If a value has no form in XML.
pub fn junit(report: &FleetReport) -> Result<String, RenderError> {
    let fleet = Fleet::new(report);
    let mut cases: Vec<Case> = report.nodes.iter().map(|node| case(&fleet, node)).collect();
    cases.extend(links(&fleet).iter().map(link_case));
    if cases.is_empty() {
        let cause = Cause::new("nothing measured", "No node was measured.".to_owned());
        let name = "the fleet has nodes".to_owned();
        cases.push(Case { name, ending: Some(Ending::Failure(cause)), ..Case::default() });
    }
    let mut suite = Suite::new("nodes", cases);
    let plan = &report.plan;
    let properties = [("profile", text(&plan.task.profile)), ("launcher", text(&plan.launcher))];
    let testbed = testbed(report).map(|l| ("testbed", text(&l)));
    suite.properties = Some(Properties::new(properties.into_iter().chain(testbed).collect()));
    suite.started = Some(timestamp(plan.started));
    let label = plan.label.as_deref().unwrap_or_default();
    Ok(write(&text(&joined(["fleet", label], " ")), vec![suite])?)
}

/// Returns the case of a link that is slow or unverified.
fn link_case(link: &Link) -> Case {
    let cause = Cause::new(link.state().as_str(), text(&clean(&link.link.cause)));
    Case {
        name: text(&link.names()),
        class: Some("fleet.link".to_owned()),
        ending: Some(Ending::Failure(cause)),
        ..Case::default()
    }
}

fn case(fleet: &Fleet, node: &FleetNode) -> Case {
    let not_confirmed = fleet.not_confirmed(node).into_iter().map(|(title, ratio)| {
        format!("slow, not confirmed: {} ({})\n", text(&title), speed(ratio))
    });
    let not_confirmed: String = not_confirmed.collect();
    let group = fleet.group_name(node).map(|name| format!(".group {name}")).unwrap_or_default();
    Case {
        name: text(&node.name),
        class: Some(format!("fleet{group}")),
        ending: ending(fleet, node),
        output: (!not_confirmed.is_empty()).then_some(not_confirmed),
        ..Case::default()
    }
}

fn ending(fleet: &Fleet, node: &FleetNode) -> Option<Ending> {
    let reasons = joined(node.reasons.iter().map(|r| clean(r)), "; ");
    let message = text(node.cause.as_deref().unwrap_or(&reasons));
    let message = if message.is_empty() { node.state.as_str().to_owned() } else { message };
    match node.state {
        NodeState::Healthy => None,
        NodeState::NotCompared => Some(Ending::Skipped(Cause { message, ..Cause::default() })),
        state => {
            let more = figures(fleet, node);
            let cause = Cause::new(state.as_str(), message);
            Some(Ending::Failure(Cause { more: (!more.is_empty()).then_some(more), ..cause }))
        }
    }
}

/// Lists the figures at which a node is slow, each with its ratio and its rounds below the margin.
fn figures(fleet: &Fleet, node: &FleetNode) -> String {
    let confirmed = node.figures.iter().filter(|f| f.confirmed);
    let figure = |at: usize| {
        let seen = fleet.strip(node, at)?;
        let s = seen.strip;
        let ratio = finite(s.ratio).map(speed)?;
        let below = format!("{} of {} rounds below the margin", s.below, s.usable);
        Some(format!("{}: {ratio}; {below}", text(seen.title)))
    };
    joined(confirmed.filter_map(|f| figure(f.figure)), "\n")
}
