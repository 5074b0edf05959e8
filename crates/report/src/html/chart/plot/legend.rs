//! The legend of a chart over two axes.

use crate::html::chart::canvas::{Canvas, Ink};
use crate::html::chart::{Key, key};
use crate::view::{Chart, Kind, RuleKind, Series};

/// The legend of a chart's lines; empty for a single one.
pub fn legend(chart: &Chart) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for (i, series) in numbered(&chart.series) {
        let flat = [(1.0, 7.0), (25.0, 7.0)];
        let draw = |c: &Canvas| match series.kind {
            Kind::Samples => {
                c.line(&[(1.0, 9.0), (9.0, 5.0), (17.0, 9.0), (25.0, 5.0)], Ink::Series(0), 1)
            }
            Kind::Level => {
                c.block((1.0, 2.0), (25.0, 12.0), Ink::Grid);
                c.line(&flat, Ink::Series(1), 3)
            }
            Kind::Trend => c.dashed(&flat, Ink::Text),
            _ => {
                c.line(&flat, Ink::Series(i), 2);
                c.sign((13.0, 7.0), i)
            }
        };
        let has_key = !matches!(series.kind, Kind::Roof | Kind::Cross);
        if has_key && (series.kind == Kind::Line || keys.iter().all(|k| k.name != series.name)) {
            keys.push(key(&series.name, draw));
        }
    }
    if chart.rules.iter().any(|r| r.kind == RuleKind::Change) {
        keys.push(key("change of level", |c| c.line(&[(13.0, 0.0), (13.0, 14.0)], Ink::Text, 2)));
    }
    if keys.len() < 2 { Vec::new() } else { keys }
}

/// Each series with its index among the lines.
pub fn numbered(series: &[Series]) -> impl DoubleEndedIterator<Item = (usize, &Series)> {
    let first = series.iter().position(|s| s.kind == Kind::Line).unwrap_or(0);
    series.iter().enumerate().map(move |(i, s)| (i.saturating_sub(first), s))
}
