//! The horizontal axis of a workload's charts: a parameter's values, or the load of the other
//! threads.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Param, Unit, format_count, format_size, key};

use crate::view::chart::{Axis, Rule, RuleKind};
use crate::view::label::{Group, is_size, parameter_value, spoken};
use crate::view::levels;
use crate::view::num::Scale;
use crate::view::text::{and_list, counted, enclosed, joined};
use crate::view::trials::background;

/// Maximum number of sizes at equal distances; more keep their own.
const FEW: usize = 7;
/// Ratio of maximum to minimum size above which only a logarithmic axis shows both.
const FAR: u64 = 32;

type Place<'a> = Box<dyn Fn(&Measurement) -> Option<(f64, String)> + 'a>;

/// The horizontal axis of one workload's charts.
pub struct Across<'a> {
    pub axis: Axis,
    /// The name of the axis in a title.
    pub name: String,
    /// True if the axis is the size n of a problem.
    pub is_n: bool,
    /// Vertical rules, and their meaning.
    pub rules: (Vec<Rule>, String),
    /// Returns the place of a measurement, and its value in words.
    pub place: Place<'a>,
}

/// The axis for a parameter; `None` where the measurements differ too little for one.
pub fn across<'a>(
    group: &'a Group,
    parameter: &'a str,
    drawn: &[&Measurement],
) -> Option<Across<'a>> {
    let loaded: Vec<f64> = drawn.iter().filter_map(|m| background(m)).collect();
    if key::THREADS != parameter && loaded.len() > 1 {
        return by_load(&loaded);
    }
    let values: BTreeSet<Param> = drawn.iter().filter_map(|m| value(m, parameter)).collect();
    if values.len() < 2 || !group.varying.contains(&parameter) {
        return None;
    }
    let int = |v: &Param| if let Param::Int(n) = v { Some(*n) } else { None };
    let numbers: Option<Vec<u64>> = values.iter().map(int).collect();
    // A few sizes are at equal distances: the labels of 1 KiB and 8 KiB would touch. Working sets
    // keep their distances, since caches end between them.
    let far = values.len() > FEW || key::WORKING_SET == parameter;
    Some(match numbers {
        Some(n) if key::MATRIX_SIZE == parameter => by_n(&n),
        Some(sizes) if far && is_size(group.spec, parameter) => by_size(group, parameter, &sizes),
        _ => side_by_side(group, parameter, values.into_iter().collect()),
    })
}

/// An axis of the rate that the other threads transferred.
fn by_load<'a>(loaded: &[f64]) -> Option<Across<'a>> {
    let scale = Scale::for_largest(loaded.iter().copied(), Unit::BytePerSecond);
    let label = format!("moved by the other threads, {}", scale.label());
    let most = loaded.iter().map(|v| scale.scaled(*v)).fold(0.0, f64::max);
    (most > 0.0).then(|| Across {
        axis: Axis::linear(&label, [most].into_iter()).until(most).with_margin(),
        name: "load".to_owned(),
        is_n: false,
        rules: Default::default(),
        place: Box::new(move |m| {
            let rate = background(m)?;
            Some((scale.scaled(rate), scale.with_label(rate)?))
        }),
    })
}

/// An axis of the size of a problem.
fn by_n<'a>(n: &[u64]) -> Across<'a> {
    let (least, most) = (n[0].max(1), n[n.len() - 1]);
    let log = least.saturating_mul(FAR) < most;
    let axis = Axis::either(log, key::MATRIX_SIZE.name(), [least as f64, most as f64].into_iter());
    Across {
        axis: if log { axis } else { axis.until(most as f64) }.with_margin(),
        name: key::MATRIX_SIZE.name().to_owned(),
        is_n: true,
        rules: Default::default(),
        place: Box::new(|m| m.params.get(key::MATRIX_SIZE).map(|n| (n as f64, format_count(n)))),
    }
}

/// An axis of a size in bytes; for working sets, with the ends of the caches.
fn by_size<'a>(group: &Group, parameter: &'a str, sizes: &[u64]) -> Across<'a> {
    let name = spoken(parameter);
    let axis = Axis::sizes(&name, sizes);
    let sets = key::WORKING_SET == parameter;
    Across {
        rules: if sets { caches(group, &axis) } else { Default::default() },
        axis,
        name,
        is_n: false,
        place: Box::new(move |m| m.params.number(parameter).map(|n| (n as f64, format_size(n)))),
    }
}

/// An axis with one place per value; for threads, with the number of usable CPUs.
fn side_by_side<'a>(group: &'a Group, parameter: &'a str, values: Vec<Param>) -> Across<'a> {
    let word = |v: &Param| parameter_value(group.spec, parameter, v);
    let beyond = |v: &Param| matches!(v, Param::Int(n) if group.beyond_cpus(*n));
    let first = values.iter().position(beyond).filter(|_| key::THREADS == parameter);
    let rules = first.map(|first| {
        let about = "Vertical dashes: the usable CPUs. Beyond them, threads are oversubscribed.";
        let label = counted(group.cpus, "CPU");
        (vec![rule(first as f64 - 0.5, label, RuleKind::Reported)], about.to_owned())
    });
    Across {
        axis: Axis::named(&spoken(parameter), values.iter().map(word).collect()),
        name: spoken(parameter),
        is_n: false,
        rules: rules.unwrap_or_default(),
        place: Box::new(move |m| {
            let value = value(m, parameter)?;
            Some((values.iter().position(|v| *v == value)? as f64, word(&value)))
        }),
    }
}

fn caches(group: &Group, axis: &Axis) -> (Vec<Rule>, String) {
    let levels = levels::levels(&group.run.host);
    let reported = levels.iter().map(|l| format!("{} {}", l.name, format_size(l.bytes)));
    let reported = and_list(reported);
    let of = |l: &levels::Level| rule(l.bytes as f64, l.name.to_owned(), RuleKind::Reported);
    let mut rules: Vec<Rule> = levels.iter().map(of).collect();
    for d in levels::disagreements(group.run.measurements.iter()) {
        if !rules.iter().any(|r| r.kind == RuleKind::Measured && r.label == d.level) {
            rules.push(rule(d.measured, d.level, RuleKind::Measured));
        }
    }
    rules.retain(|r| axis.holds(r.at));
    let before = "Vertical dashes: cache sizes that the machine reports (";
    let measured = rules.iter().any(|r| r.kind == RuleKind::Measured);
    let measured = measured.then_some("Vertical line: cache size as measured.");
    let about = [&*enclosed(before, &reported, ")."), measured.unwrap_or_default()];
    (rules, joined(about, " "))
}

fn rule(at: f64, label: String, kind: RuleKind) -> Rule {
    Rule { at, label, about: String::new(), kind }
}

/// The value of a parameter; a measurement without the parameter `threads` ran on one thread.
fn value(m: &Measurement, parameter: &str) -> Option<Param> {
    match key::THREADS == parameter {
        true => Some(Param::Int(m.params.threads())),
        false => m.params.named(parameter).cloned(),
    }
}
