//! The figures of each group, with a strip of rounds for each node.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{
    Better, FigureKind, FleetFigure, FleetStrip, NotJudged, Pass, StripOutcome, Subsystem,
    rounds_needed,
};

use super::KINDS;
use super::again::Again;
use super::groups::Group;
use super::judging::{self, Judging};
use super::lines::{Cell, Figure, Key, Lines};
use super::rule::{Rounds, Ruled, RuledNode, apply as rule, median_ratio, relative, rounded};
use crate::statistics::median;

/// The judged figures of a group.
pub(super) struct Judged {
    pub(super) figures: Vec<FleetFigure>,
    /// The number of each figure in the lines.
    pub(super) numbers: Vec<u32>,
    /// The method of most nodes, by workload.
    pub(super) methods: BTreeMap<String, u32>,
    /// Results that some nodes sent and most lack.
    pub(super) not_judged: Option<NotJudged>,
    /// Reasons why all its nodes are unverified; empty if the nodes are not compared.
    pub(super) open: Vec<String>,
}

/// A figure of a group before it is judged.
struct ToJudge<'a> {
    number: u32,
    figure: &'a Figure,
    kind: FigureKind,
    required: bool,
}

/// Judges the figures of every group.
pub(super) fn judge(lines: &Lines, groups: &[Group]) -> Vec<Judged> {
    let methods: Vec<_> = groups.iter().map(|group| methods(lines, group)).collect();
    let selected: Vec<Vec<ToJudge>> =
        groups.iter().zip(&methods).map(|(group, methods)| select(lines, group, methods)).collect();
    let compared = groups.iter().zip(&selected).filter(|(group, _)| group.comparable());
    let required = |selected: &[ToJudge]| selected.iter().filter(|a| a.required).count();
    let tests = compared.map(|(group, selected)| group.nodes.len() * required(selected)).sum();
    let judge = |((group, selected), methods): ((&Group, Vec<ToJudge>), _)| {
        let numbers: Vec<u32> = selected.iter().map(|a| a.number).collect();
        let figures = figures(lines, group, &selected, tests);
        let not_judged = judging::not_judged(lines, group, &methods, &figures, &numbers);
        let mut open = Vec::new();
        if group.comparable() {
            // Other load is the likely cause of what follows it.
            open.extend(judging::shared_load(lines, group));
            open.extend(judging::sentences(&figures, group.nodes.len()));
            open.extend(judging::scattered(lines, group, &methods, &figures));
        }
        Judged { figures, numbers, methods, not_judged, open }
    };
    groups.iter().zip(selected).zip(methods).map(judge).collect()
}

/// The method of most nodes by workload; between equally frequent ones the newest.
fn methods(lines: &Lines, group: &Group) -> BTreeMap<String, u32> {
    let mut nodes: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for node in &group.nodes {
        let seen = lines.nodes[*node].usable_first();
        let keys = seen.flat_map(|s| s.cells.iter().map(|c| key(lines, c)));
        let own: BTreeSet<_> = keys.map(|k| (k.workload.as_str(), k.method)).collect();
        own.into_iter().for_each(|method| *nodes.entry(method).or_default() += 1);
    }
    let mut most: BTreeMap<String, (usize, u32)> = BTreeMap::new();
    for ((workload, method), count) in nodes {
        let best = most.entry(workload.to_owned()).or_default();
        *best = (*best).max((count, method));
    }
    most.into_iter().map(|(workload, (_, method))| (workload, method)).collect()
}

fn key<'a>(lines: &'a Lines, cell: &Cell) -> &'a Key {
    &lines.figures[cell.figure as usize].key
}

/// Selects the figures that nodes of the group measured by its methods, in the order of the first
/// screen. In a group that is compared, only those that enough nodes have.
fn select<'a>(
    lines: &'a Lines,
    group: &Group,
    methods: &BTreeMap<String, u32>,
) -> Vec<ToJudge<'a>> {
    let mut holders: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
    for node in &group.nodes {
        let mut own: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
        let cells = lines.nodes[*node].usable_first().flat_map(|seen| seen.cells.iter());
        for cell in cells {
            let has = own.entry(cell.figure).or_default();
            KINDS.iter().zip(has).for_each(|(kind, has)| *has |= cell.value(*kind).is_some());
        }
        for (number, has) in own {
            let counts = holders.entry(number).or_default();
            counts.iter_mut().zip(has).for_each(|(n, has)| *n += usize::from(has));
        }
    }
    let mut all: Vec<ToJudge> = Vec::new();
    for (number, counts) in holders {
        let figure = &lines.figures[number as usize];
        if !figure.key.is_usual(methods) {
            continue;
        }
        let least = match group.comparable() {
            true => judging::fewest_holders(&figure.key, group.nodes.len()),
            false => 1,
        };
        for (kind, count) in KINDS.into_iter().zip(counts).filter(|(_, count)| *count >= least) {
            all.push(ToJudge { number, figure, kind, required: 2 * count > group.nodes.len() });
        }
    }
    all.sort_by(|a, b| order(a).cmp(&order(b)));
    all
}

fn order<'a>(a: &ToJudge<'a>) -> impl Ord + use<'a> {
    let key = &a.figure.key;
    let rest = (key.unit.as_str(), key.random, key.better == Better::Lower);
    let kind = a.kind == FigureKind::Delivered;
    (key.subsystem, a.figure.place, &key.workload, &key.params, rest, kind)
}

fn figures(lines: &Lines, group: &Group, selected: &[ToJudge], tests: usize) -> Vec<FleetFigure> {
    let rounds = |a: &ToJudge| {
        let pass = a.figure.key.pass();
        let planned = group.nodes.iter().map(|node| lines.planned(*node, pass));
        let mut speeds = match pass {
            Pass::Pairs => Rounds::for_pairs(&planned.collect::<Vec<_>>(), lines.rounds(pass)),
            _ => Rounds::new(group.nodes.len(), lines.rounds(pass)),
        };
        for (place, node) in group.nodes.iter().enumerate() {
            for (round, seen) in lines.nodes[*node].usable(pass) {
                let value = seen.cell(a.number).and_then(|cell| cell.usable(a.kind));
                let value = value.map_or(f64::NAN, |v| a.figure.key.speed(v));
                speeds.set(place, round, value);
            }
        }
        let pool: (Subsystem, bool) = (a.figure.key.subsystem, a.kind == FigureKind::Delivered);
        (pool, speeds)
    };
    // A figure that is not required may have few nodes. It must not change the others' margins.
    let required: Vec<_> =
        selected.iter().filter(|a| a.required && group.comparable()).map(rounds).collect();
    let mut judged = rule(&required, tests).into_iter();
    let ruled = selected.iter().map(|a| match (group.comparable(), a.required) {
        (true, true) => judged.next().unwrap_or_default(),
        (true, false) => relative(&rounds(a).1),
        (false, _) => Ruled::default(),
    });
    let ruled: Vec<_> =
        selected.iter().zip(ruled).map(|(a, r)| (a.number, a.required, r)).collect();
    let judging = judging::all(&ruled);
    let all = selected.iter().zip(ruled).zip(judging);
    let figures = all
        .map(|((selected, (.., ruled)), judging)| figure(lines, group, selected, ruled, judging));
    let mut figures: Vec<FleetFigure> = figures.collect();
    for place in 0..group.nodes.len() {
        judge_by_other_figure(&mut figures, place);
    }
    figures
}

/// Judges a node with too few rounds at one figure of a result by the other figure.
fn judge_by_other_figure(figures: &mut [FleetFigure], place: usize) {
    let judges = |f: &FleetFigure| {
        let outcome = f.strips[place].outcome;
        f.judged && !matches!(outcome, StripOutcome::TooFewRounds | StripOutcome::NotJudged)
    };
    let enough: Vec<bool> = figures.iter().map(judges).collect();
    for at in 0..figures.len() {
        let same = |other: &FleetFigure| other.result() == figures[at].result();
        let few = figures[at].strips[place].outcome == StripOutcome::TooFewRounds;
        if few && figures.iter().zip(&enough).any(|(other, enough)| *enough && same(other)) {
            figures[at].strips[place].outcome = StripOutcome::NotJudged;
        }
    }
}

fn figure(
    lines: &Lines,
    group: &Group,
    selected: &ToJudge,
    ruled: Ruled,
    judging: Judging,
) -> FleetFigure {
    let ToJudge { number, figure, kind, required } = *selected;
    let again = Again::new(lines, group, number, kind, &ruled);
    let nodes = ruled.nodes.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let strip = |(place, (node, ruled)): (usize, (&usize, Option<RuledNode>))| {
        let headline = figure.attainable_first() == (kind == FigureKind::Attainable);
        let strip = values(lines, *node, number, kind, headline);
        let Some(ruled) = ruled else {
            let needed = rounds_needed(lines.planned(*node, figure.key.pass()));
            let few = required && (strip.usable as usize) < needed;
            let outcome = if few { StripOutcome::TooFewRounds } else { StripOutcome::NotJudged };
            return FleetStrip { outcome, ..strip };
        };
        let twice = again.ratios(place);
        let outcome = outcome(&ruled, again.confirms(&twice), judging, required);
        FleetStrip {
            ratio: median_ratio(ruled.ratios.iter().flatten()).map(|m| rounded(m as f32)),
            below: ruled.below as u32,
            usable: ruled.usable as u32,
            ratios: ruled.ratios.into_iter().map(|r| r.map(rounded)).collect(),
            outcome,
            again: twice,
            ..strip
        }
    };
    let strips: Vec<FleetStrip> = group.nodes.iter().zip(nodes).enumerate().map(strip).collect();
    let key = &figure.key;
    let medians: Vec<f64> = match group.comparable() {
        true => ruled.medians.iter().flatten().map(|speed| key.speed(*speed)).collect(),
        false => strips.iter().filter_map(|strip| strip.value).collect(),
    };
    FleetFigure {
        workload: key.workload.clone(),
        params: key.params.clone(),
        title: figure.title().to_owned(),
        subsystem: key.subsystem,
        unit: key.unit,
        random: key.random,
        better: key.better,
        kind,
        required,
        judged: judging == Judging::ByMargin,
        median: median(&medians),
        spread: ruled.spread,
        margin: ruled.margin,
        strips,
    }
}

/// The outcome of a node at a figure by the rule and the second pass.
fn outcome(ruled: &RuledNode, confirmed: bool, judging: Judging, required: bool) -> StripOutcome {
    match (ruled.decides(), judging) {
        (true, _) if ruled.slow && confirmed => StripOutcome::Slow,
        (true, _) if ruled.slow => StripOutcome::SlowNotConfirmed,
        (true, Judging::ByMargin) => StripOutcome::Level,
        (true, Judging::TooUneven) => StripOutcome::TooUneven,
        (false, _) if required => StripOutcome::TooFewRounds,
        _ => StripOutcome::NotJudged,
    }
}

/// The strip of a node from its own lines, before it is judged.
fn values(lines: &Lines, node: usize, number: u32, kind: FigureKind, headline: bool) -> FleetStrip {
    let seen = lines.nodes[node].usable_first();
    let cells: Vec<&Cell> = seen.filter_map(|seen| seen.cell(number)).collect();
    let usable: Vec<f64> = cells.iter().filter_map(|cell| cell.usable(kind)).collect();
    let shares = cells.iter().filter(|cell| headline && cell.usable(kind).is_some());
    let shares: Vec<f64> = shares.filter_map(|cell| cell.efficiency).map(f64::from).collect();
    FleetStrip {
        ratios: vec![None; lines.rounds(lines.figures[number as usize].key.pass())],
        ratio: None,
        below: 0,
        usable: usable.len() as u32,
        value: median(&usable),
        of_ceiling: median(&shares).map(|share| rounded(share as f32)),
        reliance: cells.iter().map(|cell| cell.reliance).max().unwrap_or_default(),
        outcome: StripOutcome::NotJudged,
        again: Vec::new(),
    }
}
