//! Reads a fleet's lines. They may be in any order between nodes; of several lines of one node,
//! pass and round the last one counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use proofmark_model::{
    Better, FLEET_ROUNDS, FigureKind, FleetLine, FleetPlan, NodeFact, NodeFailure, NodeFigure,
    NodeRound, NodesAgain, Pass, RoundRobin, Severity, check_id, clean_excerpt, format_percent,
};

use super::lines::{Cell, Figure, Found, Key, Lines, Lost, Node, RoundOutcome, UsableRound};
use super::{LONGEST_NAME, LONGEST_TEXT, MOST_FINDINGS, MOST_NODES};
use crate::checks::network_path::ONE_MACHINE;

/// Most failures of a node that are kept.
const MOST_LOST: usize = 64;

/// Most programs of a round that are kept.
const MOST_PROGRAMS: usize = 10;

/// Reads the lines. Fails if there is no valid plan.
pub(super) fn collect(lines: impl IntoIterator<Item = FleetLine>) -> Result<Lines, String> {
    let mut intake: Option<Intake> = None;
    for line in lines {
        match (line, &mut intake) {
            (FleetLine::Plan(plan), None) => intake = Some(Intake::new(*plan)?),
            // Only the first plan counts; the file is untrusted input.
            (FleetLine::Plan(_), Some(_)) => {}
            (FleetLine::Round(round), Some(intake)) => intake.round(*round),
            (FleetLine::Failure(failure), Some(intake)) => intake.failure(&failure),
            (FleetLine::RoundRobin(round_robin), Some(intake)) => intake.round_robin(round_robin),
            (FleetLine::MeasureAgain(again), Some(intake)) => intake.forget(&again),
            (FleetLine::NodesAgain(again), Some(intake)) => intake.second_pass(&again.nodes),
            (FleetLine::PairsAgain(_), Some(intake)) => intake.lines.pairs_decided = true,
            (_, None) => return Err("the first line is not the plan".to_owned()),
        }
    }
    let intake = intake.ok_or("there is no plan")?;
    Ok(intake.lines)
}

/// The share of the ceiling that a value of a result reaches.
fn share_of_ceiling(figure: &NodeFigure, value: f64) -> Option<f64> {
    let ceiling = figure.ceiling.filter(|ceiling| *ceiling > 0.0)?;
    let share = match figure.better {
        Better::Higher => value / ceiling,
        Better::Lower => ceiling / value,
    };
    Some(share).filter(|share| share.is_finite())
}

/// The share of the ceiling of the figure that comes first in a fleet. Typical is not compared there,
/// delivered stands in for it; a ceiling that is too vague for an efficiency has no share either.
fn efficiency(figure: &NodeFigure) -> Option<f64> {
    let of_headline = figure.efficiency?;
    match figure.headline {
        FigureKind::Typical => share_of_ceiling(figure, figure.delivered?),
        FigureKind::Attainable | FigureKind::Delivered => Some(of_headline),
    }
}

/// Explains that a figure is beyond its own ceiling; `None` if it is not. The node judged its run,
/// but the file may have been changed since.
fn above_ceiling(figure: &NodeFigure) -> Option<String> {
    /// Margin where an older file does not tell it: far beyond that of any ceiling.
    const UNKNOWN: f64 = 1.0;
    let both = [figure.attainable, figure.delivered].into_iter().flatten();
    let most = both.filter_map(|v| share_of_ceiling(figure, v)).max_by(f64::total_cmp)?;
    let margin = figure.ceiling_margin.unwrap_or(UNKNOWN);
    let beyond = match figure.better {
        Better::Higher => format!("the result is {} of its ceiling", format_percent(most)),
        Better::Lower => {
            format!("the result is {} of the shortest possible time", format_percent(1.0 / most))
        }
    };
    (most > 1.0 + margin).then_some(beyond)
}

struct Intake {
    lines: Lines,
    nodes: HashMap<String, usize>,
    figures: HashMap<Arc<Key>, u32>,
    /// Each text once: nodes repeat texts in many results.
    texts: BTreeSet<Arc<str>>,
    facts: Vec<Arc<Vec<NodeFact>>>,
}

impl Intake {
    fn new(mut plan: FleetPlan) -> Result<Self, String> {
        if plan.nodes.len() > MOST_NODES {
            return Err(format!("the plan has more than {MOST_NODES} nodes"));
        }
        if !(1..=*FLEET_ROUNDS.end()).contains(&plan.rounds) {
            return Err(format!(
                "the plan has {} rounds, not 1 to {}",
                plan.rounds,
                FLEET_ROUNDS.end()
            ));
        }
        let mut nodes = HashMap::new();
        plan.nodes.retain(|name| {
            let next = nodes.len();
            let new = !nodes.contains_key(name);
            new && nodes.insert(name.clone(), next).is_none()
        });
        let node =
            |(place, name): (usize, &String)| Node { place, name: name.clone(), ..Node::default() };
        let planned = plan.nodes.iter().enumerate().map(node).collect();
        Ok(Self {
            lines: Lines {
                nodes: planned,
                plan,
                figures: Vec::new(),
                pairs_again: BTreeMap::new(),
                boots: BTreeMap::new(),
                nodes_again: None,
                pairs_decided: false,
                round_robin: None,
            },
            nodes,
            figures: HashMap::new(),
            texts: BTreeSet::new(),
            facts: Vec::new(),
        })
    }

    fn text(&mut self, text: &str, characters: usize) -> Arc<str> {
        let text = clean_excerpt(text, characters);
        if let Some(known) = self.texts.get(text.as_str()) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.texts.insert(new.clone());
        new
    }

    /// Forgets the earlier lines of nodes that measure again, in pairs too. Pairs that were planned
    /// without them are planned anew, and the second passes by all nodes, as the launcher does
    /// (`ResumeState::forget`).
    fn forget(&mut self, again: &NodesAgain) {
        let names = &again.nodes;
        let lines = &mut self.lines;
        let places: BTreeSet<usize> =
            names.iter().filter_map(|n| self.nodes.get(n)).copied().collect();
        let is_planned = |plan: &RoundRobin| names.iter().all(|name| plan.has(name));
        let all_pairs = !lines.round_robin.as_ref().is_none_or(is_planned);
        if all_pairs {
            lines.round_robin = None;
        }
        let forgotten = |ends: &[usize]| all_pairs || ends.iter().any(|end| places.contains(end));
        lines.pairs_again.clear();
        (lines.nodes_again, lines.pairs_decided) = (None, false);
        lines.boots.values_mut().for_each(|nodes| nodes.retain(|place| !places.contains(place)));
        for node in &mut lines.nodes {
            let (place, name) = (node.place, std::mem::take(&mut node.name));
            if places.contains(&place) {
                *node = Node { place, asked_again: again.at, ..Node::default() };
            }
            node.name = name;
            for turn in &mut node.pairs {
                let ends = turn.as_ref().and_then(RoundOutcome::ends).unwrap_or([place; 2]);
                turn.take_if(|_| forgotten(&ends));
            }
            node.again.clear();
            node.failed_again.clear();
            node.lost.retain(|lost| {
                lost.pass != Pass::PairsAgain
                    && !all_pairs
                    && lost.partner.is_none_or(|partner| !places.contains(&partner))
            });
        }
    }

    /// Forgets the second pass of nodes that are not in it any more.
    fn second_pass(&mut self, names: &[String]) {
        self.lines.nodes_again = Some(names.iter().cloned().collect());
        let left = self.lines.nodes.iter_mut().filter(|node| !node.again.is_empty());
        left.filter(|node| !names.contains(&node.name)).for_each(|node| node.again.clear());
    }

    /// Keeps the first round robin.
    fn round_robin(&mut self, mut round_robin: RoundRobin) {
        round_robin.rounds = round_robin.rounds.min(RoundRobin::MAX_ROUNDS);
        let mut seen = BTreeSet::new();
        for group in &mut round_robin.groups {
            group.retain(|name| self.nodes.contains_key(name) && seen.insert(name.clone()));
        }
        self.lines.round_robin.get_or_insert(round_robin);
    }

    /// Stores a round; ignores nodes and rounds outside of the plan.
    fn round(&mut self, line: NodeRound) {
        let Some(ends) = self.ends(&line.node, line.partner.as_deref(), line.pass) else { return };
        let (pass, round) = (line.pass, line.round);
        let wrong = line.tool.mismatch(&self.lines.plan.tool);
        match wrong.map_or_else(|| line.check(), Err) {
            Ok(()) => {
                self.boot(ends[0], line.boot_id.as_deref());
                let turn = RoundOutcome::Usable(Arc::new(self.seen(line, &ends)));
                self.put(&ends, pass, round, turn);
            }
            // In a pair the fault is that of the node that sent the line.
            Err(reason) => {
                let reason = self.text(&reason, LONGEST_TEXT);
                self.put(&ends[..1], pass, round, RoundOutcome::Refused(reason));
            }
        }
    }

    fn boot(&mut self, place: usize, id: Option<&str>) {
        let Some(id) = id.map(|id| self.text(id, LONGEST_NAME)) else { return };
        let Some(node) = self.lines.nodes.get_mut(place) else { return };
        let before = node.boot_id.replace(id.clone());
        let others = before.and_then(|before| self.lines.boots.get_mut(&before));
        if let Some(nodes) = others {
            nodes.remove(&place);
        }
        self.lines.boots.entry(id).or_default().insert(place);
    }

    fn failure(&mut self, line: &NodeFailure) {
        let alone = line.partner.is_none() || line.gone;
        let reason = match line.partner.as_ref() {
            Some(partner) => format!("{} with {partner}: {}", line.node, line.reason),
            None => line.reason.clone(),
        };
        let reason = self.text(&reason, LONGEST_TEXT);
        if line.pass.of_pairs() && alone {
            let place = |name: &String| self.nodes.get(name).copied();
            let partner = line.partner.as_ref().and_then(place);
            if let Some(node) = place(&line.node).and_then(|at| self.lines.nodes.get_mut(at)) {
                let NodeFailure { pass, round, gone, .. } = *line;
                node.lost.push(Lost { reason, partner, pass, round, gone });
                node.lost.truncate(MOST_LOST);
            }
            return;
        }
        let Some(ends) = self.ends(&line.node, line.partner.as_deref(), line.pass) else { return };
        let turn = RoundOutcome::Failed(reason, line.gone, ends.as_slice().try_into().ok());
        self.put(&ends, line.pass, line.round, turn);
    }

    /// The places of a line's nodes: one, or two in a pass of pairs.
    fn ends(&self, node: &str, partner: Option<&str>, pass: Pass) -> Option<Vec<usize>> {
        let place = |name: &str| self.nodes.get(name).copied();
        match (pass.of_pairs(), partner) {
            (false, None) => Some(vec![place(node)?]),
            (true, Some(partner)) if partner != node => Some(vec![place(node)?, place(partner)?]),
            _ => None,
        }
    }

    fn put(&mut self, ends: &[usize], pass: Pass, round: u32, turn: RoundOutcome) {
        let most = if pass == Pass::Pairs {
            RoundRobin::MAX_ROUNDS + RoundRobin::FURTHER
        } else {
            self.lines.plan.rounds
        };
        if !(1..=most).contains(&round) {
            return;
        }
        let round = round as usize;
        if pass == Pass::PairsAgain {
            match (turn, ends) {
                (RoundOutcome::Usable(seen), [a, b]) => {
                    self.lines.pairs_again.insert((round - 1, [*a.min(b), *a.max(b)]), seen);
                }
                (RoundOutcome::Failed(reason, ..) | RoundOutcome::Refused(reason), _) => {
                    let pair = [ends[0], ends[ends.len() - 1]];
                    for end in ends {
                        if let Some(node) = self.lines.nodes.get_mut(*end) {
                            node.failed_again.push((Arc::clone(&reason), pair, round as u32));
                            node.failed_again.truncate(MOST_LOST);
                        }
                    }
                }
                _ => {}
            }
            return;
        }
        for end in ends {
            let Some(node) = self.lines.nodes.get_mut(*end) else { continue };
            let turns = match pass {
                Pass::First => &mut node.first,
                Pass::Pairs => &mut node.pairs,
                _ => &mut node.again,
            };
            if turns.len() < round {
                turns.resize_with(round, || None);
            }
            turns[round - 1] = Some(turn.clone());
        }
    }

    fn seen(&mut self, line: NodeRound, ends: &[usize]) -> UsableRound {
        let facts = self.facts(line.facts);
        let programs = line.programs.iter().take(MOST_PROGRAMS);
        let programs = programs.map(|p| (self.text(&p.name, LONGEST_NAME), p.of_one_cpu)).collect();
        let left_out = line.left_out.map(|what| self.text(&what, LONGEST_TEXT));
        let figures = line.figures.into_iter().enumerate();
        let mut cells: Vec<Cell> = figures.map(|(place, f)| self.cell(place, f)).collect();
        cells.sort_by_key(|cell| cell.figure);
        cells.dedup_by_key(|cell| cell.figure);
        let ends = ends.try_into().ok();
        UsableRound {
            ends,
            facts,
            cells: cells.into(),
            time: line.time_account,
            limits: line.limits,
            programs,
            programs_of_one_cpu: line.programs_of_one_cpu,
            left_out,
        }
    }

    fn facts(&mut self, facts: Vec<NodeFact>) -> Arc<Vec<NodeFact>> {
        let bounded = facts.into_iter().map(|f| NodeFact {
            what: clean_excerpt(&f.what, LONGEST_NAME),
            value: clean_excerpt(&f.value, LONGEST_TEXT),
            groups: f.groups,
        });
        let mut bounded: Vec<NodeFact> = bounded.collect();
        let mut names = BTreeSet::new();
        bounded.retain(|f| names.insert(f.what.clone()));
        // Nodes of one kind send equal facts. Beyond this many kinds each node has its own copy.
        const REMEMBERED: usize = 64;
        if let Some(known) = self.facts.iter().find(|known| ***known == bounded) {
            return known.clone();
        }
        let new = Arc::new(bounded);
        if self.facts.len() < REMEMBERED {
            self.facts.push(new.clone());
        }
        new
    }

    fn cell(&mut self, place: usize, figure: NodeFigure) -> Cell {
        let title = self.text(&figure.title, LONGEST_NAME);
        let mut findings: Vec<Found> = Vec::new();
        for f in &figure.findings {
            findings.push(Found {
                check: self.text(&f.check, LONGEST_NAME),
                severity: f.severity,
                message: self.text(&f.message, LONGEST_TEXT),
            });
        }
        let impossible = above_ceiling(&figure);
        findings.extend(impossible.as_deref().map(|message| Found {
            check: self.text(check_id::ABOVE_CEILING, LONGEST_NAME),
            severity: Severity::Invalid,
            message: self.text(message, LONGEST_TEXT),
        }));
        findings.sort_by_key(|f| Reverse(f.severity));
        findings.truncate(MOST_FINDINGS);
        let attainable_first = figure.headline == FigureKind::Attainable;
        let is_usable = figure.verdict.is_usable() || self.only_one_machine(&figure);
        Cell {
            attainable: figure.attainable,
            delivered: figure.delivered,
            ceiling: figure.ceiling,
            efficiency: efficiency(&figure).map(|e| e as f32).filter(|e| e.is_finite()),
            reliance: figure.reliance,
            invalid: !is_usable || impossible.is_some(),
            missing: figure.missing.as_deref().map(|why| self.text(why, LONGEST_TEXT)),
            bottleneck: figure.bottleneck.as_deref().map(|b| self.text(b, LONGEST_NAME)),
            findings: findings.into(),
            figure: self.number(place, figure, title, attainable_first),
        }
    }

    /// Returns true if a result is invalid only because both nodes are one machine, which the plan
    /// declares.
    fn only_one_machine(&self, figure: &NodeFigure) -> bool {
        let invalid = figure.findings.iter().filter(|f| f.severity == Severity::Invalid);
        let checks: BTreeSet<&str> = invalid.map(|f| f.check.as_str()).collect();
        self.lines.plan.testbed.is_some() && checks == BTreeSet::from([ONE_MACHINE.id])
    }

    /// The number of a figure; a new figure gets the next one.
    fn number(
        &mut self,
        place: usize,
        figure: NodeFigure,
        title: Arc<str>,
        attainable_first: bool,
    ) -> u32 {
        let key = Key {
            workload: figure.workload,
            params: figure.params,
            method: figure.method,
            subsystem: figure.subsystem,
            unit: figure.unit,
            random: figure.random,
            better: figure.better,
        };
        let number = self.figures.get(&key).copied().unwrap_or_else(|| {
            let (key, number) = (Arc::new(key), self.lines.figures.len() as u32);
            self.figures.insert(key.clone(), number);
            let (titles, headlines) = (BTreeMap::new(), [0; 2]);
            self.lines.figures.push(Figure { key, place, titles, headlines });
            number
        });
        if let Some(known) = self.lines.figures.get_mut(number as usize) {
            known.place = known.place.min(place);
            *known.titles.entry(title).or_default() += 1;
            known.headlines[usize::from(attainable_first)] += 1;
        }
        number
    }
}
