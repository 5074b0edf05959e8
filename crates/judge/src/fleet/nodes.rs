//! The report of each node.

use proofmark_model::{
    FleetFigure, FleetNode, FleetStrip, NodeSlowAt, NodeState, Pass, Reliance, StripOutcome,
    is_quantity,
};

use super::reasons::{self, FewCause};
use super::words::percent;
use super::{Fleet, cause};
use crate::words::counted;

/// Reports of all nodes, the worst first.
pub(super) fn all(fleet: &Fleet) -> Vec<FleetNode> {
    let mut places: Vec<Option<(usize, usize)>> = vec![None; fleet.lines.nodes.len()];
    for (group, g) in fleet.groups.iter().enumerate() {
        g.nodes.iter().enumerate().for_each(|(place, node)| places[*node] = Some((group, place)));
    }
    let report_node = |(node, place)| report(fleet, node, place);
    let mut nodes: Vec<FleetNode> = places.into_iter().enumerate().map(report_node).collect();
    let worst = |n: &FleetNode| n.figures.first().map_or(f32::INFINITY, |f| f.ratio);
    nodes.sort_by(|a, b| a.state.cmp(&b.state).then(worst(a).total_cmp(&worst(b))));
    nodes
}

fn report(fleet: &Fleet, number: usize, place: Option<(usize, usize)>) -> FleetNode {
    let node = &fleet.lines.nodes[number];
    let count = |pass| node.usable(pass).count() as u32;
    let mut report = FleetNode {
        name: node.name.clone(),
        state: NodeState::Unverified,
        group: place.map(|(group, _)| group),
        reasons: reasons::from_lines(&fleet.lines, number),
        notes: Vec::new(),
        cause: None,
        to_fix: false,
        figures: place.map(|place| slow_at(fleet, place)).unwrap_or_default(),
        rounds: count(Pass::First),
        rounds_again: count(Pass::Again),
        asked_again_after_s: asked_again_after_s(fleet, number),
    };
    report.to_fix = !report.reasons.is_empty();
    let Some((group, place)) = place else { return report };
    report.reasons.extend(reasons::from_group(fleet, group, node));
    let few = reasons::too_few(fleet, group, place, node);
    let (own_few, few) = few.into_iter().partition::<Vec<_>, _>(|few| few.cause == FewCause::Own);
    report.reasons.extend(own_few.into_iter().map(|few| few.sentence));
    report.reasons.extend(reasons::without_result(fleet, group, node));
    report.to_fix = !report.reasons.is_empty();
    report.reasons.extend(fleet.judged[group].open.iter().cloned());
    // Load that all nodes share is said once.
    let open = !fleet.judged[group].open.is_empty();
    let few = few.into_iter().filter(|few| !(open && few.cause == FewCause::Load));
    report.reasons.extend(few.map(|few| few.sentence));
    report.reasons.extend(reasons::no_network(fleet, group));
    let figures = &fleet.judged[group].figures;
    if report.reasons.is_empty()
        && !figures.iter().any(|f| f.required && f.strips[place].usable > 0)
    {
        report.reasons.push("it sent no result that counts".to_owned());
    }
    let unconfirmed = reasons::unconfirmed(fleet, group, place, &report);
    report.reasons.extend(unconfirmed);
    let is_slow = report.figures.iter().any(|f| f.confirmed);
    // A limit of its own explains its own reasons, and may explain others; alone it is no reason. The
    // cause of a slow node has it.
    if !report.reasons.is_empty() && !is_slow {
        let at = if report.to_fix { 0 } else { report.reasons.len() };
        report.reasons.splice(at..at, cause::limit(fleet, group, place));
    }
    let comparable = fleet.groups[group].comparable();
    report.state = match report.reasons.is_empty() {
        _ if is_slow => NodeState::Slow,
        false => NodeState::Unverified,
        true if comparable => NodeState::Healthy,
        true => NodeState::NotCompared,
    };
    if report.state == NodeState::NotCompared {
        report.reasons.push(not_compared(fleet, group, place));
    }
    if report.state == NodeState::Healthy {
        report.notes.extend(reasons::lost_rounds(fleet, node));
        let left_out = node.usable(Pass::First).find_map(|(_, seen)| seen.left_out.as_deref());
        report.notes.extend(left_out.map(str::to_owned));
    }
    if report.state == NodeState::Slow {
        report.cause = cause::sentence(fleet, group, place, &report);
    }
    report
}

/// Seconds from the start of the fleet until the node was asked to measure again.
fn asked_again_after_s(fleet: &Fleet, number: usize) -> Option<f64> {
    let asked = fleet.lines.nodes[number].asked_again?;
    Some(asked.since(fleet.lines.plan.started)).filter(|s| *s >= 0.0)
}

/// The figures at which it is slow, the worst first.
fn slow_at(fleet: &Fleet, (group, place): (usize, usize)) -> Vec<NodeSlowAt> {
    let figures = fleet.judged[group].figures.iter().enumerate();
    let slow = |(figure, strip): (usize, &FleetStrip)| {
        let confirmed = match strip.outcome {
            StripOutcome::Slow => true,
            StripOutcome::SlowNotConfirmed => false,
            _ => return None,
        };
        Some(NodeSlowAt { figure, ratio: strip.ratio?, confirmed })
    };
    let mut slow: Vec<NodeSlowAt> =
        figures.filter_map(|(i, figure)| slow((i, &figure.strips[place]))).collect();
    slow.sort_by(|a, b| b.confirmed.cmp(&a.confirmed).then(a.ratio.total_cmp(&b.ratio)));
    slow
}

/// Describes a node of a fleet that is too small to compare any.
fn not_compared(fleet: &Fleet, group: usize, place: usize) -> String {
    let judged = &fleet.judged[group];
    let shares = judged.figures.iter().filter_map(|figure| {
        let strip = &figure.strips[place];
        let share = f64::from(strip.of_ceiling?);
        is_quantity(share).then_some((share, strip.reliance, figure))
    });
    let lowest = shares.min_by(|a, b| a.0.total_cmp(&b.0));
    let lowest = match lowest {
        Some((share, reliance, FleetFigure { title, kind, .. })) => {
            let kind = kind.as_str();
            let ceiling = match reliance {
                Reliance::Known => "a ceiling".to_owned(),
                doubt => format!("a ceiling ({})", doubt.as_str()),
            };
            format!("its least share of {ceiling} is {}, at {title}, {kind}", percent(share))
        }
        None => "no result has a share of a ceiling".to_owned(),
    };
    let nodes = counted(fleet.lines.nodes.len() as u64, "node");
    format!("a fleet of {nodes} cannot be compared; {lowest}")
}
