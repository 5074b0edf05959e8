//! What lies from left to right: a parameter's values, or what loaded the machine.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Param, Params, Unit, format_count, format_size};

use crate::view::chart::{Axis, Rule, RuleKind};
use crate::view::label::{Group, is_size, parameter_value, spoken};
use crate::view::levels;
use crate::view::num::Scale;
use crate::view::text::{and_list, plural};
use crate::view::trials::background;

/// Different sizes that are side by side; more keep their distances.
const FEW: usize = 7;
/// Times the smallest number that the largest is where only a logarithm shows both.
const FAR: u64 = 32;

/// The axis of one workload's charts.
pub struct Across<'a> {
    pub parameter: &'a str,
    pub axis: Axis,
    kind: Kind,
}

enum Kind {
    /// Side by side.
    Each(Vec<Param>),
    /// By their number of bytes.
    Sizes,
    /// By the size of a problem.
    Numbers,
    /// By what the other threads moved.
    Background(Scale),
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
            let label = format!("moved by the other threads, {}", scale.label());
            let most = loaded.iter().map(|v| scale.scaled(*v)).fold(0.0, f64::max);
            let axis = Axis::linear(&label, [most].into_iter()).until(most).with_margin();
            return (most > 0.0).then_some(Self { parameter, axis, kind: Kind::Background(scale) });
        }
        let values: BTreeSet<Param> = drawn.iter().filter_map(|m| value(m, parameter)).collect();
        if values.len() < 2 || !group.varying.contains(&parameter) {
            return None;
        }
        let int = |v: &Param| if let Param::Int(n) = v { Some(*n) } else { None };
        let numbers: Option<Vec<u64>> = values.iter().map(int).collect();
        // Few sizes are placed side by side: the labels of 1 KiB and 8 KiB would touch. Working
        // sets keep their distances, since caches end between them.
        let far = values.len() > FEW || parameter == "working_set";
        let label = spoken(parameter);
        let (axis, kind) = match numbers {
            Some(n) if parameter == Params::SIZE => {
                let (least, most) = (n[0].max(1), n[n.len() - 1]);
                let log = least.saturating_mul(FAR) < most;
                let ends = [least as f64, most as f64];
                let axis = Axis::either(log, parameter, ends.into_iter());
                let axis = if log { axis } else { axis.until(ends[1]) };
                (axis.with_margin(), Kind::Numbers)
            }
            Some(sizes) if far && is_size(group.spec, parameter) => {
                (Axis::sizes(&label, &sizes), Kind::Sizes)
            }
            _ => {
                let name = |v| parameter_value(group.spec, parameter, v);
                let names = values.iter().map(name).collect();
                (Axis::named(&label, names), Kind::Each(values.into_iter().collect()))
            }
        };
        Some(Self { parameter, axis, kind })
    }

    /// Whether it shows how large a problem is.
    pub fn is_n(&self) -> bool {
        matches!(self.kind, Kind::Numbers)
    }

    /// What it shows, in a title.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Background(_) => "load",
            Kind::Numbers => self.parameter,
            _ => &self.axis.label,
        }
    }

    /// The place of a measurement, and the value in words.
    pub fn place(&self, group: &Group, m: &Measurement) -> Option<(f64, String)> {
        match &self.kind {
            Kind::Each(values) => {
                let value = value(m, self.parameter)?;
                let at = values.iter().position(|v| *v == value)?;
                Some((at as f64, parameter_value(group.spec, self.parameter, &value)))
            }
            Kind::Sizes | Kind::Numbers => {
                let n = m.params.int(self.parameter)?;
                Some((n as f64, if self.is_n() { format_count(n) } else { format_size(n) }))
            }
            Kind::Background(scale) => {
                let rate = background(m)?;
                Some((scale.scaled(rate), scale.with_label(rate)?))
            }
        }
    }

    /// Where the usable CPUs end on an axis of threads, and the caches on one of
    /// working sets; and what these rules are.
    pub fn rules(&self, group: &Group) -> (Vec<Rule>, String) {
        match &self.kind {
            Kind::Each(values) if self.parameter == "threads" => {
                let beyond = |v: &Param| matches!(v, Param::Int(n) if group.beyond_cpus(*n));
                let Some(first) = values.iter().position(beyond) else { return Default::default() };
                let about =
                    "Vertical dashes: the usable CPUs. Beyond them, threads are oversubscribed.";
                let label = plural(group.cpus, "CPU");
                (vec![rule(first as f64 - 0.5, label, RuleKind::Reported)], about.to_owned())
            }
            Kind::Sizes if self.parameter == "working_set" => self.caches(group),
            _ => Default::default(),
        }
    }

    fn caches(&self, group: &Group) -> (Vec<Rule>, String) {
        let levels = levels::levels(&group.run.host);
        let size = |l: &levels::Level| format!("{} {}", l.name, format_size(l.bytes));
        let reported: Vec<String> = levels.iter().map(size).collect();
        let of = |l: &levels::Level| rule(l.bytes as f64, l.name.to_owned(), RuleKind::Reported);
        let mut rules: Vec<Rule> = levels.iter().map(of).collect();
        for d in levels::disagreements(group.run.measurements.iter()) {
            if !rules.iter().any(|r| r.kind == RuleKind::Measured && r.label == d.level) {
                rules.push(rule(d.measured, d.level, RuleKind::Measured));
            }
        }
        rules.retain(|r| self.axis.holds(r.at));
        let mut about = Vec::new();
        if !reported.is_empty() {
            about.push(format!(
                "Vertical dashes: cache sizes that the machine reports ({}).",
                and_list(&reported)
            ));
        }
        if rules.iter().any(|r| r.kind == RuleKind::Measured) {
            about.push("Vertical line: cache size as measured.".to_owned());
        }
        (rules, about.join(" "))
    }
}

fn rule(at: f64, label: String, kind: RuleKind) -> Rule {
    Rule { at, label, about: String::new(), kind }
}

/// The value of a parameter; a point without the parameter `threads` has one.
fn value(m: &Measurement, parameter: &str) -> Option<Param> {
    match parameter {
        "threads" => Some(Param::Int(m.params.threads())),
        _ => m.params.get(parameter).cloned(),
    }
}
