//! A node's rounds at a figure, compared with its group and the margin.

use proofmark_model::{FleetNode, NodeState, StripOutcome, Verdict};

use super::figures::scale;
use super::lookup::{Fleet, Seen};
use super::words::{finite, speed};
use crate::view::{
    Blocks, CellPicture, Columns, Dot, Entry, Rounds, Style, Text, clean, joined, percent,
};

/// Maximum of results on a page.
const MOST: usize = 64;
/// Maximum of results of a node where there are many nodes.
const EACH: usize = 4;
/// Places between the two passes, and the minimum of places that the width is divided into.
const GAP: usize = 2;
const PLACES: usize = 12;
/// Minimum reach of the scale on both sides of 1.
const LEAST: f64 = 0.02;

const KEY: &str = "One dot per round: the ratio to the group's median. The line is 1. Grey: within \
    the margin. Right of the dashed line: the second pass. Cross: no result.";

/// Adds the rounds of all nodes that are slow, or slow and not confirmed: confirmed ones first,
/// worst nodes first; of many nodes the worst figures of each.
pub fn add(out: &mut Blocks, fleet: &Fleet) {
    let nodes = || fleet.report.nodes.iter().filter(|n| !n.figures.is_empty());
    let each = (MOST / nodes().count().max(1)).max(EACH);
    let seen = |confirmed: bool| {
        nodes().flat_map(move |n| {
            let figures = n.figures.iter().filter(move |f| f.confirmed == confirmed);
            figures.take(each).filter_map(move |f| Some((n, fleet.strip(n, f.figure)?)))
        })
    };
    let all: Vec<(&FleetNode, Seen)> = seen(true).chain(seen(false)).take(MOST).collect();
    let count: usize = nodes().map(|n| n.figures.len()).sum();
    let rest = count - all.len();
    if all.is_empty() {
        return;
    }
    let caption = "Results of nodes that are slow or slow and not confirmed, worst first";
    let table = Columns::new(caption)
        .column("node", |(node, _): &(&FleetNode, Seen)| clean(&node.name))
        .column("figure", |(_, seen)| seen.title.to_owned())
        .keys()
        .number("ratio", |(_, seen)| finite(seen.strip.ratio).map(speed))
        .column("outcome", |(node, seen)| outcome(node, seen))
        .column("rounds", |(_, seen)| Entry::drawn(Some(picture(seen))))
        .number("below the margin", |(_, seen)| {
            format!("{} of {}", seen.strip.below, seen.strip.usable)
        })
        .number("margin", |(_, seen)| {
            seen.figure.margin.and_then(percent).map(|margin| format!("{margin} %"))
        })
        .spare(2)
        .number("value", |(_, seen)| label(seen, seen.strip.value))
        .spare(2)
        .number("group", |(_, seen)| label(seen, seen.figure.median))
        .spare(2)
        .rows(all);
    out.add("key", Text::new(Style::Quiet, [KEY]));
    out.add("rounds", table);
    let rest = (rest > 0).then(|| format!("{rest} more results of slow nodes are not drawn."));
    out.add("rest", Text::new(Style::Quiet, rest));
}

fn outcome(node: &FleetNode, seen: &Seen) -> Entry {
    let slow = seen.strip.outcome == StripOutcome::Slow && node.state == NodeState::Slow;
    let color = if slow { Verdict::Invalid } else { Verdict::Suspect };
    Entry::from(seen.strip.outcome.as_str()).coloured(Some(color))
}

fn label(seen: &Seen, value: Option<f64>) -> Option<String> {
    scale(seen.figure).with_label(value?)
}

fn picture(seen: &Seen) -> CellPicture {
    let (first, again) = (&seen.strip.ratios, &seen.strip.again);
    let gap = if again.is_empty() { 0 } else { GAP };
    let places = (first.len() + gap + again.len()).max(PLACES) as f64;
    let margin = seen.figure.margin.filter(|m| (0.0..1.0).contains(m));
    let ratios = first.iter().chain(again).filter_map(|r| finite(*r));
    let reach = ratios.map(|r| (r - 1.0).abs()).chain(margin).fold(LEAST, f64::max).min(1.0);
    let mut rounds = Rounds {
        label: words(first, again),
        dots: Vec::new(),
        missing: Vec::new(),
        margin: margin.map(|m| m / reach),
        again: (gap > 0).then(|| (first.len() as f64 + 1.0) / places),
    };
    let after = again.iter().enumerate().map(|(i, r)| (first.len() + gap + i, *r));
    for (at, ratio) in first.iter().copied().enumerate().chain(after) {
        let x = (at as f64 + 0.5) / places;
        match finite(ratio) {
            Some(r) => {
                let at = [x, ((r - 1.0) / reach).clamp(-1.0, 1.0)];
                rounds.dots.push(Dot { at, below: margin.is_some_and(|m| r < 1.0 - m) });
            }
            None => rounds.missing.push(x),
        }
    }
    CellPicture::Rounds(rounds)
}

/// Returns `rounds 0.921, 0.918, no result; second pass 0.920`.
fn words(first: &[Option<f32>], again: &[Option<f32>]) -> String {
    let word = |r: &Option<f32>| finite(*r).map_or_else(|| "no result".to_owned(), speed);
    let list = |all: &[Option<f32>]| joined(all.iter().map(word), ", ");
    let again =
        if again.is_empty() { String::new() } else { format!("; second pass {}", list(again)) };
    format!("rounds {}{again}", list(first))
}
