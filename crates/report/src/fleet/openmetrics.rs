//! Gauges as OpenMetrics text, in the form of a run's: see `crate::openmetrics`.
//!
//! Every series has the label `fleet`, so that one collector can hold the files of several fleets. A
//! node's state is a set of series, one for each state, of which one is 1. The speed of a node is a
//! ratio to its group's median, below 1 if it is worse, for times too. Texts, such as a cause, are
//! labels of series that are 1.

use proofmark_model::{FleetFigure, FleetNode, FleetReport, FleetStrip, NodeState, StripOutcome};

use super::figures;
use super::links::{self, Link};
use super::lookup::Fleet;
use super::words::{finite, group_name, testbed};
use crate::openmetrics::{
    Label, Labels, Unique, family, flag, in_base_unit, label, seconds, unit_names,
};

type Series = Vec<(Labels, Option<f64>)>;

/// Writes the states of nodes, the speed of each node at each figure with its slow figures, and the
/// medians, margins and spreads of the groups.
pub fn openmetrics(report: &FleetReport) -> String {
    let mut out = Text { fleet: label("fleet", &name(report)), text: String::new() };
    about(report, &mut out);
    nodes(report, &mut out);
    facts(report, &mut out);
    figures(report, &mut out);
    links(report, &mut out);
    out.text + "# EOF\n"
}

/// The text so far, and the label of every series.
struct Text {
    fleet: Label,
    text: String,
}

impl Text {
    /// Adds a family whose name follows `fleet_`.
    fn add(&mut self, name: &str, help: &str, unit: Option<&str>, series: Series) {
        let fleet = || std::iter::once(self.fleet.clone());
        let labelled = series.into_iter().map(|(labels, v)| (fleet().chain(labels).collect(), v));
        self.text += &family(&format!("fleet_{name}"), help, unit, labelled.collect());
    }
}

/// Returns the user's name for the fleet, else one from its nodes and its profile, which the next
/// measurement of the same fleet has too.
fn name(report: &FleetReport) -> String {
    let plan = &report.plan;
    let nodes = || match plan.nodes.as_slice() {
        [first, .., last] => format!("{first} to {last}, {} nodes", plan.nodes.len()),
        few => few.concat(),
    };
    plan.label.clone().unwrap_or_else(|| format!("{}, {}", nodes(), plan.task.profile))
}

fn figures(report: &FleetReport, out: &mut Text) {
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
        out.add("group_median", "Median of the group at the figure.", Some(unit), medians);
    }
    let what = "A round is slow if its ratio is below 1 minus this.";
    out.add("group_margin", what, Some("ratio"), by_figure(|f| f.margin));
    let what = "Robust standard deviation between the nodes of the group, as a share.";
    out.add("group_spread", what, Some("ratio"), by_figure(|f| f.spread));
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
    out.add("node_speed", what, Some("ratio"), by_node(|s| finite(s.ratio)));
    let what = "1 for a figure at which the node is slow in both passes; no series otherwise.";
    let slow = by_node(|s| (s.outcome == StripOutcome::Slow).then_some(1.0));
    out.add("node_slow", what, None, slow);
}

/// Writes the links that are slow or unverified.
fn links(report: &FleetReport, out: &mut Text) {
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
    let all = links::links(&fleet).iter().map(series).collect();
    out.add("link_speed", what, Some("ratio"), all);
}

fn about(report: &FleetReport, out: &mut Text) {
    let plan = &report.plan;
    let texts = [
        ("started", Some(plan.started.to_string())),
        ("version", Some(plan.tool.version.clone())),
        ("profile", Some(plan.task.profile.clone())),
        ("launcher", Some(plan.launcher.clone())),
        ("label", plan.label.clone()),
        ("testbed", testbed(report)),
    ];
    let info = texts.iter().filter_map(|(name, text)| Some(label(name, text.as_deref()?)));
    let what = "Program and plan of the fleet; always 1.";
    out.add("info", what, None, vec![(info.collect(), Some(1.0))]);
    let what = "Start of the fleet's measurement, in seconds since 1970.";
    let started = vec![(Labels::new(), Some(seconds(plan.started)))];
    out.add("start_timestamp", what, Some("seconds"), started);
    let count =
        |state: NodeState| (vec![label("state", &id(state))], Some(report.count(state) as f64));
    out.add("nodes", "Nodes in each state.", None, NodeState::ALL.map(count).to_vec());
}

fn nodes(report: &FleetReport, out: &mut Text) {
    let mut unique = Unique::default();
    let (mut states, mut groups, mut rounds) = (Series::new(), Series::new(), Series::new());
    let mut causes = Series::new();
    for node in &report.nodes {
        let labels = unique.distinct(vec![label("node", &node.name)], "repeat");
        let with = |name: &str, text: &str| {
            labels.iter().cloned().chain([label(name, text)]).collect::<Labels>()
        };
        let state = |s: NodeState| (with("state", &id(s)), Some(flag(s == node.state)));
        states.extend(NodeState::ALL.map(state));
        causes.extend(cause(node).map(|text| (with("cause", text), Some(1.0))));
        groups.extend(node.group.map(|at| (with("group", &group_name(at)), Some(1.0))));
        let passes = [("first", node.rounds), ("second", node.rounds_again)];
        rounds.extend(passes.map(|(pass, n)| (with("pass", pass), Some(f64::from(n)))));
    }
    out.add("node_state", "1 for the state of the node, 0 for the others.", None, states);
    let what = "Why the node is not healthy; always 1, and no series for a healthy node.";
    out.add("node_cause", what, None, causes);
    out.add("node_group", "The group of the node; always 1.", None, groups);
    out.add("node_rounds", "Rounds in which the node sent a result.", None, rounds);
}

/// Returns the cause of a slow node, else the first reason of one that is not healthy.
fn cause(node: &FleetNode) -> Option<&str> {
    node.cause.as_deref().or_else(|| node.reasons.first().map(String::as_str))
}

/// Writes the facts in which nodes differ from most of their group.
fn facts(report: &FleetReport, out: &mut Text) {
    let mut unique = Unique::default();
    let mut series = Series::new();
    for fact in report.groups.iter().flat_map(|group| &group.differing) {
        for (value, node) in fact.others.iter().flat_map(|v| v.nodes.iter().map(move |n| (v, n))) {
            let own = [("node", node), ("fact", &fact.what), ("value", &value.value)];
            let own = own.iter().map(|(name, text)| label(name, text));
            let usual = fact.usual.iter().map(|usual| label("usual", usual));
            series.push((unique.distinct(own.chain(usual).collect(), "repeat"), Some(1.0)));
        }
    }
    let what = "A fact that most of the node's group do not share; always 1.";
    out.add("node_fact", what, None, series);
}

/// Returns a state's id in the JSON, such as `not_compared`.
fn id(state: NodeState) -> String {
    state.as_str().replace(' ', "_")
}
