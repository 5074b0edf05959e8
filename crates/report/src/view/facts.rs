//! Facts about the machine, for tables.

use std::collections::BTreeSet;

use proofmark_model::{Probe, Unit, format_quantity};
use serde::Serialize;

use super::num::plain;
use super::text::{clean, joined};

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value with its unit; `-` if it is unknown.
    pub value: String,
    /// The place where the value was read, or the reason why it is unknown.
    pub source: String,
    /// True if the value is known.
    pub known: bool,
}

/// Facts about one part of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactTable {
    /// The part of the machine.
    pub title: &'static str,
    /// The facts.
    pub facts: Vec<Fact>,
}

impl Fact {
    /// A fact with its source; without a value, with the reason why it is unknown.
    pub fn new(name: &str, value: Option<&str>, source: &str) -> Self {
        let [name, source] = [name, source].map(clean);
        Self { name, value: clean(value.unwrap_or("-")), source, known: value.is_some() }
    }

    /// A fact without a source.
    pub fn plain(name: &str, value: &str) -> Self {
        Self::new(name, Some(value), "")
    }

    /// A fact from a probe of the machine.
    pub fn probe<T>(name: &str, probe: &Probe<T>, show: impl FnOnce(&T) -> String) -> Self {
        Self::new(name, probe.get().map(show).as_deref(), probe.origin())
    }
}

/// Formats a quantity, which stays short for any number that a file may hold.
pub fn quantity(value: f64, unit: Unit) -> String {
    if value.is_finite() && value.abs() < 1e18 {
        format_quantity(value, unit)
    } else {
        format!("{} {unit}", plain(value))
    }
}

/// `0-3, 8`: ranges of consecutive numbers, sorted.
pub fn ranges(cpus: &[u32]) -> String {
    if cpus.is_empty() {
        return "none".to_owned();
    }
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for c in cpus.iter().copied().collect::<BTreeSet<u32>>() {
        match runs.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(c) => *end = c,
            _ => runs.push((c, c)),
        }
    }
    joined(runs.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }), ", ")
}
