//! Selects the figures that nodes are judged by; the others are only shown.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{FleetFigure, NotJudged, Pass, TimeCause, agree, and_list};

use super::cause::taken;
use super::groups::Group;
use super::lines::{Key, Lines};
use super::rule::{FEWEST_NODES, LIMIT, Ruled, fewest_values};
use super::words::{others, percent};
use super::{KINDS, programs};
use crate::words::counted;

/// Most results that are named; the others are counted.
const NAMED: usize = 3;

/// Use of a figure for the judgement of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judging {
    /// A node that is not slow is level.
    ByMargin,
    /// A node that is not slow has no outcome: the figure is not required, or another figure of the
    /// same result is judged.
    Shown,
    /// It is required, and no figure of its result has a margin within [`LIMIT`].
    TooUneven,
}

/// Returns the use of each figure, from the number of its result, whether it is required, and the
/// rule's result.
pub(super) fn all(figures: &[(u32, bool, Ruled)]) -> Vec<Judging> {
    let judged = |(_, required, ruled): &(u32, bool, Ruled)| *required && within(ruled.margin);
    let judging = |figure: &(u32, bool, Ruled)| {
        let other = |other: &(u32, bool, Ruled)| other.0 == figure.0 && judged(other);
        match figure {
            figure if judged(figure) => Judging::ByMargin,
            (_, false, _) => Judging::Shown,
            _ if figures.iter().any(other) => Judging::Shown,
            _ => Judging::TooUneven,
        }
    };
    figures.iter().map(judging).collect()
}

fn within(margin: Option<f64>) -> bool {
    margin.is_some_and(|margin| margin <= LIMIT)
}

/// Returns the reasons why all nodes of a group are unverified, whatever they measured: required
/// results that no figure can judge.
pub(super) fn sentences(figures: &[FleetFigure], nodes: usize) -> Vec<String> {
    let required = figures.iter().filter(|f| f.required);
    let open: Vec<&FleetFigure> = required
        .filter(|f| !figures.iter().any(|o| o.judged && o.result() == f.result()))
        .collect();
    // The narrower margin of a result counts.
    let margin = |f: &FleetFigure| {
        let kinds = open.iter().filter(|o| o.result() == f.result()).filter_map(|o| o.margin);
        kinds.min_by(f64::total_cmp)
    };
    let (wide, none): (Vec<&FleetFigure>, Vec<_>) =
        open.iter().copied().partition(|f| margin(f).is_some());
    let widest = wide
        .iter()
        .copied()
        .max_by(|a, b| margin(a).partial_cmp(&margin(b)).unwrap_or(std::cmp::Ordering::Equal));
    let uneven = widest.and_then(|f| {
        let margin = percent(margin(f)?);
        let title = &f.title;
        Some(match others(wide.iter().copied(), f) {
            None => format!("{title} differs too much between nodes to judge: margin {margin}"),
            Some(more) => format!(
                "{title} and {more} differ too much between nodes to judge: margins up to {margin}"
            ),
        })
    });
    let few = none.first().map(|f| {
        let more = others(none.iter().copied(), f);
        let more = more.map_or_else(String::new, |more| format!(" and {more}"));
        format!(
            "fewer than {} nodes have enough rounds at {}{more} to judge it",
            if f.subsystem.info().has_server { FEWEST_NODES } else { fewest_values(nodes) },
            f.title
        )
    });
    uneven.into_iter().chain(few).collect()
}

/// Returns the reason why all nodes of a group are unverified, if a workload is not compared
/// although most nodes measured it. Each used other parameters, such as a size that follows from
/// its free memory.
pub(super) fn scattered(
    lines: &Lines,
    group: &Group,
    methods: &BTreeMap<String, u32>,
    figures: &[FleetFigure],
) -> Option<String> {
    let compared: BTreeSet<&str> =
        figures.iter().filter(|f| f.required).map(|f| f.workload.as_str()).collect();
    let mut holders: BTreeMap<&str, Holders> = BTreeMap::new();
    for node in &group.nodes {
        for cell in lines.nodes[*node].usable_first().flat_map(|seen| seen.cells.iter()) {
            let key = &lines.figures[cell.figure as usize].key;
            if key.is_usual(methods) && !compared.contains(key.workload.as_str()) {
                for (place, kind) in KINDS.into_iter().enumerate() {
                    if cell.value(kind).is_some() {
                        let figures = holders.entry(&key.workload).or_default();
                        figures.entry((cell.figure, place)).or_default().insert(*node);
                    }
                }
            }
        }
    }
    holders.into_values().find_map(|figures| not_compared(lines, group, &figures))
}

/// Places of the nodes that have a figure, by its number and the place of its kind in [`KINDS`].
type Holders = BTreeMap<(u32, usize), BTreeSet<usize>>;

/// Explains why a workload is not compared; `None` if most nodes lack it.
fn not_compared(lines: &Lines, group: &Group, holders: &Holders) -> Option<String> {
    let all: BTreeSet<usize> = holders.values().flatten().copied().collect();
    let ((number, place), most) = holders.iter().max_by_key(|(_, nodes)| nodes.len())?;
    let title = lines.figures[*number as usize].title();
    if 2 * all.len() <= group.nodes.len() {
        return None;
    }
    let of_figure = holders.iter().filter(|((other, _), _)| other == number);
    let same: BTreeSet<usize> = of_figure.flat_map(|(_, nodes)| nodes).copied().collect();
    if same.len() < all.len() {
        return Some(format!(
            "nodes measured {title} with different parameters, so it is not compared: set them in \
             a profile"
        ));
    }
    let without = group.nodes.iter().filter(|node| !most.contains(node));
    let without: Vec<&str> =
        without.take(NAMED).map(|node| lines.nodes[*node].name.as_str()).collect();
    let lacks = agree(without.len() as u64, ["lacks", "lack"]);
    let (kind, without) = (KINDS[*place].as_str(), and_list(&without));
    let all = group.nodes.len();
    // Of many nodes, more than half must have a figure that is compared.
    Some(if all / 2 < FEWEST_NODES {
        let few = counted(most.len() as u64, "node");
        let least = fewest_holders(&lines.figures[*number as usize].key, all);
        format!(
            "only {few} have a value of {title} ({kind}), and comparing needs {least}: {without} \
             {lacks} it"
        )
    } else {
        format!(
            "only {} of {all} nodes have the same figure of {title} ({kind}), and comparing needs \
             more than half: {without} {lacks} it",
            most.len()
        )
    })
}

/// Returns how many nodes of a group must have a figure that is compared.
pub(super) fn fewest_holders(key: &Key, nodes: usize) -> usize {
    match key.pass() {
        // Of three nodes one pair remains, alone in its round.
        Pass::Pairs => FEWEST_NODES,
        _ => fewest_values(nodes),
    }
}

/// Smallest share of the threads' time, taken by other load from most nodes, that makes a verdict
/// on them undecided.
const SHARED_LOAD: f64 = 0.1;

/// Returns the reason why all nodes of a group are unverified, if other load took much of the time
/// of most. They may be as fast as each other because all are slow. A CPU quota is no load.
pub(super) fn shared_load(lines: &Lines, group: &Group) -> Option<String> {
    let mut causes: BTreeMap<&str, (&str, Vec<f64>)> = BTreeMap::new();
    let mut sums = Vec::new();
    for node in &group.nodes {
        let shares = taken(&lines.nodes[*node]).unwrap_or_default();
        let load = shares.into_iter().filter(|(name, _)| *name != TimeCause::THROTTLED);
        let load: Vec<(&str, (f64, &str))> = load.collect();
        sums.push(load.iter().map(|(_, (share, _))| share).sum::<f64>());
        for (name, (share, words)) in load {
            causes.entry(name).or_insert((words, Vec::new())).1.push(share);
        }
    }
    let lost = most_reach(sums).filter(|lost| *lost >= SHARED_LOAD)?;
    let total = |(_, (_, shares)): &(&str, (&str, Vec<f64>))| shares.iter().sum::<f64>();
    let main = causes.into_iter().max_by(|a, b| total(a).total_cmp(&total(b)));
    let nodes = || group.nodes.iter().map(|node| &lines.nodes[*node]);
    let named = |name: &str| programs::named(nodes()).filter(|_| programs::took(name));
    let main = main.map(|(name, (words, _))| match named(name) {
        Some(programs) => format!(", mostly {words} (CPU use: {programs})"),
        None => format!(", mostly {words}"),
    });
    let main = main.unwrap_or_default();
    Some(format!(
        "most nodes lost {} or more of their threads' time{main}: load that all share does not show \
         in a comparison; stop it, and measure again",
        percent(lost)
    ))
}

/// Returns the largest of the values that more than half of them reach; `None` without any.
fn most_reach(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// Results that nodes of a group sent, with a value or a reason, of which no figure is required; in
/// the order of the first screen.
pub(super) fn not_judged(
    lines: &Lines,
    group: &Group,
    methods: &BTreeMap<String, u32>,
    figures: &[FleetFigure],
    numbers: &[u32],
) -> Option<NotJudged> {
    let figures = figures.iter().zip(numbers).filter(|(figure, _)| figure.required);
    let required: BTreeSet<u32> = figures.map(|(_, number)| *number).collect();
    let seen = group.nodes.iter().flat_map(|node| lines.nodes[*node].usable_first());
    let sent: BTreeSet<u32> = seen.flat_map(|s| s.cells.iter().map(|c| c.figure)).collect();
    let usual = |number: &&u32| lines.figures[**number as usize].key.is_usual(methods);
    // A result of most nodes that is not compared is a reason of each of them.
    let has = |node: usize, number: u32| {
        let mut cells = lines.nodes[node].usable_first().filter_map(|seen| seen.cell(number));
        cells.any(|cell| KINDS.iter().any(|kind| cell.value(*kind).is_some()))
    };
    let most_lack = |number: &&u32| {
        2 * group.nodes.iter().filter(|node| has(**node, **number)).count() <= group.nodes.len()
    };
    let mut left: Vec<_> = sent
        .difference(&required)
        .filter(usual)
        .filter(most_lack)
        .map(|number| &lines.figures[*number as usize])
        .collect();
    left.sort_by_key(|f| (f.key.subsystem, f.place, f.key.workload.as_str(), &f.key.params));
    (group.comparable() && !left.is_empty()).then(|| NotJudged {
        results: left.len() as u32,
        titles: left.iter().take(NAMED).map(|f| f.title().to_owned()).collect(),
    })
}
