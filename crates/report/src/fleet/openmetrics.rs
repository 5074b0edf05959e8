//! Gauges as OpenMetrics text, in the form of a run's: see `crate::openmetrics`.
//!
//! A node's state is a set of series, one for each state, of which one is 1. The speed of a node is
//! a ratio to its group's median, below 1 if it is worse, for times too.

use proofmark_model::{FleetFigure, FleetReport, FleetStrip, NodeState, StripOutcome};

use super::figures;
use super::links::Link;
use super::lookup::Fleet;
use super::words::{finite, group_name, testbed};
use crate::openmetrics::{Labels, Unique, family, flag, in_base_unit, label, seconds, unit_names};

type Series = Vec<(Labels, Option<f64>)>;

/// Writes the states of nodes, the speed of each node at each figure with its slow figures, and the
/// medians, margins and spreads of the groups.
pub fn openmetrics(report: &FleetReport) -> String {
    let mut text = about(report);
    text += &nodes(report);
    let mut unique = Unique::default();
    let groups = report.groups.iter().enumerate();
    let figures: Vec<(&FleetFigure, Labels, &[String])> = groups
        .flat_map(|(at, g)| g.figures.iter().map(move |f| (at, g, f)))
        .map(|(at, g, f)| {
            let labels = figures::labels(at, f).iter().map(|(name, v)| label(name, v)).collect();
            (f, unique.distinct(labels, "repeat"), &g.nodes[..])
        })
        .collect();
    let by_figure = |read: fn(&FleetFigure) -> Option<f64>| -> Series {
        figures.iter().map(|(f, labels, _)| (labels.clone(), read(f))).collect()
    };
    for unit in unit_names() {
        let here = figures.iter().filter(|(f, ..)| in_base_unit(f.unit).0 == unit);
        let median = |f: &FleetFigure| f.median.map(|value| value * in_base_unit(f.unit).1);
        let medians = here.map(|(f, labels, _)| (labels.clone(), median(f))).collect();
        let what = "Median of the group at the figure.";
        text += &family("fleet_group_median", what, Some(unit), medians);
    }
    let what = "A round is slow if its ratio is below 1 minus this.";
    text += &family("fleet_group_margin", what, Some("ratio"), by_figure(|f| f.margin));
    let what = "Robust standard deviation between the nodes of the group, as a share.";
    text += &family("fleet_group_spread", what, Some("ratio"), by_figure(|f| f.spread));
    let by_node = |read: fn(&FleetStrip) -> Option<f64>| -> Series {
        let all = figures.iter().flat_map(|(f, labels, nodes)| {
            let each = nodes.iter().zip(&f.strips);
            each.map(move |(node, strip)| {
                let labels = [label("node", node)].into_iter().chain(labels.iter().cloned());
                (labels.collect::<Labels>(), read(strip))
            })
        });
        all.collect()
    };
    let what =
        "Speed of the node as a share of its group's median; inverted where lower is better.";
    text += &family("fleet_node_speed", what, Some("ratio"), by_node(|s| finite(s.ratio)));
    let what = "1 for a figure at which the node is slow in both passes; no series otherwise.";
    let slow = by_node(|s| (s.outcome == StripOutcome::Slow).then_some(1.0));
    text + &family("fleet_node_slow", what, None, slow) + &links(report) + "# EOF\n"
}

/// Writes the links that are slow or unverified.
fn links(report: &FleetReport) -> String {
    let mut unique = Unique::default();
    let fleet = Fleet::new(report);
    let series = |link: &Link| {
        let labels = [label("node", &link.nodes[0]), label("other", &link.nodes[1])];
        let figure = figures::labels(link.group, link.figure);
        let figure = figure.iter().map(|(name, v)| label(name, v));
        let state = [label("state", &id(link.state()))];
        let labels = labels.into_iter().chain(figure).chain(state).collect();
        (unique.distinct(labels, "repeat"), finite(Some(link.link.ratio)))
    };
    let what = "Speed of a slow or unverified link, as a share of the median of its round's pairs; \
                no series for others.";
    family(
        "fleet_link_speed",
        what,
        Some("ratio"),
        super::links::links(&fleet).iter().map(series).collect(),
    )
}

fn about(report: &FleetReport) -> String {
    let plan = &report.plan;
    let texts = [
        ("version", Some(plan.tool.version.clone())),
        ("profile", Some(plan.task.profile.clone())),
        ("launcher", Some(plan.launcher.clone())),
        ("label", plan.label.clone()),
        ("testbed", testbed(report)),
    ];
    let info = texts.iter().filter_map(|(name, text)| Some(label(name, text.as_deref()?)));
    let what = "Program and plan of the fleet; always 1.";
    let mut text = family("fleet_info", what, None, vec![(info.collect(), Some(1.0))]);
    let what = "Start of the fleet's measurement, in seconds since 1970.";
    let started = vec![(Labels::new(), Some(seconds(plan.started)))];
    text += &family("fleet_start_timestamp", what, Some("seconds"), started);
    let count =
        |state: NodeState| (vec![label("state", &id(state))], Some(report.count(state) as f64));
    let what = "Nodes in each state.";
    text + &family("fleet_nodes", what, None, NodeState::ALL.map(count).to_vec())
}

fn nodes(report: &FleetReport) -> String {
    let mut unique = Unique::default();
    let (mut states, mut groups, mut rounds) = (Series::new(), Series::new(), Series::new());
    for node in &report.nodes {
        let labels = unique.distinct(vec![label("node", &node.name)], "repeat");
        let with = |name: &str, text: &str| {
            labels.iter().cloned().chain([label(name, text)]).collect::<Labels>()
        };
        let state = |s: NodeState| (with("state", &id(s)), Some(flag(s == node.state)));
        states.extend(NodeState::ALL.map(state));
        groups.extend(node.group.map(|at| (with("group", &group_name(at)), Some(1.0))));
        let passes = [("first", node.rounds), ("second", node.rounds_again)];
        rounds.extend(passes.map(|(pass, n)| (with("pass", pass), Some(f64::from(n)))));
    }
    let what = "1 for the state of the node, 0 for the others.";
    let states = family("fleet_node_state", what, None, states);
    let what = "The group of the node; always 1.";
    let groups = family("fleet_node_group", what, None, groups);
    let what = "Rounds in which the node sent a result.";
    states + &groups + &family("fleet_node_rounds", what, None, rounds)
}

/// Returns a state's id in the JSON, such as `not_compared`.
fn id(state: NodeState) -> String {
    state.as_str().replace(' ', "_")
}
