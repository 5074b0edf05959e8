//! A repetition whose rate the output reports, so that its time follows.

use proofmark_model::{Trial, Unit, is_quantity};

use crate::Malformed;
use crate::text::number;

/// A repetition of so much work at that rate, as of that line. The rate stays as it is printed,
/// to all its digits; printed times often have fewer.
/// Fails if the rate, the work or the time that follows is not more than zero, or out of range.
pub(crate) fn rated(unit: Unit, work: f64, rate: f64, line: usize) -> Result<Trial, Malformed> {
    let seconds = work / rate;
    if [work, rate, seconds].iter().all(|v| is_quantity(*v) && *v > 0.0) {
        return Ok(Trial { value: rate, ..Trial::new(unit, work, seconds) });
    }
    if work == 0.0 && rate == 0.0 {
        return Err(Malformed::at(
            line,
            "nothing was done, so there is no rate: give it more to do",
        ));
    }
    Err(Malformed::at(line, format!("{work:e} at {rate:e} {unit} is out of range")))
}

/// Checks a repetition against the seconds printed with its rate.
/// Fails if work, rate and seconds contradict each other by more than what rounding loses of both:
/// then one of them is not what it seems.
pub(crate) fn took(trial: &Trial, seconds: &str, line: usize) -> Result<(), Malformed> {
    const RATE: f64 = 1e-3;
    let decimals = seconds.split_once('.').map_or(0, |(_, after)| after.len().min(300));
    let lost = 0.51 * 10_f64.powi(-(decimals as i32)) + RATE * trial.seconds;
    let (printed, follows) = (number(seconds, line)?, trial.seconds);
    if (printed - follows).abs() <= lost {
        return Ok(());
    }
    Err(Malformed::at(line, format!("by its rate it took {follows:e} s, not {printed:e}")))
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
}
