//! Bars by instruction set, with their ceilings.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, key};

use super::panels::{Panel, panels};
use super::{drawable, line_name, mark, title};
use crate::view::chart::{Bar, BarChart, BarGroup, left_out};
use crate::view::label::{Group, best_usable, differing_only_in};
use crate::view::num::{Scale, percent};
use crate::view::text::{counted, joined};
use crate::view::workload_figure::has_known_ceiling;

/// Maximum number of bars in one chart.
const BARS: usize = 12;

pub fn bars(group: &Group, scale: &Scale) -> Vec<BarChart> {
    let drawn = drawable(group, scale);
    let isas: BTreeSet<Option<&str>> = drawn.iter().map(|m| m.params.get(key::ISA)).collect();
    let Some((best, _)) = best_usable(&drawn) else { return Vec::new() };
    if !group.varying.iter().any(|n| key::ISA == *n) || isas.len() < 2 {
        return Vec::new();
    }
    let threads = best.params.threads();
    let best = compared(group, &drawn, best);
    let comparable = |m: &&Measurement| {
        m.params.threads() == threads
            && (key::THREADS == group.axis
                || m.params.named(group.axis) == best.params.named(group.axis))
    };
    let same: Vec<&Measurement> = drawn.iter().copied().filter(comparable).collect();
    let panels = panels(group, &same, &[key::THREADS.name(), key::ISA.name(), group.axis], 1);
    let all = panels.iter().map(|p| bar_chart(group, scale, p, threads));
    // A single bar compares nothing.
    all.filter(|chart| chart.groups.iter().any(|g| g.bars.len() > 1)).collect()
}

/// The largest size, on as many threads as the best result, at which other instruction sets were
/// measured too; else the best result.
fn compared<'a>(
    group: &Group,
    drawn: &[&'a Measurement],
    best: &'a Measurement,
) -> &'a Measurement {
    let has_others = |m: &Measurement| {
        let isa = |other: &&&Measurement| other.params.get(key::ISA) != m.params.get(key::ISA);
        differing_only_in(drawn, m, &[key::ISA]).iter().filter(isa).count() > 0
    };
    let same = |m: &&Measurement| m.params.threads() == best.params.threads();
    let all = drawn
        .iter()
        .copied()
        .filter(same)
        .filter(|m| key::MATRIX_SIZE == group.axis && has_others(m));
    all.max_by_key(|m| m.params.get(key::MATRIX_SIZE)).unwrap_or(best)
}

fn bar_chart(group: &Group, scale: &Scale, panel: &Panel, threads: u64) -> BarChart {
    let named: Vec<&str> = panel.named.iter().copied().filter(|n| key::ISA != *n).collect();
    let bar = |m: &&Measurement| {
        let name = line_name(group, m, &named);
        let efficiency = m.efficiency.filter(|_| has_known_ceiling(m)).and_then(percent);
        Some(Bar { name, who: 0, mark: mark(group, m, scale)?, efficiency })
    };
    let mut bars: Vec<Bar> = panel.members.iter().filter_map(bar).collect();
    let more = bars.len().saturating_sub(BARS);
    bars.truncate(BARS);
    let along = panel.members.first().map_or_else(String::new, |m| {
        let by_n = key::MATRIX_SIZE == group.axis;
        let others = group.varying.iter().filter(|n| !(by_n && key::MATRIX_SIZE == **n));
        group.short_without(m, &others.collect::<Vec<_>>())
    });
    let names = [panel.name.clone(), counted(threads, "thread"), along];
    let title = title(group, "rate by instruction set", &joined(names, ", "));
    let bars = BarGroup { name: String::new(), bars, ceiling: None };
    BarChart::new(title, scale.label(), vec![bars], left_out(more, "bar", "in the table"))
}
