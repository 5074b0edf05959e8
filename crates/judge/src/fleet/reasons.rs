//! Reasons why a node is unverified.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofmark_model::{
    FigureKind, FleetFigure, FleetNode, NodeSlowAt, Pass, StripOutcome, agree, rounds_needed,
};

use super::Fleet;
use super::groups;
use super::judging::fewest_holders;
use super::lines::{Cell, Key, Lines, Lost, Node, RoundOutcome};
use super::rule::FEWEST_NODES;
use super::words::{difference, others, rounds, slowness};
use crate::words::counted;

/// Ending for a node that was not asked again after a failure.
const GONE: &str = "; it was not asked again";

/// Reasons from a node's lines, whatever it measured: failures, lines that do not count, facts that
/// change.
pub(super) fn from_lines(lines: &Lines, place: usize) -> Vec<String> {
    let node = &lines.nodes[place];
    let mut reasons = Vec::new();
    let passes =
        [(Pass::First, ""), (Pass::Again, " of the second pass"), (Pass::Pairs, " of pairs")];
    for (pass, name) in passes {
        let mut seen: BTreeMap<(bool, &Arc<str>), Vec<usize>> = BTreeMap::new();
        for (round, turn) in node.outcomes(pass).iter().enumerate() {
            let what = match turn {
                Some(turn) if lines.is_partners_fault(place, turn) => continue,
                Some(RoundOutcome::Failed(reason, gone, _)) => (*gone, reason),
                Some(RoundOutcome::Refused(reason)) => (false, reason),
                _ => continue,
            };
            seen.entry(what).or_default().push(round);
        }
        for ((gone, reason), at) in seen {
            let gone = if gone { GONE } else { "" };
            reasons.push(format!("{reason} ({}{name}){gone}", rounds(&at)));
        }
    }
    for Lost { reason, pass, round, gone, .. } in &node.lost {
        let name = if *pass == Pass::Pairs { "of pairs" } else { "of the second pass over pairs" };
        let gone = if *gone { GONE } else { "" };
        reasons.push(format!("{reason} (round {round} {name}){gone}"));
    }
    for (reason, pair, round) in &node.failed_again {
        if !lines.is_others_fault(place, *pair) {
            reasons.push(format!("{reason} (round {round} of the second pass over pairs)"));
        }
    }
    let changes = groups::changes(node);
    reasons.extend(changes.into_iter().map(|c| format!("it changed between rounds: {c}")));
    if let Some(other) = lines.same_machine(place) {
        reasons.push(format!("it is the same machine as {other}: both names lead to one kernel"));
    }
    if node.outcomes(Pass::First).iter().flatten().next().is_none() {
        reasons.push("it sent neither a result nor an error".to_owned());
    }
    reasons
}

/// Reasons from the comparison with its group: another kind of node, or another method.
pub(super) fn from_group(fleet: &Fleet, group: usize, node: &Node) -> Vec<String> {
    let mut reasons = Vec::new();
    let own = &fleet.groups[group];
    if !own.comparable() && fleet.lines.nodes.len() >= FEWEST_NODES {
        let differences = fleet.groups.first().map(|largest| own.differences(largest));
        let mut parts: Vec<String> = differences.iter().flatten().map(difference).collect();
        let nodes = counted(own.nodes.len() as u64, "node");
        parts.push(format!("its group has {nodes}; comparing needs {FEWEST_NODES}"));
        reasons.push(parts.join("; "));
    }
    let methods = &fleet.judged[group].methods;
    let mut other: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for seen in node.usable_first() {
        for cell in &seen.cells {
            let key = &fleet.lines.figures[cell.figure as usize].key;
            let usual = methods.get(&key.workload).copied().unwrap_or(key.method);
            if usual != key.method {
                other.insert((&key.workload, key.method), usual);
            }
        }
    }
    let words = |((workload, own), usual): ((&str, u32), u32)| {
        format!("measures {workload} by method {own}, its group by method {usual}")
    };
    reasons.extend(other.into_iter().map(words));
    reasons
}

/// The reason that no result of the network is required although the plan has pairs.
pub(super) fn no_network(fleet: &Fleet, group: usize) -> Option<String> {
    fleet.lines.plan.pairs?;
    let of_network = |f: &&FleetFigure| f.subsystem.info().has_server && f.required;
    let without = fleet.judged[group].figures.iter().find(of_network).is_none();
    let compared = fleet.groups[group].comparable();
    (compared && without).then(|| "no result of the network to other nodes".to_owned())
}

/// Required figures of a node with too few usable rounds.
pub(super) struct Few {
    pub(super) sentence: String,
    pub(super) cause: FewCause,
}

/// Cause of too few usable rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FewCause {
    /// The node itself.
    Own,
    /// Other nodes of its group lack the figure.
    Others,
    /// Other load.
    Load,
}

/// Describes the required figures with too few usable rounds, in one sentence.
pub(super) fn too_few(fleet: &Fleet, group: usize, place: usize, node: &Node) -> Option<Few> {
    let judged = &fleet.judged[group];
    let figures = judged.figures.iter().zip(&judged.numbers);
    let few: Vec<(&FleetFigure, u32)> = figures
        .filter(|(figure, _)| figure.strips[place].outcome == StripOutcome::TooFewRounds)
        .map(|(figure, number)| (figure, *number))
        .collect();
    let (figure, number) = few.iter().min_by_key(|(f, _)| f.strips[place].usable).copied()?;
    let planned = fleet
        .lines
        .planned(fleet.groups[group].nodes[place], fleet.lines.figures[number as usize].key.pass());
    let more = others(few.iter().map(|(f, _)| *f), figure);
    let more = more.map_or_else(String::new, |more| format!(", and too few at {more}"));
    let (cause, why) = why_few(fleet, group, node, figure, (number, planned));
    let sentence = format!(
        "{} ({}) has {} of {planned}, {} are needed{more}: {why}",
        figure.title,
        figure.kind.as_str(),
        counted(u64::from(figure.strips[place].usable), "usable round"),
        rounds_needed(planned),
    );
    Some(Few { sentence, cause })
}

/// The node's own reason why it has no value of a result that most nodes of its group have and that
/// is not compared, since too few are left.
pub(super) fn without_result(fleet: &Fleet, group: usize, node: &Node) -> Option<String> {
    let lines = &fleet.lines;
    let nodes = &fleet.groups[group].nodes;
    let figures = &fleet.judged[group].figures;
    let required = |key: &Key| {
        figures.iter().any(|f| f.required && f.result() == (key.workload.as_str(), &key.params))
    };
    let has = |node: &Node, figure: u32| {
        let cells = node.usable_first().filter_map(|seen| seen.cell(figure));
        cells.into_iter().any(|cell| !cell.invalid && cell.missing.is_none())
    };
    let cells = node.usable_first().flat_map(|seen| seen.cells.iter());
    let why = |cell: &Cell| {
        let found = || cell.findings.first().map(|found| format!("invalid: {}", found.message));
        cell.missing.as_ref().map(|why| why.to_string()).or_else(found)
    };
    let is_lost = |cell: &&Cell| {
        let others = || nodes.iter().filter(|n| has(&lines.nodes[**n], cell.figure)).count();
        (cell.invalid || cell.missing.is_some())
            && !required(&lines.figures[cell.figure as usize].key)
            && !has(node, cell.figure)
            && 2 * others() > nodes.len()
    };
    let lost = cells.into_iter().find(is_lost)?;
    Some(format!("{}: {}", lines.figures[lost.figure as usize].title(), why(lost)?))
}

/// The reason why a figure lacks rounds, and its text: that of its results, else the missing rounds.
fn why_few(
    fleet: &Fleet,
    group: usize,
    node: &Node,
    figure: &FleetFigure,
    (number, planned): (u32, usize),
) -> (FewCause, String) {
    let seen: Vec<_> = node.usable(fleet.lines.figures[number as usize].key.pass()).collect();
    let cells: Vec<&Cell> = seen.iter().filter_map(|(_, seen)| seen.cell(number)).collect();
    if let Some(cell) = cells.iter().find(|cell| cell.invalid) {
        let found = cell.findings.first();
        let why = found.map_or_else(
            || "the results are invalid".to_owned(),
            |found| format!("invalid: {}", found.message),
        );
        return (FewCause::Own, why);
    }
    if let Some(why) = cells.iter().find_map(|cell| cell.missing.as_ref()) {
        return (FewCause::Own, why.to_string());
    }
    if seen.len() < rounds_needed(planned) {
        let verb = agree(seen.len() as u64, ["counts", "count"]);
        return (
            FewCause::Own,
            format!("it sent {} that {verb}", counted(seen.len() as u64, "round")),
        );
    }
    if cells.iter().filter(|cell| cell.usable(figure.kind).is_some()).count()
        >= rounds_needed(planned)
    {
        let key = &fleet.lines.figures[number as usize].key;
        let least = fewest_holders(key, fleet.groups[group].nodes.len());
        return (
            FewCause::Others,
            format!("fewer than {least} nodes of its group have the others"),
        );
    }
    if figure.kind == FigureKind::Attainable && !cells.is_empty() {
        return (FewCause::Load, "other load ran in every trial".to_owned());
    }
    let left_out = seen.iter().find_map(|(_, seen)| seen.left_out.as_deref());
    (FewCause::Own, left_out.unwrap_or("it sent no such result").to_owned())
}

/// Describes lost rounds of a node that has enough others, such as those with a crashed worker. One
/// sentence, on the result with most lost rounds.
pub(super) fn lost_rounds(fleet: &Fleet, node: &Node) -> Option<String> {
    let mut lost: BTreeMap<u32, (usize, &str)> = BTreeMap::new();
    for cell in node.usable_first().flat_map(|seen| &seen.cells) {
        let why = match (cell.invalid, &cell.missing) {
            (true, _) => cell.findings.first().map_or("invalid", |found| &found.message),
            (false, Some(why)) => why,
            (false, None) => continue,
        };
        lost.entry(cell.figure).or_insert((0, why)).0 += 1;
    }
    // A result that the node never has is not reported.
    let has = |figure: &u32| {
        node.usable_first().any(|seen| {
            seen.cell(*figure).is_some_and(|cell| !cell.invalid && cell.missing.is_none())
        })
    };
    let (figure, (count, why)) =
        lost.into_iter().filter(|(figure, _)| has(figure)).max_by_key(|(_, (count, _))| *count)?;
    let figure = &fleet.lines.figures[figure as usize];
    let planned = fleet.lines.planned(node.place, figure.key.pass());
    let do_not = agree(count as u64, ["does not", "do not"]);
    Some(format!("{count} of {planned} rounds at {} {do_not} count: {why}", figure.title()))
}

/// Sentences about the figures at which a node was slow only in the first pass.
pub(super) fn unconfirmed(
    fleet: &Fleet,
    group: usize,
    place: usize,
    node: &FleetNode,
) -> Vec<String> {
    let judged = &fleet.judged[group];
    let needed = rounds_needed(fleet.lines.plan.rounds as usize);
    let mut by_enough: [Vec<&NodeSlowAt>; 2] = [Vec::new(), Vec::new()];
    for slow in node.figures.iter().filter(|slow| !slow.confirmed) {
        let strip = &judged.figures[slow.figure].strips[place];
        let enough = strip.again.iter().flatten().count() >= needed;
        by_enough[usize::from(enough)].push(slow);
    }
    let words = |slow: &[&NodeSlowAt], end: &str| {
        let worst = slow.first()?;
        let figures = slow.iter().map(|slow| &judged.figures[slow.figure]);
        let more = others(figures, &judged.figures[worst.figure]);
        let more = more.map_or_else(String::new, |more| format!(", and is slow at {more}"));
        let what = slowness(&judged.figures[worst.figure], f64::from(worst.ratio), "its group");
        Some(format!("{what}{more}{end}"))
    };
    // A limit that all nodes share, such as power or a switch, does not show with few nodes.
    let level = match fleet.lines.plan.at_once {
        None => {
            ": slow only while all nodes ran, not with a few: a limit that they share (power, a switch), \
                 or chance; measure again"
        }
        Some(_) => {
            ": slow only in the first pass, not in the second: what made it slow has ended, or chance; \
                    measure again"
        }
    };
    let of_network = |slow: &&NodeSlowAt| judged.figures[slow.figure].subsystem.info().has_server;
    let open =
        not_confirmed(&fleet.lines, &node.name, by_enough[0].first().is_some_and(of_network));
    words(&by_enough[0], open).into_iter().chain(words(&by_enough[1], level)).collect()
}

/// Why the second pass, of pairs or of nodes, does not confirm that a node is slow.
fn not_confirmed(lines: &Lines, node: &str, of_pairs: bool) -> &'static str {
    let too_few = ": not confirmed, the second pass has too few usable rounds";
    match &lines.nodes_again {
        _ if of_pairs && lines.pairs_decided => too_few,
        None => ": not confirmed, there is no second pass yet",
        Some(_) if of_pairs => ": not confirmed, there is no second pass over pairs yet",
        Some(names) if !names.contains(node) => ": not confirmed, it was not in the second pass",
        Some(_) if lines.unfinished().is_some() => {
            ": not confirmed, the second pass is not complete"
        }
        Some(_) => too_few,
    }
}
