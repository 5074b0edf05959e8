//! What a fleet's report says, before it is laid out.

use std::collections::HashMap;

use proofmark_model::{FleetGroup, FleetNode, FleetReport, NodeState, Pairs, Verdict};
use serde::Serialize;

use super::advice;
use super::figures::{self, Row};
use super::links;
use super::lookup::Fleet;
use super::words::{self, group_name, mark, named, speed, testbed};
use crate::view::{Fact, clean, counted, joined};

/// A whole report.
#[derive(Debug, Serialize)]
pub struct View {
    pub title: String,
    /// How it was measured.
    pub facts: Vec<Fact>,
    pub answer: String,
    /// The word of the worst verdict whose colour repeats the answer.
    pub worst: &'static str,
    /// How many nodes are in each state.
    pub counts: Vec<Count>,
    pub testbed: Option<String>,
    /// Links that are slow or may be.
    pub links: Vec<SaidLink>,
    /// How many are not among them, in a sentence.
    pub more_links: Option<String>,
    /// The nodes in another state than healthy, worst first.
    #[serde(skip)]
    pub nodes: Vec<Said>,
    /// What befell healthy nodes, a sentence each.
    pub notes: Vec<String>,
    pub groups: Vec<Group>,
    /// The figures of all groups, those at which a node is slow first.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// What to do next.
    pub next: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Count {
    pub mark: &'static str,
    pub color: Option<Verdict>,
    pub count: usize,
}

/// What is said of a node, or of several with the same reasons.
#[derive(Debug, PartialEq, Serialize)]
pub struct Said {
    #[serde(skip)]
    pub state: NodeState,
    pub mark: &'static str,
    pub color: Option<Verdict>,
    #[serde(skip)]
    pub names: Vec<String>,
    /// The cause; without one the reasons.
    pub text: String,
    /// The reasons of a node with a cause.
    pub more: Vec<String>,
    /// Empty where there is only one.
    pub group: String,
    /// `8 + 3`: rounds with a result in both passes.
    pub rounds: String,
}

/// What is said of a link.
#[derive(Debug, PartialEq, Serialize)]
pub struct SaidLink {
    pub mark: &'static str,
    pub color: Option<Verdict>,
    pub text: String,
}

#[derive(Debug, Serialize)]
pub struct Group {
    /// `Group A`; empty where there is only one.
    pub name: String,
    /// `3 nodes, fewer than 4: not compared`.
    pub size: String,
    pub facts: Vec<Fact>,
    /// `usable CPUs 4 (8 in group A)`.
    pub differences: Vec<String>,
    /// Results that nodes sent and by which none is judged, in a sentence.
    pub not_judged: Option<String>,
    pub nodes: Vec<String>,
}

impl View {
    pub fn new(fleet: &Fleet) -> Self {
        let report = fleet.report;
        let count = |state| Count {
            mark: mark(state),
            color: words::color(state),
            count: report.count(state),
        };
        let links = links::links(fleet);
        let states = links.iter().map(links::Link::state);
        let worst = report.nodes.iter().map(|n| n.state).chain(states).min();
        let color = worst.map_or(Some(Verdict::Invalid), words::color);
        let several = report.groups.len() > 1;
        let groups = report.groups.iter().enumerate();
        Self {
            title: title(report),
            facts: facts(report),
            answer: words::answer(report),
            worst: color.map_or("none", Verdict::as_str),
            counts: NodeState::ALL.map(count).into_iter().filter(|c| c.count > 0).collect(),
            testbed: testbed(report),
            links: links.iter().take(LINKS).map(SaidLink::new).collect(),
            more_links: more_links(links.len().saturating_sub(LINKS)),
            nodes: said(fleet),
            notes: notes(report),
            groups: groups.map(|(at, g)| Group::new(at, g, several)).collect(),
            rows: figures::rows(fleet),
            next: advice::next(fleet),
        }
    }
}

fn title(report: &FleetReport) -> String {
    let nodes = counted(report.nodes.len() as u64, "node");
    match report.plan.label.as_deref().map(clean).filter(|label| !label.is_empty()) {
        Some(label) => format!("Fleet {label}: {nodes}"),
        None => format!("Fleet of {nodes}"),
    }
}

fn facts(report: &FleetReport) -> Vec<Fact> {
    let plan = &report.plan;
    let at_once = plan.at_once.map(|n| Fact::plain("nodes at a time", &n.to_string()));
    let pairs = plan.pairs.map(|pairs| match pairs {
        Pairs::All => Fact::plain("network partners", "all"),
        Pairs::Rounds(n) => Fact::plain("network partners", &n.to_string()),
    });
    let facts = [
        Fact::plain("started", &plan.started.display()),
        Fact::plain("launcher", &plan.launcher),
        Fact::plain("profile", &plan.task.profile),
        Fact::plain("rounds", &plan.rounds.to_string()),
        Fact::plain("program", &format!("proofmark {}", plan.tool.version)),
    ];
    let subnet = plan.subnet.as_deref().map(|subnet| Fact::plain("subnet", subnet));
    facts.into_iter().chain(at_once).chain(pairs).chain(subnet).collect()
}

/// `n3: 1 of 8 rounds at Triad does not count: ...`; nodes of which the same is said together.
fn notes(report: &FleetReport) -> Vec<String> {
    const MOST: usize = 12;
    let mut alike: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for node in &report.nodes {
        for note in &node.notes {
            let place = *places.entry(note).or_insert(alike.len());
            if place == alike.len() {
                alike.push((note, Vec::new()));
            }
            alike[place].1.push(&node.name);
        }
    }
    let of =
        |(note, names): (&str, Vec<&str>)| format!("{}: {}", named(names.into_iter()), clean(note));
    let mut all: Vec<String> = alike.into_iter().map(of).collect();
    let rest = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    all.extend((rest > 0).then(|| format!("{}.", counted(rest as u64, "other note"))));
    all
}

/// Links that are named.
const LINKS: usize = 12;

fn more_links(rest: usize) -> Option<String> {
    (rest > 0).then(|| format!("{} slow or unverified.", counted(rest as u64, "other link")))
}

impl SaidLink {
    fn new(link: &links::Link) -> Self {
        let state = link.state();
        let mark = if link.link.confirmed { "✗ slow link" } else { "! unverified link" };
        Self { mark, color: words::color(state), text: clean(&link.link.cause) }
    }
}

/// Nodes in another state than healthy; those of one state with the same reasons are one.
fn said(fleet: &Fleet) -> Vec<Said> {
    let mut out: Vec<Said> = Vec::new();
    for node in fleet.report.nodes.iter().filter(|n| n.state != NodeState::Healthy) {
        let one = Said::new(fleet, node);
        let same = |s: &&mut Said| {
            (s.state, &s.text, &s.more, &s.group, &s.rounds)
                == (one.state, &one.text, &one.more, &one.group, &one.rounds)
        };
        match out.iter_mut().rev().take(LOOKED_BACK).find(same) {
            Some(known) => known.names.extend(one.names),
            None => out.push(one),
        }
    }
    out
}

/// Places before a node in which one with the same reasons is looked for: all reasons of a fleet that
/// is not hostile.
const LOOKED_BACK: usize = 64;

impl Said {
    fn new(fleet: &Fleet, node: &FleetNode) -> Self {
        let reasons: Vec<String> = node.reasons.iter().map(|r| clean(r)).collect();
        let cause = node.cause.as_deref().map(clean).filter(|c| !c.is_empty());
        let (text, more) = match cause {
            Some(cause) => (cause, reasons),
            None => (joined(reasons, "; "), Vec::new()),
        };
        let rounds = match node.rounds_again {
            0 => node.rounds.to_string(),
            again => format!("{} + {again}", node.rounds),
        };
        Self {
            state: node.state,
            mark: mark(node.state),
            color: words::color(node.state),
            names: vec![clean(&node.name)],
            text: if text.is_empty() { no_reason(fleet, node) } else { text },
            more,
            group: fleet.group_name(node).unwrap_or_default(),
            rounds,
        }
    }
}

/// Of a node without a reason the figures at which it is slow.
fn no_reason(fleet: &Fleet, node: &FleetNode) -> String {
    let confirmed = node.figures.iter().filter(|f| f.confirmed);
    let figures = confirmed.filter_map(|f| {
        let title = fleet.strip(node, f.figure)?.title;
        Some(format!("{title} ({})", speed(f64::from(f.ratio))))
    });
    joined(figures, ", ")
}

impl Group {
    fn new(at: usize, group: &FleetGroup, several: bool) -> Self {
        let difference = |d: &proofmark_model::GroupDifference| {
            if let Some(sets) = d.instruction_sets() {
                return clean(&format!("instruction sets {sets}, unlike group A"));
            }
            let [what, here, largest] = [&d.what, &d.here, &d.largest].map(|t| clean(t));
            format!("{what} {here} ({largest} in group A)")
        };
        Self {
            name: if several { format!("Group {}", group_name(at)) } else { String::new() },
            size: words::size(group.nodes.len(), group.comparable),
            facts: group.facts.iter().map(|f| Fact::plain(&f.what, &f.value)).collect(),
            differences: group.differences.iter().map(difference).collect(),
            not_judged: group.not_judged.as_ref().map(words::not_judged),
            nodes: group.nodes.iter().map(|n| clean(n)).collect(),
        }
    }
}
