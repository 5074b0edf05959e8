//! Bars in groups, each with its ceiling or that of its group.

use serde::Serialize;

use super::{Mark, doubt};
use crate::view::text::{enclosed, joined};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// The index of the program: 0 for proofmark, from 1 for the workload's tools, so that each has
    /// a colour.
    pub who: usize,
    pub name: String,
    /// Value, interval, ceiling and verdict; without a ceiling where the group has it.
    pub mark: Mark,
    /// Efficiency in percent, without the sign.
    pub efficiency: Option<String>,
}

/// The ceiling of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The value on the chart's scale.
    pub value: f64,
    /// The value as printed.
    pub text: String,
}

/// Bars of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarGroup {
    /// The parameters; empty where there is only one configuration.
    pub name: String,
    /// The bars, proofmark's first.
    pub bars: Vec<Bar>,
    pub ceiling: Option<Limit>,
}

/// A chart of bars with their ceilings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarChart {
    pub title: String,
    /// The chart in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    pub groups: Vec<BarGroup>,
    /// The note on bars that are left out; empty if there are none.
    pub left_out: String,
}

impl BarChart {
    /// The chart of these groups.
    pub fn new(title: String, unit: &str, groups: Vec<BarGroup>, left_out: String) -> Self {
        let all = joined(groups.iter().map(describe), ". ");
        let description = format!("Figures in {unit}. {all}.");
        Self { title, description, unit: unit.to_owned(), groups, left_out }
    }

    /// Splits groups into charts of at most `each`, numbered if there are several. The last one has
    /// the note on what is left out.
    pub fn in_parts(
        title: &str,
        unit: &str,
        groups: &[BarGroup],
        each: usize,
        left_out: &str,
    ) -> Vec<Self> {
        let count = groups.len().div_ceil(each);
        let part = |(i, part): (usize, &[BarGroup])| {
            let number = if count > 1 { format!(" ({} of {count})", i + 1) } else { String::new() };
            let left_out = if i + 1 == count { left_out } else { "" };
            Self::new(format!("{title}{number}"), unit, part.to_vec(), left_out.to_owned())
        };
        groups.chunks(each).enumerate().map(part).collect()
    }
}

fn describe(group: &BarGroup) -> String {
    let bar = |b: &Bar| {
        let share = b.efficiency.as_ref().map(|e| format!(" ({e} % of the ceiling)"));
        let (share, doubt) = (share.unwrap_or_default(), doubt(b.mark.verdict));
        format!("{} {}{share}{doubt}", b.name, b.mark.text)
    };
    let ceiling = group.ceiling.as_ref().map(|c| format!("ceiling {}", c.text));
    let all = group.bars.iter().map(bar).chain(ceiling);
    enclosed("", &group.name, ": ") + &joined(all, ", ")
}
