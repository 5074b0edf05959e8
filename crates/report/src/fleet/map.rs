//! A map of nodes by figures: a square per figure with its ratio, the darker the slower.

use std::collections::{BTreeSet, HashMap};

use proofmark_model::{FleetNode, FleetReport, FleetStrip, NodeState, StripOutcome, Verdict};

use super::lookup::{Fleet, count};
use super::words::{finite, group_name, mark};
use crate::view::{Blocks, Columns, Entry, Style, Table, Text, clean, counted, joined};

/// Maximum of nodes and of figures in a map.
const NODES: usize = 64;
const FIGURES: usize = 24;
/// Ratios below which a square is darker, from pale to dark.
const SHADES: [f64; 5] = [0.99, 0.97, 0.95, 0.90, 0.80];
/// Pixels of a wide page, of a name with the space before the next table, and of a square.
const WIDE: usize = 1200;
const NAME_WIDE: usize = 150;
const CELL_WIDE: usize = 41;
/// Maximum of rows of a table that is not split.
const SHORT: usize = 8;
/// Minimum ratio of a node that is visibly faster than its group.
const FASTER: f64 = 1.03;

/// One square.
pub struct Square {
    pub ratio: Option<f64>,
    /// The verdict whose colour frames it.
    pub frame: Option<Verdict>,
}

/// A name with its squares.
type Row = (String, Vec<Square>);

/// Adds a map of each group that is compared and has one of the worst nodes.
pub fn add(out: &mut Blocks, fleet: &Fleet) {
    let shown = worst(fleet);
    let compared = fleet.report.groups.iter().enumerate().filter(|(_, g)| g.comparable);
    let mut maps = Blocks::default();
    compared.for_each(|(at, _)| add_group(&mut maps, fleet, at, &shown));
    if !maps.0.is_empty() {
        out.add("key", Text::new(Style::Quiet, [key()]));
    }
    out.0.extend(maps.0);
}

/// Explains shades and frames.
fn key() -> String {
    let steps = joined(SHADES.map(|ratio| format!("{ratio:.2}")), ", ");
    format!(
        "The shade darkens where a ratio is below {steps}. Blue: {FASTER:.2} or more. Red frame: \
         slow. Yellow frame: slow, not confirmed."
    )
}

/// Returns the places of the worst nodes in the report, as many as a map has room for.
fn worst(fleet: &Fleet) -> BTreeSet<usize> {
    let compared = |n: &FleetNode| n.group.and_then(|g| fleet.report.groups.get(g));
    let nodes = fleet.report.nodes.iter().enumerate();
    let nodes = nodes.filter(|(_, n)| compared(n).is_some_and(|g| g.comparable));
    let mut ranked: Vec<(NodeState, f64, usize)> =
        nodes.map(|(at, n)| (n.state, fleet.least(n), at)).collect();
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ranked.iter().take(NODES).map(|(.., at)| *at).collect()
}

fn add_group(out: &mut Blocks, fleet: &Fleet, group: usize, shown: &BTreeSet<usize>) {
    let report: &FleetReport = fleet.report;
    let members = report.nodes.iter().enumerate().filter(|(_, n)| n.group == Some(group));
    let (drawn, others): (Vec<_>, Vec<_>) = members.partition(|(at, _)| shown.contains(at));
    let mut drawn: Vec<&FleetNode> = drawn.into_iter().map(|(_, n)| n).collect();
    drawn.sort_by(|a, b| a.state.cmp(&b.state).then(fleet.least(a).total_cmp(&fleet.least(b))));
    let (figures, other_figures) = columns(fleet, group);
    if drawn.is_empty() || figures.is_empty() {
        return;
    }
    let name = |node: &FleetNode| match node.state {
        NodeState::Healthy => clean(&node.name),
        state => format!("{} {}", clean(&node.name), mark(state)),
    };
    let square =
        |node: &FleetNode, at| Square::of_strip(fleet.strip(node, at).map(|seen| seen.strip));
    let row =
        |node: &&FleetNode| (name(node), figures.iter().map(|(at, _)| square(node, *at)).collect());
    let rows: Vec<Row> = drawn.iter().map(row).collect();
    let titles: Vec<String> = figures.iter().map(|(_, title)| (*title).to_owned()).collect();
    let of = match report.groups.len() {
        1 => String::new(),
        _ => format!("Group {}. ", group_name(group)),
    };
    let caption = format!("{of}Speed of each node as a share of its group's median");
    let mut parts = Blocks::default();
    for part in rows.chunks(rows_each(rows.len(), titles.len())) {
        parts.add("map", table(caption.clone(), &titles, part));
    }
    out.add("maps", parts);
    let rest = rest(others.iter().map(|(_, n)| *n)).into_iter().chain(other_figures);
    out.add("rest", Text::new(Style::Quiet, rest));
}

/// Returns the number of rows of each table. A map is split into as many tables as fit next to each
/// other on a wide page, none of them very short.
fn rows_each(rows: usize, columns: usize) -> usize {
    let room = WIDE / (NAME_WIDE + CELL_WIDE * columns);
    let tables = room.clamp(1, rows.div_ceil(SHORT).max(1));
    rows.div_ceil(tables).max(1)
}

/// Returns `936 other nodes, of which 930 are healthy.`
fn rest<'a>(others: impl ExactSizeIterator<Item = &'a FleetNode>) -> Option<String> {
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

/// Returns the figures of a group's map in their order, with their places; and a sentence on the
/// others. If there are too many, figures at which a node is slowest have priority, then those with
/// slow nodes.
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

impl Square {
    fn of_strip(strip: Option<&FleetStrip>) -> Self {
        let frame = strip.and_then(|strip| match strip.outcome {
            StripOutcome::Slow => Some(Verdict::Invalid),
            StripOutcome::SlowNotConfirmed => Some(Verdict::Suspect),
            _ => None,
        });
        Self { ratio: strip.and_then(|s| finite(s.ratio)), frame }
    }

    fn entry(&self) -> Entry {
        let text = self.ratio.map_or_else(|| "–".to_owned(), |r| format!("{r:.2}"));
        Entry::from(text).shaded(self.ratio.map_or(0, shade)).coloured(self.frame)
    }
}

/// Returns 1 to 5 for a node that is slower, -1 for one that is visibly faster.
fn shade(ratio: f64) -> i8 {
    match SHADES.iter().filter(|least| ratio < **least).count() {
        0 if ratio >= FASTER => -1,
        darker => darker as i8,
    }
}

/// Returns a map with these heads above the squares.
pub fn table(caption: String, columns: &[String], rows: &[Row]) -> Table {
    let table = Columns::map(caption).column("node", |(name, _): &&Row| name.clone()).keys();
    let with_squares = columns.iter().enumerate().fold(table, |table, (at, title)| {
        table.number(title, move |(_, squares)| squares[at].entry())
    });
    with_squares.rows(rows)
}
