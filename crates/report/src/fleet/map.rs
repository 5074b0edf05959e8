//! Nodes by figures: a square a figure, the darker the slower, with the ratio in it.

use std::collections::{BTreeSet, HashMap};

use proofmark_model::{FleetNode, FleetReport, FleetStrip, NodeState, StripOutcome};
use serde::Serialize;

use super::lookup::{Fleet, count};
use super::words::{finite, group_name, mark};
use crate::view::{clean, counted};

/// Nodes and figures that are drawn.
const NODES: usize = 64;
const FIGURES: usize = 24;
/// Ratios below which a square is darker, from pale to dark.
const SHADES: [f64; 5] = [0.99, 0.97, 0.95, 0.90, 0.80];
/// Pixels of a wide page, of a name with the space before the next table, and of a square.
const WIDE: usize = 1200;
const NAME_WIDE: usize = 150;
const CELL_WIDE: usize = 41;
/// Rows of a table that is not split.
const SHORT: usize = 8;
/// From here on a node is visibly faster than its group.
const FASTER: f64 = 1.03;

/// The nodes of a group.
#[derive(Debug, Serialize)]
pub struct Map {
    pub caption: String,
    pub columns: Vec<String>,
    /// Rows of tables that stand next to each other on a wide page.
    pub blocks: Vec<Vec<Row>>,
    /// What is not drawn, a sentence each.
    pub left_out: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub node: String,
    /// Sign and words of a state that is not healthy.
    pub mark: &'static str,
    pub cells: Vec<Cell>,
}

#[derive(Debug, Serialize)]
pub struct Cell {
    text: String,
    /// Classes of the style sheet.
    class: String,
}

/// A map of each group that is compared and has one of the worst nodes.
pub fn maps(fleet: &Fleet) -> Vec<Map> {
    let shown = worst(fleet);
    let compared = fleet.report.groups.iter().enumerate().filter(|(_, g)| g.comparable);
    compared.filter_map(|(at, _)| Map::new(fleet, at, &shown)).collect()
}

/// The places of the worst nodes in the report, at most as many as are drawn.
fn worst(fleet: &Fleet) -> BTreeSet<usize> {
    let compared = |n: &FleetNode| n.group.and_then(|g| fleet.report.groups.get(g));
    let nodes = fleet.report.nodes.iter().enumerate();
    let nodes = nodes.filter(|(_, n)| compared(n).is_some_and(|g| g.comparable));
    let mut ranked: Vec<(NodeState, f64, usize)> =
        nodes.map(|(at, n)| (n.state, fleet.least(n), at)).collect();
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ranked.iter().take(NODES).map(|(.., at)| *at).collect()
}

impl Map {
    fn new(fleet: &Fleet, group: usize, shown: &BTreeSet<usize>) -> Option<Self> {
        let report: &FleetReport = fleet.report;
        let members = report.nodes.iter().enumerate().filter(|(_, n)| n.group == Some(group));
        let (drawn, others): (Vec<_>, Vec<_>) = members.partition(|(at, _)| shown.contains(at));
        let mut drawn: Vec<&FleetNode> = drawn.into_iter().map(|(_, n)| n).collect();
        drawn.sort_by(|a, b| a.state.cmp(&b.state).then(fleet.least(a).total_cmp(&fleet.least(b))));
        let (figures, other_figures) = columns(fleet, group);
        let row = |node: &&FleetNode| Row {
            node: clean(&node.name),
            mark: if node.state == NodeState::Healthy { "" } else { mark(node.state) },
            cells: figures
                .iter()
                .map(|(at, _)| Cell::new(fleet.strip(node, *at).map(|s| s.strip)))
                .collect(),
        };
        let name = if report.groups.len() > 1 {
            format!("Group {}. ", group_name(group))
        } else {
            String::new()
        };
        let caption = format!("{name}Speed of each node as a share of its group's median");
        let nodes = left_out(others.iter().map(|(_, n)| *n));
        (!drawn.is_empty() && !figures.is_empty()).then(|| Self {
            caption,
            columns: figures.iter().map(|(_, title)| (*title).to_owned()).collect(),
            blocks: blocks(drawn.iter().map(row).collect(), figures.len()),
            left_out: nodes.into_iter().chain(other_figures).collect(),
        })
    }
}

/// The rows in as many tables as a wide page has room for, none of them very short.
fn blocks(mut rows: Vec<Row>, columns: usize) -> Vec<Vec<Row>> {
    let room = WIDE / (NAME_WIDE + CELL_WIDE * columns);
    let blocks = room.clamp(1, rows.len().div_ceil(SHORT).max(1));
    let size = rows.len().div_ceil(blocks).max(1);
    let mut out = Vec::new();
    while rows.len() > size {
        let rest = rows.split_off(size);
        out.push(std::mem::replace(&mut rows, rest));
    }
    out.push(rows);
    out
}

/// `936 other nodes, of which 930 are healthy.`
fn left_out<'a>(others: impl ExactSizeIterator<Item = &'a FleetNode>) -> Option<String> {
    let all = others.len();
    let healthy = others.filter(|n| n.state == NodeState::Healthy).count();
    let nodes = counted(all as u64, "other node");
    match all {
        0 => None,
        1 if healthy == 1 => Some(format!("{nodes} is healthy.")),
        _ if healthy == all => Some(format!("{nodes} are healthy.")),
        _ => Some(format!("{nodes}, of which {healthy} are healthy.")),
    }
}

/// The figures of a group that are drawn, in their order, with their places; and what is not.
/// Where there are too many, those at which a node is slowest come first, then those at which any is
/// slow.
fn columns<'a>(fleet: &'a Fleet, group: usize) -> (Vec<(usize, &'a str)>, Option<String>) {
    let all: Vec<_> = fleet.figures(group).enumerate().collect();
    let members = fleet.report.nodes.iter().filter(|n| n.group == Some(group));
    let mut slowest: HashMap<usize, usize> = HashMap::new();
    for figure in members.filter_map(|n| n.figures.first()) {
        *slowest.entry(figure.figure).or_default() += 1;
    }
    let weight = |at: usize, f| {
        let at_worst = slowest.get(&at).copied().unwrap_or_default();
        let counts = [
            StripOutcome::Slow,
            StripOutcome::SlowNotConfirmed,
            StripOutcome::TooUneven,
            StripOutcome::TooFewRounds,
        ];
        (at_worst, counts.map(|outcome| count(f, outcome)))
    };
    let mut ranked: Vec<_> = all.iter().map(|(at, (f, _))| (weight(*at, f), *at)).collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let rest = ranked.split_off(ranked.len().min(FIGURES));
    let kept: BTreeSet<usize> = ranked.iter().map(|(_, at)| *at).collect();
    let kept = all.into_iter().filter(|(at, _)| kept.contains(at));
    let slow = rest.iter().filter(|((_, counts), _)| counts[0] > 0).count();
    let left = (!rest.is_empty()).then(|| {
        let others = counted(rest.len() as u64, "other figure");
        format!("{others}, of which {slow} have slow nodes: see the table of figures.")
    });
    (kept.map(|(at, (_, title))| (at, title)).collect(), left)
}

impl Cell {
    fn new(strip: Option<&FleetStrip>) -> Self {
        let ratio = strip.and_then(|s| finite(s.ratio));
        let outcome = strip.map(|s| s.outcome);
        let frame = match outcome {
            Some(StripOutcome::Slow) => " slow",
            Some(StripOutcome::SlowNotConfirmed) => " maybe",
            _ => "",
        };
        Self::of(ratio, frame)
    }

    /// A square of a ratio, with a frame's class.
    pub fn of(ratio: Option<f64>, frame: &str) -> Self {
        let shade = ratio.map_or_else(|| "none".to_owned(), shade);
        let text = ratio.map_or_else(|| "–".to_owned(), |r| format!("{r:.2}"));
        Self { text, class: shade + frame }
    }
}

/// `h3`: the class of a ratio.
fn shade(ratio: f64) -> String {
    match SHADES.iter().filter(|least| ratio < **least).count() {
        0 if ratio >= FASTER => "up".to_owned(),
        0 => String::new(),
        n => format!("h{n}"),
    }
}

/// What the shades mean: class and words.
pub fn legend() -> Vec<(String, String)> {
    let mut steps = vec![("up".to_owned(), format!("{FASTER:.2} or more"))];
    let from = SHADES[0];
    steps.push((String::new(), format!("{from:.2} to {FASTER:.2}")));
    for (at, least) in SHADES.iter().enumerate() {
        let text = match SHADES.get(at + 1) {
            Some(next) => format!("{next:.2} to {least:.2}"),
            None => format!("below {least:.2}"),
        };
        steps.push((format!("h{}", at + 1), text));
    }
    steps
}
