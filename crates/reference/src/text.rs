//! Numbers in the lines of texts that were printed for people.

use proofmark_model::{Timestamp, is_quantity};

use crate::Malformed;

/// Parses a number in this line. Fails if it is negative, or larger than a run file may have.
pub(crate) fn number(word: &str, line: usize) -> Result<f64, Malformed> {
    match word.parse::<f64>() {
        Ok(value) if is_quantity(value) && value >= 0.0 => Ok(value),
        _ => Err(Malformed::quoting(line, word, "is not a number")),
    }
}

/// Parses the same above zero: a rate or a time that something is divided by.
pub(crate) fn positive(word: &str, line: usize) -> Result<f64, Malformed> {
    match number(word, line)? {
        value if value > 0.0 => Ok(value),
        _ => {
            Err(Malformed::at(line, format!("{} is not more than zero", Malformed::excerpt(word))))
        }
    }
}

/// Parses a whole number in this line.
pub(crate) fn whole(word: &str, line: usize) -> Result<u64, Malformed> {
    word.parse().map_err(|_| Malformed::quoting(line, word, "is not a whole number in range"))
}

/// Returns the time this many seconds after 1970; `None` if that is out of range.
pub(crate) fn moment(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_millis(seconds.checked_mul(1000)?)
}

/// Returns a required value. Fails with these words if it is missing.
pub(crate) fn need<T>(found: Option<T>, line: usize, what: &str) -> Result<T, Malformed> {
    found.ok_or_else(|| Malformed::at(line, what))
}

/// Fails with these words if the condition is true.
pub(crate) fn wrong_if(is_so: bool, line: usize, what: &str) -> Result<(), Malformed> {
    need((!is_so).then_some(()), line, what)
}

/// Returns the words of a line that has exactly this many.
pub(crate) fn columns<const N: usize>(line: &str) -> Option<[&str; N]> {
    line.split_whitespace().collect::<Vec<_>>().try_into().ok()
}

pub(crate) fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Returns the lines with their numbers, from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line))
}

/// Passes the lines on one by one. Returns the number of the last, at least 1.
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

/// Returns the factor of a prefix, in powers of this base.
pub(crate) fn power(prefix: &str, base: f64) -> Option<f64> {
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == prefix)?;
    Some(base.powi(power as i32))
}

/// Returns the first two numbers of a version.
pub(crate) fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| {
        part.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u32>().ok())
    });
    numbers.next().flatten().zip(numbers.next().flatten())
}
