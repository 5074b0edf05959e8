//! The figures of each group as text.

use proofmark_model::{FigureKind, FleetFigure, FleetGroup, FleetStrip, StripOutcome, Verdict};

use super::lookup::{Fleet, count};
use super::words::{finite, group_name, speed};
use crate::view::{Columns, Entry, Scale, Table, ceiling_word, clean, percent};

/// A figure of a group.
#[derive(Debug, Clone)]
pub struct Row {
    pub group: usize,
    pub title: String,
    /// The median with its unit.
    pub median: Option<String>,
    /// Spread between nodes.
    pub spread: Option<String>,
    pub margin: Option<String>,
    /// True if nodes are judged by it.
    pub judged: bool,
    /// Name and ratio of the slowest node.
    pub slowest: Option<(String, f64)>,
    /// Name of the node with the lowest share of the ceiling, and that share.
    pub of_ceiling: Option<(String, String)>,
    pub slow: usize,
    pub not_confirmed: usize,
    pub too_few: usize,
    pub uneven: usize,
}

/// Returns the figures of all groups: those with a slow node first, then those with a doubtful one,
/// then those in which nodes differ most.
pub fn rows(fleet: &Fleet) -> Vec<Row> {
    let groups = fleet.report.groups.iter().enumerate();
    // Nodes that are not compared have no use for both figures of a result: that of which a share of
    // the ceiling is known, else attainable.
    let is_shown = |g: &FleetGroup, f: &FleetFigure| {
        let first = |o: &&FleetFigure| {
            let has_share = o.strips.iter().any(|s| s.of_ceiling.is_some());
            (has_share, o.kind == FigureKind::Attainable)
        };
        let both = g.figures.iter().filter(|o| o.result() == f.result() && o.median.is_some());
        g.comparable || both.max_by_key(first).is_none_or(|o| o.kind == f.kind)
    };
    let mut rows: Vec<Row> = groups
        .flat_map(|(at, g)| {
            let figures = fleet.figures(at).filter(move |(f, _)| is_shown(g, f));
            figures.map(move |(f, title)| Row::new((at, g), f, title))
        })
        .collect();
    let ratio = |r: &Row| r.slowest.as_ref().map_or(1.0, |(_, ratio)| *ratio);
    rows.sort_by(|a, b| a.doubt().cmp(&b.doubt()).then(ratio(a).total_cmp(&ratio(b))));
    rows
}

impl Row {
    pub fn new((at, group): (usize, &FleetGroup), f: &FleetFigure, title: &str) -> Self {
        let least = |value: fn(&FleetStrip) -> Option<f32>| {
            let nodes = group.nodes.iter().zip(&f.strips);
            let values = nodes.filter_map(|(name, s)| Some((name, finite(value(s))?)));
            values.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, v)| (clean(name), v))
        };
        let share = |share: Option<f64>| share.and_then(percent).map(|text| format!("{text} %"));
        Self {
            group: at,
            title: title.to_owned(),
            median: f.median.and_then(|v| scale(f).with_label(v)),
            spread: share(f.spread),
            margin: share(f.margin),
            judged: f.judged,
            slowest: least(|s| s.ratio).filter(|_| group.comparable),
            of_ceiling: least(|s| s.of_ceiling).and_then(|(name, v)| {
                let doubt = f.strips.iter().map(|s| s.reliance).max().filter(|r| !r.is_known());
                let doubt = doubt.map_or_else(String::new, |r| format!(" ({})", r.as_str()));
                Some((name, share(Some(v))? + &doubt))
            }),
            slow: count(f, StripOutcome::Slow),
            not_confirmed: count(f, StripOutcome::SlowNotConfirmed),
            too_few: count(f, StripOutcome::TooFewRounds),
            uneven: count(f, StripOutcome::TooUneven),
        }
    }

    /// Returns the place of the figure's state in the order of rows: slow nodes come first.
    fn doubt(&self) -> u8 {
        match self.color() {
            Some(Verdict::Invalid) => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    /// Returns `3.0 %` or `34.1 % (not judged)`.
    fn margin_or_not(&self) -> Option<String> {
        match &self.margin {
            margin if self.judged => margin.clone(),
            Some(margin) => Some(format!("{margin} (not judged)")),
            None => Some("not judged".to_owned()),
        }
    }

    /// Returns the verdict whose colour repeats the state of the slowest node.
    pub fn color(&self) -> Option<Verdict> {
        let doubtful = self.not_confirmed > 0 || self.uneven > 0;
        (self.slow > 0).then_some(Verdict::Invalid).or(doubtful.then_some(Verdict::Suspect))
    }
}

/// Returns the scale of a figure over all nodes.
pub fn scale(f: &FleetFigure) -> Scale {
    let values = f.strips.iter().filter_map(|s| s.value).chain(f.median);
    Scale::for_result(values, f.unit, (f.subsystem, f.random), &f.params)
}

/// Returns all figures of a group.
pub fn table(fleet: &Fleet, at: usize, caption: String) -> Table {
    let Some(group) = fleet.report.groups.get(at) else { return Table::default() };
    if !group.comparable {
        return values(fleet, at, group, caption);
    }
    let rows = fleet.figures(at).map(|(f, title)| Row::new((at, group), f, title));
    let rows: Vec<Row> = rows.collect();
    let any = |count: fn(&Row) -> usize| rows.iter().any(|r| count(r) > 0);
    let [slow, not_confirmed, too_few, uneven] =
        [any(|r| r.slow), any(|r| r.not_confirmed), any(|r| r.too_few), any(|r| r.uneven)];
    Columns::new(caption)
        .column("figure", |r: &Row| r.title.clone())
        .keys()
        .number("median", |r| r.median.clone())
        .number("spread between nodes", |r| r.spread.clone())
        .spare(2)
        .number("margin", |r| r.margin_or_not())
        .spare(2)
        .column("slowest node", |r| r.slowest.as_ref().map(|(name, _)| name.clone()))
        .number("its ratio", |r| {
            let ratio = r.slowest.as_ref().map(|(_, ratio)| speed(*ratio));
            Entry::from(ratio).coloured(r.color())
        })
        .when(slow, |t| t.number("nodes slow", |r| some(r.slow)))
        .when(not_confirmed, |t| t.number("not confirmed", |r| some(r.not_confirmed)))
        .when(uneven, |t| t.number("differ too much", |r| some(r.uneven)).spare(2))
        .when(too_few, |t| t.number("too few rounds", |r| some(r.too_few)).spare(2))
        .rows(rows)
}

fn some(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// Returns the value and the share of the ceiling of each of a few nodes.
fn values(fleet: &Fleet, at: usize, group: &FleetGroup, caption: String) -> Table {
    type Titled<'a> = (&'a FleetFigure, &'a str);
    let table = Columns::new(caption).column("figure", |(_, title): &Titled| *title).keys();
    let nodes = group.nodes.iter().take(4).enumerate();
    let table = nodes.fold(table, |table, (place, name)| {
        table.number(&clean(name), move |(f, _)| {
            let strip = f.strips.get(place)?;
            let value = scale(f).with_label(strip.value?)?;
            let of = ceiling_word(strip.reliance);
            let share = finite(strip.of_ceiling).and_then(percent);
            Some(share.map_or(value.clone(), |share| format!("{value} ({share} % of {of})")))
        })
    });
    table.rows(fleet.figures(at))
}

/// Returns the labels that identify a figure for a program: its group, workload, title and kind.
pub fn labels(group: usize, f: &FleetFigure) -> [(&'static str, String); 4] {
    let kind: FigureKind = f.kind;
    [
        ("group", group_name(group)),
        ("workload", f.workload.clone()),
        ("figure", f.title.clone()),
        ("kind", kind.as_str().to_owned()),
    ]
}
