//! Tables of proofmark's figures, the tools' figures, the ceilings and the ratios.

use proofmark_model::{Measurement, Reference, Trial};

use super::{
    Compared, OURS, PAIRS, RATIO, compared, factor, outlying_pair, paired, tools, undecided_by_few,
};
use crate::view::columns::{Columns, Entry, not_finite};
use crate::view::disk;
use crate::view::label::{Group, best_usable};
use crate::view::num::{Scale, ends, percent};
use crate::view::shared_parts::{ceiling, keyed, share_of_ceiling, why_no_efficiency};
use crate::view::table::Table;
use crate::view::text::{clean, enclosed, joined};

/// The term and the meaning of the column of a tool's seconds.
const TIME: [&str; 2] = [
    "tool time",
    "The time over which the tool measured, as it reports it. For a tool that reports none: the \
     wall time of its whole run, including its start and end.",
];

/// The term and the meaning of the columns of the CPU time that was taken.
const TAKEN: [&str; 2] = [
    "taken, proofmark",
    "CPU time that the hypervisor, a quota and other processes took from this side of the pair. \
     For a tool, other processes are not counted.",
];
const TAKEN_FROM_TOOL: &str = "taken, tool";

/// The configuration that represents a workload for each tool: that of the headline, else the best
/// that the tool ran, else the first.
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

pub fn table(group: &Group, scale: &Scale, compared: &[Compared]) -> Table {
    let bounded = compared.iter().any(|(m, _)| m.ceiling.is_some());
    let table = keyed(group, "compared with reference tools")
        .column("tool", |(_, r): &Compared| clean(&r.tool))
        .measured("proofmark", scale.label(), |(m, r)| ours(m, r, scale))
        .explained(OURS[0], OURS[1])
        .measured("tool result", scale.label(), |(_, r)| {
            scale.number(r.value).ok_or_else(not_finite)
        })
        .when(bounded, |table| {
            table
                .measured("ceiling", scale.label(), |(m, _)| ceiling(m, |v| scale.number(v)))
                .spare(4)
                .measured("proofmark / ceiling", "%", |(m, r)| share_of_ceiling(m, our_share(m, r)))
                .spare(3)
                .measured("tool / ceiling", "%", |(m, r)| share_of_ceiling(m, share_of_tool(m, r)))
                .spare(3)
        });
    with_ratio(table, |row| *row, 1).rows(compared.iter().copied())
}

/// One configuration per workload and tool: the headline's where the tool ran it. Without rows
/// where no tool ran.
pub fn brief(groups: &[Group]) -> Table {
    type Row<'g, 'a> = (&'g Group<'a>, Compared<'a>);
    let rows = groups.iter().flat_map(|g| chosen(g).into_iter().map(move |c| (g, c)));
    let table = Columns::new("Comparison with reference tools")
        .column("workload", |(group, _): &Row| clean(group.id))
        .column("configuration", |(group, (m, _))| group.short(m))
        .spare(4)
        .column("tool", |(_, (_, r))| clean(&r.tool))
        .keys()
        .number("proofmark", |(_, (m, r))| {
            median_of_pairs(r, |v| disk::scale(m, &[v]).with_label(v))
        })
        .spare(3)
        .explained(OURS[0], OURS[1])
        .number("tool result", |(_, (m, r))| {
            disk::scale(m, &[r.value]).with_label(r.value).ok_or_else(not_finite)
        })
        .spare(3);
    with_ratio(table, |(_, compared)| *compared, 0).rows(rows)
}

/// Adds the ratio, its interval, and the verdict on the tool's result.
fn with_ratio<'a, R: 'a>(
    table: Columns<'a, R>,
    read: fn(&R) -> Compared<'a>,
    spare: u8,
) -> Columns<'a, R> {
    table
        .number("proofmark / tool", move |row| {
            let r = read(row).1;
            match factor(r) {
                Some(text) => {
                    let notes = [undecided_by_few(r), outlying_pair(r).unwrap_or_default()];
                    Entry::from(text).noted(joined(notes, "; "))
                }
                None => Err(not_finite()).into(),
            }
        })
        .explained("proofmark / tool", RATIO)
        .number("95 % interval", move |row| {
            let (m, r) = read(row);
            r.ratio.ci95.and_then(ratio_interval).ok_or_else(|| match r.ratio.ci95 {
                Some(_) => not_finite(),
                None if r.trials.len() < PAIRS => {
                    let needs = format!("a 95 % interval needs at least {PAIRS} pairs");
                    joined([needs, range_of_tool(m, r)], "; ")
                }
                None => "no reason was recorded".to_owned(),
            })
        })
        .spare(spare)
        .column("tool verdict", move |row| read(row).1.verdict)
}

/// `the tool's 3 trials: 29.15–47.94 GFLOP/s`; empty for a single one.
fn range_of_tool(m: &Measurement, r: &Reference) -> String {
    let [low, high] = ends(r.trials.iter().copied());
    let scale = disk::scale(m, &[low, high]);
    let range = scale.interval([low, high]).filter(|_| r.trials.len() > 1);
    let of = format!("the tool's {} trials: ", r.trials.len());
    enclosed(&of, &range.unwrap_or_default(), &format!(" {}", scale.label()))
}

/// The median of proofmark's trials in the pairs, or the reason why there is none.
fn median_of_pairs(r: &Reference, show: impl Fn(f64) -> Option<String>) -> Result<String, String> {
    r.paired_median().and_then(show).ok_or_else(|| match r.paired.is_empty() {
        true => "no pair was recorded".to_owned(),
        false => not_finite(),
    })
}

/// proofmark's median in the pairs, with a note if the pairs were disturbed or the result is not
/// valid.
fn ours(m: &Measurement, r: &Reference, scale: &Scale) -> Entry {
    let median = median_of_pairs(r, |v| scale.number(v));
    if median.is_err() {
        return median.into();
    }
    let disturbed = r.paired_findings.iter().map(|f| format!("in the pairs {}", clean(&f.message)));
    let verdict = Some(m.verdict).filter(|v| !v.is_undoubted());
    let verdict = verdict.map(|verdict| format!("proofmark's result is {verdict}"));
    Entry::from(median).noted(joined(verdict.into_iter().chain(disturbed), "; "))
}

/// proofmark's share of the ceiling in the pairs, or the reason why there is none.
fn our_share(m: &Measurement, r: &Reference) -> Result<String, String> {
    let share = paired(m, r).and_then(|ours| ours.percent());
    share.ok_or_else(|| match r.paired.is_empty() && m.efficiency.is_some() {
        true => "no pair was recorded".to_owned(),
        false => why_no_efficiency(m),
    })
}

/// The tool's share of the ceiling, or the reason why there is none.
fn share_of_tool(m: &Measurement, r: &Reference) -> Result<String, String> {
    r.efficiency.and_then(percent).ok_or_else(|| match (&m.ceiling, m.efficiency) {
        (Some(_), Some(_)) => "its share of the ceiling was not recorded".to_owned(),
        _ => why_no_efficiency(m),
    })
}

/// One row per pair, with the side that ran first and the time that was taken from either.
pub fn trials(group: &Group, scale: &Scale, compared: &[Compared]) -> Table {
    type Row<'a> = (&'a Measurement, (&'a Reference, usize, Option<f64>));
    let taken = |side: Option<&Trial>| {
        side.and_then(taken).and_then(seconds).ok_or("not reported by this system")
    };
    keyed(group, "every pair of trials")
        .column("tool", |(_, (r, ..)): &Row| clean(&r.tool))
        .number("pair", |(_, (_, i, _))| (i + 1).to_string())
        .column("first", |(_, (r, i, _))| {
            r.first.get(*i).map(|first| first.as_str().to_owned()).ok_or("not recorded")
        })
        .measured("proofmark", scale.label(), |(_, (_, _, ours))| {
            let ours = ours.ok_or_else(|| "no proofmark trial in this pair".to_owned())?;
            scale.number(ours).ok_or_else(not_finite)
        })
        .measured("tool result", scale.label(), |(_, (r, i, _))| {
            scale.number(r.trials[*i]).ok_or_else(not_finite)
        })
        .number("proofmark / tool", |(_, (r, i, ours))| {
            let quotient = ours.and_then(|v| ratio(v / r.trials[*i]));
            quotient.ok_or("no ratio: a figure is zero, negative or not finite")
        })
        .measured(TAKEN[0], "s", |(_, (r, i, _))| taken(r.paired.get(*i)))
        .explained(TAKEN[0], TAKEN[1])
        .measured(TAKEN_FROM_TOOL, "s", |(_, (r, i, _))| taken(r.evidence.get(*i)))
        .measured(TIME[0], "s", |(_, (r, i, _))| {
            let took = r.evidence.get(*i).and_then(|t| seconds(t.seconds));
            took.ok_or("not reported by the tool")
        })
        .explained(TIME[0], TIME[1])
        .rows(compared.iter().flat_map(|(m, r)| {
            let ours = r.paired_values();
            (0..r.trials.len()).map(move |i| (*m, (*r, i, ours.get(i).copied())))
        }))
}

/// CPU-seconds that were taken from a trial, as far as they were counted.
fn taken(t: &Trial) -> Option<f64> {
    let c = &t.conditions;
    [c.steal_s, c.throttled_s, c.other_cpu_s].into_iter().flatten().reduce(|a, b| a + b)
}

fn seconds(s: f64) -> Option<String> {
    s.is_finite().then(|| format!("{s:.4}")).filter(|s| s.len() <= 12)
}

/// A ratio with three decimals; in scientific notation below 0.001 and from 1 million.
pub fn ratio(value: f64) -> Option<String> {
    let plain = (1e-3..1e6).contains(&value.abs()) || value == 0.0;
    let text = || if plain { format!("{value:.3}") } else { format!("{value:.2e}") };
    value.is_finite().then(text)
}

/// `0.987–1.013`.
pub fn ratio_interval([low, high]: [f64; 2]) -> Option<String> {
    Some(format!("{}–{}", ratio(low)?, ratio(high)?))
}
