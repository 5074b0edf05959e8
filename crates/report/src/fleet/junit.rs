//! JUnit XML: a suite with a case for each node, and for each link that is slow or unverified.
//!
//! - slow, unverified: `failure`, its type the state and its message the cause or reason;
//! - not compared: `skipped`;
//! - healthy: passes.
//!
//! Slow figures that the second pass did not confirm are in `system-out`.

use proofmark_model::{FleetNode, FleetReport, NodeState, clean};
use quick_junit::{Property, TestCase, TestCaseStatus};

use super::links::{Link, links};
use super::lookup::Fleet;
use super::words::{finite, speed, testbed};
use crate::RenderError;
use crate::junit::{self, failure, set_started, skipped, suite, text, write};
use crate::view::joined;

/// Writes the document.
///
/// # Errors
/// If a value has no form in XML.
pub fn junit(report: &FleetReport) -> Result<String, RenderError> {
    let fleet = Fleet::new(report);
    let mut cases: Vec<TestCase> = report.nodes.iter().map(|node| case(&fleet, node)).collect();
    cases.extend(links(&fleet).iter().map(link_case));
    if cases.is_empty() {
        let status = failure("nothing measured", "No node was measured.");
        cases.push(TestCase::new("the fleet has nodes", status));
    }
    let mut suite = suite("nodes", cases);
    let plan = &report.plan;
    let property = |name: &str, value: &str| Property::new(name, text(value));
    suite.add_property(property("profile", &plan.task.profile));
    suite.add_property(property("launcher", &plan.launcher));
    suite.add_properties(testbed(report).map(|line| property("testbed", &line)));
    set_started(&mut suite, plan.started);
    let label = plan.label.as_deref().unwrap_or_default();
    Ok(write(&joined(["fleet", label], " "), vec![suite])?)
}

/// Returns the case of a link that is slow or unverified.
fn link_case(link: &Link) -> TestCase {
    let status = failure(link.state().as_str(), &clean(&link.link.cause));
    junit::case(&link.names(), "fleet.link", status)
}

fn case(fleet: &Fleet, node: &FleetNode) -> TestCase {
    let not_confirmed = fleet.not_confirmed(node).into_iter().map(|(title, ratio)| {
        format!("slow, not confirmed: {} ({})\n", text(&title), speed(ratio))
    });
    let not_confirmed: String = not_confirmed.collect();
    let group = fleet.group_name(node).map(|name| format!(".group {name}")).unwrap_or_default();
    let mut case = junit::case(&node.name, &format!("fleet{group}"), status(fleet, node));
    if !not_confirmed.is_empty() {
        case.set_system_out(not_confirmed);
    }
    case
}

fn status(fleet: &Fleet, node: &FleetNode) -> TestCaseStatus {
    let reasons = joined(node.reasons.iter().map(|r| clean(r)), "; ");
    let message = text(node.cause.as_deref().unwrap_or(&reasons));
    let message = if message.is_empty() { node.state.as_str().to_owned() } else { message };
    match node.state {
        NodeState::Healthy => TestCaseStatus::success(),
        NodeState::NotCompared => skipped(&message),
        state => {
            let mut status = failure(state.as_str(), &message);
            let figures = figures(fleet, node);
            if !figures.is_empty() {
                status.set_description(figures);
            }
            status
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
