//! Reading numbers out of lines that people were meant to read.

use proofmark_model::Timestamp;

use crate::Malformed;

/// A finite number that is not negative, of the line with that number.
pub(crate) fn number(word: &str, line: usize) -> Result<f64, Malformed> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
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

/// Lines with their numbers, from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line))
}
