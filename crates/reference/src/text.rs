//! Reading numbers out of lines that people were meant to read, and lines for programs.

use std::collections::BTreeMap;

use proofmark_model::{Timestamp, is_quantity};

use crate::Malformed;

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

/// The first two numbers of a version.
pub(crate) fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| {
        part.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u32>().ok())
    });
    numbers.next().flatten().zip(numbers.next().flatten())
}

/// A number as it is printed, and by how much it may be rounded: half a unit of its last digit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    pub(crate) half: f64,
}

impl Printed {
    /// Of a word that is not negative, of the line with that number.
    pub(crate) fn parse(word: &str, line: usize) -> Result<Self, Malformed> {
        let decimals = word.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(300));
        let half = 0.5 * 10_f64.powi(-(decimals as i32));
        Ok(Self { value: number(word, line)?, half })
    }

    /// The same in another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half: self.half * factor }
    }

    /// Its ratio to another that is not zero.
    pub(crate) fn over(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, half: (self.half + value * other.half) / other.value }
    }

    /// Whether both may be the same number, but for that share of it.
    pub(crate) fn agrees(self, other: Self, share: f64) -> bool {
        let off = (self.value - other.value).abs();
        off <= 1.01 * (self.half + other.half) + share * self.value.max(other.value)
    }
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

    /// A number after that label, with what follows it in the line.
    pub(crate) fn number(&self, label: &str, unit: &str) -> Result<(usize, f64), Malformed> {
        let (at, value) = self.need(label)?;
        let word = value.strip_suffix(unit);
        let word = word
            .ok_or_else(|| Malformed::quoting(at, value, &format!("does not end in {unit:?}")))?;
        Ok((at, number(word, at)?))
    }

    /// A whole number after that label.
    pub(crate) fn whole(&self, label: &str) -> Result<u64, Malformed> {
        let (at, value) = self.need(label)?;
        whole(value, at)
    }
}

/// Seconds of a date such as `Tue Nov 25 16:23:01 2025`, by its clock, since 1970; of its zone
/// nothing is known.
pub(crate) fn seconds_of_date(date: &str) -> Option<i64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let [_, month, day, clock, year] = columns(date)?;
    let month = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)? as i64 / 3;
    let [day, year] = [day, year].map(|word| word.parse::<i64>().ok());
    let (day, year) =
        (day.filter(|d| (1..=31).contains(d))?, year.filter(|y| (1970..=9999).contains(y))?);
    let parts: Vec<i64> = clock.split(':').map_while(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    // Years that begin in March have their leap day at their end.
    let (month, year) = if month < 2 { (month + 10, year - 1) } else { (month - 2, year) };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let of_day =
        hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)?;
    days.checked_mul(86_400)?.checked_add(of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        for (date, seconds) in [
            ("Thu Jan  1 00:00:00 1970", Some(0)),
            ("Tue Nov 25 16:23:01 2025", Some(1_764_087_781)),
            ("Thu Feb 29 23:59:59 2024", Some(1_709_251_199)),
            ("Fri Mar  1 00:00:00 2024", Some(1_709_251_200)),
            ("Tue Nov 25 2025", None),
            ("Tue anF 25 16:23:01 2025", None),
            ("Tue Nov 99 16:23:01 2025", None),
            ("Tue Nov 25 9223372036854775807:23:01 2025", None),
        ] {
            assert_eq!(seconds_of_date(date), seconds, "{date}");
        }
    }

    #[test]
    fn numbers_agree_within_their_digits() {
        let agrees = |megabytes, seconds, rate| {
            let [megabytes, seconds, rate] =
                [megabytes, seconds, rate].map(|word| Printed::parse(word, 1).unwrap());
            let follows = megabytes.over(seconds).agrees(rate, 0.0);
            assert_eq!(follows, megabytes.times(8.0).over(seconds).agrees(rate.times(8.0), 0.0));
            follows
        };
        assert!(agrees("100", "3", "33.3") && agrees("100.0", "3.00", "33.3"));
        assert!(agrees("100.0", "3.0", "33.9"), "3.0 may be 2.95");
        assert!(!agrees("100.0", "3.00", "33.9") && !agrees("100.0", "3.00", "34.9"));
        let [a, b] = ["100.00", "101.00"].map(|word| Printed::parse(word, 1).unwrap());
        assert!(a.agrees(b, 0.01) && !a.agrees(b, 0.009));
    }
}
