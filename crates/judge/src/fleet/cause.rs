//! Cause of a slow node: its reports compared with those of its group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proofmark_model::{
    Better, FactId, FactScope, FigureKind, FleetFigure, FleetNode, FleetStrip, NodeFact,
    NodeLimits, NodeSlowAt, Pass, StripOutcome, Subsystem, TimeAccount, TimeCause, clean_excerpt,
};

use super::lines::{Cell, Found, Node};
use super::words::{others, percent, slowness};
use super::{Fleet, groups, programs};
use crate::compare::facts::scope_of_setting;
use crate::statistics::median;
use crate::words::counted;

/// Smallest share of the time, beyond that of the group, that is reported.
const TIME: f64 = 0.02;
/// Number of causes that are reported, the clearest first.
const CAUSES: usize = 2;
/// Most characters of a finding within the sentence.
const LONGEST_FINDING: usize = 240;
/// Smallest share by which a lower ceiling is reported.
const CEILING: f64 = 0.03;
/// Facts that limit the speed of a node.
const LIMITS: [FactId; 2] = [FactId::CpuQuota, FactId::IoLimits];
/// Value of a fact without a limit.
const NO_LIMIT: &str = "none";
/// Facts of a disk, which explain nothing else.
const OF_DISK: [FactId; 5] =
    [FactId::Disk, FactId::FileSystem, FactId::MountOptions, FactId::IoScheduler, FactId::IoLimits];

/// The sentence for a slow node:
/// `n3: delivers 61 % of its group at Triad; CPU quota of 1 CPU; without other load ...`.
pub(super) fn sentence(
    fleet: &Fleet,
    group: usize,
    place: usize,
    node: &FleetNode,
) -> Option<String> {
    let judged = &fleet.judged[group];
    let confirmed: Vec<&NodeSlowAt> = node.figures.iter().filter(|f| f.confirmed).collect();
    let worst = worst(&judged.figures, &confirmed)?;
    let figure = &judged.figures[worst.figure];
    let number = judged.numbers[worst.figure];
    let FleetFigure { subsystem, better, .. } = *figure;
    let sides = Sides { number, subsystem, better, ..Sides::new(fleet, group, place)? };
    let mut parts =
        vec![format!("{}: {}", node.name, slowness(figure, f64::from(worst.ratio), "its group"))];
    let more = others(confirmed.iter().map(|slow| &judged.figures[slow.figure]), figure);
    parts.extend(more.map(|more| format!("and is slow at {more}")));
    let causes = [
        sides.limit(),
        sides.time(),
        sides.partners(&figure.strips[place]),
        sides.finding(),
        sides.ceiling(),
        sides.bottleneck(),
        sides.other_fact(),
    ];
    let mut causes: Vec<String> = causes.into_iter().flatten().take(CAUSES).collect();
    if causes.is_empty() {
        causes.push("cause unknown: nothing that it reports differs from its group".to_owned());
    }
    let slow = [parts.join(" ")].into_iter();
    let is_limited = sides.quota().is_some() || sides.is_throttled();
    let without_load = without_load(&judged.figures, worst.figure, place, is_limited);
    Some(slow.chain(causes).chain(without_load).collect::<Vec<_>>().join("; "))
}

/// A limit of speed that a node has and its group does not, such as a CPU quota.
pub(super) fn limit(fleet: &Fleet, group: usize, place: usize) -> Option<String> {
    Sides::new(fleet, group, place)?.limit()
}

/// The worst figure; for a result that is slow in both figures, the delivered one.
fn worst<'a>(figures: &[FleetFigure], slow: &[&'a NodeSlowAt]) -> Option<&'a NodeSlowAt> {
    let worst = *slow.first()?;
    let figure = &figures[worst.figure];
    let delivered = slow.iter().copied().find(|other| {
        let other = &figures[other.figure];
        other.result() == figure.result() && other.kind == FigureKind::Delivered
    });
    delivered.or(Some(worst))
}

/// States whether the machine is slow without what takes its time, for a node that is slow at what
/// it delivers. A quota is the node's own limit, no other load, and does not go away with it.
fn without_load(
    figures: &[FleetFigure],
    worst: usize,
    place: usize,
    is_limited: bool,
) -> Option<String> {
    let delivered = figures.get(worst).filter(|f| f.kind == FigureKind::Delivered)?;
    let same =
        |f: &&FleetFigure| f.kind == FigureKind::Attainable && f.result() == delivered.result();
    let strip = figures.iter().find(same)?.strips.get(place)?;
    match strip.outcome {
        StripOutcome::Level if is_limited => {
            Some("in the time that its quota leaves it is as fast as its group".to_owned())
        }
        StripOutcome::Level => Some("without other load it is as fast as its group".to_owned()),
        StripOutcome::Slow | StripOutcome::SlowNotConfirmed => {
            let share = percent(f64::from(strip.ratio?));
            let without =
                if is_limited { "in the time that its quota leaves" } else { "without other load" };
            Some(format!("even {without} it reaches {share} of its group"))
        }
        _ => None,
    }
}

/// A fact in which a node differs from most of its group.
struct Differing<'a> {
    id: Option<FactId>,
    fact: &'a NodeFact,
    usual: &'a str,
}

/// The amounts of a limit.
fn amounts(limits: &NodeLimits, id: FactId) -> [Option<f64>; 4] {
    let NodeLimits { cpus, read_bytes_per_s, write_bytes_per_s, reads_per_s, writes_per_s } =
        *limits;
    match id {
        FactId::CpuQuota => [cpus, None, None, None],
        _ => [read_bytes_per_s, write_bytes_per_s, reads_per_s, writes_per_s],
    }
}

/// Describes a fact that differs: `CPU quota of 1 CPU`, `disk old, its group has new`.
fn describe(Differing { id, fact, usual }: Differing) -> String {
    let NodeFact { what, value, .. } = fact;
    match (id, usual) {
        (Some(FactId::CpuQuota), NO_LIMIT) => format!("{what} of {value}"),
        (_, usual) => format!("{what} {value}, its group has {usual}"),
    }
}

/// A node and the others of its group, at a figure.
struct Sides<'a> {
    own: &'a Node,
    rest: Vec<&'a Node>,
    number: u32,
    subsystem: Subsystem,
    better: Better,
}

impl<'a> Sides<'a> {
    fn cells(&self, node: &'a Node) -> impl Iterator<Item = &'a Cell> + use<'a> {
        let number = self.number;
        node.usable_first().filter_map(move |seen| seen.cell(number))
    }

    /// Number of partners with which it is slow: its own cable or port, not a link to one of them.
    fn partners(&self, strip: &FleetStrip) -> Option<String> {
        let all = self.own.partners();
        (self.subsystem.info().has_server && all > 0).then(|| {
            let of = counted(all as u64, "partner");
            format!(
                "slow in {} of {} rounds with {of}: check its cable, port and network card",
                strip.below, strip.usable
            )
        })
    }

    /// A node of a group, at any figure.
    fn new(fleet: &'a Fleet, group: usize, place: usize) -> Option<Self> {
        let nodes = &fleet.groups[group].nodes;
        let node = |place: &usize| &fleet.lines.nodes[*place];
        let own = node(nodes.get(place)?);
        let rest = nodes.iter().map(node).filter(|node| node.place != own.place).collect();
        Some(Self { own, rest, number: 0, subsystem: Subsystem::Disk, better: Better::Higher })
    }

    /// A limit of speed that grants the node less than its group.
    fn limit(&self) -> Option<String> {
        LIMITS.into_iter().find_map(|id| self.smaller(id)).map(describe)
    }

    fn smaller(&self, id: FactId) -> Option<Differing<'a>> {
        self.fact(|other| other == id).filter(|_| self.grants_less(id))
    }

    /// Returns true if an amount of this limit is below that of most of its group.
    fn grants_less(&self, id: FactId) -> bool {
        let granted = |node: &'a Node| {
            let limits = node.limits(self.subsystem.info().has_server)?;
            Some(amounts(&limits, id).map(|amount| amount.unwrap_or(f64::INFINITY)))
        };
        let Some(own) = granted(self.own) else { return false };
        let group: Vec<[f64; 4]> = self.rest.iter().filter_map(|node| granted(node)).collect();
        own.into_iter().enumerate().any(|(at, own)| {
            let below = group.iter().filter(|amounts| own < amounts[at]).count();
            2 * below > group.len()
        })
    }

    /// A fact without a direct effect on speed.
    fn other_fact(&self) -> Option<String> {
        Some(describe(self.fact(|id| !LIMITS.contains(&id))?))
    }

    /// Its CPU quota, if its group has a larger one or none.
    fn quota(&self) -> Option<Differing<'a>> {
        self.smaller(FactId::CpuQuota)
    }

    /// Returns true if a CPU quota took much more of its threads' time than of its group's.
    fn is_throttled(&self) -> bool {
        let share = |node: &'a Node| {
            let taken = taken(node)?;
            Some(taken.get(TimeCause::THROTTLED).map_or(0.0, |(share, _)| *share))
        };
        let group: Vec<f64> = self.rest.iter().filter_map(|node| share(node)).collect();
        share(self.own).is_some_and(|own| own - median(&group).unwrap_or(0.0) >= TIME)
    }

    /// The first fact of this kind that may explain it, on which most of the group agree and the node
    /// differs.
    fn fact(&self, is_kind: impl Fn(FactId) -> bool) -> Option<Differing<'a>> {
        let facts = |node: &'a Node| match self.subsystem.info().has_server {
            true => node.facts_in_pairs(),
            false => groups::facts(node),
        };
        let of_group: Vec<_> = self.rest.iter().filter_map(|node| facts(node)).collect();
        let usual = |what: &str| {
            let values = of_group.iter().filter_map(|facts| facts.iter().find(|f| f.what == what));
            most_common(values.map(|f| f.value.as_str()), of_group.len())
        };
        let may = |id: FactId| {
            let scope = match id {
                FactId::NetworkInterface => FactScope::Network,
                id if OF_DISK.contains(&id) => FactScope::Storage,
                id => scope_of_setting(id.as_str()),
            };
            self.subsystem.info().facts.contains(&scope)
        };
        let own = facts(self.own)?.iter().filter(|f| !f.groups);
        let mut own = own.map(|f| (FactId::named(&f.what), f));
        own.find_map(|(id, fact)| {
            // A fact that this program does not know may be anything.
            let fits = id.map_or_else(|| is_kind(FactId::Kernel), |id| may(id) && is_kind(id));
            let usual = usual(&fact.what).filter(|usual| fits && *usual != fact.value)?;
            Some(Differing { id, fact, usual })
        })
    }

    /// The largest loss of its threads' time beyond that of the group.
    fn time(&self) -> Option<String> {
        let own = taken(self.own)?;
        let group: Vec<_> = self.rest.iter().filter_map(|node| taken(node)).collect();
        let usual = |name: &str| {
            let shares = group.iter().map(|t| t.get(name).map_or(0.0, |(share, _)| *share));
            median(&shares.collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let beyond = |(name, (share, words)): (&&'static str, &(f64, &'static str))| {
            (share - usual(name), *name, *share, *words)
        };
        let worst = own.iter().map(beyond).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let (beyond, name, share, words) = worst;
        let programs = programs::named([self.own]).filter(|_| programs::took(name));
        let programs = programs.map_or_else(String::new, |p| format!("; CPU use: {p}"));
        let usual = percent(usual(name));
        (beyond >= TIME).then(|| {
            format!(
                "{} of its threads' time: {words} ({usual} in its group{programs})",
                percent(share)
            )
        })
    }

    /// The most severe finding in at least half of its rounds and in less than half of the group's.
    fn finding(&self) -> Option<String> {
        let (own, rounds) = found(self.cells(self.own));
        let (group, all) = found(self.rest.iter().flat_map(|node| self.cells(node)));
        let usual = |check: &Arc<str>| group.get(check).is_some_and(|(n, _)| 2 * n >= all.max(1));
        let of_own = own.iter().filter(|(check, (n, _))| 2 * n >= rounds && !usual(check));
        let worst = of_own.max_by(|a, b| a.1.1.severity.cmp(&b.1.1.severity).then(b.0.cmp(a.0)));
        worst.map(|(_, (_, found))| {
            clean_excerpt(&found.message, LONGEST_FINDING).trim_end_matches('.').to_owned()
        })
    }

    /// The node's ceiling, if that is lower than the group's.
    fn ceiling(&self) -> Option<String> {
        let median_ceiling = |node: &'a Node| {
            let all: Vec<f64> = self.cells(node).filter_map(|cell| cell.ceiling).collect();
            median(&all).filter(|v| *v > 0.0)
        };
        let group: Vec<f64> = self.rest.iter().filter_map(|node| median_ceiling(node)).collect();
        let ratio = median_ceiling(self.own)? / median(&group)?;
        let speed = if self.better == Better::Higher { ratio } else { 1.0 / ratio };
        let lower = speed.is_finite() && speed < 1.0 - CEILING;
        lower.then(|| format!("its ceiling is {} of its group's", percent(ratio)))
    }

    /// The node's bottleneck, if the group has another one.
    fn bottleneck(&self) -> Option<String> {
        let usual = |nodes: &[&'a Node]| {
            let cells: Vec<&Cell> = nodes.iter().flat_map(|node| self.cells(node)).collect();
            most_common(cells.iter().filter_map(|c| c.bottleneck.as_deref()), cells.len())
        };
        let (own, group) = (usual(&[self.own])?, usual(&self.rest)?);
        (own != group).then(|| format!("limited by {own}, its group by {group}"))
    }
}

/// The value that more than half of `count` have.
fn most_common<'a>(values: impl Iterator<Item = &'a str>, count: usize) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    values.for_each(|v| *counts.entry(v).or_default() += 1);
    counts.into_iter().find(|(_, n)| 2 * n > count).map(|(value, _)| value)
}

/// Taken shares of a node's threads' time by name of the cause, with the cause in words.
pub(super) fn taken(node: &Node) -> Option<BTreeMap<&'static str, (f64, &'static str)>> {
    let all = node.usable(Pass::First).filter_map(|(_, seen)| seen.time);
    let sum: TimeAccount = all.reduce(|a, b| a + b)?;
    let shares = sum.taken(0.0).into_iter().filter(|(share, _)| (0.0..=1.0).contains(share));
    Some(shares.map(|(share, cause)| (cause.name, (share, cause.words))).collect())
}

/// Counts by check how many of these results have a finding, with the last one; and counts the
/// results.
fn found<'a>(
    cells: impl Iterator<Item = &'a Cell>,
) -> (BTreeMap<Arc<str>, (usize, &'a Found)>, usize) {
    let mut found: BTreeMap<Arc<str>, (usize, &Found)> = BTreeMap::new();
    let mut count = 0;
    for cell in cells {
        count += 1;
        let mut once = BTreeSet::new();
        for f in cell.findings.iter().filter(|f| once.insert(f.check.clone())) {
            let known = found.entry(f.check.clone()).or_insert((0, f));
            *known = (known.0 + 1, f);
        }
    }
    (found, count)
}
