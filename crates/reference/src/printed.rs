//! Printed numbers with their rounding errors, and the comparison of two accounts in an output.

use proofmark_model::{Trial, Unit, format_quantity, is_quantity};

use crate::Malformed;
use crate::text::{number, wrong_if};

/// A number with its error. A printed number's error is half a unit of its last digit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounded {
    pub(crate) value: f64,
    pub(crate) off: f64,
}

impl From<f64> for Rounded {
    fn from(value: f64) -> Self {
        Self { value, off: 0.0 }
    }
}

impl Rounded {
    /// Parses a word of this line. Fails if it is negative or no number.
    pub(crate) fn parse(word: &str, line: usize) -> Result<Self, Malformed> {
        let decimals = word.split_once('.').map_or("", |(_, decimals)| decimals);
        let decimals = decimals.bytes().take_while(u8::is_ascii_digit).count().min(300);
        Ok(Self { value: number(word, line)?, off: 0.5 * 10_f64.powi(-(decimals as i32)) })
    }

    /// Converts the number to another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, off: self.off * factor }
    }

    /// Returns the ratio to another number, which must not be zero.
    pub(crate) fn over(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, off: (self.off + value * other.off) / other.value }
    }

    /// Increases the error by `more`.
    pub(crate) fn within(self, more: f64) -> Self {
        Self { off: self.off + more, ..self }
    }
}

/// Returns true if two numbers agree within their errors and this share.
pub(crate) fn agree(a: impl Into<Rounded>, b: impl Into<Rounded>, share: f64) -> bool {
    let (a, b) = (a.into(), b.into());
    let most = a.value.abs().max(b.value.abs());
    (a.value - b.value).abs() <= 1.01 * (a.off + b.off) + share * most
}

/// Creates a repetition of this work at this rate, read in this line. The rate keeps all its
/// printed digits; printed times often have fewer. Fails if rate, work or time is not above zero,
/// or out of range.
pub(crate) fn rated(unit: Unit, work: f64, rate: f64, line: usize) -> Result<Trial, Malformed> {
    let seconds = work / rate;
    if [work, rate, seconds].iter().all(|v| is_quantity(*v) && *v > 0.0) {
        return Ok(Trial { value: rate, ..Trial::new(unit, work, seconds) });
    }
    let nothing = "nothing was done, so there is no rate: give the tool more work";
    wrong_if(work == 0.0 && rate == 0.0, line, nothing)?;
    Err(Malformed::at(line, format!("{work:e} at {rate:e} {unit} is out of range")))
}

/// Fails if the printed seconds are not the time of a repetition at its rate.
pub(crate) fn took(trial: &Trial, seconds: &str, line: usize) -> Result<(), Malformed> {
    let (printed, follows) = (Rounded::parse(seconds, line)?, trial.seconds);
    if agree(printed, follows, 1e-3) {
        return Ok(());
    }
    let printed = printed.value;
    Err(Malformed::at(
        line,
        format!(
            "at its rate it took {}, but the output reports {}",
            format_quantity(follows, Unit::Second),
            format_quantity(printed, Unit::Second)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_did_nothing_has_no_rate() {
        let of = |work, rate| rated(Unit::BytePerSecond, work, rate, 7).unwrap_err().to_string();
        assert!(of(0.0, 0.0).contains("nothing was done"));
        assert!(of(5.0, 0.0).contains("out of range"));
    }

    #[test]
    fn a_time_agrees_within_its_digits() {
        let t = rated(Unit::FlopPerSecond, 1000.0, 8000.0, 1).unwrap();
        for seconds in ["0", "0.1", "0.12", "0.13", "0.125", "0.1251"] {
            assert_eq!(took(&t, seconds, 3), Ok(()), "{seconds}");
        }
        for seconds in ["1", "0.2", "0.11", "0.127", "0.1253", "x"] {
            assert_eq!(took(&t, seconds, 3).unwrap_err().line, 3, "{seconds}");
        }
    }

    #[test]
    fn numbers_agree_within_their_digits() {
        let agrees = |megabytes, seconds, rate| {
            let [megabytes, seconds, rate] =
                [megabytes, seconds, rate].map(|word| Rounded::parse(word, 1).unwrap());
            let follows = agree(megabytes.over(seconds), rate, 0.0);
            assert_eq!(follows, agree(megabytes.times(8.0).over(seconds), rate.times(8.0), 0.0));
            follows
        };
        assert!(agrees("100", "3", "33.3") && agrees("100.0", "3.00", "33.3"));
        assert!(agrees("100.0", "3.0", "33.9"), "3.0 may be 2.95");
        assert!(!agrees("100.0", "3.00", "33.9") && !agrees("100.0", "3.00", "34.9"));
        assert!(agree(100.0, 101.0, 0.01) && !agree(100.0, 101.0, 0.009));
        assert!(agree(Rounded::from(100.0).within(1.0), 101.0, 0.0));
    }
}
