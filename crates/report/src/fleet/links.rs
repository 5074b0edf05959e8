//! The network between nodes: slow links, and a map of nodes by nodes.

use std::collections::BTreeSet;

use proofmark_model::{FleetFigure, FleetGroup, FleetLink, NodeState, Verdict};

use super::lookup::Fleet;
use super::map::{self, Square};
use super::words::{finite, group_name, short};
use crate::view::{Blocks, Style, Text, and_list, clean, counted, median};

/// Maximum of nodes in a map.
const NODES: usize = 32;
/// Longest name over a column, in characters.
const NAME: usize = 24;

/// A link that is slow or unverified.
pub struct Link<'a> {
    /// The names of its nodes.
    pub nodes: [String; 2],
    /// The figure at which it is slowest.
    pub figure: &'a FleetFigure,
    pub link: &'a FleetLink,
    /// The place of its group.
    pub group: usize,
}

/// Returns the links of all groups, slow ones first.
pub fn links<'a>(fleet: &'a Fleet) -> Vec<Link<'a>> {
    let groups = fleet.report.groups.iter().enumerate();
    let named = |(at, group): (usize, &'a FleetGroup)| {
        group.links.iter().filter_map(move |link| {
            let name = |place: usize| group.nodes.get(place).map(|name| clean(name));
            let nodes = [name(link.nodes[0])?, name(link.nodes[1])?];
            let (figure, _) = fleet.figures(at).nth(link.figure)?;
            Some(Link { nodes, figure, link, group: at })
        })
    };
    let mut all: Vec<Link> = groups.flat_map(named).collect();
    all.sort_by_key(|link| !link.link.confirmed);
    all
}

impl Link<'_> {
    /// Returns the state of a node that is like this link.
    pub fn state(&self) -> NodeState {
        if self.link.confirmed { NodeState::Slow } else { NodeState::Unverified }
    }

    /// Returns `n1 and n3`.
    pub fn names(&self) -> String {
        and_list(&self.nodes)
    }
}

/// Adds, for each group whose nodes measured the network, a map of its nodes by its nodes for each
/// result.
pub fn add(out: &mut Blocks, fleet: &Fleet) {
    let groups = fleet.report.groups.iter().enumerate();
    let measured = groups.filter(|(_, g)| !g.partners.is_empty() && g.comparable);
    let mut maps = Blocks::default();
    measured.for_each(|(at, group)| add_group(&mut maps, fleet, at, group));
    if !maps.0.is_empty() {
        out.add("key", Text::new(Style::Quiet, [KEY]));
    }
    out.0.extend(maps.0);
}

const KEY: &str = "The speed of each pair as a share of the median of its round's pairs, in the \
    colours above. A dark row and column: a slow node. A single dark square: a slow link.";

fn add_group(out: &mut Blocks, fleet: &Fleet, at: usize, group: &FleetGroup) {
    let network: Vec<(usize, &FleetFigure, &str)> = fleet
        .figures(at)
        .enumerate()
        .filter(|(_, (f, _))| f.subsystem.info().has_server && f.required)
        .map(|(place, (f, title))| (place, f, title))
        .collect();
    // A result has several figures: draw the one by which it is judged.
    let mut results = BTreeSet::new();
    let mut chosen = network.clone();
    chosen.sort_by_key(|(place, f, _)| (!f.judged, *place));
    chosen.retain(|(_, f, _)| results.insert((f.workload.clone(), f.params.clone())));
    chosen.sort_by_key(|(place, ..)| *place);
    let drawn = drawn(group, &network);
    let several = fleet.report.groups.len() > 1;
    for (place, f, title) in chosen {
        let name = if several { format!("Group {}. ", group_name(at)) } else { String::new() };
        add_map(out, group, (place, f), &drawn, format!("{name}{title}"));
    }
}

/// Returns the places of the nodes of a map: ends of links and slow nodes, then the others.
fn drawn(group: &FleetGroup, network: &[(usize, &FleetFigure, &str)]) -> Vec<usize> {
    let ends = group.links.iter().flat_map(|link| link.nodes);
    let is_slow = |place: &usize| {
        network.iter().any(|(_, f, _)| f.strips.get(*place).is_some_and(|s| s.outcome.is_slow()))
    };
    let all = 0..group.nodes.len();
    let mut seen = BTreeSet::new();
    let ranked = ends.chain(all.clone().filter(is_slow)).chain(all.clone());
    let kept: BTreeSet<usize> =
        ranked.filter(|place| all.contains(place) && seen.insert(*place)).take(NODES).collect();
    kept.into_iter().collect()
}

fn add_map(
    out: &mut Blocks,
    group: &FleetGroup,
    (at, f): (usize, &FleetFigure),
    drawn: &[usize],
    caption: String,
) {
    let name = |place: &usize| clean(&group.nodes[*place]);
    let square = |row: usize, column: usize| {
        let ratio = if row == column { None } else { ratio(group, f, row, column) };
        let is_between = |link: &&FleetLink| {
            link.figure == at && link.nodes.contains(&row) && link.nodes.contains(&column)
        };
        let link = group.links.iter().find(is_between).filter(|_| row != column);
        let frame = link.map(|link| match link.confirmed {
            true => Verdict::Invalid,
            false => Verdict::Suspect,
        });
        Square { ratio, frame }
    };
    let row = |row: &usize| (name(row), drawn.iter().map(|column| square(*row, *column)).collect());
    let columns: Vec<String> = drawn.iter().map(|place| short(&name(place), NAME)).collect();
    let rows: Vec<_> = drawn.iter().map(row).collect();
    out.add("map", map::table(caption, &columns, &rows));
    let rest = group.nodes.len() - drawn.len();
    let rest = (rest > 0).then(|| format!("{} not drawn.", counted(rest as u64, "other node")));
    out.add("rest", Text::new(Style::Quiet, rest));
}

/// Returns the median ratio over the rounds of two nodes.
fn ratio(group: &FleetGroup, f: &FleetFigure, a: usize, b: usize) -> Option<f64> {
    let rounds = group.partners.get(a)?.iter().zip(&f.strips.get(a)?.ratios);
    let with = rounds.filter(|(partner, _)| partner.map(|p| p as usize) == Some(b));
    median(with.filter_map(|(_, ratio)| finite(*ratio)))
}
