//! Reads a fleet's lines: they come in any order between nodes, and of several lines of a node, pass
//! and round the last one counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use proofmark_model::{
    FigureKind, FleetLine, FleetPlan, NodeFact, NodeFailure, NodeFigure, NodeRound, Pass, Verdict,
};

use super::lines::{Cell, Figure, Found, Key, Lines, Node, Seen, Turn};
use super::{LONGEST_NAME, LONGEST_TEXT, MOST_FINDINGS, MOST_NODES, MOST_ROUNDS, check, short};

/// Reads the lines. An error if there is no plan that can be followed.
pub(super) fn collect(lines: impl IntoIterator<Item = FleetLine>) -> Result<Lines, String> {
    let mut intake: Option<Intake> = None;
    for line in lines {
        match (line, &mut intake) {
            (FleetLine::Plan(plan), None) => intake = Some(Intake::new(plan)?),
            // A launcher that resumes writes the same plan once more.
            (FleetLine::Plan(_), Some(_)) => {}
            (FleetLine::Round(round), Some(intake)) => intake.round(*round),
            (FleetLine::Failure(failure), Some(intake)) => intake.failure(&failure),
            (_, None) => return Err("the first line is not the plan".to_owned()),
        }
    }
    let intake = intake.ok_or("there is no plan")?;
    Ok(intake.lines)
}

struct Intake {
    lines: Lines,
    nodes: HashMap<String, usize>,
    figures: HashMap<Arc<Key>, u32>,
    /// Each text once: nodes say the same of many results.
    texts: BTreeSet<Arc<str>>,
    facts: Vec<Arc<Vec<NodeFact>>>,
}

impl Intake {
    fn new(mut plan: FleetPlan) -> Result<Self, String> {
        if plan.nodes.len() > MOST_NODES {
            return Err(format!("the plan has more than {MOST_NODES} nodes"));
        }
        if !(1..=MOST_ROUNDS).contains(&plan.rounds) {
            return Err(format!("the plan has {} rounds, not 1 to {MOST_ROUNDS}", plan.rounds));
        }
        let mut nodes = HashMap::new();
        plan.nodes.retain(|name| {
            let next = nodes.len();
            let new = !nodes.contains_key(name);
            new && nodes.insert(name.clone(), next).is_none()
        });
        let node = |name: &String| Node { name: name.clone(), ..Node::default() };
        let of_plan = plan.nodes.iter().map(node).collect();
        Ok(Self {
            lines: Lines { plan, figures: Vec::new(), nodes: of_plan },
            nodes,
            figures: HashMap::new(),
            texts: BTreeSet::new(),
            facts: Vec::new(),
        })
    }

    fn text(&mut self, text: &str, characters: usize) -> Arc<str> {
        let text = short(text, characters);
        if let Some(known) = self.texts.get(text.as_str()) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.texts.insert(new.clone());
        new
    }

    fn round(&mut self, line: NodeRound) {
        if !self.nodes.contains_key(&line.node) {
            return;
        }
        let (node, pass, round) = (line.node.clone(), line.pass, line.round);
        let turn = match check::round(&line, &self.lines.plan.tool) {
            Ok(()) => Turn::Seen(Box::new(self.seen(line))),
            Err(reason) => Turn::Refused(self.text(&reason, LONGEST_TEXT)),
        };
        self.put(&node, pass, round, turn);
    }

    fn failure(&mut self, line: &NodeFailure) {
        let reason = self.text(&line.reason, LONGEST_TEXT);
        self.put(&line.node, line.pass, line.round, Turn::Failed(reason, line.gone));
    }

    /// Nodes and rounds that are not of the plan are ignored.
    fn put(&mut self, node: &str, pass: Pass, round: u32, turn: Turn) {
        let Some(node) = self.nodes.get(node).and_then(|n| self.lines.nodes.get_mut(*n)) else {
            return;
        };
        if !(1..=self.lines.plan.rounds).contains(&round) {
            return;
        }
        let turns = if pass == Pass::First { &mut node.first } else { &mut node.again };
        let round = round as usize;
        if turns.len() < round {
            turns.resize_with(round, || None);
        }
        turns[round - 1] = Some(turn);
    }

    fn seen(&mut self, line: NodeRound) -> Seen {
        let facts = self.facts(line.facts);
        let programs = line.programs.map(|p| self.text(&p, LONGEST_TEXT));
        let figures = line.figures.into_iter().enumerate();
        let mut cells: Vec<Cell> = figures.map(|(place, f)| self.cell(place, f)).collect();
        cells.sort_by_key(|cell| cell.figure);
        cells.dedup_by_key(|cell| cell.figure);
        Seen { facts, cells: cells.into(), time: line.time_account, programs }
    }

    fn facts(&mut self, facts: Vec<NodeFact>) -> Arc<Vec<NodeFact>> {
        let bounded = facts.into_iter().map(|f| NodeFact {
            what: short(&f.what, LONGEST_NAME),
            value: short(&f.value, LONGEST_TEXT),
            groups: f.groups,
        });
        let mut bounded: Vec<NodeFact> = bounded.collect();
        let mut names = BTreeSet::new();
        bounded.retain(|f| names.insert(f.what.clone()));
        // Nodes of one kind send the same; of many kinds, each keeps its own.
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
        findings.sort_by_key(|f| Reverse(f.severity));
        findings.truncate(MOST_FINDINGS);
        let attainable_first = figure.headline == FigureKind::Attainable;
        Cell {
            attainable: figure.attainable,
            delivered: figure.delivered,
            ceiling: figure.ceiling,
            efficiency: figure.efficiency.map(|e| e as f32).filter(|e| e.is_finite()),
            invalid: figure.verdict == Verdict::Invalid,
            missing: figure.missing.as_deref().map(|why| self.text(why, LONGEST_TEXT)),
            bottleneck: figure.bottleneck.as_deref().map(|b| self.text(b, LONGEST_NAME)),
            findings: findings.into(),
            figure: self.number(place, figure, title, attainable_first),
        }
    }

    /// The number of a figure, which is a new one at first sight.
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
