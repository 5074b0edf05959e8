//! Reading lines of a label, a colon and a value.

use std::collections::BTreeMap;

use crate::Malformed;
use crate::printed::Rounded;
use crate::text::{number, whole};

/// What a report says after colons, by what it says before them, each with its line.
#[derive(Default)]
pub(crate) struct Labels<'a> {
    values: BTreeMap<&'a str, (usize, &'a str)>,
    pub(crate) last: usize,
}

impl<'a> Labels<'a> {
    /// Takes a value; `false` if the label has had one before.
    pub(crate) fn insert(&mut self, label: &'a str, at: usize, value: &'a str) -> bool {
        self.values.insert(label, (at, value.trim())).is_none()
    }

    /// What is after that label.
    pub(crate) fn get(&self, label: &str) -> Option<(usize, &'a str)> {
        self.values.get(label).copied()
    }

    /// The same, where the report is incomplete without it.
    pub(crate) fn need(&self, label: &str) -> Result<(usize, &'a str), Malformed> {
        let missing = || Malformed::at(self.last.max(1), format!("no '{label}:' in it"));
        self.get(label).ok_or_else(missing)
    }

    /// What is after the first of these labels that it has.
    pub(crate) fn any(&self, labels: &[&str]) -> Option<(usize, &'a str)> {
        labels.iter().find_map(|label| self.get(label))
    }

    /// The same, where the report is incomplete without it.
    pub(crate) fn need_any(&self, labels: &[&str]) -> Result<(usize, &'a str), Malformed> {
        let first = labels.first().copied().unwrap_or_default();
        self.any(labels).map_or_else(|| self.need(first), Ok)
    }

    /// The number after one of these labels, if it has one, with or without that unit.
    pub(crate) fn value(&self, labels: &[&str], unit: &str) -> Result<Option<Rounded>, Malformed> {
        let number = |(at, text): (usize, &str)| {
            Rounded::parse(text.strip_suffix(unit).unwrap_or(text).trim_end(), at)
        };
        self.any(labels).map(number).transpose()
    }

    /// A number after that label, with the unit that follows it.
    pub(crate) fn number(&self, label: &str, unit: &str) -> Result<(usize, f64), Malformed> {
        let (at, value) = self.need(label)?;
        let what = format!("does not end in {}", unit.trim());
        let word = value.strip_suffix(unit).ok_or_else(|| Malformed::quoting(at, value, &what))?;
        Ok((at, number(word, at)?))
    }

    /// A whole number after that label.
    pub(crate) fn whole(&self, label: &str) -> Result<u64, Malformed> {
        let (at, value) = self.need(label)?;
        whole(value, at)
    }
}
