//! One page that needs nothing else, in the look of a run's page: no network, no script to be read,
//! light and dark as the reader has it, for wide and narrow screens and for paper.
//!
//! The templates escape every text; the style sheet and the script are those of a run's page.

use minijinja::value::Serde;
use minijinja::{Value, context};
use proofmark_model::FleetReport;
use serde::Serialize;

use super::figures;
use super::links;
use super::lookup::Fleet;
use super::map;
use super::strips;
use super::view::{Group, Said, View};
use crate::RenderError;
use crate::html::page;
use crate::view::{Table, counted, enclosed, joined};

const STYLE: &str = concat!(include_str!("../html/page/style.css"), include_str!("page/fleet.css"));
/// Lines of nodes that a page has, and names in one line.
const NODES: usize = 100;
const NAMES: usize = 100;
/// Groups whose figures a page has.
const GROUPS: usize = 8;

/// The page.
///
/// # Errors
/// If the template fails.
pub fn html(report: &FleetReport) -> Result<String, RenderError> {
    let fleet = Fleet::new(report);
    let view = View::new(&fleet);
    let several = view.groups.len() > 1;
    let groups = view.groups.iter().enumerate().take(GROUPS);
    let groups: Vec<Part> = groups.map(|(at, g)| Part::new(&fleet, at, g)).collect();
    let more = view.groups.len().saturating_sub(GROUPS);
    let context = context! {
        lines => Serde(lines(&view)),
        more_nodes => more_nodes(&view),
        several => several,
        maps => Serde(map::maps(&fleet)),
        legend => Serde(map::legend()),
        between => Serde(links::maps(&fleet)),
        strips => Serde(strips::strips(&fleet)),
        parts => Serde(groups),
        more_groups => (more > 0).then(|| counted(more as u64, "other group")),
        method => Serde(METHOD),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(include_str!("../html/page/sort.js").to_owned()),
        ..Serde(&view)
    };
    page(&[("page.html", include_str!("page/page.html"))], context)
}

/// A line of the table of nodes.
#[derive(Debug, Serialize)]
struct Line<'a> {
    names: String,
    said: &'a Said,
}

fn lines(view: &View) -> Vec<Line<'_>> {
    let shown = view.nodes.iter().take(NODES);
    shown.map(|said| Line { names: names(&said.names), said }).collect()
}

/// Names up to a number, of more the count.
fn names(all: &[String]) -> String {
    let rest = all.len().saturating_sub(NAMES);
    let more = (rest > 0).then(|| format!("{rest} others"));
    joined(all.iter().take(NAMES).chain(&more), ", ")
}

fn more_nodes(view: &View) -> Option<String> {
    let rest: usize = view.nodes.iter().skip(NODES).map(|s| s.names.len()).sum();
    (rest > 0).then(|| {
        format!("{} that are slow, unverified or not compared.", counted(rest as u64, "other node"))
    })
}

/// A group as the page has it.
#[derive(Debug, Serialize)]
struct Part<'a> {
    group: &'a Group,
    names: String,
    figures: Table,
}

impl<'a> Part<'a> {
    fn new(fleet: &Fleet, at: usize, group: &'a Group) -> Self {
        let of = enclosed(" of group ", group.name.trim_start_matches("Group "), "");
        let caption = format!("All figures{of}");
        Self {
            group,
            names: joined(&group.nodes, ", "),
            figures: figures::table(fleet, at, caption),
        }
    }
}

/// How it was made.
const METHOD: [&str; 6] = [
    "Rounds. Every node measures the same figures in several rounds. The ratio of a round is the \
     node's speed as a share of its group's median of the same round: below 1 is worse, for times \
     too. A node's ratio is the median over its rounds. 8 + 3 means that 8 rounds of the first \
     pass and 3 of the second have a result.",
    "Groups. Nodes with the same facts are a group, and are compared only with each other: each \
     group of 4 or more is judged by itself. A node of a smaller group is unverified. A fleet of \
     fewer than 4 nodes is not compared: shares of ceilings are shown.",
    "Slow. A round is slow if its ratio is below 1 minus the margin. A node that is slow at a \
     figure in the first pass measures once more, together with a few nodes of its group. It is \
     slow only if the second pass shows it too; else it is unverified, since it may be slow only \
     while all nodes run.",
    "Healthy. A node is healthy if it is as fast as its group at every required result: at every \
     result that most nodes of the group have. A node that lacks one, or has too few rounds, is \
     unverified. Spread: robust standard deviation between nodes, as a share.",
    "Margin. At a figure whose margin is above 15 % a node that is not slow is not judged. If that \
     is so for each figure of a required result, attainable and delivered, nodes differ too much \
     to judge it, and every other node of the group is unverified.",
    "Links. Nodes of a group measure the network in rounds of pairs. A pair's ratio counts for \
     both nodes: a node that is slow with all its partners is slow. A pair that is slow while both \
     nodes are as fast with others is measured again in every round of a second pass, and so are \
     its nodes with others; the link is slow if 7 of 8 rounds show that.",
];
