//! The number that answers a workload's question.
//!
//! The best result that is not invalid comes first, whatever else its verdict and precision: a choice
//! by these would put the luckiest configuration first. Where
//! the axis is a working set or a load, only the largest is what the name says: the
//! speed of a cache is not that of memory. And of two orders it is the random one: in
//! the local one the TLB holds every page.

use std::collections::BTreeSet;

use proofmark_model::{Better, FigureKind, Measurement, Subsystem, Summary, Verdict};
use serde::Serialize;

use super::label::{
    Group, interval, several_levels, spoken, why_missing, why_no_interval, why_no_trials,
};
use super::levels;
use super::num::{Scale, percent};
use super::text::{clean, plural};
use super::{disk, network};

/// Share of the largest working set that counts as large.
const NEARLY: f64 = 0.75;

/// Why a number has no interval, where it is listed with others.
const NO_INTERVAL: &str = "no 95 % interval; see the workload's section";

/// Block size in bytes that I/Os per second are usually reported for.
const USUAL_BLOCK: u64 = 4096;

/// How near the ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Efficiency in percent, without the sign.
    pub percent: String,
    /// Efficiency from 0 to 100, cut at both ends, for a bar.
    pub bar: f64,
    /// `of its ceiling of 129.0 GFLOP/s`.
    pub of: String,
}

/// A result with its precision, share of the ceiling and bottleneck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headline {
    /// The number; `None` if the workload has no usable result.
    pub value: Option<String>,
    /// Its label.
    pub unit: String,
    /// At which point; where there is no number, why.
    pub at: String,
    /// What belongs to the number: of a disk, percentiles of its latency and the device's share.
    pub extra: Option<String>,
    /// `± 1.9 %`: half the width of the interval, which the policy's target limits.
    pub within: Option<String>,
    /// What was delivered, in the same unit; `None` where that is the number.
    pub delivered: Option<String>,
    /// What is missing where `within` is, in few words.
    pub within_lacks: &'static str,
    /// Interval and number of trials, or why there is none.
    pub sure: String,
    /// Against the ceiling.
    pub near: Option<Near>,
    /// What is missing where `near` is: `no ceiling`, or `no efficiency` where there is one.
    pub near_lacks: &'static str,
    /// The bottleneck, or why it is not identified; `None` without a ceiling, when
    /// nothing could show it.
    pub bottleneck: Option<String>,
    /// Verdict of the number.
    pub verdict: Option<Verdict>,
    /// `12 of 14 results are valid`; `None` where there is but one.
    pub count: Option<String>,
    /// Whether every result of the workload is valid.
    pub all_valid: bool,
}

/// The measurements in random order and those without an order; all where none is in
/// random order.
fn in_order<'a>(group: &Group<'a>) -> Vec<&'a Measurement> {
    let is = |m: &Measurement, order| m.params.text("order") == Some(order);
    let random = group.all.iter().any(|m| is(m, "rand"));
    group.all.iter().copied().filter(|m| !(random && is(m, "local"))).collect()
}

/// The measurements that may answer the workload's question: all but those in local
/// order, or of these the ones with the largest working set or load. A working set is that of one thread, and where it is
/// divided among them their sum need not be the same to the byte.
pub fn in_question<'a>(group: &Group<'a>) -> Vec<&'a Measurement> {
    let size = |m: &Measurement| -> Option<f64> {
        let value = m.params.int(group.axis)? as f64;
        match group.axis {
            "working_set" => Some(value * m.params.threads() as f64),
            "load" => Some(value),
            _ => None,
        }
    };
    let all = nearest_device(in_order(group));
    let most = all.iter().filter_map(|m| size(m)).fold(0.0, f64::max);
    let nearly = if group.axis == "working_set" { NEARLY } else { 1.0 };
    let large = |m: &&Measurement| size(m).is_none_or(|s| s >= most * nearly);
    let all = usual_block(group, all.into_iter().filter(large).collect());
    network::in_question(large_files(all))
}

/// Of points of the disk, those whose file is not smaller than half of the largest: a small one may
/// lie in a cache behind the device.
fn large_files(all: Vec<&Measurement>) -> Vec<&Measurement> {
    let size = |m: &Measurement| m.params.int("file_size");
    let most = all.iter().filter_map(|m| size(m)).max();
    let large = |m: &&Measurement| size(m).is_none_or(|s| most.is_some_and(|most| s >= most / 2));
    all.into_iter().filter(large).collect()
}

/// Random I/O is counted in operations, which larger blocks make fewer: of several block
/// sizes it is the usual one, or else the smallest.
fn usual_block<'a>(group: &Group, all: Vec<&'a Measurement>) -> Vec<&'a Measurement> {
    if group.axis != "queue_depth" {
        return all;
    }
    let sizes: BTreeSet<u64> = all.iter().filter_map(|m| m.params.int("block_size")).collect();
    let one = sizes.get(&USUAL_BLOCK).or(sizes.first()).copied();
    all.into_iter().filter(|m| m.params.int("block_size") == one).collect()
}

/// Of points of the disk, those that are nearest to what the device does and have a
/// usable result: direct I/O before buffered, with the flush before without, and never what
/// the page cache may have done alone.
fn nearest_device(all: Vec<&Measurement>) -> Vec<&Measurement> {
    let usable = |m: &&Measurement| m.summary.is_some() && m.verdict != Verdict::Invalid;
    let near = |m: &Measurement| disk::distance(m);
    let nearest = all.iter().copied().filter(usable).filter_map(near).min();
    let nearest = nearest.or_else(|| all.iter().copied().filter_map(near).min());
    all.into_iter().filter(|m| near(m).is_some() && near(m) == nearest).collect()
}

/// Why no number of the workload is put first.
pub fn why_none(group: &Group) -> String {
    let asked = in_question(group);
    match asked.first() {
        None if group.all.is_empty() => "no configuration was measured".to_owned(),
        None => "the page cache may have served all of it".to_owned(),
        Some(m) if m.summary.is_none() => why_no_trials(m),
        Some(_) => format!("{} is invalid", every_asked(group, asked.len())),
    }
}

/// Which numbers were asked for, where none of them is any good.
fn every_asked(group: &Group, asked: usize) -> String {
    let ordered = nearest_device(in_order(group)).len();
    if group.all.iter().any(|m| m.subsystem == Subsystem::Disk) {
        let cached = asked < group.all.len();
        return if cached { "every result of the device" } else { "every result" }.to_owned();
    }
    let random = if ordered < group.all.len() { " in random order" } else { "" };
    match asked < ordered {
        true => format!("every result{random} with the largest {}", spoken(group.axis)),
        false => format!("every result{random}"),
    }
}

/// The best result that is not invalid. Threads that share a CPU cannot do more than
/// those that do not, so that an oversubscribed point of CPU or memory can win by
/// chance only, and is left out where there is another.
pub fn best<'a>(group: &Group, all: &[&'a Measurement]) -> Option<(&'a Measurement, &'a Summary)> {
    let numbers =
        || all.iter().copied().filter(|m| m.verdict != Verdict::Invalid && m.summary.is_some());
    let turns = |m: &&Measurement| {
        matches!(m.subsystem, Subsystem::Cpu | Subsystem::Memory) && group.oversubscribed(m)
    };
    let rest = numbers().any(|m| !turns(&m));
    numbers()
        .filter(|m| !rest || !turns(m))
        .filter_map(|m| m.summary.as_ref().map(|s| (m, s)))
        .filter(|(_, s)| s.value().is_finite())
        .reduce(|a, b| {
            let wins = match a.0.better {
                Better::Higher => b.1.value() > a.1.value(),
                Better::Lower => b.1.value() < a.1.value(),
            };
            if wins { b } else { a }
        })
}

/// The workload's headline, on a scale of its own.
pub fn find(group: &Group) -> Headline {
    let valid = group.all.iter().filter(|m| m.verdict == Verdict::Valid).count();
    let count = match group.all.len() {
        0 => Some("not measured".to_owned()),
        1 => None,
        n => Some(format!("{valid} of {n} results are valid")),
    };
    let asked = in_question(group);
    let Some((m, summary)) = best(group, &asked) else {
        return Headline {
            value: None,
            unit: String::new(),
            at: format!("No usable result: {}.", why_none(group)),
            extra: None,
            within: None,
            delivered: None,
            within_lacks: "",
            sure: String::new(),
            near: None,
            near_lacks: "",
            bottleneck: None,
            verdict: group.all.iter().map(|m| m.verdict).max(),
            count,
            all_valid: false,
        };
    };
    let scale = &shown_on(group, m, summary);
    Headline {
        value: scale.number(summary.value()),
        unit: scale.label().to_owned(),
        at: at(group, m),
        extra: levels_of(m, scale).or_else(|| disk::extra(m, scale)).or_else(|| network::extra(m)),
        within: within(summary).filter(|_| interval(m).is_some()),
        delivered: delivered(summary).and_then(|value| scale.number(value)),
        within_lacks: if several_levels(m) { "several levels over time" } else { NO_INTERVAL },
        sure: sure(m, summary, scale),
        near: near(m, scale),
        near_lacks: if m.ceiling.is_none() { "no ceiling" } else { "no efficiency" },
        bottleneck: bottleneck(m),
        verdict: Some(m.verdict),
        count,
        all_valid: valid == group.all.len(),
    }
}

/// What was delivered, where another figure is put first.
fn delivered(summary: &Summary) -> Option<f64> {
    summary.delivered.value.filter(|_| summary.headline != FigureKind::Delivered)
}

/// Random I/O is counted in operations per second, as its chart is.
fn shown_on(group: &Group, m: &Measurement, summary: &Summary) -> Scale {
    let iops = disk::iops(m).filter(|_| group.axis == "queue_depth");
    iops.unwrap_or_else(|| disk::scale(m, &[summary.value()]))
}

/// The point, and which cache it lies in where its name does not say so.
fn at(group: &Group, m: &Measurement) -> String {
    let point = group.short_without(m, &[]);
    let set = m.params.int("working_set").filter(|_| group.axis == "working_set");
    match set.and_then(|set| levels::within(&group.run.host, set, m.params.threads())) {
        Some(within) => format!("{point}, {within}"),
        None => point,
    }
}

/// `3 levels over time, 15.60 to 31.20`: where a value over time stayed at more than one.
fn levels_of(m: &Measurement, scale: &Scale) -> Option<String> {
    let levels = &m.series.as_ref().filter(|s| s.levels.len() > 1)?.levels;
    let medians = || levels.iter().map(|l| l.median).filter(|v| v.is_finite());
    let low = medians().fold(f64::INFINITY, f64::min);
    let high = medians().fold(f64::NEG_INFINITY, f64::max);
    let range = scale.interval([low, high])?;
    Some(format!("{} over time, {range}", plural(levels.len() as u64, "level")))
}

/// How the reason ends where no bottleneck shows.
const NOBODY: &str = "no check found the bottleneck";

fn bottleneck(m: &Measurement) -> Option<String> {
    let unnamed = || {
        let why = why_missing(m, "bottleneck", "no reason recorded");
        // The share of the ceiling is printed already.
        match why.ends_with(NOBODY) {
            true => "not identified".to_owned(),
            false => format!("not identified: {why}"),
        }
    };
    match &m.bottleneck {
        Some(l) => Some(clean(&l.resource)),
        None => m.ceiling.is_some().then(unnamed),
    }
}

fn within(s: &Summary) -> Option<String> {
    s.half_width().and_then(percent).map(|half| format!("± {half} %"))
}

fn sure(m: &Measurement, s: &Summary, scale: &Scale) -> String {
    let trials = plural(s.trials.n, "trial");
    match interval(m).and_then(|i| scale.interval(i)) {
        Some(text) => format!("95 % interval {text}, {trials}"),
        None => format!("no interval ({}), {trials}", why_no_interval(m)),
    }
}

fn near(m: &Measurement, scale: &Scale) -> Option<Near> {
    let efficiency = m.efficiency?;
    let ceiling = m.ceiling.as_ref()?;
    Some(Near {
        percent: percent(efficiency)?,
        bar: (efficiency * 1000.0).round().clamp(0.0, 1000.0) / 10.0,
        of: format!("of its ceiling of {}", scale.with_label(ceiling.value)?),
    })
}
