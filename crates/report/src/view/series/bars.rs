//! Bars by instruction set against their ceilings.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Params, Verdict};
use serde::Serialize;

use super::panels::{Panel, panels};
use super::{Mark, drawable, mark, title};
use crate::view::label::like;
use crate::view::label::{Group, best_usable};
use crate::view::num::{Scale, percent};
use crate::view::text::plural;

/// Bars in one chart.
const BARS: usize = 12;

/// One bar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Value, interval, ceiling and verdict.
    pub mark: Mark,
    /// Efficiency in percent, without the sign.
    pub efficiency: Option<String>,
}

/// Bars against their ceilings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarChart {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    /// Bars from the top.
    pub bars: Vec<Bar>,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
}

/// The bar charts of one workload.
pub fn bars(group: &Group, scale: &Scale) -> Vec<BarChart> {
    let drawn = drawable(group, scale);
    let isas: BTreeSet<Option<&str>> = drawn.iter().map(|m| m.params.text("isa")).collect();
    let Some((hero, _)) = best_usable(&drawn) else { return Vec::new() };
    if !group.varying.contains(&"isa") || isas.len() < 2 {
        return Vec::new();
    }
    let threads = hero.params.threads();
    let hero = compared(group, &drawn, hero);
    let comparable = |m: &&Measurement| {
        m.params.threads() == threads
            && (group.axis == "threads" || m.params.get(group.axis) == hero.params.get(group.axis))
    };
    let same: Vec<&Measurement> = drawn.iter().copied().filter(comparable).collect();
    let panels = panels(group, &same, &["threads", "isa", group.axis], 1);
    panels.iter().map(|p| bar_chart(group, scale, p, threads)).collect()
}

/// A point at whose size other instruction sets were measured too, the largest such; the best
/// one where sizes do not differ.
fn compared<'a>(
    group: &Group,
    drawn: &[&'a Measurement],
    hero: &'a Measurement,
) -> &'a Measurement {
    let company = |m: &Measurement| {
        let isa = |other: &&&Measurement| other.params.text("isa") != m.params.text("isa");
        like(drawn, m, &["isa"]).iter().filter(isa).count() > 0
    };
    let same = |m: &&Measurement| m.params.threads() == hero.params.threads();
    let all =
        drawn.iter().copied().filter(same).filter(|m| group.axis == Params::SIZE && company(m));
    all.max_by_key(|m| m.params.int(Params::SIZE)).unwrap_or(hero)
}

fn bar_chart(group: &Group, scale: &Scale, panel: &Panel, threads: u64) -> BarChart {
    let said: Vec<&str> = panel.said.iter().copied().filter(|n| *n != "isa").collect();
    let mut bars: Vec<Bar> = panel
        .members
        .iter()
        .filter_map(|m| {
            Some(Bar {
                name: group.short_without(m, &said),
                mark: mark(group, m, scale)?,
                efficiency: m.efficiency.and_then(percent),
            })
        })
        .collect();
    let more = bars.len().saturating_sub(BARS);
    bars.truncate(BARS);
    let with = plural(threads, "thread");
    let along = panel.members.first().map_or_else(String::new, |m| {
        let but =
            group.varying.iter().filter(|n| **n != Params::SIZE || group.axis != Params::SIZE);
        group.short_without(m, &but.copied().collect::<Vec<_>>())
    });
    let names = [panel.name.clone(), with, along];
    let names: Vec<String> = names.into_iter().filter(|n| !n.is_empty()).collect();
    BarChart {
        title: title(group, "rate by instruction set", &names.join(", ")),
        description: describe_bars(&bars, scale.label()),
        unit: scale.label().to_owned(),
        left_out: if more > 0 {
            format!("{}: in the table.", plural(more as u64, "more bar"))
        } else {
            String::new()
        },
        bars,
    }
}

fn describe_bars(bars: &[Bar], unit: &str) -> String {
    let parts: Vec<String> = bars
        .iter()
        .map(|b| {
            let of = b
                .efficiency
                .as_ref()
                .map_or_else(String::new, |e| format!(", {e} % of its ceiling"));
            let doubt = match b.mark.verdict {
                Verdict::Valid => String::new(),
                other => format!(" ({other})"),
            };
            format!("{}: {}{of}{doubt}", b.name, b.mark.text)
        })
        .collect();
    format!("Figures in {unit} by instruction set. {}.", parts.join(". "))
}
