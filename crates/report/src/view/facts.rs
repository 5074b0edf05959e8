//! Facts about the machine, as tables have them.

use std::collections::BTreeSet;

use proofmark_model::{Probe, Unit, format_quantity};
use serde::Serialize;

use super::num::plain;
use super::text::{clean, joined};

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
    /// A fact with the place where it was read; without a value why it is not known.
    pub fn new(name: &str, value: Option<&str>, source: &str) -> Self {
        let [name, source] = [name, source].map(clean);
        Self { name, value: clean(value.unwrap_or("-")), source, known: value.is_some() }
    }

    /// A fact without a source.
    pub fn plain(name: &str, value: &str) -> Self {
        Self::new(name, Some(value), "")
    }

    /// What was read of the machine.
    pub fn probe<T>(name: &str, probe: &Probe<T>, show: impl FnOnce(&T) -> String) -> Self {
        Self::new(name, probe.get().map(show).as_deref(), probe.origin())
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
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for c in cpus.iter().copied().collect::<BTreeSet<u32>>() {
        match runs.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(c) => *end = c,
            _ => runs.push((c, c)),
        }
    }
    joined(runs.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }), ", ")
}
