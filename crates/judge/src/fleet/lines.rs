//! The lines of a fleet's file, reduced to what is judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofmark_model::{
    Better, FigureKind, FleetPlan, NodeFact, Params, Pass, Severity, Subsystem, TimeAccount, Unit,
};

/// All lines.
pub(super) struct Lines {
    pub(super) plan: FleetPlan,
    /// Every figure that a node sent.
    pub(super) figures: Vec<Figure>,
    /// By place in the plan.
    pub(super) nodes: Vec<Node>,
}

/// What identifies a figure between nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) workload: String,
    pub(super) params: Params,
    pub(super) method: u32,
    pub(super) subsystem: Subsystem,
    pub(super) unit: Unit,
    pub(super) random: bool,
    pub(super) better: Better,
}

impl Key {
    /// A value as a speed: of a time, how many there are in a second; and a speed as a value.
    pub(super) fn speed(&self, value: f64) -> f64 {
        match self.better {
            Better::Higher => value,
            Better::Lower => 1.0 / value,
        }
    }
}

/// A figure that nodes sent.
pub(super) struct Figure {
    pub(super) key: Arc<Key>,
    /// Its first place in a line.
    pub(super) place: usize,
    /// How many lines call it so.
    pub(super) titles: BTreeMap<Arc<str>, u32>,
    /// Lines in which the attainable figure is not the headline, and in which it is.
    pub(super) headlines: [u32; 2],
}

impl Figure {
    /// What most lines call it.
    pub(super) fn title(&self) -> &str {
        let most = self.titles.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        most.map_or("", |(title, _)| title)
    }

    /// Whether the attainable figure is the headline in most lines.
    pub(super) fn attainable_first(&self) -> bool {
        self.headlines[1] > self.headlines[0]
    }
}

/// A node's lines.
#[derive(Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) first: Vec<Option<Turn>>,
    pub(super) again: Vec<Option<Turn>>,
}

/// What became of a node in a round.
pub(super) enum Turn {
    Seen(Box<Seen>),
    /// It failed, and whether it was asked no more.
    Failed(Arc<str>, bool),
    /// Its line does not count.
    Refused(Arc<str>),
}

/// A line that counts.
pub(super) struct Seen {
    pub(super) facts: Arc<Vec<NodeFact>>,
    /// By number of the figure.
    pub(super) cells: Box<[Cell]>,
    pub(super) time: Option<TimeAccount>,
    pub(super) programs: Option<Arc<str>>,
}

/// A result.
pub(super) struct Cell {
    pub(super) figure: u32,
    pub(super) attainable: Option<f64>,
    pub(super) delivered: Option<f64>,
    pub(super) ceiling: Option<f64>,
    pub(super) efficiency: Option<f32>,
    pub(super) invalid: bool,
    pub(super) missing: Option<Arc<str>>,
    pub(super) bottleneck: Option<Arc<str>>,
    pub(super) findings: Box<[Found]>,
}

/// A finding.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) check: Arc<str>,
    pub(super) severity: Severity,
    pub(super) message: Arc<str>,
}

impl Cell {
    /// The value, if there is one; also an invalid one.
    pub(super) fn value(&self, kind: FigureKind) -> Option<f64> {
        match kind {
            FigureKind::Attainable => self.attainable,
            _ => self.delivered,
        }
    }

    /// The value, if it counts.
    pub(super) fn usable(&self, kind: FigureKind) -> Option<f64> {
        self.value(kind).filter(|v| !self.invalid && *v > 0.0)
    }
}

impl Seen {
    pub(super) fn cell(&self, figure: u32) -> Option<&Cell> {
        let at = self.cells.binary_search_by_key(&figure, |cell| cell.figure).ok()?;
        self.cells.get(at)
    }
}

impl Node {
    pub(super) fn turns(&self, pass: Pass) -> &[Option<Turn>] {
        match pass {
            Pass::First => &self.first,
            Pass::Again => &self.again,
        }
    }

    /// The lines of a pass that count, with their round from 0.
    pub(super) fn seen(&self, pass: Pass) -> impl Iterator<Item = (usize, &Seen)> {
        self.turns(pass).iter().enumerate().filter_map(|(round, turn)| match turn {
            Some(Turn::Seen(seen)) => Some((round, &**seen)),
            _ => None,
        })
    }
}
