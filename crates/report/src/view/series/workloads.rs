//! Charts over several workloads: one line per workload, or several for groups of its results.

use std::collections::BTreeSet;

use proofmark_model::Measurement;

pub use super::value::Value;
use crate::view::chart::{Axis, Chart, Mark, Series, Spot};
use crate::view::label::Group;
use crate::view::num::Scale;

/// A line with its points.
#[derive(Clone)]
pub struct Line<'g, 'a> {
    /// The name in the legend.
    pub name: String,
    pub group: &'g Group<'a>,
    /// The points: the value on the horizontal axis in its own unit, and the result.
    pub points: Vec<(u64, &'a Measurement)>,
}

/// The texts and values of a chart over several workloads.
#[derive(Clone, Copy)]
pub struct About<'s> {
    pub title: &'s str,
    /// The label of the horizontal axis.
    pub axis: &'s str,
    /// Formats a value on that axis.
    pub place: fn(u64) -> String,
    pub value: Value,
    /// The note below the chart; empty for none.
    pub key: &'s str,
}

/// Draws the chart; `None` unless a line has two places.
pub fn chart(about: &About, lines: &[Line]) -> Option<Chart> {
    let of = |l: &Line| l.points.iter().map(|(x, _)| *x).collect::<BTreeSet<u64>>();
    let drawn: Vec<&Line> = lines.iter().filter(|l| of(l).len() > 1).collect();
    let places = drawn.iter().flat_map(|l| of(l)).collect::<BTreeSet<u64>>();
    let points = || drawn.iter().flat_map(|l| l.points.iter().map(|(_, m)| (l.group, *m)));
    let values: Vec<f64> = points().filter_map(|(g, m)| about.value.read(g, m)).collect();
    let scale = Scale::for_values(&values, about.value.unit(points().next()?.1));
    let spot = |l: &Line, x: u64, m: &Measurement| {
        // The ceilings of many workloads could not be distinguished in one chart.
        let mark = Mark { ceiling: None, fall: None, ..about.value.mark(l.group, m, &scale)? };
        let at = places.iter().position(|p| *p == x)? as f64;
        Some(Spot { at, x: (about.place)(x), mark, ..Spot::default() })
    };
    let series: Vec<Series> = drawn
        .iter()
        .map(|l| {
            let spots = l.points.iter().filter_map(|(x, m)| spot(l, *x, m));
            Series::through(&l.name, spots.collect())
        })
        .filter(|s| s.spots.len() > 1)
        .collect();
    (!series.is_empty()).then_some(())?;
    let axis = Axis::named(about.axis, places.iter().map(|x| (about.place)(*x)).collect());
    let words = [scale.label(), about.axis];
    let chart = Chart::highest(about.title.to_owned(), axis, words, true, series);
    Some(Chart { key: about.key.to_owned(), ..chart })
}
