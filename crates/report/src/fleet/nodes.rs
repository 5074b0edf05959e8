//! Nodes and links that are not healthy, with their causes.

use std::collections::HashMap;

use proofmark_model::{FleetNode, FleetReport, NodeState, SuspectResult};

use super::links::Link;
use super::lookup::Fleet;
use super::words::{self, group_name, mark, named, speed};
use crate::view::{Rich, Tone, clean, counted, joined};

/// Maximum of reasons that one screen has.
const REASONS: usize = 3;
/// Number of previous entries that are searched for the same reasons. Only untrusted input has
/// more.
const LOOKED_BACK: usize = 64;

/// A node that is not healthy, or several with the same reasons; or a link.
#[derive(Debug, PartialEq)]
pub struct Problem {
    pub state: NodeState,
    /// Sign and words of the state.
    pub mark: &'static str,
    /// Empty for a link, whose cause names its nodes.
    pub names: Vec<String>,
    /// The cause; without one the reasons, a sentence each.
    pub text: String,
    /// The same with the first reasons, and the number of the others.
    pub brief: String,
    /// The reasons of a node with a cause.
    pub more: Vec<String>,
    /// Empty where there is only one.
    pub group: String,
    /// `8 + 3`: rounds with a result in both passes.
    pub rounds: String,
}

/// Returns the nodes that are not healthy; those of one state with the same reasons are one.
pub fn problems(fleet: &Fleet) -> Vec<Problem> {
    let mut out: Vec<Problem> = Vec::new();
    for node in fleet.report.nodes.iter().filter(|n| n.state != NodeState::Healthy) {
        let one = Problem::from_node(fleet, node);
        let same = |p: &&mut Problem| {
            (p.state, &p.text, &p.more, &p.group, &p.rounds)
                == (one.state, &one.text, &one.more, &one.group, &one.rounds)
        };
        match out.iter_mut().rev().take(LOOKED_BACK).find(same) {
            Some(known) => known.names.extend(one.names),
            None => out.push(one),
        }
    }
    // What is wrong with few nodes comes before what is wrong with many.
    let shared = |p: &Problem| if p.state == NodeState::Slow { 0 } else { p.names.len() };
    out.sort_by_key(|p| (p.state, shared(p)));
    out
}

impl Problem {
    fn from_node(fleet: &Fleet, node: &FleetNode) -> Self {
        let reasons: Vec<String> = node.reasons.iter().map(|r| clean(r)).collect();
        let cause = node.cause.as_deref().map(clean).filter(|c| !c.is_empty());
        let (text, brief, more) = match cause {
            Some(cause) => (cause.clone(), cause, reasons),
            None => (sentences(&reasons, reasons.len()), sentences(&reasons, REASONS), Vec::new()),
        };
        let (text, brief) = match text.is_empty() {
            true => (slow_figures(fleet, node), slow_figures(fleet, node)),
            false => (text, brief),
        };
        let rounds = match node.rounds_again {
            0 => node.rounds.to_string(),
            again => format!("{} + {again}", node.rounds),
        };
        Self {
            state: node.state,
            mark: mark(node.state),
            names: vec![clean(&node.name)],
            text,
            brief,
            more,
            group: fleet.group_name(node).unwrap_or_default(),
            rounds,
        }
    }

    /// Takes a link that is slow or unverified.
    pub fn from_link(link: &Link) -> Self {
        Self {
            state: link.state(),
            mark: if link.link.confirmed { "✗ slow link" } else { "! unverified link" },
            names: Vec::new(),
            text: clean(&link.link.cause),
            brief: clean(&link.link.cause),
            more: Vec::new(),
            group: String::new(),
            rounds: String::new(),
        }
    }

    /// Returns a text after the sign and words of the state.
    pub fn marked(&self, text: &str) -> Rich {
        let tone = Tone::Verdict(words::color(self.state));
        Rich::toned(tone, self.mark).and(Tone::Plain, format!("  {text}"))
    }
}

/// Returns the first reasons, a sentence each, and the number of the others.
fn sentences(reasons: &[String], most: usize) -> String {
    // One more reason is as short as its count.
    let most = if reasons.len() > most + 1 { most } else { reasons.len() };
    let (shown, rest) = reasons.split_at(most);
    if let [one] = shown {
        return one.clone();
    }
    let rest = (!rest.is_empty())
        .then(|| format!("{} (--all)", counted(rest.len() as u64, "other reason")));
    let first = shown.iter().take(1).cloned();
    let others = shown.iter().skip(1).map(|reason| capitalised(reason));
    let all = first.chain(others).chain(rest);
    joined(all.map(|reason| format!("{}.", reason.trim_end_matches('.'))), " ")
}

/// Begins a sentence with a capital letter, unless its first word is a name.
fn capitalised(text: &str) -> String {
    /// Names of programs, which are lower case.
    const NAMES: [&str; 3] = ["ssh", "srun", "kubectl"];
    let word = text.split(' ').next().unwrap_or_default();
    let is_name = NAMES.contains(&word) || !word.chars().all(|c| c.is_ascii_lowercase());
    match text.chars().next() {
        Some(letter) if !is_name => letter.to_uppercase().chain(text.chars().skip(1)).collect(),
        _ => text.to_owned(),
    }
}

/// Returns the figures at which a node is slow, in place of a reason.
fn slow_figures(fleet: &Fleet, node: &FleetNode) -> String {
    let confirmed = node.figures.iter().filter(|f| f.confirmed);
    let figures = confirmed.filter_map(|f| {
        let title = fleet.strip(node, f.figure)?.title;
        Some(format!("{title} ({})", speed(f64::from(f.ratio))))
    });
    joined(figures, ", ")
}

/// Returns `Triad: suspect in 28 of 32 rounds of nodes (in_cache): ...`.
fn suspect(result: &SuspectResult, group: &str) -> String {
    let SuspectResult { title, check, message, rounds, of } = result;
    clean(&format!(
        "{title}{group}: suspect in {rounds} of {of} rounds of nodes ({check}): {message}"
    ))
}

/// Returns results that are suspect on most nodes, and `n3: 1 of 8 rounds at Triad does not count:
/// ...`; nodes with the same note share a sentence.
pub fn notes(report: &FleetReport) -> Vec<String> {
    const MOST: usize = 12;
    let suspect = report.groups.iter().enumerate().flat_map(|(at, group)| {
        let several = report.groups.len() > 1;
        let name = if several { format!(", group {}", group_name(at)) } else { String::new() };
        group.suspect.iter().map(move |result| suspect(result, &name))
    });
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
    let sentence =
        |(note, names): (&str, Vec<&str>)| format!("{}: {}", named(names.into_iter()), clean(note));
    let mut all: Vec<String> = suspect.chain(alike.into_iter().map(sentence)).collect();
    let rest = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    all.extend((rest > 0).then(|| format!("{}.", counted(rest as u64, "other note"))));
    all
}
