//! Reading numbers out of lines that people were meant to read, and lines for programs.

use std::collections::BTreeMap;

use proofmark_model::{Timestamp, is_quantity};

use crate::Malformed;
use crate::printed::Rounded;

/// A number that a run file may hold and that is not negative, of the line with that number.
pub(crate) fn number(word: &str, line: usize) -> Result<f64, Malformed> {
    match word.parse::<f64>() {
        Ok(value) if is_quantity(value) && value >= 0.0 => Ok(value),
        _ => Err(Malformed::quoting(line, word, "is not a number")),
    }
}

/// The same, and more than zero: a rate or a time by which something is divided.
pub(crate) fn positive(word: &str, line: usize) -> Result<f64, Malformed> {
    match number(word, line)? {
        value if value > 0.0 => Ok(value),
        _ => {
            Err(Malformed::at(line, format!("{} is not more than zero", Malformed::excerpt(word))))
        }
    }
}

/// A whole number, of the line with that number.
pub(crate) fn whole(word: &str, line: usize) -> Result<u64, Malformed> {
    word.parse().map_err(|_| Malformed::quoting(line, word, "is not a whole number in range"))
}

/// The moment of so many seconds since 1970; `None` where that is out of range.
pub(crate) fn moment(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_millis(seconds.checked_mul(1000)?)
}

/// What is needed there. Fails with these words if it is missing.
pub(crate) fn need<T>(found: Option<T>, line: usize, what: &str) -> Result<T, Malformed> {
    found.ok_or_else(|| Malformed::at(line, what))
}

/// Fails with these words if that is so.
pub(crate) fn wrong_if(is_so: bool, line: usize, what: &str) -> Result<(), Malformed> {
    need((!is_so).then_some(()), line, what)
}

/// The words of a line that has as many as are wanted.
pub(crate) fn columns<const N: usize>(line: &str) -> Option<[&str; N]> {
    line.split_whitespace().collect::<Vec<_>>().try_into().ok()
}

pub(crate) fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Lines with their numbers, from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line))
}

/// Takes the lines one by one; the number of the last, at least 1.
pub(crate) fn each_line<'a>(
    text: &'a str,
    mut take: impl FnMut(usize, &'a str) -> Result<(), Malformed>,
) -> Result<usize, Malformed> {
    let mut last = 1;
    for (at, line) in lines(text) {
        last = at;
        take(at, line)?;
    }
    Ok(last)
}

/// What a prefix multiplies a unit by, in powers of this base.
pub(crate) fn power(prefix: &str, base: f64) -> Option<f64> {
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == prefix)?;
    Some(base.powi(power as i32))
}

/// The first two numbers of a version.
pub(crate) fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| {
        part.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u32>().ok())
    });
    numbers.next().flatten().zip(numbers.next().flatten())
}

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
