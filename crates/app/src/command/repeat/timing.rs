//! When the runs begin, and when the last one ends.

use std::time::Duration;

use anyhow::Result;
use proofmark_model::{counted, format_seconds};
use serde::{Deserialize, Serialize};

use crate::cli::Repeat;
use crate::error::usage;
use crate::limit::MOST_RUNS;

/// The number of runs, and the time between the starts of two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Timing {
    pub(super) runs: u32,
    /// `None`: each begins when the one before has ended.
    #[serde(rename = "every_s", with = "seconds")]
    pub(super) every: Option<Duration>,
}

/// Durations as seconds.
mod seconds {
    use super::{Deserialize, Duration};

    pub(super) fn serialize<S: serde::Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(&time.map(|time| time.as_secs_f64()), to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        let time = |s| Duration::try_from_secs_f64(s).map_err(serde::de::Error::custom);
        seconds.map(time).transpose()
    }
}

impl Timing {
    /// Derives number and time from the options, for runs of so many seconds; `None` for one run.
    pub(super) fn new(options: &Repeat, run_s: f64) -> Result<Option<Self>> {
        let runs = |of: f64| match of.floor() {
            n if n < 2.0 => {
                let run = format_seconds(run_s);
                Err(usage(format!(
                    "--for is too short for two runs: one takes about {run}; to limit one run, use \
                     --budget"
                )))
            }
            n if n > f64::from(MOST_RUNS) => {
                Err(usage(format!("at most {MOST_RUNS} runs; raise --every")))
            }
            n => Ok(n as u32),
        };
        let seconds = |time: Duration| time.as_secs_f64();
        let timing = match (options.repeat, options.every, options.length) {
            (None, None, None) => return Ok(None),
            (None, Some(_), None) => {
                return Err(usage("--every needs --repeat N, or --for TIME"));
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(usage("name two of --repeat, --every and --for"));
            }
            (Some(n), every, None) => Self { runs: n, every },
            (Some(n), None, Some(length)) => Self { runs: n, every: Some(length / n) },
            (None, Some(every), Some(length)) => {
                let n = seconds(length) / seconds(every).max(f64::MIN_POSITIVE);
                Self { runs: runs(n)?, every: Some(every) }
            }
            (None, None, Some(length)) => {
                Self { runs: runs(seconds(length) / run_s)?, every: None }
            }
        };
        Ok(Some(timing))
    }

    /// Returns true for numbers that options can give.
    pub(super) fn is_possible(self) -> bool {
        (1..=MOST_RUNS).contains(&self.runs)
    }

    /// Seconds from the start of a run to the start of the next.
    fn apart_s(self, run_s: f64) -> f64 {
        self.every.map_or(run_s, |every| every.as_secs_f64().max(run_s))
    }

    /// Seconds until the last of so many further runs ends, the first of which begins in `wait`.
    pub(super) fn left_s(self, runs: u32, wait: Duration, run_s: f64) -> f64 {
        let others = f64::from(runs.saturating_sub(1));
        wait.as_secs_f64() + others * self.apart_s(run_s) + run_s
    }

    /// Describes all: `5 runs, one every 20 min, of about 41 s each: about 1 h 21 min`.
    pub(super) fn words(self, run_s: f64) -> String {
        let every =
            self.every.map(|every| format!(", one every {}", format_seconds(every.as_secs_f64())));
        let [run, all] = [run_s, self.left_s(self.runs, Duration::ZERO, run_s)].map(format_seconds);
        let late = self.every.filter(|every| every.as_secs_f64() < run_s);
        let late =
            late.map_or("", |_| "; longer than that time, so each begins when the one before ends");
        let runs = counted(self.runs, "run");
        format!(
            "{runs}{}, of about {run} each{late}: about {all} in all",
            every.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn options(repeat: Option<u32>, every: Option<u32>, length: Option<u32>) -> Repeat {
        let minutes = |n: Option<u32>| n.map(|n| n * MINUTE);
        Repeat { repeat, every: minutes(every), length: minutes(length), ..Repeat::default() }
    }

    #[test]
    fn two_of_number_time_apart_and_length_give_the_third() {
        let new = |n, every, length| Timing::new(&options(n, every, length), 40.0);
        let timing =
            |runs, every: Option<u32>| Some(Timing { runs, every: every.map(|n| n * MINUTE) });
        assert_eq!(new(None, None, None).unwrap(), None);
        assert_eq!(new(Some(5), None, None).unwrap(), timing(5, None));
        assert_eq!(new(Some(5), Some(20), None).unwrap(), timing(5, Some(20)));
        assert_eq!(new(Some(6), None, Some(360)).unwrap(), timing(6, Some(60)));
        assert_eq!(new(None, Some(30), Some(360)).unwrap(), timing(12, Some(30)));
        assert_eq!(new(None, None, Some(10)).unwrap(), timing(15, None));
        for (n, every, length, word) in [
            (None, Some(20), None, "--every needs"),
            (Some(5), Some(20), Some(60), "two of"),
            (None, None, Some(1), "too short"),
            (None, Some(10), Some(15), "too short"),
            (None, Some(1), Some(60 * 24 * 30), "at most"),
        ] {
            let refusal = new(n, every, length).unwrap_err().to_string();
            assert!(refusal.contains(word), "{refusal}");
        }
    }

    #[test]
    fn the_end_is_that_of_the_last_run() {
        let back_to_back = Timing { runs: 5, every: None };
        assert!((back_to_back.left_s(5, Duration::ZERO, 40.0) - 200.0).abs() < 1e-9);
        let spread = Timing { runs: 5, every: Some(20 * MINUTE) };
        assert!((spread.left_s(5, Duration::ZERO, 40.0) - (4.0 * 1200.0 + 40.0)).abs() < 1e-9);
        assert!((spread.left_s(2, MINUTE, 40.0) - (60.0 + 1200.0 + 40.0)).abs() < 1e-9);
        let late = Timing { runs: 3, every: Some(MINUTE) };
        assert!((late.left_s(3, Duration::ZERO, 100.0) - 300.0).abs() < 1e-9);
        assert!(late.words(100.0).contains("begins when the one before ends"));
        assert_eq!(
            spread.words(41.0),
            "5 runs, one every 20 min, of about 41 s each: about 1 h 20 min in all"
        );
    }
}
