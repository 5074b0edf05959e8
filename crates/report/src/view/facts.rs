//! Facts about the machine, as tables have them.

use proofmark_model::{Probe, Unit, format_quantity};
use serde::Serialize;

use super::num::plain;
use super::text::clean;

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Value with its unit; `-` if it is not known.
    pub value: String,
    /// Where it was read; why, if it is not known.
    pub source: String,
    /// Whether it is known.
    pub known: bool,
}

/// Facts about one part of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactTable {
    /// Which part.
    pub title: &'static str,
    /// The facts.
    pub facts: Vec<Fact>,
}

impl Fact {
    /// A fact without a source.
    pub fn plain(name: &str, value: &str) -> Self {
        Self { name: clean(name), value: clean(value), source: String::new(), known: true }
    }

    /// A fact that is not known, and why.
    pub fn unknown(name: &str, why: &str) -> Self {
        let value = "-".to_owned();
        Self { name: clean(name), value, source: clean(why), known: false }
    }

    /// A fact with the place where it was read, or why it is not known.
    pub fn probe<T>(name: &str, probe: &Probe<T>, show: impl FnOnce(&T) -> String) -> Self {
        Self {
            name: clean(name),
            value: probe.get().map_or_else(|| "-".to_owned(), |v| clean(&show(v))),
            source: clean(probe.origin()),
            known: probe.get().is_some(),
        }
    }
}

/// A quantity that stays short whatever the file says.
pub fn quantity(value: f64, unit: Unit) -> String {
    if value.is_finite() && value.abs() < 1e18 {
        format_quantity(value, unit)
    } else {
        format!("{} {unit}", plain(value))
    }
}

/// `0-3, 8`: runs of consecutive numbers, sorted.
pub fn ranges(cpus: &[u32]) -> String {
    if cpus.is_empty() {
        return "none".to_owned();
    }
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for c in sorted {
        match runs.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(c) => *end = c,
            _ => runs.push((c, c)),
        }
    }
    let parts: Vec<String> =
        runs.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    parts.join(", ")
}
