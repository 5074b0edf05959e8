//! `disagrees`: a reference tool that ran in alternation shows another result.
//!
//! Compares pair by pair, so that drift moves both sides. Searches the recorded facts of both for
//! causes, in the order of `CAUSES`.

mod causes;
mod library;
#[cfg(test)]
mod tests;

use proofmark_model::{Finding, Measurement, Reference, format_factor, format_quantity, median};

use super::{Check, Class, Examine};
use crate::Context;
use crate::references::{as_measurement, paired};
use crate::width::width;
use causes::{CAUSES, Cause, Compared, Explanation, Extent};

/// Smallest difference that is reported. A policy's target is 0.5 to 5 % for each result. Two programs
/// start and stop their clocks at different moments, and a tool may print three digits or the best
/// of ten rounds. That explains as much again.
const DIFFERENCE: f64 = 0.05;
/// Fewest trials on each side that show a scatter.
const LEAST: usize = 2;

/// The advice if no cause is known.
const ADVICE: &str = "compare what each counts, and run the tool's recorded command line by hand";

/// Maximum minus minimum of the finite values.
fn scatter(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    (values.len() >= LEAST).then_some(most - least)
}

/// Ratio of the displayed medians (ours / theirs) if the two differ. `None` if the medians
/// contradict the pairs.
fn disagreement(r: &Reference) -> Option<f64> {
    let positive = |v: &f64| v.is_finite() && *v > 0.0;
    if r.is_undecided() {
        return None;
    }
    let ratio = Some(r.shown_ratio()).filter(positive)?;
    let all = r.paired_values();
    let ours = median(&all).filter(positive)?;
    let theirs = Some(r.value).filter(positive)?;
    let apart = match r.ratio.ci95 {
        Some([low, high]) => low > 1.0 || high < 1.0,
        None => {
            let both = scatter(all.iter().copied())? + scatter(r.trials.iter().copied())?;
            (ours - theirs).abs() > both
        }
    };
    (apart && ratio.max(1.0 / ratio) > 1.0 + DIFFERENCE).then_some(ratio)
}

/// The causes that apply, up to the first that explains the whole difference, each with its
/// explanation.
fn causes(compared: &Compared) -> Vec<(&'static Cause, Explanation)> {
    let mut all = Vec::new();
    for cause in CAUSES {
        if let Some(explanation) = (cause.explain)(compared) {
            let whole = explanation.extent == Extent::Whole;
            all.push((cause, explanation));
            if whole {
                break;
            }
        }
    }
    all
}

/// Joins the explanations; adds that a rest is unexplained if each explains only a part.
fn join_explanations(found: Vec<(&Cause, Explanation)>) -> String {
    let parts = found.iter().all(|(_, explanation)| explanation.extent == Extent::Part);
    let mut texts: Vec<String> = found.into_iter().map(|(_, e)| e.words).collect();
    if parts {
        texts.push("no recorded fact explains the rest".to_owned());
    }
    texts.join("; ")
}

fn unexplained(r: &Reference) -> String {
    let counts = Some(r.counts.trim()).filter(|c| !c.is_empty());
    let counts = counts.map_or(String::new(), |counts| format!(" (it counts {counts})"));
    format!("no recorded fact explains it{counts}")
}

/// Names the side whose runs differ so much that the result is known only roughly: its median may be
/// that of either of two states.
fn uneven(m: &Measurement, r: &Reference) -> String {
    let range = |values: &[f64]| {
        let (least, most) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        let is_wide = width(median(values)?, [least, most]) > m.subsystem.info().coarse_from();
        is_wide.then(|| [least, most].map(|value| format_quantity(value, m.unit)))
    };
    let sides = [
        ("proofmark's trials", r.paired_values()),
        (&*format!("{}'s runs", r.tool), r.trials.clone()),
    ];
    let words = |(who, values): (&str, Vec<f64>)| {
        range(&values).map(|[least, most]| format!("; {who} differ, from {least} to {most}"))
    };
    sides.into_iter().filter_map(words).collect()
}

/// The ratio in words: `proofmark's result is 1.34 times that of stream (1.32 to 1.36)`.
fn amount(r: &Reference, ratio: f64) -> String {
    let interval = r.ratio.ci95.filter(|ends| ends.iter().all(|v| v.is_finite()));
    let interval = interval
        .map_or(String::new(), |[a, b]| format!(" ({} to {})", format_factor(a), format_factor(b)));
    format!("proofmark's result is {} times that of {}{interval}", format_factor(ratio), r.tool)
}

pub(super) static CHECK: Check = Check {
    id: "disagrees",
    class: Class::Context,
    title: "Differs from a reference tool",
    about: "A reference tool that ran in alternation shows another result: the 95 % interval of \
         the ratio, taken pair by pair, excludes 1, and the ratio differs by more than 5 %. With \
         fewer than 6 pairs, the medians must differ by more than the scatter of both. A note, \
         since it does not show which one is wrong; problems of the tool's own trials are separate \
         findings. No finding where the pairs contradict the medians (undecided). The finding \
         names recorded causes: the page cache; data that fits into the cache; bytes moved but not \
         counted (write-allocate); a tool built without optimisation; socket buffers; other \
         parameters; a library's kernels for another core; what disturbed the slower side of the \
         pairs; much shorter or longer trials. It gives the range of a side whose runs differ \
         much. Run both \
         the same way, or compare what each counts.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let mut parts = Vec::new();
    let mut finding = CHECK.note("", "");
    for r in &m.references {
        let Some(ratio) = disagreement(r) else { continue };
        let (ours, theirs) = (paired(m, r), as_measurement(m, r));
        let found = causes(&Compared { ctx, ours: &ours, tool: r, theirs, ratio });
        let advice = found.first().map_or(ADVICE, |(cause, _)| cause.advice);
        if parts.is_empty() {
            finding.advice = advice.to_owned();
        }
        let ids: Vec<&str> = found.iter().map(|(cause, _)| cause.id).collect();
        let why = if found.is_empty() { unexplained(r) } else { join_explanations(found) };
        let uneven = uneven(m, r);
        parts.push(format!("{}: {why}{uneven}", amount(r, ratio)));
        let ids = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        finding = finding.with(&format!("{}: ratio", r.tool), ratio);
        finding = finding.with(&format!("{}: causes", r.tool), ids);
    }
    if parts.is_empty() {
        return None;
    }
    finding.message = parts.join("; ");
    Some(finding)
}
