//! A reader of lines with a label, a colon and a value.

use std::collections::BTreeMap;

use crate::Malformed;
use crate::printed::Rounded;
use crate::text::{number, whole};

/// The values of a report by their labels, each with its line.
#[derive(Default)]
pub(crate) struct Labels<'a> {
    values: BTreeMap<&'a str, (usize, &'a str)>,
    pub(crate) last: usize,
}

impl<'a> Labels<'a> {
    /// Adds a value; `false` if the label already had one.
    pub(crate) fn insert(&mut self, label: &'a str, at: usize, value: &'a str) -> bool {
        self.values.insert(label, (at, value.trim())).is_none()
    }

    /// Returns the value after a label.
    pub(crate) fn get(&self, label: &str) -> Option<(usize, &'a str)> {
        self.values.get(label).copied()
    }

    /// Returns the same. Fails without the label: then the report is incomplete.
    pub(crate) fn need(&self, label: &str) -> Result<(usize, &'a str), Malformed> {
        let missing = || Malformed::at(self.last.max(1), format!("the report has no '{label}:'"));
        self.get(label).ok_or_else(missing)
    }

    /// Returns the value of the first of these labels that the report has.
    pub(crate) fn any(&self, labels: &[&str]) -> Option<(usize, &'a str)> {
        labels.iter().find_map(|label| self.get(label))
    }

    /// Returns the same. Fails without a label: then the report is incomplete.
    pub(crate) fn need_any(&self, labels: &[&str]) -> Result<(usize, &'a str), Malformed> {
        let first = labels.first().copied().unwrap_or_default();
        self.any(labels).map_or_else(|| self.need(first), Ok)
    }

    /// Returns the number after one of these labels, if the report has it, with or without the
    /// unit.
    pub(crate) fn value(&self, labels: &[&str], unit: &str) -> Result<Option<Rounded>, Malformed> {
        let number = |(at, text): (usize, &str)| {
            Rounded::parse(text.strip_suffix(unit).unwrap_or(text).trim_end(), at)
        };
        self.any(labels).map(number).transpose()
    }

    /// Returns the number after a label, with the unit that follows it.
    pub(crate) fn number(&self, label: &str, unit: &str) -> Result<(usize, f64), Malformed> {
        let (at, value) = self.need(label)?;
        let what = format!("does not end in {}", unit.trim());
        let word = value.strip_suffix(unit).ok_or_else(|| Malformed::quoting(at, value, &what))?;
        Ok((at, number(word, at)?))
    }

    /// Returns the whole number after a label.
    pub(crate) fn whole(&self, label: &str) -> Result<u64, Malformed> {
        let (at, value) = self.need(label)?;
        whole(value, at)
    }
}
