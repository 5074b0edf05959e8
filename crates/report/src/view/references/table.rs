//! Ours, theirs, the ceiling of both and their ratio, as rows.

use proofmark_model::{Measurement, Reference, Trial, Verdict};

use super::{Compared, OURS, RATIO, compared, tools};
use crate::view::keyed::{caption, keyed, keys, why_no_ceiling, why_no_efficiency};
use crate::view::label::{Group, best_usable};
use crate::view::num::median;
use crate::view::num::{Scale, percent};
use crate::view::table::{Cell, Table};
use crate::view::text::clean;

/// Pairs that an interval needs.
const PAIRS: usize = 6;

/// What the column of a tool's seconds means: its term and the meaning.
const TIME: [&str; 2] = [
    "tool time",
    "The time over which the tool measured, as it reports it. For a tool that reports none: the wall \
     time of its whole run, including its start and end.",
];

/// What the columns of the CPU time that was taken mean: the term of the first, and the meaning.
const TAKEN: [&str; 2] = [
    "taken, proofmark",
    "CPU time that the hypervisor, a quota and other processes took from this side of the pair. Of a \
     tool, other processes are not counted.",
];
const TAKEN_FROM_TOOL: &str = "taken, tool";

/// The configuration that represents a workload for each tool: that of the headline, or the best
/// that the tool ran, or the first.
pub fn chosen<'a>(group: &Group<'a>) -> Vec<Compared<'a>> {
    let all = compared(group);
    let one = |tool: String| {
        let of: Vec<Compared> =
            all.iter().copied().filter(|(_, r)| clean(&r.tool) == tool).collect();
        let with = |m: &Measurement| of.iter().copied().find(|(n, _)| std::ptr::eq(*n, m));
        let points: Vec<&Measurement> = of.iter().map(|(m, _)| *m).collect();
        let answer = group.answer().filter(|(m, _)| with(m).is_some());
        let found = answer.or_else(|| best_usable(&points));
        found.and_then(|(m, _)| with(m)).or_else(|| of.first().copied())
    };
    tools(group).into_iter().filter_map(one).collect()
}

/// A row per point and tool.
pub fn table(group: &Group, scale: &Scale, compared: &[Compared]) -> Table {
    let bounded = compared.iter().any(|(m, _)| m.ceiling.is_some());
    let mut table = keyed(group, caption(group, "compared with reference tools"), &[])
        .column("tool")
        .measured("proofmark", scale.label())
        .explained(OURS[0], OURS[1])
        .measured("tool result", scale.label());
    if bounded {
        table = table.measured("ceiling", scale.label()).spare(4);
        table = table.measured("proofmark / ceiling", "%").spare(3);
        table = table.measured("tool / ceiling", "%").spare(3);
    }
    table = table
        .number("proofmark / tool")
        .explained("proofmark / tool", RATIO)
        .number("95 % interval")
        .spare(1)
        .column("tool verdict");
    for (m, r) in compared {
        let mut cells = keys(group, m, &mut table, &[]);
        cells.push(Cell::text(clean(&r.tool)));
        cells.push(ours(m, r, scale, &mut table));
        cells.push(table.maybe(scale.number(r.value), finite));
        if bounded {
            cells.extend(shares(m, r, scale, &mut table));
        }
        cells.push(table.maybe(ratio(r.ratio.median), finite));
        cells.push(table.maybe(r.ratio.ci95.and_then(ratio_interval), || why_no_ratio(r)));
        cells.push(Cell::verdict(r.verdict));
        table.push(cells);
    }
    table
}

/// The median over our trials of the pairs.
pub fn median_of_paired(r: &Reference) -> Option<f64> {
    median(r.paired_values().into_iter())
}

/// Why there is none.
pub fn why_no_paired(r: &Reference) -> String {
    if r.paired.is_empty() { "no pair was recorded".to_owned() } else { finite() }
}

/// Our median over the pairs, with a note if something disturbed these or our result is not valid.
fn ours(m: &Measurement, r: &Reference, scale: &Scale, table: &mut Table) -> Cell {
    let median = median_of_paired(r).and_then(|v| scale.number(v));
    let cell = table.maybe(median, || why_no_paired(r));
    if cell.note.is_some() {
        return cell;
    }
    let disturbed = r.paired_findings.iter().map(|f| format!("in the pairs {}", clean(&f.message)));
    let verdict = Some(m.verdict).filter(|v| *v != Verdict::Valid);
    let verdict = verdict.map(|verdict| format!("proofmark's result is {verdict}"));
    let notes: Vec<String> = verdict.into_iter().chain(disturbed).collect();
    let note = (!notes.is_empty()).then(|| table.note(notes.join("; ")));
    Cell { note, ..cell }
}

/// The ceiling, our share of it and theirs.
fn shares(m: &Measurement, r: &Reference, scale: &Scale, table: &mut Table) -> [Cell; 3] {
    let ceiling = m.ceiling.as_ref().and_then(|c| scale.number(c.value));
    let theirs = || match (&m.ceiling, m.efficiency) {
        (Some(_), Some(_)) => "its share of the ceiling was not recorded".to_owned(),
        _ => why_no_efficiency(m),
    };
    [
        table.maybe(ceiling, || why_no_ceiling(m)),
        table.maybe(m.efficiency.and_then(percent), || why_no_efficiency(m)),
        table.maybe(r.efficiency.and_then(percent), theirs),
    ]
}

/// Every pair, with which of the two ran first and what was taken from either.
pub fn trials(group: &Group, scale: &Scale, compared: &[Compared]) -> Table {
    let mut table = keyed(group, caption(group, "every pair of trials"), &[])
        .column("tool")
        .number("pair")
        .column("first")
        .measured("proofmark", scale.label())
        .measured("tool result", scale.label())
        .number("proofmark / tool")
        .measured(TAKEN[0], "s")
        .explained(TAKEN[0], TAKEN[1])
        .measured(TAKEN_FROM_TOOL, "s")
        .measured(TIME[0], "s")
        .explained(TIME[0], TIME[1]);
    for (m, r) in compared {
        let key = keys(group, m, &mut table, &[]);
        let all = r.paired_values();
        for (i, value) in r.trials.iter().enumerate() {
            let ours = all.get(i).copied();
            let theirs = r.evidence.get(i);
            let mut cells = key.clone();
            cells.push(Cell::text(clean(&r.tool)));
            cells.push(Cell::text((i + 1).to_string()));
            let first = r.first.get(i).map(|first| first.as_str().to_owned());
            cells.push(table.maybe(first, || "not recorded".to_owned()));
            cells.push(table.maybe(ours.and_then(|v| scale.number(v)), || match ours {
                None => "no proofmark trial in this pair".to_owned(),
                Some(_) => finite(),
            }));
            cells.push(table.maybe(scale.number(*value), finite));
            cells.push(table.maybe(ours.and_then(|v| ratio(v / value)), || {
                "one of the two is not finite, or not above zero".to_owned()
            }));
            for side in [r.paired.get(i), theirs] {
                let taken = side.and_then(taken).and_then(seconds);
                cells.push(table.maybe(taken, || "not reported by this system".to_owned()));
            }
            let took = theirs.and_then(|t| seconds(t.seconds));
            cells.push(table.maybe(took, || "not reported by the tool".to_owned()));
            table.push(cells);
        }
    }
    table
}

/// CPU-seconds that were taken from a trial, as far as they were counted.
fn taken(t: &Trial) -> Option<f64> {
    let c = &t.conditions;
    [c.steal_s, c.throttled_s, c.other_cpu_s].into_iter().flatten().reduce(|a, b| a + b)
}

fn seconds(s: f64) -> Option<String> {
    s.is_finite().then(|| format!("{s:.4}")).filter(|s| s.len() <= 12)
}

fn finite() -> String {
    "not a finite number".to_owned()
}

/// A ratio with three decimals.
pub fn ratio(value: f64) -> Option<String> {
    let plain = (1e-3..1e6).contains(&value.abs()) || value == 0.0;
    let text = || if plain { format!("{value:.3}") } else { format!("{value:.2e}") };
    value.is_finite().then(text)
}

/// `0.987–1.013`.
pub fn ratio_interval([low, high]: [f64; 2]) -> Option<String> {
    Some(format!("{}–{}", ratio(low)?, ratio(high)?))
}

/// Why a ratio has no interval.
pub fn why_no_ratio(r: &Reference) -> String {
    match r.ratio.ci95 {
        Some(_) => finite(),
        None if r.trials.len() < PAIRS => {
            format!("a 95 % interval needs at least {PAIRS} pairs")
        }
        None => "no interval, and no reason was recorded".to_owned(),
    }
}
