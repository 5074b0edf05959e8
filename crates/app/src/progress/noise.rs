//! A line of text on what takes time from the threads, round by round.

use std::collections::VecDeque;

use proofmark_model::{TimeAccount, Trial, format_percent};
use proofmark_report::spark::blocks;

/// Maximum rounds that are kept: no terminal is wider.
const MAX_ROUNDS: usize = 512;
const MIN_COLUMNS: usize = 8;
/// The share of the time that fills a block.
const TOP: f64 = 0.25;
/// The minimum share of all time that is named.
const MIN_SHARE: f64 = 1e-3;

/// The time taken from the last rounds, and from all.
#[derive(Debug, Default)]
pub(super) struct Noise {
    rounds: usize,
    last: VecDeque<f64>,
    all: Option<TimeAccount>,
}

impl Noise {
    /// Adds the rounds that are new among all so far.
    pub(super) fn add(&mut self, trials: &[Trial]) {
        for time in trials.iter().skip(self.rounds).filter_map(|t| t.time_account) {
            self.last.push_back(1.0 - time.at_work());
            self.all = Some(self.all.map_or(time, |all| all + time));
        }
        self.rounds = trials.len();
        self.last.drain(..self.last.len().saturating_sub(MAX_ROUNDS));
    }

    /// Formats `97.9 % at work  ··▁▂▁·  other processes 1.2 %, interrupted 0.9 %`, as much as fits.
    pub(super) fn line(&self, columns: usize) -> Option<String> {
        let all = self.all.filter(|all| all.wall_s > 0.0)?;
        let head = format!("{} at work", format_percent(all.at_work()));
        let taken = all.taken(MIN_SHARE).into_iter();
        let taken: Vec<String> =
            taken.map(|(s, cause)| format!("{} {}", cause.name, format_percent(s))).collect();
        let mut tail = taken.join(", ");
        let room =
            |tail: &str| columns.saturating_sub(head.chars().count() + tail.chars().count() + 4);
        if room(&tail) < MIN_COLUMNS {
            tail = taken.first().cloned().unwrap_or_default();
        }
        let from = self.last.len().saturating_sub(room(&tail));
        let shares = self.last.iter().skip(from).map(|taken| Some(taken / TOP));
        Some(format!("{head}  {}  {tail}", blocks(shares)).trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rounds_are_drawn_with_the_time_taken_from_all() {
        let round = |waiting_s: f64| {
            let time = TimeAccount {
                wall_s: 1.0,
                working_s: 1.0 - waiting_s,
                waiting_s,
                throttled_s: Some(0.0),
                ..Default::default()
            };
            Trial { time_account: Some(time), ..Trial::default() }
        };
        let mut noise = Noise::default();
        assert_eq!(noise.line(80), None);
        noise.add(&[round(0.0), round(0.25)]);
        noise.add(&[round(0.0), round(0.25), round(0.05)]);
        let line = noise.line(80).unwrap();
        assert_eq!(line, "90.0 % at work  ·▇▂  other processes 10.0 %");
        noise.add(&vec![round(0.0); 1000]);
        for columns in 50..200 {
            let line = noise.line(columns).unwrap();
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}
