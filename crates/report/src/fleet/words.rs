//! The answer, the names and the numbers of a fleet as text.

use proofmark_model::{
    FEWEST_NODES, FactId, FleetGroup, FleetLink, FleetNode, FleetReport, GroupDifference,
    NodeState, NotJudged, Pass, UnfinishedPass, Verdict, clean_excerpt, format_factor,
    format_seconds,
};

use crate::view::{agree, and_list, clean, counted, joined};

/// Maximum of nodes that a sentence names before it counts.
const NAMED: usize = 3;
/// Longest name in a sentence, in characters.
const LONGEST: usize = 64;
/// Maximum of groups whose difference the answer states.
const KINDS: usize = 2;

/// Returns a finite ratio. It has four decimals; a wider number must not add digits.
pub fn finite(ratio: Option<f32>) -> Option<f64> {
    let ratio = f64::from(ratio.filter(|r| r.is_finite())?);
    Some((ratio * 1e4).round() / 1e4)
}

/// Returns a ratio as text: `0.921`.
pub fn speed(ratio: f64) -> String {
    if ratio.abs() < 1000.0 { format!("{ratio:.3}") } else { format_factor(ratio) }
}

/// Returns `A` for the largest group, `AA` after `Z`.
pub fn group_name(at: usize) -> String {
    let letter = char::from(b'A' + (at % 26) as u8);
    match at / 26 {
        0 => letter.to_string(),
        more => group_name(more - 1) + &letter.to_string(),
    }
}

/// Cuts a text to so many characters, and marks the cut.
pub fn short(text: &str, most: usize) -> String {
    let cut = clean_excerpt(text, most + 1);
    if cut.chars().count() <= most { cut } else { clean_excerpt(&cut, most - 1) + "…" }
}

/// Returns `n1`, `n1 and n2`, or `n1, n2, n3 and 5 others`.
pub fn named<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = others(names.len());
    let shown = names.len() - more;
    let names = names.take(shown).map(|name| short(name, LONGEST));
    and_list(names.chain((more > 0).then(|| format!("{more} others"))))
}

/// Returns how many of so many names are only counted: never one, whose name is as short.
fn others(all: usize) -> usize {
    if all > NAMED + 1 { all - NAMED } else { 0 }
}

/// Returns the sign and word of a state.
pub fn mark(state: NodeState) -> &'static str {
    match state {
        NodeState::Slow => "✗ slow",
        NodeState::Unverified => "! unverified",
        NodeState::NotCompared => "- not compared",
        NodeState::Healthy => "✓ healthy",
    }
}

/// Returns the verdict whose colour repeats a state.
pub fn color(state: NodeState) -> Verdict {
    match state {
        NodeState::Slow => Verdict::Invalid,
        NodeState::Unverified => Verdict::Suspect,
        NodeState::NotCompared => Verdict::NotRun,
        NodeState::Healthy => Verdict::Valid,
    }
}

/// Returns `31 of 32 nodes healthy; n3 is slow.`, with slow links, the differences of the groups and
/// nodes that were measured later than the others.
pub fn answer(report: &FleetReport) -> String {
    let more = links(report).into_iter().chain(kinds(report)).chain(measured_later(report));
    joined([states(report)].into_iter().chain(unfinished(report)).chain(more), " ")
}

/// Returns `The fleet is not complete: it has 7 of 8 rounds and no second pass.`
fn unfinished(report: &FleetReport) -> Option<String> {
    let UnfinishedPass { pass, rounds, planned } = report.unfinished?;
    let has = match (pass, rounds) {
        (Pass::First, _) => format!("{rounds} of {planned} rounds and no second pass"),
        (_, 0) => "no second pass".to_owned(),
        _ => format!("{rounds} of {planned} rounds of the second pass"),
    };
    Some(format!("The fleet is not complete: it has {has}."))
}

/// Returns `The link between n1 and n3 is slow.`
fn links(report: &FleetReport) -> Option<String> {
    let all = report.groups.iter().flat_map(|g| g.links.iter().map(move |link| (g, link)));
    let (slow, open): (Vec<_>, Vec<_>) = all.partition(|(_, link)| link.confirmed);
    let sentence = |links: &[(&FleetGroup, &FleetLink)], words: &str| match links {
        [] => None,
        [(group, link)] => {
            let name = |place: usize| group.nodes.get(place).map(|name| short(name, LONGEST));
            let (a, b) = (name(link.nodes[0])?, name(link.nodes[1])?);
            Some(format!("The link between {a} and {b} is {words}."))
        }
        several => Some(format!("{} links between nodes are {words}.", several.len())),
    };
    let open = sentence(&open, "unverified");
    let all: Vec<String> = sentence(&slow, "slow").into_iter().chain(open).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn states(report: &FleetReport) -> String {
    let [all, healthy] = [report.nodes.len(), report.count(NodeState::Healthy)];
    if all == 0 {
        return "No node was measured.".to_owned();
    }
    if healthy == all {
        return match all {
            1 => "The one node is healthy.".to_owned(),
            n => format!("All {n} nodes are healthy."),
        };
    }
    if report.count(NodeState::NotCompared) == all {
        return format!("No node is compared: a group needs {FEWEST_NODES} nodes or more.");
    }
    let mut parts = vec![format!("{healthy} of {} healthy", counted(all as u64, "node"))];
    parts.extend(be(report, NodeState::Slow, "slow"));
    parts.extend(be(report, NodeState::Unverified, "unverified"));
    parts.extend(be(report, NodeState::NotCompared, "not compared"));
    parts.join("; ") + "."
}

/// Returns how the compared groups differ from the largest: `5 nodes have memory 12 GiB, the others
/// 24 GiB.` The difference of a smaller group is a reason of its nodes.
fn kinds(report: &FleetReport) -> Option<String> {
    let groups = report.groups.iter().skip(1).filter(|g| g.comparable && !g.differences.is_empty());
    let largest = if report.groups.len() == 2 { "the others" } else { "the largest group" };
    let value = |text: &str| short(text, LONGEST);
    let words = |d: &GroupDifference| match FactId::named(&d.what) {
        // A list of sets is as long as a line.
        Some(FactId::InstructionSets) => format!("other {} than {largest}", d.what),
        _ => format!("{} {}, {largest} {}", value(&d.what), value(&d.here), value(&d.largest)),
    };
    let mut parts: Vec<String> = Vec::new();
    let count = groups.clone().count();
    for group in groups.take(KINDS) {
        let nodes = counted(group.nodes.len() as u64, "node");
        let first = group.differences.first().map(words)?;
        let more = match group.differences.len() - 1 {
            0 => String::new(),
            more => format!(", and {}", counted(more as u64, "more difference")),
        };
        parts.push(format!("{nodes} have {first}{more}"));
    }
    if count > KINDS {
        let others = counted((count - KINDS) as u64, "other group");
        parts.push(format!("{others} with other differences"));
    }
    (!parts.is_empty()).then(|| parts.join("; ") + "; nodes are compared only within their group.")
}

/// Returns how much later than the others nodes were measured again: their groups are those of then.
fn measured_later(report: &FleetReport) -> Option<String> {
    let compared = |n: &&FleetNode| {
        let group = n.group.and_then(|at| report.groups.get(at));
        n.rounds > 0 && group.is_some_and(|g| g.comparable)
    };
    let all = report.nodes.iter().filter(compared);
    let later = |n: &FleetNode| n.asked_again_after_s.filter(|s| s.is_finite() && *s >= 0.0);
    let again: Vec<(&str, f64)> =
        all.clone().filter_map(|n| Some((n.name.as_str(), later(n)?))).collect();
    // Without a node of the first time there is nothing older.
    if again.is_empty() || again.len() == all.count() {
        return None;
    }
    let latest = again.iter().map(|(_, s)| *s).fold(0.0, f64::max);
    let up_to = if again.len() > 1 { "up to " } else { "" };
    let names = named(again.iter().map(|(name, _)| *name));
    let (n, age) = (again.len() as u64, format_age(latest));
    let (was, it) = (agree(n, ["was", "were"]), agree(n, ["It is", "They are"]));
    Some(format!(
        "{names} {was} measured again {up_to}{age} after the fleet began. {it} compared with the older \
         rounds of the others."
    ))
}

/// Returns `20 min`, `5 h` or `3 days`.
fn format_age(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    match seconds {
        s if s < 2.0 * DAY => format_seconds(s),
        s => format!("{:.0} days", s / DAY),
    }
}

/// Returns `5 results (Triad, Random read, LINPACK and 2 others); most nodes lack them.`
pub fn not_judged(left: &NotJudged) -> String {
    let rest = (left.results as usize).saturating_sub(left.titles.len());
    let titles = left.titles.iter().map(|title| short(title, LONGEST));
    let titles = and_list(titles.chain((rest > 0).then(|| counted(rest as u64, "other"))));
    let results = counted(u64::from(left.results), "result");
    let them = agree(left.results as u64, ["it", "them"]);
    format!("{results} ({titles}); most nodes lack {them}.")
}

/// Returns `n3 and n5 are slow`; `None` for no node.
fn be(report: &FleetReport, state: NodeState, word: &str) -> Option<String> {
    let is = agree(report.count(state) as u64, ["is", "are"]);
    Some(format!("{} {is} {word}", in_state(report, state)?))
}

/// Names the nodes in a state, as in a sentence.
pub fn in_state(report: &FleetReport, state: NodeState) -> Option<String> {
    let names: Vec<&str> =
        report.nodes.iter().filter(|n| n.state == state).map(|n| n.name.as_str()).collect();
    (!names.is_empty()).then(|| named(names.into_iter()))
}

/// Returns the warning of a test whose nodes are not separate machines.
pub fn testbed(report: &FleetReport) -> Option<String> {
    let what = clean(report.plan.testbed.as_deref()?);
    let what = what.trim_end_matches('.');
    Some(format!("{what}; figures between nodes are not those of a network"))
}

/// Returns the number of a group's nodes, and that they are not compared if they are few.
pub fn size(nodes: usize, comparable: bool) -> String {
    let nodes = counted(nodes as u64, "node");
    if comparable { nodes } else { format!("{nodes} (fewer than {FEWEST_NODES}: not compared)") }
}
