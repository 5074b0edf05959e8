//! What lies from left to right: a parameter's values, or what loaded the machine.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Param, Params, Unit, format_count, format_size};
use serde::Serialize;

use crate::view::label::{Group, is_size, parameter_value, spoken};
use crate::view::levels;
use crate::view::num::Scale;
use crate::view::text::{and_list, plural};
use crate::view::trials::background;

/// Different sizes that are labelled one by one.
const FEW: usize = 7;
/// Labels of a long axis.
const LABELS: u32 = 5;
/// Free at both ends of an axis of numbers, as a share of it.
const MARGIN: f64 = 0.05;
/// Times the smallest number that the largest is where only a logarithm shows both.
const FAR: f64 = 32.0;

/// A label under the axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tick {
    /// Place, 0 at the left end and 1 at the right one.
    pub at: f64,
    /// Its text.
    pub label: String,
}

/// An upright rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Place, 0 at the left end and 1 at the right one.
    pub at: f64,
    /// What ends there.
    pub label: String,
    /// Found by measurement, not reported.
    pub measured: bool,
}

/// The axis of one workload's charts.
pub struct Across<'a> {
    /// The parameter.
    pub parameter: &'a str,
    /// What it shows.
    pub label: String,
    kind: Kind,
}

/// How values get their places.
enum Kind {
    /// Side by side.
    Each(Vec<Param>),
    /// Sizes in bytes, each twice the last at equal distances.
    Sizes(Vec<u64>),
    /// Sizes of a problem, from zero, or logarithmic where they are far apart.
    Numbers(Vec<u64>),
    /// What the other threads moved, from zero.
    Background { scale: Scale, most: f64 },
}

impl<'a> Across<'a> {
    /// The axis for a parameter; `None` where the measurements differ too little for one.
    pub fn for_parameter(
        group: &Group<'a>,
        parameter: &'a str,
        drawn: &[&Measurement],
    ) -> Option<Self> {
        let loaded: Vec<f64> = drawn.iter().filter_map(|m| background(m)).collect();
        if parameter != "threads" && loaded.len() > 1 {
            let scale = Scale::for_largest(loaded.iter().copied(), Unit::BytePerSecond);
            let most = loaded.iter().copied().fold(0.0, f64::max);
            let label = format!("moved by the other threads, {}", scale.label());
            let kind = Kind::Background { scale, most };
            return (most > 0.0).then_some(Self { parameter, label, kind });
        }
        let values: BTreeSet<Param> = drawn.iter().filter_map(|m| value(m, parameter)).collect();
        if values.len() < 2 || !group.varying.contains(&parameter) {
            return None;
        }
        let sizes: Vec<u64> = values
            .iter()
            .filter_map(|v| match v {
                Param::Int(bytes) => Some(*bytes),
                _ => None,
            })
            .collect();
        if parameter == Params::SIZE && sizes.len() == values.len() {
            let log = if far_apart(&sizes) { ", log" } else { "" };
            let label = format!("{parameter}{log}");
            return Some(Self { parameter, label, kind: Kind::Numbers(sizes) });
        }
        // Few sizes are placed side by side: the labels of 1 KiB and 8 KiB would touch. Working
        // sets keep their distances, since caches end between them.
        let far = sizes.len() > FEW || parameter == "working_set";
        let kind = if far && is_size(group.spec, parameter) && sizes.len() == values.len() {
            Kind::Sizes(sizes)
        } else {
            Kind::Each(values.into_iter().collect())
        };
        Some(Self { parameter, label: spoken(parameter), kind })
    }

    /// Whether it shows what loaded the machine, not a parameter.
    pub fn is_background(&self) -> bool {
        matches!(self.kind, Kind::Background { .. })
    }

    /// Whether it shows how large a problem is.
    pub fn is_n(&self) -> bool {
        matches!(self.kind, Kind::Numbers(_))
    }

    /// The place of a measurement, and the value in words.
    pub fn place(&self, group: &Group, m: &Measurement) -> Option<(f64, String)> {
        match &self.kind {
            Kind::Each(values) => {
                let value = value(m, self.parameter)?;
                let at = values.iter().position(|v| *v == value)?;
                let words = parameter_value(group.spec, self.parameter, &value);
                Some(((at as f64 + 0.5) / values.len() as f64, words))
            }
            Kind::Sizes(sizes) => {
                let bytes = m.params.int(self.parameter)?;
                Some((log_place(sizes, bytes as f64)?, format_size(bytes)))
            }
            Kind::Numbers(all) => {
                let n = m.params.int(self.parameter)?;
                Some((number_place(all, n)?, format_count(n)))
            }
            Kind::Background { scale, most } => {
                let rate = background(m)?;
                Some((between(rate / most), scale.with_label(rate)?))
            }
        }
    }

    /// Labels from left to right.
    pub fn ticks(&self, group: &Group) -> Vec<Tick> {
        match &self.kind {
            Kind::Each(values) => {
                let at = |i: usize| (i as f64 + 0.5) / values.len() as f64;
                let label = |v| parameter_value(group.spec, self.parameter, v);
                values
                    .iter()
                    .enumerate()
                    .map(|(i, v)| Tick { at: at(i), label: label(v) })
                    .collect()
            }
            Kind::Sizes(sizes) => size_ticks(sizes),
            Kind::Numbers(all) => number_ticks(all),
            Kind::Background { scale, most } => {
                let (step, ticks) = round_ticks(scale.scaled(*most));
                let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
                ticks.map(|(at, v)| Tick { at, label: format!("{v:.digits$}") }).collect()
            }
        }
    }

    /// Where the usable CPUs end on an axis of threads, and the caches on one of
    /// working sets; and what these rules are.
    pub fn rules(&self, group: &Group) -> (Vec<Rule>, String) {
        match &self.kind {
            Kind::Each(values) if self.parameter == "threads" => {
                let within = |v: &&Param| !matches!(v, Param::Int(n) if group.beyond_cpus(*n));
                let after = values.iter().filter(within).count();
                if after == values.len() {
                    return (Vec::new(), String::new());
                }
                let at = after as f64 / values.len() as f64;
                let label = plural(group.cpus, "CPU");
                let about =
                    "Vertical dashes: the usable CPUs. Beyond them, threads are oversubscribed.";
                (vec![Rule { at, label, measured: false }], about.to_owned())
            }
            Kind::Sizes(sizes) if self.parameter == "working_set" => cache_rules(group, sizes),
            _ => (Vec::new(), String::new()),
        }
    }
}

/// The value of a parameter; a point without the parameter `threads` has one.
fn value(m: &Measurement, parameter: &str) -> Option<Param> {
    match parameter {
        "threads" => Some(Param::Int(m.params.threads())),
        _ => m.params.get(parameter).cloned(),
    }
}

/// A share of an axis with a margin at both ends.
fn between(share: f64) -> f64 {
    MARGIN + (1.0 - 2.0 * MARGIN) * share
}

/// `None` outside of the axis.
fn log_place(sizes: &[u64], bytes: f64) -> Option<f64> {
    let log = |v: u64| (v.max(1) as f64).log2();
    let (low, high) = (log(*sizes.first()?), log(*sizes.last()?));
    let share = (bytes.max(1.0).log2() - low) / (high - low).max(1e-9);
    (-1e-9..=1.0 + 1e-9).contains(&share).then(|| between(share.clamp(0.0, 1.0)))
}

/// Every size where there are few; else powers of two at equal distances.
fn size_ticks(sizes: &[u64]) -> Vec<Tick> {
    let tick =
        |bytes: u64| Some(Tick { at: log_place(sizes, bytes as f64)?, label: format_size(bytes) });
    if sizes.len() <= FEW {
        return sizes.iter().filter_map(|b| tick(*b)).collect();
    }
    let ends = [sizes.first(), sizes.last()].map(|b| b.map_or(0, |b| b.max(&1).ilog2()));
    let step = (ends[1] - ends[0]).div_ceil(LABELS).max(1);
    (ends[0]..=ends[1])
        .filter(|e| (e - ends[0]).is_multiple_of(step))
        .filter_map(|e| tick(1 << e))
        .collect()
}

/// Whether the smallest numbers would lie on each other at equal distances.
fn far_apart(numbers: &[u64]) -> bool {
    let ends = numbers.first().zip(numbers.last());
    ends.is_some_and(|(low, high)| (*low).max(1) as f64 * FAR < *high as f64)
}

fn number_place(numbers: &[u64], n: u64) -> Option<f64> {
    match far_apart(numbers) {
        true => log_place(numbers, n as f64),
        false => Some(between(n as f64 / (*numbers.last()?).max(1) as f64)),
    }
}

/// Round numbers: from zero, or powers of ten.
fn number_ticks(numbers: &[u64]) -> Vec<Tick> {
    let most = numbers.last().copied().unwrap_or(1).max(1);
    if !far_apart(numbers) {
        let (_, ticks) = round_ticks(most as f64);
        return ticks.map(|(at, v)| Tick { at, label: format_count(v as u64) }).collect();
    }
    let tick = |n: u64| Some(Tick { at: log_place(numbers, n as f64)?, label: format_count(n) });
    (0..=most.ilog10()).filter_map(|power| tick(10_u64.pow(power))).collect()
}

/// The step of an axis from zero, and places and values along it.
fn round_ticks(top: f64) -> (f64, impl Iterator<Item = (f64, f64)>) {
    let step = round_step(top / 5.0);
    let count = (top / step).floor().clamp(1.0, 20.0) as u32;
    let tick = move |i: u32| (between(f64::from(i) * step / top), f64::from(i) * step);
    (step, (0..=count).map(tick))
}

/// 1, 2 or 5 times a power of ten, not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|s| s * power).find(|s| *s >= rough).unwrap_or(10.0 * power)
}

fn cache_rules(group: &Group, sizes: &[u64]) -> (Vec<Rule>, String) {
    let (mut rules, mut reported) = (Vec::new(), Vec::new());
    for level in levels::levels(&group.run.host) {
        reported.push(format!("{} {}", level.name, format_size(level.bytes)));
        if let Some(at) = log_place(sizes, level.bytes as f64) {
            rules.push(Rule { at, label: level.name.to_owned(), measured: false });
        }
    }
    let mut about = match reported.as_slice() {
        [] => String::new(),
        some => {
            format!("Vertical dashes: cache sizes that the machine reports ({}).", and_list(some))
        }
    };
    for d in levels::disagreements(group.run.measurements.iter()) {
        let Some(at) = log_place(sizes, d.measured) else { continue };
        if rules.iter().any(|r| r.measured && r.label == d.level) {
            continue;
        }
        if !rules.iter().any(|r| r.measured) {
            about.push_str(" Vertical line: cache size as measured.");
        }
        rules.push(Rule { at, label: d.level, measured: true });
    }
    (rules, about)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(sizes: &[u64]) -> Vec<String> {
        size_ticks(sizes).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn few_sizes_are_all_named_and_many_by_powers_of_two() {
        assert_eq!(labels(&[8, 8192, 80 << 20]), ["8 B", "8 KiB", "80 MiB"]);
        let many: Vec<u64> = (12..=30).map(|e| 1 << e).collect();
        let named = ["4 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB"];
        assert_eq!(labels(&many), named);
        assert_eq!(size_ticks(&many)[0].at, MARGIN);
    }

    #[test]
    fn odd_sizes_have_a_place_and_none_beyond_the_ends() {
        assert_eq!(labels(&[0, 1]).len(), 2);
        assert_eq!(log_place(&[0, u64::MAX], 0.0), Some(MARGIN));
        assert_eq!(log_place(&[1024, 2048], 4096.0), None);
        assert_eq!(log_place(&[], 1.0), None);
    }

    #[test]
    fn steps_are_round() {
        for (rough, step) in [(0.9, 1.0), (1.1, 2.0), (24.0, 50.0), (60.0, 100.0)] {
            assert!((round_step(rough) - step).abs() < 1e-9 * step, "{rough}");
        }
    }
}
